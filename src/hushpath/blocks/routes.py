"""Routes over public or published weights: how much each edge is used, how long distances are on average.

Weights are of the size of 1 here (in units of noise, or of their mean); routes begin at a fixed sample of nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..kernels.paths import UNREACHED, distances_from
from ..kernels.routes import add_usage, shortest_tree
from ..noise import simulation

STEP = 2.0**-20  # lengths of routes are whole numbers of this part of the unit
LONGEST = 2**61
MANY_NODES = 20_000  # beyond, fewer sources are sampled


class Routes(NamedTuple):
    """Shortest paths from one source: nodes by distance, and of each its parent, the edge to it and its distance."""

    order: Int
    parent: Int
    edge: Int
    distance: Int


def sources_of(topology: Topology) -> Int:
    """Where sampled routes begin."""
    n = topology.num_nodes
    return simulation(5).choice(n, min(n, 32 if n <= MANY_NODES else 16), replace=False)


def routes(topology: Topology, weights: Float) -> Iterator[Routes]:
    """Shortest paths from each sampled source; the arrays are used again for the next."""
    arcs, n = topology.arcs, topology.num_nodes
    lengths = np.clip(np.rint(weights / STEP), 1, LONGEST // n).astype(np.int64)[arcs.edges]
    row, parent, edge = np.empty((1, n), np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for source in sources_of(topology):
        distances_from(arcs, lengths, np.array([source]), row)
        shortest_tree(arcs.start, arcs.heads, arcs.edges, lengths, row[0], UNREACHED, parent, edge)
        yield Routes(np.argsort(row[0], kind="stable"), parent, edge, row[0])


def usage(topology: Topology, weights: Float) -> Float:
    """The share of pairs (from a sampled source to any node) whose shortest path uses each edge."""
    count = np.zeros(topology.num_edges)
    for found in routes(topology, weights):
        add_usage(found.order, found.parent, found.edge, count)
    return count / (len(sources_of(topology)) * topology.num_nodes)


def distances(topology: Topology, weights: Float) -> Float:
    """From every sampled source to every node it reaches, but itself."""
    sources = sources_of(topology)
    out = np.empty((len(sources), topology.num_nodes))
    distances_from(topology.arcs, np.maximum(weights, 0.0)[topology.arcs.edges], sources, out)
    out[np.arange(len(sources)), sources] = np.inf
    return out[np.isfinite(out)]
