"""A model of congestion, fitted to totals of trips.

The log ratio (logarithm of time over free-flow time) of edge e in period q is

    eta = x beta  +  u  +  nu

x are facts: public ones, how many trips pass, and how many would if times were as predicted.  u is a smooth field over
the edges (`line_field.PeriodFields`): a mean over periods, and how each period differs from it.  nu is the effect of a
single edge: independent between edges, with one correlation between all pairs of periods.

The precision of u splits into a mean and deviations from it, and the covariance of nu and noise is a diagonal plus an
outer product, whose inverse has the same form.  So nothing larger than a vector per period is ever made, and systems
are solved by conjugate gradients.

`fit` runs four rounds.  Each linearises the totals around the last prediction (``totals.linearise``), which gives noisy
values of eta with known variance.  How smooth the fields are, and the variance of nu (which depends on length,
prediction and count), are chosen by cross-validation on hidden edges.  If nothing predicts hidden edges better than one
level per period, the level is the prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Bool, Float
from ...measurement.samples import usage
from ...noise import simulation
from .line_field import OPPOSED, LineGraph, PeriodFields, Smoothness, line_graph
from .totals import Linearised, TripTotals, estimate_level, level_sd, linearise

TOLERANCE, MAX_STEPS = 1e-3, 200  # of conjugate gradients

MIN_COUNT = 2.0  # standard deviations of noise: smaller counts are not told apart
CERTAIN_COUNT = 8.0  # standard deviations of noise: larger counts are taken as measured
MIN_USE = 0.07  # of the mean use: less is not told apart
LEVEL_RIDGE, RIDGE, FIXED = 4.0, 3.0, 1e6  # precisions; the second relative to that of nu
COUNT_ROUNDS, GRID = 5, 33

ROUNDS, FOLDS = 4, 4
INITIAL_TAU, INITIAL_CORRELATION = 0.3, 0.5
INITIAL_SMOOTHNESS = Smoothness(30.0, 0.02), Smoothness(100.0, 0.02)
TAU_BOUNDS = (0.055, 1.0)
CORRELATION_FACTOR = 0.25  # hidden edges also lack what the field knows of them, in all periods alike
COUNT_DISPERSION = 0.02  # variance of the passes of an edge over the square of their mean, times a typical share
OUTLIER = 6.0  # standard deviations: values farther off are clipped
MAX_LOSS = 25.0  # of one hidden value
MIN_GAIN, MIN_GAIN_OVER_LEVEL = 2.0, 10.0  # in loss; else the simpler model is taken
REACH = 0.01  # of all information: facts beyond these quantiles of it count as if they were there
BINS, PRIOR_VARIANCE, PRIOR_WEIGHT = 8, 0.02, 1_000.0
SEARCH = (("strength", 10**0.5, 2.0, 1000.0), ("ridge", 5.0, 0.004, 0.5))  # parameter, step, least, largest


def _dot(one: Float, other: Float) -> float:
    """Return the inner product, on one thread: BLAS starts threads, which takes 10 times as long for short ones."""
    return float(np.einsum("i,i->", one.ravel(), other.ravel()))


# Regressors -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Columns:
    """Regressors: one level per period, facts of edges, and facts of edges and periods."""

    shared: Float  # (k, m): the same in all periods
    own: Float  # (j, P, m)
    ridge: Float  # (P + k + j,): the prior precision of each coefficient

    @classmethod
    def levels_only(cls, shape: tuple[int, int]) -> Columns:
        """Return no facts, and levels that stay where they are."""
        return cls(np.zeros((0, shape[1])), np.zeros((0, *shape)), np.full(shape[0], FIXED))

    def predict(self, beta: Float) -> Float:
        """Multiply with coefficients, (P, m)."""
        j, p, k = len(self.own), self.own.shape[1], len(self.shared)
        out = beta[:p, None] + np.einsum("k,km->m", beta[p : p + k], self.shared)[None, :]
        for column, coefficient in zip(self.own, beta[p + k : p + k + j], strict=True):
            out = out + coefficient * column
        return np.asarray(out, np.float64)

    def transposed(self, values: Float) -> Float:
        """Multiply the transposed matrix with values."""
        own = [_dot(column, values) for column in self.own]
        return np.concatenate([values.sum(axis=1), np.einsum("km,m->k", self.shared, values.sum(axis=0)), own])

    def gram(self, weights: Float) -> Float:
        """Return the weighted products of columns, plus the ridge."""
        rows = np.eye(len(self.ridge))
        return np.array([self.transposed(weights * self.predict(row)) for row in rows]) + np.diag(self.ridge)


def public_facts(totals: TripTotals) -> Float:
    """Return standardised public facts of edges, one row each."""
    topology, size = totals.topology, np.log(totals.free_flow)
    tails, heads, n = topology.tails, topology.heads, topology.num_nodes
    if topology.directed:
        degrees = np.bincount(tails, minlength=n)[heads], np.bincount(heads, minlength=n)[tails]
    else:
        degree = np.bincount(np.concatenate([tails, heads]), minlength=n)
        degrees = np.minimum(degree[tails], degree[heads]), np.maximum(degree[tails], degree[heads])
    used = np.log(_relative_usage(totals, totals.free_flow) + 0.1)
    rows = [size, size**2, *(np.log(degree + 1.0) for degree in degrees), used, used**2]
    if topology.coordinates is not None:
        way = topology.coordinates[heads] - topology.coordinates[tails]
        length = np.hypot(way[:, 0], way[:, 1])
        known = np.isfinite(length) & (length > 0)
        speed = np.log(np.where(known, length, 1.0) / totals.free_flow)
        speed = np.where(known, speed, np.median(speed[known]) if known.any() else 0.0)
        rows += [speed, speed**2]
    facts = np.stack(rows)
    sd = facts.std(axis=1, keepdims=True)
    return np.asarray((facts - facts.mean(axis=1, keepdims=True)) / np.where(sd > 1e-9, sd, np.inf), np.float64)


def _relative_usage(totals: TripTotals, seconds: Float) -> Float:
    """Return the number of shortest paths that use each edge, relative to the mean."""
    used = usage(totals.topology, seconds / seconds.mean())
    return np.asarray(used / max(float(used.mean()), 1e-300), np.float64)


def predicted_over_observed_use(totals: TripTotals, prediction: Float, counts: Float) -> Float:
    """Return the logarithm of how much each edge would be used by shortest paths over how much it is used.

    An edge on many shortest paths that few people take is slower than predicted.  That matters most where counts are
    low and times are hardly measured, because such edges look like short cuts.
    """
    used = np.stack([_relative_usage(totals, totals.free_flow * np.exp(row)) for row in prediction])
    passed = counts / totals.edge_factor
    passed = passed / max(float(passed.mean()), 1e-300)
    return np.asarray(np.log(used + MIN_USE) - np.log(passed + MIN_USE), np.float64)


def all_columns(facts: Float, totals: TripTotals, counts: Float, avoidance: Float, tau: Float) -> Columns:
    """Collect the regressors: public ``facts``, the ``counts`` of ``totals``, and their ``avoidance``.

    That is the predicted over the observed use.  The ridge fits the standard deviation ``tau`` of nu.
    """
    crowd = np.log(np.maximum(counts, MIN_COUNT * totals.noise))
    own = np.stack([crowd - crowd.mean(), avoidance - avoidance.mean()])
    ridge = np.full(len(counts) + len(facts) + len(own), RIDGE / float(np.mean(tau**2)))
    ridge[: len(counts)] = LEVEL_RIDGE
    return Columns(facts, own, ridge)


def expected_counts(totals: TripTotals, around: Linearised, graph: LineGraph) -> tuple[Float, Float]:
    """Return the posterior mean and variance of the true count of each edge and period.

    Few edges are passed often and most rarely, and what flows into a crossing flows out of it.  So the logarithm of a
    count is predicted from those of its neighbours and of other periods, with a residual variance that is learnt.
    """
    flow, flow_sd = around.passes / totals.edge_factor, around.passes_sd / totals.edge_factor
    degree = np.maximum(np.asarray(graph.adjacency.sum(axis=1)).ravel(), 1e-9)
    nearby = (graph.adjacency @ flow.T).T / degree
    mean, variance = around.passes.copy(), around.passes_sd**2
    steps = np.linspace(-3.0, 3.0, GRID)[:, None]
    for q in range(len(flow)):
        hints = [np.maximum(nearby[q], flow_sd[q] / 2)]
        if len(flow) > 1:
            hints.append(np.maximum((flow.sum(axis=0) - flow[q]) / (len(flow) - 1), flow_sd[q] / 2))
        logs = [np.log(hint * totals.edge_factor) for hint in hints]
        size, factor = np.log(totals.free_flow), np.log(totals.edge_factor)
        facts = np.stack([np.ones(flow.shape[1]), size, factor, *logs, *(x**2 for x in logs)])
        seen, noise = around.passes[q], around.passes_sd[q]
        middle, left, sd = np.log(np.maximum(seen, noise)), np.full(len(seen), 0.3), 1.0
        gram = facts @ facts.T + 1e-4 * facts.shape[1] * np.eye(len(facts))
        for _ in range(COUNT_ROUNDS):
            predicted = facts.T @ np.linalg.solve(gram, facts @ middle)
            sd = float(np.clip(np.sqrt(np.mean((middle - predicted) ** 2 + left)), 0.2, 2.5))
            grid = np.clip(predicted, -30.0, 30.0) + sd * steps
            weight = -0.5 * ((seen - np.exp(grid)) / noise) ** 2 - 0.5 * steps**2
            weight = np.exp(weight - weight.max(axis=0))
            weight /= weight.sum(axis=0)
            middle = (weight * grid).sum(axis=0)
            left = (weight * grid**2).sum(axis=0) - middle**2
        uncertain, numbers = seen < CERTAIN_COUNT * noise, np.exp(grid)
        average = (weight * numbers).sum(axis=0)
        mean[q, uncertain] = average[uncertain]
        variance[q, uncertain] = ((weight * numbers**2).sum(axis=0) - average**2)[uncertain]
    return np.maximum(mean, 1e-3 * around.passes_sd), np.maximum(variance, 0.0)


# Linear algebra -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """Noisy values of eta: independent errors, and the edge effects nu on top."""

    values: Float  # (P, m)
    error: Float  # (P, m): the variance of the independent errors
    tau: Float  # (P, m): the standard deviation of nu
    correlation: float  # the correlation of nu between periods
    kept: Bool  # (m,): whether an edge counts; others are as if nothing had been seen of them

    def hide(self, edges: Bool) -> Seen:
        """Hide some edges."""
        return replace(self, kept=self.kept & ~edges)

    def apply_precision(self, values: Float) -> Float:
        """Apply the inverse of the covariance of values around x beta + u."""
        own = self._own
        out = values / own
        if self.correlation:
            out = out - self._common / own * self.tau * (self.tau * out).sum(axis=0)
        return np.asarray(out * self.kept, np.float64)

    @property
    def _own(self) -> Float:
        return self.error + (1 - self.correlation) * self.tau**2

    @property
    def _common(self) -> Float:
        total = (self.tau**2 / self._own).sum(axis=0)
        return np.asarray(self.correlation / (1 + self.correlation * total), np.float64)

    @property
    def precision_diagonal(self) -> Float:
        """The diagonal of the same inverse."""
        own = self._own
        return np.asarray((1 / own - self._common * (self.tau / own) ** 2) * self.kept, np.float64)

    def edge_effects(self, residuals: Float) -> Float:
        """Return the posterior mean of nu, given the residuals of the values."""
        pulled = self.tau * self.apply_precision(residuals)
        out = self.tau * ((1 - self.correlation) * pulled + self.correlation * pulled.sum(axis=0))
        return np.asarray(out, np.float64)

    @property
    def posterior_variance(self) -> Float:
        """The posterior variance of nu, if x beta + u were known."""
        out = np.empty_like(self.tau)
        for q, own in enumerate(self.tau):
            column = self.correlation * self.tau * own
            column[q] = own**2
            out[q] = own**2 - (column * self.apply_precision(column)).sum(axis=0)
        return np.maximum(out, 1e-12 * self.tau**2)

    def sample(self, rng: np.random.Generator) -> tuple[Float, Float]:
        """Draw nu and independent errors from their prior."""
        rho, common = self.correlation, rng.normal(size=self.tau.shape[1])
        nu = self.tau * (np.sqrt(1 - rho) * rng.normal(size=self.tau.shape) + np.sqrt(rho) * common)
        return nu, np.sqrt(self.error) * rng.normal(size=self.error.shape)


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients and field."""

    columns: Columns
    beta: Float
    field: Float

    @property
    def expected(self) -> Float:
        """The log ratios that they predict, edge effects left out."""
        return self.columns.predict(self.beta) + self.field


