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
from ..cells.layout import Layout
from ..cells.tables import as_tables, cell_graphs, fill_leaves, table_bytes
from ..data.weights import LARGEST_DISTANCE
from ..errors import CannotError
from ..kernels.flat import Graphs
from ..kernels.minplus import INFINITE
from ..kernels.numbering import mirrored
from ..kernels.tables import DENSE, leaf_rows
from ..measure.door import Measurements
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
        lattice, single = strategy.lattice, block.leaf_edge_ids
        pairs = len(measurements.values) - len(single)
        self.noisy_edges = np.array(lattice.high)  # public edges are as long as they may be
        self.noisy_edges[single] = np.clip(measurements.values[pairs:], lattice.low[single], lattice.high[single])
        # Distances are never negative, and a minimum over several paths would pick the negative ones; with a single hub
        # there is one path, sums are linear, and clipping would only add bias.
        sizes = block.group_sizes(self.topology)[: self.hierarchy.num_cells]
        one_hub = (block.shapes()[0] == 1) & ~self.hierarchy.is_leaf
        lowest = np.repeat(np.where(one_hub, -LARGEST_DISTANCE, 0), sizes)
        numbers = np.clip(measurements.values[:pairs], lowest, LARGEST_DISTANCE)
        self.groups = Lists(np.concatenate([[0], np.cumsum(sizes)]), numbers)

    @cached_property
    def graphs(self) -> Graphs:
        """Graphs of leaves: noisy edges, or (all pairs measured) only who is connected, a public fact."""
        lengths = self.noisy_edges if self.block.leaf_edges else np.zeros_like(self.noisy_edges)
        return cell_graphs(self.hierarchy, self.topology, lengths)

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
        flat = np.zeros(sum(layout.table_sizes) + 1, np.int64)  # the last is for numbers that no answer needs
        tables, place = as_tables(layout, flat), self.block.places(layout)
        fill_leaves(layout, self.graphs, tables, INFINITE)
        flat[place] = np.where(flat[place] >= INFINITE, INFINITE, self.groups.items)
        mirrored(layout.flat, tables)
        steps = np.where(flat >= INFINITE, np.inf, flat)
        return Index(layout, as_tables(layout, steps), self.strategy.lattice.granularity, from_edge_lengths=False)

    def build_index(self, max_bytes: int = MAX_BYTES) -> Index:
        """Make the labels of all vertices."""
        if self.block.adjacent:
            raise CannotError("levels='adjacent' is read literally and has no index; use levels='all'")
        return self._index.with_labels(max_bytes)

    def index_for(self, rows: int) -> Index | None:  # noqa: ARG002 - the tables are there for any number of rows
        """The index, unless some leaf must be searched as well."""
        return self.index if self._whole[self.hierarchy.is_leaf].all() else None

    def rows(self, sources: Int, out: Float) -> None:
        """Push estimates down the hierarchy from each source; large leaves are searched."""
        self._index.rows(sources, out)
        for i in np.flatnonzero(self._searched[sources]).tolist():
            source = int(sources[i])
            mates = np.flatnonzero(self.hierarchy.vertex_home == self.hierarchy.vertex_home[source])
            out[i, mates] = np.minimum(out[i, mates], self._floats(self._inside(source, mates)))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of a few pairs; meet labels for many."""
        index = self._index
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
