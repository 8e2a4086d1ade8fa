"""Distances over a tree of cells: exact tables, bottom-up.

All numbers are ``int64`` lattice steps; ``INFINITE`` stands for "not connected" and is small enough that two of them
add up without overflow.  Docs: docs/proofs/separator.md.
"""

from __future__ import annotations

import numpy as np
from numba import njit

INFINITE = 2**62 - 1


@njit(cache=True, nogil=True)
def closed_over(table, pivots):
    """Floyd-Warshall restricted to pivots, in place: shortest ways whose joints are all pivots."""
    n = table.shape[0]
    for z in pivots:
        through = table[z]
        for i in range(n):
            first = table[i, z]
            if first < INFINITE:
                row = table[i]
                for j in range(n):
                    row[j] = min(row[j], first + through[j])


@njit(cache=True, nogil=True)
def leaf_table(n, tails, heads, lengths):
    """All distances in a small graph given by edges."""
    table = np.full((n, n), INFINITE, np.int64)
    for i in range(n):
        table[i, i] = 0
    for e in range(len(tails)):
        a, b, w = tails[e], heads[e], lengths[e]
        if w < table[a, b]:
            table[a, b] = w
            table[b, a] = w
    closed_over(table, np.arange(n))
    return table


@njit(cache=True, nogil=True)
def joined_table(n, at0, table0, at1, table1, tails, heads, lengths, pivots):
    """Distances between the members of a split cell, from its children's boundary tables and its inner edges.

    A way through the cell changes from one child to the other, or takes an inner edge, only at separator vertices,
    and the children's tables are closed, so separator vertices are the only pivots needed (Lemma 33 of the paper).
    """
    table = np.full((n, n), INFINITE, np.int64)
    for i in range(n):
        table[i, i] = 0
    for a in range(len(at0)):
        for b in range(len(at0)):
            table[at0[a], at0[b]] = min(table[at0[a], at0[b]], table0[a, b])
    for a in range(len(at1)):
        for b in range(len(at1)):
            table[at1[a], at1[b]] = min(table[at1[a], at1[b]], table1[a, b])
    for e in range(len(tails)):
        a, b = tails[e], heads[e]
        w = min(table[a, b], lengths[e])
        table[a, b] = w
        table[b, a] = w
    closed_over(table, pivots)
    return table
