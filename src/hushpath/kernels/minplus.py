"""Min-plus products on panels: the one inner loop under labels, rows and matrices.

A panel holds ``LANES`` columns side by side in memory, so that the innermost loop has a fixed length and no gathers:
two rows and four terms at a time, which LLVM turns into packed minima (``vminpd``).  Numbers are ``float64``; ``inf``
stands for "not connected" and needs no special case.  ``FAST`` promises LLVM that no NaN occurs (there is no ``-inf``
to make one) but keeps infinities.  ``closed`` also takes ``int64``, where ``INFINITE`` stands for "not connected".
"""

from __future__ import annotations

from numba import njit

LANES = 32
INFINITE = 2**62 - 1  # a distance (at most ``LARGEST_DISTANCE``, ``data.weights``) added to it does not overflow
FAST = {"nnan", "nsz", "reassoc", "contract", "arcp"}


@njit(cache=True, nogil=True, fastmath=FAST)
def panel(table, starts, rows, width, x, y):
    """Lower ``y[i]`` to the minimum over ``j`` of ``table[starts[i] + j] + x[j]``, for ``rows`` rows of ``y``.

    ``table`` is flat, ``x`` has ``width`` and ``y`` ``rows`` rows (or more) of ``LANES`` columns.
    """
    even = rows - rows % 2
    most = width - width % 4
    for i in range(0, even, 2):
        a, b = starts[i], starts[i + 1]
        for j in range(0, most, 4):
            a0, a1, a2, a3 = table[a + j], table[a + j + 1], table[a + j + 2], table[a + j + 3]
            b0, b1, b2, b3 = table[b + j], table[b + j + 1], table[b + j + 2], table[b + j + 3]
            for lane in range(LANES):
                x0, x1, x2, x3 = x[j, lane], x[j + 1, lane], x[j + 2, lane], x[j + 3, lane]
                y[i, lane] = min(min(min(x0 + a0, x1 + a1), min(x2 + a2, x3 + a3)), y[i, lane])
                y[i + 1, lane] = min(min(min(x0 + b0, x1 + b1), min(x2 + b2, x3 + b3)), y[i + 1, lane])
        for j in range(most, width):
            a0, b0 = table[a + j], table[b + j]
            for lane in range(LANES):
                y[i, lane] = min(x[j, lane] + a0, y[i, lane])
                y[i + 1, lane] = min(x[j, lane] + b0, y[i + 1, lane])
    for i in range(even, rows):
        a = starts[i]
        for j in range(0, most, 4):
            a0, a1, a2, a3 = table[a + j], table[a + j + 1], table[a + j + 2], table[a + j + 3]
            for lane in range(LANES):
                y[i, lane] = min(
                    min(min(x[j, lane] + a0, x[j + 1, lane] + a1), min(x[j + 2, lane] + a2, x[j + 3, lane] + a3)),
                    y[i, lane],
                )
        for j in range(most, width):
            a0 = table[a + j]
            for lane in range(LANES):
                y[i, lane] = min(x[j, lane] + a0, y[i, lane])


@njit(cache=True, nogil=True)
def copied(x, i, y, j):
    """Copy row ``i`` of panel ``x`` to row ``j`` of panel ``y`` (assigning slices is slow in numba)."""
    for lane in range(LANES):
        y[j, lane] = x[i, lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def least_sum(a, b):
    """The minimum of ``a[k] + b[k]``: one pair of labels, or one row of a table against a vector."""
    best = float("inf")
    for k in range(len(a)):
        best = min(best, a[k] + b[k])
    return best


@njit(cache=True, nogil=True, fastmath=FAST)
def closed(table, pivots, nothing):
    """Floyd-Warshall in place, with the first ``pivots`` rows as joints; the table may be asymmetric.

    ``nothing`` (``inf`` or ``INFINITE``) stays where no walk over the pivots connects: lengths are never negative.
    """
    n = table.shape[0]
    for z in range(pivots):
        for i in range(n):
            first = table[i, z]
            if i != z and first < nothing:
                for j in range(n):
                    table[i, j] = min(first + table[z, j], table[i, j])
