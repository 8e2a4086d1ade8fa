"""The layers around all endpoints: bodies of bounded size that arrive in time, every exception as one line, hosts.

A body is read only where one is needed, only if its declared length is within the limits, and only while all bodies
together are.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import HushpathError
from .limits import Limits
from .replies import Refusal, internal, refused, too_large
from .streams import ABORT, CutOff

Quick = Callable[[Request], Awaitable[Response]]
METHODS = ("GET", "POST", "HEAD", "OPTIONS")
CHUNKED = "a body must have a `Content-Length`; chunked bodies are not accepted"
SMALL_BODY = 2**16  # bytes; smaller bodies do not count, so that large ones cannot keep ordinary requests out
LOCAL = ("localhost", "127.0.0.1", "[::1]")


class Guard:
    """Lets through what is small enough; answers what went wrong."""

    def __init__(
        self, app: ASGIApp, limits: Limits, quick: Mapping[str, Quick] | None = None, bodies: Collection[str] = ()
    ) -> None:
        self.app, self.limits, self.bodies = app, limits, bodies
        self.held = 0  # bytes of large bodies that are being received or answered
        self.quick = quick or {}  # addresses whose answers take less time than finding them does

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            self._check_head(scope)
            if scope["method"] not in METHODS:
                raise Refusal(405, "MethodNotAllowed", "questions are asked with GET or POST", allow="GET, POST")
            if scope["method"] == "POST" and scope["path"] in self.bodies:
                length = declared_length(scope["headers"], self.limits.body_bytes)
                with self._held(length):
                    body = await self._whole(length, receive)
                    await self.app(scope, _given(body, receive), watched)
            elif scope["method"] == "GET" and scope["path"] in self.quick:
                answer = await self.quick[scope["path"]](Request(scope))
                await answer(scope, receive, watched)
            else:
                await self.app(scope, _given(b"", receive), watched)
        except HushpathError as error:
            failed = refused(error)
        except CutOff:
            failed = None
        except Exception as error:
            # Neither the message nor the place: a traceback of a request holds what somebody asked.
            print(f"hushpath: internal error ({type(error).__name__})", file=sys.stderr)
            failed = internal(error)
        else:
            return
        if failed is not None and not begun:
            await failed(scope, receive, send)
        elif ABORT in scope.get("extensions", {}):
            scope["extensions"][ABORT]()  # a half answer must not look like a whole one
        else:
            raise CutOff("an answer was not sent to its end") from None

    def _check_head(self, scope: Scope) -> None:
        size = len(scope["path"]) + len(scope.get("query_string", b""))
        if size + sum(len(name) + len(value) for name, value in scope["headers"]) > self.limits.header_bytes:
            said = f"more than {self.limits.header_bytes} bytes of headers"
            raise Refusal(431, "LimitError", said, connection="close")

    @contextmanager
    def _held(self, length: int) -> Iterator[None]:
        """Count a body towards ``held_bytes`` as long as this context is open; refuse it if there is no room."""
        counted, most = length if length > SMALL_BODY else 0, max(self.limits.held_bytes, self.limits.body_bytes)
        if counted and self.held + counted > most:
            raise Refusal(503, "Busy", "the server is reading other large bodies; try again", retry_after="2")
        self.held += counted
        try:
            yield
        finally:
            self.held -= counted

    async def _whole(self, length: int, receive: Receive) -> bytes:
        """Read a body of the declared length, within the time for a request."""
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.request_seconds):
                while len(body) < length:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise CutOff("the client is gone")
                    body += message.get("body", b"")
                    if len(body) > length or (len(body) < length and not message.get("more_body")):
                        raise Refusal(400, "RequestError", "the body is not as long as `Content-Length` says")
        except TimeoutError:
            said = f"the body did not arrive within {self.limits.request_seconds:g} seconds"
            raise Refusal(408, "Timeout", said) from None
        return bytes(body)


def declared_length(headers: Iterable[tuple[bytes, bytes]], most: int) -> int:
    """Return the length that a request declares for its body; refuse a chunked body and one longer than ``most``."""
    if any(name == b"transfer-encoding" for name, _ in headers):
        raise Refusal(411, "LengthRequired", CHUNKED)
    lengths = [value for name, value in headers if name == b"content-length"]
    if len(lengths) > 1 or not all(value.isdigit() for value in lengths):
        raise Refusal(400, "RequestError", "`Content-Length` must be given once, as a whole number")
    digits = lengths[0].lstrip(b"0") if lengths else b""
    if len(digits) > 15 or int(digits or b"0") > most:
        raise too_large(f"the body has more than {most} bytes")
    return int(digits or b"0")


def _given(body: bytes, receive: Receive) -> Receive:
    """Give a body that was read already, or none; later messages tell that the client is gone."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


class Local:
    """Lets through who asks for this machine by a name of its own.

    A page from elsewhere could let its own name lead to 127.0.0.1 and would then be asked and answered as one site.
    """

    def __init__(self, app: ASGIApp, *names: str) -> None:
        known = "|".join(re.escape(name) for name in (*LOCAL, *names))
        self.app, self.known = app, re.compile(rf"(?:{known})(?::[0-9]*)?", re.IGNORECASE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        hosts = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"]
        if scope["type"] != "http" or (len(hosts) == 1 and self.known.fullmatch(hosts[0])):
            await self.app(scope, receive, send)
        else:
            said = f"this server answers on this machine only: ask for {', '.join(LOCAL)}, or listen with --host"
            await refused(Refusal(421, "HostError", said, connection="close"))(scope, receive, send)
