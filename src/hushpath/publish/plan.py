"""Which mechanism, and what error to expect: from public facts only.

A plan builds the calibrated strategy of every mechanism that fits, under every law it may use, and predicts the
error of each over pairs of nodes drawn evenly.  It reads no weights, so a plan may be made, printed and published
before the data exist.

How errors are predicted and what is proved about them: ``decode``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from ..data.facts import warn_of_bounds
from ..data.topology import Topology
from ..decode.predict import error_bound, predicted_error
from ..errors import CannotError, HushpathError, OptionError
from ..noise import Law, std
from ..progress import steps
from ..strategy.core import Mechanism, Problem, Strategy, build_strategy, check_law
from ..strategy.registry import MECHANISMS, mechanism_named
from ..strategy.terms import Terms
from .cautions import of_plan
from .statement import proxy_words

GAMMA = 0.05  # the chance that proved bounds are given away
Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def by_name(function: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Refuse a second positional argument, and words that nobody knows, in words that help."""

    known = {*signature(function).parameters, *(name for one in MECHANISMS.values() for name in one.options)}

    @wraps(function)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        if len(args) > 1:
            raise OptionError(f"{function.__name__} takes epsilon, unit and the rest by name: epsilon=1.0, unit=3.0")
        for name in sorted(set(kwargs) - known) if kwargs.get("mechanism", "auto") == "auto" else ():
            near = get_close_matches(name, known, 1)
            raise OptionError(f"there is no option {name[:40]!r}" + (f"; did you mean {near[0]}?" if near else ""))
        return function(*args, **kwargs)

    return asked


@dataclass(frozen=True, eq=False)
class Candidate:
    """One mechanism under one law, with its predicted error, or the public reason why it is out."""

    mechanism: str
    law: Law | None
    mean_error: float
    p95_error: float
    bound: float
    noise: float
    numbers: int
    strategy: Strategy | None = None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        figures = {name: getattr(self, name) for name in ("mean_error", "p95_error", "bound", "noise")}
        known = figures if self.strategy else dict.fromkeys(figures)
        law = self.law and str(self.law)
        return {"mechanism": self.mechanism, "law": law, **known, "numbers": self.numbers, "reason": self.reason}


@dataclass(frozen=True, eq=False)
class Plan:
    """The candidates, best first, and the choice."""

    terms: Terms
    candidates: tuple[Candidate, ...]

    @property
    def topology(self) -> Topology:
        """The network it was made for: that of the strategy, so that the two cannot differ."""
        return self.strategy.topology

    @property
    def choice(self) -> Candidate:
        """The candidate with the smallest predicted mean error."""
        return self.candidates[0]

    @property
    def strategy(self) -> Strategy:
        """The strategy to measure."""
        assert self.choice.strategy is not None
        return self.choice.strategy

    @property
    def why(self) -> str:
        """The choice in one sentence."""
        best = self.choice
        others = [c for c in self.candidates[1:] if c.strategy is not None]
        text = f"{best.mechanism} with {best.law} noise has the smallest predicted mean error, {best.mean_error:.4g}"
        return text + (
            f" (next: {others[0].mechanism}, {others[0].law}, {others[0].mean_error:.4g})." if others else "."
        )

    @property
    def cautions(self) -> tuple[str, ...]:
        """What deserves a second look before anything is measured."""
        return tuple(of_plan(self.strategy))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        lattice, budget = self.strategy.lattice, self.terms.budget
        return {
            "nodes": self.topology.num_nodes,
            "edges": self.topology.num_edges,
            "directed": self.topology.directed,
            "epsilon": "inf" if budget.unlimited else budget.epsilon,
            "delta": budget.delta,
            "unit": lattice.unit,
            "largest_weight": lattice.largest_weight,
            "population": self.terms.population,
            "proxy": self.topology.proxy_name or None,
            "cautions": list(self.cautions),
            "choice": {"mechanism": self.choice.mechanism, "law": str(self.choice.law), "why": self.why},
            "candidates": [candidate.as_dict() for candidate in self.candidates],
        }

    def __str__(self) -> str:
        budget = self.terms.budget
        lines = [
            f"{self.topology!r}, epsilon = {budget.epsilon:g}, delta = {budget.delta:g}, "
            f"unit = {self.strategy.lattice.unit:g}. No weight was read.",
            "",
            f"{'mechanism':<18}{'law':<10}{'mean error':>12}{'95 % below':>12}{'all below':>12}"
            f"{'noise':>12}{'numbers':>12}",
        ]
        for c in self.candidates:
            if c.strategy is None:
                untried = c.reason.startswith("not tried")
                lines.append(f"{c.mechanism:<18}{'' if untried else 'not possible: '}{c.reason}")
            else:
                lines.append(
                    f"{c.mechanism:<18}{c.law!s:<10}{c.mean_error:>12.4g}{c.p95_error:>12.4g}{c.bound:>12.4g}"
                    f"{c.noise:>12.4g}{c.numbers:>12}"
                )
        lines += [
            "",
            f"Choice: {self.why}",
            "Mean error and 95 % are predicted from public facts. Where noise is comparable with weights, long routes",
            "are worse than predicted: too low where many are nearly equal, too high where few are (docs/PITFALLS.md).",
            f"All below: no answer is off by more, proved for the worst case, with probability {1 - GAMMA:g}.",
        ]
        if self.terms.max_weight is None:
            lines.append(
                f"No max_weight is declared: weights above {self.strategy.lattice.largest_weight:.4g} are clipped."
            )
        if self.topology.proxy_name:
            lines.append(proxy_words(self.topology.proxy_name))
        lines += [f"Caution: {caution}." for caution in self.cautions]
        return "\n".join(lines)


