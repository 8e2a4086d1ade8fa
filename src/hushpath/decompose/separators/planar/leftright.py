"""The left-right planarity test, on arrays: a rotation system of a planar graph, or the news that there is none.

Brandes, "The left-right planarity test" (2009), whose names are kept: orient the graph by depth-first
search; ``lowpt`` of an edge is the height of the lowest vertex its subtree returns to; edges are visited in the order
of ``nesting``; a stack of *conflict pairs* (two intervals of return edges that must lie on different sides of the tree)
collects the constraints, and ``ref``/``side`` resolve them.  Linear time but for one sort.  No proof is needed here:
the caller checks Euler's formula on the result, and the tests compare the verdict with networkx.

Edges are arcs of compressed rows; -1 is "none".
"""

from __future__ import annotations

import numpy as np

from ....arrays import Int
from ....compiled import njit

LEFT_LOW, LEFT_HIGH, RIGHT_LOW, RIGHT_HIGH = 0, 1, 2, 3  # columns of the stack of conflict pairs


def clockwise_order(start: Int, heads: Int) -> Int | None:
    """The next arc clockwise around the tail of each arc, or ``None`` if the graph is not planar.  Rows are sorted."""
    n = len(start) - 1
    tails = np.repeat(np.arange(n), np.diff(start))
    twin = np.lexsort((tails, heads))
    height, parent, oriented, lowpt, nesting = _orient(start, heads, twin)
    arcs = np.flatnonzero(oriented)
    out_start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(tails[arcs], minlength=n), out=out_start[1:])
    out = arcs[np.lexsort((nesting[arcs], tails[arcs]))]
    planar, ref, side = _test(out_start, out, heads, tails, height, parent, lowpt)
    if not planar:
        return None
    _resolve(arcs, ref, side)
    out = arcs[np.lexsort((side[arcs] * nesting[arcs], tails[arcs]))]
    turn: Int = _lay_out(out_start, out, heads, tails, twin, parent, side)
    return turn


@njit(cache=True, nogil=True)
def _orient(start, heads, twin):
    """Phase 1: depth-first orientation with low points and nesting depths."""
    n, arcs = len(start) - 1, len(heads)
    height, parent, pointer = np.full(n, -1), np.full(n, -1), start[:-1].copy()
    oriented = np.zeros(arcs, np.bool_)
    lowpt, second, nesting = np.zeros(arcs, np.int64), np.zeros(arcs, np.int64), np.zeros(arcs, np.int64)
    for root in range(n):
        if height[root] >= 0:
            continue
        height[root], v = 0, root
        while True:
            arc, e = pointer[v], parent[v]
            if arc == start[v + 1]:
                if e < 0:
                    break
                v = heads[twin[e]]
                continue
            w = heads[arc]
            if height[w] < 0:  # a tree edge: finished when we come back to v
                oriented[arc], parent[w], height[w] = True, arc, height[v] + 1
                lowpt[arc], second[arc], v = height[v], height[v], w
                continue
            pointer[v] += 1
            if oriented[twin[arc]]:
                continue
            if not oriented[arc]:  # a back edge
                oriented[arc], lowpt[arc], second[arc] = True, height[w], height[v]
            nesting[arc] = 2 * lowpt[arc] + (second[arc] < height[v])
            if e >= 0:
                if lowpt[arc] < lowpt[e]:
                    second[e], lowpt[e] = min(lowpt[e], second[arc]), lowpt[arc]
                elif lowpt[arc] > lowpt[e]:
                    second[e] = min(second[e], lowpt[arc])
                else:
                    second[e] = min(second[e], second[arc])
    return height, parent, oriented, lowpt, nesting


