"""Edges as GeoJSON and GeoParquet, opened with the real geopandas."""

import json

import geopandas as gpd
import pyarrow.parquet as pq
import pytest
from exported import BERLIN, SQUARE, of_trips, released

import hushpath
from hushpath.errors import CannotError, OptionError
from hushpath.output.formats import export

PLANE = {node: (x * 1000, y * 1000) for node, (x, y) in BERLIN.items()}


def test_geojson_of_edges(tmp_path):
    rel = released()
    written = export(rel, tmp_path / "e.geojson", "geojson")
    assert written.facts == {"edges": 4, "longitude_latitude": True}
    document = json.loads((tmp_path / "e.geojson").read_text())
    assert document["type"] == "FeatureCollection"
    assert "crs" not in document  # RFC 7946 knows none
    first = document["features"][0]
    assert first["geometry"] == {"type": "LineString", "coordinates": [list(BERLIN[10]), list(BERLIN[11])]}
    assert first["properties"] == {
        "source": 10, "target": 11, "travel_time": rel.edge_weights[0], "unit_of_measure": "seconds", "date": "2026-03"
    }  # fmt: skip
    assert document["hushpath"]["quantity"] == "travel time"
    assert document["hushpath"]["statement"]["private"] is True
    table = gpd.read_file(tmp_path / "e.geojson")
    assert len(table) == 4
    assert table.crs.to_epsg() == 4326
    assert table.total_bounds == pytest.approx([13.40, 52.50, 13.41, 52.51])


def test_geoparquet_of_edges(tmp_path):
    rel = of_trips().for_period("pm")
    export(rel, tmp_path / "e.parquet", "geoparquet")
    table = gpd.read_parquet(tmp_path / "e.parquet")
    assert list(table.columns) == ["source", "target", "travel_time", "period", "geometry"]
    assert table.crs.to_epsg() == 4326
    assert table["travel_time"].tolist() == rel.edge_weights.tolist()
    assert set(table["period"]) == {"pm"}
    facts = pq.read_schema(tmp_path / "e.parquet").metadata
    assert json.loads(facts[b"hushpath.statement"])["private"] is True
    assert facts[b"hushpath.unit_of_measure"] == b"seconds"
    assert facts[b"hushpath.coordinates"] == b"longitude and latitude"
    with pytest.raises(OptionError, match="geoparquet holds one period"):
        export(of_trips(), tmp_path / "e.parquet", "geoparquet")


def test_a_plane_is_not_called_the_earth(tmp_path):
    rel = released(places=PLANE)
    with pytest.warns(hushpath.HushpathWarning, match="--crs"):
        written = export(rel, tmp_path / "e.geojson", "geojson")
    assert written.facts["longitude_latitude"] is False
    document = json.loads((tmp_path / "e.geojson").read_text())
    assert {one["properties"]["coordinates"] for one in document["features"]} == {"not longitude and latitude"}
    export(rel, tmp_path / "e.parquet", "geoparquet")
    assert gpd.read_parquet(tmp_path / "e.parquet").crs is None
    with pytest.raises(OptionError, match="crs"):
        export(rel, tmp_path / "x.geojson", "geojson", crs="EPSG:4326")


def test_places_that_are_not_known_have_no_geometry(tmp_path):
    with pytest.warns(hushpath.HushpathWarning, match="have no x and y"):
        rel = released(places={10: BERLIN[10], 11: BERLIN[11]})
    export(rel, tmp_path / "e.geojson", "geojson")
    shapes = [one["geometry"] for one in json.loads((tmp_path / "e.geojson").read_text())["features"]]
    assert sum(shape is None for shape in shapes) == 3
    for form in ("geojson", "geoparquet"):
        with pytest.raises(CannotError, match="no coordinates"):
            export(released(places=None), tmp_path / "x", form)
    assert not (tmp_path / "x").exists()


