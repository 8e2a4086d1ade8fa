"""Errors that add up along routes: what two different edges of a shortest path have in common.

Noise is independent between edges, so products of what is left over on two edges of a path average to the errors they
share, if the path was chosen without their noisy weights: those of one fold at a time are hidden.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float
from ..blocks.routes import STEP, routes
from ..data.topology import Topology
from ..kernels.paths import UNREACHED
from ..kernels.routes import pair_products
from ..noise import simulation

FOLDS = 5


def shared_along_routes(topology: Topology, expected: Float, mean: Float, left: Float) -> Float:
    """The variance that each row of ``left`` shares along routes, relative to the square of their length.

    Args:
        expected: each weight as it is expected with its own noisy weight hidden.
        mean: its estimate.
        left: rows of errors, one number per edge.
    """
    fold = simulation(22).integers(0, FOLDS, topology.num_edges)
    products, squares = np.zeros(len(left)), 0.0
    for k in range(FOLDS):
        hidden = fold == k
        seen = np.where(hidden, left, 0.0)
        for found in routes(topology, np.where(hidden, expected, mean)):
            products += [pair_products(found.order, found.parent, found.edge, row) for row in seen]
            far = found.distance[found.distance != UNREACHED] * STEP
            squares += float(far @ far)
    # Two edges are hidden together in one fold of FOLDS ** 2; squares count every path once per fold.
    return np.asarray(products * FOLDS / max(squares / FOLDS, 1e-300), np.float64)
