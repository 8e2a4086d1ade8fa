"""Networks like thick trees: a bag of a tree decomposition separates.

Stage 2 of 6.  ``prepare`` eliminates vertices in turn, always one of least degree, joining its neighbours to each
other; the largest degree met is the *width* ``k``.  The order is kept and used again in every cell.

Why the order serves every cell.  Eliminate the vertices of a subgraph in the same order.  Two vertices become
neighbours only if a path of earlier vertices joins them, and such a path in the subgraph is one in the network; so
``higher(v)``, the neighbours of ``v`` when its turn comes, is contained in that of the whole network and holds at most
``k`` vertices.

Which separators.  Hang ``v`` below the first vertex of ``higher(v)``; a connected cell becomes one tree.  Write
``T(v)`` for the vertices at or below ``v``.

* ``higher(v)`` separates ``T(v)`` from the rest: at most ``k`` vertices.
* The bag ``{v} + higher(v)`` separates the subtrees below ``v`` from each other and from the rest.  For the lowest
  ``v`` with ``|T(v)| > n/2`` all these parts hold at most ``n/2`` vertices, and the packing lemma of ``centroid.py``
  makes two groups of at most ``2n/3``.

The first kind is taken when some ``T(v)`` is balanced, the smallest of them; else the second.  If the cell has more
than ``2 (k + 1)`` vertices, more than half of it is outside the bag, which is then more than one part: both groups are
non-empty.  In smaller cells the neighbours of the first vertex of the order may be all that is left to try.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_bags.py.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numba import njit

from ...arrays import Int
from ...errors import OptionError
from ..graph import Graph, Split
from .centroid import pack_components

MOST_WIDTH = 100  # beyond it bags are of no use as separators, and elimination takes long


def eliminate(graph: Graph, most_width: int) -> tuple[Int, int] | None:
    """Return an elimination order by least degree and its width, or ``None`` if the width exceeds ``most_width``.

    >>> square = Graph.from_edges(4, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0]))
    >>> order, width = eliminate(square, most_width=5)
    >>> width
    2
    """
    start, heads = graph.start.tolist(), graph.heads.tolist()
    near = [set(heads[a:b]) for a, b in zip(start, start[1:], strict=False)]
    heap = [(len(adjacent), v) for v, adjacent in enumerate(near)]
    heapify(heap)
    order, width = [], 0
    done = [False] * len(near)
    while heap:
        degree, v = heappop(heap)
        adjacent = near[v]
        if done[v] or degree != len(adjacent):
            continue  # an old entry: a newer one was pushed when the degree changed
        if degree > most_width:
            return None
        done[v] = True
        order.append(v)
        width = max(width, degree)
        for u in adjacent:
            mine = near[u]
            before = len(mine)
            mine |= adjacent
            mine.discard(u)
            mine.discard(v)
            if len(mine) != before:
                heappush(heap, (len(mine), u))
    return np.array(order, np.int64), width
