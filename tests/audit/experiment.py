"""One audited experiment: two neighbours, many releases through the code under audit, five ways to object.

Trials are cheap because networks are *tiled*: one network holds many copies of a small one, side by side, and the worst
edge moves by the unit in every copy.  Copies share no edge, so no number depends on two copies (checked against the
strategy's exposure) and every number has its own noise: each copy of each release is an independent trial of the same
experiment, under the same certificate, which is a maximum over edges.  The two networks differ by one unit per copy,
but no trial looks at more than one.

What may object:
    structure   everything published beside the numbers must be the same for every neighbour (and for absurd weights)
    replay      with noise frozen, no neighbour moves the numbers by more than the certificate says
    noise       noise taken off again is never constant, and never the same for two numbers
    vector      an attack on the measured numbers beats the claim (``auditor``)
    distances   an attack on released distances does
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from auditor import Claim, Finding, likelihood_ratio, linear, low_bits, one_number, strongest
from subject import Case, Pipeline, exact_vector, published

from hushpath.measurement.strategy import Strategy
from hushpath.noise import Law, Sampler, make_sampler

FEW = 6  # releases that the noise check looks at
CHECKS = "structure", "replay", "noise", "vector", "distances"


@dataclass(frozen=True)
class Outcome:
    """What each check found; a check that was not run, or could not be, found nothing."""

    structure: str = ""
    replay: float = 0.0
    noise: str = ""
    vector: Finding | None = None
    distances: Finding | None = None

    @property
    def objections(self) -> tuple[str, ...]:
        """The checks that object."""
        beaten = [name for name in ("vector", "distances") if (found := getattr(self, name)) and found.refutes]
        first = [("structure", bool(self.structure)), ("replay", self.replay > 1 + 1e-9), ("noise", bool(self.noise))]
        return (*(name for name, wrong in first if wrong), *beaten)


@dataclass
class Experiment:
    """A case under a pipeline; everything that objects does so by name."""

    case: Case
    pipeline: Pipeline = field(default_factory=Pipeline)
    seed: int = 1

    # -- on one copy ------------------------------------------------------------------------------------------------

    @cached_property
    def single(self) -> Strategy:
        """The strategy of one copy alone."""
        return self.pipeline.plan(self.case, self.case.network(1))

    @property
    def depth(self) -> int | None:
        """Levels of cuts in one copy (in the tiled network there are more: they only part the copies)."""
        return self.single.details.get("depth")

    @cached_property
    def structure(self) -> str:
        """An objection if anything published beside the numbers depends on weights."""
        case, digest = self.case, published(self.single)
        absurd = [dict.fromkeys(case.ends, shift) for shift in (-case.weight, 1e9)]
        some = case.neighbours()
        for changes in [*some[:: 1 + 2 * (len(some) // 48)], *absurd]:  # an odd stride: up and down
            if published(self.pipeline.plan(case, case.network(1, changes))) != digest:
                return "differs between neighbours" if len(changes) == 1 else "differs with the weights"
        return ""

    def _frozen(self, changes: Mapping[tuple[int, int], float]) -> np.ndarray:
        sampler = make_sampler("vector", seed=self.seed, size=self.single.num_values)
        return self.pipeline.measure(self.single, self.case.network(1, changes).weights, sampler).values

    @cached_property
    def replay(self) -> float:
        """The largest move of the numbers by a neighbour, as a share of what the certificate allows.

        Where one edge changes, of what it allows that edge: numbers that the edge cannot reach must not move at all.
        """
        strategy, case, rng = self.single, self.case, np.random.default_rng(self.seed)
        topology, exposure, pure = strategy.topology, strategy.exposure, strategy.law is Law.LAPLACE
        scales = np.repeat(strategy.scales, strategy.group_sizes)
        price = strategy.terms.unit_steps(strategy.lattice) / strategy.scales
        price = exposure.cut * (price if pure else price**2 / 2)
        cost = np.bincount(exposure.edge, price[exposure.group], topology.num_edges)
        edges = zip(topology.tails.tolist(), topology.heads.tolist(), cost.tolist(), strict=True)
        allowed = {(u, v) if case.directed else (min(u, v), max(u, v)): one for u, v, one in edges}
        spread = [dict(zip(case.ends, shares, strict=True)) for shares in rng.dirichlet(np.ones(len(case.ends)), 4)]
        start, largest = self._frozen({}), 0.0
        for changes in [*case.neighbours(), *spread]:
            move = np.abs(self._frozen(changes) - start) / scales
            spent = move.sum() if pure else (move**2).sum() / 2
            limit = allowed[next(iter(changes))] if len(changes) == 1 else strategy.certificate.spent
            largest = max(largest, spent / limit if limit else (math.inf if spent else 0.0))
        return float(largest)

    @cached_property
    def noise(self) -> str:
        """An objection if the noise of a few releases repeats; chance of a false one: below 1e-9."""
        strategy, weights = self.single, self.case.network(1).weights
        exact = exact_vector(strategy, weights)
        drawn = [self.pipeline.measure(strategy, weights, self._sampler(strategy, i)) for i in range(FEW)]
        noise = np.stack([m.values for m in drawn]) - exact
        if (noise == noise[0]).all(axis=0).any():
            return "a number has the same noise in every release"
        if len(np.unique(noise, axis=1).T) < noise.shape[1]:
            return "two numbers share their noise"
        return ""

    def _sampler(self, strategy: Strategy, number: int = 0) -> Sampler:
        choice = self.case.sampler.removesuffix("-seeded")
        seed = self.seed + 1000 * number if choice != self.case.sampler else None
        return make_sampler(choice, seed=seed, size=strategy.num_values)  # type: ignore[arg-type]

    # -- on many copies ---------------------------------------------------------------------------------------------

    @cached_property
    def strategy(self) -> Strategy:
        """The strategy of all copies."""
        return self.pipeline.plan(self.case, self.case.network(self.case.copies))

    @cached_property
    def _numbers(self) -> list[np.ndarray]:
        """Which measured numbers belong to each copy."""
        strategy, exposure = self.strategy, self.strategy.exposure
        copy_of_edge = strategy.topology.tails // self.case.size
        owner = np.full(len(strategy.scales), -1)
        owner[exposure.group] = copy_of_edge[exposure.edge]
        counted = exposure.cut[exposure.group] > 0
        assert (owner[exposure.group] == copy_of_edge[exposure.edge])[counted].all(), "copies must not share a group"
        owner = np.repeat(owner, strategy.group_sizes)
        return [np.flatnonzero(owner == copy) for copy in range(self.case.copies)]

    @cached_property
    def worst(self) -> tuple[dict[tuple[int, int], float], np.ndarray, np.ndarray]:
        """The neighbour that moves the numbers of a copy most, and the copies (and their numbers) where it does so.

        Most mechanisms treat all copies alike; one that draws hubs does not, and copies that differ are left out.
        """
        strategy, case = self.strategy, self.case
        scales = np.repeat(strategy.scales, strategy.group_sizes)
        first = exact_vector(strategy, case.network(case.copies).weights)
        best: tuple[float, Any] = (-1.0, None)
        for changes in case.neighbours():
            second = exact_vector(strategy, case.network(case.copies, changes).weights)
            shift = np.abs(second - first) / scales
            cost = [(shift[n] if strategy.law is Law.LAPLACE else shift[n] ** 2).sum() for n in self._numbers]
            if max(cost) > best[0] * (1 + 1e-9):
                best = max(cost), (changes, second, int(np.argmax(cost)))
        changes, second, like = best[1]

        def looks(copy: int) -> bytes:
            at = self._numbers[copy]
            return np.concatenate([first[at], second[at], scales[at]]).tobytes()

        kept = np.array([copy for copy in range(case.copies) if looks(copy) == looks(like)])
        return changes, kept, np.stack([self._numbers[copy] for copy in kept])

    def trials(self, count: int, distances: bool) -> list[np.ndarray]:
        """At least ``count`` trials of both neighbours: measured numbers, or distances from both ends of the edge."""
        changes, kept, numbers = self.worst
        ((ends, _),) = changes.items()
        mates = np.array([(end, v) for end in ends for v in range(self.case.size) if v != end])
        pairs = (mates + kept[:, None, None] * self.case.size).reshape(-1, 2)
        sampler = self._sampler(self.strategy, 1 + distances)
        out = []
        for net in (self.case.network(self.case.copies), self.case.network(self.case.copies, changes)):
            seen = []
            for _ in range(-(-count // len(kept))):
                drawn = self.pipeline.measure(self.strategy, net.weights, sampler)
                if distances:
                    seen.append(self.pipeline.answer(drawn, net.weights, pairs).reshape(len(kept), -1))
                else:
                    seen.append(drawn.values[numbers])
            out.append(np.concatenate(seen))
        return out

    def vector(self, count: int) -> Finding:
        """Attack the measured numbers."""
        strategy, (changes, _, numbers) = self.strategy, self.worst
        first, second = (
            exact_vector(strategy, self.case.network(self.case.copies, c).weights)[numbers[0]] for c in ({}, changes)
        )
        scales = np.repeat(strategy.scales, strategy.group_sizes)[numbers[0]]
        attacks = {
            "likelihood": likelihood_ratio(strategy.law, first, second, scales),
            "linear": linear,
            "low bits": low_bits(first, second),
        }
        return strongest(attacks, *self.trials(count, distances=False), Claim.of(strategy))

    def distances(self, count: int) -> Finding:
        """Attack what everybody sees."""
        zero, one = self.trials(count, distances=True)
        reachable = np.isfinite(zero[0])  # a public fact, and the same in every release
        return strongest({"linear": linear, "one distance": one_number}, zero[:, reachable], one[:, reachable],
                         Claim.of(self.strategy))  # fmt: skip

    def outcome(self, trials: int, distance_trials: int, checks: tuple[str, ...] = CHECKS) -> Outcome:
        """Run the checks.  If structures differ there is no common strategy, and nothing else to compare."""
        if "structure" in checks and self.structure:
            return Outcome(structure=self.structure)
        return Outcome(
            replay=self.replay if "replay" in checks else 0.0,
            noise=self.noise if "noise" in checks else "",
            vector=self.vector(trials) if "vector" in checks else None,
            distances=self.distances(distance_trials) if "distances" in checks else None,
        )
