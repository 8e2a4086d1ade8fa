"""Hubs with bounded weights: the same walks, which may also rest at hubs inside clusters (docs/proofs/rivals.md)."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import Int
from ..blocks import CliqueBlock, ClusterBlock, EdgeBlock
from ..data.lattice import LARGEST_DISTANCE
from ..data.topology import Arcs
from ..kernels.walks import UNREACHED, LocalHubs, Walks
from ..strategy.hubs_bounded import cluster_radius, walk_limits
from ..strategy.strategy import Strategy
from .core import Bound, Hops, Prediction, largest_limits, largest_noise
from .hubs import HubDecoder


class BoundedHubDecoder(HubDecoder):
    """Walks with one local number inside each cluster they pass."""

    name = "hubs-bounded"
    summary = "as hubs, with measured distances between local hubs inside clusters"
    blocks = (EdgeBlock, CliqueBlock, ClusterBlock)

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Chen et al. 2023: nobody is more than r hops from a hub, so 4 r W is lost at most, for every hub set."""
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
