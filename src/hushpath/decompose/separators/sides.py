"""From a set of vertices to two sides: packing components, and small repairs of a separator.

Stage 2 of 6.  ``side`` holds ``SEPARATOR``, ``LEFT`` or ``RIGHT`` for each vertex; everything here works on any graph.

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
from numba import njit

from ...kernels.search import CLOSED, FREE, components
from ..graph import LEFT, RIGHT, SEPARATOR


@njit(cache=True, nogil=True)
def pack_components(start, heads, side):
    """Relabel ``side`` in place: the separator stays, the components of the others go left and right.

    Components go largest first (ties: the one with the smallest vertex) to the lighter side.  Returns the sizes of
    the two sides; the left is never the smaller one unless there is nothing to pack.
    """
    order, begin = components(start, heads, np.where(side == SEPARATOR, CLOSED, FREE))
    sizes = np.diff(begin)
    left, right = 0, 0
    for c in np.argsort(-sizes, kind="mergesort"):
        mine = order[begin[c] : begin[c + 1]]
        if left <= right:
            side[mine] = LEFT
            left += sizes[c]
        else:
            side[mine] = RIGHT
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
    n = len(start) - 1
    sizes = np.zeros(3, np.int64)
    for v in range(n):
        sizes[side[v]] += 1
    for v in range(n):
        if side[v] != 0:
            continue
        left = right = False
        for arc in range(start[v], start[v + 1]):
            left |= side[heads[arc]] == 1
            right |= side[heads[arc]] == 2
        if left and right:
            continue
        into = 1 if left or (not right and sizes[1] <= sizes[2]) else 2
        if 3 * (sizes[into] + 1) <= 2 * n:
            side[v] = into
            sizes[into] += 1
            sizes[0] -= 1
    return sizes


@njit(cache=True, nogil=True)
def cut_off_one(start, heads, side):
    """Fill ``side`` with the separator made of the neighbours of a vertex of least degree; false on a clique."""
    n = len(start) - 1
    v = 0
    for u in range(n):
        if start[u + 1] - start[u] < start[v + 1] - start[v]:
            v = u
    side[:] = 1
    side[v] = 2
    for arc in range(start[v], start[v + 1]):
        side[heads[arc]] = 0
    return start[v + 1] - start[v] < n - 1
