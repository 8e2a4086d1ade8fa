"""The flat arrays of a hierarchy that kernels take (layout, tables, labels, graphs of cells), and their numbering.

Cells are numbered in preorder, so the subtree of ``b`` is ``b .. last[b] - 1`` and the children of a split cell are
``b + 1`` and ``last[b + 1]``.  On the path from the root to a cell the hubs of all cells follow each other: hub ``i``
of cell ``b`` has *column* ``col[b] + i``.  A *slot* is a hub of a cell (a vertex may be chosen again below); a boundary
vertex of a cell is named by its slot in the deepest cell above that chose it.  Then one vector per vertex, indexed by
columns, serves for everything: the hub label of a vertex, and what a source reaches in the sweep down.

Per cell ``side`` holds hubs (or, in a leaf, its own vertices) times boundary, ``square`` hubs times hubs, ``inner``
own times own vertices of a leaf.  A hub that also is on the boundary has a zero in its own column of ``side``, so
passing through needs no case of its own.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int
from ..compiled import njit

Flat = namedtuple(
    "Flat",
    "cells parent last leaf home row hub_start hubs bound_start bound slot above here members col slot_col own_start "
    "own rows side_start square_start inner_start",
)
"""A layout as kernels take it, with the starts of what is stored cell after cell."""


class Tables(NamedTuple):
    """Side, square and inner tables, all of one type; undirected: both directions are one array."""

    side_out: NDArray[Any]
    side_in: NDArray[Any]
    square_out: NDArray[Any]
    square_in: NDArray[Any]
    inner: NDArray[Any]

    @property
    def symmetric(self) -> bool:
        """Whether both directions share their arrays."""
        return self.side_out is self.side_in


class Labels(NamedTuple):
    """Labels of slots, one after the other; those of other vertices are merged from them (``kernels.queries``).

    Attributes:
        row_start: where each row begins in the flat arrays.
        out, into: distances from the hub to those above it, and back; one array where they are the same.
    """

    row_start: Int
    out: NDArray[Any]
    into: NDArray[Any]

    @property
    def shared(self) -> bool:
        """Whether both directions are one array."""
        return self.out is self.into


class CoreEntries(NamedTuple):
    """Where vertices of the whole network enter the core, which is what layouts, tables and labels are about.

    Attributes:
        ends: for each vertex the core entries of its contracted tree (the second -1 if there is none), or itself.
        out, into: distances to these ends inside the tree, and back; one array if the network is undirected.
        tree, place: the tree of each vertex (-1: none) and its place there.
        start: how many contracted vertices come before those of each tree.
        inner_start, inner: distances between the vertices of each tree.
    """

    ends: NDArray[np.int32]
    out: NDArray[Any]
    into: NDArray[Any]
    tree: NDArray[np.int32]
    place: NDArray[np.int32]
    start: Int
    inner_start: Int
    inner: NDArray[Any]


class QueryData(NamedTuple):
    """An index as the kernels of queries take it: its parts (labels are empty if there are none), and three numbers.

    These are the columns of the longest label, the number for "not connected", and the length of a lattice step.
    """

    layout: Any
    entries: CoreEntries
    tables: Tables
    labels: Labels
    room: int
    nothing: Any
    scale: float


class Targets(NamedTuple):
    """The targets of a query.

    Attributes:
        columns: the vertex in each column of the answer.
        rank: number of each core vertex among those over which targets are entered, in preorder of homes, or -1.
        needed: the cells that hold one of these at or below them.
        entered: how many they are.
    """

    columns: Int
    rank: Int
    needed: Bool
    entered: int


class Graphs(NamedTuple):
    """The graph inside every cell, by the numbers of the hierarchy.

    Attributes:
        vertex_start, vertices: vertices of each cell, increasing.
        edge_start, tails, heads, lengths: edges by home: the private edges of a cell that no child holds.
        public_start, public_heads, public_lengths: arcs of the edges inside separators, which are public edges of
            every leaf that holds both ends (covered flavour; else none).
        directed: whether an edge leads from its tail to its head only.
    """

    vertex_start: Int
    vertices: Int
    edge_start: Int
    tails: Int
    heads: Int
    lengths: NDArray[Any]
    public_start: Int
    public_heads: Int
    public_lengths: NDArray[Any]
    directed: bool


@njit(cache=True, nogil=True)
def preorder(parent):
    """Return the position of each cell in preorder and the end of its subtree; parents have lower numbers."""
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
    """Find the slot of each boundary vertex in the deepest cell above that chose it, and its place among members.

    Takes the number ``n`` of vertices, the ``parent`` of each cell, its ``hubs`` from ``hub_start`` on, and its
    boundary ``bound`` from ``bound_start`` on.  Members of a cell in order: its hubs, then the boundary vertices that
    are not hubs.  Returns slots, places among the members of the parent and of the cell itself, and numbers of members.
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
def outer_places(t, level, together, keep_leaves):
    """Place each cell's ``outer`` table (boundary times boundary) in a buffer; return places and the buffer's size.

    ``t`` is the layout, ``level`` that of each cell.  An outer table is needed until the parent's is made.  In the
    reverse of preorder that is a stack: the second child is made first, the first child on top of it, and the parent
    takes their place.  Cells of the first ``together`` levels stand side by side instead, so that what is below them
    can be made at the same time.  ``keep_leaves`` gives those of leaves a place of their own that is not used again.
    """
    cells = len(t.parent)
    room, place = np.empty(cells, np.int64), np.zeros(cells, np.int64)
    for b in range(cells - 1, -1, -1):
        room[b] = 0 if keep_leaves and t.leaf[b] else (t.bound_start[b + 1] - t.bound_start[b]) ** 2
        if not t.leaf[b]:
            first, second = b + 1, t.last[b + 1]
            width = t.bound_start[second + 1] - t.bound_start[second]
            below = room[second] if level[b] < together else min(room[second], width**2)
            place[first] = below  # relative to the parent, until it is known where that is
            room[b] = max(room[b], room[second], below + room[first])
    for b in range(1, cells):
        place[b] += place[t.parent[b]]
    end = room[0]
    if keep_leaves:
        for b in range(cells):
            if t.leaf[b]:
                place[b] = end
                end += (t.bound_start[b + 1] - t.bound_start[b]) ** 2
    return place, end


