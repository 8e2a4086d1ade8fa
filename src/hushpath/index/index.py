"""The index: pairs, rows and matrices from one customised partition (a separator hierarchy with hub labels).

| query | answered by |
|---|---|
| a few pairs, no labels | upward queries from both ends |
| pairs | the common part of two hub labels |
| few full rows | an upward query from the source, then a sweep down the hierarchy |
| many rows | the same for ``LANES`` sources side by side |
| some sources times some targets | label products cell by cell, if that is less work than sweeping down |

All five take the minimum over the same paths, so they agree to the last bit while sums stay below 2^53 lattice steps.
Where every distance is below 2^30 steps, numbers are kept in 32 bits; a distance that saturates would be taken for "not
connected", so this is proved first (``fit_in_32_bits``).
"""

from __future__ import annotations

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from ..arrays import Float, Int, sealed
from ..compiled import uncompiled
from ..errors import CannotError
from ..kernels.labels import pairs_by_labels, pairs_by_upward_queries
from ..kernels.layout import CoreEntries, Labels, Tables, Targets
from ..kernels.minplus import LANES, NOTHING
from ..kernels.paths import THREADS, distances_from, in_threads
from ..kernels.rows import products_by_labels, rows_by_panels, rows_one_by_one
from ..network.topology import Wiring
from ..progress import steps
from .partition import Partition
from .tables import Layout, as_tables, build_labels, fill_tables, label_bytes, outer_room, table_bytes


def fit_in_32_bits(network: Wiring, lengths: Float, aside: float) -> bool:
    """Whether every distance over these lengths, with ``aside`` before and after it, is below ``NOTHING``."""
    finite, room = np.where(np.isfinite(lengths), lengths, 0.0), NOTHING - 2 * aside
    # An edge that is too long may be on no shortest path, but where there is one there are more. No shortest path uses
    # an edge twice; only if all together are too long, the longest distance is looked for.
    return finite.max(initial=0.0) < room and (finite.sum() < room or _longest(network, lengths) < room)


