"""Separators with a small hop cover, by contraction: for networks without a large clique minor.

The Covering Lemma of the paper (Lemma "k-cover_in_separator"): partition the network into connected
clusters of hop radius d, contract each, and separate the smaller graph; the union of the chosen clusters separates the
network and has one centre per cluster.  At most 1 + n/(d+1) clusters exist (``cover``), and contraction keeps a graph
K_h-minor-free, so a good separator of the contracted graph has O(sqrt(h^3 n/d)) nodes (Alon, Seymour and Thomas 1990).

That union can be large, so we keep only its vertices that separate, and their paths to the centre inside the cluster.
The contracted graph is bisected by METIS, which is a heuristic: the sizes above are what the lemma says exists, the
guarantees of ``split`` are what always holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pymetis
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_bipartite_matching

from ..arrays import Bool, Int
from ..errors import OptionError
from .cover import cover_forest, k_cover
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split

SHRINK = 0.9  # the larger child, a side with the separator, must have at most this share of the vertices


@dataclass(frozen=True)
class Contraction:
    """The family of separators made of clusters of hop radius at most ``radius``."""

    radius: int
    name: str = "contraction"

    def prepare(self, graph: Graph) -> Contraction:  # noqa: ARG002 (every network belongs to this family)
        """Nothing to prepare; raises ``OptionError`` for a negative radius."""
        if self.radius < 0:
            raise OptionError(f"the cluster radius must be at least 0, not {self.radius}")
        return self

    def split(self, graph: Graph) -> Split | None:
        """Separate a connected graph; ``None`` if a child would keep more than nine tenths of the vertices.

        The radius is halved until a split is good enough: clusters that fill the cell cannot separate it.

        Guarantees:
            Every separator vertex is within ``radius`` hops of one of ``centres``, inside the separator.
            There are at most as many centres as separator nodes in the contracted graph (fewer where a cover
            of the separator itself needs fewer).
        """
        radius = self.radius
        while True:
            found = _split(graph, radius)
            if found is not None:
                side, clusters = found
                centres, _ = k_cover(graph, np.flatnonzero(side == SEPARATOR), self.radius)
                return Split(side, centres if len(centres) < len(clusters) else clusters)
            if radius == 0:
                return None
            radius //= 2


def _split(graph: Graph, radius: int) -> tuple[NDArray[np.int8], Int] | None:
    """Sides and the centres of the clusters used, for one radius."""
    n = graph.num_nodes
    centres, owner, onward = cover_forest(graph, np.arange(n), radius)
    cluster = np.searchsorted(centres, owner)
    tails, heads = graph.edges()
    small = Graph.from_edges(len(centres), cluster[tails], cluster[heads])
    if small.num_nodes < 2:
        return None
    part = _bisect(small, np.bincount(cluster))
    ends = small.edges()
    chosen = _vertex_cover(small.num_nodes, *_oriented(*ends, part))
    # Each cut edge has an end in a chosen cluster.  If only one is, it must separate; elsewhere choose few.
    first, second = _oriented(tails, heads, part[cluster])
    may_first, may_second = chosen[cluster[first]], chosen[cluster[second]]
    separating = np.zeros(n, bool)
    separating[first[~may_second]] = True
    separating[second[~may_first]] = True
    rest = ~(separating[first] | separating[second])
    separating |= _vertex_cover(n, first[rest], second[rest])
    while not separating[onward[separating]].all():  # at most radius times
        separating[onward[separating]] = True
    side = np.where(part[cluster] == 0, LEFT, RIGHT).astype(np.int8)
    side[separating] = SEPARATOR
    smaller_side = min(int((side == LEFT).sum()), int((side == RIGHT).sum()))
    if smaller_side == 0 or n - smaller_side > SHRINK * n:
        return None
    return side, np.unique(owner[separating])


def _bisect(graph: Graph, sizes: Int) -> Int:
    """Two parts of about equal total size with few edges between them; the same on every run."""
    adjacency = pymetis.CSRAdjacency(graph.start.astype(np.int32), graph.heads.astype(np.int32))
    found = pymetis.part_graph(2, adjacency, vweights=sizes.astype(np.int32), options=pymetis.Options(seed=1))
    return np.asarray(found.vertex_part, np.int64)


def _oriented(tails: Int, heads: Int, part: Int) -> tuple[Int, Int]:
    """The edges between part 0 and part 1, as (ends in part 0, ends in part 1)."""
    cut = part[tails] != part[heads]
    tails, heads = tails[cut], heads[cut]
    swap = part[tails] == 1
    return np.where(swap, heads, tails), np.where(swap, tails, heads)


def _vertex_cover(num_nodes: int, left: Int, right: Int) -> Bool:
    """A minimum vertex cover of a bipartite graph given by its edges (Koenig's theorem)."""
    cover = np.zeros(num_nodes, bool)
    if len(left) == 0:
        return cover
    rows, row = np.unique(left, return_inverse=True)
    columns, column = np.unique(right, return_inverse=True)
    p, q = len(rows), len(columns)
    edges = csr_array((np.ones(len(row), np.int8), (row, column)), shape=(p, q))
    match = maximum_bipartite_matching(edges, perm_type="column")  # the column of each row, or -1
    matched = np.flatnonzero(match >= 0)
    # Alternating paths from a free row: any edge to a column, then its matching edge back; p+q starts them.
    free = np.flatnonzero(match < 0)
    source = np.concatenate([row, p + match[matched], np.full(len(free), p + q)])
    target = np.concatenate([p + column, matched, free])
    paths = csr_array((np.ones(len(source), np.int8), (source, target)), shape=(p + q + 1, p + q + 1))
    reached = np.zeros(p + q + 1, bool)
    reached[breadth_first_order(paths, p + q, return_predecessors=False)] = True
    cover[rows[~reached[:p]]] = True
    cover[columns[reached[p : p + q]]] = True
    return cover