def solve(
    columns: Columns, fields: PeriodFields | None, seen: Seen, start: Solution | None = None,
    perturbation: tuple[Float, Float] | None = None,
) -> Solution:  # fmt: skip
    """Compute the posterior mean of the coefficients of ``columns`` and of ``fields``, given what was ``seen``.

    ``start`` is where conjugate gradients begin; a ``perturbation`` is added to the right hand side.
    """
    k, diagonal = len(columns.ridge), seen.precision_diagonal
    values, vectors = np.linalg.eigh(columns.gram(diagonal))
    root = np.sqrt(np.maximum(values, 1e-15 * values.max()))
    scale, unscale = vectors / root, (vectors * root).T  # of coefficients; a field is scaled by its diagonal
    weighted = seen.apply_precision(seen.values)
    right = columns.transposed(weighted), weighted
    if perturbation is not None:
        right = right[0] + perturbation[0], right[1] + perturbation[1]

    def apply(beta: Float, field: Float) -> tuple[Float, Float]:
        back = seen.apply_precision(columns.predict(beta) + field)
        return columns.transposed(back) + columns.ridge * beta, back

    if fields is None:
        zero = np.zeros_like(weighted)
        first = scale.T @ right[0]
        beta = _conjugate_gradients(lambda y: scale.T @ apply(scale @ y, zero)[0], first, first)
        return Solution(columns, scale @ beta, zero)
    spread = np.sqrt(diagonal + fields.diagonal(len(diagonal)))

    def unpack(packed: Float) -> tuple[Float, Float]:
        return scale @ packed[:k], packed[k:].reshape(weighted.shape) / spread

    def pack(beta: Float, field: Float) -> Float:
        return np.concatenate([scale.T @ beta, (field / spread).ravel()])

    def scaled(packed: Float) -> Float:
        beta, field = unpack(packed)
        top, back = apply(beta, field)
        return pack(top, back + fields.apply_precision(field))

    first = np.zeros(k + weighted.size)
    if start is not None:
        first = np.concatenate([unscale @ start.beta, (start.field * spread).ravel()])
    return Solution(columns, *unpack(_conjugate_gradients(scaled, pack(*right), first)))


