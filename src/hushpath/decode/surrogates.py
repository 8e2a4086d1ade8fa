"""Stand-ins for private weights, made of public facts alone: what plans are tried on.

Reads no weights.  How large weights are has to be declared: by a typical weight (the median, say), or by a proxy that
is in the measure of the weights.  How they lie on the network nobody declares, so there are four kinds of stand-in,
and a plan shows how far apart they are.  A kind is a public size of each edge times a lognormal factor with a share
that neighbours have in common (a field that was averaged over neighbours ``FIELD_STEPS`` times) and one of its own:

    kind                          size of an edge    common   own
    by length, each for itself    straight line      -        0.6
    by length, neighbours alike   straight line      0.5      0.3
    each for itself               the same           -        0.9
    neighbours alike              the same           0.7      0.4

(standard deviations of logarithms; without coordinates all lengths are the same).  With a proxy the size is the proxy
in every kind, the factors are those of ``AROUND_PROXY``, and where no typical weight says how large weights are as a
whole, they are taken to be a third above the proxy in half of the kinds, and a quarter below in the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array

from ..arrays import Bool, Float, Int
from ..data.lattice import Lattice
from ..data.topology import Topology
from ..kernels.hops import nearest_chosen
from ..kernels.paths import distances_from
from ..noise import simulation

FIELD_STEPS = 8
SOURCES, SEARCHED = 16, 400_000  # sources per scene, and the nodes that all of them may reach together
MANY_NODES = 200_000  # beyond, two kinds have to do
PART_NODES, PART_SOURCES = 700, 24
SHORTEST = 0.05  # of the median length: nodes may lie on the same spot


class Kind(NamedTuple):
    """How stand-in weights lie around public sizes; see above."""

    sized: bool
    common: float
    own: float
    shift: float = 0.0


PLAIN = (Kind(True, 0.0, 0.6), Kind(False, 0.7, 0.4), Kind(True, 0.5, 0.3), Kind(False, 0.0, 0.9))
AROUND_PROXY = (
    Kind(True, 0.0, 0.4, 0.3), Kind(True, 0.35, 0.2, -0.3), Kind(True, 0.35, 0.2, 0.3), Kind(True, 0.0, 0.4, -0.3),
)  # fmt: skip


class Part(NamedTuple):
    """A ball of a larger network, and exact answers there."""

    topology: Topology
    edges: Int  # of the whole network, in the order of the part's own
    sources: Int
    true: Float
    hops: Float
    pairs: Bool


@dataclass(frozen=True, eq=False)
class Scene:
    """One set of stand-in weights, with exact answers for a sample of pairs.

    Attributes:
        weights: one per edge, within the declared bounds.
        sources: nodes from which distances are compared, to every node they reach.
        true: their distances over ``weights``.
        known: their distances over what everybody knows: the proxy or the typical weight on every edge.
        seed: of everything that is drawn here.
    """

    topology: Topology
    weights: Float
    sources: Int
    true: Float
    known: Float
    seed: int

    @cached_property
    def pairs(self) -> Bool:
        """Which entries of ``true`` count: connected pairs of different nodes."""
        return _others(self.true, self.sources)

    @cached_property
    def part(self) -> Part:
        """The nodes nearest in hops to a random end of an edge, for work that would take long on the whole."""
        topology, rng = self.topology, simulation(self.seed)
        root = topology.tails[rng.integers(topology.num_edges)]
        hops = nearest_chosen(topology.arcs.start, topology.arcs.heads, np.array([root]))[1]
        nearest = np.argsort(np.where(hops < 0, topology.num_nodes, hops), kind="stable")[:PART_NODES]
        inside = np.zeros(topology.num_nodes, np.bool_)
        inside[nearest[hops[nearest] >= 0]] = True
        edges, place = np.flatnonzero(inside[topology.tails] & inside[topology.heads]), np.cumsum(inside) - 1
        proxy = None if topology.proxy is None else topology.proxy[edges]
        ball, kept = Topology.build(
            range(int(inside.sum())), place[topology.tails[edges]], place[topology.heads[edges]],
            directed=topology.directed, lower=topology.lower[edges], upper=topology.upper[edges],
            coordinates=None if topology.coordinates is None else topology.coordinates[inside],
            proxy=proxy if proxy is not None and (proxy > 0).any() else None,
        )  # fmt: skip
        sources = rng.choice(ball.num_nodes, min(PART_SOURCES, ball.num_nodes), replace=False)
        true = _distances(ball, self.weights[edges[kept]], sources)
        hops_inside = _distances(ball, np.ones(ball.num_edges), sources)
        return Part(ball, edges[kept], sources, true, hops_inside, _others(true, sources))


def scenes(topology: Topology, lattice: Lattice, typical: float | None) -> tuple[Scene, ...]:
    """The stand-ins for a network; none if nothing public says how large weights are."""
    proxy, n, m = _proxy(topology), topology.num_nodes, topology.num_edges
    if m == 0 or (typical is None and proxy is None):
        return ()
    low, high = lattice.floats(lattice.low), lattice.floats(lattice.high)
    kinds = PLAIN if proxy is None else AROUND_PROXY
    size = _lengths(topology) if proxy is None else proxy
    everybody = np.ones(m) if proxy is None else proxy
    if typical is not None:
        everybody = everybody * (typical / _middle(everybody))
    made = []
    for seed, kind in enumerate(kinds if n <= MANY_NODES else kinds[:2]):
        rng = simulation(seed)
        factor = np.exp(kind.common * _field(topology, rng) + kind.own * rng.normal(size=m))
        weights = (size if kind.sized else 1.0) * factor
        weights = weights * (typical / _middle(weights) if typical is not None else np.exp(kind.shift))
        weights = np.clip(_softly_below(weights, high), low, high)
        sources = rng.choice(n, min(n, max(2, min(SOURCES, SEARCHED // n))), replace=False)
        made.append(
            Scene(
                topology, weights, sources, _distances(topology, weights, sources),
                _distances(topology, np.clip(everybody, low, high), sources), seed,
            )
        )  # fmt: skip
    return tuple(scene for scene in made if scene.pairs.any())


def _proxy(topology: Topology) -> Float | None:
    """The proxy, at its median where it is unknown; none if it says nothing."""
    if topology.proxy is None or not np.nanmax(topology.proxy, initial=0.0) > 0:
        return None
    return np.where(np.isnan(topology.proxy), np.nanmedian(topology.proxy), topology.proxy)


def _lengths(topology: Topology) -> Float:
    """Straight lines between the ends of edges, none much shorter than the others; 1 without coordinates."""
    if topology.coordinates is None:
        return np.ones(topology.num_edges)
    ends = topology.coordinates[topology.tails] - topology.coordinates[topology.heads]
    length = np.hypot(ends[:, 0], ends[:, 1])
    return np.maximum(length, SHORTEST * _middle(length)) if (length > 0).any() else np.ones(topology.num_edges)


def _softly_below(weights: Float, high: Float) -> Float:
    """Weights that come near a declared bound without piling up at it, as those do for which it was declared."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(high > 0, weights / np.cbrt(1 + (weights / high) ** 3), 0.0)


