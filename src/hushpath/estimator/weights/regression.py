"""A regression of log weights on public facts, fitted to noisy weights under the exact noise distribution.

Noisy weights may be negative, so they have no logarithms.  Instead the likelihood of each noisy weight is computed
exactly: the true weight has a log-normal-like distribution around its *location* (the linear predictor), and the noise
distribution is known.

* `ResidualModel`: the distribution of log weights around their location, a mixture learnt from the release;
* `fit`: Fisher scoring for the coefficients, in turns with an EM algorithm for the mixture;
* `BiasCorrection`: what to add to posterior means so that groups of edges are right on average.

All weights are in units of the typical noise scale (`NoisyEdges.unit`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Float, Int
from ...kernels.paths import in_threads
from ...kernels.residuals import LEAST, NoisyValues, likelihood, posterior
from ...network.topology import Topology
from ...noise import Law, simulation
from ..base import NoisyEdges
from .facts import edge_facts

# The residual distribution: components are normal distributions of several widths around 0, two beside it for edges of
# another kind, and half-normal ones above it (a queue makes a road slower, nothing makes it faster).  The narrowest
# stands for "exactly as expected".  One more component, last, is a point mass at the lowest weight (an unused pipe, a
# closed road).
MAX_RESIDUAL, FINEST_CELL, CELL_GROWTH = 7.0, 0.01, 1.2  # residuals are cut into cells that grow away from 0
OFFSET = 0.1  # added to weights before taking logarithms: weights far below the noise need not be told apart
WIDTHS = (0.005, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0)
OFF_CENTRE = ((-2.0, 1.0), (2.0, 1.0))  # centre and width
HALF_WIDTHS = (0.25, 0.5)
MAX_OFF_CENTRE = 0.3  # if more edges seem of another kind, the location is wrong and must move
EXACT = 0  # the narrowest component
HEAVY_TAIL = 0.01  # share of wide components in every distribution: data can always overrule the prediction
INITIAL_SKEW = 0.1
MAX_NARROWING = 8.0  # how much narrower the distribution of large weights may be than that of small ones
PARALLEL_EDGES = 10_000  # use threads from so many edges on
POOLING = 20  # pseudo-count that draws small classes towards the pooled distribution

FIT_EDGES = 30_000  # coefficients are fitted to a sample of so many edges
SCORING_STEPS, BINS = 3, 24
MIN_POWER = 0.02  # keeps ridge penalties finite: few data do not prove coefficients 0
MAX_EXPONENT = 2.0  # of a length; larger is a fit that went astray
LENGTH_PRECISION, TRAIT_PRECISION = 0.1, 4.0

MAX_CORRECTION = 3.0  # in units of noise, for weights that are large against the noise
EDGES_PER_BIN, MAX_BINS = 60, 12
CORRECTION_ROUNDS = 30
MAX_NOISE = 40.0  # standard deviations; no noise is larger
CORRECTION_EDGES = 100_000  # the correction is fitted to about so many edges
CHUNK = 2**16


def _cells() -> Float:
    side, width = [FINEST_CELL], FINEST_CELL
    while side[-1] < MAX_RESIDUAL:
        width *= CELL_GROWTH
        side.append(side[-1] + width)
    return np.array([*(-x for x in reversed(side)), *side])


CELLS = _cells()
_WIDTH = np.array([*WIDTHS, *(width for _, width in OFF_CENTRE), *HALF_WIDTHS])
_MODE = np.array([*(0.0 for _ in WIDTHS), *(centre for centre, _ in OFF_CENTRE), *(0.0 for _ in HALF_WIDTHS)])
COMPONENTS = len(_WIDTH)
HALF = np.arange(COMPONENTS) >= COMPONENTS - len(HALF_WIDTHS)
SDS = np.where(HALF, _WIDTH * np.sqrt(1 - 2 / np.pi), _WIDTH)
MEANS = np.where(HALF, _WIDTH * np.sqrt(2 / np.pi), _MODE)


def _normal_cdf(at: Float) -> Float:
    return np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in at.ravel()]).reshape(at.shape)


_AT, _HALF = (CELLS - _MODE[:, None]) / _WIDTH[:, None], HALF[:, None]
_DENSITY = np.exp(-0.5 * _AT**2) / (np.sqrt(2 * np.pi) * _WIDTH[:, None]) * np.where(_HALF, 2 * (_AT > 0), 1)
MASS = np.diff(np.where(_HALF, np.maximum(2 * _normal_cdf(_AT) - 1, 0), _normal_cdf(_AT)), axis=1)  # per cell
SLOPE = -np.diff(_DENSITY, axis=1)  # the derivative of the mass as the location moves up
_MASS_UP_TO, _SLOPE_UP_TO = (np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0))) for table in (MASS, SLOPE))
_OFF_CENTRE = np.append((_MODE != 0), False)  # the point mass is not
TAIL = np.where((SDS >= 1) & (MEANS == 0), 0.5, 0.0)


@dataclass(frozen=True, eq=False)
class Observed:
    """Noisy weights as the kernels take them, in units of the typical noise scale."""

    gaussian: bool  # whether the noise is Gaussian, else Laplace
    values: Float  # values, scales, low, high: (m,): noisy weights, noise scales and public bounds
    scales: Float
    low: Float
    high: Float

    @classmethod
    def from_edges(cls, noisy: NoisyEdges) -> Observed:
        """Scale noisy edges; upper bounds far above every value are lowered, which loses nothing."""
        unit = noisy.unit
        low, high = (bound / unit for bound in noisy.bounds)
        values, scales = noisy.values / unit, noisy.scales / unit
        highest = float(np.max(values, initial=0.0)) + 20 * float(scales.max(initial=1.0))
        return cls(noisy.law is Law.GAUSSIAN, values, scales, low, np.maximum(np.minimum(high, highest), low))

    @property
    def noise(self) -> Float:
        """The standard deviation of the noise of each value."""
        return np.asarray(self.scales * (1.0 if self.gaussian else np.sqrt(2)))

    def subset(self, rows: Int) -> Observed:
        """Return some of the edges."""
        parts = (self.values[rows], self.scales[rows], self.low[rows], self.high[rows])
        return Observed(self.gaussian, *parts)

    def evidence(self, location: Float, scale: Float) -> Evidence:
        """Compute the likelihood of each value under each component of the residual distribution."""
        m = len(location)
        rows, first, last = np.empty((m, len(CELLS))), np.empty(m, np.int64), np.empty(m, np.int64)
        seen = NoisyValues(self.gaussian, self.values, self.scales, location, scale, CELLS, OFFSET, self.low, self.high)
        in_threads(
            lambda part: likelihood(seen, rows, first, last, part.start, part.stop), m, worth_it=m >= PARALLEL_EDGES
        )
        inside = _MASS_UP_TO[:, last].T - _MASS_UP_TO[:, first].T
        change = _SLOPE_UP_TO[:, last].T - _SLOPE_UP_TO[:, first].T
        possible = inside > LEAST
        inside = np.where(possible, inside, 1.0)
        likelihoods = np.where(possible, rows[:, :-1] @ MASS.T, 0.0) / inside
        # Slopes ignore that the scale depends on the location, which hardly matters where slopes do.
        slopes = np.where(possible, rows[:, :-1] @ SLOPE.T, 0.0) / inside - likelihoods * (change / inside)
        return Evidence(np.hstack([likelihoods, rows[:, -1:]]) + 1e-30, slopes / scale[:, None])

    def posterior(self, location: Float, residuals: ResidualModel, classes: Int, uniform: Float) -> Posterior:
        """Compute the posterior of each weight, whose log has ``residuals`` by its class around its ``location``.

        ``classes`` are those of the edges, and ``uniform`` numbers in [0, 1] the levels of samples, one row each.
        """
        m = len(location)
        moments, samples, scale = np.empty((4, m)), np.empty((len(uniform), m)), residuals.scale(location)
        seen = NoisyValues(self.gaussian, self.values, self.scales, location, scale, CELLS, OFFSET, self.low, self.high)
        prior = residuals.shares, classes, MASS
        in_threads(
            lambda part: posterior(seen, prior, uniform, moments, samples, part.start, part.stop), m,
            worth_it=m >= PARALLEL_EDGES,
        )  # fmt: skip
        prior_mean, mean, residual, variance = moments
        return Posterior(prior_mean, mean, residual, variance, samples)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Per edge the likelihood under each component (last: the point mass), and its derivative by the location."""

    likelihoods: Float
    slopes: Float


