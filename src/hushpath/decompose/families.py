"""Which separators suit a network: the families by name, and the choice between them.

``choose_family`` looks at the public topology only.  In order of preference: single vertices (trees),
lines (grids), bags (small treewidth); for other networks the family whose first separator is smaller, planar cycles
or minimum cuts.  Families are imported when first asked for, so that naming them costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import numpy as np

from ..errors import OptionError
from .graph import SEPARATOR, Family, Graph, Splitter

FAMILIES: dict[str, tuple[str, str]] = {
    "tree": ("centroid", "Centroid"),
    "treewidth": ("bags", "Bags"),
    "grid": ("grid", "Grid"),
    "planar": ("planar", "Planar"),
    "general": ("general", "General"),
}
"""Module below ``separators`` and class of each family; ``contraction`` returns covers and is asked for directly."""

SMALL_WIDTH = 8  # bags of 9 vertices beat other separators on all but tiny networks
TRY_PLANAR_TO = 200_000  # vertices: recognising planarity and comparing first separators takes seconds beyond


def load_family(name: str) -> Family:
    """Return the family of this name with its standard settings."""
    if name not in FAMILIES:
        raise OptionError(f"there is no separator family {name!r}; choose auto, {', '.join(FAMILIES)}")
    module, kind = FAMILIES[name]
    return cast("Family", getattr(import_module(f".separators.{module}", __package__), kind)())


def choose_family(graph: Graph, family: str = "auto") -> tuple[Splitter, str, str]:
    """Return a family prepared for the network, its name, and one sentence for people that says why.

    Args:
        graph: the whole network.
        family: a name in ``FAMILIES``, or ``auto`` to choose.

    Raises:
        OptionError: if there is no such family, or the network does not belong to it.
    """
    if family != "auto":
        return load_family(family).prepare(graph), family, f"The family {family!r} was asked for."
    return _tree(graph) or _grid(graph) or _treewidth(graph) or _planar(graph) or _general(graph)


Choice = tuple[Splitter, str, str]


def _prepared(name: str, graph: Graph, **limits: int) -> Any:
    """The family prepared for a network, or ``None`` if that does not belong to it."""
    try:
        return load_family(name).prepare(graph, **limits)
    except OptionError:
        return None


def _tree(graph: Graph) -> Choice | None:
    few = graph.num_edges < max(graph.num_nodes, 1)
    splitter = _prepared("tree", graph) if few else None
    return splitter and (splitter, "tree", "The network has no cycle, so single vertices separate it.")


def _grid(graph: Graph) -> Choice | None:
    splitter = _prepared("grid", graph)
    return splitter and (splitter, "grid", "The network is a full grid, so straight lines separate it.")


def _treewidth(graph: Graph) -> Choice | None:
    splitter = _prepared("treewidth", graph, most_width=SMALL_WIDTH)
    if splitter is None:
        return None
    why = f"The network is like a thick tree (width {splitter.width}), so {splitter.width + 1} vertices separate it."
    return splitter, "treewidth", why


def _planar(graph: Graph) -> Choice | None:
    n = graph.num_nodes
    few = n <= TRY_PLANAR_TO and graph.num_edges <= 3 * n - 6
    splitter = _prepared("planar", graph) if few else None
    if splitter is None or _first_separator(splitter, graph) > _first_separator(_general(graph)[0], graph):
        return None
    return splitter, "planar", "The network can be drawn without crossings, so a short closed curve separates it."


def _general(graph: Graph) -> Choice:
    why = "The network has no special shape that helps, so minimum cuts between its halves separate it."
    return load_family("general").prepare(graph), "general", why


def _first_separator(splitter: Splitter, graph: Graph) -> int:
    """Size of the separator of the largest connected part: what decides in practice."""
    split = splitter.split(_largest_component(graph))
    return graph.num_nodes if split is None else int((split.side == SEPARATOR).sum())


def _largest_component(graph: Graph) -> Graph:
    from ..kernels.search import FREE, components

    n = graph.num_nodes
    order, begin = components(graph.start, graph.heads, np.full(n, FREE, np.int64))
    if len(begin) == 2:
        return graph
    largest = int(np.diff(begin).argmax())
    kept = np.sort(order[begin[largest] : begin[largest + 1]])
    place = np.full(n, -1, np.int64)
    place[kept] = np.arange(len(kept))
    tails, heads = graph.edges()
    inside = place[tails] >= 0
    return Graph.from_edges(len(kept), place[tails[inside]], place[heads[inside]], graph.vertices[kept])
