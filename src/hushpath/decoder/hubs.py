"""Distances by hubs: a walk over estimated edges, one number between hubs, a walk (docs/proofs/rivals.md).

All sums are integers, and a walk reads the same in both directions, so answers of undirected networks are symmetric
to the last bit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import Float, Int
from ..kernels.paths import distances_from, in_threads
from ..kernels.walks import FAR, UNREACHED, Lengths, LocalHubs, Walks, hub_rows
from ..measurement.blocks import Block, CliqueBlock, ClusterBlock, EdgeBlock
from ..measurement.strategy import Strategy
from ..mechanism.comparison.hubs import MISS, cluster_radius, hop_limit, pair_errors, walk_limits
from ..network.lattice import LARGEST_DISTANCE
from ..network.topology import Arcs
from .base import Bound, Hops, Prediction, RowDecoder, largest_limits, largest_noise
from .lookup import reached


class HubDecoder(RowDecoder):
    """A walk, at most one number between hubs, a walk."""

    name = "hubs"
    summary = "estimated edges to a hub, a measured distance between hubs, estimated edges"
    blocks: ClassVar[tuple[type[Block], ...]] = (EdgeBlock, CliqueBlock)
    searches = True

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """With clusters not all hubs were drawn at random, so that the hop limit would prove nothing."""
        return super().reads(strategy) and strategy.has(ClusterBlock) == (ClusterBlock in cls.blocks)

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Fan, Li, Li 2022: two walks of at most k edges and one number; ``MISS`` of gamma is for the draw of hubs."""
        n, hubs = strategy.topology.num_nodes, len(strategy.block(CliqueBlock).vertices)
        edge, hub = largest_limits(strategy, max(gamma - MISS, gamma / 2), EdgeBlock, CliqueBlock)
        return Bound(2 * hop_limit(n, hubs) * edge + hub + strategy.lattice.granularity * n)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """As the mechanism tunes itself."""
        edge, hub = largest_noise(strategy, EdgeBlock, CliqueBlock)
        hubs = len(strategy.block(CliqueBlock).vertices)
        sample = hops(strategy.topology)
        spread, bias = pair_errors(sample.hops, edge, hub, hubs, strategy.topology.num_nodes)
        return Prediction(spread, minima=bias, share=sample.share)

    @cached_property
    def walks(self) -> Walks:
        """All arcs with their estimated lengths, up to the hop limit."""
        nothing, zero = np.empty(0, np.int64), np.zeros(1, np.int64)
        limit = hop_limit(self.topology.num_nodes, len(self.strategy.block(CliqueBlock).vertices))
        nowhere = LocalHubs(zero, nothing, zero, nothing)
        return Walks(self._lengths(self.topology.arcs), Lengths(zero, nothing, nothing), nowhere, limit, 0)

    def _lengths(self, arcs: Arcs) -> Lengths:
        """Writable copies: one compiled signature for all networks."""
        return Lengths(np.array(arcs.start), np.array(arcs.heads), self.weights[arcs.edges])

    @cached_property
    def _hub_table(self) -> tuple[Int, Int]:
        """Hubs and the numbers between them, ``UNREACHED`` where no path leads."""
        block = self.strategy.block(CliqueBlock)
        hubs = np.concatenate([*block.groups, np.empty(0, np.int64)]).astype(np.int64)
        table, first = np.full((len(hubs), len(hubs)), UNREACHED), 0
        for square in block.squares(np.clip(self.measurements.of(CliqueBlock), 0, LARGEST_DISTANCE)):
            here = slice(first, first + len(square))
            table[here, here], first = square, here.stop
        if self.topology.directed:
            for part, connected in reached(self.topology, hubs):
                table[part][~connected[:, hubs]] = UNREACHED
        return hubs, table

    def rows(self, sources: Int, out: Float) -> None:
        """One search per source."""
        walks, (hubs, table) = self.walks, self._hub_table

        def run(part: slice) -> None:
            step = np.empty((len(sources[part]), self.topology.num_nodes), np.int64)
            hub_rows(np.array(sources[part]), walks, hubs, table, step)
            for i in np.flatnonzero((step >= FAR).any(axis=1)).tolist():
                step[i] = self._unlimited(int(sources[part][i]), step[i])
            out[part] = self.floats(step, FAR)

        in_threads(run, len(sources))

    def _unlimited(self, source: int, step: Int) -> Int:
        """Fill what no limited path joins with distances over edges alone."""
        missing = step >= FAR
        if not self.topology.directed:
            missing &= self.topology.components == self.topology.components[source]
        if not missing.any():
            return step
        reach = np.empty((1, self.topology.num_nodes), np.int64)
        distances_from(self.topology.arcs, self.walks.everywhere.length, np.array([source]), reach)
        return np.where(missing, reach[0], step)


class BoundedHubDecoder(HubDecoder):
    """Walks with one local number inside each cluster they pass."""

    name = "hubs-bounded"
    summary = "as hubs, with measured distances between local hubs inside clusters"
    blocks = (EdgeBlock, CliqueBlock, ClusterBlock)

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Chen et al. 2023: no node is more than r hops from a hub, so 4 r W is lost at most, for every hub set."""
        clique, clusters, n = strategy.block(CliqueBlock), strategy.block(ClusterBlock), strategy.topology.num_nodes
        edge, hub, local = largest_limits(strategy, gamma, EdgeBlock, CliqueBlock, ClusterBlock)
        crossings, stay, far = walk_limits(strategy.topology, clique.vertices, clusters)
        edges = min(crossings + (crossings + 1) * 2 * stay, n)
        below = 2 * edges * edge + 2 * min(crossings + 1, n) * local
        return Bound(hub + strategy.lattice.granularity * n, 4 * far * strategy.lattice.largest_weight, below)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """As for hubs; local numbers add a bias for each piece of a path."""
        expected = HubDecoder.predict(strategy, hops)
        if not len(strategy.block(ClusterBlock).vertices):
            return expected
        (local,) = largest_noise(strategy, ClusterBlock)
        pieces = hops(strategy.topology).hops / cluster_radius(strategy)
        return replace(expected, minima=expected.minima + local * pieces)

    @cached_property
    def walks(self) -> Walks:
        """Arcs everywhere and inside clusters, and the local hubs with their numbers."""
        block = self.strategy.block(ClusterBlock)
        limits = walk_limits(self.topology, self.strategy.block(CliqueBlock).vertices, block)
        part, tables = _parts(block.arcs), []  # balls are connected; a file may hold other clusters
        numbers = np.clip(self.measurements.of(ClusterBlock), 0, LARGEST_DISTANCE)
        for group, table in zip(block.groups, block.squares(numbers), strict=True):
            table[part[group][:, None] != part[group]] = UNREACHED
            tables.append(table.ravel())
        local = LocalHubs(*_packed(block.groups), *_packed(tables))
        return Walks(self._lengths(self.topology.arcs), self._lengths(block.arcs), local, limits[0], limits[1])


def _packed(lists: list[Int]) -> tuple[Int, Int]:
    start = np.concatenate([[0], np.cumsum([len(one) for one in lists])]).astype(np.int64)
    return start, np.concatenate([*lists, np.empty(0, np.int64)]).astype(np.int64)


def _parts(arcs: Arcs) -> Int:
    """The number of each node's connected part along these arcs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(arcs.start) - 1
    graph = csr_array((np.ones(len(arcs.heads), np.int8), arcs.heads, arcs.start), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
