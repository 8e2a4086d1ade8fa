"""What the kernels of a hierarchy take: its layout, its tables and labels, and the graphs of its cells, as flat arrays.

Cells are numbered in preorder, so the subtree of ``b`` is ``b .. last[b] - 1`` and the children of a split cell are
``b + 1`` and ``last[b + 1]``.  On the path from the root to a cell the hubs of all cells stand behind each other: hub
``i`` of cell ``b`` has *column* ``col[b] + i``.  A *slot* is a hub of a cell (a vertex may be chosen again below); a
boundary vertex of a cell is named by its slot in the deepest cell above that chose it.  Then one vector per vertex,
indexed by columns, serves for everything: the label of a vertex, and what is reached from a source on the way down.

Per cell ``side`` holds hubs (or, in a leaf, its own vertices) times boundary, ``square`` hubs times hubs, ``inner``
own times own vertices of a leaf.  A hub that also is on the boundary has a zero in its own column of ``side``, so
passing through needs no case of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int


class Flat(NamedTuple):
    """A layout (``cells.layout`` explains each array), with the starts of everything that lies cell behind cell."""

    cells: Int
    parent: Int
    last: Int
    leaf: Bool
    home: Int
    row: Int
    hub_start: Int
    hubs: Int
    bound_start: Int
    bound: Int
    slot: Int
    above: Int
    here: Int
    members: Int
    col: Int
    slot_col: Int
    own_start: Int
    own: Int
    rows: Int
    side_start: Int
    square_start: Int
    inner_start: Int


class Tables(NamedTuple):
    """Side, square and inner tables, all of one type; undirected: both directions are one array."""

    side_out: NDArray[Any]
    side_in: NDArray[Any]
    square_out: NDArray[Any]
    square_in: NDArray[Any]
    inner: NDArray[Any]

    @property
    def symmetric(self) -> bool:
        """Whether both directions share their arrays."""
        return self.side_out is self.side_in


class Labels(NamedTuple):
    """Labels of slots, behind each other; those of other vertices are merged from them (``kernels.labels``).

    Attributes:
        row_start: where each row begins in the flat arrays.
        out, into: distances from the hub to those above it, and back; one array where they are the same.
    """

    row_start: Int
    out: NDArray[Any]
    into: NDArray[Any]

    @property
    def shared(self) -> bool:
        """Whether both directions are one array."""
        return self.out is self.into


class Doors(NamedTuple):
    """Where vertices of the whole network enter the core, which is what layouts, tables and labels are about.

    Attributes:
        ends: for each vertex the core vertices its fringe hangs on, the second -1 if there is none; itself in the core.
        out, into: distances to these ends inside the fringe, and back; one array if the network is undirected.
        fringe, place: the fringe of each vertex (-1: none) and its place there.
        start: how many folded vertices come before those of each fringe.
        inner_start, inner: distances between the vertices of each fringe.
    """

    ends: NDArray[np.int32]
    out: NDArray[Any]
    into: NDArray[Any]
    fringe: NDArray[np.int32]
    place: NDArray[np.int32]
    start: Int
    inner_start: Int
    inner: NDArray[Any]


class Targets(NamedTuple):
    """The targets of a request.

    Attributes:
        columns: the vertex in each column of the answer.
        rank: number of each core vertex among those over which targets are entered, in preorder of homes, or -1.
        needed: the cells that hold one of these at or below them.
        entered: how many they are.
    """

    columns: Int
    rank: Int
    needed: Bool
    entered: int


class Graphs(NamedTuple):
    """The graph inside every cell, by the numbers of the hierarchy.

    Attributes:
        vertex_start, vertices: vertices of each cell, increasing.
        edge_start, tails, heads, lengths: edges by home: the private edges of a cell that no child holds.
        public_start, public_heads, public_lengths: arcs of the edges inside separators, which are public edges of
            every leaf that holds both ends (covered flavour; else none).
        directed: whether an edge leads from its tail to its head only.
    """

    vertex_start: Int
    vertices: Int
    edge_start: Int
    tails: Int
    heads: Int
    lengths: NDArray[Any]
    public_start: Int
    public_heads: Int
    public_lengths: NDArray[Any]
    directed: bool
