"""Edge times from totals of trips, each edge by itself: the ratio of two noisy numbers, clipped to its bounds.

Where an edge was passed rarely the ratio is mostly noise.  Kept as the plain way that others are measured against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float
from ..blocks import TripBlock
from ..noise import simulation
from .core import Estimator
from .trip_totals import TripTotals


@dataclass(frozen=True, eq=False)
class Ratios:
    """Times, each by itself."""

    seconds: Float
    spread: Float
    low: Float
    high: Float

    def draws(self, period: int, count: int, seed: int) -> Float:
        """Times that are off independently of each other, within their bounds."""
        noise = simulation(seed).normal(size=(count, len(self.low)))
        return np.asarray(np.clip(self.seconds[period] + self.spread[period] * noise, self.low, self.high), np.float64)


def estimate(totals: TripTotals) -> Ratios:
    """``A / (A + B)`` of the way from the lowest to the highest time; where nothing was counted half of it."""
    count = totals.above + totals.below
    seen = count > 0
    part = np.clip(np.divide(totals.above, count, out=np.full(count.shape, 0.5), where=seen), 0.0, 1.0)
    width = totals.high - totals.low
    off = np.divide(totals.noise, count, out=np.ones(count.shape), where=seen)
    return Ratios(totals.low + part * width, np.minimum(off, 1.0) * width, totals.low, totals.high)


ESTIMATOR = Estimator(
    name="ratio",
    summary="times from totals of trips, each edge by itself, clipped to its public bounds",
    times=estimate,
    suits=lambda strategy: strategy.has(TripBlock),
)
