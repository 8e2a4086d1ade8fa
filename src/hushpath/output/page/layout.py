"""Positions of nodes on the map: their coordinates, or a computed layout for networks without any.

The layout makes distances on the map resemble hops: distances to some pivots give a first layout (pivot MDS: Brandes
and Pich 2006), whose stress is then reduced by stochastic descent on edges and pivots (Ortmann, Klimenta and Brandes
2017; Zheng, Pawar and Goodman 2019).  It uses public facts only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...arrays import Float, Int
from ...kernels.drawing import straighten
from ...kernels.search import FREE, hops_from
from ...network.topology import Topology
from ...noise import simulation
from ...published.edges import places_of

PIVOTS, EPOCHS = 24, 12
GAP = 0.08  # between components, in heights of the largest


def node_positions(topology: Topology) -> tuple[Float, bool]:
    """Return a position for every node (x right, y up), and whether these are its own coordinates."""
    known = None if topology.coordinates is None else np.asarray(np.isfinite(topology.coordinates).all(axis=1))
    if known is None or not known.any():
        return compute_layout(topology), False
    places = np.where(known[:, None], places_of(topology).projected().xy, 0.0)
    return _spread_to_neighbours(topology, places, known), True


def _spread_to_neighbours(topology: Topology, places: Float, known: NDArray[np.bool_]) -> Float:
    """Place nodes without coordinates in the middle of their placed neighbours; without any, in the middle of all."""
    places, known = places.copy(), known.copy()
    places[~known] = places[known].mean(axis=0)
    one = np.concatenate([topology.tails, topology.heads])
    other = np.concatenate([topology.heads, topology.tails])
    while True:
        use = known[other] & ~known[one]
        found = np.unique(one[use])
        if not len(found):
            return places
        count = np.bincount(one[use], minlength=len(places))[found]
        for axis in range(2):
            sums = np.bincount(one[use], places[other[use], axis], minlength=len(places))
            places[found, axis] = sums[found] / count
        known[found] = True


def compute_layout(topology: Topology) -> Float:
    """Lay out the whole network: components side by side, the largest first."""
    places, parts = np.zeros((topology.num_nodes, 2)), topology.components
    sizes = np.bincount(parts)
    at, height = 0.0, 1.0
    for turn, part in enumerate(np.argsort(-sizes, kind="stable").tolist()):
        nodes = np.flatnonzero(parts == part)
        mine = _layout_component(topology, nodes)
        mine -= mine.min(axis=0)
        if turn == 0:
            height = max(float(mine[:, 1].max()), 1.0)
        places[nodes] = mine + np.array([at, 0.0])
        at += float(mine[:, 0].max()) + GAP * height
    return places


def _layout_component(topology: Topology, nodes: Int) -> Float:
    """Lay out one component."""
    count = len(nodes)
    if count == 1:
        return np.zeros((1, 2))
    number = np.full(topology.num_nodes, -1)
    number[nodes] = np.arange(count)
    inside = number[topology.tails] >= 0
    tails, heads = number[topology.tails[inside]], number[topology.heads[inside]]
    ends, others = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(count + 1))
    neighbours = others[order]
    pivots, hops = _pivots(start, neighbours, min(PIVOTS, count))
    squared = hops.astype(np.float64) ** 2
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    _, _, axes = np.linalg.svd(centred.T @ centred)
    first = -centred @ axes[:2].T
    if first.shape[1] < 2:
        first = np.column_stack([first, np.zeros(count)])
    scale = np.sqrt((hops**2).sum() / max(((first[:, None] - first[pivots]) ** 2).sum(), 1e-12))
    rng = simulation(12)
    places = np.ascontiguousarray(first * scale + rng.normal(0, 1e-3, (count, 2)))
    terms = rng.permutation(len(tails) + count * len(pivots))
    straighten(places, tails, heads, pivots, hops, terms, EPOCHS)
    return places


def _pivots(start: Int, neighbours: Int, count: int) -> tuple[Int, Int]:
    """Choose nodes far from each other, and return the hops of every node to each."""
    chosen, columns = [0], []
    nearest = np.full(len(start) - 1, np.iinfo(np.int64).max)
    for _ in range(count):
        hops = hops_from(start, neighbours, chosen[-1])
        columns.append(np.where(hops == FREE, 0, hops))
        nearest = np.minimum(nearest, columns[-1])
        chosen.append(int(nearest.argmax()))
    return np.array(chosen[:count]), np.stack(columns, axis=1)
