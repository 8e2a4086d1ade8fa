"""A table of people's rows is not read as a network: every edge and node of a network is published as given."""

import re
import sqlite3
import warnings
from contextlib import closing

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from command import call
from scipy import sparse

import hushpath
from hushpath import HushpathWarning, Network, Topology, read_network, read_topology
from hushpath.cli import run
from hushpath.errors import NetworkError, OptionError
from hushpath.network.public_rows import TRIP_COLUMNS

STATIONS = [f"station {i}" for i in range(30)]
BUDGET = ["--epsilon", "1", "--unit", "1", "-o", "out.hush"]


def rides(count=3000, seed=0):
    """A row per ride between 30 stations: some hundred pairs, both directions with different counts."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, 30, count)
    end = (start + rng.choice([1, 2, 3, 5, 8], count, p=[0.4, 0.3, 0.15, 0.1, 0.05])) % 30
    swap = rng.random(count) < 0.3
    start, end = np.where(swap, end, start), np.where(swap, start, end)
    names = np.array(STATIONS)
    return pd.DataFrame({"source": names[start], "target": names[end], "weight": rng.uniform(2, 40, count).round(1)})


RIDES = rides()
STREETS = pd.DataFrame({"source": list("abcd"), "target": list("bcda"), "weight": [1.0, 2.0, 3.0, 4.0]})
BOTH = pd.concat([STREETS, STREETS.rename(columns={"source": "target", "target": "source"})], ignore_index=True)


def write_geopackage(path, table):
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as database:
        table.to_sql("edges", database, index=False)
        nodes = sorted({*table["source"], *table["target"]})
        pd.DataFrame({"osmid": nodes, "x": 0.0, "y": 0.0}).to_sql("nodes", database, index=False)
        database.commit()


TABLES = {
    "rides.csv": lambda path, table: table.to_csv(path, index=False),
    "rides.tsv": lambda path, table: table.to_csv(path, index=False, sep="\t"),
    "rides.parquet": lambda path, table: table.to_parquet(path),
    "rides.gpkg": write_geopackage,
}


def multigraph(table, directed):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for source, target, weight in table.itertuples(index=False):
        graph.add_edge(source, target, weight=weight)
    return graph


def positions(table):
    labels = sorted({*table["source"], *table["target"]})
    return labels, *(np.array([labels.index(name) for name in table[end]]) for end in ("source", "target"))


def matrix(table):
    labels, tails, heads = positions(table)
    return sparse.coo_array((table["weight"].to_numpy(), (tails, heads)), shape=(len(labels), len(labels)))


BUILDERS = {
    "from_pandas": lambda table, **o: Network.from_pandas(table, **o),
    "from_networkx": lambda table, **o: Network.from_networkx(multigraph(table, o.pop("directed")), **o),
    "from_scipy": lambda table, **o: Network.from_scipy(matrix(table), **o),
    "Network.build": lambda table, **o: Network.build(*positions(table), table["weight"], **o),
    "Topology.build": lambda table, **o: Topology.build(*positions(table), **o)[0],
}


def tells_nothing(message):
    """One line without a label, a value or a number but that of a row."""
    assert len(message.splitlines()) == 1
    assert "station" not in message
    assert set(re.findall(r"\d+", message)) <= set(re.findall(r"(?<=row )\d+", message))


def refused(call, *options):
    with pytest.raises(NetworkError) as caught:
        call()
    message = str(caught.value)
    tells_nothing(message)
    for option in options:
        assert option in message
    return message


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", TABLES)
def test_a_file_of_rides_is_not_a_network(tmp_path, name, directed):
    TABLES[name](tmp_path / name, RIDES)
    for read in (read_topology, read_network):
        message = refused(
            lambda read=read: read(tmp_path / name, directed=directed), "release-trips", "--parallel-edges"
        )
        assert "people" in message


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", BUILDERS)
def test_rides_by_any_other_way_are_not_a_network(name, directed):
    """Also where the format names each edge: no street has dozens of others beside it."""
    table = RIDES
    if name == "from_scipy" and not directed:  # a triangular matrix
        swap = table["source"] > table["target"]
        table = table.assign(
            source=table["source"].where(~swap, table["target"]), target=table["target"].where(~swap, table["source"])
        )
    message = refused(lambda: BUILDERS[name](table, directed=directed), "read_trips", "parallel_edges=True")
    assert "people" in message
    kept = BUILDERS[name](table, directed=directed, parallel_edges=True)
    assert getattr(kept, "topology", kept).num_edges == len(RIDES)


@pytest.mark.parametrize("name", ["e.graphml", "e.net.xml", "e.tntp"])
def test_formats_that_name_each_edge_keep_a_few_parallel_edges_and_not_many(tmp_path, name):
    def write(table):
        labels, tails, heads = positions(table)
        if name == "e.graphml":
            nx.write_graphml(multigraph(table, True), tmp_path / name)
        elif name == "e.net.xml":
            edges = [
                f'<edge id="e{i}" from="{a}" to="{b}"><param key="weight" value="1"/></edge>'
                for i, (a, b) in enumerate(zip(tails, heads, strict=True))
            ]
            nodes = [f'<junction id="{i}" x="0" y="0"/>' for i in range(len(labels))]
            (tmp_path / name).write_text(f"<net>{''.join(edges + nodes)}</net>")
        else:
            rows = [f"{a + 1}\t{b + 1}\t1\t;" for a, b in zip(tails, heads, strict=True)]
            head = f"<NUMBER OF LINKS> {len(rows)}\n<END OF METADATA>\n~ a b weight ;\n"
            (tmp_path / name).write_text(head + "\n".join(rows) + "\n")

    write(pd.concat([STREETS, STREETS], ignore_index=True))
    for read in (read_network, read_topology):
        found = read(tmp_path / name)
        assert getattr(found, "topology", found).num_edges == 8
    write(pd.concat([STREETS, STREETS, STREETS[:1]], ignore_index=True))
    for read in (read_network, read_topology):
        refused(lambda read=read: read(tmp_path / name), "--parallel-edges")
        found = read(tmp_path / name, parallel_edges=True)
        assert getattr(found, "topology", found).num_edges == 9


def test_one_repeated_row_is_enough():
    """Rides that hardly repeat are rides all the same."""
    table = pd.concat([STREETS, STREETS[2:3]], ignore_index=True)
    for directed in (False, True):
        assert "row 5 " in refused(lambda d=directed: Network.from_pandas(table, directed=d), "--parallel-edges")
        net = Network.from_pandas(table, directed=directed, parallel_edges=True)
        assert net.weights.reveal().tolist().count(3.0) == 2


def test_rows_in_both_directions_are_told_apart_from_trips():
    message = refused(lambda: Network.from_pandas(BOTH), "--directed", "--parallel-edges")
    assert "row 5 " in message
    assert "release-trips" not in message
    assert Network.from_pandas(BOTH, directed=True).topology.num_edges == 8
    assert Network.from_pandas(BOTH, parallel_edges=True).topology.num_edges == 8
    uneven = pd.concat([BOTH, BOTH[:1]], ignore_index=True)  # one direction more often than the other
    refused(lambda: Network.from_pandas(uneven), "release-trips", "--parallel-edges")


def test_loops_are_dropped_as_ever():
    loops = pd.concat([STREETS, pd.DataFrame({"source": ["a"] * 3, "target": ["a"] * 3, "weight": 1.0})])
    assert Network.from_pandas(loops).topology.dropped_loops == 3


def test_labels_of_two_types_are_one_pair():
    mixed = pd.DataFrame({"source": [1, "1", "x"], "target": [2, "2", 1], "weight": 1.0})
    refused(lambda: Network.from_pandas(mixed), "--parallel-edges")


# --- columns of trips ------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["ride_id", "Started At", "user-id", "personID", "trip_id", "Bike Id"])
def test_a_table_with_a_column_of_trips_is_not_a_network(tmp_path, column):
    """Even if no pair repeats, and even if parallel edges are asked for: such a row is somebody's."""
    table = STREETS.assign(**{column: ["98765"] * 4})
    for name in ("rides.csv", "rides.tsv", "rides.parquet", "rides.gpkg"):
        TABLES[name](tmp_path / name, table)
        for parallel in (False, True):
            options = {"parallel_edges": parallel}
            refused(lambda n=name, o=options: read_network(tmp_path / n, **o), "release-trips", repr(column))
            refused(lambda n=name, o=options: read_topology(tmp_path / n, **o), "release-trips", repr(column))
    refused(lambda: Network.from_pandas(table), "release-trips", repr(column))
    graph = nx.from_pandas_edgelist(table, edge_attr=True)
    refused(lambda: Network.from_networkx(graph), "release-trips", repr(column))
    nx.write_graphml(graph, tmp_path / "rides.graphml")
    refused(lambda: read_network(tmp_path / "rides.graphml"), "release-trips", repr(column))