@dataclass(frozen=True, eq=False)
class Posterior:
    """What a release says about each weight."""

    prior_mean: Float  # prior_mean, mean: (m,): the mean weight before and after its own noisy value is seen
    mean: Float
    residual: Float  # residual, residual_variance: (m,): posterior mean and variance of the residual of the log weight
    residual_variance: Float
    samples: Float  # (k, m): samples of the weights


@dataclass(frozen=True, eq=False)
class ResidualModel:
    """The distribution of log weights around their location, one mixture per class of edges."""

    # (classes, components + 1): the shares of the mixture; the last is that of the point mass at the lowest weight
    shares: Float
    # errors of weights below this do not grow with the weight (a length that is off by a summand), so that residuals
    # of large log weights are smaller.  0 if errors always grow with the weight
    additive: float = 0.0

    @classmethod
    def initial(cls, classes: int, additive: float = 0.0) -> ResidualModel:
        """Return a vague mixture without half-normal components.

        Next to a location that is still too low, half-normal components would explain everything, and it would stay
        there.
        """
        share = np.full(COMPONENTS + 1, 0.2 / (COMPONENTS + 1))
        share[:COMPONENTS][np.isin(SDS, (0.5, 1.0)) & (MEANS == 0)] += 0.4
        share[:COMPONENTS][HALF] = 0.0
        share[COMPONENTS] += 0.15
        return cls(np.tile(share / share.sum(), (classes, 1)), additive)

    def scale(self, location: Float) -> Float:
        """Return the factor of the residuals of each edge: 1 for the smallest weights, less for larger ones."""
        if not self.additive:
            return np.ones(len(location))
        weight = np.exp(location)
        return np.asarray((weight + self.additive) / (weight * MAX_NARROWING + self.additive))

    def with_skew(self) -> ResidualModel:
        """Add a little of each half-normal component, if they are missing."""
        if (self.shares[:, :COMPONENTS][:, HALF] > 0).all():
            return self
        seed = INITIAL_SKEW * np.append(HALF / HALF.sum(), 0.0)
        return replace(self, shares=(1 - INITIAL_SKEW) * self.shares + seed)

    @property
    def variance(self) -> Float:
        """The variance of a residual in each class, the point mass left out."""
        shares = self.shares[:, :COMPONENTS] / self.shares[:, :COMPONENTS].sum(1, keepdims=True)
        return np.asarray(np.maximum(shares @ (SDS**2 + MEANS**2) - (shares @ MEANS) ** 2, 1e-4))

    def refit(self, likelihoods: Float, classes: Int, rounds: int = 30) -> ResidualModel:
        """Fit the shares by EM; small classes are drawn to the pooled shares.  Components with share 0 stay out."""
        shares, sizes = self.shares, np.bincount(classes, minlength=len(self.shares))
        members = [likelihoods[classes == one] for one in range(len(shares))]
        for _ in range(rounds):
            pooled = sizes @ shares / max(sizes.sum(), 1)
            new = [
                own * (rows.T @ (1 / (rows @ own))) + POOLING * pooled + 0.5 / (COMPONENTS + 1) * (own > 0)
                for rows, own in zip(members, shares, strict=True)
            ]
            shares = _limit_off_centre(np.array([share / share.sum() for share in new]))
        return replace(self, shares=(1 - HEAVY_TAIL) * shares + HEAVY_TAIL * np.append(TAIL, 0.0))


