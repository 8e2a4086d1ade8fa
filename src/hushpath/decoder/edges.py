"""Distances over estimated edge weights: ordinary shortest paths, by Dijkstra or from an index."""

from __future__ import annotations

from functools import cached_property
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError
from ..estimator.base import PathErrors
from ..estimator.registry import find_estimator
from ..estimator.weights.shrink import error_replicates
from ..index import Index
from ..index import partition as dissection
from ..index.index import MAX_BYTES
from ..index.partition import Partition
from ..index.tables import table_bytes, table_work
from ..kernels.paths import distances_from
from ..kernels.search import fewest_edges_path
from ..measurement.anchors import is_forest
from ..measurement.blocks import Block, EdgeBlock, LineBlock
from ..measurement.lines import PathVariances, sample_paths
from ..measurement.strategy import Strategy
from ..noise import simulation
from .base import (
    Bound,
    Hops,
    Prediction,
    RowDecoder,
    intervals_around,
    largest_limits,
    largest_noise,
    noise_limits,
    number_noise,
)
from .intervals import IntervalModel

# Partitioning a network takes as long as about a thousand Dijkstra searches, whatever its size; dense networks have no
# small separators.
WORTH_AN_INDEX = 1500
MOST_ARCS_PER_NODE = 8
ADDITIONS_PER_ARC = 100  # the index makes about so many in the time in which Dijkstra looks at an arc


