"""Public facts about edges that help to predict their weights: lengths, position in the network, neighbours.

Computed from the topology alone, on its undirected skeleton: parallel edges and the two directions of a street are one
*street*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Bool, Float, Int
from ...kernels.paths import in_threads
from ...kernels.routes import hop_usage, straight_on
from ...measurement.samples import side_by_side, usage
from ...network.topology import Topology
from ...noise import simulation
from ...separators.lines import bridge_traffic

LARGE_NETWORK = 20_000  # nodes; beyond, fewer breadth-first trees are grown
MAX_VISITED = 2**22  # nodes visited by all trees of a large network
MAX_TREES, MIN_TREES = 48, 4


@dataclass(frozen=True, eq=False)
class EdgeFacts:
    """Public facts, one entry per edge."""

    lengths: tuple[Float, ...]  # (m,): candidates for the size of a weight, in any unit; NaN where unknown
    traits: Float  # (m, k): standardised facts about the position of an edge in the network
    traffic: Float  # (m,): the share of hop-shortest paths that use the edge
    bridge: Bool  # (m,): whether removing the edge disconnects its ends
    # (m,): labels of edges that are likely to be alike: the same street, chain, or straight line
    groups: tuple[Int, ...]
    # (m,): the two nodes of the edge, numbered so that neighbours are close in memory (``side_by_side``)
    ends: tuple[Int, Int]
    nodes: int  # the number of nodes


@lru_cache(maxsize=2)
def edge_facts(topology: Topology) -> EdgeFacts:
    """Compute the public facts of a network."""
    n, m = topology.num_nodes, topology.num_edges
    number = side_by_side(topology)[1]
    tails, heads_of = number[topology.tails], number[topology.heads]
    low, high = np.minimum(tails, heads_of), np.maximum(tails, heads_of)
    ends, street = np.unique(low * n + high, return_inverse=True)
    a, b = ends // n, ends % n
    count = len(ends)
    source, target, edge = np.concatenate([a, b]), np.concatenate([b, a]), np.tile(np.arange(count), 2)
    order = np.argsort(source, kind="stable")
    heads, edges = target[order], edge[order]
    degree = np.bincount(source, minlength=n)
    start = np.concatenate([[0], np.cumsum(degree)])

    roots = np.arange(n)
    if n > 400:
        trees = 200 if n <= LARGE_NETWORK else max(MIN_TREES, min(MAX_TREES, MAX_VISITED // n))
        roots = number[simulation(0).choice(n, trees, replace=False)]
    used, far = _hop_usage(start, heads, edges, roots, count)
    bridge = bridge_traffic(start, heads, edges, count) > 0
    _, row, rows = np.unique(topology.tails * n + topology.heads, return_inverse=True, return_counts=True)
    single = rows[row] == 1  # of parallel edges paths use the shorter one, so none is a bridge

    def merged(one: Int, other: Int) -> Int:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        graph = coo_array((np.ones(len(one)), (one, other)), shape=(count, count))
        return np.asarray(connected_components(graph, directed=False)[1], np.int64)

    two = np.flatnonzero(degree == 2)
    groups = [merged(edges[start[two]], edges[start[two] + 1])]
    chain = np.bincount(groups[0])[groups[0]]
    lengths: list[Float] = []
    if topology.proxy is not None:
        lengths.append(topology.proxy)
    if topology.coordinates is not None:
        xy = np.empty((n, 2))
        xy[number] = topology.coordinates
        shift, flat = xy[a] - xy[b], np.ones(count)
        if (np.nanmax(np.abs(xy), axis=0, initial=0.0) <= [180, 90]).all():  # perhaps longitude and latitude
            flat = np.cos(np.radians((xy[a, 1] + xy[b, 1]) / 2))
            lengths.append(np.hypot(shift[:, 0] * flat, shift[:, 1])[street])
        lengths.append(np.hypot(shift[:, 0], shift[:, 1])[street])
        at = np.repeat(np.arange(n), degree)
        angles = np.arctan2(xy[heads, 1] - xy[at, 1], (xy[heads, 0] - xy[at, 0]) * np.nanmean(flat))
        pairs = np.zeros((len(heads), 2), np.int64)
        filled = straight_on(start, edges, angles, pairs)
        groups.append(merged(pairs[:filled, 0], pairs[:filled, 1]))
    if count < m:
        groups.append(np.arange(count))
    least, most = np.minimum(degree[a], degree[b]), np.maximum(degree[a], degree[b])
    log_used = np.log(used + 0.5 / n)
    traits = [
        log_used, log_used**2, np.log(least), np.log(most), least == 1, bridge, bridge * log_used,
        np.log((far[a] + far[b]) / 2 + 1), np.log(chain),
    ]  # fmt: skip
    columns = [np.asarray(trait, np.float64)[street] for trait in traits]
    if topology.proxy is not None:
        log_used = np.log(_proxy_usage(topology) + 0.5 / n)
        columns += [log_used, log_used**2]
    return EdgeFacts(
        lengths=tuple(lengths),
        traits=standardise(columns, m),
        traffic=used[street],
        bridge=bridge[street] & single,
        groups=tuple(group[street] for group in groups),
        ends=(tails, heads_of),
        nodes=n,
    )


def _hop_usage(start: Int, heads: Int, edges: Int, roots: Int, count: int) -> tuple[Float, Float]:
    """Return the share of sampled pairs whose path of fewest hops uses each street, and the mean hops to each node.

    ``start``, ``heads`` and ``edges`` are the arcs of the skeleton with ``count`` streets; ``roots`` are the sample.
    """
    n = len(start) - 1
    found: list[tuple[Float, Float]] = []

    def run(part: slice) -> None:
        used, far = np.zeros(count), np.zeros(n)
        hop_usage(start, heads, edges, roots, part.start, part.stop, used, far)
        found.append((used, far))

    in_threads(run, len(roots), worth_it=n > LARGE_NETWORK)
    used, far = (np.sum(parts, axis=0) for parts in zip(*found, strict=True))
    return used / (len(roots) * n), far / len(roots)


def _proxy_usage(topology: Topology) -> Float:
    """Return the share of sampled pairs whose shortest path by the proxy uses each edge."""
    proxy = np.asarray(topology.proxy, np.float64)
    known = proxy[np.isfinite(proxy)]
    middle = max(float(known.mean()), 1e-300) if len(known) else 1.0
    return usage(topology, np.where(np.isfinite(proxy), proxy, middle) / middle)


def standardise(columns: list[Float], rows: int) -> Float:
    """Scale columns to mean 0 and standard deviation 1; leave out constant ones."""
    kept = [(x - x.mean()) / x.std() for x in columns if len(x) and x.std() > 1e-9]
    return np.stack(kept, axis=1) if kept else np.empty((rows, 0))
