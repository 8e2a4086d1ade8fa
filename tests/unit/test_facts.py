"""Public facts that deserve a second look: said once each, with numbers, and never on ordinary files."""

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import hushpath
from hushpath import HushpathWarning, Network, read_network, read_topology
from hushpath.demo.city import make_city
from hushpath.lab.networks import CLASSES, generate_graph


def said(call):
    """What a call warns of, one line each."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert all(one.category is HushpathWarning for one in caught)
    lines = [str(one.message) for one in caught]
    assert not any("\n" in line for line in lines)
    return lines


def table(ends, **more):
    source, target = zip(*ends, strict=True)
    return pd.DataFrame({"source": source, "target": target, "weight": np.arange(1.0, len(ends) + 1), **more})


STREETS = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
BACK = [(b, a) for a, b in STREETS]


def test_most_rows_in_both_directions_read_as_undirected():
    rows = table([*STREETS, *BACK, ("a", "e")])
    (line,) = said(lambda: Network.from_pandas(rows, parallel_edges=True))
    assert line.startswith("both directions: 8 of 9 rows have a reverse one, but the network is read as undirected")
    assert "directed=True (--directed)" in line
    assert said(lambda: Network.from_pandas(rows, directed=True)) == []


@pytest.mark.parametrize(
    ("more", "expected"), [(1, "both directions: 4 of 7"), (2, "parallel edges: 2 of 8"), (3, "parallel edges: 2 of 9")]
)
def test_most_means_more_than_half(more, expected):
    """Four rows have a reverse one; up to half of all they are called parallel edges."""
    rows = table([*STREETS, *BACK[:2], *(("a", f"e{i}") for i in range(more))])
    (line,) = said(lambda: Network.from_pandas(rows, parallel_edges=True))
    assert line.startswith(f"{expected} rows")


def test_both_directions_and_repeated_rows_are_two_facts():
    rows = table([*STREETS, *BACK, *STREETS[:2]])
    lines = said(lambda: Network.from_pandas(rows, parallel_edges=True))
    assert [line.split(" rows")[0] for line in lines] == ["both directions: 10 of 10", "parallel edges: 2 of 10"]


def test_repeated_rows_are_one_line_that_says_what_is_done():
    rows = table([*STREETS, *STREETS[:3]])
    expected = (
        "parallel edges: 3 of 7 rows repeat the ends of another one; each keeps its own weight, and a distance uses "
        "the shortest"
    )
    for directed in (False, True):
        assert said(lambda d=directed: Network.from_pandas(rows, directed=d, parallel_edges=True)) == [expected]


def test_loops_are_counted():
    rows = table([*STREETS, ("a", "a"), ("a", "a")])
    # Nothing is said of the loops being parallel.
    expected = "self-loops: 2 of 6 rows were dropped with their weights, because no shortest path uses one"
    assert said(lambda: Network.from_pandas(rows)) == [expected]


def test_every_reader_and_constructor_says_it_once(tmp_path):
    rows = table([*STREETS, STREETS[0], ("c", "c")])
    rows.to_csv(tmp_path / "e.csv", index=False)
    rows.to_csv(tmp_path / "e.tsv", index=False, sep="\t")
    rows.to_parquet(tmp_path / "e.parquet")
    graph = nx.MultiGraph()
    for row in rows.itertuples(index=False):
        graph.add_edge(row.source, row.target, weight=row.weight)
    nx.write_graphml(graph, tmp_path / "e.graphml")
    tails, heads = (rows[end].map("abcd".index).to_numpy() for end in ("source", "target"))
    ends = np.minimum(tails, heads), np.maximum(tails, heads)
    matrix = sparse.coo_array((rows["weight"].to_numpy(), ends), shape=(4, 4))
    files = [tmp_path / f"e.{suffix}" for suffix in ("csv", "tsv", "parquet", "graphml")]
    calls = [
        *(lambda path=path: read_network(path, parallel_edges=True) for path in files),
        *(lambda path=path: read_topology(path, parallel_edges=True) for path in files),
        lambda: Network.from_pandas(rows, parallel_edges=True),
        lambda: Network.from_networkx(graph),
        lambda: Network.from_scipy(matrix, parallel_edges=True),
        lambda: Network.build(
            "abcd", tails.astype(np.int8), heads.astype(np.int8), rows["weight"], parallel_edges=True
        ),
    ]
    for call in calls:
        assert [line.split(":")[0] for line in said(call)] == ["self-loops", "parallel edges"]


def test_the_warning_points_at_the_callers_line(tmp_path):
    rows = table([*STREETS, STREETS[0]])
    rows.to_csv(tmp_path / "e.csv", index=False)
    for call in (
        lambda: Network.from_pandas(rows, parallel_edges=True),
        lambda: read_topology(tmp_path / "e.csv", parallel_edges=True),
    ):
        with pytest.warns(HushpathWarning) as caught:
            call()
        assert [one.filename for one in caught] == [__file__]


def test_small_integer_types_do_not_overflow():
    """Positions up to 127 in int8, pairs of them up to 16 383."""
    n = 120
    tails, heads = np.arange(n - 1, dtype=np.int8), np.arange(1, n, dtype=np.int8)
    both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    (line,) = said(lambda: Network.build(range(n), *both, np.ones(2 * n - 2), parallel_edges=True))
    assert line.startswith(f"both directions: {2 * n - 2} of {2 * n - 2} edges")


def test_ordinary_networks_are_read_in_silence(tmp_path):
    files = make_city(size=160, people=100).write(tmp_path)
    edges, nodes = files["weights"], files["nodes"]
    assert said(lambda: read_network(edges, nodes=nodes, weight="seconds")) == []
    assert said(lambda: read_network(edges, nodes=nodes, weight="seconds", directed=True)) == []
    for name in CLASSES:
        graph = generate_graph(name, 100, 1)
        weights = np.ones(len(graph.ends))
        assert said(lambda g=graph, w=weights: Network.build(range(len(g.places)), *g.ends.T, w)) == [], name
    symmetric = sparse.csr_array(nx.to_scipy_sparse_array(nx.grid_2d_graph(5, 5)))
    assert said(lambda: Network.from_scipy(symmetric.astype(float))) == []
    assert said(lambda: Network.from_scipy(symmetric.astype(float), directed=True)) == []


def test_max_weight_below_declared_bounds_is_said_by_plan_and_release():
    rows = table(STREETS, high=[5.0, 10.0, 10.0, np.inf])
    net = Network.from_pandas(rows, upper="high")
    expected = (
        "max_weight 8 is below the declared upper bound of 2 of 4 edges; the smaller bound counts, and larger weights "
        "are clipped to it"
    )
    options = {"epsilon": 1.0, "unit": 0.01, "mechanism": "input"}  # hardly any noise, so that nothing is said of that
    assert said(lambda: hushpath.plan(net.topology, max_weight=8, **options)) == [expected]
    assert said(lambda: hushpath.release(net, max_weight=8, **options)) == [expected]
    for fine in (10, 12, None):
        assert said(lambda fine=fine: hushpath.release(net, max_weight=fine, **options)) == []


def test_nothing_is_said_when_a_release_is_loaded(tmp_path):
    rows = table([*STREETS, *BACK, STREETS[0], ("a", "a")], high=9.0)
    path = tmp_path / "r.hush"
    lines = said(
        lambda: hushpath.release(
            Network.from_pandas(rows, upper="high", parallel_edges=True), epsilon=1.0, unit=1.0, max_weight=8,
            mechanism="input",
        ).save(path)
    )  # fmt: skip
    assert len(lines) == 4
    assert said(lambda: hushpath.load(path)) == []


def test_warnings_do_not_depend_on_weights():
    rows = table([*STREETS, *BACK, STREETS[0], ("a", "a")])
    weights = ([0.0] * 10, [1e300] * 10, np.arange(10.0)[::-1], [-1.0] * 10)
    texts = {tuple(said(lambda w=w: Network.from_pandas(rows.assign(weight=w), parallel_edges=True))) for w in weights}
    assert len(texts) == 1
    assert len(next(iter(texts))) == 3