def _limit_off_centre(shares: Float) -> Float:
    """Limit the shares of off-centre components; the others take the rest."""
    total = shares[:, _OFF_CENTRE].sum(1, keepdims=True)
    kept = np.minimum(total, MAX_OFF_CENTRE)
    factor = np.where(_OFF_CENTRE, kept / np.maximum(total, 1e-300), (1 - kept) / np.maximum(1 - total, 1e-300))
    return np.asarray(shares * factor)


@dataclass(frozen=True, eq=False)
class Regression:
    """A fitted regression of log weights."""

    observed: Observed
    columns: Float  # (m, k): regressors: a constant, log lengths, then groups of standardised columns
    groups: tuple[Int, ...]  # columns that share a ridge penalty; the others are the constant and log lengths
    classes: Int  # (m,): the class of each edge, for the residual distribution
    coefficients: Float  # coefficients, covariance: estimated coefficients and their covariance
    residuals: ResidualModel
    covariance: Float
    log_likelihood: float  # mean over edges
    public_columns: int  # the number of leading columns that hold public facts
    # (m,): how much shortest paths use each edge, its own noisy weight hidden; empty if unknown
    usage: Float = field(default_factory=lambda: np.zeros(0))

    @property
    def location(self) -> Float:
        """The location of each log weight."""
        return _limit(self.columns @ self.coefficients, self.observed)

    @property
    def public_location(self) -> Float:
        """The same from public facts alone: it contains hardly any noise of single edges."""
        k = self.public_columns
        return _limit(self.columns[:, :k] @ self.coefficients[:k], self.observed)

    def posterior(self, samples: int = 0) -> Posterior:
        """Return the posterior of each weight, with so many samples."""
        location = self.location
        uniform = simulation(1).random((samples, len(location)))
        return self.observed.posterior(location, self.residuals, self.classes, uniform)

    def with_columns(self, columns: Float, rounds: int) -> Regression:
        """Fit again with more columns, which share a ridge penalty of their own."""
        had = self.columns.shape[1]
        group = np.arange(had, had + columns.shape[1])
        start = np.concatenate([self.coefficients, np.zeros(columns.shape[1])])
        wider = fit(
            self.observed, np.hstack([self.columns, columns]), (*self.groups, group), self.classes, start,
            self.residuals.with_skew(), rounds,
        )  # fmt: skip
        return replace(wider, public_columns=self.public_columns)


