"""Trees: one vertex separates, its branches are packed into two groups.

Stage 2 of 6.  Every connected cell of a tree is a tree, and a tree has a *centroid*: a vertex all of whose branches
hold at most half of the vertices.

Packing lemma.  Let components of total size ``N`` each hold at most ``n/2 >= N/2`` vertices.  Giving them, largest
first, to the lighter of two groups leaves both groups at most ``max(n/2, 2N/3) <= 2n/3``.

Proof.  If the heavier group holds one component, its size is at most ``n/2``.  Else let ``x`` be the component it
received last.  At that moment it was not empty and the other group was at least as heavy, so two components not
smaller than ``x`` came before: ``x <= N/3``.  The heavier group was the lighter one before ``x`` came, and the other
only grew since, so the groups differ by at most ``x`` and the heavier holds at most ``(N + N/3) / 2 = 2N/3``.   []

A tree with ``n >= 3`` vertices has at least two branches at its centroid (a single one would hold ``n - 1 > n/2``),
so both groups are non-empty.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_centroid.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ...errors import OptionError
from ..graph import Graph, Split


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def pack_components(start, heads, side):  # type: ignore[no-untyped-def]
    """Relabel ``side`` in place: vertices marked 0 stay, the components of the others become groups 1 and 2.

    Components go largest first (ties: the one with the smallest vertex) to the lighter group.  Returns the sizes of
    the two groups; the first is never the smaller one unless there is nothing to pack.
    """
    n = len(start) - 1
    component = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    sizes = np.empty(n, np.int64)
    count = 0
    for root in range(n):
        if side[root] == 0 or component[root] >= 0:
            continue
        component[root] = count
        queue[0] = root
        first, last = 0, 1
        while first < last:
            v = queue[first]
            first += 1
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if side[u] != 0 and component[u] < 0:
                    component[u] = count
                    queue[last] = u
                    last += 1
        sizes[count] = last
        count += 1
    group = np.empty(count, np.int8)
    left, right = 0, 0
    for c in np.argsort(-sizes[:count], kind="mergesort"):
        if left <= right:
            group[c] = 1
            left += sizes[c]
        else:
            group[c] = 2
            right += sizes[c]
    for v in range(n):
        if side[v] != 0:
            side[v] = group[component[v]]
    return left, right


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def count_components(start, heads):  # type: ignore[no-untyped-def]
    """Return how many connected components a graph has."""
    n = len(start) - 1
    seen = np.zeros(n, np.bool_)
    stack = np.empty(n, np.int64)
    count = 0
    for root in range(n):
        if seen[root]:
            continue
        count += 1
        seen[root] = True
        stack[0] = root
        size = 1
        while size > 0:
            size -= 1
            v = stack[size]
            for arc in range(start[v], start[v + 1]):
                u = heads[arc]
                if not seen[u]:
                    seen[u] = True
                    stack[size] = u
                    size += 1
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _centroid(start, heads):  # type: ignore[no-untyped-def]
    """Return a vertex of a tree whose branches hold at most half of the vertices each."""
    n = len(start) - 1
    order, parent, size = np.empty(n, np.int64), np.full(n, -1, np.int64), np.ones(n, np.int64)
    order[0] = 0
    last = 1
    for first in range(n):
        v = order[first]
        for arc in range(start[v], start[v + 1]):
            u = heads[arc]
            if u != parent[v]:
                parent[u] = v
                order[last] = u
                last += 1
    for i in range(n - 1, 0, -1):
        v = order[i]
        if 2 * size[v] >= n:  # deepest such vertex: branches below are < n/2, the rest is <= n/2
            return v
        size[parent[v]] += size[v]
    return 0


class TreeSplitter:
    """Splits subtrees at their centroid."""

    def split(self, graph: Graph) -> Split | None:
        """Return the centroid of a connected cell as separator; ``None`` if the cell has fewer than 3 vertices.

        Guarantees:
            The separator is one vertex.
            Both sides are non-empty and hold at most 2/3 of the vertices.
        """
        if graph.num_nodes < 3:
            return None
        side = np.ones(graph.num_nodes, np.int8)
        side[_centroid(graph.start, graph.heads)] = 0
        pack_components(graph.start, graph.heads, side)
        return Split(side)


class Centroid:
    """Networks without cycles."""

    name = "tree"

    def prepare(self, graph: Graph) -> TreeSplitter:
        """Check that there is no cycle: exactly then, edges and components together are as many as vertices."""
        components = int(count_components(graph.start, graph.heads))
        if graph.num_edges + components != graph.num_nodes:
            raise OptionError(
                f"family 'tree' needs a network without cycles, but this one has {graph.num_edges} edges "
                f"on {graph.num_nodes} nodes in {components} components"
            )
        return TreeSplitter()
