"""Travel times from totals of trips: shortest paths over the estimated times of one period.

All periods are estimated together, once, because they inform each other; answers are for one period (``at``).
"""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import ClassVar, cast

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, OptionError
from ..estimator.trips.totals import EdgeTimes, TripEstimator, TripTotals
from ..measurement.blocks import Block, TripBlock
from ..measurement.private_step import Measurements
from ..measurement.samples import distance_rows
from ..measurement.strategy import Strategy
from ..measurement.trip_strategy import SHARE, TripStrategy, free_flow_of
from ..network.topology import Topology
from ..noise import simulation
from .base import Bound, Hops, Prediction
from .edges import EdgeDecoder
from .intervals import IntervalModel

SAMPLES, SOURCES = 16, 16  # of distances for intervals; fewer sources in large networks
VISITED = 4_000_000
# What no draw shows, in proportion to the distance, from development networks: those who passed are a sample, and a
# model is wrong for all edges by about this part of what it says a time is wrong by.
OF_SAMPLE, OF_MODEL = 0.005, 0.12
SEED = 900  # of samples for intervals: the same release has the same intervals everywhere


def totals_of(measurements: Measurements) -> TripTotals:
    """Return the noisy totals in units of the norm of one protected unit, with the public facts they are read with."""
    strategy = cast("TripStrategy", measurements.strategy)
    terms, numbers = strategy.terms, measurements.values / SHARE
    weighted = terms.unit.max_edges is None  # else each counted edge has the same weight
    factor = terms.edge_weights.astype(np.float64) if weighted else np.ones(strategy.topology.num_edges)
    above, below = numbers.reshape(2, len(terms.periods), strategy.topology.num_edges)
    return TripTotals(
        topology=strategy.topology, free_flow=free_flow_of(strategy.topology), low=terms.low, high=terms.high,
        edge_factor=factor, above=above, below=below, noise=strategy.noise,
        law=strategy.law,
    )  # fmt: skip


class TripDecoder(EdgeDecoder):
    """Shortest paths over the times of one period."""

    name = "trips"
    summary = "shortest paths over edge times estimated from totals of trips"
    blocks: ClassVar[tuple[type[Block], ...]] = (TripBlock,)
    estimator: TripEstimator
    _period: int | None = None
    _whole: TripDecoder | None = None
    path_errors = None

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:  # noqa: ARG004
        """Return infinity: how often an edge was passed is private, and noise on few passes is as large as any time.

        What is certain is that every time lies within its public bounds.
        """
        return Bound(float("inf"))

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004
        """Refuse: it is unknown without a declared typical release of trips (``planning.trips``)."""
        raise CannotError("the error of a release of trips is predicted by `plan` for a declared number of units")

    def at(self, period: int) -> TripDecoder:
        """Return a decoder of one period, which shares the estimates."""
        whole = self._whole or self
        other = copy(whole)
        for name in ("lengths", "interval_model", "index"):
            vars(other).pop(name, None)
        other._period, other._whole, other.weights = period, whole, whole.all_weights[period]
        other._tried = False
        return other

    @cached_property
    def times(self) -> EdgeTimes:
        """Times of all periods, estimated together, once."""
        if self._whole is not None:
            return self._whole.times
        return self.estimator.estimate(totals_of(self.measurements))

    @cached_property
    def all_weights(self) -> Int:
        """The time of every edge in every period, in lattice steps within its bounds."""
        lattice = self.lattice
        steps = np.rint(self.times.seconds / lattice.granularity)
        return np.asarray(np.clip(steps, lattice.low, lattice.high).astype(np.int64))

    @cached_property
    def weights(self) -> Int:
        """The times of the period that is asked about."""
        names = self.strategy.terms.periods.names
        if len(names) > 1:
            raise OptionError(f"this release has several periods; choose one of {', '.join(names)} (--period)")
        return np.asarray(self.all_weights[0])

    def draw_weights(self, count: int, seed: int) -> tuple[Float, Float]:
        """Draw the times of one period, in steps, and say how much of each edge is measured."""
        period = self._period or 0
        return self.times.sample(period, count, seed) / self.lattice.granularity, self.times.measured[period]

    @cached_property
    def interval_model(self) -> IntervalModel:
        """The distribution of true travel times; the measured coverage of intervals is in the guide to trips."""
        return interval_model(self.topology, self.times, self._period or 0, self.lattice.granularity)


def interval_model(topology: Topology, times: EdgeTimes, period: int, least: float) -> IntervalModel:
    """Fit the distribution of true travel times of one period to samples; shorter ones than ``least`` do not matter."""
    n, unit = topology.num_nodes, max(float(np.median(times.standard_error[period])), least)
    count = int(np.clip(VISITED // (SAMPLES * max(n, 1)), 2, min(SOURCES, n)))
    sources = np.sort(simulation(30).choice(n, count, replace=False))
    released = distance_rows(topology, times.seconds[period], sources)
    pairs = np.nonzero(np.isfinite(released) & (np.arange(n) != sources[:, None]))
    samples = times.sample(period, SAMPLES, SEED)
    truths = np.stack([distance_rows(topology, row, sources)[pairs] for row in samples]) / unit
    estimates = np.broadcast_to(released[pairs] / unit, truths.shape)
    # In a draw every edge is off on its own, and a search finds those that are too fast: all distances are shorter than
    # over posterior means, which were right on development networks.
    truths *= estimates.sum() / max(float(truths.sum()), 1e-300)
    error = float(times.standard_error[period].sum() / max(times.seconds[period].sum(), 1e-300))
    shared = float(np.hypot(OF_SAMPLE, OF_MODEL * error))
    return IntervalModel.fit(n, (sources[pairs[0]], pairs[1]), estimates, truths, unit, shared)
