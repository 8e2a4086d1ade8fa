"""Answers: compact JSON, errors in one form (``{"error": {"type": "OptionError", "message": "..."}}``), and streams.

A stream is sent as it is made: computed in a thread, one part ahead of the reader, who must keep up.  Nothing is
computed for a client that has disconnected, and one that takes nothing for ``stall_seconds`` is cut off: a chunked
answer without its end is an error to every client, never a short matrix.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ..errors import CannotError, HushpathError, InputError, one_line
from .limits import JSON, HttpError, Limits, WorkerPool

LONGEST = 300  # characters of a message: it may quote a label of thousands
PIECE = 2**18  # bytes given to the network at a time: what it keeps for a slow reader


def json_bytes(data: Any) -> bytes:
    """Return compact JSON in ASCII; infinity must have been replaced (``finite``)."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def json_list_bytes(name: str, items: Iterable[Any], rest: Mapping[str, Any]) -> bytes:
    """Return an object with a long list, written item by item so that other threads can run in between."""
    return b'{"%s":[%s],%s' % (name.encode("ascii"), b",".join(map(json_bytes, items)), json_bytes(rest)[1:])


def finite(value: float) -> float | str:
    """Return a number as JSON can hold it."""
    return "inf" if math.isinf(value) else value


def error_response(error: Exception) -> Response:
    """Return the error document.  Of an unforeseen exception only the type: its message could quote the request."""
    if isinstance(error, HttpError):
        status, kind, message = error.status, error.kind, one_line(error, LONGEST)
    elif isinstance(error, InputError):
        status, kind, message = 400, type(error).__name__, one_line(error, LONGEST)
    elif isinstance(error, HushpathError):
        kind = type(error).__name__ if isinstance(error, CannotError) else "CannotError"
        status, message = 422, one_line(error, LONGEST)
    else:
        status, kind, message = 500, "InternalError", f"internal error ({type(error).__name__})"
    body = json_bytes({"error": {"type": kind, "message": message}})
    return Response(body, status, {**getattr(error, "headers", {}), "cache-control": "no-store"}, JSON)


class CutOff(Exception):  # noqa: N818 - not an error of the server
    """A stream that was not sent to its end."""


class Stream(Response):
    """The parts of an iterator as one answer.

    ``begin`` reads the request, in a thread, and returns the iterator, the media type and headers.
    """

    def __init__(
        self, begin: Callable[[], tuple[Iterator[Any], str, Mapping[str, str]]], workers: WorkerPool, limits: Limits
    ) -> None:
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
                        for piece in split_part(part):
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
        self.parts, media, headers = self.begin()
        super().__init__(None, 200, headers, media)
        del self.headers["content-length"]  # unknown
        return self._next()

    def _next(self) -> Any:
        return next(self.parts, None)


def split_part(part: Any) -> Iterator[memoryview]:
    """Return some bytes at a time."""
    whole = memoryview(part).cast("B")
    return (whole[at : at + PIECE] for at in range(0, len(whole), PIECE))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
