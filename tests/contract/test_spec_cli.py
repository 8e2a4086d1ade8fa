"""Specifications on the command line: init, review, plan, release, compare, and a series; flags override keys."""

import json

import pytest
from command import call
from named_graphs import grid_ends

import hushpath

ENDS = grid_ends(3, 4).tolist()
TRIPS = """
[network]
file = "streets.csv"
proxy = "free"
[trips]
file = "trips.csv"
person = "who"
day = "date"
edge = ["from", "to"]
seconds = "seconds"
low = 0.5
high = 6
[unit]
protects = "person-day"
[budget]
epsilon = 2
[expected]
units = 50
edges_per_unit = 5
"""
SERIES = """
[quantity]
publisher = "City"
[ledger]
file = "city.ledger"
[schedule]
first = 2026-01-01
every = "month"
count = 2
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"n{a},n{b},{3 + i % 4},{2 + i % 3}" for i, (a, b) in enumerate(ENDS)]
    (tmp_path / "roads.csv").write_text("\n".join(["source,target,minutes,length", *rows, ""]))
    streets = [f"n{a},n{b},{2 + i % 3}" for i, (a, b) in enumerate(ENDS)]
    (tmp_path / "streets.csv").write_text("\n".join(["source,target,free", *streets, ""]))
    trips = [f"p{i % 7},2026-0{1 + i % 2}-0{1 + i % 5},n{a},n{b},{2 + i % 9}" for i, (a, b) in enumerate(ENDS * 9)]
    (tmp_path / "trips.csv").write_text("\n".join(["who,date,from,to,seconds", *trips, ""]))
    (tmp_path / "trips.toml").write_text(TRIPS)
    return tmp_path


def decided(folder, *, proxy=True):
    text = (
        (folder / "release.toml")
        .read_text()
        .replace("# DECIDE ", "")
        .replace('#mechanism = "auto"', 'mechanism = "input"')
    )
    (folder / "release.toml").write_text(text if proxy else text.replace("proxy =", "#proxy ="))


def test_from_init_to_a_report(folder, capsys):
    code, out, err = call(capsys, "init", "roads.csv", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out)["to_decide"] == ["unit.l1", "budget.epsilon"]
    code, out, err = call(capsys, "plan", "release.toml")
    assert (code, out) == (2, "")
    assert "release.toml: `unit.l1` is missing" in err  # nothing that must be decided has a default
    decided(folder, proxy=False)
    before = (folder / "release.toml").read_text()
    assert call(capsys, "init", "roads.csv")[0] == 2  # a reviewed file is not overwritten
    assert (folder / "release.toml").read_text() == before
    assert "Choice: input" in call(capsys, "plan", "release.toml")[1]
    assert call(capsys, "release", "release.toml", "-o", "r.hush")[0] == 0
    rel = hushpath.load("r.hush")
    assert rel.statement.specification == hushpath.read_spec("release.toml").text
    assert call(capsys, "inspect", "r.hush", "--spec")[1] == rel.statement.specification
    assert "--spec" in call(capsys, "inspect", "r.hush")[1]
    document = json.loads(call(capsys, "inspect", "r.hush", "--spec", "--json")[1])
    assert document["statement"]["specification"] == rel.statement.specification
    assert call(capsys, "diff", "release.toml", "r.hush") == (0, "The same specification.\n", "")
    assert call(capsys, "evaluate", "release.toml", "r.hush")[1].startswith("NOT PRIVATE")
    assert call(capsys, "report", "release.toml", "r.hush", "-o", "report.html")[0] == 0
    assert (folder / "report.html").stat().st_mode & 0o077 == 0


def test_flags_override_and_the_file_says_what_was_promised(folder, capsys):
    call(capsys, "init", "roads.csv")
    decided(folder, proxy=False)
    flags = ["--epsilon", "0.5", "--delta", "0", "--unit", "2", "--directed", "--date", "2026-03"]
    assert call(capsys, "release", "release.toml", "-o", "r.hush", *flags)[0] == 0
    made = hushpath.load("r.hush").statement
    assert (made.epsilon <= 0.5, made.unit.l1, made.quantity.date) == (True, 2.0, "2026-03")
    code, out, _ = call(capsys, "diff", "release.toml", "r.hush", "--json")
    found = json.loads(out)
    assert (code, found["same"]) == (0, False)
    assert [one["key"] for one in found["changes"]] == [
        "unit.l1", "budget.epsilon", "budget.delta", "network.directed", "quantity.date",
    ]  # fmt: skip
    assert [one["about"] for one in found["changes"]] == ["promise"] * 3 + ["published data"] * 2
    out = call(capsys, "diff", "r.hush", "release.toml")[1]
    assert out.splitlines()[0].startswith("promise: unit.l1: 2.0 -> 1.0 (weaker")
    text = (folder / "release.toml").read_text().replace("#directed", "directed")
    (folder / "release.toml").write_text(text)
    assert call(capsys, "release", "release.toml", "-o", "u.hush", "--no-directed")[0] == 0
    assert not hushpath.load("u.hush").topology.directed


def test_without_a_specification_the_flags_are_embedded(folder, capsys):
    flags = ["--weight", "minutes", "--epsilon", "1", "--unit-edges", "4,0.5", "--mechanism", "input"]
    assert call(capsys, "release", "roads.csv", "-o", "r.hush", *flags)[0] == 0
    (folder / "again.toml").write_text(hushpath.load("r.hush").statement.specification)
    assert call(capsys, "release", "again.toml", "-o", "s.hush")[0] == 0
    assert call(capsys, "diff", "r.hush", "s.hush")[1] == "The same specification.\n"


def test_a_release_made_in_python_embeds_none(folder, capsys):
    net = hushpath.read_network("roads.csv", weight="minutes")
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input").save("p.hush")
    for command in (["inspect", "p.hush", "--spec"], ["diff", "p.hush", "p.hush"]):
        code, out, err = call(capsys, *command)
        assert (code, out) == (2, "")
        assert "p.hush" in err
    assert call(capsys, "inspect", "p.hush")[0] == 0


def test_trips_from_a_specification(folder, capsys):
    code, out, err = call(capsys, "plan", "trips.toml", "--ignore-baseline")
    assert (code, err) == (0, "")
    (folder / "trips.csv").rename(folder / "away.csv")  # a plan reads no private data
    assert call(capsys, "plan-trips", "trips.toml", "--ignore-baseline")[1] == out
    (folder / "away.csv").rename(folder / "trips.csv")
    assert call(capsys, "release", "trips.toml", "-o", "t.hush")[0] == 0
    assert call(capsys, "release-trips", "trips.toml", "-o", "u.hush", "--protects", "trip", "--trip", "who")[0] == 0
    assert "weaker" in call(capsys, "diff", "t.hush", "u.hush")[1].splitlines()[0]
    assert "NOT PRIVATE" in call(capsys, "evaluate", "trips.toml", "t.hush")[1]
    assert "35000" not in hushpath.load("t.hush").statement.specification
    assert "[expected]" not in hushpath.load("t.hush").statement.specification
    assert call(capsys, "report", "trips.toml", "t.hush", "-o", "r.html", "--json")[0] == 0


def test_a_series_from_a_specification(folder, capsys):
    (folder / "series.toml").write_text(TRIPS + SERIES)
    code, out, err = call(capsys, "series", "series.toml", "-o", "months", "--plan", "--json")
    assert (code, err) == (0, "")
    planned = json.loads(out)
    assert [one["days"] for one in planned["releases"]] == [["2026-01-01", "2026-01-31"], ["2026-02-01", "2026-02-28"]]
    assert not (folder / "months").exists()
    assert not (folder / "city.ledger").exists()
    assert call(capsys, "series", "series.toml", "-o", "months", "--early")[0] == 0
    assert len(list((folder / "months").glob("*.hush"))) == 2
    assert (folder / "city.ledger").exists()  # beside the specification
    first = min((folder / "months").glob("*.hush"))
    found = json.loads(call(capsys, "diff", "series.toml", first, "--json")[1])["changes"]
    assert {one["key"] for one in found} == {
        "budget.epsilon", "unit.days", "schedule.first", "schedule.every", "schedule.count", "schedule.split",
        "schedule.retry",
    }  # fmt: skip
    assert hushpath.load(first).statement.quantity.publisher == "City"


def test_paths_are_relative_to_the_specification(folder, capsys, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert call(capsys, "release", "../trips.toml", "-o", "t.hush")[0] == 0
    assert (folder / "elsewhere" / "t.hush").exists()
    assert call(capsys, "init", "../roads.csv", "../trips.csv", "-o", "../new.toml")[0] == 0
    assert 'file = "roads.csv"' in (folder / "new.toml").read_text()


def test_init_never_reads_a_value(folder, capsys):
    """The same header with other rows, or with rows that nobody can read, gives the same bytes."""
    texts = set()
    for rows in (b"p1,2026-01-01,n0,n1,5\n", b"\xff\xfe\0,\n" * 9, b""):
        (folder / "trips.csv").write_bytes(b"who,date,from,to,seconds\n" + rows)
        assert call(capsys, "init", "streets.csv", "trips.csv", "--force")[0] == 0
        texts.add((folder / "release.toml").read_bytes())
    assert len(texts) == 1
    assert b'edge = ["from", "to"]' in texts.pop()
