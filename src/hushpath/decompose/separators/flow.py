"""Fewest vertices between two sets: maximum flow, and the two smallest separators nearest to either set.

``role`` says what each vertex is, as a sum: ``SOURCE`` where paths may begin, ``TARGET`` where they may
end, and ``BEHIND`` if none passes there, because the vertex lies behind the sources or targets and keeps its side.  Any
other vertex may be taken into the separator, sources and targets too.

Each vertex carries one path (Menger).  State ``v`` is "a path arrives at v", state ``n + v`` "a path leaves v"; an
arriving path passes through a free vertex, and at a taken one it pushes the old path back along ``back``.  Phases are
Dinic's: hop levels of the states, then disjoint shortest augmenting paths, each state used at most once.

Checked by: tests/unit/test_separators_general.py and test_planar.py (against networkx minimum cuts).
"""

from __future__ import annotations

import numpy as np

from ...compiled import njit
from ..graph import LEFT, RIGHT, SEPARATOR

SOURCE, TARGET, BEHIND = LEFT, RIGHT, 4


@njit(cache=True, nogil=True)
def _levels(start, heads, role, inside, source, target, taken, back, onward, level, queue):
    """Fill ``level`` with hops of residual states from ``source``; return the level that meets ``target``, or -1."""
    n, last = len(start) - 1, 0
    for v in inside:
        level[v] = level[n + v] = -1
        if role[v] & source:
            level[v], queue[last], last = 0, v, last + 1
    first, found = 0, -1
    while first < last:
        x = queue[first]
        first += 1
        if found >= 0 and level[x] >= found:
            break
        if x < n:
            y = n + x if not taken[x] else (n + back[x] if back[x] >= 0 else -1)
            if y >= 0 and level[y] < 0:
                level[y], queue[last], last = level[x] + 1, y, last + 1
            continue
        v = x - n
        if role[v] & target and not (taken[v] and onward[v] < 0):
            found = level[x]
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if role[u] < BEHIND and level[u] < 0 and u != onward[v]:
                level[u], queue[last], last = level[x] + 1, u, last + 1
        if taken[v] and level[v] < 0:
            level[v], queue[last], last = level[x] + 1, v, last + 1
    return found


@njit(cache=True, nogil=True)
def _max_flow(start, heads, role, inside, most, taken, back, onward, level, queue, arc_of, path):
    """Route vertex-disjoint paths from ``SOURCE`` to ``TARGET`` vertices; return how many, stopping above ``most``."""
    n = len(start) - 1
    flow = 0
    while flow <= most:
        found = _levels(start, heads, role, inside, SOURCE, TARGET, taken, back, onward, level, queue)
        if found < 0:
            break
        for v in inside:
            arc_of[v], arc_of[n + v] = 0, start[v]
        for root in inside:
            if level[root] != 0:
                continue
            size = 1
            path[0] = root
            while size > 0:
                x = path[size - 1]
                y = -1
                if x < n:
                    if arc_of[x] == 0:
                        arc_of[x] = 1
                        y = n + x if not taken[x] else (n + back[x] if back[x] >= 0 else -1)
                        if y >= 0 and level[y] != level[x] + 1:
                            y = -1
                else:
                    v = x - n
                    if role[v] & TARGET and not (taken[v] and onward[v] < 0) and level[x] == found:
                        break
                    while arc_of[x] < start[v + 1]:
                        u = heads[arc_of[x]]
                        arc_of[x] += 1
                        if role[u] < BEHIND and level[u] == level[x] + 1 and u != onward[v]:
                            y = u
                            break
                    if y < 0 and arc_of[x] == start[v + 1]:
                        arc_of[x] += 1
                        if taken[v] and level[v] == level[x] + 1:
                            y = v
                if y < 0:
                    level[x] = -1
                    size -= 1
                else:
                    path[size] = y
                    size += 1
            if size == 0:
                continue
            flow += 1
            back[root] = -1
            for i in range(size):
                x = path[i]
                level[x] = -1
                y = path[i + 1] if i + 1 < size else -1
                if x < n:
                    if y == n + x:
                        taken[x] = True
                elif y < 0:
                    onward[x - n] = -1
                elif y == x - n:
                    taken[y] = False
                    # overwritten by the next path through it; a free vertex has neither
                else:
                    onward[x - n] = y
                    back[y] = x - n
            for i in range(size):
                x = path[i]
                if x < n and not taken[x]:
                    back[x] = -1
                    onward[x] = -1
    return flow


@njit(cache=True, nogil=True)
def smallest_separators(start, heads, role, most, sides):
    """Fill ``sides[0]`` and ``sides[1]`` with the smallest separators nearest to the sources and to the targets.

    Returns their size; if it exceeds ``most``, some number above ``most``, and ``sides`` is left alone.  Both are the
    same whichever paths the flow found: what can be reached from the sources when no path can be added is the
    intersection of all smallest cuts.
    """
    n = len(start) - 1
    taken, back, onward = np.zeros(n, np.bool_), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    level, queue = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    arc_of, path = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    inside = np.flatnonzero(role < BEHIND)
    flow = _max_flow(start, heads, role, inside, most, taken, back, onward, level, queue, arc_of, path)
    if flow > most:
        return flow
    # the levels of the last phase, which found no path, are those of the sources
    _read_off(role, level, LEFT, RIGHT, sides[0])
    _levels(start, heads, role, inside, TARGET, SOURCE, taken, onward, back, level, queue)
    _read_off(role, level, RIGHT, LEFT, sides[1])
    return flow


@njit(cache=True, nogil=True)
def _read_off(role, level, near, far, side):
    """The separator nearest to one end: vertices where a path can still arrive, but which it cannot leave."""
    n = len(role)
    for v in range(n):
        if role[v] >= BEHIND:
            side[v] = role[v] - BEHIND
        elif level[v] < 0 or level[n + v] >= 0:
            side[v] = far if level[n + v] < 0 else near
        else:
            side[v] = SEPARATOR
