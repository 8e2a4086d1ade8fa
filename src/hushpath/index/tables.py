"""The tables of a hierarchy of cells: their layout in flat arrays, and the distances and hub labels they hold.

*Layout*: cells in preorder, hubs in columns, boundaries by slot (``kernels.layout`` explains these words).  It depends
on the public hierarchy alone, and on which vertices are chosen in each cell: its hubs, or its whole separator.  Both
are called hubs here.

*Tables*: the distances inside every cell.  One builder serves private lattice weights and published edge lengths.
Tables of leaves are made from their edges, those of split cells from the boundary distances of their children by
elimination over the chosen vertices, bottom-up.  On planar networks that is O(n^1.5) in all, instead of a shortest-path
tree per separator vertex.

*Labels*: one row per hub with its distances to all hubs of the cells above it, root first.  The distance of two hubs is
the minimum of the sum of two rows over their common part.  Rows are made top-down: the path from a hub to one above
leaves its cell over the boundary, whose rows are finished.  Other vertices, which are most, have no rows: theirs are
merged on demand from the rows of the few hubs they reach.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int, sealed, starts
from ..errors import CannotError, FileFormatError
from ..kernels.layout import Flat, Graphs, Labels, Tables, boundary_slots, outer_places, preorder
from ..kernels.partition import find_boundaries
from ..kernels.paths import THREADS, in_threads
from ..kernels.queries import fill_labels
from ..kernels.tables import fill_cells
from ..network.topology import Topology, Wiring
from ..progress import steps
from ..separators.hierarchy import Hierarchy, Lists

TOGETHER = 2 + THREADS.bit_length()  # levels whose cells are kept side by side: enough subtrees for every thread
MOST_BOUNDARY = 64  # vertices per vertex and cell, on average; road networks have two


@dataclass(frozen=True, eq=False)
class Layout:
    """Flat arrays over cells in preorder.

    Attributes:
        cells: the number of each cell in the hierarchy it was made from.
        parent, last: parent of each cell (-1 for the root) and end of its subtree.
        home, row: per vertex, the cell where its path up starts and its row there (a hub, or an own vertex of a leaf).
        hub_start, hubs: hubs of each cell; their positions are the slots.
        bound_start, bound, slot: boundary vertices of each cell, and the slot of each of them.
        above, here: places of the boundary among the members of the parent and of the cell itself.
        members: how many members (hubs and boundary) a split cell has.
        has_inner: which cells are leaves whose own distances are kept as a table.
    """

    cells: Int
    parent: Int
    last: Int
    home: Int
    row: Int
    hub_start: Int
    hubs: Int
    bound_start: Int
    bound: Int
    slot: Int
    above: Int
    here: Int
    members: Int
    has_inner: Bool

    @classmethod
    def of(cls, hierarchy: Hierarchy, whole: Bool | bool = True, *, separators: bool = False) -> Layout:
        """Lay out a ``hierarchy`` over its hubs, or over its whole ``separators``.

        ``whole`` says of which leaves (by cell) the inner tables are kept.
        """
        at, last = preorder(hierarchy.parent)
        cells = np.argsort(at)
        parent = np.where(hierarchy.parent >= 0, at[hierarchy.parent], -1)[cells]
        chosen = hierarchy.separators if separators else hierarchy.hubs
        above = hierarchy.separator_boundary if separators else hierarchy.hub_boundary
        has_inner = hierarchy.is_leaf[cells] & np.broadcast_to(whole, len(cells))[cells]
        home, hubs, bound = at[hierarchy.homes_of(chosen)], chosen.permuted(cells), above.permuted(cells)
        return cls._number(cells, parent, last[cells], home, hubs, bound, has_inner)

    @classmethod
    def of_partition(cls, network: Wiring, parent: Int, home: Int) -> Layout:
        """Lay out a partition: cells in preorder, by parent, and the cell of each vertex (as a hub, or inside a leaf).

        Every boundary follows from these, so nothing else can be claimed.  The one axiom is that the cells of the two
        ends of an edge are on one path to the root.

        Raises:
            FileFormatError: if it does not hold, or cells are not in preorder with two children or none.
            CannotError: if boundaries would be so many that no index fits.
        """
        cells, number = len(parent), np.arange(len(parent))
        sound = cells > 0 and parent[0] == -1 and _between(parent[1:], 0, number[1:])
        if not sound or len(home) != network.num_nodes or not _between(home, 0, cells):
            raise FileFormatError("its cells do not form a hierarchy")
        at, last = preorder(parent)
        binary = np.isin(np.bincount(parent[1:], minlength=cells), (0, 2)).all()
        if not binary or not np.array_equal(at, number):
            raise FileFormatError("its cells do not form a hierarchy")
        tail_home, head_home = home[network.tails], home[network.heads]
        if not _between(np.maximum(tail_home, head_home), 0, last[np.minimum(tail_home, head_home)]):
            raise FileFormatError("an edge joins two cells, and neither is below the other")
        own, leaf = Lists.grouped(home, cells), last == number + 1
        hubs = Lists(starts(np.where(leaf, 0, own.sizes())), own.items[~leaf[home[own.items]]])
        most = max(MOST_BOUNDARY * (len(home) + cells), 2**22)
        bound = Lists(*find_boundaries(parent, home, *network.neighbours, own.start, own.items, most))
        if not len(bound.start):
            raise CannotError("cells have too many neighbours: no small separators exist, or the partition is bad")
        return cls._number(number, parent, last, home, hubs, bound, leaf)

    @classmethod
    def _number(
        cls, cells: Int, parent: Int, last: Int, home: Int, hubs: Lists, bound: Lists, has_inner: Bool
    ) -> Layout:
        """Complete ``cells``, ``parent``, ``last``, ``home``, ``hubs``, ``bound`` and ``has_inner`` to a layout."""
        lists = hubs.start, hubs.items, bound.start, bound.items
        row = np.empty(len(home), np.int64)
        slot, above, here, members = boundary_slots(len(home), parent, *lists)
        made = cls(cells, parent, last, home, row, *lists, slot, above, here, members, has_inner)
        row[made.own.items] = np.arange(len(home)) - made.own.start[home[made.own.items]]
        cell_of_slot = np.repeat(np.arange(len(parent)), hubs.sizes())
        first = np.flatnonzero(home[hubs.items] == cell_of_slot)
        row[hubs.items[first]] = first - hubs.start[cell_of_slot[first]]
        return made

    @property
    def num_nodes(self) -> int:
        """Vertices of the network."""
        return len(self.home)

    @property
    def num_cells(self) -> int:
        """Cells of the hierarchy."""
        return len(self.parent)

    @cached_property
    def leaf(self) -> Bool:
        """Which cells are not split."""
        return np.asarray(self.last == np.arange(self.num_cells) + 1)

    @cached_property
    def own(self) -> Lists:
        """The vertices whose ``home`` is each cell."""
        return Lists.grouped(self.home, self.num_cells)

    @cached_property
    def levels(self) -> list[Int]:
        """Cells level by level from the root."""
        order = np.argsort(self.level, kind="stable")
        return np.split(order, np.searchsorted(self.level[order], np.arange(1, int(self.level.max()) + 1)))

    @cached_property
    def level(self) -> Int:
        """How many cells are above each cell."""
        return self._sum_from_root(np.ones(self.num_cells, np.int64))

    @cached_property
    def col(self) -> Int:
        """First column of each cell: hubs of all cells above it."""
        return self._sum_from_root(np.diff(self.hub_start))

    def _sum_from_root(self, numbers: Int) -> Int:
        """Sum the numbers of all cells above each cell: in preorder, those that are not yet left."""
        change = np.concatenate([numbers, [0]])
        np.subtract.at(change, self.last, numbers)
        return np.cumsum(change)[:-1] - numbers

    @cached_property
    def room(self) -> int:
        """Columns of the longest path up, and one more so that buffers are never empty."""
        return int((self.col + np.diff(self.hub_start)).max()) + 1

    @cached_property
    def rows(self) -> Int:
        """Rows of each cell's side table: hubs, or own vertices of a leaf."""
        return np.where(self.leaf, self.own.sizes(), np.diff(self.hub_start))

    @cached_property
    def flat(self) -> Flat:
        """Everything a kernel takes."""
        rows, stored = self.rows, self.arrays()
        made = {
            "leaf": self.leaf, "col": self.col, "own_start": self.own.start, "own": self.own.items, "rows": rows,
            "slot_col": np.repeat(self.col - self.hub_start[:-1], np.diff(self.hub_start)) + np.arange(len(self.hubs)),
            "side_start": starts(rows * np.diff(self.bound_start)),
            "square_start": starts(np.where(self.leaf, 0, rows**2)),
            "inner_start": starts(np.where(self.has_inner, rows**2, 0)),
        }  # fmt: skip
        return Flat(**{name: sealed(made[name] if name in made else stored[name]) for name in Flat._fields})

    @property
    def table_sizes(self) -> tuple[int, int, int]:
        """How many numbers the side, square and inner tables have; a full row adds one number of each side table."""
        flat = self.flat
        return int(flat.side_start[-1]), int(flat.square_start[-1]), int(flat.inner_start[-1])

    def arrays(self) -> dict[str, Int | Bool]:
        """Return all arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self) -> None:
        """Refuse numbers that would lead a kernel outside its arrays."""
        cells, n, slots = self.num_cells, self.num_nodes, len(self.hubs)
        number = np.arange(cells)
        lists_fit = all(
            len(start) == cells + 1 and start[0] == 0 and start[-1] == len(items) and (np.diff(start) >= 0).all()
            for start, items in ((self.hub_start, self.hubs), (self.bound_start, self.bound))
        )
        sizes_fit = (
            cells > 0
            and n > 0
            and all(len(x) == cells for x in (self.cells, self.last, self.members, self.has_inner))
            and all(len(x) == len(self.bound) for x in (self.slot, self.above, self.here))
            and len(self.row) == n
        )
        if not lists_fit or not sizes_fit:
            raise FileFormatError("its arrays have inconsistent lengths; make the index again with `hushpath index`")
        parents_first = self.parent[0] == -1 and _between(self.parent[1:], 0, number[1:])
        inside = _between(self.home, 0, cells) and _between(self.hubs, 0, n) and _between(self.bound, 0, n)
        if not parents_first or not inside or not self._is_preorder():
            raise FileFormatError("its cells do not form a hierarchy")
        columns = np.repeat(number, np.diff(self.bound_start))
        # A boundary vertex is a hub of a cell above: its slot comes before those of the cell, and its column before the
        # cell's own.
        slot_cell = np.repeat(number, np.diff(self.hub_start))
        fits = _between(self.slot, 0, slots) and bool(
            ((slot_cell[self.slot] < columns) & (columns < self.last[slot_cell[self.slot]])).all()
        )
        fits = fits and _between(self.row, 0, self.rows[self.home]) and not (self.has_inner & ~self.leaf).any()
        if not fits or (np.diff(self.hub_start)[self.leaf] > 0).any():
            raise FileFormatError("its hubs and boundaries do not fit its cells")

    def _is_preorder(self) -> bool:
        """Tell whether cells have two children or none and are numbered in preorder, with ``last`` as it must be.

        The first child of a split cell comes next, the second where the first ends, and both end with the cell.  By
        induction from the root every subtree is then the interval that ``last`` gives; and as all children are
        different and there are as many as cells but one, no cell is left out.
        """
        cells, parent, last = self.num_cells, self.parent, self.last
        split = np.flatnonzero(~self.leaf)
        if last[0] != cells or 2 * len(split) != cells - 1 or not _between(last, np.arange(1, cells + 1), cells + 1):
            return False
        first = split + 1
        second = last[np.minimum(first, cells - 1)]
        if not _between(first, 0, cells) or not _between(second, 0, cells):
            return False
        fits = (parent[first] == split) & (parent[second] == split) & (last[second] == last[split])
        return bool(fits.all()) and len(np.unique(np.concatenate([first, second]))) == cells - 1


def _between(values: Int, low: Int | int, high: Int | int) -> bool:
    """Tell whether all values are at least ``low`` and below ``high``."""
    return bool(((values >= low) & (values < high)).all())


def cell_graphs(
    hierarchy: Hierarchy, topology: Topology, lengths: NDArray[Any], public: NDArray[Any] | None = None
) -> Graphs:
    """Return the graph inside every cell, for one length per edge; ``public`` is that of edges that are public there.

    ``hierarchy`` has the cells of the ``topology``, ``lengths`` are private or published.
    """
    # Only an edge inside a separator has both ends in several leaves, and only the covered flavour keeps it there.
    arcs = topology.arcs
    shared = np.flatnonzero(~hierarchy.is_leaf[hierarchy.home[arcs.edges]] if hierarchy.hops else [])
    beside = (lengths if public is None else public)[arcs.edges[shared]]
    shared_arcs = np.searchsorted(shared, arcs.start), arcs.heads[shared], beside
    edges = Lists.grouped(hierarchy.home, hierarchy.num_cells)
    return _seal_graphs(topology.wiring, hierarchy.vertices, edges, lengths, shared_arcs)


def partition_graphs(layout: Layout, network: Wiring) -> Graphs:
    """Return the graph inside every cell of a partition, with the number of each edge as its length.

    An edge belongs to the lower cell of its ends.
    """
    number, edge_number = np.arange(layout.num_cells), np.arange(network.num_edges)
    # Vertices of leaves: their own and their boundary, increasing. Those of other cells are not needed.
    below, beside = np.repeat(number, layout.own.sizes()), np.repeat(number, np.diff(layout.bound_start))
    cell = np.concatenate([below, beside])
    vertex = np.concatenate([layout.own.items, layout.bound])
    kept = np.flatnonzero(layout.leaf[cell])
    kept = kept[np.lexsort((vertex[kept], cell[kept]))]
    vertices = Lists(np.searchsorted(cell[kept], np.arange(layout.num_cells + 1)), vertex[kept])
    edges = Lists.grouped(np.maximum(layout.home[network.tails], layout.home[network.heads]), layout.num_cells)
    no_arcs = np.zeros(network.num_nodes + 1, np.int64), edge_number[:0], edge_number[:0]
    return _seal_graphs(network, vertices, edges, edge_number, no_arcs)


def _seal_graphs(
    network: Wiring, vertices: Lists, edges: Lists, lengths: NDArray[Any], public: tuple[Int, Int, NDArray[Any]]
) -> Graphs:
    """Put together ``vertices`` and ``edges`` by cell, ``lengths`` per edge of the ``network``, and ``public`` arcs."""
    mine = edges.start, network.tails[edges.items], network.heads[edges.items], lengths[edges.items]
    arrays = vertices.start, vertices.items, *mine, *public
    return Graphs._make([*map(sealed, arrays), network.directed])


def outer_room(layout: Layout, *, keep_leaves: bool = False) -> tuple[Int, int]:
    """Return the place of each cell's boundary distances in a buffer, and its size; ``keep_leaves`` keeps leaves."""
    place, room = outer_places(layout.flat, layout.level, TOGETHER, keep_leaves)
    return place, int(room)


