"""One row of numbers per vertex: its distances to all hubs of the cells above it, root first.

The answer for a pair is then the minimum of the sum of two rows over their common part.  Rows are made top-down: the
way from a vertex to a hub above leaves its cell over the boundary, whose rows are already there, so each cell costs
one min-plus product of its side table.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float, Int
from ..kernels.labels import fill_labels
from ..kernels.paths import in_threads
from .layout import Layout
from .tables import Tables


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of slots, then of own vertices of leaves.

    Attributes:
        row_start: where each row begins in the flat arrays.
        row_of: the row of each vertex.
        out, into: distances from the vertex to hubs, and back; one array where they are the same.
    """

    row_start: Int
    row_of: Int
    out: Float
    into: Float

    @property
    def shared(self) -> bool:
        """Whether both directions are one array."""
        return self.out is self.into


def label_rows(layout: Layout) -> tuple[Int, Int]:
    """Where each label begins, and the row of each vertex."""
    end = layout.col + np.diff(layout.hub_start)
    leaf_own = layout.own.items[layout.leaf[layout.home[layout.own.items]]]
    slots = len(layout.hubs)
    lengths = np.concatenate([np.repeat(end, np.diff(layout.hub_start)), end[layout.home[leaf_own]]])
    row_start = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=row_start[1:])
    row_of = layout.hub_start[layout.home] + layout.row
    row_of[leaf_own] = slots + np.arange(len(leaf_own))
    return row_start, row_of


def label_bytes(layout: Layout, *, shared: bool) -> int:
    """Memory of the labels."""
    return 8 * int(label_rows(layout)[0][-1]) * (1 if shared else 2)


def build_labels(layout: Layout, tables: Tables, *, exact: bool) -> Labels:
    """Make all labels.

    ``exact``: the tables are distances, so a label with the cell's own shortcut serves in both directions.  Measured
    tables are noisy: there ``into`` leaves out the shortcut of the cell where the ends meet, so that it counts once.
    """
    row_start, row_of = label_rows(layout)
    out = np.empty(int(row_start[-1]))
    into = out if exact and tables.symmetric else np.empty_like(out)
    slot_row = layout.hub_start[:-1]
    own_row = len(layout.hubs) + np.concatenate([[0], np.cumsum(np.where(layout.leaf, layout.rows, 0))[:-1]])
    for cells in layout.levels:

        def run(part: slice, cells: Int = cells) -> None:
            mine = cells[part]
            fill_labels(
                mine, layout.flat, tables.side_out, tables.square_out, True, slot_row, own_row, row_start, out
            )  # fmt: skip
            if into is not out:
                fill_labels(
                    mine, layout.flat, tables.side_in, tables.square_in, exact, slot_row, own_row, row_start, into
                )  # fmt: skip

        in_threads(run, len(cells))
    return Labels(row_start, row_of, out, into)
