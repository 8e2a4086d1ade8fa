"""Forests: roots, anchors of the centroid recursion (Sealfon 2016), and sums along paths."""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .search import FREE, components


@njit(cache=True, nogil=True)
def root_forest(start, heads, edges):
    """Root each tree of a forest at its lowest node.

    Returns nodes in breadth-first order, and per node its parent and the edge to it (-1 twice for roots).
    """
    n = len(start) - 1
    parent, edge = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    order, _ = components(start, heads, np.full(n, FREE, np.int64), parent, edge)
    for v in range(n):
        if edge[v] >= 0:  # so far the arc by which it was found
            edge[v] = edges[edge[v]]
    return order, parent, edge


@njit(cache=True, nogil=True)
def choose_anchors(order, parent):
    """Choose for each node the ancestor from which its distance is measured: Sealfon's centroid recursion.

    A part with root r and s > 1 nodes: v* is the lowest node with more than s/2 nodes at or below it.  v* is anchored
    at r (unless it is r) and the children of v* at v*.  Left are the parts below the children, at most s/2 nodes each,
    and the part above v*, less than s/2: an edge is on the path of at most one number a level.
    """
    n = len(order)
    anchor = np.full(n, -1, np.int64)
    size, child, sibling = np.empty(n, np.int64), np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    for i in range(n - 1, -1, -1):
        v = order[i]
        if parent[v] >= 0:
            sibling[v], child[parent[v]] = child[parent[v]], v
    stack, filled = np.empty(n, np.int64), 0
    for v in range(n):
        if parent[v] < 0:
            stack[filled], filled = v, filled + 1
    # A removed subtree is cut off by marking its top; ``walk`` lists what is left of a part, parents first.
    removed, walk = np.zeros(n, np.bool_), np.empty(n, np.int64)
    while filled > 0:
        filled -= 1
        root = stack[filled]
        walk[0], count, i = root, 1, 0
        while i < count:
            v = walk[i]
            i += 1
            c = child[v]
            while c >= 0:
                if not removed[c]:
                    walk[count], count = c, count + 1
                c = sibling[c]
        for i in range(count):
            size[walk[i]] = 1
        middle = root
        for i in range(count - 1, 0, -1):
            v = walk[i]
            if 2 * size[v] > count:
                middle = v
                break
            size[parent[v]] += size[v]
        if middle != root:
            anchor[middle], removed[middle] = root, True
            stack[filled], filled = root, filled + 1
        c = child[middle]
        while c >= 0:
            if not removed[c]:
                anchor[c], removed[c] = middle, True
                stack[filled], filled = c, filled + 1
            c = sibling[c]
    return anchor


@njit(cache=True, nogil=True)
def list_path_edges(parent, edge, bottom, top, out_edge, out_number):
    """List the edges between each ``bottom`` and its ancestor ``top`` in ``out_edge``, with the pair in ``out_number``.

    ``parent`` and ``edge`` are those of each node.  Returns false if the edges do not exactly fill the arrays.
    """
    count = 0
    for i in range(len(bottom)):
        v = bottom[i]
        while v != top[i]:
            if parent[v] < 0 or count == len(out_edge):
                return False
            out_edge[count], out_number[count] = edge[v], i
            count += 1
            v = parent[v]
    return count == len(out_edge)


@njit(cache=True, nogil=True)
def tree_rows(order, parent, height, sources, infinity, out):
    """Fill rows of ``out`` with ``height[s] + height[t] - 2 height[common ancestor]``; ``infinity`` in other trees.

    There is a row for each of ``sources``; ``order`` has parents first, ``parent`` is that of each node.
    """
    n = len(order)
    above = np.zeros(n, np.bool_)
    for row in range(len(sources)):
        answer = out[row]
        answer[:] = infinity
        v = sources[row]
        while v >= 0:
            answer[v], above[v] = height[sources[row]] - height[v], True
            v = parent[v]
        for i in range(n):
            v = order[i]
            p = parent[v]
            if p >= 0 and not above[v] and answer[p] != infinity:
                answer[v] = answer[p] + height[v] - height[p]
        v = sources[row]
        while v >= 0:
            above[v] = False
            v = parent[v]


@njit(cache=True, nogil=True)
def heavy_path_heads(order, parent):
    """Return the top of each node's heavy path, which goes on to the child with the most nodes below it."""
    n = len(order)
    size, heavy, head = np.ones(n, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    for i in range(n - 1, -1, -1):
        v = order[i]
        p = parent[v]
        if p >= 0:
            size[p] += size[v]
            if heavy[p] < 0 or size[v] > size[heavy[p]]:
                heavy[p] = v
    for v in order:
        head[v] = head[parent[v]] if parent[v] >= 0 and heavy[parent[v]] == v else v
    return head


@njit(cache=True, nogil=True)
def lowest_common_ancestor(parent, depth, head, s, t):
    """Find it for ``s`` and ``t`` in at most log2(n) jumps over heavy paths; -1 in different trees.

    ``parent``, ``depth`` and the ``head`` of its heavy path are those of each node.
    """
    while head[s] != head[t]:
        if depth[head[s]] < depth[head[t]]:
            s, t = t, s
        s = parent[head[s]]
        if s < 0:
            return -1
    return s if depth[s] < depth[t] else t


@njit(cache=True, nogil=True)
def tree_pairs(parent, depth, head, height, sources, targets, infinity, out):
    """Fill ``out`` as ``tree_rows`` does, for pairs of ``sources`` and ``targets`` in place of rows.

    ``parent``, ``depth`` and ``head`` are those of ``lowest_common_ancestor``, ``height`` and ``infinity`` as above.
    """
    for i in range(len(sources)):
        s, t = sources[i], targets[i]
        top = lowest_common_ancestor(parent, depth, head, s, t)
        out[i] = infinity if top < 0 else height[s] + height[t] - 2 * height[top]


@njit(cache=True, nogil=True)
def sum_from_root(order, above, values):
    """Sum the values from the root (0) down to each node; ``above`` is earlier in ``order``, or -1 for a root."""
    total = np.zeros(len(order), np.int64)
    for v in order:
        if above[v] >= 0:
            total[v] = total[above[v]] + values[v]
    return total


@njit(cache=True, nogil=True)
def anchored_variances(parent, depth, head, anchor, variance, sources, targets, out):
    """Fill ``out`` with the variance of what ``tree_pairs`` computes for ``sources`` and ``targets``; -1 if no path.

    ``variance`` is that of each node's number, which is measured from its ``anchor``; ``parent``, ``depth`` and
    ``head`` are those of ``lowest_common_ancestor``.
    """
    share, touched = np.zeros(len(parent), np.int64), np.empty(len(parent), np.int64)
    for i in range(len(sources)):
        top = lowest_common_ancestor(parent, depth, head, sources[i], targets[i])
        if top < 0:
            out[i] = -1.0
            continue
        count, total = 0, 0.0
        for v, times in ((sources[i], 1), (targets[i], 1), (top, -2)):
            while v >= 0:
                if share[v] == 0:
                    touched[count] = v
                    count += 1
                share[v] += times
                v = anchor[v]
        for j in range(count):
            total += share[touched[j]] ** 2 * variance[touched[j]]
            share[touched[j]] = 0
        out[i] = total
