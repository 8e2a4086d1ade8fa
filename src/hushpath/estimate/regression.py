"""What to expect of a weight: a regression of its logarithm on facts, fitted to noisy weights under the law of noise.

The likelihood of a noisy weight is exact (no noisy weight has a logarithm of its own: many are negative).  Fisher
scoring for the coefficients, with a ridge per group of columns that is learnt as well, takes turns with the law of
residuals.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..arrays import Float, Int
from ..noise import simulation
from .residuals import OFFSET, Observed, Posterior, Residuals

MANY_EDGES = 30_000  # coefficients are fitted to a sample of so many
SCORES, BINS = 3, 24
FLAT = 0.02  # a ridge is no steeper than if its coefficients had this power: few data do not prove them 0
STEEPEST = 2.0  # power of a length that a weight grows with; steeper is a fit that went astray
SIZE_PRECISION, TRAIT_PRECISION = 0.1, 4.0


@dataclass(frozen=True, eq=False)
class Expectation:
    """A fitted regression: the columns it was fitted to, coefficients, and the law of what they leave."""

    observed: Observed
    columns: Float
    groups: tuple[Int, ...]  # columns that share a ridge; the others are 1 and logarithms of lengths
    which: Int  # class of each edge
    coefficients: Float
    residuals: Residuals
    covariance: Float
    likelihood: float  # mean logarithm of it
    public: int  # so many columns, the first ones, hold public facts
    used: Float = field(default_factory=lambda: np.zeros(0))  # by paths, each edge's own noisy weight hidden; if known

    @property
    def guess(self) -> Float:
        """The expected logarithm of each weight."""
        return _limited(self.columns @ self.coefficients, self.observed)

    @property
    def public_guess(self) -> Float:
        """The same by public facts alone: hardly any noise of single edges is in it."""
        return _limited(self.columns[:, : self.public] @ self.coefficients[: self.public], self.observed)

    def posterior(self, draws: int = 0, guess: Float | None = None) -> Posterior:
        """What the release says about each weight."""
        guess = self.guess if guess is None else guess
        uniform = simulation(1).random((draws, len(guess)))
        return self.observed.posterior(guess, self.residuals, self.which, uniform)

    def prior_mean(self) -> Float:
        """The expected weight of each edge, its own noisy weight aside."""
        return self.posterior().before

    def widened(self, columns: Float, rounds: int) -> Expectation:
        """Fitted again with more columns, a group of their own."""
        had = self.columns.shape[1]
        group = np.arange(had, had + columns.shape[1])
        start = np.concatenate([self.coefficients, np.zeros(columns.shape[1])])
        wider = fit(
            self.observed, np.hstack([self.columns, columns]), (*self.groups, group), self.which, start,
            self.residuals.skewed(), rounds,
        )  # fmt: skip
        return replace(wider, public=self.public)


def fit(
    observed: Observed, columns: Float, groups: tuple[Int, ...], which: Int, start: Float, residuals: Residuals,
    rounds: int = 12, most: int = MANY_EDGES,
) -> Expectation:  # fmt: skip
    """Coefficients and residuals in turns; the mean of the last steps, which settle around the optimum."""
    m, width = columns.shape
    sample = np.arange(m) if m <= most else np.sort(simulation(2).choice(m, most, replace=False))
    seen, x, kind = observed.part(sample), columns[sample], which[sample]
    precision = np.full(width, SIZE_PRECISION)
    for group in groups:
        precision[group] = TRAIT_PRECISION
    precision[0] = 1e-6
    middle = np.zeros(width)
    if width > 1 and not any(1 in group for group in groups):
        middle[1] = 1.0  # twice the length, twice the weight, unless the release says otherwise
    sizes = np.setdiff1d(np.arange(1, width), np.concatenate([*groups, np.zeros(0, np.int64)]))
    coefficients, covariance = start, np.asarray(np.eye(width))
    trace: list[Float] = []
    for _ in range(rounds):
        for _ in range(SCORES):
            guess = _limited(x @ coefficients, seen)
            score, information = _scores(seen, guess, residuals, kind)
            hessian = x.T @ (information[:, None] * x) + np.diag(precision)
            step = np.linalg.solve(hessian, x.T @ score - precision * (coefficients - middle))
            coefficients = coefficients + step * min(0.8, 1 / max(np.abs(x @ step).max(), 1e-9))
            coefficients[sizes] = np.clip(coefficients[sizes], -STEEPEST, STEEPEST)
            trace.append(coefficients)
        covariance = np.asarray(np.linalg.inv(hessian), np.float64)
        for group in groups:
            if len(group):
                power = (coefficients[group] ** 2).sum() + np.diag(covariance)[group].sum()
                precision[group] = max((len(group) + 1) / (power + FLAT), 1.0)
        guess = _limited(x @ coefficients, seen)
        residuals = residuals.refined(seen.evidence(guess, residuals.stretch(guess)).bells, kind)
    coefficients = np.mean(trace[-2 * SCORES :], axis=0)
    guess = _limited(x @ coefficients, seen)
    evidence = seen.evidence(guess, residuals.stretch(guess)).bells
    residuals = residuals.refined(evidence, kind)
    likelihood = float(np.log((evidence * residuals.shares[kind]).sum(1)).mean())
    covariance = covariance * (len(x) / max(m, 1))  # all edges tell more than the sample
    return Expectation(observed, columns, groups, which, coefficients, residuals, covariance, likelihood, width)


def _scores(seen: Observed, guess: Float, residuals: Residuals, which: Int) -> tuple[Float, Float]:
    """Derivative of each edge's log likelihood by its guess, and the mean square of those with a guess like it."""
    evidence, shares = seen.evidence(guess, residuals.stretch(guess)), residuals.shares[which]
    total = (evidence.bells * shares).sum(1)
    change = (evidence.slopes * shares[:, :-1]).sum(1)
    score = change / np.maximum(total, 1e-300)
    bins = np.searchsorted(np.quantile(guess, np.linspace(0, 1, BINS + 1)[1:-1]), guess)
    count = np.bincount(bins, minlength=BINS)
    power = np.bincount(bins, score**2, minlength=BINS) / np.maximum(count, 1)
    return score, np.maximum(power, 1e-4)[bins]


def _limited(guess: Float, observed: Observed) -> Float:
    """Within what the likelihood can tell apart."""
    return np.clip(guess, np.log(OFFSET) - 1, np.log(observed.top.max(initial=1.0) + OFFSET))
