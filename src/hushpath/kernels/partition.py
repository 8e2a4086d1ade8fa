"""Contract a network to its core, and divide the core into cells: the public half of the index (``index.partition``).

*Contraction.*  A contracted tree with its core entries is a tree, whatever the network is (where a chain returns to the
vertex it left, that vertex counts twice).  So all its distances follow from its edges one vertex at a time, parents
first.

*Cells.*  In the *elimination tree* of an order the parent of a vertex is the first of its neighbours to be eliminated
after it, in the graph where eliminated vertices have joined their neighbours.  The ends of an edge are on one path to
the root, so what is below a vertex is separated from the rest by vertices above it.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def find_contracted_trees(start, heads, most):
    """Contract a simple graph; trees have at most ``most`` vertices.

    Returns the contracted vertices, in each tree parents before children; for each vertex its tree (-1: it is in the
    core) and its parent; and for each tree its core entries (the second -1 for a pendant tree) and the parent of the
    second.
    """
    n = len(start) - 1
    tree, parent = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    listed, ends = np.empty(n, np.int64), np.full((n, 3), -1, np.int64)
    gone, peeled, degree, size = _peel(start, heads, most, parent)
    thin = np.zeros(n, np.bool_)
    for v in range(n):
        thin[v] = not gone[v] and degree[v] == 2 and size[v] <= most
    trees = count = 0
    for turn in range(2):  # chains between vertices that stay; then what is left: cycles, which keep one vertex
        for root in range(n):
            if gone[root] or tree[root] >= 0 or (turn == 0 and thin[root]):
                continue
            if turn == 1 and not thin[root]:
                continue
            thin[root] = False
            for arc in range(start[root], start[root + 1]):
                v, before, room = heads[arc], root, 0
                if gone[v] or not thin[v] or tree[v] >= 0:
                    continue
                ends[trees, 0] = root
                while True:
                    whole = not thin[v]
                    if whole or room + size[v] > most:
                        if room > 0:
                            ends[trees, 1], ends[trees, 2] = v, before
                            trees += 1
                        if whole:
                            break
                        thin[v], ends[trees, 0], room = False, v, 0  # too long a chain: this vertex stays
                    else:
                        tree[v], parent[v], listed[count] = trees, before, v
                        room, count = room + size[v], count + 1
                    for onward in heads[start[v] : start[v + 1]]:
                        if not gone[onward] and onward != before:
                            before, v = v, onward
                            break
    for v in peeled[::-1]:
        if tree[parent[v]] < 0:
            ends[trees, 0] = parent[v]
            tree[v] = trees
            trees += 1
        else:
            tree[v] = tree[parent[v]]
        listed[count] = v
        count += 1
    return listed[:count], tree, parent, ends[:trees]


@njit(cache=True, nogil=True)
def _peel(start, heads, most, parent):
    """Remove vertices with one neighbour repeatedly, as long as each has at most ``most`` vertices below it.

    ``start`` and ``heads`` are the graph; fills in ``parent``.
    """
    n = len(start) - 1
    gone, degree, size = np.zeros(n, np.bool_), start[1:] - start[:-1], np.ones(n, np.int64)
    queue, peeled, last, count = np.empty(n, np.int64), np.empty(n, np.int64), 0, 0
    for v in range(n):
        if degree[v] == 1:
            queue[last], last = v, last + 1
    first = 0
    while first < last:
        v = queue[first]
        first += 1
        if degree[v] != 1 or size[v] > most:  # the last vertex of a tree stays, and so does one with much below it
            continue
        for u in heads[start[v] : start[v + 1]]:
            if not gone[u]:
                gone[v], parent[v], peeled[count], count = True, u, v, count + 1
                size[u] += size[v]
                degree[u] -= 1
                if degree[u] == 1:
                    queue[last], last = u, last + 1
                break
    return gone, peeled[:count], degree, size


@njit(cache=True, nogil=True)
def tree_distances(trees, own, links, second, directed, entries, across):
    """Fill ``entries`` with the distances of some ``trees``: to core entries and back, and among their own vertices.

    ``own`` are the contracted vertices, ``second`` is the second end of each tree.  ``links`` has the place of each
    parent (-1 for the first end) and the lengths to it and back; ``across`` takes the distances from end to end;
    ``directed`` is that of the network. Vertex 0 of a table is the first end, the last one the second; without a second
    end, the last row stays empty.
    """
    above, up, down = links
    start, out, into, inner, inner_start = entries.start, entries.out, entries.into, entries.inner, entries.inner_start
    for f in trees:
        first, k = start[f], start[f + 1] - start[f]
        last = k + 1 if second[f] >= 0 else k
        table = np.full((k + 2, k + 2), np.inf)
        table[0, 0] = 0
        for i in range(1, last + 1):
            link = first + i - 1 if i <= k else len(own) + f
            p = above[link] + 1
            for j in range(i):
                table[i, j] = up[link] + table[p, j]
                table[j, i] = table[j, p] + down[link]
            table[i, i] = 0
        for i in range(k):
            v = own[first + i]
            out[0, v], out[1, v] = table[i + 1, 0], table[i + 1, k + 1]
            if directed:
                into[0, v], into[1, v] = table[0, i + 1], table[k + 1, i + 1]
            for j in range(k):
                inner[inner_start[f] + i * k + j] = table[i + 1, j + 1]
        across[0, f], across[1, f] = table[0, k + 1], table[k + 1, 0]


@njit(cache=True, nogil=True)
def elimination_tree(start, heads, order):
    """Return the parent of each vertex, -1 for the last of a component (Liu 1990, with path compression)."""
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
def divide_tree(parent, order, leaf_size):
    """Divide an elimination tree, given by the ``parent`` of each vertex and their ``order``, into cells.

    Returns the parent of each cell, in preorder, and the cell of each vertex: the one it is a hub of, or its leaf.  A
    cell is a set of branches of the tree.  Branches of ``leaf_size`` vertices together are a leaf.  One branch gives
    its stem, down to where it forks, as hubs.  The rest is packed into two children, the largest branch first and each
    to the lighter one.  A branch that never forks is a leaf, whatever its size.
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
                filled = _list_branch(branches[i], kids, child, spare, 0)
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
def _list_branch(root, kids, child, out, filled):
    """Append the branch below ``root`` to the first ``filled`` of ``out``, parents first; return how many there are.

    The children of ``v`` are ``child[kids[v] : kids[v + 1]]``.
    """
    out[filled] = root
    first, filled = filled, filled + 1
    while first < filled:
        v = out[first]
        first += 1
        for u in child[kids[v] : kids[v + 1]]:
            out[filled], filled = u, filled + 1
    return filled


@njit(cache=True, nogil=True)
def find_boundaries(parent, home, start, heads, own_start, own, most):
    """List for each cell, in preorder, the vertices above it that a vertex at or below it is joined to, increasing.

    Takes the ``parent`` of each cell, the ``home`` of each vertex, the neighbours of each (``start``, ``heads``), and
    vertices by home (``own_start``, ``own``).  More than ``most`` in all are not listed: then the first array is empty.
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
