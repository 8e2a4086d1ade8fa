"""Candidates for a planar separator: fundamental cycles, levels, and both together (Lipton and Tarjan).

Stage 2 of 6.  From any root, ``survey`` finds a separator of at most sqrt(8n) vertices all of whose parts
have at most 2n/3 vertices, as in Lipton and Tarjan, "A separator theorem for planar graphs" (1979), Theorem
4: let level l1 hold the median vertex in breadth-first order and let k vertices lie in levels <= l1.  Some
level l0 <= l1 has |L(l0)| + 2(l1 - l0) <= 2 sqrt(k) and some level l2 > l1 has |L(l2)| + 2(l2 - l1 - 1) <= 2
sqrt(n - k).  Fewer than n/2 vertices lie above l0 and at most n/2 below l2.  If more than 2n/3 lie between,
give those weight 1 and the others weight 0: the fundamental cycle that balances this weight has at most 2(l2
- l0 - 1) vertices between the two levels. No level is contracted or deleted, and the same embedding serves:
only the weights change.

A fundamental cycle alone is the vertex set of a *tree path*, so it is connected in the graph itself even when
a chord closes it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..graph import LEFT, RIGHT
from .planar_cycles import best_cycle, breadth_first, triangulate
from .planar_refine import pack

ROOTS = 6


@njit(cache=True, nogil=True)
def tree_path(u, v, low, tail, down):  # type: ignore[no-untyped-def]
    """The vertices from ``u`` up to ``low`` and down to ``v``, in this order."""
    length, x = 1, u
    while x != low:
        x, length = tail[down[x]], length + 1
    x = v
    while x != low:
        x, length = tail[down[x]], length + 1
    out = np.empty(length, np.int64)
    i, x = 0, u
    while x != low:
        out[i], x, i = x, tail[down[x]], i + 1
    out[i] = low
    i, x = length - 1, v
    while x != low:
        out[i], x, i = x, tail[down[x]], i - 1
    return out


@njit(cache=True, nogil=True)
def best_levels(depth, order, limit, most):  # type: ignore[no-untyped-def]
    """The best single level, and the two levels of the theorem: ``(score, level, l0, l2, above, between,
    below)``."""
    n, height = len(order), depth[order[-1]]
    sizes = np.bincount(depth, minlength=height + 1)
    score, level, median, reached = np.inf, -1, -1, 0
    for d in range(height + 1):
        larger, smaller = max(reached, n - reached - sizes[d]), min(reached, n - reached - sizes[d])
        worth = sizes[d] * (0.5 + larger / n)
        if larger <= limit and smaller > 0 and sizes[d] <= most and worth < score:
            score, level = worth, d
        reached += sizes[d]
        if median < 0 and 2 * reached >= n:
            median = d
    first, least = -1, 2 * (median + 1)
    for d in range(median, -1, -1):
        if sizes[d] + 2 * (median - d) < least:
            first, least = d, sizes[d] + 2 * (median - d)
    last, least = height + 1, 2 * (height - median)
    for d in range(median + 1, height + 1):
        if sizes[d] + 2 * (d - median - 1) < least:
            last, least = d, sizes[d] + 2 * (d - median - 1)
    above, below = sizes[: max(first, 0)].sum(), sizes[min(last + 1, height + 1) :].sum()
    return score, level, first, last, above, sizes[first + 1 : last].sum(), below


@njit(cache=True, nogil=True)
def centroid(start, heads, order, down, tails):  # type: ignore[no-untyped-def]
    """A centroid of the breadth-first tree if removing it alone leaves parts of at most 2n/3, else -1."""
    n = len(order)
    below, seen, queue = np.ones(n, np.int64), np.zeros(n, np.bool_), np.empty(n, np.int64)
    middle = order[0]
    for i in range(n - 1, 0, -1):
        v = order[i]
        if 2 * below[v] >= n:  # deepest first: the first heavy subtree has no heavy one below it
            middle = v
            break
        below[tails[down[v]]] += below[v]
    seen[middle] = True
    for arc in range(start[middle], start[middle + 1]):
        i, filled = 0, 0
        if not seen[heads[arc]]:
            seen[heads[arc]], queue[0], filled = True, heads[arc], 1
        while i < filled:
            v = queue[i]
            i += 1
            for onward in range(start[v], start[v + 1]):
                u = heads[onward]
                if not seen[u]:
                    seen[u], queue[filled], filled = True, u, filled + 1
        if 3 * filled > 2 * n or filled == n - 1:
            return -1
    return middle


@njit(cache=True, nogil=True)
def shifted(start, heads, path):  # type: ignore[no-untyped-def]
    """Move an end of a lopsided path separator into the larger side, about as far as would balance the sides."""
    side = pack(start, heads, path)
    left, right = (side == LEFT).sum(), (side == RIGHT).sum()
    larger = LEFT if left > right else RIGHT
    wanted = len(path) + abs(left - right) // 2
    queue, origin = np.empty(len(side), np.int64), np.full(len(side), -1)
    queue[: len(path)], origin[path] = path, path
    i, filled, end = 0, len(path), path[0]
    while i < filled and filled < wanted:
        v = queue[i]
        i += 1
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if side[u] == larger and origin[u] < 0:
                origin[u], queue[filled], filled = origin[v], u, filled + 1
                if origin[u] == path[0]:
                    end = u
    return end


@njit(cache=True, nogil=True)
def search(start, heads, twin, turn):  # type: ignore[no-untyped-def]
    """Survey several roots: the best candidate of any kind, and the best tree path; either may be empty.

    A single vertex that will do is returned at once.  Roots: two ends of a long path, its middle, and then
    the ends of the best tree path so far, which a straighter one may replace; last, an end shifted towards the
    larger side.  The first root alone would do for the theorem.
    """
    n = len(start) - 1
    limit, most = 2 * n // 3, int(np.sqrt(8 * n))
    depth, down, order = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    ones, weight = np.ones(n, np.int64), np.empty(n, np.int64)
    score, path_score = np.inf, np.inf
    chosen, path = np.empty(0, np.int64), np.empty(0, np.int64)
    roots = np.full(ROOTS, -1, np.int64)
    breadth_first(start, heads, 0, depth, down, order)
    roots[0] = order[-1]
    for trial in range(ROOTS):
        if trial >= 3 and len(path) > 0:
            roots[trial] = path[0] if trial == 3 else path[-1]
        if trial == 5 and len(path) > 0:
            roots[trial] = shifted(start, heads, path)
        root = roots[trial]
        if root < 0 or (roots[:trial] == root).any():
            continue
        breadth_first(start, heads, root, depth, down, order)
        tail, twins, after = triangulate(heads, twin, turn, depth)
        if trial == 0:
            alone = centroid(start, heads, order, down, tail)
            if alone >= 0:
                chosen = np.full(1, alone)
                return chosen, chosen
            roots[1], roots[2] = order[-1], order[-1]
            for _ in range(depth[order[-1]] // 2):
                roots[2] = tail[down[roots[2]]]
        worth, _, u, v, low = best_cycle(tail, twins, after, depth, down, order, ones, limit, most, 0, 0)
        if worth < path_score:
            path_score, path = worth, tree_path(u, v, low, tail, down)
        if worth < score:
            score, chosen = worth, path
        worth, level, first, last, above, between, below = best_levels(depth, order, limit, most)
        if worth < score:
            score, chosen = worth, np.flatnonzero(depth == level)
        base = n - above - between - below
        if base * 0.5 >= score:
            continue
        parts = int(above > 0) + int(below > 0)
        if between <= limit:
            worth = base * (0.5 + max(above, between, below) / n)
            if base <= most and worth < score and parts + int(between > 0) >= 2:
                score, chosen = worth, np.flatnonzero((depth == first) | (depth == last))
            continue
        for x in range(n):
            weight[x] = first < depth[x] < last
        worth, _, u, v, low = best_cycle(tail, twins, after, depth, down, order, weight, limit, most, base, parts)
        if worth < score:
            cycle = tree_path(u, v, low, tail, down)
            levels = np.flatnonzero((depth == first) | (depth == last))
            score, chosen = worth, np.concatenate((levels, cycle[weight[cycle] == 1]))
    return chosen, path
