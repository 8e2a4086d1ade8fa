"""Requests that nobody should send: a plain 4xx in one form, nothing leaked, nobody hurt."""

import asyncio
import json
import warnings
from contextlib import suppress

import numpy as np
import pytest
from served import Client, city

from hushpath.output.distance_table import DistanceTable
from hushpath.serve import Limits, shelf
from hushpath.serve.gate import Gate
from hushpath.serve.guard import Guard
from hushpath.serve.limits import Limits as Bounds
from hushpath.serve.replies import Refusal
from hushpath.serve.streams import ABORT, CutOff, Parts, Stream

LIMITS = Limits(cells=500, interval_cells=100, nodes=20, body_bytes=2000, steps=3, waypoints=4, table_cells=9)


@pytest.fixture(scope="module")
def client():
    return Client({"berlin": city()}, LIMITS, intervals=True)


def refused(answer, *statuses):
    """One line of the known form, and a status below 500."""
    assert answer.status_code in (statuses or (400,)), answer.text
    error = answer.json()["error"]
    assert set(error) == {"type", "message"}
    assert 0 < len(error["message"]) < 700
    assert error["message"].isprintable()
    assert "Traceback" not in answer.text
    return error["message"]


QUERIES = [
    ("", "source is missing"), ("source=0", "target is missing"), ("source=0&target=zz", "no node is called 'zz'"),
    ("source=0&target=", "target is empty"), ("source=0&source=1&target=2", "given twice"),
    ("source=0&target=1&x=1", "no field 'x'"), ("source=0&target=1&interval=yes", "true or false"),
    *((f"source=0&target=1&confidence={value}", "confidence") for value in (
        "nan", "inf", "-inf", "1e400", "0", "1", "2", "-1", "1_0", "\u0661", "0x1", "", "1e-400", "0.99999999999999999",
    )),
    ("source=%ff%fe&target=1", "not readable"), ("source=%00&target=1", "no node"), ("source=0&target=1%0a", "no node"),
    ("source=%F0%9F%98%80&target=%E2%80%AE1", "no node"), ("source=%ED%A0%80&target=1", "not readable"),
    ("source=0&target=" + "9" * 5000, "no node"), ("source=0&target=" + "x" * 5000, "no node"),
    ("source=0&target=1e0", "no node"), ("source=0&target=1&period=am", "it has none"),
    ("&".join(f"a{i}=1" for i in range(200)), "at most 50"), ("source=0;target=1", "missing"), ("%", "no field"),
    ("source[]=0&target=1", "no field"), ("source=0&target=1&release=../../etc", "no release"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "says"), QUERIES, ids=range(len(QUERIES)))
def test_queries(client, query, says):
    assert says in refused(client.ask("GET", f"/distance?{query}"), 400, 404)


BODIES = [
    (b"", "JSON object"), (b"{", "JSON object"), (b"[]", "JSON object"), (b"null", "JSON object"),
    (b"1", "JSON object"),
    (b"\xff", "JSON object"), (b"[" * 1900, "JSON object"), (b'{"a":' * 300, "JSON object"), (b'{"x": 1}', "no field"),
    (b'{"sources": []}', "list of nodes"), (b'{"sources": "0"}', "list of nodes"),
    (b'{"sources": {"a": 1}}', "JSON object"),
    (b'{"sources": [0.5]}', "lists of nodes"), (b'{"sources": [true]}', "lists of nodes"),
    (b'{"sources": [[0]]}', "lists of nodes"),
    (b'{"sources": [null]}', "lists of nodes"), (b'{"sources": [99]}', "no node"),
    (b'{"sources": ["\\ud800"]}', "no node"),
    (b'{"sources": [1' + b"0" * 30 + b"]}", "no node"), (b'{"sources": [1' + b"0" * 1000 + b"]}", "lists of nodes"),
    (b'{"sources": [NaN]}', "JSON object"),
    (b'{"interval": 1}', "true or false"), (b'{"interval": "true"}', "true or false"),
    (b'{"format": "xlsx"}', "one of csv"),
    (b'{"format": 3}', "one of csv"), (b'{"confidence": "0.9"}', "a number"), (b'{"confidence": NaN}', "JSON object"),
    (b'{"confidence": 1e999, "interval": true}', "confidence must"), (b'{"confidence": -1}', "confidence"),
    (b'{"confidence": 1' + b"0" * 400 + b"}", "confidence"), (b'{"sources": [0, 1], "targets": [2, 2]}', "same name"),
    (b'{"confidence": true}', "a number"), (b'{"release": ["a"]}', "a text"), (b'{"release": "zz"}', "no release"),
    (b'{"period": "am", "sources": [0]}', "it has none"), (b'{"long": "no"}', "true or false"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "says"), BODIES, ids=range(len(BODIES)))
