"""The graphs inside leaves, ready for distances: used exactly by ``exact`` and on noisy weights by ``decode``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Int
from ..data.topology import Arcs, Topology
from ..kernels.hierarchy import INFINITE, leaf_table
from ..kernels.paths import UNREACHED, distances_from
from .hierarchy import Hierarchy, Lists

DENSE = 128  # up to this many vertices a leaf's table is computed whole


@dataclass(frozen=True, eq=False)
class LeafGraphs:
    """Edges of every leaf, private and (covered flavour) public.

    Attributes:
        edges_by_home: the private edges of each cell that no child holds; for a leaf, all its private edges.
    """

    hierarchy: Hierarchy
    topology: Topology
    edges_by_home: Lists

    @classmethod
    def of(cls, hierarchy: Hierarchy, topology: Topology) -> LeafGraphs:
        """Sort edges to their cells."""
        order = np.argsort(hierarchy.home, kind="stable")
        start = np.zeros(hierarchy.num_cells + 1, np.int64)
        np.cumsum(np.bincount(hierarchy.home, minlength=hierarchy.num_cells), out=start[1:])
        return cls(hierarchy, topology, Lists(start, order))

    @cached_property
    def _simple(self) -> Arcs:
        """Arcs of the network without parallel ones: of each pair the edge of the smallest upper bound."""
        topology = self.topology
        pair = topology.tails * topology.num_nodes + topology.heads
        order = np.lexsort((topology.upper, pair))
        edges = order[np.flatnonzero(np.diff(pair[order], prepend=-1))]
        source = np.concatenate([topology.tails[edges], topology.heads[edges]])
        target = np.concatenate([topology.heads[edges], topology.tails[edges]])
        by = np.argsort(source, kind="stable")
        start = np.searchsorted(source[by], np.arange(topology.num_nodes + 1)).astype(np.int64)
        return Arcs(start, target[by], np.concatenate([edges, edges])[by])

    def public(self, leaf: int) -> Int:
        """Public edges of a leaf: those between its vertices that are private elsewhere, one for each pair.

        Parallel edges are private in the same cell, and of public ones only the shortest matters.  Made anew for each
        leaf: covered leaves overlap, and all their public edges together may be far more than the network has.
        """
        if not self.hierarchy.hops:
            return np.empty(0, np.int64)
        arcs, mine = self._simple, self.hierarchy.vertices[leaf]
        first, count = arcs.start[mine], np.diff(arcs.start)[mine]
        at = np.repeat(first - np.cumsum(count) + count, count) + np.arange(count.sum())
        tail, head, edge = np.repeat(mine, count), arcs.heads[at], arcs.edges[at]
        place = np.minimum(np.searchsorted(mine, head), len(mine) - 1)
        return np.asarray(edge[(tail < head) & (mine[place] == head) & (self.hierarchy.home[edge] != leaf)])

    def distances(self, leaf: int, lengths: Int, public_lengths: Int, sources: Int | None = None) -> Int:
        """Distances inside a leaf, rows for ``sources`` (positions in the leaf; all if ``None``).

        ``INFINITE`` where the leaf does not connect a pair.  Lengths are per edge of the network.
        """
        mine, private, public = self.hierarchy.vertices[leaf], self.edges_by_home[leaf], self.public(leaf)
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
