"""The distances inside every cell, flat: one builder for private lattice weights and for published edge lengths.

Leaves from their edges, split cells from the boundary distances of their children by elimination over the chosen
vertices, bottom-up.  On planar networks that is O(n^1.5) in all, instead of a shortest-path tree per separator vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int, sealed
from ..data.topology import Topology, Wiring
from ..kernels.flat import Graphs, Tables
from ..kernels.numbering import outer_places
from ..kernels.paths import THREADS, in_threads
from ..kernels.tables import cell_tables
from ..progress import steps
from .hierarchy import Hierarchy, Lists
from .layout import Layout

TOGETHER = 2 + THREADS.bit_length()  # levels whose cells stand side by side: enough subtrees for every thread


def cell_graphs(
    hierarchy: Hierarchy, topology: Topology, lengths: NDArray[Any], public: NDArray[Any] | None = None
) -> Graphs:
    """The graph inside every cell, for one length per edge; ``public`` is the length of edges that are public there."""
    edges = Lists.grouped(hierarchy.home, hierarchy.num_cells)
    order = edges.items
    # Only an edge inside a separator has both ends in several leaves, and only the covered flavour keeps it there.
    arcs = topology.arcs
    shared = np.flatnonzero(~hierarchy.is_leaf[hierarchy.home[arcs.edges]] if hierarchy.hops else [])
    return Graphs(
        vertex_start=sealed(hierarchy.vertices.start),
        vertices=sealed(hierarchy.vertices.items),
        edge_start=sealed(edges.start),
        tails=sealed(topology.tails[order]),
        heads=sealed(topology.heads[order]),
        lengths=sealed(lengths[order]),
        public_start=sealed(np.searchsorted(shared, arcs.start)),
        public_heads=sealed(arcs.heads[shared]),
        public_lengths=sealed((lengths if public is None else public)[arcs.edges[shared]]),
        directed=topology.directed,
    )


def cut_graphs(layout: Layout, network: Wiring) -> Graphs:
    """The graph inside every cell of a cut, without lengths: an edge belongs to the lower cell of its two ends."""
    edges = Lists.grouped(np.maximum(layout.home[network.tails], layout.home[network.heads]), layout.num_cells)
    number = np.arange(layout.num_cells)
    # Vertices of leaves: their own and their boundary, increasing. Those of other cells are not asked for.
    below, beside = np.repeat(number, layout.own.sizes()), np.repeat(number, np.diff(layout.bound_start))
    cell = np.concatenate([below, beside])
    vertex = np.concatenate([layout.own.items, layout.bound])
    kept = np.flatnonzero(layout.leaf[cell])
    kept = kept[np.lexsort((vertex[kept], cell[kept]))]
    nothing = np.zeros(0, np.int64)
    return Graphs(
        vertex_start=sealed(np.searchsorted(cell[kept], np.arange(layout.num_cells + 1))),
        vertices=sealed(vertex[kept]),
        edge_start=sealed(edges.start),
        tails=sealed(network.tails[edges.items]),
        heads=sealed(network.heads[edges.items]),
        lengths=sealed(edges.items),
        public_start=sealed(np.zeros(network.num_nodes + 1, np.int64)),
        public_heads=sealed(nothing),
        public_lengths=sealed(nothing),
        directed=network.directed,
    )


def outer_room(layout: Layout, *, keep_leaves: bool = False) -> tuple[Int, int]:
    """Where each cell's boundary distances stand while tables are made, and the room for all of them.

    ``keep_leaves``: those of leaves stand apart, and are still there in the end.
    """
    place, room = outer_places(layout.flat, layout.level, TOGETHER, keep_leaves)
    return place, int(room)


def table_bytes(layout: Layout, *, symmetric: bool, size: int = 8) -> int:
    """Memory that the tables need at their peak, at this many bytes a number."""
    side, square, inner = layout.table_sizes
    largest = int(np.where(layout.leaf, layout.rows + np.diff(layout.bound_start), layout.members).max())
    at_work = 2 * THREADS * largest**2  # while a cell is made, its table stands beside what is kept of it
    return size * ((side + square) * (1 if symmetric else 2) + inner + outer_room(layout)[1] + at_work)


def table_work(layout: Layout) -> float:
    """Additions that ``fill_tables`` needs, roughly."""
    size = np.where(layout.leaf, layout.rows + np.diff(layout.bound_start), layout.members).astype(float)
    return float((size**2 * np.where(layout.leaf, size, layout.rows)).sum())


def row_work(layout: Layout) -> float:
    """Additions that one full row needs."""
    return float(layout.flat.side_start[-1])


def as_tables(layout: Layout, flat: NDArray[Any], back: NDArray[Any] | None = None) -> Tables:
    """Side, square and inner tables as parts of one array; for directed networks ``back`` has the other direction."""
    side, square, inner = layout.table_sizes
    out, square_out = flat[:side], flat[side : side + square]
    into, square_in = (out, square_out) if back is None else (back[:side], back[side : side + square])
    return Tables(out, into, square_out, square_in, flat[side + square : side + square + inner])


def fill_tables(
    layout: Layout, graphs: Graphs, tables: Tables, nothing: float, place: Int, outer: NDArray[Any]
) -> None:
    """Fill the tables of all cells; ``place`` and the size of ``outer`` are those of ``outer_room``.

    First whole subtrees, a thread each and cell by cell in the reverse of preorder; then the levels above them.
    """
    roots = np.flatnonzero(layout.level == TOGETHER)
    subtrees = [np.arange(layout.last[root] - 1, root - 1, -1) for root in roots.tolist()]
    above = [list(cells[:, None]) for cells in layout.levels[:TOGETHER]]
    for some in steps([subtrees, *reversed(above)], "distances inside cells"):

        def run(part: slice, some: list[Int] = some) -> None:
            cell_tables(np.concatenate(some[part]), layout.flat, graphs, nothing, tables, place, outer)

        in_threads(run, len(some))


def fill_leaves(layout: Layout, graphs: Graphs, tables: Tables, nothing: float) -> None:
    """Fill the tables of leaves only."""
    leaves = np.flatnonzero(layout.leaf)
    place, room = np.zeros(layout.num_cells, np.int64), int(np.diff(layout.bound_start)[leaves].max()) ** 2

    def run(part: slice) -> None:  # nobody needs outer tables here: one after the other is thrown away
        spare = np.empty(room, tables.inner.dtype)
        cell_tables(leaves[part], layout.flat, graphs, nothing, tables, place, spare)

    in_threads(run, len(leaves))
