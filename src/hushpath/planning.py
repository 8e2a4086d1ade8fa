"""Which mechanism, and what error to expect: from public facts only.

A plan builds the calibrated strategy of every mechanism that fits, under every law it may use, and predicts the
error of each over pairs of nodes drawn evenly.  It reads no weights, so a plan may be made, printed and published
before the data exist.

How errors are predicted.  ``table``: the noise of one number.  ``edges``: noise times the square root of the hops of a
pair (counted on the topology), which is right while the noise is small against the weights; where it is not, the true
error is larger and no public fact tells by how much.  ``hierarchy``: the shortcuts of both ways to the root, and the
bias of the minima on the way.  The factor between standard deviation and mean absolute error is that of a Gaussian,
sqrt(2/pi).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Float
from .errors import CannotError, OptionError
from .kernels.paths import UNREACHED, distances_from
from .noise import Law, std
from .privacy.accounting import Budget
from .progress import steps
from .strategy.core import Mechanism, Problem, Strategy, build_strategy
from .strategy.hierarchy import HierarchyBlock
from .strategy.registry import MECHANISMS, mechanism_named
from .topology import Topology
from .weights import Lattice

MEAN_OF_STD = math.sqrt(2 / math.pi)
SAMPLED_NUMBERS = 2**22


@dataclass(frozen=True, eq=False)
class Candidate:
    """One mechanism under one law, with its predicted error, or the public reason why it is out."""

    mechanism: str
    law: Law | None
    mean_error: float
    p95_error: float
    noise: float
    numbers: int
    strategy: Strategy | None = None
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "mechanism": self.mechanism,
            "law": self.law and str(self.law),
            "mean_error": self.mean_error if self.strategy else None,
            "p95_error": self.p95_error if self.strategy else None,
            "noise": self.noise if self.strategy else None,
            "numbers": self.numbers,
            "reason": self.reason,
        }


@dataclass(frozen=True, eq=False)
class Plan:
    """The candidates, best first, and the choice."""

    topology: Topology
    problem: Problem
    candidates: tuple[Candidate, ...]

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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        lattice, budget = self.problem.lattice, self.problem.budget
        return {
            "nodes": self.topology.num_nodes,
            "edges": self.topology.num_edges,
            "directed": self.topology.directed,
            "epsilon": "inf" if budget.unlimited else budget.epsilon,
            "delta": budget.delta,
            "unit": lattice.unit,
            "largest_weight": lattice.largest_weight,
            "choice": {"mechanism": self.choice.mechanism, "law": str(self.choice.law), "why": self.why},
            "candidates": [candidate.as_dict() for candidate in self.candidates],
        }

    def __str__(self) -> str:
        budget = self.problem.budget
        lines = [
            f"{self.topology!r}, epsilon = {budget.epsilon:g}, delta = {budget.delta:g}, "
            f"unit = {self.problem.lattice.unit:g}. No weight was read.",
            "",
            f"{'mechanism':<18}{'law':<10}{'mean error':>12}{'95 % below':>12}{'noise':>12}{'numbers':>12}",
        ]
        for c in self.candidates:
            if c.strategy is None:
                lines.append(f"{c.mechanism:<18}not possible: {c.reason}")
            else:
                lines.append(
                    f"{c.mechanism:<18}{c.law!s:<10}{c.mean_error:>12.4g}{c.p95_error:>12.4g}{c.noise:>12.4g}{c.numbers:>12}"
                )
        lines += ["", f"Choice: {self.why}", "Errors are predicted from public facts; see docs/PITFALLS.md."]
        if self.problem.max_weight is None:
            lines.append(
                f"No max_weight is declared: weights above {self.problem.lattice.largest_weight:.4g} are clipped."
            )
        return "\n".join(lines)


def plan(
    topology: Topology,
    *,
    epsilon: float,
    delta: float = 1e-6,
    unit: float = 1.0,
    max_weight: float | None = None,
    mechanism: str = "auto",
    law: str = "auto",
    granularity: float | None = None,
    **options: Any,
) -> Plan:
    """Build every candidate strategy, predict its error and put the best first.  Reads no weights."""
    budget = Budget(epsilon, delta)
    lattice = Lattice.build(topology, unit=unit, max_weight=max_weight, granularity=granularity)
    problem = Problem(topology, budget, lattice, max_weight)
    laws = _laws(law, budget)
    if mechanism != "auto":
        named = mechanism_named(mechanism)
        candidates = [_candidate(named, problem, each, options) for each in laws]
    else:
        if options:
            raise OptionError(f"option {sorted(options)[0]!r} needs a mechanism by name, not 'auto'")
        candidates = [
            candidate
            for name in steps(list(MECHANISMS), "planning")
            for candidate in _tried(MECHANISMS[name], problem, laws)
        ]
    possible = sorted((c for c in candidates if c.strategy is not None), key=lambda c: c.mean_error)
    if not possible:
        raise CannotError(f"no mechanism fits; {candidates[0].mechanism}: {candidates[0].reason}")
    return Plan(topology, problem, (*possible, *(c for c in candidates if c.strategy is None)))


def _laws(law: str, budget: Budget) -> list[Law]:
    """The laws to try.  Gaussian noise has no pure guarantee."""
    if law == "auto":
        return [Law.LAPLACE] if budget.delta == 0 else [Law.LAPLACE, Law.GAUSSIAN]
    if law not in list(Law):
        raise OptionError(f"law must be auto, laplace or gaussian, got {str(law)[:40]!r}")
    if law == Law.GAUSSIAN and budget.delta == 0 and not budget.unlimited:
        raise OptionError("gaussian noise needs delta above 0; use law='laplace' for pure privacy")
    return [Law(law)]


def _tried(mechanism: Mechanism, problem: Problem, laws: list[Law]) -> list[Candidate]:
    """Candidates of one mechanism, or one that says why there are none."""
    try:
        return [_candidate(mechanism, problem, law, {}) for law in laws]
    except (OptionError, CannotError) as error:
        return [Candidate(mechanism.name, None, math.inf, math.inf, math.inf, 0, None, str(error))]


def _candidate(mechanism: Mechanism, problem: Problem, law: Law, options: Mapping[str, Any]) -> Candidate:
    strategy = build_strategy(mechanism, problem, law, options)
    mean, p95 = predicted_error(strategy)
    scales = strategy.scales
    noise = std(law, int(scales.max())) * problem.lattice.granularity if len(scales) else 0.0
    return Candidate(mechanism.name, law, mean, p95, noise, strategy.num_values, strategy)


def predicted_error(strategy: Strategy) -> tuple[float, float]:
    """Return predicted mean and 95th percentile of the absolute error over pairs of connected nodes."""
    spread, bias = _spread_and_bias(strategy)
    if len(spread) == 0:
        return 0.0, 0.0
    # A random pair's error is a mixture of normals; its mean absolute value and 95 % point by their usual factors.
    spread, bias = spread * strategy.lattice.granularity, bias * strategy.lattice.granularity
    mean = np.hypot(MEAN_OF_STD * spread, bias).mean()
    return float(mean), float(np.sqrt(np.mean((1.96 * spread) ** 2 + bias**2)))


def _spread_and_bias(strategy: Strategy) -> tuple[Float, Float]:
    """Standard deviation and bias of the answers to a public sample of pairs, in lattice steps."""
    if len(strategy.scales) == 0:
        return np.empty(0), np.empty(0)
    scales, which = np.unique(strategy.scales, return_inverse=True)
    noise = np.array([std(strategy.law, int(scale)) for scale in scales])[which]
    if strategy.decoder == "edges":
        spread = np.sqrt(sampled_hops(strategy.topology)) * float(noise.max())
        return spread, np.zeros(len(spread))
    if strategy.decoder == "hierarchy":
        return _hierarchy_spread_and_bias(strategy, noise)
    sizes = strategy.group_sizes
    spread = np.repeat(noise, np.minimum(sizes, 1000)) if sizes.sum() else np.empty(0)
    return spread, np.zeros(len(spread))


def _hierarchy_spread_and_bias(strategy: Strategy, noise: Float) -> tuple[Float, Float]:
    """Climb to the root and down again: variances add up, and each minimum over p noisy ways comes out low.

    The minimum of p normals lies about sqrt(2 ln p) standard deviations below their mean; it is counted in full,
    as if all ways were equally long, so the prediction errs on the cautious side.
    """
    (block,) = strategy.blocks
    assert isinstance(block, HierarchyBlock)
    tree = block.tree
    variance, bias = np.zeros(tree.num_cells), np.zeros(tree.num_cells)
    variance[:] = (
        np.where(tree.hubs.sizes() + (not block.leaf_edges) * tree.is_leaf > 0, noise[: tree.num_cells], 0) ** 2
    )
    bias[:] = np.sqrt(variance * 2 * np.log(np.maximum(tree.hubs.sizes(), 1)))
    if len(block.leaf_edge_ids):
        leaf = tree.home[block.leaf_edge_ids]
        np.maximum.at(variance, leaf, noise[tree.num_cells :] ** 2 * np.sqrt(tree.vertices.sizes()[leaf]))
    for cell in range(1, tree.num_cells):
        variance[cell] += variance[tree.parent[cell]]
        bias[cell] += bias[tree.parent[cell]]
    n = strategy.topology.num_nodes
    home = tree.vertex_home[np.unique(np.linspace(0, n - 1, min(n, 4096)).astype(np.int64))]
    other = np.roll(home, len(home) // 2)
    return np.sqrt(variance[home] + variance[other]), bias[home] + bias[other]


def sampled_hops(topology: Topology) -> Float:
    """Hop counts from evenly spaced nodes to all nodes they reach: a public sample of pairs."""
    n = topology.num_nodes
    sources = np.unique(np.linspace(0, n - 1, max(1, min(n, 256, SAMPLED_NUMBERS // n))).astype(np.int64))
    hops = np.empty((len(sources), n), np.int64)
    distances_from(topology.arcs, np.ones(len(topology.arcs.heads), np.int64), sources, hops)
    return np.asarray(hops[(hops > 0) & (hops != UNREACHED)], np.float64)
