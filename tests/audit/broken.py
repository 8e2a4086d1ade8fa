"""Mechanisms broken on purpose, as wrappers around the code under audit.  Each must be caught; its sound twin must not.

A *fault* is a case and a pipeline with one thing wrong.  The twin is the same case with hushpath's own pipeline,
audited by the same auditor with the same settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from unittest import mock

import numpy as np
from cases import BUSH, corridor, path
from subject import UNIT, Case, Pipeline, answered, exact_vector, planned

from hushpath import Network
from hushpath.measurement.blocks import CliqueBlock, HierarchyBlock
from hushpath.measurement.exact import exact_numbers, hierarchy_numbers
from hushpath.measurement.private_step import Measurements, measure
from hushpath.measurement.strategy import Strategy
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import Law, Sampler, make_sampler
from hushpath.privacy.sensitivity import hub_cut

Draw = Callable[[Strategy, Sampler, Law, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Fault:
    """One thing wrong, and the checks that must see it (others may, too)."""

    name: str
    case: Case
    pipeline: Pipeline
    seen_by: tuple[str, ...]
    trials: int = 2000


@dataclass(frozen=True)
class _Tampered:
    """A sampler that tampers with the noise of an honest one."""

    strategy: Strategy
    inner: Sampler
    change: Draw

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def private(self) -> bool:
        return self.inner.private

    def draw(self, law: Law, scales: np.ndarray) -> np.ndarray:
        return self.change(self.strategy, self.inner, law, scales)


def noisy(change: Draw) -> Pipeline:
    """The real ``measure`` with tampered noise."""

    def tampered(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
        return measure(strategy, weights, _Tampered(strategy, sampler, change))

    return Pipeline(measure=tampered)


# -- noise -------------------------------------------------------------------------------------------------------------


def half(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    return sampler.draw(law, scales // 2)


def silent_group(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    """The first group that the worst edge moves gets no noise."""
    exposure = strategy.exposure
    moved = exposure.group[exposure.edge == strategy.certificate.worst_edge]
    group = np.min(moved[exposure.cut[moved] > 0])
    of_number = np.repeat(np.arange(len(strategy.scales)), strategy.group_sizes)
    return sampler.draw(law, np.where(of_number == group, 0, scales))


def reused(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    """One draw per distinct scale, shared by all cells that have it."""
    distinct, which = np.unique(scales, return_inverse=True)
    return sampler.draw(law, distinct)[which]


def coarse(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    """Noise with few digits, as a rounded or floating-point generator makes it: multiples of 1/8 of a unit."""
    step = int(1 / strategy.lattice.granularity) // 8
    return sampler.draw(law, scales) // step * step


def truncated(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    """No noise beyond two scales: nicer to look at."""
    return np.clip(sampler.draw(law, scales), -2 * scales, 2 * scales)


def averaged(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    """The mean of four draws, as if four releases had been one."""
    return sum(sampler.draw(law, scales) for _ in range(4)) // 4


def misaligned(strategy: Strategy, sampler: Sampler, law: Law, scales: np.ndarray) -> np.ndarray:
    """The right noise on the wrong numbers."""
    return sampler.draw(law, scales[::-1])


def fixed_seed(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
    """Noise that everybody can draw again, in a release that claims to be private."""
    drawn = measure(strategy, weights, make_sampler("vector", seed=0, size=strategy.num_values))
    return replace(drawn, sampler="vector", private=True)


# -- what happens to the numbers ---------------------------------------------------------------------------------------


def in_the_true_range(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
    """After noise, clipped to the range of the true numbers."""
    drawn, exact = measure(strategy, weights, sampler), exact_vector(strategy, weights)
    return replace(drawn, values=np.clip(drawn.values, exact.min(), exact.max()))


def until_positive(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
    """Drawn again until no number is negative."""
    while (drawn := measure(strategy, weights, sampler)).values.min() < 0:
        pass
    return drawn


def private_public_edges(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
    """The public edges of ``separator-cover`` take their private weight instead of their public bound."""

    def tampered(block, lattice, steps):
        return hierarchy_numbers(block, replace(lattice, high=steps), steps)

    exact_numbers.register(HierarchyBlock, tampered)
    try:
        return measure(strategy, weights, sampler)
    finally:
        exact_numbers.register(HierarchyBlock, hierarchy_numbers)


def near_the_truth(measurements: Measurements, weights: PrivateWeights, pairs: np.ndarray) -> np.ndarray:
    """Answers that are off by more than three units are put right: "outliers"."""
    exact = replace(measurements, values=exact_vector(measurements.strategy, weights))
    truth = answered(exact, weights, pairs)
    return np.clip(answered(measurements, weights, pairs), truth - 3 * UNIT, truth + 3 * UNIT)


# -- plans -------------------------------------------------------------------------------------------------------------


def halved_cut(case: Case, net: Network) -> Strategy:
    """The cut lemma, wrong by two: half of the numbers are thought to move."""

    def wrong(*shapes, directed):
        return np.maximum(hub_cut(*shapes, directed=directed) // 2, 1)

    with (
        mock.patch("hushpath.measurement.pairs.hub_cut", wrong),
        mock.patch("hushpath.measurement.hierarchy.hub_cut", wrong),
    ):
        return planned(case, net)


def halved_unit(case: Case, net: Network) -> Strategy:
    """Calibrated for half of the protected unit."""
    return planned(case, net, unit=UNIT / 2)


def busiest_nodes(case: Case, net: Network) -> Strategy:
    """Measures between the nodes with the heaviest edges."""
    honest, topology, weights = planned(case, net), net.topology, net.weights.reveal()
    load = np.bincount(topology.tails, weights, topology.num_nodes) + np.bincount(
        topology.heads, weights, topology.num_nodes
    )
    count = len(honest.blocks[0].vertices)
    return replace(honest, blocks=(CliqueBlock.on(topology, np.argsort(-load, kind="stable")[:count]),))


def as_deep_as_the_data(case: Case, net: Network) -> Strategy:
    """Cuts another level where weights are uneven."""
    weights = net.weights.reveal()
    depth = 3 if weights.max() > weights.min() else 2
    return planned(replace(case, options={**case.options, "depth": depth}), net)


def bounds_from_data(case: Case, net: Network) -> Strategy:
    """The public bound is the largest weight."""
    return planned(replace(case, max_weight=float(net.weights.reveal().max()) + 1e-3), net)


def without_zeros(case: Case, net: Network) -> Strategy:
    """Edges of weight zero vanish, as in a sparse matrix, and the public topology tells."""
    topology, kept = net.topology, net.weights.reveal() > 0
    tails, heads = topology.tails[kept], topology.heads[kept]
    return planned(case, Network.build(topology.labels, tails, heads, net.weights.reveal()[kept]))


def _gaussian(case: Case) -> Case:
    return replace(case, law="gaussian", epsilon=3.0)


_INPUT = Case("input", "laplace", "path of 3", 3, path(3), copies=100)
_ALONE = replace(_INPUT, copies=1)  # for faults that would make copies depend on each other
_BUSH = Case("separator", "laplace", "bush of 6", 6, BUSH, copies=8, options={"leaf_size": 2})
_CELLS = replace(_gaussian(_BUSH), copies=1)
_PAIRS = Case("all-pairs", "laplace", "path of 3", 3, path(3), copies=4)
_COVER = Case("cover", "laplace", "path of 8", 8, path(8), options={"hops": 1})
_HUBS = Case("hubs", "gaussian", "path of 12", 12, path(12), options={"hubs": 5}, epsilon=3.0)
_DEEP = Case("separator-cover", "laplace", "corridor 6 x 4", 24, corridor(6, 4), options={"hops": 1, "leaf_size": 4})

FAULTS = [
    Fault("half the noise", _INPUT, noisy(half), ("vector", "distances")),
    Fault("half the noise", _gaussian(_BUSH), noisy(half), ("vector",), 1000),
    Fault("one group without noise", _ALONE, noisy(silent_group), ("noise", "vector", "distances"), 400),
    Fault("one group without noise", _CELLS, noisy(silent_group), ("noise", "vector"), 400),
    Fault("sensitivity off by two (cut)", _PAIRS, Pipeline(plan=halved_cut), ("replay", "vector")),
    Fault("sensitivity off by two (unit)", _gaussian(_BUSH), Pipeline(plan=halved_unit), ("replay", "vector"), 1000),
    Fault("noise reused in two cells", _ALONE, noisy(reused), ("noise", "vector"), 400),
    Fault("noise reused in two cells", _CELLS, noisy(reused), ("noise", "vector"), 400),
    Fault("decomposition from weights (cover)", _COVER, Pipeline(plan=busiest_nodes), ("structure",), 400),
    Fault("decomposition from weights (depth)", _BUSH, Pipeline(plan=as_deep_as_the_data), ("structure",), 400),
    Fault("bounds read from data", _INPUT, Pipeline(plan=bounds_from_data), ("structure",)),
    Fault("fixed seed", _ALONE, Pipeline(measure=fixed_seed), ("noise", "vector", "distances"), 400),
    Fault("edges of weight zero vanish", _INPUT, Pipeline(plan=without_zeros), ("structure",)),
    Fault("public edges take private weights", _DEEP, Pipeline(measure=private_public_edges), ("replay",), 200),
    Fault("noise with few digits", _INPUT, noisy(coarse), ("vector",)),
    Fault("noise cut off at two scales", _INPUT, noisy(truncated), ("vector", "distances")),
    Fault("mean of four draws", _gaussian(_INPUT), noisy(averaged), ("vector", "distances")),
    Fault("noise on the wrong numbers", _HUBS, noisy(misaligned), ("vector",), 2000),
    Fault("clipped to the true range", _ALONE, Pipeline(measure=in_the_true_range), ("replay", "vector")),
    Fault("drawn again until positive", replace(_ALONE, weight=0.0), Pipeline(measure=until_positive), ("replay",)),
    Fault("answers corrected by the truth", _PAIRS, Pipeline(answer=near_the_truth), ("distances",), 800),
]  # fmt: skip
