"""What planning returns: a plan for one epsilon, or a sweep over several; in words, and as plain values for JSON.

Public from end to end: made before the data exist, and fit to be published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from ..measurement.strategy import Strategy, WeightTerms
from ..network.topology import Topology
from ..published.statement import as_json, explain_proxy, list_plan_cautions
from .predict import FOR_COMPARISON, GAMMA, Candidate, Scenario, Trials

UNKNOWN_SCALE = (
    "Nothing public says how large weights are, so errors are predicted from noise alone: for input, the root of the",
    "number of hops times the noise of one. Where noise is comparable with weights, long routes are several times",
    "worse. Declare typical_weight (the median, about) or a proxy: then errors are simulated (see pitfalls).",
)


class PublicBaseline(NamedTuple):
    """Answers from public data alone, tried on the same stand-in weights."""

    source: str  # what answers would be made of, in words
    error: float  # their mean error
    distance: float  # the mean distance

    def __str__(self) -> str:
        share = f" ({100 * self.error / self.distance:.2g} % of the mean distance)" if self.distance > 0 else ""
        return f"Baseline from public data ({self.source}): mean error {self.error:.4g}{share}"

    def compared(self, error: float) -> str:
        """Compare a release of this mean error with the baseline, in words."""
        verdict = "no better" if error >= self.error else f"{self.error / max(error, 1e-300):.2g} times as close"
        return f"{self}; the release is expected to be {'exact' if error <= 0 else verdict}"


@dataclass(frozen=True, eq=False)
class Plan:
    """The candidates, best first, and the choice."""

    terms: WeightTerms
    candidates: tuple[Candidate, ...]
    baseline: PublicBaseline | None = None  # what public data alone would give, if they say how large weights are
    target_error: float | None = None  # the mean error that epsilon was chosen for, if it was
    trials: Trials = field(default_factory=Trials, repr=False)  # stand-in weights, for the range

    @cached_property
    def ends(self) -> tuple[Scenario | None, Scenario | None]:
        """The optimistic and the pessimistic mean error."""
        return self.trials.range_of(self.strategy) if self.choice.expected.simulated else (None, None)

    @property
    def optimistic(self) -> Scenario | None:
        """The mean error of a favourable release, and the kind of weights; ``None`` if nothing was simulated."""
        return self.ends[0]

    @property
    def pessimistic(self) -> Scenario | None:
        """The mean error of an unfavourable release, and the kind of weights; ``None`` if nothing was simulated."""
        return self.ends[1]

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

    def expected_error(self, amount: Callable[[float], str]) -> str:
        """Format the predicted mean error of the choice; ``amount`` writes a number with its unit of measure."""
        low, high = self.ends
        between = f" ({amount(low.error)} to {amount(high.error)})" if low and high else ""
        return amount(self.choice.mean_error) + between

    @property
    def range_summary(self) -> str:
        """The range of the mean error in words; empty if nothing was simulated."""
        low, high = self.ends
        words = f"Mean error: expected {self.choice.mean_error:.4g}, optimistic {low}, pessimistic {high}."
        return words if low and high else ""

    @property
    def worth_it(self) -> bool:
        """Whether the release is expected to be better than public facts alone, as far as that is known."""
        return self.baseline is None or self.choice.mean_error < self.baseline.error or self.choice.mean_error == 0

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
        return tuple(list_plan_cautions(self.strategy))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        lattice, budget = self.strategy.lattice, self.terms.budget
        return {
            "nodes": self.topology.num_nodes,
            "edges": self.topology.num_edges,
            "directed": self.topology.directed,
            "epsilon": as_json(budget.epsilon),
            "delta": budget.delta,
            "unit": self.terms.unit.as_dict(),
            "largest_weight": lattice.largest_weight,
            "proxy": self.topology.proxy_name or None,
            "target_error": self.target_error,
            "baseline": self.baseline and self.baseline._asdict(),
            "optimistic": self.optimistic and self.optimistic._asdict(),
            "pessimistic": self.pessimistic and self.pessimistic._asdict(),
            "worth_it": self.worth_it if self.baseline else None,
            "cautions": list(self.cautions),
            "choice": {"mechanism": self.choice.mechanism, "noise": str(self.choice.law), "why": self.why},
            "candidates": [candidate.as_dict() for candidate in self.candidates],
        }

    def _repr_html_(self) -> str:
        from ..output.report.release import plan_card

        return plan_card(self)

    def __str__(self) -> str:
        budget = self.terms.budget
        lines = [
            f"{self.topology!r}, epsilon = {budget.epsilon:g}, delta = {budget.delta:g}, "
            f"unit = {self.terms.unit.norm:g}. No weight was read.",
        ]
        if self.target_error is not None:
            lines.append(f"Epsilon is about the smallest with a predicted mean error of {self.target_error:.4g}.")
        lines += ["", _HEAD, *map(_format_row, self.candidates), "", f"Choice: {self.why}"]
        if self.baseline is None:
            lines += UNKNOWN_SCALE if self.topology.num_edges and not budget.unlimited else ()
        else:
            lines += [
                "Mean, 95th percentile and bias are simulated on stand-in weights made of public facts.",
                *filter(None, [self.range_summary]),
                f"{self.baseline.compared(self.choice.mean_error)}.",
            ]
            if any(c.strategy and not c.expected.simulated for c in self.candidates):
                lines.append("In brackets: a rough figure, not simulated in full (too far behind, or too large).")
        lines.append(
            f"Worst-case bound: proved for all answers at once, with probability {1 - GAMMA:g}; where paths are "
            "searched, for the estimators clip and sums."
        )
        if self.terms.max_weight is None:
            lines.append(
                f"No max_weight is declared: weights above {self.strategy.lattice.largest_weight:.4g} are clipped."
            )
        if self.topology.proxy_name:
            lines.append(explain_proxy(self.topology.proxy_name))
        lines += [f"Caution: {caution}." for caution in self.cautions]
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Plans for several epsilons, the smallest first."""

    plans: tuple[Plan, ...]

    @property
    def baseline(self) -> PublicBaseline | None:
        """What public facts alone would give: the same for every epsilon."""
        return self.plans[0].baseline

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        shared = ("nodes", "edges", "directed", "delta", "unit", "proxy", "baseline")
        own = ("epsilon", "worth_it", "optimistic", "pessimistic")
        plans = [plan.as_dict() for plan in self.plans]
        rows = [
            {**{name: one[name] for name in own}, **plan.choice.as_dict()}
            for one, plan in zip(plans, self.plans, strict=True)
        ]
        return {**{name: plans[0][name] for name in shared}, "sweep": rows}

    def _repr_html_(self) -> str:
        from ..output.report.release import plan_card

        return plan_card(self)

    def __str__(self) -> str:
        first = self.plans[0]
        lines = [
            f"{first.topology!r}, delta = {first.terms.budget.delta:g}, unit = {first.terms.unit.norm:g}. "
            "No weight was read.",
            "",
            f"{'epsilon':<11}{_HEAD}" + ("" if self.baseline is None else f"{'optimistic':>12}{'pessimistic':>12}"),
            *(
                f"{plan.terms.budget.epsilon:<11g}{_format_row(plan.choice)}"
                f"{_format_range(plan)}{'' if plan.worth_it else '  no better than public facts'}"
                for plan in self.plans
            ),
            "",
        ]
        if self.baseline is None:
            return "\n".join([*lines, *UNKNOWN_SCALE])
        simulated = "The best candidate at each epsilon, simulated on stand-in weights made of public facts."
        return "\n".join([*lines, simulated, f"{self.baseline}."])


