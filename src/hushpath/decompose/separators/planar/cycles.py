"""Breadth-first trees in a triangulated plane graph, and the vertices inside each of their fundamental cycles.

Arrays of half-edges: ``tail[h]``, ``twin[h]``, and ``after[h]``, the next half-edge of the same face.
Half-edges below ``len(heads)`` are the arcs of the graph; the others are chords drawn into faces, so a cycle that
closes with a chord still separates: nothing crosses a chord inside its face.

Walk around a spanning tree, keeping it at the left hand: every half-edge is met once.  A half-edge off the tree is met
at one end, then at the other, and since chords do not cross, they open and close like parentheses.  Between the two
meetings the walk discovers exactly the vertices inside the fundamental cycle and those on the path down from the lowest
common ancestor to the second end; that ancestor is the shallowest vertex met in between.  So one walk counts the inside
of *every* fundamental cycle, with one stack and no dual tree.
"""

from __future__ import annotations

import numpy as np

from ....compiled import njit


@njit(cache=True, nogil=True)
def triangulate(heads, twin, turn, depth):
    """Cut every face into triangles by chords from its shallowest corner: ``tail, twin, after`` of 6n-12
    half-edges.

    For a connected simple plane graph on n >= 3 vertices.  Chords may be parallel to edges or join a corner
    to another corner of the same vertex; neither matters to the counts (Euler's formula holds for
    multigraphs).
    """
    arcs, total = len(heads), 6 * len(depth) - 12
    tail, twins, after = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(total, np.int64)
    fresh = np.ones(arcs, np.bool_)
    for arc in range(arcs):
        tail[twin[arc]], twins[arc], after[arc] = heads[arc], twin[arc], turn[twin[arc]]
    used = arcs
    for first in range(arcs):
        if not fresh[first]:
            continue
        apex, last, previous, arc, length = first, -1, -1, first, 0
        while fresh[arc]:
            fresh[arc] = False
            if depth[tail[arc]] < depth[tail[apex]]:
                apex, last = arc, previous
            previous, arc, length = arc, after[arc], length + 1
        if last < 0:
            last = previous
        lead, arc = apex, after[apex]
        for _ in range(length - 3):  # the triangle (lead, arc, chord back to the apex)
            following, chord, back = after[arc], used, used + 1
            used += 2
            tail[chord], tail[back], twins[chord], twins[back] = tail[apex], tail[following], back, chord
            after[lead], after[arc], after[back] = arc, back, lead
            lead, arc = chord, following
        after[lead], after[last] = arc, lead
    return tail, twins, after


@njit(cache=True, nogil=True)
def best_cycle(tail, twin, after, depth, down, order, weight, limit, most, base, parts):
    """The best fundamental cycle: weights strictly inside and strictly outside at most ``limit`` each.

    Its vertices count by weight, and ``base`` is added: ``base + weight of the cycle <= most`` is required,
    and at least two parts must hold weight, counting ``parts`` that lie elsewhere.  Among the valid ones the
    least ``size * (1/2 + larger part / n)`` wins, so a balanced cycle may be a sixth longer than a lopsided
    one.

    Returns ``(score, size, u, v, low)``: the cycle is the tree path from ``u`` up to ``low`` and down to
    ``v``. Lipton and Tarjan (1979), Lemma 2: with ``weight <= 1`` a cycle within ``limit = 2n/3`` exists;
    ``score`` is infinite only if none keeps to ``most`` and ``parts``.
    """
    n, root = len(depth), order[0]
    path = np.empty(n, np.int64)  # weight of the tree path from the root, both ends included
    whole = 0
    for i in range(n):
        v = order[i]
        path[v] = weight[v] if i == 0 else weight[v] + path[tail[down[v]]]
        whole += weight[v]
    room = len(tail) // 2 - (n - 1)
    opened, before, lowest = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    top, met = -1, weight[root]
    score, size, best_u, best_v, best_low = np.inf, 0, -1, -1, -1
    h = 0
    for v in range(n):
        if v != root and tail[down[v]] == root:
            h = down[v]
            break
    for _ in range(len(tail)):
        v, back = tail[h], twin[h]
        u = tail[back]
        if down[u] == h or down[v] == back:  # along the tree
            if down[u] == h:
                met += weight[u]
            if top >= 0 and depth[u] < depth[lowest[top]]:
                lowest[top] = u
            h = after[h]
            continue
        if top >= 0 and opened[top] == back:
            low = lowest[top]
            inside = met - before[top] - (path[v] - path[low])
            on = path[u] + path[v] - 2 * path[low] + weight[low]
            outside = whole - inside - on
            top -= 1
            if top >= 0 and depth[low] < depth[lowest[top]]:
                lowest[top] = low
            larger = max(inside, outside)
            if larger <= limit and base + on <= most and (inside > 0) + (outside > 0) + parts >= 2:
                worth = (base + on) * (0.5 + larger / n)
                if worth < score:
                    score, size, best_u, best_v, best_low = worth, base + on, u, v, low
        else:
            top += 1
            opened[top], before[top], lowest[top] = h, met, v
        h = after[back]
    return score, size, best_u, best_v, best_low
