"""Work that takes more than microseconds: a few threads, a few requests at a time, and everybody else is told to wait.

Compiled kernels let other threads run, so the event loop goes on answering small questions meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from .limits import Limits
from .replies import Refusal

T = TypeVar("T")


class Gate:
    """Who may work: so many matrices and the like, so many smaller requests, on a few threads."""

    def __init__(self, limits: Limits) -> None:
        self.most = {"heavy": limits.heavy, "waiting": limits.waiting}
        self.inside = dict.fromkeys(self.most, 0)
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
