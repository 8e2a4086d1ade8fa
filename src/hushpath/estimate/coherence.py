"""Errors that add up along routes: what two different edges of a shortest path have in common.

Noise is independent between edges, so products of what is left over on two edges of a path average to the errors they
share, if the path was chosen without their noisy weights: those of one fold at a time are hidden.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from ..kernels.coherence import path_products
from ..kernels.paths import UNREACHED, distances_from
from ..noise import simulation
from .shrink import sample_of_sources, whole

FOLDS = 5


def shared_along_routes(topology: Topology, expected: Float, mean: Float, left: Float) -> Float:
    """The variance that each row of ``left`` shares along routes, relative to the square of their length.

    Args:
        expected: each weight as it is expected with its own noisy weight hidden.
        mean: its estimate.
        left: rows of errors, one number per edge.
    """
    arcs, n = topology.arcs, topology.num_nodes
    fold, row = simulation(22).integers(0, FOLDS, topology.num_edges), np.empty((1, n), np.int64)
    products, squares, unit = np.zeros(len(left)), 0.0, float(whole(np.ones(1))[0])
    for k in range(FOLDS):
        hidden = fold == k
        lengths = whole(np.where(hidden, expected, mean))[arcs.edges]
        seen = np.where(hidden, left, 0.0)
        for source in sample_of_sources(n):
            distances_from(arcs, lengths, np.array([source]), row)
            order = np.argsort(row[0], kind="stable")
            path_products(arcs.start, arcs.heads, arcs.edges, lengths, row[0], order, UNREACHED, seen, products)
            far = row[0][row[0] != UNREACHED] / unit
            squares += float(far @ far)
    # Two edges are hidden together in one fold of FOLDS ** 2; squares count every path once per fold.
    return np.asarray(products * FOLDS / max(squares / FOLDS, 1e-300), np.float64)
