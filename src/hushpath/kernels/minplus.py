"""Min-plus products on panels: the one inner loop of labels, rows and matrices.

A panel holds ``LANES`` columns side by side in memory, so that the innermost loop has a fixed length and no gathers:
two rows and four terms at a time, which LLVM turns into packed minima.  Numbers are ``float64`` or ``int32`` (also
``int64`` in ``close_over_pivots``), each with a number for "not connected" (``nothing``) that may be added to itself
and to any distance: ``inf``, ``NOTHING`` and ``INFINITE``.  Minima begin there, so it is never exceeded.  ``FAST``
promises LLVM that no NaN occurs (there is no ``-inf`` to make one) but keeps infinities.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit

LANES = 32
NOTHING = 2**30 - 1  # for ``int32``; longer distances do not fit
INFINITE = 2**62 - 1  # a distance (at most ``LARGEST_DISTANCE``) added to it does not overflow
FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def multiply_panel(table, starts, rows, width, x, y):
    """Lower ``y[i]`` to the minimum over ``j`` of ``table[starts[i] + j] + x[j]``, for ``rows`` rows of ``y``.

    ``table`` is flat, ``x`` has ``width`` and ``y`` ``rows`` rows (or more) of ``LANES`` columns.
    """
    kind = table.dtype.type  # numba adds two int32 to an int64, which would halve what fits in a register
    even = rows - rows % 2
    most = width - width % 4
    for i in range(0, even, 2):
        a, b = starts[i], starts[i + 1]
        for j in range(0, most, 4):
            a0, a1, a2, a3 = table[a + j], table[a + j + 1], table[a + j + 2], table[a + j + 3]
            b0, b1, b2, b3 = table[b + j], table[b + j + 1], table[b + j + 2], table[b + j + 3]
            for lane in range(LANES):
                x0, x1, x2, x3 = x[j, lane], x[j + 1, lane], x[j + 2, lane], x[j + 3, lane]
                low, high = min(kind(x0 + a0), kind(x1 + a1)), min(kind(x2 + a2), kind(x3 + a3))
                y[i, lane] = min(min(low, high), y[i, lane])
                low, high = min(kind(x0 + b0), kind(x1 + b1)), min(kind(x2 + b2), kind(x3 + b3))
                y[i + 1, lane] = min(min(low, high), y[i + 1, lane])
        for j in range(most, width):
            a0, b0 = table[a + j], table[b + j]
            for lane in range(LANES):
                y[i, lane] = min(kind(x[j, lane] + a0), y[i, lane])
                y[i + 1, lane] = min(kind(x[j, lane] + b0), y[i + 1, lane])
    for i in range(even, rows):
        a = starts[i]
        for j in range(width):
            a0 = table[a + j]
            for lane in range(LANES):
                y[i, lane] = min(kind(x[j, lane] + a0), y[i, lane])


@njit(cache=True, nogil=True)
def copy_row(x, i, y, j):
    """Copy row ``i`` of panel ``x`` to row ``j`` of panel ``y`` (assigning slices is slow in numba)."""
    for lane in range(LANES):
        y[j, lane] = x[i, lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def least_sum(a, b, nothing):
    """Return the minimum of ``a[k] + b[k]``, or ``nothing``: for a pair of labels, or a row of a table and a vector."""
    kind, best = a.dtype.type, nothing
    for k in range(len(a)):
        best = min(best, kind(a[k] + b[k]))
    return best


@njit(cache=True, nogil=True, fastmath=FAST)
def close_over_pivots(table, pivots, nothing):
    """Run Floyd-Warshall in place, with the first ``pivots`` rows as joints; the table may be asymmetric.

    ``nothing`` stays where no walk over the pivots connects: lengths are never negative.
    """
    kind, n = table.dtype.type, table.shape[0]
    for z in range(pivots):
        for i in range(n):
            first = table[i, z]
            if i != z and first < nothing:
                for j in range(n):
                    table[i, j] = min(kind(first + table[z, j]), table[i, j])


@njit(cache=True, nogil=True)
def to_length(steps, nothing, scale):
    """Return a distance in units of weight: never negative, infinite where nothing connects."""
    return np.inf if steps >= nothing else max(steps, 0) * scale
