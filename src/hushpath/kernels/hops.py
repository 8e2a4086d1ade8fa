"""Who is near in hops: kernels of the hub and cover mechanisms."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def nearest_chosen(start, heads, chosen):
    """For each node the chosen node fewest hops away (ties: found first, breadth first) and that number of hops.

    -1 twice where no chosen node can be reached.
    """
    n = len(start) - 1
    owner, hops = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    last = 0
    for z in chosen:
        owner[z], hops[z], queue[last] = z, 0, z
        last += 1
    first = 0
    while first < last:
        v = queue[first]
        first += 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if hops[u] < 0:
                owner[u], hops[u], queue[last] = owner[v], hops[v] + 1, u
                last += 1
    return owner, hops


@njit(cache=True, nogil=True)
def carve_balls(start, heads, order, radius):
    """Give every node to a ball: nodes in turn, if still free, take all free nodes within their radius of free hops."""
    n = len(start) - 1
    ball, hops = np.full(n, -1, np.int64), np.zeros(n, np.int64)
    queue = np.empty(n, np.int64)
    count = 0
    for centre in order:
        if ball[centre] >= 0:
            continue
        ball[centre], hops[centre], queue[0] = count, 0, centre
        first, last = 0, 1
        while first < last:
            v = queue[first]
            first += 1
            if hops[v] == radius[centre]:
                continue
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if ball[u] < 0:
                    ball[u], hops[u], queue[last] = count, hops[v] + 1, u
                    last += 1
        count += 1
    return ball


@njit(cache=True, nogil=True)
def crowded(start, heads, radius, least):
    """Middles of disjoint balls of ``radius`` hops with at least ``least`` nodes, such that no further one fits."""
    n = len(start) - 1
    taken, mark = np.zeros(n, np.bool_), np.full(n, -1, np.int64)
    queue, hops, chosen = np.empty(n, np.int64), np.empty(n, np.int64), np.zeros(n, np.bool_)
    for centre in range(n):
        queue[0], hops[centre], mark[centre] = centre, 0, centre
        first, last, free = 0, 1, not taken[centre]
        while first < last and free:
            v = queue[first]
            first += 1
            if hops[v] == radius:
                continue
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if mark[u] != centre:
                    mark[u], hops[u], queue[last] = centre, hops[v] + 1, u
                    last += 1
                    free = free and not taken[u]
        if free and last >= least:
            chosen[centre] = True
            for i in range(last):
                taken[queue[i]] = True
    return np.flatnonzero(chosen)