def test_a_column_of_that_name_may_be_named():
    """A network of riders has them as labels, and what a caller names is used as it is named."""
    named = STREETS.rename(columns={"source": "rider", "target": "person"})
    assert Network.from_pandas(named, source="rider", target="person").topology.num_edges == 4


def test_columns_of_real_street_networks_are_not_columns_of_trips():
    osm = "u v key osmid name highway oneway reversed length geometry lanes maxspeed ref from to user uid timestamp"
    sumo = "id from to priority type numLanes speed length shape spreadType allow disallow lanes free_flow"
    tntp = "init_node term_node capacity length free_flow_time b power speed toll link_type"
    names = {name.lower().replace("_", "") for name in f"{osm} {sumo} {tntp} trips class street_id edge_id".split()}
    assert not names & TRIP_COLUMNS


def test_a_node_table_is_one_row_per_node_and_no_table_of_people(tmp_path):
    STREETS.to_csv(tmp_path / "e.csv", index=False)
    passes = pd.DataFrame({"node": ["station a", "b", "station a"], "time": [1, 2, 3]})
    people = pd.DataFrame({"node": list("abcd"), "person_id": [5, 6, 7, 8]})
    for table in (passes, people):
        table.to_csv(tmp_path / "n.csv", index=False)
        refused(lambda: read_topology(tmp_path / "e.csv", nodes=tmp_path / "n.csv"), "release-trips")
        refused(lambda t=table: Network.from_pandas(STREETS, nodes=t), "release-trips")


