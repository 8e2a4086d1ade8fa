"""Decide whether every distance of a network fits in 32 bits.

A distance that saturates would be taken for "not connected".  Inside a cell a detour may be longer than any distance of
the network, but no part of a shortest path is, so only true distances need to fit.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Wiring
from ..kernels.minplus import NOTHING
from ..kernels.paths import distances_from


def fit_in_32_bits(network: Wiring, lengths: Float, aside: float) -> bool:
    """Whether every distance over these lengths, with ``aside`` before and after it, is below ``NOTHING``."""
    finite, room = np.where(np.isfinite(lengths), lengths, 0.0), NOTHING - 2 * aside
    # An edge that is too long may be on no shortest path, but where there is one there are more. No shortest path uses
    # an edge twice; only if all together are too long, the longest distance is looked for.
    return finite.max(initial=0.0) < room and (finite.sum() < room or _longest(network, lengths) < room)


def _longest(network: Wiring, lengths: Float) -> float:
    """An upper bound on all finite distances.

    Within a strongly connected part none exceeds the way to some vertex of it and the way on from there.  A path goes
    through each part once at most, and from part to part over one edge.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, there = network.num_nodes, np.isfinite(lengths)  # of a chain of one-way roads one direction is not
    tails, heads, lengths = network.tails[there], network.heads[there], lengths[there]
    graph = coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n))
    parts, part = connected_components(graph, directed=network.directed, connection="strong")
    if not network.directed:
        both = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        return 2 * float(_farthest(*both, np.tile(lengths, 2), part, parts).max(initial=0.0))
    within = part[tails] == part[heads]
    inside, between = np.where(within, lengths, np.inf), np.zeros(parts)
    np.maximum.at(between, part[tails[~within]], lengths[~within])
    out, back = (_farthest(*ends, inside, part, parts) for ends in ((tails, heads), (heads, tails)))
    return float((out + back + between).sum())


def _farthest(tails: Int, heads: Int, lengths: Float, part: Int, parts: int) -> Float:
    """The longest distance in each part from its first vertex: one search, from a vertex added before all of these."""
    n, first = len(part), np.unique(part, return_index=True)[1]
    arcs = Wiring(n + 1, np.append(tails, np.full(parts, n)), np.append(heads, first), directed=True).arcs
    row = np.empty((1, n + 1))
    distances_from(arcs, np.append(lengths, np.zeros(parts))[arcs.edges], np.array([n]), row)
    farthest = np.zeros(parts)
    reached = np.isfinite(row[0, :n])
    np.maximum.at(farthest, part[reached], row[0, :n][reached])
    return farthest
