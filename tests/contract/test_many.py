"""A matrix on a cluster and in processes is the matrix of one run, byte for byte, also when a worker dies."""

import json
import pickle
import signal
from pathlib import Path

import pytest
import worker_tasks
from exported import of_trips, released

import hushpath
from hushpath.cli import run
from hushpath.errors import CannotError, OptionError
from hushpath.lab.cases import Scope, make_cases
from hushpath.lab.study import run_cases
from hushpath.output import matrix
from hushpath.output.matrix import Part


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A release of six periods, so of six parts, and the folder of one run."""
    monkeypatch.chdir(tmp_path)
    of_trips(periods=[f"p{number}" for number in range(6)]).save("r.hush")
    assert run(["matrix", "r.hush", "-o", "whole"]) == 0
    return tmp_path


def contents(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_local_cluster_whose_worker_is_killed_in_the_middle(folder, monkeypatch, capsys):
    pytest.importorskip("distributed")
    monkeypatch.setattr(matrix, "_write_in_worker", worker_tasks.dies_in_the_middle)
    capsys.readouterr()
    assert run(["matrix", "r.hush", "-o", "m", "--dask", "local", "--workers", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["made"] == 6
    assert (folder / "died").exists()  # a worker did, and what it left half-written is gone
    assert contents(folder / "m") == contents(folder / "whole")


def test_processes_one_of_which_dies(folder, monkeypatch):
    monkeypatch.setattr(matrix, "_write_in_worker", worker_tasks.dies_in_the_middle)
    assert hushpath.write_matrix(hushpath.load("r.hush"), "m", workers=2).made == 6
    assert (folder / "died").exists()
    assert contents(folder / "m") == contents(folder / "whole")


def test_one_period(folder):
    assert run(["matrix", "r.hush", "-o", "p1", "--period", "p1"]) == 0
    assert set(contents(folder / "p1")) == {"rows/period=p1/part-00000.parquet", "targets.parquet"}


def test_an_interrupt_says_how_to_go_on(folder, monkeypatch, capsys):
    real = Part.write

    def stopped(part, folder):
        real(part, folder)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Part, "write", stopped)
    capsys.readouterr()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of shells ignore it
    try:
        assert run(["matrix", "r.hush", "-o", "m"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "Finished parts stay in m; run the same command again to write the others.",
        "hushpath: interrupted; no half-written file is left",
    ]
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    assert run(["matrix", "r.hush", "-o", "m"]) == 0
    assert contents(folder / "m") == contents(folder / "whole")


def test_a_worker_believes_nothing(folder, monkeypatch):
    """It finds another release where the client has read one: nothing of it is written."""
    rel = hushpath.load("r.hush")
    released().save("r.hush")
    with pytest.raises(OptionError, match="cannot read a release"):
        hushpath.write_matrix(rel, "m", workers=1)
    of_trips(periods=rel.periods).save("r.hush")
    with pytest.raises(CannotError, match=r"a worker has another release in .*r\.hush"):
        hushpath.write_matrix(rel, "m", workers=1)
    assert contents(folder / "m") == {}
    with pytest.raises(OptionError, match="load it from there"):
        hushpath.write_matrix(released(), "n", workers=1)


def test_workers_map_the_index_that_the_client_made(tmp_path, monkeypatch):
    """Also where they have a cache folder of their own: that they have been told its digest is enough."""
    monkeypatch.chdir(tmp_path)
    released().save("r.hush")
    rel, sent = hushpath.load("r.hush"), []
    rel.build_index()
    monkeypatch.setattr(matrix, "place", lambda **_: lambda function, tasks: sent.append(function.keywords) or tasks)
    with pytest.raises(CannotError, match="1 parts written by workers are not in m"):  # nobody made them
        hushpath.write_matrix(rel, "m", workers=2)
    assert Path("r.hushx").is_file()
    assert not Path("m").exists()
    monkeypatch.setenv("HUSHPATH_CACHE", str(tmp_path / "elsewhere"))
    (job,) = [keywords["job"] for keywords in sent]
    with pytest.warns(hushpath.HushpathWarning, match="was not made here"):
        assert hushpath.load("r.hush").index is None
    assert matrix._open_job(job)[0].table.release.index is not None
    assert matrix._open_job(job) is matrix._open_job(pickle.loads(pickle.dumps(job)))  # once in a process


@pytest.mark.slow  # the same cluster writes a matrix above, and the lab has tests of its own
def test_the_lab_on_a_cluster_gives_the_same_table(tmp_path):
    distributed = pytest.importorskip("distributed")
    cases = make_cases(
        Scope((16,), (16,), (0.5,), 16, (0.5,), 2, 3_000), seed=0, classes=("path",), mechanisms=("input", "hubs")
    )

    def timeless(rows):
        return [{key: fact for key, fact in row.items() if not key.endswith("_seconds")} for row in rows]

    here = run_cases(cases, tmp_path / "here")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        there = run_cases(cases, tmp_path / "there", dask=cluster.scheduler_address)
    assert timeless(here) == timeless(there)
    assert not any(row.get("failed") for row in there)
