"""Networks from networkx, scipy and pandas: what each understands, and what each refuses."""

import math
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from hushpath.errors import HushpathWarning, NetworkError, OptionError
from hushpath.network.columns import parse_numbers
from hushpath.network.network import Network
from hushpath.network.public_rows import WantedColumns, choose_columns

NOWHERE = [math.nan, math.nan]

SECRET = 98765.25

WANTED = WantedColumns("it", ["weight"])


def edges_of(net):
    """Labelled edges with weights, in the order of the network."""
    t = net.topology
    ends = zip(t.tails.tolist(), t.heads.tolist(), net.weights.reveal().tolist(), strict=True)
    return [(t.labels[a], t.labels[b], w) for a, b, w in ends]


def refused(call, match, error=NetworkError):
    with pytest.raises(error, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert "98765" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


# --- networkx ---------------------------------------------------------------------------------------------


def test_networkx_graph_with_loop_and_isolated_node():
    graph = nx.Graph()
    graph.add_weighted_edges_from([("a", "b", 1.5), ("b", "b", 9), ("c", "b", 2)], weight="minutes")
    graph.add_node("alone")
    net = Network.from_networkx(graph, weight="minutes")
    assert net.topology.labels == ("a", "alone", "b", "c")
    assert edges_of(net) == [("a", "b", 1.5), ("b", "c", 2.0)]
    assert (net.topology.dropped_loops, net.topology.directed) == (1, False)
    assert repr(net) == "Network(Topology(4 nodes, 2 edges, undirected), weights hidden)"


def test_networkx_directed():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(1, 2, 1.0), (2, 1, 5.0)])
    net = Network.from_networkx(graph)
    assert net.topology.directed
    assert edges_of(net) == [(1, 2, 1.0), (2, 1, 5.0)]


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_networkx_parallel_edges_keep_their_own_weights(kind):
    graph = kind()
    graph.add_weighted_edges_from([(1, 2, 1.0), (1, 2, 5.0), (2, 3, 4.0)])
    net = Network.from_networkx(graph)
    assert edges_of(net) == [(1, 2, 1.0), (1, 2, 5.0), (2, 3, 4.0)]
    assert net.topology.directed is graph.is_directed()


def test_networkx_bounds_from_attributes():
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=3, low=1, high=4)
    graph.add_edge("b", "c", weight=3, low=0, high=math.inf)
    topology = Network.from_networkx(graph, lower="low", upper="high").topology
    assert (topology.lower.tolist(), topology.upper.tolist()) == ([1, 0], [4, math.inf])
    refused(lambda: Network.from_networkx(graph, upper="limit"), "has the attribute 'limit'")
    refused(lambda: Network.from_networkx(graph, upper="weight"), "private weight", OptionError)


def test_networkx_coordinates_are_unknown_where_a_node_has_none():
    graph = nx.path_graph(2)
    nx.set_edge_attributes(graph, 1.0, "weight")
    for attributes, expected in [
        ([{"x": 1, "y": "2"}, {"pos": (3, 4)}], [[1, 2], [3, 4]]),
        ([{"x": 1, "y": 2}, {}], [[1, 2], NOWHERE]),
        ([{"x": 1, "y": 2}, {"x": math.nan, "y": 0}], [[1, 2], NOWHERE]),
        ([{"pos": "12"}, {"pos": 7}], None),
        ([{"pos": {"x": 1, "y": 2}}, {"pos": (1, 2, 3)}], None),
        ([{"pos": (1, "?")}, {"pos": (1, 2)}], [NOWHERE, [1, 2]]),
    ]:
        for node, values in enumerate(attributes):
            graph.nodes[node].clear()
            graph.nodes[node].update(values)
        found = Network.from_networkx(graph).topology.coordinates
        assert (found is None) == (expected is None)
        assert found is None or np.array_equal(found, expected, equal_nan=True)


def test_what_from_networkx_refuses():
    grid = nx.grid_2d_graph(2, 2)
    nx.set_edge_attributes(grid, 1.0, "weight")
    refused(lambda: Network.from_networkx(grid), "not tuple")
    partly = nx.path_graph(3)
    partly[0][1]["weight"] = SECRET
    refused(lambda: Network.from_networkx(partly), "attribute 'weight': edge 2 is missing or not a finite number")
    refused(lambda: Network.from_networkx(nx.Graph()), "no nodes")
    refused(lambda: Network.from_networkx({"a": ["b"]}), "networkx graph, not dict")
    refused(lambda: Network.from_networkx(nx.Graph([(1, "1", {"weight": SECRET})])), "two nodes have the label '1'")


@pytest.mark.parametrize("bad", ["x98765", "", None, math.nan, math.inf, True, 98765 + 0j, [98765], 98765**100])
def test_networkx_weights_that_are_no_numbers(bad):
    graph = nx.Graph([("a", "b", {"weight": bad})])
    refused(lambda: Network.from_networkx(graph), "edge 1 is missing or not a finite number")