def test_bodies(client, body, says):
    assert says in refused(client.ask("POST", "/matrix", content=body), 400, 404)


def test_more_than_a_request_may_take(client):
    many = list(range(21))
    assert "more than 20 nodes" in refused(client.post("/matrix", sources=many), 413)
    assert "37 x 37 distances are more than 500" in refused(client.post("/matrix"), 413)
    assert "with intervals are more than 100" in refused(client.post("/matrix", sources=[0, 1, 2], interval=True), 413)
    assert "more than 2000 bytes" in refused(client.ask("POST", "/matrix", content=b" " * 3000), 413)
    assert "at most 3 steps" in refused(client.get("/isochrone", origin=0, steps="1,2,3,4"), 413)
    assert "steps are positive" in refused(client.get("/isochrone", origin=0, steps="0"))
    assert "steps must be a number" in refused(client.get("/isochrone", origin=0, steps="1,,2"))
    assert "cells must" in refused(client.get("/isochrone", origin=0, steps="1", cells=1e9))
    assert "whole number" in refused(client.get("/isochrone", origin=0, steps="1", cells=50.5))
    headers = {"x-long": "y" * 70_000}
    assert "bytes of headers" in refused(client.ask("GET", "/health", headers=headers), 431)


def test_addresses_and_methods_that_do_not_exist(client):
    refused(client.get("/nothing"), 404)
    refused(client.get("/distance/"), 404)
    refused(client.get("/matrix"), 405)
    refused(client.ask("POST", "/distance", json={}), 405)
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"):
        refused(client.ask(method, "/distance"), 405)
    assert "no field" in refused(client.get("/health", x=1))
    assert "no field" in refused(client.get("/releases", x=1))


