"""A tiny laboratory end to end: repeatable, killed and continued, self-contained, and clear about mistakes."""

import csv
import json
import os
import re
import stat

import pytest

import hushpath.lab.measure
from hushpath.cli import run
from hushpath.errors import CannotError
from hushpath.estimator import base
from hushpath.estimator.base import WeightEstimator
from hushpath.estimator.registry import ESTIMATORS
from hushpath.estimator.weights import bounds, shrink, sums_prior
from hushpath.lab import study
from hushpath.lab.cases import NO_ESTIMATOR, Scope, make_cases
from hushpath.lab.study import Study, run_cases, run_study
from hushpath.lab.tables import final_table

# With fewer than 20 edges there is nothing to learn about weights, and a cell takes no time: so paths of 16 and 20.
# A grid of 16 has 24.
TINY = Scope((16, 100), (16, 20, 100), (0.5,), 16, (0.5,), 2, 3_000, rate_sizes=(16, 25, 100), rate_units=(1e-6,))
LEAST = Scope((16,), (16,), (0.5,), 16, (0.5,), 2, 3_000)
CLASSES = ("path", "grid")
SEARCHED = {"input", "lines", "hubs", "hubs-bounded", "treewidth", "separator", "separator-cover"}
CELL = ("network", "nodes", "weights", "noise", "unit", "mechanism")
TIMES = ("release_seconds", "query_seconds")


