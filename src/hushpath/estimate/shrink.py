"""Structured empirical Bayes: every noisy weight is drawn towards what facts and its neighbourhood make one expect.

Free post-processing, in five steps, each of which sees only what was published:

1. expect: a regression of log weights on public facts (a proxy, lengths, place in the network: ``facts``), fitted to
   the noisy weights under the exact law of noise (``regression``, ``residuals``);
2. neighbours: what the first fit leaves over on the same chain, straight street and nearby edges, the edge itself
   always left out; then how much shortest paths use an edge when its own noisy weight is hidden;
3. shrink: the posterior mean of each weight; shifted so that groups of edges are right on average, which noisy weights
   are (their noise has mean 0: ``shift``);
4. scale: a distance is a minimum, and the minimum over mean weights is above the mean minimum; one factor, from
   distances over draws of the weights, makes up for it; another for what noisy weights along routes show of the means;
5. hedge: a share of the noisy weight itself is mixed in where that proved better in a rehearsal.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..arrays import Bool, Float, Int
from ..blocks.routes import distances, usage
from ..data.topology import Topology
from ..kernels.paths import in_threads
from ..kernels.routes import diffused
from ..noise import simulation
from ..strategy.core import Strategy
from . import clip
from .core import FEWEST_EDGES, Estimator, NoisyEdges, measured_singly
from .facts import EdgeFacts, edge_facts, standardised
from .hedge import TINY, Shrunk, error_in_common, noisy_share
from .regression import Expectation, fit
from .residuals import OFFSET, Observed, Residuals
from .shift import Shift

NO_NOISE = 1e9  # where a value is so many times the noise, noise is no matter (or the file is a joke)
STEPS = (1, 2, 4, 8, 16, 32)  # of diffusion from edge to edge
FOLDS, FEW_FOLDS, ROUTE_FOLDS = 10, 5, 5
MOST_EDGES = 4_000_000  # beyond, it takes minutes and gigabytes; whoever has them may name it
MANY_EDGES = 100_000  # beyond, neighbours are hidden in fewer folds, and fewer weights are drawn
DRAWS, FEW_DRAWS = 8, 4
LARGEST_RESIDUAL = 2.0
EVEN = (0.0, 0.3, 1.0, 3.0)  # parts of the mean weight up to which errors may be the same for all
TRIED_ROUNDS, TRIED_EDGES = 6, 4_000
ROUNDS, REHEARSED_ROUNDS = (12, 12, 6), (6, 6, 3)  # of fitting to facts, with neighbours, with routes
LUCK = 0.85  # power of the factor for luck among routes: true errors are smoother than drawn ones and leave less of it
MOST_LUCKY = 2.0  # more than 1 is chance, or paths of no length
ON_ROUTES = 0.1  # the part of what means may be off by that all routes usually share
CHANCE = 2.0  # standard deviations
SCATTER = 0.5  # of weights around a multiple of their length, before the release says anything


def estimate(noisy: NoisyEdges) -> Int:
    """All five steps."""
    unit = float(np.median(noisy.scales)) if len(noisy.scales) else 0.0
    few = len(noisy.edges) < max(FEWEST_EDGES, noisy.topology.num_edges)
    if few or not (noisy.scales > 0).all() or np.abs(noisy.values).max() > NO_NOISE * unit:
        return clip.estimate(noisy)
    fitted = expect(noisy.topology, Observed.of(noisy, unit))
    shrunk = _shrunk(fitted, noisy.topology)
    expected = np.exp(fitted.public_guess)
    shared = error_in_common(noisy.topology, expected, shrunk, fitted.observed.values)
    again = partial(shrink, even=fitted.residuals.even)
    wanted = shrunk.mixed(noisy_share(noisy, shrunk.draws, shared, unit, again)) * unit
    return np.clip(np.rint(wanted).astype(np.int64), noisy.lattice.low, noisy.lattice.high)


def shrink(noisy: NoisyEdges, even: float | None = None) -> Shrunk:
    """Steps 1 to 4; a rehearsal, which is told how far errors are even, takes fewer rounds."""
    observed = Observed.of(noisy, float(np.median(noisy.scales)))
    return _shrunk(expect(noisy.topology, observed, even), noisy.topology)


def _shrunk(fitted: Expectation, topology: Topology) -> Shrunk:
    """Steps 3 and 4."""
    observed = fitted.observed
    found = fitted.posterior(DRAWS if len(observed.values) <= MANY_EDGES else FEW_DRAWS)
    shift = Shift.of(topology, fitted, found.mean).added(found.mean)
    mean, *draws = (np.clip(weights + shift, observed.low, observed.top) for weights in (found.mean, *found.draws))
    drawn = float(np.mean([distances(topology, draw).sum() for draw in draws]))
    lucky = min(drawn / max(float(distances(topology, mean).sum()), 1e-300), MOST_LUCKY)
    spread = np.sqrt(np.mean([(draw - mean) ** 2 for draw in draws], axis=0))
    weights = mean * (lucky**LUCK * _seen_on_routes(fitted, mean, spread))
    return Shrunk(mean, weights, np.clip(observed.values, observed.low, observed.top), tuple(draws), spread)


def expect(topology: Topology, observed: Observed, even: float | None = None) -> Expectation:
    """Steps 1 and 2: the fitted expectation of every weight."""
    first, second, third = ROUNDS if even is None else REHEARSED_ROUNDS
    fitted, sizes = by_facts(topology, observed, even, first)
    fitted = fitted.widened(_neighbours(edge_facts(topology), fitted, sizes), second)
    used = _used(topology, fitted)
    log_used = np.log(used + 0.5 / topology.num_nodes)
    columns = standardised([log_used, log_used**2, (used == 0).astype(np.float64)], len(used))
    return replace(fitted.widened(columns, third), used=used)


def by_facts(
    topology: Topology, observed: Observed, even: float | None = None, rounds: int = ROUNDS[0]
) -> tuple[Expectation, int]:
    """Step 1: from public facts alone; hardly any noise of single edges is in it.  And how many of them are sizes.

    How far errors are even is what the release makes likeliest, unless it is known.
    """
    facts = edge_facts(topology)
    if even is None:
        mean = max(float(observed.values.mean()), 0.0)
        tried = [_fitted(facts, observed, part * mean, TRIED_ROUNDS, TRIED_EDGES)[0] for part in EVEN]
        even = max(tried, key=lambda fitted: fitted.likelihood).residuals.even
    return _fitted(facts, observed, even, rounds)


def _fitted(facts: EdgeFacts, observed: Observed, even: float, *cost: int) -> tuple[Expectation, int]:
    """Step 1 with a law of residuals that is even so far."""
    sizes, unknown = _sizes(facts, observed)
    columns = np.hstack([np.ones((len(sizes), 1)), sizes, facts.traits])
    which = np.unique(np.where(unknown, 2, facts.bridge), return_inverse=True)[1]
    first = np.zeros(columns.shape[1])
    middle = np.log(max(float(observed.values.mean()), OFFSET) + OFFSET)
    first[0] = middle - 0.5
    if sizes.shape[1]:
        first[1], first[0] = 1.0, middle - np.log(np.exp(sizes[:, 0]).mean())
    traits = np.arange(1 + sizes.shape[1], columns.shape[1])
    vague = Residuals.vague(int(which.max()) + 1, even)
    fitted = fit(observed, columns, (traits,), which, first, vague, *cost)
    return fitted, sizes.shape[1]


def _sizes(facts: EdgeFacts, observed: Observed) -> tuple[Float, Bool]:
    """Logarithms of lengths, brought to the scale of the weights; and where one of them is unknown."""
    m = len(observed.values)
    sizes: list[Float] = []
    unknown = np.zeros(m, np.bool_)
    for length in facts.lengths:
        known = np.isfinite(length)
        if known.sum() < 3 or not length[known].sum() > 0:
            continue
        size = sizes[0].copy() if sizes else np.zeros(m)
        logs = np.log(_in_scale(length[known], observed.values[known]) + OFFSET)
        size[known] = logs - logs.mean() + size[known].mean()
        size -= size.mean()
        if size.std() < 1e-9 or any(np.corrcoef(size, other)[0, 1] > 0.99995 for other in sizes):
            continue
        unknown |= ~known
        sizes.append(size)
    return (np.stack(sizes, axis=1) if sizes else np.empty((m, 0))), unknown


def _in_scale(length: Float, values: Float) -> Float:
    """What a length makes one expect, in units of noise: in proportion to it, with a part that every edge has.

    Such a part is a stop or a crossing; or all that is known of an edge whose length is a rough guess.  Noise has mean
    0, so least squares are unbiased; edges count by how well they are known to lie on a line.
    """
    total = max(float(values.sum()), 0.05 * float(np.abs(values).sum()))
    share = np.asarray(length * (total / length.sum()), np.float64)
    trust = 1 / (2 + (SCATTER * share) ** 2)
    middle, mean = float(trust @ share / trust.sum()), float(trust @ values / trust.sum())
    off = share - middle
    known = float((trust * off) @ off)
    slope = max(float((trust * off) @ values) / max(known, 1e-300), 0.0)
    if middle <= 0 or mean <= 0 or slope > mean / middle - CHANCE / np.sqrt(max(known, 1e-300)):
        return share  # no such part is to be seen
    expected = mean + slope * off
    return np.asarray(expected * (total / max(float(expected.sum()), 1e-300)), np.float64)


def _neighbours(facts: EdgeFacts, fitted: Expectation, sizes: int) -> Float:
    """Residuals of edges likely to be alike; never the edge's own.  And what lengths made one expect of those edges.

    With both a regression can take neighbours' weights whole, where a length is a worse guide than they are.
    """
    found, which = fitted.posterior(), fitted.which
    left = found.residual - found.residual.mean()
    variance = fitted.residuals.variance[which] * fitted.residuals.stretch(fitted.guess) ** 2
    trust = np.clip(1 - found.spread / variance, 0.25, 1.0)
    columns = _around(facts, left, trust)
    if sizes:
        expected = fitted.columns[:, 1 : 1 + sizes] @ fitted.coefficients[1 : 1 + sizes]
        columns += _around(facts, expected * trust, trust)
    columns = [np.clip(column, -LARGEST_RESIDUAL, LARGEST_RESIDUAL) for column in columns]
    kept = [column - column.mean() for column in columns if column.std() > 1e-9]
    return np.stack(kept, axis=1) if kept else np.empty((len(left), 0))


def _around(facts: EdgeFacts, values: Float, trust: Float) -> list[Float]:
    """The mean of values, by trust, over the groups of each edge, and over edges nearby, itself left out."""
    columns = [
        (np.bincount(group, values)[group] - values) / (np.bincount(group, trust)[group] - trust + 0.5)
        for group in facts.groups
    ]
    m = len(values)
    folds = FOLDS if m <= MANY_EDGES else FEW_FOLDS
    ends, others = facts.ends
    near = np.argsort(np.minimum(ends, others), kind="stable")  # side by side in memory
    walk = (
        ends[near],
        others[near],
        np.bincount(ends, minlength=facts.nodes) + np.bincount(others, minlength=facts.nodes),
    )
    fold = simulation(3).integers(0, folds, m)[near]
    spread = np.zeros((len(STEPS), m))

    def run(some: slice) -> None:
        for k in range(some.start, some.stop):
            diffused(*walk, np.array(STEPS), values[near], trust[near], fold == k, spread)

    in_threads(run, folds, worth_it=m > MANY_EDGES)
    out = np.empty_like(spread)
    out[:, near] = spread
    return [*columns, *out]


def _used(topology: Topology, fitted: Expectation) -> Float:
    """How much shortest paths use an edge when its own noisy weight is hidden, one fold at a time."""
    found = fitted.posterior()
    fold, used = simulation(4).integers(0, ROUTE_FOLDS, topology.num_edges), np.zeros(topology.num_edges)
    for k in range(ROUTE_FOLDS):
        hidden = fold == k
        used[hidden] = usage(topology, np.where(hidden, found.before, found.mean))[hidden]
    return used


def _seen_on_routes(fitted: Expectation, mean: Float, off: Float) -> float:
    """How long routes are beside what the means say, as far as noisy weights show it.

    An edge's noise had no part in choosing the route, so noisy weights along routes are right on average; means are
    not, if the edges that routes prefer have something in common that no fact tells.  Where each edge is nearly known,
    all of them together are too: what noisy weights show of it is their noise.
    """
    observed, used = fitted.observed, fitted.used
    length = float(used @ mean)
    if length <= TINY:
        return 1.0
    noise = observed.noise
    shown, spread = float(used @ observed.values) / length - 1, float(np.sqrt((used * noise) @ (used * noise))) / length
    likely = ON_ROUTES * float(used @ off) / length
    if shown > 0:  # the truth may have a better route than the one that looked so good: somewhere between
        shown /= 2
    return float(np.clip(1 + shown * likely**2 / max(likely**2 + spread**2, 1e-300), 0.5, 2.0))


def suits(strategy: Strategy) -> bool:
    """Where every edge was measured by itself and nothing else was."""
    return measured_singly(strategy) and FEWEST_EDGES <= strategy.topology.num_edges <= MOST_EDGES


ESTIMATOR = Estimator(
    name="shrink",
    summary="each noisy weight drawn towards what public facts and its neighbourhood make one expect",
    estimate=estimate,
    suits=suits,
    costly=True,
)
