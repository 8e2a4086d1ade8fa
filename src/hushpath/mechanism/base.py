"""What a mechanism is: from public facts to a calibrated strategy.

A mechanism sees public facts (``Problem``) and proposes blocks with relative noise scales (``Design``).  Calibration
turns that into a ``Strategy`` whose certificate fits the budget, before any weight is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import _validate
from ..arrays import Float, Int, frozen
from ..errors import CannotError, OptionError
from ..measurement.blocks import Block
from ..measurement.strategy import Problem as Problem  # what designs take
from ..measurement.strategy import Strategy, check_law, check_measures
from ..network.topology import Topology
from ..noise import MAX_SCALE, Law
from ..privacy.accounting import Budget
from ..privacy.certificate import Exposure


@dataclass(frozen=True, eq=False)
class Design:
    """What a mechanism measures, before noise is calibrated.

    Attributes
    ----------
    blocks
        What is measured.
    relative
        One positive number per group: how the noise is shared between groups.
    details
        Public facts for people.  No algorithm reads them.
    fixed
        Whether ``relative`` gives the scales themselves, in lattice steps (constants of a paper).
    """

    blocks: tuple[Block, ...]
    relative: Float
    details: Mapping[str, Any] = field(default_factory=dict)
    fixed: bool = False


@dataclass(frozen=True)
class Mechanism:
    """One way to choose what to measure.

    Attributes
    ----------
    name, summary
        As ``hushpath.mechanisms()`` lists them.
    design
        From a ``Problem`` and options to a ``Design``.
    measures
        The kinds of block that its designs have, in order.
    options
        The names of its options, each with a check that raises an error for a wrong value.
    undirected_only
        Why it works on undirected networks only, for the error message; empty if it works on directed ones.
    needs_max_weight
        Whether it needs a public bound on every weight.
    most_nodes
        The largest network it can handle.
    unfit
        Returns why it cannot run on a network, or None.
    misfit
        Returns why a strategy, just built or from a file, cannot be its own, or None.
    lossless
        Whether answers without noise are the exact distances.
    unpromising
        Returns why "auto" does not try it on a network (slow, and unlikely to win), or None.
    pure
        Whether it was published for pure privacy: "auto" noise is then Laplace.
    comparison
        Whether it only serves comparison: "auto" never chooses it.
    printed
        The noise law that ``constants="paper"`` is printed for, or None.
    """

    name: str
    summary: str
    design: Callable[..., Design]
    measures: tuple[type[Block], ...]
    options: Mapping[str, Check] = field(default_factory=dict)
    undirected_only: str = ""
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
        """Return the noise laws that "auto" tries."""
        if self.printed is not None and options.get("constants") == "paper":
            return [self.printed]
        if self.pure or budget.delta == 0:
            return [Law.LAPLACE]
        return [Law.LAPLACE, Law.GAUSSIAN]


def build_strategy(mechanism: Mechanism, problem: Problem, law: Law, options: Mapping[str, Any]) -> Strategy:
    """Design, calibrate and certify what ``mechanism`` with ``options`` measures for ``problem`` under ``law``."""
    for name, value in sorted(options.items()):
        if name not in mechanism.options:
            takes = ", ".join(sorted(mechanism.options)) or "none"
            raise OptionError(f"mechanism {mechanism.name!r} has no option {name!r}; options: {takes}")
        mechanism.options[name](value, name)
    problem = replace(problem, law=law)
    check_fits(mechanism, problem)
    if options.get("constants") == "paper" and mechanism.printed not in (law, None):
        raise OptionError(
            f"constants='paper' of mechanism {mechanism.name!r} is printed for {mechanism.printed} noise, not {law}"
        )
    with np.errstate(over="ignore"):  # too much noise is refused below
        design = mechanism.design(problem, **options)
        if design.fixed and not problem.budget.unlimited:
            scales = _round_up(design.relative)
        else:
            scales = problem.calibrate(Exposure.joined([block.exposure for block in design.blocks]), design.relative)
    strategy = Strategy(
        mechanism=mechanism.name, topology=problem.topology, terms=problem.terms, lattice=problem.lattice, law=law,
        blocks=design.blocks, scales=frozen(scales, np.int64), options=dict(options), details=dict(design.details),
    )  # fmt: skip
    if reason := mechanism.misfit(strategy):
        raise OptionError(f"mechanism {mechanism.name!r} cannot measure this: {reason}")
    _ = strategy.certificate
    check_measures(strategy)
    return strategy


def check_fits(mechanism: Mechanism, problem: Problem) -> None:
    """Raise OptionError if a mechanism cannot handle a problem; strategies from files are checked as well."""
    topology = problem.topology
    if topology.directed and mechanism.undirected_only:
        raise OptionError(f"mechanism {mechanism.name!r} is for undirected networks: {mechanism.undirected_only}")
    if mechanism.needs_max_weight and not problem.terms.bound_every_weight(topology):
        raise OptionError(
            f"mechanism {mechanism.name!r} needs max_weight, a public bound on every weight; it is never read from data"
        )
    check_law(problem.law, problem.budget)
    reason = mechanism.unfit(topology)
    if topology.num_nodes > mechanism.most_nodes:
        reason = f"it has {topology.num_nodes} nodes (at most {mechanism.most_nodes})"
    if reason:
        raise OptionError(f"mechanism {mechanism.name!r} cannot run on this network: {reason}")


def _round_up(scales: Float) -> Int:
    """Round noise scales up to whole lattice steps."""
    wanted = np.maximum(np.ceil(scales), 1)
    if not (wanted <= MAX_SCALE).all():
        raise CannotError("the noise does not fit in 64 bits; use a larger epsilon or a smaller network")
    return np.asarray(wanted.astype(np.int64))


Check = Callable[[Any, str], object]  # takes a value and the name of its option; raises OptionError


def one_of(*choices: str) -> Check:
    """Return a check for one of these texts."""
    return lambda value, name: _validate.one_of(value, name, choices)


def integer(least: int, most: int | None = None, *, optional: bool = True) -> Check:
    """Return a check for an integer from ``least`` to ``most``; None, if ``optional``, lets the mechanism choose."""
    return lambda value, name: (optional and value is None) or _validate.integer(value, name, least, most)


def even_scales(cut: Int, law: Law) -> Float:
    """Return relative scales under which groups of these cut numbers cost an edge the same."""
    cost = np.maximum(cut, 1).astype(np.float64)
    return cost if law is Law.LAPLACE else np.sqrt(cost)
