r"""How many numbers of one group a single edge can move: the cut lemma.

Reads only public shapes: no function here takes weights.

A *group* measures distances inside one cell (a public subgraph) between *hubs* (all pairs of ``p`` vertices) and
from each hub to ``q`` *boundary* vertices.  Write Q for the graph of measured pairs.

Cut lemma (undirected; docs/proofs/cut_lemma.md).  If one edge of the cell grows by ``a >= 0``, the pairs whose
distance changes lie inside a cut of Q, and each changes by at most ``a``.  So the group moves by at most
``a * maxcut(Q)`` in L1 and ``a * sqrt(maxcut(Q))`` in L2.  For hubs and boundary,

    maxcut(Q) <= max over i of  i (p - i) + q max(i, p - i)  =  k (p + q - k),   k = min(p, floor((p + q) / 2)),

which is ``floor(p^2 / 4)`` for ``q = 0``: half of the naive count.  In a directed graph the two sides may overlap, so
every ordered pair counts: ``p (p - 1) + 2 p q``.

Guarantees (one test each, tests/unit/test_sensitivity.py):
    the closed form equals the maximum over i; it is at least the true max cut of small Q; it is reached on a path;
    it never exceeds the number of measured pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Int
from ..errors import OptionError


def hub_cut(hubs: ArrayLike, boundary: ArrayLike = 0, *, directed: bool) -> Int:
    """Return how many measured numbers of each group one edge can move (vectorised over groups).

    >>> hub_cut([2, 5, 3], [0, 0, 4], directed=False).tolist()
    [1, 6, 12]
    >>> hub_cut(3, directed=True).tolist()
    6
    """
    p, q = np.asarray(hubs, np.int64), np.asarray(boundary, np.int64)
    if (p < 0).any() or (q < 0).any():
        raise OptionError("a group cannot have a negative number of hubs or boundary vertices")
    if directed:
        return np.asarray(p * (p - 1) + 2 * p * q)
    k = np.minimum(p, (p + q) // 2)
    return np.asarray(k * (p + q - k))
