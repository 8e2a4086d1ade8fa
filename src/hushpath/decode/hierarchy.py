"""Distances over noisy shortcuts: climb from one end, meet in a common cell, descend to the other.

Every answer uses at most one shortcut per level on the way up, one where the ends meet and one per level on the way
down (docs/proofs/separator.md); inside a leaf, its noisy edges or pairs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Bool, Float, Int
from ..blocks import HierarchyBlock
from ..cells import Index
from ..cells.hierarchy import Lists
from ..cells.index import MAX_BYTES, refuse_above
from ..cells.labels import label_bytes
from ..cells.layout import Layout
from ..cells.leaves import DENSE, LeafGraphs
from ..cells.tables import Tables, table_bytes
from ..data.lattice import LARGEST_DISTANCE
from ..estimate.core import Estimator
from ..kernels.hierarchy import INFINITE
from ..measure import Measurements
from ..progress import steps
from ..strategy.core import Strategy
from .core import Bound, Decoder, Hops, Prediction, noise_limits, number_noise

LABELS_FROM = 20  # one pair per so many nodes is worth making labels, if they take less than
LABELS_UP_TO = 2**30  # bytes


class HierarchyDecoder(Decoder):
    """One shortcut a level up, one where the ends meet, one a level down."""

    name = "hierarchy"
    summary = "one measured shortcut a level up the cells, one across, one a level down"
    blocks = (HierarchyBlock,)
    searches = indexed = True

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        super().__init__(measurements, estimator)
        self.block = block = self.strategy.block(HierarchyBlock)
        self.hierarchy = block.hierarchy
        values = np.clip(measurements.values, -LARGEST_DISTANCE, LARGEST_DISTANCE)
        sizes = block.group_sizes
        self.groups = Lists(np.concatenate([[0], np.cumsum(sizes)]), values)
        self.leaves = LeafGraphs.of(self.hierarchy, self.topology)

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Boundaries of all levels; adjacent ones alone need the printed recursion (``literal``)."""
        return super().reads(strategy) and strategy.block(HierarchyBlock).adjacent == (cls.name == "literal")

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Theorems 16 to 18: one shortcut a level up, one where the ends meet, one a level down.

        err(leaf) = its noise (times the edges of a path through it, if edges were measured); a climb to cell b costs
        up(b) = max over children up(child) + noise(b); an answer costs at most max over b of the two largest climbs
        below b plus noise(b).  Covered flavour: 4 k W per level at most (docs/proofs/separator.md, section 6).
        """
        block = strategy.block(HierarchyBlock)
        hierarchy, limits = block.hierarchy, noise_limits(strategy, gamma)
        cells = hierarchy.num_cells
        climb, edge_limit, answer = np.zeros(cells), np.zeros(cells), 0.0
        np.maximum.at(edge_limit, hierarchy.home[block.edges], limits[cells:])
        sizes = hierarchy.vertices.sizes()
        for cell in range(cells - 1, -1, -1):
            if hierarchy.is_leaf[cell]:
                climb[cell] = edge_limit[cell] * (sizes[cell] - 1) if block.leaf_edges else limits[cell]
                answer = max(answer, float(climb[cell]))
                continue
            left, right = hierarchy.children[cell]
            here = limits[cell] if len(hierarchy.hubs[cell]) else 0.0
            below = max(climb[left], climb[right])
            answer = max(answer, float(2 * below + here))
            climb[cell] = below + here
        rounding = strategy.lattice.granularity * strategy.topology.num_nodes
        detour = 0.0
        if hierarchy.hops:
            detour = 4 * hierarchy.hops * strategy.lattice.largest_weight * max(1, hierarchy.depth)
        if block.adjacent:  # what the printed recursion proves (docs/PAPER.md)
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
    def _leaf_tables(self) -> dict[int, Int]:
        """Noisy distances inside each leaf: whole if it is small or was measured whole, else to its boundary only."""
        tables: dict[int, Int] = {}
        frame = self.block.frame
        for leaf in steps(np.flatnonzero(self.hierarchy.is_leaf).tolist(), "preparing leaves"):
            size = len(self.hierarchy.vertices[leaf])
            if not self.block.leaf_edges:
                tables[leaf] = self._measured_leaf(leaf, size)
            elif size <= DENSE:
                tables[leaf] = self.leaves.distances(leaf, self.weights, self.weights)
            else:
                boundary = frame.boundary[leaf]
                rows = self.leaves.distances(leaf, self.weights, self.weights, boundary)
                tables[leaf] = np.ascontiguousarray(rows.T)
        return tables

    def _measured_leaf(self, leaf: int, size: int) -> Int:
        table = np.zeros((size, size), np.int64)
        table[np.triu_indices(size, 1)] = np.maximum(self.groups[leaf], 0)
        table += table.T
        ones = np.ones(self.topology.num_edges, np.int64)
        connected = self.leaves.distances(leaf, ones, ones) < INFINITE  # a public fact
        return np.where(connected, table, INFINITE)

    @cached_property
    def _tables(self) -> tuple[Int, ...]:
        """Everything the kernels need, flat: shortcuts of split cells, leaf rows to the boundary."""
        hierarchy, frame = self.hierarchy, self.block.frame
        parts: list[Int] = []
        for cell in range(hierarchy.num_cells):
            if hierarchy.is_leaf[cell]:
                table = self._leaf_tables[cell]
                whole = table.shape[1] == len(hierarchy.vertices[cell]) and table.shape[0] == table.shape[1]
                parts.append((table[:, frame.boundary[cell]] if whole else table).ravel())
                continue
            hubs, members, rest = frame.chosen[cell], len(frame.members[cell]), frame.rest[cell]
            p = len(hubs)
            # Distances are never negative, and a minimum over several ways would pick the negative ones; with a single
            # hub there is one way, sums are linear, and clipping would only add bias.
            numbers = self.groups[cell] if p == 1 else np.maximum(self.groups[cell], 0)
            square = np.zeros((p, p), np.int64)
            square[np.triu_indices(p, 1)] = numbers[: p * (p - 1) // 2]
            table = np.empty((p, members), np.int64)
            table[:, hubs] = square + square.T
            table[:, rest] = numbers[p * (p - 1) // 2 :].reshape(p, len(rest))
            parts.append(table.ravel())
        start = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
        flat = (
            hierarchy.parent, hierarchy.is_leaf, frame.members.sizes(), frame.chosen.start, frame.chosen.items,
            frame.boundary.start, frame.boundary.items, frame.boundary_above.start, frame.boundary_above.items,
            start, np.concatenate(parts),
        )  # fmt: skip
        return tuple(np.array(one) for one in flat)  # writable copies: one compiled signature for all trees

    @cached_property
    def _whole(self) -> Bool:
        """Leaves (by cell) whose table is there in full; in larger ones distances are searched when asked for."""
        size = self.hierarchy.vertices.sizes()
        return self.hierarchy.is_leaf & ((size <= DENSE) | (not self.block.leaf_edges))

    @cached_property
    def index(self) -> Index:  # type: ignore[override]
        """The measured tables in the form every answer comes from; labels are made when they pay."""
        layout = Layout.of(self.hierarchy, self._whole)
        refuse_above(MAX_BYTES, table_bytes(layout, symmetric=True))
        tables = Tables.empty(layout, symmetric=True)
        side, square, inner = layout.starts
        frame = self.block.frame
        start, table = self._tables[-2], self._tables[-1]
        for at, cell in enumerate(layout.cells.tolist()):
            flat, own = table[start[cell] : start[cell + 1]], layout.own[at]
            if not self.hierarchy.is_leaf[cell]:
                both = flat.reshape(len(frame.chosen[cell]), len(frame.members[cell]))
                tables.square_out[square[at] : square[at + 1]] = _steps(both[:, frame.chosen[cell]])
                tables.side_out[side[at] : side[at + 1]] = _steps(both[:, frame.boundary[cell]])
                continue
            rows = np.searchsorted(self.hierarchy.vertices[cell], own)
            to_boundary = flat.reshape(len(self.hierarchy.vertices[cell]), len(frame.boundary[cell]))
            tables.side_out[side[at] : side[at + 1]] = _steps(to_boundary[rows])
            if self._whole[cell]:
                tables.inner[inner[at] : inner[at + 1]] = _steps(self._leaf_tables[cell][np.ix_(rows, rows)])
        return Index(layout, tables, self.strategy.lattice.granularity, exact=False)

    def build_index(self, max_bytes: int = MAX_BYTES) -> Index:
        """Make the labels of all vertices."""
        return self.index.with_labels(max_bytes)

    def index_for(self, rows: int) -> Index | None:  # noqa: ARG002 - the tables are there for any number of rows
        """The index, unless some leaf must be searched as well."""
        return self.index if self._whole[self.hierarchy.is_leaf].all() else None

    def rows(self, sources: Int, out: Float) -> None:
        """Push estimates down the tree from each source; large leaves are searched."""
        self.index.rows(sources, out)
        for i in np.flatnonzero(self._searched[sources]).tolist():
            source = int(sources[i])
            mates = np.flatnonzero(self.hierarchy.vertex_home == self.hierarchy.vertex_home[source])
            out[i, mates] = np.minimum(out[i, mates], self._floats(self._inside(source, mates)))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of a few pairs; meet labels for many."""
        index = self.index
        if index.labels is None and len(sources) * LABELS_FROM > self.topology.num_nodes:
            shared = index.exact and index.tables.symmetric
            if label_bytes(index.layout, shared=shared) <= LABELS_UP_TO:
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
        return np.asarray(self.leaves.distances(leaf, self.weights, self.weights, at)[0, to])

    def _floats(self, step: Int) -> Float:
        answer = self.strategy.lattice.floats(np.maximum(step, 0))
        answer[step >= INFINITE] = np.inf
        return answer


def _steps(table: Int) -> Float:
    """Lattice numbers as the engine keeps them."""
    return np.where(table >= INFINITE, np.inf, table).ravel()


DECODER = HierarchyDecoder
