"""Hub labels, and queries of an index: pairs, rows and matrices; ``kernels.layout`` explains the terms.

Numbers are lattice steps, ``float64`` or ``int32``, with ``nothing`` for "not connected" (``kernels.minplus``).
Kernels take an index as ``q``, a ``QueryData``; ``inward`` chooses distances into a vertex, else out of it.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .minplus import FAST, LANES, copy_row, least_sum, multiply_panel, to_length

TILE = 64  # columns of an answer that are turned into rows together: they stay in the nearest cache


@njit(cache=True, nogil=True)
def fill_labels(cells, t, side, square, shortcut, row_start, nothing, label):
    """Fill the labels of the hubs of split ``cells`` of the layout ``t``, given those of all cells above.

    A path to a hub above leaves the cell over its boundary, so a label is the minimum over the boundary of the distance
    in the ``side`` table and the ``label`` there.  In the cell itself a hub has its row of the ``square`` table, or
    (``shortcut`` false) only itself: "before" and "after" in docs/proofs/separator.md.  ``row_start`` is where each
    label begins, ``nothing`` the number for "not connected".
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
                _lower_row(label[at : at + len(known)], side[t.side_start[b] + i * width + j], known)
            at, of = at + t.col[b], t.square_start[b] + i * rows
            for j in range(rows):
                if shortcut:
                    label[at + j] = square[of + j]
                else:
                    label[at + j] = 0 if i == j else nothing


@njit(cache=True, nogil=True, fastmath=FAST)
def _lower_row(mine, away, known):
    """Lower one row to another one that is ``away``."""
    kind = mine.dtype.type
    for k in range(len(mine)):
        mine[k] = min(mine[k], kind(away + known[k]))


@njit(cache=True, nogil=True, inline="always")  # handing over a whole index costs as much as a short label
def merge_label(v, columns, q, inward, mine):
    """Fill ``mine`` with the first ``columns`` columns of the label of any vertex ``v`` of the network.

    Only hubs have labels.  Other vertices reach hubs over their core entries and over the boundary of their leaf, so
    theirs are the minimum over these.  ``q`` and ``inward`` are as above.
    """
    t, row_start, nothing = q.layout, q.labels.row_start, q.nothing
    away, side = (q.entries.into, q.tables.side_in) if inward else (q.entries.out, q.tables.side_out)
    label = q.labels.into if inward else q.labels.out
    for k in range(columns):
        mine[k] = nothing
    for end in range(2):
        u = q.entries.ends[end, v]
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
                _lower_row(mine[:stop], far, label[row_start[slot] : row_start[slot] + stop])


@njit(cache=True, nogil=True)
def upward_query(v, q, inward, down_to, before, after):
    """Fill the two labels of a core vertex ``v`` without those of others: from its home up, one shortcut a level.

    ``before[k]``: the estimate to the hub in column ``k`` without that cell's own shortcut; ``after``: with it, for
    cells numbered up to ``down_to`` (those below are not needed).  ``q`` and ``inward`` are as above.
    """
    t, nothing = q.layout, q.nothing
    side, square = (q.tables.side_in, q.tables.square_in) if inward else (q.tables.side_out, q.tables.square_out)
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
                    _lower_row(after[t.col[b] : t.col[b] + p], known, square[at : at + p])
                at = t.side_start[b] + i * width
                _lower_row(reached[:width], known, side[at : at + width])
        for j in range(width):
            k = t.slot_col[t.slot[first + j]]
            before[k] = min(before[k], reached[j])
        b = t.parent[b]


@njit(cache=True, nogil=True)
def upward_label(v, q, inward, down_to, before, after, label):
    """Fill the ``label`` of any vertex ``v`` of the network by upward queries from its core entries.

    It has the shortcuts of cells numbered up to ``down_to``, none if that is -1.  ``q`` and ``inward`` are as above;
    ``before`` and ``after`` are buffers.
    """
    columns, away = 0, q.entries.into if inward else q.entries.out
    for end in range(2):
        u = q.entries.ends[end, v]
        if u < 0:
            continue
        upward_query(u, q, inward, down_to, before, after)
        stop = end_column(q.layout.home[u], q.layout)
        for k in range(columns, stop):
            label[k] = q.nothing
        columns = max(columns, stop)
        for k in range(stop):
            label[k] = min(label[k], away[end, v] + (after[k] if down_to >= 0 else before[k]))


