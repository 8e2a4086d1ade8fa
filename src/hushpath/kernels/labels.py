"""Hub labels of vertices, and pairs answered from them or by upward queries; ``kernels.layout`` explains the words.

Numbers are lattice steps, ``float64`` or ``int32``, with ``nothing`` for "not connected" (``kernels.minplus``).
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .minplus import FAST, least_sum, length


@njit(cache=True, nogil=True)
def fill_labels(cells, t, side, square, shortcut, row_start, nothing, label):
    """Labels of the hubs of split cells, given those of all cells above.

    A path to a hub above leaves the cell over its boundary, so a label is the least of those of the boundary, each so
    far away as the side table says.  In the cell itself a hub knows its shortcuts, or (``shortcut`` false) only itself:
    "before" and "after" in docs/proofs/separator.md.
    """
    for b in cells:
        first, width, rows = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b], t.rows[b]
        for i in range(0 if t.leaf[b] else rows):
            at = row_start[t.hub_start[b] + i]
            for k in range(at, at + t.col[b]):
                label[k] = nothing
            for j in range(width):
                slot = t.slot[first + j]  # its label ends with its own cell, so it is shorter than this one
                known = label[row_start[slot] : row_start[slot + 1]]
                _lowered(label[at : at + len(known)], side[t.side_start[b] + i * width + j], known)
            at, of = at + t.col[b], t.square_start[b] + i * rows
            for j in range(rows):
                if shortcut:
                    label[at + j] = square[of + j]
                else:
                    label[at + j] = 0 if i == j else nothing


@njit(cache=True, nogil=True, fastmath=FAST)
def _lowered(mine, away, known):
    """Lower one row to another that is so far away."""
    kind = mine.dtype.type
    for k in range(len(mine)):
        mine[k] = min(mine[k], kind(away + known[k]))


@njit(cache=True, nogil=True)
def merged(v, columns, t, entries, away, side, row_start, label, nothing, mine):
    """The first columns of the label of any vertex of the network.

    Only hubs have labels.  Other vertices reach hubs over their core entries and over the boundary of their leaf, so
    theirs are the least of the labels of these.
    """
    for k in range(columns):
        mine[k] = nothing
    for end in range(2):
        u = entries.ends[end, v]
        if u < 0:
            continue
        b, first, many = t.home[u], t.row[u], 1
        if t.leaf[b]:
            many = t.bound_start[b + 1] - t.bound_start[b]
            first = t.side_start[b] + t.row[u] * many
        for j in range(many):
            slot, far = t.hub_start[b] + first, away[end, v]
            if t.leaf[b]:
                slot, far = t.slot[t.bound_start[b] + j], far + side[first + j]
            if far < nothing:
                stop = min(columns, row_start[slot + 1] - row_start[slot])
                _lowered(mine[:stop], far, label[row_start[slot] : row_start[slot] + stop])


@njit(cache=True, nogil=True)
def upward_query(v, t, side, square, nothing, down_to, before, after):
    """The two labels of one vertex without those of others: from its home up, one shortcut a level.

    ``before[k]``: the estimate to the hub in column ``k`` without that cell's own shortcut; ``after``: with it, for
    cells numbered up to ``down_to`` (of those below, nobody asks).
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
    reached = np.empty(len(before), side.dtype)
    while b >= 0:
        p, first, width = t.hub_start[b + 1] - t.hub_start[b], t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b]
        for j in range(width):
            reached[j] = nothing
        for i in range(p):
            known = before[t.col[b] + i]
            if known < nothing:
                if b <= down_to:
                    at = t.square_start[b] + i * p
                    _lowered(after[t.col[b] : t.col[b] + p], known, square[at : at + p])
                at = t.side_start[b] + i * width
                _lowered(reached[:width], known, side[at : at + width])
        for j in range(width):
            k = t.slot_col[t.slot[first + j]]
            before[k] = min(before[k], reached[j])
        b = t.parent[b]


@njit(cache=True, nogil=True)
def meeting(a, b, t):
    """The lowest cell above both (or equal to one): the columns of its labels are those that both share."""
    while a != b:  # parents are numbered before children, so the larger number cannot be above the other
        if a > b:
            a = t.parent[a]
        else:
            b = t.parent[b]
    return a


