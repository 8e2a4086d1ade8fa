"""Work that takes more than microseconds: a few threads, a few requests at a time, and everybody else is told to wait.

Compiled kernels let other threads run, so the event loop goes on answering small questions meanwhile.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from .limits import Limits
from .replies import Refusal

T = TypeVar("T")
REST = 4.0  # seconds that paced work sleeps for each second of processor time


class Pace:
    """Called between short pieces of work in a thread: sleeps, so that most of the interpreter's time is for others."""

    def __init__(self) -> None:
        self.began = time.thread_time()

    def __call__(self) -> None:
        """Sleep in proportion to the processor time since the last call."""
        time.sleep(min(REST * (time.thread_time() - self.began), 0.1))
        self.began = time.thread_time()


class Gate:
    """Who may work: so many matrices and the like, so many smaller requests, on a few threads."""

    def __init__(self, limits: Limits) -> None:
        self.most = {"heavy": limits.heavy, "waiting": limits.waiting}
        self.inside = dict.fromkeys(self.most, 0)
        self.reading = Lock()  # one large request is read at a time, so that the pauses of `Pace` are pauses of all
        self.pool = ThreadPoolExecutor(limits.threads, thread_name_prefix="hushpath")

    @contextmanager
    def place(self, kind: str = "heavy") -> Iterator[None]:
        """A place inside, while this context is open; refuses if all are taken.  On the event loop, so no lock."""
        if self.inside[kind] >= self.most[kind]:
            raise Refusal(503, "Busy", "the server is at work on other requests; try again", retry_after="2")
        self.inside[kind] += 1
        try:
            yield
        finally:
            self.inside[kind] -= 1

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Begin to work in a thread; for those who have a place."""
        return asyncio.get_running_loop().run_in_executor(self.pool, work)

    async def run(self, work: Callable[[], T], kind: str = "waiting") -> T:
        """Work in a thread, with a place until that is free, even if whoever asked is gone before."""
        with self.place(kind):
            future = self.submit(work)
            try:
                return await asyncio.shield(future)
            finally:
                await asyncio.wait([future])
