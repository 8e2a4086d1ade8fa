"""The named networks every conformance suite runs on, and small random ones for property tests."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

from hushpath.mechanism.registry import MECHANISMS
from hushpath.testing.networks import NETWORKS, build, exact_distances, forest_edges, grid_ends, network

SMALL = list(NETWORKS)
ALL = [*SMALL, "planar"]


def delaunay_ends(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    return np.unique(ends, axis=0)


def named(name):
    if name != "planar":
        return network(name)
    ends = delaunay_ends(5000)
    return build(5000, ends, np.random.default_rng(0).uniform(0.5, 20.0, len(ends)))


def fitted(net, mechanism):
    """The network, or its spanning forest if the mechanism refuses the network itself (it is for trees then)."""
    return spanning_forest(net) if MECHANISMS[mechanism].unfit(net.topology) else net


def spanning_forest(net):
    """The same nodes and weights, but only edges that close no cycle."""
    topology = net.topology
    ends = np.stack([topology.tails, topology.heads], 1)
    kept = forest_edges(topology.num_nodes, ends)
    return build(topology.num_nodes, ends[kept], net.weights.reveal()[kept], directed=topology.directed)


def random_network(rng, *, most_nodes=9, directed=None):
    """A small random network: parallel edges, zeros and several components all occur."""
    n = int(rng.integers(1, most_nodes + 1))
    m = int(rng.integers(0, 2 * n + 1)) if n > 1 else 0
    ends = rng.integers(0, n, (m, 2))
    weights = rng.integers(0, 6, m) * rng.choice([1.0, 0.25, 0.37])
    directed = bool(rng.random() < 0.3) if directed is None else directed
    return build(n, ends, weights, directed=directed)


__all__ = [
    "ALL", "SMALL", "build", "delaunay_ends", "exact_distances", "fitted", "grid_ends", "named", "random_network",
    "spanning_forest",
]  # fmt: skip
