"""The specification: one file that is reviewed, read strictly, embedded in the release and compared with another."""

import contextlib
import os
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from forging import forged
from hypothesis import given, settings
from hypothesis import strategies as st

import hushpath
from hushpath.errors import FileFormatError, HushpathError, NetworkError, OptionError
from hushpath.releasing.spec import SECTIONS, make_spec
from hushpath.releasing.spec_review import column_names, compare_specs, initial_spec
from hushpath.releasing.spec_text import KEYS, LARGEST_SPEC, parse_toml, toml_value

WEIGHTS = """
[network]
file = "roads.csv"
[weights]
column = "minutes"
[unit]
l1 = 1.0
[budget]
epsilon = 1.0
"""
TRIPS = """
[network]
file = "streets.csv"
proxy = "free"
directed = true
[trips]
file = "trips.csv"
person = "who"
day = "day"
edge = ["from", "to"]
seconds = "seconds"
low = 0.5
high = 6
[unit]
protects = "person-day"
[budget]
epsilon = 1
"""
ROADS = "source,target,minutes,free\n" + "".join(f"n{i},n{i + 1},{i % 5 + 1},{i % 3 + 1}\n" for i in range(9))


def spec(text, **changes):
    return make_spec(parse_toml(text), changes)


def with_key(text, section, line):
    """The text with one more line in a section, in place of a line with the same key."""
    key = line.partition("=")[0].strip()
    before, mark, after = text.partition(f"[{section}]\n")
    if not mark:
        return f"{text}[{section}]\n{line}\n"
    own, bracket, rest = after.partition("\n[")
    kept = [one for one in own.splitlines() if one.partition("=")[0].strip() != key]
    return "\n".join([before + mark + line, *kept]) + bracket + rest


# --- reading ---------------------------------------------------------------------------------------------


def test_every_key_has_help_and_every_help_a_key():
    kinds = [*((name, kind) for name, kind in SECTIONS.items()), ("unit", hushpath.TripUnit)]
    assert {f"{name}.{one.name}" for name, kind in kinds for one in fields(kind) if one.init} == set(KEYS)


