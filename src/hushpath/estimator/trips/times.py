"""The estimators of edge times from noisy totals of trips: ``times`` and ``ratio``.

``times`` reads the totals twice by the one model of edges (``estimator.model``).  First it asks how many passed:
counts are noisy values with public facts, a field and bounds like any other.  With these, the tilt of the totals is a
noisy value of the *ratio* (time over free-flow time) of each edge with known noise, however few passed; where nobody
did, it says nothing, and the ratio is what public facts and neighbours say.  The guess around which totals are split
in counts and tilts (``totals.linearise``) is what all *other* edges say of an edge, so its own noise never decides its
own weight.

Several periods are read one by one; then each is read again with what the others say of an edge as one more fact.

Distances are minima over many routes, so mean times make them too long.  One factor per period corrects this, from
distances over samples of the model.

``ratio`` takes the ratio of two noisy numbers, edge by edge.  Where few trips passed, that is mostly noise.  It is the
baseline to compare others with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...arrays import Bool, Float
from ...kernels.residuals import Seen
from ...noise import simulation
from ..facts import Design, design_of
from ..model import EdgeModel, fit
from .totals import TripEstimator, TripTotals, estimate_level, linearise

SLOPE = 0.0, 0.1  # prior of how the ratio depends on the free-flow time
OTHER_PERIODS = 1.0, 0.5  # prior of how it depends on that of other periods
COUNT_OFFSET = 0.1  # of the noise: counts far below it are not told apart
LEAST_COUNT = 1e-3  # of the noise
LEAST_FLOW = 0.5  # of the noise: expected flows below are not told apart
PASS_VARIANCE = 0.1  # of single passes around the mean of their edge, relative to its square
PASS_SHARE = 0.1  # the weight of a typical pass among those of its unit
NOTHING = 1e3  # noise of a ratio where nobody passed
FLOOR = 0.9  # of the smaller of free flow and the level: what is above it is what facts change
LEVEL_SD = 0.2  # of the mean log of what is above the floor, around that of all passes
ROUNDS = 8  # of each fit: more are slower and no better
READINGS = 2  # the second around what the first found
SAMPLES = 6  # for standard errors


@dataclass(eq=False)
class ModelTimes:
    """Times estimated with a model."""

    seconds: Float  # (P, m): estimated times, within the public bounds
    standard_error: Float  # (P, m)
    measured: Float  # (P, m): the share of an edge's own totals in its time
    _exact: Bool = field(repr=False)
    _totals: TripTotals = field(repr=False)
    _models: tuple[EdgeModel, ...] = field(repr=False)

    def sample(self, period: int, count: int, seed: int) -> Float:
        """Sample the times of one period, one row per sample; the same seed gives the same samples."""
        if not self._models:
            return np.repeat(self.seconds[period][None], count, axis=0)
        rng, model = simulation(seed * 10_007 + period), self._models[period]
        drawn = np.stack([model.sample(rng) for _ in range(count)]) * self._totals.free_flow
        return np.where(self._exact[period], self.seconds[period], self._totals.clip_seconds(drawn))


def estimate_times(totals: TripTotals) -> ModelTimes:
    """Estimate a time for every edge in every period.

    Guarantees: every time is finite, positive and within its bounds; without noise it is the measured ratio wherever a
    trip passed.
    """
    shape, exact = totals.shape, np.zeros(totals.shape, np.bool_)
    if not shape[0] * shape[1]:
        return ModelTimes(np.zeros(shape), np.zeros(shape), np.zeros(shape), exact, totals, ())
    models = _read_periods(totals.with_positive_noise())
    mean = np.stack([model.mean for model in models])
    spread = np.stack([model.sites.public_mean * np.sqrt(model.spread) for model in models])
    error = np.sqrt(np.mean([[(model.sample(simulation(800 + turn)) - model.mean) ** 2 for model in models]
                             for turn in range(SAMPLES)], axis=0))  # fmt: skip
    seconds = totals.free_flow * mean
    measured = np.stack([model.measured for model in models])
    standard_error = np.minimum(totals.free_flow * np.minimum(error, 3 * spread + error), totals.width)
    if totals.noise <= 0:
        count = totals.above + totals.below
        exact = count > 0
        share = np.clip(totals.above / np.where(exact, count, 1.0), 0.0, 1.0)
        seconds = np.where(exact, totals.low + share * totals.width, seconds)
        standard_error = np.where(exact, 0.0, standard_error)
    return ModelTimes(totals.clip_seconds(seconds), standard_error, measured, exact, totals, models)


def _read_periods(totals: TripTotals) -> tuple[EdgeModel, ...]:
    """Fit a model to each period by itself; if there are several, again with what the others say."""
    design = design_of(totals.topology, SLOPE)
    level = np.broadcast_to(np.exp(estimate_level(totals)), totals.shape)
    models = [_read(totals, q, design, level[q]) for q in range(len(level))]
    if len(models) == 1:
        return tuple(models)
    found = np.log(np.stack([model.mean for model in models]))
    others = (found.sum(axis=0) - found) / (len(found) - 1)
    return tuple(
        _read(totals, q, design.with_column(others[q], *OTHER_PERIODS), models[q].sites.public_mean)
        for q in range(len(models))
    )


def _read(totals: TripTotals, period: int, design: Design, guess: Float) -> EdgeModel:
    """Fit a model to the totals of one period, around a ``guess`` of the ratios."""
    topology, free_flow = totals.topology, totals.free_flow
    level = float(np.exp(estimate_level(totals)[period, 0]))
    design = design.with_level(np.log(level - FLOOR * min(level, 1.0)), LEVEL_SD)
    for _ in range(READINGS):
        around = linearise(totals, totals.clip_log_ratio(np.log(np.broadcast_to(guess, totals.shape))))
        passes, sd = around.passes[period], around.passes_sd[period]
        one = float(np.median(sd))
        unknown = np.full(len(passes), max(float(passes.max()), 0.0) / one + 20.0)
        counted = fit(
            topology, Seen(True, passes / one, sd / one, np.zeros(len(passes)), unknown, COUNT_OFFSET),
            rounds=ROUNDS, routes=False,
        )  # fmt: skip
        count = np.maximum(counted.mean, LEAST_COUNT) * one
        slope = totals.width / free_flow / count  # of the ratio by the tilt
        middle = around.seconds[period] / free_flow
        scale = np.hypot(around.tilt_sd[period] * slope, middle * np.sqrt(PASS_VARIANCE * PASS_SHARE / count))
        values = middle + np.clip(around.tilt[period] * slope, -NOTHING, NOTHING)
        floor = FLOOR * min(level, 1.0)
        seen = Seen(
            True, values, np.clip(scale, 1e-6, NOTHING), np.maximum(totals.low / free_flow, floor),
            np.maximum(totals.high / free_flow, floor), -floor,
        )  # fmt: skip
        flow = counted.sites.public_mean * one / totals.edge_factor
        least = LEAST_FLOW * float(np.median(sd / totals.edge_factor))
        crowded = design.with_steps(np.log(flow + least))
        model = fit(topology, seen, design=crowded, rounds=ROUNDS, routes=False)
        guess = np.maximum(model.sites.public_mean, 1e-6)
    return model


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
