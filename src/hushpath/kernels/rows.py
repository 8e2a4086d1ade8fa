"""Full rows and matrices over a hierarchy of cells; the words are explained in ``kernels.flat``.

Numbers are ``float64`` lattice steps, ``inf`` for "not connected".
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .labels import INF, climb
from .minplus import FAST, LANES, copied, least_sum, panel


@njit(cache=True, nogil=True)
def rows_one_by_one(sources, t, tables, room, scale, out):
    """All distances from single sources: climb, then push what is reached down the hierarchy, one shortcut a level."""
    before, mine, reach, x = np.empty(room), np.empty(room), np.empty(room), np.empty(room)
    on_path = np.zeros(len(t.parent), np.bool_)
    for i in range(len(sources)):
        s = sources[i]
        climb(s, t, tables.side_out, tables.square_out, before, mine)
        b = t.home[s]
        while b >= 0:
            on_path[b] = True
            b = t.parent[b]
        for b in range(len(t.parent)):
            first, width = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b]
            for j in range(width):
                x[j] = reach[t.slot_col[t.slot[first + j]]]
            at = t.side_start[b]
            if t.leaf[b]:
                for k in range(t.own_start[b], t.own_start[b + 1]):
                    out[i, t.own[k]] = max(least_sum(x[:width], tables.side_in[at : at + width]), 0.0) * scale
                    at += width
                continue
            for k in range(t.hub_start[b + 1] - t.hub_start[b]):
                best = least_sum(x[:width], tables.side_in[at : at + width])
                at += width
                if on_path[b]:
                    best = min(best, mine[t.col[b] + k])
                reach[t.col[b] + k] = best
                v = t.hubs[t.hub_start[b] + k]
                if t.home[v] == b:
                    out[i, v] = max(best, 0.0) * scale
        b = t.home[s]
        if t.leaf[b] and t.inner_start[b + 1] > t.inner_start[b]:
            at = t.inner_start[b] + t.row[s] * (t.own_start[b + 1] - t.own_start[b])
            for k in range(t.own_start[b], t.own_start[b + 1]):
                out[i, t.own[k]] = min(out[i, t.own[k]], tables.inner[at] * scale)
                at += 1
        out[i, s] = 0.0
        b = t.home[s]
        while b >= 0:
            on_path[b] = False
            b = t.parent[b]


@njit(cache=True, nogil=True)
def rows_by_panels(sources, at_row, t, asked, tables, labels, room, found, scale, out):
    """Distances from many sources (in preorder of their homes) to many targets, ``LANES`` sources side by side.

    Row ``at_row[i]`` of ``out`` receives the distances from ``sources[i]``.  Without labels sources climb.  ``found``
    is a buffer of one row of lanes per distinct target.
    """
    cells = len(t.parent)
    widest, tallest = 1, 1
    for b in range(cells):
        widest, tallest = max(widest, t.bound_start[b + 1] - t.bound_start[b]), max(tallest, t.rows[b])
    before, mine = np.empty(room), np.empty((LANES, room))
    reach, x, y = np.empty((room, LANES)), np.empty((widest, LANES)), np.empty((tallest, LANES))
    starts = np.empty(tallest, np.int64)
    for block in range(0, len(sources), LANES):
        lanes = min(LANES, len(sources) - block)
        for lane in range(lanes):
            s = sources[block + lane]
            if len(labels.out) == 0:
                climb(s, t, tables.side_out, tables.square_out, before, mine[lane])
            else:
                begin, end = labels.row_start[labels.row_of[s]], labels.row_start[labels.row_of[s] + 1]
                for k in range(end - begin):
                    mine[lane, k] = labels.out[begin + k]
        low, high = t.home[sources[block]], t.home[sources[block + lanes - 1]]
        b = 0
        while b < cells:
            if not asked.needed[b]:
                b = t.last[b]
                continue
            first, width, rows = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b], t.rows[b]
            for j in range(width):
                copied(reach, t.slot_col[t.slot[first + j]], x, j)
            for k in range(rows):
                starts[k] = t.side_start[b] + k * width
                for lane in range(LANES):
                    y[k, lane] = INF
            panel(tables.side_in, starts, rows, width, x, y)
            if high >= b and low < t.last[b]:
                _sources_below(b, sources, block, lanes, mine, t, tables.inner, y)
            if t.leaf[b]:
                for k in range(rows):
                    r = asked.rank[t.own[t.own_start[b] + k]]
                    if r >= 0:
                        copied(y, k, found, r)
            else:
                for k in range(rows):
                    copied(y, k, reach, t.col[b] + k)
                    v = t.hubs[t.hub_start[b] + k]
                    if t.home[v] == b and asked.rank[v] >= 0:
                        copied(y, k, found, asked.rank[v])
            b += 1
        for lane in range(lanes):
            if asked.rank[sources[block + lane]] >= 0:
                found[asked.rank[sources[block + lane]], lane] = 0.0
        _transposed(found, asked.column, at_row, block, lanes, scale, out)


@njit(cache=True, nogil=True)
def _sources_below(b, sources, block, lanes, mine, t, inner, y):
    """What sources below a cell know of its hubs, or of the rest of their leaf, joins what came from above."""
    for lane in range(lanes):
        s = sources[block + lane]
        if t.home[s] < b or t.home[s] >= t.last[b]:
            continue
        if not t.leaf[b]:
            for k in range(t.hub_start[b + 1] - t.hub_start[b]):
                y[k, lane] = min(y[k, lane], mine[lane, t.col[b] + k])
        elif t.inner_start[b + 1] > t.inner_start[b]:
            p = t.own_start[b + 1] - t.own_start[b]
            for k in range(p):
                y[k, lane] = min(y[k, lane], inner[t.inner_start[b] + t.row[s] * p + k])


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
def products_by_labels(sources, at_row, targets, at_column, t, labels, inner, scale, out):
    """Distances from sources to targets, both in preorder of homes, as label products: cell by cell, panel by panel."""
    cells = len(t.parent)
    widest = 1
    for b in range(cells):
        widest = max(widest, t.hub_start[b + 1] - t.hub_start[b])
    x, y = np.empty((widest, LANES)), np.empty((len(sources), LANES))
    starts = np.empty(len(sources), np.int64)
    homes_s, homes_t = t.home[sources], t.home[targets]
    for block in range(0, len(targets), LANES):
        lanes = min(LANES, len(targets) - block)
        y[:] = INF
        b = 0
        while b < cells:
            low = np.searchsorted(homes_t[block : block + lanes], b)
            high = np.searchsorted(homes_t[block : block + lanes], t.last[b])
            top, bottom = np.searchsorted(homes_s, b), np.searchsorted(homes_s, t.last[b])
            if low == high or top == bottom:
                b = t.last[b]
                continue
            if t.leaf[b]:
                p = t.own_start[b + 1] - t.own_start[b]
                if t.inner_start[b + 1] > t.inner_start[b]:
                    for i in range(top, bottom):
                        at = t.inner_start[b] + t.row[sources[i]] * p
                        for lane in range(low, high):
                            y[i, lane] = min(y[i, lane], inner[at + t.row[targets[block + lane]]])
                b += 1
                continue
            p = t.hub_start[b + 1] - t.hub_start[b]
            for k in range(p):
                for lane in range(LANES):
                    x[k, lane] = INF
            for lane in range(low, high):
                at = labels.row_start[labels.row_of[targets[block + lane]]] + t.col[b]
                for k in range(p):
                    x[k, lane] = labels.into[at + k]
            for i in range(top, bottom):
                starts[i] = labels.row_start[labels.row_of[sources[i]]] + t.col[b]
            panel(labels.out, starts[top:bottom], bottom - top, p, x, y[top:bottom])
            b += 1
        for i in range(len(sources)):
            for lane in range(lanes):
                answer = y[i, lane]
                if sources[i] == targets[block + lane]:
                    answer = 0.0
                out[at_row[i], at_column[block + lane]] = max(answer, 0.0) * scale
