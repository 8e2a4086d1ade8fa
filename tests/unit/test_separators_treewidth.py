"""Small treewidth: elimination orders, their widths, and the bound on bags in every cell."""

import time

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushpath.errors import OptionError
from hushpath.separators.graph import SEPARATOR, Graph, shrink_separator
from hushpath.separators.treewidth import TreewidthSplitter, _join_close, eliminate


def as_graph(network):
    ends = np.array(list(network.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(network.number_of_nodes(), ends[:, 0], ends[:, 1])


def partial_k_tree(n, k, keep, seed):
    rng = np.random.default_rng(seed)
    cliques = [tuple(range(k))]
    ends = [(i, j) for i in range(k) for j in range(i)]
    for v in range(k, n):
        clique = cliques[rng.integers(len(cliques))]
        ends += [(v, u) for u in clique]
        cliques += [(*(u for u in clique if u != gone), v) for gone in clique]
    kept = np.array(ends)[rng.random(len(ends)) < keep]
    names = rng.permutation(n)
    return Graph.from_edges(n, names[kept[:, 0]], names[kept[:, 1]])


def width_of(network, order):
    """Eliminate in this order, slowly."""
    network, width = network.copy(), 0
    for v in order:
        near = list(network[v])
        width = max(width, len(near))
        network.remove_node(v)
        network.add_edges_from((a, b) for a in near for b in near if a < b)
    return width


@given(st.integers(1, 14), st.floats(0, 1), st.integers(0, 999))
def test_the_width_is_that_of_the_order(n, density, seed):
    network = nx.gnp_random_graph(n, density, seed=seed)
    order, width = eliminate(as_graph(network), most_width=n)
    assert sorted(order.tolist()) == list(range(n))
    assert width_of(network, order.tolist()) <= width
    assert width <= nx.approximation.treewidth_min_degree(network)[0] + 1


@pytest.mark.parametrize(
    ("network", "width"),
    [
        (nx.path_graph(9), 1), (nx.cycle_graph(9), 2), (nx.complete_graph(6), 5), (nx.grid_2d_graph(4, 9), 4),
        (nx.complete_bipartite_graph(3, 9), 3), (nx.petersen_graph(), 4), (nx.hypercube_graph(3), 3),
        (nx.empty_graph(4), 0), (nx.octahedral_graph(), 4), (nx.icosahedral_graph(), 6),
    ],
)  # fmt: skip
def test_known_treewidths(network, width):
    order, found = eliminate(as_graph(nx.convert_node_labels_to_integers(network)), most_width=20)
    assert found == width
    assert width_of(nx.convert_node_labels_to_integers(network), order.tolist()) == width


@pytest.mark.quick(every=3)
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("keep", [1.0, 0.7])
def test_partial_k_trees_get_width_k(k, keep):
    assert eliminate(partial_k_tree(2_000, k, keep, seed=k), most_width=20)[1] <= k


def test_a_large_partial_3_tree_takes_about_a_second():
    graph = partial_k_tree(20_000, 3, 0.8, seed=1)
    begin = time.process_time()
    splitter = TreewidthSplitter(graph)
    assert splitter.width == 3
    assert time.process_time() - begin < 3  # measured 0.4 s; room for slower machines


def test_a_cap_on_the_width_is_kept_and_named():
    graph = as_graph(nx.convert_node_labels_to_integers(nx.grid_2d_graph(30, 30)))
    with pytest.raises(OptionError, match="of width 8 or less"):
        TreewidthSplitter(graph, most_width=8)
    clique = as_graph(nx.complete_graph(9))
    assert TreewidthSplitter(clique, most_width=8).width == 8
    with pytest.raises(OptionError, match="of width 7 or less"):
        TreewidthSplitter(clique, most_width=7)


def test_vertices_with_many_common_neighbours_are_joined():
    near = {v: set(adjacent) for v, adjacent in nx.complete_bipartite_graph(2, 4).adjacency()}
    assert _join_close(near, 3)
    assert 1 in near[0]
    assert 0 in near[1]
    assert not _join_close(near, 3)


def test_shrinking_a_separator_keeps_the_balance():
    graph = as_graph(nx.path_graph(6))
    side = np.array([1, 1, 0, 0, 0, 2], np.int8)
    sizes = shrink_separator(graph.start, graph.heads, side)
    assert sizes.tolist() == np.bincount(side, minlength=3).tolist()
    assert sizes[0] == 1
    assert sizes.max() <= 4


def test_separators_of_a_clique_with_a_tail():
    network = nx.complete_graph(5)
    network.add_edge(4, 5)
    graph = as_graph(network)
    side = TreewidthSplitter(graph).split(graph).side
    assert np.flatnonzero(side == SEPARATOR).tolist() == [4]
