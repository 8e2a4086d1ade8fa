"""The named networks every conformance suite runs on, and small random ones for property tests."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import Delaunay

from hushpath import Network
from hushpath.mechanism.registry import MECHANISMS


def build(n, ends, weights, **options):
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    return Network.build(range(n), tails, heads, weights, parallel_edges=True, **options)


def grid_ends(a, b):
    at = np.arange(a * b).reshape(a, b)
    return np.concatenate(
        [
            np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1),
            np.stack([at[:-1].ravel(), at[1:].ravel()], 1),
        ]
    )


def delaunay_ends(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    return np.unique(ends, axis=0)


def _weights(m, seed=0):
    return np.random.default_rng(seed).uniform(0.5, 20.0, m)


def named(name):
    rng = np.random.default_rng(7)
    if name == "path":
        return build(50, [(i, i + 1) for i in range(49)], _weights(49))
    if name == "star":
        return build(30, [(0, i) for i in range(1, 30)], _weights(29))
    if name == "cycle":
        return build(31, [(i, (i + 1) % 31) for i in range(31)], _weights(31))
    if name == "grid":
        ends = grid_ends(9, 12)
        return build(108, ends, _weights(len(ends)))
    if name == "disconnected":
        return build(9, [(0, 1), (1, 2), (4, 5), (5, 6), (6, 4)], _weights(5))
    if name == "zero weights":
        ends = grid_ends(6, 6)
        return build(36, ends, _weights(len(ends)) * (rng.random(len(ends)) < 0.5))
    if name == "one node":
        return build(1, [], [])
    if name == "parallel edges":
        ends = [(0, 1), (1, 0), (0, 1), (1, 2), (2, 1), (2, 2), (2, 0)]
        return build(3, ends, _weights(7))
    if name == "planar":
        ends = delaunay_ends(5000)
        return build(5000, ends, _weights(len(ends)))
    if name == "directed":
        ends = rng.integers(0, 40, (120, 2))
        return build(40, ends, _weights(120), directed=True)
    raise KeyError(name)


SMALL = [
    "path", "star", "cycle", "grid", "disconnected", "zero weights", "one node", "parallel edges", "directed",
]  # fmt: skip
ALL = [*SMALL, "planar"]


def exact_distances(topology, lengths, sources=None):
    """scipy's distances for one non-negative length per edge; parallel edges by their minimum."""
    n = topology.num_nodes
    best = {}
    arcs = list(zip(topology.tails.tolist(), topology.heads.tolist(), lengths.tolist(), strict=True))
    if not topology.directed:
        arcs += [(v, u, w) for u, v, w in arcs]
    for u, v, w in arcs:
        best[u, v] = min(w, best.get((u, v), np.inf))
    rows, columns = np.array(list(best), np.int64).reshape(-1, 2).T
    # An explicit zero is an edge of length zero in a sparse matrix.
    graph = csr_array((np.array(list(best.values()), float), (rows, columns)), shape=(n, n))
    return dijkstra(graph, directed=True, indices=sources)


def fitted(net, mechanism):
    """The network, or its spanning forest if the mechanism refuses the network itself (it is for trees then)."""
    return spanning_forest(net) if MECHANISMS[mechanism].unfit(net.topology) else net


def spanning_forest(net):
    """The same nodes and weights, but only edges that close no cycle."""
    topology, parent = net.topology, list(range(net.topology.num_nodes))

    def root(v):
        while parent[v] != v:
            v = parent[v]
        return v

    kept = []
    for edge, (u, v) in enumerate(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)):
        if root(u) != root(v):
            parent[root(u)] = root(v)
            kept.append(edge)
    ends = np.stack([topology.tails, topology.heads], 1)[kept]
    return build(topology.num_nodes, ends, net.weights.reveal()[kept], directed=topology.directed)


def random_network(rng, *, most_nodes=9, directed=None):
    """A small random network: parallel edges, zeros and several components all occur."""
    n = int(rng.integers(1, most_nodes + 1))
    m = int(rng.integers(0, 2 * n + 1)) if n > 1 else 0
    ends = rng.integers(0, n, (m, 2))
    weights = rng.integers(0, 6, m) * rng.choice([1.0, 0.25, 0.37])
    directed = bool(rng.random() < 0.3) if directed is None else directed
    return build(n, ends, weights, directed=directed)
