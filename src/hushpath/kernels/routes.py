"""How much shortest paths use edges: by hops (public), and by estimated weights of a release."""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .paths import UNREACHED, dijkstra
from .search import FREE


@njit(cache=True, nogil=True)
def hop_usage(start, heads, edges, roots, begin, end, count, far):
    """Add to ``count`` how many nodes each edge leads to in breadth-first trees, and to ``far`` the hops of each node.

    Arcs are those of ``start``, ``heads`` and ``edges``; trees grow from ``roots[begin:end]``.  Each looks at the
    neighbours of a node in another order, so that equally short routes share the load.
    """
    n = len(start) - 1
    hops, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    parent, edge, below = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for turn in range(begin, end):
        hops[:] = FREE
        root = roots[turn]
        hops[root], queue[0], parent[root] = 0, root, -1
        first, filled = 0, 1
        while first < filled:
            v = queue[first]
            first += 1
            degree = start[v + 1] - start[v]
            if degree == 0:
                continue
            shift = (turn * 7919 + v * 104729) % degree
            for k in range(degree):
                arc = start[v] + (k + shift) % degree
                u = heads[arc]
                if hops[u] == FREE:
                    hops[u], parent[u], edge[u] = hops[v] + 1, v, edges[arc]
                    queue[filled], filled = u, filled + 1
        below[:] = 1.0
        for i in range(filled - 1, 0, -1):
            v = queue[i]
            count[edge[v]] += below[v]
            below[parent[v]] += below[v]
            far[v] += hops[v]


@njit(cache=True, nogil=True)
def shortest_tree(start, heads, edges, lengths, distance, unreached, parent, edge):
    """Fill ``parent`` and the ``edge`` to it of each node in a tree of shortest paths with this ``distance``, else -1.

    Arcs are those of ``start``, ``heads``, ``edges`` and ``lengths``; lengths are at least one step, so a parent is
    nearer than its child.  ``unreached`` is the distance of nodes without a path.
    """
    parent[:], edge[:] = -1, -1
    for v in range(len(start) - 1):
        if distance[v] != unreached:
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if edge[u] < 0 and distance[u] > 0 and distance[v] + lengths[arc] == distance[u]:
                    parent[u], edge[u] = v, edges[arc]


@njit(cache=True, nogil=True)
def tree_from(start, heads, edges, lengths, source, distance, order, parent, edge):
    """Find a tree of shortest paths from ``source``: fill ``order`` (by distance), ``distance``, ``parent``, ``edge``.

    Arcs are those of ``start``, ``heads``, ``edges`` and ``lengths``.  Returns how many nodes were reached.
    """
    n = len(start) - 1
    keys, nodes, place = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    sources, rows = np.full(1, source), distance.reshape(1, n)
    reached = dijkstra(start, heads, lengths, sources, -1, UNREACHED, rows, keys, nodes, place, order)
    shortest_tree(start, heads, edges, lengths, distance, UNREACHED, parent, edge)
    return reached


@njit(cache=True, nogil=True)
def add_usage(order, parent, edge, count):
    """Add to ``count`` how many nodes each edge leads to in a tree; ``order`` has parents before children.

    ``parent`` and the ``edge`` to it are those of each node.
    """
    below = np.ones(len(parent))
    for i in range(len(order) - 1, -1, -1):
        v = order[i]
        if edge[v] >= 0:
            count[edge[v]] += below[v]
            below[parent[v]] += below[v]
