"""One row of numbers per hub: its distances to all hubs of the cells above it, root first.

The answer for a pair of hubs is then the minimum of the sum of two rows over their common part.  Rows are made
top-down: the path from a hub to one above leaves its cell over the boundary, whose rows are already there.  Other
vertices, which are most, have no rows of their own: theirs are merged from those of the few hubs they reach, when they
are asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Int, starts
from ..kernels.flat import Labels, Tables
from ..kernels.labels import fill_labels
from ..kernels.paths import in_threads
from .layout import Layout


def label_rows(layout: Layout) -> Int:
    """Where each label begins."""
    many = np.diff(layout.hub_start)
    return starts(np.repeat(layout.col + many, many))


def label_bytes(layout: Layout, *, shared: bool, size: int = 8) -> int:
    """Memory of the labels, at this many bytes a number."""
    return size * int(label_rows(layout)[-1]) * (1 if shared else 2)


def build_labels(layout: Layout, tables: Tables, nothing: Any, *, from_edges: bool) -> Labels:
    """Make all labels.

    ``from_edges``: the tables are distances, so a label with the cell's own shortcut serves in both directions.
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
