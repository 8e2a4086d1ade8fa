"""Each kernel equals its slow twin, bit for bit on integers."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_reference import breadth_first_reference, distances_from_reference
from named_graphs import SMALL, named, random_network

from hushpath.kernels.paths import distances_from, in_threads
from hushpath.kernels.search import (
    CLOSED,
    FREE,
    NO_LIMIT,
    breadth_first,
    carve_balls,
    components,
    count_hops,
    find_crowded_balls,
    find_nearest,
    hops_from,
)
from hushpath.measurement.samples import few_hops, sampled_hops


def both(topology, lengths):
    n = topology.num_nodes
    out = np.empty((n, n), lengths.dtype)
    distances_from(topology.arcs, lengths, np.arange(n), out)
    return out, np.stack([distances_from_reference(topology.arcs, lengths, s) for s in range(n)])


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("name", SMALL)
def test_dijkstra_equals_its_twin_on_named_networks(name, dtype):
    topology = named(name).topology
    lengths = np.random.default_rng(0).integers(0, 2**40, topology.num_edges).astype(dtype)[topology.arcs.edges]
    fast, slow = both(topology, lengths)
    assert np.array_equal(fast, slow)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_dijkstra_equals_its_twin_on_random_networks(seed):
    rng = np.random.default_rng(seed)
    topology = random_network(rng, most_nodes=14).topology
    lengths = rng.integers(0, 5, topology.num_edges)[topology.arcs.edges]
    fast, slow = both(topology, lengths)
    assert np.array_equal(fast, slow)


@pytest.mark.parametrize("name", SMALL)
def test_hops_are_distances_over_edges_of_length_one(name):
    topology = named(name).topology
    arcs, n = topology.arcs, topology.num_nodes
    _, slow = both(topology, np.ones(len(arcs.heads)))
    hops = np.array([hops_from(arcs.start, arcs.heads, source) for source in range(n)])
    assert np.array_equal(np.where(hops == FREE, np.inf, hops), slow)
    near = slow[np.isfinite(slow)].astype(np.int64)
    assert np.array_equal(count_hops(arcs.start, arcs.heads, np.arange(n)), np.bincount(near, minlength=n))


@pytest.mark.parametrize("name", SMALL)
def test_sampled_hops_of_a_small_network_are_those_of_all_pairs(name):
    topology = named(name).topology
    _, slow = both(topology, np.ones(len(topology.arcs.heads)))
    apart = slow[np.isfinite(slow) & (slow > 0)]
    sample = sampled_hops(topology)
    assert sample.pairs.sum() == len(apart)
    assert sample.mean == pytest.approx(apart.mean() if len(apart) else 0.0)
    assert set(few_hops(topology).hops) <= set(sample.hops)


def test_stopping_at_a_target_keeps_its_distance():
    topology = named("grid").topology
    lengths = np.random.default_rng(1).random(topology.num_edges)[topology.arcs.edges]
    full, _ = both(topology, lengths)
    row = np.empty((1, topology.num_nodes))
    for target in range(topology.num_nodes):
        distances_from(topology.arcs, lengths, np.array([3]), row, target=target)
        assert row[0, target] == full[3, target]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17])
def test_threads_cover_every_row_once(count):
    seen = np.zeros(count, int)

    def run(rows):
        seen[rows] += 1

    in_threads(run, count)
    assert (seen == 1).all()


def search(arcs, hops, sources, radius, most):
    """The kernel and its twin on one search: nodes in order, hops, parents, arcs."""
    n = len(arcs.start) - 1
    expected = breadth_first_reference(arcs.start, arcs.heads, hops, sources, radius, most)
    queue, parent, arrival = np.empty(n, np.int64), np.full(n, -1), np.full(n, -1)
    queue[: len(sources)] = sources
    size = breadth_first(arcs.start, arcs.heads, hops, queue, len(sources), radius, most, parent, arrival)
    return [(v, hops[v], parent[v], arrival[v]) for v in queue[:size].tolist()], expected


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 3, NO_LIMIT]), st.sampled_from([1, 4, NO_LIMIT]))
def test_breadth_first_equals_its_twin(seed, radius, most):
    """Closed nodes, several sources at 0 and 1 hops, a radius, a number of nodes: the same nodes in the same order."""
    rng = np.random.default_rng(seed)
    arcs = random_network(rng, most_nodes=14).topology.arcs
    n = len(arcs.start) - 1
    hops = np.where(rng.random(n) < 0.2, CLOSED, FREE)
    sources = rng.permutation(n)[: rng.integers(1, n + 1)].tolist()
    hops[sources] = rng.integers(0, 2, len(sources))
    found, expected = search(arcs, hops, sources, radius, most)
    assert found == expected
    assert np.array_equal(np.sort([v for v, *_ in found]), np.flatnonzero(hops >= 0))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_searches_by_hops_agree_with_distances(seed):
    rng = np.random.default_rng(seed)
    topology = random_network(rng, most_nodes=14, directed=False).topology
    arcs, n = topology.arcs, topology.num_nodes
    away, _ = both(topology, np.ones(len(arcs.heads)))
    reached = np.where(np.isinf(away), -1, away)
    assert np.array_equal([hops_from(arcs.start, arcs.heads, v) for v in range(n)], reached)

    chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
    owner, hops = find_nearest(arcs.start, arcs.heads, chosen)
    least = away[chosen].min(axis=0)
    assert np.array_equal(hops, np.where(np.isinf(least), -1, least))
    assert all((hops[v] == away[owner[v], v] and owner[v] in chosen) or hops[v] == owner[v] == -1 for v in range(n))

    order, begin = components(arcs.start, arcs.heads, np.full(n, FREE))
    parts = [set(order[a:b].tolist()) for a, b in pairwise(begin)]
    assert parts == [set(np.flatnonzero(topology.components == c).tolist()) for c in range(len(parts))]

    radius, least = int(rng.integers(0, 4)), int(rng.integers(1, 5))
    middles, taken = [], np.zeros(n, bool)
    for v in range(n):
        ball = away[v] <= radius
        if ball.sum() >= least and not (ball & taken).any():
            middles.append(v)
            taken |= ball
    assert find_crowded_balls(arcs.start, arcs.heads, radius, least).tolist() == middles


def test_balls_take_what_is_free_in_turn():
    arcs = named("path").topology.arcs
    n = len(arcs.start) - 1
    order = np.concatenate([[2, 5], np.delete(np.arange(n), [2, 5])])
    balls = carve_balls(arcs.start, arcs.heads, order, np.full(n, 2))
    assert balls[:8].tolist() == [0, 0, 0, 0, 0, 1, 1, 1]  # node 4 went to the first, 2 hops away
    assert balls.max() == 1 + -(-(n - 8) // 3)
