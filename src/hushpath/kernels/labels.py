"""Labels of vertices, and pairs answered from them or by climbing; the words are explained in ``kernels.flat``.

Numbers are ``float64`` lattice steps, ``inf`` for "not connected".
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .minplus import FAST, LANES, least_sum, panel

INF = np.inf


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_labels(cells, t, side, square, shortcut, first_row, row_start, label):
    """Labels of the hubs of split cells, and of the own vertices of leaves, given those of all cells above.

    A path to a hub above leaves the cell over its boundary, so a label is one product: side times the labels of the
    boundary.  In the cell itself a hub knows its shortcuts, or (``shortcut`` false) only itself: "before" and "after"
    in docs/proofs/separator.md.
    """
    for b in cells:
        first, width, rows = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b], t.rows[b]
        base = first_row[b]
        x, y = np.empty((width, LANES)), np.empty((rows, LANES))
        starts = t.side_start[b] + width * np.arange(rows)
        for c in range(0, t.col[b], LANES):
            lanes = min(LANES, t.col[b] - c)
            for j in range(width):
                origin = t.slot[first + j]
                begin, end = row_start[origin], row_start[origin + 1]
                for lane in range(LANES):
                    at = begin + c + lane
                    x[j, lane] = label[at] if lane < lanes and at < end else INF
            for i in range(rows):
                for lane in range(LANES):
                    y[i, lane] = INF
            panel(side, starts, rows, width, x, y)
            for i in range(rows):
                at = row_start[base + i] + c
                for lane in range(lanes):
                    label[at + lane] = y[i, lane]
        if not t.leaf[b]:
            for i in range(rows):
                at, of = row_start[base + i] + t.col[b], t.square_start[b] + i * rows
                for j in range(rows):
                    if shortcut:
                        label[at + j] = square[of + j]
                    else:
                        label[at + j] = 0.0 if i == j else INF


@njit(cache=True, nogil=True)
def climb(v, t, side, square, before, after):
    """The two labels of one vertex without those of others: from its home up, one shortcut a level.

    ``before[k]``: the estimate to the hub in column ``k`` without that cell's own shortcut; ``after``: with it.
    """
    b = t.home[v]
    end = t.col[b] + t.hub_start[b + 1] - t.hub_start[b]
    before[:end] = INF
    after[:end] = INF
    if t.leaf[b]:
        width = t.bound_start[b + 1] - t.bound_start[b]
        at = t.side_start[b] + t.row[v] * width
        for j in range(width):
            k = t.slot_col[t.slot[t.bound_start[b] + j]]
            before[k] = min(before[k], side[at + j])
        b = t.parent[b]
    else:
        before[t.col[b] + t.row[v]] = 0.0
    while b >= 0:
        p, width = t.hub_start[b + 1] - t.hub_start[b], t.bound_start[b + 1] - t.bound_start[b]
        for i in range(p):
            known = before[t.col[b] + i]
            if known < INF:
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
def pairs_by_climbing(sources, targets, t, tables, room, scale, answer):
    """Answer pairs without labels; equal sources in a row climb once."""
    spare, mine, theirs, unused = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    last = -1
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        if s != last:
            climb(s, t, tables.side_out, tables.square_out, spare, mine)
            last = s
        climb(g, t, tables.side_in, tables.square_in, theirs, unused)
        k = common_columns(t.home[s], t.home[g], t)
        answer[i] = max(_inside(s, g, t, tables.inner, least_sum(mine[:k], theirs[:k])), 0.0) * scale


@njit(cache=True, nogil=True)
def pairs_by_labels(sources, targets, t, labels, inner, scale, answer):
    """Answer pairs from labels: the common part of two labels, added and minimised."""
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        k = common_columns(t.home[s], t.home[g], t)
        a, b = labels.row_start[labels.row_of[s]], labels.row_start[labels.row_of[g]]
        best = least_sum(labels.out[a : a + k], labels.into[b : b + k])
        answer[i] = max(_inside(s, g, t, inner, best), 0.0) * scale


@njit(cache=True, nogil=True)
def _inside(s, g, t, inner, best):
    """A pair that shares a leaf may stay inside it; a node is at distance 0 of itself."""
    b = t.home[s]
    if s == g:
        return 0.0
    if b == t.home[g] and t.leaf[b] and t.inner_start[b + 1] > t.inner_start[b]:
        p = t.own_start[b + 1] - t.own_start[b]
        return min(best, inner[t.inner_start[b] + t.row[s] * p + t.row[g]])
    return best
