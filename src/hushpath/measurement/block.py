"""The interface of a kind of measurement, and the two simplest kinds: single edges, and totals of trips.

A block is a batch of groups over one network.  It knows public facts only: how many numbers each group holds and which
edges can move them (``exposure``).  ``measurement.exact`` computes the exact numbers.  The kinds are a closed set: each
is reviewed code with a proof.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int, frozen
from ..errors import FileFormatError
from ..network.topology import Topology
from ..privacy.certificate import Exposure
from .samples import few_hops

Arrays = Mapping[str, NDArray[Any]]
MOST_CELLS = 2**40


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """A batch of groups of local distances; its numbers are the groups' behind each other."""

    topology: Topology
    kind: ClassVar[str]

    @property
    @abstractmethod
    def group_sizes(self) -> Int:
        """How many numbers each group holds."""

    @property
    @abstractmethod
    def exposure(self) -> Exposure:
        """Which groups each edge can move, and how many of their numbers."""

    @property
    def edges(self) -> Int:
        """The edges that are measured singly, one group each: the last groups and numbers of the block."""
        return np.empty(0, np.int64)

    def typical(self, numbers: Int) -> float:
        """Return about how far two nodes are, in lattice steps, by the noisy numbers: negative under much noise.

        It is 0 where that is unknown.
        """
        return 0.0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the public arrays that describe this block in a file: its fields, unless they are no arrays."""
        return {one.name: getattr(self, one.name) for one in fields(self)[1:]}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """Invert ``arrays``: everything is proved against the topology, or a ``FileFormatError`` is raised."""
        block = cls(topology, *integer_arrays(arrays, *(one.name for one in fields(cls)[1:])))
        block.check()
        return block

    def check(self) -> None:  # noqa: B027 - edges have nothing to prove
        """Prove the fields, which come from an untrusted file, against the topology."""


def integer_arrays(arrays: Arrays, *names: str) -> list[Int]:
    """Return frozen copies of exactly these arrays of a file, each a plain row of 64-bit integers."""
    if set(arrays) != set(names):
        raise FileFormatError(f"a block has the arrays {sorted(arrays)}"[:200] + f", not {sorted(names)}")
    for name in names:
        if arrays[name].dtype != np.int64 or arrays[name].ndim != 1:
            raise FileFormatError(f"array {name!r} of a block is not a row of 64-bit integers")
    return [frozen(arrays[name], np.int64) for name in names]


@dataclass(frozen=True, eq=False)
class EdgeBlock(Block):
    """Measure the weight of every edge, one number each."""

    kind: ClassVar[str] = "edges"

    @cached_property
    def group_sizes(self) -> Int:
        """One number per edge."""
        return np.ones(self.topology.num_edges, np.int64)

    @cached_property
    def exposure(self) -> Exposure:
        """Each edge moves its own number and no other."""
        ids = self.edges
        return Exposure(self.topology.num_edges, np.ones(len(ids), np.int64), ids, ids, np.ones(len(ids), np.bool_))

    @cached_property
    def edges(self) -> Int:
        """All edges."""
        return np.arange(self.topology.num_edges)

    def typical(self, numbers: Int) -> float:
        """Return a mean edge times the hops of a few pairs."""
        single = numbers[len(numbers) - self.topology.num_edges :]
        return float(single.mean()) * few_hops(self.topology).mean


@dataclass(frozen=True, eq=False)
class TripBlock(Block):
    """Totals of trips: for every edge and period (a *cell*) how often, and how slowly, it was passed.

    Two numbers per cell: A of every cell, then B of every cell; cells period by period, edges in their order.  A
    protected unit adds a non-negative vector of L2 norm at most ``SHARE`` steps to all of them together
    (``trip_totals``), so they are one group: it moves as a single weight does that moves by at most the unit
    (docs/proofs/trips.md).
    """

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

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the number of periods."""
        return {"periods": np.array([self.periods], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """Check the number of periods."""
        (periods,) = integer_arrays(arrays, "periods")
        if len(periods) != 1 or not 1 <= periods[0] <= MOST_CELLS // max(1, topology.num_edges):
            raise FileFormatError("its number of periods is invalid")
        return cls(topology, int(periods[0]))
