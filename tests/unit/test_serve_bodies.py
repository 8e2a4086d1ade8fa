"""Bodies of requests: read only where needed, within one budget, never parsed on the event loop, never nested."""

import asyncio
import json
import socket
import threading

import pytest
from served import Client, city
from test_serve_run import HOST, get, serving, talk

from hushpath.errors import InputError
from hushpath.serve import Limits, answers, flat, make_app
from hushpath.serve.flat import parse_flat
from hushpath.serve.guard import SMALL_BODY, Guard

MOST = 1000


@pytest.fixture(scope="module")
def client():
    return Client({"berlin": city(3)})


@pytest.fixture(scope="module")
def port():
    limits = Limits(body_bytes=200_000, held_bytes=300_000, request_seconds=5.0)
    with serving(make_app({"berlin": city(3)}, limits), limits) as port:
        yield port


def post(length, body=b"", path="/matrix", more="connection: close\r\n"):
    return f"POST {path} HTTP/1.1\r\nhost: {HOST}\r\n{more}content-length: {length}\r\n\r\n".encode() + body


# --- the flat grammar

FLAT = [
    {}, {"a": 1}, {"sources": [], "targets": [1, -2, 3]}, {"a": "x", "b": None, "c": True, "d": False, "e": -1.5e-7},
    {"sources": ["a,b", "[", "]}", '"', "\\", "\\\\", "\n", "é", "\N{GRINNING FACE}", "", "null"], "f": "}"},
    {"sources": list(range(MOST))}, {"sources": ["x" * 1000] * 40}, {"sources": ["\N{GRINNING FACE}" * 1000] * 9},
    {"sources": [2**63, -(2**63)]},
]  # fmt: skip


@pytest.mark.parametrize("given", FLAT, ids=range(len(FLAT)))
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("indent", [None, 2])
def test_a_flat_object_is_read_as_json_reads_it(given, ascii_only, indent):
    text = json.dumps(given, ensure_ascii=ascii_only, indent=indent)
    assert parse_flat(f" {text}\n".encode(), MOST) == given


JUNK = {
    "lists": b'{"sources":[' + b"[]," * 5000 + b"[]]}", "top level": b"[" + b"[]," * 5000 + b"[]]",
    "deep": b"[" * 20_000,
    "deep fields": b'{"a":' * 5000, "objects": b'{"sources":[' + b'{"a":0},' * 5000 + b"{}]}", "object": b'{"a":{}}',
    "late": b'{"sources":[' + b"1," * 900 + b"[]]}", "long number": b'{"sources":[' + b"9" * 4000 + b"]}",
    "long text": b'{"sources":["' + b"a" * 30_000 + b'"]}', "fraction": b'{"sources":[0.5]}',
    "many fields": b"{" + b",".join(b'"%d":0' % i for i in range(51)) + b"}", "twice": b'{"a":1,"a":2}',
    "not ended": b'{"sources":[1,2', "text not ended": b'{"sources":["a', "rest": b'{"a":1} {}', "comma": b'{"a":[1,]}',
    "no comma": b'{"a":1 "b":2}', "escape": b'{"a":["\\q"]}', "letters": b'{"a":["\xff"]}',
    "control": b'{"a":["\x01"]}',
    "zero": b'{"a":[01]}', "constant": b'{"a":NaN}', "word": b'{"a":yes}', "empty": b"",
    "blank": b" " * 99, "text": b'"a"',
}  # fmt: skip


@pytest.mark.parametrize("kind", JUNK)
def test_everything_else_is_refused(kind):
    with pytest.raises(InputError):
        parse_flat(JUNK[kind], MOST)


@pytest.mark.parametrize("kind", ["lists", "top level", "deep", "deep fields", "objects", "object", "late"])
def test_nested_values_are_refused_before_they_are_parsed(kind, monkeypatch):
    seen, loads = [], json.loads
    monkeypatch.setattr(flat.json, "loads", lambda text, **more: seen.append(text) or loads(text, **more))
    with pytest.raises(InputError):
        parse_flat(JUNK[kind], MOST)
    assert all(text.count("[") <= 1 and "{" not in text and len(text) <= flat.LONGEST for text in seen)


