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

from collections.abc import Callable
from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np

from ..arrays import Float, Int, sealed
from ..compiled import uncompiled
from ..errors import CannotError
from ..kernels.layout import CoreEntries, Labels, QueryData, Tables, Targets
from ..kernels.minplus import LANES, NOTHING
from ..kernels.paths import THREADS, distances_from, in_threads
from ..kernels.queries import (
    pairs_by_labels,
    pairs_by_upward_queries,
    products_by_labels,
    rows_by_panels,
    rows_one_by_one,
)  # fmt: skip
from ..network.topology import Wiring
from ..progress import steps
from .partition import Partition
from .tables import Layout, as_tables, build_labels, fill_tables, label_bytes, outer_room, table_bytes


def fit_in_32_bits(network: Wiring, lengths: Float, aside: float) -> bool:
    """Tell whether every distance over these lengths, with ``aside`` before and after it, is below ``NOTHING``."""
    finite, room = np.where(np.isfinite(lengths), lengths, 0.0), NOTHING - 2 * aside
    # An edge that is too long may be on no shortest path, but where there is one there are more. No shortest path uses
    # an edge twice; only if all together are too long, the longest distance is bounded.
    return finite.max(initial=0.0) < room and (finite.sum() < room or _bound_distances(network, lengths) < room)