@njit(cache=True, nogil=True)
def meeting_cell(a, b, t):
    """Return the lowest cell above both (or equal to one): the columns of its labels are those that both share."""
    while a != b:  # parents are numbered before children, so the larger number cannot be above the other
        if a > b:
            a = t.parent[a]
        else:
            b = t.parent[b]
    return a


@njit(cache=True, nogil=True)
def end_column(b, t):
    """Count the columns of the labels of a cell."""
    return t.col[b] + t.hub_start[b + 1] - t.hub_start[b]


@njit(cache=True, nogil=True)
def deepest_cell(v, t, entries):
    """Return the lowest of the cells where the label of a vertex ends; its two are on one path to the root."""
    b = t.home[entries.ends[0, v]]
    return max(b, t.home[entries.ends[1, v]]) if entries.ends[1, v] >= 0 else b


@njit(cache=True, nogil=True)
def pairs_by_upward_queries(sources, targets, q, answer):
    """Fill the ``answer`` of each pair without labels; equal ``sources`` in a row share one upward query.

    ``targets`` are the other ends, ``q`` is the index.
    """
    t, entries, kind = q.layout, q.entries, q.tables.inner.dtype
    before, after = np.empty(q.room, kind), np.empty(q.room, kind)
    mine, theirs = np.empty(q.room, kind), np.empty(q.room, kind)
    last = known = -1
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        down_to = meeting_cell(deepest_cell(s, t, entries), deepest_cell(g, t, entries), t)
        if s != last or down_to > known:
            upward_label(s, q, False, down_to, before, after, mine)
            last, known = s, down_to
        upward_label(g, q, True, -1, before, after, theirs)
        k = end_column(down_to, t)
        best = least_sum(mine[:k], theirs[:k], q.nothing)
        answer[i] = to_length(shortest_nearby(s, g, t, entries, q.tables.inner, q.nothing, best), q.nothing, q.scale)


@njit(cache=True, nogil=True)
def pairs_by_labels(sources, targets, q, answer):
    """Fill the ``answer`` of each pair of ``sources`` and ``targets`` from labels of the index ``q``.

    The common part of two labels is added and minimised.
    """
    t, entries, kind = q.layout, q.entries, q.tables.inner.dtype
    mine, theirs = np.empty(q.room, kind), np.empty(q.room, kind)
    for i in range(len(sources)):
        s, g = sources[i], targets[i]
        k = end_column(meeting_cell(deepest_cell(s, t, entries), deepest_cell(g, t, entries), t), t)
        merge_label(s, k, q, False, mine)
        merge_label(g, k, q, True, theirs)
        best = least_sum(mine[:k], theirs[:k], q.nothing)
        answer[i] = to_length(shortest_nearby(s, g, t, entries, q.tables.inner, q.nothing, best), q.nothing, q.scale)


@njit(cache=True, nogil=True)
def shortest_nearby(s, g, t, entries, inner, nothing, best):
    """Lower ``best`` to paths from ``s`` to ``g`` that stay inside a contracted tree or leaf; 0 if they are the same.

    ``t`` is the layout, ``entries`` are the core entries, ``inner`` the tables of leaves, with ``nothing`` for "not
    connected".  Only where the deepest cells of both are the same: a leaf is the deepest cell of whatever is in it, and
    vertices of one tree have the same ends.
    """
    if s == g:
        return entries.out.dtype.type(0)
    best = shortest_in_tree(s, g, entries, best)
    for x in range(2):
        a = entries.ends[x, s]
        for y in range(2 if a >= 0 else 0):
            b = entries.ends[y, g]
            if b >= 0 and t.home[a] == t.home[b]:
                out, into, within = entries.out[x, s], entries.into[y, g], leaf_distance(a, b, t, inner, nothing)
                if out < nothing and into < nothing and within < nothing:  # three times that would not fit in 32 bits
                    best = min(best, out + within + into)
    return best