@njit(cache=True, nogil=True)
def number_places(t, top_start, tops, rest_start, rest, outer, out):
    """Fill ``out`` with the places of the numbers of a ``HierarchyBlock`` in side, square, inner and outer tables.

    Tables of the layout ``t`` follow each other in this order.  ``tops`` from ``top_start`` and ``rest`` from
    ``rest_start`` on are the rows and further columns of each cell's group; ``outer`` is where the outer table of each
    cell begins, -1 if there is none.  A pair that no table holds has place -1.
    """
    square = t.side_start[-1]
    inner = square + t.square_start[-1]
    row, column = np.full(len(t.home), -1, np.int64), np.full(len(t.home), -1, np.int64)
    at = np.empty_like(t.cells)
    for b in range(len(at)):
        at[t.cells[b]] = b
    k = 0
    for cell in range(len(at)):
        b = at[cell]
        bound = t.bound[t.bound_start[b] : t.bound_start[b + 1]]
        mine = t.own[t.own_start[b] : t.own_start[b + 1]] if t.leaf[b] else t.hubs[t.hub_start[b] : t.hub_start[b + 1]]
        starts = t.side_start[b], inner + t.inner_start[b] if t.leaf[b] else square + t.square_start[b], outer[b]
        for j in range(len(bound)):
            column[bound[j]] = j
        for i in range(len(mine)):
            row[mine[i]] = i
        for i in range(top_start[cell], top_start[cell + 1]):
            for j in range(i + 1, top_start[cell + 1]):
                out[k] = _place(tops[i], tops[j], row, column, len(mine), len(bound), starts)
                k += 1
        for i in range(top_start[cell], top_start[cell + 1]):
            for j in range(rest_start[cell], rest_start[cell + 1]):
                out[k] = _place(tops[i], rest[j], row, column, len(mine), len(bound), starts)
                k += 1
        for v in bound:
            column[v] = -1
        for v in mine:
            row[v] = -1


@njit(cache=True, nogil=True)
def _place(u, v, row, column, rows, width, starts):
    """Return the place of the pair ``u, v``; a vertex without a ``row`` here is looked up in a ``column``.

    There are so many ``rows``, and columns in all (``width``); ``starts`` are those of the three tables.
    """
    side, whole, outer = starts
    if row[u] < 0:
        u, v = v, u
    if row[u] >= 0 and row[v] >= 0:
        return whole + row[u] * rows + row[v]
    if row[u] >= 0 and column[v] >= 0:
        return side + row[u] * width + column[v]
    if row[u] < 0 and column[u] >= 0 and column[v] >= 0 and outer >= 0:
        return outer + column[u] * width + column[v]
    return np.int64(-1)  # covered flavour: the home of a leaf's vertex may be another leaf


@njit(cache=True, nogil=True)
def mirror_tables(t, tables):
    """Complete symmetric tables of which ``number_places`` filled one half: the other half, and hubs as boundary."""
    for b in range(len(t.parent)):
        p = t.rows[b]
        whole, at = (tables.inner, t.inner_start[b]) if t.leaf[b] else (tables.square_out, t.square_start[b])
        if t.leaf[b] and t.inner_start[b] == t.inner_start[b + 1]:
            continue
        for i in range(p):
            for j in range(i):
                whole[at + i * p + j] = whole[at + j * p + i]
        width = t.bound_start[b + 1] - t.bound_start[b]
        for j in range(0 if t.leaf[b] else width):
            hub = t.here[t.bound_start[b] + j]
            for i in range(p if hub < p else 0):
                tables.side_out[t.side_start[b] + i * width + j] = whole[at + i * p + hub]
