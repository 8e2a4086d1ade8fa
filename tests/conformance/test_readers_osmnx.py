"""Files of osmnx, written by osmnx: GraphML and GeoPackage hold the same streets, labels, places and parallel edges."""

import gzip
import random
import sqlite3
import struct
import time
from contextlib import closing
from types import SimpleNamespace

import networkx as nx
import pytest

from hushpath import read_network, read_topology
from hushpath.errors import HushpathError, HushpathWarning, NetworkError
from hushpath.io.readers import geopackage

LABELS = (101, 102, 2**40, 2**40 + 1)
SECRET = "98765"


def streets():
    """Four junctions: a street and a ramp beside it, one-way streets, a merged one with a list of OSM ids."""
    geometry = pytest.importorskip("shapely.geometry")
    graph = nx.MultiDiGraph(crs="epsg:4326", simplified=True)
    for i, label in enumerate(LABELS):
        graph.add_node(label, x=1.0 + i / 1000, y=48.0 + i / 2000, street_count=2)
    bend = [(1.0, 48.0), (1.0005, 48.001), (1.001, 48.0005)]
    for a, b, key, osmid, length, seconds, line in [
        (101, 102, 0, [5, 6], 75.5, 9.5, bend),
        (101, 102, 1, 7, 80.25, 10.5, None),
        (102, 101, 0, [5, 6], 75.5, 9.75, bend[::-1]),
        (102, 2**40, 0, 8, 175.5, 19.5, None),
        (2**40, 2**40 + 1, 0, 9, 60.0, 7.0, None),
        (2**40 + 1, 2**40, 0, 9, 60.0, 8.0, None),
    ]:
        more = {} if line is None else {"geometry": geometry.LineString(line)}
        oneway = not isinstance(osmid, list) and osmid != 9
        facts = {"osmid": osmid, "length": length, "travel_time": seconds, "oneway": oneway, "reversed": a > b}
        graph.add_edge(a, b, key, **facts, name="Rue « é » & Co", **more)
    return graph


def rows(net):
    t = net.topology
    ends = [(t.labels[a], t.labels[b]) for a, b in zip(t.tails.tolist(), t.heads.tolist(), strict=True)]
    return sorted((*pair, w) for pair, w in zip(ends, net.weights.reveal().tolist(), strict=True))


def expected(graph, weight):
    return sorted((a, b, data[weight]) for a, b, data in graph.edges(data=True))


def saved(folder, kind, graph=None, directed=True):
    osmnx = pytest.importorskip("osmnx")
    path, graph = folder / f"streets.{kind}", graph or streets()
    if kind == "graphml":
        osmnx.save_graphml(graph, path)
    else:
        osmnx.save_graph_geopackage(graph, path, directed=directed)
    return path


@pytest.mark.parametrize("weight", ["length", "travel_time"])
@pytest.mark.parametrize("kind", ["graphml", "gpkg"])
def test_what_osmnx_writes_is_read(tmp_path, kind, weight):
    path = saved(tmp_path, kind)
    other = {"length": "travel_time", "travel_time": "length"}[weight]
    with pytest.warns(HushpathWarning, match="parallel edges: 1 of 6"):
        net = read_network(path, weight=weight, proxy=other)
    assert net.topology.directed
    assert net.topology.labels == LABELS
    assert net.topology.coordinates.tolist() == [[1.0 + i / 1000, 48.0 + i / 2000] for i in range(4)]
    assert rows(net) == expected(streets(), weight)
    assert sorted(net.topology.proxy.tolist()) == sorted(data[other] for *_, data in streets().edges(data=True))


@pytest.mark.parametrize("kind", ["graphml", "gpkg"])
def test_osm_ids_are_names_of_edges(tmp_path, kind):
    with pytest.warns(HushpathWarning, match="parallel edges"):
        topology = read_topology(saved(tmp_path, kind), columns=["osmid"], proxy="length")
    assert sorted(topology.texts("osmid")) == ["7", "8", "9", "9", "[5, 6]", "[5, 6]"]


def test_a_geopackage_with_joined_directions_is_undirected(tmp_path):
    """That is what osmnx writes unless told otherwise."""
    path = saved(tmp_path, "gpkg", directed=False)
    with pytest.warns(HushpathWarning, match="parallel edges: 1 of"):
        net = read_network(path, weight="length")
    assert not net.topology.directed
    assert [length for *_, length in rows(net)] == [75.5, 80.25, 175.5, 60.0]
    with pytest.raises(NetworkError, match="directed=True"):
        read_network(path, weight="length", directed=True)


