"""Networks of small treewidth: a bag of a tree decomposition separates.

``eliminate`` finds an order in which to eliminate the vertices: in turn, joining the neighbours of each to each other.
The largest degree met is the *width* ``k``.  The order is kept and used again in every cell.

Which vertex next.  First a quick pass takes a vertex of least degree each time; it settles networks of width up to 2
and those of large width.  In between a careful search follows for ``k = 1, 2, ...``: a vertex of degree at most ``k``
whose neighbours, except one, are all neighbours of each other ("almost simplicial") is eliminated first, which never
spoils a treewidth of ``k`` or more (Bodlaender, Koster, van den Eijkhof 2005).  On partial ``k``-trees few vertices
remain; these are tried several times in different orders of least fill-in.  The width is an upper bound of the
treewidth, in practice nearly always equal to it.

Why the order serves every cell.  Eliminate the vertices of a subgraph in the same order.  Two vertices become
neighbours only if a path of earlier vertices joins them, and such a path in the subgraph is one in the network; so
``higher(v)``, the neighbours of ``v`` when its turn comes, is contained in that of the whole network and holds at most
``k`` vertices.

Which separators.  Attach ``v`` below the first vertex of ``higher(v)``; a connected cell becomes one tree.  Write
``T(v)`` for the vertices at or below ``v``.

* ``higher(v)`` separates ``T(v)`` from the rest: at most ``k`` vertices.
* The bag ``{v} + higher(v)`` separates the subtrees below ``v`` from each other and from the rest.  For the lowest
  ``v`` with ``|T(v)| > n/2`` all these parts hold at most ``n/2`` vertices, and the packing lemma of ``graph`` makes
  two groups of at most ``2n/3``.

The first kind is taken when some ``T(v)`` is balanced, the smallest of them; else the second.  If the cell has more
than ``2 (k + 1)`` vertices, more than half of it is outside the bag, which is then more than one part: both groups are
non-empty.  In smaller cells the neighbours of the first vertex of the order may be the last possibility.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from ..arrays import Int
from ..compiled import njit
from ..errors import OptionError
from .graph import Graph, Split, cut_off_vertex, pack_components, shrink_separator

MOST_WIDTH = 100  # beyond it bags are of no use as separators, and elimination takes long
TRIES = 64  # orders tried for what safe elimination leaves ...
EFFORT = 16_000  # ... as long as they eliminate no more vertices than this together
CAREFUL_TO = 12  # widths by least degree up to which a smaller one is searched
SLACK = 2  # how much the careful search may improve on least degree


def eliminate(graph: Graph, most_width: int) -> tuple[Int, int] | None:
    """Return an elimination order and its width, or ``None`` if no width up to ``most_width`` was found.

    >>> square = Graph.from_edges(4, np.array([0, 1, 2, 3]), np.array([1, 2, 3, 0]))
    >>> order, width = eliminate(square, most_width=5)
    >>> width
    2
    """
    start, heads = graph.start.tolist(), graph.heads.tolist()
    near = {v: set(heads[a:b]) for v, (a, b) in enumerate(pairwise(start))}
    found = _least_degree(_copy(near), most_width + SLACK)
    if found is None:
        return None
    if 2 < found[1] <= CAREFUL_TO:  # least degree alone is best possible up to 2
        found = _careful(near, found[1] - 1) or found
    return (np.array(found[0], np.int64), found[1]) if found[1] <= most_width else None


def _copy(near: dict[int, set[int]]) -> dict[int, set[int]]:
    return {v: set(adjacent) for v, adjacent in near.items()}


def _least_degree(near: dict[int, set[int]], most_width: int) -> tuple[list[int], int] | None:
    """Eliminate a vertex of least degree each time; ``None`` as soon as a degree exceeds ``most_width``."""
    heap = [(len(adjacent), v) for v, adjacent in near.items()]
    heapify(heap)
    order, width = [], 0
    while heap:
        degree, v = heappop(heap)
        if v not in near or degree != len(near[v]):
            continue  # an old entry: a newer one was pushed when the degree changed
        if degree > most_width:
            return None
        adjacent = near.pop(v)
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
    return order, width


def _careful(near: dict[int, set[int]], most_width: int) -> tuple[list[int], int] | None:
    """Find an order of the least width it can, up to ``most_width``; empties ``near``."""
    order: list[int] = []
    width = 1
    while near:
        width = max(width, min(map(len, near.values())))
        if width > most_width:
            return None
        order += _Elimination(near, width).run(safe_only=True)
        rest = _finish(near, width) if near else []
        if rest is not None:
            return order + rest, width
        width += 1
    return order, width


def _finish(near: dict[int, set[int]], k: int) -> list[int] | None:
    """Try to eliminate what safe elimination left with degrees up to ``k``."""
    if len(near) > EFFORT:
        return None
    joined, order = _copy(near), []
    while _join_close(joined, k):
        order += _Elimination(joined, k).run(safe_only=True)
    if not joined:
        return order
    tries = min(TRIES, EFFORT // len(joined)) if _few_edges(joined, k) else 0
    for attempt in range(tries):
        trial = _copy(joined)
        rest = _Elimination(trial, k, seed=attempt).run(safe_only=False)
        if not trial:
            return order + rest
    return None


def _few_edges(near: dict[int, set[int]], k: int) -> bool:
    """Tell whether there are at most ``k`` edges a vertex; more prove that the treewidth exceeds ``k``."""
    return sum(map(len, near.values())) <= 2 * k * len(near)


def _join_close(near: dict[int, set[int]], k: int) -> bool:
    """Join vertices with more than ``k`` common neighbours; return whether there were any, and few edges still.

    Two such vertices share a bag in every tree decomposition of width ``k``: else the intersection of two
    neighbouring bags, at most ``k`` vertices, would separate them.
    """
    if not _few_edges(near, k):
        return False
    pairs: list[tuple[int, int]] = []
    for v, adjacent in near.items():
        if len(adjacent) <= k:
            continue
        common: dict[int, int] = {}
        for u in adjacent:
            for w in near[u]:
                if w > v:
                    common[w] = common.get(w, 0) + 1
        pairs += [(v, w) for w, times in common.items() if times > k and w not in adjacent]
        if len(pairs) > k * len(near):
            return False
    for v, w in pairs:
        near[v].add(w)
        near[w].add(v)
    return bool(pairs)


class _Elimination:
    """Eliminates vertices of degree at most ``k``: almost simplicial ones first, then by least fill-in."""

    def __init__(self, near: dict[int, set[int]], k: int, seed: int = 0) -> None:
        self.near, self.k = near, k
        self.seed = seed * 0x9E3779B1  # decides between equal vertices; 0: the smaller number
        self.heap: list[tuple[int, int, int, int]] = []
        self.rank: dict[int, tuple[int, int, int, int]] = {}

    def look(self, v: int) -> None:
        """Rank ``v`` anew: (not almost simplicial, edges to add, tie break, v); large degrees are left out."""
        adjacent = self.near[v]
        degree = len(adjacent)
        if degree > self.k:
            self.rank.pop(v, None)
            return
        total = worst = 0
        for u in adjacent:
            missing = degree - 1 - len(adjacent & self.near[u])
            total += missing
            worst = max(worst, missing)
        rank = (int(total != 2 * worst), total, (v * self.seed) & 0xFFFFFFFF, v)
        if self.rank.get(v) != rank:
            self.rank[v] = rank
            heappush(self.heap, rank)

    def run(self, *, safe_only: bool) -> list[int]:
        """Eliminate as long as possible; return the vertices in order.  What remains stays in ``near``."""
        near, order = self.near, []
        for v in near:
            self.look(v)
        while self.heap:
            rank = heappop(self.heap)
            v = rank[3]
            if self.rank.get(v) != rank:
                continue  # an old entry: the vertex was ranked anew, or is gone
            if safe_only and rank[0]:
                break
            del self.rank[v]
            order.append(v)
            adjacent = near.pop(v)
            touched = set(adjacent)
            for u in adjacent:
                near[u].discard(v)
            if rank[1]:
                for u in adjacent:
                    mine = near[u]
                    new = adjacent - mine
                    new.discard(u)
                    for w in new:
                        touched |= mine & near[w]
                    mine |= new
            for u in touched:
                self.look(u)
        return order


@njit(cache=True, nogil=True)
def _bag(start, heads, place, width):
    """Return ``side`` with 0 on the separator of a connected cell and 1 elsewhere; see the module's text.

    The cell is given by ``start`` and ``heads``; ``place`` is the position of each vertex in the elimination order of
    the whole network, and ``width`` the width of that order.
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


class TreewidthSplitter:
    """Splits cells at a bag of the network's tree decomposition, which has a width of at most ``most_width``.

    Attributes:
        width, bag_size: the largest bag of the whole network has ``bag_size = width + 1`` vertices.
        place: position of each vertex of the network in the elimination order.
    """

    def __init__(self, graph: Graph, most_width: int = MOST_WIDTH) -> None:
        """Find a tree decomposition; raise ``OptionError`` as soon as its width would exceed ``most_width``."""
        found = eliminate(graph, most_width)
        if found is None:
            raise OptionError(
                f"family 'treewidth' needs a network of small treewidth, but no tree decomposition "
                f"of width {most_width} or less was found"
            )
        order, self.width = found
        self.bag_size = self.width + 1
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
        sizes = shrink_separator(start, heads, side)
        if min(sizes[1], sizes[2]) > 0:
            return Split(side)
        return Split(side) if cut_off_vertex(start, heads, side) else None
