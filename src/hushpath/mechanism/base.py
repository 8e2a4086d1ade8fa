"""What a mechanism is: from public facts to a calibrated strategy.

A mechanism looks at public facts (``Problem``) and proposes blocks with relative noise scales (``Design``).
Calibration turns that into a ``Strategy`` whose certificate fits the budget, before any weight is read.  How its
measurements are read later is no part of it: reading is free (``decode``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._validate import is_integer, shorten
from ..arrays import Float, Int, frozen
from ..errors import CannotError, OptionError
from ..measurement.blocks import Block
from ..measurement.strategy import Strategy, check_law, check_measures
from ..measurement.terms import WeightTerms
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..noise import MAX_SCALE, Law
from ..privacy.accounting import Budget
from ..privacy.certificate import Exposure, calibrate


@dataclass(frozen=True, eq=False)
class Problem:
    """The public facts a mechanism may look at; ``law`` is known when a design is made."""

    topology: Topology
    terms: WeightTerms
    lattice: Lattice
    law: Law | None = None

    @classmethod
    def of(cls, topology: Topology, terms: WeightTerms, law: Law | None = None) -> Problem:
        """What these terms mean for this network."""
        return cls(topology, terms, terms.lattice(topology), law)

    @property
    def budget(self) -> Budget:
        """What may be spent."""
        return self.terms.budget

    @property
    def unit(self) -> float:
        """How far one protected unit can move all weights together (L1)."""
        return self.terms.unit.norm

    @property
    def unit_steps(self) -> int:
        """The same in lattice steps, rounding included."""
        return self.terms.unit_steps(self.lattice)


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
        measures: the kinds of block its designs have, in order.
        options: the options it takes besides ``law``, and what each may be.
        directed: whether it works on directed networks.
        undirected_reason: why it is for undirected networks only, in words for the error message.
        needs_max_weight: whether it is meaningless without a public bound on weights.
        most_nodes: it takes too long, or too much room, on larger networks.
        unfit: a public reason why it cannot run on this network, or ``None``.
        misfit: a public reason why a strategy found in a file cannot be its own, or ``None``.
        lossless: whether answers without noise are the distances; if not, its decoder's bound says how far off.
        unpromising: a public reason why "auto" does not try it here: it takes long and could hardly win; or ``None``.
        pure: whether it was published for pure privacy, so that ``law="auto"`` means Laplace.
        comparison: whether it only serves comparison, so that "auto" never takes it.
        printed: the law that ``constants="paper"`` is printed for; ``None`` where it only chooses sizes and shares.
    """

    name: str
    summary: str
    design: Callable[..., Design]
    measures: tuple[type[Block], ...]
    options: Mapping[str, Check] = field(default_factory=dict)
    directed: bool = True
    undirected_reason: str = ""
    needs_max_weight: bool = False
    most_nodes: int = 10**9
    unfit: Callable[[Topology], str | None] = lambda topology: None
    misfit: Callable[[Strategy], str | None] = lambda strategy: None
    lossless: bool = True
    unpromising: Callable[[Topology], str | None] = lambda topology: None
    pure: bool = False
    comparison: bool = False
    printed: Law | None = None

    def laws(self, budget: Budget, options: Mapping[str, Any]) -> list[Law]:
        """What ``law="auto"`` tries."""
        if self.printed is not None and options.get("constants") == "paper":
            return [self.printed]
        if self.pure or budget.delta == 0:
            return [Law.LAPLACE]
        return [Law.LAPLACE, Law.GAUSSIAN]


def build_strategy(mechanism: Mechanism, problem: Problem, law: Law, options: Mapping[str, Any]) -> Strategy:
    """Design, calibrate and certify.  Raises before any weight is read."""
    for name, value in sorted(options.items()):
        if name not in mechanism.options:
            takes = ", ".join(sorted(mechanism.options)) or "none"
            raise OptionError(f"mechanism {mechanism.name!r} has no option {name!r}; options: {takes}")
        if wrong := mechanism.options[name](value):
            raise OptionError(f"{name} {wrong}, got {shorten(value)}")
    check_fits(mechanism, problem, law)
    if options.get("constants") == "paper" and mechanism.printed not in (law, None):
        raise OptionError(
            f"constants='paper' of mechanism {mechanism.name!r} is printed for {mechanism.printed} noise, not {law}"
        )
    design = mechanism.design(replace(problem, law=law), **options)
    exposure = Exposure.joined([block.exposure for block in design.blocks])
    with np.errstate(over="ignore"):  # noise beyond every bound is refused in words, not by a warning of numpy's
        if design.fixed and not problem.budget.unlimited:
            scales = _whole(design.relative(law))
        else:
            l2 = problem.terms.l2_steps(problem.lattice)
            scales = calibrate(exposure, design.relative(law), law, problem.unit_steps, problem.budget, l2)
    strategy = Strategy(
        mechanism=mechanism.name, topology=problem.topology, terms=problem.terms, lattice=problem.lattice, law=law,
        blocks=design.blocks, scales=frozen(scales, np.int64), options=dict(options), details=dict(design.details),
    )  # fmt: skip
    _ = strategy.certificate
    check_measures(strategy)
    return strategy


def check_fits(mechanism: Mechanism, problem: Problem, law: Law) -> None:
    """Whether a mechanism can run at all; also asked of a strategy that comes from a file."""
    topology = problem.topology
    if topology.directed and not mechanism.directed:
        raise OptionError(f"mechanism {mechanism.name!r} is for undirected networks: {mechanism.undirected_reason}")
    if mechanism.needs_max_weight and not problem.terms.bound_every_weight(topology):
        raise OptionError(
            f"mechanism {mechanism.name!r} needs max_weight, a public bound on every weight; it is never read from data"
        )
    check_law(law, problem.budget)
    reason = mechanism.unfit(topology)
    if topology.num_nodes > mechanism.most_nodes:
        reason = f"it has {topology.num_nodes} nodes (at most {mechanism.most_nodes})"
    if reason:
        raise OptionError(f"mechanism {mechanism.name!r} cannot run on this network: {reason}")


def _whole(scales: Float) -> Int:
    """Printed scales, rounded up to steps."""
    wanted = np.maximum(np.ceil(scales), 1)
    if not (wanted <= MAX_SCALE).all():
        raise CannotError("the noise this needs does not fit in 64 bits; use a larger epsilon or a smaller network")
    return np.asarray(wanted.astype(np.int64))


Check = Callable[[Any], str | None]


def one_of(*choices: str) -> Check:
    """One of these words."""
    return lambda value: None if value in choices else f"must be one of {', '.join(choices)}"


def whole(least: int, below: int | None = None, *, optional: bool = True) -> Check:
    """A whole number in this range; left out, the mechanism chooses."""
    wanted = f"of at least {least}" if below is None else f"from {least} to {below - 1}"

    def wrong(value: Any) -> str | None:
        if value is None and optional:
            return None
        fits = is_integer(value) and value >= least and (below is None or value < below)
        return None if fits else f"must be an integer {wanted}"

    return wrong