def test_a_geopackage_is_the_same_as_the_graph_that_geopandas_sees(tmp_path):
    geopandas = pytest.importorskip("geopandas")
    path = saved(tmp_path, "gpkg")
    table = geopandas.read_file(path, layer="edges")
    with pytest.warns(HushpathWarning, match="parallel edges"):
        net = read_network(path, weight="length")
    assert rows(net) == sorted(zip(table["u"], table["v"], table["length"], strict=True))


def test_ends_of_other_names_and_a_direction_that_is_said(tmp_path):
    path = package(tmp_path, 'CREATE TABLE "edges" (a TEXT, b TEXT, w REAL, "say ""hi""" REAL)', NODES)
    fill(path, "edges", [("x", "y", 1.5, 4.0), ("y", "z", 2.5, None)])
    fill(path, "nodes", [("x", 0.0, 1.0), ("y", 0.0, 2.0), ("z", None, None)])
    for directed in (False, True):
        with pytest.warns(HushpathWarning, match="1 of 3 nodes have no x and y"):
            net = read_network(path, source="a", target="b", weight="w", directed=directed, proxy='say "hi"')
        assert net.topology.directed is directed
        assert rows(net) == [("x", "y", 1.5), ("y", "z", 2.5)]
        assert net.topology.proxy[0] == 4.0


# --- GeoPackages from strangers ---------------------------------------------------------------------------

NODES = "CREATE TABLE nodes (osmid, x REAL, y REAL)"
PLACES = "INSERT INTO nodes VALUES (1, 0, 0), (2, 0, 0)"
EDGES = "CREATE TABLE edges (u, v, key, weight)"


def package(folder, *statements, name="a.gpkg"):
    path = folder / name
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        for statement in ("PRAGMA page_size = 512", *statements):
            database.execute(statement)
        database.commit()
    return path


def fill(path, table, values):
    with closing(sqlite3.connect(path)) as database:
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
        database.commit()


def good(folder, count=3):
    path = package(folder, NODES, EDGES)
    fill(path, "nodes", [(i, i / 2, 1.0) for i in range(count + 1)])
    fill(path, "edges", [(i, i + 1, 0, 98765.0 + i) for i in range(count)])
    return path


def refused(match, path, kind=HushpathError, **options):
    with pytest.raises(kind, match=match) as caught:
        read_network(path, **options)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert SECRET not in message
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_small_package_is_read(tmp_path):
    assert rows(read_network(good(tmp_path))) == [(i, i + 1, 98765.0 + i) for i in range(3)]


