"""Hop covers inside a set of vertices: few centres, everyone near one.

A k-cover of a graph is a set of centres such that every vertex is within k hops of one.  Meir and Moon
(1975; Lemma "Meir and Moon" of the paper): a connected graph on n vertices has one of at most 1 + n/(k+1).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Int
from ..compiled import njit
from ..errors import OptionError
from ..kernels.search import CLOSED, FREE, breadth_first
from .graph import Graph


def k_cover(graph: Graph, members: Int, hops: int) -> tuple[Int, Int]:
    """Cover ``members`` within ``hops`` hops inside the subgraph they induce.

    Returns:
        ``centres``, ascending, and ``owner``: for each of ``members`` its centre; both are vertices of ``graph``.

    Guarantees:
        Every member is within ``hops`` hops of its owner, along members of the same owner.
        There are at most c + |members|/(hops+1) centres, where c counts the components of the induced subgraph.
    """
    centres, owner, _ = cover_forest(graph, members, hops)
    return centres, owner


def cover_forest(graph: Graph, members: Int, hops: int) -> tuple[Int, Int, Int]:
    """Like ``k_cover``, with for each member the next vertex on the path to its owner (a centre names itself)."""
    if hops < 0:
        raise OptionError(f"hops must be at least 0, not {hops}")
    is_centre, owner, onward = _cover(graph.start, graph.heads, np.asarray(members, np.int64), hops)
    return np.flatnonzero(is_centre), owner[members], onward[members]


@njit(cache=True, nogil=True)
def _cover(start, heads, members, hops):  # type: ignore[no-untyped-def]
    """Cover each component's breadth-first tree from below, then hand every member to its nearest centre.

    A vertex becomes a centre when its farthest uncovered descendant is exactly ``hops`` below it; the root, when
    anything is left.  Bound: the ``hops + 1`` vertices from a centre v other than the root down to such a descendant
    belong to v alone.  For let a later centre's path down pass through y on v's path: it ends at a descendant of v that
    was uncovered when v was chosen, hence at most ``hops`` below v, hence covered by v; a contradiction.  So a
    component of s vertices gets at most 1 + s/(hops+1) centres.  []
    """
    n = len(start) - 1
    depth, parent, queue = np.full(n, CLOSED, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    depth[members] = FREE
    centre = np.zeros(n, np.bool_)
    want = np.full(n, 0)  # hops down to the farthest uncovered descendant, perhaps itself; -1: none
    have = np.full(n, hops + 1)  # hops down to the nearest centre
    for seed in members:
        if depth[seed] != FREE:
            continue
        # The middle of a long path is a good root: a component of radius <= hops then needs one centre.
        root = seed
        for turn in range(3):
            depth[root], queue[0] = 0, root
            size = breadth_first(start, heads, depth, queue, 1, parent=parent)
            root = queue[size - 1]
            if turn == 1:
                for _ in range(depth[root] // 2):
                    root = parent[root]
            if turn < 2:
                depth[queue[:size]] = FREE
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
    owner, centres = np.full(n, -1), members[centre[members]]
    depth[members] = FREE
    depth[centres], queue[: len(centres)], owner[centres], parent[centres] = 0, centres, centres, centres
    filled = breadth_first(start, heads, depth, queue, len(centres), parent=parent)
    for v in queue[len(centres) : filled]:
        owner[v] = owner[parent[v]]
    return centre, owner, parent
