"""Any network: METIS or hop distances propose where to cut, maximum flow finds the fewest vertices there.

A proposal is an order of the vertices.  The first third of it (or more) is set ``A``, as many at the end are set ``B``,
and the separator is a smallest set of vertices that meets every path from ``A`` to ``B`` (it may take vertices of ``A``
and ``B``).  With ``A`` and ``B`` the two halves of a bisection this would be Koenig's cover of the cut edges; with
subsets of the halves, and the vertices between them free, it is never larger.

Balance.  ``A`` keeps at least ``n/3`` vertices on the left or in the separator, so the right holds at most ``2n/3``;
and the same with the two exchanged.  One side is empty only if the separator covers ``A`` or ``B``.

Of all smallest separators the flow shows the two nearest to ``A`` and to ``B``; long networks have many in between.
So each order is also cut with ``A`` and ``B`` of 9/20: not larger and better balanced there.

Orders.  Large cells: distance from the boundary of a METIS bisection, negative on one side, with a few seeds, and
again from the best separator found.  All cells: the difference of the hop distances from two vertices far apart
("inertial flow" without coordinates).  Small cells do without METIS, whose call costs more than it brings there.

Flow.  ``role`` classifies each vertex, as a sum: ``SOURCE`` where paths may begin, ``TARGET`` where they may end, and
``BEHIND`` if no path passes there, because the vertex lies behind the sources or targets and keeps its side.  Any other
vertex may be taken into the separator, sources and targets too.  Each vertex carries one path (Menger).  State ``v`` is
"a path arrives at v", state ``n + v`` "a path leaves v"; an arriving path passes through a free vertex, and at a taken
one it pushes the old path back along ``back``.  Phases are Dinic's: hop levels of the states, then disjoint shortest
augmenting paths, each state used at most once.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_general.py (against networkx minimum cuts).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..compiled import njit
from ..kernels.search import FREE, breadth_first, hops_from
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split
from .sides import count_sides, cut_off_one, pack_components, polish

METIS_FROM = 200  # vertices; below, orders by hop distance alone are as good and ten times faster
MANY_SEEDS_FROM = 2_000
FAR_PAIRS_TO = 20_000  # beyond, METIS with several seeds is as good, and flows through a third of the cell take seconds
SEEDS = (11, 23, 37, 41)
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


@njit(cache=True, nogil=True)
def _cut(start, heads, order, share, most, side):
    """Fill ``side`` with a smallest separator between the two ends of ``order``; return its badness.

    Of the two smallest separators nearest to either end the more balanced one is taken.  Badness is the size, up to
    a sixth more if the sides differ; infinite if a side is empty or the size exceeds ``most``.
    """
    n = len(start) - 1
    role = np.zeros(n, np.int8)
    for i in range(share):
        role[order[i]], role[order[n - 1 - i]] = BEHIND | SOURCE, BEHIND | TARGET
    for v in np.flatnonzero(role):
        for arc in range(start[v], start[v + 1]):
            if (role[v] ^ role[heads[arc]]) & (SOURCE | TARGET):  # it sees something else, so it is not behind
                role[v] -= BEHIND
                break
    sides = np.empty((2, n), np.int8)
    size, best = smallest_separators(start, heads, role, most, sides), np.inf
    if size <= most:
        for trial in (sides[0], sides[1]):
            _, left, right = count_sides(trial)
            badness = size * (1 + abs(left - right) / (2 * n))
            if min(left, right) > 0 and badness < best:
                best = badness
                side[:] = trial
    return best


@njit(cache=True, nogil=True)
def _signed_hops(start, heads, part):
    """Return hops from the boundary of ``part`` (values 0 on it, else 1 or 2), negative for part 1.

    If no vertex has value 0, the ends of the edges between the parts are the boundary.
    """
    n = len(start) - 1
    hops, queue = np.full(n, FREE, np.int64), np.empty(n, np.int64)
    last = 0
    for v in range(n):
        edge = part[v] == SEPARATOR
        for arc in range(start[v], start[v + 1]):
            edge |= part[v] + part[heads[arc]] == LEFT + RIGHT
        if edge:
            hops[v], queue[last], last = int(part[v] != SEPARATOR), v, last + 1
    breadth_first(start, heads, hops, queue, last)
    return np.where(part == LEFT, -hops, hops)


@njit(cache=True, nogil=True)
def _far_pairs(start, heads, least, most, side):
    """Improve ``side`` (badness ``least``) by cuts between vertices far apart; return the badness reached."""
    n = len(start) - 1
    loose = (n + 2) // 3
    tight = max(loose, 9 * n // 20)
    trial = np.empty(n, np.int8)
    a = np.argmax(hops_from(start, heads, 0))
    from_a = hops_from(start, heads, a)
    b = np.argmax(from_a)
    from_b = hops_from(start, heads, b)
    c = np.argmax(np.minimum(from_a, from_b))  # far from both: the other diagonal
    from_c = hops_from(start, heads, c)
    d = np.argmax(from_c + np.minimum(from_a, from_b))
    from_d = hops_from(start, heads, d)
    across, along = from_a - from_b, from_c - from_d
    for major, minor in (
        (across, from_a), (along, from_c), (from_a, along), (across + along, across), (across - along, across),
        (from_c, across),
    ):  # fmt: skip
        order = np.argsort(major * n + minor, kind="mergesort")
        for share in (loose, tight):
            badness = _cut(start, heads, order, share, most, trial)
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
        trial = np.empty(len(part), np.int8)
        badness = float(_cut(start, heads, order, math.ceil(share * len(part)), self.most, trial))
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
