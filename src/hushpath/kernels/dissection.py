"""From an order of elimination to a binary hierarchy of cells, and the boundaries that follow from it.

In the *elimination tree* the parent of a vertex is the first of its neighbours to be eliminated after it, in the graph
where eliminated vertices have joined their neighbours.  The ends of an edge lie on one path to the root, so what hangs
below a vertex is parted from the rest by vertices above it.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def elimination_tree(start, heads, order):
    """The parent of each vertex, -1 for the last of a component (Liu 1990, with path compression)."""
    n = len(start) - 1
    parent, top, turn = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        turn[order[i]] = i
    for i in range(n):
        v = order[i]
        for u in heads[start[v] : start[v + 1]]:
            if turn[u] < i:
                while top[u] != -1 and top[u] != v:
                    up = top[u]
                    top[u] = v
                    u = up
                if top[u] == -1:
                    top[u] = parent[u] = v
    return parent


@njit(cache=True, nogil=True)
def cells_of_tree(parent, order, leaf_size):
    """Cells in preorder (the parent of each) and the cell of each vertex: the one it is a hub of, or its leaf.

    A cell is a set of branches of the elimination tree.  Branches of ``leaf_size`` vertices together are a leaf.  One
    branch gives its stem, down to where it forks, as hubs.  What is left is packed into two children, the largest
    branch first and each to the lighter one.  A branch that never forks is a leaf, whatever its size.
    """
    n = len(parent)
    size, kids = np.ones(n, np.int64), np.zeros(n + 2, np.int64)
    for v in order:
        if parent[v] >= 0:
            size[parent[v]] += size[v]
        kids[parent[v] + 2] += 1  # children of -1 are the roots
    for i in range(n + 1):
        kids[i + 1] += kids[i]
    child = np.empty(n, np.int64)
    for v in order[::-1]:
        child[kids[parent[v] + 1]] = v
        kids[parent[v] + 1] += 1
    # Now the children of v are child[kids[v] : kids[v + 1]], and the roots child[: kids[0]].
    home, above = np.empty(n, np.int64), np.empty(2 * n + 1, np.int64)
    branches, spare = np.empty(n, np.int64), np.empty(n, np.int64)
    branches[: kids[0]] = child[: kids[0]]
    stack = np.empty((n + 2, 3), np.int64)  # cells to come: parent, and which of the branches; the last on top of all
    stack[0, 0], stack[0, 1], stack[0, 2] = -1, 0, kids[0]
    waiting, cells = 1, 0
    while waiting:
        waiting -= 1
        first, last, b = stack[waiting, 1], stack[waiting, 2], cells
        above[b] = stack[waiting, 0]
        cells += 1
        total = 0
        for i in range(first, last):
            total += size[branches[i]]
        count = last - first
        if count == 1 and total > leaf_size:
            v = branches[first]
            stem = v
            while kids[v + 1] - kids[v] == 1:
                v = child[kids[v]]
            count = kids[v + 1] - kids[v]
            if count:
                while stem != v:
                    home[stem] = b
                    stem = child[kids[stem]]
                home[v] = b
                for i in range(count):
                    branches[first + i] = child[kids[v] + i]
        if total <= leaf_size or count < 2:
            for i in range(first, last):
                filled = _listed(branches[i], kids, child, spare, 0)
                for v in spare[:filled]:
                    home[v] = b
            continue
        weight = np.empty(count, np.int64)
        for i in range(count):
            weight[i] = -size[branches[first + i]]
        left, right, light, heavy = np.int64(0), np.int64(0), 0, count
        for i in np.argsort(weight, kind="mergesort"):
            if left <= right:
                spare[light], light = branches[first + i], light + 1
                left -= weight[i]
            else:
                heavy -= 1
                spare[heavy] = branches[first + i]
                right -= weight[i]
        branches[first : first + count] = spare[:count]
        for begin, end in ((first, first + light), (first + light, first + count)):
            stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = b, begin, end
            waiting += 1
    return above[:cells].copy(), home


@njit(cache=True, nogil=True)
def _listed(root, kids, child, out, filled):
    """Append a branch to ``out``, parents first; return how many are there."""
    out[filled] = root
    first, filled = filled, filled + 1
    while first < filled:
        v = out[first]
        first += 1
        for u in child[kids[v] : kids[v + 1]]:
            out[filled], filled = u, filled + 1
    return filled


@njit(cache=True, nogil=True)
def nested(last, home, tails, heads):
    """Whether the homes of the two ends of every edge lie on one path to the root: the one axiom of a cut."""
    for e in range(len(tails)):
        a, b = min(home[tails[e]], home[heads[e]]), max(home[tails[e]], home[heads[e]])
        if b >= last[a]:
            return False
    return True


@njit(cache=True, nogil=True)
def boundaries(parent, home, start, heads, own_start, own, most):
    """For each cell, in preorder, the vertices above it that a vertex at or below it is joined to, increasing.

    More than ``most`` in all are not listed: then the first array is empty.
    """
    cells = len(parent)
    begin, mark = np.zeros(cells + 1, np.int64), np.full(len(home), -1, np.int64)
    # Children come after their parents, so a second pass from the end finds them done; lists are linked per cell.
    items, room = np.empty(max(16, len(home)), np.int64), 0
    first, size = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
    kid, sibling = np.full(cells, -1, np.int64), np.full(cells, -1, np.int64)
    for b in range(cells - 1, -1, -1):
        first[b] = room
        c = kid[b]
        while c >= 0:
            for k in range(first[c], first[c] + size[c]):
                v = items[k]
                if home[v] != b and mark[v] != b:
                    mark[v] = b
                    if room == len(items):
                        items = np.concatenate((items, np.empty(len(items), np.int64)))
                    items[room], room = v, room + 1
            c = sibling[c]
        for u in own[own_start[b] : own_start[b + 1]]:
            for v in heads[start[u] : start[u + 1]]:
                if home[v] < b and mark[v] != b:
                    mark[v] = b
                    if room == len(items):
                        items = np.concatenate((items, np.empty(len(items), np.int64)))
                    items[room], room = v, room + 1
        size[b] = room - first[b]
        if room > most:
            return begin[:0], items[:0]
        items[first[b] : room].sort()
        if b > 0:
            sibling[b], kid[parent[b]] = kid[parent[b]], b
    for b in range(cells):
        begin[b + 1] = begin[b] + size[b]
    out = np.empty(begin[cells], np.int64)
    for b in range(cells):
        out[begin[b] : begin[b + 1]] = items[first[b] : first[b] + size[b]]
    return begin, out
