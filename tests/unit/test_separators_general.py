"""Any network: the flow against networkx, balance, and sizes on networks with known good separators."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from hushpath.separators.general import GeneralSplitter, _cut, _signed_hops
from hushpath.separators.graph import SEPARATOR, Graph, Split, separates


def as_graph(network):
    ends = np.array(list(network.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(network.number_of_nodes(), ends[:, 0], ends[:, 1])


def delaunay(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices.astype(np.int64)
    return Graph.from_edges(n, triangles.ravel(), np.roll(triangles, 1, axis=1).ravel())


@settings(max_examples=300, deadline=None)
@given(st.integers(3, 24), st.floats(0.05, 0.6), st.integers(0, 9999))
def test_cuts_are_as_small_as_minimum_vertex_cuts(n, density, seed):
    network = nx.gnp_random_graph(n, density, seed=seed)
    graph = as_graph(network)
    order = np.random.default_rng(seed).permutation(n)
    share = (n + 2) // 3
    network.add_edges_from([("s", int(v)) for v in order[:share]] + [("t", int(v)) for v in order[-share:]])
    smallest = nx.node_connectivity(network, "s", "t")
    side = np.empty(n, np.int8)
    cost = _cut(graph.start, graph.heads, order, share, n, side)
    if cost == np.inf:
        return  # the smallest separators cover one end: nothing would be left on its side
    sizes = np.bincount(side, minlength=3)
    assert sizes[SEPARATOR] == smallest
    assert cost == pytest.approx(smallest * (1 + abs(sizes[1] - sizes[2]) / (2 * n)))
    assert separates(graph, Split(side))
    assert 3 * sizes[1:].max() <= 2 * n
    assert (side[order[:share]] != 2).all()
    assert (side[order[-share:]] != 1).all()


def test_a_cut_above_the_limit_is_given_up():
    graph = as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(6, 20)))
    order = np.arange(120).reshape(6, 20).T.ravel()
    side = np.empty(120, np.int8)
    assert _cut(graph.start, graph.heads, order, 40, 5, side) == np.inf
    assert _cut(graph.start, graph.heads, order, 40, 6, side) < np.inf


def test_signed_hops_count_from_the_boundary():
    graph = as_graph(nx.path_graph(6))
    for part, hops in (([1, 1, 1, 2, 2, 2], [-3, -2, -1, 1, 2, 3]), ([1, 1, 0, 2, 2, 2], [-2, -1, 0, 1, 2, 3])):
        assert _signed_hops(graph.start, graph.heads, np.array(part, np.int8)).tolist() == hops


def test_long_networks_are_cut_near_the_middle():
    for a, b in ((6, 20), (1, 50), (10, 200)):
        graph = as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(a, b)))
        sizes = np.bincount(GeneralSplitter().split(graph).side)
        assert sizes[SEPARATOR] == a
        assert sizes[1:].max() <= 0.56 * a * b


@pytest.mark.parametrize(("n", "most"), [(400, 19), (3_000, 50), (20_000, 125)])
def test_delaunay_separators_are_small(n, most):
    graph = delaunay(n)
    side = GeneralSplitter().split(graph).side
    sizes = np.bincount(side)
    assert sizes[SEPARATOR] <= most
    assert 3 * sizes[1:].max() <= 2 * n


@pytest.mark.slow
def test_the_top_separator_of_100_000_points():
    graph = delaunay(100_000)
    assert (GeneralSplitter().split(graph).side == SEPARATOR).sum() <= 300


def test_stars_and_cliques():
    star = as_graph(nx.star_graph(50))
    assert np.bincount(GeneralSplitter().split(star).side).tolist() == [1, 25, 25]
    clique = as_graph(nx.complete_graph(20))
    assert GeneralSplitter().split(clique) is None
