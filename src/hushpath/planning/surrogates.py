"""Stand-ins for private weights, made from public facts alone: plans are simulated on them.

No private weight is read.  How large weights are must be declared: by a typical weight (`TypicalWeight`: about the
median, or two weights between which half of all lie), or by a proxy in the unit of the weights.  How weights vary over
the network is unknown, so there are four kinds of stand-in, and a plan shows how much they differ.  Each kind is a
public size of every edge times a log-normal factor, with a part that neighbours share (a smooth field, see
``estimator.fields``) and a part of the edge itself:

    kind                            size of an edge    shared   own
    by length, independent          straight line      -        0.3
    by length, neighbours alike     straight line      0.4      0.3
    independent                     the same           -        1.2
    neighbours alike                the same           0.7      0.4

(standard deviations of logarithms; without coordinates all lengths are the same.)  The spread of weights is unknown
too, so the total standard deviations are 0.3, 0.5, 0.8 and 1.2: each 1.6 times the one before.  If two weights are
declared between which half of all lie, logarithms are stretched so that they do, in every kind.  With a proxy, which
shows the spread of the weights, nothing is stretched: the size is the proxy in every kind, a third of these standard
deviations remains (`AROUND_PROXY`), and if no typical weight is declared, weights are taken to be a third above the
proxy in half of the kinds, and a quarter below in the others.

An earlier release of the same network says more than all of these.  Stand-ins are then posterior samples of its weights
(`sample_released_weights`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Bool, Float, Int
from ..errors import CannotError, OptionError
from ..estimator.base import MIN_EDGES, NoisyEdges
from ..estimator.fields import RANGES, EdgeDiffusion, ErrorFields
from ..estimator.weights.posterior import PosteriorModel, try_fit
from ..estimator.weights.regression import Observed
from ..kernels.search import find_nearest
from ..measurement.private_step import Measurements
from ..measurement.samples import distance_rows
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..noise import simulation

FIELD_STEPS = 8
MAX_VISITED = 400_000  # nodes that all sources of a surrogate may reach together, in all draws of the noise
SOURCES, MAX_DRAWS = 16, 16  # sources per surrogate, or more where every draw can be afforded; draws, or fewer
SOURCES_SEED, SAMPLES = 100, 4  # posterior samples from an earlier release
LARGE_NETWORK = 200_000  # nodes; beyond, two kinds must do
PART_NODES, PART_SOURCES = 4000, 24
MIN_LENGTH = 0.05  # of the median length: nodes may be at the same place


class TypicalWeight(NamedTuple):
    """How large weights are, as declared: half of them lie between these two, which are equal if only one is declared.

    A public guess.  It is used for stand-ins only: no weight is clipped to it.
    """

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The geometric mean of the two: about the median."""
        return math.sqrt(self.low) * math.sqrt(self.high)

    def scale(self, weights: Float, *, stretch: bool) -> Float:
        """Scale weights to the declared size; ``stretch`` them so that half of the positive ones lie between both."""
        if self.low == self.high:
            return weights * (self.middle / _positive_median(weights))
        low, high = np.quantile(weights[weights > 0], (0.25, 0.75))
        power = math.log(self.high / self.low) / math.log(high / low) if stretch and low < high else 1.0
        return np.asarray(self.middle * (weights / (math.sqrt(low) * math.sqrt(high))) ** power)


class Kind(NamedTuple):
    """How stand-in weights vary around public sizes: the table above, in this order."""

    by_length: bool
    shared_sd: float
    own_sd: float
    log_shift: float = 0.0


PLAIN = (Kind(True, 0.0, 0.3), Kind(False, 0.7, 0.4), Kind(True, 0.4, 0.3), Kind(False, 0.0, 1.2))
AROUND_PROXY = tuple(
    Kind(True, kind.shared_sd / 3, kind.own_sd / 3, shift)
    for kind, shift in zip(PLAIN, (0.3, -0.3, 0.3, -0.3), strict=True)
)


class Part(NamedTuple):
    """The neighbourhood of a node in a larger network, with exact distances."""

    topology: Topology
    edges: Int  # of the whole network, in the order of the part's own
    sources: Int
    true: Float
    hops: Float
    pairs: Bool


@dataclass(frozen=True, eq=False)
class Surrogate:
    """One set of stand-in weights, with exact distances for a sample of pairs."""

    topology: Topology
    weights: Float  # (m,): within the declared bounds
    sources: Int  # (k,): nodes from which distances to all nodes are compared
    true: Float  # (k, n): distances over ``weights``
    baseline: Float  # (k, n): distances over public weights: the proxy, or the typical weight on every edge
    seed: int

    @cached_property
    def pairs(self) -> Bool:
        """Which entries of ``true`` count: connected pairs of different nodes."""
        return _other_pairs(self.true, self.sources)

    @cached_property
    def part(self) -> Part:
        """The nodes nearest in hops to a random node, for work that would take long on the whole network."""
        topology, rng = self.topology, simulation(self.seed)
        root = topology.tails[rng.integers(topology.num_edges)]
        hops = find_nearest(topology.arcs.start, topology.arcs.heads, np.array([root]))[1]
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
        true = distance_rows(ball, self.weights[edges[kept]], sources)
        hops_inside = distance_rows(ball, np.ones(ball.num_edges), sources)
        return Part(ball, edges[kept], sources, true, hops_inside, _other_pairs(true, sources))


