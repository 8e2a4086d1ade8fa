"""What a decoder is: from measurements to distances.

Decoding is post-processing: it costs no privacy, and one release can be decoded in several ways.  ``registry`` lists
the decoders.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, OptionError
from ..estimator.base import Estimator, NoisyEdges, WeightEstimator
from ..index import Index
from ..index.index import MAX_BYTES
from ..index.partition import Partition
from ..measurement.blocks import Block
from ..measurement.private_step import Measurements
from ..measurement.samples import HopCounts
from ..measurement.strategy import Strategy
from ..network.topology import Topology
from ..noise import Law, stds

Hops = Callable[[Topology], HopCounts]
ROWS_AT_ONCE = 2**22  # numbers in a buffer of full rows
MEAN_OF_STD = math.sqrt(2 / math.pi)  # mean absolute value of a standard normal number


@dataclass(frozen=True)
class Bound:
    """Except with probability gamma no answer is too low by ``noise + below``, nor too high by ``noise + detour``.

    In units of weight, and for estimators that are ``proved``.
    """

    noise: float
    detour: float = 0.0
    below: float = 0.0

    @property
    def total(self) -> float:
        """The bound on the absolute error."""
        return self.noise + max(self.detour, self.below)


@dataclass(frozen=True, eq=False)
class Prediction:
    """The error to expect for each of a public sample of pairs, in lattice steps."""

    spread: Float  # standard deviation
    moved: Float | float = 0.0  # what an answer is off for sure, apart from noise
    # how far minima over noisy paths may come out low; an upper limit, of which little shows in practice
    minima: Float | float = 0.0
    share: Float | None = None  # of the pairs that each number stands for; all the same, if none is given

    def mean(self, errors: Float) -> float:
        """Over all pairs of the sample."""
        return float(errors.mean() if self.share is None else errors @ self.share)


class Decoder(ABC):
    """One way to compute distances from measurements; nodes are positions, not labels.

    Attributes
    ----------
    name, summary
        For people, and for ``Release.with_decoder``.
    blocks
        The kinds of block that it needs; others are ignored.
    searches
        Whether it searches paths over edge weights, so that it needs an estimator.
    indexed
        Whether it can have an index.
    routes
        Whether every distance is that of a path over edge weights, so that it can return paths and weights.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    blocks: ClassVar[tuple[type[Block], ...]]
    searches: ClassVar[bool] = False
    indexed: ClassVar[bool] = False
    routes: ClassVar[bool] = False
    index: Index | None = None

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        self.measurements, self.estimator = measurements, estimator
        self.strategy = measurements.strategy
        self.topology, self.lattice = self.strategy.topology, self.strategy.lattice

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Return whether it can answer from what a strategy measures."""
        return all(strategy.has(kind) for kind in cls.blocks)

    @staticmethod
    @abstractmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Return the error bound proved for all pairs at once, with probability ``1 - gamma``."""

    @staticmethod
    @abstractmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """Predict errors from public facts; ``hops`` samples pairs of nodes."""

    @abstractmethod
    def rows(self, sources: Int, out: Float) -> None:
        """Fill ``out[i]`` with the distances from ``sources[i]`` to every node."""

    @abstractmethod
    def pairs(self, sources: Int, targets: Int) -> Float:
        """Return the distance of each pair."""

    def intervals(self, sources: Int, targets: Int, confidence: float, answers: Float | None = None) -> Float:
        """Return an interval (low, high) for each pair.

        ``sources`` and ``targets`` are nodes, ``confidence`` is between 0 and 1, and ``answers`` are the distances of
        the pairs if they were computed before.
        """
        answers = self.pairs(sources, targets) if answers is None else answers
        found = np.stack([answers, answers], axis=1)
        open_ = np.flatnonzero((sources != targets) & np.isfinite(answers))
        if len(open_):
            found[open_] = self.ranges(sources[open_], targets[open_], confidence, answers[open_])
        return found

    def ranges(self, sources: Int, targets: Int, confidence: float, answers: Float) -> Float:  # noqa: ARG002
        """Return the intervals of pairs of different, connected nodes.

        ``sources``, ``targets``, ``confidence`` and ``answers`` as in `intervals`.  These rest on the proved bound for
        all pairs, so they are wide for any one.
        """
        if self.searches and not self.estimator.proved:
            raise CannotError(
                f"intervals of decoder {self.name!r} rest on a bound that is not proved for estimator "
                f"{self.estimator.name!r}; use estimator='clip'"
            )
        bound = self.bound(self.strategy, 1 - confidence)
        # An answer that is too high means a truth below it.
        return intervals_around(answers, bound.noise + bound.detour, bound.noise + bound.below)

    def build_index(
        self, max_bytes: int = MAX_BYTES, *, labels: bool = True, partition: Partition | None = None
    ) -> Index:
        """Build the index, which then gives every answer."""
        del max_bytes, labels, partition
        raise CannotError(f"decoder {self.name!r} has no index: its answers are looked up, not searched")

    def index_for(self, rows: int) -> Index | None:  # noqa: ARG002
        """Return the index if it exists or if this many rows are worth building it; else None."""
        return None

    def route(self, source: int, target: int) -> Int:  # noqa: ARG002
        """Return the edges of one shortest path, in order."""
        raise CannotError(f"decoder {self.name!r} gives distances, not paths")

    def floats(self, steps: Int, apart: int) -> Float:
        """Convert lattice steps to distances, at least 0; steps of at least ``apart`` mean unreachable."""
        answer = self.lattice.floats(np.maximum(steps, 0))
        answer[steps >= apart] = np.inf
        return answer

    @cached_property
    def noisy(self) -> NoisyEdges:
        """The edge weights that were measured."""
        return NoisyEdges.from_measurements(self.measurements)

    def at(self, period: int) -> Decoder:  # noqa: ARG002
        """Return the decoder of one period."""
        raise CannotError(f"a release by mechanism {self.strategy.mechanism!r} has no periods")

    @cached_property
    def all_weights(self) -> Int:
        """The estimated weight of every edge in every period, in lattice steps; a file may hold them."""
        return self.weight_estimator.weights(self.noisy)[None, :]

    @cached_property
    def weights(self) -> Int:
        """The estimated weight of every edge, in lattice steps."""
        return np.asarray(self.all_weights[0])

    @property
    def weight_estimator(self) -> WeightEstimator:
        """The estimator, for decoders of edge weights."""
        assert isinstance(self.estimator, WeightEstimator)
        return self.estimator


