"""A network cut into its hierarchy of cells, made once and kept: the front door of this package.

Decompositions are public and depend on the topology alone, so mechanisms, laws and the query engine that
ask for the same one get the same one.
"""

from __future__ import annotations

from functools import lru_cache

from ..cells.hierarchy import Hierarchy
from ..data.topology import Topology
from .build import build_hierarchy
from .families import choose_family
from .graph import Graph, Split, Splitter

KEPT = 4  # a hierarchy of 100 000 vertices takes some 30 MB


@lru_cache(maxsize=KEPT)
def family_of(topology: Topology, family: str) -> tuple[Splitter, str, str]:
    """A separator family prepared for a network, its name, and why it was chosen."""
    return choose_family(Graph.of(topology), family)


@lru_cache(maxsize=KEPT)
def decomposition(
    topology: Topology, family: str = "auto", *, leaf_size: int, depth: int | None = None, hops: int = 0
) -> tuple[Hierarchy, str]:
    """The hierarchy of cells, and one or two sentences for people on how it was made.

    With ``hops > 1`` on planar and general networks the Covering Lemma is used: hop clusters are contracted, the rest
    is separated and expanded, and separator and cover come together.
    """
    splitter, name, why = family_of(topology, family)
    if hops > 1 and name in ("general", "planar"):
        from .separators.contraction import Contraction

        splitter = _FirstThatSplits(Contraction(hops), splitter)
        why += f" Hop clusters of radius {hops} are contracted first (Covering Lemma)."
    return build_hierarchy(topology, splitter, leaf_size=leaf_size, depth=depth, hops=hops, family=name), why


class _FirstThatSplits:
    """Tries splitters in turn."""

    def __init__(self, *splitters: Splitter) -> None:
        self.splitters = splitters

    def split(self, graph: Graph) -> Split | None:
        return next((cut for splitter in self.splitters if (cut := splitter.split(graph)) is not None), None)
