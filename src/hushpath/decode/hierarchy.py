"""Distances over noisy shortcuts: climb from one end, meet in a common cell, descend to the other.

Every answer uses at most one shortcut per level on the way up, one where the ends meet and one per level on the way
down (docs/proofs/separator.md); inside a leaf, its noisy edges or pairs.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..bounds import hierarchy_bound
from ..decompose.leaves import DENSE, LeafGraphs
from ..decompose.tree import Lists
from ..errors import CannotError
from ..kernels.hierarchy import INFINITE, pair_estimates, row_estimates
from ..kernels.paths import in_threads
from ..measure import Measurements
from ..progress import steps
from ..strategy.hierarchy import HierarchyBlock
from ..weights import LARGEST_DISTANCE


class HierarchyDecoder:
    """Answers for a ``HierarchyBlock`` with boundaries of all levels."""

    def __init__(self, measurements: Measurements) -> None:
        strategy = measurements.strategy
        (block,) = strategy.blocks
        assert isinstance(block, HierarchyBlock)
        self.strategy, self.topology, self.block, self.tree = strategy, strategy.topology, block, block.tree
        values = np.clip(measurements.values, -LARGEST_DISTANCE, LARGEST_DISTANCE)
        sizes = block.group_sizes(self.topology)
        self.groups = Lists(np.concatenate([[0], np.cumsum(sizes)]), values)
        lattice = strategy.lattice
        self.noisy_edges = np.array(lattice.high)  # public edges are as long as they may be
        self.noisy_edges[block.leaf_edge_ids] = np.clip(
            measurements.values[len(values) - len(block.leaf_edge_ids) :],
            lattice.low[block.leaf_edge_ids], lattice.high[block.leaf_edge_ids],
        )  # fmt: skip
        self.leaves = LeafGraphs.of(self.tree, self.topology)

    @cached_property
    def home(self) -> Int:
        """Where the way of each vertex starts: the topmost cell in which it is a hub, or its leaf."""
        return self.tree.vertex_home

    @cached_property
    def own(self) -> Lists:
        """The vertices whose home each cell is."""
        order = np.argsort(self.home, kind="stable")
        return Lists(np.searchsorted(self.home[order], np.arange(self.tree.num_cells + 1)), order)

    @cached_property
    def row(self) -> Int:
        """The row of each vertex in the table of its home."""
        row = np.zeros(self.topology.num_nodes, np.int64)
        for cell in range(self.tree.num_cells):
            mine = self.own[cell]
            among = self.tree.vertices[cell] if self.tree.is_leaf[cell] else self.tree.hubs[cell]
            row[mine] = np.searchsorted(among, mine)
        return row

    @cached_property
    def _leaf_tables(self) -> dict[int, Int]:
        """Noisy distances inside each leaf: whole if it is small or was measured whole, else to its boundary only."""
        tables: dict[int, Int] = {}
        frame = self.block.frame
        for leaf in steps(np.flatnonzero(self.tree.is_leaf).tolist(), "preparing leaves"):
            size = len(self.tree.vertices[leaf])
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
        tree, frame = self.tree, self.block.frame
        parts: list[Int] = []
        for cell in range(tree.num_cells):
            if tree.is_leaf[cell]:
                table = self._leaf_tables[cell]
                whole = table.shape[1] == len(tree.vertices[cell]) and table.shape[0] == table.shape[1]
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
            tree.parent, tree.is_leaf, frame.members.sizes(), frame.chosen.start, frame.chosen.items,
            frame.boundary.start, frame.boundary.items, frame.boundary_above.start, frame.boundary_above.items,
            start, np.concatenate(parts),
        )  # fmt: skip
        return tuple(np.array(one) for one in flat)  # writable copies: one compiled signature for all trees

    @cached_property
    def _room(self) -> int:
        """Members on the longest way to the root."""
        longest = self.block.frame.members.sizes().copy()
        for cell in range(1, self.tree.num_cells):
            longest[cell] += longest[self.tree.parent[cell]]
        return int(longest.max())

    def rows(self, sources: Int, out: Float) -> None:
        """Push estimates down the tree from each source, then look inside the source's own leaf."""
        tables, home, row, own, room = self._tables, self.home, self.row, self.own, self._room
        members = self.block.frame.members.start

        def run(part: slice) -> None:
            step = np.empty((len(sources[part]), self.topology.num_nodes), np.int64)
            row_estimates(sources[part], home, row, tables, room, members, own.start, own.items, step)
            out[part] = self._floats(step)

        in_threads(run, len(sources))
        for i, source in enumerate(sources.tolist()):
            leaf = int(home[source])
            if self.tree.is_leaf[leaf]:
                mates = own[leaf]
                out[i, mates] = np.minimum(out[i, mates], self._floats(self._inside(leaf, source, mates)))
            out[i, source] = 0.0

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of each pair."""
        step = np.empty(len(sources), np.int64)
        order = np.argsort(sources, kind="stable")  # climbing again and again from one source is saved

        def run(part: slice) -> None:
            which = order[part]
            answer = np.empty(len(which), np.int64)
            pair_estimates(sources[which], targets[which], self.home, self.row, self._tables, self._room, answer)
            step[which] = answer

        in_threads(run, len(sources))
        same = (self.home[sources] == self.home[targets]) & self.tree.is_leaf[self.home[sources]]
        for i in np.flatnonzero(same).tolist():
            s, t = int(sources[i]), targets[i : i + 1]
            step[i] = min(step[i], int(self._inside(int(self.home[s]), s, t)[0]))
        step[sources == targets] = 0
        return self._floats(step)

    def _inside(self, leaf: int, source: int, targets: Int) -> Int:
        """Distances inside one leaf."""
        table, mine = self._leaf_tables[leaf], self.tree.vertices[leaf]
        at, to = int(np.searchsorted(mine, source)), np.searchsorted(mine, targets)
        if table.shape == (len(mine), len(mine)):
            return np.asarray(table[at, to])
        row = self.leaves.distances(leaf, self.noisy_edges, self.noisy_edges, np.array([at]))
        return np.asarray(row[0, to])

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
    return LiteralDecoder(measurements)
