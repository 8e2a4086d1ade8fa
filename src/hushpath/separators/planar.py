"""Planar networks: at most sqrt(8 n) vertices separate, and each side holds at most 2n/3 (Lipton and Tarjan 1979).

The cut of the family ``general`` is taken wherever it keeps these bounds, which is nearly always: its separators are
as small as any that use the plane.  Elsewhere the theorem itself is carried out, so the bounds hold in every cell.

The theorem (Theorem 4 of "A separator theorem for planar graphs").  Let level l1 of a breadth-first search hold the
median vertex and let k vertices lie in levels <= l1.  Some level l0 <= l1 has |L(l0)| + 2(l1 - l0) <= 2 sqrt(k), and
some level l2 > l1 has |L(l2)| + 2(l2 - l1 - 1) <= 2 sqrt(n - k).  Fewer than n/2 vertices lie above l0 and at most n/2
below l2.  If more than 2n/3 lie between, one fundamental cycle of the breadth-first tree in a triangulation leaves at
most 2/3 of them inside and outside, with at most 2(l2 - l0 - 1) vertices between the two levels (Lemma 2).  In all that
is at most 2 sqrt(k) + 2 sqrt(n - k) <= sqrt(8 n) vertices.

Needs networkx (an extra), which recognises planar networks and embeds them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int
from ..errors import OptionError
from ..extras import library
from ..kernels.search import hops_from
from .general import GeneralSplitter
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split, pack_around

SMALL = 72  # up to here n/3 <= sqrt(8 n); beyond, n - sqrt(8 n) > 2n/3, so two parts around a separator are not empty


class PlanarSplitter:
    """Splits connected planar graphs."""

    def __init__(self, graph: Graph) -> None:
        """Raise ``OptionError`` if the network is not planar, ``CannotError`` if networkx is not installed."""
        if _embed(graph) is None:
            raise OptionError("family 'planar' needs a planar network, but this one is not planar")

    def split(self, graph: Graph) -> Split | None:
        """Separate a connected planar graph on n >= 3 vertices; ``None`` if and only if it is complete.

        Guarantees:
            The separator has at most sqrt(8 n) vertices.
            Both sides are non-empty and hold at most 2n/3 vertices.
        """
        n = graph.num_nodes
        found = GeneralSplitter().split(graph)
        if found is None or keeps_bounds(found.side):
            return found
        if n <= SMALL:
            return Split(cut_off_balanced(graph))
        return Split(pack_around(graph.start, graph.heads, lipton_tarjan(graph)))


def keeps_bounds(side: NDArray[np.int8]) -> bool:
    """Tell whether a separator has at most sqrt(8 n) vertices, and both sides at least one and at most 2n/3."""
    size, left, right = np.bincount(side, minlength=3).tolist()
    return bool(size**2 <= 8 * len(side) and min(left, right) > 0 and 3 * max(left, right) <= 2 * len(side))


def cut_off_balanced(graph: Graph) -> NDArray[np.int8]:
    """Separate a vertex v of least degree from 2n/3 others, for n <= 72 and a graph that is not complete.

    The separator is the neighbours of v and all that remains: max(deg v, ceil(n/3) - 1) vertices.  In a planar graph
    deg v <= 5 <= sqrt(8 n) for n >= 4, and n/3 <= sqrt(8 n) for n <= 72.
    """
    n, v = graph.num_nodes, int(np.argmin(graph.degrees()))
    side = np.full(n, RIGHT, np.int8)
    side[v] = LEFT
    side[graph.heads[graph.start[v] : graph.start[v + 1]]] = SEPARATOR
    side[np.flatnonzero(side == RIGHT)[2 * n // 3 :]] = SEPARATOR
    return side


def lipton_tarjan(graph: Graph) -> Int:
    """At most sqrt(8 n) vertices of a connected planar graph, around which no part has more than 2n/3 vertices."""
    n = graph.num_nodes
    depth = hops_from(graph.start, graph.heads, 0)
    sizes = np.bincount(depth)
    level = np.arange(len(sizes) + 1)
    median = int(np.searchsorted(2 * np.cumsum(sizes), n))
    # Level -1 and the level below the last are empty, and may be chosen too.
    first = int(np.argmin(np.append(0, sizes[: median + 1]) + 2 * (median - level[: median + 2] + 1))) - 1
    last = median + 1 + int(np.argmin(np.append(sizes[median + 1 :], 0) + 2 * (level[median + 1 :] - median - 1)))
    chosen = (depth == first) | (depth == last)
    between = (depth > first) & (depth < last)
    if 3 * int(between.sum()) > 2 * n:
        chosen[_shortest_cycle(graph, depth, between)] = True
    return np.flatnonzero(chosen)


def _shortest_cycle(graph: Graph, depth: Int, counted: Bool) -> list[int]:
    """Return the counted vertices, fewest of all, of a fundamental cycle with at most 2n/3 of them inside and outside.

    In a triangulation the edges off a spanning tree join the faces to a tree of their own (the dual tree).  Without one
    of these edges it consists of the faces inside the edge's fundamental cycle and those outside.  Each vertex is
    counted with one of its faces, so the sum over faces is exact except for vertices of the cycle itself.
    """
    n = graph.num_nodes
    tails = np.repeat(np.arange(n), graph.degrees())
    upward = np.flatnonzero(depth[graph.heads] < depth[tails])
    above = np.full(n, -1)
    above[tails[upward]] = graph.heads[upward]
    parent, level, weight = above.tolist(), depth.tolist(), counted.astype(int).tolist()
    face_of, sides = _triangles(graph)
    home = {a: face for (a, _), face in face_of.items()}
    # The dual tree in preorder: its faces, and the edge over which each was reached.
    order: list[int] = []
    reached: dict[int, tuple[int, int]] = {0: (-1, -1)}
    stack = [0]
    while stack:
        face = stack.pop()
        order.append(face)
        for a, b in sides[face]:
            beyond = face_of[b, a]
            if parent[a] != b and parent[b] != a and beyond not in reached:
                reached[beyond] = (b, a)
                stack.append(beyond)
    place = {face: i for i, face in enumerate(order)}
    total, below = [0] * len(order), [1] * len(order)
    for v in range(n):
        total[place[home[v]]] += weight[v]
    for i in range(len(order) - 1, 0, -1):
        b, a = reached[order[i]]
        up = place[face_of[a, b]]
        total[up] += total[i]
        below[up] += below[i]
    top = min((level[v] for v in range(n) if weight[v]), default=0) - 1
    best: list[int] | None = None
    for i in range(1, len(order)):
        a, b = reached[order[i]]
        cycle = {a, b}
        while a != b and max(level[a], level[b]) > top:  # nothing is counted above
            if level[a] >= level[b]:
                a = parent[a]
            else:
                b = parent[b]
            cycle |= {a, b}
        on = [v for v in cycle if weight[v]]
        inside = total[i] - sum(i <= place[home[v]] < i + below[i] for v in on)
        heavier = max(inside, total[0] - inside - len(on))
        if 3 * heavier <= 2 * n and (best is None or len(on) < len(best)):
            best = on
    if best is None:
        raise AssertionError("no fundamental cycle is balanced, which Lemma 2 of Lipton and Tarjan rules out")
    return best


def _embed(graph: Graph) -> Any:
    """Return a combinatorial embedding by networkx, or ``None`` if the graph is not planar."""
    nx = library("networkx", "networkx", "the separator family 'planar'")
    network = nx.empty_graph(graph.num_nodes)
    network.add_edges_from(zip(*(ends.tolist() for ends in graph.edges()), strict=True))
    return nx.check_planarity(network)[1]


def _triangles(graph: Graph) -> tuple[dict[tuple[int, int], int], list[list[tuple[int, int]]]]:
    """Return the face of each half-edge of a triangulation, and the half-edges of each face."""
    triangulate = library("networkx.algorithms.planar_drawing", "networkx", "a planar separator").triangulate_embedding
    embedding = triangulate(_embed(graph))[0]
    face_of: dict[tuple[int, int], int] = {}
    sides: list[list[tuple[int, int]]] = []
    for half_edge in embedding.edges():
        if half_edge not in face_of:
            around: set[tuple[int, int]] = set()
            embedding.traverse_face(*half_edge, mark_half_edges=around)
            face_of.update(dict.fromkeys(around, len(sides)))
            sides.append(sorted(around))
    return face_of, sides
