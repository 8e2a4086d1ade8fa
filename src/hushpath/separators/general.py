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
``BEHIND`` if no path passes there, because the vertex is behind the sources or targets and keeps its side.  Any other
vertex may be taken into the separator, sources and targets too.  Each vertex carries one path (Menger).  State ``v`` is
"a path arrives at v", state ``n + v`` "a path leaves v"; an arriving path passes through a free vertex, and at a taken
one it pushes the old path back along ``back``.  Phases are Dinic's: hop levels of the states, then disjoint shortest
augmenting paths, each state used at most once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int
from ..compiled import njit
from ..kernels.search import FREE, breadth_first, hops_from
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split, cut_off_vertex, pack_components, shrink_separator

METIS_FROM = 200  # vertices; below, orders by hop distance alone are as good and ten times faster
MANY_SEEDS_FROM = 2_000
FAR_PAIRS_TO = 20_000  # beyond, METIS with several seeds is as good, and flows through a third of the cell take seconds
SEEDS = (11, 23, 37, 41)
SOURCE, TARGET, BEHIND = LEFT, RIGHT, 4


class _Flow(NamedTuple):
    """Vertex-disjoint paths through the ``inside`` of a graph, and buffers of one number per state.

    Attributes:
        inside: the vertices that are not ``BEHIND``.
        taken, back, onward: whether a path passes through a vertex, and the vertices before and after it (-1: none).
        level: hops of each state in the residual graph.
        queue, arc_of, path: buffers of the searches.
    """

    inside: Int
    taken: Bool
    back: Int
    onward: Int
    level: Int
    queue: Int
    arc_of: Int
    path: Int


@njit(cache=True, nogil=True)
def _pass_through(v, n, flow):
    """Return the state after "a path arrives at v", or -1: it leaves a free vertex, and pushes back at a taken one."""
    if not flow.taken[v]:
        return n + v
    return n + flow.back[v] if flow.back[v] >= 0 else -1


@njit(cache=True, nogil=True)
def _set_levels(start, heads, role, source, target, flow):
    """Fill ``flow.level`` with hops of residual states from vertices of role ``source``.

    Returns the level that meets a vertex of role ``target``, or -1.  The graph is given by ``start`` and ``heads``.
    """
    taken, onward, level, queue = flow.taken, flow.onward, flow.level, flow.queue
    n, last = len(start) - 1, 0
    for v in flow.inside:
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
            y = _pass_through(x, n, flow)
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
def _max_flow(start, heads, role, most, flow):
    """Route vertex-disjoint paths from ``SOURCE`` to ``TARGET`` vertices; return how many, stopping above ``most``.

    The graph is given by ``start`` and ``heads``, the ``role`` of each vertex as the module says; ``flow`` is filled.
    """
    taken, onward, level, arc_of, path = flow.taken, flow.onward, flow.level, flow.arc_of, flow.path
    n = len(start) - 1
    paths = 0
    while paths <= most:
        found = _set_levels(start, heads, role, SOURCE, TARGET, flow)
        if found < 0:
            break
        for v in flow.inside:
            arc_of[v], arc_of[n + v] = 0, start[v]
        for root in flow.inside:
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
                        y = _pass_through(x, n, flow)
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
            if size > 0:
                _add_path(path[:size], n, flow)
                paths += 1
    return paths


@njit(cache=True, nogil=True)
def _add_path(path, n, flow):
    """Add an augmenting path of states to the ``flow`` through ``n`` vertices."""
    taken, back, onward = flow.taken, flow.back, flow.onward
    back[path[0]] = -1
    for i in range(len(path)):
        x = path[i]
        flow.level[x] = -1
        y = path[i + 1] if i + 1 < len(path) else -1
        if x < n:
            if y == n + x:
                taken[x] = True
        elif y < 0:
            onward[x - n] = -1
        elif y == x - n:
            taken[y] = False  # the next path through it overwrites both ends; a free vertex has neither
        else:
            onward[x - n] = y
            back[y] = x - n
    for x in path:
        if x < n and not taken[x]:
            back[x] = -1
            onward[x] = -1


