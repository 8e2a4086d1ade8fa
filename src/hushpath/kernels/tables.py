"""The tables of a tree of cells in label order: numbering, boundary slots, and distances bottom-up.

The layout is explained in ``kernels.labels``, which answers from these tables.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .minplus import closed

INF = np.inf


@njit(cache=True, nogil=True)
def preorder(parent):
    """Position of each cell in preorder, and the end of its subtree; parents are numbered before children."""
    cells = len(parent)
    size = np.ones(cells, np.int64)
    for b in range(cells - 1, 0, -1):
        size[parent[b]] += size[b]
    at, free = np.zeros(cells, np.int64), np.ones(cells, np.int64)
    for b in range(1, cells):
        up = parent[b]
        at[b] = at[up] + free[up]
        free[up] += size[b]
    return at, at + size


@njit(cache=True, nogil=True)
def boundary_slots(n, parent, hub_start, hubs, bound_start, bound):
    """Slot of each boundary vertex in the deepest cell above that chose it, and its place among the parent's members.

    Members of a cell in order: its hubs, then the boundary vertices that are not hubs.  The third array is the
    boundary's place among the members of its own cell, the fourth the number of members.
    """
    cells = len(parent)
    slot, above, here = np.full(len(bound), -1, np.int64), np.full(len(bound), -1, np.int64), np.empty_like(bound)
    members = np.empty(cells, np.int64)
    slot_of, place_of = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    for b in range(cells):
        if b > 0:  # whatever is on the boundary was a hub or on the boundary above
            up = parent[b]
            for j in range(bound_start[up], bound_start[up + 1]):
                slot_of[bound[j]], place_of[bound[j]] = slot[j], here[j]
            for k in range(hub_start[up], hub_start[up + 1]):
                slot_of[hubs[k]], place_of[hubs[k]] = k, k - hub_start[up]
            for j in range(bound_start[b], bound_start[b + 1]):
                slot[j], above[j] = slot_of[bound[j]], place_of[bound[j]]
        p = hub_start[b + 1] - hub_start[b]
        for j in range(bound_start[b], bound_start[b + 1]):
            place_of[bound[j]] = -1
        for k in range(hub_start[b], hub_start[b + 1]):
            place_of[hubs[k]] = k - hub_start[b]
        members[b] = p
        for j in range(bound_start[b], bound_start[b + 1]):
            if place_of[bound[j]] < 0:
                place_of[bound[j]] = members[b]
                members[b] += 1
            here[j] = place_of[bound[j]]
    return slot, above, here, members


@njit(cache=True, nogil=True)
def cell_tables(
    cells, t, bound, above, here, members, child, edge_start, tails, heads, lengths, directed, outer_start, outer,
    side_out, side_in, square_out, square_in, inner,
):  # fmt: skip
    """Exact tables of some cells of one level, from their edges and the ``outer`` tables of their children.

    ``outer`` holds, per cell, the distances between its boundary vertices inside it.  Separator vertices are the only
    joints of ways between children (Lemma 33 of the paper), so they are the only pivots.  If the network is
    undirected the ``_in`` arrays are the ``_out`` arrays.
    """
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    place = np.empty(len(home), np.int64)
    for b in cells:
        first, last = bound_start[b], bound_start[b + 1]
        width = last - first
        p = own_start[b + 1] - own_start[b] if leaf[b] else hub_start[b + 1] - hub_start[b]
        size = p + width if leaf[b] else members[b]
        table = np.full((size, size), INF)
        for i in range(size):
            table[i, i] = 0.0
        if leaf[b]:
            for i in range(p):
                place[own[own_start[b] + i]] = i
            for j in range(width):
                place[bound[first + j]] = p + j
        else:
            for i in range(p):
                place[hubs[hub_start[b] + i]] = i
            for side in range(2):
                c = child[b, side]
                low, high = bound_start[c], bound_start[c + 1]
                at = outer_start[c]
                for i in range(low, high):
                    for j in range(low, high):
                        table[above[i], above[j]] = min(table[above[i], above[j]], outer[at])
                        at += 1
        for e in range(edge_start[b], edge_start[b + 1]):
            u, v = place[tails[e]], place[heads[e]]
            table[u, v] = min(table[u, v], lengths[e])
            if not directed:
                table[v, u] = min(table[v, u], lengths[e])
        closed(table, size if leaf[b] else p)
        at, to = side_start[b], outer_start[b]
        for i in range(p):
            for j in range(width):
                where = p + j if leaf[b] else here[first + j]
                side_out[at] = table[i, where]
                if directed:
                    side_in[at] = table[where, i]
                at += 1
        for i in range(width):
            from_here = p + i if leaf[b] else here[first + i]
            for j in range(width):
                outer[to] = table[from_here, p + j if leaf[b] else here[first + j]]
                to += 1
        at = inner_start[b] if leaf[b] else square_start[b]
        for i in range(p):
            for j in range(p):
                if leaf[b]:
                    inner[at] = table[i, j]
                else:
                    square_out[at] = table[i, j]
                    if directed:
                        square_in[at] = table[j, i]
                at += 1
