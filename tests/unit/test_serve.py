"""Every endpoint: the same answers as the release gives, marks, periods, several releases, documents."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest
from named_graphs import build
from served import Client, city, with_periods

import hushpath
from hushpath.errors import CannotError, OptionError
from hushpath.output import encode
from hushpath.output.isochrones import isochrones
from hushpath.serve import Limits, app, make_app, responses

QUANTITY = hushpath.Quantity("travel time", "seconds").as_dict()


@pytest.fixture(scope="module")
def made():
    rel = city()
    return rel, Client({"berlin": rel}), Client({"berlin": city(seed=1)})


def test_a_distance_is_that_of_the_release(made):
    rel, client, _ = made
    for source, target in ((0, 35), (35, 0), (3, 3)):
        answer = client.get("/distance", source=source, target=target)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["hushpath-quantity"] == "travel time in seconds"
        assert answer.json() == {
            "source": source, "target": target, "distance": rel.distance(source, target), "release": "berlin",
            "quantity": QUANTITY, "private": True,
        }  # fmt: skip
    ranged = client.get("/distance", source=0, target=35, interval="true", confidence=0.8).json()
    assert tuple(ranged["interval"]) == rel.interval(0, 35, 0.8)
    assert ranged["confidence"] == 0.8
    assert client.get("/distance", source=0, target=36).json()["distance"] == "inf"
    assert client.get("/distance", source=0, target=36, interval="1").json()["interval"] == ["inf", "inf"]


@pytest.mark.parametrize("interval", [False, True])
@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("marked", [False, True])
def test_a_matrix_is_the_file_that_the_command_writes(made, tmp_path, long, interval, marked):
    client = made[1 + marked]
    rel = next(iter(client.endpoints.catalog.releases.values()))
    some, more = [30, 2, 7], {"long": long, "interval": interval}
    for body, where in (({"sources": some}, (some, None)), ({"targets": some}, (None, some)), ({}, (None, None))):
        for form in ("csv", "parquet"):
            hushpath.write_matrix(rel, tmp_path / f"m.{form}", *where, **more)
            answer = client.post("/matrix", format=form, **body, **more)
            assert answer.status_code == 200
            assert ("hushpath-marking" in answer.headers) is marked
            assert answer.content == (tmp_path / f"m.{form}").read_bytes()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrow_rows_are_lists(made, dtype):
    rel, client, marked = made
    answer = client.post("/matrix", sources=[5, 1], interval=True, format="arrow", float32=dtype == "float32")
    assert answer.headers["content-type"] == "application/vnd.apache.arrow.stream"
    table = pa.ipc.open_stream(answer.content).read_all()
    assert json.loads(table.schema.metadata[b"hushpath.targets"]) == list(rel.topology.labels)
    assert json.loads(table.schema.metadata[b"hushpath.statement"])["quantity"] == QUANTITY
    assert table["source"].to_pylist() == [5, 1]
    for name, numbers in zip(("distance", "low", "high"), rel.matrix([5, 1], interval=True, dtype=dtype), strict=True):
        assert np.array_equal(np.array(table[name].to_pylist()), numbers)
    table = pa.ipc.open_stream(marked.post("/matrix", sources=[0], format="arrow").content).read_all()
    assert table.column_names == ["NOT PRIVATE", "source", "distance"]
    assert table.schema.metadata[b"hushpath.marking"].startswith(b"NOT PRIVATE")


def test_many_blocks_are_one_matrix(made, monkeypatch):
    rel, client, _ = made
    monkeypatch.setattr(app, "MOST_BLOCK", 100)
    monkeypatch.setattr(encode, "PAGE", 64)
    monkeypatch.setattr(responses, "PIECE", 64)
    expected = rel.matrix()
    frame = pd.read_csv(io.BytesIO(client.post("/matrix").content), index_col="source")
    assert np.array_equal(frame.to_numpy(), expected)
    arrow = pa.ipc.open_stream(client.post("/matrix", format="arrow").content)
    assert arrow.read_all()["distance"].num_chunks > 5
    table = pq.read_table(io.BytesIO(client.post("/matrix", format="parquet", long=True).content))
    assert np.array_equal(table["distance"].to_numpy(), expected.ravel())


def test_isochrones_are_those_of_the_release(made):
    rel, client, marked = made
    answer = client.get("/isochrone", origin=0, steps="60,120", confidence=0.8, cells=80)
    assert answer.headers["content-type"] == "application/geo+json"
    expected = json.loads(json.dumps(isochrones(rel, 0, [60, 120], confidence=0.8, cells=80)))
    assert answer.json()["features"] == expected["features"]
    assert answer.json()["quantity"] == QUANTITY
    plain = marked.get("/isochrone", origin=0, steps="60", interval="false").json()
    assert [f["properties"]["kind"] for f in plain["features"]] == ["released"]
    assert plain["marking"].startswith("NOT PRIVATE")
    assert plain["features"][0]["properties"]["marking"].startswith("NOT PRIVATE")


def test_what_is_not_private_says_so_in_every_answer(made):
    _, plain, marked = made
    for path in ("/distance?source=0&target=7", "/statement", "/isochrone?origin=0&steps=50&interval=false",
                 "/table/v1/driving/13.3,52.5;13.31,52.5", "/route/v1/driving/13.3,52.5;13.33,52.51"):  # fmt: skip
        answer = marked.get(path)
        assert answer.json()["marking"].startswith("NOT PRIVATE: the noise"), path
        assert answer.json()["private"] is False
        assert answer.headers["hushpath-marking"].startswith("NOT PRIVATE: the noise")
        answer = plain.get(path)
        assert "marking" not in answer.json()
        assert "hushpath-marking" not in answer.headers
    assert marked.get("/releases").json()["releases"][0]["marking"].startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in marked.get("/").text
    assert "NOT PRIVATE" not in plain.get("/").text


def test_statement_health_and_what_there_is(made):
    rel, client, _ = made
    told = client.get("/statement").json()
    assert told["statement"] == json.loads(json.dumps(rel.statement.as_dict()))
    assert told["text"] == str(rel.statement)
    assert client.get("/health").json() == {"status": "ok", "version": hushpath.__version__, "releases": 1}
    (listed,) = client.get("/releases").json()["releases"]
    assert (listed["nodes"], listed["edges"], listed["periods"]) == (37, 60, [])
    assert listed["indexed"] is listed["routes"] is listed["places"] is True


def test_the_page_and_the_document_list_every_endpoint(made):
    _, client, _ = made
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/plain")
    for endpoint in ("/distance", "/matrix", "/isochrone", "/table/v1/", "/route/v1/", "/statement", "/health"):
        assert endpoint in page.text
    document = client.get("/openapi.json").json()
    assert len(document["paths"]) == 8
    for path, methods in document["paths"].items():
        for said in methods.values():
            assert said["summary"], path
            assert {"200", "400", "413", "503"} <= said["responses"].keys()
    assert {p["name"] for p in document["paths"]["/distance"]["get"]["parameters"]} == {
        "source", "target", "period", "interval", "confidence", "release",
    }  # fmt: skip


def test_several_releases_are_found_by_name(made):
    rel, _, _ = made
    other = city(4)
    client = Client({"a": rel, "b": other})
    assert client.get("/distance", source=0, target=9, release="b").json()["distance"] == other.distance(0, 9)
    assert client.post("/matrix", sources=[0], targets=[9], release="a").text.split()[1] == f"0,{rel.distance(0, 9)}"
    refused = client.get("/distance", source=0, target=9)
    assert (refused.status_code, refused.json()["error"]["type"]) == (400, "OptionError")
    assert "one of a, b" in refused.json()["error"]["message"]
    assert client.get("/distance", source=0, target=9, release="c").status_code == 404
    assert client.get("/statement", release="b").json()["release"] == "b"
    mixed = Client({"a": rel, "b": city(4, seed=1)})
    for name in "ab":  # each carries its own mark, and not the other's
        for path in (f"/table/v1/{name}/13.3,52.5;13.31,52.5", f"/distance?source=0&target=1&release={name}"):
            assert ("hushpath-marking" in mixed.get(path).headers) is (name == "b")
    assert client.get("/statement").status_code == 400
    assert client.get("/table/v1/b/13.3,52.5;13.31,52.5").json()["release"] == "b"
    assert client.get("/table/v1/driving/13.3,52.5;13.31,52.5").json()["code"] == "InvalidValue"
    for name in ("", "a/b", "a\nb", "x@y", "x" * 200, "\udcff"):
        with pytest.raises(OptionError, match="under the name"):
            make_app({name: rel})
    with pytest.raises(OptionError, match="at least one"):
        make_app({})


@pytest.mark.filterwarnings("ignore::hushpath.HushpathWarning")
def test_periods():
    rel = with_periods()
    client = Client({"city": rel})
    a, b = rel.topology.labels[0], rel.topology.labels[9]
    for period in ("am", "pm"):
        answer = client.get("/distance", source=a, target=b, period=period).json()
        assert (answer["distance"], answer["period"]) == (rel.for_period(period).distance(a, b), period)
        text = client.post("/matrix", sources=[a], targets=[b], period=period).text
        assert text.splitlines()[1].endswith(str(rel.for_period(period).distance(a, b)))
    for asked in ({}, {"period": "night"}):
        refused = client.get("/distance", source=a, target=b, **asked)
        assert refused.status_code == 400
        assert "am, pm" in refused.json()["error"]["message"]
    assert client.get("/statement").status_code == 200
    assert client.get("/releases").json()["releases"][0]["periods"] == ["am", "pm"]


def test_releases_that_have_no_index_answer_too():
    rel = city(3, mechanism="all-pairs")
    client = Client({"r": rel})
    assert client.get("/distance", source=0, target=8).json()["distance"] == rel.distance(0, 8)
    assert client.get("/releases").json()["releases"][0]["indexed"] is False
    assert client.get("/table/v1/driving/13.3,52.5;13.31,52.5").json()["durations"][0][1] == rel.distance(0, 3)
    answer = client.get("/route/v1/driving/13.3,52.5;13.31,52.5")
    assert (answer.status_code, answer.json()["code"]) == (400, "NotImplemented")
    large = Client({"r": city()}, max_bytes=1)  # an index that may not be built
    assert large.get("/distance", source=0, target=8).status_code == 200


def test_a_release_without_intervals_says_so(monkeypatch):
    def none(*_, **__):
        raise CannotError("no intervals here")

    rel = city(3)
    clients = [Client({"r": rel}, intervals=False)]
    monkeypatch.setattr(rel, "intervals", none)
    for client in (*clients, Client({"r": rel})):
        for answer in (
            client.get("/distance", source=0, target=8, interval="true"),
            client.post("/matrix", interval=True),
            client.get("/isochrone", origin=0, steps="9"),
        ):
            assert (answer.status_code, answer.json()["error"]["type"]) == (422, "CannotError")
        assert client.get("/distance", source=0, target=8).status_code == 200


def test_other_origins_may_read_only_if_they_are_named(made):
    rel, client, _ = made
    asked = {"headers": {"origin": "http://map.example"}}
    assert "access-control-allow-origin" not in client.ask("GET", "/health", **asked).headers
    named = Client({"berlin": rel}, cors=["http://map.example"])
    assert named.ask("GET", "/health", **asked).headers["access-control-allow-origin"] == "http://map.example"
    for path, status in (("/health", 200), ("/distance?source=zz&target=0", 400), ("/nothing", 404)):
        for method in ("GET", "BREW"):
            mine, other = (named.ask(method, path, headers={"origin": f"http://{w}.example"}) for w in ("map", "evil"))
            assert mine.status_code == other.status_code == (405 if method == "BREW" and status != 404 else status)
            assert mine.headers["access-control-allow-origin"] == "http://map.example"
            assert "access-control-allow-origin" not in other.headers


def test_networks_without_places_and_numbers_that_are_no_times():
    rel = hushpath.release(build(3, [(0, 1), (1, 2)], [1.0, 2.0]), epsilon=1.0, unit=1.0, max_weight=9.0)
    client = Client({"r": rel})
    refused = client.get("/isochrone", origin=0, steps="1")
    assert (refused.status_code, refused.json()["error"]["type"]) == (422, "CannotError")
    assert "no coordinates" in refused.json()["error"]["message"]
    refused = client.get("/table/v1/driving/1,1;2,2").json()
    assert refused["code"] == "NotImplemented"
    assert "did not say what the numbers are" in refused["message"]
    metres = Client({"r": city(3, quantity=hushpath.Quantity("length", "metres"))})
    assert "numbers are length in metres" in metres.get("/route/v1/driving/1,1;2,2").json()["message"]
    timed = hushpath.release(
        build(2, [(0, 1)], [1.0], coordinates=[[4e5, 5e6], [4e5, 6e6]]),
        epsilon=1.0,
        unit=1.0,
        max_weight=9.0,
        quantity=hushpath.Quantity(unit_of_measure="min"),
    )
    assert "not longitudes" in Client({"r": timed}).get("/table/v1/driving/1,1;2,2").json()["message"]


@pytest.mark.parametrize("package", ["starlette", "pydantic"])
def test_the_extra_is_named_if_it_is_missing(made, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(CannotError, match=r"hushpath\[serve\]"):
        make_app({"berlin": made[0]})


def test_limits_are_positive():
    for wrong in ({"cells": 0}, {"heavy": -1}, {"stall_seconds": float("nan")}, {"cells": 1.5}, {"nodes": True}):
        with pytest.raises(OptionError, match="limit"):
            Limits(**wrong)
