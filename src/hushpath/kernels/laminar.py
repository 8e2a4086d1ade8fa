"""Nested sums: numbers of which each is the sum of others, each measured with noise of its own.

``parent`` names for each number the sum that it is part of (-1: none).  Parents come first, and the last numbers are
the *leaves*, which have no parts.  Least squares with known variances take two passes: upwards every sum is combined
from its own measurement and the total of its parts; downwards the difference from what is known above is divided among
the parts in proportion to their variances.  The first ``sums`` numbers are not leaves.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def least_squares(parent, sums, values, variance):
    """Estimate each number from the measured ``values`` of all; ``parent`` and ``sums`` say how they are nested.

    ``variance`` is that of each measurement.
    """
    below, inner, _ = _upwards(parent, sums, values, variance)
    estimate, total = below
    own, parts = inner
    for i in range(len(parent)):
        p = parent[i]
        if p >= 0 and parts[p] > 0:
            estimate[i] += own[i] / parts[p] * (estimate[p] - total[p])
    return estimate


@njit(cache=True, nogil=True)
def variances(parent, sums, variance):
    """Return the variance of each estimate."""
    _, inner, _ = _upwards(parent, sums, np.zeros(len(parent)), variance)
    own, parts = inner
    out = own.copy()
    for i in range(len(parent)):
        p = parent[i]
        if p >= 0 and parts[p] > 0:
            share = own[i] / parts[p]
            out[i] = own[i] * (1 - share) + share * share * out[p]
    return out


@njit(cache=True, nogil=True)
def error_limits(parent, sums, variance, limit):
    """Bound the error of each estimate if no measurement is off by more than its ``limit``: worst cases added up.

    ``parent``, ``sums`` and ``variance`` are those of ``least_squares``.
    """
    _, inner, weight = _upwards(parent, sums, np.zeros(len(parent)), variance)
    own, parts = inner
    upwards, added = limit.copy(), np.zeros(len(parent))
    for i in range(len(parent) - 1, -1, -1):
        if i < sums:
            upwards[i] = (1 - weight[i]) * added[i] + weight[i] * limit[i]
        if parent[i] >= 0:
            added[parent[i]] += upwards[i]
    out = upwards.copy()
    for i in range(len(parent)):
        p = parent[i]
        if p >= 0 and parts[p] > 0:  # (1 - share) of itself, share of the sum, and the other parts taken off again
            share = own[i] / parts[p]
            out[i] = (1 - share) * upwards[i] + share * (out[p] + added[p] - upwards[i])
    return out


@njit(cache=True, nogil=True)
def _upwards(parent, sums, values, variance):
    """Return from what is measured at and below each number: its estimate and the total of its parts; both variances.

    Last the weight that its own measurement gets beside its parts.  Arguments ``parent``,
    ``sums``, ``values`` and ``variance`` are those of ``least_squares``.
    """
    count = len(parent)
    estimate, total = values.copy(), np.zeros(count)
    own, parts, weight = variance.copy(), np.zeros(count), np.ones(count)
    for i in range(count - 1, -1, -1):
        if i < sums:
            both = parts[i] + variance[i]
            weight[i] = parts[i] / both if both > 0 else 0.0
            estimate[i] = total[i] + weight[i] * (values[i] - total[i])
            own[i] = weight[i] * variance[i]
        p = parent[i]
        if p >= 0:
            total[p] += estimate[i]
            parts[p] += own[i]
    return (estimate, total), (own, parts), weight


@njit(cache=True, nogil=True)
def line_blocks(begin, level_start, levels, first_sum, first, last, parent, position_parent):
    """Fill in the sums of every line, coarse before fine: ``first`` and ``last`` place, and the ``parent`` of each.

    Line ``i`` has the edges from ``begin[i]`` on, the sizes ``levels[level_start[i] : level_start[i + 1]]``, fine
    before coarse, and its sums from ``first_sum[i]`` on.  ``position_parent`` takes the finest sum of the edge at each
    place of the order.
    """
    for line in range(len(begin) - 1):
        a, b = begin[line], begin[line + 1]
        count, above, coarser = first_sum[line], -1, 1
        for k in range(level_start[line + 1] - 1, level_start[line] - 1, -1):
            size, here = levels[k], count
            at = a
            while at < b:
                first[count], last[count] = at, min(b, at + size) if size < b - at else b
                parent[count] = above + (at - a) // coarser if above >= 0 else -1
                count += 1
                at = last[count - 1]
            above, coarser = here, size
        for at in range(a, b):
            position_parent[at] = above + (at - a) // coarser if above >= 0 else -1


@njit(cache=True, nogil=True)
def piece_variance(length, first, last, sizes, variance):
    """Return the variance of the estimated sum of edges ``first .. last - 1`` of a line of ``length`` edges.

    There are ``sizes`` and a ``variance`` per level, size 1 first.  All blocks of a level are alike but for the last,
    which may be shorter, so a few numbers per level suffice.  Left and right are the blocks that hold the first and the
    last edge: the variance of their share of the piece, and its covariance with the whole block.  ``full`` and
    ``short`` are variances of a block by what is measured in it.
    """
    full = short = variance[0]
    a, b, blocks = first, last - 1, length
    left = left_with = short if a == blocks - 1 else full
    right = right_with = 0.0
    together = a == b
    if not together:
        right = right_with = short if b == blocks - 1 else full
    for k in range(1, len(sizes)):
        ratio = sizes[k] // sizes[k - 1]
        above = (blocks + ratio - 1) // ratio
        in_full, in_short = ratio * full, (blocks - ratio * (above - 1) - 1) * full + short
        up_a, up_b = a // ratio, b // ratio
        if not together:
            if up_a == up_b:
                between = (b - a - 1) * full
                left, left_with = left + right + between, left_with + right_with + between
                right = right_with = 0.0
                together = True
            else:
                rest = ((up_a + 1) * ratio - 1 - a) * full
                left, left_with = left + rest, left_with + rest
                rest = (b - up_b * ratio) * full
                right, right_with = right + rest, right_with + rest
        own = variance[k]
        both = (in_short if up_a == above - 1 else in_full) + own
        if both > 0:
            left, left_with = left - left_with * left_with / both, left_with * own / both
        both = (in_short if up_b == above - 1 else in_full) + own
        if not together and both > 0:
            right, right_with = right - right_with * right_with / both, right_with * own / both
        full = in_full * own / (in_full + own) if in_full + own > 0 else 0.0
        short = in_short * own / (in_short + own) if in_short + own > 0 else 0.0
        a, b, blocks = up_a, up_b, above
    return left + right + (b - a - 1) * full if b > a else left


@njit(cache=True, nogil=True)
def known_below(parent, sums, variance):
    """Return the variance of each number by what is measured at and below it, and that of its parts together.

    And where the parts of every sum begin and end: here leaves are in the order of their places, so parts follow each
    other.
    """
    _, inner, _ = _upwards(parent, sums, np.zeros(len(parent)), variance)
    own, parts = inner
    begin, end = np.zeros(sums, np.int64), np.zeros(sums, np.int64)
    for i in range(len(parent) - 1, -1, -1):
        p = parent[i]
        if p >= 0:
            begin[p] = i
            end[p] = max(end[p], i + 1)
    return own, parts, begin, end


@njit(cache=True, nogil=True)
def uneven_variances(parent, variance, own, total, parts, begin, end, first, last):
    """Return the variance of the estimated sum of leaves ``first .. last - 1`` each, however their variances differ.

    ``parent`` and ``variance`` are those of ``least_squares``; ``own``, ``parts``, ``begin`` and ``end`` those that
    ``known_below`` returns.  Left and right as in ``piece_variance``; what is between them is the difference of two
    ``total``s of ``own``.
    """
    sums = len(begin)
    out = np.empty(len(first))
    for i in range(len(first)):
        a, b = sums + first[i], sums + last[i] - 1
        left = left_with = own[a]
        right = right_with = own[b]
        together = a == b
        while parent[a] >= 0:
            up_a, up_b = parent[a], parent[b]
            if not together and up_a == up_b:
                between = total[b] - total[a + 1]
                left, left_with = left + right + between, left_with + right_with + between
                together = True
            elif not together:
                rest = total[end[up_a]] - total[a + 1]
                left, left_with = left + rest, left_with + rest
                rest = total[b] - total[begin[up_b]]
                right, right_with = right + rest, right_with + rest
            both = parts[up_a] + variance[up_a]
            if both > 0:
                left, left_with = left - left_with * left_with / both, left_with * variance[up_a] / both
            both = parts[up_b] + variance[up_b]
            if not together and both > 0:
                right, right_with = right - right_with * right_with / both, right_with * variance[up_b] / both
            a, b = up_a, up_b
        out[i] = left if together else left + right + total[b] - total[a + 1]
    return out