# --- scipy ------------------------------------------------------------------------------------------------

ENTRIES = [(0, 1, 1.0), (0, 2, 0.0), (1, 2, 3.0)]


def matrix(entries, n=4, kind=sparse.coo_array):
    rows, columns, values = zip(*entries, strict=True)
    return kind((np.array(values), (rows, columns)), shape=(n, n))


@pytest.mark.parametrize(
    "kind",
    [
        sparse.coo_array,
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_matrix,
        sparse.csr_matrix,
        sparse.csc_matrix,
    ],
)
def test_scipy_triangular_keeps_explicit_zeros_and_isolated_nodes(kind):
    net = Network.from_scipy(matrix(ENTRIES, kind=kind))
    assert sorted(edges_of(net)) == ENTRIES
    assert net.topology.labels == (0, 1, 2, 3)
    lower = [(b, a, w) for a, b, w in ENTRIES]
    assert edges_of(Network.from_scipy(matrix(lower, kind=kind))) == ENTRIES


def test_scipy_symmetric_pattern_takes_the_upper_half_and_counts_loops():
    mirrored = [*ENTRIES, *((b, a, w + 7) for a, b, w in ENTRIES), (3, 3, 5.0)]
    net = Network.from_scipy(matrix(mirrored))
    assert sorted(edges_of(net)) == ENTRIES
    assert net.topology.dropped_loops == 1


def test_scipy_directed_takes_every_entry():
    both = [*ENTRIES, (1, 0, 8.0)]
    net = Network.from_scipy(matrix(both), directed=True, labels=list("abcd"))
    assert edges_of(net) == sorted(("abcd"[a], "abcd"[b], w) for a, b, w in both)
    refused(lambda: Network.from_scipy(matrix(both)), "neither triangular nor symmetric")


def test_scipy_doubled_entries_are_parallel_edges_if_asked_for():
    doubled = matrix([(0, 1, 1.0), (0, 1, 2.0)])
    refused(lambda: Network.from_scipy(doubled), "--parallel-edges")
    net = Network.from_scipy(doubled, parallel_edges=True)
    assert edges_of(net) == [(0, 1, 1.0), (0, 1, 2.0)]


def test_what_from_scipy_refuses():
    dense = np.eye(2) * SECRET
    refused(lambda: Network.from_scipy(dense), "sparse")
    refused(lambda: Network.from_scipy(sparse.coo_array((2, 3))), "square, not 2 x 3")
    refused(lambda: Network.from_scipy(sparse.coo_array(np.array([1.0, 2.0]))), "square, not 2")
    refused(lambda: Network.from_scipy(sparse.coo_array((0, 0))), "no nodes")
    refused(lambda: Network.from_scipy(matrix(ENTRIES), labels="abc"), "4 rows, but 3 labels")
    refused(lambda: Network.from_scipy(matrix(ENTRIES), labels="abcde"), "4 rows, but 5 labels")
    refused(lambda: Network.from_scipy(matrix([(0, 1, SECRET), (1, 2, math.nan)])), "stored entry 2 is missing")
    refused(lambda: Network.from_scipy(matrix([(0, 1, SECRET + 1j)])), "stored entry 1")


