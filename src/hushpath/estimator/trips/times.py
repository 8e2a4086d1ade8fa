"""The estimators of edge times from noisy totals of trips: ``times`` and ``ratio``.

``times`` moves each edge from the prediction of a congestion model (``congestion``) as far as its own totals warrant.
The estimate minimises the error of single times.  Distances are minima over many routes, so uncertain times are lowered
a little, by `DOWNWARD_SHRINK` of their standard deviation.

Samples of times for intervals are exact draws from the fitted model, with the errors that edges share: coefficients,
levels and fields.  Two things that the model does not know are added, with factors chosen on simulated cities and
checked on others (``bench/trips.py``): people avoid slow edges, so true times on their routes are less often short by
chance than samples are (`PATH_SELECTION_BIAS`); and a wrong model is wrong for many edges together (`MODEL_ERROR_SD`).

``ratio`` takes the ratio of two noisy numbers, edge by edge.  Where few trips passed, that is mostly noise.  It is the
baseline to compare others with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Bool, Float
from ...noise import simulation
from .congestion import CongestionModel, fit, sample
from .totals import TripEstimator, TripTotals

DOWNWARD_SHRINK = 0.05
PATH_SELECTION_BIAS = (0.16, 0.22)  # with one period, with several
MODEL_ERROR_SD = (0.06, 0.25)  # relative to the standard deviation of single edges
SAMPLES = 6  # for the variance that edges share
SEED_OFFSET = 5_000  # between the seeds of model errors and those of the samples
CACHE_SIZE = 5 * 10**7  # numbers of samples kept for other periods


@dataclass(eq=False)
class ModelTimes:
    """Times estimated with a congestion model."""

    seconds: Float  # (P, m): estimated times, within the public bounds
    standard_error: Float  # (P, m)
    measured: Float  # (P, m): the share of an edge's own totals in its time
    _exact: Bool = field(repr=False)
    _model: CongestionModel | None = field(repr=False)
    _cache: dict[tuple[int, int], Float] = field(default_factory=dict, repr=False)

    def sample(self, period: int, count: int, seed: int) -> Float:
        """Sample the times of one period, one row per sample; the same seed gives the same samples."""
        if self._model is None:
            return np.repeat(self.seconds[period][None], count, axis=0)
        if (found := self._cache.get((count, seed))) is None:
            found = np.stack([self._sample_periods(self._model, seed * 10_007 + turn) for turn in range(count)])
            self._cache.clear()
            if len(self.seconds) > 1 and found.size <= CACHE_SIZE:  # all periods are sampled together
                self._cache[count, seed] = found
        return np.asarray(found[:, period], np.float64)

    def _sample_periods(self, model: CongestionModel, seed: int) -> Float:
        shared, own = _deviations(model, seed)
        periods, several = len(shared), int(len(shared) > 1)
        relative = np.sqrt(model.seen.posterior_variance)
        error_sd = MODEL_ERROR_SD[several] * np.sqrt(np.mean(relative**2, axis=1, keepdims=True))
        rng = simulation(seed + SEED_OFFSET)
        together = error_sd * model.graph.wide_fields(rng, periods) + model.level_sd * rng.normal(size=(periods, 1))
        factor = np.exp(PATH_SELECTION_BIAS[several] * relative + together)
        times = model.around.seconds * (1 + shared + own) * factor
        return np.where(self._exact, self.seconds, model.totals.clip_seconds(times))


def estimate_times(totals: TripTotals) -> ModelTimes:
    """Estimate a time for every edge in every period.

    Guarantees: every time is finite, positive and within its bounds; without noise it is the measured ratio wherever a
    trip passed.
    """
    shape = totals.shape
    exact = np.zeros(shape, np.bool_)
    if not shape[0] * shape[1]:
        return ModelTimes(np.zeros(shape), np.zeros(shape), np.zeros(shape), exact, None)
    model = fit(totals.with_positive_noise())
    seen, middle = model.seen, model.around.seconds
    variance = seen.posterior_variance
    common = np.mean([_deviations(model, turn)[0] ** 2 for turn in range(SAMPLES)], axis=0).mean(axis=1, keepdims=True)
    relative = np.sqrt(variance + common * (variance / seen.tau**2) ** 2 + model.level_sd**2)
    seconds = middle * (1 + model.edge_effects) * np.exp(-DOWNWARD_SHRINK * np.sqrt(variance))
    standard_error = np.minimum(middle * relative, totals.width)
    if totals.noise <= 0:
        count = totals.above + totals.below
        exact = count > 0
        share = np.clip(totals.above / np.where(exact, count, 1.0), 0.0, 1.0)
        seconds = np.where(exact, totals.low + share * totals.width, seconds)
        standard_error = np.where(exact, 0.0, standard_error)
    measured = seen.tau**2 / (seen.tau**2 + seen.error)
    return ModelTimes(totals.clip_seconds(seconds), standard_error, measured, exact, model)


def _deviations(model: CongestionModel, seed: int) -> tuple[Float, Float]:
    """Return how far a posterior sample is from the prediction: by what edges share, and by single edges."""
    drawn, own = sample(model.solution.columns, model.fields, model.seen, model.solution, seed)
    return drawn.expected - (model.prediction - model.level), own


@dataclass(frozen=True, eq=False)
class RatioTimes:
    """Times estimated edge by edge."""

    seconds: Float
    standard_error: Float
    measured: Float
    low: Float
    high: Float

    def sample(self, period: int, count: int, seed: int) -> Float:
        """Sample times with independent errors, within their bounds."""
        errors = self.standard_error[period] * simulation(seed).normal(size=(count, len(self.low)))
        return np.asarray(np.clip(self.seconds[period] + errors, self.low, self.high), np.float64)


def estimate_ratios(totals: TripTotals) -> RatioTimes:
    """Return ``A / (A + B)`` of the way from the lower to the upper bound; half of it where nothing was counted."""
    count = totals.above + totals.below
    seen = count > 0
    part = np.clip(np.divide(totals.above, count, out=np.full(count.shape, 0.5), where=seen), 0.0, 1.0)
    error = np.divide(totals.noise, count, out=np.ones(count.shape), where=seen)
    standard_error = np.minimum(error, 1.0) * totals.width
    return RatioTimes(
        totals.low + part * totals.width, standard_error, seen.astype(np.float64), totals.low, totals.high
    )


TIMES = TripEstimator(
    name="times",
    summary="times from totals of trips, shrunk towards free flow multiplied by a congestion factor learnt from it",
    estimate=estimate_times,
    costly=True,
)
RATIO = TripEstimator(
    name="ratio",
    summary="times from totals of trips, each edge by itself, clipped to its public bounds",
    estimate=estimate_ratios,
)
