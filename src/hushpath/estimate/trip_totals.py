"""What is read from a release of trips, and what an estimator makes of it: public from end to end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..arrays import Float
from ..data.topology import Topology
from ..noise import Law


@dataclass(frozen=True, eq=False)
class TripTotals:
    """Noisy totals of trips, in units of the norm of one protected unit, with the public facts they are read with.

    Attributes:
        free_flow: the public time of every edge when it is empty.
        low, high: public bounds of one pass over each edge, in seconds.
        emphasis: the public weight of each edge among those that a unit touches.
        above, below: for each period a row of A and of B: shares of passes, weighted by how far up and how far down
            between its bounds each time lies.
        noise: the standard deviation of the noise of each of them.
    """

    topology: Topology
    free_flow: Float
    low: Float
    high: Float
    emphasis: Float
    above: Float
    below: Float
    noise: float
    law: Law


class TripTimes(Protocol):
    """Times of every period and edge, within their bounds, and how far off they may be."""

    @property
    def seconds(self) -> Float:
        """A row per period."""

    @property
    def spread(self) -> Float:
        """Standard errors."""

    def draws(self, period: int, count: int, seed: int) -> Float:
        """Plausible times of one period, a row each, with the errors that edges share."""
