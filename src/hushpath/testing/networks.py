"""The small networks that every suite runs on, and their distances by scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ..arrays import Float, Int
from ..lab.networks import grid_ends
from ..mechanism.base import Mechanism
from ..network.network import Network
from ..network.topology import Topology
from ..noise import simulation

_EDGES: dict[str, tuple[int, Any]] = {  # the number of nodes, and the two nodes of each edge
    "path": (50, [(i, i + 1) for i in range(49)]),
    "star": (30, [(0, i) for i in range(1, 30)]),
    "cycle": (31, [(i, (i + 1) % 31) for i in range(31)]),
    "grid": (108, grid_ends(9, 12)),
    "disconnected": (9, [(0, 1), (1, 2), (4, 5), (5, 6), (6, 4)]),
    "zero weights": (36, grid_ends(6, 6)),
    "one node": (1, []),
    "parallel edges": (3, [(0, 1), (1, 0), (0, 1), (1, 2), (2, 1), (2, 2), (2, 0)]),
    "directed": (40, simulation(7).integers(0, 40, (120, 2))),
}
NETWORKS = tuple(_EDGES)
MAX_WEIGHT = 20.0


def build(n: int, ends: ArrayLike, weights: ArrayLike, **options: Any) -> Network:
    """Build a network of nodes 0 to n - 1 from pairs of nodes, one per edge."""
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    return Network.build(range(n), tails, heads, weights, parallel_edges=True, **options)


def network(name: str, *, forest: bool = False, change: tuple[int, float] | None = None) -> Network:
    """Return one of ``NETWORKS``: at most 108 nodes, weights from 0 to ``MAX_WEIGHT``.

    Parameters
    ----------
    name
        One of ``NETWORKS``.
    forest
        Whether to keep a spanning forest only.
    change
        Adds an amount to the weight of one edge, named by the row it is built from: a neighbouring network.

    Examples
    --------
    >>> network("disconnected").topology.num_edges, network("disconnected", forest=True).topology.num_edges
    (5, 4)
    """
    n, ends = _EDGES[name]
    ends = np.array(ends, np.int64).reshape(-1, 2)
    weights = simulation(0).uniform(0.5, MAX_WEIGHT, len(ends))
    if name == "zero weights":
        weights *= simulation(7).random(len(ends)) < 0.5
    if forest:
        kept = forest_edges(n, ends)
        ends, weights = ends[kept], weights[kept]
    if change is not None:
        weights[change[0]] += change[1]
    return build(n, ends, weights, directed=name == "directed")


def network_for(mechanism: Mechanism, name: str, change: tuple[int, float] | None = None) -> Network:
    """Return a network, or its spanning forest if the mechanism refuses the network itself."""
    net = network(name, change=change)
    return network(name, forest=True, change=change) if mechanism.unfit(net.topology) else net


def exact_distances(topology: Topology, lengths: Float, sources: Int | None = None) -> Float:
    """Return scipy's distances for one non-negative length per edge; of parallel edges the shortest counts."""
    n = topology.num_nodes
    best: dict[tuple[int, int], float] = {}
    arcs = list(zip(topology.tails.tolist(), topology.heads.tolist(), lengths.tolist(), strict=True))
    if not topology.directed:
        arcs += [(v, u, w) for u, v, w in arcs]
    for u, v, w in arcs:
        best[u, v] = min(w, best.get((u, v), np.inf))
    rows, columns = np.array(list(best), np.int64).reshape(-1, 2).T
    # An explicit zero is an edge of length zero in a sparse matrix.
    graph = csr_array((np.array(list(best.values()), float), (rows, columns)), shape=(n, n))
    return np.asarray(dijkstra(graph, directed=True, indices=sources))


def forest_edges(n: int, ends: Int) -> list[int]:
    """Return the positions of edges that join each component without a cycle, the first ones that do."""
    parent, kept = list(range(n)), []

    def root(v: int) -> int:
        while parent[v] != v:
            v = parent[v]
        return v

    for edge, (u, v) in enumerate(ends.tolist()):
        if root(u) != root(v):
            parent[root(u)] = root(v)
            kept.append(edge)
    return kept
