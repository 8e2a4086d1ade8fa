"""OSRM's table and route services, held against the documented shapes of their answers (osrm-backend, docs/http.md)."""

import numpy as np
import pytest
from served import Client, city

import hushpath
from hushpath.geodesy import EARTH_RADIUS, great_circle
from hushpath.serve import Limits
from hushpath.serve.osrm import decode_polyline, encode_polyline

A, B, C, AWAY = "13.3001,52.5001", "13.33,52.512", "13.35,52.53", "14.5,53.0"  # nodes 0, 20, 35 and the lone house
GENERAL = {"Ok", "InvalidUrl", "InvalidService", "InvalidVersion", "InvalidOptions", "InvalidQuery", "InvalidValue",
           "NoSegment", "TooBig", "NotImplemented", "NoRoute", "NoTable"}  # fmt: skip


@pytest.fixture(scope="module")
def made():
    rel = city()
    return rel, Client({"berlin": rel}, Limits(waypoints=4, nodes=30, table_cells=20))


def number(value):
    return type(value) in (int, float)


def is_waypoint(value):
    assert set(value) >= {"name", "location", "distance", "hint"}
    assert isinstance(value["name"], str)
    assert isinstance(value["hint"], str)
    assert number(value["distance"])
    assert len(value["location"]) == 2
    return all(map(number, value["location"]))


def test_a_table_has_the_documented_shape(made):
    rel, client = made
    answer = client.get(f"/table/v1/driving/{A};{B};{C};{AWAY}")
    table = answer.json()
    assert (answer.status_code, table["code"]) == (200, "Ok")
    assert len(table["sources"]) == len(table["destinations"]) == 4
    assert all(map(is_waypoint, table["sources"] + table["destinations"]))
    expected = rel.matrix([0, 20, 35, 36], [0, 20, 35, 36])
    assert [[np.inf if cell is None else cell for cell in row] for row in table["durations"]] == expected.tolist()
    assert table["durations"][0][3] is None  # as OSRM says that there is no path
    assert table["sources"][0]["location"] == pytest.approx([13.3, 52.5])
    assert table["sources"][0]["distance"] == pytest.approx(13.0, abs=0.5)
    assert table["sources"][1]["name"] == "20"


def test_metres_are_those_of_the_routes(made):
    rel, client = made
    both = client.get(f"/table/v1/driving/{A};{B};{C};{AWAY}?annotations=duration,distance&sources=0;2").json()
    assert np.array(both["durations"], float)[:, :3].tolist() == rel.matrix([0, 35], [0, 20, 35]).tolist()
    assert [row[3] for row in both["distances"]] == [None, None]
    for i, first in ((0, A), (1, C)):
        for j, last in enumerate((A, B, C)):
            route = client.get(f"/route/v1/driving/{first};{last}").json()["routes"][0]
            assert both["distances"][i][j] == pytest.approx(route["distance"])
    only = client.get(f"/table/v1/driving/{A};{B}?annotations=distance").json()
    assert only["distances"][0][1] == both["distances"][0][1]
    assert "durations" not in only
    without = Client({"r": city(3, mechanism="all-pairs")})
    assert without.get(f"/table/v1/driving/{A};{B}?annotations=distance").json()["code"] == "NotImplemented"


@pytest.mark.parametrize(
    ("query", "rows", "columns"),
    [("sources=0", 1, 3), ("sources=0;1&destinations=2", 2, 1), ("sources=all&destinations=0;0;1", 3, 3),
     ("sources=2&destinations=all&annotations=duration", 1, 3)],
)  # fmt: skip
def test_sources_and_destinations(made, query, rows, columns):
    table = made[1].get(f"/table/v1/car/{A};{B};{C}?{query}").json()
    assert table["code"] == "Ok"
    assert (len(table["durations"]), len(table["durations"][0])) == (rows, columns)
    assert (len(table["sources"]), len(table["destinations"])) == (rows, columns)


