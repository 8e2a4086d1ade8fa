"""The families of separators by name, the choice between them, and the two simplest: trees and grids.

``choose_family`` reads the public topology only.  In order of preference: single vertices (trees), lines (grids), bags
(small treewidth), minimum cuts (any network).  ``planar`` is used only on request: it keeps the bound of its theorem in
every cell, but its separators are no smaller than minimum cuts.

*Trees.*  Every connected cell of a tree is a tree, and a tree has a *centroid*: a vertex all of whose branches hold at
most half of the vertices, so the packing lemma of ``graph`` applies.  With ``n >= 3`` vertices there are at least two
branches (a single one would hold ``n - 1 > n/2``), so both groups are non-empty.

*Grids.*  A grid is recognised from its edges alone.  An ``a x b`` grid has ``n = ab`` vertices and ``m = 2ab - a - b``
edges, so ``a`` and ``b`` are the roots of ``x^2 - (2n - m) x + n``.  With hop distances ``p`` and ``q`` from two
corners at the ends of a side of ``b`` vertices, vertex ``(row, column)`` has ``p = row + column`` and
``q = row + (b - 1 - column)``, which gives both coordinates.  They are then *checked*, so that nothing has to be
assumed about the network: ``n`` different places inside ``a x b`` and ``m`` edges, each between places one step apart,
are the full grid, because the full grid has no more than ``m`` such pairs.  Any row or column of a cell separates what
comes before it from what comes after it, whatever edges the cell has lost: an edge changes one coordinate by one.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable

import numpy as np

from ..arrays import Int
from ..compiled import njit
from ..errors import OptionError
from ..kernels.search import FREE, components, find_centroid, hops_from
from .general import GeneralSplitter
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split, Splitter, pack_around
from .planar import PlanarSplitter
from .treewidth import TreewidthSplitter

SMALL_WIDTH = 8  # bags of 9 vertices beat other separators on all but tiny networks


class TreeSplitter:
    """Splits subtrees at their centroid."""

    def __init__(self, graph: Graph) -> None:
        """Raise ``OptionError`` on a cycle: without one, edges and components together are as many as vertices."""
        _, begin = components(graph.start, graph.heads, np.full(graph.num_nodes, FREE, np.int64))
        if graph.num_edges + len(begin) - 1 != graph.num_nodes:
            raise OptionError(
                f"family 'tree' needs a network without cycles, but this one has {graph.num_edges} edges "
                f"on {graph.num_nodes} nodes in {len(begin) - 1} components"
            )

    def split(self, graph: Graph) -> Split | None:
        """Return the centroid of a connected cell as separator; ``None`` if the cell has fewer than 3 vertices.

        Guarantees:
            The separator is one vertex.
            Both sides are non-empty and hold at most 2/3 of the vertices.
        """
        return Split(_split_at_centroid(graph.start, graph.heads)) if graph.num_nodes >= 3 else None


@njit(cache=True, nogil=True)
def _split_at_centroid(start, heads):
    """Return the sides of a connected tree around its centroid."""
    hops, parent = np.full(len(start) - 1, FREE, np.int64), np.empty(len(start) - 1, np.int64)
    order, _ = components(start, heads, hops, parent)
    return pack_around(start, heads, find_centroid(order, parent))


class GridSplitter:
    """Splits cells of a full grid, with labels in any order, along rows and columns; a path is a grid of one row."""

    def __init__(self, graph: Graph) -> None:
        """Recognise the grid in linear time; raise ``OptionError`` for any other network."""
        coordinates = grid_coordinates(graph)
        if coordinates is None:
            raise OptionError("family 'grid' needs a full a x b grid network")
        self.rows, self.columns = coordinates

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
                cost = np.where(3 * heavier > 2 * n, 2 * n, 0) + heavier + on  # balance, then the larger child
                place = int(useful[np.argmin(cost[useful])])
                if best is None or cost[place] < best[0]:
                    best = int(cost[place]), line, place
        if best is None:
            return None
        _, line, place = best
        return Split(np.where(line < place, LEFT, np.where(line > place, RIGHT, SEPARATOR)).astype(np.int8))


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


FAMILIES: dict[str, Callable[[Graph], Splitter]] = {
    "tree": TreeSplitter, "treewidth": TreewidthSplitter, "grid": GridSplitter, "planar": PlanarSplitter,
    "general": lambda _: GeneralSplitter(),
}  # fmt: skip
"""Prepare each family for a network, or raise ``OptionError`` if the network does not belong to it."""

AUTOMATIC: tuple[tuple[str, Callable[[Graph], Splitter], str], ...] = (
    ("tree", TreeSplitter, "The network has no cycle, so single vertices separate it."),
    ("grid", GridSplitter, "The network is a full grid, so straight lines separate it."),
    ("treewidth", lambda graph: TreewidthSplitter(graph, SMALL_WIDTH),
     "The network is like a thick tree (width {0.width}), so {0.bag_size} vertices separate it."),
)  # fmt: skip
"""The families that ``auto`` tries before ``general``, each with the reason that it gives."""


def choose_family(graph: Graph, family: str = "auto") -> tuple[Splitter, str, str]:
    """Return a family prepared for the whole network ``graph``, its name, and a sentence that says why.

    ``family`` is a name in ``FAMILIES``, or ``auto``.  Raises ``OptionError`` if there is no such family, or if the
    network does not belong to it.
    """
    if family in FAMILIES:
        return FAMILIES[family](graph), family, f"The family {family!r} was asked for."
    if family != "auto":
        raise OptionError(f"`family` must be one of auto, {', '.join(FAMILIES)}, got {family!r}")
    for name, prepare, why in AUTOMATIC:
        with contextlib.suppress(OptionError):
            splitter = prepare(graph)
            return splitter, name, why.format(splitter)
    why = "The network is no tree or grid and has no small treewidth, so minimum cuts between its halves separate it."
    return GeneralSplitter(), "general", why
