"""The axioms of a hierarchy of cells, proved cell by cell from the root; meanwhile every edge finds its home.

``separators.hierarchy`` explains the axioms and checks what needs no walk (numbering, increasing lists, the root).
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .search import CLOSED, FREE, breadth_first

AXIOMS = (
    "",
    "separation: a separator vertex is not in its cell",
    "separation: a leaf has a separator or hubs",
    "shrinking: a child is empty or no smaller than its parent",
    "cover: a child holds a vertex that its parent does not",
    "separation: two children share a vertex that is not in the separator",
    "cover: a vertex is in neither child",
    "separation: an edge lies in neither child",
    "separation: a public edge joins the two sides of a separator",
    "covering: a hub is not in the separator",
    "covering: a separator vertex is in one child only",
    "covering: a separator vertex is too far from any hub",
)
(
    FOREIGN_SEPARATOR, LEAF_SEPARATOR, NO_SMALLER, FOREIGN_VERTEX, SHARED, LOST, LEAVES, JOINED, FOREIGN_HUB,
    ONE_CHILD_ONLY, TOO_FAR,
) = range(1, len(AXIOMS))  # fmt: skip

ABSENT, HERE, SEPARATOR, LEFT, RIGHT = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def edge_homes(
    children, v_start, v_items, s_start, s_items, h_start, h_items, tails, heads, arc_start, arc_heads, hops
):  # fmt: skip
    """Return the home of every edge, the axiom that fails (0: none) and the cell where it does."""
    cells, n, m = len(children), len(arc_start) - 1, len(tails)
    home = np.full(m, -1, np.int64)
    first, following = np.full(cells, -1, np.int64), np.empty(m, np.int64)  # the edges of each cell, as linked lists
    for e in range(m):
        following[e], first[0] = first[0], e
    state, inside, hop = np.zeros(n, np.int8), np.zeros(n, np.int8), np.full(n, CLOSED, np.int64)
    queue = np.empty(n, np.int64)
    for b in range(cells):
        mine = v_items[v_start[b] : v_start[b + 1]]
        separator = s_items[s_start[b] : s_start[b + 1]]
        for v in mine:
            state[v], inside[v] = HERE, 0
        for v in separator:
            if state[v] != HERE:
                return home, FOREIGN_SEPARATOR, b
            state[v] = SEPARATOR
        leaf = children[b, 0] < 0
        if leaf and (len(separator) or h_start[b + 1] > h_start[b]):
            return home, LEAF_SEPARATOR, b
        if not leaf:
            for side in range(2):
                c = children[b, side]
                size = v_start[c + 1] - v_start[c]
                if size == 0 or size >= len(mine):
                    return home, NO_SMALLER, c
                for v in v_items[v_start[c] : v_start[c + 1]]:
                    if state[v] == ABSENT:
                        return home, FOREIGN_VERTEX, c
                    if state[v] == LEFT and side == 1:
                        return home, SHARED, b
                    if state[v] == HERE:
                        state[v] = LEFT + side
                    inside[v] |= 1 << side
            for v in mine:
                if state[v] == HERE:
                    return home, LOST, b
        e = first[b]
        while e >= 0:
            later, s, t = following[e], state[tails[e]], state[heads[e]]
            if leaf or (s == SEPARATOR and t == SEPARATOR):
                home[e] = b
            else:
                side = max(s, t) - LEFT  # of an end off the separator; the other end must be in that child as well
                if not (inside[tails[e]] >> side) & (inside[heads[e]] >> side) & 1:
                    return home, LEAVES, b
                c = children[b, side]
                following[e], first[c] = first[c], e
            e = later
        if hops and not leaf:
            axiom = _covered(mine, separator, h_items[h_start[b] : h_start[b + 1]], state, inside, hop, queue,
                             arc_start, arc_heads, hops)  # fmt: skip
            if axiom:
                return home, axiom, b
        for v in mine:
            state[v] = ABSENT
    return home, 0, 0


@njit(cache=True, nogil=True)
def _covered(mine, separator, hubs, state, inside, hop, queue, arc_start, arc_heads, hops):
    """What the covered flavour asks besides: public edges are separated too, and everybody is near a hub."""
    for v in mine:
        if state[v] == LEFT:
            for arc in range(arc_start[v], arc_start[v + 1]):
                if state[arc_heads[arc]] == RIGHT:
                    return JOINED
    for v in separator:
        if inside[v] != 3:
            return ONE_CHILD_ONLY
        hop[v] = FREE
    last = 0
    for v in hubs:
        if state[v] != SEPARATOR:
            return FOREIGN_HUB
        hop[v], queue[last] = 0, v
        last += 1
    last = breadth_first(arc_start, arc_heads, hop, queue, last, hops)
    hop[separator] = CLOSED
    return 0 if last == len(separator) else TOO_FAR