def _conjugate_gradients(apply: Callable[[Float], Float], right: Float, start: Float) -> Float:
    """Solve ``apply(x) = right`` for a symmetric operator that is scaled to a diagonal of about 1."""
    from scipy.sparse.linalg import LinearOperator, cg

    operator = LinearOperator((len(right), len(right)), matvec=apply, dtype=np.float64)
    return np.asarray(cg(operator, right, start, rtol=TOLERANCE, maxiter=MAX_STEPS)[0], np.float64)


def sample(
    columns: Columns, fields: PeriodFields | None, seen: Seen, found: Solution, seed: int
) -> tuple[Solution, Float]:
    """Draw the coefficients of ``columns``, the ``fields``, and nu, from their posterior given what was ``seen``.

    Solving for data and prior that are perturbed by their own covariance gives an exact draw.  ``found`` is
    the posterior mean, and the same ``seed`` gives the same draw.
    """
    rng = simulation(seed)
    nu, error = seen.sample(rng)
    top = np.sqrt(columns.ridge) * rng.normal(size=len(columns.ridge))
    push = np.zeros_like(seen.values) if fields is None else fields.sample_precision(rng, seen.values.shape)
    moved = replace(seen, values=seen.values + nu + error)
    drawn = solve(columns, fields, moved, found, (top, push))
    return drawn, seen.edge_effects(moved.values - drawn.expected) - nu


