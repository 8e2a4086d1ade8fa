"""Distances between the nodes of a cover: move both ends to the nearest one and look the pair up."""

from __future__ import annotations

import numpy as np

from ..arrays import Bool, Float, Int
from ..blocks.core import CliqueBlock
from ..kernels.hops import nearest_chosen
from ..measure.door import Measurements
from ..noise import quantile
from .table import TableDecoder


class CoverDecoder:
    """A look-up per pair of nearest cover nodes, for one ``CliqueBlock``."""

    def __init__(self, measurements: Measurements) -> None:
        self.strategy = measurements.strategy
        self.topology = measurements.strategy.topology
        block = self.strategy.blocks[0]
        assert isinstance(block, CliqueBlock)
        arcs = self.topology.arcs
        self.owner, self.hops = nearest_chosen(arcs.start, arcs.heads, block.vertices)
        self.table = TableDecoder(measurements)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """The number of the nearest cover nodes; 0 if they are the same."""
        answer = self.table.pairs(self.owner[sources], self.owner[targets])
        answer[self._apart(sources, targets)] = np.inf
        answer[sources == targets] = 0.0
        return answer

    def rows(self, sources: Int, out: Float) -> None:
        """Look up one row after the other."""
        everyone = np.arange(self.topology.num_nodes)
        for i, source in enumerate(sources.tolist()):
            out[i] = self.pairs(np.full(len(everyone), source), everyone)

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """The answer plus and minus the quantile of its noise and the largest weight of every hop of the two moves."""
        answer = float(self.pairs(np.array([source]), np.array([target]))[0])
        if source == target or not np.isfinite(answer):
            return answer, answer
        lattice = self.strategy.lattice
        reach = float(self.hops[source] + self.hops[target]) * lattice.largest_weight
        if self.owner[source] != self.owner[target]:
            scale = int(self.table.scale[self.owner[source]])
            reach += quantile(self.strategy.law, scale, (1 + confidence) / 2) * lattice.granularity
        return max(0.0, answer - reach), answer + reach

    def _apart(self, sources: Int, targets: Int) -> Bool:
        """Pairs that no path joins: a public fact."""
        component = self.topology.components
        return np.asarray(component[sources] != component[targets])
