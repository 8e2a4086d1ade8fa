"""Grids: a straight line across the shorter dimension separates.

A grid is recognised from its edges alone.  An ``a x b`` grid has ``n = ab`` vertices and
``m = 2ab - a - b`` edges, so ``a`` and ``b`` are the roots of ``x^2 - (2n - m) x + n``.  With hop distances ``p`` and
``q`` from two corners at the ends of a side of ``b`` vertices, vertex ``(row, column)`` has ``p = row + column`` and
``q = row + (b - 1 - column)``, which gives both coordinates.  They are then *checked*, so that nothing has to be
assumed about the network: ``n`` different places inside ``a x b`` and ``m`` edges, each between places one step apart,
are the full grid, because the full grid has no more than ``m`` such pairs.

Any row or column of a cell separates what lies before it from what lies behind it, whatever edges the cell has lost:
an edge changes one coordinate by one, so it cannot jump a line.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_grid.py.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays import Int
from ..errors import OptionError
from ..kernels.search import hops_from
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split


def grid_coordinates(graph: Graph) -> tuple[Int, Int] | None:
    """Return rows and columns of the vertices of a full grid, not more rows than columns; ``None`` on other graphs."""
    n, m = graph.num_nodes, graph.num_edges
    half_sum = 2 * n - m  # a + b
    square = half_sum * half_sum - 4 * n  # (b - a)^2
    if n == 0 or square < 0:
        return None
    a = (half_sum - math.isqrt(square)) // 2
    b = half_sum - a
    if a < 1 or a * b != n:
        return None
    degrees = graph.degrees()
    corners = np.flatnonzero(degrees == min(a - 1, 1) + min(b - 1, 1))
    if (len(corners) > 4 and a > 1) or len(corners) == 0:
        return None
    p = hops_from(graph.start, graph.heads, corners[0])
    opposite = corners[p[corners] == b - 1]
    if len(opposite) == 0:
        return None
    q = hops_from(graph.start, graph.heads, opposite[0])
    rows, columns = (p + q - (b - 1)) // 2, (p - q + (b - 1)) // 2
    inside = (rows >= 0) & (rows < a) & (columns >= 0) & (columns < b)
    if not inside.all() or np.bincount(rows * b + columns).max() > 1:
        return None
    tails, heads = graph.edges()
    steps = np.abs(rows[tails] - rows[heads]) + np.abs(columns[tails] - columns[heads])
    return (rows, columns) if (steps == 1).all() else None


class GridSplitter:
    """Splits cells of a grid along rows and columns."""

    def __init__(self, rows: Int, columns: Int) -> None:
        self.rows, self.columns = rows, columns

    def split(self, graph: Graph) -> Split | None:
        """Return a row or a column of the cell, ``None`` if every line has all other vertices on one side.

        Guarantees:
            With ``h x w`` the smallest box around the cell, the separator has at most ``min(h, w)`` vertices.
            Both sides are non-empty, and hold at most 2/3 of the vertices if the cell fills its box, corners aside.
        """
        rows, columns = self.rows[graph.vertices], self.columns[graph.vertices]
        rows, columns = rows - rows.min(), columns - columns.min()
        most = min(int(rows.max()), int(columns.max())) + 1
        n = graph.num_nodes
        best: tuple[int, Int, int] | None = None
        for line in (columns, rows):
            on = np.bincount(line)
            before = np.cumsum(on) - on
            heavier = np.maximum(before, n - before - on)
            useful = np.flatnonzero((on <= most) & (before > 0) & (before + on < n))
            if len(useful):
                badness = np.where(3 * heavier > 2 * n, 2 * n, 0) + heavier + on  # balance, then the larger child
                place = int(useful[np.argmin(badness[useful])])
                if best is None or badness[place] < best[0]:
                    best = int(badness[place]), line, place
        if best is None:
            return None
        _, line, place = best
        side = np.where(line < place, LEFT, np.where(line > place, RIGHT, SEPARATOR)).astype(np.int8)
        return Split(side)


class Grid:
    """Full grid networks, with labels in any order; a path is a grid of one row."""

    name = "grid"

    def prepare(self, graph: Graph) -> GridSplitter:
        """Recognise the grid in linear time."""
        coordinates = grid_coordinates(graph)
        if coordinates is None:
            raise OptionError("family 'grid' needs a full a x b grid network")
        return GridSplitter(*coordinates)
