"""Distances between the nodes of a cover: move both ends to the nearest one and look the pair up."""

from __future__ import annotations

import numpy as np

from ..arrays import Float, Int
from ..estimator.base import Estimator
from ..kernels.search import find_nearest
from ..measurement.blocks import CliqueBlock
from ..measurement.private_step import Measurements
from ..measurement.strategy import Strategy
from ..mechanism.comparison.cover import move_errors
from .base import Bound, Hops, PairDecoder, Prediction, Reach, largest_noise
from .table import TableDecoder


class CoverDecoder(PairDecoder):
    """A look-up per pair of nearest chosen nodes."""

    name = "cover"
    summary = "both ends move to the nearest chosen node; that pair was measured"
    blocks = (CliqueBlock,)

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        super().__init__(measurements, estimator)
        arcs = self.topology.arcs
        self.owner, self.hops = find_nearest(arcs.start, arcs.heads, self.strategy.block(CliqueBlock).vertices)
        self.table = TableDecoder(measurements, estimator)

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Undirected networks with bounded weights, with a chosen node in every component."""
        topology = strategy.topology
        if not super().reads(strategy) or topology.directed or not strategy.terms.bound_every_weight(topology):
            return False
        chosen = topology.components[strategy.block(CliqueBlock).vertices]
        return len(np.unique(chosen)) > int(topology.components.max(initial=-1))

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Sealfon 2016: one number, and at most the largest weight for each hop of the two moves, up or down."""
        arcs = strategy.topology.arcs
        hops = find_nearest(arcs.start, arcs.heads, strategy.block(CliqueBlock).vertices)[1]
        moves = 2 * int(hops.max(initial=0)) * strategy.lattice.largest_weight
        return Bound(TableDecoder.bound(strategy, gamma).noise, moves, moves)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004 - counts its own
        """One number, and two moves of known hops."""
        chosen, largest = strategy.block(CliqueBlock).vertices, float(strategy.lattice.high.max(initial=0))
        moves = move_errors(strategy.topology, chosen, largest)
        return Prediction(np.full(len(moves), largest_noise(strategy, CliqueBlock)[0]), moved=moves)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """The number of the nearest chosen nodes; 0 if they are the same."""
        answer = self.table.pairs(self.owner[sources], self.owner[targets])
        component = self.topology.components
        answer[component[sources] != component[targets]] = np.inf  # no path joins them: a public fact
        answer[sources == targets] = 0.0
        return answer

    def reach(self, sources: Int, targets: Int, confidence: float) -> Reach:
        """The quantile of one noise, and the largest weight for every hop of the two moves."""
        moves = (self.hops[sources] + self.hops[targets]) * self.lattice.largest_weight
        one, other = self.owner[sources], self.owner[targets]
        reach = moves + np.where(one != other, self.table.reach(one, other, confidence).below, 0.0)
        return Reach(reach, reach)
