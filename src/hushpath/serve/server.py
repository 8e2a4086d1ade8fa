"""What surrounds the application: error documents, the limits of bodies, the host check, and uvicorn.

Nothing is logged: requests may reveal where a person lives.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import HttpError, Limits, busy, too_large
from .responses import error_response
from .streams import CutOff

SMALL_BODY = 2**16  # bytes; smaller bodies do not count, so that large ones cannot keep ordinary requests out
LOCAL = ("localhost", "127.0.0.1", "[::1]")
SWITCH_INTERVAL = 0.001  # seconds a thread may keep the interpreter from answering small requests
GRACE = 5  # seconds for answers that have begun, when the server is stopped


class ErrorMiddleware:
    """Answers every exception with an error document, and headers that are too long with 431."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        started = False

        async def tracked(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            if scope["type"] == "http":
                self._check_headers(scope)
            await self.app(scope, receive, tracked)
        except Exception as error:
            if not isinstance(error, (HttpError, CutOff)) and error_response(error).status_code == 500:
                # Neither message nor traceback: they may quote the request.
                print(f"hushpath: internal error ({type(error).__name__})", file=sys.stderr)
            if started or isinstance(error, CutOff):  # the server closes the connection: half an answer must not
                raise CutOff("an answer was not sent to its end") from None  # look like a whole one
            await error_response(error)(scope, receive, send)

    def _check_headers(self, scope: Scope) -> None:
        size = len(scope["path"]) + len(scope.get("query_string", b""))
        if size + sum(len(name) + len(value) for name, value in scope["headers"]) > self.limits.header_bytes:
            message = f"more than {self.limits.header_bytes} bytes of headers"
            raise HttpError(431, "LimitError", message, connection="close")


class BodyLimit:
    """Lets a body through only if its declared length, and that of all bodies together, is within the limits."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.held = 0  # bytes of large bodies that are being received or answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            with self._reserved(declared_length(scope["headers"], self.limits.body_bytes)):
                await self.app(scope, receive, send)
        except HttpError as error:
            error.headers.setdefault("connection", "close")  # do not receive the rest of a body that was refused
            raise

    @contextmanager
    def _reserved(self, length: int) -> Iterator[None]:
        """Count a body towards ``held_bytes`` while this context is open."""
        counted = length if length > SMALL_BODY else 0
        if counted and self.held + counted > max(self.limits.held_bytes, self.limits.body_bytes):
            raise busy("the server is reading other large bodies; try again")
        self.held += counted
        try:
            yield
        finally:
            self.held -= counted


def declared_length(headers: Iterable[tuple[bytes, bytes]], most: int) -> int:
    """Return the length that a request declares for its body; chunked and too long bodies are errors."""
    found = [(name, value) for name, value in headers if name in (b"transfer-encoding", b"content-length")]
    if any(name == b"transfer-encoding" for name, _ in found):
        raise HttpError(411, "LengthRequired", "a body needs a `Content-Length`; chunked bodies are not accepted")
    if len(found) > 1 or not all(value.isdigit() for _, value in found):
        raise HttpError(400, "RequestError", "`Content-Length` must be given once, as a whole number")
    digits = found[0][1].lstrip(b"0") if found else b""
    if len(digits) > 15 or int(digits or b"0") > most:
        raise too_large(f"the body has more than {most} bytes")
    return int(digits or b"0")


async def receive_body(request: Request, seconds: float) -> bytes:
    """Return the body, if it arrives in time.  Servers pass on as many bytes as were declared."""
    try:
        async with asyncio.timeout(seconds):
            return await request.body()
    except TimeoutError:
        raise HttpError(408, "Timeout", f"the body did not arrive within {seconds:g} seconds") from None
    except ClientDisconnect:
        raise CutOff("the client is gone") from None


class HostMiddleware:
    """Lets requests through that name this machine.

    Otherwise a page whose own host name resolves to 127.0.0.1 (DNS rebinding) could read the answers.
    """

    def __init__(self, app: ASGIApp, *names: str) -> None:
        known = "|".join(re.escape(name) for name in (*LOCAL, *names))
        self.app, self.known = app, re.compile(rf"(?:{known})(?::[0-9]*)?", re.IGNORECASE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        hosts = [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"]
        if scope["type"] != "http" or (len(hosts) == 1 and self.known.fullmatch(hosts[0])):
            await self.app(scope, receive, send)
        else:
            message = f"this server answers on this machine only: ask for {', '.join(LOCAL)}, or listen with --host"
            await error_response(HttpError(421, "HostError", message, connection="close"))(scope, receive, send)


def loopback_names(sock: socket.socket) -> list[str] | None:
    """Return the address of a socket that only this machine reaches; None if others do, or it has no address."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    address = ipaddress.ip_address(sock.getsockname()[0].partition("%")[0])
    inner = getattr(address, "ipv4_mapped", None) or address
    return [f"[{address}]" if address.version == 6 else str(address)] if inner.is_loopback else None


def make_server(app: Any, limits: Limits, sock: socket.socket, host: str = "") -> uvicorn.Server:
    """Return a server without logs; ``host`` is the owner's name for the address of the socket."""
    names = loopback_names(sock)
    if names is not None:
        app = HostMiddleware(app, *names, *([host] if host else []))
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    logging.getLogger("uvicorn").propagate = False
    # Only h11 bounds the memory of headers while they arrive; httptools is faster, and enough for this machine.
    config = uvicorn.Config(
        app, http="h11" if names is None else "httptools", h11_max_incomplete_event_size=limits.header_bytes,
        ws="none", lifespan="off", log_config=None, log_level="critical", access_log=False, proxy_headers=False,
        server_header=False, date_header=False, limit_concurrency=limits.connections, timeout_keep_alive=30,
        timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    return uvicorn.Server(config)


def run(app: Any, sock: socket.socket, limits: Limits, host: str = "") -> None:
    """Serve until interrupted; the interrupt is passed on when answers that have begun are sent."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    make_server(app, limits, sock, host).run(sockets=[sock])
