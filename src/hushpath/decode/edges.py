"""Distances over noisy edge weights: clip to the public bounds, then shortest paths.

Clipping is free post-processing and keeps lengths non-negative.  A distance is a minimum over paths, hence concave
in the weights: noise makes it come out low, the more the larger the noise is against the weights.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..kernels.paths import distances_from
from ..measure import Measurements
from ..noise import Law, simulation

REPLICATES = 199


class EdgeDecoder:
    """Dijkstra over the measured weights."""

    def __init__(self, measurements: Measurements) -> None:
        self.strategy = measurements.strategy
        self.topology = measurements.strategy.topology
        self.values = measurements.values

    def _lengths(self, steps: Int) -> Float:
        """Arc lengths of a weight vector on the lattice, clipped to the public bounds."""
        lattice = self.strategy.lattice
        return lattice.floats(np.clip(steps, lattice.low, lattice.high))[self.topology.arcs.edges]

    @cached_property
    def lengths(self) -> Float:
        """One length per arc."""
        return self._lengths(self.values)

    def rows(self, sources: Int, out: Float) -> None:
        """One Dijkstra per source, straight into ``out``."""
        distances_from(self.topology.arcs, self.lengths, sources, out)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """One Dijkstra per distinct source; of the two ends of an undirected pair, the rarer one is the source."""
        if not self.topology.directed and len(np.unique(targets)) < len(np.unique(sources)):
            sources, targets = targets, sources
        answer = np.empty(len(sources))
        distinct, which = np.unique(sources, return_inverse=True)
        only = int(targets[0]) if len(sources) == 1 else -1
        rows = max(1, 2**22 // self.topology.num_nodes)
        for first in range(0, len(distinct), rows):
            chunk = distinct[first : first + rows]
            out = np.empty((len(chunk), self.topology.num_nodes))
            distances_from(self.topology.arcs, self.lengths, chunk, out, target=only)
            mine = np.flatnonzero((which >= first) & (which < first + rows))
            answer[mine] = out[which[mine] - first, targets[mine]]
        return answer

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """Parametric bootstrap: add the same noise once more, see how far the answer moves, and undo that move.

        The first release moved the true distance in the way a second one moves ours, so quantiles of the second
        move correct both spread and the downward bias.  Approximate; measured coverage is in docs/PITFALLS.md.
        """
        answer = float(self.pairs(np.array([source]), np.array([target]))[0])
        if source == target or not np.isfinite(answer):
            return answer, answer
        rng, scales = simulation(0), self.strategy.scales
        draw = rng.laplace if self.strategy.law is Law.LAPLACE else rng.normal
        moved = np.empty(REPLICATES)
        row = np.empty((1, self.topology.num_nodes))
        clipped = np.clip(self.values, self.strategy.lattice.low, self.strategy.lattice.high)
        for i in range(REPLICATES):
            again = self._lengths(clipped + np.rint(draw(0.0, scales)).astype(np.int64))
            distances_from(self.topology.arcs, again, np.array([source]), row, target=target)
            moved[i] = row[0, target] - answer
        low, high = np.quantile(moved, [(1 - confidence) / 2, (1 + confidence) / 2])
        return max(0.0, answer - float(high)), max(0.0, answer - float(low))
