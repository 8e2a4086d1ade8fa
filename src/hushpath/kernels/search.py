"""Breadth-first search by hops, and what uses it: components, centroids, covers and balls.

A search is controlled by ``hops``, one number per node: ``FREE`` nodes may be found, ``CLOSED`` ones may not be
entered, all others have been found, that many hops from a start.  Nodes are found in the order of the queue, and the
neighbours of each in the order of its row: that settles every tie.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit

FREE, CLOSED = -1, -2
NO_LIMIT = 2**62


@njit(cache=True, nogil=True)
def allow_only(allowed):
    """Return the ``hops`` of a search among the allowed nodes, before it begins."""
    hops = np.empty(len(allowed), np.int64)
    for v in range(len(allowed)):  # several times as fast as ``np.where``
        hops[v] = FREE if allowed[v] else CLOSED
    return hops


@njit(cache=True, nogil=True)
def breadth_first(start, heads, hops, queue, filled, radius=NO_LIMIT, most=NO_LIMIT, parent=None, arrival=None):
    """Find the nodes within ``radius`` hops of the first ``filled`` of the ``queue``; return how many it holds then.

    The graph is given by ``start`` and ``heads``; the ``hops`` of the first nodes are set.  With ``most`` nodes found
    the search ends.  If given, ``parent`` takes the node and ``arrival`` the arc from which each node was found; those
    of the first nodes stay as they are.
    """
    first, most = 0, min(most, len(queue))
    while first < filled < most:
        v = queue[first]
        first += 1
        away = hops[v] + 1
        if away > radius:
            continue
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if hops[u] == FREE:
                hops[u], queue[filled], filled = away, u, filled + 1
                if parent is not None:
                    parent[u] = v
                if arrival is not None:
                    arrival[u] = arc
    return filled


@njit(cache=True, nogil=True)
def fewest_edges_path(start, heads, edges, source, target):
    """Return the edges of a path from ``source`` to ``target`` with fewest arcs, in order; none if there is no path.

    Arcs are those of ``start``, ``heads`` and ``edges``.
    """
    n = len(start) - 1
    hops, queue = np.full(n, FREE, np.int64), np.empty(n, np.int64)
    parent, arrival = np.empty(n, np.int64), np.empty(n, np.int64)
    hops[source], queue[0] = 0, source
    breadth_first(start, heads, hops, queue, 1, NO_LIMIT, NO_LIMIT, parent, arrival)
    found = np.empty(max(hops[target], 0), np.int64)
    v = target
    for i in range(len(found) - 1, -1, -1):
        found[i], v = edges[arrival[v]], parent[v]
    return found


@njit(cache=True, nogil=True)
def hops_from(start, heads, source):
    """Count the arcs from ``source`` to each node; ``FREE`` where there is no path."""
    hops, queue = np.full(len(start) - 1, FREE, np.int64), np.empty(len(start) - 1, np.int64)
    hops[source], queue[0] = 0, source
    breadth_first(start, heads, hops, queue, 1)
    return hops


@njit(cache=True, nogil=True)
def components(start, heads, hops, parent=None, arrival=None):
    """List the nodes that are free in ``hops`` component by component, each from its lowest node.

    Returns the list, and where each component begins, with the length of the list at the end.  The graph is given by
    ``start`` and ``heads``; ``parent`` and ``arrival`` are those of ``breadth_first``.
    """
    n = len(start) - 1
    queue, begin = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    filled, count = 0, 0
    for root in range(n):
        if hops[root] == FREE:
            hops[root], queue[filled] = 0, root
            filled += breadth_first(start, heads, hops, queue[filled:], 1, parent=parent, arrival=arrival)
            count += 1
            begin[count] = filled
    return queue[:filled], begin[: count + 1]


@njit(cache=True, nogil=True)
def find_centroid(order, parent):
    """Return the lowest node of a tree, given parents first, with at least half of the nodes at or below it."""
    n = len(order)
    below = np.ones(n, np.int64)
    for i in range(n - 1, 0, -1):
        v = order[i]
        if 2 * below[v] >= n:  # deepest first: the branches below hold less than half, the rest at most half
            return v
        below[parent[v]] += below[v]
    return order[0]


@njit(cache=True, nogil=True)
def find_nearest(start, heads, chosen):
    """Return for each node the chosen node fewest hops away (ties: found first) and that number of hops.

    Both are -1 where no chosen node can be reached.
    """
    n = len(start) - 1
    owner, hops = np.full(n, -1, np.int64), np.full(n, FREE, np.int64)
    queue, parent = np.empty(n, np.int64), np.empty(n, np.int64)
    owner[chosen], hops[chosen], queue[: len(chosen)] = chosen, 0, chosen
    found = breadth_first(start, heads, hops, queue, len(chosen), parent=parent)
    for v in queue[len(chosen) : found]:
        owner[v] = owner[parent[v]]
    return owner, hops


@njit(cache=True, nogil=True)
def carve_balls(start, heads, order, radius):
    """Give every node to a ball: nodes in ``order``, if still free, take all free nodes within their ``radius``.

    The graph is given by ``start`` and ``heads``; hops lead over free nodes only.
    """
    n = len(start) - 1
    ball, hops, queue = np.empty(n, np.int64), np.full(n, FREE, np.int64), np.empty(n, np.int64)
    count = 0
    for centre in order:
        if hops[centre] == FREE:
            hops[centre], queue[0] = 0, centre
            ball[queue[: breadth_first(start, heads, hops, queue, 1, radius[centre])]] = count
            count += 1
    return ball


@njit(cache=True, nogil=True)
def find_crowded_balls(start, heads, radius, least):
    """Return the centres of disjoint balls of ``radius`` hops with at least ``least`` nodes, until no further one fits.

    The graph, given by ``start`` and ``heads``, is undirected: two balls meet if and only if their centres are within
    twice the radius.
    """
    n = len(start) - 1
    hops, queue = np.full(n, FREE, np.int64), np.empty(n, np.int64)
    chosen, blocked = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for centre in range(n):
        if not blocked[centre]:
            hops[centre], queue[0] = 0, centre
            size = breadth_first(start, heads, hops, queue, 1, radius)
            if size >= least:
                chosen[centre] = True
                size = breadth_first(start, heads, hops, queue, size, 2 * radius)
                blocked[queue[:size]] = True
            hops[queue[:size]] = FREE
    return np.flatnonzero(chosen)


@njit(cache=True, nogil=True)
def count_hops(start, heads, sources):
    """Count the nodes that are 0, 1, 2, ... hops away from the sources, over all of them."""
    n = len(start) - 1
    hops, queue, count = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    for source in sources:
        hops[:] = FREE
        hops[source], queue[0] = 0, source
        for v in queue[: breadth_first(start, heads, hops, queue, 1)]:
            count[hops[v]] += 1
    return count