def test_options_of_clients_that_make_no_difference(made):
    client = made[1]
    plain = client.get(f"/table/v1/driving/{A};{B}").json()
    for query in ("generate_hints=false", "bearings=0,20;", "hints=;", "approaches=curb;", "radiuses=500;unlimited",
                  "snapping=any", "skip_waypoints=false", "fallback_coordinate=snapped"):  # fmt: skip
        assert client.get(f"/table/v1/driving/{A};{B}?{query}").json() == plain, query
    assert client.get(f"/table/v1/driving/{A};{B}.json").json() == plain
    places = np.array([[13.3001, 52.5001], [13.33, 52.512]])
    for name, digits in (("polyline", 5), ("polyline6", 6)):
        drawn = client.get(f"/table/v1/driving/{name}({encode_polyline(places, digits)})".replace("?", "%3F")).json()
        assert drawn["durations"] == plain["durations"]
    assert "sources" not in client.get(f"/table/v1/driving/{A};{B}?skip_waypoints=true").json()
    double = client.get(f"/table/v1/driving/{A};{B}?scale_factor=2").json()
    assert double["durations"][0][1] == pytest.approx(2 * plain["durations"][0][1])


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("table/x", "InvalidQuery"), ("table/1,2;3", "InvalidQuery"),
        ("table/nan,inf;1,1", "InvalidQuery"), ("table/200,1;1,1", "InvalidValue"),
        ("table/1,1;1,91", "InvalidValue"), (f"table/{A};{B}?sources=2", "InvalidValue"),
        (f"table/{A};{B}?sources=x", "InvalidQuery"), (f"table/{A};{B}?sources=-1", "InvalidQuery"),
        (f"table/{A};{B}?sources=0;0;0", "InvalidValue"), (f"table/{A};{B}?x=1", "InvalidQuery"),
        (f"table/{A};{B}?annotations=speed", "InvalidQuery"), (f"table/{A};{B}?annotations=", "InvalidQuery"),
        (f"table/{A};{B}?fallback_speed=10", "NotImplemented"),
        (f"table/{A};{B}?scale_factor=0", "InvalidValue"), (f"table/{A};{B}?scale_factor=nan", "InvalidValue"),
        (f"table/{A};{B}?exclude=motorway", "InvalidValue"),
        (f"table/{A};{B}?radiuses=1;1", "NoSegment"), (f"table/{A};{B}?radiuses=1", "InvalidValue"),
        (f"table/{A};{B}?radiuses=a;b", "InvalidQuery"), ("table/polyline(%20)", "InvalidQuery"),
        ("table/" + ";".join([A] * 5), "TooBig"), ("table/" + ";".join([A] * 40), "TooBig"),
        (f"route/{A}", "InvalidValue"), (f"route/{A};{AWAY}", "NoRoute"),
        (f"route/{A};{B}?geometries=wkt", "InvalidQuery"), (f"route/{A};{B}?overview=x", "InvalidQuery"),
        (f"route/{A};{B}?steps=maybe", "InvalidQuery"), (f"route/{A};{B}?annotations=x", "InvalidQuery"),
        ("route/" + ";".join([A] * 5), "TooBig"), (f"route/{A};{B}?sources=0", "InvalidQuery"),
    ],
)  # fmt: skip
def test_what_is_wrong_has_a_code(made, path, code):
    answer = made[1].ask("GET", "/" + path.replace("/", "/v1/driving/", 1))
    assert answer.status_code == 400
    assert answer.json()["code"] == code
    assert answer.json()["code"] in GENERAL
    assert answer.json()["message"].isprintable()


def test_latitude_before_longitude_is_not_an_answer(made):
    """The mistake that everybody makes once: both places would snap to one node, and take no time."""
    _, client = made
    answer = client.get("/table/v1/driving/52.5001,13.3001;52.512,13.33")
    assert answer.status_code == 400
    assert answer.json()["code"] == "NoSegment"
    assert "longitude,latitude" in answer.json()["message"]
    assert client.get("/route/v1/driving/13.31,52.51;13.36,52.53").json()["code"] == "Ok"  # a little beside the network


