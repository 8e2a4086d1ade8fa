"""Any network: METIS or hop distances propose where to cut, maximum flow finds the fewest vertices there.

Stage 2 of 6.  A proposal is an order of the vertices.  The first third of it (or more) is set ``A``, as many at the
end are set ``B``, and the separator is a smallest set of vertices that meets every path from ``A`` to ``B`` (it may
take vertices of ``A`` and ``B``).  With ``A`` and ``B`` the two halves of a bisection this would be Koenig's cover of
the cut edges; with subsets of the halves, and the vertices between them free, it is never larger.

Balance.  ``A`` keeps at least ``n/3`` vertices on the left or in the separator, so the right holds at most ``2n/3``;
and the other way round.  One side is empty only if the separator covers ``A`` or ``B``.

Of all smallest separators the flow shows the two nearest to ``A`` and to ``B``; long networks have many in between.
So each order is also cut with ``A`` and ``B`` of 9/20: not larger and better balanced there.

Orders.  Large cells: distance from the boundary of a METIS bisection, negative on one side, with a few seeds, and
again from the best separator found.  All cells: the difference of the hop distances from two vertices far apart
("inertial flow" without coordinates).  Small cells do without METIS, whose call costs more than it brings there.

Flow.  Each vertex carries one path.  State ``v`` is "a path arrives at v", state ``n + v`` "a path leaves v"; an
arriving path passes through a free vertex, and at a taken one it pushes the old path back along ``back``.  Phases are
Dinic's: hop levels of the states, then disjoint shortest augmenting paths, each state used at most once.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_general.py (against networkx minimum cuts).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..graph import Graph, Split
from .bags import cut_off_one, polish
from .centroid import pack_components
from .grid import hops_from

METIS_FROM = 200  # vertices; below, orders by hop distance alone are as good and ten times faster
MANY_SEEDS_FROM = 2_000
FAR_PAIRS_TO = 20_000  # beyond, METIS with several seeds is as good, and flows through a third of the cell take seconds
SEEDS = (11, 23, 37, 41)
FREE, SOURCE, TARGET, BEHIND_SOURCE, BEHIND_TARGET = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _levels(start, heads, role, source, target, taken, back, onward, level, queue):  # type: ignore[no-untyped-def]
    """Fill ``level`` with hops of residual states from ``source``; return the level that meets ``target``, or -1."""
    n = len(start) - 1
    level[:] = -1
    last = 0
    for v in range(n):
        if role[v] == source:
            level[v] = 0
            queue[last] = v
            last += 1
    first = 0
    found = -1
    while first < last:
        x = queue[first]
        first += 1
        if found >= 0 and level[x] >= found:
            break
        if x < n:
            y = n + x if not taken[x] else (n + back[x] if back[x] >= 0 else -1)
            if y >= 0 and level[y] < 0:
                level[y] = level[x] + 1
                queue[last] = y
                last += 1
            continue
        v = x - n
        if role[v] == target and not (taken[v] and onward[v] < 0):
            found = level[x]
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if level[u] < 0 and role[u] <= TARGET and u != onward[v]:
                level[u] = level[x] + 1
                queue[last] = u
                last += 1
        if taken[v] and level[v] < 0:
            level[v] = level[x] + 1
            queue[last] = v
            last += 1
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _max_flow(start, heads, role, most, taken, back, onward, level, queue, arc_of, path):  # type: ignore[no-untyped-def]
    """Route vertex-disjoint paths from ``SOURCE`` to ``TARGET`` vertices; return how many, stopping above ``most``."""
    n = len(start) - 1
    taken[:] = False
    back[:] = -1
    onward[:] = -1
    flow = 0
    while flow <= most:
        found = _levels(start, heads, role, SOURCE, TARGET, taken, back, onward, level, queue)
        if found < 0:
            break
        for v in range(n):
            arc_of[v] = 0
            arc_of[n + v] = start[v]
        for root in range(n):
            if role[root] != SOURCE or level[root] != 0:
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
                    if role[v] == TARGET and not (taken[v] and onward[v] < 0) and level[x] == found:
                        break
                    while arc_of[x] < start[v + 1]:
                        u = heads[arc_of[x]]
                        arc_of[x] += 1
                        if level[u] == level[x] + 1 and role[u] <= TARGET and u != onward[v]:
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cut(start, heads, order, share, most, side, other):  # type: ignore[no-untyped-def]
    """Fill ``side`` with a smallest separator between the two ends of ``order``; return its badness.

    Of the two smallest separators nearest to either end the more balanced one is taken.  Badness is the size, up to
    a sixth more if the sides differ; infinite if a side is empty or the size exceeds ``most``.
    """
    n = len(start) - 1
    role = np.zeros(n, np.int8)
    for i in range(share):
        role[order[i]] = BEHIND_SOURCE
        role[order[n - 1 - i]] = BEHIND_TARGET
    for v in range(n):
        if role[v] == FREE:
            continue
        mine = role[v]
        for arc in range(start[v], start[v + 1]):
            r = role[heads[arc]]
            if r != mine and r != mine - 2:
                role[v] = mine - 2  # BEHIND_SOURCE -> SOURCE, BEHIND_TARGET -> TARGET: it sees something else
                break
    taken = np.empty(n, np.bool_)
    back, onward = np.empty(n, np.int64), np.empty(n, np.int64)
    level, queue = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    arc_of, path = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    flow = _max_flow(start, heads, role, most, taken, back, onward, level, queue, arc_of, path)
    if flow > most:
        return np.inf
    best = np.inf
    for end in range(2):
        if end == 0:
            _levels(start, heads, role, SOURCE, TARGET, taken, back, onward, level, queue)
        else:
            _levels(start, heads, role, TARGET, SOURCE, taken, onward, back, level, queue)
        near, far = (1, 2) if end == 0 else (2, 1)
        inside = BEHIND_SOURCE if end == 0 else BEHIND_TARGET
        sizes = np.zeros(3, np.int64)
        for v in range(n):
            if role[v] == inside or level[n + v] >= 0:
                other[v] = near
            elif role[v] <= TARGET and level[v] >= 0:
                other[v] = 0
            else:
                other[v] = far
            sizes[other[v]] += 1
        if min(sizes[1], sizes[2]) > 0:
            badness = sizes[0] * (1 + abs(sizes[1] - sizes[2]) / (2 * n))
            if badness < best:
                best = badness
                side[:] = other
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _signed_hops(start, heads, part):  # type: ignore[no-untyped-def]
    """Return hops from the boundary of ``part`` (values 0 on it, else 1 or 2), negative for part 1.

    If no vertex has value 0, the ends of the edges between the parts are the boundary.
    """
    n = len(start) - 1
    hops = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    last = 0
    for v in range(n):
        edge = part[v] == 0
        for arc in range(start[v], start[v + 1]):
            edge |= part[v] + part[heads[arc]] == 3
        if edge:
            hops[v] = 0 if part[v] == 0 else 1
            queue[last] = v
            last += 1
    first = 0
    while first < last:
        v = queue[first]
        first += 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if hops[u] < 0:
                hops[u] = hops[v] + 1
                queue[last] = u
                last += 1
    for v in range(n):
        if part[v] == 1:
            hops[v] = -hops[v]
    return hops


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _far_pairs(start, heads, least, most, side):  # type: ignore[no-untyped-def]
    """Improve ``side`` (badness ``least``) by cuts between vertices far apart; return the badness reached."""
    n = len(start) - 1
    loose = (n + 2) // 3
    tight = max(loose, 9 * n // 20)
    trial, other = np.empty(n, np.int8), np.empty(n, np.int8)
    a = np.argmax(hops_from(start, heads, 0))
    from_a = hops_from(start, heads, a)
    b = np.argmax(from_a)
    from_b = hops_from(start, heads, b)
    c = np.argmax(np.minimum(from_a, from_b))  # far from both: the other diagonal
    from_c = hops_from(start, heads, c)
    d = np.argmax(from_c + np.minimum(from_a, from_b))
    from_d = hops_from(start, heads, d)
    across, along = from_a - from_b, from_c - from_d
    for choice in range(6):
        if choice == 0:
            key = across * n + from_a
        elif choice == 1:
            key = along * n + from_c
        elif choice == 2:
            key = from_a * n + along
        elif choice == 3:
            key = (across + along) * n + across
        elif choice == 4:
            key = (across - along) * n + across
        else:
            key = from_c * n + across
        order = np.argsort(key, kind="mergesort")
        for share in (loose, tight):
            badness = _cut(start, heads, order, share, most, trial, other)
            if badness < least:
                least = badness
                most = min(most, int(least))
                side[:] = trial
    return least


def _metis_halves(graph: Graph, seed: int) -> NDArray[np.int8]:
    """Return 1 or 2 for each vertex: a bisection with few cut edges."""
    import pymetis

    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(graph.start.astype(kind), graph.heads.astype(kind))
    options = pymetis.Options(seed=seed, ufactor=100)
    _, part = pymetis.part_graph(2, adjacency, options=options, recursive=True)
    return np.asarray(part, np.int8) + np.int8(1)


class _Best:
    """The best separator of a cell so far."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.side = np.ones(graph.num_nodes, np.int8)
        self.badness, self.most = np.inf, graph.num_nodes

    def cut_near(self, part: NDArray[np.int8], share: float) -> None:
        """Look for a better separator around the boundary of ``part``; ``A`` and ``B`` hold this share each."""
        start, heads = self.graph.start, self.graph.heads
        order = np.argsort(_signed_hops(start, heads, part), kind="stable")
        trial, other = np.empty((2, len(part)), np.int8)
        badness = float(_cut(start, heads, order, math.ceil(share * len(part)), self.most, trial, other))
        if badness < self.badness:
            self.side, self.badness, self.most = trial, badness, int(badness)


