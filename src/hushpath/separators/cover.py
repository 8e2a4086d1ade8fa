"""Hop covers, and separators that have a small one.

A k-cover of a graph is a set of centres such that every vertex is within k hops of one.  Meir and Moon (1975; Lemma
"Meir and Moon" of the paper): a connected graph on n vertices has one of at most 1 + n/(k+1).

The Covering Lemma of the paper (Lemma "k-cover_in_separator"): partition a network without a large clique minor into
connected clusters of hop radius d, contract each, and separate the smaller graph; the union of the chosen clusters
separates the network and has one centre per cluster.  There are at most 1 + n/(d+1) clusters, and contraction keeps a
graph K_h-minor-free, so a good separator of the contracted graph has O(sqrt(h^3 n/d)) nodes (Alon, Seymour and Thomas
1990).

That union can be large, so we keep only its vertices that separate, and their paths to the centre inside the cluster.
The contracted graph is bisected by METIS, which is a heuristic: the sizes above are what the lemma says exists, the
guarantees of ``split_by_contraction`` are what always holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Bool, Int
from ..compiled import njit
from ..errors import OptionError
from ..kernels.search import CLOSED, FREE, breadth_first
from .general import SOURCE, TARGET, smallest_separators
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split, Splitter

SHRINK = 0.9  # the larger child, a side with the separator, must have at most this share of the vertices


def k_cover(graph: Graph, members: Int, hops: int) -> tuple[Int, Int, Int]:
    """Cover ``members`` within ``hops`` hops inside the subgraph they induce.

    Returns:
        ``centres``, increasing; and for each of ``members`` its ``owner``, a centre, and the next vertex on the path to
        it (a centre names itself).  All are vertices of ``graph``.

    Guarantees:
        Every member is within ``hops`` hops of its owner, along members of the same owner.
        There are at most c + |members|/(hops+1) centres, where c counts the components of the induced subgraph.
    """
    if hops < 0:
        raise OptionError(f"hops must be at least 0, not {hops}")
    is_centre, owner, onward = _cover(graph.start, graph.heads, np.asarray(members, np.int64), hops)
    return np.flatnonzero(is_centre), owner[members], onward[members]


@njit(cache=True, nogil=True)
def _cover(start, heads, members, hops):  # type: ignore[no-untyped-def]
    """Cover each component's breadth-first tree from below, then assign every member to its nearest centre.

    ``start``, ``heads``, ``members`` and ``hops`` are those of ``k_cover``.  A vertex becomes a centre when its
    farthest uncovered descendant is exactly ``hops`` below it; the root, when anything is left.  Bound: the
    ``hops + 1`` vertices from a centre v other than the root down to such a descendant belong to v alone.  For let a
    later centre's path down pass through y on v's path: it ends at a descendant of v that was uncovered when v was
    chosen, hence at most ``hops`` below v, hence covered by v; a contradiction.  So a component of s vertices gets at
    most 1 + s/(hops+1) centres.  []
    """
    n = len(start) - 1
    depth, parent, queue = np.full(n, CLOSED, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    depth[members] = FREE
    centre = np.zeros(n, np.bool_)
    want = np.full(n, 0)  # hops down to the farthest uncovered descendant, perhaps itself; -1: none
    have = np.full(n, hops + 1)  # hops down to the nearest centre
    for seed in members:
        if depth[seed] != FREE:
            continue
        # The middle of a long path is a good root: a component of radius <= hops then needs one centre.
        root = seed
        for turn in range(3):
            depth[root], queue[0] = 0, root
            size = breadth_first(start, heads, depth, queue, 1, parent=parent)
            root = queue[size - 1]
            if turn == 1:
                for _ in range(depth[root] // 2):
                    root = parent[root]
            if turn < 2:
                depth[queue[:size]] = FREE
        for i in range(size - 1, -1, -1):
            v = queue[i]
            if want[v] >= 0 and want[v] + have[v] <= hops:
                want[v] = -1
            if want[v] == hops or (i == 0 and want[v] >= 0):
                centre[v], have[v], want[v] = True, 0, -1
            if i > 0:
                above = parent[v]
                have[above] = min(have[above], have[v] + 1)
                if want[v] >= 0:
                    want[above] = max(want[above], want[v] + 1)
    owner, centres = np.full(n, -1), members[centre[members]]
    depth[members] = FREE
    depth[centres], queue[: len(centres)], owner[centres], parent[centres] = 0, centres, centres, centres
    filled = breadth_first(start, heads, depth, queue, len(centres), parent=parent)
    for v in queue[len(centres) : filled]:
        owner[v] = owner[parent[v]]
    return centre, owner, parent


@dataclass(frozen=True)
class CoverSplitter:
    """Separators with a small ``hops``-cover: by contraction, or those of ``plain`` where that finds none.

    With ``hops=1`` both are tried in every cell, and the one that needs fewer hubs is used (if equal, that of
    ``plain``).
    """

    plain: Splitter
    hops: int

    def split(self, graph: Graph) -> Split | None:
        """Return a separator, or ``None`` if neither way finds one."""
        clusters = split_by_contraction(graph, self.hops)
        if clusters is not None and self.hops > 1:
            return clusters
        plain = self.plain.split(graph)
        if clusters is None or clusters.centres is None or plain is None:
            return plain or clusters
        centres = k_cover(graph, np.flatnonzero(plain.side == SEPARATOR), self.hops)[0]
        return Split(plain.side, centres) if len(centres) <= len(clusters.centres) else clusters


def split_by_contraction(graph: Graph, hops: int) -> Split | None:
    """Separate a connected graph; ``None`` if a child would keep more than nine tenths of the vertices.

    Clusters have hop radius ``hops`` first, and half of it until a split is good enough: clusters that fill the cell
    cannot separate it.

    Guarantees:
        Every separator vertex is within ``hops`` hops of one of ``centres``, inside the separator.
        There are at most as many centres as separator nodes in the contracted graph (fewer where a cover of the
        separator itself needs fewer).
    """
    radius = hops
    while (found := _split_clusters(graph, radius)) is None:
        if radius == 0:
            return None
        radius //= 2
    side, clusters = found
    centres = k_cover(graph, np.flatnonzero(side == SEPARATOR), hops)[0]
    return Split(side, centres if len(centres) < len(clusters) else clusters)


def _split_clusters(graph: Graph, radius: int) -> tuple[NDArray[np.int8], Int] | None:
    """Return sides and the centres of the clusters used, for one radius."""
    n = graph.num_nodes
    centres, owner, onward = k_cover(graph, np.arange(n), radius)
    cluster = np.searchsorted(centres, owner)
    tails, heads = graph.edges()
    small = Graph.from_edges(len(centres), cluster[tails], cluster[heads])
    if small.num_nodes < 2:
        return None
    part = _bisect(small, np.bincount(cluster))
    chosen = _vertex_cover(small.num_nodes, *_cut_edges(*small.edges(), part))
    # Each cut edge has an end in a chosen cluster.  If only one is, it must separate; elsewhere choose few.
    first, second = _cut_edges(tails, heads, part[cluster])
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
    """Return two parts of about equal total size with few edges between them; the same on every run."""
    import pymetis

    adjacency = pymetis.CSRAdjacency(graph.start.astype(np.int32), graph.heads.astype(np.int32))
    found = pymetis.part_graph(2, adjacency, vweights=sizes.astype(np.int32), options=pymetis.Options(seed=1))
    return np.asarray(found.vertex_part, np.int64)


def _cut_edges(tails: Int, heads: Int, part: Int) -> tuple[Int, Int]:
    """Return the edges between part 0 and part 1, as (ends in part 0, ends in part 1)."""
    cut = part[tails] != part[heads]
    tails, heads = tails[cut], heads[cut]
    swap = part[tails] == 1
    return np.where(swap, heads, tails), np.where(swap, tails, heads)


def _vertex_cover(num_nodes: int, left: Int, right: Int) -> Bool:
    """Return a minimum vertex cover of a bipartite graph given by its edges: a separator of its two halves."""
    role, sides = np.zeros(num_nodes, np.int8), np.empty((2, num_nodes), np.int8)
    role[left], role[right] = SOURCE, TARGET
    graph = Graph.from_edges(num_nodes, left, right)
    smallest_separators(graph.start, graph.heads, role, num_nodes, sides)
    return np.asarray(sides[0] == SEPARATOR)
