"""Terms and strategy: what the owner declares, and what is measured with how much noise.  Public from end to end.

The certificate of a strategy proves from public facts that the budget holds, before any private data is read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._validate import positive
from ..arrays import Float, Int
from ..errors import BudgetError, CannotError, FileFormatError, OptionError
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..noise import Law
from ..privacy.accounting import Budget
from ..privacy.certificate import Certificate, Exposure, calibrate, certify
from ..privacy.units import Unit, WeightUnit
from ..trips.periods import Periods
from .block import Arrays, Block

Kind = TypeVar("Kind", bound=Block)
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
        """Return the lattice of the weights (or times) that answers are computed on."""

    @abstractmethod
    def unit_steps(self, lattice: Lattice) -> int:
        """Return how far a unit moves all that is measured, in L1 norm and in steps of the measured numbers."""

    @abstractmethod
    def l2_steps(self, lattice: Lattice) -> int | None:
        """Return the same in L2 norm, if a bound is declared."""

    @abstractmethod
    def measured_step(self, lattice: Lattice) -> float:
        """Return what one step of a measured number is worth, for statements."""

    def bound_every_weight(self, topology: Topology) -> bool:
        """Return whether an upper bound is declared for each weight."""
        return True

    @abstractmethod
    def header(self, lattice: Lattice) -> dict[str, Any]:
        """Return what a file says of the terms, besides the budget."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that a file holds for the terms."""
        return {}

    @classmethod
    @abstractmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays, topology: Topology, budget: Budget) -> Self:
        """Invert ``header`` and ``arrays`` for ``topology`` and ``budget``; everything is checked."""


@dataclass(frozen=True, eq=False)
class WeightTerms(Terms):
    """What the owner of edge weights declares.

    Attributes
    ----------
    budget, unit
        As in `Terms`.
    max_weight
        A public bound on every weight; larger weights are clipped to it, silently.
    """

    budget: Budget
    unit: WeightUnit
    max_weight: float | None = None
    periods: Periods = field(default=WHOLE_DAY, init=False)

    def lattice(self, topology: Topology) -> Lattice:
        """Return the lattice on which the weights of a network are measured."""
        return Lattice.build(topology, unit=self.unit.norm, max_weight=self.max_weight, step=self.unit.lattice_step)

    def unit_steps(self, lattice: Lattice) -> int:
        """Return the L1 norm in steps; two steps per edge pay for rounding (docs/proofs/lattice.md)."""
        return math.ceil(self.unit.norm / lattice.granularity) + 2 * max(len(lattice.low), 1) - 1

    def l2_steps(self, lattice: Lattice) -> int | None:
        """Return the L2 norm in steps, rounding included, if it is declared."""
        if self.unit.l2 is None:
            return None
        norm = min(self.unit.l2, self.unit.norm)  # no L2 norm is above the L1 norm
        return math.ceil(norm / lattice.granularity) + math.isqrt(4 * max(len(lattice.low), 1)) + 1

    def measured_step(self, lattice: Lattice) -> float:
        """Return the lattice step."""
        return lattice.granularity

    def bound_every_weight(self, topology: Topology) -> bool:
        """Return whether ``max_weight`` or a bound for each edge is declared."""
        return self.max_weight is not None or bool(np.isfinite(topology.upper).all())

    def header(self, lattice: Lattice) -> dict[str, Any]:
        """Return unit, bound and lattice step."""
        return {"unit": self.unit.as_dict(), "max_weight": self.max_weight, "lattice_step": lattice.granularity}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays, topology: Topology, budget: Budget) -> Self:
        """Check and invert ``header``; parameters as in `Terms`."""
        if set(header) != {"unit", "max_weight", "lattice_step"} or not isinstance(header["unit"], dict):
            raise FileFormatError("its terms have unknown or missing fields")
        most = header["max_weight"]
        unit = replace(
            WeightUnit.from_dict(header["unit"]), lattice_step=positive(header["lattice_step"], "lattice_step")
        )
        return cls(budget, unit, None if most is None else positive(most, "max_weight"))