@njit(cache=True, nogil=True)
def _test(out_start, out, heads, tails, height, parent, lowpt):
    """Phase 2: whether all constraints can be met; and ``ref``, ``side``, from which the sides follow."""
    n, arcs = len(out_start) - 1, len(heads)
    ref, side, lowpt_edge = np.full(arcs, -1), np.ones(arcs, np.int64), np.full(arcs, -1)
    bottom, entered, pointer = np.zeros(arcs, np.int64), np.zeros(n, np.bool_), out_start[:-1].copy()
    stack, size = np.full((arcs // 2 + 1, 4), -1), 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        v = root
        while True:
            e = parent[v]
            if pointer[v] == out_start[v + 1]:
                if e < 0:
                    break
                size = _remove_back_edges(e, tails[e], stack, size, heads, height, lowpt, ref, side)
                v = tails[e]
            else:
                arc = out[pointer[v]]
                w = heads[arc]
                if parent[w] == arc and not entered[w]:
                    entered[w], bottom[arc], v = True, size, w
                    continue
                if parent[w] != arc:  # a back edge
                    bottom[arc], lowpt_edge[arc] = size, arc
                    stack[size, LEFT_LOW], stack[size, LEFT_HIGH] = -1, -1
                    stack[size, RIGHT_LOW], stack[size, RIGHT_HIGH] = arc, arc
                    size += 1
                if lowpt[arc] < height[v]:  # it brings return edges
                    if pointer[v] == out_start[v]:
                        lowpt_edge[e] = lowpt_edge[arc]
                    else:
                        size = _add_constraints(arc, e, stack, size, bottom[arc], lowpt, lowpt_edge, ref)
                        if size < 0:
                            return False, ref, side
                pointer[v] += 1
    return True, ref, side


@njit(cache=True, nogil=True)
def _add_constraints(arc, e, stack, size, bottom, lowpt, lowpt_edge, ref):
    """Merge the return edges of ``arc`` with those of its elder siblings; the new stack size, or -1: not planar."""
    left_low, left_high, right_low, right_high = -1, -1, -1, -1
    while size > bottom:  # return edges of arc itself: all to the right
        size -= 1
        a_low, a_high, b_low, b_high = stack[size]
        if a_low >= 0 or a_high >= 0:
            if b_low >= 0 or b_high >= 0:
                return -1
            b_low, b_high = a_low, a_high
        if lowpt[b_low] > lowpt[e]:
            if right_low < 0:
                right_high = b_high
            else:
                ref[right_low] = b_high
            right_low = b_low
        else:
            ref[b_low] = lowpt_edge[e]
    while size > 0:  # conflicting return edges of the siblings: to the left
        a_low, a_high, b_low, b_high = stack[size - 1]
        a_conflicts = a_high >= 0 and lowpt[a_high] > lowpt[arc]
        b_conflicts = b_high >= 0 and lowpt[b_high] > lowpt[arc]
        if not a_conflicts and not b_conflicts:
            break
        if a_conflicts and b_conflicts:
            return -1
        size -= 1
        if b_conflicts:
            a_low, a_high, b_low, b_high = b_low, b_high, a_low, a_high
        if right_low >= 0:
            ref[right_low] = b_high
        if b_low >= 0:
            right_low = b_low
        if left_low < 0:
            left_high = a_high
        else:
            ref[left_low] = a_high
        left_low = a_low
    if left_low >= 0 or right_low >= 0:
        stack[size, LEFT_LOW], stack[size, LEFT_HIGH] = left_low, left_high
        stack[size, RIGHT_LOW], stack[size, RIGHT_HIGH] = right_low, right_high
        size += 1
    return size


@njit(cache=True, nogil=True)
def _remove_back_edges(e, u, stack, size, heads, height, lowpt, ref, side):
    """Forget the return edges that end at ``u``, the tail of the finished tree edge ``e``; the new stack size."""
    while size > 0:
        left, right = stack[size - 1, LEFT_LOW], stack[size - 1, RIGHT_LOW]
        lowest = lowpt[right] if left < 0 else (lowpt[left] if right < 0 else min(lowpt[left], lowpt[right]))
        if lowest != height[u]:
            break
        size -= 1
        if left >= 0:
            side[left] = -1
    if size > 0:
        pair = stack[size - 1]
        for low, high, other in ((LEFT_LOW, LEFT_HIGH, RIGHT_LOW), (RIGHT_LOW, RIGHT_HIGH, LEFT_LOW)):
            while pair[high] >= 0 and heads[pair[high]] == u:
                pair[high] = ref[pair[high]]
            if pair[high] < 0 and pair[low] >= 0:  # just emptied
                ref[pair[low]] = pair[other]
                side[pair[low]] = -1
                pair[low] = -1
    if lowpt[e] < height[u]:  # e lies on the side of its highest return edge
        left, right = stack[size - 1, LEFT_HIGH], stack[size - 1, RIGHT_HIGH]
        ref[e] = left if left >= 0 and (right < 0 or lowpt[left] > lowpt[right]) else right
    return size


@njit(cache=True, nogil=True)
def _resolve(arcs, ref, side):
    """Make every ``side`` absolute: multiply along the chain of references."""
    chain = np.empty(len(arcs), np.int64)
    for arc in arcs:
        size, x = 0, arc
        while ref[x] >= 0:
            chain[size], x, size = x, ref[x], size + 1
        while size > 0:
            size -= 1
            side[chain[size]] *= side[ref[chain[size]]]
            ref[chain[size]] = -1


@njit(cache=True, nogil=True)
def _lay_out(out_start, out, heads, tails, twin, parent, side):
    """Phase 3: around each vertex its parent, then its outgoing edges, the incoming ones beside the tree edges."""
    n = len(out_start) - 1
    after, before = np.full(len(heads), -1), np.full(len(heads), -1)
    for v in range(n):
        first = twin[parent[v]] if parent[v] >= 0 else -1
        previous = first
        for arc in out[out_start[v] : out_start[v + 1]]:
            if previous >= 0:
                after[previous], before[arc] = arc, previous
            else:
                first = arc
            previous = arc
        if previous >= 0:
            after[previous], before[first] = first, previous
    left, right, pointer = np.full(n, -1), np.full(n, -1), out_start[:-1].copy()
    for root in range(n):
        v = root
        while parent[root] < 0:
            if pointer[v] == out_start[v + 1]:
                if parent[v] < 0:
                    break
                v = tails[parent[v]]
                continue
            arc = out[pointer[v]]
            pointer[v] += 1
            w = heads[arc]
            if parent[w] == arc:
                left[v], right[v], v = arc, arc, w
                continue
            back = twin[arc]  # goes beside the tree edge of w below which v lies
            near, far = (right[w], after[right[w]]) if side[arc] == 1 else (before[left[w]], left[w])
            after[near], before[back], after[back], before[far] = back, near, far, back
            if side[arc] != 1:
                left[w] = back
    return after
