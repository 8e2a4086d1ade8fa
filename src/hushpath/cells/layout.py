"""Where everything stands: cells in preorder, hubs in columns, boundaries by slot.

The layout depends on the public hierarchy alone, and on which vertices are chosen in each cell: its hubs, or its whole
separator.  Both are called hubs here.  The words (column, slot, own) are explained in ``kernels.flat``.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from ..arrays import Bool, Int, sealed, starts
from ..data.topology import Wiring
from ..errors import CannotError, FileFormatError
from ..kernels.dissection import boundaries, nested
from ..kernels.flat import Flat
from ..kernels.numbering import boundary_slots, preorder
from .hierarchy import Hierarchy, Lists

MOST_BOUNDARY = 64  # vertices per vertex and cell, on average; road networks have two


@dataclass(frozen=True, eq=False)
class Layout:
    """Flat arrays over cells in preorder.

    Attributes:
        cells: the number of each cell in the hierarchy it was made from.
        parent, last: parent of each cell (-1 for the root) and end of its subtree.
        home, row: per vertex, the cell where its path up starts and its row there (a hub, or an own vertex of a leaf).
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
    def of(cls, hierarchy: Hierarchy, whole: Bool | bool = True, *, separators: bool = False) -> Layout:
        """Lay out a hierarchy over its hubs, or over its whole separators.

        ``whole`` says of which leaves (by cell) the inner tables are kept.
        """
        at, last = preorder(hierarchy.parent)
        cells = np.argsort(at)
        parent = np.where(hierarchy.parent >= 0, at[hierarchy.parent], -1)[cells]
        chosen = hierarchy.separators if separators else hierarchy.hubs
        above = hierarchy.separator_boundary if separators else hierarchy.hub_boundary
        hubs, bound = _permuted(chosen, cells), _permuted(above, cells)
        n = hierarchy.num_nodes
        slot, above, here, members = boundary_slots(n, parent, hubs.start, hubs.items, bound.start, bound.items)
        home = at[hierarchy.homes_of(chosen)]
        leaf = hierarchy.is_leaf[cells]
        layout = cls(
            cells=cells, parent=parent, last=last[cells], home=home, row=np.zeros(n, np.int64),
            hub_start=hubs.start, hubs=hubs.items, bound_start=bound.start, bound=bound.items,
            slot=slot, above=above, here=here, members=members,
            has_inner=leaf & np.broadcast_to(whole, len(cells))[cells],
        )  # fmt: skip
        own = layout.own
        inside = np.arange(n) - own.start[home[own.items]]
        layout.row[own.items] = inside
        cell_of_slot = np.repeat(np.arange(len(parent)), hubs.sizes())
        first = np.flatnonzero(home[hubs.items] == cell_of_slot)
        layout.row[hubs.items[first]] = first - hubs.start[cell_of_slot[first]]
        return layout

    @classmethod
    def of_cut(cls, network: Wiring, parent: Int, home: Int) -> Layout:
        """Lay out a cut: cells in preorder, by parent, and the cell of each vertex, where it is a hub or a leaf's own.

        Every boundary follows from these, so nothing else can be claimed.  The one axiom is that the cells of the two
        ends of an edge lie on one path to the root.

        Raises:
            FileFormatError: if it does not hold, or cells are not in preorder with two children or none.
            CannotError: if boundaries would be so many that no index fits.
        """
        cells, number = len(parent), np.arange(len(parent))
        sound = cells > 0 and parent[0] == -1 and _between(parent[1:], 0, number[1:])
        if not sound or len(home) != network.num_nodes or not _between(home, 0, cells):
            raise FileFormatError("its cells do not form a hierarchy")
        at, last = preorder(parent)
        twins = np.isin(np.bincount(parent[1:], minlength=cells), (0, 2)).all()
        if not twins or not np.array_equal(at, number):
            raise FileFormatError("its cells do not form a hierarchy")
        if not nested(last, home, network.tails, network.heads):
            raise FileFormatError("an edge joins two cells of which neither lies below the other")
        own = Lists.grouped(home, cells)
        leaf = last == number + 1
        hubs = own.items[~leaf[home[own.items]]]
        hub_start = starts(np.where(leaf, 0, own.sizes()))
        most = max(MOST_BOUNDARY * (len(home) + cells), 2**22)
        bound_start, bound = boundaries(parent, home, *network.neighbours, own.start, own.items, most)
        if not len(bound_start):
            raise CannotError("cells have very many neighbours: the network has no small separators, or was cut badly")
        slot, above, here, members = boundary_slots(len(home), parent, hub_start, hubs, bound_start, bound)
        row = np.empty(len(home), np.int64)
        row[own.items] = np.arange(len(home)) - own.start[home[own.items]]
        return cls(
            number, parent, last, home, row, hub_start, hubs, bound_start, bound, slot, above, here, members, leaf
        )

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
        """Vertices by home."""
        return Lists.grouped(self.home, self.num_cells)

    @cached_property
    def levels(self) -> list[Int]:
        """Cells level by level from the root."""
        order = np.argsort(self.level, kind="stable")
        return np.split(order, np.searchsorted(self.level[order], np.arange(1, int(self.level.max()) + 1)))

    @cached_property
    def level(self) -> Int:
        """How many cells are above each cell."""
        return self._summed_from_the_root(np.ones(self.num_cells, np.int64))

    @cached_property
    def col(self) -> Int:
        """First column of each cell: hubs of all cells above it."""
        return self._summed_from_the_root(np.diff(self.hub_start))

    def _summed_from_the_root(self, numbers: Int) -> Int:
        """The sum of the numbers of all cells above each cell: in preorder, those that are not yet left."""
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
        """How many numbers the side, square and inner tables have in all."""
        flat = self.flat
        return int(flat.side_start[-1]), int(flat.square_start[-1]), int(flat.inner_start[-1])

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
        parents_first = self.parent[0] == -1 and _between(self.parent[1:], 0, number[1:])
        inside = _between(self.home, 0, cells) and _between(self.hubs, 0, n) and _between(self.bound, 0, n)
        if not parents_first or not inside or not self._is_preorder():
            raise FileFormatError("its cells do not form a hierarchy")
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

    def _is_preorder(self) -> bool:
        """Whether cells have two children or none and are numbered in preorder, with ``last`` as it must be.

        Of a cell that is split the first child comes next, the second where the first ends, and both end with the cell.
        By induction from the root every subtree is then the interval it says; and as all children are different and
        there are as many as cells but one, no cell is left out.
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


def _permuted(lists: Lists, order: Int) -> Lists:
    if np.array_equal(order, np.arange(len(order))):
        return lists
    return Lists.of([lists[i] for i in order.tolist()])


def _between(values: Int, low: Int | int, high: Int | int) -> bool:
    return bool(((values >= low) & (values < high)).all())