# Fitting --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CongestionModel:
    """What totals say about every edge in every period."""

    totals: TripTotals
    level: Float  # (P, m): one log ratio per period, where the model begins; its predictions are added to it
    prediction: Float  # (P, m): the log ratios that facts and field predict
    graph: LineGraph  # which edges are neighbours
    around: Linearised  # the totals, linearised around the prediction
    seen: Seen  # the same as noisy values of eta
    fields: PeriodFields | None  # none if no field predicts hidden edges better than facts alone
    solution: Solution  # coefficients and field

    @property
    def level_sd(self) -> Float:
        """The standard deviation of the level of each period, (P, 1), if there are no facts to show it; else 0."""
        found = level_sd(self.totals, self.level)
        return found if len(self.solution.beta) == len(self.level) else np.zeros_like(found)

    @property
    def edge_effects(self) -> Float:
        """How far each edge is from the prediction, by its own values."""
        return self.seen.edge_effects(self.seen.values - (self.prediction - self.level))


def fit(totals: TripTotals) -> CongestionModel:
    """Fit the model; ``totals`` must have noise and at least one edge."""
    shape = totals.shape
    periods, m = shape
    graph, difference_graph = line_graph(totals.topology), line_graph(totals.topology, OPPOSED)
    initial = PeriodFields(graph, difference_graph, *INITIAL_SMOOTHNESS)
    fields: PeriodFields | None = initial
    level = totals.clip_log_ratio(estimate_level(totals) + np.zeros(shape))
    prediction, tau = level, np.full(shape, INITIAL_TAU)
    correlation = INITIAL_CORRELATION if periods > 1 else 0.0
    facts, fold = public_facts(totals), simulation(3).integers(0, FOLDS, m)
    avoidance, level_only = np.zeros(shape), False
    solution: Solution | None = None
    for turn in range(ROUNDS):
        around = linearise(totals, prediction)
        counts, count_variance = expected_counts(totals, around, graph)
        seen = _noisy_values(around, prediction - level, counts, count_variance, tau, correlation)
        if turn % 2 == 0:
            avoidance = predicted_over_observed_use(totals, prediction, counts)
        told = (1 / (seen.error + tau**2)).sum(axis=0)
        columns = all_columns(_within_data(facts, told), totals, counts, avoidance, tau)
        if turn % 2 == 0:
            level_only, fields = _choose_fields(columns, fields or initial, seen, fold % 2 == 0, solution)
        if level_only:
            columns = Columns.levels_only(shape)
        start = solution if solution is not None and len(solution.beta) == len(columns.ridge) else None
        solution = solve(columns, fields, seen, start)
        hidden = np.empty(shape)
        for one in range(FOLDS):
            out = fold == one
            hidden[:, out] = solve(columns, fields, seen.hide(out), solution).expected[:, out]
        tau, correlation = _edge_effect_variance(seen, hidden, np.log(totals.free_flow), np.log(counts))
        prediction = totals.clip_log_ratio(level + solution.expected)
    assert solution is not None
    around = linearise(totals, prediction)
    counts, count_variance = expected_counts(totals, around, graph)
    seen = _noisy_values(around, prediction - level, counts, count_variance, tau, correlation)
    return CongestionModel(totals, level, prediction, graph, around, seen, fields, solution)


