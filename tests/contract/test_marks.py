"""NOT PRIVATE stands in every file written and everything printed from a release that is not private, and nowhere else.

Every verb and every format is listed here; a new one fails the first two tests until it is.
"""

import json

import numpy as np
import pytest
from forging import put_together, taken_apart
from named_graphs import grid_ends

import hushpath
from hushpath.cli import run
from hushpath.cli.app import VERBS
from hushpath.output.formats import FORMATS as EXPORTED
from hushpath.output.matrix import FORMATS

MARK = "NOT PRIVATE"
NOT_NOISY = {"seeded": ["--seed", "1"], "no noise": ["--epsilon", "inf"]}
EXPORTS = {"omx": ["--interval"], "geojson": ["--crs", "EPSG:4326"], "geoparquet": []}
UNMARKED = {"osrm", "valhalla"}  # have no room for it, and are refused
# verb -> commands that print something about the release; "ask.csv" and "some.txt" name nodes
PRINTS = {
    "inspect": [["inspect", "r.hush"]],  # the specification alone (--spec) is TOML: it is marked on standard error
    "query": [
        ["query", "r.hush", "n0", "n7"], ["query", "r.hush", "n0", "n7", "--interval"],
        ["query", "r.hush", "--pairs", "ask.csv"], ["query", "r.hush", "--pairs", "ask.csv", "--interval"],
    ],
    "matrix": [
        *(["matrix", "r.hush", "-o", f"m{suffix}"] for suffix in FORMATS), ["matrix", "r.hush", "-o", "parts"],
    ],
    "index": [["index", "r.hush"]],
    "page": [["page", "r.hush", "-o", "r.html"]],
    "export": [["export", "r.hush", "--to", to, "-o", f"e-{to}", *more] for to, more in EXPORTS.items()],
    "release": [["release", "roads.csv", "-o", "again.hush", "--epsilon", "1", "--unit", "1", "--mechanism", "input",
                 "--nodes", "places.csv"]],
}  # fmt: skip
ALWAYS = {"evaluate", "report", "lab"}  # marked whatever the release: they show the truth
NOTHING = {"plan", "plan-trips", "keygen", "demo", "series", "init", "diff"}  # say nothing of one release
SERVES = {"serve"}  # goes on until it is stopped: tests/unit/test_serve.py looks at its answers
TABLES = [(".csv", False), (".csv", True), (".parquet", False), (".parquet", True), (".npy", False)]


@pytest.fixture(scope="module", params=["private", *NOT_NOISY])
def place(request, tmp_path_factory):
    """A folder with one release, and whether it is private."""
    folder = tmp_path_factory.mktemp("marks")
    rows = [f"n{a},n{b},5" for a, b in grid_ends(3, 4).tolist()]
    (folder / "roads.csv").write_text("source,target,weight\n" + "\n".join(rows) + "\n")
    (folder / "ask.csv").write_text("source,target\nn0,n7\nn3,n3\n")
    (folder / "places.csv").write_text(
        "node,x,y\n" + "".join(f"n{i},{13 + i % 4 / 9},{52 + i // 4 / 9}\n" for i in range(12))
    )
    more = NOT_NOISY.get(request.param, [])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert run([*PRINTS["release"][0], "-o", "r.hush", *more]) == 0
        assert run(["matrix", "r.hush", "-o", "parts"]) == 0
        yield folder, request.param == "private", more


def test_every_verb_is_listed():
    assert set(VERBS) == set(PRINTS) | {TRIP_RELEASE[0]} | ALWAYS | NOTHING | SERVES


def test_every_format_is_listed():
    assert {suffix for suffix, _ in TABLES} == set(FORMATS)
    assert set(EXPORTS) | UNMARKED == set(EXPORTED)


@pytest.mark.parametrize("command", [c for commands in PRINTS.values() for c in commands], ids=" ".join)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_everything_printed(place, capsys, command, as_json):
    _, private, more = place
    extra = [*more, "--force"] if command[0] == "release" else []
    assert run([*command, *extra, *(["--json"] if as_json else [])]) == 0
    out = capsys.readouterr().out  # standard error may go elsewhere, so it does not count
    assert (MARK in out) is not private
    if as_json:
        document = json.loads(out)
        assert document["private"] is private
        assert document.get("marking", "").startswith(MARK) is not private
    elif "--pairs" in command and not private:
        assert all(line.startswith(f"{MARK},") for line in out.splitlines())


