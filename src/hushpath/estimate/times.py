"""Edge times from totals of trips: noisy counts and sums, shrunk towards free-flow times a learnt congestion."""

from __future__ import annotations

from ..blocks import TripBlock
from .core import Estimator
from .trip_times import estimate_times

ESTIMATOR = Estimator(
    name="times",
    summary="times from totals of trips, shrunk towards public free-flow times a congestion learnt from the release",
    times=estimate_times,
    suits=lambda strategy: strategy.has(TripBlock),
    costly=True,
)
