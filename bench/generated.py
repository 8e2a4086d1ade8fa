"""Shapes, weights and proxies that the generated families of ``pools.py`` are put together from.

A family is a generator and a few variants.  The two pools have files of their own (``generated_development.py``,
``generated_test.py``); whoever chooses a constant looks at the first only.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

from hushpath import Network


@dataclass(frozen=True)
class Made:
    """What a generator returns: edges as pairs of node numbers, and one private weight for each."""

    edges: np.ndarray
    weights: np.ndarray
    places: np.ndarray | None = None
    proxy: np.ndarray | None = None
    directed: bool = False
    parallel: bool = False

    def network(self, proxy: bool) -> Network:
        n = int(self.edges.max()) + 1 if self.places is None else len(self.places)
        return Network.build(
            range(n), self.edges[:, 0], self.edges[:, 1], self.weights, directed=self.directed,
            coordinates=self.places, proxy=self.proxy if proxy else None, parallel_edges=self.parallel,
        )  # fmt: skip


@dataclass(frozen=True)
class Variant:
    """One network of a family; equal names give equal networks."""

    family: str
    variant: str
    make: Callable[..., Made]
    options: tuple[tuple[str, object], ...]

    @property
    def name(self) -> str:
        return f"{self.family}-{self.variant}" if self.variant else self.family

    def made(self) -> Made:
        rng = np.random.default_rng(zlib.crc32(self.name.encode()))
        return whole(self.make(rng, **dict(self.options)))


def family_list() -> tuple[list[Variant], Callable]:
    """Return an empty list of variants and its decorator: ``@family("name", variant={option: ...})`` adds to it."""
    variants: list[Variant] = []

    def family(name: str, **kinds: dict) -> Callable:
        def add(make: Callable[..., Made]) -> Callable[..., Made]:
            variants.extend(
                Variant(name, kind.replace("_", "-"), make, tuple(options.items())) for kind, options in kinds.items()
            )
            return make

        return add

    return variants, family


def whole(made: Made) -> Made:
    """Keep the largest connected component, without loops, and number its nodes."""
    edges = np.asarray(made.edges, np.int64)
    n = int(edges.max()) + 1 if made.places is None else len(made.places)
    part = connected_components(coo_array((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False)[1]
    node = part == np.bincount(part).argmax()
    keep = node[edges[:, 0]] & (edges[:, 0] != edges[:, 1])
    number = np.cumsum(node) - 1
    return Made(
        number[edges[keep]], np.asarray(made.weights, float)[keep], None if made.places is None else made.places[node],
        None if made.proxy is None else np.asarray(made.proxy, float)[keep], made.directed, made.parallel,
    )  # fmt: skip


# Shapes: edges (each pair once) and places.


def once(edges):
    """Sort the ends of edges, and keep each pair once."""
    edges = np.sort(np.asarray(edges, np.int64).reshape(-1, 2), axis=1)
    return np.unique(edges[edges[:, 0] != edges[:, 1]], axis=0)


def grid(rows, columns=None):
    columns = columns or rows
    i = np.arange(rows * columns).reshape(rows, columns)
    edges = np.vstack([np.c_[i[:, :-1].ravel(), i[:, 1:].ravel()], np.c_[i[:-1].ravel(), i[1:].ravel()]])
    return edges, np.c_[np.tile(np.arange(columns), rows), np.repeat(np.arange(rows), columns)].astype(float)


def triangulated(places):
    corners = Delaunay(places).simplices
    return once(np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]))


def scattered(n, rng):
    """Places in a square, about one for each unit of area."""
    return rng.random((n, 2)) * np.sqrt(n)


def clustered(n, towns, rng):
    """Places of towns and villages: most near a centre, the others anywhere."""
    side = np.sqrt(n)
    centres = rng.random((towns, 2)) * side
    near = centres[rng.choice(towns, n, p=rng.dirichlet(np.full(towns, 0.7)))]
    places = near + rng.normal(size=(n, 2)) * side * 0.05 * np.exp(0.6 * rng.normal(size=(n, 1)))
    far = rng.random(n) < 0.25
    places[far] = rng.random((far.sum(), 2)) * side
    return places


def lengths(edges, places):
    return np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)


def middles(edges, places):
    return places[edges].mean(axis=1)


def matrix(edges, values, n):
    """A symmetric sparse matrix of values, a tiny amount above 0 so that scipy keeps every entry."""
    values = np.maximum(values, 1e-9)
    both = np.vstack([edges, edges[:, ::-1]])
    return csr_array((np.r_[values, values], both.T), shape=(n, n))


def gabriel(places):
    """The triangulation without edges whose circle holds a third place: much like streets between junctions."""
    edges = triangulated(places)
    near = cKDTree(places).query(middles(edges, places))[0]
    return edges[near >= lengths(edges, places) / 2 * (1 - 1e-9)]


def spanning(edges, costs):
    """The rows of ``edges`` that are in the cheapest spanning tree."""
    n = int(edges.max()) + 1
    tree = minimum_spanning_tree(csr_array((np.maximum(costs, 1e-9), edges.T), shape=(n, n))).tocoo()
    in_tree = {(min(i, j), max(i, j)) for i, j in zip(*(c.tolist() for c in tree.coords), strict=True)}
    return np.array([(min(i, j), max(i, j)) in in_tree for i, j in edges.tolist()])


def streets(places, rng, keep=0.6):
    """A Gabriel graph without some of its edges, still in one piece: dead ends, detours, about 1.3 edges a node."""
    edges = gabriel(places)
    stays = spanning(edges, lengths(edges, places) * np.exp(0.3 * rng.normal(size=len(edges))))
    return edges[stays | (rng.random(len(edges)) < keep)]


def tree_flows(edges, demand, root=0):
    """Sum of demand behind each edge of a tree, seen from the root."""
    order, parent, row = searched(edges, len(demand), root)
    flow, behind = np.zeros(len(edges)), np.array(demand, float)
    for node in order[:0:-1]:
        flow[row[node]] = behind[node]
        behind[parent[node]] += behind[node]
    return flow


def searched(edges, n, root):
    """Breadth-first order of the nodes, the parent of each, and the edge to it."""
    next_to = [[] for _ in range(n)]
    for e, (i, j) in enumerate(edges.tolist()):
        next_to[i].append((j, e))
        next_to[j].append((i, e))
    order, parent, row = [root], np.full(n, -1), np.full(n, -1)
    parent[root] = root
    for node in order:
        for other, e in next_to[node]:
            if parent[other] < 0:
                parent[other], row[other] = node, e
                order.append(other)
    return np.array(order), parent, row


# Weights and proxies.


def field(places, rng, reach=(4, 8, 16, 32)):
    """A smooth field over the plane, about normal with variance 1: what neighbours have in common."""
    angle = 2 * np.pi * rng.random(len(reach))
    way = np.c_[np.cos(angle), np.sin(angle)]
    waves = [np.cos(places @ w / r + 2 * np.pi * rng.random()) for w, r in zip(way, reach, strict=True)]
    return sum(waves) / np.sqrt(len(reach) / 2)


def spread(m, rng, sigma=0.5):
    """Lognormal factors about 1."""
    return np.exp(sigma * rng.normal(size=m))


def alike(weights, rng, correlation=0.9):
    """A made-up column whose linear correlation with the weights is about ``correlation``."""
    noise = rng.normal(size=len(weights)) * weights.std()
    return np.maximum(weights + noise * np.sqrt(1 / correlation**2 - 1), 0.0)


def two_way(edges):
    """Each edge in both directions; the second half is the way back."""
    return np.vstack([edges, edges[:, ::-1]])
