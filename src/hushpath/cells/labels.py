"""One row of numbers per vertex: its distances to all hubs of the cells above it, root first.

The answer for a pair is then the minimum of the sum of two rows over their common part.  Rows are made top-down: the
path from a vertex to a hub above leaves its cell over the boundary, whose rows are already there, so each cell costs
one min-plus product of its side table.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Int
from ..kernels.flat import Labels, Tables
from ..kernels.labels import fill_labels
from ..kernels.paths import in_threads
from .layout import Layout


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


def label_bytes(layout: Layout, *, shared: bool, size: int = 8) -> int:
    """Memory of the labels, at this many bytes a number."""
    return size * int(label_rows(layout)[0][-1]) * (1 if shared else 2)


def build_labels(layout: Layout, tables: Tables, nothing: Any, *, from_edges: bool) -> Labels:
    """Make all labels.

    ``from_edges``: the tables are distances, so a label with the cell's own shortcut serves in both directions.
    Measured tables are noisy: there ``into`` leaves out the shortcut of the cell where the ends meet, so that it counts
    once.
    """
    row_start, row_of = label_rows(layout)
    out = np.empty(int(row_start[-1]), tables.side_out.dtype)
    labels = Labels(row_start, row_of, out, out if from_edges and tables.symmetric else np.empty_like(out))
    own = np.where(layout.leaf, layout.rows, 0)
    first_row = np.where(layout.leaf, len(layout.hubs) + np.cumsum(own) - own, layout.hub_start[:-1])
    for cells in layout.levels:

        def run(part: slice, cells: Int = cells) -> None:
            mine, flat = cells[part], layout.flat
            rows = first_row, row_start, nothing
            fill_labels(mine, flat, tables.side_out, tables.square_out, True, *rows, labels.out)
            if not labels.shared:
                fill_labels(mine, flat, tables.side_in, tables.square_in, from_edges, *rows, labels.into)

        in_threads(run, len(cells))
    return labels