def fit(
    observed: Observed, columns: Float, groups: tuple[Int, ...], classes: Int, start: Float, residuals: ResidualModel,
    rounds: int = 12, max_edges: int = FIT_EDGES,
) -> Regression:  # fmt: skip
    """Fit coefficients (Fisher scoring, ridge penalties by empirical Bayes) and ``residuals`` (EM) in turns.

    ``observed``, ``columns``, ``groups`` and ``classes`` are as in `Regression`; coefficients begin at ``start``, and
    ``rounds`` of turns see a sample of ``max_edges``.
    """
    m, width = columns.shape
    sample = np.arange(m) if m <= max_edges else np.sort(simulation(2).choice(m, max_edges, replace=False))
    seen, x, kinds = observed.subset(sample), columns[sample], classes[sample]
    precision = np.full(width, LENGTH_PRECISION)
    for group in groups:
        precision[group] = TRAIT_PRECISION
    precision[0] = 1e-6
    prior = np.zeros(width)
    if width > 1 and not any(1 in group for group in groups):
        prior[1] = 1.0  # twice the length, twice the weight, unless the data say otherwise
    lengths = np.setdiff1d(np.arange(1, width), np.concatenate([*groups, np.zeros(0, np.int64)]))
    coefficients, covariance = start, np.asarray(np.eye(width))
    trace: list[Float] = []
    for _ in range(rounds):
        for _ in range(SCORING_STEPS):
            location = _limit(x @ coefficients, seen)
            score, information = _scores(seen, location, residuals, kinds)
            hessian = x.T @ (information[:, None] * x) + np.diag(precision)
            step = np.linalg.solve(hessian, x.T @ score - precision * (coefficients - prior))
            coefficients = coefficients + step * min(0.8, 1 / max(np.abs(x @ step).max(), 1e-9))
            coefficients[lengths] = np.clip(coefficients[lengths], -MAX_EXPONENT, MAX_EXPONENT)
            trace.append(coefficients)
        covariance = np.asarray(np.linalg.inv(hessian), np.float64)
        for group in groups:
            if len(group):
                power = (coefficients[group] ** 2).sum() + np.diag(covariance)[group].sum()
                precision[group] = max((len(group) + 1) / (power + MIN_POWER), 1.0)
        location = _limit(x @ coefficients, seen)
        residuals = residuals.refit(seen.evidence(location, residuals.scale(location)).likelihoods, kinds)
    coefficients = np.mean(trace[-2 * SCORING_STEPS :], axis=0)
    location = _limit(x @ coefficients, seen)
    likelihoods = seen.evidence(location, residuals.scale(location)).likelihoods
    residuals = residuals.refit(likelihoods, kinds)
    log_likelihood = float(np.log((likelihoods * residuals.shares[kinds]).sum(1)).mean())
    covariance = covariance * (len(x) / max(m, 1))  # all edges tell more than the sample
    return Regression(observed, columns, groups, classes, coefficients, residuals, covariance, log_likelihood, width)


def _scores(seen: Observed, location: Float, residuals: ResidualModel, classes: Int) -> tuple[Float, Float]:
    """Return the derivative of each log likelihood by its location, and its mean square among similar locations.

    ``seen`` are the noisy weights, ``location``, ``residuals`` and ``classes`` the model of the true ones.
    """
    evidence, shares = seen.evidence(location, residuals.scale(location)), residuals.shares[classes]
    total = (evidence.likelihoods * shares).sum(1)
    score = (evidence.slopes * shares[:, :-1]).sum(1) / np.maximum(total, 1e-300)
    bins = np.searchsorted(np.quantile(location, np.linspace(0, 1, BINS + 1)[1:-1]), location)
    count = np.bincount(bins, minlength=BINS)
    power = np.bincount(bins, score**2, minlength=BINS) / np.maximum(count, 1)
    return score, np.maximum(power, 1e-4)[bins]


