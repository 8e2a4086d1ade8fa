"""Edge times from totals of trips, each edge by itself: the ratio of two noisy numbers, clipped to its bounds.

Where an edge was passed rarely the ratio is mostly noise.  Kept as the plain way that others are measured against.
"""

from __future__ import annotations

import numpy as np

from ..blocks import TripBlock
from .core import Estimator
from .trip_times import EdgeTimes
from .trip_totals import TripTotals


def estimate(totals: TripTotals) -> EdgeTimes:
    """``A / (A + B)`` of the way from the lowest to the highest time; where nothing was counted half of it."""
    count = totals.above + totals.below
    seen = count > 0
    part = np.clip(np.divide(totals.above, count, out=np.full(count.shape, 0.5), where=seen), 0.0, 1.0)
    width = totals.high - totals.low
    off = np.divide(totals.noise, count, out=np.ones(count.shape), where=seen)
    return EdgeTimes(totals.low + part * width, np.minimum(off, 1.0) * width)


ESTIMATOR = Estimator(
    name="ratio",
    summary="times from totals of trips, each edge by itself, clipped to its public bounds",
    times=estimate,
    suits=lambda strategy: strategy.has(TripBlock),
)