def _bound_distances(network: Wiring, lengths: Float) -> float:
    """Return an upper bound on all finite distances.

    Within a strongly connected part none exceeds the way to some vertex of it and the way on from there.  A path goes
    through each part once at most, and from part to part over one edge; in an undirected network it stays in its part.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, there = network.num_nodes, np.isfinite(lengths)  # of a chain of one-way roads one direction is not
    tails, heads, lengths = network.tails[there], network.heads[there], lengths[there]
    graph = coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n))
    parts, part = connected_components(graph, directed=network.directed, connection="strong")
    if not network.directed:
        tails, heads, lengths = np.append(tails, heads), np.append(heads, tails), np.tile(lengths, 2)
    within = part[tails] == part[heads]
    inside, between = np.where(within, lengths, np.inf), np.zeros(parts)
    np.maximum.at(between, part[tails[~within]], lengths[~within])
    out = _farthest(tails, heads, inside, part, parts)
    if not network.directed:
        return 2 * float(out.max(initial=0.0))
    return float((out + _farthest(heads, tails, inside, part, parts) + between).sum())


def _farthest(tails: Int, heads: Int, lengths: Float, part: Int, parts: int) -> Float:
    """Return the longest distance in each part from its first vertex: one search, from a vertex added before all these.

    Edges lead from ``tails`` to ``heads`` with these ``lengths``; ``part`` is that of each vertex, of ``parts`` in all.
    """
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
FEW_PAIRS = 4  # so few are answered from labels sooner than kernels are loaded
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
        """Make every vertex its own core entry if the network was not contracted."""
        self.entries = core_entries or _uncontracted(self.layout.num_nodes, self.tables.side_out.dtype)

    @classmethod
    def customise(
        cls, partition: Partition, steps: Float, granularity: float, *,
        labels: bool = True, max_bytes: int = MAX_BYTES,
    ) -> Index:  # fmt: skip
        """Customise a partition with one published length per edge; it serves for any lengths.

        ``steps`` are these lengths in lattice steps of length ``granularity``.  ``labels`` builds the labels, too.
        Raises ``CannotError`` if tables and labels would take more than ``max_bytes``.
        """
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
        """Build the labels unless they exist; refuse if they would not fit in ``max_bytes``."""
        if self.labels is None:
            refuse_above(max_bytes, self.label_bytes)
            self.labels = build_labels(self.layout, self.tables, self.nothing, from_edges=self.from_edge_lengths)
        return self

    @property
    def num_nodes(self) -> int:
        """Vertices of the network."""
        return len(self.entries.tree)

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

    @property
    def _query(self) -> QueryData:
        none = np.empty(0, self.tables.inner.dtype)
        labels = self.labels or Labels(np.empty(0, np.int64), none, none)
        layout, room = self.layout.flat, self.layout.room
        return QueryData(layout, self.entries, self.tables, labels, room, self.nothing, self.granularity)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Return the distance of each pair, in units of weight."""
        if self.labels is not None or len(sources) < FEW_ROWS:
            return self._pairs(sources, targets)
        order = np.argsort(sources, kind="stable")  # equal sources share one upward query
        answer = np.empty(len(sources))
        answer[order] = self._pairs(sources[order], targets[order])
        return answer

    def _pairs(self, sources: Int, targets: Int) -> Float:
        query, answer, many = self._query, np.empty(len(sources)), len(sources) >= FEW_ROWS
        fill = pairs_by_upward_queries if self.labels is None else pairs_by_labels
        with uncompiled(self.labels is not None and len(sources) <= FEW_PAIRS):
            in_threads(lambda i: fill(sources[i], targets[i], query, answer[i]), len(sources), worth_it=many)
        return answer

    def rows(self, sources: Int, out: Any) -> None:
        """Fill full rows, one per source."""
        if len(sources) >= FEW_ROWS:
            self.matrix(sources, None, out)
        else:
            query = self._query
            in_threads(lambda part: rows_one_by_one(sources[part], query, out[part]), len(sources))

    def matrix(self, sources: Int, targets: Int | None, out: Any) -> None:
        """Fill ``out`` with distances from sources (its rows) to targets (its columns; all nodes if ``None``).

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
        query = self._query
        _in_blocks(lambda rows: rows_by_panels(sources[rows], rows, query, asked, out), order, ROWS_AT_ONCE)

    def _products(self, sources: Int, targets: Int, order: Int, out: Any) -> None:
        """Fill ``out`` as ``matrix`` does, for ``sources`` in this ``order`` and ``targets``, by products of labels."""
        query, at_column = self._query, np.argsort(self._deepest(targets), kind="stable")
        sorted_ = targets[at_column]
        _in_blocks(
            lambda rows: products_by_labels(sources[rows], rows, sorted_, at_column, query, out), order,
            4 * ROWS_AT_ONCE,
        )  # fmt: skip

    def _ends_of(self, vertices: Int) -> Int:
        """Return the core entries of these vertices, in preorder of their homes."""
        ends = np.unique(self.entries.ends[:, vertices])
        found: Int = ends[ends >= 0].astype(np.int64)
        return found[np.argsort(self.layout.home[found], kind="stable")]

    def _deepest(self, vertices: Int) -> Int:
        """Return the lower of the cells of each vertex's two ends, which are on one path to the root."""
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
        """Count the additions of the sweep down, with whole panels."""
        cells = asked.needed
        size = self.layout.rows[cells] * np.diff(self.layout.bound_start)[cells]
        path = 4.0 * self.layout.room**1.5  # the upward query, and writing a row
        return float(size.sum() + path + asked.entered + len(asked.columns)) * (-(-sources // LANES) * LANES)

    def _product_work(self, sources: Int, targets: Int) -> float:
        """Count the additions of label products, with whole panels where targets are many."""
        below = self._below(self._deepest(sources)), self._below(self._deepest(targets))
        return float((below[0] * np.maximum(below[1], 4) * np.diff(self.layout.hub_start)).sum())

    def _below(self, homes: Int) -> Float:
        """Count the homes in each cell's subtree."""
        homes, number = np.sort(homes), np.arange(self.layout.num_cells)
        return (np.searchsorted(homes, self.layout.last) - np.searchsorted(homes, number)).astype(float)


def _uncontracted(n: int, kind: Any) -> CoreEntries:
    """Make every vertex its own core entry."""
    ends = np.stack([np.arange(n, dtype=np.int32), np.full(n, -1, np.int32)])
    none, away = np.zeros(1, np.int64), np.zeros((2, n), kind)
    return CoreEntries(ends, away, away, ends[1], ends[1], none, none, np.empty(0, kind))


def _whole(steps: Float) -> Any:
    """Convert lattice steps to 32 bits."""
    return np.where(np.isinf(steps), NOTHING, steps).astype(np.int32)


def _in_blocks(fill: Callable[[Int], object], order: Int, size: int) -> None:
    """Call ``fill`` on parts of ``order``, a thread each; ``size`` or more between two steps of the progress bar."""
    size = max(size, LANES * THREADS)  # whole panels for every thread
    for at in steps(range(0, len(order), size), "distances"):
        mine = order[at : at + size]

        def run(part: slice, mine: Int = mine) -> None:
            fill(mine[part])

        in_threads(run, len(mine))


def refuse_above(limit: int, needed: int) -> None:
    """Raise ``CannotError`` before so much memory is allocated."""
    if needed > limit:
        raise CannotError(
            f"the tables would take {needed / 2**30:.3g} GB, more than max_bytes allows ({limit / 2**30:.3g} GB); "
            "the network has no small separators, or give a larger limit"
        )
