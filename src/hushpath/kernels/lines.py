"""Bridges of a network, and its edges joined to lines.

Two edges that meet can be joined there: at every node the two bridges of most traffic, and the two other edges where
there are exactly two.  What hangs together then is a *line*: a walk that passes no node twice.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def bridge_traffic(start, heads, edges, num_edges):
    """For each bridge how many pairs of nodes it parts, s (n - s) in a component of n; 0 for edges on a cycle.

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
def joined(start, edges, tails, traffic):
    """With which edge each edge is joined at its tail and at its head, -1 where with none; ties: the lower edge."""
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
    partner[one, 0 if tails[one] == v else 1] = other
    partner[other, 0 if tails[other] == v else 1] = one


@njit(cache=True, nogil=True)
def threaded(partner, tails, heads):
    """The edges line by line, each line from one end to the other, and where each begins; closed lines come last."""
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


@njit(cache=True, nogil=True)
def walked(order, begin, tails, heads, out):
    """The nodes that each line passes, one more than it has edges; the first line that is no walk, -1 if all are."""
    for line in range(len(begin) - 1):
        first, last = begin[line], begin[line + 1]
        good = False
        for way in range(2):  # from either end of its first edge
            v = tails[order[first]] if way == 0 else heads[order[first]]
            out[first + line], good = v, True
            for i in range(first, last):
                tail, head = tails[order[i]], heads[order[i]]
                if v != tail and v != head:
                    good = False
                    break
                v = head if v == tail else tail
                out[i + 1 + line] = v
            if good:
                break
        if not good:
            return line
    return -1
