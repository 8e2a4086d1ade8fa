"""Polygons of how far one gets, against the times of places along every edge."""

import json

import numpy as np
import pytest
from matplotlib.path import Path
from named_graphs import build
from noisy_grid import grid

import hushpath
from hushpath.errors import CannotError, InputError, OptionError
from hushpath.output.isochrones import Grid, isochrones, sample_edges, time_at
from hushpath.published.edges import Places

pytestmark = pytest.mark.usefixtures("quick")


def released(net, **more):
    asked = {"epsilon": 2.0, "unit": 1.0, "max_weight": 100.0, "mechanism": "input"} | more
    return hushpath.release(net, **asked)


def ring(side=12, directed=False):
    """A square of streets around an empty middle, on which a slow lane leads to a house in the middle."""
    net = grid(side, np.full(2 * side * (side - 1) * (2 if directed else 1), 5.0), directed=directed)
    places = net.topology.coordinates
    inner = ((places > side / 4) & (places < 3 * side / 4)).all(axis=1)
    keep = ~(inner[net.topology.tails] | inner[net.topology.heads])
    ends = np.stack([net.topology.tails, net.topology.heads], 1)[keep]
    return build(len(places), ends, np.full(len(ends), 5.0), coordinates=places, directed=directed)


def inside(geometry, points):
    """Whether points are inside, holes taken out; a point in two polygons would show."""
    found = np.zeros(len(points), int)
    for outer, *holes in geometry["coordinates"]:
        found += Path(outer).contains_points(points)
        for hole in holes:
            found -= Path(hole).contains_points(points)
    assert set(np.unique(found)) <= {0, 1}
    return found == 1


def area(ring):
    x, y = np.array(ring).T
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]) / 2)


def places_along(rel, parts=7):
    topology = rel.topology
    edges = np.repeat(np.arange(topology.num_edges), parts)
    part = np.tile((np.arange(parts) + 0.5) / parts, topology.num_edges)
    a, b = topology.coordinates[topology.tails[edges]], topology.coordinates[topology.heads[edges]]
    return edges, part, a + part[:, None] * (b - a)


@pytest.mark.quick(every=3)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["released", "within", "uncertain"])
def test_places_along_edges_are_where_they_belong(kind, directed):
    rel = released(grid(9, directed=directed), epsilon=0.5 if kind == "uncertain" else 3.0)
    step, margin = 45.0, 3.0 if kind == "uncertain" else 6.0
    edges, part, points = places_along(rel)
    found = rel.matrix([4], interval=True)
    released_, low, high = (
        time_at(rel.topology, rel.edge_weights, times[0], edges, part)
        for times in (found.distance, np.minimum(found.low, found.distance), np.maximum(found.high, found.distance))
    )
    if directed:  # both arcs of a street lie on the same line, and the sooner one counts
        keys = [tuple(sorted((tuple(np.round(p, 6)), ""), key=str)) for p in points]
        best = {}
        for layer_number, layer in enumerate((released_, low, high)):
            for key, value in zip(keys, layer, strict=True):
                best[layer_number, key] = min(value, best.get((layer_number, key), np.inf))
        released_, low, high = (np.array([best[i, key] for key in keys]) for i in range(3))
    drawn = isochrones(rel, 4, [step], cells=400, reach=0.05)
    (feature,) = [f for f in drawn["features"] if f["properties"]["kind"] == kind]
    is_in = inside(feature["geometry"], points)
    if kind == "uncertain":
        should = (low < step - margin) & (high > step + margin)
        should_not = (low > step + margin) | (high < step - margin)
    else:
        times = released_ if kind == "released" else high
        should, should_not = times < step - margin, times > step + margin
    assert should.sum() > 5
    assert should_not.sum() > 50
    assert is_in[should].all()
    assert not is_in[should_not].any()


def test_what_is_not_reached_is_a_hole():
    rel = released(ring(), epsilon=float("inf"))
    drawn = isochrones(rel, 0, [200.0], confidence=None, reach=0.4)
    (feature,) = drawn["features"]
    (polygon,) = feature["geometry"]["coordinates"]
    areas = [area(points) for points in polygon]
    assert areas[0] > 0  # against the clock, as GeoJSON wants it
    assert all(a < 0 for a in areas[1:])
    assert min(areas[1:]) < -20  # the middle, 6 by 6 less what is near streets
    assert all(points[0] == points[-1] for points in polygon)
    assert not inside(feature["geometry"], np.array([[5.5, 5.5]]))[0]


def test_one_way_streets_lead_one_way():
    net = build(3, [(0, 1), (2, 1)], [10.0, 10.0], coordinates=[[0, 0], [1, 0], [2, 0]], directed=True)
    rel = released(net, epsilon=float("inf"))
    (feature,) = isochrones(rel, 0, [25.0], confidence=None, reach=0.1, cells=100)["features"]
    assert inside(feature["geometry"], np.array([[0.5, 0.0], [1.5, 0.0]])).tolist() == [True, False]


def test_a_long_detour_does_not_make_an_edge_quick():
    """Both ends of the long edge are reached at once; its middle is not."""
    net = build(3, [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 90.0], coordinates=[[0, 0], [5, 5], [10, 0]])
    rel = released(net, epsilon=float("inf"))
    (feature,) = isochrones(rel, 0, [20.0], confidence=None, reach=0.2)["features"]
    points = np.array([[1.0, 0.0], [5.0, 0.0], [9.0, 0.0]])
    assert inside(feature["geometry"], points).tolist() == [True, False, True]


