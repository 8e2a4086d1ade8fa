"""Parametric bootstrap: measure weights that a fitted model describes, and estimate them again.

The model is fitted to a release.  A *replicate* takes weights drawn from the model for the truth and measures them with
fresh noise.  Estimating again from scratch shows the errors of an estimator, because the truth of a replicate is known.
What the bootstrap cannot show is that the model itself is wrong: in every replicate it is right.

Users: ``weights.shrink`` (how much to shrink), ``weights.sums_prior`` and ``weights.posterior`` with
``decoder.intervals`` (how wide intervals must be).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..arrays import Float
from .base import NoisyEdges

LEVEL = 0.9  # intervals are calibrated at this coverage
NORMAL_90 = 1.6449  # 90 % of normal numbers are within so many standard deviations


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
