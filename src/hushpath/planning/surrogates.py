"""Stand-ins for private weights, made from public facts alone: plans are simulated on them.

No private weight is read.  How large weights are must be declared: by a typical weight (`TypicalWeight`: about the
median, or two weights between which half of all lie), or by a proxy in the unit of the weights.  How weights vary over
the network is unknown, so there are several kinds of stand-in (`Kind`).  The usual four give the expected error; all of
them give the range of a plan.  Each kind is a public size of every edge times a factor whose logarithm has a part that
neighbours share (a smooth field, or one value per district) and a part of the edge itself:

    kind                            size of an edge    shared   own
    by length, independent          straight line      -        0.3
    neighbours alike                the same           0.7      0.4
    by length, neighbours alike     straight line      0.4      0.3
    independent                     the same           -        1.2
  for the range also:
    districts                       the same           1.0      0.3     one value per district
    heavy tails                     the same           -        1.6     logarithms have a Laplace distribution
    fast lines                      the same           1.5      0.1     two classes: main routes are faster
  and where only the median is declared:
    nearly even                     the same           -        0.1
    neighbours alike                the same           1.3      0.6
    independent                     the same           -        2.0

(standard deviations of logarithms; without coordinates all lengths are the same.)  If two weights are declared between
which half of all lie, logarithms are stretched so that they do, in every kind.  With a proxy, which shows the spread of
the weights, nothing is stretched: the size is the proxy in every kind, and factors vary less (`AROUND_PROXY`).  If no
typical weight is declared, weights are also taken to be larger than the proxy in some kinds, and smaller in others.

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
from ..estimator.hierarchy import draw_smooth_field
from ..estimator.weights.shrink import model_of
from ..kernels.search import find_nearest
from ..measurement.private_step import Measurements
from ..measurement.samples import distance_rows, usage
from ..network.lattice import Lattice
from ..network.topology import Topology
from ..noise import simulation

FIELD_STEPS, DISTRICTS, FAST_SHARE = 8, 12, 0.2
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

    name: str
    by_length: bool
    shared_sd: float
    own_sd: float
    log_shift: float = 0.0  # of all weights, where no typical weight is declared
    shared: str = "smooth"  # or "districts", "lines"
    heavy_tails: bool = False
    fixes_spread: bool = False  # left out where the spread is declared


ALIKE, APART = "neighbours alike", "independent"
USUAL = (
    Kind(f"by length, {APART}", True, 0.0, 0.3),
    Kind(ALIKE, False, 0.7, 0.4),
    Kind(f"by length, {ALIKE}", True, 0.4, 0.3),
    Kind(APART, False, 0.0, 1.2),
)
UNUSUAL = (
    Kind("districts", False, 1.0, 0.3, shared="districts"),
    Kind("heavy tails", False, 0.0, 1.6, heavy_tails=True),
    Kind("fast lines", False, 1.5, 0.1, shared="lines"),
    Kind("nearly even", False, 0.0, 0.1, fixes_spread=True),
    Kind(ALIKE, False, 1.3, 0.6, fixes_spread=True),
    Kind(APART, False, 0.0, 2.0, fixes_spread=True),
)
AROUND_PROXY = (
    Kind(APART, True, 0.0, 0.15, 0.3),
    Kind(ALIKE, True, 0.35, 0.2, -0.3),
    Kind(ALIKE, True, 0.2, 0.15, 0.3),
    Kind(APART, True, 0.0, 0.6, -0.3),
)
FAR_FROM_PROXY = (
    Kind(APART, True, 0.0, 0.05),
    Kind("districts", True, 0.5, 0.3, 0.6, shared="districts"),
    Kind(ALIKE, True, 0.7, 0.4, -0.6),
    Kind(APART, True, 0.0, 1.0),
)
# How far realised mean errors are beyond the range of simulated ones, by what was declared: 95 % of the development
# networks lie inside after this factor.  Repeat: python bench/plan_honesty.py --pool development --learn
MODEL_ERROR = {"median": 1.2, "quartiles": 1.5, "proxy": 1.2, "earlier release": 1.2, "trips": 1.2}


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
    kind: str = ""  # in words
    usual: bool = True  # whether it counts for the expected error, not only for the range

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
    proxy, n, m = fill_proxy(topology), topology.num_nodes, topology.num_edges
    if m == 0 or (typical is None and proxy is None):
        return ()
    low, high = lattice.floats(lattice.low), lattice.floats(lattice.high)
    public = np.ones(m) if proxy is None else proxy
    if typical is not None:
        public = public * (typical.middle / _positive_median(public))
    drawn: Iterator[tuple[str, bool, Float]] = (
        (("like the earlier release", True, one) for one in samples)
        if samples
        else _draw_kinds(topology, typical, proxy, high)
    )
    made = []
    for seed, (kind, usual, weights) in enumerate(drawn):
        weights, rng = np.clip(weights, low, high), simulation(SOURCES_SEED + seed)
        count = max(2, min(SOURCES, MAX_VISITED // n), MAX_VISITED // (n * MAX_DRAWS))
        sources = rng.choice(n, min(n, count), replace=False)
        true, baseline = (distance_rows(topology, one, sources) for one in (weights, np.clip(public, low, high)))
        spread = "" if samples else f", spread {_spread(weights / np.where(public > 0, public, 1.0)):.1f}"
        made.append(Surrogate(topology, weights, sources, true, baseline, seed, kind + spread, usual))
    return tuple(one for one in made if one.pairs.any())


def declared_by(topology: Topology, typical: TypicalWeight | None, samples: Sequence[Float] = ()) -> str:
    """Return which kind of declaration stand-ins are made from: a key of `MODEL_ERROR`."""
    if samples:
        return "earlier release"
    if fill_proxy(topology) is not None:
        return "proxy"
    return "quartiles" if typical is not None and typical.low < typical.high else "median"


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
    samples = _draw_posterior(noisy)
    if samples is None or not np.isfinite(samples).all():
        raise CannotError("the earlier release could not be modelled (the fit failed)")
    return tuple(samples)


def _draw_posterior(noisy: NoisyEdges) -> Float | None:
    """Draw `SAMPLES` rows of weights, in their unit, from the posterior of a release; None if the fit fails."""
    model, rng = model_of(noisy), simulation(0)
    if model is None:
        return None
    return np.stack([model.sample(rng) for _ in range(SAMPLES)]) * (noisy.unit * noisy.lattice.granularity)


# --- kinds of weights


def _draw_kinds(
    topology: Topology, typical: TypicalWeight | None, proxy: Float | None, high: Float
) -> Iterator[tuple[str, bool, Float]]:
    """Draw one kind of stand-in after the other, around ``proxy`` or edge lengths of ``topology``.

    They are scaled to ``typical`` and kept below ``high``.  Return the name of each kind and whether it is a usual one.
    """
    kinds: tuple[Kind, ...]
    usual, others = (USUAL, UNUSUAL) if proxy is None else (AROUND_PROXY, FAR_FROM_PROXY)
    if topology.num_nodes > LARGE_NETWORK:
        kinds = usual[:2]
    else:
        spread_known = typical is not None and typical.low < typical.high
        kinds = (*usual, *(one for one in others if not (spread_known and one.fixes_spread)))
    size = _edge_lengths(topology) if proxy is None else proxy
    rngs = [simulation(seed) for seed in range(len(kinds))]
    for kind, rng in zip(kinds, rngs, strict=True):
        field = draw_smooth_field(topology, rng)
        draw = FIELDS.get(kind.shared)
        shared = field if draw is None else draw(topology, rng)
        own = rng.laplace(scale=math.sqrt(0.5), size=len(size)) if kind.heavy_tails else rng.normal(size=len(size))
        weights = (size if kind.by_length else 1.0) * np.exp(kind.shared_sd * shared + kind.own_sd * own)
        name = kind.name
        if typical is None:
            weights = weights * np.exp(kind.log_shift)
            name = f"{math.exp(kind.log_shift):.2g} times the proxy, {name}"
        else:
            weights = typical.scale(weights, stretch=proxy is None)
        yield name, kind in usual, _limit_softly(weights, high)


def _district_field(topology: Topology, rng: np.random.Generator) -> Float:
    """Draw one value per district, the nodes nearest to a random node, and return it for each edge."""
    chosen = rng.choice(topology.num_nodes, min(DISTRICTS, topology.num_nodes), replace=False)
    owner = find_nearest(topology.arcs.start, topology.arcs.heads, chosen)[0]
    field = rng.normal(size=topology.num_nodes)[owner[topology.tails]]
    sd = float(field.std())
    return np.asarray((field - field.mean()) / sd if sd > 0 else 0.0 * field)


def _line_field(topology: Topology, rng: np.random.Generator) -> Float:
    """Return one number for edges that many shortest paths over even weights use, and a larger one for the others."""
    used = usage(topology, np.exp(0.1 * rng.normal(size=topology.num_edges)))
    return np.where(used > np.quantile(used, 1 - FAST_SHARE), -1.0, 0.0)


FIELDS = {"districts": _district_field, "lines": _line_field}


def _spread(factors: Float) -> float:
    """Return the standard deviation of the logarithms of normal factors with the same quartiles."""
    positive = factors[factors > 0]
    return float(np.diff(np.quantile(np.log(positive), (0.25, 0.75)))[0]) / 1.349 if len(positive) else 0.0


def fill_proxy(topology: Topology) -> Float | None:
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
