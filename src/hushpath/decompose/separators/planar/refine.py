"""From a separator to a smaller one near it.

Works on any graph; nothing here knows about the plane.  Each step keeps both sides non-empty and within
``limit`` vertices: a refined separator is never worse than the one it came from.
"""

from __future__ import annotations

import numpy as np

from ....compiled import njit
from ....kernels.search import breadth_first, components, only
from ...graph import LEFT, RIGHT, SEPARATOR
from ..flow import BEHIND, smallest_separators
from ..sides import count_sides


@njit(cache=True, nogil=True)
def trim(start, heads, side, path, limit):
    """Give the ends of a separator that is a path to a side while they touch one side only; it stays a path."""
    _, left, right = count_sides(side)
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
def connected(start, heads, side):
    """Whether the separator is connected in the graph."""
    _, begin = components(start, heads, only(side == SEPARATOR))
    return len(begin) <= 2


@njit(cache=True, nogil=True)
def tighten(start, heads, side, limit, width):
    """Replace the separator by a minimum one inside a band around it, in place; whether it became better.

    The band holds the separator and at most ``width`` vertices of each side, so few that the other side could take all
    of them without passing ``limit`` (if it could not even take the separator, a cut beyond ``limit`` is refused).  Of
    the two smallest separators nearest to either side better means a smaller ``size * (1/2 + larger side / n)``.
    """
    n, separator = len(side), np.flatnonzero(side == SEPARATOR)
    size, left, right = count_sides(side)
    role = (side | BEHIND).astype(np.int8)
    role[separator] = 0
    queue = np.empty(n, np.int64)
    for own, mine, other in ((LEFT, left, right), (RIGHT, right, left)):
        most = size + max(0, min(limit - other - size, mine - 1, width))
        hops = only(side == own)
        hops[separator], queue[:size] = 0, separator
        filled = breadth_first(start, heads, hops, queue, size, most=most)
        role[queue[size : min(filled, most)]] = 0
    for v in np.flatnonzero(role == 0):
        for arc in range(start[v], start[v + 1]):
            if role[heads[arc]] & BEHIND:
                role[v] |= role[heads[arc]] ^ BEHIND
    sides = np.empty((2, n), np.int8)
    improved, least = False, size * (0.5 + max(left, right) / n)
    size = smallest_separators(start, heads, role, size, sides)
    for cut in (sides[0], sides[1]):
        larger = count_sides(cut)[1:].max()
        score = size * (0.5 + larger / n)
        if larger <= limit and score < least:
            improved, least = True, score
            side[:] = cut
    return improved