@pytest.mark.parametrize(
    ("section", "line", "path"),
    [
        ("network", "file = 7", "network.file"),
        ("network", 'file = ""', "network.file"),
        ("network", 'file = "a\\u0000b"', "network.file"),
        ("network", "source = true", "network.source"),
        ("network", "source = 2026-01-01", "network.source"),
        ("network", 'directed = "yes"', "network.directed"),
        ("network", "directed = 1", "network.directed"),
        ("network", 'columns = ["id", 3]', "network.columns"),
        ("network", "columns = 3", "network.columns"),
        ("network", "lower = [1]", "network.lower"),
        ("network", 'colums = ["id"]', "network.colums"),
        ("weights", "max_weight = true", "weights.max_weight"),
        ("weights", f"max_weight = 1{'0' * 400}", "weights.max_weight"),
        ("weights", "mechanism = 3", "weights.mechanism"),
        ("weights", "options = 3", "weights.options"),
        ("weights", 'weight = "minutes"', "weights.weight"),
        ("unit", "l1 = 0", "unit.l1"),
        ("unit", "l1 = nan", "unit.l1"),
        ("unit", 'l1 = "1"', "unit.l1"),
        ("unit", "l2 = -1", "unit.l2"),
        ("unit", "edges = [4, 0.5]", "unit.edges"),
        ("unit", "population = 0", "unit.population"),
        ("unit", "population = 1.5", "unit.population"),
        ("unit", 'protects = "person"', "unit.protects"),
        ("budget", "epsilon = 0", "budget.epsilon"),
        ("budget", "epsilon = nan", "budget.epsilon"),
        ("budget", 'epsilon = "1"', "budget.epsilon"),
        ("budget", "delta = 0.7", "budget.delta"),
        ("budget", "delta = [1]", "budget.delta"),
        ("noise", 'law = "cauchy"', "noise.law"),
        ("noise", 'sampler = "dice"', "noise.sampler"),
        ("quantity", 'name = "a\\nb"', "quantity.name"),
        ("quantity", "date = 7", "quantity.date"),
        ("ledger", "file = false", "ledger.file"),
        ("expected", 'units = "many"', "expected.units"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_line_with_the_path_of_its_key(section, line, path):
    with pytest.raises(OptionError) as caught:
        spec(with_key(WEIGHTS, section, line))
    assert path in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("section", "line", "path"),
    [
        ("unit", 'protects = "household"', "unit.protects"),
        ("unit", 'neighbours = "both"', "unit.neighbours"),
        ("unit", 'days = "soon"', "unit"),
        ("unit", "days = true", "unit.days"),
        ("unit", "max_edges = 0", "unit.max_edges"),
        ("unit", "l1 = 1.0", "unit.l1"),
        ("trips", "edge = [1, 2]", "trips.edge"),
        ("trips", "person = 1", "trips.person"),
        ("trips", 'seconds_column = "s"', "trips.seconds_column"),
        ("trips", "low = true", "trips.low"),
        ("schedule", 'first = "2026-01-01"', "schedule.every"),
    ],
)
def test_trips_have_their_own_keys(section, line, path):
    with pytest.raises(OptionError, match=path.replace(".", r"\.")):
        spec(with_key(TRIPS, section, line))


@pytest.mark.parametrize("line", ['every = "year"', "count = 0", 'first = "yesterday"', "first = true", 'split = "no"'])
def test_a_schedule_is_checked_when_it_is_read(line):
    text = TRIPS + '[schedule]\nfirst = "2026-01-01"\nevery = "month"\ncount = 3\n'
    assert spec(text).schedule.count == 3
    with pytest.raises(OptionError, match=rf"schedule\.{line.partition(' ')[0]}"):
        spec(with_key(text, "schedule", line))


@pytest.mark.parametrize("section", ["network", "unit", "budget"])
def test_a_missing_section_and_a_missing_key(section):
    lines = WEIGHTS.strip().splitlines()
    at = lines.index(f"[{section}]")
    with pytest.raises(OptionError, match=section):
        spec("\n".join(lines[:at] + lines[at + 2 :]))
    with pytest.raises(OptionError, match=rf"`{section}\.\w+` is missing"):
        spec("\n".join(lines[: at + 1] + lines[at + 2 :]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (WEIGHTS + '[trips]\nfile = "t.csv"\n', r"unit\.l1"),  # trips have another unit
        (WEIGHTS.replace("[unit]\nl1 = 1.0", '[unit]\nprotects = "person"') + '[trips]\nfile = "t"\n', r"\[weights\]"),
        (WEIGHTS.replace('[weights]\ncolumn = "minutes"\n', ""), r"\[weights\] or \[trips\] is missing"),
        (WEIGHTS + '[schedule]\nfirst = "2026-01-01"\nevery = "day"\ncount = 2\n', r"\[schedule\]"),
        (
            TRIPS.replace("[unit]", '[unit]\ndays = "2026-01-01..2026-01-31"')
            + '[schedule]\nfirst = "2026-01-01"\nevery = "day"\ncount = 2\n',
            r"unit\.days",
        ),
        (WEIGHTS.replace("[weights]", 'proxy = "minutes"\n[weights]'), "private weight"),
        (WEIGHTS.replace("[weights]", 'columns = ["id", "minutes"]\n[weights]'), "private weight"),
        (WEIGHTS.replace("[weights]", 'upper = "minutes"\n[weights]'), "private weight"),
        ('title = "x"\n' + WEIGHTS, "title"),
        (WEIGHTS + "[budgets]\n", "did you mean budget"),
        ("[[network]]\n" + WEIGHTS.split("[weights]")[1], "network"),
        (WEIGHTS.replace("epsilon = 1.0", "epsilon = 1.0\nepsilon = 2.0"), "TOML"),
        (WEIGHTS + "[budget]\n", "TOML"),
        ("a = " + "[" * 5000, "TOML"),
        ("#" * (LARGEST_SPEC + 1), "characters"),
    ],
)
def test_contradictions_and_broken_files(text, words):
    with pytest.raises(OptionError, match=words) as caught:
        spec(text)
    assert len(str(caught.value).splitlines()) == 1


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(SECTIONS)), st.sampled_from(sorted(KEYS)), st.data())
def test_no_value_of_any_kind_crashes(section, key, data):
    """Whatever stands at a key, reading raises one of our errors or works."""
    anything = st.recursive(
        st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.dates(), st.datetimes()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
        max_leaves=4,
    )
    tables = parse_toml(data.draw(st.sampled_from([WEIGHTS, TRIPS])))
    name = key.partition(".")[2] if key.startswith(f"{section}.") else data.draw(st.text(max_size=4))
    tables.setdefault(section, {})[name] = data.draw(anything)
    with contextlib.suppress(HushpathError):
        parse_toml(make_spec(tables).text)


