"""Travel times from totals of trips: shortest paths over the estimated times of one period.

All periods are estimated together, once, because they tell about each other; answers are of one period (``at``).
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import Int
from ..blocks import Block, TripBlock
from ..errors import CannotError, OptionError
from ..estimate.core import EdgeTimes
from ..estimate.draws import DRAWS, Plausible
from ..estimate.trip_totals import TripTotals
from ..measure import Measurements
from ..strategy.core import Strategy
from ..strategy.trips import SHARE, TripStrategy, free_flow_of
from .core import Bound, Hops, Prediction
from .edges import EdgeDecoder
from .widths import Widths, sample_of_ends

NARROWER = 0.95  # than curves say, which hold some luck of the answer twice; chosen on simulated cities (docs/TRIPS.md)
SEED = 900  # of draws for intervals: the same release has the same intervals everywhere


def totals_of(measurements: Measurements) -> TripTotals:
    """The noisy totals in units of the norm of one protected unit, with the public facts they are read with."""
    strategy = measurements.strategy
    assert isinstance(strategy, TripStrategy)
    terms, numbers = strategy.terms, measurements.values / SHARE
    above, below = numbers.reshape(2, len(terms.periods), strategy.topology.num_edges)
    return TripTotals(
        topology=strategy.topology, free_flow=free_flow_of(strategy.topology), low=terms.low, high=terms.high,
        emphasis=terms.edge_weights.astype(np.float64), above=above, below=below, noise=strategy.noise,
        law=strategy.law,
    )  # fmt: skip


class TripDecoder(EdgeDecoder):
    """Shortest paths over the times of one period."""

    name = "trips"
    summary = "shortest paths over edge times estimated from totals of trips"
    blocks: ClassVar[tuple[type[Block], ...]] = (TripBlock,)
    _period: int | None = None
    _whole: TripDecoder | None = None

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:  # noqa: ARG004
        """Nothing is proved: how often an edge was passed is private, and noise on few passes is as large as any time.

        What is certain is that every time lies within its public bounds.
        """
        return Bound(float("inf"))

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004
        """Unknown without a declared day of trips (``publish.trip_plan``)."""
        raise CannotError("the error of times from trips is predicted for a declared day of trips")

    def at(self, period: int) -> TripDecoder:
        """The same estimates, asked about one period."""
        whole = self._whole or self
        other = copy(whole)
        for name in ("lengths", "widths", "index"):
            vars(other).pop(name, None)
        other._period, other._whole, other.weights = period, whole, whole.all_weights[period]
        other._tried = False
        return other

    @cached_property
    def times(self) -> EdgeTimes:
        """Times of all periods, estimated together, once."""
        if self._whole is not None:
            return self._whole.times
        assert self.estimator.times is not None
        return self.estimator.times(totals_of(self.measurements))

    @cached_property
    def all_weights(self) -> Int:
        """The time of every edge in every period, in lattice steps: never missing, never outside its bounds."""
        lattice = self.lattice
        steps = np.rint(self.times.seconds / lattice.granularity)
        return np.asarray(np.clip(steps, lattice.low, lattice.high).astype(np.int64))

    @cached_property
    def weights(self) -> Int:
        """The times of the period that is asked about."""
        names = self.strategy.terms.periods.names
        if len(names) > 1:
            raise OptionError(f"this release has periods: ask about one of {', '.join(names)} (at, --period)")
        return np.asarray(self.all_weights[0])

    @property
    def carried(self) -> Int:
        """The times of all periods behind each other."""
        return np.ravel(self.all_weights)

    def carry(self, weights: Int) -> None:
        """Take the times of all periods from a file."""
        self.all_weights = weights.reshape(-1, self.topology.num_edges)

    @cached_property
    def widths(self) -> Widths:
        """How far off answers are: learnt once, from plausible times; measured coverage is in docs/TRIPS.md."""
        sources, period = sample_of_ends(self.topology.num_nodes), self._period or 0
        released = np.empty((len(sources), self.topology.num_nodes))
        self.rows(sources, released)
        unit = max(float(np.median(self.times.spread[period])), self.lattice.granularity)
        found = Plausible(self.times.draws(period, DRAWS, SEED) / unit, (), 0.0)
        learnt = Widths.learnt(self.topology, found, sources, released / unit, unit)
        return replace(learnt, below=NARROWER, above=NARROWER)


DECODER = TripDecoder
