"""Labels of vertices, and pairs answered from them or by climbing; the words are explained in ``kernels.flat``.

Numbers are lattice steps, ``float64`` or ``int32``, with ``nothing`` for "not connected" (``kernels.minplus``).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .minplus import FAST, least_sum, length


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_labels(cells, t, side, square, shortcut, first_row, row_start, nothing, label):
    """Labels of the hubs of split cells, and of the own vertices of leaves, given those of all cells above.

    A path to a hub above leaves the cell over its boundary, so a label is one product: side times the labels of the
    boundary.  In the cell itself a hub knows its shortcuts, or (``shortcut`` false) only itself: "before" and "after"
    in docs/proofs/separator.md.
    """
    for b in cells:
        first, width, rows = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b], t.rows[b]
        base = first_row[b]
        for i in range(rows):
            for k in range(row_start[base + i], row_start[base + i] + t.col[b]):
                label[k] = nothing
        for j in range(width):
            origin = t.slot[first + j]
            known = label[row_start[origin] : row_start[origin + 1]]  # to the end of its own cell: no further than col
            for i in range(rows):
                away, at = side[t.side_start[b] + i * width + j], row_start[base + i]
                _lowered(label[at : at + len(known)], away, known)
        if not t.leaf[b]:
            for i in range(rows):
                at, of = row_start[base + i] + t.col[b], t.square_start[b] + i * rows
                for j in range(rows):
                    if shortcut:
                        label[at + j] = square[of + j]
                    else:
                        label[at + j] = 0 if i == j else nothing


@njit(cache=True, nogil=True, fastmath=FAST)
def _lowered(mine, away, known):
    """Lower one row to another that is so far away."""
    kind = mine.dtype.type
    for k in range(len(known)):
        mine[k] = min(mine[k], kind(away + known[k]))


@njit(cache=True, nogil=True)
def climb(v, t, side, square, nothing, before, after):
    """The two labels of one vertex without those of others: from its home up, one shortcut a level.

    ``before[k]``: the estimate to the hub in column ``k`` without that cell's own shortcut; ``after``: with it.
    """
    b = t.home[v]
    end = t.col[b] + t.hub_start[b + 1] - t.hub_start[b]
    for k in range(end):
        before[k] = after[k] = nothing
    if t.leaf[b]:
        width = t.bound_start[b + 1] - t.bound_start[b]
        at = t.side_start[b] + t.row[v] * width
        for j in range(width):
            k = t.slot_col[t.slot[t.bound_start[b] + j]]
            before[k] = min(before[k], side[at + j])
        b = t.parent[b]
    else:
        before[t.col[b] + t.row[v]] = 0
    while b >= 0:
        p, width = t.hub_start[b + 1] - t.hub_start[b], t.bound_start[b + 1] - t.bound_start[b]
        for i in range(p):
            known = before[t.col[b] + i]
            if known < nothing:
                at = t.square_start[b] + i * p
                for j in range(p):
                    after[t.col[b] + j] = min(after[t.col[b] + j], known + square[at + j])
                at = t.side_start[b] + i * width
                for j in range(width):
                    k = t.slot_col[t.slot[t.bound_start[b] + j]]
                    before[k] = min(before[k], known + side[at + j])
        b = t.parent[b]


@njit(cache=True, nogil=True)
def common_columns(a, b, t):
    """How many columns two cells share: those of the cells above both (or equal to both)."""
    while a != b:  # parents are numbered before children, so the larger number cannot be above the other
        if a > b:
            a = t.parent[a]
        else:
            b = t.parent[b]
    return t.col[a] + t.hub_start[a + 1] - t.hub_start[a]


@njit(cache=True, nogil=True)
def climb_from(v, t, doors, out, side, square, nothing, with_shortcut, before, after, label):
    """The label of any vertex of the network, from the ends of its fringe; return how many columns it has."""
    columns = 0
    for end in range(2):
        u = doors.ends[end, v]
        if u < 0:
            continue
        climb(u, t, side, square, nothing, before, after)
        stop = t.col[t.home[u]] + t.hub_start[t.home[u] + 1] - t.hub_start[t.home[u]]
        for k in range(columns, stop):
            label[k] = nothing
        columns = max(columns, stop)
        for k in range(stop):
            label[k] = min(label[k], out[end, v] + (after[k] if with_shortcut else before[k]))
    return columns


@njit(cache=True, nogil=True)
def deepest(v, t, doors):
    """The lowest of the cells where the label of a vertex ends: those of its two ends lie on one path to the root."""
    b = t.home[doors.ends[0, v]]
    return max(b, t.home[doors.ends[1, v]]) if doors.ends[1, v] >= 0 else b


@njit(cache=True, nogil=True)
def pairs_by_climbing(sources, targets, t, doors, tables, room, nothing, scale, answer):
    """Answer pairs without labels; equal sources in a row climb once."""
    kind = tables.side_out
    before, after = np.empty(room, kind.dtype), np.empty(room, kind.dtype)
    mine, theirs = np.empty(room, kind.dtype), np.empty(room, kind.dtype)
    last = -1
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        if s != last:
            climb_from(s, t, doors, doors.out, tables.side_out, tables.square_out, nothing, True, before, after, mine)
            last = s
        climb_from(g, t, doors, doors.into, tables.side_in, tables.square_in, nothing, False, before, after, theirs)
        k = common_columns(deepest(s, t, doors), deepest(g, t, doors), t)
        best = least_sum(mine[:k], theirs[:k], nothing)
        answer[i] = length(_near(s, g, t, doors, tables.inner, nothing, best), nothing, scale)


@njit(cache=True, nogil=True)
def pairs_by_labels(sources, targets, t, doors, labels, inner, nothing, scale, answer):
    """Answer pairs from labels: the common part of two labels, added and minimised, for the ends of both."""
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        best, columns = nothing, common_columns(deepest(s, t, doors), deepest(g, t, doors), t)
        for x in range(2):
            a = doors.ends[x, s]
            for y in range(2 if a >= 0 else 0):
                b = doors.ends[y, g]
                if b >= 0:
                    at, to = labels.row_start[labels.row_of[a]], labels.row_start[labels.row_of[b]]
                    k = min(labels.row_start[labels.row_of[a] + 1] - at, labels.row_start[labels.row_of[b] + 1] - to)
                    k = min(k, columns)
                    core = least_sum(labels.out[at : at + k], labels.into[to : to + k], nothing)
                    best = min(best, doors.out[x, s] + core + doors.into[y, g])
        answer[i] = length(_near(s, g, t, doors, inner, nothing, best), nothing, scale)


@njit(cache=True, nogil=True)
def _near(s, g, t, doors, inner, nothing, best):
    """A pair may stay inside a fringe or a leaf that both share; a node is at distance 0 of itself."""
    if s == g:
        return doors.out.dtype.type(0)
    f = doors.fringe[s]
    if f >= 0 and f == doors.fringe[g]:
        k = doors.start[f + 1] - doors.start[f]
        best = min(best, doors.inner[doors.inner_start[f] + doors.place[s] * k + doors.place[g]])
    for x in range(2):
        a = doors.ends[x, s]
        for y in range(2 if a >= 0 else 0):
            b = doors.ends[y, g]
            if b >= 0 and t.home[a] == t.home[b]:
                best = min(best, doors.out[x, s] + doors.into[y, g] + inside(a, b, t, inner, nothing))
    return best


@njit(cache=True, nogil=True)
def inside(a, b, t, inner, nothing):
    """The distance of two vertices of one leaf inside it, or ``nothing``."""
    cell = t.home[a]
    if a == b:
        return inner.dtype.type(0)
    if t.leaf[cell] and t.inner_start[cell + 1] > t.inner_start[cell]:
        p = t.own_start[cell + 1] - t.own_start[cell]
        return inner[t.inner_start[cell] + t.row[a] * p + t.row[b]]
    return nothing