def table_bytes(layout: Layout, *, symmetric: bool, size: int = 8) -> int:
    """Count the memory that the tables need at their peak, at ``size`` bytes a number."""
    side, square, inner = layout.table_sizes
    largest = int(np.where(layout.leaf, layout.rows + np.diff(layout.bound_start), layout.members).max())
    at_work = 2 * THREADS * largest**2  # while a cell is made, its table exists beside what is kept of it
    return size * ((side + square) * (1 if symmetric else 2) + inner + outer_room(layout)[1] + at_work)


def table_work(layout: Layout) -> float:
    """Estimate the additions that ``fill_tables`` needs."""
    size = np.where(layout.leaf, layout.rows + np.diff(layout.bound_start), layout.members).astype(float)
    return float((size**2 * np.where(layout.leaf, size, layout.rows)).sum())


def as_tables(layout: Layout, flat: NDArray[Any], back: NDArray[Any] | None = None) -> Tables:
    """Return side, square and inner tables as parts of one array; ``back`` holds those of the other direction."""
    side, square, inner = layout.table_sizes
    out, square_out = flat[:side], flat[side : side + square]
    into, square_in = (out, square_out) if back is None else (back[:side], back[side : side + square])
    return Tables(out, into, square_out, square_in, flat[side + square : side + square + inner])


