"""The server: uvicorn on one socket, quiet, with bounds on what a connection may send and how long it may take.

Nothing is logged.  What somebody asks may tell where they live; a server that forgets it cannot lose it.
"""

from __future__ import annotations

import ipaddress
import logging
import socket
import sys
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .guard import CHUNKED, Local
from .limits import Limits
from .replies import dumps
from .streams import ABORT, PIECE

SWITCH = 0.001  # seconds a thread may keep the interpreter from answering small questions
PIPELINED = 32  # requests of one connection that may wait for the answers before them
GRACE = 5  # seconds for answers that have begun, when the server is stopped


def protocol_for(limits: Limits) -> type[HttpToolsProtocol]:
    """A protocol that cuts off headers that are too long or too slow and readers who stop, or if an answer says so.

    Parsing stops where a request is refused: a buffer can hold thousands of chunks or of pipelined requests.
    """

    class Bounded(HttpToolsProtocol):
        unread = 0  # bytes of a first line and headers that are not complete
        complete = False
        waiting: Any = None
        stalled: Any = None
        left = 0  # bytes that the reader had not taken when the clock was set

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._done()
            self._taken()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.unread += len(data)
            if not self.complete and self.unread > limits.header_bytes and not self.transport.is_closing():
                said = f"more than {limits.header_bytes} bytes of headers"
                self._refuse("431 Request Header Fields Too Large", "LimitError", said)

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self.complete, self.unread = False, 0
            self.scope["extensions"] = {ABORT: self.transport.abort}  # type: ignore[dict-item]
            if self.waiting is None:
                self._wait()

        def on_headers_complete(self) -> None:
            self.complete = True
            self._done()
            names = {name for name, _ in self.headers}
            if b"transfer-encoding" in names:
                self._refuse("411 Length Required", "LengthRequired", CHUNKED)
                raise ConnectionAbortedError
            if len(self.pipeline) >= PIPELINED:
                self.transport.abort()
                raise ConnectionAbortedError
            super().on_headers_complete()
            if b"content-length" in names:  # the rest of a body that was not read must not be waited for
                self.cycle.keep_alive = False

        def _wait(self) -> None:
            self.waiting = self.loop.call_later(limits.request_seconds, self.transport.abort)

        def _done(self) -> None:
            if self.waiting is not None:
                self.waiting.cancel()
                self.waiting = None

        def pause_writing(self) -> None:
            super().pause_writing()
            self._watch()

        def resume_writing(self) -> None:
            if not self.transport.is_closing():  # else the rest, however small, has to be taken too
                self._taken()
            super().resume_writing()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.transport.is_closing():
                self._watch()

        def timeout_keep_alive_handler(self) -> None:
            super().timeout_keep_alive_handler()
            self._watch()

        def _watch(self) -> None:
            """A closed connection lasts until everything is sent, so somebody must look whether it is being taken."""
            if self.stalled is None:
                self.left = self.transport.get_write_buffer_size()
                self.stalled = self.loop.call_later(limits.stall_seconds, self._look)

        def _look(self) -> None:
            self.stalled = None
            if self.left - self.transport.get_write_buffer_size() < PIECE:  # as much as a stream has to lose
                self.transport.abort()
            else:
                self._watch()

        def _taken(self) -> None:
            if self.stalled is not None:
                self.stalled.cancel()
                self.stalled = None

        def send_400_response(self, msg: str) -> None:
            if not self.transport.is_closing():
                self._refuse("400 Bad Request", "RequestError", msg)

        def _refuse(self, status: str, kind: str, message: str) -> None:
            said = dumps({"error": {"type": kind, "message": message}})
            head = f"HTTP/1.1 {status}\r\ncontent-length: {len(said)}\r\n"
            self.transport.write(f"{head}content-type: application/json\r\nconnection: close\r\n\r\n".encode() + said)
            self.transport.close()
            self._watch()

    return Bounded


def names_of(sock: socket.socket) -> list[str] | None:
    """What a socket is called that only this machine reaches; nothing if others do, or if it has no address."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return None
    address = ipaddress.ip_address(sock.getsockname()[0].partition("%")[0])
    inner = getattr(address, "ipv4_mapped", None) or address
    return [f"[{address}]" if address.version == 6 else str(address)] if inner.is_loopback else None


def server_for(app: Any, limits: Limits, sock: socket.socket, host: str = "") -> uvicorn.Server:
    """The server, which says nothing and keeps nothing; ``host`` is what the owner calls the socket's address."""
    names = names_of(sock)
    if names is not None:
        app = Local(app, *names, *([host] if host else []))
    logging.getLogger("uvicorn").addHandler(logging.NullHandler())
    logging.getLogger("uvicorn").propagate = False
    config = uvicorn.Config(
        app, http=protocol_for(limits), ws="none", lifespan="off", log_config=None, log_level="critical",
        access_log=False, proxy_headers=False, server_header=False, date_header=False,
        limit_concurrency=limits.connections, timeout_keep_alive=30, timeout_graceful_shutdown=GRACE,
    )  # fmt: skip
    return uvicorn.Server(config)


def run(app: Any, sock: socket.socket, limits: Limits, host: str = "") -> None:
    """Serve until interrupted; the interrupt is passed on when answers that have begun are sent."""
    sys.setswitchinterval(SWITCH)
    server_for(app, limits, sock, host).run(sockets=[sock])
