"""Hostile requests: a plain 4xx in one form, bounded memory, nothing leaked, other requests go on."""

import asyncio
import gc
import json
import time
import tracemalloc
import warnings
from contextlib import suppress

import httpx
import numpy as np
import pytest
from pydantic import ValidationError
from served import Client, city
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from hushpath.errors import InputError
from hushpath.output.distance_table import DistanceTable
from hushpath.serve import Limits, catalog, schema
from hushpath.serve.app import UnforeseenErrors
from hushpath.serve.limits import HttpError, WorkerPool
from hushpath.serve.responses import CutOff, Stream
from hushpath.serve.schema import MatrixBody, read_body
from hushpath.serve.server import SMALL_BODY, BodyLimit

LIMITS = Limits(cells=500, interval_cells=100, nodes=20, body_bytes=2000, steps=3, waypoints=4, table_cells=9)


@pytest.fixture(scope="module")
def client():
    return Client({"berlin": city()}, LIMITS)


def refused(answer, status=400, kind=None):
    """One line of the known form; return its message."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert set(error) == {"type", "message"}
    assert kind is None or error["type"] == kind
    assert 0 < len(error["message"]) < 700
    assert error["message"].isprintable()
    assert "Traceback" not in answer.text
    return error["message"]


QUERIES = [
    ("", "InputError"), ("source=0", "InputError"), ("source=0&target=zz", "InputError"),
    ("source=0&target=", "OptionError"), ("source=0&source=1&target=2", "InputError"),
    ("source=0&target=1&x=1", "InputError"), ("source=0&target=1&interval=maybe", "OptionError"),
    *((f"source=0&target=1&confidence={value}", "OptionError") for value in (
        "nan", "inf", "-inf", "1e400", "0", "1", "2", "-1", "1_0", "\u0661", "0x1", "", "1e-400", "0.99999999999999999",
        "1e-320",
    )),
    ("source=%ff%fe&target=1", "InputError"), ("source=%00&target=1", "InputError"),
    ("source=0&target=1%0a", "InputError"), ("source=%F0%9F%98%80&target=%E2%80%AE1", "InputError"),
    ("source=%ED%A0%80&target=1", "InputError"), ("source=0&target=" + "9" * 900, "InputError"),
    ("source=0&target=" + "x" * 5000, "OptionError"), ("source=0&target=1e0", "InputError"),
    ("source=0&target=1&period=am", "InputError"), ("&".join(f"a{i}=1" for i in range(200)), "InputError"),
    ("source=0;target=1", "InputError"), ("%", "InputError"), ("source[]=0&target=1", "InputError"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "kind"), QUERIES, ids=range(len(QUERIES)))
def test_queries(client, query, kind):
    refused(client.ask("GET", f"/distance?{query}"), 400, kind)


BODIES = [
    (b"", "InputError"), (b"{", "InputError"), (b"[]", "InputError"), (b"null", "InputError"), (b"1", "InputError"),
    (b"\xff", "InputError"), (b"[" * 1900, "InputError"), (b'{"a":' * 300, "InputError"), (b'{"x": 1}', "InputError"),
    (b'{"a":1} {}', "InputError"), (b'{"sources":["\x01"]}', "InputError"),
    *((b'{"sources": %s}' % nodes, "OptionError") for nodes in (
        b"[]", b'"0"', b"[0.5]", b"[true]", b"[null]", b"[NaN]",
    )),
    (b'{"sources": {"a": 1}}', "InputError"), (b'{"sources": [[0]]}', "InputError"),
    (b'{"sources": [99]}', "InputError"), (b'{"sources": [1' + b"0" * 30 + b"]}", "InputError"),
    (b'{"sources": [1' + b"0" * 1000 + b"]}", "InputError"), (b'{"sources": ["\\ud800"]}', None),
    *((b'{"%s": %s}' % pair, "OptionError") for pair in (
        (b"interval", b"1"), (b"interval", b'"true"'), (b"format", b'"xlsx"'), (b"format", b"3"),
        (b"confidence", b'"0.9"'), (b"confidence", b"NaN"), (b"confidence", b"1e999"), (b"confidence", b"-1"),
        (b"confidence", b"1" + b"0" * 400), (b"confidence", b"true"), (b"release", b'["a"]'), (b"long", b'"no"'),
    )),
    (b'{"sources": [0, 1], "targets": [2, 2]}', "OptionError"), (b'{"period": "am", "sources": [0]}', "InputError"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "kind"), BODIES, ids=range(len(BODIES)))
def test_bodies(client, body, kind):
    refused(client.ask("POST", "/matrix", content=body), 400, kind)


FILL = {
    "lists": b'{"sources":[%s[]]}', "objects": b'{"sources":[%s{}]}', "lists at top level": b"[%s[]]", "deep": b"%s",
    "numbers": b'{"sources":[%s1]}', "texts": b'{"sources":[%s""]}', "one text": b'{"sources":["%s',
    "fields": b'{%s"a":0}', "huge numbers": b'{"sources":[%s9]}',
}  # fmt: skip
ITEMS = {"objects": b'{"a":0},', "deep": b"[", "numbers": b"0.5,", "texts": b'"",', "one text": b'\\"',
         "huge numbers": b"9" * 4000 + b","}  # fmt: skip


@pytest.mark.parametrize("kind", FILL)
def test_a_body_of_1_mb_takes_little_memory_and_time(kind):
    item = ITEMS.get(kind, b"[],")
    items = b"".join(b'"%d":[],' % i for i in range(2**20 // 12)) if kind == "fields" else item * (2**20 // len(item))
    body = FILL[kind] % items
    began = time.process_time()
    with suppress(InputError):
        read_body(MatrixBody, body)
    assert time.process_time() - began < 2.0  # milliseconds, unless it is quadratic
    tracemalloc.start()
    try:
        with suppress(InputError):
            read_body(MatrixBody, body)
        assert tracemalloc.get_traced_memory()[1] < 40 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "label", ["a,b", "[", "]}", "}{", '"', "\\", '\\"', "\n", "\u00e9", "\N{GRINNING FACE}", "null"]
)
@pytest.mark.parametrize("more", [{}, {"indent": 2}, {"ensure_ascii": False}])
def test_any_label_may_be_named_in_a_body(label, more):
    given = {"sources": [label, -1, 2**70], "release": label, "targets": [label * 9]}
    found = read_body(MatrixBody, f" {json.dumps(given, **more)}\n".encode())
    assert (found.sources, found.release, found.targets) == (given["sources"], label, given["targets"])


def test_a_refused_body_is_not_kept():
    """An exception refers to frames; in a cycle with a future these would keep what was asked until the next sweep."""

    class Body:
        pass

    def begin():
        body = Body()
        raise InputError(type(body).__name__)

    async def ask():
        with suppress(InputError):
            await Stream(begin, WorkerPool(LIMITS), LIMITS)(SCOPE, _never, None)

    gc.collect()
    gc.disable()
    try:
        asyncio.run(ask())
        kept = True
        for _ in range(100):  # the thread may still hold it for a moment; a cycle would stay
            if not (kept := any(type(one) is Body for one in gc.get_objects())):
                break
            time.sleep(0.01)
        assert not kept
    finally:
        gc.enable()


@pytest.mark.parametrize(("model", "name"), [
    (schema.TableOptions, "sources"), (schema.TableOptions, "destinations"), (schema.TableOptions, "annotations"),
    (schema.TableOptions, "radiuses"), (schema.RouteOptions, "annotations"),
])  # fmt: skip
def test_a_long_list_of_wrong_options_is_one_error(model, name):
    """They are read on the event loop: an error for each of 30 000 would keep everybody waiting."""
    with pytest.raises(ValidationError) as error:
        model.model_validate({name: ("a," if name == "annotations" else "a;") * 1000})
    assert error.value.error_count() == 1


def test_null_counts_as_missing(client):
    plain = client.post("/matrix", sources=[0])
    null = client.post("/matrix", sources=[0], targets=None, format=None, period=None, release=None)
    assert plain.status_code == 200
    assert null.content == plain.content


def test_more_than_a_request_may_take(client):
    refused(client.post("/matrix", sources=list(range(21))), 413, "LimitError")
    refused(client.post("/matrix"), 413, "LimitError")
    refused(client.post("/matrix", sources=[0, 1, 2], interval=True), 413, "LimitError")
    assert client.post("/matrix", sources=[0, 1, 2]).status_code == 200
    long = client.ask("POST", "/matrix", content=b" " * 3000)
    refused(long, 413, "LimitError")
    assert long.headers["connection"] == "close"  # else the server would go on receiving the body
    refused(client.get("/isochrone", origin=0, steps="1,2,3,4"), 413, "LimitError")
    for wrong in ({"steps": "0"}, {"steps": "1,,2"}, {"steps": "inf"}, {"steps": "1", "cells": 1e9},
                  {"steps": "1", "cells": 50.5}):  # fmt: skip
        refused(client.get("/isochrone", origin=0, **wrong), 400, "OptionError")


def test_addresses_and_methods_that_do_not_exist(client):
    refused(client.get("/nothing"), 404)
    refused(client.get("/distance/"), 404)
    refused(client.get("/distance", source=0, target=1, release="../../etc"), 404)
    refused(client.post("/matrix", release="zz"), 404)
    refused(client.get("/matrix"), 405)
    refused(client.ask("POST", "/distance", json={}), 405)
    for method in ("PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "BREW"):
        refused(client.ask(method, "/distance"), 405)
    refused(client.get("/health", x=1), 400, "InputError")
    refused(client.get("/releases", x=1), 400, "InputError")


def test_a_bug_of_ours_tells_only_its_type(client, monkeypatch, capsys):
    def broken(*_):
        raise RuntimeError("source=home target=work")

    monkeypatch.setattr(catalog.ServedRelease, "distance", broken)
    answer = client.get("/distance", source=0, target=1)
    assert answer.status_code == 500
    assert answer.json() == {"error": {"type": "InternalError", "message": "internal error (RuntimeError)"}}
    assert capsys.readouterr().err == "hushpath: internal error (RuntimeError)\n"


def test_when_all_slots_are_taken_others_are_told_to_come_back(client, monkeypatch):
    workers = client.endpoints.workers
    with monkeypatch.context() as patch:
        patch.setattr(workers, "active", {"heavy": 100, "waiting": 100})
        patch.setattr(schema, "read_body", lambda *_: pytest.fail("a body was read without a slot"))
        for answer in (
            client.post("/matrix", sources=[0]), client.get("/isochrone", origin=0, steps="50"),
            client.get("/table/v1/x/13.3,52.5;13.31,52.5"),
        ):  # fmt: skip
            refused(answer, 503, "Busy")
            assert answer.headers["retry-after"] == "2"
        assert client.get("/distance", source=0, target=1).status_code == 200  # small requests go on
    assert client.post("/matrix", sources=[0]).status_code == 200
    assert workers.active == {"heavy": 0, "waiting": 0}


def test_metres_of_a_table_are_heavy_work(client, monkeypatch):
    monkeypatch.setattr(client.endpoints.workers, "active", {"heavy": 100, "waiting": 0})
    path = "/table/v1/x/13.3,52.5;13.31,52.5"
    assert client.get(path).status_code == 200
    for annotations in ("distance", "duration,distance", "%64istance"):
        refused(client.ask("GET", f"{path}?annotations={annotations}"), 503)


def test_steps_next_to_nothing_say_nothing(client):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in ("1e-320", "1e-300", "5e-324"):
            assert client.get("/isochrone", origin=0, steps=step, cells=50).status_code == 200


def test_a_stream_that_fails_in_the_beginning_is_an_error(client, monkeypatch):
    def broken(self, cells, rows=None):
        raise CannotTell
        yield

    class CannotTell(HttpError):
        def __init__(self):
            super().__init__(422, "CannotError", "no")

    monkeypatch.setattr(DistanceTable, "blocks", broken)
    for form in ("csv", "parquet", "arrow"):
        refused(client.post("/matrix", sources=[0], format=form), 422, "CannotError")
    assert client.endpoints.workers.active["heavy"] == 0


async def _never():
    await asyncio.Event().wait()


SCOPE = {"type": "http", "method": "POST", "path": "/matrix", "headers": []}


def streamed(parts, send, receive=_never, **limits):
    """Send a stream; return whether it was cut off, which makes every server close the connection."""
    bounds = Limits(**limits)
    workers = WorkerPool(bounds)
    app = Starlette(routes=[Route("/matrix", lambda _: Stream(lambda: (iter(parts), "text/csv", {}), workers, bounds),
                                  methods=["POST"])], middleware=[Middleware(UnforeseenErrors)])  # fmt: skip
    cut = False
    try:
        asyncio.run(app(SCOPE, receive, send))
    except CutOff:
        cut = True
    assert workers.active["heavy"] == 0
    return cut


def test_a_reader_who_takes_nothing_is_cut_off():
    sent = []

    async def slow(message):
        sent.append(message)
        if len(sent) > 3:
            await asyncio.sleep(5)

    assert streamed((b"x" for _ in range(100)), slow, stall_seconds=0.05)
    assert len(sent) == 4

    async def dawdling(message):
        await asyncio.sleep(0.02)

    assert streamed((b"x" for _ in range(10_000)), dawdling, stream_seconds=0.2)


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


def test_a_stream_that_breaks_does_not_look_whole(capsys):
    def parts():
        yield b"x"
        raise RuntimeError("secret-home")

    sent = []

    async def send(message):
        sent.append(message)

    assert streamed(parts(), send)
    assert all(message.get("more_body", True) for message in sent)
    assert capsys.readouterr().err == "hushpath: internal error (RuntimeError)\n"


# --- bodies: within the limits of one request and of all together


def receive_parts(*sizes, stay=False):
    """A client that sends a body in parts of these sizes, and then the end of it, or nothing more."""
    parts = [{"type": "http.request", "body": b" " * size, "more_body": True} for size in sizes]
    left = iter([*parts, *([] if stay else [{"type": "http.request", "body": b"", "more_body": False}])])

    async def receive():
        if (message := next(left, None)) is None:
            await _never()
        return message

    return receive


async def read_all(scope, receive, send):
    """Receive a body to its end."""
    while (await receive())["more_body"]:
        pass


def test_a_body_is_counted_while_it_arrives():
    limit = BodyLimit(read_all, Limits(body_bytes=1000))
    asyncio.run(limit(SCOPE, receive_parts(500, 500), None))
    for sizes in ((500, 501), (1001,), (1,) * 1001):
        with pytest.raises(HttpError) as refusal:
            asyncio.run(limit(SCOPE, receive_parts(*sizes), None))
        assert refusal.value.status == 413
    assert limit.held == 0


def test_all_bodies_together_are_bounded_and_small_ones_pass():
    """Bodies that are not finished count until they are answered or gone."""
    size = SMALL_BODY + 1

    async def story():
        limit = BodyLimit(read_all, Limits(held_bytes=3 * size, body_bytes=size))

        def ask(length):
            return asyncio.ensure_future(limit(SCOPE, receive_parts(length, stay=True), None))

        some = [ask(size) for _ in range(3)]
        await asyncio.sleep(0)
        assert limit.held == 3 * size
        with pytest.raises(HttpError) as refusal:
            await asyncio.wait_for(ask(size), 5)
        assert refusal.value.status == 503
        assert limit.held == 3 * size
        small = ask(SMALL_BODY)
        await asyncio.sleep(0)
        assert not small.done()
        for one in (small, *some):
            one.cancel()
        await asyncio.gather(small, *some, return_exceptions=True)
        assert limit.held == 0

    asyncio.run(story())


def test_the_document_holds_for_generated_requests():
    """Schemathesis: whatever fits the document, or just does not, is answered as the document says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own age and imports
        import schemathesis
        from hypothesis import HealthCheck, Phase, given, settings
        from hypothesis.errors import Unsatisfiable
        from schemathesis.specs.openapi.checks import positive_data_acceptance

        client = Client({"berlin": city(3)}, Limits(cells=200, interval_cells=50))
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
