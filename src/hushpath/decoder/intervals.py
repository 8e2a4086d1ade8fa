"""Intervals for true distances: how far estimates are off in replicates, fitted on some rows, evaluated for any pair.

A replicate is a set of weights drawn from the model of a release, and the estimate that would be made of it
(``estimator.weights.shrink.Replicates``); for trips, a sample of the times, against the released ones.  Mean and
standard deviation of the error of a pair are smooth in the estimated distance and depend on where the ends are.  So
each is modelled by a curve of the distance plus, for the standard deviation, one effect per node, and evaluated for
any pair as fast as its distance.

In replicates the model is right, and no replicate shows how wrong it may be.  What shows it is the check of the release
itself, with what was found on development networks (``estimator.weights.shrink.Calibration``).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int

KNOTS, ROUNDS = 16, 3
PRIOR_ROWS = 2.0  # pseudo-count that draws the effects of nodes to 0
TINY = 1e-9
MAX_LOG = 600.0  # its exponential, times any unit, is still a finite number


class Curve(NamedTuple):
    """A function of the logarithm of a distance, plus one effect for each end."""

    knots: Float
    heights: Float
    node_effects: Float

    def at(self, log_distance: Float, sources: Int, targets: Int) -> Float:
        """Evaluate it for pairs."""
        effects = self.node_effects[sources] + self.node_effects[targets]
        return np.asarray(np.interp(log_distance, self.knots, self.heights) + effects)


@dataclass(frozen=True, eq=False)
class IntervalModel:
    """The distribution of a true distance given the released one."""

    unit: float  # the scale of the noise, in units of weight: shorter distances are not told apart
    middle: Curve  # the logarithm of the mean true distance over the released one, both with the unit added
    log_sd: Curve  # the logarithm of the standard deviation of the error over the unit
    relative_sd: float = 0.0  # the standard deviation of a further error in proportion to the distance
    inflation: float = 1.0  # of all standard deviations

    @classmethod
    def fit(
        cls, n: int, ends: tuple[Int, Int], estimates: Float, truths: Float, unit: float, relative_sd: float = 0.0,
        inflation: float = 1.0,
    ) -> IntervalModel:  # fmt: skip
        """Fit curves to estimated and true distances of the same pairs in replicates, one row each.

        ``ends`` are the nodes of the pairs in a network of ``n``; distances are in units of ``unit``.  What replicates
        do not show is in ``relative_sd`` and ``inflation``.
        """
        log_distance = np.log(estimates.mean(axis=0) + 1.0)
        gap = np.log((truths.mean(axis=0) + 1.0) / (estimates.mean(axis=0) + 1.0))
        middle = _without_ends(_fit_curve(gap, log_distance, *ends, n))
        centres = np.expm1(np.log1p(estimates) + middle.at(log_distance, *ends))
        squares = np.mean((truths - centres) ** 2, axis=0)
        # The mean of the logarithm of a mean of few squares is too low.
        correction = 1 + 1 / len(truths)
        spread = _fit_curve(0.5 * np.log(correction * squares + TINY), log_distance, *ends, n)
        return cls(unit, middle, spread, relative_sd, inflation)

    @classmethod
    def unbounded(cls, n: int, unit: float) -> IntervalModel:
        """Return the model where nothing is known: any distance is possible."""
        zero = np.zeros(1)
        return cls(unit, Curve(zero, zero, np.zeros(n)), Curve(zero, np.full(1, np.inf), np.zeros(n)))

    def intervals(self, answers: Float, sources: Int, targets: Int, confidence: float) -> Float:
        """Return one row (low, high) for each pair of ``sources`` and ``targets``, with this ``confidence``.

        It contains the released distance, which is finite, in ``answers``.
        """
        released, quantile = answers / self.unit, NormalDist().inv_cdf((1 + confidence) / 2)
        log_distance = np.log1p(released)
        middle = np.expm1(np.minimum(log_distance + self.middle.at(log_distance, sources, targets), MAX_LOG))
        sd = np.exp(np.minimum(self.log_sd.at(log_distance, sources, targets), MAX_LOG))
        reach = quantile * self.inflation * np.hypot(sd, self.relative_sd * released)
        low, high = (middle - reach) * self.unit, (middle + reach) * self.unit
        return np.stack([np.clip(low, 0.0, answers), np.maximum(high, answers)], axis=1)


def _without_ends(curve: Curve) -> Curve:
    return curve._replace(node_effects=np.zeros_like(curve.node_effects))


def _bins(log_distance: Float) -> Int:
    inner = np.linspace(0, 1, KNOTS + 1)[1:-1]
    return np.asarray(np.searchsorted(np.unique(np.quantile(log_distance, inner)), log_distance))


def _fit_curve(values: Float, log_distance: Float, sources: Int, targets: Int, n: int) -> Curve:
    """Fit heights and node effects in turns to ``values`` at ``log_distance`` of pairs (sources, targets) of ``n``."""
    effects = np.zeros(n)
    knots = heights = np.zeros(1)
    if not len(values):
        return Curve(knots, heights, effects)
    bins = _bins(log_distance)
    count = np.bincount(bins)
    filled = count > 0
    order = np.argsort(knots := np.bincount(bins, log_distance)[filled] / count[filled])
    seen = np.bincount(targets, minlength=n)
    for _ in range(ROUNDS):
        without_effects = values - effects[sources] - effects[targets]
        heights = np.bincount(bins, without_effects)[filled] / count[filled]
        rest = values - np.interp(log_distance, knots[order], heights[order]) - effects[sources]
        effects = np.bincount(targets, rest, minlength=n) / (seen + PRIOR_ROWS)
    return Curve(knots[order], heights[order], effects)
