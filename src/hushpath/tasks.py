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
from dataclasses import dataclass
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
        return OnDask(dask, jobs)
    return InProcesses(jobs) if jobs else map


@dataclass(frozen=True)
class InProcesses:
    """Processes of this machine; they end with this one, even if it is killed."""

    jobs: int

    def __call__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results."""
        from concurrent.futures.process import BrokenProcessPool

        left = dict(enumerate(tasks))
        for _ in range(ATTEMPTS):
            try:
                for number, answer in self._answers(function, left) if left else ():
                    del left[number]
                    yield answer
            except BrokenProcessPool:  # a worker died: run all unfinished tasks again
                continue
            return
        raise CannotError(f"a worker process died {ATTEMPTS} times (out of memory?)")

    def _answers(self, function: Callable[[Any], Any], left: dict[int, Any]) -> Iterator[tuple[int, Any]]:
        from concurrent.futures import ProcessPoolExecutor, as_completed

        # spawn: a fork would copy the threads and locks of numerical libraries
        context = multiprocessing.get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(min(self.jobs, len(left)), context, _leave_with, (theirs,))
        try:
            numbers = {pool.submit(function, task): number for number, task in left.items()}
            for future in as_completed(numbers):
                yield numbers[future], future.result()
            pool.shutdown()
        finally:
            ours.close()  # workers that are still busy stop
            pool.shutdown(cancel_futures=True)
            theirs.close()


def _leave_with(starter: Connection) -> None:
    """In a worker: ignore interrupts, and exit when the process that started it does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with suppress(EOFError, OSError):
            starter.recv_bytes()  # blocks until the other end is closed
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@dataclass(frozen=True)
class OnDask:
    """A Dask cluster: the address of its scheduler, or ``local`` for one of ``workers`` processes on this machine."""

    address: str
    workers: int = 0

    def __call__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """Yield the results.  The keywords of a partial function are sent to each worker once."""
        dask = library("distributed", "dask", "working on a cluster")
        shared = function.keywords if isinstance(function, partial) else {}
        plain = function.func if isinstance(function, partial) else function
        with self._client(dask) as client:
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
    def _client(self, dask: Any) -> Iterator[Any]:
        if self.address == LOCAL:
            options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "preload": [__name__]}
            made = dask.LocalCluster(self.workers or os.cpu_count(), silence_logs=logging.CRITICAL, **options)
            with made as cluster, dask.Client(cluster) as client:
                yield client
            return
        # The garbage collector closes a client that never connected; inside Client() it would wait for a lock for ever.
        gc.collect()
        try:
            client = dask.Client(self.address, timeout=PATIENCE)
        except (OSError, ValueError):
            raise CannotError(f"no Dask scheduler answers at {self.address}") from None
        with client:
            yield client


def dask_setup(worker: Any) -> None:  # noqa: ARG001 - Dask calls it by this name in each worker that it starts for us
    """In a worker of a local cluster: ignore interrupts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
