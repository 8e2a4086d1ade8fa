"""Each kernel equals its slow twin, bit for bit on integers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels_reference import distances_from_reference
from named_graphs import SMALL, named, random_network

from hushpath.kernels.paths import distances_from, in_threads


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
