"""From a set of vertices to two sides: packing components, and small repairs of a separator.

``side`` holds ``SEPARATOR``, ``LEFT`` or ``RIGHT`` for each vertex; everything here works on any graph.

Packing lemma.  Let components of total size ``N`` each hold at most ``n/2 >= N/2`` vertices.  Giving them, largest
first, to the lighter of two groups leaves both groups at most ``max(n/2, 2N/3) <= 2n/3``.

Proof.  If the heavier group holds one component, its size is at most ``n/2``.  Else let ``x`` be the component it
received last.  At that moment it was not empty and the other group was at least as heavy, so two components not
smaller than ``x`` came before: ``x <= N/3``.  The heavier group was the lighter one before ``x`` came, and the other
only grew since, so the groups differ by at most ``x`` and the heavier holds at most ``(N + N/3) / 2 = 2N/3``.   []

Nor does a group exceed ``2n/3`` if no component does.  One of ``c <= n/3`` vertices joins the lighter group, which then
holds at most ``(n + c)/2 <= 2n/3``; at most two exceed ``n/3``, and they come first, each in a group of its own.   []

Checked by: tests/unit/test_separators_sides.py.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from ..kernels.search import components, only
from .graph import LEFT, RIGHT, SEPARATOR


@njit(cache=True, nogil=True)
def count_sides(side):
    """How many vertices are in the separator, left and right."""
    sizes = np.zeros(3, np.int64)
    for s in side:
        sizes[s] += 1
    return sizes


@njit(cache=True, nogil=True)
def pack_components(start, heads, side):
    """Relabel ``side`` in place: the separator stays, the components of the others go left and right.

    Components go largest first (ties: the one with the smallest vertex) to the lighter side.  Returns the sizes of
    the two sides; the left is never the smaller one unless there is nothing to pack.
    """
    order, begin = components(start, heads, only(side != SEPARATOR))
    sizes = np.diff(begin)
    left, right = 0, 0
    for c in np.argsort(-sizes, kind="mergesort"):
        lighter = LEFT if left <= right else RIGHT
        for v in order[begin[c] : begin[c + 1]]:
            side[v] = lighter
        if lighter == LEFT:
            left += sizes[c]
        else:
            right += sizes[c]
    return left, right


@njit(cache=True, nogil=True)
def sides_around(start, heads, separator):
    """The ``side`` of each vertex once the components around a set of vertices are packed."""
    side = np.full(len(start) - 1, LEFT, np.int8)
    side[separator] = SEPARATOR
    pack_components(start, heads, side)
    return side


@njit(cache=True, nogil=True)
def polish(start, heads, side):
    """Move separator vertices that touch at most one side into it, while it holds at most 2/3; return sizes 0, 1, 2.

    A vertex that touches neither side joins the smaller one.
    """
    n, sizes = len(start) - 1, count_sides(side)
    for v in range(n):
        if side[v] != SEPARATOR:
            continue
        left = right = False
        for arc in range(start[v], start[v + 1]):
            left |= side[heads[arc]] == LEFT
            right |= side[heads[arc]] == RIGHT
        if left and right:
            continue
        into = LEFT if left or (not right and sizes[LEFT] <= sizes[RIGHT]) else RIGHT
        if 3 * (sizes[into] + 1) <= 2 * n:
            side[v] = into
            sizes[into] += 1
            sizes[SEPARATOR] -= 1
    return sizes


@njit(cache=True, nogil=True)
def cut_off_one(start, heads, side):
    """Fill ``side`` with the separator made of the neighbours of a vertex of least degree; false on a clique."""
    n, v = len(start) - 1, np.argmin(np.diff(start))
    side[:] = LEFT
    side[v] = RIGHT
    for arc in range(start[v], start[v + 1]):
        side[heads[arc]] = SEPARATOR
    return start[v + 1] - start[v] < n - 1
