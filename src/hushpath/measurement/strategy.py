"""A strategy: which local distances, under which noise law, with how much noise.  Public from end to end.

Its certificate proves from public facts that the budget holds, before any private data is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from ..arrays import Int
from ..errors import BudgetError, CannotError, OptionError
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..noise import Law
from ..privacy.accounting import Budget
from ..privacy.certificate import Certificate, Exposure, certify
from .blocks import Block
from .terms import Terms

Kind = TypeVar("Kind", bound=Block)


@dataclass(frozen=True, eq=False)
class Strategy:
    """Blocks of local distances with a noise scale (in lattice steps) for every group."""

    mechanism: str
    topology: Topology
    terms: Terms
    lattice: Lattice
    law: Law
    blocks: tuple[Block, ...]
    scales: Int
    options: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)  # for people only: no algorithm reads them

    def __repr__(self) -> str:
        return f"Strategy({self.mechanism}, {self.law}, {self.num_values} numbers)"

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return self.terms.budget

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
        """Whether a block of this kind is measured."""
        return any(isinstance(block, kind) for block in self.blocks)

    def block(self, kind: type[Kind]) -> Kind:
        """The block of this kind."""
        return next(block for block in self.blocks if isinstance(block, kind))

    def groups_of(self, kind: type[Block]) -> slice:
        """Where that block's groups stand among all groups."""
        return self._span(kind, [len(block.group_sizes) for block in self.blocks])

    def numbers_of(self, kind: type[Block]) -> slice:
        """Where that block's numbers stand among all numbers."""
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
    """Gaussian noise has no pure guarantee."""
    if law is Law.GAUSSIAN and budget.delta == 0 and not budget.unlimited:
        raise OptionError("gaussian noise needs delta above 0; for pure privacy use noise='laplace'")
