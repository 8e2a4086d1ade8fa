"""The hierarchy of cells a network falls into (the paper's binary tree T, Section 3.1): flat, frozen, with its axioms.

Cell 0 is the whole network.  A cell ``b`` has vertices V_b and is split by its separator S_b into two
children: each takes one side and the separator vertices that touch it, and loses the edges inside S_b.  A cell that
is not split is a leaf.  Cells are numbered so that children come after their parent.

Two flavours share the structure.  *Plain* (Algorithms 1-3): hubs are the whole separator.  *Covered* (Algorithm 4, as
repaired): hubs are a k-hop cover of the separator, and the edges inside a separator live on in both children as public
edges of their largest allowed length, so that every separator vertex can still walk to its hub there.

Every hierarchy, just built or from an untrusted file, is made by ``Hierarchy.proved``.  It proves the axioms and finds
out which cell owns each edge, so that neither can be claimed:

    numbering    children come after their parent, each cell has two or none; lists of vertices increase
    cover        the root holds every vertex; a cell's vertices are those of its children and its separator
    separation   vertices in both children are separator vertices; no edge joins the two sides (covered flavour: no
                 public one either)
    shrinking    each child has fewer vertices than its parent
    ownership    an edge inside a cell's separator belongs to that cell; any other edge goes on to one child, which
                 holds both its ends; so an edge is in its home cell and the cells above it: one cell a level
    covering     each separator vertex reaches a hub within ``hops`` steps inside the separator (covered flavour)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Bool, Int, concatenated, frozen, sealed, starts
from ..compiled import njit
from ..errors import FileFormatError
from ..kernels.search import CLOSED, FREE, breadth_first
from ..network.topology import Topology

MOST_HOPS = 2**31
MOST_LEVELS = 64  # on average over the edges

AXIOMS = (
    "",
    "separation: a separator vertex is not in its cell",
    "separation: a leaf has a separator or hubs",
    "shrinking: a child is empty or no smaller than its parent",
    "cover: a child holds a vertex that its parent does not",
    "separation: two children share a vertex that is not in the separator",
    "cover: a vertex is in neither child",
    "separation: an edge is in neither child",
    "separation: a public edge joins the two sides of a separator",
    "covering: a hub is not in the separator",
    "covering: a separator vertex is in one child only",
    "covering: a separator vertex is too far from any hub",
)
(
    FOREIGN_SEPARATOR, LEAF_SEPARATOR, NO_SMALLER, FOREIGN_VERTEX, SHARED, LOST, LEAVES, JOINED, FOREIGN_HUB,
    ONE_CHILD_ONLY, TOO_FAR,
) = range(1, len(AXIOMS))  # fmt: skip

ABSENT, HERE, CUT, LEFT, RIGHT = 0, 1, 2, 3, 4


@dataclass(frozen=True, eq=False)
class Lists:
    """Many lists in one array: list ``i`` is ``items[start[i]:start[i + 1]]``."""

    start: Int
    items: Int

    @classmethod
    def of(cls, lists: list[Int]) -> Lists:
        """Pack lists one after the other."""
        start = starts(np.array([len(one) for one in lists], np.int64))
        return cls(sealed(start), sealed(concatenated(lists).astype(np.int64)))

    @classmethod
    def grouped(cls, keys: Int, count: int) -> Lists:
        """List the positions of each key, from 0 to ``count - 1``, in increasing order."""
        order = np.argsort(keys, kind="stable")
        return cls(np.searchsorted(keys[order], np.arange(count + 1)), order)

    def __getitem__(self, index: int) -> Int:
        return self.items[self.start[index] : self.start[index + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[Int]:
        return (self[i] for i in range(len(self)))

    def permuted(self, order: Int) -> Lists:
        """Return the lists in another order."""
        return self if np.array_equal(order, np.arange(len(order))) else Lists.of([self[i] for i in order.tolist()])

    def sizes(self) -> Int:
        """Count the items of each list."""
        return np.diff(self.start)

    def check(self, count: int, bound: int, name: str) -> None:
        """Refuse what is not ``count`` strictly increasing lists of numbers below ``bound``."""
        start, items = self.start, self.items
        ends_fit = len(start) == count + 1 and start[0] == 0 and start[-1] == len(items)
        if not ends_fit or (np.diff(start) < 0).any() or ((items < 0) | (items >= bound)).any():
            raise FileFormatError(f"numbering: {name} are not lists of vertices")
        falls = np.flatnonzero(np.diff(items) <= 0) + 1
        if not np.isin(falls, start).all():
            raise FileFormatError(f"numbering: a list of {name} does not increase")


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Cells, separators, hubs and the cell that owns each edge.

    Attributes:
        num_nodes: of the whole network.
        parent: parent cell of each cell; -1 for the root, cell 0.
        vertices: V_b of each cell, increasing.
        separators: S_b of each cell, increasing; empty for leaves and for cells that are not connected.
        hubs: the separator vertices between which distances are measured; the separator itself unless covered.
        home: for each edge of the network the deepest cell that holds it as a private edge.
        hops: radius of the covers; 0 in the plain flavour.
        family: the name of the family of separators.
    """

    num_nodes: int
    parent: Int
    vertices: Lists
    separators: Lists
    hubs: Lists
    home: Int
    hops: int = 0
    family: str = ""

    @classmethod
    def proved(
        cls, topology: Topology, *, parent: Int, vertices: Lists, separators: Lists, hubs: Lists | None = None,
        hops: int = 0, family: str = "",
    ) -> Hierarchy:  # fmt: skip
        """Prove every axiom against the topology and find the home of every edge, or raise ``FileFormatError``.

        ``parent``, ``vertices``, ``separators``, ``hubs``, ``hops`` and ``family`` are the attributes to be; without
        ``hops`` hubs are the separators.  Time is linear in the lists and in the edges of all cells.
        """
        n, cells = topology.num_nodes, len(parent)
        if cells == 0 or parent[0] != -1 or (parent[1:] < 0).any() or (parent[1:] >= np.arange(1, cells)).any():
            raise FileFormatError("numbering: cells are not numbered from the root")
        if not np.isin(np.bincount(parent[1:], minlength=cells), (0, 2)).all():
            raise FileFormatError("numbering: cells do not form a binary tree")
        if (hops > 0) != (hubs is not None) or not 0 <= hops < MOST_HOPS:
            raise FileFormatError("covering: hubs and the hops within which they cover do not fit")
        chosen = separators if hubs is None else hubs
        for lists, name in ((vertices, "vertices"), (separators, "separators"), (chosen, "hubs")):
            lists.check(cells, n, name)
        if not np.array_equal(vertices[0], np.arange(n)):
            raise FileFormatError("cover: the root does not hold every vertex")
        hierarchy = cls(n, frozen(parent, np.int64), vertices, separators, chosen, np.empty(0, np.int64), hops, family)
        packed = tuple((some.start, some.items) for some in (vertices, separators, chosen))
        ends = topology.tails, topology.heads
        home, axiom, cell = edge_homes(hierarchy.children, *packed, *ends, topology.arcs, hops)
        if axiom:
            raise FileFormatError(f"{AXIOMS[axiom]} (cell {cell})")
        # Every edge is listed with every cell above it; separators halve cells, so these lists are short.
        if int((hierarchy.level[home] + 1).sum()) > max(MOST_LEVELS * topology.num_edges, 2**22):
            raise FileFormatError(f"numbering: edges are in more than {MOST_LEVELS} cells on average")
        return replace(hierarchy, home=frozen(home, np.int64))

    @property
    def num_cells(self) -> int:
        """How many cells."""
        return len(self.parent)

    @cached_property
    def level(self) -> Int:
        """Depth of each cell; the root has level 0."""
        level = np.zeros(self.num_cells, np.int64)
        for cell in range(1, self.num_cells):
            level[cell] = level[self.parent[cell]] + 1
        return level

    @cached_property
    def children(self) -> Int:
        """The two children of each cell, or -1 twice for a leaf."""
        children = np.full((self.num_cells, 2), -1, np.int64)
        for cell in range(1, self.num_cells):
            parent = self.parent[cell]
            children[parent, 0 if children[parent, 0] < 0 else 1] = cell
        return children

    @cached_property
    def is_leaf(self) -> Bool:
        """Which cells are not split."""
        return self.children[:, 0] < 0

    @property
    def depth(self) -> int:
        """Level of the deepest cell."""
        return int(self.level.max())

    @cached_property
    def separator_boundary(self) -> Lists:
        """Ancestor separator vertices still in each cell; distances between them carry all that is outside."""
        return self._boundary(self.separators)

    @cached_property
    def hub_boundary(self) -> Lists:
        """B_b: ancestor hubs still present in each cell (all levels; why: docs/proofs/separator.md)."""
        return self.separator_boundary if self.hubs is self.separators else self._boundary(self.hubs)

    def _boundary(self, chosen: Lists) -> Lists:
        """Vertices of a cell that an ancestor chose, in increasing order, top down."""
        out: list[Int] = [np.empty(0, np.int64)]
        mark = np.zeros(self.num_nodes, bool)
        for cell in range(1, self.num_cells):
            parent = self.parent[cell]
            above = (out[parent], chosen[parent])
            for vertices in above:
                mark[vertices] = True
            mine = self.vertices[cell]
            out.append(mine[mark[mine]])
            for vertices in above:
                mark[vertices] = False
        return Lists.of(out)

    @cached_property
    def vertex_home(self) -> Int:
        """The topmost cell in which a vertex is a hub, or its leaf if it never is one."""
        return self.homes_of(self.hubs)

    def homes_of(self, chosen: Lists) -> Int:
        """Return the topmost cell that chose each vertex, or its (first) leaf if none did."""
        home = np.full(self.num_nodes, -1, np.int64)
        for cell in range(self.num_cells - 1, -1, -1):
            home[self.vertices[cell] if self.is_leaf[cell] else chosen[cell]] = cell
        return home

    def facts(self) -> dict[str, Any]:
        """Return the measured p, q, q' of Definition 1, depth and number of cells, and their values in theory.

        ``theory_p``: 1 for trees, the shorter side of a grid (at most sqrt(n)), sqrt(8 n) for planar graphs (Lipton and
        Tarjan); ``None`` where only the found width or nothing is known.  ``theory_q`` is 2/3, and ``theory_depth`` is
        the paper's h = log(n / c) / log(1 / q') with the measured q' and largest leaf c.
        """
        size = self.vertices.sizes()
        n, c = self.num_nodes, int(size[self.is_leaf].max())
        split = np.flatnonzero(self.separators.sizes() > 0)
        sides = [
            max(np.setdiff1d(self.vertices[c], self.separators[b], assume_unique=True).size for c in self.children[b])
            for b in split.tolist()
        ]
        q = float((np.array(sides) / size[split]).max(initial=0.0))
        q_prime = float((size[self.children[split]].max(axis=1, initial=0) / size[split]).max(initial=0.0))
        h = math.log(n / c) / math.log(1 / q_prime) if 0 < q_prime < 1 and n > c else 0.0
        return {
            "family": self.family,
            "p": int(self.separators.sizes().max(initial=0)),
            "hubs": int(self.hubs.sizes().max(initial=0)),
            "q": round(q, 4),
            "q_prime": round(q_prime, 4),
            "depth": self.depth,
            "cells": self.num_cells,
            "largest_leaf": c,
            "theory_p": {"tree": 1, "grid": math.isqrt(n), "planar": math.isqrt(8 * n)}.get(self.family),
            "theory_q": round(2 / 3, 4),
            "theory_depth": round(h, 1),
        }


