"""An order in which to eliminate the vertices of a network, of small width: a tree decomposition.

Vertices are eliminated in turn, joining the neighbours of each to each other; the largest degree met is
the *width* ``k``.

Which vertex next.  First a quick pass takes a vertex of least degree each time; it settles networks of width up to 2
and those of large width.  In between a careful search follows for ``k = 1, 2, ...``: a vertex of degree at most ``k``
whose neighbours, but for one, all know each other ("almost simplicial") is eliminated first, which never spoils a
treewidth of ``k`` or more (Bodlaender, Koster, van den Eijkhof 2005).  On partial ``k``-trees few vertices are left
then; these are tried several times in different orders of least fill-in.  The width is an upper bound of the
treewidth, in practice nearly always equal to it.

Checked by: tests/unit/test_separators_bags.py.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np

from ...arrays import Int
from ..graph import Graph

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
    """Whether there are at most ``k`` edges a vertex; more prove that the treewidth exceeds ``k``."""
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
