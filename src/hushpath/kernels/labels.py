"""Distances over a tree of cells in label order: labels, pairs, rows and products.

Layout (``engine.layout``).  Cells are numbered in preorder, so the subtree of ``b`` is ``b .. last[b]-1``.  On the way
from the root to a cell the hubs of all cells stand behind each other: hub ``i`` of cell ``b`` has *column*
``col[b] + i``.  A *slot* is a hub of a cell (a vertex may be chosen again below); a boundary vertex of a cell is named
by its slot in the deepest cell above that chose it.  Then one vector per vertex, indexed by columns, serves for
everything: the label of a vertex, and what is reached from a source on the way down.

Per cell ``side`` holds hubs (or, in a leaf, its own vertices) times boundary, ``square`` hubs times hubs, ``inner``
own times own vertices of a leaf.  A hub that also is on the boundary has a zero in its own column of ``side``, so
passing through needs no case of its own.  Numbers are ``float64`` lattice steps, ``inf`` for "not connected".
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .minplus import FAST, LANES, copied, least_sum, panel

INF = np.inf


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_labels(cells, t, side, square, shortcut, slot_row, own_row, row_start, label):
    """Labels of the hubs of split cells, and of the own vertices of leaves, given those of all cells above.

    A way to a hub above leaves the cell over its boundary, so a label is one product: side times the labels of the
    boundary.  In the cell itself a hub knows its shortcuts, or (``shortcut`` false) only itself: "before" and "after"
    in docs/proofs/separator.md.
    """
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    for b in cells:
        first, width = bound_start[b], bound_start[b + 1] - bound_start[b]
        rows = own_start[b + 1] - own_start[b] if leaf[b] else hub_start[b + 1] - hub_start[b]
        base = own_row[b] if leaf[b] else slot_row[b]
        x, y = np.empty((width, LANES)), np.empty((rows, LANES))
        starts = side_start[b] + width * np.arange(rows)
        for c in range(0, col[b], LANES):
            lanes = min(LANES, col[b] - c)
            for j in range(width):
                origin = slot[first + j]
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
        if not leaf[b]:
            for i in range(rows):
                at, of = row_start[base + i] + col[b], square_start[b] + i * rows
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
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    b = home[v]
    end = col[b] + hub_start[b + 1] - hub_start[b]
    before[:end] = INF
    after[:end] = INF
    if leaf[b]:
        width = bound_start[b + 1] - bound_start[b]
        at = side_start[b] + row[v] * width
        for j in range(width):
            k = slot_col[slot[bound_start[b] + j]]
            before[k] = min(before[k], side[at + j])
        b = parent[b]
    else:
        before[col[b] + row[v]] = 0.0
    while b >= 0:
        p, width = hub_start[b + 1] - hub_start[b], bound_start[b + 1] - bound_start[b]
        for i in range(p):
            known = before[col[b] + i]
            if known < INF:
                at = square_start[b] + i * p
                for j in range(p):
                    after[col[b] + j] = min(after[col[b] + j], known + square[at + j])
                at = side_start[b] + i * width
                for j in range(width):
                    k = slot_col[slot[bound_start[b] + j]]
                    before[k] = min(before[k], known + side[at + j])
        b = parent[b]


@njit(cache=True, nogil=True)
def common_columns(a, b, parent, hub_start, col):
    """How many columns two cells share: those of the cells above both (or equal to both)."""
    while a != b:  # parents are numbered before children, so the larger number cannot be above the other
        if a > b:
            a = parent[a]
        else:
            b = parent[b]
    return col[a] + hub_start[a + 1] - hub_start[a]


@njit(cache=True, nogil=True)
def pairs_by_climbing(sources, targets, t, out_tables, in_tables, inner, room, answer):
    """Answer pairs without labels; equal sources in a row climb once."""
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    side_out, square_out = out_tables
    side_in, square_in = in_tables
    spare, mine, theirs, unused = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    last = -1
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        if s != last:
            climb(s, t, side_out, square_out, spare, mine)
            last = s
        climb(g, t, side_in, square_in, theirs, unused)
        k = common_columns(home[s], home[g], parent, hub_start, col)
        answer[i] = least_sum(mine[:k], theirs[:k])
        _inside(s, g, t, inner, answer, i)


@njit(cache=True, nogil=True)
def pairs_by_labels(sources, targets, t, row_of, row_start, label_out, label_in, inner, answer):
    """Answer pairs from labels: the common part of two labels, added and minimised."""
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        k = common_columns(home[s], home[g], parent, hub_start, col)
        a, b = row_start[row_of[s]], row_start[row_of[g]]
        answer[i] = least_sum(label_out[a : a + k], label_in[b : b + k])
        _inside(s, g, t, inner, answer, i)


@njit(cache=True, nogil=True)
def _inside(s, g, t, inner, answer, i):
    """A pair that shares a leaf may stay inside it; a node is at distance 0 of itself."""
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    b = home[s]
    if s == g:
        answer[i] = 0.0
    elif b == home[g] and leaf[b] and inner_start[b + 1] > inner_start[b]:
        p = own_start[b + 1] - own_start[b]
        answer[i] = min(answer[i], inner[inner_start[b] + row[s] * p + row[g]])


@njit(cache=True, nogil=True)
def rows_one_by_one(sources, t, out_tables, side_in, inner, room, scale, out):
    """All distances from single sources: climb, then push what is reached down the whole tree, one shortcut a level."""
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    side_out, square_out = out_tables
    before, mine, reach, x = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    on_way = np.zeros(len(parent), np.bool_)
    for i in range(len(sources)):
        s = sources[i]
        climb(s, t, side_out, square_out, before, mine)
        b = home[s]
        while b >= 0:
            on_way[b] = True
            b = parent[b]
        for b in range(len(parent)):
            first, width = bound_start[b], bound_start[b + 1] - bound_start[b]
            for j in range(width):
                x[j] = reach[slot_col[slot[first + j]]]
            at = side_start[b]
            if leaf[b]:
                for k in range(own_start[b], own_start[b + 1]):
                    out[i, own[k]] = max(least_sum(x[:width], side_in[at : at + width]), 0.0) * scale
                    at += width
                continue
            for k in range(hub_start[b + 1] - hub_start[b]):
                best = least_sum(x[:width], side_in[at : at + width])
                at += width
                if on_way[b]:
                    best = min(best, mine[col[b] + k])
                reach[col[b] + k] = best
                v = hubs[hub_start[b] + k]
                if home[v] == b:
                    out[i, v] = max(best, 0.0) * scale
        b = home[s]
        if leaf[b] and inner_start[b + 1] > inner_start[b]:
            at = inner_start[b] + row[s] * (own_start[b + 1] - own_start[b])
            for k in range(own_start[b], own_start[b + 1]):
                out[i, own[k]] = min(out[i, own[k]], inner[at] * scale)
                at += 1
        out[i, s] = 0.0
        b = home[s]
        while b >= 0:
            on_way[b] = False
            b = parent[b]


@njit(cache=True, nogil=True)
def rows_by_panels(
    sources, at_row, t, last, needed, rank, column, out_tables, labels, side_in, inner, room, found, scale, out
):  # fmt: skip
    """Distances from many sources (in tree order) to many targets, ``LANES`` sources side by side.

    ``needed`` marks the cells that hold a target below them, ``rank`` numbers the targets in tree order (-1 for other
    vertices), ``column[c]`` is the rank of the target in column ``c``, and row ``at_row[i]`` of ``out`` receives the
    distances from ``sources[i]``.  ``labels`` are the rows, their starts and the numbers; without any, sources climb.
    ``found`` is a buffer of one row of lanes per distinct target.
    """
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    side_out, square_out = out_tables
    row_of, row_start, label = labels
    cells = len(parent)
    widest, tallest = 1, 1
    for b in range(cells):
        widest = max(widest, bound_start[b + 1] - bound_start[b])
        tallest = max(tallest, own_start[b + 1] - own_start[b], hub_start[b + 1] - hub_start[b])
    before, mine = np.empty(room), np.empty((LANES, room))
    reach, x, y = np.empty((room, LANES)), np.empty((widest, LANES)), np.empty((tallest, LANES))
    starts = np.empty(tallest, np.int64)
    for block in range(0, len(sources), LANES):
        lanes = min(LANES, len(sources) - block)
        for lane in range(lanes):
            s = sources[block + lane]
            if len(label) == 0:
                climb(s, t, side_out, square_out, before, mine[lane])
            else:
                begin, end = row_start[row_of[s]], row_start[row_of[s] + 1]
                for k in range(end - begin):
                    mine[lane, k] = label[begin + k]
        low, high = home[sources[block]], home[sources[block + lanes - 1]]
        b = 0
        while b < cells:
            if not needed[b]:
                b = last[b]
                continue
            first, width = bound_start[b], bound_start[b + 1] - bound_start[b]
            rows = own_start[b + 1] - own_start[b] if leaf[b] else hub_start[b + 1] - hub_start[b]
            for j in range(width):
                copied(reach, slot_col[slot[first + j]], x, j)
            for k in range(rows):
                starts[k] = side_start[b] + k * width
                for lane in range(LANES):
                    y[k, lane] = INF
            panel(side_in, starts, rows, width, x, y)
            if high >= b and low < last[b]:
                _sources_below(b, sources, block, lanes, mine, t, last, inner, y)
            if leaf[b]:
                for k in range(rows):
                    r = rank[own[own_start[b] + k]]
                    if r >= 0:
                        copied(y, k, found, r)
            else:
                for k in range(rows):
                    copied(y, k, reach, col[b] + k)
                    v = hubs[hub_start[b] + k]
                    if home[v] == b and rank[v] >= 0:
                        copied(y, k, found, rank[v])
            b += 1
        for lane in range(lanes):
            if rank[sources[block + lane]] >= 0:
                found[rank[sources[block + lane]], lane] = 0.0
        _transposed(found, column, at_row, block, lanes, scale, out)


@njit(cache=True, nogil=True)
def _sources_below(b, sources, block, lanes, mine, t, last, inner, y):
    """What sources below a cell know of its hubs, or of the rest of their leaf, joins what came from above."""
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    for lane in range(lanes):
        s = sources[block + lane]
        if home[s] < b or home[s] >= last[b]:
            continue
        if not leaf[b]:
            for k in range(hub_start[b + 1] - hub_start[b]):
                y[k, lane] = min(y[k, lane], mine[lane, col[b] + k])
        elif inner_start[b + 1] > inner_start[b]:
            p = own_start[b + 1] - own_start[b]
            for k in range(p):
                y[k, lane] = min(y[k, lane], inner[inner_start[b] + row[s] * p + k])


@njit(cache=True, nogil=True, fastmath=FAST)
def _transposed(found, column, at_row, block, lanes, scale, out):
    """Write lanes as rows, in tiles that stay in the nearest cache."""
    for c in range(0, len(column), 64):
        where = column[c : c + 64]
        for lane in range(lanes):
            line = out[at_row[block + lane]][c : c + 64]
            for k in range(len(where)):
                line[k] = max(found[where[k], lane], 0.0) * scale


@njit(cache=True, nogil=True)
def products_by_labels(
    sources, at_row, targets, at_column, t, last, row_of, row_start, label_out, label_in, inner, scale, out
):  # fmt: skip
    """Distances from sources to targets, both in tree order, as label products: cell by cell, a panel of targets."""
    (parent, leaf, home, row, hub_start, hubs, bound_start, slot, col, slot_col, own_start, own,
     side_start, square_start, inner_start) = t  # fmt: skip
    cells = len(parent)
    widest = 1
    for b in range(cells):
        widest = max(widest, hub_start[b + 1] - hub_start[b])
    x, y = np.empty((widest, LANES)), np.empty((len(sources), LANES))
    starts = np.empty(len(sources), np.int64)
    homes_s, homes_t = home[sources], home[targets]
    for block in range(0, len(targets), LANES):
        lanes = min(LANES, len(targets) - block)
        y[:] = INF
        b = 0
        while b < cells:
            low = np.searchsorted(homes_t[block : block + lanes], b)
            high = np.searchsorted(homes_t[block : block + lanes], last[b])
            top, bottom = np.searchsorted(homes_s, b), np.searchsorted(homes_s, last[b])
            if low == high or top == bottom:
                b = last[b]
                continue
            if leaf[b]:
                p = own_start[b + 1] - own_start[b]
                if inner_start[b + 1] > inner_start[b]:
                    for i in range(top, bottom):
                        at = inner_start[b] + row[sources[i]] * p
                        for lane in range(low, high):
                            y[i, lane] = min(y[i, lane], inner[at + row[targets[block + lane]]])
                b += 1
                continue
            p = hub_start[b + 1] - hub_start[b]
            for k in range(p):
                for lane in range(LANES):
                    x[k, lane] = INF
            for lane in range(low, high):
                at = row_start[row_of[targets[block + lane]]] + col[b]
                for k in range(p):
                    x[k, lane] = label_in[at + k]
            for i in range(top, bottom):
                starts[i] = row_start[row_of[sources[i]]] + col[b]
            panel(label_out, starts[top:bottom], bottom - top, p, x, y[top:bottom])
            b += 1
        for i in range(len(sources)):
            for lane in range(lanes):
                answer = y[i, lane]
                if sources[i] == targets[block + lane]:
                    answer = 0.0
                out[at_row[i], at_column[block + lane]] = max(answer, 0.0) * scale
