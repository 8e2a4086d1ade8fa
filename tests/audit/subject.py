"""What is audited: a mechanism on copies of a small network, and the pipeline that releases it.

A *pipeline* is the code under audit: ``plan``, ``measure`` and ``Release`` themselves unless something was broken on
purpose.  Nothing here replaces or caches what they do.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hushpath import HushpathWarning, Network
from hushpath.measurement.exact import exact_numbers
from hushpath.measurement.private_step import Measurements, measure
from hushpath.measurement.strategy import Strategy
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import Sampler
from hushpath.planning.plan import plan
from hushpath.published.release import Release

UNIT = 1.0
MOVE = UNIT * (1 - 2.0**-9)  # an odd number of 512ths: noise on a coarser lattice than the data would show


@dataclass(frozen=True)
class Case:
    """What is audited: a mechanism with options on copies of a small network."""

    mechanism: str
    law: str
    shape: str
    size: int
    ends: tuple[tuple[int, int], ...]
    weight: float = 50.0  # of every edge; far from the bounds, so that clipping hides nothing
    copies: int = 1
    directed: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    lengths: Mapping[tuple[int, int], float] = field(default_factory=dict)  # of edges that differ
    max_weight: float = 200.0
    epsilon: float = 1.0
    delta: float = 1e-6
    sampler: str = "vector-seeded"
    name: str = ""

    @property
    def title(self) -> str:
        return self.name or " ".join([self.mechanism, *(f"{k}={v}" for k, v in self.options.items())])

    def network(self, copies: int, changes: Mapping[tuple[int, int], float] | None = None) -> Network:
        """Copies side by side; ``changes`` are added to edges in every copy."""
        ends = np.array(self.ends, np.int64)
        weights = [self.lengths.get(end, self.weight) + (changes or {}).get(end, 0.0) for end in self.ends]
        shift = np.repeat(np.arange(copies) * self.size, len(ends))
        tails, heads = (np.tile(column, copies) + shift for column in ends.T)
        return Network.build(
            range(copies * self.size), tails, heads, np.tile(weights, copies), directed=self.directed
        )  # fmt: skip

    def neighbours(self) -> list[dict[tuple[int, int], float]]:
        """One edge takes the whole unit (nearly), up or down: the extreme points of what one unit can do."""
        return [{end: sign * MOVE} for end in self.ends for sign in (1, -1)]


def planned(case: Case, net: Network, *, unit: float = UNIT) -> Strategy:
    """The strategy as hushpath plans it, from the public half of the network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HushpathWarning)  # these networks are small and odd: an audit has no user
        return plan(
            net.topology,
            epsilon=case.epsilon,
            delta=case.delta,
            unit=unit,
            max_weight=case.max_weight,
            mechanism=case.mechanism,
            noise=case.law,
            **case.options,
        ).strategy


def answered(measurements: Measurements, weights: PrivateWeights, pairs: np.ndarray) -> np.ndarray:
    """Distances as anyone reads them from the release: each weight by itself, so that copies stay independent."""
    release = Release(measurements)
    return (release.with_decoder(estimator="clip") if release.decoder.searches else release).distances(
        pairs, positions=True
    )


@dataclass(frozen=True)
class Pipeline:
    """The code under audit."""

    plan: Callable[[Case, Network], Strategy] = planned
    measure: Callable[[Strategy, PrivateWeights, Sampler], Measurements] = measure
    answer: Callable[[Measurements, PrivateWeights, np.ndarray], np.ndarray] = answered


def exact_vector(strategy: Strategy, weights: PrivateWeights) -> np.ndarray:
    """What the strategy says it measures."""
    steps = weights.on_lattice(strategy.lattice)
    return np.concatenate([exact_numbers(b, strategy.lattice, steps) for b in strategy.blocks])


def published(strategy: Strategy) -> str:
    """A digest of everything in a release but the numbers."""
    topology, lattice = strategy.topology, strategy.lattice
    parts = [
        strategy.mechanism, strategy.law, strategy.terms.max_weight, sorted(strategy.details.items()),
        list(topology.labels),
        lattice.granularity, strategy.terms.unit_steps(lattice), lattice.low.tolist(), lattice.high.tolist(),
        strategy.scales.tolist(),
        *(a.tolist() for a in (topology.tails, topology.heads, topology.lower, topology.upper)),
        *((b.kind, {k: v.tolist() for k, v in b.arrays().items()}) for b in strategy.blocks),
    ]  # fmt: skip
    return hashlib.sha256(repr(parts).encode()).hexdigest()
