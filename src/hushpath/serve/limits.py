"""What one request may take, how many requests compute at a time, and the errors of those that exceed it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import TypeVar

from .._validate import between, integer
from ..errors import HushpathError

T = TypeVar("T")
JSON = "application/json"


@dataclass(frozen=True)
class Limits:
    """Bounds of every request; what exceeds them gets an error document."""

    cells: int = 100_000_000  # of one matrix
    interval_cells: int = 1_000_000  # of one matrix with intervals, which take much longer
    table_cells: int = 250_000  # of one OSRM table, which is one JSON document and not streamed
    nodes: int = 100_000  # listed by one request
    body_bytes: int = 2**20  # of the body of a request
    held_bytes: int = 32 * 2**20  # of all bodies that are being received or answered; further large ones get 503
    header_bytes: int = 64 * 2**10  # of the request line and headers
    heavy: int = 4  # matrices, isochrones and OSRM tables of metres computed at a time; others get 503
    waiting: int = 64  # smaller requests (a search, an OSRM table) that may wait for a thread; others get 503
    threads: int = 2  # that compute
    connections: int = 500  # open at a time
    request_seconds: float = 20.0  # for a body to arrive
    stall_seconds: float = 10.0  # that a reader may let a stream wait
    stream_seconds: float = 600.0  # of a whole stream
    steps: int = 10  # of one isochrone request
    waypoints: int = 25  # of one route

    def __post_init__(self) -> None:
        for field in fields(self):
            name, value = f"limits.{field.name}", getattr(self, field.name)
            if isinstance(field.default, int):
                integer(value, name, 1, 10**15)
            else:
                between(value, name, 1e-6, 1e15)


class HttpError(HushpathError):
    """A refused request: its ``status``, ``kind`` (the type in the document), ``message`` and ``headers``."""

    def __init__(self, status: int, kind: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.kind = status, kind
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def too_large(message: str) -> HttpError:
    """Return the error of a request that asks for more than one may take."""
    return HttpError(413, "LimitError", message)


def busy(message: str, seconds: int = 2) -> HttpError:
    """Return the error of a request that may be repeated later."""
    return HttpError(503, "Busy", message, retry_after=str(seconds))


class WorkerPool:
    """Threads for work that takes more than microseconds, with a bounded number of requests of each kind.

    Compiled kernels release the interpreter, so the event loop goes on answering small requests.
    """

    def __init__(self, limits: Limits) -> None:
        self.limit = {"heavy": limits.heavy, "waiting": limits.waiting}
        self.active = dict.fromkeys(self.limit, 0)
        self.threads = ThreadPoolExecutor(limits.threads, thread_name_prefix="hushpath")

    @contextmanager
    def slot(self, kind: str = "heavy") -> Iterator[None]:
        """Hold a slot while this context is open; 503 if none is free.  Runs on the event loop, so needs no lock."""
        if self.active[kind] >= self.limit[kind]:
            raise busy("the server is computing other requests; try again")
        self.active[kind] += 1
        try:
            yield
        finally:
            self.active[kind] -= 1

    def submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Start work in a thread; the caller holds a slot."""
        return asyncio.get_running_loop().run_in_executor(self.threads, work)

    async def run(self, work: Callable[[], T], kind: str = "waiting") -> T:
        """Work in a thread.  The slot is held until the thread is free, even if the client has disconnected."""
        with self.slot(kind):
            future = self.submit(work)
            try:
                return await asyncio.shield(future)
            finally:
                await asyncio.wait([future])
                del future  # its exception refers to this frame: such a cycle would keep the request in memory
