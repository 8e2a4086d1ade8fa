"""A strategy: which local distances, under which law, with how much noise.  Public from end to end.

Stage 3 of 6.  A mechanism looks at public facts (``Problem``) and proposes blocks with relative noise scales
(``Design``).  Calibration turns that into a ``Strategy`` whose certificate fits the budget, before any weight is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Float, Int, frozen
from ..blocks.core import Block
from ..data.lattice import Lattice
from ..data.topology import Topology
from ..errors import BudgetError, CannotError, OptionError
from ..noise import MAX_SCALE, Law
from ..privacy.accounting import Budget
from ..privacy.certificate import Certificate, Exposure, calibrate, certify


@dataclass(frozen=True, eq=False)
class Problem:
    """The public facts a mechanism may look at; ``law`` is known when a design is made.

    ``population`` is the number of protected units, where the owner declares it; it decides nothing, but a delta that
    is too large for it is told to everybody (``cautions``).
    """

    topology: Topology
    budget: Budget
    lattice: Lattice
    max_weight: float | None = None
    law: Law | None = None
    population: int | None = None

    def __post_init__(self) -> None:
        _check_population(self.population)


@dataclass(frozen=True, eq=False)
class Design:
    """What a mechanism wants to measure, before noise is calibrated.

    ``relative(law)`` gives one positive number per group: how the noise is shared between groups.  With ``fixed`` these
    are the scales themselves, in lattice steps (constants printed in a paper); the certificate still decides.
    """

    blocks: tuple[Block, ...]
    relative: Callable[[Law], Float]
    details: Mapping[str, Any] = field(default_factory=dict)
    fixed: bool = False


@dataclass(frozen=True)
class Mechanism:
    """One published way to choose what to measure.

    Attributes:
        name, summary: as ``hushpath.mechanisms()`` lists them.
        design: public facts and options to a design.
        decoder: which decoder answers from its measurements.
        options: names of the options it takes besides ``law``.
        directed: whether it works on directed networks.
        undirected_reason: why not, in words for the error message.
        needs_max_weight: whether it is meaningless without a public bound on weights.
        fits: a public reason why it cannot run on this network, or ``None``.
        misfit: a public reason why these blocks, found in a file, cannot be what it measures, or ``None``.
        exact: whether answers without noise are the distances; if not, ``bounds.error_bound`` says how far off.
        auto_limit: "auto" does not try it on networks with cycles and more nodes: it takes long and rarely wins there.
        pure: whether it was published for pure privacy, so that ``law="auto"`` means Laplace.
        printed: the law that ``constants="paper"`` is printed for; ``None`` where it only chooses sizes and shares.
    """

    name: str
    summary: str
    design: Callable[..., Design]
    decoder: str
    options: frozenset[str] = frozenset()
    directed: bool = True
    undirected_reason: str = ""
    needs_max_weight: bool = False
    fits: Callable[[Problem], str | None] = lambda problem: None
    misfit: Callable[[Topology, tuple[Any, ...]], str | None] = lambda topology, blocks: None
    exact: bool = True
    auto_limit: int = 10**9
    pure: bool = False
    printed: Law | None = None

    def laws(self, budget: Budget, options: Mapping[str, Any]) -> list[Law]:
        """What ``law="auto"`` tries."""
        if self.printed is not None and options.get("constants") == "paper":
            return [self.printed]
        if self.pure or budget.delta == 0:
            return [Law.LAPLACE]
        return [Law.LAPLACE, Law.GAUSSIAN]


@dataclass(frozen=True, eq=False)
class Strategy:
    """Blocks of local distances with a noise scale (in lattice steps) for every group."""

    mechanism: str
    decoder: str
    topology: Topology
    lattice: Lattice
    budget: Budget
    law: Law
    blocks: tuple[Block, ...]
    scales: Int
    max_weight: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    population: int | None = None

    def __post_init__(self) -> None:
        _check_population(self.population)

    def __repr__(self) -> str:
        return f"Strategy({self.mechanism}, {self.law}, {self.num_values} numbers)"

    @cached_property
    def exposure(self) -> Exposure:
        """Which groups each edge can move, over all blocks."""
        return Exposure.joined([block.exposure(self.topology) for block in self.blocks])

    @cached_property
    def group_sizes(self) -> Int:
        """How many numbers each group holds, over all blocks."""
        return np.concatenate([block.group_sizes(self.topology) for block in self.blocks])

    @property
    def num_values(self) -> int:
        """How many numbers are measured."""
        return int(self.group_sizes.sum())

    def certificate(self) -> Certificate:
        """Prove from public facts that the budget holds, or raise ``BudgetError``."""
        cut, sizes = self.exposure.cut, self.group_sizes
        if cut.shape != sizes.shape or ((cut == 0) & (sizes > 0)).any():
            raise BudgetError("a group measures numbers that no cut counts")
        return certify(self.exposure, self.scales, self.law, self.lattice.unit_steps, self.budget)


def build_strategy(mechanism: Mechanism, problem: Problem, law: Law, options: Mapping[str, Any]) -> Strategy:
    """Design, calibrate and certify.  Raises before any weight is read."""
    unknown = sorted(set(options) - mechanism.options)
    if unknown:
        takes = ", ".join(sorted({"law", *mechanism.options}))
        raise OptionError(f"mechanism {mechanism.name!r} has no option {unknown[0]!r}; it takes: {takes}")
    check_fits(mechanism, problem, law)
    if options.get("constants") == "paper" and mechanism.printed not in (law, None):
        raise OptionError(
            f"constants='paper' of mechanism {mechanism.name!r} is printed for {mechanism.printed} noise, not {law}"
        )
    design = mechanism.design(replace(problem, law=law), **options)
    exposure = Exposure.joined([block.exposure(problem.topology) for block in design.blocks])
    with np.errstate(over="ignore"):  # noise beyond every bound is refused in words, not by a warning of numpy's
        if design.fixed and not problem.budget.unlimited:
            scales = _whole(design.relative(law))
        else:
            scales = calibrate(exposure, design.relative(law), law, problem.lattice.unit_steps, problem.budget)
    strategy = Strategy(
        mechanism=mechanism.name,
        decoder=mechanism.decoder,
        topology=problem.topology,
        lattice=problem.lattice,
        budget=problem.budget,
        law=law,
        blocks=design.blocks,
        scales=frozen(scales, np.int64),
        max_weight=problem.max_weight,
        options=dict(options),
        details=dict(design.details),
        population=problem.population,
    )
    strategy.certificate()
    check_measures(strategy)
    return strategy


def check_fits(mechanism: Mechanism, problem: Problem, law: Law) -> None:
    """Whether a mechanism can run at all; also asked of a strategy that comes from a file."""
    if problem.topology.directed and not mechanism.directed:
        raise OptionError(f"mechanism {mechanism.name!r} is for undirected networks: {mechanism.undirected_reason}")
    if mechanism.needs_max_weight and problem.max_weight is None and not np.isfinite(problem.topology.upper).all():
        raise OptionError(
            f"mechanism {mechanism.name!r} needs max_weight, a public bound on every weight; it is never read from data"
        )
    check_law(law, problem.budget)
    if reason := mechanism.fits(problem):
        raise OptionError(f"mechanism {mechanism.name!r} cannot run on this network: {reason}")


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
        raise OptionError(
            "gaussian noise needs delta above 0; for pure privacy use law='laplace' and constants of ours"
        )


def _check_population(population: int | None) -> None:
    whole = isinstance(population, int) and not isinstance(population, bool)
    if population is not None and not (whole and 1 <= population < 2**63):
        raise OptionError(f"population must be a whole number of at least 1, got {str(population)[:40]!r}")


def _whole(scales: Float) -> Int:
    """Printed scales, rounded up to steps."""
    wanted = np.maximum(np.ceil(scales), 1)
    if not (wanted <= MAX_SCALE).all():
        raise CannotError("the noise this needs does not fit in 64 bits; use a larger epsilon or a smaller network")
    return np.asarray(wanted.astype(np.int64))
