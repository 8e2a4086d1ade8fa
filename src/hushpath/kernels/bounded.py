"""Sums within bounds: of all weights within their bounds, those whose sums along a line are nearest to the wanted.

Along a line let P(0) = 0 and P(j) be the sum of the first j wanted weights.  Looked for is the curve Q with
low_j <= Q(j) - Q(j-1) <= high_j for which the sum of (Q(j) - P(j))^2 is least: its differences are the weights.  What
is nearest among curves that may not rise too little or too much never strays farther from a curve that is allowed
than P did: max |Q - P*| <= max |P - P*| for the true sums P* (docs/proofs/lines.md).

Solved from left to right.  Let f_j(x) be the least sum of squares of the first j + 1 terms if Q(j) = x: a convex
function whose derivative is piecewise linear.  Going on to j + 1 cuts it at its lowest point and draws the two
halves apart, low_j to the one side and high_j to the other, then adds a parabola.  Two stacks hold the break points on
either side of the lowest point: where they are, and how much steeper it gets there, seen from the lowest point.

Every step passes a few of them.  Noise that exceeds all weights of a line together could make it pass them all
repeatedly; such a line, which is lost in noise, is clipped edge by edge instead.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import njit

PASSED = 64  # break points per edge of a line before it is given up


@njit(cache=True, nogil=True)
def nearest_sums(begin, order, wanted, low, high, out):
    """Fill ``out`` for the edges of every line: whole numbers within their bounds.

    Line ``i`` has the edges of ``order`` from ``begin[i]`` on, each with a ``wanted`` weight and bounds ``low``,
    ``high``.
    """
    longest = 0
    for line in range(len(begin) - 1):
        longest = max(longest, begin[line + 1] - begin[line])
    lowest = np.empty(longest + 1, np.float64)
    room = np.empty((4, 2 * longest + 2), np.float64)
    for line in range(len(begin) - 1):
        edges = order[begin[line] : begin[line + 1]]
        as_wanted = True
        for edge in edges:
            as_wanted = as_wanted and low[edge] <= wanted[edge] <= high[edge]
        if not as_wanted:
            if _forward(edges, wanted, low, high, lowest, room):
                _backward(edges, low, high, lowest)
            else:
                lowest[: len(edges)] = wanted[edges] - low[edges]
        left_over = 0.0  # rounded so that sums along the line stay what they are, to half a step
        for j in range(len(edges)):
            edge = edges[j]
            exact = (wanted[edge] if as_wanted else low[edge] + lowest[j]) + left_over
            out[edge] = min(max(math.floor(exact + 0.5), low[edge]), high[edge])
            left_over = min(max(exact - out[edge], -0.5), 0.5)


@njit(cache=True, nogil=True)
def _forward(edges, wanted, low, high, lowest, room):
    """Fill ``lowest`` with where each f_j is lowest, less the lower bounds; return false if that takes too long.

    ``edges`` are those of a line; ``wanted``, ``low`` and ``high`` as in ``nearest_sums``; ``room`` is a buffer.
    """
    left, left_rise, right, right_rise = room[0], room[1], room[2], room[3]
    lefts, rights, shift, moves = 0, 0, 0.0, PASSED * len(edges)
    lowest[0], slope, target = 0.0, 1.0, 0.0
    for j in range(len(edges)):
        edge = edges[j]
        x, span = lowest[j], float(high[edge] - low[edge])
        target += wanted[edge] - low[edge]
        left[lefts], left_rise[lefts], lefts = x, slope, lefts + 1
        right[rights], right_rise[rights], rights = x - shift, slope, rights + 1
        shift += span
        slope = 1.0
        if x > target:
            height = x - target
            while True:
                lefts, moves = lefts - 1, moves - 1
                at, rise = left[lefts], left_rise[lefts]
                right[rights], right_rise[rights], rights = at - shift, -rise, rights + 1
                slope += rise
                if lefts == 0 or height <= slope * (at - left[lefts - 1]):
                    lowest[j + 1] = at - height / slope
                    break
                height -= slope * (at - left[lefts - 1])
        elif x + span < target:
            depth = target - x - span
            while True:
                rights, moves = rights - 1, moves - 1
                at, rise = right[rights] + shift, right_rise[rights]
                left[lefts], left_rise[lefts], lefts = at, -rise, lefts + 1
                slope += rise
                if rights == 0 or depth <= slope * (right[rights - 1] + shift - at):
                    lowest[j + 1] = at + depth / slope
                    break
                depth -= slope * (right[rights - 1] + shift - at)
        else:
            lowest[j + 1] = target
        if moves < 0:
            return False
    return True


@njit(cache=True, nogil=True)
def _backward(edges, low, high, lowest):
    """Trace the curve of ``edges`` from its end, within ``low`` and ``high``; ``lowest`` becomes its differences."""
    after = lowest[len(edges)]
    for j in range(len(edges) - 1, -1, -1):
        edge = edges[j]
        here = min(max(lowest[j], after - (high[edge] - low[edge])), after)
        lowest[j] = after - here
        after = here


@njit(cache=True, nogil=True)
def whole_steps(values, begin):
    """Return whole numbers whose sums from the beginning of each line are those of the values, to half a step."""
    out = np.empty(len(values), np.int64)
    for line in range(len(begin) - 1):
        left_over = 0.0
        for i in range(begin[line], begin[line + 1]):
            exact = values[i] + left_over
            out[i] = math.floor(exact + 0.5)
            left_over = exact - out[i]
    return out
