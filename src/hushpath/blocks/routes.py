"""Routes over public or published weights: how much each edge is used, how long distances are on average.

Weights are of the size of 1 here (in units of noise, or of their mean); routes begin at a fixed sample of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int, frozen
from ..data.topology import Arcs, Topology
from ..kernels.paths import distances_from, each_in_threads
from ..kernels.routes import add_usage, tree_from
from ..kernels.search import FREE, components
from ..noise import simulation

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
    """Where sampled routes begin."""
    n = topology.num_nodes
    count = 32 if n <= MANY_NODES else max(FEWEST_SOURCES, min(MOST_SOURCES, SEARCHED // n))
    return simulation(5).choice(n, min(n, count), replace=False)


@lru_cache(maxsize=2)
def side_by_side(topology: Topology) -> tuple[Arcs, Int]:
    """The arcs with nodes numbered as a search meets them, and the new number of each node.

    Neighbours then lie side by side in memory, whatever they are called, which makes searches of a large network
    several times as fast.
    """
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


def routes(topology: Topology, weights: Float) -> Iterator[Routes]:
    """Shortest paths from each sampled source, some at a time; nodes are numbered as ``side_by_side`` does."""
    (arcs, number), n = side_by_side(topology), topology.num_nodes
    lengths = np.clip(np.rint(weights / STEP), 1, LONGEST // n).astype(np.int64)[arcs.edges]
    sources = number[sources_of(topology)]

    def grown(source: int) -> Routes:
        distance, order, parent, edge = np.empty((4, n), np.int64)
        reached = tree_from(arcs.start, arcs.heads, arcs.edges, lengths, source, distance, order, parent, edge)
        return Routes(order[:reached], parent, edge, distance)

    yield from each_in_threads(grown, sources, len(arcs.heads))


def usage(topology: Topology, weights: Float) -> Float:
    """The share of pairs (from a sampled source to any node) whose shortest path uses each edge."""
    count = np.zeros(topology.num_edges)
    for found in routes(topology, weights):
        add_usage(found.order, found.parent, found.edge, count)
    return count / (len(sources_of(topology)) * topology.num_nodes)


def distances(topology: Topology, weights: Float) -> Float:
    """From every sampled source to every node it reaches, but itself."""
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
