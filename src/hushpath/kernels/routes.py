"""How much shortest paths use edges: by hops (public), and by estimated weights of a release."""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .paths import UNREACHED, dijkstra
from .search import FREE


@njit(cache=True, nogil=True)
def hop_usage(start, heads, edges, roots, begin, end, count, far):
    """Add to ``count`` how many nodes each edge leads to in breadth-first trees, and to ``far`` the hops of each node.

    Arcs are those of ``start``, ``heads`` and ``edges``; trees grow from ``roots[begin:end]``.  Each looks at the
    neighbours of a node in another order, so that equally short routes share the load.
    """
    n = len(start) - 1
    hops, queue = np.empty(n, np.int64), np.empty(n, np.int64)
    parent, edge, below = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for turn in range(begin, end):
        hops[:] = FREE
        root = roots[turn]
        hops[root], queue[0], parent[root] = 0, root, -1
        first, filled = 0, 1
        while first < filled:
            v = queue[first]
            first += 1
            degree = start[v + 1] - start[v]
            if degree == 0:
                continue
            shift = (turn * 7919 + v * 104729) % degree
            for k in range(degree):
                arc = start[v] + (k + shift) % degree
                u = heads[arc]
                if hops[u] == FREE:
                    hops[u], parent[u], edge[u] = hops[v] + 1, v, edges[arc]
                    queue[filled], filled = u, filled + 1
        below[:] = 1.0
        for i in range(filled - 1, 0, -1):
            v = queue[i]
            count[edge[v]] += below[v]
            below[parent[v]] += below[v]
            far[v] += hops[v]


@njit(cache=True, nogil=True)
def shortest_tree(start, heads, edges, lengths, distance, unreached, parent, edge):
    """Fill ``parent`` and the ``edge`` to it of each node in a tree of shortest paths with this ``distance``, else -1.

    Arcs are those of ``start``, ``heads``, ``edges`` and ``lengths``; lengths are at least one step, so a parent is
    nearer than its child.  ``unreached`` is the distance of nodes without a path.
    """
    parent[:], edge[:] = -1, -1
    for v in range(len(start) - 1):
        if distance[v] != unreached:
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if edge[u] < 0 and distance[u] > 0 and distance[v] + lengths[arc] == distance[u]:
                    parent[u], edge[u] = v, edges[arc]


@njit(cache=True, nogil=True)
def tree_from(start, heads, edges, lengths, source, distance, order, parent, edge):
    """Find a tree of shortest paths from ``source``: fill ``order`` (by distance), ``distance``, ``parent``, ``edge``.

    Arcs are those of ``start``, ``heads``, ``edges`` and ``lengths``.  Returns how many nodes were reached.
    """
    n = len(start) - 1
    keys, nodes, place = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    sources, rows = np.full(1, source), distance.reshape(1, n)
    reached = dijkstra(start, heads, lengths, sources, -1, UNREACHED, rows, keys, nodes, place, order)
    shortest_tree(start, heads, edges, lengths, distance, UNREACHED, parent, edge)
    return reached


@njit(cache=True, nogil=True)
def add_usage(order, parent, edge, count):
    """Add to ``count`` how many nodes each edge leads to in a tree; ``order`` has parents before children.

    ``parent`` and the ``edge`` to it are those of each node.
    """
    below = np.ones(len(parent))
    for i in range(len(order) - 1, -1, -1):
        v = order[i]
        if edge[v] >= 0:
            count[edge[v]] += below[v]
            below[parent[v]] += below[v]


@njit(cache=True, nogil=True)
def pair_products(order, parent, edge, values):
    """Sum, over all paths of a tree, the products of the ``values`` of two different edges of the path.

    ``order``, ``parent`` and ``edge`` are those of ``add_usage``.
    """
    n, total = len(parent), 0.0
    once, twice = np.zeros(n), np.zeros(n)
    for v in order:
        if edge[v] >= 0:
            x = values[edge[v]]
            once[v], twice[v] = once[parent[v]] + x, twice[parent[v]] + x * x
            total += once[v] * once[v] - twice[v]
    return total


@njit(cache=True, nogil=True)
def diffused(ends, others, degree, steps, values, trust, held, out):
    """Spread ``values`` and ``trust`` from edge to edge over common nodes, except those of edges ``held`` back.

    Edges join ``ends`` and ``others``, nodes of some ``degree``.  ``out[k, e]`` takes what reached a held edge e after
    ``steps[k]`` steps: values by trust.
    """
    n, m = len(degree), len(ends)
    one, other = np.empty((m, 2)), np.empty((n, 2))
    for e in range(m):
        one[e, 0], one[e, 1] = (0.0, 0.0) if held[e] else (values[e], trust[e])
    done = 0
    for k in range(len(steps)):
        while done < steps[k]:
            other[:] = 0.0
            for e in range(m):
                a, b = ends[e], others[e]
                other[a, 0] += one[e, 0]
                other[a, 1] += one[e, 1]
                other[b, 0] += one[e, 0]
                other[b, 1] += one[e, 1]
            for v in range(n):
                share = 0.5 / max(degree[v], 1)
                other[v, 0] *= share
                other[v, 1] *= share
            for e in range(m):
                a, b = ends[e], others[e]
                one[e, 0], one[e, 1] = other[a, 0] + other[b, 0], other[a, 1] + other[b, 1]
            done += 1
        for e in range(m):
            if held[e]:
                out[k, e] = one[e, 0] / (one[e, 1] + 0.5 / (3 * steps[k]))


@njit(cache=True, nogil=True)
def straight_on(start, edges, angles, pairs):
    """Pair the edges at each node by straightness (less than 45 degrees off); return the number of ``pairs``.

    Node ``v`` has the ``edges`` from ``start[v]`` on, which leave it at ``angles``.
    """
    found = 0
    for v in range(len(start) - 1):
        first, degree = start[v], start[v + 1] - start[v]
        if degree < 2 or degree > 12:
            continue
        used = np.zeros(degree, np.bool_)
        for _ in range(degree // 2):
            best, one, other = np.pi / 4, -1, -1
            for i in range(degree):
                for j in range(i + 1, degree):
                    if not used[i] and not used[j]:
                        bend = abs(abs(angles[first + i] - angles[first + j]) - np.pi)
                        if bend < best:
                            best, one, other = bend, i, j
            if one < 0:
                break
            used[one] = used[other] = True
            pairs[found, 0], pairs[found, 1] = edges[first + one], edges[first + other]
            found += 1
    return found
