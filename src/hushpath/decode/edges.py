"""Distances over noisy edge weights: clip to the public bounds, then shortest paths.

Clipping is free post-processing and keeps lengths non-negative.  A distance is a minimum over paths, hence concave
in the weights: noise makes it come out low, the more the larger the noise is against the weights.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..kernels.paths import distances_from
from ..measure import Measurements
from ..noise import Law, simulation, std

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
        """The answer plus and minus the larger quantile of its simulated move.

        A stand-in for the truth (the measured weights, shrunk towards their mean until their spread is what is left
        after the noise's) is measured again and again; how far its answer moves tells how far ours may have moved.
        The larger of the two tails is used on both sides, because the direction of the bias depends on the unknown
        weights.  Approximate: measured coverage is in docs/PITFALLS.md.
        """
        answer = float(self.pairs(np.array([source]), np.array([target]))[0])
        if source == target or not np.isfinite(answer):
            return answer, answer
        strategy, arcs = self.strategy, self.topology.arcs
        rng, origin = simulation(0), np.array([source])
        draw = rng.laplace if strategy.law is Law.LAPLACE else rng.normal
        row = np.empty((1, self.topology.num_nodes))

        def answer_for(steps: Int) -> float:
            distances_from(arcs, self._lengths(steps), origin, row, target=target)
            return float(row[0, target])

        noise = float(np.mean([std(strategy.law, int(scale)) ** 2 for scale in np.unique(strategy.scales)]))
        spread, middle = float(np.var(self.values)), float(np.mean(self.values))
        shrink = math.sqrt(max(spread - noise, 0.0) / spread) if spread > 0 else 1.0
        stand_in = middle + shrink * (self.values - middle)
        base = answer_for(np.rint(stand_in).astype(np.int64))
        stand_in = np.clip(stand_in, strategy.lattice.low, strategy.lattice.high)
        moves = [
            answer_for(np.rint(stand_in + draw(0.0, strategy.scales)).astype(np.int64)) - base
            for _ in range(REPLICATES)
        ]
        low, high = np.quantile(moves, [(1 - confidence) / 2, (1 + confidence) / 2])
        reach = max(abs(float(low)), abs(float(high)))
        return max(0.0, answer - reach), answer + reach
