"""Lines of a network (``separators.lines``): pieces of paths along them, and shares of the budget.

A *ladder* is a list of sizes of blocks of a line, 1 first, with a share of the budget each.  A share p of the budget
means noise of variance 1/p^2 (Laplace) or 1/p (Gaussian), in units of what the whole budget would give.  Ladders are
compared by their predicted error over sampled pieces of paths.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .laminar import piece_variance


@njit(cache=True, nogil=True)
def walk_lines(order, begin, tails, heads, out):
    """Fill ``out`` with the nodes of each line, one more than edges; return the first line that is not a walk, or -1.

    Line ``i`` has the edges of ``order`` from ``begin[i]`` on, which join ``tails`` and ``heads``.
    """
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
    """Return the variance of a number with each of these shares."""
    return 1.0 / shares if gaussian else 1.0 / (shares * shares)


@njit(cache=True, nogil=True)
def _score(length, first, last, weight, sizes, variance):
    """Return the weighted sum of the variances of all pieces, from ``first`` to ``last``, of a line of this ``length``.

    ``weight`` is that of each piece; ``sizes`` and ``variance`` are those of ``piece_variance``.
    """
    total = 0.0
    for i in range(len(first)):
        total += weight[i] * piece_variance(length, first[i], last[i], sizes, variance)
    return total


@njit(cache=True, nogil=True)
def best_ladders(begin, lengths, first, last, weight, start, sizes, shares, gaussian, choice):
    """Fill ``choice`` with the ladder of least score for each line; ladder 0 is the plain one.

    Line i has ``lengths[i]`` edges and the pieces ``begin[i] .. begin[i + 1] - 1``, from ``first`` to ``last`` and with
    a ``weight`` each.  Ladder k has ``sizes`` and ``shares`` from ``start[k]`` on, of ``gaussian`` noise or Laplace.
    Ladders are tried that fit a line: all sizes but the last are below its length, and the last is not far beyond.
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
def refine_shares(begin, lengths, first, last, weight, start, sizes, choice, gaussian, shares):
    """Change the ``shares`` of each line in place, one level at a time in smaller steps, as long as its score falls.

    ``begin``, ``lengths``, ``first``, ``last``, ``weight``, ``start``, ``sizes`` and ``gaussian`` are those of
    ``best_ladders``, which fills ``choice``.
    """
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
    """Fill ``out`` with the variance of every piece under the ladder and the ``shares`` of its line.

    ``begin``, ``lengths``, ``first``, ``last``, ``start``, ``sizes``, ``choice`` and ``gaussian`` as in
    ``refine_shares``.
    """
    for line in range(len(lengths)):
        mine = sizes[start[choice[line]] : start[choice[line] + 1]]
        variance = share_variance(shares[line, : len(mine)].copy(), gaussian)
        for i in range(begin[line], begin[line + 1]):
            out[i] = piece_variance(lengths[line], first[i], last[i], mine, variance)


@njit(cache=True, nogil=True)
def forest_pieces(depth, line_above, place, top, top_place, sources, targets, begin, out):
    """Divide the path of each pair in a forest: go up from both ends, first from the one whose line ends lower.

    ``depth`` is that of each node, ``line_above`` the line of the edge above it, -1 for roots, and ``place`` its place
    there; ``top`` is the node of each line nearest to the
    root, ``top_place`` its place.  Pair i of ``sources`` and ``targets`` fills ``out[:,
    begin[i] : begin[i + 1]]`` with line, first and last place.  With no room in ``out`` nothing is filled, but
    ``begin[i + 1]`` takes the number of pieces.
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
    """Divide the shortest path from one source to each of ``targets``, backwards; return the number of pieces.

    Arcs are those of ``start``, ``heads``, ``edges`` and ``lengths``, with the ``line`` and ``place`` of each edge;
    ``distance`` is a row of distances from the source.  Rows of ``out``: number of the target, line, first and last
    place; pieces beyond its size are only counted.
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