@njit(cache=True, nogil=True)
def smallest_separators(start, heads, role, most, sides):
    """Fill ``sides[0]`` and ``sides[1]`` with the smallest separators nearest to the sources and to the targets.

    The graph is given by ``start`` and ``heads``, the ``role`` of each vertex as the module says.  Returns the size of
    both; if it exceeds ``most``, some number above ``most``, and ``sides`` is left alone.  Both are the same whichever
    paths the flow found: what can be reached from the sources when no path can be added is the intersection of all
    smallest cuts.
    """
    n = len(start) - 1
    inside, taken, back, onward = (
        np.flatnonzero(role < BEHIND), np.zeros(n, np.bool_), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    )  # fmt: skip
    level, queue = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    arc_of, path = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    size = _max_flow(start, heads, role, most, _Flow(inside, taken, back, onward, level, queue, arc_of, path))
    if size > most:
        return size
    # the levels of the last phase, which found no path, are those of the sources
    _read_sides(role, level, LEFT, RIGHT, sides[0])
    reverse = _Flow(inside, taken, onward, back, level, queue, arc_of, path)
    _set_levels(start, heads, role, TARGET, SOURCE, reverse)
    _read_sides(role, level, RIGHT, LEFT, sides[1])
    return size


@njit(cache=True, nogil=True)
def _read_sides(role, level, near, far, side):
    """Fill ``side`` with the separator nearest to one end: vertices where a path can arrive, but which it cannot leave.

    ``near`` and ``far`` are the sides of that end and of the other; ``role`` and ``level`` are those of the flow.
    """
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
    """Fill ``side`` with a smallest separator between the first and last ``share`` vertices of ``order``.

    The graph is given by ``start`` and ``heads``.  Of the two smallest separators nearest to either end the more
    balanced one is used.  Returns its cost: the size, up to a sixth more if the sides differ; infinite if a side is
    empty or the size exceeds ``most``.
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
            _, left, right = np.bincount(trial, minlength=3)
            cost = size * (1 + abs(left - right) / (2 * n))
            if min(left, right) > 0 and cost < best:
                best = cost
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
    """Improve ``side`` (cost ``least``, size at most ``most``) by cuts between vertices far apart; return its cost.

    The graph is given by ``start`` and ``heads``.
    """
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
            cost = _cut(start, heads, order, share, most, trial)
            if cost < least:
                least = cost
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


class GeneralSplitter:
    """Splits any connected graph that is not a clique."""

    def split(self, graph: Graph) -> Split | None:
        """Return a small separator; ``None`` on a clique.

        Guarantees:
            Both sides are non-empty.
            Both sides hold at most 2/3 of the vertices, or the separator is the neighbourhood of one vertex.
        """
        start, heads, n = graph.start, graph.heads, graph.num_nodes
        side, least, most = np.ones(n, np.int8), np.inf, n

        def cut_near(part: NDArray[np.int8], share: float) -> None:
            """Look for a better separator around the boundary of ``part``; ``A`` and ``B`` hold this share each."""
            nonlocal side, least, most
            order = np.argsort(_signed_hops(start, heads, part), kind="stable")
            trial = np.empty(n, np.int8)
            cost = float(_cut(start, heads, order, math.ceil(share * n), most, trial))
            if cost < least:
                side, least, most = trial, cost, int(cost)

        if n >= METIS_FROM:
            for seed in SEEDS[: 1 if n < MANY_SEEDS_FROM else len(SEEDS)]:
                cut_near(_metis_halves(graph, seed), 0.4 if n >= FAR_PAIRS_TO else 1 / 3)
            if least < np.inf:
                cut_near(side, 0.4)
                cut_near(side, 0.45)
        if n < FAR_PAIRS_TO:
            least = _far_pairs(start, heads, least, most, side)
        if least == np.inf:
            return Split(side) if cut_off_vertex(start, heads, side) else None
        trial = side.copy()
        left, right = pack_components(start, heads, trial)
        if max(left, right) < np.bincount(side, minlength=3)[1:].max():
            side = trial
        shrink_separator(start, heads, side)
        return Split(side)