def test_within_uncertain_and_released_nest_and_carry_what_they_are():
    rel = released(grid(8), seed=1, quantity=hushpath.Quantity("travel time", "seconds"))
    drawn = isochrones(rel, 0, [60, 20], confidence=0.8)
    json.dumps(drawn, allow_nan=False)
    assert [(f["properties"]["step"], f["properties"]["kind"]) for f in drawn["features"]] == [
        (step, kind) for step in (60.0, 20.0) for kind in ("within", "uncertain", "released")
    ]
    for feature in drawn["features"]:
        assert feature["properties"]["quantity"] == "travel time in seconds"
        assert feature["properties"]["marking"].startswith("NOT PRIVATE")
        assert feature["properties"].get("confidence", 0.8) == 0.8
    _, _, points = places_along(rel)
    found = [inside(feature["geometry"], points) for feature in drawn["features"]]
    large, small = (dict(zip(("within", "uncertain", "released"), found[i : i + 3], strict=True)) for i in (0, 3))
    assert not (small["released"] & ~large["released"]).any()
    assert (large["within"] & large["uncertain"]).mean() < 0.02  # they meet along a line
    assert "marking" not in isochrones(released(grid(4)), 0, [9.0], confidence=None)


def test_a_release_without_edge_weights_has_isochrones_too():
    rel = released(grid(5), mechanism="all-pairs", epsilon=8.0)
    assert not rel.decoder.routes
    drawn = isochrones(rel, 0, [1e4])
    assert drawn["features"][2]["properties"]["kind"] == "released"
    assert drawn["features"][2]["geometry"]["coordinates"]


def test_metres_on_earth_and_units_elsewhere():
    here = np.array([[13.3, 52.5], [13.5, 52.6], [np.nan, np.nan]])
    flat = Places(here, True).projected()
    across = flat.xy[1] - flat.xy[0]
    assert across == pytest.approx([13_535, 11_120], rel=1e-3)
    assert np.array_equal(Places(here[:2] * 1000, False).projected().xy, here[:2] * 1000)
    net = grid(4)
    far = build(16, np.stack([net.topology.tails, net.topology.heads], 1), np.full(24, 5.0),
                coordinates=net.topology.coordinates * 1000)  # fmt: skip
    drawn = isochrones(released(far, epsilon=float("inf")), 0, [12.0], confidence=None)
    assert (drawn["in_metres"], drawn["reach"]) == (False, 1000.0)


def test_what_cannot_be_drawn_is_refused():
    plain = released(build(3, [(0, 1), (1, 2)], [1.0, 2.0]))
    with pytest.raises(CannotError, match="no coordinates"):
        isochrones(plain, 0, [1.0])
    rel = released(grid(3))
    for steps in ([], [0], [-1], [float("nan")], [float("inf")], ["x"], [None]):
        with pytest.raises(OptionError, match="`steps`"):
            isochrones(rel, 0, steps)
    for cells in (5, 10**6, 1.5, True):
        with pytest.raises(OptionError, match="`cells`"):
            isochrones(rel, 0, [1.0], cells=cells)
    for reach in (-1.0, float("nan"), float("inf")):
        with pytest.raises(OptionError, match="`reach`"):
            isochrones(rel, 0, [1.0], reach=reach)
    with pytest.raises(OptionError, match="confidence"):
        isochrones(rel, 0, [1.0], confidence=1.5)
    with pytest.raises(InputError, match="unknown node"):
        isochrones(rel, "nowhere", [1.0])


def test_nodes_without_a_place_are_left_out():
    places = np.array([[0.0, 0.0], [np.nan, np.nan], [2.0, 0.0], [3.0, 0.0]])
    rel = released(build(4, [(0, 1), (1, 2), (2, 3)], [1.0, 1.0, 1.0], coordinates=places), epsilon=float("inf"))
    (feature,) = isochrones(rel, 1, [5.0], confidence=None, reach=0.1)["features"]
    assert inside(feature["geometry"], np.array([[2.5, 0.0], [1.0, 0.0]])).tolist() == [True, False]


def test_an_origin_alone_is_a_small_place():
    rel = released(build(2, [], [], coordinates=[[1.0, 1.0], [500.0, 2.0]]))
    (feature,) = isochrones(rel, 0, [5.0], confidence=None)["features"]
    assert inside(feature["geometry"], np.array([[1.0, 1.0]]))[0]


def test_an_edge_much_longer_than_the_region_is_not_walked_to_its_end():
    """It crosses the grid somewhere; outside of it, nobody asked."""
    net = build(4, [(0, 1), (2, 3), (1, 2)], [1.0, 1.0, 500.0], coordinates=[[0, 0], [1, 0], [-1e9, 0.5], [1e9, 0.5]])
    grid, topology = Grid(np.array([-2.0, -2.0]), 0.05, (100, 100)), net.topology
    walked = list(sample_edges(topology, topology.coordinates, np.arange(3), grid))
    edges, parts = (np.concatenate(column) for column in zip(*walked, strict=True))
    assert len(edges) < 1000
    assert set(edges.tolist()) == {0, 1, 2}
    ends = topology.coordinates[topology.tails[edges]], topology.coordinates[topology.heads[edges]]
    places = ends[0] + parts[:, None] * (ends[1] - ends[0])
    assert (places >= grid.corner - 1e-6).all()
    assert (places <= grid.opposite + 1e-6).all()
    assert np.ptp(places[edges == topology.num_edges - 1], axis=0).max() == pytest.approx(
        5, rel=0.05
    )  # from side to side
    away = build(2, [(0, 1)], [1.0], coordinates=[[90, 90], [90, 91]]).topology
    assert list(sample_edges(away, away.coordinates, np.arange(1), grid)) == []
