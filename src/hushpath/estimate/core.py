"""What an estimator is: from noisy edge weights to the weights that shortest paths are searched on.

Free post-processing: an estimator sees what was published and nothing else, so whatever it does costs no privacy.  One
file per estimator; ``registry`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, NoReturn, Protocol

import numpy as np

from ..arrays import Float, Int
from ..blocks import EdgeBlock, LineBlock
from ..blocks.lines import PathVariances
from ..data.lattice import Lattice
from ..data.topology import Topology
from ..errors import OptionError
from ..kernels.bounded import whole_steps
from ..measure import Measurements
from ..noise import Law, stds
from ..strategy.core import Strategy
from .trip_totals import TripTotals

FEWEST_EDGES = 20  # with fewer there is nothing to learn about weights from the weights themselves


def measured_singly(strategy: Strategy) -> bool:
    """Whether every edge was measured by itself and nothing else was."""
    return all(isinstance(block, EdgeBlock) for block in strategy.blocks) and not sums_measured(strategy)


def sums_measured(strategy: Strategy) -> bool:
    """Whether sums along lines were measured."""
    return strategy.has(LineBlock) and len(strategy.block(LineBlock).level_lines) > 0


@dataclass(frozen=True, eq=False)
class NoisyEdges:
    """Edge weights as they were measured, in lattice steps.

    Attributes:
        edges: which edges were measured one by one.
        values: the noisy weight of each of these.
        scales: the scale of its noise.
        plain: whether the values are the measurements themselves, with independent noise of this law and these scales.
            If not (``LeastSquaresEdges``), ``noise`` is right, but law and scales are only a likeness.
    """

    topology: Topology
    lattice: Lattice
    law: Law
    edges: Int
    values: Int
    scales: Int
    plain: ClassVar[bool] = True

    @classmethod
    def of(cls, measurements: Measurements) -> NoisyEdges:
        """The edges that a strategy measures one by one (at most one of its blocks does)."""
        strategy = measurements.strategy
        block = next((block for block in strategy.blocks if len(block.edges)), strategy.blocks[0])
        numbers, scales = measurements.of(type(block)), strategy.scales[strategy.groups_of(type(block))]
        public = strategy.topology, strategy.lattice, strategy.law, block.edges
        if isinstance(block, LineBlock) and len(block.level_lines):
            return LeastSquaresEdges.of_lines(public, block, numbers, scales)
        count = len(block.edges)
        return cls(*public, numbers[len(numbers) - count :], scales[len(scales) - count :])

    @cached_property
    def noise(self) -> Float:
        """Standard deviation of the noise of each edge."""
        return stds(self.law, self.scales)

    def drawn(self, rng: np.random.Generator) -> Float:
        """Noise of this kind, for simulations of what else could have been measured."""
        return _drawn(rng, self.law, self.scales)


def _drawn(rng: np.random.Generator, law: Law, scales: Int) -> Float:
    return rng.laplace(0.0, scales) if law is Law.LAPLACE else rng.normal(0.0, scales)


@dataclass(frozen=True, eq=False)
class LeastSquaresEdges(NoisyEdges):
    """Edge weights as sums along lines and the edges themselves tell them together.

    Their noise is that of an average: nearly normal, smaller than that of the edge's own number, and negatively
    correlated along a line.  ``scales`` are those at which noise of the law would be as wide.

    Attributes:
        block, group_scales: what was measured, and with how much noise.
    """

    block: LineBlock
    group_scales: Int
    plain: ClassVar[bool] = False

    @classmethod
    def of_lines(
        cls, public: tuple[Topology, Lattice, Law, Int], block: LineBlock, numbers: Int, group_scales: Int
    ) -> LeastSquaresEdges:
        """Estimate every edge from all numbers, rounded so that sums along lines are right to half a step."""
        law, noise = public[2], stds(public[2], group_scales)
        estimates, order = block.estimates(noise, numbers.astype(np.float64)), block.lines.order
        values = np.empty(len(order), np.int64)
        values[order] = whole_steps(estimates[order], block.lines.start)
        width = block.edge_noise(noise) / (np.sqrt(2) if law is Law.LAPLACE else 1)
        return cls(*public, values, np.rint(width).astype(np.int64), block, group_scales)

    @cached_property
    def noise(self) -> Float:
        """Standard deviation of each estimate."""
        return self.block.edge_noise(stds(self.law, self.group_scales))

    def drawn(self, rng: np.random.Generator) -> Float:
        """What least squares make of noise on every number."""
        noise = _drawn(rng, self.law, np.repeat(self.group_scales, self.block.group_sizes))
        return self.block.estimates(stds(self.law, self.group_scales), noise)


@dataclass(frozen=True, eq=False)
class PathSpread:
    """How far an answer is off in a forest, where the path of every pair is known.

    Attributes:
        single: variances of what noise and single weights leave open along a path.
        shared: errors that all edges share, independent of each other: a row of standard deviations for each.
        factor: for the standard deviation of both together.
    """

    single: PathVariances
    shared: Float
    factor: float = 1.0

    @cached_property
    def _totals(self) -> Float:
        return self.single.block.totals(self.shared)

    def at(self, sources: Int, targets: Int) -> Float:
        """Standard deviation of the error of each pair."""
        pieces, (first, last) = self.single.block.on_paths(sources, targets)
        variance = pieces.per_pair(self.single.between(first, last))
        for total in self._totals:
            variance += pieces.per_pair(total[last] - total[first]) ** 2
        return np.asarray(self.factor * np.sqrt(variance), np.float64)


class EdgeTimes(Protocol):
    """What an estimator makes of totals of trips: times of every period and edge, within their bounds."""

    @property
    def seconds(self) -> Float:
        """A row per period."""

    @property
    def spread(self) -> Float:
        """Standard errors."""

    def draws(self, period: int, count: int, seed: int) -> Float:
        """Plausible times of one period, a row each, with the errors that edges share."""


def _of_trips(noisy: NoisyEdges) -> NoReturn:  # noqa: ARG001
    raise OptionError("this estimator reads totals of trips, not weights")


@dataclass(frozen=True)
class Estimator:
    """One way to estimate weights.

    Attributes:
        name, summary: for people.
        estimate: the weight of each measured edge, whole lattice steps within its public bounds.
        suits: whether it may be the default for what a strategy measures; the first that suits is.
        proved: whether no weight is estimated farther from the true one than it was measured, whatever the noise: what
            the proved bounds of decoders that search rest on.
        keeps_sums: whether sums along lines of bridges stay as measured, as far as bounds allow, so that in a forest an
            answer is off by what the sum along its path is off.
        spread: how far its answers are off in a forest, in lattice steps, if it knows.
        costly: whether its weights take so long to work out that a file carries them.
        times: instead of ``estimate``, for one that reads totals of trips.
    """

    name: str
    summary: str
    estimate: Callable[[NoisyEdges], Int] = _of_trips
    suits: Callable[[Strategy], bool] = lambda _: True
    proved: bool = False
    keeps_sums: bool = False
    spread: Callable[[NoisyEdges], PathSpread] | None = None
    costly: bool = False
    times: Callable[[TripTotals], EdgeTimes] | None = None

    def weights(self, noisy: NoisyEdges) -> Int:
        """One weight per edge of the network; edges that were not measured are as long as their bounds allow."""
        out = np.array(noisy.lattice.high)
        out[noisy.edges] = self.estimate(noisy)
        return out


class Advice(NamedTuple):
    """How whoever made a release wants it to be read: an estimator ("" for none), its weights if they are costly."""

    estimator: str = ""
    weights: Int | None = None


NO_ADVICE = Advice()
