"""From a set of vertices to two sides, and from a separator to a smaller one.

Stage 2 of 6.  Works on any graph; nothing here knows about the plane.  Each step keeps both sides non-empty
and within ``limit`` vertices: a refined separator is never worse than the one it came from.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..graph import LEFT, RIGHT, SEPARATOR

UNSEEN, TERMINAL = -2, -1  # in the flow: a state not reached; the source or the sink


@njit(cache=True, nogil=True)
def pack(start, heads, members):  # type: ignore[no-untyped-def]
    """Remove ``members`` and put the components that remain on two sides, the largest first on the lighter
    side.

    If every component has at most 2n/3 vertices, so has each side.  Proof: a component of c <= n/3 vertices
    joins the lighter side, which then has at most (n + c)/2 <= 2n/3.  At most two components exceed n/3; they
    come first, each on its own side.  []
    """
    n = len(start) - 1
    side = np.full(n, np.int8(-1), np.int8)
    side[members] = SEPARATOR
    queue, first, sizes = np.empty(n, np.int64), np.empty(n + 1, np.int64), np.empty(n, np.int64)
    components, filled = 0, 0
    for root in range(n):
        if side[root] >= 0:
            continue
        first[components], queue[filled], side[root] = filled, root, LEFT
        i, filled = filled, filled + 1
        while i < filled:
            v = queue[i]
            i += 1
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if side[u] < 0:
                    side[u], queue[filled], filled = LEFT, u, filled + 1
        sizes[components] = filled - first[components]
        components += 1
    first[components] = filled
    left, right = 0, 0
    for c in np.argsort(-sizes[:components], kind="mergesort"):
        if left <= right:
            left += sizes[c]
        else:
            right += sizes[c]
            for i in range(first[c], first[c + 1]):
                side[queue[i]] = RIGHT
    return side


@njit(cache=True, nogil=True)
def trim(start, heads, side, path, limit):  # type: ignore[no-untyped-def]
    """Give the ends of a separator that is a path to a side while they touch one side only; it stays a
    path."""
    left, right = (side == LEFT).sum(), (side == RIGHT).sum()
    low, high, stuck = 0, len(path) - 1, 0
    while low < high and stuck < 2:
        v = path[low] if stuck == 0 else path[high]
        touches_left, touches_right = False, False
        for arc in range(start[v], start[v + 1]):
            touches_left |= side[heads[arc]] == LEFT
            touches_right |= side[heads[arc]] == RIGHT
        to_left = not touches_right and (touches_left or left <= right)
        if (touches_left and touches_right) or (left if to_left else right) >= limit:
            stuck += 1
            continue
        side[v] = LEFT if to_left else RIGHT
        left, right = left + to_left, right + (not to_left)
        low, high = low + (stuck == 0), high - (stuck == 1)


@njit(cache=True, nogil=True)
def connected(start, heads, side):  # type: ignore[no-untyped-def]
    """Whether the separator is connected in the graph."""
    members = np.flatnonzero(side == SEPARATOR)
    seen, queue = np.zeros(len(side), np.bool_), np.empty(len(members), np.int64)
    if len(members) == 0:
        return True
    queue[0], seen[members[0]], filled, i = members[0], True, 1, 0
    while i < filled:
        v = queue[i]
        i += 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if side[u] == SEPARATOR and not seen[u]:
                seen[u], queue[filled], filled = True, u, filled + 1
    return filled == len(members)


@njit(cache=True, nogil=True)
def _reach(start, heads, inside, near, far, band, used, before, came, queue):  # type: ignore[no-untyped-def]
    """Search the residual graph of unit vertex capacities; the state that meets the far core, or ``UNSEEN``.

    State 2v is the entry of v and 2v+1 its exit.  ``before[v]`` and ``behind[v]`` are the neighbours of v on
    the path through it.  Afterwards ``came[state]`` is where a reached state was reached from.
    """
    filled = 0
    for v in band:
        came[2 * v] = came[2 * v + 1] = UNSEEN
    for v in band:
        if near[v]:
            came[2 * v], queue[filled], filled = TERMINAL, 2 * v, filled + 1
    i = 0
    while i < filled:
        state = queue[i]
        i += 1
        v = state >> 1
        if state & 1 == 0:
            onward = 2 * v + 1 if not used[v] else (2 * before[v] + 1 if before[v] >= 0 else UNSEEN)
            if onward >= 0 and came[onward] == UNSEEN:
                came[onward], queue[filled], filled = state, onward, filled + 1
            continue
        if far[v]:
            return state
        if used[v] and came[2 * v] == UNSEEN:
            came[2 * v], queue[filled], filled = state, 2 * v, filled + 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if inside[u] and came[2 * u] == UNSEEN:
                came[2 * u], queue[filled], filled = state, 2 * u, filled + 1
    return UNSEEN


@njit(cache=True, nogil=True)
def _augment(state, came, used, before, behind):  # type: ignore[no-untyped-def]
    """Send one more path along the search tree, back from ``state``."""
    behind[state >> 1] = TERMINAL
    while came[state] != TERMINAL:
        origin = came[state]
        x, v = origin >> 1, state >> 1
        if x == v:
            used[v] = state & 1 == 1
        elif state & 1 == 0:
            behind[x], before[v] = v, x
        state = origin
    before[state >> 1] = TERMINAL


@njit(cache=True, nogil=True)
def tighten(start, heads, side, limit, width):  # type: ignore[no-untyped-def]
    """Replace the separator by a minimum one inside a band around it, in place; whether it became better.

    The band holds the separator and at most ``width`` vertices of each side, so few that the other side could
    take all of them without passing ``limit`` (if it could not even take the separator, a cut beyond
    ``limit`` is refused).  By Menger's theorem the maximum number of disjoint paths across the band is the
    size of a minimum separator within it.  Two such are read off, nearest to either side; better means a
    smaller ``size * (1/2 + larger side / n)``.
    """
    n = len(side)
    left, right = (side == LEFT).sum(), (side == RIGHT).sum()
    size = n - left - right
    inside, queue = np.zeros(n, np.bool_), np.empty(2 * n, np.int64)
    band = np.empty(n, np.int64)
    band[:size] = np.flatnonzero(side == SEPARATOR)
    inside[band[:size]] = True
    filled = size
    for own in (LEFT, RIGHT):
        mine, other = (left, right) if own == LEFT else (right, left)
        room = min(limit - other - size, mine - 1, width)
        i, frontier, begin = 0, size, filled
        while room > 0 and i < frontier:
            v = band[i]
            i += 1
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if side[u] == own and not inside[u] and room > 0:
                    inside[u], band[filled], filled, room = True, u, filled + 1, room - 1
            if i == frontier and frontier < filled:
                i, frontier, begin = begin, filled, filled
    band = band[:filled]
    near, far = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    for v in band:
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if not inside[u]:
                near[v] |= side[u] == LEFT
                far[v] |= side[u] == RIGHT
    used, came = np.zeros(n, np.bool_), np.empty(2 * n, np.int64)
    before, behind = np.full(n, TERMINAL), np.full(n, TERMINAL)
    flow = 0
    while True:
        state = _reach(start, heads, inside, near, far, band, used, before, came, queue)
        if state == UNSEEN:
            break
        _augment(state, came, used, before, behind)
        flow += 1
    improved, score = False, size * (0.5 + max(left, right) / n)
    result = side.copy()
    for own, opposite in ((LEFT, RIGHT), (RIGHT, LEFT)):
        if own == RIGHT:
            _reach(start, heads, inside, far, near, band, used, behind, came, queue)
        cut = side.copy()
        for v in band:
            if came[2 * v + 1] != UNSEEN:
                cut[v] = own
            elif came[2 * v] != UNSEEN:
                cut[v] = SEPARATOR
            else:
                cut[v] = opposite
        larger = max((cut == LEFT).sum(), (cut == RIGHT).sum())
        worth = flow * (0.5 + larger / n)
        if larger <= limit and worth < score:
            improved, score, result = True, worth, cut
    side[:] = result
    return improved
