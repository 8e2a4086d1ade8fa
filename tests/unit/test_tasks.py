"""Tasks done here, in processes and on a cluster: the same answers, also when workers die."""

import multiprocessing
import sys
from functools import partial

import pytest
import worker_tasks as w

from hushpath.errors import CannotError, FileFormatError
from hushpath.tasks import place, run_in_processes, run_on_dask

TASKS = list(range(7))
SQUARES = [task * task for task in TASKS]


def test_where_work_is_done():
    assert place() is map
    processes, dask = place(jobs=3), place(jobs=3, dask="local")
    assert (processes.func, processes.args) == (run_in_processes, (3,))
    assert (dask.func, dask.args) == (run_on_dask, ("local", 3))


def test_no_task_starts_no_process():
    assert list(place(jobs=2)(w.squared, [])) == []


@pytest.fixture(scope="module")
def cluster():
    """The address of a scheduler with two workers."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as made:
        yield made.scheduler_address


@pytest.fixture(params=["processes", "dask"])
def somewhere(request):
    return place(jobs=2) if request.param == "processes" else place(dask=request.getfixturevalue("cluster"))


def test_a_worker_that_dies_is_replaced(somewhere, tmp_path):
    assert sorted(somewhere(partial(w.fatal_once, marker=tmp_path / "died"), TASKS)) == SQUARES
    assert (tmp_path / "died").exists()


def test_mistakes_of_a_task_come_back_as_they_are(somewhere):
    with pytest.raises(FileFormatError, match="is wrong"):
        list(somewhere(w.mistaken, TASKS))


def test_a_task_that_kills_every_worker_is_given_up():
    with pytest.raises(CannotError, match="worker process died"):
        list(place(jobs=1)(w.fatal, [1]))


def test_workers_leave_when_nobody_waits_for_them():
    """An interrupt closes the iterator; what runs for ever does not keep it, nor stays behind."""
    others = set(multiprocessing.active_children())
    running = place(jobs=2)(w.one_quick, TASKS)
    assert next(running) == 0
    running.close()  # which waits for the workers to be gone
    assert set(multiprocessing.active_children()) == others


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(CannotError, match=r"pip install 'hushpath\[dask\]'"):
        list(place(dask="local")(w.squared, TASKS))


@pytest.mark.quick(every=3)
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere.invalid:8786", "smb://x", "", "a b"])
def test_no_scheduler_there(address, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("hushpath.tasks.PATIENCE", "500ms")
    with pytest.raises(CannotError, match="no Dask scheduler answers"):
        list(place(dask=address)(w.squared, TASKS))
