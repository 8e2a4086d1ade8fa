"""The real server on a loopback socket: what comes in is bounded, what is cut off is seen, and nothing is logged."""

import json
import logging
import socket
import threading
import time
from contextlib import contextmanager

import pytest
import uvicorn
from served import city

from hushpath.serve import Limits, make_app
from hushpath.serve.guard import Local
from hushpath.serve.run import names_of, server_for

HOST = "127.0.0.1"


@contextmanager
def serving(app, limits, sndbuf=None):
    sock = socket.create_server((HOST, 0))
    if sndbuf:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)  # of every connection
    server = server_for(app, limits, sock)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        yield sock.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(20)
        sock.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def port():
    limits = Limits(header_bytes=3000, request_seconds=0.7, stall_seconds=0.5, body_bytes=100_000)
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
            assert names_of(sock) == names
            inner = server_for(app, limits, sock, "my-machine").config.app
            assert (inner is app) is (names is None)
            if names:
                assert isinstance(inner, Local)
                assert all(map(inner.known.fullmatch, (*names, "my-machine:80")))
    with socket.socket(socket.AF_UNIX) as sock:
        assert names_of(sock) is None


def test_many_requests_on_one_connection(port):
    answer = talk(port, get("/health", "") * 20 + get("/health"))
    assert answer.count(b"HTTP/1.1 200 OK") == 21


def test_headers_that_are_too_long(port):
    long = get("/health", f"x: {'y' * 5000}\r\n")
    assert talk(port, long).startswith(b"HTTP/1.1 431")
    assert talk(port, get("/" + "z" * 5000)[:4000]).startswith(b"HTTP/1.1 431")
    endless = talk(port, b"GET /health HTTP/1.1\r\n", *[b"x-y: " + b"z" * 500 + b"\r\n"] * 20)
    assert endless[:12] in (b"HTTP/1.1 431", b"")  # whoever goes on sending may lose the answer to a reset
    body = json.dumps({"sources": [0], "targets": list(range(300))}).encode().ljust(50_000)
    head = f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
    assert talk(port, head.encode() + body).startswith(b"HTTP/1.1 200")  # a long body is no long header


@pytest.mark.parametrize("sent", [b"\x00" * 50, b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00", b"hello\r\n\r\n"])
def test_what_is_not_http(port, sent):
    head, _, body = talk(port, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["type"] == "RequestError"


def test_slow_senders_are_not_waited_for(port):
    began = time.perf_counter()
    assert talk(port) == b""  # says nothing at all
    assert talk(port, b"GET /health HTT") == b""
    head = f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: 50\r\n\r\n".encode()
    assert talk(port, head + b"{").startswith(b"HTTP/1.1 408")
    assert time.perf_counter() - began < 8


def test_a_reader_who_stops_is_cut_off_and_others_go_on(port):
    text = b'{"format": "csv"}'
    head = f"POST /matrix HTTP/1.1\r\nhost: {HOST}\r\ncontent-length: {len(text)}\r\n\r\n".encode()
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((HOST, port))
        sock.settimeout(20)
        sock.sendall(head + text)
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


def reader(port, request, rcvbuf=4096):
    """Asks, with hardly a buffer of its own for the answer."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    sock.connect((HOST, port))
    sock.settimeout(20)
    sock.sendall(request)
    return sock


def taken(sock, size=2**16, pause=0.0):
    """What arrives until the connection ends."""
    got = b""
    try:
        while data := sock.recv(size, socket.MSG_WAITALL):
            got += data
            time.sleep(pause)
    except ConnectionError:
        pass
    return got


TABLE = get("/table/v1/driving/" + ";".join(f"13.{i:03},52.5" for i in range(500)))  # megabytes of durations


@pytest.fixture(scope="module")
def few():
    limits = Limits(connections=4, stall_seconds=1.0)
    with serving(make_app({"berlin": city(30)}, limits), limits) as port:
        yield port


@pytest.mark.parametrize("more", ["", "connection: close\r\n"])
def test_readers_who_take_nothing_lock_nobody_out(few, more):
    socks = [reader(few, TABLE.replace(b"connection: close\r\n", more.encode())) for _ in range(3)]
    try:
        assert [sock.recv(12) for sock in socks] == [b"HTTP/1.1 200"] * 3
        assert talk(few, get("/health")).startswith(b"HTTP/1.1 503")  # all places are taken
        time.sleep(1.5)
        assert talk(few, get("/health")).startswith(b"HTTP/1.1 200")
    finally:
        for sock in socks:
            sock.close()


def test_a_reader_who_is_slow_gets_everything(few):
    began = time.perf_counter()
    with reader(few, TABLE, 2**17) as sock:
        head, _, body = taken(sock, 10**6, 0.3).partition(b"\r\n\r\n")
    assert time.perf_counter() - began > 1.5  # longer than anybody may take nothing
    assert len(json.loads(body)["durations"]) == 500
    assert f"content-length: {len(body)}\r\n".encode() in head


@pytest.mark.parametrize("more", ["", "connection: close\r\n"])
def test_a_short_answer_must_be_taken_too(monkeypatch, more):
    """Less than what makes a transport ask for a pause: only the end of the connection waits for it."""
    limits = Limits(stall_seconds=0.3)
    app = make_app({"berlin": city(3)}, limits)
    config = uvicorn.Config
    monkeypatch.setattr(uvicorn, "Config", lambda *a, **k: config(*a, **k | {"timeout_keep_alive": 0.3}))
    with serving(app, limits, sndbuf=4096) as port:
        whole = talk(port, get("/openapi.json")).partition(b"\r\n\r\n")[2]
        assert len(whole) < 2**16 - 1000
        with reader(port, get("/openapi.json", more)) as sock:
            time.sleep(1.5)
            assert not taken(sock).endswith(whole)


def test_what_is_asked_is_not_written_down(port, capfd, caplog):
    with caplog.at_level(logging.DEBUG):
        for path in ("/distance?source=0&target=secret-home", "/distance?source=0&target=7", "/secret-home"):
            talk(port, get(path))
        talk(port, b"secret-home\r\n\r\n")
    out, err = capfd.readouterr()
    assert "secret-home" not in out + err + caplog.text