def fill_tables(
    layout: Layout, graphs: Graphs, tables: Tables, nothing: float, place: Int, outer: NDArray[Any]
) -> None:
    """Fill the ``tables`` of all cells of a ``layout`` from ``graphs``; ``place`` and ``outer`` are of ``outer_room``.

    ``nothing`` is the number for "not connected".  First whole subtrees, a thread each and cell by cell in the reverse
    of preorder; then the levels above them.
    """
    roots = np.flatnonzero(layout.level == TOGETHER)
    subtrees = [np.arange(layout.last[root] - 1, root - 1, -1) for root in roots.tolist()]
    above = [list(cells[:, None]) for cells in layout.levels[:TOGETHER]]
    for some in steps([subtrees, *reversed(above)], "distances inside cells"):

        def run(part: slice, some: list[Int] = some) -> None:
            fill_cells(np.concatenate(some[part]), layout.flat, graphs, nothing, tables, place, outer)

        in_threads(run, len(some))


def fill_leaves(layout: Layout, graphs: Graphs, tables: Tables, nothing: float) -> None:
    """Fill the ``tables`` of the leaves of a ``layout`` only, from ``graphs``; ``nothing`` means "not connected"."""
    leaves = np.flatnonzero(layout.leaf)
    place, room = np.zeros(layout.num_cells, np.int64), int(np.diff(layout.bound_start)[leaves].max()) ** 2

    def run(part: slice) -> None:  # outer tables are not needed here: each overwrites the one before
        spare = np.empty(room, tables.inner.dtype)
        fill_cells(leaves[part], layout.flat, graphs, nothing, tables, place, spare)

    in_threads(run, len(leaves))


