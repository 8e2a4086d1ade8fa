"""Distances over noisy shortcuts: climb from one end, meet in a common cell, descend to the other.

Every answer uses at most one shortcut per level on the way up, one where the ends meet and one per level on the way
down (docs/proofs/separator.md); inside a leaf, its noisy edges or pairs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Bool, Float, Int
from ..blocks.hierarchy import HierarchyBlock
from ..cells import Index
from ..cells.hierarchy import Lists
from ..cells.index import MAX_BYTES, refuse_above
from ..cells.labels import label_bytes
from ..cells.layout import Layout
from ..cells.leaves import DENSE, LeafGraphs
from ..cells.tables import Tables, table_bytes
from ..data.lattice import LARGEST_DISTANCE
from ..errors import CannotError
from ..kernels.hierarchy import INFINITE
from ..measure.door import Measurements
from ..progress import steps
from .bounds import hierarchy_bound

LABELS_FROM = 20  # one pair per so many nodes is worth making labels, if they take less than
LABELS_UP_TO = 2**30  # bytes


class HierarchyDecoder:
    """Answers for a ``HierarchyBlock`` with boundaries of all levels."""

    def __init__(self, measurements: Measurements) -> None:
        strategy = measurements.strategy
        (block,) = strategy.blocks
        assert isinstance(block, HierarchyBlock)
        self.strategy, self.topology, self.block, self.hierarchy = strategy, strategy.topology, block, block.hierarchy
        values = np.clip(measurements.values, -LARGEST_DISTANCE, LARGEST_DISTANCE)
        sizes = block.group_sizes(self.topology)
        self.groups = Lists(np.concatenate([[0], np.cumsum(sizes)]), values)
        lattice = strategy.lattice
        self.noisy_edges = np.array(lattice.high)  # public edges are as long as they may be
        self.noisy_edges[block.leaf_edge_ids] = np.clip(
            measurements.values[len(values) - len(block.leaf_edge_ids) :],
            lattice.low[block.leaf_edge_ids], lattice.high[block.leaf_edge_ids],
        )  # fmt: skip
        self.leaves = LeafGraphs.of(self.hierarchy, self.topology)

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
                tables[leaf] = self.leaves.distances(leaf, self.noisy_edges, self.noisy_edges)
            else:
                boundary = frame.boundary[leaf]
                rows = self.leaves.distances(leaf, self.noisy_edges, self.noisy_edges, boundary)
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

    @property
    def index(self) -> Index | None:
        """The measured tables in the form every answer comes from; labels are made when they pay."""
        return None if self.block.adjacent else self._index

    @index.setter
    def index(self, index: Index) -> None:
        self._index = index

    @cached_property
    def _index(self) -> Index:
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
        if self.block.adjacent:
            raise CannotError("levels='adjacent' is read literally and has no index; use levels='all'")
        return self._index.with_labels(max_bytes)

    def index_for(self, rows: int) -> Index | None:  # noqa: ARG002 - the tables are there for any number of rows
        """The index, unless some leaf must be searched as well."""
        return self.index if self._whole[self.hierarchy.is_leaf].all() else None

    def rows(self, sources: Int, out: Float) -> None:
        """Push estimates down the tree from each source; large leaves are searched."""
        self._index.rows(sources, out)
        for i in np.flatnonzero(self._searched[sources]).tolist():
            source = int(sources[i])
            mates = np.flatnonzero(self.hierarchy.vertex_home == self.hierarchy.vertex_home[source])
            out[i, mates] = np.minimum(out[i, mates], self._floats(self._inside(source, mates)))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of a few pairs; meet labels for many."""
        index = self._index
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
        return np.asarray(self.leaves.distances(leaf, self.noisy_edges, self.noisy_edges, at)[0, to])

    def _floats(self, step: Int) -> Float:
        answer = self.strategy.lattice.floats(np.maximum(step, 0))
        answer[step >= INFINITE] = np.inf
        return answer

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """The answer plus and minus the proved bound: holds at once for all pairs, so it is wide for any one."""
        answer = float(self.pairs(np.array([source]), np.array([target]))[0])
        if source == target or not np.isfinite(answer):
            return answer, answer
        bound = hierarchy_bound(self.strategy, 1 - confidence)
        return max(0.0, answer - bound.noise - bound.detour), answer + bound.noise


def _steps(table: Int) -> Float:
    """Lattice numbers as the engine keeps them."""
    return np.where(table >= INFINITE, np.inf, table).ravel()


def hierarchy_decoder(measurements: Measurements) -> HierarchyDecoder:
    """The decoder for the measured boundaries: all levels, or the literal recursion for adjacent ones."""
    (block,) = measurements.strategy.blocks
    assert isinstance(block, HierarchyBlock)
    if not block.adjacent:
        return HierarchyDecoder(measurements)
    from .literal import LiteralDecoder

    if measurements.strategy.topology.num_nodes > LiteralDecoder.MOST_NODES:
        raise CannotError(
            f"levels='adjacent' is read literally, for up to {LiteralDecoder.MOST_NODES} nodes; use levels='all'"
        )
    refuse_above(MAX_BYTES // 4, 8 * int((block.hierarchy.vertices.sizes() ** 2).sum()))
    return LiteralDecoder(measurements)
