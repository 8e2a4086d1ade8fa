"""Trees: the centroid, and the refusal of cycles."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hushpath.errors import OptionError
from hushpath.separators.families import TreeSplitter
from hushpath.separators.graph import Graph


def as_graph(network):
    ends = np.array(list(network.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(network.number_of_nodes(), ends[:, 0], ends[:, 1])


@given(st.integers(3, 60), st.randoms(use_true_random=False))
def test_branches_at_the_centroid_hold_at_most_half(n, random):
    tree = nx.Graph([(v, random.randrange(v)) for v in range(1, n)])
    tree = nx.relabel_nodes(tree, dict(enumerate(random.sample(range(n), n))))
    split = TreeSplitter(as_graph(tree)).split(as_graph(tree))
    (centre,) = np.flatnonzero(split.side == 0).tolist()
    tree.remove_node(centre)
    assert 2 * max(map(len, nx.connected_components(tree))) <= n
    assert 3 * np.bincount(split.side)[1:].max() <= 2 * n


def test_cycles_are_refused_with_the_counts():
    with pytest.raises(OptionError, match="this one has 6 edges on 8 nodes in 3 components"):
        TreeSplitter(as_graph(nx.disjoint_union_all([nx.cycle_graph(4), nx.path_graph(3), nx.empty_graph(1)])))


def test_forests_and_empty_networks_are_accepted():
    for network in (nx.empty_graph(0), nx.empty_graph(3), nx.disjoint_union(nx.path_graph(3), nx.star_graph(4))):
        assert TreeSplitter(as_graph(network)) is not None


def test_two_vertices_have_no_separator():
    graph = as_graph(nx.path_graph(2))
    assert TreeSplitter(graph).split(graph) is None