@by_name
def plan(
    topology: Topology, *, epsilon: float | None = None, delta: float = 1e-6, unit: float | None = None,
    max_weight: float | None = None, mechanism: str = "auto", law: str = "auto", granularity: float | None = None,
    population: int | None = None, proxy: str | None = None, **options: Any,
) -> Plan:  # fmt: skip
    """Build every candidate strategy, predict its error and put the best first.  Reads no weights.

    Arguments as in ``hushpath.release``.  A topology that has a proxy keeps it; ``proxy`` names another column.
    """
    terms = Terms.declared(epsilon, delta, unit, max_weight, granularity, population)
    if not isinstance(topology, Topology):
        raise OptionError(f"plan takes a topology, such as net.topology, not {type(topology).__name__}")
    topology = topology if proxy is None else topology.with_proxy(column_name(proxy))
    problem = Problem.of(topology, terms)
    warn_of_bounds(topology, terms.max_weight)
    if law not in ("auto", *Law):
        raise OptionError(f"law must be auto, laplace or gaussian, got {str(law)[:40]!r}")
    asked = None if law == "auto" else Law(law)
    if asked is not None:
        check_law(asked, terms.budget)
    if mechanism != "auto":
        candidates = _tried(mechanism_named(mechanism), problem, asked, options)
    else:
        if options:
            raise OptionError(f"option {sorted(options)[0]!r} needs a mechanism by name, not 'auto'")
        candidates = [
            candidate
            for name in steps(list(MECHANISMS), "planning")
            for candidate in _possible(MECHANISMS[name], problem, asked)
        ]
    possible = sorted((c for c in candidates if c.strategy is not None), key=lambda c: c.mean_error)
    if not possible:
        raise CannotError(f"no mechanism fits; {candidates[0].mechanism}: {candidates[0].reason}")
    return Plan(terms, (*possible, *(c for c in candidates if c.strategy is None)))


def column_name(proxy: Any) -> str:
    """A proxy is asked for by name."""
    if not isinstance(proxy, str):
        raise OptionError(
            f"proxy names a public column, and {type(proxy).__name__} is no name; declare an array by with_proxy"
        )
    return proxy


def _tried(mechanism: Mechanism, problem: Problem, asked: Law | None, options: Mapping[str, Any]) -> list[Candidate]:
    """One mechanism under the law asked for, or under each law it may use; raises if none will do."""
    laws = [asked] if asked is not None else mechanism.laws(problem.budget, options)
    made: list[Candidate] = []
    refusal: HushpathError | None = None
    for law in laws:
        try:
            made.append(_candidate(mechanism, problem, law, options))
        except (OptionError, CannotError) as error:
            refusal = refusal or error
    if refusal is not None and not made:
        raise refusal
    return made


def _possible(mechanism: Mechanism, problem: Problem, asked: Law | None) -> list[Candidate]:
    """Candidates of one mechanism, or one that says why there are none."""
    topology = problem.topology
    if topology.num_nodes > mechanism.auto_limit and topology.num_edges >= topology.num_nodes:
        return [_impossible(mechanism, f"not tried by auto beyond {mechanism.auto_limit} nodes with cycles; name it")]
    try:
        return _tried(mechanism, problem, asked, {})
    except (OptionError, CannotError) as error:
        return [_impossible(mechanism, str(error))]


def _impossible(mechanism: Mechanism, reason: str) -> Candidate:
    return Candidate(mechanism.name, None, math.inf, math.inf, math.inf, math.inf, 0, None, reason)


def _candidate(mechanism: Mechanism, problem: Problem, law: Law, options: Mapping[str, Any]) -> Candidate:
    strategy = build_strategy(mechanism, problem, law, options)
    mean, p95 = predicted_error(strategy)
    scales = strategy.scales
    noise = std(law, int(scales.max())) * problem.lattice.granularity if len(scales) else 0.0
    bound = error_bound(strategy, GAMMA).total
    return Candidate(mechanism.name, law, mean, p95, bound, noise, strategy.num_values, strategy)