@njit(cache=True, nogil=True)
def end_column(b, t):
    """How many columns the labels of a cell have."""
    return t.col[b] + t.hub_start[b + 1] - t.hub_start[b]


@njit(cache=True, nogil=True)
def upward_label(v, t, entries, away, side, square, nothing, down_to, before, after, label):
    """The label of any vertex of the network, from its core entries: with shortcuts, unless ``down_to`` is -1."""
    columns = 0
    for end in range(2):
        u = entries.ends[end, v]
        if u < 0:
            continue
        upward_query(u, t, side, square, nothing, down_to, before, after)
        stop = end_column(t.home[u], t)
        for k in range(columns, stop):
            label[k] = nothing
        columns = max(columns, stop)
        for k in range(stop):
            label[k] = min(label[k], away[end, v] + (after[k] if down_to >= 0 else before[k]))


@njit(cache=True, nogil=True)
def deepest(v, t, entries):
    """The lowest of the cells where the label of a vertex ends: those of its two ends lie on one path to the root."""
    b = t.home[entries.ends[0, v]]
    return max(b, t.home[entries.ends[1, v]]) if entries.ends[1, v] >= 0 else b


@njit(cache=True, nogil=True)
def pairs_by_upward_queries(sources, targets, t, entries, tables, room, nothing, scale, answer):
    """Answer pairs without labels; equal sources in a row share one upward query."""
    kind = tables.side_out
    before, after = np.empty(room, kind.dtype), np.empty(room, kind.dtype)
    mine, theirs = np.empty(room, kind.dtype), np.empty(room, kind.dtype)
    last = known = -1
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        down_to = meeting(deepest(s, t, entries), deepest(g, t, entries), t)
        if s != last or down_to > known:
            side, square = tables.side_out, tables.square_out
            upward_label(s, t, entries, entries.out, side, square, nothing, down_to, before, after, mine)
            last, known = s, down_to
        upward_label(g, t, entries, entries.into, tables.side_in, tables.square_in, nothing, -1, before, after, theirs)
        k = end_column(down_to, t)
        best = least_sum(mine[:k], theirs[:k], nothing)
        answer[i] = length(near(s, g, t, entries, tables.inner, nothing, best), nothing, scale)


@njit(cache=True, nogil=True)
def pairs_by_labels(sources, targets, t, entries, tables, labels, room, nothing, scale, answer):
    """Answer pairs from labels: the common part of two labels, added and minimised."""
    mine, theirs = np.empty(room, labels.out.dtype), np.empty(room, labels.out.dtype)
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        k = end_column(meeting(deepest(s, t, entries), deepest(g, t, entries), t), t)
        merged(s, k, t, entries, entries.out, tables.side_out, labels.row_start, labels.out, nothing, mine)
        merged(g, k, t, entries, entries.into, tables.side_in, labels.row_start, labels.into, nothing, theirs)
        best = least_sum(mine[:k], theirs[:k], nothing)
        answer[i] = length(near(s, g, t, entries, tables.inner, nothing, best), nothing, scale)


@njit(cache=True, nogil=True)
def near(s, g, t, entries, inner, nothing, best):
    """A pair may stay inside a contracted tree or a leaf that both share; a node is at distance 0 of itself.

    Only where the deepest cells of both are the same: a leaf is the deepest cell of whatever is in it, and vertices of
    one tree have the same ends.
    """
    if s == g:
        return entries.out.dtype.type(0)
    f = entries.tree[s]
    if f >= 0 and f == entries.tree[g]:
        k = entries.start[f + 1] - entries.start[f]
        best = min(best, entries.inner[entries.inner_start[f] + entries.place[s] * k + entries.place[g]])
    for x in range(2):
        a = entries.ends[x, s]
        for y in range(2 if a >= 0 else 0):
            b = entries.ends[y, g]
            if b >= 0 and t.home[a] == t.home[b]:
                out, into, within = entries.out[x, s], entries.into[y, g], inside(a, b, t, inner, nothing)
                if out < nothing and into < nothing and within < nothing:  # three times that would not fit in 32 bits
                    best = min(best, out + within + into)
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