@pytest.mark.parametrize(("suffix", "long"), TABLES)
def test_every_matrix(place, suffix, long):
    folder, private, _ = place
    path, rel = folder / f"matrix{long}{suffix}", hushpath.load("r.hush")
    hushpath.write_matrix(rel, path, long=long)
    data = path.read_bytes()
    assert (MARK.encode() in data) is not private
    if suffix == ".csv":
        lines = data.decode().splitlines()
        assert len(lines) == (145 if long else 13)
        assert all(line.startswith(f"{MARK},") is not private for line in lines)
    elif suffix == ".npy":
        array = np.load(path)
        assert np.array_equal(array if private else array[f"distance {MARK}"], rel.matrix())
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        facts = table.schema.metadata
        assert json.loads(facts[b"hushpath.statement"])["private"] is private
        assert (facts.get(b"hushpath.marking", b"").startswith(MARK.encode())) is not private
        assert (table.column_names[0] == MARK) is not private
        if not private:
            assert set(table[MARK].to_pylist()) == {MARK}


@pytest.mark.parametrize("long", [[], ["--long"]], ids=["lists", "long"])
def test_every_file_of_a_matrix_in_parts(place, long):
    folder, private, _ = place
    assert run(["matrix", "r.hush", "-o", f"marked{len(long)}", *long]) == 0
    files = list((folder / f"marked{len(long)}").rglob("*.parquet"))
    assert {file.name for file in files} == {"part-00000.parquet", "targets.parquet"}
    assert all((MARK.encode() in file.read_bytes()) is not private for file in files)


@pytest.mark.parametrize("to", EXPORTS)
def test_every_export(place, to):
    folder, private, _ = place
    path = folder / f"marked-{to}"
    assert run(["export", "r.hush", "--to", to, "-o", str(path), *EXPORTS[to]]) == 0
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    assert files
    assert all((MARK.encode() in file.read_bytes()) is not private for file in files)


@pytest.mark.parametrize("to", sorted(UNMARKED))
def test_what_has_no_room_for_a_mark_is_refused(place, capsys, to):
    folder, private, _ = place
    code = run(["export", "r.hush", "--to", to, "-o", "unmarked"])
    err = capsys.readouterr().err
    assert code != 0  # this network has no OSM ids, and its private release is refused for that
    assert (MARK in err) is not private
    assert not (folder / "unmarked").exists()


def test_the_release_file_and_what_python_shows(place):
    folder, private, _ = place
    rel = hushpath.load("r.hush")
    frame = rel.frame(["n0", "n1"])
    frame.to_csv("frame.csv")
    frame.to_parquet("frame.parquet")
    graph, table = rel.to_networkx(), rel.to_geopandas()
    texts = [repr(rel), str(rel.statement), str(frame), json.dumps(rel.statement.as_dict()), rel._repr_html_()]
    texts += [str(graph.graph), str(list(graph.edges(data=True))), str(table), str(table.attrs)]
    texts += [(folder / name).read_bytes().decode("latin1") for name in ("r.hush", "frame.csv", "frame.parquet")]
    assert [MARK in text for text in texts] == [not private] * len(texts)
    assert (MARK in frame.attrs.get("marking", "")) is not private


def test_what_shows_the_truth_is_always_marked(place, capsys):
    for more in ([], ["--json"]):
        capsys.readouterr()
        for verb in (["evaluate"], ["report", "-o", "report.html"]):
            assert run([*verb, "roads.csv", "r.hush", *more]) == 0
            assert MARK in capsys.readouterr().out
    assert MARK in (place[0] / "report.html").read_text(encoding="utf-8")


def test_a_specification_is_marked_where_it_can_be(place, capsys):
    _, private, _ = place
    assert run(["inspect", "r.hush", "--spec"]) == 0
    out, err = capsys.readouterr()
    assert out == hushpath.load("r.hush").statement.specification
    assert (MARK in err) is not private


