"""Stand-ins for private weights, made of public facts alone: what plans are tried on.

Reads no weights.  How large weights are has to be declared: by a typical weight (``Typical``: the median, say, or two
weights between which half of all lie), or by a proxy that is in the measure of the weights.  How they lie on the
network nobody declares, so there are four kinds of stand-in, and a plan shows how far apart they are.  A kind is a
public size of each edge times a lognormal factor with a share that neighbours have in common (a field that was averaged
over neighbours ``FIELD_STEPS`` times) and one of its own:

    kind                          size of an edge    common   own
    by length, each for itself    straight line      -        0.3
    by length, neighbours alike   straight line      0.4      0.3
    each for itself               the same           -        1.2
    neighbours alike              the same           0.7      0.4

(standard deviations of logarithms; without coordinates all lengths are the same).  How far weights lie apart nobody
knows either, so in all the spreads are 0.3, 0.5, 0.8 and 1.2: each 1.6 times the one before.  Where it
is declared between which two weights half of them lie, logarithms are stretched so that they do, in every kind.  With a
proxy, which tells how far weights lie apart, nothing is stretched: the size is the proxy in every kind, it leaves a
third of these spreads open (``AROUND_PROXY``), and where no typical weight says how large weights are as a whole, they
are taken to be a third above the proxy in half of the kinds, and a quarter below in the others.

An earlier release of the same network tells more than all of these: how large its weights may have been, and how they
lie.  Then stand-ins are draws from what it leaves open (``as_released``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Bool, Float, Int
from ..data.lattice import Lattice
from ..data.topology import Topology
from ..errors import CannotError, OptionError
from ..estimate.core import FEWEST_EDGES, NoisyEdges
from ..estimate.draws import Belief, if_solvable
from ..estimate.fields import RANGES, Fields
from ..estimate.residuals import Observed
from ..kernels.paths import distances_from
from ..kernels.search import nearest_chosen
from ..measure import Measurements
from ..noise import simulation

FIELD_STEPS = 8
SEARCHED = 400_000  # nodes that all sources of a scene may reach together, in all draws of the noise
SOURCES, MOST_DRAWS = 16, 16  # sources per scene, or more where every draw can be afforded; draws, or fewer
SOURCES_SEED, DRAWN = 100, 4  # draws from an earlier release
MANY_NODES = 200_000  # beyond, two kinds have to do
PART_NODES, PART_SOURCES = 4000, 24
SHORTEST = 0.05  # of the median length: nodes may lie on the same spot


class Typical(NamedTuple):
    """How large weights are, as declared: half of them lie between these two; the same twice if only a middle is known.

    A public guess.  It makes stand-ins and nothing else: no weight is clipped to it.
    """

    low: float
    high: float

    @property
    def middle(self) -> float:
        """About the median: as many times the lower as the upper is of it."""
        return math.sqrt(self.low) * math.sqrt(self.high)

    def fitted(self, weights: Float, *, stretched: bool) -> Float:
        """Weights as large as declared; stretched, so that half of those above zero lie between the two."""
        if self.low == self.high:
            return weights * (self.middle / _middle(weights))
        low, high = np.quantile(weights[weights > 0], (0.25, 0.75))
        power = math.log(self.high / self.low) / math.log(high / low) if stretched and low < high else 1.0
        return np.asarray(self.middle * (weights / (math.sqrt(low) * math.sqrt(high))) ** power)


class Kind(NamedTuple):
    """How stand-in weights lie around public sizes; see above."""

    sized: bool
    common: float
    own: float
    shift: float = 0.0


PLAIN = (Kind(True, 0.0, 0.3), Kind(False, 0.7, 0.4), Kind(True, 0.4, 0.3), Kind(False, 0.0, 1.2))
AROUND_PROXY = tuple(
    Kind(True, kind.common / 3, kind.own / 3, shift) for kind, shift in zip(PLAIN, (0.3, -0.3, 0.3, -0.3), strict=True)
)


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
            proxy=proxy if proxy is not None and (proxy > 0).any() else None, parallel_edges=True,
        )  # fmt: skip
        sources = rng.choice(ball.num_nodes, min(PART_SOURCES, ball.num_nodes), replace=False)
        true = _distances(ball, self.weights[edges[kept]], sources)
        hops_inside = _distances(ball, np.ones(ball.num_edges), sources)
        return Part(ball, edges[kept], sources, true, hops_inside, _others(true, sources))


def scenes(
    topology: Topology, lattice: Lattice, typical: Typical | None, drawn: Sequence[Float] = ()
) -> tuple[Scene, ...]:
    """The stand-ins for a network, or these; none if nothing public says how large weights are."""
    proxy, n, m = _proxy(topology), topology.num_nodes, topology.num_edges
    if m == 0 or (typical is None and proxy is None):
        return ()
    low, high = lattice.floats(lattice.low), lattice.floats(lattice.high)
    everybody = np.ones(m) if proxy is None else proxy
    if typical is not None:
        everybody = everybody * (typical.middle / _middle(everybody))
    made = []
    for seed, weights in enumerate(drawn or _kinds(topology, typical, proxy, high)):
        weights, rng = np.clip(weights, low, high), simulation(SOURCES_SEED + seed)
        count = max(2, min(SOURCES, SEARCHED // n), SEARCHED // (n * MOST_DRAWS))
        sources = rng.choice(n, min(n, count), replace=False)
        made.append(
            Scene(
                topology, weights, sources, _distances(topology, weights, sources),
                _distances(topology, np.clip(everybody, low, high), sources), seed,
            )
        )  # fmt: skip
    return tuple(scene for scene in made if scene.pairs.any())


def as_released(measurements: Measurements) -> tuple[Float, ...]:
    """Weights as they may have been, by what an earlier release says of them: public, as the release is."""
    strategy, noisy = measurements.strategy, NoisyEdges.of(measurements)
    if strategy.budget.unlimited:
        raise OptionError("the earlier release has no noise, so it is private data and no public fact")
    if len(noisy.edges) < max(FEWEST_EDGES, strategy.topology.num_edges):
        raise CannotError(
            f"the earlier release, by {strategy.mechanism!r} of {strategy.topology.num_edges} edges, does not tell how "
            f"weights lie: every edge must have been measured, and there must be at least {FEWEST_EDGES}"
        )
    unit = float(np.median(noisy.scales))

    def draws() -> Float:
        belief = Belief.of(strategy.topology, Observed.of(noisy, unit))
        return belief.draws(Fields(strategy.topology), np.zeros(len(RANGES)), DRAWN, seed=0)

    drawn = if_solvable(draws)
    if drawn is None or not np.isfinite(drawn).all():
        raise CannotError("the earlier release does not tell how weights lie: its numbers are like no weights")
    return tuple(drawn * (unit * strategy.lattice.granularity))


def _kinds(topology: Topology, typical: Typical | None, proxy: Float | None, high: Float) -> Iterator[Float]:
    """The kinds of stand-in, one after the other."""
    kinds = PLAIN if proxy is None else AROUND_PROXY
    size = _lengths(topology) if proxy is None else proxy
    for seed, kind in enumerate(kinds if topology.num_nodes <= MANY_NODES else kinds[:2]):
        rng = simulation(seed)
        factor = np.exp(kind.common * _field(topology, rng) + kind.own * rng.normal(size=topology.num_edges))
        weights = (size if kind.sized else 1.0) * factor
        if typical is None:
            weights = weights * np.exp(kind.shift)
        else:
            weights = typical.fitted(weights, stretched=proxy is None)
        yield _softly_below(weights, high)


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
    from scipy.sparse import coo_array

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
