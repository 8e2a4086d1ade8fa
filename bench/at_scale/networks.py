"""Generated networks of any size for the benches: the same seed gives the same network, and no order of nodes helps.

| | |
|---|---|
| ``road_like`` | crossings: planar, connected, 1.38 edges a node, as in the road networks of the DIMACS challenge |
| ``osm_like`` | what a city looks like in OpenStreetMap: 64 % of the nodes in chains, 18 % in pendant trees |
| ``delaunay`` | a triangulation, the hardest of planar networks |
| ``tiled`` | copies of a network in a row, linked: any number of edges without triangulating as many points |

``shares`` counts what ``osm_like`` promises.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay

EDGES_PER_NODE = 1.38
CHAIN, TREE = 0.64, 0.18


class Generated(NamedTuple):
    """Nodes 0 to ``nodes - 1``, edges as pairs, and where nodes lie (for those rivals that ask)."""

    nodes: int
    ends: np.ndarray
    places: np.ndarray | None


def delaunay(nodes, seed=0):
    """A Delaunay triangulation of random points."""
    places = np.random.default_rng(seed).random((nodes, 2))
    strips = np.lexsort((places[:, 0], np.floor(places[:, 1] * nodes**0.5)))  # neighbours near in memory: faster
    triangles = strips[Delaunay(places[strips]).simplices]
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    keys = np.unique(ends[:, 0] * nodes + ends[:, 1])
    return Generated(nodes, np.stack([keys // nodes, keys % nodes], 1), places)


def road_like(nodes, seed=0, edges_per_node=EDGES_PER_NODE):
    """The shortest spanning tree of a triangulation, and other short edges of it.  Random points come in no order."""
    _, ends, places = delaunay(nodes, seed)
    long = np.hypot(*(places[ends[:, 0]] - places[ends[:, 1]]).T)
    tree = minimum_spanning_tree(csr_array((long, (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))).tocoo()
    low, high = np.sort([tree.row, tree.col], axis=0).astype(np.int64)
    kept = np.isin(ends[:, 0] * nodes + ends[:, 1], low * nodes + high, assume_unique=True)
    rest = np.flatnonzero(~kept)
    luck = np.random.default_rng([seed, 1]).random(len(rest))
    more = max(0, int(edges_per_node * nodes) - int(kept.sum()))
    kept[rest[np.argsort(long[rest] * luck)[:more]]] = True
    return Generated(nodes, ends[kept], places)


def osm_like(nodes, seed=0):
    """Streets between crossings with shape points on them, the more the longer, and dead ends that branch."""
    _, ends, places = road_like(max(50, int(0.23 * nodes)), seed, edges_per_node=1.7)
    places, ends = without_trees(places, ends)
    rng, crossings = np.random.default_rng([seed, 2]), len(places)
    on_chains = round(CHAIN * nodes) - round(shares(crossings, ends)[0] * crossings)
    before = crossings + on_chains
    long = np.hypot(*(places[ends[:, 0]] - places[ends[:, 1]]).T)
    street = np.sort(rng.choice(len(ends), on_chains, p=long / long.sum()))  # of each shape point
    point = crossings + np.arange(on_chains)
    on_street = np.bincount(street, minlength=len(ends))
    first = crossings + np.cumsum(on_street) - on_street
    plain, bent = on_street == 0, on_street > 0
    same = street[1:] == street[:-1]
    # A node of a tree goes on from the one before it, or begins at any node that is not in a tree.
    twig = np.arange(before, nodes)
    root = rng.integers(0, before, len(twig))
    goes_on = (rng.random(len(twig)) < 0.5) & (twig > before)
    found = np.concatenate([
        ends[plain],
        np.stack([ends[bent, 0], first[bent]], 1),
        np.stack([(first + on_street - 1)[bent], ends[bent, 1]], 1),
        np.stack([point[:-1][same], point[1:][same]], 1),
        np.stack([np.where(goes_on, twig - 1, root), twig], 1),
    ])  # fmt: skip
    return Generated(nodes, rng.permutation(nodes)[found], None)


def pruned(nodes, ends):
    """Which nodes are in pendant trees, and how many neighbours the others keep.

    Trees are what falls away when nodes with one neighbour are taken off again and again.
    """
    graph = csr_array((np.ones(2 * len(ends)), (ends.ravel(), ends[:, ::-1].ravel())), shape=(nodes, nodes))
    graph.sum_duplicates()
    degree, gone = np.diff(graph.indptr), np.zeros(nodes, bool)
    ripe = np.flatnonzero(degree == 1)
    while len(ripe):
        gone[ripe] = True
        around = graph[ripe].indices
        np.subtract.at(degree, around, 1)
        ripe = np.unique(around[(degree[around] == 1) & ~gone[around]])
    return gone, degree


def without_trees(places, ends):
    """What is left of a network, numbered anew."""
    left = ~pruned(len(places), ends)[0]
    return places[left], (np.cumsum(left) - 1)[ends[left[ends].all(axis=1)]]


def shares(nodes, ends):
    """Shares of the nodes that are in chains, in pendant trees, and in neither."""
    gone, degree = pruned(nodes, ends)
    chain, tree = float((~gone & (degree == 2)).mean()), float(gone.mean())
    return chain, tree, 1 - chain - tree


def tiled(made, copies, seed=0):
    """Copies of a network in a row, each linked to the next by as many edges as would cross a line between them."""
    rng, n = np.random.default_rng([seed, 3]), made.nodes
    shift = n * np.arange(copies)
    inside = (made.ends + shift[:, None, None]).reshape(-1, 2)
    links = rng.integers(0, n, (copies - 1, int(n**0.5), 2)) + shift[: copies - 1, None, None] + [0, n]
    return Generated(n * copies, np.concatenate([inside, links.reshape(-1, 2)]), None)
