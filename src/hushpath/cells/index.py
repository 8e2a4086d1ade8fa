"""The index: pairs, rows and matrices from one structure.

| question | answered by |
|---|---|
| a few pairs, no labels | climb from both ends |
| pairs | the common part of two labels |
| few full rows | climb from the source, push down the hierarchy |
| many rows | the same for ``LANES`` sources side by side |
| some sources times some targets | label products cell by cell, if that is less work than pushing down |

All five take the minimum over the same paths, so they agree to the last bit while sums stay below 2^53 lattice steps
(integers are exact in ``float64`` up to there; beyond, the last digits are rounded).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..errors import CannotError
from ..kernels.flat import Labels, Tables, Targets
from ..kernels.labels import pairs_by_climbing, pairs_by_labels
from ..kernels.minplus import LANES
from ..kernels.paths import THREADS, in_threads
from ..kernels.rows import products_by_labels, rows_by_panels, rows_one_by_one
from ..progress import steps
from .hierarchy import Hierarchy
from .labels import build_labels, label_bytes
from .layout import Layout
from .tables import as_tables, cell_graphs, fill_tables, outer_room, table_bytes

MAX_BYTES = 4 * 2**30
FEW_ROWS = 8  # fewer rows go one by one
ROWS_AT_ONCE = 512  # rows of a matrix between two steps of the progress bar


@dataclass(eq=False)
class Index:
    """Tables over a hierarchy of cells, with labels or without.

    Attributes:
        layout: the public structure.
        tables: distances of each cell in lattice steps.
        granularity: length of a lattice step.
        from_edge_lengths: whether the tables were computed from (noisy) edge lengths, rather than measured.
        labels: one row per vertex, once built.
    """

    layout: Layout
    tables: Tables
    granularity: float
    from_edge_lengths: bool
    labels: Labels | None = field(default=None)

    @classmethod
    def from_edges(
        cls, hierarchy: Hierarchy, topology: Topology, steps: Float, granularity: float, *,
        labels: bool = True, max_bytes: int = MAX_BYTES,
    ) -> Index:  # fmt: skip
        """Build from one published length per edge, in lattice steps."""
        layout = Layout.of(hierarchy)
        symmetric = not topology.directed
        needed = table_bytes(layout, symmetric=symmetric) + labels * label_bytes(layout, shared=symmetric)
        refuse_above(max_bytes, needed)
        sizes = layout.table_sizes
        tables = as_tables(layout, np.empty(sum(sizes)), None if symmetric else np.empty(sum(sizes[:2])))
        place, room = outer_room(layout)
        fill_tables(layout, cell_graphs(hierarchy, topology, steps), tables, np.inf, place, np.empty(room))
        index = cls(layout, tables, granularity, from_edge_lengths=True)
        return index.with_labels(max_bytes) if labels else index

    def with_labels(self, max_bytes: int = MAX_BYTES) -> Index:
        """Build the labels if they are not there; refuse if they would not fit in ``max_bytes``."""
        if self.labels is None:
            refuse_above(max_bytes, self.label_bytes)
            self.labels = build_labels(self.layout, self.tables, from_edges=self.from_edge_lengths)
        return self

    @property
    def label_bytes(self) -> int:
        """Memory that its labels take, or would take."""
        return label_bytes(self.layout, shared=self.from_edge_lengths and self.tables.symmetric)

    @property
    def nbytes(self) -> int:
        """Memory (or disk) of tables and labels."""
        labels = () if self.labels is None else (self.labels.out, self.labels.into)
        sizes = {id(array): array.nbytes for array in (*self.tables, *labels, *self.layout.arrays().values())}
        return sum(sizes.values())  # where both directions are one array, it counts once

    def __repr__(self) -> str:
        kind = "with labels" if self.labels is not None else "without labels"
        return f"Index({self.layout.num_nodes} nodes, {self.layout.num_cells} cells, {kind}, {self.nbytes:,} bytes)"

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Distance of each pair, in units of weight."""
        answer = np.empty(len(sources))
        flat, tables, labels, scale = self.layout.flat, self.tables, self.labels, self.granularity
        if labels is not None:

            def run(part: slice) -> None:
                pairs_by_labels(sources[part], targets[part], flat, labels, tables.inner, scale, answer[part])
        else:
            order = np.argsort(sources, kind="stable")

            def run(part: slice) -> None:
                which = order[part]
                mine = np.empty(len(which))
                pairs_by_climbing(sources[which], targets[which], flat, tables, self.layout.room, scale, mine)
                answer[which] = mine

        if len(sources) < FEW_ROWS:
            run(slice(0, len(sources)))
        else:
            in_threads(run, len(sources))
        return answer

    def rows(self, sources: Int, out: Any) -> None:
        """Full rows, one per source."""
        if len(sources) >= FEW_ROWS:
            self.matrix(sources, None, out)
            return
        layout = self.layout

        def run(part: slice) -> None:
            rows_one_by_one(sources[part], layout.flat, self.tables, layout.room, self.granularity, out[part])

        in_threads(run, len(sources))

    def matrix(self, sources: Int, targets: Int | None, out: Any) -> None:
        """Distances from sources (rows of ``out``) to targets (columns; all nodes if ``None``), straight into ``out``.

        ``out`` is ``float64`` or ``float32``.  Memory beyond it: two buffers of ``LANES`` numbers per target.
        """
        columns = np.arange(self.layout.num_nodes) if targets is None else targets
        if not len(sources) or not len(columns):
            return
        order = np.argsort(self.layout.home[sources], kind="stable")
        asked = _targets(self.layout, columns)
        if self.labels is not None and self._product_work(sources, columns) < self._push_work(len(sources), asked):
            self._products(sources, columns, order, out)
            return
        for part in steps(_blocks(len(order)), "distances"):
            self._push(sources, order[part], asked, out)

    def _push(self, sources: Int, order: Int, asked: Targets, out: Any) -> None:
        nothing = np.empty(0, np.int64)
        labels = self.labels or Labels(nothing, nothing, np.empty(0), np.empty(0))

        def run(part: slice) -> None:
            which = order[part]
            rows_by_panels(
                sources[which], which, self.layout.flat, asked, self.tables, labels, self.layout.room,
                np.empty((asked.distinct, LANES)), self.granularity, out,
            )  # fmt: skip

        in_threads(run, len(order))

    def _products(self, sources: Int, targets: Int, order: Int, out: Any) -> None:
        labels, layout = self.labels, self.layout
        assert labels is not None
        by_home = np.argsort(layout.home[targets], kind="stable")
        for part in steps(_blocks(len(order), 4), "distances"):
            mine = order[part]

            def run(some: slice, mine: Int = mine) -> None:
                which = mine[some]
                products_by_labels(
                    sources[which], which, targets[by_home], by_home, layout.flat, labels, self.tables.inner,
                    self.granularity, out,
                )  # fmt: skip

            in_threads(run, len(mine))

    def _push_work(self, sources: int, asked: Targets) -> float:
        """Additions of pushing down, with whole panels."""
        cells = asked.needed
        size = self.layout.rows[cells] * np.diff(self.layout.bound_start)[cells]
        path = 4.0 * self.layout.room**1.5  # climbing, and writing a row
        return float(size.sum() + path + asked.distinct) * (-(-sources // LANES) * LANES)

    def _product_work(self, sources: Int, targets: Int) -> float:
        """Additions of label products, with whole panels where targets are many."""
        below = [self._below(vertices) for vertices in (sources, targets)]
        return float((below[0] * np.maximum(below[1], 4) * np.diff(self.layout.hub_start)).sum())

    def _below(self, vertices: Int) -> Float:
        """How many of the vertices have their home in each cell's subtree."""
        homes = np.sort(self.layout.home[vertices])
        number = np.arange(self.layout.num_cells)
        return (np.searchsorted(homes, self.layout.last) - np.searchsorted(homes, number)).astype(float)


def _targets(layout: Layout, columns: Int) -> Targets:
    wanted = np.zeros(layout.num_nodes, bool)
    wanted[columns] = True
    in_order = layout.own.items[wanted[layout.own.items]]
    rank = np.full(layout.num_nodes, -1, np.int64)
    rank[in_order] = np.arange(len(in_order))
    homes = layout.home[in_order]  # sorted
    needed = np.searchsorted(homes, layout.last) > np.searchsorted(homes, np.arange(layout.num_cells))
    return Targets(rank, rank[columns], needed, len(in_order))


def _blocks(count: int, factor: int = 1) -> list[slice]:
    """Parts of the work between two steps of the progress bar: whole panels for every thread."""
    size = max(ROWS_AT_ONCE * factor, LANES * THREADS)
    return [slice(at, min(at + size, count)) for at in range(0, count, size)]


def refuse_above(limit: int, needed: int) -> None:
    """Refuse before memory is asked for."""
    if needed > limit:
        raise CannotError(
            f"the tables would take {needed / 2**30:.3g} GB, more than max_bytes allows ({limit / 2**30:.3g} GB); "
            "the network has no small separators, or give a larger limit"
        )
