"""Public facts about edges that help to predict their weights: lengths and position in the network.

Computed from the topology alone, on its undirected skeleton: parallel edges and the two directions of a street are one
*street*.  A model reads them as a `Design`: how the expected logarithm of a weight depends on each fact.  An effect is
piecewise linear between quantiles of the fact and constant beyond the outermost, so nothing is extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from ..arrays import Float, Int
from ..kernels.paths import in_threads
from ..kernels.routes import hop_usage
from ..measurement.samples import side_by_side, usage
from ..network.topology import Topology
from ..noise import simulation
from ..separators.lines import bridge_traffic

LARGE_NETWORK = 20_000  # nodes; beyond, fewer breadth-first trees are grown
MAX_VISITED = 2**22  # nodes visited by all trees of a large network
MAX_TREES, MIN_TREES = 48, 4
KNOTS, MOST_VALUES = 8, 12  # of a piecewise linear effect; facts with few values have one step between any two
FEW_SOURCES = 8  # of routes in large networks
LEAST_SPREAD = 1e-3  # facts that vary less say nothing
FEWEST_KNOWN = 10
SLOPE = 1.0, 0.7  # twice the size, twice the weight, unless the release says otherwise: mean and standard deviation


@dataclass(frozen=True, eq=False)
class EdgeFacts:
    """Public facts, one entry per edge."""

    size: Float  # (m,): what a weight is likely to be in proportion to, in any unit; NaN where unknown
    traits: tuple[Float, ...]  # (m,) each: facts about the position of an edge in the network


@dataclass(frozen=True, eq=False)
class Design:
    """How the expected logarithm of a weight depends on public facts: linear in coefficients that have a prior."""

    columns: Float  # (m, k): the first is constant
    groups: Int  # (k,): columns whose coefficients share a prior variance, which is learnt; -1 for fixed priors
    prior_mean: Float  # prior_mean, prior_precision: (k,): of the coefficients with a fixed prior
    prior_precision: Float
    classes: Int  # (m,): kinds of edges that may lie around what is expected in another way

    @classmethod
    def constant(cls, m: int) -> Design:
        """Return a design without facts."""
        return cls(np.ones((m, 1)), np.array([-1]), np.zeros(1), np.array([1e-6]), np.zeros(m, np.int64))

    def rows(self, edges: Int) -> Design:
        """Return the design of some of the edges."""
        return replace(self, columns=self.columns[edges], classes=self.classes[edges])

    def with_level(self, mean: float, sd: float) -> Design:
        """Expect this mean of all edges, with this standard deviation."""
        prior_mean, prior_precision = self.prior_mean.copy(), self.prior_precision.copy()
        prior_mean[0], prior_precision[0] = mean, 1 / sd**2
        return replace(self, prior_mean=prior_mean, prior_precision=prior_precision)

    def with_column(self, column: Float, mean: float, sd: float) -> Design:
        """Add a column whose coefficient has this prior mean and standard deviation."""
        return Design(
            np.column_stack([self.columns, column - column.mean()]), np.append(self.groups, -1),
            np.append(self.prior_mean, mean), np.append(self.prior_precision, 1 / sd**2), self.classes,
        )  # fmt: skip

    def with_steps(self, fact: Float) -> Design:
        """Add the steps of a piecewise linear effect; few steps, each likely to be small, are a smooth curve."""
        values = np.unique(fact)
        knots = values if len(values) <= MOST_VALUES else np.unique(np.quantile(fact, np.linspace(0.02, 0.98, KNOTS)))
        if len(knots) < 2:
            return self
        steps = np.clip((fact[:, None] - knots[:-1]) / np.diff(knots), 0, 1)
        steps = steps[:, steps.std(axis=0) > LEAST_SPREAD]
        count, zero = steps.shape[1], np.zeros(steps.shape[1])
        return Design(
            np.hstack([self.columns, steps - steps.mean(axis=0)]),
            np.concatenate([self.groups, np.full(count, self.groups.max() + 1)]),
            np.concatenate([self.prior_mean, zero]), np.concatenate([self.prior_precision, zero]), self.classes,
        )  # fmt: skip


def design_of(topology: Topology, slope: tuple[float, float] = SLOPE) -> Design:
    """Return the design of all public facts; ``slope``: prior mean and standard deviation of that of the size."""
    facts, design = edge_facts(topology), Design.constant(topology.num_edges)
    known = np.isfinite(facts.size) & (facts.size > 0)
    if known.sum() >= FEWEST_KNOWN:
        size = np.log(np.where(known, facts.size, float(np.median(facts.size[known]))))
        size = np.clip(size, *np.quantile(size, (0.002, 0.998)).tolist())
        if size.std() > LEAST_SPREAD:
            design = design.with_column(size, *slope).with_steps(size)
        if not known.all():
            design = design.with_column(np.asarray(~known, np.float64), 0.0, 1.0)
            design = replace(design, classes=(~known).astype(np.int64))
    for trait in facts.traits:
        design = design.with_steps(trait)
    return design


@lru_cache(maxsize=2)
def edge_facts(topology: Topology) -> EdgeFacts:
    """Compute the public facts of a network."""
    n = topology.num_nodes
    number = side_by_side(topology)[1]
    tails, heads_of = number[topology.tails], number[topology.heads]
    low, high = np.minimum(tails, heads_of), np.maximum(tails, heads_of)
    ends, street = np.unique(low * n + high, return_inverse=True)
    a, b = ends // n, ends % n
    count = len(ends)
    source, target, edge = np.concatenate([a, b]), np.concatenate([b, a]), np.tile(np.arange(count), 2)
    order = np.argsort(source, kind="stable")
    heads, edges = target[order], edge[order]
    degree = np.bincount(source, minlength=n)
    start = np.concatenate([[0], np.cumsum(degree)])

    roots = np.arange(n)
    if n > 400:
        trees = 200 if n <= LARGE_NETWORK else max(MIN_TREES, min(MAX_TREES, MAX_VISITED // n))
        roots = number[simulation(0).choice(n, trees, replace=False)]
    used, far = _hop_usage(start, heads, edges, roots, count)
    bridge = bridge_traffic(start, heads, edges, count) > 0

    def merged(one: Int, other: Int) -> Int:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        graph = coo_array((np.ones(len(one)), (one, other)), shape=(count, count))
        return np.asarray(connected_components(graph, directed=False)[1], np.int64)

    two = np.flatnonzero(degree == 2)
    chains = merged(edges[start[two]], edges[start[two] + 1])
    chain = np.bincount(chains)[chains]
    least, most = np.minimum(degree[a], degree[b]), np.maximum(degree[a], degree[b])
    traits = [
        np.log(used + 0.5 / n), np.log(least), np.log(most), bridge, np.log((far[a] + far[b]) / 2 + 1), np.log(chain),
    ]  # fmt: skip
    found = [np.asarray(trait, np.float64)[street] for trait in traits]
    length = _lengths(topology)
    size = length if topology.proxy is None else np.where(topology.proxy >= 0, topology.proxy, np.nan)
    if np.isfinite(size).any():
        found.append(np.log(_usage_by(topology, size) + 0.5 / n))
    if topology.proxy is not None and (length > 0).any():
        found.append(np.log(np.where(length > 0, length, np.median(length[length > 0]))))
    return EdgeFacts(size, tuple(found))


def _lengths(topology: Topology) -> Float:
    """Return straight-line lengths, NaN where unknown."""
    if topology.coordinates is None:
        return np.full(topology.num_edges, np.nan)
    one, other = topology.coordinates[topology.tails], topology.coordinates[topology.heads]
    shift = one - other
    if (np.nanmax(np.abs(topology.coordinates), axis=0, initial=0.0) <= [180, 90]).all():  # perhaps degrees
        shift[:, 0] *= np.cos(np.radians((one[:, 1] + other[:, 1]) / 2))
    return np.asarray(np.hypot(shift[:, 0], shift[:, 1]), np.float64)


def _hop_usage(start: Int, heads: Int, edges: Int, roots: Int, count: int) -> tuple[Float, Float]:
    """Return the share of sampled pairs whose path of fewest hops uses each street, and the mean hops to each node.

    ``start``, ``heads`` and ``edges`` are the arcs of the skeleton with ``count`` streets; ``roots`` are the sample.
    """
    n = len(start) - 1
    found: list[tuple[Float, Float]] = []

    def run(part: slice) -> None:
        used, far = np.zeros(count), np.zeros(n)
        hop_usage(start, heads, edges, roots, part.start, part.stop, used, far)
        found.append((used, far))

    in_threads(run, len(roots), worth_it=n > LARGE_NETWORK)
    used, far = (np.sum(parts, axis=0) for parts in zip(*found, strict=True))
    return used / (len(roots) * n), far / len(roots)


def _usage_by(topology: Topology, size: Float) -> Float:
    """Return the share of sampled pairs whose shortest path by public sizes uses each edge."""
    known = size[np.isfinite(size)]
    middle = max(float(known.mean()), 1e-300)
    return usage(topology, np.where(np.isfinite(size), size, middle) / middle, FEW_SOURCES)
