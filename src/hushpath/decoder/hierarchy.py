"""Distances over noisy shortcuts: climb from one end, meet in a common cell, descend to the other.

Every answer uses at most one shortcut per level on the way up, one where the ends meet and one per level on the way
down (docs/proofs/separator.md); inside a leaf, its noisy edges or pairs.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Bool, Float, Int
from ..errors import CannotError
from ..estimator.base import Estimator
from ..index import Index
from ..index.index import MAX_BYTES, refuse_above
from ..index.partition import Partition
from ..index.tables import Layout, as_tables, cell_graphs, fill_leaves, table_bytes
from ..kernels.layout import Graphs, mirror_tables
from ..kernels.minplus import INFINITE
from ..kernels.tables import DENSE, leaf_rows
from ..measurement.blocks import HierarchyBlock
from ..measurement.private_step import Measurements
from ..measurement.strategy import Strategy
from ..network.lattice import LARGEST_DISTANCE
from ..separators.hierarchy import Lists
from .base import Bound, Decoder, Hops, Prediction, noise_limits, number_noise

LABELS_FROM = 20  # one pair per so many nodes is worth making labels, if they take less than
LABELS_UP_TO = 2**30  # bytes


class Frame(NamedTuple):
    """A layout, and the position of each shortcut in its tables."""

    layout: Layout
    place: Int


class HierarchyDecoder(Decoder):
    """One shortcut a level up, one where the ends meet, one a level down."""

    name = "hierarchy"
    summary = "one measured shortcut a level up the cells, one across, one a level down"
    blocks = (HierarchyBlock,)
    searches = indexed = True
    adjacent: ClassVar[bool] = False  # whether it reads boundaries of adjacent levels, rather than of all

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        super().__init__(measurements, estimator)
        self.block = self.strategy.block(HierarchyBlock)
        self.hierarchy = self.block.hierarchy

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Boundaries of all levels; adjacent ones alone need the printed recursion (``literal``)."""
        return super().reads(strategy) and strategy.block(HierarchyBlock).adjacent == cls.adjacent

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Theorems 16 to 18: one shortcut a level up, one where the ends meet, one a level down.

        err(leaf) = its noise (times the edges of a path through it, if edges were measured); a climb to cell b costs
        up(b) = max over children up(child) + noise(b); an answer costs at most max over b of the two largest climbs
        below b plus noise(b).  Covered flavour: 4 k W per level at most (docs/proofs/separator.md, section 6).
        """
        block = strategy.block(HierarchyBlock)
        hierarchy, answer = block.hierarchy, costliest(block, noise_limits(strategy, gamma))
        rounding, detour = strategy.lattice.granularity * strategy.topology.num_nodes, 0.0
        if hierarchy.hops:
            detour = 4 * hierarchy.hops * strategy.lattice.largest_weight * max(1, hierarchy.depth)
        if block.adjacent:  # what the printed recursion proves (paper page)
            doubled = 2.0 ** min(hierarchy.depth // 2, 1000)
            answer, detour = answer * doubled, detour * doubled
        return Bound(answer + rounding, detour)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004 - samples its own
        """Climb to the root and down again: variances add up, and each minimum over p noisy paths comes out low.

        The minimum of p normals lies about sqrt(2 ln p) standard deviations below their mean; it is counted in full,
        as if all paths were equally long, so the prediction errs on the cautious side.
        """
        block, noise = strategy.block(HierarchyBlock), number_noise(strategy)
        hierarchy, cells = block.hierarchy, block.hierarchy.num_cells
        measured = hierarchy.hubs.sizes() + (not block.leaf_edges) * hierarchy.is_leaf > 0
        variance = np.where(measured, noise[:cells], 0) ** 2
        bias = np.sqrt(variance * 2 * np.log(np.maximum(hierarchy.hubs.sizes(), 1)))
        if len(block.edges):
            leaf = hierarchy.home[block.edges]
            np.maximum.at(variance, leaf, noise[cells:] ** 2 * np.sqrt(hierarchy.vertices.sizes()[leaf]))
        for cell in range(1, cells):
            variance[cell] += variance[hierarchy.parent[cell]]
            bias[cell] += bias[hierarchy.parent[cell]]
        n = strategy.topology.num_nodes
        home = hierarchy.vertex_home[np.unique(np.linspace(0, n - 1, min(n, 4096)).astype(np.int64))]
        other = np.roll(home, len(home) // 2)
        detour = hierarchy.hops * float(strategy.lattice.high.max(initial=0))  # covers: typically about k W in all
        return Prediction(np.sqrt(variance[home] + variance[other]), minima=bias[home] + bias[other] + detour)

    @cached_property
    def groups(self) -> Lists:
        """The shortcuts of every cell, as they are read."""
        sizes = self.block.group_sizes[: self.hierarchy.num_cells]
        return Lists(np.concatenate([[0], np.cumsum(sizes)]), self.shortcuts())

    def shortcuts(self, longer: Int | int = 0) -> Int:
        """The measured numbers but for leaf edges, each made ``longer`` by so many steps, then clipped.

        Distances are never negative, and a minimum over several paths would pick the negative ones; with a single hub
        there is one path, sums are linear, and clipping would only add bias.
        """
        sizes = self.block.group_sizes[: self.hierarchy.num_cells]
        one_hub = (self.block.shapes()[0] == 1) & ~self.hierarchy.is_leaf
        lowest = np.repeat(np.where(one_hub, -LARGEST_DISTANCE, 0), sizes)
        numbers = np.clip(self.measurements.values[: int(sizes.sum())], -LARGEST_DISTANCE, LARGEST_DISTANCE)
        return np.asarray(np.clip(numbers + longer, lowest, LARGEST_DISTANCE))

    @cached_property
    def graphs(self) -> Graphs:
        """Graphs of leaves: noisy edges, or (all pairs measured) only who is connected, a public fact."""
        lengths = self.weights if self.block.leaf_edges else np.zeros(self.topology.num_edges, np.int64)
        return cell_graphs(self.hierarchy, self.topology, lengths)

    @cached_property
    def _whole(self) -> Bool:
        """Leaves (by cell) with a full table; in larger ones distances are searched on demand."""
        size = self.hierarchy.vertices.sizes()
        return self.hierarchy.is_leaf & ((size <= DENSE) | (not self.block.leaf_edges))

    @cached_property
    def frame(self) -> Frame:
        """The tables' shape, which follows from public facts alone."""
        layout = Layout.of(self.hierarchy, self._whole)
        return Frame(layout, self.block.places(layout))

    @cached_property
    def index(self) -> Index:  # type: ignore[override]
        """The measured tables in the form every answer comes from; labels are made when they pay."""
        return self.index_over(self.groups.items)

    def index_over(self, shortcuts: Int) -> Index:
        """An index over these shortcuts and the leaves of this release."""
        layout, place = self.frame
        refuse_above(MAX_BYTES, table_bytes(layout, symmetric=True))
        flat = np.zeros(sum(layout.table_sizes) + 1, np.int64)  # the last is for numbers that no answer needs
        tables = as_tables(layout, flat)
        fill_leaves(layout, self.graphs, tables, INFINITE)
        flat[place] = np.where(flat[place] >= INFINITE, INFINITE, shortcuts)
        mirror_tables(layout.flat, tables)
        steps = np.where(flat >= INFINITE, np.inf, flat)
        return Index(layout, as_tables(layout, steps), self.strategy.lattice.granularity, from_edge_lengths=False)

    def build_index(
        self, max_bytes: int = MAX_BYTES, *, labels: bool = True, partition: Partition | None = None
    ) -> Index:
        """Make the labels of all vertices; the tables were measured."""
        if partition is not None:
            raise CannotError("`partition` applies to releases of edge weights; this one was measured on its own cells")
        return self.index.with_labels(max_bytes) if labels else self.index

    def index_for(self, rows: int) -> Index | None:  # noqa: ARG002 - the tables are there for any number of rows
        """The index, unless some leaf must be searched as well."""
        return self.index if self.indexed and self._whole[self.hierarchy.is_leaf].all() else None

    def rows(self, sources: Int, out: Float) -> None:
        """Push estimates down the hierarchy from each source; large leaves are searched."""
        self.index.rows(sources, out)
        for i in np.flatnonzero(self._searched[sources]).tolist():
            source = int(sources[i])
            mates = np.flatnonzero(self.hierarchy.vertex_home == self.hierarchy.vertex_home[source])
            out[i, mates] = np.minimum(out[i, mates], self._floats(self._inside(source, mates)))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of a few pairs; meet labels for many."""
        index = self.index
        many = len(sources) * LABELS_FROM > self.topology.num_nodes
        if index.labels is None and many and index.label_bytes <= LABELS_UP_TO:
            index.with_labels()
        answer = index.pairs(sources, targets)
        home = self.hierarchy.vertex_home
        for i in np.flatnonzero(self._searched[sources] & (home[sources] == home[targets])).tolist():
            inside = self._floats(self._inside(int(sources[i]), targets[i : i + 1]))
            answer[i] = min(answer[i], float(inside[0]))
        return answer

    @cached_property
    def _searched(self) -> Bool:
        """Vertices whose home is a leaf too large for a table."""
        return np.asarray((self.hierarchy.is_leaf & ~self._whole)[self.hierarchy.vertex_home])

    def _inside(self, source: int, targets: Int) -> Int:
        """Distances inside a large leaf."""
        leaf = int(self.hierarchy.vertex_home[source])
        mine = self.hierarchy.vertices[leaf]
        at, to = np.searchsorted(mine, [source]), np.searchsorted(mine, targets)
        return np.asarray(leaf_rows(leaf, at, self.graphs, INFINITE, np.full(self.topology.num_nodes, -1))[0, to])

    def _floats(self, step: Int) -> Float:
        return self.floats(np.maximum(step, 0), INFINITE)


def costliest(block: HierarchyBlock, costs: Float) -> float:
    """The largest sum that an answer can take, if each number it uses costs what its group says."""
    hierarchy, cells = block.hierarchy, block.hierarchy.num_cells
    climb, edge_cost, answer = np.zeros(cells), np.zeros(cells), 0.0
    np.maximum.at(edge_cost, hierarchy.home[block.edges], costs[cells:])
    sizes = hierarchy.vertices.sizes()
    for cell in range(cells - 1, -1, -1):
        if hierarchy.is_leaf[cell]:
            climb[cell] = edge_cost[cell] * (sizes[cell] - 1) if block.leaf_edges else costs[cell]
            answer = max(answer, float(climb[cell]))
            continue
        left, right = hierarchy.children[cell]
        here = costs[cell] if len(hierarchy.hubs[cell]) else 0.0
        below = max(climb[left], climb[right])
        answer = max(answer, float(2 * below + here))
        climb[cell] = below + here
    return answer