def _within_data(rows: Float, weight: Float) -> Float:
    """Keep each row of facts between the values that the data reach, by their ``weight``: nothing is extrapolated."""
    order = np.argsort(rows, axis=1)
    reached = np.cumsum(weight[order], axis=1) / max(float(weight.sum()), 1e-300)
    out = np.empty_like(rows)
    for row, at, share, kept in zip(rows, order, reached, out, strict=True):
        first, last = np.searchsorted(share, (REACH, 1 - REACH))
        kept[:] = np.clip(row, row[at[first]], row[at[min(int(last), len(at) - 1)]])
    return out


def _noisy_values(
    around: Linearised, at: Float, counts: Float, count_variance: Float, tau: Float, correlation: float
) -> Seen:
    """Return totals, linearised ``around`` the prediction ``at``, as noisy values of eta.

    An uncertain count (``counts`` and ``count_variance``) makes them noisier the farther off an edge may be (``tau``);
    ``correlation`` is that of nu between periods.
    """
    slope = around.slope
    steep = counts * slope
    error = (around.tilt_sd**2 + COUNT_DISPERSION * counts * slope**2 + count_variance * (slope * tau) ** 2) / steep**2
    most = OUTLIER * np.sqrt(error + tau**2)
    values = at + np.clip(around.tilt / steep, -most, most)
    return Seen(values, np.asarray(error, np.float64), tau, correlation, np.ones(at.shape[1], np.bool_))


