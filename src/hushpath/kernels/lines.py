"""Public lines of a network: bridges, edges joined to lines, pieces of paths along lines, and shares of the budget.

Two edges that meet can be joined there: at every node the two bridges of most traffic, and the two other edges where
there are exactly two.  A connected sequence of joined edges is a *line*: a walk that passes no node twice.

A *ladder* is a list of sizes of blocks of a line, 1 first, with a share of the budget each.  A share p of the budget
means noise of variance 1/p^2 (Laplace) or 1/p (Gaussian), in units of what the whole budget would give.  Ladders are
compared by their predicted error over sampled pieces of paths.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .laminar import piece_variance


@njit(cache=True, nogil=True)
def bridge_traffic(start, heads, edges, num_edges):
    """For each bridge how many pairs of nodes it parts, s (n - s) in a component of n; 0 for edges on a cycle.

    Tarjan's low-link, with a stack of its own: ``low`` is the earliest node that is met from below without the edge by
    which a node was found.  That edge is a bridge exactly if nothing above it is met, and what is below is one side.
    """
    n = len(start) - 1
    traffic, seen, low = np.zeros(num_edges, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    size, arc_of, edge_of = np.ones(n, np.int64), start[:-1].copy(), np.full(n, -1, np.int64)
    stack, found = np.empty(n, np.int64), np.empty(n, np.int64)
    clock = 0
    for root in range(n):
        if seen[root] >= 0:
            continue
        stack[0], filled, bridges = root, 1, 0
        seen[root], low[root], clock = clock, clock, clock + 1
        while filled > 0:
            v = stack[filled - 1]
            if arc_of[v] < start[v + 1]:
                u, edge = heads[arc_of[v]], edges[arc_of[v]]
                arc_of[v] += 1
                if edge == edge_of[v]:  # parallel edges have other numbers, and do close a cycle
                    continue
                if seen[u] >= 0:
                    low[v] = min(low[v], seen[u])
                else:
                    seen[u], low[u], clock = clock, clock, clock + 1
                    edge_of[u], stack[filled], filled = edge, u, filled + 1
                continue
            filled -= 1
            if filled > 0:
                above = stack[filled - 1]
                low[above] = min(low[above], low[v])
                size[above] += size[v]
                if low[v] > seen[above]:
                    traffic[edge_of[v]], found[bridges], bridges = size[v], edge_of[v], bridges + 1
        for edge in found[:bridges]:
            traffic[edge] *= size[root] - traffic[edge]
    return traffic


@njit(cache=True, nogil=True)
def joined(start, edges, tails, traffic):
    """With which edge each edge is joined at its tail and at its head, -1 where with none; ties: the lower edge."""
    partner = np.full((len(tails), 2), -1, np.int64)
    for v in range(len(start) - 1):
        first, second, others = -1, -1, 0
        one, other = -1, -1
        for arc in range(start[v], start[v + 1]):
            edge = edges[arc]
            if traffic[edge] == 0:
                one, other, others = edge, one, others + 1
            elif first < 0 or traffic[edge] > traffic[first]:
                first, second = edge, first
            elif second < 0 or traffic[edge] > traffic[second]:
                second = edge
        if second >= 0:
            _join(partner, tails, v, first, second)
        if others == 2:
            _join(partner, tails, v, one, other)
    return partner


@njit(cache=True, nogil=True)
def _join(partner, tails, v, one, other):
    partner[one, 0 if tails[one] == v else 1] = other
    partner[other, 0 if tails[other] == v else 1] = one


@njit(cache=True, nogil=True)
def threaded(partner, tails, heads):
    """The edges line by line, each line from one end to the other, and where each begins; closed lines come last."""
    m = len(tails)
    order, begin, done = np.empty(m, np.int64), np.zeros(m + 1, np.int64), np.zeros(m, np.bool_)
    count, lines = 0, 0
    for closed in range(2):
        for end in range(m):
            if done[end] or (closed == 0 and partner[end, 0] >= 0 and partner[end, 1] >= 0):
                continue
            edge, side = end, 0 if partner[end, 0] < 0 or closed == 1 else 1
            while edge >= 0 and not done[edge]:
                order[count], done[edge], count = edge, True, count + 1
                ahead = heads[edge] if side == 0 else tails[edge]
                edge = partner[edge, 1 - side]
                if edge >= 0:
                    side = 0 if tails[edge] == ahead else 1
            lines += 1
            begin[lines] = count
    return order, begin[: lines + 1]


@njit(cache=True, nogil=True)
def walked(order, begin, tails, heads, out):
    """The nodes that each line passes, one more than it has edges; the first line that is no walk, -1 if all are."""
    for line in range(len(begin) - 1):
        first, last = begin[line], begin[line + 1]
        good = False
        for way in range(2):  # from either end of its first edge
            v = tails[order[first]] if way == 0 else heads[order[first]]
            out[first + line], good = v, True
            for i in range(first, last):
                tail, head = tails[order[i]], heads[order[i]]
                if v != tail and v != head:
                    good = False
                    break
                v = head if v == tail else tail
                out[i + 1 + line] = v
            if good:
                break
        if not good:
            return line
    return -1


@njit(cache=True, nogil=True)
def share_variance(shares, gaussian):
    """The variance of a number with each of these shares."""
    return 1.0 / shares if gaussian else 1.0 / (shares * shares)


@njit(cache=True, nogil=True)
def _score(length, first, last, weight, sizes, variance):
    """The weighted sum of the variances of all pieces of a line."""
    total = 0.0
    for i in range(len(first)):
        total += weight[i] * piece_variance(length, first[i], last[i], sizes, variance)
    return total


@njit(cache=True, nogil=True)
def best_ladders(begin, lengths, first, last, weight, start, sizes, shares, gaussian, choice):
    """For each line the ladder of least score; ladder 0 is the plain one.

    Line i has the pieces ``begin[i] .. begin[i + 1] - 1``.  Tried are ladders that fit it: all sizes but the last are
    below its length, and the last is not far beyond.
    """
    variance = share_variance(shares, gaussian)
    for line in range(len(lengths)):
        a, b = begin[line], begin[line + 1]
        least = np.inf
        for ladder in range(len(start) - 1):
            low, high = start[ladder], start[ladder + 1]
            fits = high - low < 3 or (sizes[high - 2] < lengths[line] and sizes[high - 1] < 3 * lengths[line])
            if high - low > 1 and lengths[line] < 2:
                fits = False
            if fits:
                score = _score(
                    lengths[line], first[a:b], last[a:b], weight[a:b], sizes[low:high], variance[low:high]
                )  # fmt: skip
                if score < least:
                    least, choice[line] = score, ladder


@njit(cache=True, nogil=True)
def polished(begin, lengths, first, last, weight, start, sizes, choice, gaussian, shares):
    """Move the shares of each line, one level at a time and less and less, as long as its score falls; in place."""
    for line in range(len(lengths)):
        a, b = begin[line], begin[line + 1]
        mine = sizes[start[choice[line]] : start[choice[line] + 1]]
        now = shares[line, : len(mine)].copy()
        if len(mine) < 2:
            continue
        least = _score(lengths[line], first[a:b], last[a:b], weight[a:b], mine, share_variance(now, gaussian))
        for factor in (1.6, 1.25, 1.1):
            for _ in range(3):
                before = least
                for level in range(len(mine)):
                    for by in (factor, 1.0 / factor):
                        trial = now.copy()
                        trial[level] *= by
                        trial /= trial.sum()
                        variance = share_variance(trial, gaussian)
                        score = _score(lengths[line], first[a:b], last[a:b], weight[a:b], mine, variance)
                        if score < least:
                            least, now = score, trial
                if least > 0.999 * before:
                    break
        shares[line, : len(mine)] = now


@njit(cache=True, nogil=True)
def chosen_variances(begin, lengths, first, last, start, sizes, choice, shares, gaussian, out):
    """The variance of every piece under the ladder and the shares of its line."""
    for line in range(len(lengths)):
        mine = sizes[start[choice[line]] : start[choice[line] + 1]]
        variance = share_variance(shares[line, : len(mine)].copy(), gaussian)
        for i in range(begin[line], begin[line + 1]):
            out[i] = piece_variance(lengths[line], first[i], last[i], mine, variance)


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