@pytest.mark.parametrize("geometries", ["geojson", "polyline", "polyline6"])
def test_a_route_has_the_documented_shape(made, geometries):
    rel, client = made
    query = f"geometries={geometries}&overview=full&annotations=true&alternatives=3&continue_straight=default"
    answer = client.get(f"/route/v1/driving/{A};{B};{C}?{query}").json()
    assert answer["code"] == "Ok"
    assert all(map(is_waypoint, answer["waypoints"]))
    (route,) = answer["routes"]
    assert route["weight_name"] == "duration"
    assert all(number(route[name]) for name in ("distance", "duration", "weight"))
    paths = [rel.route(0, 20), rel.route(20, 35)]
    assert [leg["duration"] for leg in route["legs"]] == pytest.approx([rel.distance(0, 20), rel.distance(20, 35)])
    assert route["duration"] == pytest.approx(sum(leg["duration"] for leg in route["legs"]))
    assert route["distance"] == pytest.approx(sum(leg["distance"] for leg in route["legs"]))
    nodes = [*paths[0].nodes, *paths[1].nodes[1:]]
    line = rel.topology.coordinates[rel.topology.indices(nodes)]
    if geometries == "geojson":
        assert route["geometry"] == {"type": "LineString", "coordinates": line.tolist()}
    else:
        drawn = decode_polyline(route["geometry"], 6 if geometries == "polyline6" else 5)
        assert np.allclose(drawn, line, atol=1e-5)
    for leg, path in zip(route["legs"], paths, strict=True):
        assert (leg["summary"], leg["steps"]) == ("", [])
        notes = leg["annotation"]
        assert notes["nodes"] == list(path.nodes)
        assert notes["duration"] == pytest.approx(rel.edge_weights[path.edges])
        assert sum(notes["distance"]) == pytest.approx(leg["distance"])
        sizes = {len(notes[name]) for name in ("distance", "duration", "weight", "datasources", "speed")}
        assert sizes == {len(path.edges)}


def test_overviews_steps_and_a_route_that_stays(made):
    client = made[1]
    plain = client.get(f"/route/v1/driving/{A};{C}").json()["routes"][0]
    assert isinstance(plain["geometry"], str)
    assert "annotation" not in plain["legs"][0]
    assert "geometry" not in client.get(f"/route/v1/driving/{A};{C}?overview=false").json()["routes"][0]
    some = client.get(f"/route/v1/driving/{A};{C}?annotations=duration,nodes").json()["routes"][0]["legs"][0]
    assert set(some["annotation"]) == {"duration", "nodes"}
    (leg,) = client.get(f"/route/v1/driving/{A};{C}?steps=true").json()["routes"][0]["legs"]
    depart, arrive = leg["steps"]
    for step, kind in ((depart, "depart"), (arrive, "arrive")):
        assert step["maneuver"]["type"] == kind
        assert {"distance", "duration", "geometry", "weight", "name", "mode", "intersections"} <= set(step)
        assert {"location", "bearing_before", "bearing_after"} <= set(step["maneuver"])
    assert depart["duration"] == leg["duration"]
    stays = client.get(f"/route/v1/driving/{A};{A}?geometries=geojson&steps=true&annotations=true").json()["routes"][0]
    assert (stays["duration"], stays["distance"]) == (0.0, 0.0)
    assert len(stays["geometry"]["coordinates"]) == 2


def test_minutes_are_told_as_seconds():
    rel = city(4, quantity=hushpath.Quantity("travel time", "minutes"))
    table = Client({"r": rel}).get(f"/table/v1/driving/{A};13.33,52.518").json()
    assert table["durations"][0][1] == pytest.approx(60 * rel.distance(0, 15))


def test_metres_along_the_earth_and_lines():
    quarter = great_circle(np.array([[0.0, 0.0]]), np.array([[0.0, 90.0]]))
    assert quarter == pytest.approx(np.pi / 2 * EARTH_RADIUS)
    rng = np.random.default_rng(0)
    places = np.round(rng.uniform((-180, -90), (180, 90), (50, 2)), 5)
    assert np.array_equal(decode_polyline(encode_polyline(places, 5), 5), places)