def test_a_marking_cannot_be_taken_out_of_the_file(place, tmp_path):
    """The marking in a file is for people; what the program says is proved again from the sampler and the budget."""
    folder, private, _ = place
    header, arrays = taken_apart(folder / "r.hush")
    assert (MARK in header["statement"].get("marking", "")) is not private
    if not private:
        for field, value in (("marking", None), ("private", True), ("reasons", [])):
            changed = {**header["statement"], field: value}
            if value is None:
                del changed[field]
            put_together(tmp_path / "r.hush", {**header, "statement": changed}, arrays)
            with pytest.raises(hushpath.HushpathError, match="promises something else"):
                hushpath.load(tmp_path / "r.hush")


# --- trips: the same in every period ---------------------------------------------------------------------------------

OF_TRIPS = [
    ["inspect", "t.hush"], ["query", "t.hush", "n0", "n7", "--period", "am"],
    ["query", "t.hush", "n0", "n7", "--interval", "--period", "pm"],
    ["query", "t.hush", "--pairs", "ask.csv", "--period", "pm"], ["matrix", "t.hush", "-o", "t.csv", "--period", "am"],
    ["matrix", "t.hush", "-o", "t-parts"],
    ["index", "t.hush", "--period", "am"], ["export", "t.hush", "--to", "omx", "-o", "t.omx"],
    ["export", "t.hush", "--to", "omx", "-o", "t-am.omx", "--period", "am"],
]  # fmt: skip
TRIP_RELEASE = [
    "release-trips", "streets.csv", "trips.csv", "--proxy", "free", "--protects", "person-day", "--low", "0.5",
    "--high", "6", "--person", "who", "--day", "day", "--edge", "from,to", "--seconds", "seconds",
    "--period-column", "part", "--periods", "am,pm", "--epsilon", "1", "--force",
]  # fmt: skip


@pytest.fixture(scope="module")
def travelled(place):
    """The same folder with a release of trips."""
    folder, private, more = place
    ends = grid_ends(3, 4).tolist()
    streets, trips = ["source,target,free"], ["who,day,from,to,seconds,part"]
    streets += [f"n{a},n{b},{5 + a % 3}" for a, b in ends]
    trips += [f"p{i % 9},{i % 3},n{a},n{b},{4 + i % 20},{'ap'[i % 2]}m" for i, (a, b) in enumerate(ends * 4)]
    (folder / "streets.csv").write_text("\n".join(streets))
    (folder / "trips.csv").write_text("\n".join(trips))
    assert run([*TRIP_RELEASE, "-o", "t.hush", *more]) == 0
    return folder, private, more


@pytest.mark.parametrize("command", [*OF_TRIPS, [*TRIP_RELEASE, "-o", "again.hush"]], ids=" ".join)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_everything_printed_of_trips(travelled, capsys, command, as_json):
    _, private, more = travelled
    capsys.readouterr()
    extra = more if command[0] == TRIP_RELEASE[0] else []
    assert run([*command, *extra, *(["--json"] if as_json else [])]) == 0
    out = capsys.readouterr().out
    assert (MARK in out) is not private
    if as_json:
        assert json.loads(out)["private"] is private


@pytest.mark.parametrize("period", ["am", "pm"])
def test_files_and_tables_of_every_period(travelled, period):
    folder, private, _ = travelled
    rel = hushpath.load("t.hush").for_period(period)
    texts = [repr(rel), str(rel.statement), str(rel.frame(["n0", "n1"])), json.dumps(rel.statement.as_dict())]
    rel.save(f"{period}.hush", index=True)
    names = [f"{period}.hush", rel.index_file(f"{period}.hush").name]
    for suffix, long in TABLES:
        names.append(f"of-{period}-{long}{suffix}")
        hushpath.write_matrix(rel, folder / names[-1], long=long)
    texts += [(folder / name).read_bytes().decode("latin1") for name in names]
    assert [MARK in text for text in texts] == [not private] * len(texts)


def test_the_truth_of_trips_is_always_marked(travelled, capsys):
    capsys.readouterr()
    assert run(["evaluate", "streets.csv", "t.hush", "--period", "am"]) == 2  # needs the trips
    text = hushpath.load("t.hush").statement.specification  # with names of files in this very folder
    (travelled[0] / "t.toml").write_text(text, encoding="utf-8")
    for more in ([], ["--json"]):
        code = run(["evaluate", "t.toml", "t.hush", "--period", "am", *more])
        out = capsys.readouterr().out
        assert code == 0
        assert MARK in out
