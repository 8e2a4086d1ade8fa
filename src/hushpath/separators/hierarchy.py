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
                 holds both its ends; so an edge lies in its home cell and the cells above it: one cell a level
    covering     each separator vertex reaches a hub within ``hops`` steps inside the separator (covered flavour)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Bool, Int, frozen
from ..errors import FileFormatError
from ..kernels.axioms import AXIOMS, edge_homes
from ..network.topology import Topology

MOST_HOPS = 2**31
MOST_LEVELS = 64  # on average over the edges


@dataclass(frozen=True, eq=False)
class Lists:
    """Many lists in one array: list ``i`` is ``items[start[i]:start[i + 1]]``."""

    start: Int
    items: Int

    @classmethod
    def of(cls, lists: list[Int]) -> Lists:
        """Pack lists behind each other."""
        start = np.zeros(len(lists) + 1, np.int64)
        np.cumsum([len(one) for one in lists], out=start[1:])
        items = np.concatenate(lists).astype(np.int64) if lists else np.empty(0, np.int64)
        for array in (start, items):
            array.setflags(write=False)
        return cls(start, items)

    @classmethod
    def grouped(cls, keys: Int, count: int) -> Lists:
        """Positions by key, from 0 to ``count - 1``, each list increasing."""
        order = np.argsort(keys, kind="stable")
        return cls(np.searchsorted(keys[order], np.arange(count + 1)), order)

    def __getitem__(self, index: int) -> Int:
        return self.items[self.start[index] : self.start[index + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[Int]:
        return (self[i] for i in range(len(self)))

    def sizes(self) -> Int:
        """Length of each list."""
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
    """Cells, separators, hubs and who owns each edge.

    Attributes:
        num_nodes: of the whole network.
        parent: parent cell of each cell; -1 for the root, cell 0.
        vertices: V_b of each cell, increasing.
        separators: S_b of each cell, increasing; empty for leaves and for cells that merely fell apart.
        hubs: the separator vertices between which distances are measured; the separator itself unless covered.
        home: for each edge of the network the deepest cell that holds it as a private edge.
        hops: radius of the covers; 0 in the plain flavour.
        family: how separators were found, for people.
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

        Without ``hops`` hubs are the separators.  Time is linear in the lists and in the edges of all cells.
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
        home, axiom, cell = edge_homes(
            hierarchy.children, vertices.start, vertices.items, separators.start, separators.items, chosen.start,
            chosen.items, topology.tails, topology.heads, topology.arcs.start, topology.arcs.heads, hops,
        )  # fmt: skip
        if axiom:
            raise FileFormatError(f"{AXIOMS[axiom]} (cell {cell})")
        # Every edge is listed with every cell above it; separators halve cells, so these lists are short.
        if int((hierarchy.level[home] + 1).sum()) > max(MOST_LEVELS * topology.num_edges, 2**22):
            raise FileFormatError(f"numbering: edges lie in more than {MOST_LEVELS} cells on average")
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
        """The topmost cell that chose each vertex, or its (first) leaf if none did."""
        home = np.full(self.num_nodes, -1, np.int64)
        for cell in range(self.num_cells - 1, -1, -1):
            home[self.vertices[cell] if self.is_leaf[cell] else chosen[cell]] = cell
        return home

    def facts(self) -> dict[str, Any]:
        """The measured p, q, q' of Definition 1, depth and number of cells, and what theory says beside them.

        ``theory_p``: 1 for trees, the shorter side of a grid (at most sqrt(n)), sqrt(8 n) for planar graphs (Lipton and
        Tarjan); ``None`` where only the found width or nothing is known.  ``theory_q`` is 2/3, and ``theory_depth`` is
        the paper's h = log(n / c) / log(1 / q') with the measured q' and largest leaf c.
        """
        split = np.flatnonzero(self.separators.sizes() > 0)
        size = self.vertices.sizes()
        child = self.children[split]
        largest = np.maximum(size[child[:, 0]], size[child[:, 1]]) if len(split) else np.empty(0)
        sides = [
            max(int(np.setdiff1d(self.vertices[c], self.separators[b], assume_unique=True).size) for c in child[i])
            for i, b in enumerate(split.tolist())
        ]
        return {
            "family": self.family,
            "p": int(self.separators.sizes().max(initial=0)),
            "hubs": int(self.hubs.sizes().max(initial=0)),
            "q": round(float((np.array(sides) / size[split]).max()), 4) if len(split) else 0.0,
            "q_prime": round(float((largest / size[split]).max()), 4) if len(split) else 0.0,
            "depth": self.depth,
            "cells": self.num_cells,
            "largest_leaf": int(size[self.is_leaf].max()),
            **self._theory(float((largest / size[split]).max()) if len(split) else 0.0),
        }

    def _theory(self, q_prime: float) -> dict[str, Any]:
        n, c = self.num_nodes, int(self.vertices.sizes()[self.is_leaf].max())
        p = {"tree": 1, "grid": math.isqrt(n), "planar": math.isqrt(8 * n)}.get(self.family)
        h = math.log(n / c) / math.log(1 / q_prime) if 0 < q_prime < 1 and n > c else 0.0
        return {"theory_p": p, "theory_q": round(2 / 3, 4), "theory_depth": round(h, 1)}