def _longest(network: Wiring, lengths: Float) -> float:
    """An upper bound on all finite distances.

    Within a strongly connected part none exceeds the way to some vertex of it and the way on from there.  A path goes
    through each part once at most, and from part to part over one edge.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, there = network.num_nodes, np.isfinite(lengths)  # of a chain of one-way roads one direction is not
    tails, heads, lengths = network.tails[there], network.heads[there], lengths[there]
    graph = coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n))
    parts, part = connected_components(graph, directed=network.directed, connection="strong")
    if not network.directed:
        both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        return 2 * float(_farthest(*both, np.tile(lengths, 2), part, parts).max(initial=0.0))
    within = part[tails] == part[heads]
    inside, between = np.where(within, lengths, np.inf), np.zeros(parts)
    np.maximum.at(between, part[tails[~within]], lengths[~within])
    out, back = (_farthest(*ends, inside, part, parts) for ends in ((tails, heads), (heads, tails)))
    return float((out + back + between).sum())


def _farthest(tails: Int, heads: Int, lengths: Float, part: Int, parts: int) -> Float:
    """The longest distance in each part from its first vertex: one search, from a vertex added before all of these."""
    n, first = len(part), np.unique(part, return_index=True)[1]
    arcs = Wiring(n + 1, np.append(tails, np.full(parts, n)), np.append(heads, first), directed=True).arcs
    row = np.empty((1, n + 1))
    distances_from(arcs, np.append(lengths, np.zeros(parts))[arcs.edges], np.array([n]), row)
    farthest = np.zeros(parts)
    reached = np.isfinite(row[0, :n])
    np.maximum.at(farthest, part[reached], row[0, :n][reached])
    return farthest


MAX_BYTES = 4 * 2**30
FEW_ROWS = 8  # fewer rows go one by one
FEW_PAIRS = 4  # are found in labels sooner than kernels are loaded
ROWS_AT_ONCE = 512  # rows of a matrix between two steps of the progress bar


@dataclass(eq=False)
class Index:
    """Tables over a hierarchy of cells, with labels or without.

    Attributes:
        layout: the public structure: that of the core, if the network was contracted.
        tables: distances of each cell in lattice steps.
        granularity: length of a lattice step.
        from_edge_lengths: whether the tables were computed from (noisy) edge lengths, rather than measured.
        labels: one row per hub, once built.
        entries: where each vertex of the network enters the core.
    """

    layout: Layout
    tables: Tables
    granularity: float
    from_edge_lengths: bool
    core_entries: InitVar[CoreEntries | None] = None
    labels: Labels | None = None

    def __post_init__(self, core_entries: CoreEntries | None) -> None:
        """Without contraction, every vertex is its own core entry."""
        self.entries = core_entries or _uncontracted(self.layout.num_nodes, self.tables.side_out.dtype)

    @classmethod
    def customise(
        cls, partition: Partition, steps: Float, granularity: float, *,
        labels: bool = True, max_bytes: int = MAX_BYTES,
    ) -> Index:  # fmt: skip
        """Customise a partition with one published length per edge, in lattice steps; it serves for any lengths."""
        contracted, layout, graphs = partition.contracted, partition.layout, partition.graphs
        symmetric = not graphs.directed
        entries, core = contracted.customise(steps)
        aside = max(float(a[np.isfinite(a)].max(initial=0.0)) for a in (entries.out, entries.into, entries.inner))
        nothing: Any = np.inf
        if fit_in_32_bits(contracted.wiring, core, aside):
            nothing = np.int32(NOTHING)
            entries = entries._replace(**{name: _whole(getattr(entries, name)) for name in ("out", "into", "inner")})
            entries = entries._replace(into=entries.out) if symmetric else entries
            core = _whole(core)
        size = core.dtype.itemsize
        needed = table_bytes(layout, symmetric=symmetric, size=size) + contracted.nbytes(size)
        refuse_above(max_bytes, needed + labels * label_bytes(layout, shared=symmetric, size=size))
        sizes = layout.table_sizes
        back = None if symmetric else np.empty(sum(sizes[:2]), core.dtype)
        tables = as_tables(layout, np.empty(sum(sizes), core.dtype), back)
        place, room = outer_room(layout)
        graphs = graphs._replace(lengths=sealed(core[graphs.lengths]), public_lengths=sealed(np.empty(0, core.dtype)))
        fill_tables(layout, graphs, tables, nothing, place, np.empty(room, core.dtype))
        index = cls(layout, tables, granularity, True, entries)
        return index.with_labels(max_bytes) if labels else index

    def with_labels(self, max_bytes: int = MAX_BYTES) -> Index:
        """Build the labels if they are not there; refuse if they would not fit in ``max_bytes``."""
        if self.labels is None:
            refuse_above(max_bytes, self.label_bytes)
            self.labels = build_labels(self.layout, self.tables, self.nothing, from_edges=self.from_edge_lengths)
        return self

    @property
    def num_nodes(self) -> int:
        """Vertices of the network."""
        return len(self.entries.tree)

    @property
    def is_contracted(self) -> bool:
        """Whether the network was contracted."""
        return len(self.entries.start) > 1

    @property
    def nothing(self) -> Any:
        """The number that means "not connected"."""
        kind = self.tables.side_out.dtype
        return kind.type(NOTHING if kind.kind == "i" else np.inf)

    @property
    def label_bytes(self) -> int:
        """Memory that its labels take, or would take."""
        shared = self.from_edge_lengths and self.tables.symmetric
        return label_bytes(self.layout, shared=shared, size=self.tables.side_out.itemsize)

    @property
    def nbytes(self) -> int:
        """Memory (or disk) of tables and labels."""
        labels = () if self.labels is None else (self.labels.out, self.labels.into)
        every = (*self.tables, *labels, *self.entries, *self.layout.arrays().values())
        return sum({id(array): array.nbytes for array in every}.values())  # two directions in one array count once

    def __repr__(self) -> str:
        kind = "with labels" if self.labels is not None else "without labels"
        return f"Index({self.num_nodes} nodes, {self.layout.num_cells} cells, {kind}, {self.nbytes:,} bytes)"

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Distance of each pair, in units of weight."""
        answer = np.empty(len(sources))
        if len(sources) < FEW_ROWS:
            with uncompiled(self.labels is not None and len(sources) <= FEW_PAIRS):
                self._pairs(sources, targets, answer)
        elif self.labels is not None:
            in_threads(lambda part: self._pairs(sources[part], targets[part], answer[part]), len(sources))
        else:  # equal sources share one upward query
            order = np.argsort(sources, kind="stable")
            sorted_ = np.empty(len(sources))
            ends = sources[order], targets[order]
            in_threads(lambda part: self._pairs(ends[0][part], ends[1][part], sorted_[part]), len(sources))
            answer[order] = sorted_
        return answer

    def _pairs(self, sources: Int, targets: Int, answer: Float) -> None:
        ends = sources, targets, self.layout.flat, self.entries
        rest = self.layout.room, self.nothing, self.granularity
        if self.labels is not None:
            pairs_by_labels(*ends, self.tables, self.labels, *rest, answer)
        else:
            pairs_by_upward_queries(*ends, self.tables, *rest, answer)

    def rows(self, sources: Int, out: Any) -> None:
        """Full rows, one per source."""
        if len(sources) >= FEW_ROWS:
            self.matrix(sources, None, out)
            return
        layout = self.layout

        def run(part: slice) -> None:
            rows_one_by_one(
                sources[part], layout.flat, self.entries, self.tables, layout.room, self.nothing, self.granularity,
                out[part],
            )  # fmt: skip

        in_threads(run, len(sources))

    def matrix(self, sources: Int, targets: Int | None, out: Any) -> None:
        """Distances from sources (rows of ``out``) to targets (columns; all nodes if ``None``), straight into ``out``.

        ``out`` is ``float64`` or ``float32``.  Memory beyond it: two buffers of ``LANES`` numbers per target.
        """
        columns = np.arange(self.num_nodes) if targets is None else targets
        if not len(sources) or not len(columns):
            return
        order = np.argsort(self._deepest(sources), kind="stable")
        asked = self._asked(columns)
        if self.labels is not None and self._product_work(sources, columns) < self._push_work(len(sources), asked):
            self._products(sources, columns, order, out)
            return
        for part in steps(_blocks(len(order)), "distances"):
            self._push(sources, order[part], asked, out)

    def _push(self, sources: Int, order: Int, asked: Targets, out: Any) -> None:
        nothing, kind = np.empty(0, np.int64), self.tables.side_out.dtype
        labels = self.labels or Labels(nothing, np.empty(0, kind), np.empty(0, kind))

        def run(part: slice) -> None:
            which = order[part]
            rows_by_panels(
                sources[which], which, self.layout.flat, self.entries, asked, self.tables, labels, self.layout.room,
                self.nothing, np.empty((asked.entered, LANES), kind), self.granularity, out,
            )  # fmt: skip

        in_threads(run, len(order))

    def _products(self, sources: Int, targets: Int, order: Int, out: Any) -> None:
        labels, layout = self.labels, self.layout
        assert labels is not None
        at_column = np.argsort(self._deepest(targets), kind="stable")
        for part in steps(_blocks(len(order), 4), "distances"):
            mine = order[part]

            def run(some: slice, mine: Int = mine) -> None:
                which = mine[some]
                products_by_labels(
                    sources[which], which, targets[at_column], at_column, layout.flat, self.entries, self.tables,
                    labels, layout.room, self.nothing, self.granularity, out,
                )  # fmt: skip

            in_threads(run, len(mine))

    def _ends_of(self, vertices: Int) -> Int:
        """The core vertices over which these are entered or left, in preorder of their homes."""
        ends = np.unique(self.entries.ends[:, vertices])
        found: Int = ends[ends >= 0].astype(np.int64)
        return found[np.argsort(self.layout.home[found], kind="stable")]

    def _deepest(self, vertices: Int) -> Int:
        """The lower of the cells of each vertex's two ends, which lie on one path to the root."""
        first, second = self.entries.ends[:, vertices]
        home = self.layout.home
        return np.asarray(np.maximum(home[first], np.where(second >= 0, home[second], -1)), np.int64)

    def _asked(self, columns: Int) -> Targets:
        layout, entered = self.layout, self._ends_of(columns)
        rank = np.full(layout.num_nodes, -1, np.int64)
        rank[entered] = np.arange(len(entered))
        homes = layout.home[entered]  # sorted
        needed = np.searchsorted(homes, layout.last) > np.searchsorted(homes, np.arange(layout.num_cells))
        return Targets(columns, rank, needed, len(entered))

    def _push_work(self, sources: int, asked: Targets) -> float:
        """Additions of pushing down, with whole panels."""
        cells = asked.needed
        size = self.layout.rows[cells] * np.diff(self.layout.bound_start)[cells]
        path = 4.0 * self.layout.room**1.5  # the upward query, and writing a row
        return float(size.sum() + path + asked.entered + len(asked.columns)) * (-(-sources // LANES) * LANES)

    def _product_work(self, sources: Int, targets: Int) -> float:
        """Additions of label products, with whole panels where targets are many."""
        below = self._below(self._deepest(sources)), self._below(self._deepest(targets))
        return float((below[0] * np.maximum(below[1], 4) * np.diff(self.layout.hub_start)).sum())

    def _below(self, homes: Int) -> Float:
        """How many of these homes lie in each cell's subtree."""
        homes, number = np.sort(homes), np.arange(self.layout.num_cells)
        return (np.searchsorted(homes, self.layout.last) - np.searchsorted(homes, number)).astype(float)


def _uncontracted(n: int, kind: Any) -> CoreEntries:
    """Every vertex is its own core entry."""
    ends = np.stack([np.arange(n, dtype=np.int32), np.full(n, -1, np.int32)])
    none, away = np.zeros(1, np.int64), np.zeros((2, n), kind)
    return CoreEntries(ends, away, away, ends[1], ends[1], none, none, np.empty(0, kind))


def _whole(steps: Float) -> Any:
    """Lattice steps in 32 bits."""
    return np.where(np.isinf(steps), NOTHING, steps).astype(np.int32)


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
