"""A public sample of pairs, their hop counts and routes, for predictions and tuning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int, frozen
from ..kernels.paths import WORTH_A_THREAD, distances_from, each_in_threads, in_threads
from ..kernels.routes import add_usage, tree_from
from ..kernels.search import FREE, components, count_hops
from ..network.topology import Arcs, Topology
from ..noise import simulation

SAMPLED_NUMBERS = 2**22
FEW = 3


class HopCounts(NamedTuple):
    """The different hop counts of a sample of connected pairs, and how many pairs have each."""

    hops: Float
    pairs: Int

    @property
    def share(self) -> Float:
        """The share of the pairs that have each hop count."""
        return np.asarray(self.pairs / max(1, int(self.pairs.sum())), np.float64)

    @property
    def mean(self) -> float:
        """The mean number of hops."""
        return float(self.hops @ self.share)


def spaced_nodes(topology: Topology, most: int) -> Int:
    """Return at most so many nodes, evenly spaced."""
    n = topology.num_nodes
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


@lru_cache(maxsize=2)  # a plan asks several times for the same network
def sampled_hops(topology: Topology) -> HopCounts:
    """Count hops from evenly spaced nodes to all nodes they reach."""
    return _counted(topology, spaced_nodes(topology, max(1, min(256, SAMPLED_NUMBERS // topology.num_nodes))))


@lru_cache(maxsize=2)
def few_hops(topology: Topology) -> HopCounts:
    """Count hops from the ends of ``FEW`` edges to all nodes they reach: quick enough for every load of a file."""
    if topology.num_edges == 0:
        return HopCounts(np.empty(0), np.empty(0, np.int64))
    return _counted(topology, topology.tails[np.linspace(0, topology.num_edges - 1, FEW).astype(np.int64)])


def _counted(topology: Topology, sources: Int) -> HopCounts:
    """Count hops from each source to every other node it reaches."""
    arcs, found = topology.arcs, []

    def run(part: slice) -> None:
        found.append(count_hops(arcs.start, arcs.heads, sources[part]))

    in_threads(run, len(sources), worth_it=len(sources) * len(arcs.heads) >= WORTH_A_THREAD)
    pairs = np.sum(found, axis=0)
    hops = 1 + np.flatnonzero(pairs[1:])
    return HopCounts(hops.astype(np.float64), pairs[hops])


STEP = 2.0**-20  # lengths of routes are whole numbers of this part of the unit
LONGEST = 2**61
MANY_NODES = 20_000  # beyond, fewer sources are sampled
SEARCHED = 2**21  # nodes, over all searches: beyond that of ``MOST_SOURCES``, fewer still
MOST_SOURCES, FEWEST_SOURCES = 16, 2


class Routes(NamedTuple):
    """Shortest paths from one source: reached nodes by distance; of each node parent, edge to it and distance."""

    order: Int
    parent: Int
    edge: Int
    distance: Int


def sources_of(topology: Topology) -> Int:
    """Return the nodes where sampled routes begin."""
    n = topology.num_nodes
    count = 32 if n <= MANY_NODES else max(FEWEST_SOURCES, min(MOST_SOURCES, SEARCHED // n))
    return simulation(5).choice(n, min(n, count), replace=False)


@lru_cache(maxsize=2)
def side_by_side(topology: Topology) -> tuple[Arcs, Int]:
    """Return arcs with nodes numbered in search order (neighbours close in memory), and each node's new number."""
    arcs, n = topology.arcs, topology.num_nodes
    if n <= MANY_NODES:
        return arcs, np.arange(n)
    order, _ = components(arcs.start, arcs.heads, np.full(n, FREE, np.int64))
    number = np.empty(n, np.int64)
    number[order] = np.arange(n)
    degree = np.diff(arcs.start)[order]
    start = np.concatenate([[0], np.cumsum(degree)])
    moved = np.repeat(arcs.start[order] - start[:-1], degree) + np.arange(len(arcs.heads))
    return Arcs(*(frozen(part, np.int64) for part in (start, number[arcs.heads[moved]], arcs.edges[moved]))), number


def routes(topology: Topology, weights: Float, most: int | None = None) -> Iterator[Routes]:
    """Find shortest paths from each sampled source, some at a time; nodes are numbered as by ``side_by_side``.

    In large networks the first ``most`` sources are enough, if that is given.
    """
    (arcs, number), n = side_by_side(topology), topology.num_nodes
    lengths = np.clip(np.rint(weights / STEP), 1, LONGEST // n).astype(np.int64)[arcs.edges]
    sources = number[sources_of(topology)]
    if most is not None and n > MANY_NODES:
        sources = sources[:most]

    def grown(source: int) -> Routes:
        distance, order, parent, edge = np.empty((4, n), np.int64)
        reached = tree_from(arcs.start, arcs.heads, arcs.edges, lengths, source, distance, order, parent, edge)
        return Routes(order[:reached], parent, edge, distance)

    yield from each_in_threads(grown, sources, len(arcs.heads))


def usage(topology: Topology, weights: Float, most: int | None = None) -> Float:
    """Return the share of pairs (from a sampled source to any node) whose shortest path uses each edge.

    ``most`` as in `routes`.
    """
    count, trees = np.zeros(topology.num_edges), 0
    for found in routes(topology, weights, most):
        add_usage(found.order, found.parent, found.edge, count)
        trees += 1
    return count / (max(trees, 1) * topology.num_nodes)


def distances(topology: Topology, weights: Float) -> Float:
    """Return the distances from every sampled source to every other node it reaches."""
    arcs, number = side_by_side(topology)
    sources = number[sources_of(topology)]
    out = np.empty((len(sources), topology.num_nodes))
    distances_from(arcs, np.maximum(weights, 0.0)[arcs.edges], sources, out)
    out[np.arange(len(sources)), sources] = np.inf
    return out[np.isfinite(out)]


def distance_rows(topology: Topology, weights: Float, sources: Int) -> Float:
    """Return the distances from each source to every node; negative weights count as 0."""
    out = np.empty((len(sources), topology.num_nodes))
    distances_from(topology.arcs, np.maximum(weights, 0.0)[topology.arcs.edges], sources, out)
    return out
