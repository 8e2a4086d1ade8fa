"""The terms of a release of weights: everything its owner declares, in one object.  Public from end to end."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._validate import positive
from ..errors import FileFormatError
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..privacy.accounting import Budget
from ..privacy.units import Unit, WeightUnit
from ..trips.periods import Periods

Arrays = Mapping[str, NDArray[Any]]
WHOLE_DAY = Periods()


class Terms(ABC):
    """What is promised, to whom, and within which public bounds.

    Attributes
    ----------
    budget
        Epsilon and delta.
    unit
        The protected unit.
    periods
        The public periods that answers are about; one without a name for weights.
    """

    budget: Budget
    unit: Unit
    periods: Periods

    @abstractmethod
    def lattice(self, topology: Topology) -> Lattice:
        """The lattice of the weights (or times) that answers are computed on."""

    @abstractmethod
    def unit_steps(self, lattice: Lattice) -> int:
        """How far a unit moves everything that is measured, in L1 norm and in steps of the measured numbers."""

    @abstractmethod
    def l2_steps(self, lattice: Lattice) -> int | None:
        """The same in L2 norm, if a bound is declared."""

    @abstractmethod
    def measured_step(self, lattice: Lattice) -> float:
        """What one step of a measured number is worth, for statements."""

    @abstractmethod
    def bound_every_weight(self, topology: Topology) -> bool:
        """Whether an upper bound is declared for each weight."""

    @abstractmethod
    def header(self, lattice: Lattice) -> dict[str, Any]:
        """What a file says of the terms, besides the budget."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays that a file holds for the terms."""
        return {}

    @classmethod
    @abstractmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays, topology: Topology, budget: Budget) -> Self:
        """The inverse of ``header`` and ``arrays``: everything is checked, or an error of ours is raised."""


@dataclass(frozen=True, eq=False)
class WeightTerms(Terms):
    """What the owner of edge weights declares.

    Attributes
    ----------
    budget
        Epsilon and delta.
    unit
        How far one protected unit can change the weights.
    max_weight
        A public bound on every weight; larger weights are clipped to it, silently.
    """

    budget: Budget
    unit: WeightUnit
    max_weight: float | None = None
    periods: Periods = field(default=WHOLE_DAY, init=False)

    def lattice(self, topology: Topology) -> Lattice:
        """The lattice on which the weights of a network are measured."""
        return Lattice.build(topology, unit=self.unit.norm, max_weight=self.max_weight, step=self.unit.lattice_step)

    def unit_steps(self, lattice: Lattice) -> int:
        """The L1 norm in steps; two steps per edge pay for rounding (docs/proofs/lattice.md)."""
        return math.ceil(self.unit.norm / lattice.granularity) + 2 * max(len(lattice.low), 1) - 1

    def l2_steps(self, lattice: Lattice) -> int | None:
        """The L2 norm in steps, rounding included, if it is declared."""
        if self.unit.l2 is None:
            return None
        norm = min(self.unit.l2, self.unit.norm)  # no L2 norm is above the L1 norm
        return math.ceil(norm / lattice.granularity) + math.isqrt(4 * max(len(lattice.low), 1)) + 1

    def measured_step(self, lattice: Lattice) -> float:
        """Distances are measured in steps of the lattice."""
        return lattice.granularity

    def bound_every_weight(self, topology: Topology) -> bool:
        """Whether ``max_weight`` or a bound for each edge is declared."""
        return self.max_weight is not None or bool(np.isfinite(topology.upper).all())

    def header(self, lattice: Lattice) -> dict[str, Any]:
        """Unit, bound and lattice step."""
        return {"unit": self.unit.as_dict(), "max_weight": self.max_weight, "lattice_step": lattice.granularity}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays, topology: Topology, budget: Budget) -> Self:
        """The inverse of ``header``."""
        if set(header) != {"unit", "max_weight", "lattice_step"} or not isinstance(header["unit"], dict):
            raise FileFormatError("its terms have unknown or missing fields")
        most = header["max_weight"]
        unit = replace(
            WeightUnit.from_dict(header["unit"]), lattice_step=positive(header["lattice_step"], "lattice_step")
        )
        return cls(budget, unit, None if most is None else positive(most, "max_weight"))
