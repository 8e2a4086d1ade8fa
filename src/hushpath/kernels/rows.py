"""Full rows and matrices over a hierarchy of cells; the words are explained in ``kernels.layout``.

Numbers are lattice steps, ``float64`` or ``int32``, with ``nothing`` for "not connected" (``kernels.minplus``).
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .labels import deepest, end_column, inside, merged, near, upward_label
from .minplus import FAST, LANES, copied, least_sum, length, panel

TILE = 64  # columns of an answer that are turned into rows together: they stay in the nearest cache


@njit(cache=True, nogil=True)
def rows_one_by_one(sources, t, entries, tables, room, nothing, scale, out):
    """All distances from single sources: an upward query, then a sweep down the hierarchy, one shortcut a level."""
    kind = tables.side_in.dtype
    before, after, mine = np.empty(room, kind), np.empty(room, kind), np.empty(room, kind)
    reach, x, found = np.empty(room, kind), np.empty(room, kind), np.empty(len(t.home), kind)
    on_path = np.zeros(len(t.parent), np.bool_)
    for i in range(len(sources)):
        s = sources[i]
        side, square = tables.side_out, tables.square_out
        upward_label(s, t, entries, entries.out, side, square, nothing, len(t.parent), before, after, mine)
        low = deepest(s, t, entries)
        b = low
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
                    found[t.own[k]] = least_sum(x[:width], tables.side_in[at : at + width], nothing)
                    at += width
                continue
            for k in range(t.hub_start[b + 1] - t.hub_start[b]):
                best = least_sum(x[:width], tables.side_in[at : at + width], nothing)
                at += width
                if on_path[b]:
                    best = min(best, mine[t.col[b] + k])
                reach[t.col[b] + k] = best
                v = t.hubs[t.hub_start[b] + k]
                if t.home[v] == b:
                    found[v] = best
        for end in range(2):
            u = entries.ends[end, s]
            if u >= 0 and t.leaf[t.home[u]]:
                for k in range(t.own_start[t.home[u]], t.own_start[t.home[u] + 1]):
                    v = t.own[k]
                    found[v] = min(found[v], entries.out[end, s] + inside(u, v, t, tables.inner, nothing))
        for v in range(len(entries.tree)):
            steps = found[entries.ends[0, v]] + entries.into[0, v]
            if entries.ends[1, v] >= 0:
                steps = min(steps, found[entries.ends[1, v]] + entries.into[1, v])
            out[i, v] = length(_in_tree(s, v, entries, steps), nothing, scale)
        out[i, s] = 0.0
        while low >= 0:
            on_path[low] = False
            low = t.parent[low]


@njit(cache=True, nogil=True)
def _in_tree(s, v, entries, steps):
    """A pair in one contracted tree may stay inside it."""
    f = entries.tree[v]
    if f >= 0 and f == entries.tree[s]:
        k = entries.start[f + 1] - entries.start[f]
        return min(steps, entries.inner[entries.inner_start[f] + entries.place[s] * k + entries.place[v]])
    return steps


@njit(cache=True, nogil=True)
def rows_by_panels(sources, at_row, t, entries, asked, tables, labels, room, nothing, found, scale, out):
    """Distances from many sources (in the order of their deepest cells) to many targets, ``LANES`` side by side.

    Row ``at_row[i]`` of ``out`` receives the distances from ``sources[i]``.  Without labels each source takes
    an upward query.  ``found`` is a buffer of one row of lanes per core entry of the targets.
    """
    cells, kind = len(t.parent), tables.side_in.dtype
    widest, tallest = 1, 1
    for b in range(cells):
        widest, tallest = max(widest, t.bound_start[b + 1] - t.bound_start[b]), max(tallest, t.rows[b])
    before, after, mine = np.empty(room, kind), np.empty(room, kind), np.empty((LANES, room), kind)
    reach, x, y = np.empty((room, LANES), kind), np.empty((widest, LANES), kind), np.empty((tallest, LANES), kind)
    starts, low = np.empty(tallest, np.int64), np.empty(LANES, np.int64)
    of_source = np.zeros(len(entries.start), np.bool_)
    for block in range(0, len(sources), LANES):
        lanes = min(LANES, len(sources) - block)
        for lane in range(lanes):
            s = sources[block + lane]
            low[lane] = deepest(s, t, entries)
            if len(labels.out) == 0:
                side, square = tables.side_out, tables.square_out
                upward_label(s, t, entries, entries.out, side, square, nothing, cells, before, after, mine[lane])
            else:
                k = end_column(low[lane], t)
                begin, label = labels.row_start, labels.out
                merged(s, k, t, entries, entries.out, tables.side_out, begin, label, nothing, mine[lane])
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
                    y[k, lane] = nothing
            panel(tables.side_in, starts, rows, width, x, y)
            if low[lanes - 1] >= b and low[0] < t.last[b]:
                _sources_below(b, sources, block, lanes, low, mine, t, entries, tables.inner, nothing, y)
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
        _expanded(sources, at_row, block, lanes, entries, asked, found, of_source, nothing, scale, out)


@njit(cache=True, nogil=True)
def _sources_below(b, sources, block, lanes, low, mine, t, entries, inner, nothing, y):
    """What sources below a cell know of its hubs, or of the rest of their leaf, joins what came from above."""
    for lane in range(lanes):
        if low[lane] < b or low[lane] >= t.last[b]:
            continue
        if not t.leaf[b]:
            for k in range(t.hub_start[b + 1] - t.hub_start[b]):
                y[k, lane] = min(y[k, lane], mine[lane, t.col[b] + k])
            continue
        s = sources[block + lane]
        for end in range(2):
            u = entries.ends[end, s]
            if u >= 0 and t.home[u] == b:
                for k in range(t.own_start[b + 1] - t.own_start[b]):
                    steps = entries.out[end, s] + inside(u, t.own[t.own_start[b] + k], t, inner, nothing)
                    y[k, lane] = min(y[k, lane], steps)


@njit(cache=True, nogil=True, fastmath=FAST)
def _expanded(sources, at_row, block, lanes, entries, asked, found, of_source, nothing, scale, out):
    """From core vertices to the targets behind them, and from lanes to rows, in tiles.

    ``of_source`` marks the trees of sources: there a path may stay inside.  It is all false before and after.
    """
    kind, tile = found.dtype.type, np.empty((TILE, LANES), found.dtype)
    for lane in range(lanes):
        s = sources[block + lane]
        if entries.tree[s] >= 0:
            of_source[entries.tree[s]] = True
        elif asked.rank[entries.ends[0, s]] >= 0:
            found[asked.rank[entries.ends[0, s]], lane] = 0
    for c in range(0, len(asked.columns), TILE):
        where = asked.columns[c : c + TILE]
        for k in range(len(where)):
            v = where[k]
            near, away, second = asked.rank[entries.ends[0, v]], entries.into[0, v], entries.ends[1, v]
            if second < 0:
                for lane in range(LANES):
                    tile[k, lane] = kind(found[near, lane] + away)
            else:
                far, beyond = asked.rank[second], entries.into[1, v]
                for lane in range(LANES):
                    tile[k, lane] = min(kind(found[near, lane] + away), kind(found[far, lane] + beyond))
            if entries.tree[v] >= 0 and of_source[entries.tree[v]]:
                for lane in range(lanes):
                    tile[k, lane] = _in_tree(sources[block + lane], v, entries, tile[k, lane])
        for lane in range(lanes):
            line = out[at_row[block + lane]][c : c + TILE]
            for k in range(len(where)):
                line[k] = length(tile[k, lane], nothing, scale)
    for s in sources[block : block + lanes]:
        if entries.tree[s] >= 0:
            of_source[entries.tree[s]] = False


@njit(cache=True, nogil=True)
def products_by_labels(sources, at_row, targets, at_column, t, entries, tables, labels, room, nothing, scale, out):
    """Distances from sources to targets, both in the order of their deepest cells, as products of labels by cell."""
    kind, rows = labels.out.dtype, len(sources)
    mine, theirs = np.empty(rows * room, kind), np.empty((LANES, room), kind)
    homes, low, starts = np.empty(rows, np.int64), np.empty(LANES, np.int64), np.empty(rows, np.int64)
    for i in range(rows):
        homes[i] = deepest(sources[i], t, entries)
        merged(
            sources[i], end_column(homes[i], t), t, entries, entries.out, tables.side_out, labels.row_start, labels.out,
            nothing, mine[i * room : (i + 1) * room],
        )  # fmt: skip
    x, y = np.empty((room, LANES), kind), np.empty((rows, LANES), kind)
    for block in range(0, len(targets), LANES):
        some = targets[block : block + LANES]
        for lane in range(len(some)):
            low[lane] = deepest(some[lane], t, entries)
            merged(
                some[lane], end_column(low[lane], t), t, entries, entries.into, tables.side_in, labels.row_start,
                labels.into, nothing, theirs[lane],
            )  # fmt: skip
        for i in range(rows):
            for lane in range(LANES):
                y[i, lane] = nothing
        b = 0
        while b < len(t.parent):
            first, stop = np.searchsorted(low[: len(some)], b), np.searchsorted(low[: len(some)], t.last[b])
            top, bottom = np.searchsorted(homes, b), np.searchsorted(homes, t.last[b])
            if first == stop or top == bottom:
                b = t.last[b]
                continue
            p = t.hub_start[b + 1] - t.hub_start[b]
            for k in range(p):
                for lane in range(LANES):
                    x[k, lane] = theirs[lane, t.col[b] + k] if first <= lane < stop else nothing
            for i in range(top, bottom):
                starts[i] = i * room + t.col[b]
            panel(mine, starts[top:bottom], bottom - top, p, x, y[top:bottom])
            b += 1
        for i in range(rows):
            for lane in range(len(some)):
                best = y[i, lane]
                if homes[i] == low[lane]:
                    best = near(sources[i], some[lane], t, entries, tables.inner, nothing, best)
                out[at_row[i], at_column[block + lane]] = length(best, nothing, scale)