def test_a_node_table_of_something_else_is_noticed():
    homes = pd.DataFrame({"node": [*"abcd", *(f"home {i}" for i in range(5))]})
    with pytest.warns(HushpathWarning, match="isolated nodes: 5 of 9"):
        Network.from_pandas(STREETS, nodes=homes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Network.from_pandas(STREETS, nodes=homes[:8])


# --- bounds ----------------------------------------------------------------------------------------------


def test_the_weight_is_no_public_bound_of_a_topology(tmp_path):
    STREETS.rename(columns={"weight": "minutes"}).to_csv(tmp_path / "e.csv", index=False)
    for bound in ("lower", "upper"):
        with pytest.raises(OptionError, match="private weight"):
            read_topology(tmp_path / "e.csv", weight="minutes", **{bound: "minutes"})


# --- command line ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    RIDES.to_csv("rides.csv", index=False)
    BOTH.to_csv("both.csv", index=False)
    (tmp_path / "series.toml").write_text(SERIES)
    unique = STREETS.assign(ride_id=range(4), started_at="2026-10-01 08:00")
    unique.to_csv("unique.csv", index=False)
    assert run(["ledger", "init", "a.ledger", "--dataset", "x", "--protects", "person-day", "--epsilon", "9"]) == 0
    return tmp_path


TRIPS = [
    "--protects", "trip", "--trip", "ride", "--edge", "source,target", "--seconds", "weight",
    "--low", "0.5", "--high", "6", "--proxy", "weight",
]  # fmt: skip
SERIES = """
network = {file = "rides.csv", proxy = "weight"}
trips = {file = "rides.csv", trip = "r", day = "d", edge = ["source", "target"], seconds = "weight", low = 1, high = 6}
unit = {protects = "trip"}
budget = {epsilon = 1.0}
ledger = {file = "a.ledger"}
schedule = {first = "2026-01-01", every = "month", count = 2}
"""
RELEASE = ["release", "rides.csv", *BUDGET, "--ledger", "a.ledger"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (RELEASE, ["release-trips", "--parallel-edges"]),
        ([*RELEASE, "--directed"], ["release-trips", "--parallel-edges"]),
        (
            ["release", "unique.csv", *BUDGET, "--ledger", "a.ledger", "--parallel-edges"],
            ["release-trips", "'ride_id'"],
        ),
        (["release", "both.csv", *BUDGET, "--ledger", "a.ledger"], ["--directed", "--parallel-edges"]),
        (["plan", "rides.csv", "--epsilon", "1", "--unit", "1"], ["release-trips", "--parallel-edges"]),
        (["release-trips", "rides.csv", "rides.csv", "--epsilon", "1", *BUDGET[4:], *TRIPS], ["rides.csv"]),
        (["series", "series.toml", "-o", "months"], ["rides.csv"]),
    ],
)
def test_rides_are_refused_before_anything_is_charged_or_written(folder, capsys, arguments, words):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    code, out, err = call(capsys, *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "station" not in err
    for word in words:
        assert word in err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_parallel_edges_asked_for_by_name_are_kept_by_every_verb(folder, capsys):
    keep = ["--parallel-edges", "--directed"]
    asked = [*BUDGET, "--mechanism", "input", "--ignore-baseline"]
    assert call(capsys, "release", "both.csv", *asked, "--parallel-edges")[0] == 0
    assert hushpath.load("out.hush").topology.num_edges == len(BOTH)
    assert call(capsys, "evaluate", "both.csv", "out.hush")[0] == 2
    assert call(capsys, "evaluate", "both.csv", "out.hush", "--parallel-edges")[0] == 0
    assert call(capsys, "report", "both.csv", "out.hush", "-o", "r.html")[0] == 2
    assert not (folder / "r.html").exists()
    assert call(capsys, "report", "both.csv", "out.hush", "-o", "r.html", "--parallel-edges")[0] == 0
    assert call(capsys, "plan", "rides.csv", "--epsilon", "1", "--unit", "1", "--mechanism", "input", *keep)[0] == 0


def test_the_private_table_is_no_public_file(folder, capsys):
    """Neither as the network nor as its nodes, by whatever name the file goes."""
    STREETS.assign(free=1.0).to_csv("streets.csv", index=False)
    STREETS.assign(node=STREETS["source"]).to_csv("trips.csv", index=False)
    (folder / "alias.csv").symlink_to(folder / "trips.csv")
    trips = ["trips.csv", *TRIPS, "--proxy", "free", "-o", "out.hush", "--epsilon", "1"]
    for network, more in (("alias.csv", []), ("streets.csv", ["--nodes", "alias.csv"])):
        code, _, err = call(capsys, "release-trips", network, *trips, *more)
        assert (code, "alias.csv" in err) == (2, True)
        assert not (folder / "out.hush").exists()


def test_edge_ids_are_different_ones_of_the_network_and_are_not_published(tmp_path):
    """Ids that come from a table of trips do not fit: there is one per edge, and none is written."""
    STREETS.assign(free=10.0).to_csv(tmp_path / "e.csv", index=False)
    trips = pd.DataFrame({"who": [1, 2, 3], "id": ["k98765", "k2", "k2"], "s": [9.0, 9.0, 9.0]})
    topology = read_topology(tmp_path / "e.csv", proxy="free")
    columns = {"person": "who", "edge": "id", "seconds": "s"}
    with pytest.raises(OptionError):
        hushpath.read_trips(trips, topology, **columns, edge_ids=trips["id"])
    given = hushpath.read_trips(trips, topology, **columns, edge_ids=["k98765", "k2", "k3", "k4"])
    made = hushpath.release_trips(given, epsilon=5.0, protects="person", low=0.5, high=6)
    made.save(tmp_path / "r.hush")
    assert b"k98765" not in (tmp_path / "r.hush").read_bytes()
