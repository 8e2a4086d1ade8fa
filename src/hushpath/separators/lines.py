"""How a network falls into lines: its bridges, and a public partition of all edges into walks.

At every node the two bridges of most traffic are joined, and the two other edges where there are exactly two.  So a
tree falls into few long lines (any path changes lines about log n times), other networks into their chains, their tree
parts, and single edges.  Directed networks are left alone: each edge is a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..arrays import Bool, Int, frozen
from ..kernels.lines import bridge_traffic, joined, threaded
from ..network.topology import Topology


@dataclass(frozen=True, eq=False)
class Lines:
    """All edges line by line: line ``i`` is ``order[start[i] : start[i + 1]]``, from one end to the other."""

    start: Int
    order: Int

    def __len__(self) -> int:
        return len(self.start) - 1

    @cached_property
    def lengths(self) -> Int:
        """How many edges each line has."""
        return np.diff(self.start)

    @cached_property
    def line(self) -> Int:
        """The line of each edge."""
        out = np.empty(len(self.order), np.int64)
        out[self.order] = np.repeat(np.arange(len(self)), self.lengths)
        return out

    @cached_property
    def place(self) -> Int:
        """How many edges of its line come before each edge."""
        out = np.empty(len(self.order), np.int64)
        out[self.order] = np.arange(len(self.order)) - np.repeat(self.start[:-1], self.lengths)
        return out

    def of(self, edges: Bool) -> Lines:
        """The same lines without the other edges; lines that lose all are left out."""
        keep = edges[self.order]
        start = np.concatenate([[0], np.cumsum(keep)])[self.start]
        return Lines(np.unique(start), self.order[keep])


@lru_cache(maxsize=2)
def traffic(topology: Topology) -> Int:
    """How many pairs of nodes each bridge parts; 0 for all other edges, and in directed networks."""
    if topology.directed:
        return frozen(np.zeros(topology.num_edges), np.int64)
    arcs = topology.arcs
    return frozen(bridge_traffic(arcs.start, arcs.heads, arcs.edges, topology.num_edges), np.int64)


def bridges(topology: Topology) -> Bool:
    """Which edges are bridges: every path between their two sides uses them, so distances are linear in them."""
    return traffic(topology) > 0


@lru_cache(maxsize=2)
def lines_of(topology: Topology) -> Lines:
    """The public lines of a network."""
    if topology.directed:
        each = np.arange(topology.num_edges + 1)
        return Lines(frozen(each, np.int64), frozen(each[:-1], np.int64))
    partner = joined(topology.arcs.start, topology.arcs.edges, topology.tails, traffic(topology))
    order, start = threaded(partner, topology.tails, topology.heads)
    return Lines(frozen(start, np.int64), frozen(order, np.int64))
