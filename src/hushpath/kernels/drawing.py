"""Layouts of networks on a map: reduce their stress by stochastic descent."""

from __future__ import annotations

import numpy as np

from ..compiled import njit


@njit(cache=True, nogil=True)
def straighten(places, tails, heads, pivots, hops, terms, epochs):
    """Move both ends of each term towards the distance wanted; far terms and later ``epochs`` move them less.

    ``places`` are changed.  The first ``terms`` are edges between ``tails`` and ``heads``, the others nodes and
    ``pivots`` with the ``hops`` between them.
    """
    edges, many = len(tails), len(pivots)
    for epoch in range(epochs):
        step = 0.9 * 0.75**epoch
        for term in terms:
            if term < edges:
                i, j, wanted = tails[term], heads[term], 1.0
            else:
                i, k = (term - edges) // many, (term - edges) % many
                j, wanted = pivots[k], float(hops[i, k])
            if i == j or wanted == 0.0:
                continue
            dx, dy = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
            length = np.sqrt(dx * dx + dy * dy) + 1e-9
            share = step / wanted if term >= edges else step
            move = min(share, 1.0) * (length - wanted) / length / 2
            places[i, 0] -= move * dx
            places[i, 1] -= move * dy
            if term < edges:  # all nodes would pull at a pivot
                places[j, 0] += move * dx
                places[j, 1] += move * dy
