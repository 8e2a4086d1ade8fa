"""Planar separators: the theorem's size and balance on every connected planar graph."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from hushpath import extras
from hushpath.errors import CannotError, OptionError
from hushpath.separators import planar
from hushpath.separators.graph import LEFT, RIGHT, SEPARATOR, Graph, Split, pack_around, separates
from hushpath.separators.planar import PlanarSplitter, cut_off_balanced, lipton_tarjan


def delaunay(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    network = nx.Graph()
    for a, b, c in triangles.tolist():
        network.add_edges_from([(a, b), (b, c), (c, a)])
    return network


def nested_triangles(n):
    network = nx.cycle_graph(3)
    for i in range(3, n - n % 3, 3):
        network.add_edges_from([(i, i + 1), (i + 1, i + 2), (i + 2, i)])
        network.add_edges_from([(i, i - 3), (i + 1, i - 2), (i + 2, i - 1)])
    return network


def outerplanar(n):
    """A cycle with the chords of a balanced triangulation of its inside."""
    network = nx.cycle_graph(n)
    step = 2
    while step < n:
        network.add_edges_from((i, min(i + step, n - 1)) for i in range(0, n - step, step))
        step *= 2
    return network


FAMILIES = {
    "delaunay": lambda n, seed: delaunay(max(n, 4), seed),
    "grid": lambda n, seed: nx.grid_2d_graph(1 + seed % 9, max(3, n // (1 + seed % 9))),
    "tree": lambda n, seed: nx.random_labeled_tree(n, seed=seed),
    "binary tree": lambda n, seed: nx.full_rary_tree(2, n),
    "star": lambda n, seed: nx.star_graph(n - 1),
    "path": lambda n, seed: nx.path_graph(n),
    "cycle": lambda n, seed: nx.cycle_graph(n),
    "wheel": lambda n, seed: nx.wheel_graph(max(n, 4)),
    "nested triangles": lambda n, seed: nested_triangles(n),
    "outerplanar": lambda n, seed: outerplanar(n),
    "ladder": lambda n, seed: nx.ladder_graph(max(n // 2, 2)),
    "K_2,n": lambda n, seed: nx.complete_bipartite_graph(2, n - 2),
    "K_2,n with spine": lambda n, seed: nx.compose(nx.complete_bipartite_graph(2, n - 2), nx.path_graph(n)),
    "lollipop": lambda n, seed: nx.lollipop_graph(4, n),
}


def as_graph(network):
    """A ``Graph`` of a networkx graph, nodes in their own order."""
    place = {v: i for i, v in enumerate(network)}
    ends = np.array([(place[a], place[b]) for a, b in network.edges()], np.int64).reshape(-1, 2)
    return Graph.from_edges(len(place), ends[:, 0], ends[:, 1])


def subgraph(graph, keep, drop_inside=None):
    """The subgraph on ``keep``, without the edges that have both ends in ``drop_inside``."""
    place = np.full(graph.num_nodes, -1)
    place[keep] = np.arange(len(keep))
    tails, heads = graph.edges()
    stay = (place[tails] >= 0) & (place[heads] >= 0)
    if drop_inside is not None:
        stay &= ~(drop_inside[tails] & drop_inside[heads])
    return Graph.from_edges(len(keep), place[tails[stay]], place[heads[stay]], graph.vertices[keep])


def components(graph):
    network = nx.Graph()
    network.add_nodes_from(range(graph.num_nodes))
    network.add_edges_from(zip(*(e.tolist() for e in graph.edges()), strict=True))
    return [np.array(sorted(c)) for c in nx.connected_components(network)]


def check(graph, split):
    """All that ``PlanarSplitter.split`` guarantees."""
    n = graph.num_nodes
    if 2 * graph.num_edges == n * (n - 1):
        assert split is None
        return
    sizes = np.bincount(split.side, minlength=3)
    assert separates(graph, split)
    assert sizes[SEPARATOR] ** 2 <= 8 * n
    assert min(sizes[LEFT], sizes[RIGHT]) >= 1
    assert 3 * max(sizes[LEFT], sizes[RIGHT]) <= 2 * n


def check_recursion(splitter, graph):
    """Split down to single edges, dropping the edges inside each separator: every cell keeps the guarantees."""
    todo = [subgraph(graph, c) for c in components(graph)]
    while todo:
        cell = todo.pop()
        if cell.num_nodes < 3:
            continue
        split = splitter.split(cell)
        check(cell, split)
        if split is None:
            continue
        inner = split.side == SEPARATOR
        for side in (LEFT, RIGHT):
            child = subgraph(cell, np.flatnonzero(inner | (split.side == side)), inner)
            todo += [subgraph(child, c) for c in components(child)]


@settings(max_examples=120, deadline=None)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    n=st.integers(5, 90),
    seed=st.integers(0, 10**6),
    keep=st.sampled_from([1.0, 1.0, 0.9, 0.6]),
)
def test_every_cell_of_a_planar_graph_keeps_size_and_balance(family, n, seed, keep):
    rng = np.random.default_rng(seed)
    network = nx.convert_node_labels_to_integers(FAMILIES[family](n, seed))
    relabel = rng.permutation(len(network)).tolist()
    network = nx.relabel_nodes(network, dict(enumerate(relabel)))
    whole = as_graph(network)
    tails, heads = whole.edges()
    kept = rng.random(len(tails)) < keep
    part = Graph.from_edges(whole.num_nodes, tails[kept], heads[kept], whole.vertices)
    check_recursion(PlanarSplitter(whole), part)


@pytest.mark.quick(every=2)
@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 12, 50, 400, 3000])
def test_named_families(family, n):
    graph = as_graph(FAMILIES[family](n, seed=n))
    check(graph, PlanarSplitter(graph).split(graph))


@settings(max_examples=60, deadline=None)
@given(family=st.sampled_from(sorted(FAMILIES)), n=st.integers(76, 400), seed=st.integers(0, 10**6))
def test_lipton_and_tarjan_alone_keep_the_bounds(family, n, seed):
    graph = as_graph(FAMILIES[family](n, seed))
    if graph.num_nodes > planar.SMALL:
        check(graph, Split(pack_around(graph.start, graph.heads, lipton_tarjan(graph))))


@settings(max_examples=60, deadline=None)
@given(family=st.sampled_from(sorted(FAMILIES)), n=st.integers(4, 72), seed=st.integers(0, 10**6))
def test_the_fallback_for_small_graphs_keeps_the_bounds(family, n, seed):
    network = FAMILIES[family](n, seed)
    graph = as_graph(network.subgraph(sorted(network)[:72]))
    if len(components(graph)) > 1 or 2 * graph.num_edges == graph.num_nodes * (graph.num_nodes - 1):
        return
    check(graph, Split(cut_off_balanced(graph)))


@pytest.mark.parametrize("n", [40, 400])
def test_a_general_cut_beyond_the_bounds_is_replaced(monkeypatch, n):
    graph = as_graph(delaunay(n))
    lopsided = np.full(n, RIGHT, np.int8)
    lopsided[0] = LEFT
    lopsided[graph.heads[graph.start[0] : graph.start[1]]] = SEPARATOR
    monkeypatch.setattr(planar.GeneralSplitter, "split", lambda *_: Split(lopsided))
    check(graph, PlanarSplitter(graph).split(graph))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_exactly_complete_graphs_have_no_separator(n):
    graph = as_graph(nx.complete_graph(n))
    assert PlanarSplitter(graph).split(graph) is None


@pytest.mark.parametrize(
    ("family", "n", "most"), [("tree", 2000, 1), ("path", 99, 1), ("star", 99, 1), ("cycle", 99, 2)]
)
def test_thin_graphs_have_tiny_separators(family, n, most):
    graph = as_graph(FAMILIES[family](n, seed=1))
    split = PlanarSplitter(graph).split(graph)
    assert (split.side == SEPARATOR).sum() <= most


def test_separators_are_small_in_practice():
    for graph, most in ((as_graph(delaunay(4000)), 64), (as_graph(nx.grid_2d_graph(60, 60)), 60)):
        split = PlanarSplitter(graph).split(graph)
        check(graph, split)
        assert (split.side == SEPARATOR).sum() <= most


@pytest.mark.parametrize("network", [nx.complete_graph(5), nx.complete_bipartite_graph(3, 3), nx.petersen_graph()])
def test_networks_that_are_not_planar_are_refused(network):
    hidden = nx.union(nx.grid_2d_graph(5, 5), network)
    for candidate in (network, hidden):
        with pytest.raises(OptionError):
            PlanarSplitter(as_graph(candidate))


def test_without_networkx_the_error_names_the_extra(monkeypatch):
    def absent(module):
        raise ImportError(module)

    monkeypatch.setattr(extras, "import_module", absent)
    with pytest.raises(CannotError, match=r"hushpath\[networkx\]"):
        PlanarSplitter(as_graph(nx.path_graph(3)))
