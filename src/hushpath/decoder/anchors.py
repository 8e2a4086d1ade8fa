"""Distances in a forest: sums of numbers along anchors, up to the meeting point and down again.

A distance is linear in the numbers, so nothing is clipped but the final answer, at 0: clipping on the way would only
add bias.
"""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist

import numpy as np

from ..arrays import Float, Int
from ..kernels.forests import tree_pairs, tree_rows
from ..kernels.paths import UNREACHED, in_threads
from ..measurement.blocks import AnchorBlock
from ..measurement.samples import spaced_nodes
from ..measurement.strategy import Strategy
from .base import Bound, Decoder, Hops, Prediction, intervals_around, noise_limits, number_noise


class AnchorDecoder(Decoder):
    """Sums along anchors."""

    name = "anchors"
    summary = "sums of numbers along the ancestors in a tree"
    blocks = (AnchorBlock,)

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Sealfon 2016: a root distance adds up the numbers along its anchors, an answer at most four such sums."""
        block = strategy.block(AnchorBlock)
        limits = np.zeros(strategy.topology.num_nodes)
        limits[block.nodes] = noise_limits(strategy, gamma)
        along = np.zeros_like(limits)
        for v in block.forest.order.tolist():
            along[v] = (along[block.anchor[v]] if block.anchor[v] >= 0 else 0.0) + limits[v]
        return Bound(4 * float(along.max()) + strategy.lattice.granularity * strategy.topology.num_nodes)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004 - samples its own
        """Return the exact variance of each sampled pair; answers are linear, so there is no bias."""
        noise, sources = number_noise(strategy), spaced_nodes(strategy.topology, 4096)
        shifts = {1 + len(sources) // 7, 1 + len(sources) // 3, len(sources) // 2}
        block = strategy.block(AnchorBlock)
        variance = np.concatenate([block.variances(noise, sources, np.roll(sources, shift)) for shift in shifts])
        return Prediction(np.sqrt(variance[variance > 0]))

    @cached_property
    def block(self) -> AnchorBlock:
        """What was measured."""
        return self.strategy.block(AnchorBlock)

    @cached_property
    def height(self) -> Int:
        """Noisy distance of each node from the root of its tree."""
        return self.block.heights(self.measurements.values)

    def rows(self, sources: Int, out: Float) -> None:
        """Sweep over the forest once per source."""
        height, forest = self.height, self.block.forest

        def run(part: slice) -> None:
            step = np.empty((len(sources[part]), self.topology.num_nodes), np.int64)
            tree_rows(forest.order, forest.parent, height, sources[part], UNREACHED, step)
            out[part] = self.floats(step, UNREACHED)

        in_threads(run, len(sources))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of each pair."""
        return self.floats(self._sums(sources, targets), UNREACHED)

    def _sums(self, sources: Int, targets: Int) -> Int:
        step, forest = np.empty(len(sources), np.int64), self.block.forest
        tree_pairs(forest.parent, forest.depth, forest.head, self.height, sources, targets, UNREACHED, step)
        return step

    def ranges(self, sources: Int, targets: Int, confidence: float, answers: Float) -> Float:  # noqa: ARG002
        """Return quantiles of the noise, a sum of known variance taken as normal, around sums not clipped at zero.

        The sum has few terms, so under Laplace noise the normal quantile is a little short beyond 95 %.
        """
        variance = self.block.variances(number_noise(self.strategy), sources, targets)
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(variance) * self.lattice.granularity
        return intervals_around(self.lattice.floats(self._sums(sources, targets)), reach, reach)
