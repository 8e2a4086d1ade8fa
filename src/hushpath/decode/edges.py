"""Distances over estimated edge weights: ordinary shortest paths, by Dijkstra or from an index."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist

import numpy as np

from ..arrays import Float, Int
from ..blocks import EdgeBlock, LineBlock
from ..blocks.anchors import is_forest
from ..blocks.pieces import sampled_in_forest, sampled_routes
from ..cells import Index
from ..cells.index import MAX_BYTES
from ..cells.layout import Layout
from ..cells.tables import row_work, table_bytes, table_work
from ..decompose.decomposition import decomposition
from ..estimate.registry import estimator_named
from ..kernels.paths import distances_from
from ..noise import simulation
from ..strategy.core import Strategy
from .core import (
    Bound,
    Hops,
    Prediction,
    RowDecoder,
    largest_limits,
    largest_noise,
    noise_limits,
    number_noise,
)  # fmt: skip

REPLICATES = 199
LEAF_SIZE = 32  # of the index: smaller leaves make more cells, larger ones longer inner tables
# Cutting a network up takes as long as some thousand Dijkstras from its nodes, whatever its size; and dense networks
# have no small separators.
WORTH_AN_INDEX = 1500
MOST_ARCS_PER_NODE = 8
ADDITIONS_PER_ARC = 100  # the engine makes about so many while Dijkstra looks at an arc


class EdgeDecoder(RowDecoder):
    """Shortest paths over the estimated weights: Dijkstra, or the index once there is one."""

    name = "edges"
    summary = "shortest paths over estimated edge weights"
    blocks = (EdgeBlock,)
    searches = indexed = True
    _tried = False

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Sealfon 2016: a path, true or noisy, has fewer edges than the network has nodes.

        Where sums along lines are kept, all edges of each line that a path touches count (docs/proofs/lines.md).
        """
        topology, kept = strategy.topology, estimator_named("auto", strategy).keeps_sums
        return edge_bound(strategy, gamma, hops=max(1, topology.num_edges if kept else topology.num_nodes - 1))

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """Noise times the square root of hops: right while noise is small against the weights.

        Where it is not, the true error is larger, and no public fact tells by how much.  With sums along lines the
        variance of each sampled path; in a forest, where paths are known and bounds only help, there is no more to it.
        """
        if strategy.has(LineBlock) and len(strategy.block(LineBlock).level_lines):
            return Prediction(np.sqrt(_sampled_variances(strategy)))
        (noise,) = largest_noise(strategy, EdgeBlock)
        return Prediction(np.sqrt(hops(strategy.topology)) * noise)

    @cached_property
    def lengths(self) -> Float:
        """One length per arc, in units of weight."""
        return self._lengths(self.weights)

    def _lengths(self, weights: Int) -> Float:
        return self.lattice.floats(weights)[self.topology.arcs.edges]

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
            layout = Layout.of(decomposition(self.topology, leaf_size=LEAF_SIZE)[0])
            fits = table_bytes(layout, symmetric=not self.topology.directed) <= MAX_BYTES // 4
            if fits and table_work(layout) / rows + row_work(layout) < ADDITIONS_PER_ARC * arcs:
                self.index = self._indexed(labels=False, max_bytes=MAX_BYTES)
        return self.index

    def _indexed(self, *, labels: bool, max_bytes: int) -> Index:
        hierarchy, _ = decomposition(self.topology, leaf_size=LEAF_SIZE)
        steps, granularity = self.weights.astype(np.float64), self.lattice.granularity
        return Index.from_edges(hierarchy, self.topology, steps, granularity, labels=labels, max_bytes=max_bytes)

    def rows(self, sources: Int, out: Float) -> None:
        """One row per source, straight into ``out``."""
        index = self.index_for(len(sources))
        if index is not None:
            index.rows(sources, out)
        else:
            self.search(sources, out, -1)

    def search(self, sources: Int, out: Float, target: int) -> None:
        """Dijkstra from each source."""
        distances_from(self.topology.arcs, self.lengths, sources, out, target=target)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """From the index, if there is one."""
        return super().pairs(sources, targets) if self.index is None else self.index.pairs(sources, targets)

    def reach(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """The larger quantile of the answer's simulated move, on both sides.

        A stand-in for the truth (the measured weights, shrunk towards their mean until their spread is what is left
        after the noise's) is measured again and again; how far its answer moves tells how far ours may have moved.
        The larger of the two tails is used on both sides, because the direction of the bias depends on the unknown
        weights.  Approximate: measured coverage is in docs/PITFALLS.md.

        In a forest whose sums are kept there is nothing to simulate: a sum of known variance, taken as normal.
        """
        if self.estimator.keeps_sums and is_forest(self.topology) and not self.topology.directed:
            spread = math.sqrt(_path_variance(self.strategy, source, target)) * self.lattice.granularity
            reach = NormalDist().inv_cdf((1 + confidence) / 2) * spread
            return reach, reach
        noisy, arcs, origin = self.noisy, self.topology.arcs, np.array([source])
        rng = simulation(0)
        row = np.empty((1, self.topology.num_nodes))

        def distance(steps: Int) -> float:
            distances_from(arcs, self._lengths(steps), origin, row, target=target)
            return float(row[0, target])

        def measured_again() -> float:
            values = np.rint(stand_in + noisy.drawn(rng)).astype(np.int64)
            return distance(self.estimator.weights(replace(noisy, values=values)))

        noise = float(np.mean(np.unique(noisy.noise) ** 2))
        spread, middle = float(np.var(noisy.values)), float(np.mean(noisy.values))
        shrink = math.sqrt(max(spread - noise, 0.0) / spread) if spread > 0 else 1.0
        stand_in = np.clip(middle + shrink * (noisy.values - middle), self.lattice.low, self.lattice.high)
        base = distance(np.rint(stand_in).astype(np.int64))
        moves = [measured_again() - base for _ in range(REPLICATES)]
        low, high = np.quantile(moves, [(1 - confidence) / 2, (1 + confidence) / 2])
        reach = max(abs(float(low)), abs(float(high)))
        return reach, reach


def edge_bound(strategy: Strategy, gamma: float, hops: int) -> Bound:
    """For a pair whose shortest paths, true and noisy, have at most this many edges."""
    step = strategy.lattice.granularity
    block = strategy.block(EdgeBlock)
    if isinstance(block, LineBlock):
        limits = block.edge_limits(number_noise(strategy), noise_limits(strategy, gamma))
        return Bound((float(limits.max(initial=0.0)) + 3 * step) * hops)  # rounded to steps on the way, and again
    (limit,) = largest_limits(strategy, gamma, EdgeBlock)
    return Bound(limit * hops + step * hops)


def _path_variance(strategy: Strategy, source: int, target: int) -> float:
    """In a forest: the variance of the measured sum along the path of a pair."""
    block = strategy.block(EdgeBlock)
    lines = block if isinstance(block, LineBlock) else LineBlock.plain(strategy.topology)
    return float(lines.variances(number_noise(strategy), np.array([source]), np.array([target]))[0])


def _sampled_variances(strategy: Strategy) -> Float:
    """The variance of a public sample of pairs; elsewhere than in forests along paths of fewest edges."""
    topology, block = strategy.topology, strategy.block(LineBlock)
    if is_forest(topology):
        pieces = sampled_in_forest(topology, block.lines, simulation(1))
    else:
        pieces = sampled_routes(topology, block.lines, simulation(1), drawn=False)
    return pieces.per_pair(block.piece_variances(number_noise(strategy), pieces))


DECODER = EdgeDecoder
