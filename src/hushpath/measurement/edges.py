"""Edge weights themselves: the simplest measurement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int
from ..network.topology import Topology
from ..privacy.certificate import Exposure
from .block import Arrays, Block, integer_arrays
from .samples import few_hops


@dataclass(frozen=True, eq=False)
class EdgeBlock(Block):
    """The weight of every edge: the local distance of its two ends in the cell that is the edge itself."""

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
        """All of them."""
        return np.arange(self.topology.num_edges)

    def typical(self, numbers: Int) -> float:
        """A mean edge times the hops of a few pairs."""
        single = numbers[len(numbers) - self.topology.num_edges :]
        return float(single.mean()) * few_hops(self.topology).mean

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing to say beyond the kind."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """The inverse of ``arrays``."""
        integer_arrays(arrays)
        return cls(topology)