@pytest.fixture(scope="module", autouse=True)
def small_grids_are_too_small():
    """Nothing is learnt from grids of 100 nodes either: what estimators make of weights has tests of its own."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (base, bounds, shrink, sums_prior):
            patch.setattr(module, "MIN_EDGES", 200)
        yield


def run_tiny(folder, **changes):
    said = []
    asked = Study(folder, **{**dict(scope=TINY, classes=CLASSES), **changes})
    return run_study(asked, say=said.append), said


def timeless(rows):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows]


def table(folder, *, jobs=0, **filters):
    cases = make_cases(TINY, seed=0, **{**dict(classes=CLASSES), **filters})
    return timeless(final_table(run_cases(cases, folder / "cases", jobs=jobs)))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    answer, said = run_tiny(folder)
    return folder, answer, said


@pytest.mark.skipif(os.name != "posix", reason="no modes")
def test_every_file_is_for_its_owner(tiny):
    """They compare releases with the truth, and networks may be somebody's own."""
    folder, answer, _ = tiny
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} >= {".csv", ".html", ".json", ".png"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert next(iter(answer.items())) == ("publishable", False)


def test_the_table_is_whole_and_plausible(tiny):
    folder, answer, said = tiny
    rows = answer["results"]
    assert answer["marking"] == "NOT PRIVATE"
    assert said[0].startswith("NOT PRIVATE")
    assert json.loads(json.dumps(answer, allow_nan=False)) == answer
    done = [row for row in rows if not row["skipped"]]
    assert {row["mechanism"] for row in done} >= {"input", "all-pairs", "separator", "separator-cover"}
    for row in done:
        assert 0 < row["mean_error"] <= row["p95_error"] <= row["max_error"]
        assert row["bound"] is None or row["max_error"] <= row["bound"]
        assert abs(row["bias"]) <= row["mean_error"]
        assert 0 <= row["covered"] <= row["intervals"]
        assert not row["default"] or row["predicted_error"] > 0
        assert row["release_seconds"] > 0
        assert row["estimator"] in (ESTIMATORS if row["mechanism"] in SEARCHED else [NO_ESTIMATOR])
    assert any(row["bound"] is not None for row in done)
    defaults = [tuple(row[name] for name in CELL) for row in done if row["default"]]
    assert len(defaults) == len(set(defaults)) == len({tuple(row[name] for name in CELL) for row in done})
    left_out = [row["skipped"] for row in rows if row["skipped"]]
    assert any("numbers" in reason for reason in left_out)  # all pairs of 100 nodes are above TINY's limit


@pytest.mark.slow
def test_another_run_gives_the_same_table(tiny, tmp_path):
    assert table(tmp_path, classes=("path",)) == [
        row for row in timeless(tiny[1]["results"]) if row["network"] == "path"
    ]


SOME = {"classes": ("grid",), "mechanisms": ("hubs", "separator", "all-pairs")}


def of_some(row):
    return row["network"] in SOME["classes"] and row["mechanism"] in SOME["mechanisms"]


def test_a_killed_run_continues_to_the_same_table(tiny, tmp_path, monkeypatch):
    """Files that are missing, cut off or of other code are measured anew."""
    stored = sorted((tiny[0] / "cases").iterdir())
    mine = [path for path in stored if of_some(json.loads(path.read_bytes())[0])]
    (tmp_path / "cases").mkdir()
    for path in mine[::2]:
        (tmp_path / "cases" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "cases" / mine[1].name).write_bytes(mine[1].read_bytes()[:-5])
    (tmp_path / "cases" / "0123456789.json").write_text("[]")
    measured = []
    inner = study.measure_case
    monkeypatch.setattr(study, "measure_case", lambda case: measured.append(case) or inner(case))
    expected = [row for row in timeless(tiny[1]["results"]) if of_some(row)]
    assert table(tmp_path, **SOME) == expected
    assert 0 < len(measured) == len(mine) - len(mine[::2]) < len(mine)
    measured.clear()
    assert table(tmp_path, **SOME) == expected
    assert measured == []


@pytest.mark.slow
def test_workers_give_the_same_table(tiny, tmp_path):
    some = [row for row in tiny[1]["results"] if row["network"] == "path" and row["mechanism"] == "input"]
    found = table(tmp_path, classes=("path",), mechanisms=("input",), jobs=2)
    assert len(found) == len(some)
    # Workers do not know what the fixture changed: compare what needs no learning, or has too few edges for it.
    same = [row for row in timeless(some) if row["estimator"] == "clip" or row["nodes"] == 16]
    assert {row["nodes"] for row in same} > {16}
    assert [row for row in found if row["estimator"] == "clip" or row["nodes"] == 16] == same


def test_every_picture_and_table_is_there(tiny):
    folder = tiny[0]
    pictures = sorted(path.name for path in folder.glob("*.png"))
    assert pictures == ["error-n.png", "hops.png", "phases.png", "rates.png", "table1.png"]
    for name in pictures:
        data = (folder / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 10_000
    tables = "results winners exponents hops coverage estimators rates table1 table1-curves"
    for name in tables.split():
        assert len((folder / f"{name}.csv").read_text().splitlines()) > 1, name


def test_the_report_is_self_contained(tiny):
    page = (tiny[0] / "report.html").read_text()
    assert "NOT PRIVATE" in page
    assert "<script" not in page
    for address in re.findall(r'(?:src|href)="([^"]{0,40})', page):
        assert address.startswith("data:"), address
    assert page.count("<img ") == 5
    assert page.count("data:text/csv;base64,") >= 6
    assert "http" not in re.sub(r'"data:[^"]*"', "", page)


def high(noisy):
    return noisy.lattice.high[noisy.edges]


def test_one_measurement_is_read_by_every_estimator(tmp_path, monkeypatch):
    """Another estimator costs no release, changes nothing of the first one's row, and joins the tables."""
    scope, some = Scope((16,), (16,), (0.5,), 16, (), 2, 3_000), ("input", "all-pairs", "hubs")
    before, _ = run_tiny(tmp_path / "before", scope=scope, mechanisms=some, classes=("grid",))
    longest = WeightEstimator(name="longest", summary="every edge as long as it may be", estimate=high)
    unfit = WeightEstimator(name="unfit", summary="", estimate=high, suits=lambda strategy: False)
    monkeypatch.setitem(ESTIMATORS, "longest", longest)
    monkeypatch.setitem(ESTIMATORS, "unfit", unfit)
    released, inner = [], hushpath.lab.measure.release
    monkeypatch.setattr(
        hushpath.lab.measure, "release", lambda *one, **asked: released.append(1) or inner(*one, **asked)
    )
    after, said = run_tiny(tmp_path / "after", scope=scope, mechanisms=some, classes=("grid",))
    assert len(released) == 2 * len(some)  # repeats times mechanisms
    assert f"{len(some)} measurements" in said[1]
    old = [row for row in timeless(after["results"]) if row["estimator"] not in ("longest", "unfit")]
    assert old == timeless(before["results"])
    mine = {row["mechanism"]: row for row in after["results"] if row["estimator"] == "longest"}
    assert set(mine) == {"input", "hubs"}  # a table of all pairs is not searched
    for row in mine.values():
        assert not row["default"]
        assert row["bias"] > 0.5 * row["mean_distance"]  # every edge at its bound, twice the mean
        assert (row["bound"], row["predicted_error"], row["intervals"]) == (None, None, 0)
    assert all("does not suit" in row["skipped"] for row in after["results"] if row["estimator"] == "unfit")
    assert {row["winner"] for row in after["winners"]} == {row["winner"] for row in before["winners"]}
    ratio = [row["times_clip"] for row in after["estimators"] if row["estimator"] == "longest"]
    assert min(ratio) > 1
    only, _ = run_tiny(tmp_path / "only", scope=scope, mechanisms=some[:1], classes=("grid",), estimators=("longest",))
    assert {row["estimator"] for row in only["results"]} == {"longest"}
    assert only["winners"] == []  # nothing was decoded by default


def test_a_bug_in_one_estimator_spares_the_others(tmp_path, monkeypatch):
    def broken(noisy):
        raise IndexError("secret 31337")

    monkeypatch.setitem(ESTIMATORS, "broken", WeightEstimator(name="broken", summary="a bug", estimate=broken))
    with pytest.raises(CannotError, match="input on path") as caught:
        run_tiny(tmp_path, scope=LEAST, classes=("path",), mechanisms=("input",))
    assert "31337" not in str(caught.value)
    rows = list(csv.DictReader((tmp_path / "results.csv").read_text().splitlines()))
    assert {row["estimator"] for row in rows if "failed" in row["skipped"]} == {"broken"}
    assert {row["estimator"] for row in rows if not row["skipped"]} >= {"clip"}
    assert not list((tmp_path / "cases").iterdir())  # the next run tries again


def test_rates_are_measured_where_nothing_is_clipped(tiny):
    rows = [row for row in tiny[1]["results"] if row["unit"] != 1.0 and not row["skipped"]]
    assert {row["epsilon"] for row in rows} == {1.0}
    assert {row["network"] for row in rows} == set(CLASSES)
    assert not {row["mechanism"] for row in rows} & {"cover", "hubs-bounded", "separator-cover"}
    for row in rows:
        assert row["zeros"] == 0
        assert row["max_error"] < 0.05 * row["mean_distance"]
    fits = {(row["network"], row["mechanism"]): row for row in tiny[1]["rates"]}
    assert fits["grid", "separator"]["shape"].startswith("p log²n")
    assert all(1 <= fit["within"] < 10 and fit["constant"] > 0 for fit in fits.values())
    assert not any(row["noise"] < 0.1 for row in tiny[1]["winners"])  # rates are no part of the other comparisons


def read_by_all_that_suit(rows):
    """Whether every cell was measured, and nothing is left out but estimators for other mechanisms."""
    cells, done = ({tuple(row[name] for name in CELL) for row in some} for some in (
        rows, [row for row in rows if not row["skipped"]],
    ))  # fmt: skip
    return cells == done and all("does not suit" in row["skipped"] for row in rows if row["skipped"])


def test_an_edge_list_of_the_users(tmp_path):
    roads = tmp_path / "roads.csv"
    roads.write_text("source,target,minutes\n" + "".join(f"{i},{i + 1},{1 + i % 5}\n" for i in range(18)))
    answer, _ = run_tiny(
        tmp_path / "out", scope=LEAST, classes=("path",), mechanisms=("input", "separator"), networks=[roads],
        weight="minutes",
    )  # fmt: skip
    mine = [row for row in answer["results"] if row["network"] == "roads.csv"]
    assert [row["noise"] for row in mine if row["mechanism"] == "input" and row["default"]] == [0.5]
    assert all(row["weights"] == "own" and row["nodes"] == 19 for row in mine)
    assert read_by_all_that_suit(mine)


def test_a_bug_in_one_mechanism_is_a_row_and_not_the_end(tmp_path, monkeypatch):
    inner = hushpath.lab.measure.plan

    def broken(topology, *, mechanism, **asked):
        if mechanism == "separator":
            raise IndexError("secret 31337")
        return inner(topology, mechanism=mechanism, **asked)

    monkeypatch.setattr(hushpath.lab.measure, "plan", broken)
    with pytest.raises(CannotError, match="separator on path") as caught:
        run_tiny(tmp_path, scope=LEAST, classes=("path",), mechanisms=("input", "separator"))
    assert "31337" not in str(caught.value)
    assert (tmp_path / "report.html").exists()
    monkeypatch.undo()
    answer, _ = run_tiny(tmp_path, scope=LEAST, classes=("path",), mechanisms=("input", "separator"))
    assert {row["mechanism"] for row in answer["results"]} == {"input", "separator"}
    assert read_by_all_that_suit(answer["results"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--mechanism", "magic"], "magic"),
        (["--estimator", "oracle"], "oracle"),
        (["--class", "torus"], "torus"),
        (["--seed", "-1"], "seed"),
        (["--seed", "many"], "seed"),
        (["--jobs", "0"], "jobs"),
        (["--network", "absent.csv"], "absent.csv"),
        (["--network", "roads.graphml"], "roads.graphml"),
        (["--sizes", "7"], "No such option"),
    ],
)
def test_mistakes_get_one_line(tmp_path, monkeypatch, capsys, arguments, says):
    monkeypatch.chdir(tmp_path)
    assert run(["lab", "--quick", *arguments]) == 2
    out, err = capsys.readouterr()
    assert err.startswith("hushpath: ")
    assert err.count("\n") == 1
    assert says in err
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(["lab", "--quick", "--out", str(tmp_path / "file" / "deep")]) == 1
    assert "cannot make the folder" in capsys.readouterr().err
