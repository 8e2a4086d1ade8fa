"""The family of planar networks: embed once, then split each cell.

A connected separator S has a k-cover of 1 + |S|/(k+1) vertices (Meir and Moon; Lemma "Meir and Moon" of
the paper), so a connected one is preferred while it is at most ``stretch`` times larger than the smallest found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....errors import OptionError
from ...graph import LEFT, RIGHT, SEPARATOR, Graph, Split
from ..sides import sides_around
from .candidates import search
from .embedding import Embedding, embed, rotation
from .refine import connected, tighten, trim

BAND = 24  # the band of the flow holds at most this many times the separator, on each side
ROUNDS = 3


@dataclass(frozen=True)
class Planar:
    """The family of planar networks.

    Attributes:
        stretch: how many times larger than the smallest separator found a connected one may be to be preferred;
            0 never prefers one.
    """

    stretch: float = 1.5
    name: str = "planar"

    def prepare(self, graph: Graph) -> PlanarSplitter:
        """Embed the network, or raise ``OptionError`` if it is not planar."""
        if not self.stretch >= 0:
            raise OptionError(f"stretch must be at least 0, not {self.stretch}")
        return PlanarSplitter(embed(graph), self.stretch)


@dataclass(frozen=True, eq=False)
class PlanarSplitter:
    """Splits subgraphs of one embedded network."""

    embedding: Embedding
    stretch: float

    def split(self, graph: Graph) -> Split | None:
        """Separate a connected subgraph on n >= 3 vertices; ``None`` if and only if it is complete.

        Guarantees:
            The separator has at most sqrt(8n) vertices.
            Each side has at least one vertex and at most 2n/3.
        Proof: a candidate of ``search`` keeps all three, and refinement never loses them.  The theorem
        promises a candidate with parts within 2n/3; if n > 72, then n - sqrt(8n) > 2n/3 and so two parts are
        not empty.  For n <= 72 see ``_around_least_degree``.  []
        """
        n, m = graph.num_nodes, graph.num_edges
        if 2 * m == n * (n - 1):
            return None
        start, heads, whole = graph.start, graph.heads, self.embedding
        twin, turn = rotation(start, heads, graph.vertices, whole.start, whole.heads, whole.rank)
        if twin[0] < 0:
            raise OptionError("the graph is no subgraph of the embedded network, or its rows are not sorted")
        limit = 2 * n // 3
        chosen, path = search(start, heads, twin, turn)
        if len(chosen) == 0:
            return Split(_around_least_degree(graph))
        side = sides_around(start, heads, chosen)
        for _ in range(ROUNDS):
            if not tighten(start, heads, side, limit, BAND * len(chosen)):
                break
        if len(path) > 0 and not connected(start, heads, side):
            along = sides_around(start, heads, path)
            trim(start, heads, along, path, limit)
            if (along == SEPARATOR).sum() <= self.stretch * (side == SEPARATOR).sum():
                side = along
        return Split(side)


def _around_least_degree(graph: Graph) -> NDArray[np.int8]:
    """Separate a vertex v of least degree from 2n/3 others, for n <= 72 and a graph that is not complete.

    The separator is N(v) and what else is not among them: max(deg v, ceil(n/3) - 1) vertices.  In a planar
    graph deg v <= 5 <= sqrt(8n) for n >= 4, and n/3 <= sqrt(8n) for n <= 72.
    """
    n, v = graph.num_nodes, int(np.argmin(graph.degrees()))
    side = np.full(n, RIGHT, np.int8)
    side[v] = LEFT
    side[graph.heads[graph.start[v] : graph.start[v + 1]]] = SEPARATOR
    side[np.flatnonzero(side == RIGHT)[2 * n // 3 :]] = SEPARATOR
    return side
