"""What an estimator is: from noisy edge weights to the weights that shortest paths are searched on.

Free post-processing: an estimator sees what was published and nothing else, so whatever it does costs no privacy.  One
file per estimator; ``registry`` lists them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..data.lattice import Lattice
from ..data.topology import Topology
from ..measure import Measurements
from ..noise import Law, stds
from ..strategy.core import Strategy


@dataclass(frozen=True, eq=False)
class NoisyEdges:
    """Edge weights as they were measured, in lattice steps.

    Attributes:
        edges: which edges were measured one by one.
        values: the noisy weight of each of these.
        scales: the scale of its noise.
    """

    topology: Topology
    lattice: Lattice
    law: Law
    edges: Int
    values: Int
    scales: Int

    @classmethod
    def of(cls, measurements: Measurements) -> NoisyEdges:
        """The edges that a strategy measures one by one (at most one of its blocks does)."""
        strategy = measurements.strategy
        block = next((block for block in strategy.blocks if len(block.edges)), strategy.blocks[0])
        count = len(block.edges)
        numbers, scales = measurements.of(type(block)), strategy.scales[strategy.groups_of(type(block))]
        return cls(
            strategy.topology, strategy.lattice, strategy.law, block.edges,
            numbers[len(numbers) - count :], scales[len(scales) - count :],
        )  # fmt: skip

    @cached_property
    def noise(self) -> Float:
        """Standard deviation of the noise of each edge."""
        return stds(self.law, self.scales)


@dataclass(frozen=True)
class Estimator:
    """One way to estimate weights.

    Attributes:
        name, summary: for people.
        estimate: the weight of each measured edge, whole lattice steps within its public bounds.
        suits: whether it may be the default for what a strategy measures; the first that suits is.
        proved: whether no weight is estimated farther from the true one than it was measured, whatever the noise: what
            the proved bounds of decoders that search rest on.
        quick: whether it takes no longer than a few searches, so that plans can try it on networks of any size.
    """

    name: str
    summary: str
    estimate: Callable[[NoisyEdges], Int]
    suits: Callable[[Strategy], bool] = lambda _: True
    proved: bool = False
    quick: bool = False

    def weights(self, noisy: NoisyEdges) -> Int:
        """One weight per edge of the network; edges that were not measured are as long as their bounds allow."""
        out = np.array(noisy.lattice.high)
        out[noisy.edges] = self.estimate(noisy)
        return out