_HEAD = (
    f"{'mechanism':<17}{'noise':<10}{'decoded by':<22}{'mean error':>12}{'95th perc.':>12}{'bias':>11}{'relative':>10}"
    f"{'worst case':>12}{'noise std':>11}{'numbers':>10}"
)


def _format_range(plan: Plan) -> str:
    """Format the ends of the range as two cells; nothing if nothing was simulated."""
    return "".join(f"{one.error:>12.4g}" for one in plan.ends if one)


def _format_row(c: Candidate) -> str:
    """Format a candidate as a line of the table."""
    if c.strategy is None:
        untried = c.reason.startswith(("not tried", FOR_COMPARISON))
        return f"{c.mechanism:<17}{'' if untried else 'not possible: '}{c.reason}"
    mean, p95 = (f"{figure:.4g}" for figure in (c.mean_error, c.p95_error))
    if c.relative is not None and not c.expected.simulated:
        mean, p95 = f"({mean})", f"({p95})"
    bias = "" if c.bias is None else f"{c.bias:+.3g}"
    relative = "" if c.relative is None or not c.expected.simulated else f"{100 * c.relative:.3g} %"
    return (
        f"{c.mechanism:<17}{c.law!s:<10}{c.read_as:<22}{mean:>12}{p95:>12}{bias:>11}{relative:>10}"
        f"{c.bound:>12.4g}{c.noise_std:>11.4g}{c.numbers:>10}"
    )
