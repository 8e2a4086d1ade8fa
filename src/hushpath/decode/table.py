"""Distances that were measured themselves: look them up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Bool, Float, Int
from ..blocks.core import CliqueBlock
from ..data.topology import Topology
from ..kernels.paths import UNREACHED, distances_from
from ..measure.door import Measurements
from ..noise import quantile


class TableDecoder:
    """A look-up per pair, for one ``CliqueBlock`` over all nodes."""

    def __init__(self, measurements: Measurements) -> None:
        self.strategy = measurements.strategy
        self.topology = measurements.strategy.topology
        self.values = measurements.values
        block = self.strategy.blocks[0]
        assert isinstance(block, CliqueBlock)
        n = self.topology.num_nodes
        self.size, self.offset, self.inside, self.scale = (np.zeros(n, np.int64) for _ in range(4))
        offset = 0
        sizes = block.group_sizes(self.topology)
        for group, numbers, scale in zip(block.groups(self.topology), sizes, self.strategy.scales, strict=True):
            self.size[group], self.offset[group], self.inside[group] = len(group), offset, np.arange(len(group))
            self.scale[group] = scale
            offset += int(numbers)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Return the measured number of each pair, never below zero."""
        return np.maximum(self._measured(sources, targets), 0.0)

    def _measured(self, sources: Int, targets: Int) -> Float:
        answer = np.full(len(sources), np.inf)
        answer[sources == targets] = 0.0
        if self.topology.directed:
            joined = np.zeros(len(sources), bool)
            distinct, which = np.unique(sources, return_inverse=True)
            for part, connected in reached(self.topology, distinct):
                mine = np.flatnonzero((which >= part.start) & (which < part.stop))
                joined[mine] = connected[which[mine] - part.start, targets[mine]]
            asked = np.flatnonzero(joined & (sources != targets))
            s, t = sources[asked], targets[asked]
            i, j, p = self.inside[s], self.inside[t], self.size[s]
            at = self.offset[s] + i * (p - 1) + j - (j > i)
        else:
            same = self.topology.components[sources] == self.topology.components[targets]
            asked = np.flatnonzero(same & (sources != targets))
            s, t = sources[asked], targets[asked]
            i, j = np.minimum(self.inside[s], self.inside[t]), np.maximum(self.inside[s], self.inside[t])
            p = self.size[s]
            at = self.offset[s] + i * p - i * (i + 1) // 2 + j - i - 1
        answer[asked] = self.strategy.lattice.floats(self.values[at])
        return answer

    def rows(self, sources: Int, out: Float) -> None:
        """Look up one row after the other."""
        everyone = np.arange(self.topology.num_nodes)
        for i, source in enumerate(sources):
            out[i] = self.pairs(np.full(len(everyone), source), everyone)

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """The answer plus and minus the quantile of its noise: exact, but for the clipping at zero."""
        answer = float(self._measured(np.array([source]), np.array([target]))[0])
        if source == target or not np.isfinite(answer):
            return answer, answer
        lattice = self.strategy.lattice
        reach = quantile(self.strategy.law, int(self.scale[source]), (1 + confidence) / 2) * lattice.granularity
        return max(0.0, answer - reach), max(0.0, answer + reach)


def reached(topology: Topology, sources: Int) -> Iterator[tuple[slice, Bool]]:
    """Which nodes a path leads to from each source, a few full rows at a time: a public fact."""
    ones, rows = np.ones(len(topology.arcs.heads), np.int64), max(1, 2**22 // topology.num_nodes)
    for first in range(0, len(sources), rows):
        part = slice(first, min(first + rows, len(sources)))
        hops = np.empty((part.stop - first, topology.num_nodes), np.int64)
        distances_from(topology.arcs, ones, sources[part], hops)
        yield part, hops != UNREACHED
