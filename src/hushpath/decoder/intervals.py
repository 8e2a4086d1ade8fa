"""Intervals for true distances, from posterior samples of the weights: fitted on some rows, evaluated for any pair.

Distances over every sample, from some nodes to all, give the posterior mean and standard deviation of the distance for
some pairs.  Both are smooth in the released distance and depend on where the ends are.  So each is modelled, in
logarithms, by a curve of the distance plus one effect per node, and evaluated for any pair as fast as its distance.

The centre of an interval is a weighted mean of that posterior mean and the released distance: two estimates whose
errors differ.  How wide it must be, in standard deviations, is calibrated by a parametric bootstrap (``accuracy``),
below and above separately: among many routes, samples find short ones by chance more often than true weights do.  The
calibration only widens: in the bootstrap the model is right, and it cannot show how wrong the model may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..estimator.accuracy import NORMAL_90, error_quantile
from ..estimator.weights.posterior import SAMPLES, EstimatedReplicate, PosteriorSamples
from ..measurement.samples import distance_rows
from ..network.topology import Topology
from ..noise import simulation
from ..progress import steps

MAX_SOURCES, MIN_SOURCES = 48, 6
MAX_NUMBERS = 6 * 10**7  # distances over samples, kept while curves are fitted
KNOTS, ROUNDS = 16, 3
PRIOR_ROWS = 2.0  # pseudo-count that draws the effects of nodes to 0
ANSWER_WEIGHT = 0.25  # of the released distance in the centre of an interval
MIN_FACTOR, MAX_FACTOR = 1.0, 3.0  # of the calibration
BOOTSTRAP_SOURCES, LARGE_NETWORK = 12, 20_000
MAD_TO_SD = 1.2533
TINY = 1e-9
MAX_LOG = 600.0  # its exponential, times any unit, is still a finite number


class Curve(NamedTuple):
    """A function of a distance, given by its logarithm, plus one effect for each end."""

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
    middle: Curve  # the logarithm of the posterior mean over the released distance, both with the unit added
    log_sd: Curve  # the logarithm of the posterior standard deviation over the unit
    below: float = 1.0  # below, above: calibration factors of the standard deviation to either side
    above: float = 1.0
    shared_sd: float = 0.0  # the standard deviation of a further error in proportion to the distance

    @classmethod
    def fit(
        cls, topology: Topology, samples: PosteriorSamples, rows: Callable[[Int, Float], None], unit: float
    ) -> IntervalModel:
        """Fit curves to distances over posterior samples, and calibrate them by the bootstrap.

        ``samples`` are weights on ``topology`` in units of ``unit``; ``rows`` fills in released distances from nodes.
        """
        n = topology.num_nodes
        count = int(np.clip(MAX_NUMBERS // (SAMPLES * max(n, 1)), MIN_SOURCES, MAX_SOURCES))
        sources = np.sort(simulation(30).choice(n, min(n, count), replace=False))
        released = np.empty((len(sources), n))
        rows(sources, released)
        released /= unit
        found = cls._fit_curves(topology, samples.weights, sources, released, unit)
        every = 1 if n <= LARGE_NETWORK else max(1, len(sources) // BOOTSTRAP_SOURCES)
        errors = [
            cls._standardised_errors(topology, one, sources[::every], turn)
            for turn, one in enumerate(samples.replicates)
        ]
        pooled = np.concatenate([np.empty(0), *errors])
        if not len(pooled):
            return replace(found, shared_sd=samples.shared_sd)
        both, down, up = error_quantile(errors), -np.quantile(pooled, 0.05), np.quantile(pooled, 0.95)
        trust = len(errors) / (len(errors) + 1)
        factor = np.maximum(np.array([both, down, max(both, up)]) / NORMAL_90, TINY) ** trust
        both, down, up = np.clip(factor, MIN_FACTOR, MAX_FACTOR).tolist()
        return replace(found, below=(both + down) / 2, above=up, shared_sd=samples.shared_sd)

    @classmethod
    def _fit_curves(
        cls, topology: Topology, samples: Float, sources: Int, released: Float, unit: float
    ) -> IntervalModel:
        """Fit the curves without calibration: ``released`` rows from ``sources`` against rows over ``samples``.

        ``topology`` and ``unit`` as in `fit`.
        """
        rows = np.empty((len(samples), *released.shape), np.float32)
        for k in steps(range(len(samples)), "sampling"):
            rows[k] = distance_rows(topology, samples[k], sources)
        asked = np.isfinite(released)
        asked[np.arange(len(sources)), sources] = False
        values = rows[:, asked]
        small_sample = np.sqrt(1 + 1 / len(values)) * (1 + 0.7 / len(values))
        mean = values.mean(axis=0, dtype=np.float64)
        sd = MAD_TO_SD * small_sample * np.abs(values - mean).mean(axis=0, dtype=np.float64)
        log_distance, which = np.log(released[asked] + 1.0), np.nonzero(asked)
        ends = sources[which[0]], which[1]
        n = topology.num_nodes
        middle = _fit_curve(np.log(mean + 1.0) - log_distance, log_distance, *ends, n)
        # A single pair is off the curve by the error of its released distance.
        error = (np.expm1(log_distance + middle.at(log_distance, *ends)) - mean) * (1 - ANSWER_WEIGHT)
        sd = np.sqrt(sd**2 + _smooth(error**2, log_distance))
        return cls(unit, middle, _fit_curve(np.log(sd + TINY), log_distance, *ends, n))

    @classmethod
    def _standardised_errors(cls, topology: Topology, one: EstimatedReplicate, sources: Int, turn: int) -> Float:
        """Return true distances of a replicate less the centres of their intervals, in standard deviations.

        ``topology`` and ``sources`` as in `_fit_curves`; ``one`` is the replicate and ``turn`` its number.
        """
        released = distance_rows(topology, one.estimate, sources)
        again = cls._fit_curves(topology, one.samples, sources, released, 1.0)
        n = topology.num_nodes
        asked = simulation(500 + turn).choice(n, min(n, BOOTSTRAP_SOURCES), replace=False)
        true, answers = (distance_rows(topology, weights, asked) for weights in (one.truth, one.estimate))
        row, targets = np.nonzero(np.isfinite(true) & (asked[:, None] != np.arange(n)))
        centre, sd = again._centre_and_sd(answers[row, targets], asked[row], targets)
        return np.asarray((true[row, targets] - centre) / np.maximum(sd, TINY), np.float64)

    @classmethod
    def unbounded(cls, n: int, unit: float) -> IntervalModel:
        """Return the model where nothing is known: any distance is possible."""
        zero = np.zeros(1)
        return cls(unit, Curve(zero, zero, np.zeros(n)), Curve(zero, np.full(1, np.inf), np.zeros(n)))

    def _centre_and_sd(self, released: Float, sources: Int, targets: Int) -> tuple[Float, Float]:
        """Return the centre of each interval and the standard deviation, in units of noise as ``released`` is."""
        log_distance = np.log1p(released)
        middle = np.expm1(np.minimum(log_distance + self.middle.at(log_distance, sources, targets), MAX_LOG))
        sd = np.exp(np.minimum(self.log_sd.at(log_distance, sources, targets), MAX_LOG))
        return ANSWER_WEIGHT * released + (1 - ANSWER_WEIGHT) * middle, sd

    def intervals(self, answers: Float, sources: Int, targets: Int, confidence: float) -> Float:
        """Return one row (low, high) for each pair of ``sources`` and ``targets``, with this ``confidence``.

        It contains the released distance, which is finite, in ``answers``.
        """
        released, quantile = answers / self.unit, NormalDist().inv_cdf((1 + confidence) / 2)
        centre, sd = self._centre_and_sd(released, sources, targets)
        low = centre - quantile * np.hypot(self.below * sd, self.shared_sd * released)
        high = centre + quantile * np.hypot(self.above * sd, self.shared_sd * released)
        return np.stack([np.clip(low * self.unit, 0.0, answers), np.maximum(high * self.unit, answers)], axis=1)


def _bins(log_distance: Float) -> Int:
    inner = np.linspace(0, 1, KNOTS + 1)[1:-1]
    return np.asarray(np.searchsorted(np.unique(np.quantile(log_distance, inner)), log_distance))


def _smooth(values: Float, log_distance: Float) -> Float:
    """Return the mean of values at about the same distance."""
    if not len(values):
        return values
    bins = _bins(log_distance)
    return np.asarray((np.bincount(bins, values) / np.maximum(np.bincount(bins), 1))[bins], np.float64)


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