def test_others_run_between_two_slices_and_a_list_that_is_too_long_is_not_read_on(monkeypatch):
    sizes, loads = [], json.loads
    monkeypatch.setattr(flat.json, "loads", lambda text, **more: sizes.append(len(text)) or loads(text, **more))
    pauses = []
    body = b'{"sources":[' + b"1," * 20_000 + b"1]}"
    assert parse_flat(body, 10**6, lambda: pauses.append(1)) == {"sources": [1] * 20_001}
    assert max(sizes) <= flat.SLICE + 2
    assert len(pauses) >= 40_000 // flat.SLICE
    del pauses[:]
    assert parse_flat(body, 10, lambda: pauses.append(1)) == {"sources": [1] * 11}
    assert len(pauses) == 1


# --- the endpoint


def test_bodies_are_parsed_and_nodes_found_in_a_thread_with_pauses(client, monkeypatch):
    threads, paused = set(), []
    read, find = answers.body_of, answers._positions
    monkeypatch.setattr(answers, "body_of", lambda *given: threads.add(threading.get_ident()) or read(*given))
    monkeypatch.setattr(answers, "_positions", lambda *given: threads.add(threading.get_ident()) or find(*given))
    monkeypatch.setattr(answers.Pace, "__call__", lambda self: paused.append(threading.get_ident()))
    nodes = list(range(9)) * 500
    answer = client.post("/matrix", sources=nodes, targets=[0], format="csv")
    assert answer.status_code == 200
    assert len(answer.text.splitlines()) == 4501
    assert threads
    assert threading.get_ident() not in threads  # asked in this thread, which runs the event loop
    assert len(paused) >= 4500 // answers.LOOKUPS
    assert client.post("/matrix", sources=[[]] * 5000).status_code == 400


def test_work_is_paused_in_proportion_to_what_it_took(monkeypatch):
    from hushpath.serve import gate

    clock, slept = [0.0], []
    monkeypatch.setattr(gate.time, "thread_time", lambda: clock[0])
    monkeypatch.setattr(gate.time, "sleep", slept.append)
    pace = gate.Pace()
    clock[0] = 0.001
    pace()
    pace()
    assert slept == [pytest.approx(0.001 * gate.REST), 0.0]
    assert gate.REST >= 2


def test_a_body_is_not_read_without_a_place(client, monkeypatch):
    gate = client.app.routes[-1].endpoint.__self__.gate
    monkeypatch.setattr(gate, "inside", {"heavy": 100, "waiting": 0})
    monkeypatch.setattr(answers, "body_of", lambda *given: pytest.fail("was parsed"))
    assert client.post("/matrix", sources=[0]).status_code == 503


# --- the budget


