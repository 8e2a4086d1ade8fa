"""Candidates for a planar separator: fundamental cycles, levels, and both together (Lipton and Tarjan).

From any root, ``search`` finds a separator of at most sqrt(8n) vertices all of whose parts have at most
2n/3 vertices, as in Lipton and Tarjan, "A separator theorem for planar graphs" (1979), Theorem 4: let level l1 hold the
median vertex in breadth-first order and let k vertices lie in levels <= l1.  Some level l0 <= l1 has |L(l0)| + 2(l1 -
l0) <= 2 sqrt(k) and some level l2 > l1 has |L(l2)| + 2(l2 - l1 - 1) <= 2 sqrt(n - k).  Fewer than n/2 vertices lie
above l0 and at most n/2 below l2.  If more than 2n/3 lie between, give those weight 1 and the others weight 0: the
fundamental cycle that balances this weight has at most 2(l2 - l0 - 1) vertices between the two levels. No level is
contracted or deleted, and the same embedding serves: only the weights change.

A fundamental cycle alone is the vertex set of a *tree path*, so it is connected in the graph itself even when a chord
closes it.
"""

from __future__ import annotations

import numpy as np

from ....compiled import njit
from ....kernels.search import CLOSED, FREE, breadth_first, centroid, components, only
from ...graph import LEFT, RIGHT
from ..sides import count_sides, sides_around
from .cycles import best_cycle, triangulate

ROOTS = 6


@njit(cache=True, nogil=True)
def hang(start, heads, root, depth, parent, down, order):
    """Breadth first from ``root``: ``depth``, ``parent``, the arc ``down`` to each vertex, and the ``order``."""
    depth[:] = FREE
    depth[root], parent[root], down[root], order[0] = 0, -1, -1, root
    breadth_first(start, heads, depth, order, 1, parent=parent, arrival=down)


@njit(cache=True, nogil=True)
def tree_path(u, v, low, depth, parent):
    """The vertices from ``u`` up to ``low`` and down to ``v``, in this order."""
    out = np.empty(depth[u] + depth[v] - 2 * depth[low] + 1, np.int64)
    i, j = 0, len(out) - 1
    while u != low:
        out[i], u, i = u, parent[u], i + 1
    while v != low:
        out[j], v, j = v, parent[v], j - 1
    out[i] = low
    return out


@njit(cache=True, nogil=True)
def best_levels(depth, order, limit, most):
    """The best single level, and the two levels of the theorem: ``(score, level, l0, l2, above, between, below)``."""
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
def single_vertex(start, heads, order, parent):
    """A centroid of the breadth-first tree if removing it alone leaves parts of at most 2n/3, else -1."""
    middle, hops = centroid(order, parent), np.full(len(order), FREE, np.int64)
    hops[middle] = CLOSED
    largest = np.diff(components(start, heads, hops)[1]).max()
    return middle if largest < len(order) - 1 and 3 * largest <= 2 * len(order) else -1


@njit(cache=True, nogil=True)
def shifted(start, heads, path):
    """Move an end of a lopsided path separator into the larger side, about as far as would balance the sides."""
    side = sides_around(start, heads, path)
    _, left, right = count_sides(side)
    hops, queue = only(side == (LEFT if left > right else RIGHT)), np.empty(len(side), np.int64)
    hops[path], queue[: len(path)] = 0, path
    parent, follows = np.empty(len(side), np.int64), np.zeros(len(side), np.bool_)
    wanted, end = len(path) + abs(left - right) // 2, path[0]
    follows[end] = True
    for v in queue[len(path) : breadth_first(start, heads, hops, queue, len(path), most=wanted, parent=parent)]:
        follows[v] = follows[parent[v]]
        if follows[v]:
            end = v
    return end


@njit(cache=True, nogil=True)
def search(start, heads, twin, turn):
    """Survey several roots: the best candidate of any kind, and the best tree path; either may be empty.

    A single vertex that will do is returned at once.  Roots: two ends of a long path, its middle, and then
    the ends of the best tree path so far, which a straighter one may replace; last, an end shifted towards the
    larger side.  The first root alone would do for the theorem.
    """
    n = len(start) - 1
    limit, most = 2 * n // 3, int(np.sqrt(8 * n))
    depth, parent = np.empty(n, np.int64), np.empty(n, np.int64)
    down, order = np.empty(n, np.int64), np.empty(n, np.int64)
    ones, weight = np.ones(n, np.int64), np.empty(n, np.int64)
    score, path_score = np.inf, np.inf
    chosen, path = np.empty(0, np.int64), np.empty(0, np.int64)
    roots = np.full(ROOTS, -1, np.int64)
    hang(start, heads, 0, depth, parent, down, order)
    roots[0] = order[-1]
    for trial in range(ROOTS):
        if trial >= 3 and len(path) > 0:
            roots[trial] = path[0] if trial == 3 else path[-1]
        if trial == 5 and len(path) > 0:
            roots[trial] = shifted(start, heads, path)
        root = roots[trial]
        if root < 0 or (roots[:trial] == root).any():
            continue
        hang(start, heads, root, depth, parent, down, order)
        tail, twins, after = triangulate(heads, twin, turn, depth)
        if trial == 0:
            alone = single_vertex(start, heads, order, parent)
            if alone >= 0:
                chosen = np.full(1, alone)
                return chosen, chosen
            roots[1], roots[2] = order[-1], order[-1]
            for _ in range(depth[order[-1]] // 2):
                roots[2] = parent[roots[2]]
        worth, _, u, v, low = best_cycle(tail, twins, after, depth, down, order, ones, limit, most, 0, 0)
        if worth < path_score:
            path_score, path = worth, tree_path(u, v, low, depth, parent)
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
            cycle = tree_path(u, v, low, depth, parent)
            levels = np.flatnonzero((depth == first) | (depth == last))
            score, chosen = worth, np.concatenate((levels, cycle[weight[cycle] == 1]))
    return chosen, path
