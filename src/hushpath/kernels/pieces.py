"""Paths cut into pieces of lines."""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def line_tops(begin, nodes, depth):
    """The node of each line that is nearest to the root, and which of its nodes that is."""
    lines = len(begin) - 1
    top, place = np.empty(lines, np.int64), np.empty(lines, np.int64)
    for line in range(lines):
        first, best = begin[line] + line, begin[line] + line
        for i in range(first, begin[line + 1] + line + 1):
            if depth[nodes[i]] < depth[nodes[best]]:
                best = i
        top[line], place[line] = nodes[best], best - first
    return top, place


@njit(cache=True, nogil=True)
def forest_pieces(depth, line_above, place, top, top_place, sources, targets, begin, out):
    """Cut the path of each pair in a forest: climb from both ends, the end whose line reaches less high first.

    ``line_above`` is the line of the edge above each node, -1 for roots, and ``place`` the node's place on it.  Pair i
    fills ``out[:, begin[i] : begin[i + 1]]`` with line, first and last place.  With no room in ``out`` nothing is
    filled, but ``begin[i + 1]`` takes the number of pieces.
    """
    fill = out.shape[1] > 0
    for i in range(len(sources)):
        s, t, count = sources[i], targets[i], 0
        if fill and begin[i] == begin[i + 1]:
            continue
        while s != t:
            one, other = line_above[s], line_above[t]
            if one < 0 and other < 0:  # in different trees: no path
                count = 0
                break
            if one != other and (one < 0 or (other >= 0 and depth[top[one]] < depth[top[other]])):
                s, t, one, other = t, s, other, one
            far = place[t] if one == other else top_place[one]
            if fill:
                at = begin[i] + count
                out[0, at], out[1, at], out[2, at] = one, min(place[s], far), max(place[s], far)
            count += 1
            s = t if one == other else top[one]
        if not fill:
            begin[i + 1] = count


@njit(cache=True, nogil=True)
def route_pieces(start, heads, edges, lengths, distance, targets, line, place, out):
    """Cut the shortest path from one source to each target, backwards; return how many pieces there are.

    ``distance`` is a row of distances from the source.  Rows of ``out``: number of the target, line, first and last
    place; what does not fit is counted only.
    """
    count = 0
    for i in range(len(targets)):
        v, now, low, high = targets[i], -1, 0, 0
        while distance[v] > 0:
            for arc in range(start[v], start[v + 1]):
                if distance[heads[arc]] + lengths[arc] == distance[v]:
                    break
            edge, v = edges[arc], heads[arc]
            if line[edge] == now and place[edge] == high:
                high += 1
            elif line[edge] == now and place[edge] == low - 1:
                low -= 1
            else:
                now, low, high = line[edge], place[edge], place[edge] + 1
                count += 1
            if count <= out.shape[1]:
                out[0, count - 1], out[1, count - 1], out[2, count - 1], out[3, count - 1] = i, now, low, high
    return count
