"""A tiny laboratory end to end: repeatable, killed and continued, self-contained, and clear about mistakes."""

import json
import re

import pytest

import hushpath.lab.trial
from hushpath.cli import run
from hushpath.errors import CannotError
from hushpath.lab.cases import Scope, make_cases
from hushpath.lab.runner import run_cases
from hushpath.lab.study import Study, run_study
from hushpath.lab.tables import final_table

TINY = Scope((25, 49, 100), (25, 49, 100), (0.5,), 49, (0.5,), 2, 3_000)
CLASSES = ("path", "grid")
TIMES = ("release_seconds", "query_seconds")


def run_tiny(folder, **changes):
    said = []
    study = Study(folder, **{**dict(scope=TINY, classes=CLASSES), **changes})
    return run_study(study, say=said.append), said


def timeless(rows):
    return [{k: v for k, v in row.items() if k not in TIMES} for row in rows]


def table(folder, *, jobs=0, **filters):
    cases = make_cases(TINY, seed=0, **{**dict(classes=CLASSES), **filters})
    return timeless(final_table(run_cases(cases, folder / "results.jsonl", jobs=jobs)))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    answer, said = run_tiny(folder, plots=folder / "plots", json=folder / "table.json")
    return folder, answer, said


def test_the_table_is_whole_and_plausible(tiny):
    folder, answer, said = tiny
    rows = answer["results"]
    assert answer["marking"] == "NOT PRIVATE"
    assert said[0].startswith("NOT PRIVATE")
    assert json.loads((folder / "table.json").read_text()) == json.loads(json.dumps(answer))
    done = [row for row in rows if not row["skipped"]]
    assert {row["mechanism"] for row in done} >= {"input", "all-pairs", "separator", "separator-cover"}
    for row in done:
        assert 0 < row["mean_error"] <= row["p95_error"] <= row["max_error"] <= row["bound"]
        assert abs(row["bias"]) <= row["mean_error"]
        assert 0 <= row["covered"] <= row["intervals"]
        assert row["predicted_error"] > 0
        assert row["release_seconds"] > 0
    left_out = [row["skipped"] for row in rows if row["skipped"]]
    assert any("numbers" in reason for reason in left_out)  # all pairs of 100 nodes are above TINY's limit


def test_another_run_gives_the_same_table(tiny, tmp_path):
    assert table(tmp_path) == timeless(tiny[1]["results"])


def test_a_killed_run_continues_to_the_same_table(tiny, tmp_path, monkeypatch):
    data = (tiny[0] / "results.jsonl").read_bytes()
    half = data[: len(data) // 2]
    assert not half.endswith(b"\n")
    (tmp_path / "results.jsonl").write_bytes(half)
    measured = []
    inner = hushpath.lab.trial.run_case
    monkeypatch.setattr(hushpath.lab.trial, "run_case", lambda case: measured.append(case) or inner(case))
    expected = timeless(tiny[1]["results"])
    assert table(tmp_path) == expected
    assert len(measured) == len(expected) - half.count(b"\n")
    measured.clear()
    assert table(tmp_path) == expected
    assert measured == []


def test_workers_give_the_same_table(tiny, tmp_path):
    some = [row for row in tiny[1]["results"] if row["network"] == "path" and row["mechanism"] == "input"]
    assert table(tmp_path, classes=("path",), mechanisms=("input",), jobs=2) == timeless(some)


def test_every_picture_and_table_is_there(tiny):
    folder = tiny[0]
    pictures = sorted(path.name for path in (folder / "plots").glob("*.png"))
    assert pictures == ["error-n.png", "hops.png", "phases.png", "table1.png", "weights.png"]
    for name in pictures:
        data = (folder / "plots" / name).read_bytes()
        assert data.startswith(b"\x89PNG")
        assert len(data) > 10_000
    for name in ("results", "winners", "exponents", "hops", "coverage", "weights", "table1", "table1-curves"):
        for place in (folder, folder / "plots"):
            assert len((place / f"{name}.csv").read_text().splitlines()) > 1, name


def test_the_report_is_self_contained(tiny):
    page = (tiny[0] / "report.html").read_text()
    assert "NOT PRIVATE" in page
    assert "<script" not in page
    for address in re.findall(r'(?:src|href)="([^"]{0,40})', page):
        assert address.startswith("data:"), address
    assert page.count("<img ") == 5
    assert page.count("data:text/csv;base64,") >= 6
    assert "http" not in re.sub(r'"data:[^"]*"', "", page)


def test_an_edge_list_of_the_users(tmp_path):
    roads = tmp_path / "roads.csv"
    roads.write_text("source,target,minutes\n" + "".join(f"{i},{i + 1},{1 + i % 5}\n" for i in range(40)))
    answer, _ = run_tiny(
        tmp_path / "out", classes=("path",), mechanisms=("input", "separator"), networks=[roads], weight="minutes"
    )
    mine = [row for row in answer["results"] if row["network"] == "roads.csv"]
    assert [row["noise"] for row in mine if row["mechanism"] == "input"] == [0.5]
    assert all(row["weights"] == "own" and row["nodes"] == 41 and not row["skipped"] for row in mine)


def test_a_bug_in_one_mechanism_is_a_row_and_not_the_end(tmp_path, monkeypatch):
    inner = hushpath.lab.trial.run_case

    def broken(case):
        if case.mechanism == "separator":
            raise IndexError("secret 31337")
        return inner(case)

    monkeypatch.setattr(hushpath.lab.trial, "run_case", broken)
    with pytest.raises(CannotError, match="cells failed, the first: separator on path") as caught:
        run_tiny(tmp_path, classes=("path",), mechanisms=("input", "separator"))
    assert "31337" not in str(caught.value)
    assert (tmp_path / "report.html").exists()
    monkeypatch.undo()
    answer, _ = run_tiny(tmp_path, classes=("path",), mechanisms=("input", "separator"))
    assert not any(row["skipped"] for row in answer["results"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--mechanism", "magic"], "no mechanism is called 'magic'"),
        (["--class", "torus"], "no network class is called 'torus'"),
        (["--seed", "-1"], "seed must be at least 0"),
        (["--seed", "many"], "seed"),
        (["--jobs", "0"], "jobs"),
        (["--network", "absent.csv"], "absent.csv"),
        (["--network", "roads.graphml"], "the lab reads edge lists"),
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
