"""The graphs inside leaves, ready for distances: used exactly by ``exact`` and on noisy weights by ``decode``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Int
from ..kernels.hierarchy import INFINITE, leaf_table
from ..kernels.paths import UNREACHED, distances_from
from ..topology import Arcs, Topology
from .tree import Lists, SeparatorTree

DENSE = 128  # up to this many vertices a leaf's table is computed whole


@dataclass(frozen=True, eq=False)
class LeafGraphs:
    """Edges of every leaf, private and (covered flavour) public.

    Attributes:
        edges_by_home: the private edges of each cell that no child holds; for a leaf, all its private edges.
        public: public edges of each leaf; empty in the plain flavour.
    """

    tree: SeparatorTree
    topology: Topology
    edges_by_home: Lists
    public: Lists

    @classmethod
    def of(cls, tree: SeparatorTree, topology: Topology) -> LeafGraphs:
        """Sort edges to their cells."""
        order = np.argsort(tree.home, kind="stable")
        start = np.zeros(tree.num_cells + 1, np.int64)
        np.cumsum(np.bincount(tree.home, minlength=tree.num_cells), out=start[1:])
        public = [np.empty(0, np.int64)] * tree.num_cells
        if tree.hops:
            arcs, inside = topology.arcs, np.zeros(topology.num_nodes, bool)
            for leaf in np.flatnonzero(tree.is_leaf).tolist():
                mine = tree.vertices[leaf]
                inside[mine] = True
                edges = np.unique(np.concatenate([arcs.edges[arcs.start[v] : arcs.start[v + 1]] for v in mine]))
                both = inside[topology.tails[edges]] & inside[topology.heads[edges]]
                public[leaf] = edges[both & (tree.home[edges] != leaf)]
                inside[mine] = False
        return cls(tree, topology, Lists(start, order), Lists.of(public))

    def distances(self, leaf: int, lengths: Int, public_lengths: Int, sources: Int | None = None) -> Int:
        """Distances inside a leaf, rows for ``sources`` (positions in the leaf; all if ``None``).

        ``INFINITE`` where the leaf does not connect a pair.  Lengths are per edge of the network.
        """
        mine, private, public = self.tree.vertices[leaf], self.edges_by_home[leaf], self.public[leaf]
        edges = np.concatenate([private, public])
        tails = np.searchsorted(mine, self.topology.tails[edges])
        heads = np.searchsorted(mine, self.topology.heads[edges])
        length = np.concatenate([lengths[private], public_lengths[public]])
        if len(mine) <= DENSE:
            table: Int = leaf_table(len(mine), tails, heads, length)
            return table if sources is None else table[sources]
        rows = np.arange(len(mine)) if sources is None else sources
        out = np.empty((len(rows), len(mine)), np.int64)
        distances_from(
            _arcs(len(mine), tails, heads), np.concatenate([length, length])[_order(tails, heads)], rows, out
        )
        out[out == UNREACHED] = INFINITE
        return out


def _order(tails: Int, heads: Int) -> Int:
    return np.argsort(np.concatenate([tails, heads]), kind="stable")


def _arcs(n: int, tails: Int, heads: Int) -> Arcs:
    """Undirected adjacency of a leaf; arc ``i`` is edge ``_order[i]`` modulo the number of edges."""
    source, target = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    start = np.zeros(n + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=n), out=start[1:])
    order = _order(tails, heads)
    return Arcs(start, target[order], order % max(len(tails), 1))
