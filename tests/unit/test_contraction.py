"""Separators by contraction: they separate, shrink both children, and their centres are near inside the
separator."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from hushpath.errors import OptionError
from hushpath.separators import cover
from hushpath.separators.cover import k_cover, split_by_contraction
from hushpath.separators.graph import LEFT, RIGHT, SEPARATOR, Graph, separates


def as_graph(network):
    ends = np.array(list(nx.convert_node_labels_to_integers(network).edges()), np.int64).reshape(-1, 2)
    return Graph.from_edges(len(network), ends[:, 0], ends[:, 1])


def delaunay(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices.astype(np.int64)
    return Graph.from_edges(n, triangles.ravel(), np.roll(triangles, 1, axis=1).ravel())


def check(graph, radius):
    """All that ``split_by_contraction`` guarantees; whether it found a separator."""
    split = split_by_contraction(graph, radius)
    if split is None:
        return False
    n, sizes = graph.num_nodes, np.bincount(split.side, minlength=3)
    assert separates(graph, split)
    assert min(sizes[LEFT], sizes[RIGHT]) >= 1
    assert sizes[SEPARATOR] + max(sizes[LEFT], sizes[RIGHT]) < n
    network = nx.Graph(list(zip(*(e.tolist() for e in graph.edges()), strict=True)))
    inner = network.subgraph(np.flatnonzero(split.side == SEPARATOR).tolist())
    assert (split.side[split.centres] == SEPARATOR).all()
    if len(inner) > 0:
        reached = nx.multi_source_dijkstra_path_length(inner, set(split.centres.tolist()), cutoff=radius)
        assert set(reached) == set(inner)
    return True


NAMED = {
    "grid": as_graph(nx.grid_2d_graph(20, 20)),
    "delaunay": delaunay(500),
    "tree": as_graph(nx.random_labeled_tree(300, seed=1)),
    "path": as_graph(nx.path_graph(100)),
    "cycle": as_graph(nx.cycle_graph(100)),
    "star": as_graph(nx.star_graph(50)),
    "torus": as_graph(nx.grid_2d_graph(16, 16, periodic=True)),
}


@pytest.mark.parametrize("radius", [0, 1, 2, 3, 5, 8, 200])
@pytest.mark.parametrize("name", sorted(NAMED))
def test_named_graphs_are_separated_at_every_radius(name, radius):
    assert check(NAMED[name], radius)


@settings(max_examples=100, deadline=None)
@given(n=st.integers(3, 60), degree=st.floats(1.0, 8.0), seed=st.integers(0, 10**6), radius=st.integers(0, 6))
def test_random_connected_graphs(n, degree, seed, radius):
    edges = nx.gnp_random_graph(n, min(1.0, degree / n), seed=seed)
    check(as_graph(nx.compose(edges, nx.random_labeled_tree(n, seed=seed))), radius)


@pytest.mark.parametrize("radius", [0, 1, 4])
@pytest.mark.parametrize("n", [3, 4, 12])
def test_cliques_have_none(n, radius):
    assert not check(as_graph(nx.complete_graph(n)), radius)


@pytest.mark.parametrize("name", ["grid", "delaunay", "torus"])
@pytest.mark.parametrize("radius", [0, 1, 2, 4])
def test_at_most_one_centre_per_contracted_separator_node(name, radius, monkeypatch):
    graph, covers = NAMED[name], []

    def recorded(num_nodes, left, right, plain=cover._vertex_cover):
        covers.append(plain(num_nodes, left, right))
        return covers[-1]

    monkeypatch.setattr(cover, "_vertex_cover", recorded)
    split = split_by_contraction(graph, radius)
    contracted = covers[-2]  # the cover of the contracted graph, then that of the vertices
    assert len(contracted) == len(k_cover(graph, np.arange(graph.num_nodes), radius)[0])
    assert 1 <= len(split.centres) <= contracted.sum()


def test_more_hops_need_fewer_centres():
    graph = delaunay(3000)
    counts = [len(split_by_contraction(graph, radius).centres) for radius in (0, 2, 8)]
    assert counts[0] > 1.5 * counts[1] > 2 * counts[2]


def test_the_same_network_is_split_the_same_way_twice():
    graph = delaunay(800)
    first, second = (split_by_contraction(graph, 2) for _ in range(2))
    assert (first.side == second.side).all()


@settings(max_examples=100, deadline=None)
@given(p=st.integers(1, 8), q=st.integers(1, 8), density=st.floats(0.01, 0.95), seed=st.integers(0, 10**6))
def test_the_vertex_cover_is_minimum(p, q, density, seed):
    network = nx.bipartite.random_graph(p, q, density, seed=seed)
    ends = np.array(list(network.edges()), np.int64).reshape(-1, 2)
    chosen = cover._vertex_cover(p + q, ends[:, 0], ends[:, 1])
    assert (chosen[ends[:, 0]] | chosen[ends[:, 1]]).all()
    assert chosen.sum() == len(nx.bipartite.maximum_matching(network, top_nodes=range(p))) // 2


def test_a_negative_radius_is_refused():
    with pytest.raises(OptionError):
        split_by_contraction(NAMED["path"], -1)
