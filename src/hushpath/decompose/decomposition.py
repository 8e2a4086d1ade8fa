"""A network cut into its hierarchy of cells, made once and kept: the front door of this package.

Decompositions are public and depend on the topology alone, so mechanisms, laws and the query engine that
ask for the same one get the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..cells.hierarchy import Hierarchy
from ..data.topology import Topology
from .build import build_hierarchy
from .cover import k_cover
from .families import choose_family
from .graph import SEPARATOR, Graph, Split, Splitter
from .separators.contraction import Contraction

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
    if hops > 0 and name in ("general", "planar"):
        clusters = Contraction(hops)
        splitter = FirstFound(clusters, splitter) if hops > 1 else FewestHubs(splitter, clusters, hops)
        why += f" Hop clusters of radius {hops} are contracted first (Covering Lemma)."
    return build_hierarchy(topology, splitter, leaf_size=leaf_size, depth=depth, hops=hops, family=name), why


@dataclass(frozen=True)
class FirstFound:
    """The first splitter's separator, or the second's where the first finds none."""

    first: Splitter
    second: Splitter

    def split(self, graph: Graph) -> Split | None:
        """Return a separator, or ``None`` if neither finds one."""
        return self.first.split(graph) or self.second.split(graph)


@dataclass(frozen=True)
class FewestHubs:
    """Of two splitters' separators the one whose hop cover has fewer vertices; if equal, the first one's."""

    first: Splitter
    second: Splitter
    hops: int

    def split(self, graph: Graph) -> Split | None:
        """Return a separator with its cover, or ``None`` if neither splitter finds one."""
        found = []
        for split in (self.first.split(graph), self.second.split(graph)):
            if split is not None:
                separator = np.flatnonzero(split.side == SEPARATOR)
                centres = k_cover(graph, separator, self.hops)[0] if split.centres is None else split.centres
                found.append(Split(split.side, centres))
        return min(found, key=lambda split: len(split.centres), default=None)