def test_what_is_not_private_says_so_in_every_feature(tmp_path):
    rel = released(epsilon=float("inf"))
    export(rel, tmp_path / "e.geojson", "geojson")
    export(rel, tmp_path / "e.parquet", "geoparquet")
    document = json.loads((tmp_path / "e.geojson").read_text())
    assert next(iter(document.items()))[1].startswith("NOT PRIVATE")
    assert all(next(iter(one["properties"])) == "NOT PRIVATE" for one in document["features"])
    assert gpd.read_parquet(tmp_path / "e.parquet").columns[0] == "NOT PRIVATE"
    assert pq.read_schema(tmp_path / "e.parquet").metadata[b"hushpath.marking"].startswith(b"NOT PRIVATE")


def test_isochrones_need_a_node_and_steps(tmp_path):
    for asked in ({"isochrone": 10}, {"steps": [60]}):
        with pytest.raises(OptionError, match="--isochrone"):
            export(released(), tmp_path / "i.geojson", "geojson", **asked)
    assert not list(tmp_path.iterdir())


def test_isochrones_are_marked_and_say_how_they_were_drawn(tmp_path, monkeypatch):
    """What is handed on and what comes back, whatever draws them."""
    asked = []

    def draw(release, origin, steps, **more):
        asked.append((release, origin, steps, more))
        shape = {"type": "Polygon", "coordinates": [[[13.4, 52.5], [13.5, 52.5], [13.5, 52.6], [13.4, 52.5]]]}
        features = [{"type": "Feature", "properties": {"step": step}, "geometry": shape} for step in steps]
        return {"type": "FeatureCollection", "reach": 7.5, "features": features}

    monkeypatch.setattr("hushpath.output.formats.maps.isochrones", draw)
    rel = released(epsilon=float("inf"))
    written = export(rel, tmp_path / "i.geojson", "geojson", isochrone=10, steps=[80, 200])
    export(rel, tmp_path / "i.geojson", "geojson", isochrone=10, steps=[80, 200], confidence=0.8)
    assert asked == [(rel, 10, [80, 200], {"confidence": 0.9}), (rel, 10, [80, 200], {"confidence": 0.8})]
    assert written.facts == {"isochrones": 2, "longitude_latitude": True}
    document = json.loads((tmp_path / "i.geojson").read_text())
    assert document["hushpath"]["reach"] == 7.5
    assert document["features"][0]["properties"] == {"NOT PRIVATE": "NOT PRIVATE", "step": 80}
    assert len(gpd.read_file(tmp_path / "i.geojson")) == 2
    with pytest.raises(OptionError, match="--crs"):
        export(rel, tmp_path / "i.geojson", "geojson", isochrone=10, steps=[80], crs="EPSG:4326")


def test_isochrones(tmp_path):
    ends = [(a, b) for a, b in SQUARE] + [(10, 12)]
    export(released(ends), tmp_path / "i.geojson", "geojson", isochrone=10, steps=[80, 200])
    table = gpd.read_file(tmp_path / "i.geojson")
    assert len(table) >= 2


@pytest.mark.parametrize("epsilon", [1.0, float("inf")])
def test_isochrones_as_a_table(tmp_path, epsilon):
    ends = [(a, b) for a, b in SQUARE] + [(10, 12)]
    rel = released(ends, epsilon=epsilon)
    written = export(rel, tmp_path / "i.parquet", "geoparquet", isochrone=10, steps=[80, 200])
    table = gpd.read_parquet(tmp_path / "i.parquet")
    assert written.facts["isochrones"] == len(table) == 6
    assert set(table["kind"]) == {"within", "uncertain", "released"}
    assert table.crs.to_epsg() == 4326
    assert ("NOT PRIVATE" in table.columns) is (epsilon > 1)
    area = {(row.step, row.kind): row.geometry.area for row in table.itertuples()}  # as shapely has it: in degrees
    assert area[200, "released"] >= area[80, "released"] > 0
