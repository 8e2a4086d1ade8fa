"""Decoders of the comparison mechanisms.

``table`` and ``cover`` look a measured distance up, ``anchors`` adds some up along a tree, and ``hubs`` and
``hubs-bounded`` join them by walks over estimated edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from statistics import NormalDist
from typing import ClassVar

import numpy as np

from ..arrays import Bool, Float, Int
from ..estimator.base import Estimator
from ..kernels.forests import tree_pairs, tree_rows
from ..kernels.paths import UNREACHED, distances_from, in_threads
from ..kernels.search import find_nearest
from ..kernels.walks import FAR, Lengths, LocalHubs, Walks, hub_rows
from ..measurement.blocks import AnchorBlock, Block, CliqueBlock, ClusterBlock, EdgeBlock
from ..measurement.private_step import Measurements
from ..measurement.samples import spaced_nodes
from ..measurement.strategy import Strategy
from ..mechanism.comparison.cover import move_errors
from ..mechanism.comparison.hubs import MISS, cluster_radius, hop_limit, pair_errors, walk_limits
from ..mechanism.registry import MECHANISMS
from ..network.lattice import LARGEST_DISTANCE
from ..network.topology import Arcs, Topology
from ..noise import quantile
from .base import (
    ROWS_AT_ONCE,
    Bound,
    Decoder,
    Hops,
    PairDecoder,
    Prediction,
    RowDecoder,
    intervals_around,
    largest_limits,
    largest_noise,
    noise_limits,
    number_noise,
)  # fmt: skip


class TableDecoder(PairDecoder):
    """A look-up per pair of nodes."""

    name = "table"
    summary = "every distance was measured; look it up"
    blocks = (CliqueBlock,)

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        super().__init__(measurements, estimator)
        block, strategy = self.strategy.block(CliqueBlock), self.strategy
        self.values = measurements.of(CliqueBlock)
        n = self.topology.num_nodes
        self.size, self.offset, self.inside, self.scale = (np.zeros(n, np.int64) for _ in range(4))
        offset, scales = 0, strategy.scales[strategy.groups_of(CliqueBlock)]
        for group, numbers, scale in zip(block.groups, block.group_sizes, scales, strict=True):
            self.size[group], self.offset[group], self.inside[group] = len(group), offset, np.arange(len(group))
            self.scale[group] = scale
            offset += int(numbers)

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Return whether every node was measured; a cover is read as one, even if it holds every node."""
        lossless = super().reads(strategy) and MECHANISMS[strategy.mechanism].lossless
        return lossless and len(strategy.block(CliqueBlock).vertices) == strategy.topology.num_nodes

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Bound the noise of one number."""
        (limit,) = largest_limits(strategy, gamma, CliqueBlock)
        return Bound(limit + strategy.lattice.granularity * strategy.topology.num_nodes)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004 - the same for every pair
        """Predict the noise of one number."""
        noise = number_noise(strategy)[strategy.groups_of(CliqueBlock)]
        return Prediction(np.repeat(noise, np.minimum(strategy.block(CliqueBlock).group_sizes, 1000)))

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
        answer[asked] = self.lattice.floats(self.values[at])
        return answer

    def ranges(self, sources: Int, targets: Int, confidence: float, answers: Float) -> Float:  # noqa: ARG002
        """Return quantiles of one noise around the numbers before clipping at zero: exact, but for the clipping."""
        reach = self.noise_quantiles(sources, confidence)
        return intervals_around(self._measured(sources, targets), reach, reach)

    def noise_quantiles(self, sources: Int, confidence: float) -> Float:
        """Return how far the noise of a number in the component of each source reaches."""
        scales, which = np.unique(self.scale[sources], return_inverse=True)
        quantiles = [quantile(self.strategy.law, int(scale), (1 + confidence) / 2) for scale in scales]
        return np.array(quantiles)[which] * self.lattice.granularity


class CoverDecoder(PairDecoder):
    """Answer a pair by the measured distance between the chosen nodes nearest to its ends."""

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
        """Return whether weights are bounded, and every component of an undirected network has a chosen node."""
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
        """Predict the noise of one number, and two moves of known hops."""
        chosen, largest = strategy.block(CliqueBlock).vertices, float(strategy.lattice.high.max(initial=0))
        moves = move_errors(strategy.topology, chosen, largest)
        return Prediction(np.full(len(moves), largest_noise(strategy, CliqueBlock)[0]), moved=moves)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Return the number of the nearest chosen nodes; 0 if they are the same."""
        answer = self.table.pairs(self.owner[sources], self.owner[targets])
        component = self.topology.components
        answer[component[sources] != component[targets]] = np.inf  # no path joins them: a public fact
        answer[sources == targets] = 0.0
        return answer

    def ranges(self, sources: Int, targets: Int, confidence: float, answers: Float) -> Float:
        """Return the quantile of one noise, and the largest weight for every hop of the two moves."""
        moves = (self.hops[sources] + self.hops[targets]) * self.lattice.largest_weight
        one, other = self.owner[sources], self.owner[targets]
        reach = moves + np.where(one != other, self.table.noise_quantiles(one, confidence), 0.0)
        return intervals_around(answers, reach, reach)


