"""Gaussian numbers on a hierarchy of groups: the number of a group is that of the group around it plus its own part.

Groups are numbered so that a group comes before the one around it (``parent``, -1 for the outermost); the first are
single edges.  ``variance`` is that of a group's own part.  Edges are observed with a ``precision``.  Everything takes
two passes, one from the edges up and one back down, so all of this is exact and linear in the number of groups.
"""

from __future__ import annotations

import math

import numpy as np

from ..compiled import njit

TINY = 1e-12


@njit(cache=True, nogil=True)
def join_neighbours(start, neighbours, weights, size, order, largest):
    """Join each group with the neighbour of the greatest weight for its size; return labels and their number.

    Neighbours of group i are ``neighbours[start[i]:start[i + 1]]`` with their ``weights``; groups are visited in this
    ``order`` and their sizes are at most ``largest``.  Who finds no partner joins a pair, if that stays small.
    """
    n = len(start) - 1
    label, total, count = np.full(n, -1, np.int64), np.zeros(n), 0
    for i in order:
        if label[i] >= 0:
            continue
        partner, best = -1, 0.0
        for k in range(start[i], start[i + 1]):
            j = neighbours[k]
            value = weights[k] / math.sqrt(size[i] * size[j])
            if j != i and label[j] < 0 and value > best and size[i] + size[j] <= largest:
                partner, best = j, value
        if partner >= 0:
            label[i] = label[partner] = count
            total[count] = size[i] + size[partner]
            count += 1
            continue
        for k in range(start[i], start[i + 1]):
            j = neighbours[k]
            value = weights[k] / math.sqrt(size[i] * size[j])
            if label[j] >= 0 and value > best and total[label[j]] + size[i] <= 1.5 * largest:
                partner, best = label[j], value
        if partner < 0:
            partner = count
            count += 1
        label[i] = partner
        total[partner] += size[i]
    return label, count


@njit(cache=True, nogil=True)
def log_evidence(parent, variance, precision, values):
    """Return the logarithm of the probability of ``values``, less that of the same values if nothing varied."""
    precisions, shifts = _gathered(parent, precision, values)
    total = 0.0
    for i in range(len(parent)):
        shrink = 1 + precisions[i] * variance[i]
        total += 0.5 * (shifts[i] * shifts[i] * variance[i] / shrink - math.log(shrink))
        if parent[i] >= 0:
            precisions[parent[i]] += precisions[i] / shrink
            shifts[parent[i]] += shifts[i] / shrink
    return total


@njit(cache=True, nogil=True)
def _gathered(parent, precision, values):
    """Return empty precisions and shifts of all groups, those of edges filled."""
    n, m = len(parent), len(precision)
    precisions, shifts = np.zeros(n), np.zeros(n)
    for i in range(m):
        precisions[i], shifts[i] = precision[i], precision[i] * values[i]
    return precisions, shifts


@njit(cache=True, nogil=True)
def without_own(parent, level, variance, precision, values, levels):
    """Return mean and variance of each edge's number given all *other* edges, and moments of the groups' own parts.

    The moments are the expected squares summed by ``level`` (``levels`` of them), and how many groups each has.
    """
    n, m = len(parent), len(precision)
    precisions, shifts = _gathered(parent, precision, values)
    up_precision, up_shift = np.empty(n), np.empty(n)
    for i in range(n):
        shrink = 1 + precisions[i] * variance[i]
        up_precision[i], up_shift[i] = precisions[i] / shrink, shifts[i] / shrink
        if parent[i] >= 0:
            precisions[parent[i]] += up_precision[i]
            shifts[parent[i]] += up_shift[i]
    mean, spread, own_mean, own_spread = np.empty(n), np.empty(n), np.empty(m), np.empty(m)
    squares, count = np.zeros(levels), np.zeros(levels)
    for i in range(n - 1, -1, -1):
        middle, around = 0.0, 0.0
        if parent[i] >= 0:
            p = parent[i]
            around = 1 / max(1 / spread[p] - up_precision[i], TINY)
            middle = around * (mean[p] / spread[p] - up_shift[i])
        prior = max(around + variance[i], TINY)
        spread[i] = 1 / (1 / prior + precisions[i])
        mean[i] = spread[i] * (middle / prior + shifts[i])
        if i < m:
            own_mean[i], own_spread[i] = middle, prior
        if variance[i] > 0:
            total = 1 + prior * precisions[i]
            part = variance[i] * (shifts[i] - precisions[i] * middle) / total
            squares[level[i]] += part * part + variance[i] - variance[i] * variance[i] * precisions[i] / total
            count[level[i]] += 1
    return own_mean, own_spread, squares, count


@njit(cache=True, nogil=True)
def solve(parent, variance, precision, columns, noise):
    """Return the posterior mean of each edge's number, for every column of values observed with this ``precision``.

    ``noise`` has one standard normal number per group and column: with it the result is a posterior sample; without
    columns, it is the mean.
    """
    n, (m, width) = len(parent), columns.shape
    precisions, shifts, numbers = np.zeros(n), np.zeros((n, width)), np.empty((n, width))
    for i in range(m):
        precisions[i] = precision[i]
        for k in range(width):
            shifts[i, k] = precision[i] * columns[i, k]
    for i in range(n):
        pulled = 1 / (1 + precisions[i] * variance[i])
        if parent[i] >= 0:
            precisions[parent[i]] += precisions[i] * pulled
            for k in range(width):
                shifts[parent[i], k] += shifts[i, k] * pulled
    drawn = noise.shape[1] > 0
    for i in range(n - 1, -1, -1):
        pulled = 1 / (1 + precisions[i] * variance[i])
        sd = math.sqrt(variance[i] * pulled)
        for k in range(width):
            around = numbers[parent[i], k] if parent[i] >= 0 else 0.0
            numbers[i, k] = (around + variance[i] * shifts[i, k]) * pulled
            if drawn:
                numbers[i, k] += sd * noise[i, k]
    return numbers[:m]
