"""The tables of a hierarchy of cells, bottom-up: one builder for exact and for published lengths, of any type.

``nothing`` is the number that means "not connected" (``kernels.minplus``).  Arrays: ``kernels.layout``.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .minplus import close_over_pivots
from .paths import dijkstra

DENSE = 128  # up to this many vertices all distances of a leaf are computed at once


@njit(cache=True, nogil=True)
def fill_cells(cells, t, graphs, nothing, tables, place, outer):
    """Fill the ``tables`` of some ``cells`` of the layout ``t``, children before their parents, from their ``graphs``.

    ``nothing`` is the number for "not connected".
    ``outer`` holds, at ``place``, the distances between a cell's boundary vertices inside it.  Separator vertices are
    the only joints of paths between children (Lemma 33 of the paper), so they are the only pivots.
    """
    spare = np.full(len(t.home), -1, np.int64)
    for b in cells:
        first, width, p = t.bound_start[b], t.bound_start[b + 1] - t.bound_start[b], t.rows[b]
        has_inner = t.inner_start[b + 1] > t.inner_start[b]
        if t.leaf[b]:
            # Without an inner table (then the network is undirected) distances from the boundary are all there is.
            vertices = graphs.vertices[graphs.vertex_start[t.cells[b]] : graphs.vertex_start[t.cells[b] + 1]]
            mine = np.searchsorted(vertices, t.own[t.own_start[b] : t.own_start[b + 1]])
            column = np.searchsorted(vertices, t.bound[first : first + width])
            row = column if has_inner else np.arange(width)
            sources = np.arange(len(vertices)) if has_inner else column
            table = leaf_rows(t.cells[b], sources, graphs, nothing, spare)
        else:
            mine, row, column = np.arange(p), t.here[first : first + width], t.here[first : first + width]
            table = _join_children(b, t, graphs, nothing, place, outer, spare)
        at = t.side_start[b]
        for i in range(p):
            for j in range(width):
                tables.side_in[at] = table[row[j], mine[i]]
                if graphs.directed:
                    tables.side_out[at] = table[mine[i], column[j]]
                at += 1
        at = place[b]
        for i in range(width):
            for j in range(width):
                outer[at] = table[row[i], column[j]]
                at += 1
        at = t.inner_start[b] if t.leaf[b] else t.square_start[b]
        for i in range(p if has_inner or not t.leaf[b] else 0):
            for j in range(p):
                if t.leaf[b]:
                    tables.inner[at] = table[mine[i], mine[j]]
                else:
                    tables.square_out[at] = table[i, j]
                    if graphs.directed:
                        tables.square_in[at] = table[j, i]
                at += 1


@njit(cache=True, nogil=True)
def _join_children(b, t, graphs, nothing, place, outer, spare):
    """Return distances between the members of a split cell ``b``, from its children's outer tables and its own edges.

    ``t``, ``graphs``, ``nothing``, ``place`` and ``outer`` are those of ``fill_cells``; ``spare`` holds -1 everywhere.
    """
    table = np.full((t.members[b], t.members[b]), nothing)
    for i in range(len(table)):
        table[i, i] = 0
    for c in (b + 1, t.last[b + 1]):
        at = place[c]
        for i in t.above[t.bound_start[c] : t.bound_start[c + 1]]:
            for j in t.above[t.bound_start[c] : t.bound_start[c + 1]]:
                table[i, j] = min(table[i, j], outer[at])
                at += 1
    hubs = t.hubs[t.hub_start[b] : t.hub_start[b + 1]]
    for j in range(t.bound_start[b], t.bound_start[b + 1]):
        spare[t.bound[j]] = t.here[j]
    for i in range(len(hubs)):
        spare[hubs[i]] = i
    for e in range(graphs.edge_start[t.cells[b]], graphs.edge_start[t.cells[b] + 1]):
        u, v = spare[graphs.tails[e]], spare[graphs.heads[e]]
        table[u, v] = min(table[u, v], graphs.lengths[e])
        if not graphs.directed:
            table[v, u] = min(table[v, u], graphs.lengths[e])
    for v in hubs:
        spare[v] = -1
    for j in range(t.bound_start[b], t.bound_start[b + 1]):
        spare[t.bound[j]] = -1
    close_over_pivots(table, len(hubs), nothing)
    return table


@njit(cache=True, nogil=True)
def leaf_rows(cell, sources, graphs, nothing, spare):
    """Return distances inside a leaf ``cell`` from ``sources`` (by position) to all of its vertices.

    ``graphs`` has its edges, ``nothing`` means "not connected", ``spare`` holds -1 everywhere.
    """
    vertices = graphs.vertices[graphs.vertex_start[cell] : graphs.vertex_start[cell + 1]]
    n = len(vertices)
    if len(sources) == 0:  # a hierarchy that was not cut is one leaf without boundary
        return np.full((0, n), nothing)
    start, heads, lengths = _leaf_arcs(cell, vertices, graphs, spare)
    out = np.full((len(sources), n), nothing)
    if n > DENSE:
        keys, nodes, places = np.empty(n, lengths.dtype), np.empty(n, np.int64), np.empty(n, np.int64)
        dijkstra(start, heads, lengths, sources, -1, nothing, out, keys, nodes, places)
        return out
    table = np.full((n, n), nothing)
    for i in range(n):
        table[i, i] = 0
        for arc in range(start[i], start[i + 1]):
            table[i, heads[arc]] = min(table[i, heads[arc]], lengths[arc])
    close_over_pivots(table, n, nothing)
    for i in range(len(sources)):
        for j in range(n):
            out[i, j] = table[sources[i], j]
    return out


@njit(cache=True, nogil=True)
def _leaf_arcs(cell, vertices, graphs, spare):
    """Return the arcs inside a leaf ``cell`` of ``graphs``: its edges, and public ones between its ``vertices``.

    ``spare`` holds -1 everywhere.
    """
    first, last = graphs.edge_start[cell], graphs.edge_start[cell + 1]
    room = 2 * (last - first)
    for i in range(len(vertices)):
        spare[vertices[i]] = i
        room += graphs.public_start[vertices[i] + 1] - graphs.public_start[vertices[i]]
    tails, heads, lengths = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, graphs.lengths.dtype)
    k = 0
    for e in range(first, last):
        u, v = spare[graphs.tails[e]], spare[graphs.heads[e]]
        for tail, head in ((u, v), (v, u)):
            if head == v or not graphs.directed:
                tails[k], heads[k], lengths[k] = tail, head, graphs.lengths[e]
                k += 1
    for i in range(len(vertices)):
        for arc in range(graphs.public_start[vertices[i]], graphs.public_start[vertices[i] + 1]):
            if spare[graphs.public_heads[arc]] >= 0:
                tails[k], heads[k], lengths[k] = i, spare[graphs.public_heads[arc]], graphs.public_lengths[arc]
                k += 1
    for v in vertices:
        spare[v] = -1
    start, free = np.zeros(len(vertices) + 1, np.int64), np.zeros(len(vertices) + 1, np.int64)
    for tail in tails[:k]:
        start[tail + 1] += 1
    for i in range(len(vertices)):
        start[i + 1] += start[i]
        free[i] = start[i]
    out, out_lengths = np.empty(k, np.int64), np.empty(k, graphs.lengths.dtype)
    for i in range(k):
        out[free[tails[i]]], out_lengths[free[tails[i]]] = heads[i], lengths[i]
        free[tails[i]] += 1
    return start, out, out_lengths
