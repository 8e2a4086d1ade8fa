"""Tasks done somewhere: in this process, in other processes of this machine, or on a Dask cluster.

Each place calls a function on every task and yields the answers as they come, in any order.  Where a worker dies its
task is done again by another, so a task must be such that doing it twice does no harm.
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

LIVES = 3  # of a task: so many workers may die over it
LOCAL, PATIENCE = "local", "10s"
Place = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]


def place(*, jobs: int = 0, dask: str | None = None) -> Place:
    """Where to work: on a Dask cluster if one is named, in ``jobs`` processes if there are any, else here."""
    if dask is not None:
        return OnDask(dask, jobs)
    return InProcesses(jobs) if jobs else map


@dataclass(frozen=True)
class InProcesses:
    """So many processes of this machine; they leave when this one does, even if it was killed."""

    jobs: int

    def __call__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """The answers, as they come."""
        from concurrent.futures.process import BrokenProcessPool

        left = dict(enumerate(tasks))
        for _ in range(LIVES):
            try:
                for number, answer in self._answers(function, left) if left else ():
                    del left[number]
                    yield answer
            except BrokenProcessPool:  # a worker died: all that it and its fellows had not done is done again
                continue
            return
        raise CannotError(f"{LIVES} times a worker process died over its task (out of memory?)")

    def _answers(self, function: Callable[[Any], Any], left: dict[int, Any]) -> Iterator[tuple[int, Any]]:
        from concurrent.futures import ProcessPoolExecutor, as_completed

        # Workers start afresh: a fork would copy whatever threads and locks the numerical libraries hold.
        context = multiprocessing.get_context("spawn")
        theirs, ours = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(min(self.jobs, len(left)), context, _leave_with, (theirs,))
        try:
            numbers = {pool.submit(function, task): number for number, task in left.items()}
            for future in as_completed(numbers):
                yield numbers[future], future.result()
            pool.shutdown()
        finally:
            ours.close()  # whoever still works stops: nobody waits for it any more
            pool.shutdown(cancel_futures=True)
            theirs.close()


def _leave_with(starter: Connection) -> None:
    """In a worker: leave interrupts to the process that started it, and go when that goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        with suppress(EOFError, OSError):
            starter.recv_bytes()  # nothing ever comes, but an end
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@dataclass(frozen=True)
class OnDask:
    """A Dask cluster: the address of its scheduler, or ``local`` for one of ``workers`` processes on this machine."""

    address: str
    workers: int = 0

    def __call__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[Any]:
        """The answers, as they come.  What a partial function holds is sent to each worker once, not with each task."""
        dask = _dask()
        shared = function.keywords if isinstance(function, partial) else {}
        plain = function.func if isinstance(function, partial) else function
        with self._client(dask) as client:
            futures = client.map(plain, tasks, pure=False, **shared)
            try:
                for future in dask.as_completed(futures):
                    yield future.result()
            except dask.KilledWorker:
                raise CannotError("several workers of the cluster died over the same task (out of memory?)") from None
            except dask.CancelledError:
                raise CannotError("the cluster went away before all was done") from None
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
        # A client that never connected is closed by the garbage collector, which waits for ever if that happens inside
        # the lock that starting another one takes: so it happens here.
        gc.collect()
        try:
            client = dask.Client(self.address, timeout=PATIENCE)
        except (OSError, ValueError):
            raise CannotError(f"no Dask scheduler answers at {self.address}") from None
        with client:
            yield client


def dask_setup(worker: Any) -> None:  # noqa: ARG001 - Dask calls it by this name in each worker that it starts for us
    """In a worker of a local cluster: leave interrupts to the process that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _dask() -> Any:
    """The library that works on clusters, if it is there."""
    return library("distributed", "dask", "working on a cluster")