def test_files_that_are_not_specifications(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'x = "\xff"')
    os.mkfifo(tmp_path / "pipe.toml")
    for name in ("absent.toml", "latin.toml", "pipe.toml", ".", "a\0b.toml"):
        with pytest.raises(OptionError) as caught:
            hushpath.read_spec(tmp_path / name)
        assert len(str(caught.value).splitlines()) == 1


def test_a_byte_order_mark_is_no_mistake(tmp_path):
    (tmp_path / "r.toml").write_text(WEIGHTS, encoding="utf-8-sig")
    assert hushpath.read_spec(tmp_path / "r.toml").budget.epsilon == 1.0


# --- paths and flags -------------------------------------------------------------------------------------


def test_paths_are_relative_to_the_file_and_those_of_changes_are_not(tmp_path):
    (tmp_path / "sub").mkdir()
    path = tmp_path / "sub" / "r.toml"
    path.write_text(WEIGHTS + '[ledger]\nfile = "../a.ledger"\n')
    found = hushpath.read_spec(path, {"network": {"nodes": "nodes.csv"}})
    assert found.network.file == tmp_path / "sub" / "roads.csv"
    assert found.network.nodes == Path("nodes.csv")
    assert found.ledger.file == tmp_path / "sub" / "../a.ledger"
    assert hushpath.read_spec(path, {"ledger": {"file": "b.ledger"}}).ledger.file == Path("b.ledger")
    path.write_text(WEIGHTS.replace("roads.csv", f"{tmp_path}/roads.csv"))
    assert hushpath.read_spec(path).network.file == tmp_path / "roads.csv"
    assert str(tmp_path) not in hushpath.read_spec(path).text  # a path may name a person or a machine


def test_changes_replace_keys():
    assert spec(WEIGHTS, noise={"law": "laplace", "sampler": "vector"}).noise == hushpath.Noise("laplace", "vector")
    changed = spec(WEIGHTS, budget={"epsilon": 2.0, "delta": 0.0}, network={"directed": True})
    assert (changed.budget, changed.network.directed) == (hushpath.Budget(2.0, 0.0), True)
    assert changed.weights == spec(WEIGHTS).weights
    by_edges = spec(WEIGHTS, unit={"edges": (4, 0.5)})  # another way to say the same
    assert (by_edges.unit.l1, by_edges.unit.l2) == (2.0, 1.0)
    assert spec(WEIGHTS.replace("l1 = 1.0", "edges = [4, 0.5]"), unit={"l1": 3.0}).unit.l1 == 3.0
    with pytest.raises(OptionError, match=r"budget\.epsilon"):
        spec(WEIGHTS, budget={"epsilon": -1.0})


# --- canonical text --------------------------------------------------------------------------------------

RICH = """
[network]
file = "Straßen \\"1\\".csv"
columns = ["a b", "ü"]
nodes = "nodes.csv"
lower = 0.5
upper = "cap"
[trips]
file = "t.parquet"
person = "who"
trip = "t\\tid"
edge = "edge id"
seconds = "s"
periods = {am = [7, 10], "spät abends" = [22, 5.5]}
low = "lo"
high = 6
[unit]
protects = "trip"
days = [2026-10-01, 2026-10-31]
neighbours = "replace"
[budget]
epsilon = 0.1
delta = 0
[quantity]
date = 2026-10-01
dataset = "city"
[expected]
units = 35000
"""


@pytest.mark.parametrize("text", [WEIGHTS, TRIPS, RICH, WEIGHTS.replace('column = "minutes"', "")])
def test_the_canonical_text_reads_back_as_itself(text):
    made = spec(text)
    again = spec(made.text)
    assert again.text == made.text
    for name in SECTIONS:
        if name not in ("network", "trips", "expected"):  # paths become names, and guesses are not published
            assert getattr(again, name) == getattr(made, name)
    assert again.budget.delta == made.budget.delta  # 0 is not the default


def test_the_same_promise_has_the_same_text_however_it_is_written():
    inline = 'budget = {epsilon = 1e0, delta = 1e-6}\nunit = {l1 = 1}\nweights = {column = "minutes"}\n'
    assert spec(inline + 'network = {file = "a/b/roads.csv", directed = false}\n').text == spec(WEIGHTS).text


def test_guesses_are_not_published():
    assert "typical" not in spec(WEIGHTS + "[expected]\ntypical_weight = [15, 40]\n").text