def test_a_bug_of_ours_tells_only_its_type(client, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("source=home target=work")

    monkeypatch.setattr(shelf.Book, "one", broken)
    answer = client.get("/distance", source=0, target=1)
    assert answer.status_code == 500
    assert answer.json() == {"error": {"type": "InternalError", "message": "internal error (RuntimeError)"}}
    assert capsys.readouterr().err == "hushpath: internal error (RuntimeError)\n"


def test_when_all_places_are_taken_others_are_told_to_come_back(client):
    gate = client.app.routes[-1].endpoint.__self__.gate
    before = dict(gate.inside)
    gate.inside = {"heavy": 100, "waiting": 100}
    try:
        for answer in (
            client.post("/matrix", sources=[0]), client.get("/isochrone", origin=0, steps="50"),
            client.get("/table/v1/x/13.3,52.5;13.31,52.5"),
        ):  # fmt: skip
            refused(answer, 503)
            assert answer.headers["retry-after"] == "2"
        assert client.get("/distance", source=0, target=1).status_code == 200  # small questions go on
    finally:
        gate.inside = before
    assert client.post("/matrix", sources=[0]).status_code == 200
    assert gate.inside == {"heavy": 0, "waiting": 0}


def test_metres_of_a_table_are_heavy_work(client):
    gate = client.app.routes[-1].endpoint.__self__.gate
    gate.inside["heavy"] = 100
    try:
        path = "/table/v1/x/13.3,52.5;13.31,52.5"
        assert client.get(path).status_code == 200
        for asked in ("distance", "duration,distance", "%64istance"):
            refused(client.ask("GET", f"{path}?annotations={asked}"), 503)
    finally:
        gate.inside["heavy"] = 0


def test_steps_next_to_nothing_say_nothing(client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in ("1e-320", "1e-300", "5e-324"):
            assert client.get("/isochrone", origin=0, steps=step, cells=50).status_code == 200


def test_a_stream_that_fails_in_the_beginning_is_an_error(client, monkeypatch):
    def broken(self, cells, rows=None):
        raise CannotTell
        yield

    class CannotTell(Refusal):
        def __init__(self):
            super().__init__(422, "CannotError", "no")

    monkeypatch.setattr(DistanceTable, "blocks", broken)
    for form in ("csv", "parquet", "arrow"):
        assert refused(client.post("/matrix", sources=[0], format=form), 422) == "no"
    gate = client.app.routes[-1].endpoint.__self__.gate
    assert gate.inside["heavy"] == 0


async def _never():
    await asyncio.Event().wait()


def streamed(parts, send, receive=_never, **limits):
    bounds = Bounds(**limits)
    gate = Gate(bounds)
    guard = Guard(Stream(lambda: Parts(iter(parts), "text/csv", {}), gate, bounds), bounds)
    cut = []
    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    scope["extensions"] = {ABORT: lambda: cut.append(True)}
    asyncio.run(guard(scope, receive, send))
    assert gate.inside["heavy"] == 0
    return cut


def test_a_reader_who_takes_nothing_is_cut_off():
    sent = []

    async def slow(message):
        sent.append(message)
        if len(sent) > 3:
            await asyncio.sleep(5)

    assert streamed((b"x" for _ in range(100)), slow, stall_seconds=0.05) == [True]
    assert len(sent) == 4

    async def dawdling(message):
        await asyncio.sleep(0.02)

    assert streamed((b"x" for _ in range(10_000)), dawdling, stream_seconds=0.2) == [True]


def test_nothing_is_computed_for_a_reader_who_is_gone():
    made = []

    def parts():
        for i in range(1000):
            made.append(i)
            yield b"x"

    async def gone():
        return {"type": "http.disconnect"}

    async def send(message):
        await asyncio.sleep(0.001)

    streamed(parts(), send, gone)
    assert len(made) < 10


def test_a_stream_that_breaks_does_not_look_whole():
    def parts():
        yield b"x"
        raise RuntimeError

    sent = []

    async def send(message):
        sent.append(message)

    assert streamed(parts(), send) == [True]
    assert all(message.get("more_body", True) for message in sent)
    bounds = Bounds()
    plain = Guard(Stream(lambda: Parts(parts(), "text/csv", {}), Gate(bounds), bounds), bounds)
    with pytest.raises(CutOff):  # without our server there is no other means to end the connection
        asyncio.run(plain({"type": "http", "method": "GET", "path": "/", "headers": []}, _never, send))


def test_a_body_that_does_not_arrive_is_given_up():
    sent = []

    async def send(message):
        sent.append(message)

    bounds = Bounds(request_seconds=0.05)
    scope = {"type": "http", "method": "POST", "path": "/matrix", "headers": [(b"content-length", b"9")]}
    asyncio.run(Guard(None, bounds, bodies=["/matrix"])(scope, _never, send))
    assert sent[0]["status"] == 408


def test_the_document_holds_for_generated_requests():
    """Schemathesis: whatever fits the document, or just does not, is answered as the document says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own age and imports
        import schemathesis
        from hypothesis import HealthCheck, Phase, given, settings
        from hypothesis.errors import Unsatisfiable
        from schemathesis.specs.openapi.checks import positive_data_acceptance

        client = Client({"berlin": city(3)}, Limits(cells=200, interval_cells=50), intervals=True)
        schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
        quick = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck),
                         phases=[Phase.explicit, Phase.generate], database=None)  # fmt: skip
        asked = 0
        for found in schema.get_all_operations():
            for mode in schemathesis.GenerationMode:

                def every(case):
                    nonlocal asked
                    answer = case.call()
                    assert answer.status_code < 500
                    # A text may be the name of no node: that is not for a schema to know.
                    case.validate_response(answer, excluded_checks=[positive_data_acceptance])
                    asked += 1

                with suppress(Unsatisfiable):  # what takes no parameters cannot be given wrong ones
                    quick(given(case=found.ok().as_strategy(generation_mode=mode))(every))()
    assert asked > 100


def test_many_pairs_of_nodes_at_once_are_those_of_the_release():
    rel = city()
    client = Client({"r": rel})

    async def all_at_once():
        import httpx

        async with httpx.AsyncClient(transport=httpx.ASGITransport(client.app), base_url="http://127.0.0.1") as http:
            tasks = [http.get("/distance", params={"source": i, "target": 35 - i}) for i in range(36)]
            tasks += [http.post("/matrix", json={"sources": [i], "format": "csv"}) for i in range(4)]
            return await asyncio.gather(*tasks)

    answers = asyncio.run(all_at_once())
    assert [a.json()["distance"] for a in answers[:36]] == [rel.distance(i, 35 - i) for i in range(36)]
    for i, answer in enumerate(answers[36:]):
        numbers = answer.text.splitlines()[1].split(",")[1:]
        assert np.array_equal(np.array(numbers, float), rel.matrix([i])[0])
    assert json.loads(answers[0].content)["private"] is True