@njit(cache=True, nogil=True)
def edge_homes(children, vertices, separators, hubs, tails, heads, arcs, hops):
    """Prove the axioms cell by cell from the root; meanwhile every edge finds its home.

    Takes the ``children`` of each cell; ``vertices``, ``separators`` and ``hubs`` of each, as starts and items; the
    ``tails`` and ``heads`` of all edges; the ``arcs`` of the network; and the radius ``hops`` of covers.  Returns the
    home of every edge, the axiom that fails (0: none) and the cell where it does.
    """
    (v_start, v_items), (s_start, s_items), (h_start, h_items) = vertices, separators, hubs
    cells, n, m = len(children), len(arcs.start) - 1, len(tails)
    home = np.full(m, -1, np.int64)
    first, following = np.full(cells, -1, np.int64), np.empty(m, np.int64)  # the edges of each cell, as linked lists
    for e in range(m):
        following[e], first[0] = first[0], e
    state, inside, hop = np.zeros(n, np.int8), np.zeros(n, np.int8), np.full(n, CLOSED, np.int64)
    queue = np.empty(n, np.int64)
    for b in range(cells):
        mine = v_items[v_start[b] : v_start[b + 1]]
        separator = s_items[s_start[b] : s_start[b + 1]]
        for v in mine:
            state[v], inside[v] = HERE, 0
        for v in separator:
            if state[v] != HERE:
                return home, FOREIGN_SEPARATOR, b
            state[v] = CUT
        leaf = children[b, 0] < 0
        if leaf and (len(separator) or h_start[b + 1] > h_start[b]):
            return home, LEAF_SEPARATOR, b
        if not leaf:
            for side in range(2):
                c = children[b, side]
                size = v_start[c + 1] - v_start[c]
                if size == 0 or size >= len(mine):
                    return home, NO_SMALLER, c
                for v in v_items[v_start[c] : v_start[c + 1]]:
                    if state[v] == ABSENT:
                        return home, FOREIGN_VERTEX, c
                    if state[v] == LEFT and side == 1:
                        return home, SHARED, b
                    if state[v] == HERE:
                        state[v] = LEFT + side
                    inside[v] |= 1 << side
            for v in mine:
                if state[v] == HERE:
                    return home, LOST, b
        e = first[b]
        while e >= 0:
            later, s, t = following[e], state[tails[e]], state[heads[e]]
            if leaf or (s == CUT and t == CUT):
                home[e] = b
            else:
                side = max(s, t) - LEFT  # of an end off the separator; the other end must be in that child as well
                if not (inside[tails[e]] >> side) & (inside[heads[e]] >> side) & 1:
                    return home, LEAVES, b
                c = children[b, side]
                following[e], first[c] = first[c], e
            e = later
        if hops and not leaf:
            chosen = h_items[h_start[b] : h_start[b + 1]]
            axiom = _check_cover(mine, separator, chosen, state, inside, hop, queue, arcs, hops)
            if axiom:
                return home, axiom, b
        for v in mine:
            state[v] = ABSENT
    return home, 0, 0


@njit(cache=True, nogil=True)
def _check_cover(mine, separator, hubs, state, inside, hop, queue, arcs, hops):
    """Check what the covered flavour needs besides: public edges are separated too, and every vertex is near a hub.

    Takes the vertices ``mine``, ``separator`` and ``hubs`` of a cell; the ``state`` of each vertex and the children
    that it is ``inside``; the buffers ``hop`` and ``queue``; and ``arcs`` and ``hops`` as ``edge_homes`` does.
    """
    for v in mine:
        if state[v] == LEFT:
            for arc in range(arcs.start[v], arcs.start[v + 1]):
                if state[arcs.heads[arc]] == RIGHT:
                    return JOINED
    for v in separator:
        if inside[v] != 3:
            return ONE_CHILD_ONLY
        hop[v] = FREE
    last = 0
    for v in hubs:
        if state[v] != CUT:
            return FOREIGN_HUB
        hop[v], queue[last] = 0, v
        last += 1
    last = breadth_first(arcs.start, arcs.heads, hop, queue, last, hops)
    hop[separator] = CLOSED
    return 0 if last == len(separator) else TOO_FAR
