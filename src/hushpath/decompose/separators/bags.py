"""Networks like thick trees: a bag of a tree decomposition separates.

``prepare`` finds an order to eliminate the vertices (``elimination``), of width ``k``; it is kept and
used again in every cell.

Why the order serves every cell.  Eliminate the vertices of a subgraph in the same order.  Two vertices become
neighbours only if a path of earlier vertices joins them, and such a path in the subgraph is one in the network; so
``higher(v)``, the neighbours of ``v`` when its turn comes, is contained in that of the whole network and holds at most
``k`` vertices.

Which separators.  Hang ``v`` below the first vertex of ``higher(v)``; a connected cell becomes one tree.  Write
``T(v)`` for the vertices at or below ``v``.

* ``higher(v)`` separates ``T(v)`` from the rest: at most ``k`` vertices.
* The bag ``{v} + higher(v)`` separates the subtrees below ``v`` from each other and from the rest.  For the lowest
  ``v`` with ``|T(v)| > n/2`` all these parts hold at most ``n/2`` vertices, and the packing lemma of ``sides`` makes
  two groups of at most ``2n/3``.

The first kind is taken when some ``T(v)`` is balanced, the smallest of them; else the second.  If the cell has more
than ``2 (k + 1)`` vertices, more than half of it is outside the bag, which is then more than one part: both groups are
non-empty.  In smaller cells the neighbours of the first vertex of the order may be all that is left to try.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_bags.py.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Int
from ...compiled import njit
from ...errors import OptionError
from ..graph import Graph, Split
from .elimination import eliminate
from .sides import cut_off_one, pack_components, polish

MOST_WIDTH = 100  # beyond it bags are of no use as separators, and elimination takes long


@njit(cache=True, nogil=True)
def _bag(start, heads, place, width):
    """Return ``side`` with 0 on the separator of a connected cell and 1 elsewhere; see the module's text.

    ``place`` is the position of each vertex in the elimination order of the whole network.
    """
    n = len(start) - 1
    order = np.argsort(place, kind="mergesort")
    turn = np.empty(n, np.int64)
    for i in range(n):
        turn[order[i]] = i
    # higher[i, :count[i]]: turns of the later neighbours of the i-th vertex once all earlier ones are eliminated
    higher, count = np.empty((n, width + 1), np.int64), np.zeros(n, np.int64)
    parent, below, mark = np.full(n, -1, np.int64), np.ones(n, np.int64), np.full(n, -1, np.int64)
    child, sibling = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    best, best_count, best_gap = -1, n, n
    for i in range(n):
        v = order[i]
        mark[i] = i
        size = 0
        for arc in range(start[v], start[v + 1]):
            j = turn[heads[arc]]
            if j > i:
                mark[j] = i
                higher[i, size] = j
                size += 1
        c = child[i]
        while c >= 0:
            for s in range(count[c]):
                j = higher[c, s]
                if mark[j] != i:
                    mark[j] = i
                    higher[i, size] = j
                    size += 1
            below[i] += below[c]
            c = sibling[c]
        count[i] = size
        if size > 0:
            p = higher[i, :size].min()
            parent[i] = p
            sibling[i], child[p] = child[p], i
        rest = n - below[i] - size
        if 3 * below[i] <= 2 * n and 3 * rest <= 2 * n and rest > 0 and 3 * (below[i] + size) >= n:
            gap = abs(below[i] - rest)
            if size < best_count or (size == best_count and gap < best_gap):
                best, best_count, best_gap = i, size, gap
    side = np.ones(n, np.int8)
    if best < 0:
        best = 0
        while 2 * below[best] <= n:  # the lowest T(v) with more than half: the first one in the order
            best += 1
        side[order[best]] = 0
    for s in range(count[best]):
        side[order[higher[best, s]]] = 0
    return side


class BagSplitter:
    """Splits cells at a bag of the network's tree decomposition.

    Attributes:
        width: the largest bag of the whole network has ``width + 1`` vertices.
        place: position of each vertex of the network in the elimination order.
    """

    def __init__(self, order: Int, width: int) -> None:
        self.width = width
        self.place = np.empty(len(order), np.int64)
        self.place[order] = np.arange(len(order))

    def split(self, graph: Graph) -> Split | None:
        """Return a bag, or part of one, as separator; ``None`` on a cell whose vertices are all neighbours.

        Guarantees:
            The separator has at most ``width + 1`` vertices.
            Both sides are non-empty.
            Both sides hold at most 2/3 of the vertices if the cell has more than ``2 * (width + 1)``.
        """
        start, heads = graph.start, graph.heads
        side = _bag(start, heads, self.place[graph.vertices], self.width)
        pack_components(start, heads, side)
        sizes = polish(start, heads, side)
        if min(sizes[1], sizes[2]) > 0:
            return Split(side)
        return Split(side) if cut_off_one(start, heads, side) else None


class Bags:
    """Networks of small treewidth."""

    name = "treewidth"

    def prepare(self, graph: Graph, most_width: int = MOST_WIDTH) -> BagSplitter:
        """Find a tree decomposition; gives up as soon as its width would exceed ``most_width``."""
        found = eliminate(graph, most_width)
        if found is None:
            raise OptionError(
                f"family 'treewidth' needs a network of small treewidth, but no tree decomposition "
                f"of width {most_width} or less was found"
            )
        return BagSplitter(*found)
