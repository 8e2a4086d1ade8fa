"""Sums along shortest paths: what two different edges of a path have in common."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def path_products(start, heads, edges, lengths, distance, order, unreached, left, out):
    """Add to ``out[c]`` the products of ``left[c]`` on any two edges of a shortest path, over paths to all nodes.

    ``distance`` are those from one source, ``order`` the nodes by distance; ``lengths`` are at least one step, so a
    node follows its parent.
    """
    n, kinds = len(start) - 1, len(left)
    total, squares = np.zeros((n, kinds)), np.zeros((n, kinds))
    found = np.zeros(n, np.bool_)
    for i in range(n):
        v = order[i]
        if distance[v] == unreached:
            continue
        for c in range(kinds):
            out[c] += total[v, c] * total[v, c] - squares[v, c]
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if not found[u] and distance[u] > 0 and distance[v] + lengths[arc] == distance[u]:
                found[u] = True
                for c in range(kinds):
                    x = left[c, edges[arc]]
                    total[u, c] = total[v, c] + x
                    squares[u, c] = squares[v, c] + x * x
