"""The statistics of the audit: from releases of two neighbours to a lower bound on epsilon.

An attacker knows everything but one bit: which of two neighbouring weight vectors was released.  An *attack* turns each
release into one number that should be large for the second neighbour.  How well it tells them apart bounds the privacy
loss from below.  Attacks are fitted and chosen on half of the trials and the bound comes from the other half, which
they have never seen, so its confidence is what it says.

Laplace noise claims a pure epsilon: every event A has P1(A) <= exp(epsilon) P0(A), in both directions.  The bound is
log(low(P1) / high(P0)) with Clopper-Pearson limits, alpha/2 each.  (Threshold)

Gaussian noise claims that the two neighbours are no easier to tell apart than N(0, 1) and N(mu, 1): mu-GDP, with mu =
sqrt(2 rho).  At delta = 1e-6 the event bound needs millions of trials, so mu is bounded instead and then turned into
the epsilon of a Gaussian mechanism at that delta (Nasr et al. 2023).  Put trial i of one neighbour beside trial i of
the other and guess the larger statistic to be the second: telling a pair from the swapped pair is two mechanisms
composed, (sqrt(2) mu)-GDP, so the guess is right with probability at most Phi(mu / sqrt(2)).  The bound is one
Clopper-Pearson limit on the share of right guesses.  (Pairing)

A bound above the claim refutes it, with confidence 1 - alpha.  A bound below proves nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtri
from scipy.stats import beta

from hushpath.measurement.strategy import Strategy
from hushpath.noise import Law

CONFIDENCE = 0.05  # of every figure that is printed
MOST_BOUNDS = 250  # how many bounds one report may hold
STRICT = CONFIDENCE / MOST_BOUNDS  # of every verdict (Bonferroni): all verdicts of a report at once hold to 95 %

Statistic = Callable[[np.ndarray], np.ndarray]  # trials by numbers -> one number per trial
Fit = Callable[[np.ndarray, np.ndarray], Statistic]  # training trials of both neighbours -> statistic


def low(successes, trials, alpha):
    """A probability that is below the true one, but for a chance alpha (Clopper-Pearson)."""
    successes = np.asarray(successes)
    return np.where(successes == 0, 0.0, beta.ppf(alpha, np.maximum(successes, 1), trials - successes + 1))


def high(successes, trials, alpha):
    """A probability that is above the true one, but for a chance alpha."""
    return 1 - low(trials - np.asarray(successes), trials, alpha)


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The delta of a Gaussian mechanism at this epsilon (Balle and Wang 2018)."""
    one, two = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return float(np.exp(one) * -np.expm1(two - one))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The epsilon of a Gaussian mechanism at this delta, exactly: smaller than what zCDP converts to."""
    if mu <= 0 or gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    top = mu * mu / 2 + mu * (1 - ndtri(delta)) + 1
    return float(brentq(lambda epsilon: gaussian_delta(mu, epsilon) - delta, 0.0, top, xtol=1e-9))


@dataclass(frozen=True)
class Claim:
    """What a certificate promises; ``loss`` is in the currency in which it is attacked: epsilon, or mu."""

    law: Law
    epsilon: float
    delta: float
    loss: float

    @classmethod
    def of(cls, strategy: Strategy) -> Claim:
        certificate = strategy.certificate
        pure = strategy.law is Law.LAPLACE
        loss = certificate.spent if pure else math.sqrt(2 * certificate.spent)
        return cls(strategy.law, certificate.epsilon, certificate.delta, loss)


@dataclass(frozen=True)
class Threshold:
    """How often an event happened under either neighbour: bounds a pure epsilon."""

    hits: int
    alarms: int
    trials: int

    def loss(self, alpha: float = CONFIDENCE) -> float:
        """The epsilon that is exceeded, but for a chance alpha."""
        return float(_log_ratio(self.hits, self.alarms, self.trials, alpha))

    def epsilon(self, delta: float, alpha: float = CONFIDENCE) -> float:
        return self.loss(alpha)


@dataclass(frozen=True)
class Pairing:
    """How often the second neighbour was told in a pair of both: bounds mu."""

    wins: int
    trials: int

    def loss(self, alpha: float = CONFIDENCE) -> float:
        """The mu that is exceeded, but for a chance alpha."""
        return max(0.0, math.sqrt(2) * float(ndtri(low(self.wins, self.trials, alpha))))

    def epsilon(self, delta: float, alpha: float = CONFIDENCE) -> float:
        return gaussian_epsilon(self.loss(alpha), delta)


Evidence = Threshold | Pairing


@dataclass(frozen=True)
class Finding:
    """The evidence of the attack that did best in training, from trials it had not seen."""

    attack: str
    evidence: Evidence
    claim: Claim

    @property
    def epsilon(self) -> float:
        """The audited epsilon, 95 % confidence."""
        return self.evidence.epsilon(self.claim.delta)

    @property
    def refutes(self) -> bool:
        """Whether the claim is false, at the strict level."""
        return self.evidence.loss(STRICT) > self.claim.loss


def strongest(attacks: Mapping[str, Fit], zero: np.ndarray, one: np.ndarray, claim: Claim) -> Finding:
    """Fit the attacks on a quarter of the trials, choose one on the next quarter, bound with it on the other half."""
    quarter, half = len(zero) // 4, len(zero) // 2
    gather = _threshold if claim.law is Law.LAPLACE else _pairing
    best: tuple[float, str, Statistic, Callable[..., Evidence]] | None = None
    for name, fit in attacks.items():
        statistic = fit(zero[:quarter], one[:quarter])
        seen = statistic(zero[quarter:half]), statistic(one[quarter:half])
        judge = gather(*seen)
        trained = judge(*seen).loss(STRICT)  # a lucky tail must not win
        if best is None or trained > best[0]:
            best = trained, name, statistic, judge
    assert best is not None
    _, name, statistic, judge = best
    return Finding(name, judge(statistic(zero[half:]), statistic(one[half:])), claim)


def _log_ratio(hits, alarms, trials, alpha):
    with np.errstate(divide="ignore"):
        return np.maximum(np.log(low(hits, trials, alpha / 2)) - np.log(high(alarms, trials, alpha / 2)), 0.0)


def _threshold(zero: np.ndarray, one: np.ndarray) -> Callable[..., Threshold]:
    """The event "statistic >= t" (or "< t", for the other direction) that bounds best in training."""
    shares = np.concatenate(
        [np.geomspace(0.002, 0.1, 12), np.linspace(0.12, 0.88, 39), 1 - np.geomspace(0.1, 0.002, 12)]
    )
    cuts = np.unique(np.quantile(np.concatenate([zero, one]), shares, method="nearest"))
    n = len(zero)
    above_zero, above_one = (n - np.searchsorted(np.sort(side), cuts) for side in (zero, one))
    up = _log_ratio(above_one, above_zero, n, STRICT)
    down = _log_ratio(n - above_zero, n - above_one, n, STRICT)
    at, upwards = int(np.argmax(np.maximum(up, down))), up.max() >= down.max()

    def judge(zero: np.ndarray, one: np.ndarray) -> Threshold:
        hits, alarms, trials = int((one >= cuts[at]).sum()), int((zero >= cuts[at]).sum()), len(zero)
        return Threshold(hits, alarms, trials) if upwards else Threshold(trials - alarms, trials - hits, trials)

    return judge


def _pairing(zero: np.ndarray, one: np.ndarray) -> Callable[..., Pairing]:
    """Pairs of the i-th trials: nothing to choose.  A tie is no win, which only lowers the bound."""
    return lambda zero, one: Pairing(int((one > zero).sum()), len(zero))


def likelihood_ratio(law: Law, first: np.ndarray, second: np.ndarray, scales: np.ndarray) -> Fit:
    """The best statistic there is, if numbers are what the strategy says and noise has the law and scales it says."""

    def statistic(values: np.ndarray) -> np.ndarray:
        # The ratio is largest on a plateau, which sums in another order would fray: hence the rounding.
        if law is Law.LAPLACE:
            return np.round((np.abs(values - first) - np.abs(values - second)) @ (1 / scales), 9)
        return (values - first) @ ((second - first) / scales.astype(float) ** 2)

    return lambda zero, one: statistic


def linear(zero: np.ndarray, one: np.ndarray) -> Statistic:
    """The direction in which the training trials differ most against their noise (Fisher): knows no law.

    Where noise is missing, repeated or shared between numbers, some direction has no noise at all, and this finds it.
    """
    middle = zero.mean(axis=0)
    zero, one = zero - middle, one - middle
    rest = np.concatenate([zero, one - one.mean(axis=0)])
    spread = rest.std(axis=0)
    spread[spread == 0] = 1.0
    covariance = np.atleast_2d(np.cov(rest / spread, rowvar=False)) + 1e-9 * np.eye(rest.shape[1])
    direction = np.linalg.solve(covariance, one.mean(axis=0) / spread) / spread
    return lambda values: (values - middle) @ direction


def low_bits(first: np.ndarray, second: np.ndarray) -> Fit:
    """Noise on a lattice coarser than the data (rounded or floating-point noise) leaves the data's last bits bare."""

    def zeros(numbers: np.ndarray) -> np.ndarray:
        lowest = (numbers & -numbers).astype(np.float64)
        return np.where(numbers == 0, 63.0, np.log2(np.where(numbers == 0, 1.0, np.abs(lowest))))

    moved = first != second
    return lambda zero, one: (
        lambda values: (zeros(values[:, moved] - second[moved]) - zeros(values[:, moved] - first[moved])).sum(axis=1)
    )


def one_number(zero: np.ndarray, one: np.ndarray) -> Statistic:
    """The one number that tells most in training."""
    spread = zero.std(axis=0) + one.std(axis=0)
    shift = one.mean(axis=0) - zero.mean(axis=0)
    at = int(np.argmax(np.abs(shift) / np.where(spread == 0, 1e-9, spread)))
    return lambda values: np.sign(shift[at]) * values[:, at]