@given(st.text(max_size=30) | st.floats() | st.integers(-(2**60), 2**60) | st.lists(st.text(max_size=5), max_size=3))
@settings(max_examples=200, deadline=None, derandomize=True)
def test_every_value_is_written_as_toml_reads_it(value):
    found = tomllib.loads(f"x = {toml_value(value)}")["x"]
    assert found == value or (isinstance(value, float) and value != value)
    assert all(line.isprintable() for line in toml_value(value).split("\n"))


def test_names_that_are_not_unicode_can_be_written():
    assert tomllib.loads(f"x = {toml_value(Path('caf' + chr(0xDCE9) + '.csv'))}")["x"] == "caf?.csv"


# --- embedded in the release -----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "roads.csv").write_text(ROADS)
    (tmp_path / "r.toml").write_text(WEIGHTS.replace("[unit]", 'mechanism = "input"\n[unit]'))
    return tmp_path


def test_the_file_embeds_the_specification(folder):
    made = hushpath.read_spec("r.toml")
    rel = made.release("r.hush")
    found = hushpath.load("r.hush")
    assert found.statement.specification == rel.statement.specification == made.text
    assert compare_specs(spec(found.statement.specification), made, published=True) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("epsilon = 1.0", "epsilon = 0.5"),
        ("epsilon = 1.0", 'epsilon = "x"'),
        ("delta = 1e-06", "delta = 0.0"),
        ("delta = 1e-06", "rho = 1"),
        ("l1 = 1.0", "l1 = 2.0"),
        ("l1 = 1.0", "l1 = 1.0\nl2 = 0.5"),
        ("l1 = 1.0", "l1 = 1.0\npopulation = 1000"),
        ("l1 = 1.0", 'protects = "person"'),
        ("[weights]", "[trips]"),
        ("[unit]\nl1 = 1.0\n", ""),
        ("[unit]\nl1 = 1.0\n", "unit = 1\n"),
        ("[budget]\nepsilon = 1.0\ndelta = 1e-06\n", ""),
        ("[budget]\nepsilon = 1.0\ndelta = 1e-06\n", "budget = 3\n"),
        ("[network]", "[network"),
        ("[network]", "[network]\n# \x1b[31m"),
        ("[network]", "#" * 2**17 + "\n[network]"),
    ],
)
def test_a_file_whose_specification_promises_something_else_is_refused(folder, before, after):
    hushpath.read_spec("r.toml").release("r.hush")

    def change(header, arrays):
        assert before in header["specification"]
        header["specification"] = header["specification"].replace(before, after)
        if "specification" in header["statement"]:
            header["statement"]["specification"] = header["specification"]

    with pytest.raises(FileFormatError) as caught:
        hushpath.load(forged("r.hush", change))
    assert len(str(caught.value).splitlines()) == 1


# --- diff ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "value", "words"),
    [
        (WEIGHTS, "budget.epsilon", 2.0, "weaker"),
        (WEIGHTS, "budget.epsilon", 0.5, "stronger"),
        (WEIGHTS, "budget.epsilon", float("inf"), "weaker"),
        (WEIGHTS, "budget.delta", 1e-3, "weaker"),
        (WEIGHTS, "budget.delta", 0.0, "stronger"),
        (WEIGHTS, "unit.l1", 0.5, "weaker"),
        (WEIGHTS, "unit.l1", 2.0, "stronger"),
        (WEIGHTS, "unit.l2", 0.5, "weaker"),
        (TRIPS, "unit.protects", "person", "stronger"),
        (TRIPS, "unit.protects", "trip", "weaker"),
        (TRIPS, "unit.neighbours", "replace", "stronger"),
        (WEIGHTS, "unit.population", 1000, "no protection"),
        (TRIPS, "trips.high", 9.0, "no protection"),
        (WEIGHTS, "network.proxy", "free", "published"),
        (WEIGHTS, "ledger.file", "a.ledger", "added up"),
    ],
)
def test_a_change_is_told_as_weaker_or_stronger_and_back(text, key, value, words):
    section, name = key.split(".")
    other = spec(text, **{section: {name: value}})
    (change,) = compare_specs(spec(text), other)
    assert change.key == key
    assert words in change.meaning
    (back,) = compare_specs(other, spec(text))
    opposite = {"weaker": "stronger", "stronger": "weaker"}
    assert opposite.get(words, "") in back.meaning
    assert (back.before, back.after) == (change.after, change.before)


