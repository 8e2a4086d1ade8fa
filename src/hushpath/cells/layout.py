"""Where everything stands: cells in preorder, hubs in columns, boundaries by slot.

The layout depends on the public tree alone.  Its words (column, slot, own) are explained in ``kernels.labels``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int
from ..errors import FileFormatError
from ..kernels.tables import boundary_slots, preorder
from .hierarchy import Hierarchy, Lists


@dataclass(frozen=True, eq=False)
class Layout:
    """Flat arrays over cells in preorder.

    Attributes:
        cells: the number of each cell in the tree it was made from.
        parent, last: parent of each cell (-1 for the root) and end of its subtree.
        home, row: per vertex, the cell where its way starts and its row there (a hub, or an own vertex of a leaf).
        hub_start, hubs: hubs of each cell; their positions are the slots.
        bound_start, bound, slot: boundary vertices of each cell, and the slot each of them stands for.
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
    def of(cls, hierarchy: Hierarchy, whole: Bool | None = None) -> Layout:
        """Lay out a tree; ``whole`` marks the leaves (by cell) whose inner tables are kept, all if ``None``."""
        at, last = preorder(hierarchy.parent)
        cells = np.argsort(at)
        parent = np.where(hierarchy.parent >= 0, at[hierarchy.parent], -1)[cells]
        hubs, bound = _permuted(hierarchy.hubs, cells), _permuted(hierarchy.hub_boundary, cells)
        n = hierarchy.num_nodes
        slot, above, here, members = boundary_slots(n, parent, hubs.start, hubs.items, bound.start, bound.items)
        home = at[hierarchy.vertex_home]
        leaf = hierarchy.is_leaf[cells]
        layout = cls(
            cells=cells, parent=parent, last=last[cells], home=home, row=np.zeros(n, np.int64),
            hub_start=hubs.start, hubs=hubs.items, bound_start=bound.start, bound=bound.items,
            slot=slot, above=above, here=here, members=members,
            has_inner=leaf if whole is None else leaf & whole[cells],
        )  # fmt: skip
        own = layout.own
        inside = np.arange(n) - own.start[home[own.items]]
        layout.row[own.items] = inside
        cell_of_slot = np.repeat(np.arange(len(parent)), hubs.sizes())
        first = np.flatnonzero(home[hubs.items] == cell_of_slot)
        layout.row[hubs.items[first]] = first - hubs.start[cell_of_slot[first]]
        return layout

    @property
    def num_nodes(self) -> int:
        """Vertices of the network."""
        return len(self.home)

    @property
    def num_cells(self) -> int:
        """Cells of the tree."""
        return len(self.parent)

    @cached_property
    def leaf(self) -> Bool:
        """Which cells are not split."""
        return np.asarray(self.last == np.arange(self.num_cells) + 1)

    @cached_property
    def own(self) -> Lists:
        """Vertices by home: tree order."""
        order = np.argsort(self.home, kind="stable")
        return Lists(np.searchsorted(self.home[order], np.arange(self.num_cells + 1)), order)

    @cached_property
    def levels(self) -> list[Int]:
        """Cells level by level from the root."""
        found = [np.zeros(1, np.int64)]
        while True:
            split = found[-1][~self.leaf[found[-1]]]
            if not len(split):
                return found
            found.append(np.sort(self.children[split].ravel()))

    @cached_property
    def children(self) -> Int:
        """The two children of each split cell; (0, 0) for leaves."""
        out = np.zeros((self.num_cells, 2), np.int64)
        split = np.flatnonzero(~self.leaf)
        out[split, 0] = split + 1
        out[split, 1] = self.last[split + 1]
        return out

    @cached_property
    def col(self) -> Int:
        """First column of each cell: hubs of all cells above it."""
        size = np.diff(self.hub_start)
        col = np.zeros(self.num_cells, np.int64)
        for cells in self.levels[1:]:
            up = self.parent[cells]
            col[cells] = col[up] + size[up]
        return col

    @cached_property
    def room(self) -> int:
        """Columns of the longest way, and one more so that buffers are never empty."""
        return int((self.col + np.diff(self.hub_start)).max()) + 1

    @cached_property
    def rows(self) -> Int:
        """Rows of each cell's side table: hubs, or own vertices of a leaf."""
        return np.where(self.leaf, self.own.sizes(), np.diff(self.hub_start))

    @cached_property
    def starts(self) -> tuple[Int, Int, Int]:
        """Where the side, square and inner tables of each cell begin."""
        width = np.diff(self.bound_start)
        squares, inner = np.where(self.leaf, 0, self.rows**2), np.where(self.has_inner, self.rows**2, 0)
        side, square, inside = (np.concatenate([[0], np.cumsum(x)]) for x in (self.rows * width, squares, inner))
        return side, square, inside

    @cached_property
    def flat(self) -> tuple[NDArray[Any], ...]:
        """The arrays every kernel of ``kernels.labels`` takes, in its order."""
        slot_col = np.repeat(self.col, np.diff(self.hub_start)) + _within(self.hub_start)
        arrays = (
            self.parent, self.leaf, self.home, self.row, self.hub_start, self.hubs, self.bound_start, self.slot,
            self.col, slot_col, self.own.start, self.own.items, *self.starts,
        )  # fmt: skip
        return tuple(_writable(array) for array in arrays)  # one compiled signature for all of them

    def arrays(self) -> dict[str, Int | Bool]:
        """Everything, by name."""
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
            raise FileFormatError("its lists do not fit together")
        inside = (
            (self.parent[0] == -1)
            & _between(self.parent[1:], 0, number[1:])
            & _between(self.last, number + 1, cells + 1)
            & _between(self.home, 0, cells)
            & _between(self.hubs, 0, n)
            & _between(self.bound, 0, n)
        )
        if not inside or not self._is_a_tree():
            raise FileFormatError("its cells do not form a tree")
        columns = np.repeat(np.arange(cells), np.diff(self.bound_start))
        # A boundary vertex stands for a hub of a cell above: its slot lies before those of the cell, and its column
        # before the cell's own.
        slot_cell = np.repeat(np.arange(cells), np.diff(self.hub_start))
        fits = _between(self.slot, 0, slots) and bool(
            ((slot_cell[self.slot] < columns) & (columns < self.last[slot_cell[self.slot]])).all()
        )
        rows = np.where(self.leaf, self.own.sizes(), np.diff(self.hub_start))
        fits = fits and _between(self.row, 0, rows[self.home]) and not (self.has_inner & ~self.leaf).any()
        if not fits or (np.diff(self.hub_start)[self.leaf] > 0).any():
            raise FileFormatError("its hubs and boundaries do not fit its cells")

    def _is_a_tree(self) -> bool:
        """Preorder, two children or none."""
        split = np.flatnonzero(~self.leaf)
        if (split + 1 >= self.num_cells).any():
            return False
        second = self.last[split + 1]
        if (second >= self.num_cells).any():
            return False
        return bool(
            self.last[0] == self.num_cells
            and (self.parent[split + 1] == split).all()
            and (self.parent[second] == split).all()
            and (self.last[second] == self.last[split]).all()
            and len(split) * 2 + 1 == self.num_cells
        )


def _permuted(lists: Lists, order: Int) -> Lists:
    if np.array_equal(order, np.arange(len(order))):
        return lists
    return Lists.of([lists[i] for i in order.tolist()])


def _within(start: Int) -> Int:
    """0, 1, 2 ... inside each list."""
    return np.arange(start[-1]) - np.repeat(start[:-1], np.diff(start))


def _between(values: Int, low: Int | int, high: Int | int) -> bool:
    return bool(((values >= low) & (values < high)).all())


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.flags.writeable and array.flags.c_contiguous else np.array(array)