class GeneralSplitter:
    """Splits any connected graph that is not a clique."""

    def split(self, graph: Graph) -> Split | None:
        """Return a small separator; ``None`` on a clique.

        Guarantees:
            Both sides are non-empty.
            Both sides hold at most 2/3 of the vertices, or the separator is the neighbourhood of one vertex.
        """
        start, heads, n = graph.start, graph.heads, graph.num_nodes
        best = _Best(graph)
        if n >= METIS_FROM:
            for seed in SEEDS[: 1 if n < MANY_SEEDS_FROM else len(SEEDS)]:
                best.cut_near(_metis_halves(graph, seed), 0.4 if n >= FAR_PAIRS_TO else 1 / 3)
            if best.badness < np.inf:
                best.cut_near(best.side, 0.4)
                best.cut_near(best.side, 0.45)
        if n < FAR_PAIRS_TO:
            best.badness = _far_pairs(start, heads, best.badness, best.most, best.side)
        side = best.side
        if best.badness == np.inf:
            return Split(side) if cut_off_one(start, heads, side) else None
        trial = side.copy()
        left, right = pack_components(start, heads, trial)
        if max(left, right) < np.bincount(side, minlength=3)[1:].max():
            side = trial
        polish(start, heads, side)
        return Split(side)


class General:
    """Any network at all."""

    name = "general"

    def prepare(self, graph: Graph) -> GeneralSplitter:  # noqa: ARG002 - the protocol's argument; nothing to look at
        """Every network belongs here."""
        return GeneralSplitter()