@pytest.mark.parametrize("form", ["dia", "bsr", "lil", "dok"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_scipy_formats_where_an_edge_depends_on_its_weight_are_refused(form, kind):
    """An assigned zero vanishes in lil and dok, and appears by padding in dia and bsr."""
    held = getattr(sparse, f"{form}_{kind}")(sparse.coo_array(np.triu(np.full((3, 3), SECRET), 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns of slow assignment
        if form in ("lil", "dok"):
            held[0, 1] = 0.0
            assert held.nnz == 2
    refused(lambda: Network.from_scipy(held), f"^a {form} matrix")


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_scipy_public_half_is_the_same_for_all_weights(kind):
    """Zeros, doubled entries that would cancel, unsorted indices: every stored entry is an edge."""
    ends = ([2, 0, 0, 1, 0], [3, 1, 1, 2, 2])
    publics = set()
    for weights in ([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 2.0, -2.0, 0.0, 0.0], [0.0] * 5):
        held = sparse.coo_array((np.array(weights), ends), shape=(4, 4))
        if kind in (sparse.csr_array, sparse.csc_array):  # by hand: the constructor adds doubled entries up
            major, minor = ends if kind is sparse.csr_array else ends[::-1]
            order = np.argsort(major, kind="stable")[::-1]
            order = order[np.argsort(np.array(major)[order], kind="stable")]
            start = np.searchsorted(np.array(major)[order], np.arange(5))
            held = kind((np.array(weights)[order], np.array(minor)[order], start), shape=(4, 4))
        topology = Network.from_scipy(kind(held), directed=True, parallel_edges=True).topology
        assert topology.num_edges == 5
        publics.add((topology.labels, topology.tails.tobytes(), topology.heads.tobytes()))
    assert len(publics) == 1


def test_scipy_integer_and_truth_matrices():
    assert edges_of(Network.from_scipy(matrix([(0, 1, 7)]))) == [(0, 1, 7.0)]
    refused(lambda: Network.from_scipy(matrix([(0, 1, True)])), "stored entry 1")


# --- pandas -----------------------------------------------------------------------------------------------


def frame(source, target, weight=None, **more):
    weight = [float(i + 1) for i in range(len(source))] if weight is None else weight
    return pd.DataFrame({"source": source, "target": target, "weight": weight, **more})


def test_pandas_order_is_canonical():
    net = Network.from_pandas(frame(["b", "a", "d"], ["a", "c", "d"]))
    assert net.topology.labels == ("a", "b", "c", "d")
    assert edges_of(net) == [("a", "b", 1.0), ("a", "c", 2.0)]
    assert net.topology.dropped_loops == 1


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint64", "Int64", "int64[pyarrow]"])
def test_pandas_integer_columns_are_integer_labels(dtype):
    net = Network.from_pandas(frame([5, 6], [6, 7]).astype({"source": dtype, "target": dtype}))
    assert net.topology.labels == (5, 6, 7)
    assert {type(label) for label in net.topology.labels} == {int}


@pytest.mark.parametrize("dtype", ["object", "str", "string", "category", "string[pyarrow]"])
def test_pandas_text_columns_are_text_labels_exactly_as_they_stand(dtype):
    net = Network.from_pandas(frame(["1", " 1"], ["NA", "nan"]).astype({"source": dtype, "target": dtype}))
    assert net.topology.labels == (" 1", "1", "NA", "nan")


def test_pandas_mixed_columns_are_text_and_one_node_stays_one():
    """pandas reads one column as integers and the other as text as soon as the other has a word in it."""
    net = Network.from_pandas(frame([1, 2], ["2", "x"]))
    assert edges_of(net) == [("1", "2", 1.0), ("2", "x", 2.0)]


@pytest.mark.parametrize("dtype", ["float32", "int16", "Float64", "Int64", "object", "str", "double[pyarrow]"])
def test_pandas_weights_of_any_numeric_type(dtype):
    net = Network.from_pandas(frame(["a", "b"], ["b", "c"], [3, 4]).astype({"weight": dtype}))
    assert net.weights.reveal().tolist() == [3.0, 4.0]


def test_text_weights_are_read_to_the_last_bit():
    values = np.random.default_rng(0).random(2000) * 10.0 ** np.arange(-20, 20).repeat(50)
    assert parse_numbers([repr(float(v)) for v in values], "x").tolist() == values.tolist()


@pytest.mark.parametrize(
    "column",
    [
        [SECRET, None], [SECRET, math.nan], [SECRET, math.inf], [SECRET, "98765,5"], [SECRET, ""],
        [SECRET, "nan"],
        [SECRET, "1_0"], [SECRET, pd.NA], [SECRET, True], [SECRET, pd.Timedelta(98765, "s")],
        [SECRET, pd.Timestamp("2020-01-01")], ["98765", "0x10"], pd.array([98765, None], dtype="Int64"),
    ],
)  # fmt: skip
def test_pandas_weights_that_are_no_numbers_are_placed_and_not_quoted(column):
    table = frame(["a", "b"], ["b", "c"], column)
    refused(lambda: Network.from_pandas(table), "^column 'weight': row 2 is missing or not a finite number$")


@pytest.mark.parametrize("fill", [0.0, 5.0])
def test_pandas_sparse_columns_have_all_their_rows(fill):
    """What a sparse column does not store is still a row, and so an edge."""
    column = pd.arrays.SparseArray([fill, 3.0, fill], fill_value=fill)
    assert column.npoints == 1
    net = Network.from_pandas(frame(["a", "b", "c"], ["b", "c", "d"], column))
    assert edges_of(net) == [("a", "b", fill), ("b", "c", 3.0), ("c", "d", fill)]
    holes = pd.arrays.SparseArray([SECRET, math.nan, SECRET])
    refused(lambda: Network.from_pandas(frame(["a", "b", "c"], ["b", "c", "d"], holes)), "row 2 is missing")


class Contrary:
    """A weight with its own idea of errors."""

    def __float__(self):
        raise LookupError("98765.25")


def test_weights_that_raise_anything_are_no_numbers_and_not_quoted():
    refused(lambda: Network.from_pandas(frame(["a"], ["b"], [Contrary()])), "row 1 is missing or not a finite number")
    refused(lambda: Network.build("ab", [0], [1], [Contrary()]), "not a finite number")
    graph = nx.Graph([("a", "b", {"weight": Contrary()})])
    refused(lambda: Network.from_networkx(graph), "edge 1 is missing or not a finite number")


def test_times_are_no_weights():
    table = frame(["a"], ["b"], pd.to_timedelta([98765], unit="s"))
    refused(lambda: Network.from_pandas(table), "row 1 is missing or not a finite number")


def test_pandas_node_table_gives_places_and_isolated_nodes():
    nodes = pd.DataFrame({"node": ["z", "b", "a"], "x": [0, 1, 2], "y": [5.5, 6, 7]})
    net = Network.from_pandas(frame(["a"], ["b"]), nodes=nodes)
    assert net.topology.labels == ("a", "b", "z")
    assert net.topology.coordinates.tolist() == [[2, 7], [1, 6], [0, 5.5]]
    assert edges_of(net) == [("a", "b", 1.0)]
    without = Network.from_pandas(frame(["a"], ["new"]), nodes=nodes[["node"]])
    assert without.topology.labels == ("a", "b", "new", "z")
    assert without.topology.coordinates is None
    only = Network.from_pandas(frame([], []), nodes=nodes)
    assert (only.topology.num_nodes, only.topology.num_edges) == (3, 0)


def test_pandas_bounds_from_columns():
    table = frame(["a", "b"], ["b", "c"], low=[0, 1], high=["2.5", "inf"])
    topology = Network.from_pandas(table, lower="low", upper="high").topology
    assert (topology.lower.tolist(), topology.upper.tolist()) == ([0, 1], [2.5, math.inf])
    refused(lambda: Network.from_pandas(table, lower="high"), "'high': row 2")
    refused(lambda: Network.from_pandas(table, lower="weight"), "private weight", OptionError)


def test_what_from_pandas_refuses():
    good = frame(["a", "b"], ["b", "c"])
    nodes = pd.DataFrame({"node": ["a", "b"], "x": [0, 1], "y": [0, 1]})
    build = Network.from_pandas
    refused(lambda: build([("a", "b", 1)]), "DataFrame, not list")
    refused(lambda: build(good, weight="minutes"), "no column 'minutes'; it has: 'source', 'target', 'weight'")
    refused(lambda: build(pd.concat([good, good[["weight"]]], axis=1)), "two columns called 'weight'")
    refused(lambda: build(frame([], [])), "^the edge list is empty$")
    refused(lambda: build(frame(["a", None], ["b", "c"])), "row 2 of the edge list has an empty node label")
    refused(lambda: build(frame(["a", "b"], ["", "c"])), "row 1 of the edge list has an empty node label")
    refused(lambda: build(frame([1.0], [2.0])), "not float")
    refused(lambda: build(frame([1, 2], [True, False])), "not bool")
    refused(lambda: build(good, nodes=nodes.rename(columns={"node": "id"})), "node table has no column 'node'")
    refused(lambda: build(good, nodes=pd.concat([nodes, nodes])), "row 3 of the node table repeats a node")
    refused(lambda: build(good, nodes=pd.DataFrame({"node": ["a", None]})), "row 2 of the node table")
    bad = pd.DataFrame({"node": ["a", "b", "c"], "x": [0, 1, "west"], "y": [0, 1, 2]})
    refused(lambda: build(good, nodes=bad), "column 'x' of the node table: row 3")


@pytest.mark.parametrize(
    "nodes",
    [
        {"node": ["a", "b"], "x": [0, 1], "y": [0, 2]},
        {"node": ["a", "b", "c"], "x": [0, 1, None], "y": [0, 2, 5]},
    ],
)
def test_a_place_may_be_unknown(nodes):
    with pytest.warns(HushpathWarning, match="places: 1 of 3 nodes have no x and y"):
        net = Network.from_pandas(frame(["a", "b"], ["b", "c"]), nodes=pd.DataFrame(nodes))
    assert np.array_equal(net.topology.coordinates, [[0, 0], [1, 2], [np.nan, np.nan]], equal_nan=True)


def test_a_table_without_a_header_does_not_show_its_first_row():
    refused(
        lambda: choose_columns(["a", "b", "98765.25"], WANTED),
        "does its first line name the columns",
    )
    refused(
        lambda: choose_columns(["17", "nan", "inf"], WANTED),
        "does its first line name the columns",
    )
    refused(lambda: choose_columns(["a", "b"], WANTED), "it has: 'a', 'b'$")


# --- build ------------------------------------------------------------------------------------------------


def test_build_never_quotes_a_weight():
    refused(lambda: Network.build("ab", [0], [1], ["x98765"]), "not a finite number")
    refused(lambda: Network.build("ab", [0], [1], [SECRET, SECRET]), "1 edges")
