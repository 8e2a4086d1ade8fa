"""Edge times from noisy totals of trips (stand-in)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from ..noise import Law, simulation


@dataclass(frozen=True, eq=False)
class TripTotals:
    """What was measured."""

    topology: Topology
    free_flow: Float
    low: Float
    high: Float
    emphasis: Float
    above: Float
    below: Float
    noise: float
    law: Law


@dataclass(frozen=True, eq=False)
class TripTimes:
    """Times of every period and edge."""

    seconds: Float
    spread: Float

    def draws(self, period: int, count: int, seed: int) -> Float:
        """Plausible times."""
        noise = simulation(seed).normal(size=(count, self.seconds.shape[1]))
        return np.maximum(self.seconds[period] + self.spread[period] * noise, 1e-9)


def estimate_times(totals: TripTotals) -> TripTimes:
    """The plain ratio."""
    count = np.maximum(totals.above + totals.below, max(totals.noise, 1e-9))
    part = np.clip(totals.above / count, 0.0, 1.0)
    seconds = totals.low + part * (totals.high - totals.low)
    return TripTimes(seconds, totals.noise / count * (totals.high - totals.low))