@dataclass(frozen=True, eq=False)
class Problem:
    """The public facts that a mechanism may use: network, terms, lattice, and the noise law to design for."""

    topology: Topology
    terms: Terms
    lattice: Lattice
    law: Law

    @classmethod
    def of(cls, topology: Topology, terms: Terms, law: Law = Law.LAPLACE) -> Problem:
        """Return the problem of these terms on this network."""
        return Problem(topology, terms, terms.lattice(topology), law)

    @property
    def budget(self) -> Budget:
        """Epsilon and delta."""
        return self.terms.budget

    @property
    def unit(self) -> float:
        """How far one protected unit can change all weights together (L1)."""
        return self.terms.unit.norm

    @property
    def unit_steps(self) -> int:
        """The same in lattice steps, rounding included."""
        return self.terms.unit_steps(self.lattice)

    def calibrate(self, exposure: Exposure, relative: Float) -> Int:
        """Return the least noise scales in the ratios ``relative`` that the budget allows."""
        with np.errstate(over="ignore"):  # too much noise is an error of ours, not a warning of numpy
            l2 = self.terms.l2_steps(self.lattice)
            return calibrate(exposure, relative, self.law, self.unit_steps, self.budget, l2)


@dataclass(frozen=True, eq=False, kw_only=True)
class Strategy(Problem):
    """Blocks of local distances with a noise scale (in lattice steps) for every group."""

    mechanism: str
    blocks: tuple[Block, ...]
    scales: Int
    options: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)  # for people only: no algorithm reads them

    def __repr__(self) -> str:
        return f"Strategy({self.mechanism}, {self.law}, {self.num_values} numbers)"

    @cached_property
    def exposure(self) -> Exposure:
        """Which groups each edge can move, over all blocks."""
        return Exposure.joined([block.exposure for block in self.blocks])

    @cached_property
    def group_sizes(self) -> Int:
        """How many numbers each group holds, over all blocks."""
        return np.concatenate([block.group_sizes for block in self.blocks])

    @property
    def num_values(self) -> int:
        """How many numbers are measured."""
        return int(self.group_sizes.sum())

    @cached_property
    def certificate(self) -> Certificate:
        """The proof from public facts that the budget holds, made once; ``BudgetError`` if it does not."""
        if any(block.topology is not self.topology for block in self.blocks):
            raise BudgetError("a block counts the edges of another network")
        cut, sizes = self.exposure.cut, self.group_sizes
        if cut.shape != sizes.shape or ((cut == 0) & (sizes > 0)).any():
            raise BudgetError("group sizes and sensitivities do not match")
        l1, l2 = self.terms.unit_steps(self.lattice), self.terms.l2_steps(self.lattice)
        return certify(self.exposure, self.scales, self.law, l1, self.budget, l2)

    def has(self, kind: type[Block]) -> bool:
        """Return whether a block of this kind is measured."""
        return any(isinstance(block, kind) for block in self.blocks)

    def block(self, kind: type[Kind]) -> Kind:
        """Return the block of this kind."""
        return next(block for block in self.blocks if isinstance(block, kind))

    def groups_of(self, kind: type[Block]) -> slice:
        """Return where the groups of that block are among all groups."""
        return self._span(kind, [len(block.group_sizes) for block in self.blocks])

    def numbers_of(self, kind: type[Block]) -> slice:
        """Return where the numbers of that block are among all numbers."""
        return self._span(kind, [int(block.group_sizes.sum()) for block in self.blocks])

    def _span(self, kind: type[Block], sizes: list[int]) -> slice:
        at = self.blocks.index(self.block(kind))
        start = [0, *accumulate(sizes)]
        return slice(start[at], start[at + 1])


def check_measures(strategy: Strategy) -> None:
    """Refuse a release that measures nothing where there is something to measure."""
    if strategy.num_values == 0 and strategy.topology.num_edges > 0:
        raise CannotError(
            f"mechanism {strategy.mechanism!r} would measure no number here and answer 0 to every question; "
            "use other options, another mechanism, a larger epsilon or a smaller unit"
        )


def check_law(law: Law, budget: Budget) -> None:
    """Refuse Gaussian noise for pure privacy."""
    if law is Law.GAUSSIAN and budget.delta == 0 and not budget.unlimited:
        raise OptionError("gaussian noise needs delta above 0; for pure privacy use noise='laplace'")
