"""Chains and pendant trees contracted: the structure on known shapes, and exact answers on networks full of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import build, exact_distances, grid_ends

from hushpath.index.index import Index, fit_in_32_bits
from hushpath.index.partition import MOST, contract, partition
from hushpath.kernels.minplus import NOTHING


def with_trees(rng, *, most=40, directed=False):
    """A small random core whose edges are chains of any length, some back to where they began, with trees on all."""
    n = int(rng.integers(1, 8))
    ends = []
    for _ in range(int(rng.integers(0, 14))):
        a, b, inside = int(rng.integers(0, n)), int(rng.integers(0, n)), int(rng.choice([0, 0, 1, 2, 5, most]))
        stops = [a, *range(n, n + inside), b]
        n += inside
        ends += list(pairwise(stops))
    for v in range(n, n + int(rng.integers(0, 60))):
        ends.append((int(rng.integers(0, v)) if rng.random() < 0.4 else v - 1, v))
        n += 1
    ends = np.array(ends, np.int64).reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]]
    if directed:
        ends = np.concatenate([ends, ends[rng.random(len(ends)) < 0.7][:, ::-1]])
    named = rng.permutation(n)
    return build(n, named[ends], np.ones(len(ends)), directed=directed)


def ask(index, n):
    """The same matrix in every way there is."""
    everyone = np.arange(n)
    rows, matrix, products = np.empty((3, n, n))
    for s in range(n):
        index.rows(everyone[s : s + 1], rows[s : s + 1])
    index.matrix(everyone, None, matrix)
    yield from (rows, matrix)
    yield index.pairs(np.repeat(everyone, n), np.tile(everyone, n)).reshape(n, n)
    if index.labels is not None:
        index._products(everyone, everyone, np.argsort(index._deepest(everyone), kind="stable"), products)
        yield products


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([1, 2**28]))
def test_contracted_networks_answer_as_dijkstra_does(seed, directed, scale):
    rng = np.random.default_rng(seed)
    net = with_trees(rng, directed=directed)
    lengths = rng.integers(0, 9, net.topology.num_edges) * float(scale)
    expected = exact_distances(net.topology, lengths)
    for labels in (False, True):
        index = Index.customise(partition(net.topology), lengths, 1.0, labels=labels)
        for answer in ask(index, net.topology.num_nodes):
            assert np.array_equal(answer, expected)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_trees_are_small_and_hang_on_their_ends_alone(seed, directed):
    network = with_trees(np.random.default_rng(seed), directed=directed).topology.wiring
    contracted = contract(network)
    every = np.sort(np.concatenate([contracted.core, contracted.own.items]))
    assert np.array_equal(every, np.arange(network.num_nodes))
    assert contracted.own.sizes().max(initial=0) <= MOST
    start, heads = network.neighbours
    number = {v: i for i, v in enumerate(contracted.core.tolist())}
    for f, mine in enumerate(contracted.own):
        around = {int(u) for v in mine for u in heads[start[v] : start[v + 1]]} - set(mine.tolist())
        assert {number[u] for u in around} == set(contracted.ends[f].tolist()) - {-1}
        for place, up in enumerate(contracted.above[contracted.own.start[f] : contracted.own.start[f + 1]]):
            assert up < place  # parents come first


@pytest.mark.parametrize(
    ("n", "ends", "stay"),
    [
        (1000, [(0, v) for v in range(1, 1000)], 1),  # a star
        (20, [(v, v + 1) for v in range(19)], 1),  # a short path
        (30, [(v, (v + 1) % 30) for v in range(30)], 1),  # a short cycle
        (33, [(v, (v + 1) % 30) for v in range(30)] + [(30, 31), (31, 32)], 2),  # and a path beside it
        (2, [(0, 1), (0, 1)], 1),
        (5, [], 5),
        (9, grid_ends(3, 3), 5),  # corners are chains of one; the four edges and the middle stay
    ],
)
def test_known_shapes(n, ends, stay):
    net = build(n, np.array(ends, np.int64).reshape(-1, 2), np.ones(len(ends)))
    assert len(contract(net.topology.wiring).core) == stay


def test_of_long_chains_and_large_trees_some_vertices_stay():
    for ends in ([(v, v + 1) for v in range(9_999)], [(v, (v + 1) % 10_000) for v in range(10_000)]):
        contracted = contract(build(10_000, np.array(ends), np.ones(len(ends))).topology.wiring)
        assert 10_000 // (MOST + 1) - 1 <= len(contracted.core) <= 10_000 // MOST + 1
    below = np.arange(1, 10_000)
    tree = np.stack([below // 2, below], 1)
    core = len(contract(build(10_000, tree, np.ones(9_999)).topology.wiring).core)
    assert core < 10_000 // 8


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_no_distance_that_needs_more_than_32_bits_is_overlooked(seed, directed):
    rng = np.random.default_rng(seed)
    topology = with_trees(rng, most=4, directed=directed).topology
    lengths = rng.integers(0, NOTHING // int(rng.integers(1, 60)), topology.num_edges).astype(float)
    lengths[rng.random(len(lengths)) < rng.choice([0.0, 0.3])] = np.inf  # as one direction of a chain of one-way roads
    distances = exact_distances(topology, lengths)
    longest = distances[np.isfinite(distances)].max()
    if fit_in_32_bits(topology.wiring, lengths, 0.0):
        assert longest < NOTHING
    if not directed and longest * 2 < NOTHING:  # and it is not shy: twice the way to any vertex is enough
        assert fit_in_32_bits(topology.wiring, lengths, 0.0)


@pytest.mark.parametrize("directed", [False, True])
def test_the_last_number_of_32_bits(directed):
    ends = grid_ends(2, 40)
    net = build(80, ends, np.ones(len(ends)), directed=directed)
    for top, kind in ((NOTHING - 100, np.int32), (NOTHING, np.float64)):
        lengths = np.zeros(len(ends))
        lengths[:] = top // 40 / 2
        lengths = np.floor(lengths) if kind == np.int32 else lengths * 3
        index = Index.customise(partition(net.topology), lengths, 1.0)
        assert index.tables.side_out.dtype == kind
        for answer in ask(index, 80):
            assert np.array_equal(answer, exact_distances(net.topology, lengths))


def test_a_road_of_one_way_chains_needs_64_bits():
    """Its core has both directions of every chain; the one that cannot be driven must not make it look short."""
    many, long, ends, lengths = 40, 2**30 // 20, [], []
    n = many + 2

    def chain(a, b, length):
        nonlocal n, ends, lengths
        ends, lengths, n = [*ends, (a, n), (n, b)], [*lengths, length, 0.0], n + 1

    for i in range(1, many + 1):
        chain(i, i + 1, long)
        chain(i, i + 1, long)
    for _ in range(3):
        chain(1, 0, 1)  # whoever gets there gets nowhere
    topology = build(n, np.array(ends), np.ones(len(ends)), directed=True).topology
    at = {(a, b): i for i, (a, b) in enumerate(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True))}
    steps = np.empty(len(ends))
    steps[[at[pair] for pair in ends]] = lengths
    expected = exact_distances(topology, steps)
    assert expected[1, many + 1] > NOTHING
    for answer in ask(Index.customise(partition(topology), steps, 1.0), n):
        assert np.array_equal(answer, expected)


def test_what_lies_before_and_after_the_core_counts_towards_32_bits():
    """Two long dead ends on a square with diagonals: the distance between them is what just fits, or does not."""
    square = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)]
    topology = build(6, np.array([*square, (0, 4), (2, 5)]), np.ones(8)).topology
    at = {(a, b): i for i, (a, b) in enumerate(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True))}
    for top, kind in ((NOTHING - 8, np.int32), (NOTHING + 8, np.float64)):
        lengths = np.ones(8)
        lengths[[at[0, 4], at[2, 5]]] = (top - 7) // 2
        index = Index.customise(partition(topology), lengths, 1.0)
        assert index.tables.side_out.dtype == kind
        for answer in ask(index, 6):
            assert np.array_equal(answer, exact_distances(topology, lengths))