class AnchorDecoder(Decoder):
    """Sums of numbers along anchors, up to the meeting point of a pair and down again.

    A distance in a forest is linear in the numbers, so nothing is clipped but the final answer, at 0: clipping on the
    way would only add bias.
    """

    name = "anchors"
    summary = "sums of numbers along the ancestors in a tree"
    blocks = (AnchorBlock,)

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Sealfon 2016: a root distance adds up the numbers along its anchors, an answer at most four such sums."""
        block = strategy.block(AnchorBlock)
        limits = np.zeros(strategy.topology.num_nodes)
        limits[block.nodes] = noise_limits(strategy, gamma)
        along = np.zeros_like(limits)
        for v in block.forest.order.tolist():
            along[v] = (along[block.anchor[v]] if block.anchor[v] >= 0 else 0.0) + limits[v]
        return Bound(4 * float(along.max()) + strategy.lattice.granularity * strategy.topology.num_nodes)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004 - samples its own
        """Return the exact variance of each sampled pair; answers are linear, so there is no bias."""
        noise, sources = number_noise(strategy), spaced_nodes(strategy.topology, 4096)
        shifts = {1 + len(sources) // 7, 1 + len(sources) // 3, len(sources) // 2}
        block = strategy.block(AnchorBlock)
        variance = np.concatenate([block.variances(noise, sources, np.roll(sources, shift)) for shift in shifts])
        return Prediction(np.sqrt(variance[variance > 0]))

    @cached_property
    def block(self) -> AnchorBlock:
        """What was measured."""
        return self.strategy.block(AnchorBlock)

    @cached_property
    def height(self) -> Int:
        """Noisy distance of each node from the root of its tree."""
        return self.block.heights(self.measurements.values)

    def rows(self, sources: Int, out: Float) -> None:
        """Fill ``out`` with the distances from each source to all nodes: one pass over the forest per source."""
        height, forest = self.height, self.block.forest

        def run(part: slice) -> None:
            step = np.empty((len(sources[part]), self.topology.num_nodes), np.int64)
            tree_rows(forest.order, forest.parent, height, sources[part], UNREACHED, step)
            out[part] = self.floats(step, UNREACHED)

        in_threads(run, len(sources))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of each pair."""
        return self.floats(self._sums(sources, targets), UNREACHED)

    def _sums(self, sources: Int, targets: Int) -> Int:
        step, forest = np.empty(len(sources), np.int64), self.block.forest
        tree_pairs(forest.parent, forest.depth, forest.head, self.height, sources, targets, UNREACHED, step)
        return step

    def ranges(self, sources: Int, targets: Int, confidence: float, answers: Float) -> Float:  # noqa: ARG002
        """Return quantiles of the noise, a sum of known variance taken as normal, around sums not clipped at zero.

        The sum has few terms, so under Laplace noise the normal quantile is a little short beyond 95 %.
        """
        variance = self.block.variances(number_noise(self.strategy), sources, targets)
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.sqrt(variance) * self.lattice.granularity
        return intervals_around(self.lattice.floats(self._sums(sources, targets)), reach, reach)


def reached(topology: Topology, sources: Int) -> Iterator[tuple[slice, Bool]]:
    """Return which nodes a path leads to from each source, a few full rows at a time: a public fact."""
    ones, rows = np.ones(len(topology.arcs.heads), np.int64), max(1, ROWS_AT_ONCE // topology.num_nodes)
    for first in range(0, len(sources), rows):
        part = slice(first, min(first + rows, len(sources)))
        hops = np.empty((part.stop - first, topology.num_nodes), np.int64)
        distances_from(topology.arcs, ones, sources[part], hops)
        yield part, hops != UNREACHED


class HubDecoder(RowDecoder):
    """A walk over estimated edges, at most one number between hubs, a walk (docs/proofs/rivals.md).

    All sums are integers, and a walk reads the same in both directions, so answers of undirected networks are symmetric
    to the last bit.
    """

    name = "hubs"
    summary = "estimated edges to a hub, a measured distance between hubs, estimated edges"
    blocks: ClassVar[tuple[type[Block], ...]] = (EdgeBlock, CliqueBlock)
    searches = True

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Return whether it reads the blocks; with clusters not all hubs are random, which the hop limit rests on."""
        return super().reads(strategy) and strategy.has(ClusterBlock) == (ClusterBlock in cls.blocks)

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Fan, Li, Li 2022: two walks of at most k edges and one number; ``MISS`` of gamma is for the draw of hubs."""
        n, hubs = strategy.topology.num_nodes, len(strategy.block(CliqueBlock).vertices)
        edge, hub = largest_limits(strategy, max(gamma - MISS, gamma / 2), EdgeBlock, CliqueBlock)
        return Bound(2 * hop_limit(n, hubs) * edge + hub + strategy.lattice.granularity * n)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """Predict as the mechanism tunes itself."""
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
        """Search once per source."""
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
        """Predict as for hubs; local numbers add a bias for each piece of a path."""
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
    """Return the number of each node's connected part along these arcs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(arcs.start) - 1
    graph = csr_array((np.ones(len(arcs.heads), np.int8), arcs.heads, arcs.start), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)
