"""A planar embedding of the whole network, and what is left of it in a subgraph.

A rotation system lists the neighbours of every vertex in clockwise order.  Deleting vertices and edges
from a plane drawing leaves a plane drawing, so the order restricted to a subgraph is an embedding of that subgraph: the
network is embedded once, and every cell only sorts its own arcs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....arrays import Int, frozen
from ....compiled import njit
from ....errors import OptionError
from ....kernels.search import FREE, components
from ...graph import Graph
from .leftright import clockwise_order


@dataclass(frozen=True, eq=False)
class Embedding:
    """A rotation system of a simple graph: ``rank[arc]`` is the place of the arc in the clockwise order at its tail.

    Attributes:
        start, heads: the graph, each row sorted by head so that an arc is found by bisection.
        rank: 0 .. degree-1 within every row.
    """

    start: Int
    heads: Int
    rank: Int


def embed(graph: Graph) -> Embedding:
    """Embed a simple graph, connected or not.

    Guarantees:
        Euler's formula holds for the result, so it is planar whatever the embedder did.
        A graph that is not planar raises ``OptionError``.
    """
    n, m = graph.num_nodes, graph.num_edges
    if n >= 3 and m > 3 * n - 6:
        raise OptionError(f"the network is not planar: {n} nodes allow {3 * n - 6} edges, it has {m}")
    tails = np.repeat(np.arange(n), graph.degrees())
    order = np.lexsort((graph.heads, tails))
    start, heads = frozen(graph.start, np.int64), frozen(graph.heads[order], np.int64)
    turn = clockwise_order(start, heads)
    if turn is None:
        raise OptionError("the network is not planar")
    rank = _ranks(start, turn)
    if euler_defect(start, heads, rank) != 0:
        raise AssertionError("the left-right test returned a rotation system that violates Euler's formula")
    return Embedding(start, heads, frozen(rank, np.int64))


def euler_defect(start: Int, heads: Int, rank: Int) -> int:
    """Twice the genus of a rotation system, summed over the components: 0 if and only if it is planar."""
    n = len(start) - 1
    twin, turn = rotation(start, heads, np.arange(n), start, heads, rank)
    _, begin = components(start, heads, np.full(n, FREE, np.int64))
    isolated = int((np.diff(start) == 0).sum())  # an isolated vertex has one face, but no arc to trace it by
    return int(2 * (len(begin) - 1) - n + len(heads) // 2 - _count_faces(twin, turn) - isolated)


@njit(cache=True, nogil=True)
def _ranks(start, turn):
    """Number the arcs of each row in clockwise order."""
    rank = np.full(len(turn), -1)
    for v in range(len(start) - 1):
        arc = start[v]
        for i in range(start[v + 1] - start[v]):
            rank[arc], arc = i, turn[arc]
    return rank


@njit(cache=True, nogil=True)
def rotation(start, heads, vertices, whole_start, whole_heads, whole_rank):
    """Restrict an embedding to a subgraph: ``twin`` of each arc, and ``turn``, the next arc around its tail.

    ``vertices`` holds the positions in the whole network.  An arc the whole network lacks, or an unsorted
    row, leaves ``twin[0] == -1``.
    """
    n = len(start) - 1
    twin = np.full(len(heads), -1, np.int64)
    turn = np.empty(len(heads), np.int64)
    key = np.empty(len(heads), np.int64)
    cursor = start[:-1].copy()
    for v in range(n):
        row, low, high = vertices[v], start[v], start[v + 1]
        for arc in range(low, high):
            u = heads[arc]
            # Rows are sorted and v grows, so the arcs into u arrive in the order of u's own row.
            back = cursor[u]
            cursor[u] += 1
            left, right, wanted = whole_start[row], whole_start[row + 1], vertices[u]
            while left < right:
                middle = (left + right) >> 1
                if whole_heads[middle] < wanted:
                    left = middle + 1
                else:
                    right = middle
            paired = back < start[u + 1] and heads[back] == v
            if not paired or left >= whole_start[row + 1] or whole_heads[left] != wanted:
                twin[0] = -1
                return twin, turn
            twin[arc], key[arc], turn[arc] = back, whole_rank[left], arc
        gap = 1
        while gap < (high - low) // 3:
            gap = 3 * gap + 1
        while gap > 0:  # shell sort of the row by rank; turn holds the arcs in clockwise order for a moment
            for i in range(low + gap, high):
                arc, j = turn[i], i
                while j >= low + gap and key[turn[j - gap]] > key[arc]:
                    turn[j] = turn[j - gap]
                    j -= gap
                turn[j] = arc
            gap //= 3
        for i in range(low, high):  # free the keys of this row: from now on they are the successors
            key[turn[i]] = turn[i + 1] if i + 1 < high else turn[low]
    return twin, key


@njit(cache=True, nogil=True)
def _count_faces(twin, turn):
    """Orbits of "cross the edge, then turn"."""
    faces, seen = 0, np.zeros(len(twin), np.bool_)
    for arc in range(len(twin)):
        faces += not seen[arc]
        while not seen[arc]:
            seen[arc] = True
            arc = turn[twin[arc]]
    return faces
