"""Released edges as graphs of networkx and tables of geopandas, read with the real libraries."""

import io
import json
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from exported import BERLIN, SQUARE, of_trips, released

import hushpath
from hushpath.errors import CannotError, OptionError
from hushpath.geodesy import great_circle
from hushpath.published.edges import field_name, places_of


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("twice", [False, True])
def test_the_graph_is_of_the_kind_of_the_network(directed, twice):
    rel = released(SQUARE + SQUARE[:1] * twice, directed=directed)
    graph = rel.to_networkx()
    assert (graph.is_directed(), graph.is_multigraph()) == (directed, twice)
    assert sorted(graph.nodes) == [10, 11, 12, 13]
    assert graph.nodes[12] == {"x": 13.41, "y": 52.51}
    weights = sorted(weight for *_, weight in graph.edges(data="travel_time"))
    assert weights == sorted(rel.edge_weights.tolist())
    for a in graph:
        lengths = nx.single_source_dijkstra_path_length(graph, a, weight="travel_time")
        assert all(lengths[b] == pytest.approx(rel.distance(a, b)) for b in graph)


def test_the_graph_says_what_it_is_and_goes_into_a_file():
    graph = released().to_networkx()
    assert {key: graph.graph[key] for key in ("quantity", "unit_of_measure", "date")} == {
        "quantity": "travel time", "unit_of_measure": "seconds", "date": "2026-03"
    }  # fmt: skip
    assert json.loads(graph.graph["statement"])["private"] is True
    file = io.BytesIO()
    nx.write_graphml(graph, file)
    file.seek(0)
    assert nx.read_graphml(file).graph["quantity"] == "travel time"
    plain = released(quantity=hushpath.Quantity()).to_networkx()
    assert "quantity" not in plain.graph
    assert {*next(iter(plain.edges(data=True)))[2]} == {"weight"}


def test_what_is_not_private_says_so():
    rel = released(epsilon=float("inf"))
    graph, table = rel.to_networkx(), rel.to_geopandas()
    assert graph.graph["marking"].startswith("NOT PRIVATE")
    assert {*next(iter(graph.edges(data=True)))[2]} == {"travel_time NOT PRIVATE"}
    assert table.columns[0] == "NOT PRIVATE"
    assert set(table["NOT PRIVATE"]) == {"NOT PRIVATE"}
    assert table.attrs["marking"].startswith("NOT PRIVATE")
    assert "NOT PRIVATE" not in str(released().to_networkx().graph) + str(released().to_geopandas())


def test_a_table_of_lines():
    rel = released()
    table = rel.to_geopandas()
    assert list(table.columns) == ["source", "target", "travel_time", "geometry"]
    assert table.crs.to_epsg() == 4326
    assert np.array_equal(table["travel_time"], rel.edge_weights)
    assert list(table.geometry.iloc[0].coords) == [BERLIN[10], BERLIN[11]]
    assert table.attrs["unit_of_measure"] == "seconds"
    metres = table.to_crs(25833).length.to_numpy()
    topology = rel.topology
    xy = places_of(topology).xy
    assert great_circle(xy[topology.tails], xy[topology.heads]) == pytest.approx(metres, rel=5e-3)


def test_places_that_are_not_known():
    some = {10: BERLIN[10], 11: BERLIN[11]}
    with pytest.warns(hushpath.HushpathWarning, match="have no x and y"):
        rel = released(places=some)
    assert "x" not in rel.to_networkx().nodes[12]
    assert rel.to_geopandas().geometry.isna().sum() == 3
    with pytest.raises(CannotError, match="no coordinates"):
        released(places=None).to_geopandas()


@pytest.mark.parametrize(
    ("moved", "degrees"),
    [(lambda x, y: (x, y), True), (lambda x, y: (x * 1000, y), False), (lambda x, y: (x - 13.4, y - 52.5), False),
     (lambda x, y: (-x, -y), True)],
)  # fmt: skip
def test_degrees_are_not_made_up(moved, degrees):
    rel = released(places={node: moved(*xy) for node, xy in BERLIN.items()})
    assert places_of(rel.topology).degrees is degrees
    assert (rel.to_geopandas().crs is not None) is degrees
    assert rel.to_geopandas(crs="planar").crs is None
    assert ("not longitude" in rel.to_geopandas().attrs["coordinates"]) is not degrees


def test_other_systems_are_turned_into_degrees():
    from pyproj import Transformer

    turn = Transformer.from_crs(4326, 25833, always_xy=True).transform
    rel = released(places={node: turn(*xy) for node, xy in BERLIN.items()})
    assert not places_of(rel.topology).degrees
    found = rel.to_geopandas(crs="EPSG:25833").geometry
    assert found.total_bounds == pytest.approx([13.40, 52.50, 13.41, 52.51], abs=1e-6)
    with pytest.raises(OptionError, match="crs"):
        rel.to_geopandas(crs="EPSG:1")
    with pytest.raises(OptionError, match="crs"):
        rel.to_geopandas(crs="EPSG:4326")


@pytest.mark.parametrize("name", ["source", "self", "u_of_edge", "class", "2 ways", "°", "geometry", "Köln", "units"])
def test_any_name_of_a_quantity_will_do(name):
    rel = released(quantity=hushpath.Quantity(name))
    field = field_name(rel.statement.quantity)
    assert field.isidentifier()
    assert [weight for *_, weight in rel.to_networkx().edges(data=field)] == rel.edge_weights.tolist()
    assert rel.to_geopandas()[field].tolist() == rel.edge_weights.tolist()


def test_a_plane_in_kilometres_is_no_map():
    town = {node: (x * 4 - 53, y * 3 - 157) for node, (x, y) in BERLIN.items()}
    wide = dict(zip(BERLIN, [(-17, -35), (51, 37), (10, 0), (0, 10)], strict=True))  # a continent
    assert not places_of(released(places=town).topology).degrees
    assert places_of(released(places=wide).topology).degrees


def test_without_geopandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "geopandas", None)
    with pytest.raises(CannotError, match=r"pip install 'hushpath\[geo\]'"):
        released().to_geopandas()


def test_periods_are_asked_for():
    rel = of_trips()
    with pytest.raises(OptionError, match="period"):
        rel.to_networkx()
    graph, table = rel.for_period("pm").to_networkx(), rel.for_period("pm").to_geopandas()
    assert (graph.graph["period"], table.attrs["period"], set(table["period"])) == ("pm", "pm", {"pm"})


def test_a_release_of_distances_has_no_edges():
    edges = pd.DataFrame(SQUARE, columns=["source", "target"]).assign(weight=60.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rel = hushpath.release(
            hushpath.Network.from_pandas(edges),
            plan=hushpath.plan(
                hushpath.Network.from_pandas(edges).topology,
                epsilon=1,
                unit=1,
                mechanism="all-pairs",
                ignore_baseline=True,
            ),
        )
    with pytest.raises(CannotError, match="distances, not edge weights"):
        rel.to_networkx()
