"""The interface of a kind of measurement.  A closed set: each kind is reviewed code with a proof.

A block is a batch of groups over one network.  It knows public facts only: how many numbers each group holds and which
edges can move them (``exposure``).  ``measurement.exact`` computes the exact numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int, frozen
from ..errors import FileFormatError
from ..network.topology import Topology
from ..privacy.certificate import Exposure

Arrays = Mapping[str, NDArray[Any]]


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
        """The edges that are measured one by one, a group each; theirs are the block's last groups and numbers."""
        return np.empty(0, np.int64)

    @abstractmethod
    def typical(self, numbers: Int) -> float:
        """About how far two nodes are, in lattice steps, by the noisy numbers; where noise rules perhaps negative."""

    @abstractmethod
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The public arrays that describe this block in a file."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """The inverse of ``arrays``: everything is proved against the topology, or a ``FileFormatError`` is raised."""


def integer_arrays(arrays: Arrays, *names: str) -> list[Int]:
    """Frozen copies of exactly these arrays of a file, each a plain row of 64-bit integers."""
    if set(arrays) != set(names):
        raise FileFormatError(f"a block has the arrays {sorted(arrays)}"[:200] + f", not {sorted(names)}")
    for name in names:
        if arrays[name].dtype != np.int64 or arrays[name].ndim != 1:
            raise FileFormatError(f"array {name!r} of a block is not a row of 64-bit integers")
    return [frozen(arrays[name], np.int64) for name in names]
