"""A bare graph for separators, what a separator is, and how a set of vertices becomes two sides.

Separators see a simple undirected graph on ``0 .. n-1`` and, beside it, which vertex of the whole network each of these
is (``Graph.vertices``), so that a family that prepared something for the whole network (a tree decomposition, grid
coordinates) finds it again in every cell.  ``side`` holds ``SEPARATOR``, ``LEFT`` or ``RIGHT`` for each vertex.

Packing lemma.  Let components of total size ``N`` each hold at most ``n/2 >= N/2`` vertices.  Giving them, largest
first, to the lighter of two groups leaves both groups at most ``max(n/2, 2N/3) <= 2n/3``.

Proof.  If the heavier group holds one component, its size is at most ``n/2``.  Else let ``x`` be the component it
received last.  At that moment it was not empty and the other group was at least as heavy, so two components not
smaller than ``x`` came before: ``x <= N/3``.  The heavier group was the lighter one before ``x`` came, and the other
only grew since, so the groups differ by at most ``x`` and the heavier holds at most ``(N + N/3) / 2 = 2N/3``.   []

Nor does a group exceed ``2n/3`` if no component does.  One of ``c <= n/3`` vertices joins the lighter group, which then
holds at most ``(n + c)/2 <= 2n/3``; at most two exceed ``n/3``, and they come first, each in a group of its own.   []
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int
from ..compiled import njit
from ..kernels.search import allow_only, components
from ..network.topology import Topology, simple_rows

SEPARATOR, LEFT, RIGHT = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph in compressed rows: neighbours of ``v`` are ``heads[start[v]:start[v+1]]``.

    Attributes:
        start, heads: adjacency; every edge at both ends, no loops, no parallel edges, each row in increasing order.
        vertices: the position of each vertex in the whole network.
    """

    start: Int
    heads: Int
    vertices: Int

    @property
    def num_nodes(self) -> int:
        """How many vertices."""
        return len(self.start) - 1

    @property
    def num_edges(self) -> int:
        """How many edges, each once."""
        return len(self.heads) // 2

    @classmethod
    def from_edges(cls, num_nodes: int, tails: Int, heads: Int, vertices: Int | None = None) -> Graph:
        """Build a graph on ``num_nodes`` from edges between ``tails`` and ``heads``, without loops and parallel edges.

        ``vertices`` are those of the whole network, the same if it is not given.
        """
        rows = simple_rows(num_nodes, tails, heads)
        return cls(*rows, np.arange(num_nodes) if vertices is None else vertices)

    @classmethod
    def of(cls, topology: Topology) -> Graph:
        """Make the bare graph of a network."""
        return cls.from_edges(topology.num_nodes, topology.tails, topology.heads)

    def degrees(self) -> Int:
        """Count the neighbours of each vertex."""
        return np.diff(self.start)

    def edges(self) -> tuple[Int, Int]:
        """Return the two ends of every edge, smaller first."""
        tails = np.repeat(np.arange(self.num_nodes), self.degrees())
        once = tails < self.heads
        return tails[once], self.heads[once]


@dataclass(frozen=True, eq=False)
class Split:
    """A separator of a graph.

    Attributes:
        side: for each vertex ``SEPARATOR``, ``LEFT`` or ``RIGHT``; no edge joins left and right.
        centres: for families that return a cover with the separator: chosen separator vertices such that each
            separator vertex is within the family's hop radius of one, *inside the separator*; else ``None``.
    """

    side: NDArray[np.int8]
    centres: Int | None = None


class Splitter(Protocol):
    """A family of separators, prepared for one network: splits any connected subgraph of it with 3 or more vertices."""

    def split(self, graph: Graph) -> Split | None:
        """Return a separator, or ``None`` if the family finds none that makes both sides smaller."""


def separates(graph: Graph, split: Split) -> bool:
    """Tell whether no edge joins the two sides: the defining axiom, checked for every separator that is used."""
    tails, heads = graph.edges()
    a, b = split.side[tails], split.side[heads]
    return not bool(((a == LEFT) & (b == RIGHT) | (a == RIGHT) & (b == LEFT)).any())


@njit(cache=True, nogil=True)
def pack_components(start, heads, side):
    """Relabel ``side`` in place: the separator stays, the components of the others go left and right.

    Components go largest first (ties: the one with the smallest vertex) to the lighter side.  Returns the sizes of
    the two sides; the left is never the smaller one unless there is nothing to pack.
    """
    order, begin = components(start, heads, allow_only(side != SEPARATOR))
    sizes = np.diff(begin)
    left, right = 0, 0
    for c in np.argsort(-sizes, kind="mergesort"):
        lighter = LEFT if left <= right else RIGHT
        for v in order[begin[c] : begin[c + 1]]:
            side[v] = lighter
        if lighter == LEFT:
            left += sizes[c]
        else:
            right += sizes[c]
    return left, right


@njit(cache=True, nogil=True)
def pack_around(start, heads, separator):
    """Return the ``side`` of each vertex, with the components around the ``separator`` packed."""
    side = np.full(len(start) - 1, LEFT, np.int8)
    side[separator] = SEPARATOR
    pack_components(start, heads, side)
    return side


@njit(cache=True, nogil=True)
def shrink_separator(start, heads, side):
    """Move separator vertices that touch at most one side into it, while it holds at most 2/3; return sizes 0, 1, 2.

    A vertex that touches neither side joins the smaller one.
    """
    n, sizes = len(start) - 1, np.bincount(side, minlength=3)
    for v in range(n):
        if side[v] != SEPARATOR:
            continue
        left = right = False
        for arc in range(start[v], start[v + 1]):
            left |= side[heads[arc]] == LEFT
            right |= side[heads[arc]] == RIGHT
        if left and right:
            continue
        into = LEFT if left or (not right and sizes[LEFT] <= sizes[RIGHT]) else RIGHT
        if 3 * (sizes[into] + 1) <= 2 * n:
            side[v] = into
            sizes[into] += 1
            sizes[SEPARATOR] -= 1
    return sizes


@njit(cache=True, nogil=True)
def cut_off_vertex(start, heads, side):
    """Fill ``side`` with the separator made of the neighbours of a vertex of least degree; false on a clique."""
    n, v = len(start) - 1, np.argmin(np.diff(start))
    side[:] = LEFT
    side[v] = RIGHT
    for arc in range(start[v], start[v + 1]):
        side[heads[arc]] = SEPARATOR
    return start[v + 1] - start[v] < n - 1
