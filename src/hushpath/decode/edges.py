"""Distances over noisy edge weights: clip to the public bounds, then shortest paths, by Dijkstra or from an index.

Clipping is free post-processing and keeps lengths non-negative.  A distance is a minimum over paths, hence concave
in the weights: noise makes it come out low, the more the larger the noise is against the weights.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..cells import Index
from ..cells.index import MAX_BYTES
from ..cells.layout import Layout
from ..cells.tables import row_work, table_bytes, table_work
from ..decompose.decomposition import decomposition
from ..kernels.paths import distances_from
from ..measure.door import Measurements
from ..noise import Law, simulation, std

REPLICATES = 199
LEAF_SIZE = 32  # of the index: smaller leaves make more cells, larger ones longer inner tables
# Cutting a network up takes as long as some thousand Dijkstras from its nodes, whatever its size; and dense networks
# have no small separators.
WORTH_AN_INDEX = 1500
MOST_ARCS_PER_NODE = 8
ADDITIONS_PER_ARC = 100  # the engine makes about so many while Dijkstra looks at an arc


class EdgeDecoder:
    """Shortest paths over the measured weights: Dijkstra, or the index once there is one."""

    def __init__(self, measurements: Measurements) -> None:
        self.index: Index | None = None
        self._tried = False
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

    def build_index(self, max_bytes: int = MAX_BYTES) -> Index:
        """Build tables and labels; from then on every answer comes from them."""
        if self.index is None:
            self.index = self._indexed(labels=True, max_bytes=max_bytes)
        return self.index.with_labels(max_bytes)

    def index_for(self, rows: int) -> Index | None:
        """The index, if there is one or if this many rows are worth building its tables; else ``None``."""
        arcs = len(self.topology.arcs.heads)
        worth_a_try = rows >= WORTH_AN_INDEX and arcs <= MOST_ARCS_PER_NODE * self.topology.num_nodes
        if self.index is None and worth_a_try and not self._tried:
            self._tried = True
            hierarchy, _ = decomposition(self.topology, leaf_size=LEAF_SIZE)
            layout = Layout.of(hierarchy)
            fits = table_bytes(layout, symmetric=not self.topology.directed) <= MAX_BYTES // 4
            if fits and table_work(layout) / rows + row_work(layout) < ADDITIONS_PER_ARC * arcs:
                self.index = self._indexed(labels=False, max_bytes=MAX_BYTES)
        return self.index

    def _indexed(self, *, labels: bool, max_bytes: int) -> Index:
        lattice = self.strategy.lattice
        steps = np.clip(self.values, lattice.low, lattice.high).astype(np.float64)
        hierarchy, _ = decomposition(self.topology, leaf_size=LEAF_SIZE)
        return Index.from_edges(
            hierarchy, self.topology, steps, lattice.granularity, labels=labels, max_bytes=max_bytes
        )

    def rows(self, sources: Int, out: Float) -> None:
        """One row per source, straight into ``out``."""
        index = self.index_for(len(sources))
        if index is not None:
            index.rows(sources, out)
            return
        distances_from(self.topology.arcs, self.lengths, sources, out)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Without an index one Dijkstra per distinct source; of undirected pairs the rarer end is the source."""
        if self.index is not None:
            return self.index.pairs(sources, targets)
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
        stand_in = np.clip(middle + shrink * (self.values - middle), strategy.lattice.low, strategy.lattice.high)
        base = answer_for(np.rint(stand_in).astype(np.int64))
        moves = [
            answer_for(np.rint(stand_in + draw(0.0, strategy.scales)).astype(np.int64)) - base
            for _ in range(REPLICATES)
        ]
        low, high = np.quantile(moves, [(1 - confidence) / 2, (1 + confidence) / 2])
        reach = max(abs(float(low)), abs(float(high)))
        return max(0.0, answer - reach), answer + reach
