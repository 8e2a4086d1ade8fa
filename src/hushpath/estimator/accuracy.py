"""How far estimated weights are off: a parametric bootstrap, and the errors that edges share along routes.

**Parametric bootstrap.**  A model is fitted to a release.  A *replicate* takes weights drawn from the model for the
truth and measures them with fresh noise.  Estimating again from scratch shows the errors of an estimator, because the
truth of a replicate is known.  What the bootstrap cannot show is that the model itself is wrong: in every replicate it
is right.

**Shared errors.**  Independent errors average out along a route; shared errors add up.  Noise is independent between
edges, so the products of residuals (noisy less estimated weights) on two different edges of a route average to the
error that both share.  The routes must be chosen without the noise of the edges whose residuals are multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arrays import Float
from ..kernels.paths import UNREACHED
from ..kernels.routes import add_usage, pair_products
from ..measurement.samples import STEP, routes
from ..network.topology import Topology
from ..noise import simulation
from .base import NoisyEdges

LEVEL = 0.9  # intervals are calibrated at this coverage
NORMAL_90 = 1.6449  # 90 % of normal numbers are within so many standard deviations
FOLDS = 5
SIGN_FLIPS = 16
SIGNIFICANCE = 3.0  # standard deviations: products of few busy edges have long tails


class Replicate(NamedTuple):
    """Weights taken for the truth, in lattice steps, and noisy measurements of them."""

    truth: Float
    noisy: NoisyEdges


def replicate(noisy: NoisyEdges, weights: Float, rng: np.random.Generator) -> Replicate:
    """Take weights for the truth and measure them as a release was measured, with fresh noise."""
    truth = np.clip(np.rint(weights), *noisy.bounds)
    values = np.rint(truth + noisy.draw_noise(rng)).astype(np.int64)
    return Replicate(truth, replace(noisy, values=values))


def error_quantile(standardised: Sequence[Float]) -> float:
    """Return the 90 % quantile of absolute errors, pooled over replicates.

    Errors are in units of their predicted standard deviation, so a well calibrated prediction gives 1.645.
    """
    return float(np.quantile(np.abs(np.concatenate(standardised)), LEVEL))


def shared_variance(topology: Topology, expected: Float, mean: Float, residuals: Float) -> Float:
    """Estimate the variance that errors share along routes, relative to the squared length of the routes.

    Routes are chosen by cross-fitting: the ``residuals`` of one fold of the edges of ``topology`` are multiplied along
    routes over the ``mean`` weights of the other folds and the ``expected`` ones of that fold, its noise hidden.
    """
    fold = simulation(22).integers(0, FOLDS, topology.num_edges)
    products, squares = np.zeros(len(residuals)), 0.0
    for k in range(FOLDS):
        hidden = fold == k
        found, length = _route_sums(topology, np.where(hidden, expected, mean), np.where(hidden, residuals, 0.0))
        products, squares = products + found, squares + length
    # Two edges are hidden together in one fold of FOLDS ** 2; squares count every path once per fold.
    return np.asarray(products * FOLDS / max(squares / FOLDS, 1e-300), np.float64)


def shared_error(topology: Topology, weights: Float, estimates: Float, residuals: Float, prior_sd: float) -> float:
    """Estimate the error that weights share along routes, relative to the length of the routes.

    Routes of ``topology`` are shortest paths over ``weights``; their lengths are those of ``estimates``.  The result is
    shrunk: flipping the signs of ``residuals`` at random shows what chance alone gives.  An error of the size of
    ``prior_sd`` counts as far as it stands out from chance, a larger one where it is significant.
    """
    signs = simulation(6).choice([-1.0, 1.0], (SIGN_FLIPS, len(residuals)))
    (products, *flipped), squares = _route_sums(topology, weights, np.vstack([residuals, residuals * signs]), estimates)
    squares = max(squares, 1e-100)  # its square is positive too
    seen, chance = max(products, 0.0) / squares, float(np.mean(np.square(flipped))) / squares**2
    likely = prior_sd**4 + max(seen**2 - SIGNIFICANCE**2 * chance, 0.0)
    return float(np.sqrt(seen * likely / max(likely + chance, 1e-300)))


def _route_sums(topology: Topology, weights: Float, rows: Float, estimates: Float | None = None) -> tuple[Float, float]:
    """Sum the products of pairs of edges of each route, for each of ``rows``, and the squared lengths of routes.

    Routes are shortest paths of ``topology`` over ``weights`` from a fixed sample of nodes.  Their lengths are those of
    ``estimates``, by default of ``weights``.
    """
    products, squares = np.zeros(len(rows)), 0.0
    for found in routes(topology, weights):
        tree = found.order, found.parent, found.edge
        products += [pair_products(*tree, row) for row in rows]
        if estimates is None:
            far = found.distance[found.distance != UNREACHED] * STEP
            squares += float(far @ far)
        else:
            count = np.zeros(len(estimates))
            add_usage(*tree, count)
            squares += pair_products(*tree, estimates) + float(count @ estimates**2)
    return products, squares
