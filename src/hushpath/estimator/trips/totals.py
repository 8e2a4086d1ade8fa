"""Noisy totals of trips, and what they say about times near a first guess.

A protected unit passes some edges in some periods.  Each of its times, clipped to public bounds, is a share p of the
way from the lower to the upper bound; it adds u p to A and u (1 - p) to B, where its u have norm 1 over all it passes.
Published are A and B with independent noise.  Around a guess p0 of the mean share, two combinations have independent
noise:

    tilt   = (1 - p0) A - p0 B            with mean  (sum of u) * (p - p0)
    passes = (p0 A + (1 - p0) B) / h      with mean about  sum of u,   where h = p0^2 + (1 - p0)^2

Models work with *log ratios*: the logarithm of time over free-flow time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from ...arrays import Float
from ...network.topology import Topology
from ...noise import Law
from ..base import Estimator

MARGIN = 0.02  # of the way between the bounds: guesses keep away from the bounds
PRIOR_LEVEL_SD = 0.5  # standard deviation of the mean log ratio of a city, before anything is measured
BISECTIONS = 40


@dataclass(frozen=True, eq=False)
class TripTotals:
    """Published totals of trips, and the public facts to read them with."""

    topology: Topology
    free_flow: Float  # (m,): seconds on the empty edge, positive
    low: Float  # low, high: (m,): public bounds of the seconds, ``0 <= low < high``
    high: Float
    edge_factor: Float  # (m,): the public factor of each edge before the norm is taken, positive
    above: Float  # above, below: (P, m): noisy A and B, one row per period, in units of the norm of one protected unit
    below: Float
    noise: float  # the standard deviation of the noise of each number; 0 for none
    law: Law  # the noise distribution

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of periods and edges."""
        return self.above.shape[0], self.above.shape[1]

    @cached_property
    def width(self) -> Float:
        """Upper less lower bounds."""
        return np.asarray(self.high - self.low, np.float64)

    @cached_property
    def log_ratio_bounds(self) -> tuple[Float, Float]:
        """The smallest and the largest log ratio of a guess."""
        least, most = (np.log((self.low + share * self.width) / self.free_flow) for share in (MARGIN, 1 - MARGIN))
        return np.asarray(least, np.float64), np.asarray(most, np.float64)

    def clip_log_ratio(self, guess: Float) -> Float:
        """Clip log ratios to their bounds."""
        return np.asarray(np.clip(guess, *self.log_ratio_bounds), np.float64)

    def clip_seconds(self, seconds: Float) -> Float:
        """Clip times to the public bounds, and make them positive."""
        least = np.maximum(self.low, np.minimum(1e-6 * self.free_flow, self.high))
        return np.asarray(np.clip(seconds, least, self.high), np.float64)

    def with_positive_noise(self) -> TripTotals:
        """Assume a little noise where there is none, so that nothing is divided by 0."""
        typical = float(np.abs(self.above + self.below).mean()) if self.above.size else 0.0
        return self if self.noise > 0 else replace(self, noise=1e-3 * typical + 1e-9)


class EdgeTimes(Protocol):
    """Estimated times of every period and edge, within their bounds."""

    @property
    def seconds(self) -> Float:
        """Times, one row per period."""

    @property
    def standard_error(self) -> Float:
        """Standard errors of the times."""

    @property
    def measured(self) -> Float:
        """How much of each time is from its own totals, from 0 to 1."""

    def sample(self, period: int, count: int, seed: int) -> Float:
        """Sample the times of one period, one row per sample, with the errors that edges share."""


@dataclass(frozen=True, kw_only=True)
class TripEstimator(Estimator):
    """An estimator of edge times.

    Attributes
    ----------
    estimate : callable
        From totals of trips to times of every period and edge.
    """

    unit_kind: ClassVar[str] = "trips"
    estimate: Callable[[TripTotals], EdgeTimes]


class Linearised(NamedTuple):
    """Totals around a guess: ``tilt = passes * slope * (log ratio - guess) + noise``, and noisy passes.

    Both noises are uncorrelated (independent if normal).
    """

    seconds: Float
    slope: Float
    tilt: Float
    tilt_sd: Float
    passes: Float
    passes_sd: Float


def linearise(totals: TripTotals, guess: Float) -> Linearised:
    """Linearise totals around a guess of the log ratios."""
    seconds = totals.free_flow * np.exp(guess)
    share = np.clip((seconds - totals.low) / totals.width, 0.0, 1.0)
    h = share**2 + (1 - share) ** 2
    tilt = (1 - share) * totals.above - share * totals.below
    passes = (share * totals.above + (1 - share) * totals.below) / h
    root = np.sqrt(h)
    return Linearised(seconds, seconds / totals.width, tilt, totals.noise * root, passes, totals.noise / root)


def _period_sums(totals: TripTotals, guess: Float) -> tuple[Float, Float, Float]:
    """Return sums over the edges of each period: the slope of tilts by the level, tilts, and their noise variance."""
    around = linearise(totals, guess)
    slope = np.maximum((around.passes * around.slope).sum(axis=1, keepdims=True), 0.0)
    noise = np.maximum((around.tilt_sd**2).sum(axis=1, keepdims=True), 1e-300)
    return slope, around.tilt.sum(axis=1, keepdims=True), noise


def level_sd(totals: TripTotals, guess: Float) -> Float:
    """Return the standard deviation of the level of each period, (P, 1)."""
    slope, _, noise = _period_sums(totals, guess)
    return np.asarray(1 / np.sqrt(1 / PRIOR_LEVEL_SD**2 + slope**2 / noise), np.float64)


def estimate_level(totals: TripTotals) -> Float:
    """Estimate one log ratio per period, (P, 1), from the sums of all edges, which are hardly noisy.

    Where even they say nothing, it is that of free flow.
    """
    shape = (totals.shape[0], 1)
    low, high = (np.full(shape, end) for end in (totals.log_ratio_bounds[0].min(), totals.log_ratio_bounds[1].max()))
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        slope, tilt, noise = _period_sums(totals, totals.clip_log_ratio(middle))
        higher = slope * tilt / noise > middle / PRIOR_LEVEL_SD**2
        low, high = np.where(higher, middle, low), np.where(higher, high, middle)
    return np.asarray((low + high) / 2, np.float64)
