"""A bare graph for separators, and what a separator is.

Separators see a simple undirected graph on ``0 .. n-1`` and, beside it, which vertex of the whole
network each of these is (``Graph.vertices``), so that a family that prepared something for the whole network (an
embedding, a tree decomposition, grid coordinates) finds it again in every cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int
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
        """Build from edge ends; loops and parallel edges are merged away."""
        rows = simple_rows(num_nodes, tails, heads)
        return cls(*rows, np.arange(num_nodes) if vertices is None else vertices)

    @classmethod
    def of(cls, topology: Topology) -> Graph:
        """The bare graph of a network."""
        return cls.from_edges(topology.num_nodes, topology.tails, topology.heads)

    def degrees(self) -> Int:
        """Number of neighbours of each vertex."""
        return np.diff(self.start)

    def edges(self) -> tuple[Int, Int]:
        """The two ends of every edge, smaller first."""
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
    """A family prepared for one network: splits any connected subgraph of it that has at least 3 vertices."""

    def split(self, graph: Graph) -> Split | None:
        """Return a separator, or ``None`` if the family finds none that makes both sides smaller."""


class Family(Protocol):
    """One kind of separators."""

    name: str

    def prepare(self, graph: Graph) -> Splitter:
        """Look at the whole network once.  Raises ``OptionError`` if it does not belong to the family."""


def separates(graph: Graph, split: Split) -> bool:
    """Whether no edge joins the two sides: the defining axiom, checked for every separator that is used."""
    tails, heads = graph.edges()
    a, b = split.side[tails], split.side[heads]
    return not bool(((a == LEFT) & (b == RIGHT) | (a == RIGHT) & (b == LEFT)).any())
