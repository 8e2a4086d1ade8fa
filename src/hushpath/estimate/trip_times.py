"""Edge times from noisy totals of trips (stand-in)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float
from ..noise import simulation
from .trip_totals import TripTotals


@dataclass(frozen=True, eq=False)
class EdgeTimes:
    """Times of every period and edge."""

    seconds: Float
    spread: Float

    def draws(self, period: int, count: int, seed: int) -> Float:
        """Plausible times."""
        noise = simulation(seed).normal(size=(count, self.seconds.shape[1]))
        return np.maximum(self.seconds[period] + self.spread[period] * noise, 1e-9)


def estimate_times(totals: TripTotals) -> EdgeTimes:
    """The plain ratio."""
    count = np.maximum(totals.above + totals.below, max(totals.noise, 1e-9))
    part = np.clip(totals.above / count, 0.0, 1.0)
    seconds = totals.low + part * (totals.high - totals.low)
    return EdgeTimes(seconds, totals.noise / count * (totals.high - totals.low))
