"""The distances of every cell, flat: measured ones as they are, or exact ones from published edge lengths.

From edges: leaves by Floyd-Warshall over their edges, split cells from the boundary tables of their children by
elimination over the separator, bottom-up, level by level in threads (as ``exact.cells`` does for private weights, but
in ``float64``, for directed networks too, and on numbers anyone may see).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Arcs, Topology
from ..kernels.paths import distances_from, in_threads
from ..kernels.tables import cell_tables
from .hierarchy import Hierarchy
from .layout import Layout

DENSE = 384  # larger leaves (networks that no separator cuts) take a Dijkstra per vertex


@dataclass(frozen=True, eq=False)
class Tables:
    """Side, square and inner tables (``kernels.labels``); for undirected networks both directions are one array."""

    side_out: Float
    side_in: Float
    square_out: Float
    square_in: Float
    inner: Float

    @property
    def symmetric(self) -> bool:
        """Whether both directions share their arrays."""
        return self.side_out is self.side_in

    @classmethod
    def empty(cls, layout: Layout, *, symmetric: bool) -> Tables:
        """Room for every table."""
        sides, squares, inner = (np.empty(int(start[-1])) for start in layout.starts)
        if symmetric:
            return cls(sides, sides, squares, squares, inner)
        return cls(sides, np.empty_like(sides), squares, np.empty_like(squares), inner)


def table_bytes(layout: Layout, *, symmetric: bool) -> int:
    """Memory that ``tables_from_edges`` needs at its peak."""
    side, square, inner = (int(start[-1]) for start in layout.starts)
    outer = int((np.diff(layout.bound_start) ** 2).sum())
    return 8 * ((side + square) * (1 if symmetric else 2) + inner + outer)


def table_work(layout: Layout) -> float:
    """Additions that ``tables_from_edges`` needs, roughly."""
    size = np.where(layout.leaf, layout.rows + np.diff(layout.bound_start), layout.members).astype(float)
    return float((size**2 * np.where(layout.leaf, size, layout.rows)).sum())


def row_work(layout: Layout) -> float:
    """Additions that one full row needs."""
    return float(layout.starts[0][-1])


def tables_from_edges(layout: Layout, hierarchy: Hierarchy, topology: Topology, lengths: Float) -> Tables:
    """Exact tables for one length per edge; the tree is of the plain flavour."""
    tables = Tables.empty(layout, symmetric=not topology.directed)
    width = np.diff(layout.bound_start)
    outer_start = np.concatenate([[0], np.cumsum(width**2)])
    outer = np.empty(int(outer_start[-1]))
    at = np.empty(layout.num_cells, np.int64)
    at[layout.cells] = np.arange(layout.num_cells)
    home = at[hierarchy.home]
    order = np.argsort(home, kind="stable")
    edge_start = np.searchsorted(home[order], np.arange(layout.num_cells + 1))
    tails, heads, length = topology.tails[order], topology.heads[order], lengths[order]
    large = layout.leaf & (layout.rows + width > DENSE)
    bound, above, here, members = (np.array(x) for x in (layout.bound, layout.above, layout.here, layout.members))
    for cells in reversed(layout.levels):
        small = cells[~large[cells]]

        def run(part: slice, small: Int = small) -> None:
            cell_tables(
                small[part], layout.flat, bound, above, here, members, layout.children,
                edge_start, tails, heads, length, topology.directed, outer_start, outer,
                tables.side_out, tables.side_in, tables.square_out, tables.square_in, tables.inner,
            )  # fmt: skip

        in_threads(run, len(small))
        for leaf in cells[large[cells]].tolist():
            mine = slice(edge_start[leaf], edge_start[leaf + 1])
            table = _large_leaf(layout, leaf, tails[mine], heads[mine], length[mine], directed=topology.directed)
            _store(layout, tables, leaf, table)
            p = int(layout.rows[leaf])
            outer[outer_start[leaf] : outer_start[leaf + 1]] = table[p:, p:].ravel()
    return tables


def _large_leaf(layout: Layout, leaf: int, tails: Int, heads: Int, lengths: Float, *, directed: bool) -> Float:
    """All distances of a leaf by Dijkstra: own vertices first, then its boundary."""
    bound = layout.bound[layout.bound_start[leaf] : layout.bound_start[leaf + 1]]
    vertices = np.concatenate([layout.own[leaf], bound])
    place = np.zeros(layout.num_nodes, np.int64)
    place[vertices] = np.arange(len(vertices))
    source, target = place[tails], place[heads]
    if not directed:
        source, target, lengths = (
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            np.tile(lengths, 2),
        )
    order = np.argsort(source, kind="stable")
    start = np.searchsorted(source[order], np.arange(len(vertices) + 1))
    table = np.empty((len(vertices), len(vertices)))
    distances_from(Arcs(start, target[order], order), lengths[order], np.arange(len(vertices)), table)
    return table


def _store(layout: Layout, tables: Tables, leaf: int, table: Float) -> None:
    side, _, inner = layout.starts
    p = int(layout.rows[leaf])
    tables.side_out[side[leaf] : side[leaf + 1]] = table[:p, p:].ravel()
    if not tables.symmetric:
        tables.side_in[side[leaf] : side[leaf + 1]] = table[p:, :p].T.ravel()
    tables.inner[inner[leaf] : inner[leaf + 1]] = table[:p, :p].ravel()
