"""The real server on a loopback socket: what comes in is bounded, what is cut off is seen, and nothing is logged."""

import json
import logging
import socket
import threading
import time
from contextlib import contextmanager

import pytest
from served import city

from hushpath.serve import Limits, make_app, server
from hushpath.serve.server import RequestGuard, loopback_names, make_server

HOST = "127.0.0.1"


@contextmanager
def serving(app, limits):
    sock = socket.create_server((HOST, 0))
    running = make_server(app, limits, sock)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield sock.getsockname()[1]
    finally:
        running.should_exit = True
        thread.join(20)
        sock.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def port():
    limits = Limits(header_bytes=3000, request_seconds=0.7, stall_seconds=0.5, body_bytes=200_000, held_bytes=300_000)
    with serving(make_app({"berlin": city(30)}, limits), limits) as port:
        yield port


def talk(port, *parts, pause=0.0):
    """Send, then read to the end of the connection."""
    with socket.create_connection((HOST, port), timeout=10) as sock:
        answer = b""
        try:
            for part in parts:
                sock.sendall(part)
                time.sleep(pause)
            while data := sock.recv(2**16):
                answer += data
        except ConnectionError:
            pass
        return answer


def get(path, more="connection: close\r\n"):
    return f"GET {path} HTTP/1.1\r\nhost: {HOST}\r\n{more}\r\n".encode()


def post(length, body=b"", more="connection: close\r\n"):
    return f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\n{more}content-length: {length}\r\n\r\n".encode() + body


def test_an_answer_and_its_headers(port):
    head, _, body = talk(port, get("/distance?source=0&target=899")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert json.loads(body)["target"] == 899
    assert b"server:" not in head.lower()


def test_only_names_of_this_machine_are_answered(port):
    """Else a page whose name leads here could read what is served."""
    for host in ("localhost", "LocalHost:1", f"127.0.0.1:{port}", "[::1]", "[::1]:8000"):
        assert talk(port, get("/health").replace(HOST.encode(), host.encode())).startswith(b"HTTP/1.1 200"), host
    for host in ("evil.example", f"evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example",
                 "127a0.0.1", "localhost:x", "localhost\r\nhost: evil.example", ""):  # fmt: skip
        head, _, body = talk(port, get("/statement").replace(HOST.encode(), host.encode())).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 421"), host
        assert "this machine only" in json.loads(body)["error"]["message"]
    assert talk(port, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 421")


def test_who_listens_to_other_machines_is_asked_by_any_name():
    app, limits = object(), Limits()
    for host, names in (("127.0.0.1", ["127.0.0.1"]), ("127.0.0.5", ["127.0.0.5"]), ("0.0.0.0", None)):
        with socket.create_server((host, 0)) as sock:
            assert loopback_names(sock) == names
            inner = make_server(app, limits, sock, "my-machine").config.app
            assert isinstance(inner, RequestGuard)
            assert inner.local is (names is not None)
            if names:
                assert all(map(inner.known.fullmatch, (*names, "my-machine:80")))
    with socket.socket(socket.AF_UNIX) as sock:
        assert loopback_names(sock) is None


def test_many_requests_on_one_connection(port):
    answer = talk(port, get("/health", "") * 20 + get("/health"))
    assert answer.count(b"HTTP/1.1 200 OK") == 21


def test_headers_that_are_too_long(port):
    assert talk(port, get("/health", f"x: {'y' * 5000}\r\n")).startswith(b"HTTP/1.1 431")
    assert talk(port, get("/" + "z" * 5000)).startswith(b"HTTP/1.1 431")
    body = json.dumps({"sources": [0], "targets": list(range(300))}).encode().ljust(50_000)
    assert talk(port, post(len(body), body)).startswith(b"HTTP/1.1 200")  # a long body is no long header


def test_headers_without_an_end_are_not_kept_where_other_machines_can_ask(monkeypatch):
    monkeypatch.setattr(server, "loopback_names", lambda _: None)
    with serving(object(), Limits(header_bytes=3000)) as port:
        answer = talk(port, b"GET /health HTTP/1.1\r\n", *[b"x-y: " + b"z" * 500 + b"\r\n"] * 20)
    assert answer[:12] in (b"HTTP/1.1 400", b"")  # a client that goes on sending may lose the answer to a reset


def test_headers_are_bounded_and_any_name_passes_where_other_machines_can_ask(monkeypatch):
    monkeypatch.setattr(server, "loopback_names", lambda _: None)
    limits = Limits(header_bytes=3000)
    with serving(make_app({"berlin": city(4)}, limits, intervals=False), limits) as port:
        assert talk(port, get("/health").replace(HOST.encode(), b"example.org")).startswith(b"HTTP/1.1 200")
        whole = talk(port, get("/health", f"connection: close\r\nx: {'y' * 5000}\r\n"))  # h11 lets it pass
        assert whole[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 400")  # 400: it arrived in pieces


@pytest.mark.parametrize("sent", [b"\x00" * 50, b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00", b"hello\r\n\r\n"])
def test_what_is_not_http(port, sent):
    assert talk(port, sent).startswith(b"HTTP/1.1 400")


def test_bodies_that_do_not_arrive_are_given_up(port):
    assert talk(port, post(50, b"{")).startswith(b"HTTP/1.1 408")


def test_the_server_holds_no_more_than_the_budget(port):
    """Held bodies are refused when the budget is used up; distances and small bodies go on."""
    body = json.dumps({"sources": [0]}).encode()
    with socket.create_connection((HOST, port)) as sock:
        sock.sendall(post(200_000, b" " * 199_999))
        time.sleep(0.1)  # by now the first one is being read
        assert talk(port, post(200_000, b" " * 150_000)).startswith(b"HTTP/1.1 503")
        assert talk(port, post(len(body), body)).startswith(b"HTTP/1.1 200")
        assert talk(port, get("/distance?source=0&target=1")).startswith(b"HTTP/1.1 200")
    whole = body.ljust(200_000)
    assert any(talk(port, post(len(whole), whole)).startswith(b"HTTP/1.1 200") for _ in range(50))


def test_a_refused_body_ends_the_connection(port):
    """The rest of it must not be received."""
    chunk = b"c3500\r\n" + b" " * 800_000 + b"\r\n"
    for request in (
        post(10**12, b" " * 200_001, more=""),
        post(0, chunk, more="").replace(b"content-length: 0", b"transfer-encoding: chunked"),
    ):
        answer = talk(port, request)  # to the end of the connection
        assert answer[9:12] in (b"413", b"")  # a client that goes on sending may lose the answer to a reset
        assert not answer or b"connection: close\r\n" in answer


def test_a_reader_who_stops_is_cut_off_and_others_go_on(port):
    text = b'{"format": "csv"}'
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((HOST, port))
        sock.settimeout(20)
        sock.sendall(post(len(text), text))
        assert sock.recv(12) == b"HTTP/1.1 200"
        for _ in range(5):
            time.sleep(0.4)
            assert talk(port, get("/health")).startswith(b"HTTP/1.1 200")
        got = b""
        try:
            while data := sock.recv(2**16):
                got = (got + data)[-20:]
        except ConnectionError:
            pass
    assert not got.endswith(b"0\r\n\r\n")  # which would be the end of a whole answer


def test_what_is_asked_is_not_written_down(port, capfd, caplog):
    with caplog.at_level(logging.DEBUG):
        for path in ("/distance?source=0&target=secret-home", "/distance?source=0&target=7", "/secret-home"):
            talk(port, get(path))
        talk(port, b"secret-home\r\n\r\n")
    out, err = capfd.readouterr()
    assert "secret-home" not in out + err + caplog.text
