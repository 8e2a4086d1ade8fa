"""A long answer, sent as it is made: computed in a thread, one part ahead of the reader, who must keep up.

Nothing is computed for a client that has disconnected, and one that takes nothing for ``stall_seconds`` is cut off: a
chunked answer without its end is an error to every client, never a short matrix.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from .limits import Limits, WorkerPool

PIECE = 2**18  # bytes given to the network at a time: what it keeps for a slow reader


class CutOff(Exception):  # noqa: N818 - not an error of the server
    """A stream that was not sent to its end."""


@dataclass(frozen=True)
class Parts:
    """What a stream consists of: its parts, their media type and the headers of the answer."""

    parts: Iterator[Any]
    media: str
    headers: Mapping[str, str]


class Stream(Response):
    """The parts of an iterator as one answer.  ``begin`` reads the request and makes the iterator, in a thread."""

    def __init__(self, begin: Callable[[], Parts], workers: WorkerPool, limits: Limits) -> None:
        self.begin, self.workers, self.limits = begin, workers, limits
        self.background = None  # as every response has

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Send all of it.  The first part is made before the status is sent, so that a refusal is an error document."""
        with self.workers.slot():
            ahead = self.workers.submit(self._first)
            gone = asyncio.ensure_future(_disconnected(receive))
            try:
                part = await asyncio.shield(ahead)
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                async with asyncio.timeout(self.limits.stream_seconds):
                    while part is not None:
                        ahead = self.workers.submit(self._next)
                        for piece in pieces(part):
                            if gone.done():
                                return
                            async with asyncio.timeout(self.limits.stall_seconds):
                                await send({"type": "http.response.body", "body": piece, "more_body": True})
                        part = await asyncio.shield(ahead)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            except TimeoutError:
                raise CutOff("the reader was too slow") from None
            finally:
                gone.cancel()
                await asyncio.wait([ahead])  # the slot is held until the thread is free
                ahead.exception() if not ahead.cancelled() else None
                del ahead  # its exception refers to this frame: such a cycle would keep the body in memory

    def _first(self) -> Any:
        begun = self.begin()
        super().__init__(None, 200, dict(begun.headers), begun.media)
        del self.headers["content-length"]  # unknown
        self.parts = begun.parts
        return self._next()

    def _next(self) -> Any:
        return next(self.parts, None)


def pieces(part: Any) -> Iterator[memoryview]:
    """Return some bytes at a time."""
    whole = memoryview(part).cast("B")
    return (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