@pytest.mark.parametrize(
    ("statements", "match"),
    [
        ([NODES], "no table 'edges'; osmnx writes 'nodes' and 'edges'"),
        ([EDGES], "no table 'nodes'"),
        ([NODES, EDGES], "no nodes"),
        ([NODES, "CREATE TABLE e (u, v, key, weight)", "CREATE VIEW edges AS SELECT * FROM e"], "not a plain table"),
        ([NODES, "CREATE VIRTUAL TABLE edges USING fts5(u, v, weight)"], "not a plain table"),
        ([NODES, "CREATE TABLE edges (u, v, weight AS (u * 98765))"], "no column 'weight'; it has: 'u', 'v'"),
        ([NODES, "CREATE TABLE edges (v, weight)"], "the table 'edges' has no column 'source'; it has: 'v', 'weight'"),
        ([EDGES, "CREATE TABLE nodes (x, y)"], "the table 'nodes' has no column 'osmid'"),
        ([NODES, PLACES, EDGES, "INSERT INTO edges VALUES (1, 2, 0, 'x98765')"], "column 'weight': row 1 is missing"),
        ([NODES, PLACES, EDGES, "INSERT INTO edges VALUES (1, 2, 0, NULL)"], "column 'weight': row 1 is missing"),
        ([NODES, PLACES, EDGES, "INSERT INTO edges VALUES (1, 2, 0, x'98765a')"], "column 'weight': row 1 is missing"),
        ([NODES, EDGES, "INSERT INTO edges VALUES (1, 2, 0, CAST(x'ff98765a' AS TEXT))"], "is damaged, or"),
        ([NODES, EDGES, "INSERT INTO edges VALUES (1, NULL, 0, 98765)"], "row 1 of the edge list has an empty node"),
        ([NODES, EDGES, "INSERT INTO edges VALUES (1, 2.5, 0, 98765)"], "not float"),
        ([NODES, EDGES, "INSERT INTO edges VALUES (1, x'00', 0, 98765)"], "not bytes"),
        ([NODES, EDGES, "INSERT INTO nodes VALUES (1, 0, 0), (1, 0, 0)"], "row 2 of the node table repeats"),
        ([NODES, EDGES, "INSERT INTO nodes VALUES (1, 'x', 0)"], "column 'x' of the node table: row 1"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_geopackage(tmp_path, statements, match):
    refused(match, package(tmp_path, *statements))


@pytest.mark.parametrize(
    "lie",
    [
        "CREATE VIEW edges AS SELECT osmid AS u, osmid AS v, 0 AS key, randomblob(9) AS weight FROM nodes",
        "CREATE VIEW edges AS WITH RECURSIVE r(u) AS (SELECT 1 UNION ALL SELECT u + 1 FROM r) SELECT u, u AS v FROM r",
        "CREATE TABLE edges (u, v, key, weight AS (zeroblob(1000000000)))",
        "CREATE VIRTUAL TABLE edges USING fts5(u, v, key, weight)",
        "CREATE TABLE other (u, v, key, weight)",
        "CREATE TABLE edges (u, v, key, weight",
        "CREATE TRIGGER edges AFTER INSERT ON nodes BEGIN SELECT 1; END",
        None,
    ],
)
def test_a_schema_that_lies_is_refused_at_once(tmp_path, lie):
    path = good(tmp_path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = 'edges'", (lie,))
        database.commit()
    began = time.perf_counter()
    refused("not a plain table|is damaged, or|no column 'weight'", path)
    assert time.perf_counter() - began < 5


def test_a_log_beside_the_file_is_not_forgotten(tmp_path):
    path = good(tmp_path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
    refused("write-ahead log", path)


def test_reading_leaves_the_file_and_its_folder_alone(tmp_path):
    path = good(tmp_path)
    before = path.read_bytes()
    read_network(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_small_file_with_endless_rows_is_refused(tmp_path):
    """Inner pages that all point at one page below multiply rows: 60 to the power of the depth."""
    path = good(tmp_path, 20_000)
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as database:
        (root,) = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'edges'").fetchone()
    inner = [at for at in range(0, len(content), 512) if at and content[at] == 5 and at != (root - 1) * 512]
    fullest = sorted(inner, key=lambda at: -struct.unpack_from(">H", content, at + 3)[0])[:8]
    for at, below in zip([(root - 1) * 512, *fullest], fullest, strict=False):
        child = struct.pack(">I", below // 512 + 1)
        content[at + 8 : at + 12] = child
        for cell in struct.unpack_from(f">{struct.unpack_from('>H', content, at + 3)[0]}H", content, at + 12):
            content[at + cell : at + cell + 4] = child
    bomb = tmp_path / "bomb.gpkg"
    bomb.write_bytes(content)
    for path in (bomb, tmp_path / "bomb.gpkg.gz"):
        path.write_bytes(content if path == bomb else gzip.compress(content))
        began = time.perf_counter()
        refused("more rows or text than bytes", path)
        assert time.perf_counter() - began < 20


def test_no_truncated_geopackage_is_taken_for_a_whole_one(tmp_path):
    content = good(tmp_path, 50).read_bytes()
    cut = tmp_path / "cut.gpkg"
    for end in [*range(0, 600, 37), *range(512, len(content), 512), len(content) - 1]:
        cut.write_bytes(content[:end])
        refused("not a GeoPackage|is it whole|cut short", cut)


def test_damaged_geopackages_are_read_or_refused_in_one_line(tmp_path):
    content, draw = good(tmp_path, 50).read_bytes(), random.Random(7)
    path = tmp_path / "damaged.gpkg"
    for _ in range(300):
        damaged = bytearray(content)
        for _ in range(draw.randrange(1, 6)):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged)
        trouble = None
        try:
            read_topology(path)
            read_network(path)
        except (HushpathError, HushpathWarning) as error:
            trouble = error
        assert trouble is None or len(str(trouble).splitlines()) == 1
        assert getattr(trouble, "__cause__", None) is None
        assert getattr(trouble, "__context__", None) is None


def test_rows_that_share_one_long_text_are_not_held_together():
    """A database may name the same overflow pages in every row: each row counts before the next is fetched."""
    fetched = []

    class Database:
        def execute(self, query):
            return (fetched.append(1) or ("x" * 1000,) for _ in range(10**6))

    package = SimpleNamespace(database=Database(), size=5000)
    with pytest.raises(NetworkError, match="more rows or text"):
        geopackage._Package._select(package, "edges", {"u": "u"})
    assert len(fetched) <= 6