def make_surrogates(
    topology: Topology, lattice: Lattice, typical: TypicalWeight | None, samples: Sequence[Float] = ()
) -> tuple[Surrogate, ...]:
    """Make stand-ins for the weights of a network: as large as ``typical`` or a proxy says, or posterior ``samples``.

    They are within the bounds that ``topology`` and ``lattice`` declare.
    """
    proxy, n, m = _fill_proxy(topology), topology.num_nodes, topology.num_edges
    if m == 0 or (typical is None and proxy is None):
        return ()
    low, high = lattice.floats(lattice.low), lattice.floats(lattice.high)
    public = np.ones(m) if proxy is None else proxy
    if typical is not None:
        public = public * (typical.middle / _positive_median(public))
    made = []
    for seed, weights in enumerate(samples or _draw_kinds(topology, typical, proxy, high)):
        weights, rng = np.clip(weights, low, high), simulation(SOURCES_SEED + seed)
        count = max(2, min(SOURCES, MAX_VISITED // n), MAX_VISITED // (n * MAX_DRAWS))
        sources = rng.choice(n, min(n, count), replace=False)
        true, baseline = (distance_rows(topology, one, sources) for one in (weights, np.clip(public, low, high)))
        made.append(Surrogate(topology, weights, sources, true, baseline, seed))
    return tuple(one for one in made if one.pairs.any())


def sample_released_weights(measurements: Measurements) -> tuple[Float, ...]:
    """Sample the weights of an earlier release from their posterior: public, as the release is."""
    strategy, noisy = measurements.strategy, NoisyEdges.from_measurements(measurements)
    if strategy.budget.unlimited:
        raise OptionError("the earlier release has no noise, so it is private data and not public")
    if len(noisy.edges) < max(MIN_EDGES, strategy.topology.num_edges):
        raise CannotError(
            f"the earlier release (mechanism {strategy.mechanism!r}, {strategy.topology.num_edges} edges) cannot be "
            f"modelled: every edge must have been measured, and there must be at least {MIN_EDGES} edges"
        )

    def sample() -> Float:
        model = PosteriorModel.fit(strategy.topology, Observed.from_edges(noisy))
        return model.sample(ErrorFields(strategy.topology), np.zeros(len(RANGES)), SAMPLES, seed=0)

    samples = try_fit(sample)
    if samples is None or not np.isfinite(samples).all():
        raise CannotError("the earlier release could not be modelled (the fit failed)")
    return tuple(samples * (noisy.unit * strategy.lattice.granularity))


def _draw_kinds(topology: Topology, typical: TypicalWeight | None, proxy: Float | None, high: Float) -> Iterator[Float]:
    """Draw one kind of stand-in after the other, around ``proxy`` or edge lengths of ``topology``.

    They are scaled to ``typical`` and kept below ``high``.
    """
    kinds = PLAIN if proxy is None else AROUND_PROXY
    size = _edge_lengths(topology) if proxy is None else proxy
    diffusion = EdgeDiffusion(topology)
    for seed, kind in enumerate(kinds if topology.num_nodes <= LARGE_NETWORK else kinds[:2]):
        rng = simulation(seed)
        field = diffusion.standard_field(rng, FIELD_STEPS)
        factor = np.exp(kind.shared_sd * field + kind.own_sd * rng.normal(size=topology.num_edges))
        weights = (size if kind.by_length else 1.0) * factor
        if typical is None:
            weights = weights * np.exp(kind.log_shift)
        else:
            weights = typical.scale(weights, stretch=proxy is None)
        yield _limit_softly(weights, high)


def _fill_proxy(topology: Topology) -> Float | None:
    """Return the proxy, at its median where it is unknown; None if it says nothing."""
    if topology.proxy is None or not np.nanmax(topology.proxy, initial=0.0) > 0:
        return None
    return np.where(np.isnan(topology.proxy), np.nanmedian(topology.proxy), topology.proxy)


def _edge_lengths(topology: Topology) -> Float:
    """Return straight-line lengths of edges, none much shorter than the others; 1 without coordinates."""
    if topology.coordinates is None:
        return np.ones(topology.num_edges)
    ends = topology.coordinates[topology.tails] - topology.coordinates[topology.heads]
    length = np.hypot(ends[:, 0], ends[:, 1])
    if not (length > 0).any():
        return np.ones(topology.num_edges)
    return np.maximum(length, MIN_LENGTH * _positive_median(length))


def _limit_softly(weights: Float, high: Float) -> Float:
    """Move weights below a declared bound so that they do not pile up at it, as real weights do not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(high > 0, weights / np.cbrt(1 + (weights / high) ** 3), 0.0)


def _positive_median(values: Float) -> float:
    return float(np.median(values[values > 0]))


def _other_pairs(rows: Float, sources: Int) -> Bool:
    """Return which entries of rows are finite and not the source itself."""
    found = np.isfinite(rows)
    found[np.arange(len(sources)), sources] = False
    return found