class EdgeDecoder(RowDecoder):
    """Shortest paths over the estimated weights: by Dijkstra, or from the index once it is built."""

    name = "edges"
    summary = "shortest paths over estimated edge weights"
    blocks: ClassVar[tuple[type[Block], ...]] = (EdgeBlock,)
    searches = indexed = routes = True
    _tried = False

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Sealfon 2016: a path, true or noisy, has fewer edges than the network has nodes.

        Where sums along lines are kept, all edges of each line that a path touches count (docs/proofs/lines.md).
        """
        topology, kept = strategy.topology, find_estimator("auto", strategy).keeps_sums
        return edge_bound(strategy, gamma, hops=max(1, topology.num_edges if kept else topology.num_nodes - 1))

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """Predict the noise times the square root of hops, which is right while noise is small against the weights.

        Where it is not, the error is larger, and public facts do not show by how much.  With sums along lines, predict
        the standard deviation along each sampled path.  In a forest paths are known, so that is all of the error.
        """
        if strategy.has(LineBlock) and len(strategy.block(LineBlock).level_lines):
            block = strategy.block(LineBlock)
            pieces = sample_paths(strategy.topology, block.lines, simulation(1))
            known = PathVariances.of(block, np.repeat(number_noise(strategy) ** 2, block.group_sizes))
            return Prediction(np.sqrt(pieces.per_pair(known.between(*block.places(pieces)))))
        (noise,) = largest_noise(strategy, EdgeBlock)
        sample = hops(strategy.topology)
        return Prediction(np.sqrt(sample.hops) * noise, share=sample.share)

    @cached_property
    def lengths(self) -> Float:
        """One length per arc, in units of weight."""
        return self.lattice.floats(self.weights)[self.topology.arcs.edges]

    def build_index(
        self, max_bytes: int = MAX_BYTES, *, labels: bool = True, partition: Partition | None = None
    ) -> Index:
        """Build tables and labels; from then on every answer comes from them."""
        if partition is not None and not partition.belongs_to(self.topology):
            raise CannotError("`partition` must be one of this network, but it belongs to another network")
        if self.index is None:
            partition = partition or dissection.partition(self.topology)
            self.index = self._indexed(partition, labels=labels, max_bytes=max_bytes)
        return self.index.with_labels(max_bytes) if labels else self.index

    def index_for(self, rows: int) -> Index | None:
        """Return the index if it exists, or if it pays to build its tables for this many rows; else ``None``."""
        arcs = len(self.topology.arcs.heads)
        worth_a_try = rows >= WORTH_AN_INDEX and arcs <= MOST_ARCS_PER_NODE * self.topology.num_nodes
        if self.index is None and worth_a_try and not self._tried:
            self._tried = True
            try:
                partition = dissection.partition(self.topology)
            except CannotError:  # no small separators: searching is all there is
                return None
            layout = partition.layout
            fits = table_bytes(layout, symmetric=not self.topology.directed) <= MAX_BYTES // 4
            if fits and table_work(layout) / rows + layout.table_sizes[0] < ADDITIONS_PER_ARC * arcs:
                self.index = self._indexed(partition, labels=False, max_bytes=MAX_BYTES)
        return self.index

    def _indexed(self, partition: Partition, *, labels: bool, max_bytes: int) -> Index:
        steps, granularity = self.weights.astype(np.float64), self.lattice.granularity
        return Index.customise(partition, steps, granularity, labels=labels, max_bytes=max_bytes)

    def rows(self, sources: Int, out: Float) -> None:
        """Write one row per source into ``out``."""
        index = self.index_for(len(sources))
        if index is not None:
            index.rows(sources, out)
        else:
            self.search(sources, out, -1)

    def search(self, sources: Int, out: Float, target: int) -> None:
        """Search from each source by Dijkstra."""
        distances_from(self.topology.arcs, self.lengths, sources, out, target=target)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Answer pairs, from the index if it exists."""
        return super().pairs(sources, targets) if self.index is None else self.index.pairs(sources, targets)

    def route(self, source: int, target: int) -> Int:
        """Return the edges of a shortest path; among several, of one with the fewest edges."""
        arcs, row = self.topology.arcs, np.empty((1, self.topology.num_nodes))
        self.search(np.array([source]), row, -1)
        tails = np.repeat(np.arange(len(arcs.start) - 1), np.diff(arcs.start))
        tight = np.flatnonzero(np.isfinite(row[0][tails]) & (row[0][tails] + self.lengths == row[0][arcs.heads]))
        start = np.searchsorted(tails[tight], np.arange(len(arcs.start)))
        return np.asarray(fewest_edges_path(start, arcs.heads[tight], arcs.edges[tight], source, target))

    @cached_property
    def interval_model(self) -> IntervalModel:
        """The distribution of true distances, fitted once to replicates of the release."""
        noisy, n = self.noisy, self.topology.num_nodes
        unit = noisy.unit * self.lattice.granularity
        made = error_replicates(noisy)
        if made is None:
            return IntervalModel.unbounded(n, unit)
        return IntervalModel.fit(n, made.ends, made.estimates, made.truths, unit, made.relative_sd, made.inflation)

    def draw_weights(self, count: int, seed: int) -> tuple[Float, Float]:
        """Draw the weights of all edges, in steps, one row per draw, and say how much of each edge is measured."""
        known = self.weight_estimator.posterior
        found = None if known is None else known(self.noisy, count, seed)
        if found is None:  # as far off as noise is
            noisy, rng, whole = self.noisy, simulation(seed), self.weights.astype(np.float64)
            drawn = np.tile(whole, (count, 1))
            for row in drawn:
                row[noisy.edges] += noisy.draw_noise(rng)
            measured = np.zeros(len(whole))
            measured[noisy.edges] = 1.0
            found = drawn, measured
        return np.clip(found[0], self.lattice.low, self.lattice.high), found[1]

    @cached_property
    def path_errors(self) -> PathErrors | None:
        """The error of distances along the paths of a forest, if the estimator knows it."""
        if self.topology.directed or not is_forest(self.topology):
            return None
        known = self.weight_estimator.path_errors
        return None if known is None else known(self.noisy)

    def ranges(self, sources: Int, targets: Int, confidence: float, answers: Float) -> Float:
        """Return approximate intervals; parameters as in `Decoder`, measured coverage on the intervals page."""
        if self.strategy.budget.unlimited:
            return np.stack([answers, answers], axis=1)
        if self.path_errors is not None:
            sd = self.path_errors.sd(sources, targets) * self.lattice.granularity
            reach = NormalDist().inv_cdf((1 + confidence) / 2) * sd
            return intervals_around(answers, reach, reach)
        return self.interval_model.intervals(answers, sources, targets, confidence)


def edge_bound(strategy: Strategy, gamma: float, hops: int) -> Bound:
    """Return the bound for a pair whose shortest paths, true and noisy, have at most this many edges."""
    step = strategy.lattice.granularity
    block = strategy.block(EdgeBlock)
    if isinstance(block, LineBlock):
        limits = block.edge_limits(number_noise(strategy), noise_limits(strategy, gamma))
        return Bound((float(limits.max(initial=0.0)) + 3 * step) * hops)  # rounded to steps on the way, and again
    (limit,) = largest_limits(strategy, gamma, EdgeBlock)
    return Bound(limit * hops + step * hops)
