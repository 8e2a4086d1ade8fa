"""Distances in a forest: sums of numbers along anchors, up to the meeting point and down again.

A distance is linear in the numbers, so nothing is clipped but the final answer, at 0: clipping on the way would
only add bias.
"""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist

import numpy as np

from ..arrays import Float, Int
from ..blocks.anchors import AnchorBlock, Forest
from ..kernels.forests import tree_pairs, tree_rows
from ..kernels.paths import UNREACHED, in_threads
from ..measure.door import Measurements
from .predict import number_noise


class AnchorDecoder:
    """Answers for an ``AnchorBlock``."""

    def __init__(self, measurements: Measurements) -> None:
        self.strategy = measurements.strategy
        self.topology = measurements.strategy.topology
        self.values = measurements.values
        (block,) = self.strategy.blocks
        assert isinstance(block, AnchorBlock)
        self.block, self.forest = block, Forest.of(self.topology)

    @cached_property
    def height(self) -> Int:
        """Noisy distance of each node from the root of its tree."""
        return self.block.heights(self.values, self.forest)

    def rows(self, sources: Int, out: Float) -> None:
        """One sweep over the forest per source."""
        height, forest = self.height, self.forest

        def run(part: slice) -> None:
            step = np.empty((len(sources[part]), self.topology.num_nodes), np.int64)
            tree_rows(forest.order, forest.parent, height, sources[part], UNREACHED, step)
            out[part] = self._floats(step)

        in_threads(run, len(sources))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of each pair."""
        step = np.empty(len(sources), np.int64)
        tree_pairs(
            self.forest.parent, self.forest.depth, self.forest.head, self.height, sources, targets, UNREACHED, step
        )
        return self._floats(step)

    def _floats(self, step: Int) -> Float:
        answer = self.strategy.lattice.floats(np.maximum(step, 0))
        answer[step == UNREACHED] = np.inf
        return answer

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """The answer plus and minus a quantile of its noise: a sum of known variance, taken as normal.

        The sum has few terms, so under Laplace noise the normal quantile is a little short beyond 95 %.
        """
        ends = np.array([source]), np.array([target])
        step = np.empty(1, np.int64)
        tree_pairs(self.forest.parent, self.forest.depth, self.forest.head, self.height, *ends, UNREACHED, step)
        if source == target or step[0] == UNREACHED:
            return (0.0, 0.0) if source == target else (np.inf, np.inf)
        lattice = self.strategy.lattice
        variance = self.block.variances(number_noise(self.strategy), self.forest, *ends)[0]
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * float(np.sqrt(variance)) * lattice.granularity
        answer = float(step[0]) * lattice.granularity
        return max(0.0, answer - reach), max(0.0, answer + reach)
