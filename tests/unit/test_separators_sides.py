"""Two sides around a separator: the packing lemma."""

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hushpath.separators.graph import LEFT, RIGHT, SEPARATOR, Graph, pack_around, pack_components


def as_graph(network):
    ends = np.array(list(network.edges), np.int64).reshape(-1, 2)
    return Graph.from_edges(network.number_of_nodes(), ends[:, 0], ends[:, 1])


@given(st.lists(st.integers(1, 12), min_size=1, max_size=9))
def test_packing_lemma(sizes):
    total = sum(sizes)
    n = max(total, 2 * max(sizes))  # components hold at most n/2
    graph = as_graph(nx.disjoint_union_all([nx.path_graph(size) for size in sizes]))
    side = np.ones(total, np.int8)
    groups = pack_components(graph.start, graph.heads, side)
    assert sum(groups) == total
    assert [int((side == group).sum()) for group in (1, 2)] == list(groups)
    assert 3 * max(groups) <= 2 * n
    tails, heads = graph.edges()
    assert (side[tails] == side[heads]).all()


@given(st.integers(1, 30), st.floats(0, 0.2), st.integers(0, 9999))
def test_components_around_a_separator_stay_whole_and_are_packed_largest_first(n, density, seed):
    network = nx.gnp_random_graph(n, density, seed=seed)
    separator = np.flatnonzero(np.random.default_rng(seed).random(n) < 0.3)
    graph = as_graph(network)
    side = pack_around(graph.start, graph.heads, separator)
    network.remove_nodes_from(separator.tolist())
    groups = {LEFT: 0, RIGHT: 0}
    for part in sorted(nx.connected_components(network), key=lambda part: (-len(part), min(part))):
        lighter = LEFT if groups[LEFT] <= groups[RIGHT] else RIGHT
        assert (side[sorted(part)] == lighter).all()
        groups[lighter] += len(part)
    assert np.array_equal(np.flatnonzero(side == SEPARATOR), separator)