@njit(cache=True, nogil=True)
def shortest_in_tree(s, g, entries, best):
    """Lower ``best`` to the distance of ``s`` and ``g`` inside the contracted tree of ``entries`` that both share."""
    f = entries.tree[g]
    if f >= 0 and f == entries.tree[s]:
        k = entries.start[f + 1] - entries.start[f]
        return min(best, entries.inner[entries.inner_start[f] + entries.place[s] * k + entries.place[g]])
    return best


@njit(cache=True, nogil=True)
def leaf_distance(a, b, t, inner, nothing):
    """Return the distance of core vertices ``a`` and ``b`` of one leaf of the layout ``t`` inside it, or ``nothing``.

    ``inner`` holds the tables of leaves.
    """
    cell = t.home[a]
    if a == b:
        return inner.dtype.type(0)
    if t.leaf[cell] and t.inner_start[cell + 1] > t.inner_start[cell]:
        p = t.own_start[cell + 1] - t.own_start[cell]
        return inner[t.inner_start[cell] + t.row[a] * p + t.row[b]]
    return nothing


@njit(cache=True, nogil=True)
def rows_one_by_one(sources, q, out):
    """Fill ``out`` with all distances from each source: an upward query, then a sweep down, one shortcut a level."""
    t, entries, room, nothing = q.layout, q.entries, q.room, q.nothing
    side, kind = q.tables.side_in, q.tables.inner.dtype
    before, after, mine = np.empty(room, kind), np.empty(room, kind), np.empty(room, kind)
    reach, x, found = np.empty(room, kind), np.empty(room, kind), np.empty(len(t.home), kind)
    on_path = np.zeros(len(t.parent), np.bool_)
    for i in range(len(sources)):
        s = sources[i]
        upward_label(s, q, False, len(t.parent), before, after, mine)
        low = deepest_cell(s, t, entries)
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
                    found[t.own[k]] = least_sum(x[:width], side[at : at + width], nothing)
                    at += width
                continue
            for k in range(t.hub_start[b + 1] - t.hub_start[b]):
                best = least_sum(x[:width], side[at : at + width], nothing)
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
                    found[v] = min(found[v], entries.out[end, s] + leaf_distance(u, v, t, q.tables.inner, nothing))
        for v in range(len(entries.tree)):
            steps = found[entries.ends[0, v]] + entries.into[0, v]
            if entries.ends[1, v] >= 0:
                steps = min(steps, found[entries.ends[1, v]] + entries.into[1, v])
            out[i, v] = to_length(shortest_in_tree(s, v, entries, steps), nothing, q.scale)
        out[i, s] = 0.0
        while low >= 0:
            on_path[low] = False
            low = t.parent[low]


@njit(cache=True, nogil=True)
def rows_by_panels(sources, at_row, q, asked, out):
    """Compute distances from many sources (in the order of their deepest cells), ``LANES`` of them side by side.

    Row ``at_row[i]`` of ``out`` receives the distances from ``sources[i]`` to the ``Targets`` that are ``asked`` for.
    Without labels in the index ``q`` each source takes an upward query.
    """
    t, entries, room, nothing, kind = q.layout, q.entries, q.room, q.nothing, q.tables.inner.dtype
    cells, found = len(t.parent), np.empty((asked.entered, LANES), kind)  # a row of lanes per core entry of the targets
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
            low[lane] = deepest_cell(s, t, entries)
            if len(q.labels.out) == 0:
                upward_label(s, q, False, cells, before, after, mine[lane])
            else:
                merge_label(s, end_column(low[lane], t), q, False, mine[lane])
        b = 0
        while b < cells:
            if not asked.needed[b]:
                b = t.last[b]
                continue
            first, width, rows = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b], t.rows[b]
            for j in range(width):
                copy_row(reach, t.slot_col[t.slot[first + j]], x, j)
            for k in range(rows):
                starts[k] = t.side_start[b] + k * width
                for lane in range(LANES):
                    y[k, lane] = nothing
            multiply_panel(q.tables.side_in, starts, rows, width, x, y)
            if low[lanes - 1] >= b and low[0] < t.last[b]:
                _add_sources_below(b, q, sources[block : block + lanes], low, mine, y)
            if t.leaf[b]:
                for k in range(rows):
                    r = asked.rank[t.own[t.own_start[b] + k]]
                    if r >= 0:
                        copy_row(y, k, found, r)
            else:
                for k in range(rows):
                    copy_row(y, k, reach, t.col[b] + k)
                    v = t.hubs[t.hub_start[b] + k]
                    if t.home[v] == b and asked.rank[v] >= 0:
                        copy_row(y, k, found, asked.rank[v])
            b += 1
        last = block + lanes
        _expand_targets(sources[block:last], at_row[block:last], q, asked, found, of_source, out)


