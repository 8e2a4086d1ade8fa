"""Run tasks in this process, in other processes of this machine, or on a Dask cluster.

Results are yielded in any order.  If a worker dies, its tasks run again, so tasks must be idempotent.
"""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from .errors import CannotError
from .extras import library

ATTEMPTS = 3  # of a task whose worker dies
LOCAL, PATIENCE = "local", "10s"
Place = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


def place(*, jobs: int = 0, dask: str | None = None) -> Place:
    """Return where tasks run: on a Dask cluster, in ``jobs`` processes, or here."""
    if dask is not None:
        return partial(run_on_dask, dask, jobs)
    return partial(run_in_processes, jobs) if jobs else map


def run_in_processes(jobs: int, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of processes of this machine; they end with this one, even if it is killed."""
    from concurrent.futures.process import BrokenProcessPool

    left = dict(enumerate(tasks))
    for _ in range(ATTEMPTS):
        try:
            for number, answer in _answers(jobs, function, left) if left else ():
                del left[number]
                yield answer
        except BrokenProcessPool:  # a worker died: run all unfinished tasks again
            continue
        return
    raise CannotError(f"a worker process died {ATTEMPTS} times (out of memory?)")


def _answers(jobs: int, function: Callable[[Any], Any], left: dict[int, Any]) -> Iterator[tuple[int, Any]]:
    from concurrent.futures import ProcessPoolExecutor, as_completed

    # spawn: a fork would copy the threads and locks of numerical libraries
    context = multiprocessing.get_context("spawn")
    theirs, ours = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(min(jobs, len(left)), context, _exit_with_starter, (theirs,))
    try:
        numbers = {pool.submit(function, task): number for number, task in left.items()}
        for future in as_completed(numbers):
            yield numbers[future], future.result()
        pool.shutdown()
    finally:
        ours.close()  # workers that are still busy stop
        pool.shutdown(cancel_futures=True)
        theirs.close()


def _exit_with_starter(starter: Connection) -> None:
    """In a worker: ignore interrupts, and exit when the process that started it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with suppress(EOFError, OSError):
            starter.recv_bytes()  # blocks until the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run_on_dask(address: str, workers: int, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of ``tasks`` on a Dask cluster; keywords of a partial ``function`` are sent to workers once.

    ``address`` is that of its scheduler, or ``local`` for ``workers`` processes on this machine.
    """
    dask = library("distributed", "dask", "working on a cluster")
    shared = function.keywords if isinstance(function, partial) else {}
    plain = function.func if isinstance(function, partial) else function
    with _client(dask, address, workers) as client:
        futures = client.map(plain, tasks, pure=False, **shared)
        try:
            for future in dask.as_completed(futures):
                yield future.result()
        except dask.KilledWorker:
            raise CannotError("several workers died on the same task (out of memory?)") from None
        except dask.CancelledError:
            raise CannotError("the connection to the cluster was lost") from None
        finally:
            client.cancel(futures)


@contextmanager
def _client(dask: Any, address: str, workers: int) -> Iterator[Any]:
    if address == LOCAL:
        options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "preload": [__name__]}
        made = dask.LocalCluster(workers or os.cpu_count(), silence_logs=logging.CRITICAL, **options)
        with made as cluster, dask.Client(cluster) as client:
            yield client
        return
    # The garbage collector closes a client that never connected; inside Client() it would wait for a lock for ever.
    gc.collect()
    try:
        client = dask.Client(address, timeout=PATIENCE)
    except (OSError, ValueError):
        raise CannotError(f"no Dask scheduler answers at {address}") from None
    with client:
        yield client


def dask_setup(worker: Any) -> None:  # noqa: ARG001 - Dask calls it by this name in each worker that it starts for us
    """In a worker of a local cluster: ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
