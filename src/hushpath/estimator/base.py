"""What an estimator is, and what it reads: noisy edge weights.

Estimation is post-processing: an estimator sees only what was published, so it costs no privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..kernels.bounded import whole_steps
from ..measurement.blocks import EdgeBlock, LineBlock
from ..measurement.lines import PathVariances
from ..measurement.private_step import Measurements
from ..measurement.strategy import Strategy
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..noise import Law, simulated_noise, stds

MIN_EDGES = 20  # with fewer edges a model of the weights cannot be fitted
NEGLIGIBLE_NOISE = 1e9  # where a value is so many times the noise, noise does not matter (or the file is damaged)


def measures_single_edges(strategy: Strategy) -> bool:
    """Return whether every edge is measured by itself, and nothing else is measured."""
    return all(isinstance(block, EdgeBlock) for block in strategy.blocks) and not measures_sums(strategy)


def measures_sums(strategy: Strategy) -> bool:
    """Return whether sums of weights along lines of edges are measured."""
    return strategy.has(LineBlock) and len(strategy.block(LineBlock).level_lines) > 0


@dataclass(frozen=True, eq=False)
class NoisyEdges:
    """Noisy edge weights, in lattice steps.

    Attributes
    ----------
    topology, lattice, law
        Public facts: the network, the lattice of weights, and the noise distribution.
    edges : (k,) array of int
        The edges that were measured.
    values : (k,) array of int
        The noisy weight of each.
    scales : (k,) array of int
        The noise scale of each.
    independent : bool
        Whether the values are the measurements themselves, with independent noise of this law and these scales.  In
        the subclass `LeastSquaresEdges`, ``noise`` is exact but law and scales are approximations.
    """

    topology: Topology
    lattice: Lattice
    law: Law
    edges: Int
    values: Int
    scales: Int
    independent: ClassVar[bool] = True

    @classmethod
    def from_measurements(cls, measurements: Measurements) -> NoisyEdges:
        """Read the block of a release that measures single edges (a strategy has at most one)."""
        strategy = measurements.strategy
        block = next((block for block in strategy.blocks if len(block.edges)), strategy.blocks[0])
        numbers, scales = measurements.of(type(block)), strategy.scales[strategy.groups_of(type(block))]
        public = strategy.topology, strategy.lattice, strategy.law, block.edges
        if isinstance(block, LineBlock) and len(block.level_lines):
            return LeastSquaresEdges.from_lines(public, block, numbers, scales)
        count = len(block.edges)
        return cls(*public, numbers[len(numbers) - count :], scales[len(scales) - count :])

    @cached_property
    def noise(self) -> Float:
        """The standard deviation of the noise of each value."""
        return stds(self.law, self.scales)

    @property
    def unit(self) -> float:
        """The typical noise scale, in lattice steps: models count weights in this unit."""
        return float(np.median(self.scales))

    @property
    def can_be_modelled(self) -> bool:
        """Whether there are edges enough for a model of the weights, and noise that matters."""
        enough = len(self.edges) >= MIN_EDGES and bool((self.scales > 0).all())
        return enough and bool(np.abs(self.values).max() <= NEGLIGIBLE_NOISE * self.unit)

    @property
    def bounds(self) -> tuple[Int, Int]:
        """The public lower and upper bounds of the measured edges."""
        return self.lattice.low[self.edges], self.lattice.high[self.edges]

    def draw_noise(self, rng: np.random.Generator) -> Float:
        """Draw simulated noise for every value."""
        return simulated_noise(rng, self.law, self.scales)

    def restricted(self, topology: Topology, edges: Int) -> NoisyEdges:
        """Restrict to a part of the network."""
        whole = self.lattice
        lattice = Lattice(whole.granularity, whole.low[edges], whole.high[edges], topology.twins)
        return NoisyEdges(topology, lattice, self.law, np.arange(len(edges)), self.values[edges], self.scales[edges])


@dataclass(frozen=True, eq=False)
class LeastSquaresEdges(NoisyEdges):
    """Edge weights estimated by least squares from single edges and sums along lines together.

    The errors are averages: nearly normal, smaller than the noise of a single edge, and negatively correlated along a
    line.  ``scales`` are those at which noise of the law would have the same standard deviation.
    """

    block: LineBlock  # what was measured
    group_scales: Int  # the noise scale of every group of the block
    independent: ClassVar[bool] = False

    @classmethod
    def from_lines(
        cls, public: tuple[Topology, Lattice, Law, Int], block: LineBlock, numbers: Int, group_scales: Int
    ) -> LeastSquaresEdges:
        """Estimate every edge from all ``numbers`` of a ``block``; sums along lines are right to half a step.

        ``public`` has the first four fields; ``group_scales`` are the noise scales of the groups.
        """
        law, noise = public[2], stds(public[2], group_scales)
        estimates, order = block.estimates(noise, numbers.astype(np.float64)), block.lines.order
        values = np.empty(len(order), np.int64)
        values[order] = whole_steps(estimates[order], block.lines.start)
        width = block.edge_noise(noise) / (np.sqrt(2) if law is Law.LAPLACE else 1)
        return cls(*public, values, np.rint(width).astype(np.int64), block, group_scales)

    @cached_property
    def noise(self) -> Float:
        """The standard deviation of the error of each estimate."""
        return self.block.edge_noise(stds(self.law, self.group_scales))

    def draw_noise(self, rng: np.random.Generator) -> Float:
        """Draw noise for every measured number, and return the least squares estimates from it."""
        noise = simulated_noise(rng, self.law, np.repeat(self.group_scales, self.block.group_sizes))
        return self.block.estimates(stds(self.law, self.group_scales), noise)


@dataclass(frozen=True, eq=False)
class PathErrors:
    """The error of distances in a forest, where the path between two nodes is known."""

    independent: PathVariances  # variances, along a path, of the errors that are independent between edges
    # (k, m): errors that all edges share, independent of each other: one row of standard deviations for each
    shared_sd: Float
    factor: float = 1.0  # multiplies the standard deviation of both together

    @cached_property
    def _totals(self) -> Float:
        return self.independent.block.totals(self.shared_sd)

    def sd(self, sources: Int, targets: Int) -> Float:
        """Return the standard deviation of the error of each pair, in lattice steps."""
        pieces, (first, last) = self.independent.block.on_paths(sources, targets)
        variance = pieces.per_pair(self.independent.between(first, last))
        for total in self._totals:
            variance += pieces.per_pair(total[last] - total[first]) ** 2
        return np.asarray(self.factor * np.sqrt(variance), np.float64)


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """What all estimators have; see `WeightEstimator` and `TripEstimator`.

    Attributes
    ----------
    unit_kind : str
        What it estimates from: releases of "weights" or of "trips".
    name, summary : str
        The name users pass as ``estimator=``, and one line of description.
    suits : callable
        Whether it may be the default for a strategy.  The first estimator that suits is the default.
    costly : bool
        Whether it is slow.  Files then store its result, and plans try it on a part of a large network.
    proved : bool
        Whether no weight is ever estimated farther from the truth than it was measured.  The proved error bounds of
        decoders that search paths rest on this.
    keeps_sums : bool
        Whether sums along lines of bridges stay as measured, as far as bounds allow.
    """

    unit_kind: ClassVar[str] = "weights"
    name: str
    summary: str
    suits: Callable[[Strategy], bool] = lambda _: True
    costly: bool = False
    proved: bool = False
    keeps_sums: bool = False


@dataclass(frozen=True, kw_only=True)
class WeightEstimator(Estimator):
    """An estimator of edge weights.

    Attributes
    ----------
    estimate : callable
        From noisy edges to one weight per measured edge: whole lattice steps within the public bounds.
    path_errors : callable, optional
        The error of distances in a forest, if the estimator knows it.
    posterior : callable, optional
        Samples of all weights (so many, by a seed), and how much of each weight is measured; ``None`` if there is no
        model.  Without it, weights are as far off as their noise.
    """

    estimate: Callable[[NoisyEdges], Int]
    path_errors: Callable[[NoisyEdges], PathErrors] | None = None
    posterior: Callable[[NoisyEdges, int, int], tuple[Float, Float] | None] | None = None

    def weights(self, noisy: NoisyEdges) -> Int:
        """Return one weight per edge of the network; edges that were not measured have their upper bound."""
        out = np.array(noisy.lattice.high)
        out[noisy.edges] = self.estimate(noisy)
        return out


class SavedEstimate(NamedTuple):
    """The estimator that a release file names ("" for none), and its weights if they are costly to compute."""

    estimator: str = ""
    weights: Int | None = None


NOTHING_SAVED = SavedEstimate()
