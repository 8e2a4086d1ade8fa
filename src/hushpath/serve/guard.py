"""The layers around all endpoints: bodies of bounded size that arrive in time, every exception as one line, hosts."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..errors import HushpathError
from .limits import Limits
from .replies import Refusal, internal, refused, too_large
from .streams import ABORT, CutOff

Quick = Callable[[Request], Awaitable[Response]]
METHODS = ("GET", "POST", "HEAD", "OPTIONS")
LOCAL = ("localhost", "127.0.0.1", "[::1]")


class Guard:
    """Lets through what is small enough; answers what went wrong."""

    def __init__(self, app: ASGIApp, limits: Limits, quick: Mapping[str, Quick] | None = None) -> None:
        self.app, self.limits = app, limits
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
            if scope["method"] != "GET":
                receive = await self._whole(scope, receive)
            elif scope["path"] in self.quick:
                answer = await self.quick[scope["path"]](Request(scope))
                await answer(scope, receive, watched)
                return
            await self.app(scope, receive, watched)
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

    async def _whole(self, scope: Scope, receive: Receive) -> Receive:
        """Read the body now, if it is not too large, and give it again."""
        if scope["method"] not in METHODS:
            raise Refusal(405, "MethodNotAllowed", "questions are asked with GET or POST", allow="GET, POST")
        most, body = self.limits.body_bytes, bytearray()
        try:
            async with asyncio.timeout(self.limits.request_seconds):
                while True:
                    message = await receive()
                    body += message.get("body", b"")
                    if len(body) > most:
                        raise too_large(f"the body has more than {most} bytes")
                    if not message.get("more_body"):
                        break
        except TimeoutError:
            said = f"the body did not arrive within {self.limits.request_seconds:g} seconds"
            raise Refusal(408, "Timeout", said, connection="close") from None
        first = [{"type": "http.request", "body": bytes(body), "more_body": False}]

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
