"""Networks without cycles: one vertex separates, its branches are packed into two groups.

Stage 2 of 6.  Every connected cell of a tree is a tree, and a tree has a *centroid*: a vertex all of whose branches
hold at most half of the vertices, so the packing lemma of ``sides`` applies.  With ``n >= 3`` vertices there are at
least two branches (a single one would hold ``n - 1 > n/2``), so both groups are non-empty.

Checked by: tests/conformance/test_separators.py, tests/unit/test_separators_centroid.py.
"""

from __future__ import annotations

import numpy as np

from ...errors import OptionError
from ...kernels.search import FREE, centroid, components
from ..graph import LEFT, SEPARATOR, Graph, Split
from .sides import pack_components


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
        parent, side = np.full(graph.num_nodes, -1, np.int64), np.full(graph.num_nodes, LEFT, np.int8)
        order, _ = components(graph.start, graph.heads, np.full(graph.num_nodes, FREE, np.int64), parent)
        side[centroid(order, parent)] = SEPARATOR
        pack_components(graph.start, graph.heads, side)
        return Split(side)


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