class RowDecoder(Decoder):
    """Answers pairs from full rows, one per distinct source; of undirected pairs the rarer end is the source."""

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Search once per distinct source."""
        if not self.topology.directed and len(np.unique(targets)) < len(np.unique(sources)):
            sources, targets = targets, sources
        answer, n = np.empty(len(sources)), self.topology.num_nodes
        distinct, which = np.unique(sources, return_inverse=True)
        rows = max(1, ROWS_AT_ONCE // n)
        for first in range(0, len(distinct), rows):
            chunk = distinct[first : first + rows]
            out = np.empty((len(chunk), n))
            self.search(chunk, out, int(targets[0]) if len(sources) == 1 else -1)
            mine = np.flatnonzero((which >= first) & (which < first + rows))
            answer[mine] = out[which[mine] - first, targets[mine]]
        return answer

    def search(self, sources: Int, out: Float, target: int) -> None:  # noqa: ARG002
        """Fill rows for ``pairs``; a search may stop at ``target`` unless that is -1."""
        self.rows(sources, out)


class PairDecoder(Decoder):
    """Answers full rows pair by pair."""

    def rows(self, sources: Int, out: Float) -> None:
        """Look up one row after the other."""
        everyone = np.arange(self.topology.num_nodes)
        for i, source in enumerate(sources.tolist()):
            out[i] = self.pairs(np.full(len(everyone), source), everyone)


def intervals_around(centre: Float, below: Float | float, above: Float | float) -> Float:
    """Return intervals (low, high) that reach so far below and above their centres, but not below 0."""
    return np.stack([np.maximum(centre - below, 0.0), np.maximum(centre + above, 0.0)], axis=1)


def noise_limits(strategy: Strategy, gamma: float) -> Float:
    """Return a limit per group, in units of weight: with probability 1 - gamma no number exceeds its group's limit.

    A union bound over all numbers.  Laplace: P(|X| >= z) <= 2 e^(-z/b) / (1 + e^(-1/b)) <= 2 e^(-z/b); Gaussian: <=
    2 e^(-z^2 / (2 s^2)) (discrete Gaussians are subgaussian with their own scale: Canonne, Kamath and Steinke 2020).
    """
    if not 0 < gamma < 1:
        raise OptionError(f"gamma must be between 0 and 1, got {gamma}")
    tail = math.log(2 * max(strategy.num_values, 1) / gamma)
    factor = tail if strategy.law is Law.LAPLACE else math.sqrt(2 * tail)
    return np.asarray(strategy.scales * (factor * strategy.lattice.granularity), np.float64)


def largest_limits(strategy: Strategy, gamma: float, *kinds: type[Block]) -> list[float]:
    """Return the largest limit of each of these blocks."""
    limits = noise_limits(strategy, gamma)
    return [float(limits[strategy.groups_of(kind)].max(initial=0.0)) for kind in kinds]


def number_noise(strategy: Strategy) -> Float:
    """Return the standard deviation of a number of each group, in lattice steps."""
    return stds(strategy.law, strategy.scales)


def largest_noise(strategy: Strategy, *kinds: type[Block]) -> list[float]:
    """Return the largest standard deviation in each of these blocks."""
    noise = number_noise(strategy)
    return [float(noise[strategy.groups_of(kind)].max(initial=0.0)) for kind in kinds]
