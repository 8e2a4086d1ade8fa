"""Lines of a network: its bridges, and a public partition of all edges into walks.

At every node the two bridges of most traffic are joined, and the two other edges where there are exactly two.  A
connected sequence of joined edges is a *line*: a walk that passes no node twice.  So a tree becomes few long lines (any
path changes lines about log n times), other networks their chains, their tree parts, and single edges.  In a directed
network each edge is a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from ..arrays import Bool, Int, frozen
from ..compiled import njit
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
        """Return the lines without the other edges; a line without edges is left out."""
        keep = edges[self.order]
        start = np.concatenate([[0], np.cumsum(keep)])[self.start]
        return Lines(np.unique(start), self.order[keep])


@lru_cache(maxsize=2)
def traffic(topology: Topology) -> Int:
    """Count the pairs of nodes that each bridge separates; 0 for all other edges, and in directed networks."""
    if topology.directed:
        return frozen(np.zeros(topology.num_edges), np.int64)
    arcs = topology.arcs
    return frozen(bridge_traffic(arcs.start, arcs.heads, arcs.edges, topology.num_edges), np.int64)


def bridges(topology: Topology) -> Bool:
    """Tell which edges are bridges: every path between their two sides uses them, so distances are linear in them."""
    return traffic(topology) > 0


@lru_cache(maxsize=2)
def lines_of(topology: Topology) -> Lines:
    """Return the public lines of a network."""
    if topology.directed:
        each = np.arange(topology.num_edges + 1)
        return Lines(frozen(each, np.int64), frozen(each[:-1], np.int64))
    partner = _join_edges(topology.arcs.start, topology.arcs.edges, topology.tails, traffic(topology))
    order, start = _trace_lines(partner, topology.tails, topology.heads)
    return Lines(frozen(start, np.int64), frozen(order, np.int64))


@njit(cache=True, nogil=True)
def bridge_traffic(start, heads, edges, num_edges):
    """Count the pairs of nodes that each bridge separates, s (n - s) in a component of n; 0 for edges on a cycle.

    Node ``v`` has the arcs ``start[v] .. start[v + 1] - 1`` with ``heads`` and ``edges``, of ``num_edges`` in all.

    Tarjan's low-link, with a stack of its own: ``low`` is the earliest node that is met from below without the edge by
    which a node was found.  That edge is a bridge exactly if nothing above it is met, and what is below is one side.
    """
    n = len(start) - 1
    traffic, seen, low = np.zeros(num_edges, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    size, arc_of, edge_of = np.ones(n, np.int64), start[:-1].copy(), np.full(n, -1, np.int64)
    stack, found = np.empty(n, np.int64), np.empty(n, np.int64)
    clock = 0
    for root in range(n):
        if seen[root] >= 0:
            continue
        stack[0], filled, bridges = root, 1, 0
        seen[root], low[root], clock = clock, clock, clock + 1
        while filled > 0:
            v = stack[filled - 1]
            if arc_of[v] < start[v + 1]:
                u, edge = heads[arc_of[v]], edges[arc_of[v]]
                arc_of[v] += 1
                if edge == edge_of[v]:  # parallel edges have other numbers, and do close a cycle
                    continue
                if seen[u] >= 0:
                    low[v] = min(low[v], seen[u])
                else:
                    seen[u], low[u], clock = clock, clock, clock + 1
                    edge_of[u], stack[filled], filled = edge, u, filled + 1
                continue
            filled -= 1
            if filled > 0:
                above = stack[filled - 1]
                low[above] = min(low[above], low[v])
                size[above] += size[v]
                if low[v] > seen[above]:
                    traffic[edge_of[v]], found[bridges], bridges = size[v], edge_of[v], bridges + 1
        for edge in found[:bridges]:
            traffic[edge] *= size[root] - traffic[edge]
    return traffic


@njit(cache=True, nogil=True)
def _join_edges(start, edges, tails, traffic):
    """Return the edge to which each edge is joined at its tail and at its head, or -1; ties: the lower edge.

    ``start`` and ``edges`` list the edges at each node; ``tails`` are those of the edges, and so is ``traffic``.
    """
    partner = np.full((len(tails), 2), -1, np.int64)
    for v in range(len(start) - 1):
        first, second, others = -1, -1, 0
        one, other = -1, -1
        for arc in range(start[v], start[v + 1]):
            edge = edges[arc]
            if traffic[edge] == 0:
                one, other, others = edge, one, others + 1
            elif first < 0 or traffic[edge] > traffic[first]:
                first, second = edge, first
            elif second < 0 or traffic[edge] > traffic[second]:
                second = edge
        if second >= 0:
            _join(partner, tails, v, first, second)
        if others == 2:
            _join(partner, tails, v, one, other)
    return partner


@njit(cache=True, nogil=True)
def _join(partner, tails, v, one, other):
    """Join the edges ``one`` and ``other`` at node ``v`` in ``partner``; ``tails`` tells which end that is."""
    partner[one, 0 if tails[one] == v else 1] = other
    partner[other, 0 if tails[other] == v else 1] = one


@njit(cache=True, nogil=True)
def _trace_lines(partner, tails, heads):
    """List the edges line by line, each from one end to the other, and where each begins; closed lines come last."""
    m = len(tails)
    order, begin, done = np.empty(m, np.int64), np.zeros(m + 1, np.int64), np.zeros(m, np.bool_)
    count, lines = 0, 0
    for closed in range(2):
        for end in range(m):
            if done[end] or (closed == 0 and partner[end, 0] >= 0 and partner[end, 1] >= 0):
                continue
            edge, side = end, 0 if partner[end, 0] < 0 or closed == 1 else 1
            while edge >= 0 and not done[edge]:
                order[count], done[edge], count = edge, True, count + 1
                ahead = heads[edge] if side == 0 else tails[edge]
                edge = partner[edge, 1 - side]
                if edge >= 0:
                    side = 0 if tails[edge] == ahead else 1
            lines += 1
            begin[lines] = count
    return order, begin[: lines + 1]