def _middle(values: Float) -> float:
    """The median of what is not zero."""
    return float(np.median(values[values > 0]))


def _field(topology: Topology, rng: np.random.Generator) -> Float:
    """A random number per edge that neighbours have nearly in common; mean 0, spread 1 (or 0 on tiny networks)."""
    n, tails, heads = topology.num_nodes, topology.tails, topology.heads
    ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    touching = coo_array((np.ones(2 * len(tails)), ends), shape=(n, n)).tocsr()
    degree = np.maximum(np.bincount(ends[0], minlength=n), 1)
    values = rng.normal(size=n)
    for _ in range(FIELD_STEPS):
        values = (values + (touching @ values) / degree) / 2
    field = values[tails] + values[heads]
    spread = float(field.std())
    return np.asarray((field - field.mean()) / spread if spread > 1e-12 else np.zeros(len(field)))


def _distances(topology: Topology, weights: Float, sources: Int) -> Float:
    out = np.empty((len(sources), topology.num_nodes))
    distances_from(topology.arcs, weights[topology.arcs.edges], sources, out)
    return out


def _others(rows: Float, sources: Int) -> Bool:
    """Which entries of rows are finite and not the source itself."""
    there = np.isfinite(rows)
    there[np.arange(len(sources)), sources] = False
    return there
