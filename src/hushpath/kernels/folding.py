"""Pendant trees and chains folded away: what stays is the core, what goes are fringes (the words: ``cells.fold``).

A fringe with the core vertices it hangs on is a tree, whatever the network is (where a chain comes back to the vertex
it left, that vertex counts twice).  So all its distances follow from its edges one vertex at a time, parents first.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def find_fringes(start, heads, most):
    """Fold a simple graph; fringes have at most ``most`` vertices.

    Returns the folded vertices, in each fringe parents before children; for each vertex its fringe (-1: it stays) and
    its parent; and for each fringe the vertices it hangs on (the second -1 for a pendant tree) and the parent of the
    second.
    """
    n = len(start) - 1
    fringe, parent = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    listed, ends = np.empty(n, np.int64), np.full((n, 3), -1, np.int64)
    gone, peeled, degree, size = _peel(start, heads, most, parent)
    thin = np.zeros(n, np.bool_)
    for v in range(n):
        thin[v] = not gone[v] and degree[v] == 2 and size[v] <= most
    fringes = count = 0
    for turn in range(2):  # chains between vertices that stay; then what is left: cycles, which keep one vertex
        for root in range(n):
            if gone[root] or fringe[root] >= 0 or (turn == 0 and thin[root]):
                continue
            if turn == 1 and not thin[root]:
                continue
            thin[root] = False
            for arc in range(start[root], start[root + 1]):
                v, before, room = heads[arc], root, 0
                if gone[v] or not thin[v] or fringe[v] >= 0:
                    continue
                ends[fringes, 0] = root
                while True:
                    whole = not thin[v]
                    if whole or room + size[v] > most:
                        if room > 0:
                            ends[fringes, 1], ends[fringes, 2] = v, before
                            fringes += 1
                        if whole:
                            break
                        thin[v], ends[fringes, 0], room = False, v, 0  # too long a chain: this vertex stays
                    else:
                        fringe[v], parent[v], listed[count] = fringes, before, v
                        room, count = room + size[v], count + 1
                    for onward in heads[start[v] : start[v + 1]]:
                        if not gone[onward] and onward != before:
                            before, v = v, onward
                            break
    for v in peeled[::-1]:
        if fringe[parent[v]] < 0:
            ends[fringes, 0] = parent[v]
            fringe[v] = fringes
            fringes += 1
        else:
            fringe[v] = fringe[parent[v]]
        listed[count] = v
        count += 1
    return listed[:count], fringe, parent, ends[:fringes]


@njit(cache=True, nogil=True)
def _peel(start, heads, most, parent):
    """Take away vertices with one neighbour, again and again, as long as what hangs on each is small."""
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
def link_lengths(link, upward, lengths, directed, up, down):
    """Lower ``up`` and ``down`` to the lengths of the links from each folded vertex to its parent, and back."""
    for e in range(len(link)):
        i = link[e]
        if i >= 0:
            if upward[e] or not directed:
                up[i] = min(up[i], lengths[e])
            if not upward[e] or not directed:
                down[i] = min(down[i], lengths[e])


@njit(cache=True, nogil=True)
def fringe_distances(fringes, start, own, above, second, up, down, directed, out, into, inner_start, inner, across):
    """Distances of some fringes: to and from where they hang, among their own vertices, and across from end to end.

    Vertex 0 of a table is the first end, the last one the second; ``above`` is the place of each parent, -1 for the
    first end.  Where there is no second end, the last row stays empty.
    """
    for f in fringes:
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
