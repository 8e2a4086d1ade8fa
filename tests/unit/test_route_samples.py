"""Routes from a public sample of nodes: what they count, and in what order nodes lie in memory."""

import numpy as np
import pytest
from noisy_grid import grid

from hushpath import Network
from hushpath.measurement import samples
from hushpath.measurement.samples import routes, usage


@pytest.fixture(scope="module")
def plane():
    return grid(12)


def test_usage_counts_shortest_paths():
    net = Network.build(range(4), [0, 1, 2, 0], [1, 2, 3, 3], np.ones(4))
    ends = list(zip(net.topology.tails.tolist(), net.topology.heads.tolist(), strict=True))
    weight = {(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0, (0, 3): 9.0}
    used = dict(zip(ends, usage(net.topology, np.array([weight[end] for end in ends])), strict=True))
    assert used == {(0, 1): 6 / 16, (1, 2): 8 / 16, (2, 3): 6 / 16, (0, 3): 0.0}


def test_routes_go_downhill(plane):
    for found in routes(plane.topology, np.random.default_rng(0).random(plane.topology.num_edges)):
        child = np.flatnonzero(found.edge >= 0)
        assert (found.distance[found.parent[child]] < found.distance[child]).all()
        assert len(child) == plane.topology.num_nodes - 1


def shuffled(network, seed=3):
    """The same network with nodes called in another order."""
    topology, n = network.topology, network.topology.num_nodes
    called = np.random.default_rng(seed).permutation(n)
    ends, ones = (topology.tails, topology.heads), np.ones(topology.num_edges)
    return Network.build(called, *ends, ones, parallel_edges=True).topology


def test_what_routes_tell_does_not_depend_on_how_nodes_are_numbered(plane, monkeypatch):
    topology = shuffled(plane)
    weights = np.random.default_rng(1).uniform(1, 9, topology.num_edges)
    monkeypatch.setattr(samples, "SEARCHED", 16 * topology.num_nodes)
    found = {}
    for many in (10**9, 1):
        monkeypatch.setattr(samples, "MANY_NODES", many)
        monkeypatch.setattr(samples, "sources_of", lambda _: np.arange(5, 21))
        samples.side_by_side.cache_clear()
        found[many] = usage(topology, weights), np.sort(samples.distances(topology, weights))
    samples.side_by_side.cache_clear()
    for one, other in zip(*found.values(), strict=True):
        assert np.allclose(one, other, rtol=1e-6)


def test_arcs_side_by_side_are_the_same_network(plane, monkeypatch):
    topology = shuffled(plane)
    monkeypatch.setattr(samples, "MANY_NODES", 1)
    samples.side_by_side.cache_clear()
    arcs, number = samples.side_by_side(topology)
    samples.side_by_side.cache_clear()
    assert np.array_equal(np.sort(number), np.arange(topology.num_nodes))
    ends = np.stack([np.repeat(np.arange(topology.num_nodes), np.diff(arcs.start)), arcs.heads])
    wanted = np.sort(np.stack([number[topology.tails], number[topology.heads]])[:, arcs.edges], axis=0)
    assert np.array_equal(np.sort(ends, axis=0), wanted)
    assert np.abs(np.diff(ends, axis=0)).mean() < np.abs(topology.heads - topology.tails).mean()


def test_fewer_samples_are_drawn_of_larger_networks(plane, monkeypatch):
    topology, n = plane.topology, plane.topology.num_nodes
    assert len(samples.sources_of(topology)) == 32
    monkeypatch.setattr(samples, "MANY_NODES", 1)
    for searched, count in ((n * 100, 16), (n * 7, 7), (1, 2)):
        monkeypatch.setattr(samples, "SEARCHED", searched)
        assert len(samples.sources_of(topology)) == count


def test_a_few_sources_are_enough_in_large_networks(plane, monkeypatch):
    topology = plane.topology
    weights = np.random.default_rng(1).uniform(1, 9, topology.num_edges)
    whole = usage(topology, weights)
    assert np.array_equal(usage(topology, weights, 4), whole)
    monkeypatch.setattr(samples, "MANY_NODES", 1)
    samples.side_by_side.cache_clear()
    assert len(list(routes(topology, weights, 4))) == 4
    some = usage(topology, weights, 4)
    samples.side_by_side.cache_clear()
    assert np.corrcoef(some, whole)[0, 1] > 0.6
    assert some.sum() == pytest.approx(whole.sum(), rel=0.4)  # a share of pairs, however many sources there are
