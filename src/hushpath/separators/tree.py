"""Networks without cycles: one vertex separates, its branches are packed into two groups.

Every connected cell of a tree is a tree, and a tree has a *centroid*: a vertex all of whose branches
hold at most half of the vertices, so the packing lemma of ``sides`` applies.  With ``n >= 3`` vertices there are at
least two branches (a single one would hold ``n - 1 > n/2``), so both groups are non-empty.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_tree.py.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from ..errors import OptionError
from ..kernels.search import FREE, centroid, components
from .graph import Graph, Split
from .sides import sides_around


@njit(cache=True, nogil=True)
def _around_centroid(start, heads):
    """The sides of a connected tree around its centroid."""
    hops, parent = np.full(len(start) - 1, FREE, np.int64), np.empty(len(start) - 1, np.int64)
    order, _ = components(start, heads, hops, parent)
    return sides_around(start, heads, centroid(order, parent))


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
        return Split(_around_centroid(graph.start, graph.heads))


class Centroid:
    """Networks without cycles."""

    name = "tree"

    def prepare(self, graph: Graph) -> TreeSplitter:
        """Check that there is no cycle: exactly then, edges and components together are as many as vertices."""
        _, begin = components(graph.start, graph.heads, np.full(graph.num_nodes, FREE, np.int64))
        if graph.num_edges + len(begin) - 1 != graph.num_nodes:
            raise OptionError(
                f"family 'tree' needs a network without cycles, but this one has {graph.num_edges} edges "
                f"on {graph.num_nodes} nodes in {len(begin) - 1} components"
            )
        return TreeSplitter()