def _limit(location: Float, observed: Observed) -> Float:
    """Keep locations within what the likelihood can tell apart."""
    return np.clip(location, np.log(OFFSET) - 1, np.log(observed.high.max(initial=1.0) + OFFSET))


@dataclass(frozen=True, eq=False)
class CorrectionDesign:
    """The regressors of a bias correction, computed when needed: for a large network they would fill gigabytes."""

    bins: tuple[tuple[Int, int], ...]  # bins of edges, and the number of bins, for each binning
    columns: Float  # columns, factors: the columns of the regression of log weights, and what to multiply each with
    factors: Float
    # (m,): what each row is multiplied with: how far the mean of that edge may move, in units of its noise
    reach: Float

    @classmethod
    def of(cls, topology: Topology, fitted: Regression) -> CorrectionDesign:
        """Bin edges by location, public traffic and usage, and take the columns of the regression."""
        location = fitted.location
        parts = int(np.clip(len(location) // EDGES_PER_BIN, 2, MAX_BINS))
        bins = []
        for fact in (location, edge_facts(topology).traffic, *fitted.columns.T[fitted.groups[-1][:1]]):
            found = np.digitize(fact, np.unique(np.quantile(fact, np.linspace(0, 1, parts + 1)[1:-1])))
            bins.append((found, int(found.max()) + 1))
        sd = fitted.columns.std(axis=0)
        factors = np.where(sd > 1e-9, 0.5 / np.maximum(sd, 1e-9), 0.0)
        factors[0] = 0.0  # the constant is there already
        reach = np.minimum(np.exp(location), MAX_CORRECTION) / fitted.observed.noise
        return cls(tuple(bins), fitted.columns, factors, reach)

    def rows(self, which: slice | Int) -> Float:
        """Return some rows."""
        columns = [np.ones(len(self.reach[which]))]
        for bins, count in self.bins:
            columns += [(bins[which] == part).astype(np.float64) for part in range(count)]
        kept = self.factors > 0
        scaled = self.columns[which][:, kept] * self.factors[kept]
        return np.asarray(np.hstack([np.stack(columns, axis=1), scaled]) * self.reach[which][:, None], np.float64)


@dataclass(frozen=True, eq=False)
class BiasCorrection:
    """A correction of posterior means that makes groups of edges right on average, and its uncertainty.

    Noise has mean 0 whatever the model, so noisy weights less posterior means are regressed on columns that contain no
    noise of the edge itself.  The ridge penalty is learnt by empirical Bayes.
    """

    values: Float  # values, noise: (m,): noisy weights and the standard deviation of their noise
    noise: Float
    design: CorrectionDesign
    sample: tuple[Int, Float]  # the edges it is fitted to, and their rows of the design
    covariance: Float  # covariance, root: the covariance of the coefficients, and a square root of it
    root: Float

    @classmethod
    def fit(cls, topology: Topology, fitted: Regression, mean: Float | None = None) -> BiasCorrection:
        """Fit the correction; pass the posterior ``mean`` if it is known already."""
        observed, noise, design = fitted.observed, fitted.observed.noise, CorrectionDesign.of(topology, fitted)
        values = np.maximum(observed.values, observed.low - MAX_NOISE * noise)
        mean = fitted.posterior().mean if mean is None else mean
        sample = np.arange(0, len(values), -(-len(values) // CORRECTION_EDGES))
        rows = design.rows(sample)
        cross = rows.T @ ((values - mean) / noise)[sample]
        square, prior_variance = rows.T @ rows, 0.01
        for _ in range(CORRECTION_ROUNDS):
            covariance = np.asarray(np.linalg.inv(square + np.eye(len(square)) / prior_variance), np.float64)
            coefficients = covariance @ cross
            power = float(coefficients @ coefficients + np.trace(covariance))
            prior_variance = max(power / len(square), 1e-10)
        return cls(values, noise, design, (sample, rows), covariance, square_root(covariance))

    def added(self, mean: Float, normal: Float | None = None) -> Float:
        """Return what to add to posterior means."""
        sample, rows = self.sample
        coefficients = self.covariance @ (rows.T @ ((self.values - mean) / self.noise)[sample])
        if normal is not None:
            coefficients = coefficients + self.root @ normal
        if len(sample) == len(mean):
            return np.asarray(rows @ coefficients * self.noise, np.float64)
        out = np.empty(len(mean))
        for first in range(0, len(mean), CHUNK):
            part = slice(first, first + CHUNK)
            out[part] = self.design.rows(part) @ coefficients * self.noise[part]
        return out


def square_root(covariance: Float) -> Float:
    """Return a matrix whose product with its transpose is the covariance; rounding errors do no harm."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float64)
