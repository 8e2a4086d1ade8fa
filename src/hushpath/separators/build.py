"""Build the hierarchy of cells of a network by recursive separators, and keep it.

``build_hierarchy`` is the recursion.  It reads no weights and never fails on odd graphs: a cell that no separator makes
smaller becomes a leaf.  ``separator_hierarchy`` chooses a family of separators first.  Hierarchies depend on the public
topology alone, so mechanisms and noise distributions that need the same one share it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..arrays import Int
from ..network.topology import Topology
from ..progress import counting
from .cover import CoverSplitter, k_cover
from .families import choose_family
from .graph import LEFT, RIGHT, SEPARATOR, Graph, Split, Splitter, pack_components, separates
from .hierarchy import Hierarchy, Lists

KEPT = 4  # a hierarchy of 100 000 vertices takes some 30 MB


def build_hierarchy(
    topology: Topology, splitter: Splitter, *, leaf_size: int, depth: int | None = None, hops: int = 0,
    family: str = "",
) -> Hierarchy:  # fmt: skip
    """Split cells of more than ``leaf_size`` vertices until level ``depth`` (no limit if ``None``) with a ``splitter``.

    ``family`` is recorded in the hierarchy of this ``topology``.  ``hops > 0`` builds the covered flavour: separators
    keep their inner edges as public ones below, and hubs are ``hops``-covers of them.
    """
    n = topology.num_nodes
    parent: list[int] = []
    vertices: list[Int] = []
    separators: list[Int] = []
    hubs: list[Int] = []
    scratch = np.zeros(n, np.int64)
    settled = np.zeros(n, bool)  # in a separator or a leaf; for the progress bar
    # (parent cell, level, V_b, edges): depth first, so children come after parents.
    stack = [(-1, 0, np.arange(n), np.arange(topology.num_edges))]
    with counting(n, "cutting cells") as advance:
        while stack:
            above, level, mine, edges = stack.pop()
            cell, found = len(parent), None
            if len(mine) > leaf_size and (depth is None or level < depth):
                scratch[mine] = np.arange(len(mine))
                tails, heads = scratch[topology.tails[edges]], scratch[topology.heads[edges]]
                graph = Graph.from_edges(len(mine), tails, heads, mine)
                found = _split_cell(graph, splitter, tails, heads, edges, keep_inner=hops > 0)
            chosen = centres = np.empty(0, np.int64)
            if found is not None:
                split, children = found
                chosen = centres = np.flatnonzero(split.side == SEPARATOR)
                if hops:
                    centres = np.sort(split.centres if split.centres is not None else k_cover(graph, chosen, hops)[0])
                stack += [(cell, level + 1, mine[inside], kept) for inside, kept in reversed(children)]
            parent.append(above)
            vertices.append(mine)
            separators.append(mine[chosen])
            hubs.append(mine[centres])
            done = mine if found is None else mine[chosen]
            advance(int((~settled[done]).sum()))
            settled[done] = True
    return Hierarchy.proved(
        topology, parent=np.array(parent, np.int64), vertices=Lists.of(vertices), separators=Lists.of(separators),
        hubs=Lists.of(hubs) if hops else None, hops=hops, family=family,
    )  # fmt: skip


def _split_cell(
    graph: Graph, splitter: Splitter, tails: Int, heads: Int, edges: Int, *, keep_inner: bool
) -> tuple[Split, list[tuple[Int, Int]]] | None:
    """Split one cell; return the separator and, per child, local vertices and edges, private and public.

    The ``splitter`` separates a cell that is connected, a ``graph`` with the ``edges`` between its local ``tails`` and
    ``heads``; ``keep_inner`` keeps edges inside the separator in both children.
    """
    split = _split_apart(graph) or (splitter.split(graph) if graph.num_nodes >= 3 else None)
    if split is None:
        return None
    if not separates(graph, split):  # exact distances would miss paths, and the certificate edges
        raise RuntimeError("a separator does not separate")
    tail_side, head_side = split.side[tails], split.side[heads]
    inner = (tail_side == SEPARATOR) & (head_side == SEPARATOR)
    children = []
    for side in (LEFT, RIGHT):
        mine = (tail_side == side) | (head_side == side)
        inside = split.side == side
        if keep_inner:  # inner edges live on as public edges in both children, and hold the separator together
            mine |= inner
            inside = inside | (split.side == SEPARATOR)
        else:  # a separator vertex without an edge to this side would only be isolated there
            inside[tails[mine]] = inside[heads[mine]] = True
        here = np.flatnonzero(inside)
        if not (split.side == side).any() or len(here) >= graph.num_nodes:
            return None
        children.append((here, edges[mine]))
    return split, children


def _split_apart(graph: Graph) -> Split | None:
    """Return two groups of components of nearly equal size, without a separator; ``None`` if the graph is connected."""
    side = np.ones(graph.num_nodes, np.int8)
    _, right = pack_components(graph.start, graph.heads, side)
    return Split(side) if right else None


@lru_cache(maxsize=KEPT)
def family_of(topology: Topology, family: str) -> tuple[Splitter, str, str]:
    """Return a separator family prepared for a network, its name, and why it was chosen."""
    return choose_family(Graph.of(topology), family)


@lru_cache(maxsize=KEPT)
def separator_hierarchy(
    topology: Topology, family: str = "auto", *, leaf_size: int, depth: int | None = None, hops: int = 0
) -> tuple[Hierarchy, str]:
    """Return the hierarchy of cells, and one or two sentences on how it was made.

    For a ``topology``, ``family`` is that of ``choose_family``, the other options those of ``build_hierarchy``:
    ``leaf_size``, ``depth`` and ``hops``.  With ``hops`` on planar and general networks the Covering Lemma is used: hop
    clusters are contracted, the rest is separated and expanded, and separator and cover come together.
    """
    splitter, name, why = family_of(topology, family)
    if hops > 0 and name in ("general", "planar"):
        splitter = CoverSplitter(splitter, hops)
        where = "first" if hops > 1 else "where that needs fewer hubs"
        why += f" Hop clusters of radius {hops} are contracted {where} (Covering Lemma)."
    return build_hierarchy(topology, splitter, leaf_size=leaf_size, depth=depth, hops=hops, family=name), why
