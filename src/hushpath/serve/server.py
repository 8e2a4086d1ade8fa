"""What surrounds the application: the limits of bodies, the checks of requests to this machine, and uvicorn.

Nothing is logged: requests may reveal where a person lives.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import re
import socket
import sys
from typing import Any

import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .limits import HttpError, Limits, busy, too_large
from .responses import error_response

SMALL_BODY = 2**16  # bytes; smaller bodies are not refused, so that large ones cannot keep ordinary requests out
LOCAL = ("localhost", "127.0.0.1", "[::1]")
SWITCH_INTERVAL = 0.001  # seconds a thread may keep the interpreter from answering small requests
GRACE = 5  # seconds for answers that have begun, when the server is stopped


class BodyLimit:
    """Counts the bytes of a body as they arrive; stops at the limits of one body and of all bodies together."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app, self.limits = app, limits
        self.held = 0  # bytes of bodies that are being received or answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        size = 0

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            self.held += len(message.get("body", b""))
            if size > self.limits.body_bytes:
                raise too_large(f"the body has more than {self.limits.body_bytes} bytes")
            if size > SMALL_BODY and self.held > max(self.limits.held_bytes, self.limits.body_bytes):
                raise busy("the server is reading other large bodies; try again")
            return message

        try:
            await self.app(scope, counted, send)
        finally:
            self.held -= size


async def receive_body(request: Request, seconds: float) -> bytes:
    """Return the body, if it arrives in time.  A refusal closes the connection, so that the rest is not received."""
    try:
        async with asyncio.timeout(seconds):
            return await request.body()
    except TimeoutError:
        message = f"the body did not arrive within {seconds:g} seconds"
        raise HttpError(408, "Timeout", message, connection="close") from None
    except ClientDisconnect:
        raise HttpError(400, "RequestError", "the body ended early", connection="close") from None
    except HttpError as error:
        error.headers["connection"] = "close"
        raise


class RequestGuard:
    """Lets requests through whose headers are within the limit and, given ``names``, that name this machine.

    Without the second a page whose own host name resolves to 127.0.0.1 (DNS rebinding) could read the answers.  h11
    bounds headers only while they are incomplete: what arrives in one piece may be longer.
    """

    def __init__(self, app: ASGIApp, limits: Limits, *names: str) -> None:
        known = "|".join(re.escape(name) for name in (*LOCAL, *names))
        self.app, self.limits, self.local = app, limits, bool(names)
        self.known = re.compile(rf"(?:{known})(?::[0-9]*)?", re.IGNORECASE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = scope.get("headers", ())
        hosts = [value.decode("latin-1") for name, value in headers if name == b"host"]
        size = len(scope.get("path", "")) + len(scope.get("query_string", b""))
        size += sum(len(name) + len(value) for name, value in headers)
        if self.local and scope["type"] == "http" and not (len(hosts) == 1 and self.known.fullmatch(hosts[0])):
            message = f"this server answers on this machine only: ask for {', '.join(LOCAL)}, or listen with --host"
            await error_response(HttpError(421, "HostError", message, connection="close"))(scope, receive, send)
        elif size > self.limits.header_bytes:
            message = f"more than {self.limits.header_bytes} bytes of headers"
            await error_response(HttpError(431, "LimitError", message, connection="close"))(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def loopback_names(sock: socket.socket) -> list[str] | None:
    """Return the address of a socket that only this machine reaches; None if others do, or it has no address."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    address = ipaddress.ip_address(sock.getsockname()[0].partition("%")[0])
    inner = getattr(address, "ipv4_mapped", None) or address
    return [f"[{address}]" if address.version == 6 else str(address)] if inner.is_loopback else None


def make_server(app: Any, limits: Limits, sock: socket.socket, host: str = "") -> uvicorn.Server:
    """Return a server of ``app`` on ``sock`` without logs; ``host`` is the owner's name for the address.

    ``limits`` bound headers and connections.
    """
    names = loopback_names(sock)
    app = RequestGuard(app, limits, *([] if names is None else [*names, *filter(None, [host])]))
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
    """Serve ``app`` on ``sock`` until interrupted; the interrupt is passed on when answers that have begun are sent.

    ``limits`` and ``host`` are those of ``make_server``.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    make_server(app, limits, sock, host).run(sockets=[sock])
