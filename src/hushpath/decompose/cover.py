"""Hop covers inside a set of vertices: few centres, everyone near one.

Stage 2 of 6.  A k-cover of a graph is a set of centres such that every vertex is within k hops of one.  Meir
and Moon (1975; Lemma "Meir and Moon" of the paper): a connected graph on n vertices has one of at most 1 +
n/(k+1).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..arrays import Int
from ..errors import OptionError
from .graph import Graph


def k_cover(graph: Graph, members: Int, hops: int) -> tuple[Int, Int]:
    """Cover ``members`` within ``hops`` hops inside the subgraph they induce.

    Returns:
        ``centres``, ascending, and ``owner``: for each of ``members`` its centre; both are vertices of
        ``graph``.

    Guarantees:
        Every member is within ``hops`` hops of its owner, along members of the same owner.
        There are at most c + |members|/(hops+1) centres, where c counts the components of the induced
        subgraph.
    """
    centres, owner, _ = cover_forest(graph, members, hops)
    return centres, owner


def cover_forest(graph: Graph, members: Int, hops: int) -> tuple[Int, Int, Int]:
    """Like ``k_cover``, with for each member the next vertex on the way to its owner (a centre names
    itself)."""
    if hops < 0:
        raise OptionError(f"hops must be at least 0, not {hops}")
    is_centre, owner, onward = _cover(graph.start, graph.heads, np.asarray(members, np.int64), hops)
    return np.flatnonzero(is_centre), owner[members], onward[members]


@njit(cache=True, nogil=True)
def _explore(start, heads, active, mark, stamp, root, queue, parent):  # type: ignore[no-untyped-def]
    """Breadth-first order of the active component of ``root``; how many vertices it has."""
    queue[0], parent[root], mark[root] = root, -1, stamp
    i, filled = 0, 1
    while i < filled:
        v = queue[i]
        i += 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if active[u] and mark[u] != stamp:
                mark[u], parent[u], queue[filled], filled = stamp, v, u, filled + 1
    return filled


@njit(cache=True, nogil=True)
def _cover(start, heads, members, hops):  # type: ignore[no-untyped-def]
    """Cover each component's breadth-first tree from below, then hand every member to its nearest centre.

    A vertex becomes a centre when its farthest uncovered descendant is exactly ``hops`` below it; the root,
    when anything is left.  Bound: the ``hops + 1`` vertices from a centre v other than the root down to such
    a descendant belong to v alone.  For let a later centre's way down pass through y on v's way: it ends at a
    descendant of v that was uncovered when v was chosen, hence at most ``hops`` below v, hence covered by v;
    a contradiction.  So a component of s vertices gets at most 1 + s/(hops+1) centres.  []
    """
    n = len(start) - 1
    active, centre = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    active[members] = True
    mark, parent, queue = np.zeros(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    want = np.full(n, 0)  # hops down to the farthest uncovered descendant, perhaps itself; -1: none
    have = np.full(n, hops + 1)  # hops down to the nearest centre
    owner, onward = np.full(n, -1), np.full(n, -1)
    for seed in members:
        if mark[seed] > 0:
            continue
        # The middle of a long path is a good root: a component of radius <= hops then needs one centre.
        size = _explore(start, heads, active, mark, 1, seed, queue, parent)
        size = _explore(start, heads, active, mark, 2, queue[size - 1], queue, parent)
        far, steps = queue[size - 1], 0
        while parent[far] >= 0:
            far, steps = parent[far], steps + 1
        far = queue[size - 1]
        for _ in range(steps // 2):
            far = parent[far]
        size = _explore(start, heads, active, mark, 3, far, queue, parent)
        for i in range(size - 1, -1, -1):
            v = queue[i]
            if want[v] >= 0 and want[v] + have[v] <= hops:
                want[v] = -1
            if want[v] == hops or (i == 0 and want[v] >= 0):
                centre[v], have[v], want[v] = True, 0, -1
            if i > 0:
                above = parent[v]
                have[above] = min(have[above], have[v] + 1)
                if want[v] >= 0:
                    want[above] = max(want[above], want[v] + 1)
    filled = 0
    for v in members:
        if centre[v]:
            owner[v], onward[v], queue[filled], filled = v, v, v, filled + 1
    i = 0
    while i < filled:
        v = queue[i]
        i += 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if active[u] and owner[u] < 0:
                owner[u], onward[u], queue[filled], filled = owner[v], v, u, filled + 1
    return centre, owner, onward
