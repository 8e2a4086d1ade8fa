"""Paths with a limited number of hops, and who is near in hops: kernels of the hub and cover mechanisms.

All lengths are ``int64`` lattice steps.  A vector ``reach`` holds the length of the best path found to each node,
``UNREACHED`` where there is none.  Values of ``FAR`` and more are never extended, so that no sum overflows: a single
step adds at most ``LARGEST_DISTANCE``, and ``FAR + LARGEST_DISTANCE < 2**63``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .search import FREE, breadth_first

UNREACHED = np.iinfo(np.int64).max
FAR = 2**62


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
def extend(start, heads, lengths, limit, reach, room):
    """Lengthen every path in ``reach`` by at most ``limit`` arcs, in place; return whether anything got shorter.

    Bellman and Ford in rounds.  A round extends what the *previous* round found, so that each counts one arc; only
    nodes that improved are looked at again.
    """
    nodes, values, fresh, mark = room
    n = len(start) - 1
    size, changed = 0, False
    for v in range(n):
        mark[v] = -1
        if reach[v] < FAR:
            nodes[size] = v
            size += 1
    for turn in range(limit):
        if size == 0:
            break
        for i in range(size):
            values[i] = reach[nodes[i]]
        found = 0
        for i in range(size):
            v, base = nodes[i], values[i]
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if base + lengths[arc] < reach[u]:
                    reach[u] = base + lengths[arc]
                    if mark[u] != turn:
                        mark[u] = turn
                        fresh[found] = u
                        found += 1
        for i in range(found):
            nodes[i] = fresh[i]
        size = found
        changed = changed or found > 0
    return changed


@njit(cache=True, nogil=True)
def shortcut(hubs, table, reach, before):
    """Take at most one measured number: ``reach[y] = min(reach[y], reach[x] + table[x, y])`` over hubs x, in place."""
    changed = False
    for i in range(len(hubs)):
        before[i] = reach[hubs[i]]
    for i in range(len(hubs)):
        if before[i] < FAR:
            for j in range(len(hubs)):
                if table[i, j] < FAR and before[i] + table[i, j] < reach[hubs[j]]:
                    reach[hubs[j]] = before[i] + table[i, j]
                    changed = True
    return changed


@njit(cache=True, nogil=True)
def _walk(whole, inside, local, limits, reach, room, before):
    """Up to ``limits[0]`` arcs anywhere; between two of them a stay inside a cluster, with one local shortcut.

    A stay is at most ``limits[1]`` arcs inside, one shortcut, ``limits[1]`` arcs inside.  As an operator it reads the
    same forwards and backwards, so answers are symmetric.  Without clusters it is ``extend``.
    """
    crossings, stay = limits
    hub_start, hub_items, table_start, tables = local
    if len(hub_start) == 1:
        extend(whole[0], whole[1], whole[2], crossings, reach, room)
        return
    for turn in range(crossings + 1):
        changed = turn > 0 and extend(whole[0], whole[1], whole[2], 1, reach, room)
        changed = extend(inside[0], inside[1], inside[2], stay, reach, room) or changed
        for c in range(len(hub_start) - 1):
            p = hub_start[c + 1] - hub_start[c]
            table = tables[table_start[c] : table_start[c + 1]].reshape(p, p)
            changed = shortcut(hub_items[hub_start[c] : hub_start[c + 1]], table, reach, before) or changed
        changed = extend(inside[0], inside[1], inside[2], stay, reach, room) or changed
        if turn > 0 and not changed:
            break


@njit(cache=True, nogil=True)
def hub_rows(sources, whole, inside, local, limits, hubs, table, out):
    """Rows of answers: a walk, at most one number between hubs, a walk."""
    n = len(whole[0]) - 1
    room = (np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64))
    before = np.empty(n, np.int64)
    for row in range(len(sources)):
        reach = out[row]
        reach[:] = UNREACHED
        reach[sources[row]] = 0
        _walk(whole, inside, local, limits, reach, room, before)
        shortcut(hubs, table, reach, before)
        _walk(whole, inside, local, limits, reach, room, before)