@njit(cache=True, nogil=True)
def _add_sources_below(b, q, sources, low, mine, y):
    """Lower ``y`` to what ``sources`` below cell ``b`` know of its hubs, or of the rest of their leaf.

    ``low`` holds their deepest cells, ``mine`` their labels; ``q`` is the index.
    """
    t, entries = q.layout, q.entries
    for lane in range(len(sources)):
        if low[lane] < b or low[lane] >= t.last[b]:
            continue
        if not t.leaf[b]:
            for k in range(t.hub_start[b + 1] - t.hub_start[b]):
                y[k, lane] = min(y[k, lane], mine[lane, t.col[b] + k])
            continue
        s = sources[lane]
        for end in range(2):
            u = entries.ends[end, s]
            if u >= 0 and t.home[u] == b:
                for k in range(t.own_start[b + 1] - t.own_start[b]):
                    within = leaf_distance(u, t.own[t.own_start[b] + k], t, q.tables.inner, q.nothing)
                    y[k, lane] = min(y[k, lane], entries.out[end, s] + within)


@njit(cache=True, nogil=True, fastmath=FAST)
def _expand_targets(sources, at_row, q, asked, found, of_source, out):
    """Go from core vertices to the targets behind them, and from lanes to rows, in tiles.

    ``sources``, ``at_row``, ``q``, ``asked`` and ``out`` are those of ``rows_by_panels``, for one panel; ``found`` are
    the distances to core vertices.  ``of_source`` marks the trees of sources: there a path may stay inside.  It is all
    false before and after.
    """
    entries, lanes = q.entries, len(sources)
    kind, tile = found.dtype.type, np.empty((TILE, LANES), found.dtype)
    for lane in range(lanes):
        s = sources[lane]
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
                    tile[k, lane] = shortest_in_tree(sources[lane], v, entries, tile[k, lane])
        for lane in range(lanes):
            line = out[at_row[lane]][c : c + TILE]
            for k in range(len(where)):
                line[k] = to_length(tile[k, lane], q.nothing, q.scale)
    for s in sources:
        if entries.tree[s] >= 0:
            of_source[entries.tree[s]] = False


@njit(cache=True, nogil=True)
def products_by_labels(sources, at_row, targets, at_column, q, out):
    """Compute distances from sources to targets, both in the order of their deepest cells, by products of labels.

    Row ``at_row[i]`` and column ``at_column[j]`` of ``out`` are those of ``sources[i]`` and ``targets[j]``.  A cell of
    the index ``q`` adds the product over its hubs for the sources and targets below it.
    """
    t, entries, room, nothing, kind, rows = q.layout, q.entries, q.room, q.nothing, q.tables.inner.dtype, len(sources)
    mine, theirs = np.empty(rows * room, kind), np.empty((LANES, room), kind)
    homes, low, starts = np.empty(rows, np.int64), np.empty(LANES, np.int64), np.empty(rows, np.int64)
    for i in range(rows):
        homes[i] = deepest_cell(sources[i], t, entries)
        merge_label(sources[i], end_column(homes[i], t), q, False, mine[i * room : (i + 1) * room])
    x, y = np.empty((room, LANES), kind), np.empty((rows, LANES), kind)
    for block in range(0, len(targets), LANES):
        some = targets[block : block + LANES]
        for lane in range(len(some)):
            low[lane] = deepest_cell(some[lane], t, entries)
            merge_label(some[lane], end_column(low[lane], t), q, True, theirs[lane])
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
            multiply_panel(mine, starts[top:bottom], bottom - top, p, x, y[top:bottom])
            b += 1
        for i in range(rows):
            for lane in range(len(some)):
                best = y[i, lane]
                if homes[i] == low[lane]:
                    best = shortest_nearby(sources[i], some[lane], t, entries, q.tables.inner, nothing, best)
                out[at_row[i], at_column[block + lane]] = to_length(best, nothing, q.scale)
