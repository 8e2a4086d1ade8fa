"""The tree of cells a network falls into (the paper's binary tree T, Section 3.1): flat, frozen, with its axioms.

Stage 2 of 6.  Cell 0 is the whole network.  A cell ``b`` has vertices V_b and is split by its separator S_b into two
children: each takes one side and the separator vertices that touch it, and loses the edges inside S_b.  A cell that
is not split is a leaf.  Cells are numbered so that children come after their parent.

Two flavours share the structure.  *Plain* (Algorithms 1-3): hubs are the whole separator.  *Covered* (Algorithm 4, as
repaired): hubs are a k-hop cover of the separator, and the edges inside a separator live on in both children as public
edges of their largest allowed length, so that every separator vertex can still walk to its hub there.

Axioms (``check``):
    cover        the root holds every vertex; a cell's vertices are those of its children and its separator
    separation   vertices in both children are separator vertices; no edge joins the two sides
    shrinking    each child has fewer vertices than its parent
    ownership    a private edge lies in its home cell and the ancestors of it, nowhere else: one cell a level
    boundary     a cell's boundary is the ancestor hubs still present in it
    covering     each separator vertex reaches its hub within ``hops`` steps inside the separator (covered flavour)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Bool, Int
from ..topology import Topology


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

    def __getitem__(self, index: int) -> Int:
        return self.items[self.start[index] : self.start[index + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1

    def __iter__(self) -> Iterator[Int]:
        return (self[i] for i in range(len(self)))

    def sizes(self) -> Int:
        """Length of each list."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class SeparatorTree:
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
            mother = self.parent[cell]
            children[mother, 0 if children[mother, 0] < 0 else 1] = cell
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
            mother = self.parent[cell]
            above = (out[mother], chosen[mother])
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
        home = np.full(self.num_nodes, -1, np.int64)
        for cell in range(self.num_cells):
            chosen = self.vertices[cell] if self.is_leaf[cell] else self.hubs[cell]
            fresh = chosen[home[chosen] < 0]
            home[fresh] = cell
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

    def check(self, topology: Topology) -> None:
        """Raise ``AssertionError`` with the axiom that fails; slow and plain, for tests and doubts."""
        assert np.array_equal(self.vertices[0], np.arange(self.num_nodes)), "cover: the root holds every vertex"
        ends = np.stack([topology.tails, topology.heads])
        sets = [set(v.tolist()) for v in self.vertices]
        inside = _edges_inside(self)
        for cell in range(self.num_cells):
            separator = set(self.separators[cell].tolist())
            assert separator <= sets[cell], f"separation: cell {cell} has a foreign separator vertex"
            assert set(self.hubs[cell].tolist()) <= separator, f"covering: cell {cell} has a hub off its separator"
            for edge in inside[cell]:
                assert {int(ends[0, edge]), int(ends[1, edge])} <= sets[cell], (
                    f"ownership: edge {edge} left cell {cell}"
                )
            if self.is_leaf[cell]:
                assert not separator, f"separation: leaf {cell} has a separator"
                continue
            left, right = (sets[c] for c in self.children[cell])
            assert left | right | separator == sets[cell], f"cover: children of cell {cell} lose a vertex"
            assert left & right <= separator, f"separation: children of cell {cell} share more than its separator"
            assert max(len(left), len(right)) < len(sets[cell]), f"shrinking: a child of cell {cell} is no smaller"
            below = set(inside[self.children[cell][0]]) | set(inside[self.children[cell][1]])
            for edge in set(inside[cell]) - below:
                assert {int(ends[0, edge]), int(ends[1, edge])} <= separator, (
                    f"separation: edge {edge} of cell {cell} is in no child and not inside the separator"
                )
            for vertex in self.hub_boundary[cell].tolist():
                above, found = int(self.parent[cell]), False
                while above >= 0 and not found:
                    found, above = vertex in set(self.hubs[above].tolist()), int(self.parent[above])
                assert found, f"boundary: vertex {vertex} of cell {cell} is no ancestor's hub"
        if self.hops:
            _check_covers(self, topology)


def _edges_inside(tree: SeparatorTree) -> list[list[int]]:
    """Private edges of each cell: those whose home is the cell or below it."""
    inside: list[list[int]] = [[] for _ in range(tree.num_cells)]
    for edge, cell in enumerate(tree.home.tolist()):
        while cell >= 0:
            inside[cell].append(edge)
            cell = int(tree.parent[cell])
    return inside


def _check_covers(tree: SeparatorTree, topology: Topology) -> None:
    arcs = topology.arcs
    for cell, separator in enumerate(tree.separators):
        members, reached = set(separator.tolist()), set(tree.hubs[cell].tolist())
        for _ in range(tree.hops):
            reached |= {
                int(u) for v in reached for u in arcs.heads[arcs.start[v] : arcs.start[v + 1]] if int(u) in members
            }
        assert members <= reached, f"covering: cell {cell} has a separator vertex beyond {tree.hops} hops of any hub"
