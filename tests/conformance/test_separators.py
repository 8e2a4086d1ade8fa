"""One suite for every separator family: the axioms of a split on named networks, at every cell of the recursion."""

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay

from hushpath.separators.families import FAMILIES
from hushpath.separators.graph import LEFT, RIGHT, SEPARATOR, Graph, Split, separates


def shuffled(network, seed=3):
    names = list(network)
    order = np.random.default_rng(seed).permutation(len(names))
    return nx.relabel_nodes(network, {name: int(i) for name, i in zip(names, order, strict=True)})


def partial_k_tree(n, k, keep, seed=5):
    rng = np.random.default_rng(seed)
    network = nx.complete_graph(k)
    cliques = [tuple(range(k))]
    for v in range(k, n):
        clique = cliques[rng.integers(len(cliques))]
        network.add_edges_from((v, u) for u in clique)
        cliques += [(*(u for u in clique if u != gone), v) for gone in clique]
    network.remove_edges_from([e for e in network.edges if rng.random() >= keep])
    return shuffled(network)


def delaunay(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    return nx.Graph([(int(t[i]), int(t[i - 1])) for t in triangles for i in range(3)])


NAMED = {
    "two nodes": lambda: nx.path_graph(2),
    "path": lambda: shuffled(nx.path_graph(60)),
    "path of three": lambda: nx.path_graph(3),
    "star": lambda: nx.star_graph(40),
    "binary tree": lambda: shuffled(nx.balanced_tree(2, 6)),
    "caterpillar": lambda: shuffled(nx.Graph([(i, i + 1) for i in range(30)] + [(i, 100 + i) for i in range(31)])),
    "forest": lambda: shuffled(nx.disjoint_union(nx.balanced_tree(3, 3), nx.path_graph(20))),
    "cycle": lambda: shuffled(nx.cycle_graph(41)),
    "ladder": lambda: shuffled(nx.ladder_graph(25)),
    "wheel": lambda: nx.wheel_graph(40),
    "grid 7x9": lambda: shuffled(nx.grid_2d_graph(7, 9)),
    "grid 16x16": lambda: shuffled(nx.grid_2d_graph(16, 16)),
    "square": lambda: nx.cycle_graph(4),
    "partial 2-tree": lambda: partial_k_tree(300, 2, 0.8),
    "partial 3-tree": lambda: partial_k_tree(300, 3, 0.8),
    "Delaunay 400": lambda: shuffled(delaunay(400)),
    "two Delaunay": lambda: nx.disjoint_union(delaunay(60), delaunay(90, seed=1)),
    "clique": lambda: nx.complete_graph(12),
    "nearly a clique": lambda: nx.complement(nx.compose(nx.empty_graph(12), nx.Graph([(0, 1), (2, 3)]))),
    "dense": lambda: nx.gnp_random_graph(60, 0.4, seed=2),
    "sparse random": lambda: nx.gnm_random_graph(500, 800, seed=2),
    "bipartite": lambda: nx.complete_bipartite_graph(5, 30),
}
TREES = ["two nodes", "path of three", "path", "star", "binary tree", "caterpillar", "forest"]
GRIDS = ["two nodes", "path of three", "path", "ladder", "square", "grid 7x9", "grid 16x16"]
THICK = [*TREES, *GRIDS[3:], "cycle", "wheel", "partial 2-tree", "partial 3-tree", "clique", "bipartite"]
THICK += ["nearly a clique", "Delaunay 400"]
PLANAR = [*TREES, *GRIDS[3:], "cycle", "wheel", "partial 2-tree", "Delaunay 400", "two Delaunay"]
ACCEPTED = {"tree": TREES, "grid": GRIDS, "treewidth": THICK, "planar": PLANAR, "general": list(NAMED)}
CASES = [(family, name) for family in FAMILIES for name in dict.fromkeys(ACCEPTED[family])]


def as_graph(network):
    ends = np.array(list(network.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(network.number_of_nodes(), ends[:, 0], ends[:, 1])


def within(n, tails, heads, vertices, kept):
    """The subgraph on these edges; vertices without any are pruned."""
    tails, heads = tails[kept], heads[kept]
    used = np.union1d(tails, heads)
    place = np.zeros(n, np.int64)
    place[used] = np.arange(len(used))
    return Graph.from_edges(len(used), place[tails], place[heads], vertices[used])


def components(graph):
    n = graph.num_nodes
    matrix = csr_array((np.ones(len(graph.heads)), graph.heads, graph.start), shape=(n, n))
    count, label = connected_components(matrix, directed=False)
    if count == 1:
        return [graph]
    tails, heads = graph.edges()
    return [within(n, tails, heads, graph.vertices, label[tails] == c) for c in np.unique(label[tails])]


def children(graph, split):
    tails, heads = graph.edges()
    a, b = split.side[tails], split.side[heads]
    inner = (a == SEPARATOR) & (b == SEPARATOR)
    for away in (RIGHT, LEFT):
        yield within(graph.num_nodes, tails, heads, graph.vertices, (a != away) & (b != away) & ~inner)


def cells(graph, splitter, smallest=3):
    """Every connected cell of the recursion with its split."""
    stack = components(graph)
    while stack:
        cell = stack.pop()
        if cell.num_nodes < smallest:
            continue
        split = splitter.split(cell)
        yield cell, split
        if split is not None:
            stack += [part for child in children(cell, split) for part in components(child)]


def complete(graph):
    return 2 * graph.num_edges == graph.num_nodes * (graph.num_nodes - 1)


def most_in_separator(family, splitter, cell):
    if family == "tree":
        return 1
    if family == "treewidth":
        return splitter.width + 1
    if family == "grid":
        rows, columns = splitter.rows[cell.vertices], splitter.columns[cell.vertices]
        return min(np.ptp(rows), np.ptp(columns)) + 1
    if family == "planar":
        return np.sqrt(8 * cell.num_nodes)
    return cell.num_nodes - 2


def promises_balance(family, splitter, cell, split):
    if family == "treewidth":
        return cell.num_nodes > 2 * (splitter.width + 1)
    if family == "general":  # or the neighbourhood of one vertex
        return np.bincount(split.side, minlength=3)[1:].min() > 1
    return True


@pytest.fixture(scope="module", params=CASES, ids=lambda case: " on ".join(case))
def recursion(request):
    family, name = request.param
    graph = as_graph(NAMED[name]())
    splitter = FAMILIES[family](graph)
    return family, splitter, list(cells(graph, splitter))


def test_no_edge_joins_the_two_sides(recursion):
    _, _, found = recursion
    assert all(separates(cell, split) for cell, split in found if split is not None)


def test_sides_are_marked_for_every_vertex(recursion):
    _, _, found = recursion
    for cell, split in found:
        if split is not None:
            assert split.side.shape == (cell.num_nodes,)
            assert split.side.dtype == np.int8
            assert set(split.side.tolist()) <= {SEPARATOR, LEFT, RIGHT}


def test_both_sides_have_vertices(recursion):
    _, _, found = recursion
    for _, split in found:
        assert split is None or np.bincount(split.side, minlength=3)[1:].min() > 0


def test_sides_are_balanced_where_promised(recursion):
    family, splitter, found = recursion
    for cell, split in found:
        if split is not None and promises_balance(family, splitter, cell, split):
            assert 3 * np.bincount(split.side, minlength=3)[1:].max() <= 2 * cell.num_nodes


def test_separators_keep_the_bound_of_the_family(recursion):
    family, splitter, found = recursion
    for cell, split in found:
        if split is not None:
            assert (split.side == SEPARATOR).sum() <= most_in_separator(family, splitter, cell)


def test_only_cells_that_cannot_be_split_are_not(recursion):
    family, splitter, found = recursion
    for cell, split in found:
        if split is None:
            assert complete(cell) or (family == "grid" and cell.num_nodes <= 4)


def test_separator_vertices_touch_both_sides(recursion):
    """A vertex that does not could leave the separator."""
    family, splitter, found = recursion
    for cell, split in found:
        if split is None or family == "grid":
            continue
        tails, heads = cell.edges()
        touched = np.zeros((cell.num_nodes, 3), bool)
        touched[tails, split.side[heads]] = True
        touched[heads, split.side[tails]] = True
        sizes = np.bincount(split.side, minlength=3)
        loose = (split.side == SEPARATOR) & ~(touched[:, LEFT] & touched[:, RIGHT])
        balanced = promises_balance(family, splitter, cell, split)
        assert not loose.any() or not balanced or 3 * (sizes[1:].max() + 1) > 2 * cell.num_nodes


def test_the_same_cell_is_split_the_same_way(recursion):
    _, splitter, found = recursion
    for cell, split in found[:20]:
        again = splitter.split(cell)
        assert (again is None) == (split is None)
        if split is not None:
            np.testing.assert_array_equal(again.side, split.side)


@pytest.mark.parametrize("family", FAMILIES)
def test_preparing_twice_gives_the_same_splits(family):
    graph = as_graph(NAMED[ACCEPTED[family][-1]]())
    one, two = (list(cells(graph, FAMILIES[family](graph))) for _ in range(2))
    assert len(one) == len(two)
    for (_, a), (_, b) in zip(one, two, strict=True):
        assert (a is None and b is None) or (a.side == b.side).all()


@pytest.mark.slow
def test_read_only_arrays_are_accepted():
    graph = as_graph(NAMED["path"]())
    for array in (graph.start, graph.heads, graph.vertices):
        array.setflags(write=False)
    for family in FAMILIES:
        assert FAMILIES[family](graph).split(graph) is not None


def test_the_suite_sees_a_bad_separator():
    graph = as_graph(nx.path_graph(5))
    assert not separates(graph, Split(np.array([1, 1, 2, 2, 0], np.int8)))
