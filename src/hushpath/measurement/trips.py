"""Totals of trips: for every edge and period how often, and how slowly, it was passed.

Two numbers per cell (an edge in a period), A and B.  A protected unit adds a non-negative vector of L2 norm at most
``SHARE`` steps to all of them together (``measurement.trip_totals``), so they are one group: it moves as a single
weight does that moves by at most the unit (docs/proofs/trips.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int
from ..errors import FileFormatError
from ..network.topology import Topology
from ..privacy.certificate import Exposure
from .block import Arrays, Block, integer_arrays

MOST_CELLS = 2**40


@dataclass(frozen=True, eq=False)
class TripBlock(Block):
    """A of every cell, then B of every cell; cells period by period, edges in their order."""

    periods: int
    kind: ClassVar[str] = "trips"

    @cached_property
    def group_sizes(self) -> Int:
        """All numbers are one group."""
        return np.array([2 * self.periods * self.topology.num_edges], np.int64)

    @cached_property
    def exposure(self) -> Exposure:
        """One group, moved by one thing: the unit's whole vector, which has at most the norm of the unit."""
        one = np.ones(min(1, self.topology.num_edges), np.int64)
        return Exposure(len(one), np.ones(1, np.int64), 0 * one, 0 * one, np.array([len(one) > 0]))

    def typical(self, numbers: Int) -> float:
        """Unknown without the bounds (``decoder.trips``)."""
        return 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The number of periods."""
        return {"periods": np.array([self.periods], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """The inverse of ``arrays``."""
        (periods,) = integer_arrays(arrays, "periods")
        if len(periods) != 1 or not 1 <= periods[0] <= MOST_CELLS // max(1, topology.num_edges):
            raise FileFormatError("its number of periods is invalid")
        return cls(topology, int(periods[0]))