def _choose_fields(
    columns: Columns, fields: PeriodFields, seen: Seen, half: Bool, start: Solution | None
) -> tuple[bool, PeriodFields | None]:
    """Choose whether only levels are kept; else how smooth the fields are.

    By cross-validation: ``columns`` and ``fields`` are fitted to what was ``seen`` outside one ``half`` of the edges,
    beginning at ``start``, and predict that half.
    """
    weight = 1 / (seen.error + seen.tau**2)
    start = start if start is not None and len(start.beta) == len(columns.ridge) else None

    def loss(expected: Callable[[Seen], Float]) -> float:
        total = 0.0
        for out in (half, ~half):
            error = (seen.values - expected(seen.hide(out)))[:, out]
            total += float(np.minimum(weight[:, out] * error**2, MAX_LOSS).sum())
        return total

    def loss_of(one: PeriodFields | None) -> float:
        return loss(lambda some: solve(columns, one, some, start).expected)

    level_loss, facts_loss, best = loss(lambda some: np.zeros_like(some.values)), loss_of(None), loss_of(fields)
    for name in ("mean", "difference")[: min(len(seen.values), 2)]:
        for parameter, step, least, largest in SEARCH:
            for factor in (step, 1 / step):
                before = best
                while True:  # in one direction as long as it helps
                    own: Smoothness = getattr(fields, name)
                    value = getattr(own, parameter) * factor
                    changed = own._replace(**{parameter: value})
                    other = replace(fields, mean=changed) if name == "mean" else replace(fields, difference=changed)
                    if not least <= value <= largest or (found := loss_of(other)) >= best - MIN_GAIN:
                        break
                    fields, best = other, found
                if best < before:
                    break
    if level_loss - MIN_GAIN_OVER_LEVEL <= min(facts_loss, best):
        return True, None
    return False, fields if best < facts_loss - MIN_GAIN else None


def _edge_effect_variance(seen: Seen, hidden: Float, size: Float, crowd: Float) -> tuple[Float, float]:
    """Estimate the standard deviation of nu, and its correlation between periods.

    From what was ``seen`` and the predictions of ``hidden`` edges; it depends on ``size``, prediction and ``crowd``.
    """
    error, total = seen.values - hidden, seen.error + seen.tau**2
    power = np.minimum(error**2, OUTLIER**2 * total) - seen.error
    tau = np.empty_like(error)
    for q in range(len(error)):
        weight, variance = total[q] ** -2, np.ones(error.shape[1])
        for fact, least in ((size, 0.005), (hidden[q], 0.05), (crowd[q], 0.05)):
            prior = (PRIOR_WEIGHT, PRIOR_VARIANCE) if fact is size else (PRIOR_WEIGHT * PRIOR_VARIANCE**2, 1.0)
            factor = _binned_variance(power[q] / variance, weight * variance**2, fact, least, *prior)
            variance = variance * factor
        tau[q] = np.clip(np.sqrt(variance), *TAU_BOUNDS)
    if len(error) == 1:
        return tau, 0.0
    found, most = (((x / total).sum(axis=0) ** 2 - ((x / total) ** 2).sum(axis=0)).sum() for x in (error, tau))
    correlation = (found + INITIAL_CORRELATION * PRIOR_WEIGHT / 10) / (most + PRIOR_WEIGHT / 10)
    return tau, float(CORRELATION_FACTOR * np.clip(correlation, 0.0, 0.97))


def _binned_variance(power: Float, weight: Float, fact: Float, least: float, prior: float, typical: float) -> Float:
    """Return a variance (or a factor of it) that depends on a ``fact``, and is at least ``least``.

    It interpolates means of ``power`` over bins, with this ``weight``, shrunk to the overall mean.  ``prior`` is the
    weight of the prior value ``typical``.
    """
    which = np.searchsorted(np.quantile(fact, np.linspace(0, 1, BINS + 1)[1:-1]), fact, side="right")
    size, sums, weights = (np.bincount(which, x, BINS) for x in (None, weight * power, weight))
    middle = (sums.sum() + prior * typical) / (weights.sum() + prior)
    pooled = 0.1 * weights.sum() / BINS + prior
    means = np.maximum((sums + pooled * max(float(middle), least)) / (weights + pooled), least)
    filled = size > 0
    centres = np.bincount(which, fact, BINS)[filled] / size[filled]
    return np.asarray(np.interp(fact, centres, means[filled]), np.float64)
