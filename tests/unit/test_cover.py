"""Hop covers: near enough, few enough, and the bound of Meir and Moon."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hushpath.errors import OptionError
from hushpath.separators.cover import k_cover
from hushpath.separators.graph import Graph


def as_graph(network):
    ends = np.array(list(nx.convert_node_labels_to_integers(network).edges()), np.int64).reshape(-1, 2)
    return Graph.from_edges(len(network), ends[:, 0], ends[:, 1])


def check(graph, members, hops):
    centres, owner, _ = k_cover(graph, members, hops)
    network = nx.Graph(list(zip(*(e.tolist() for e in graph.edges()), strict=True)))
    network.add_nodes_from(range(graph.num_nodes))
    induced = network.subgraph(members.tolist())
    assert set(centres.tolist()) == set(owner.tolist())
    assert len(centres) <= nx.number_connected_components(induced) + len(members) // (hops + 1)
    for centre in centres.tolist():
        own = members[owner == centre].tolist()
        within = nx.single_source_shortest_path_length(induced.subgraph(own), centre, cutoff=hops)
        assert set(within) == set(own)
    return centres


@settings(max_examples=150, deadline=None)
@given(
    n=st.integers(1, 60),
    p=st.floats(0.0, 0.3),
    seed=st.integers(0, 10**6),
    hops=st.integers(0, 8),
    share=st.floats(0, 1),
)
def test_random_members_of_random_graphs(n, p, seed, hops, share):
    graph = as_graph(nx.gnp_random_graph(n, p, seed=seed))
    members = np.flatnonzero(np.random.default_rng(seed).random(n) <= share)
    check(graph, np.random.default_rng(seed).permutation(members), hops)


@settings(max_examples=100, deadline=None)
@given(n=st.integers(1, 80), seed=st.integers(0, 10**6), hops=st.integers(0, 9))
def test_trees(n, seed, hops):
    check(as_graph(nx.random_labeled_tree(n, seed=seed)), np.arange(n), hops)


@pytest.mark.parametrize(
    ("network", "hops", "count"),
    [
        (nx.path_graph(9), 1, 3),  # optimal, below the bound of 1 + 9 // 2
        (nx.path_graph(21), 3, 3),
        (nx.star_graph(20), 1, 1),
        (nx.complete_graph(7), 1, 1),
        (nx.cycle_graph(8), 4, 1),
        (nx.empty_graph(5), 3, 5),
        (nx.path_graph(4), 0, 4),
    ],
)
def test_known_covers(network, hops, count):
    assert len(check(as_graph(network), np.arange(len(network)), hops)) == count


def test_no_members():
    centres, owner, _ = k_cover(as_graph(nx.path_graph(4)), np.empty(0, np.int64), 2)
    assert len(centres) == len(owner) == 0


def test_the_way_to_the_centre_stays_in_the_cluster():
    graph = as_graph(nx.grid_2d_graph(12, 12))
    centres, owner, onward = k_cover(graph, np.arange(144), 3)
    step = np.arange(144)
    for _ in range(3):
        step = onward[step]
        assert (owner[step] == owner).all()
    assert (step == owner).all()
    assert (onward[centres] == centres).all()


def test_negative_hops_are_refused():
    with pytest.raises(OptionError, match="hops"):
        k_cover(as_graph(nx.path_graph(4)), np.arange(4), -1)