def test_the_promise_comes_first_and_another_kind_is_not_compared():
    found = compare_specs(spec(WEIGHTS, noise={"law": "laplace"}), spec(TRIPS, budget={"epsilon": 3.0}))
    abouts = [change.about for change in found]
    assert abouts == sorted(abouts, key=["promise", "published data", "private data", "other"].index)
    assert abouts[0] == "promise"
    assert abouts[-1] == "other"
    unit = next(change for change in found if change.key == "unit.protects")
    assert "cannot be compared" in unit.meaning
    assert not any("weaker" in change.meaning for change in found if change.key.startswith("unit."))
    assert compare_specs(spec(TRIPS), spec(TRIPS)) == []


def test_guesses_are_compared_unless_one_side_is_a_release():
    other = spec(WEIGHTS, expected={"typical_weight": 5.0})
    assert [change.key for change in compare_specs(spec(WEIGHTS), other)] == ["expected.typical_weight"]
    assert compare_specs(spec(WEIGHTS), other, published=True) == []


# --- init: names and types only --------------------------------------------------------------------------


def test_only_the_header_of_a_table_is_read(tmp_path):
    """Rows that no reader could decode, and a table larger than any memory, make no difference."""
    header = b"who,day,from,to,seconds\n"
    files = {"good.csv": header + b"p1,1,a,b,30\n", "broken.csv": header + b'\xff\xfe\0"' * 50, "empty.csv": header}
    texts = set()
    (tmp_path / "streets.csv").write_text("source,target,free_flow\na,b,3\n")
    for name, content in files.items():
        (tmp_path / name).mkdir()
        table = tmp_path / name / "trips.csv"
        table.write_bytes(content)
        if name == "empty.csv":
            os.truncate(table, 2**36)  # of nothing: it takes no room on the disk
        texts.add(initial_spec(tmp_path / "streets.csv", table, relative_to=tmp_path / name)[0])
    assert len(texts) == 1
    assert '"who"' in texts.pop()


def test_parquet_tables_with_the_same_columns_give_the_same_text(tmp_path):
    import pandas as pd

    (tmp_path / "streets.csv").write_text("source,target,free_flow\na,b,3\n")
    texts = set()
    for seconds in ([1.0, 2.0], [1e9, 12345.5]):
        pd.DataFrame({"person": [1, 2], "seconds": seconds}).to_parquet(tmp_path / "t.parquet")
        texts.add(initial_spec(tmp_path / "streets.csv", tmp_path / "t.parquet", relative_to=tmp_path)[0])
    assert len(texts) == 1
    assert "12345" not in texts.pop()


def test_a_name_cannot_leave_its_comment(tmp_path):
    """Columns of a table, and files, may be called anything; the file that is reviewed has no key from there."""
    import pandas as pd

    evil = 'x"\n[budget]\nepsilon = 1000\n#'
    pd.DataFrame({"source": ["a"], evil: [1]}).to_parquet(tmp_path / "roads.parquet")
    text, _ = initial_spec(tmp_path / "roads.parquet", None, relative_to=tmp_path)
    assert "epsilon" not in tomllib.loads(text)["budget"]


def test_what_is_left_to_decide_is_missing_until_it_is_decided(tmp_path):
    (tmp_path / "roads.csv").write_text(ROADS)
    text, left = initial_spec(tmp_path / "roads.csv", None, relative_to=tmp_path)
    assert left == ["unit.l1", "budget.epsilon"]
    with pytest.raises(OptionError, match=r"unit\.l1"):
        spec(text)
    decided = spec(text.replace("# DECIDE ", ""))
    assert decided.weights.column == "minutes"
    assert decided.network.file == Path("roads.csv")
    lines = [
        line.removeprefix("# DECIDE ").removeprefix("#") for line in text.splitlines()[3:] if "columns of" not in line
    ]
    assert spec("\n".join(lines)).quantity.publisher == "City"  # lines that are commented out are valid as well


@pytest.mark.parametrize("name", ["absent.csv", "latin.csv", "bad.parquet", "bad.gpkg", "cut.csv.gz"])
def test_a_table_whose_names_cannot_be_read(tmp_path, name):
    for file, content in {
        "latin.csv": b"\xff,b\n",
        "bad.parquet": b"PAR1",
        "bad.gpkg": b"x" * 600,
        "cut.csv.gz": b"x",
    }.items():
        (tmp_path / file).write_bytes(content)
    with pytest.raises(NetworkError):
        column_names(tmp_path / name)