def guarded(headers, *, method="POST", path="/matrix", app=None, **limits):
    """Ask a guard for one answer; return its status and how many messages of the body were taken."""
    sent, taken = [], []

    async def receive():
        taken.append(1)
        return {"type": "http.request", "body": b"x" * 10, "more_body": True}

    async def send(message):
        sent.append(message)

    async def plain(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    guard = Guard(app or plain, Limits(**limits), bodies=["/matrix"])
    scope = {"type": "http", "method": method, "path": path, "headers": headers}
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"], len(taken)


def test_a_body_is_read_only_where_one_is_needed():
    length = [(b"content-length", b"1000")]
    assert guarded(length) == (200, 100)
    assert guarded(length, path="/distance") == (200, 0)
    assert guarded(length, method="GET") == (200, 0)
    assert guarded([]) == (200, 0)


def test_a_body_must_declare_a_length_within_the_limit():
    assert guarded([(b"transfer-encoding", b"chunked")]) == (411, 0)
    assert guarded([(b"content-length", b"1001")], body_bytes=1000) == (413, 0)
    assert guarded([(b"content-length", b"9" * 5000)]) == (413, 0)
    assert guarded([(b"content-length", b"-1")]) == (400, 0)
    assert guarded([(b"content-length", b"10"), (b"content-length", b"20")]) == (400, 0)
    assert guarded([(b"content-length", b"1001")])[0] == 400  # pieces of ten bytes: one too many


def test_all_bodies_together_are_bounded_and_small_ones_pass():
    """Those that are held count, until they are answered or gone."""
    size = SMALL_BODY + 1

    async def story():
        waiting, told = asyncio.Event(), []

        async def held():
            await waiting.wait()
            return {"type": "http.disconnect"}

        async def whole():
            return {"type": "http.request", "body": b"x" * SMALL_BODY, "more_body": False}

        async def plain(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": []})

        guard = Guard(plain, Limits(held_bytes=3 * size, body_bytes=size), bodies=["/matrix"])

        async def ask(length, receive):
            sent = []

            async def send(message):
                sent.append(message)

            headers = [(b"content-length", str(length).encode())]
            scope = {"type": "http", "method": "POST", "path": "/matrix", "headers": headers}
            scope["extensions"] = {"hushpath.abort": lambda: told.append("gone")}
            await guard(scope, receive, send)
            return sent[0]["status"]

        some = [asyncio.ensure_future(ask(size, held)) for _ in range(3)]
        await asyncio.sleep(0)
        assert guard.held == 3 * size
        assert await ask(size, held) == 503
        assert await ask(SMALL_BODY, whole) == 200
        waiting.set()
        await asyncio.gather(*some, return_exceptions=True)
        assert guard.held == 0

    asyncio.run(story())


def test_the_server_holds_no_more_than_the_budget(port):
    """Held bodies are refused when the budget is used up; distances and small bodies go on."""
    body = json.dumps({"sources": [0]}).encode()
    with socket.create_connection((HOST, port)) as sock:
        sock.sendall(post(200_000, b" "))
        talk(port, get("/health"))  # by now the first one is being read
        assert talk(port, post(200_000)).startswith(b"HTTP/1.1 503")
        assert talk(port, post(len(body), body)).startswith(b"HTTP/1.1 200")
        assert talk(port, get("/distance?source=0&target=1")).startswith(b"HTTP/1.1 200")
    whole = body.ljust(200_000)
    assert any(talk(port, post(len(whole), whole)).startswith(b"HTTP/1.1 200") for _ in range(50))


def test_a_connection_with_a_body_ends_with_its_answer(port):
    """A body that nobody reads would otherwise be waited for, or received, for ever."""
    for request in (
        post(1000, path="/distance", more=""), post(10**12, more=""),
        get("/distance?source=0&target=1", "content-length: 1000\r\n"),
    ):  # fmt: skip
        answer = talk(port, request)  # to the end of the connection
        assert b"connection: close\r\n" in answer
        assert answer[9:12] in (b"405", b"413", b"200")


def test_chunks_and_pipelined_requests_are_not_parsed_by_the_thousand(port):
    chunked = post(0).replace(b"content-length: 0", b"transfer-encoding: chunked")
    answer = talk(port, chunked + b"1\r\n \r\n" * 1000)
    assert answer.startswith(b"HTTP/1.1 411") or not answer  # whoever goes on sending may lose the answer to a reset
    assert talk(port, chunked).startswith(b"HTTP/1.1 411")
    assert talk(port, get("/health", "") * 30 + get("/health")).count(b"HTTP/1.1 200") == 31
    assert talk(port, get("/health", "") * 999 + get("/health")).count(b"HTTP/1.1 200") < 999


def test_the_command_and_the_library_have_the_same_limits():
    import inspect

    from hushpath.cli.serve import command

    options, limits = inspect.signature(command).parameters, Limits()
    shared = {"max_cells": "cells", "max_nodes": "nodes", "max_body": "body_bytes", "max_heavy": "heavy",
              "max_stall": "stall_seconds", "max_stream": "stream_seconds", "max_steps": "steps"}  # fmt: skip
    for name, of in shared.items():
        assert options[name].default == getattr(limits, of), name
