"""The estimator ``shrink``: empirical Bayes shrinkage of every noisy weight towards its prediction.

Five steps, each of which sees only what was published:

1. *Regression* of log weights on public facts (a proxy, lengths, position in the network), fitted to the noisy weights
   under the exact noise distribution (``regression``).
2. *Neighbours*: the regression is widened by the residuals of edges on the same chain, on the same straight street and
   nearby, never of the edge itself; then by how much shortest paths use the edge when its own noisy weight is hidden.
3. *Shrinkage*: the posterior mean of each weight, corrected so that groups of edges are right on average.
4. *Scale*: a distance is a minimum over paths, and the minimum over mean weights exceeds the mean minimum.  One factor,
   from distances over posterior samples, corrects this selection bias; another corrects what noisy weights along routes
   show of the means.
5. *Mixing*: a share of the noisy weights themselves is mixed in.  A parametric bootstrap (``accuracy``) tells which
   share has the smallest error; an error that means share along routes (``accuracy``), which the bootstrap of a
   wrong model cannot show, is added to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ...arrays import Bool, Float, Int
from ...kernels.paths import in_threads
from ...kernels.routes import diffused
from ...kernels.search import hops_from
from ...measurement.samples import distances, usage
from ...measurement.strategy import Strategy
from ...network.topology import Topology
from ...noise import simulation
from ..accuracy import replicate, shared_error
from ..base import MIN_EDGES, NoisyEdges, WeightEstimator, measures_single_edges
from .bounds import clip_weights
from .facts import EdgeFacts, edge_facts, standardise
from .regression import OFFSET, BiasCorrection, Observed, Regression, ResidualModel, fit

DIFFUSION_STEPS = (1, 2, 4, 8, 16, 32)  # from edge to edge
FOLDS, FEW_FOLDS, ROUTE_FOLDS = 10, 5, 5
MAX_EDGES = 4_000_000  # beyond, it takes minutes and gigabytes, and must be asked for by name
LARGE_NETWORK = 100_000  # edges; beyond, fewer folds and fewer samples
SAMPLES, FEW_SAMPLES = 8, 4
MAX_NEIGHBOUR_RESIDUAL = 2.0
ADDITIVE = (0.0, 0.3, 1.0, 3.0)  # parts of the mean weight up to which errors may be additive
TRIAL_ROUNDS, TRIAL_EDGES = 6, 4_000
ROUNDS, BOOTSTRAP_ROUNDS = (12, 12, 6), (6, 6, 3)  # of fitting to facts, with neighbours, with usage
SELECTION_POWER = 0.85  # of the factor for selection bias: true errors are smoother than samples and leave less of it
MAX_SELECTION_FACTOR = 2.0  # more than 1 is chance, or paths of length 0
ROUTE_ERROR_SHARE = 0.1  # the part of the standard deviation of means that all routes usually share
SIGNIFICANCE = 2.0  # standard deviations
PROPORTIONAL_SD = 0.5  # of weights around a multiple of their length, before the release is seen

MIXED_SHARES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # of noisy weights
BOOTSTRAP_PART = 20_000  # edges; of larger networks only a part is measured again
MEAN_OF_STD = 0.8  # mean absolute value of a standard normal number
BOOTSTRAP_EDGES, MAX_REPLICATES = 6_000, 6  # in small networks the result of one replicate varies much
SHARED_ERROR_PRIOR = 0.3  # the part of the standard deviation of means that edges of a route usually share
TINY = 1e-9  # in units of noise: as good as 0
TEMPERATURE = 0.03  # shares whose errors differ by less are averaged


@dataclass(frozen=True, eq=False)
class ShrunkWeights:
    """Weights after steps 1 to 4, in units of noise."""

    mean: Float  # (m,): posterior means
    weights: Float  # (m,): the same, scaled so that distances are right on average
    noisy: Float  # (m,): the noisy weights, within their bounds
    samples: tuple[Float, ...]  # (m,): posterior samples
    sd: Float  # (m,): the posterior standard deviation of each weight

    def mixed(self, share: float) -> Float:
        """Mix in this share of the noisy weights."""
        return (1 - share) * self.weights + share * self.noisy


Shrink = Callable[[NoisyEdges], ShrunkWeights]


def shrink_weights(noisy: NoisyEdges) -> Int:
    """Estimate weights by all five steps."""
    if len(noisy.edges) < noisy.topology.num_edges or not noisy.can_be_modelled:
        return clip_weights(noisy)
    unit = noisy.unit
    fitted = fit_regression(noisy.topology, Observed.from_edges(noisy))
    shrunk = _shrink(fitted, noisy.topology)
    shared = shared_error_of_means(noisy.topology, np.exp(fitted.public_location), shrunk, fitted.observed.values)
    again = partial(shrink_once, additive=fitted.residuals.additive)
    share = best_share(noisy, shrunk.samples, shared, unit, again)
    wanted = shrunk.mixed(share) * unit
    return np.clip(np.rint(wanted).astype(np.int64), noisy.lattice.low, noisy.lattice.high)


def shrink_once(noisy: NoisyEdges, additive: float | None = None) -> ShrunkWeights:
    """Run steps 1 to 4."""
    return _shrink(fit_regression(noisy.topology, Observed.from_edges(noisy), additive), noisy.topology)


def _shrink(fitted: Regression, topology: Topology) -> ShrunkWeights:
    """Run steps 3 and 4."""
    observed = fitted.observed
    found = fitted.posterior(SAMPLES if len(observed.values) <= LARGE_NETWORK else FEW_SAMPLES)
    added = BiasCorrection.fit(topology, fitted, found.mean).added(found.mean)
    mean, *samples = (np.clip(weights + added, observed.low, observed.high) for weights in (found.mean, *found.samples))
    sampled = float(np.mean([distances(topology, sample).sum() for sample in samples]))
    selection = min(sampled / max(float(distances(topology, mean).sum()), 1e-300), MAX_SELECTION_FACTOR)
    sd = np.sqrt(np.mean([(sample - mean) ** 2 for sample in samples], axis=0))
    weights = mean * (selection**SELECTION_POWER * _route_factor(fitted, mean, sd))
    return ShrunkWeights(mean, weights, np.clip(observed.values, observed.low, observed.high), tuple(samples), sd)


def fit_regression(topology: Topology, observed: Observed, additive: float | None = None) -> Regression:
    """Run steps 1 and 2; parameters as in `shrink_once`."""
    first, second, third = ROUNDS if additive is None else BOOTSTRAP_ROUNDS
    fitted, lengths = fit_to_facts(topology, observed, additive, first)
    fitted = fitted.with_columns(_neighbour_columns(edge_facts(topology), fitted, lengths), second)
    used = _hidden_usage(topology, fitted)
    log_used = np.log(used + 0.5 / topology.num_nodes)
    columns = standardise([log_used, log_used**2, (used == 0).astype(np.float64)], len(used))
    return replace(fitted.with_columns(columns, third), usage=used)


def fit_to_facts(
    topology: Topology, observed: Observed, additive: float | None = None, rounds: int = ROUNDS[0]
) -> tuple[Regression, int]:
    """Run step 1 on what was ``observed``, and return the regression and how many of its columns are log lengths.

    Only public facts of ``topology`` are regressors, so predictions contain hardly any noise of single edges.  Without
    ``additive`` the value with the largest likelihood is taken; ``rounds`` are those of `regression.fit`.
    """
    facts = edge_facts(topology)
    if additive is None:
        mean = max(float(observed.values.mean()), 0.0)
        trials = [_fit_facts(facts, observed, part * mean, TRIAL_ROUNDS, TRIAL_EDGES)[0] for part in ADDITIVE]
        additive = max(trials, key=lambda fitted: fitted.log_likelihood).residuals.additive
    return _fit_facts(facts, observed, additive, rounds)


def _fit_facts(facts: EdgeFacts, observed: Observed, additive: float, *cost: int) -> tuple[Regression, int]:
    """Fit the regression on public facts (step 1) for one value of ``additive``; as `fit_to_facts` otherwise."""
    lengths, unknown = _log_lengths(facts, observed)
    columns = np.hstack([np.ones((len(lengths), 1)), lengths, facts.traits])
    classes = np.unique(np.where(unknown, 2, facts.bridge), return_inverse=True)[1]
    start = np.zeros(columns.shape[1])
    middle = np.log(max(float(observed.values.mean()), OFFSET) + OFFSET)
    start[0] = middle - 0.5
    if lengths.shape[1]:
        start[1], start[0] = 1.0, middle - np.log(np.exp(lengths[:, 0]).mean())
    traits = np.arange(1 + lengths.shape[1], columns.shape[1])
    residuals = ResidualModel.initial(int(classes.max()) + 1, additive)
    return fit(observed, columns, (traits,), classes, start, residuals, *cost), lengths.shape[1]


def _log_lengths(facts: EdgeFacts, observed: Observed) -> tuple[Float, Bool]:
    """Return logarithms of lengths on the scale of the weights, and where one of them is unknown."""
    m = len(observed.values)
    columns: list[Float] = []
    unknown = np.zeros(m, np.bool_)
    for length in facts.lengths:
        known = np.isfinite(length)
        if known.sum() < 3 or not length[known].sum() > 0:
            continue
        column = columns[0].copy() if columns else np.zeros(m)
        logs = np.log(_expected_from_length(length[known], observed.values[known]) + OFFSET)
        column[known] = logs - logs.mean() + column[known].mean()
        column -= column.mean()
        if column.std() < 1e-9 or any(np.corrcoef(column, other)[0, 1] > 0.99995 for other in columns):
            continue
        unknown |= ~known
        columns.append(column)
    return (np.stack(columns, axis=1) if columns else np.empty((m, 0))), unknown


def _expected_from_length(length: Float, values: Float) -> Float:
    """Return weights expected from lengths: proportional, plus a constant that every edge has if the data show one.

    Such a constant is a stop or a crossing, or all that is known of an edge whose length is a rough guess.  Noise has
    mean 0, so weighted least squares are unbiased.
    """
    total = max(float(values.sum()), 0.05 * float(np.abs(values).sum()))
    proportional = np.asarray(length * (total / length.sum()), np.float64)
    weight = 1 / (2 + (PROPORTIONAL_SD * proportional) ** 2)
    middle, mean = float(weight @ proportional / weight.sum()), float(weight @ values / weight.sum())
    centred = proportional - middle
    information = float((weight * centred) @ centred)
    slope = max(float((weight * centred) @ values) / max(information, 1e-300), 0.0)
    if middle <= 0 or mean <= 0 or slope > mean / middle - SIGNIFICANCE / np.sqrt(max(information, 1e-300)):
        return proportional  # no significant constant
    expected = mean + slope * centred
    return np.asarray(expected * (total / max(float(expected.sum()), 1e-300)), np.float64)


def _neighbour_columns(facts: EdgeFacts, fitted: Regression, lengths: int) -> Float:
    """Return residuals of similar edges, never of the edge itself, and what lengths predict of those edges.

    With both, a regression can use the weights of neighbours as a whole where they predict better than a length.
    """
    found = fitted.posterior()
    centred = found.residual - found.residual.mean()
    variance = fitted.residuals.variance[fitted.classes] * fitted.residuals.scale(fitted.location) ** 2
    reliability = np.clip(1 - found.residual_variance / variance, 0.25, 1.0)
    columns = _neighbour_means(facts, centred, reliability)
    if lengths:
        expected = fitted.columns[:, 1 : 1 + lengths] @ fitted.coefficients[1 : 1 + lengths]
        columns += _neighbour_means(facts, expected * reliability, reliability)
    columns = [np.clip(column, -MAX_NEIGHBOUR_RESIDUAL, MAX_NEIGHBOUR_RESIDUAL) for column in columns]
    kept = [column - column.mean() for column in columns if column.std() > 1e-9]
    return np.stack(kept, axis=1) if kept else np.empty((len(centred), 0))


def _neighbour_means(facts: EdgeFacts, values: Float, reliability: Float) -> list[Float]:
    """Return weighted means over the groups of each edge, and over edges nearby, the edge itself left out."""
    columns = [
        (np.bincount(group, values)[group] - values) / (np.bincount(group, reliability)[group] - reliability + 0.5)
        for group in facts.groups
    ]
    m = len(values)
    folds = FOLDS if m <= LARGE_NETWORK else FEW_FOLDS
    ends, others = facts.ends
    near = np.argsort(np.minimum(ends, others), kind="stable")  # neighbours are close in memory
    degree = np.bincount(ends, minlength=facts.nodes) + np.bincount(others, minlength=facts.nodes)
    walk = ends[near], others[near], degree
    fold = simulation(3).integers(0, folds, m)[near]
    smoothed = np.zeros((len(DIFFUSION_STEPS), m))

    def run(some: slice) -> None:
        for k in range(some.start, some.stop):
            diffused(*walk, np.array(DIFFUSION_STEPS), values[near], reliability[near], fold == k, smoothed)

    in_threads(run, folds, worth_it=m > LARGE_NETWORK)
    out = np.empty_like(smoothed)
    out[:, near] = smoothed
    return [*columns, *out]


def _hidden_usage(topology: Topology, fitted: Regression) -> Float:
    """Return how much shortest paths use each edge when its own noisy weight is hidden, one fold at a time."""
    found = fitted.posterior()
    fold, used = simulation(4).integers(0, ROUTE_FOLDS, topology.num_edges), np.zeros(topology.num_edges)
    for k in range(ROUTE_FOLDS):
        hidden = fold == k
        used[hidden] = usage(topology, np.where(hidden, found.prior_mean, found.mean))[hidden]
    return used


def _route_factor(fitted: Regression, mean: Float, sd: Float) -> float:
    """Return a factor for the means, from the length of routes in noisy weights relative to their length in means.

    The noise of an edge did not choose the route, so noisy weights along routes are right on average.  Means are not,
    if the edges that routes prefer have something in common that no fact shows.  Where each mean is nearly certain,
    the difference is noise, and the factor stays near 1.
    """
    observed, used = fitted.observed, fitted.usage
    length = float(used @ mean)
    if length <= TINY:
        return 1.0
    noise = observed.noise
    excess = float(used @ observed.values) / length - 1
    excess_sd = float(np.sqrt((used * noise) @ (used * noise))) / length
    prior_sd = ROUTE_ERROR_SHARE * float(used @ sd) / length
    if excess > 0:  # the truth may have a better route than the one that looked so good: take half
        excess /= 2
    return float(np.clip(1 + excess * prior_sd**2 / max(prior_sd**2 + excess_sd**2, 1e-300), 0.5, 2.0))


def shared_error_of_means(topology: Topology, expected: Float, shrunk: ShrunkWeights, values: Float) -> float:
    """Estimate the relative error that ``shrunk`` means share along routes over ``expected`` weights of ``topology``.

    ``values`` are the noisy weights.  Such routes prefer edges that facts underestimate, so all of them are longer than
    the means say, while the truth has better ones.  That is no error of distances, and is divided out.  Routes
    *shorter* than the means say would be.
    """
    used, mean = usage(topology, expected), shrunk.mean
    length = float(used @ mean)
    if length <= TINY:
        return 0.0
    ratio, prior_sd = max(float(used @ values) / length, 1.0), SHARED_ERROR_PRIOR * float(used @ shrunk.sd) / length
    return shared_error(topology, expected, ratio * mean, values - ratio * mean, prior_sd)


def best_share(noisy: NoisyEdges, samples: Sequence[Float], shared: float, unit: float, shrink: Shrink) -> float:
    """Return the share of noisy weights with the smallest error in a parametric bootstrap.

    ``samples`` of the weights, in units of noise (``unit`` lattice steps), are the truths; ``shrink`` estimates again,
    and ``shared`` is an error along routes that is added to that of the means.
    """
    part, kept = _bootstrap_part(noisy)
    count = min(max(BOOTSTRAP_EDGES // max(len(kept), 1), 1), MAX_REPLICATES, len(samples))
    risks = [_relative_risks(part, samples[i][kept], shared, unit, shrink, i) for i in range(count)]
    risk = np.exp(np.mean(np.log(risks), axis=0))
    weight = np.exp(-(risk - risk.min()) / (TEMPERATURE * risk[-1]))
    return float(weight @ MIXED_SHARES / weight.sum())


def _relative_risks(noisy: NoisyEdges, sample: Float, shared: float, unit: float, shrink: Shrink, turn: int) -> Float:
    """Return the expected error of each share, relative to that of the noisy weights alone, in replicate ``turn``.

    ``sample`` is its truth; ``shared``, ``unit`` and ``shrink`` are those of `best_share`.
    """
    truth, measured = replicate(noisy, sample * unit, simulation(7 + turn))
    again = shrink(measured)
    true = distances(noisy.topology, truth / unit)
    if not len(true):
        return np.ones(len(MIXED_SHARES))
    error = [np.abs(distances(noisy.topology, again.mixed(share)) - true).mean() for share in MIXED_SHARES]
    risk = np.hypot(error, MEAN_OF_STD * shared * true.mean() * (1 - MIXED_SHARES)) + TINY
    return np.asarray(risk / risk[-1])


def _bootstrap_part(noisy: NoisyEdges) -> tuple[NoisyEdges, Int]:
    """Return the network, or the neighbourhood of a public node with enough edges; and which edges these are."""
    whole, m = noisy.topology, noisy.topology.num_edges
    if m <= BOOTSTRAP_PART:
        return noisy, np.arange(m)
    arcs = whole.arcs
    hops = hops_from(arcs.start, arcs.heads, int(arcs.heads[len(arcs.heads) // 2]))
    hops = np.where(hops < 0, whole.num_nodes, hops)
    farther = np.maximum(hops[whole.tails], hops[whole.heads])
    radius = np.sort(farther)[BOOTSTRAP_PART]
    kept = np.flatnonzero(farther < max(radius, 2))
    nodes, ends = np.unique(np.concatenate([whole.tails[kept], whole.heads[kept]]), return_inverse=True)
    topology = Topology(
        labels=tuple(range(len(nodes))), tails=ends[: len(kept)], heads=ends[len(kept) :], directed=whole.directed,
        lower=whole.lower[kept], upper=whole.upper[kept],
        coordinates=None if whole.coordinates is None else whole.coordinates[nodes],
        proxy=None if whole.proxy is None else whole.proxy[kept], proxy_name=whole.proxy_name,
    )  # fmt: skip
    return noisy.restricted(topology, kept), kept


def _suits(strategy: Strategy) -> bool:
    return measures_single_edges(strategy) and MIN_EDGES <= strategy.topology.num_edges <= MAX_EDGES


SHRINK = WeightEstimator(
    name="shrink",
    summary="each noisy weight shrunk towards its prediction from public facts and neighbouring edges",
    estimate=shrink_weights,
    suits=_suits,
    costly=True,
)
