"""Public facts that deserve a second look: counted in public rows and bounds, said once, stopping nothing.

Asked where a network is read (``columns``, ``network``) and where bounds meet (``plan``); never when a
release is loaded, whose reader cannot change it.  One line per fact, however many rows show it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..errors import warn
from .public_rows import num_parallel
from .topology import Topology


def warn_of_rows(topology: Topology, tails: ArrayLike, heads: ArrayLike, what: str = "edges") -> None:
    """Say what became of loops, repeated rows and reverse rows; the ends are as given, before they were sorted."""
    tail, head = np.ravel(tails).astype(np.int64), np.ravel(heads).astype(np.int64)
    given = len(tail)
    tail, head = tail[tail != head], head[tail != head]
    edges, n = len(tail), topology.num_nodes
    if edges < given:
        warn(
            f"self-loops: {given - edges} of {given} {what} were dropped with their weights, "
            "because no shortest path uses one"
        )
    # Parallel edges lie side by side in canonical order; ordinary files have none and pay for no more than this.
    repeated = num_parallel(topology.tails, topology.heads)
    if repeated and not topology.directed:
        there = tail * n + head
        both = int(np.isin(head * n + tail, there).sum())
        if 2 * both > edges:
            warn(
                f"both directions: {both} of {edges} {what} have a reverse one, but the network is read as undirected, "
                "so the two are parallel edges and a distance uses the shorter; if each is one direction, say "
                "directed=True (--directed); if both mean the same edge, keep one of them"
            )
            repeated = edges - len(np.unique(there))
    if repeated:
        warn(
            f"parallel edges: {repeated} of {edges} {what} repeat the ends of another one; "
            "each keeps its own weight, and a distance uses the shortest"
        )


def warn_of_nodes(listed: int, topology: Topology) -> None:
    """Warn when most rows of a node table are nodes without an edge: it may be a table of something else."""
    without = topology.num_nodes - len(np.unique(np.append(topology.tails, topology.heads)))
    if 2 * without > listed > 0:
        warn(
            f"isolated nodes: {without} of {topology.num_nodes} nodes have no edge; their labels and places are "
            "published with the network, so check that the node table belongs to it"
        )


def warn_of_bounds(topology: Topology, max_weight: float | None) -> None:
    """Say when ``max_weight`` undercuts bounds that were declared edge by edge."""
    if max_weight is None:
        return
    above = int(np.count_nonzero(np.isfinite(topology.upper) & (topology.upper > max_weight)))
    if above:
        warn(
            f"max_weight {max_weight:g} is below the declared upper bound of {above} of {topology.num_edges} edges; "
            "the smaller bound counts, and larger weights are clipped to it"
        )
