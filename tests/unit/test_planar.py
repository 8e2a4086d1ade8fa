"""Planar separators: the theorem's size and balance on every connected planar graph, and the kernels behind it."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from hushpath.decompose.graph import LEFT, RIGHT, SEPARATOR, Graph, Split, separates
from hushpath.decompose.separators.planar import Planar, PlanarSplitter
from hushpath.decompose.separators.planar.candidates import hang, search
from hushpath.decompose.separators.planar.cycles import best_cycle, triangulate
from hushpath.decompose.separators.planar.embedding import embed, euler_defect, rotation
from hushpath.decompose.separators.planar.family import _around_least_degree
from hushpath.decompose.separators.planar.refine import connected, tighten
from hushpath.decompose.separators.sides import sides_around
from hushpath.errors import OptionError


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
    """Split down to single edges, dropping the edges inside each separator: every cell keeps the
    guarantees."""
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
    stretch=st.sampled_from([0.0, 1.5, 10.0]),
)
def test_every_cell_of_a_planar_graph_keeps_size_and_balance(family, n, seed, keep, stretch):
    rng = np.random.default_rng(seed)
    network = nx.convert_node_labels_to_integers(FAMILIES[family](n, seed))
    relabel = rng.permutation(len(network)).tolist()
    network = nx.relabel_nodes(network, dict(enumerate(relabel)))
    whole = as_graph(network)
    tails, heads = whole.edges()
    kept = rng.random(len(tails)) < keep
    part = Graph.from_edges(whole.num_nodes, tails[kept], heads[kept], whole.vertices)
    check_recursion(Planar(stretch).prepare(whole), part)


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 12, 50, 400, 3000])
def test_named_families(family, n):
    graph = as_graph(FAMILIES[family](n, seed=n))
    check(graph, Planar().prepare(graph).split(graph))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_exactly_complete_graphs_have_no_separator(n):
    graph = as_graph(nx.complete_graph(n))
    assert Planar().prepare(graph).split(graph) is None


@pytest.mark.parametrize(
    ("family", "n", "most"), [("tree", 2000, 1), ("path", 99, 1), ("star", 99, 1), ("cycle", 99, 2)]
)
def test_thin_graphs_have_tiny_separators(family, n, most):
    graph = as_graph(FAMILIES[family](n, seed=1))
    split = Planar().prepare(graph).split(graph)
    assert (split.side == SEPARATOR).sum() <= most


def test_separators_are_small_in_practice():
    for graph, most in ((as_graph(delaunay(4000)), 64), (as_graph(nx.grid_2d_graph(60, 60)), 60)):
        split = Planar().prepare(graph).split(graph)
        check(graph, split)
        assert (split.side == SEPARATOR).sum() <= most


def test_a_connected_separator_is_preferred_only_within_the_stretch():
    graph = as_graph(nx.grid_2d_graph(40, 40))
    plain, stretched = (Planar(stretch).prepare(graph).split(graph) for stretch in (0.0, 1.5))
    assert not connected(graph.start, graph.heads, plain.side)
    assert connected(graph.start, graph.heads, stretched.side)
    assert 33 >= (plain.side == SEPARATOR).sum() < (stretched.side == SEPARATOR).sum() == 40


@settings(max_examples=60, deadline=None)
@given(family=st.sampled_from(sorted(FAMILIES)), n=st.integers(4, 70), seed=st.integers(0, 10**6))
def test_search_alone_meets_the_theorem_before_any_refinement(family, n, seed):
    graph = as_graph(FAMILIES[family](n, seed))
    if 2 * graph.num_edges == graph.num_nodes * (graph.num_nodes - 1):
        return
    whole = embed(graph)
    twin, turn = rotation(graph.start, graph.heads, graph.vertices, whole.start, whole.heads, whole.rank)
    for candidate in search(graph.start, graph.heads, twin, turn):
        if len(candidate) > 0:
            side = sides_around(graph.start, graph.heads, candidate)
            sizes = np.bincount(side, minlength=3)
            assert sizes[SEPARATOR] ** 2 <= 8 * graph.num_nodes
            assert 3 * max(sizes[1:]) <= 2 * graph.num_nodes
            assert min(sizes[1:]) >= 1


def best_cycle_reference(tail, twin, after, depth, down, weight, limit, most, base, parts):
    """The least score over all fundamental cycles, the inside of each found by flooding triangles."""
    n, score = len(depth), np.inf
    for h in range(len(tail)):
        u, v = tail[h], tail[twin[h]]
        if twin[h] < h or down[v] == h or down[u] == twin[h]:
            continue
        on, walls, x, y = {u, v}, {h, twin[h]}, u, v
        while x != y:
            deeper = x if depth[x] >= depth[y] else y
            walls |= {down[deeper], twin[down[deeper]]}
            above = tail[down[deeper]]
            x, y = (above, y) if deeper == x else (x, above)
            on |= {x, y}
        flooded, todo = set(), [h]
        while todo:
            g = todo.pop()
            if g not in flooded:
                flooded.add(g)
                todo.append(after[g])
                if g not in walls:
                    todo.append(twin[g])
        one = {int(tail[g]) for g in flooded} - on
        inside, cycle = sum(int(weight[x]) for x in one), sum(int(weight[x]) for x in on)
        outside = int(weight.sum()) - inside - cycle
        enough = (inside > 0) + (outside > 0) + parts >= 2
        if max(inside, outside) <= limit and base + cycle <= most and enough:
            score = min(score, (base + cycle) * (0.5 + max(inside, outside) / n))
    return score


@settings(max_examples=80, deadline=None)
@given(
    family=st.sampled_from(sorted(FAMILIES)),
    n=st.integers(5, 26),
    seed=st.integers(0, 10**6),
    weighted=st.booleans(),
)
def test_one_walk_counts_the_inside_of_every_fundamental_cycle(family, n, seed, weighted):
    rng = np.random.default_rng(seed)
    graph = as_graph(FAMILIES[family](n, seed))
    n = graph.num_nodes
    whole = embed(graph)
    twin, turn = rotation(graph.start, graph.heads, graph.vertices, whole.start, whole.heads, whole.rank)
    depth, parent, down, order = np.empty((4, n), np.int64)
    hang(graph.start, graph.heads, int(rng.integers(n)), depth, parent, down, order)
    tail, twins, after = triangulate(graph.heads, twin, turn, depth)
    assert (after[after[after]] == np.arange(6 * n - 12)).all()
    assert (tail[after] == tail[twins]).all()
    weight = rng.integers(0, 2, n) if weighted else np.ones(n, np.int64)
    limit, most, base = int(rng.integers(n)), int(rng.integers(1, n + 3)), int(rng.integers(3))
    for parts in (0, 1):
        found = best_cycle(tail, twins, after, depth, down, order, weight, limit, most, base, parts)
        expected = best_cycle_reference(tail, twins, after, depth, down, weight, limit, most, base, parts)
        assert found[0] == pytest.approx(expected)


@settings(max_examples=300, deadline=None)
@given(n=st.integers(1, 24), density=st.floats(0.3, 2.2), extra=st.integers(0, 3), seed=st.integers(0, 10**6))
def test_the_left_right_test_agrees_with_networkx(n, density, extra, seed):
    """Random graphs on both sides of planarity, and planar ones with a few edges too many."""
    rng = np.random.default_rng(seed)
    network = nx.gnm_random_graph(n, int(density * n), seed=seed)
    if seed % 2 == 0:
        network = delaunay(n + 4, seed)
        network.remove_edges_from([e for e in list(network.edges()) if rng.random() < 0.15])
        network.add_edges_from(rng.choice(n + 4, 2, replace=False).tolist() for _ in range(extra))
    if nx.check_planarity(network)[0]:
        whole = embed(as_graph(network))
        assert euler_defect(whole.start, whole.heads, whole.rank) == 0
    else:
        with pytest.raises(OptionError, match="not planar"):
            embed(as_graph(network))


@pytest.mark.parametrize("network", [nx.complete_graph(5), nx.complete_bipartite_graph(3, 3), nx.petersen_graph()])
def test_networks_that_are_not_planar_are_refused(network):
    hidden = nx.union(nx.grid_2d_graph(5, 5), network)
    for candidate in (network, hidden):
        with pytest.raises(OptionError, match="not planar"):
            Planar().prepare(as_graph(candidate))


def test_a_wrong_rotation_is_noticed_by_eulers_formula():
    graph = as_graph(nx.grid_2d_graph(4, 4))
    whole = embed(graph)
    assert euler_defect(whole.start, whole.heads, whole.rank) == 0
    wrong = whole.rank.copy()
    inner = graph.start[5]
    wrong[[inner, inner + 1]] = wrong[[inner + 1, inner]]
    assert euler_defect(whole.start, whole.heads, wrong) > 0


def test_disconnected_networks_and_isolated_nodes_embed():
    network = nx.disjoint_union_all([nx.path_graph(1), nx.cycle_graph(5), nx.path_graph(1), nx.star_graph(4)])
    whole = embed(as_graph(network))
    assert euler_defect(whole.start, whole.heads, whole.rank) == 0


def test_a_foreign_graph_is_refused():
    splitter: PlanarSplitter = Planar().prepare(as_graph(nx.path_graph(6)))
    with pytest.raises(OptionError, match="no subgraph"):
        splitter.split(as_graph(nx.cycle_graph(6)))


@pytest.mark.parametrize("stretch", [-1.0, float("nan")])
def test_a_senseless_stretch_is_refused(stretch):
    with pytest.raises(OptionError, match="stretch"):
        Planar(stretch).prepare(as_graph(nx.path_graph(3)))


@settings(max_examples=60, deadline=None)
@given(family=st.sampled_from(sorted(FAMILIES)), n=st.integers(4, 72), seed=st.integers(0, 10**6))
def test_the_fallback_for_small_graphs_keeps_the_guarantees(family, n, seed):
    network = FAMILIES[family](n, seed)
    graph = as_graph(network.subgraph(sorted(network)[:72]))
    if len(components(graph)) > 1 or 2 * graph.num_edges == graph.num_nodes * (graph.num_nodes - 1):
        return
    check(graph, Split(_around_least_degree(graph)))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(6, 40), p=st.floats(0.05, 0.5), seed=st.integers(0, 10**6), width=st.integers(1, 40))
def test_tightening_never_makes_a_separator_worse(n, p, seed, width):
    graph = as_graph(nx.gnp_random_graph(n, p, seed=seed))
    side = sides_around(graph.start, graph.heads, np.random.default_rng(seed).choice(n, n // 2, replace=False))
    before, sizes = side.copy(), np.bincount(side, minlength=3)
    limit = max(sizes[LEFT], sizes[RIGHT]) + seed % 3
    if min(sizes[LEFT], sizes[RIGHT]) == 0:
        return
    tighten(graph.start, graph.heads, side, limit, width)
    assert separates(graph, Split(side))
    after = np.bincount(side, minlength=3)
    assert 1 <= min(after[LEFT], after[RIGHT]) <= max(after[LEFT], after[RIGHT]) <= limit
    assert after[0] * (n + 2 * max(after[1:])) <= sizes[0] * (n + 2 * max(sizes[1:]))
    assert (after[0] == sizes[0]) or (side != before).any()


@settings(max_examples=60, deadline=None)
@given(n=st.integers(6, 30), p=st.floats(0.05, 0.7), seed=st.integers(0, 10**6))
def test_tightening_between_two_vertices_is_mengers_theorem(n, p, seed):
    network = nx.gnp_random_graph(n, p, seed=seed)
    network.remove_edges_from([(0, 1)])
    graph, side = as_graph(network), np.full(n, SEPARATOR, np.int8)
    side[0], side[1] = LEFT, RIGHT
    least = nx.node_connectivity(network, 0, 1)
    if tighten(graph.start, graph.heads, side, n, n):
        assert separates(graph, Split(side))
        assert (side == SEPARATOR).sum() == least
    else:  # a cut of this size, however lopsided, would not have scored better
        assert least * 1.5 >= (n - 2) * (0.5 + 1 / n)
