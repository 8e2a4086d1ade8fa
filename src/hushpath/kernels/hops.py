"""Who is near in hops: kernels of the hub and cover mechanisms."""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .search import FREE, breadth_first


@njit(cache=True, nogil=True)
def nearest_chosen(start, heads, chosen):
    """For each node the chosen node fewest hops away (ties: found first, breadth first) and that number of hops.

    -1 twice where no chosen node can be reached.
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
    """Give every node to a ball: nodes in turn, if still free, take all free nodes within their radius of free hops."""
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
def crowded(start, heads, radius, least):
    """Middles of disjoint balls of ``radius`` hops with at least ``least`` nodes, such that no further one fits.

    Undirected: two balls meet if and only if their middles are within twice the radius.
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
    """How many nodes are 0, 1, 2, ... hops away from the sources, all of them together."""
    n = len(start) - 1
    hops, queue, count = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.int64)
    for source in sources:
        hops[:] = FREE
        hops[source], queue[0] = 0, source
        for v in queue[: breadth_first(start, heads, hops, queue, 1)]:
            count[hops[v]] += 1
    return count


@njit(cache=True, nogil=True)
def fill_hops(start, heads, sources, out):
    """Fill ``out[i]`` with the hops from ``sources[i]`` to every node, infinite where there is no path."""
    n = len(start) - 1
    hops, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    for row in range(len(sources)):
        hops[:] = FREE
        hops[sources[row]], queue[0] = 0, sources[row]
        breadth_first(start, heads, hops, queue, 1)
        for v in range(n):
            out[row, v] = np.inf if hops[v] == FREE else hops[v]
