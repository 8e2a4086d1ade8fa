"""Reports: a page of any release, and the one style of pictures."""

import re

import pytest

import hushpath
from hushpath.mechanism.registry import MECHANISMS
from hushpath.output.report.html import ReportTexts, records, write_file
from hushpath.output.report.pictures import colour, mark
from hushpath.output.report.release import write_report
from hushpath.planning.plan import plan
from hushpath.published.statement import NOT_PRIVATE
from hushpath.releasing.evaluate import compare


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_a_report_of_any_release(tmp_path, law):
    net = hushpath.Network.build(["<a>", "b", "c", "d"], [0, 1, 0], [1, 2, 2], [1.0, 2.0, 3.0])  # d is isolated
    made = hushpath.release(net, epsilon=1.0, unit=1.0, seed=3, noise=law)
    planned = plan(net.topology, epsilon=1.0, unit=1.0, noise=law)
    file = tmp_path / "any.html"
    write_report(
        file,
        made,
        planned,
        compare(net, made),
        title="A & B",
        texts=ReportTexts(pairs=[("<a>", "b")]),
    )
    page = file.read_text(encoding="utf-8")
    assert "A &amp; B" in page
    assert "&lt;a&gt;" in page
    assert "<img" in page
    assert page.index(f"{NOT_PRIVATE}: the noise was drawn from a known seed") < page.index("<section")
    tags = dict(re.findall(r'<span class="tag">([^<]*)</span><h2>([^<]*)</h2>', page)[i][::-1] for i in range(4))
    publishable = {heading for heading, tag in tags.items() if tag == "May be published"}
    assert publishable == {"How the mechanism was chosen"}  # a seeded release may not be published
    write_report(file, made)
    assert "How the mechanism was chosen" not in file.read_text(encoding="utf-8")


def test_a_report_speaks_the_words_of_its_file(tmp_path):
    """What the numbers are comes from the release, and so do some pairs to show."""
    net = hushpath.Network.build([1, 2, 3, 4], [0, 2], [1, 3], [1.0, 2.0])
    made = hushpath.release(
        net,
        plan=hushpath.plan(net.topology, epsilon=1.0, unit=1.0, ignore_baseline=True),
        quantity=hushpath.Quantity(name="latency", unit_of_measure="ms"),
    )
    write_report(tmp_path / "x.html", made, None, compare(net, made), texts=ReportTexts.of(made))
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert "released latency" in page
    assert "\u00a0ms" in page
    assert "Some answers" in page


def test_a_table_sets_numbers_to_the_right_and_escapes_words():
    made = records({"who": "who & where", "size": "size"}, [{"who": "<a>", "size": None}, {"who": "b", "size": 12345}])
    assert '<th>who &amp; where</th><th class="n">size</th>' in made
    assert '<td>&lt;a&gt;</td><td class="n">–</td>' in made
    assert '<td>b</td><td class="n">12\u202f345</td>' in made


def test_a_page_that_cannot_be_written_is_one_clear_line(tmp_path):
    with pytest.raises(hushpath.HushpathError, match="cannot write"):
        write_file(tmp_path / "absent" / "page.html", b"")


def test_every_mechanism_has_a_colour_and_a_mark_of_its_own():
    assert len({colour(name) for name in MECHANISMS}) == len(MECHANISMS)
    assert len({mark(name) for name in MECHANISMS}) == len(MECHANISMS)
