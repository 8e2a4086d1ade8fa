"""Which separators suit a network: the families by name, and the choice between them.

``choose_family`` looks at the public topology only.  In order of preference: single vertices (trees), lines (grids),
bags (small treewidth), minimum cuts (any network).  ``planar`` is taken only if it is named: it keeps the bound of its
theorem in every cell, but its separators are no smaller than minimum cuts.
"""

from __future__ import annotations

from ..errors import OptionError
from .general import General
from .graph import Family, Graph, Splitter
from .grid import Grid
from .planar import Planar
from .tree import Centroid
from .treewidth import Bags

FAMILIES: dict[str, type[Family]] = {
    "tree": Centroid, "treewidth": Bags, "grid": Grid, "planar": Planar, "general": General,
}  # fmt: skip
"""The class of each family; ``Contraction`` returns covers with its separators and is used directly."""

SMALL_WIDTH = 8  # bags of 9 vertices beat other separators on all but tiny networks
Choice = tuple[Splitter, str, str]


def choose_family(graph: Graph, family: str = "auto") -> Choice:
    """Return a family prepared for the network, its name, and one sentence for people that says why.

    Args:
        graph: the whole network.
        family: a name in ``FAMILIES``, or ``auto`` to choose.

    Raises:
        OptionError: if there is no such family, or the network does not belong to it.
    """
    if family in FAMILIES:
        return FAMILIES[family]().prepare(graph), family, f"The family {family!r} was asked for."
    if family != "auto":
        raise OptionError(f"`family` must be one of auto, {', '.join(FAMILIES)}, got {family!r}")
    return _tree(graph) or _grid(graph) or _treewidth(graph) or _general(graph)


def _tree(graph: Graph) -> Choice | None:
    if graph.num_edges >= max(graph.num_nodes, 1):
        return None
    try:
        return Centroid().prepare(graph), "tree", "The network has no cycle, so single vertices separate it."
    except OptionError:
        return None


def _grid(graph: Graph) -> Choice | None:
    try:
        return Grid().prepare(graph), "grid", "The network is a full grid, so straight lines separate it."
    except OptionError:
        return None


def _treewidth(graph: Graph) -> Choice | None:
    try:
        splitter = Bags().prepare(graph, most_width=SMALL_WIDTH)
    except OptionError:
        return None
    why = f"The network is like a thick tree (width {splitter.width}), so {splitter.width + 1} vertices separate it."
    return splitter, "treewidth", why


def _general(graph: Graph) -> Choice:
    why = "The network is no tree or grid and has no small treewidth, so minimum cuts between its halves separate it."
    return General().prepare(graph), "general", why