def label_rows(layout: Layout) -> Int:
    """Return where each label begins."""
    many = np.diff(layout.hub_start)
    return starts(np.repeat(layout.col + many, many))


def label_bytes(layout: Layout, *, shared: bool, size: int = 8) -> int:
    """Count the memory of the labels, at ``size`` bytes a number."""
    return size * int(label_rows(layout)[-1]) * (1 if shared else 2)


def build_labels(layout: Layout, tables: Tables, nothing: Any, *, from_edges: bool) -> Labels:
    """Build the labels of all hubs of a ``layout``; ``nothing`` means "not connected".

    ``from_edges``: the ``tables`` are distances, so a label with the cell's own shortcut serves in both directions.
    Measured tables are noisy: there ``into`` leaves out the shortcut of the cell where the ends meet, so that it counts
    once.
    """
    row_start = label_rows(layout)
    out = np.empty(int(row_start[-1]), tables.side_out.dtype)
    labels = Labels(row_start, out, out if from_edges and tables.symmetric else np.empty_like(out))
    for cells in layout.levels:
        split = cells[~layout.leaf[cells]]

        def run(part: slice, split: Int = split) -> None:
            mine, flat = split[part], layout.flat
            fill_labels(mine, flat, tables.side_out, tables.square_out, True, row_start, nothing, labels.out)
            if not labels.shared:
                square = tables.square_in
                fill_labels(mine, flat, tables.side_in, square, from_edges, row_start, nothing, labels.into)

        in_threads(run, len(split))
    return labels
