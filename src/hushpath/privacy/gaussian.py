r"""What Gaussian noise costs, exactly: from ``mu`` to ``(epsilon, delta)`` and back, in decimal arithmetic.

Neighbours whose numbers lie ``mu`` standard deviations apart are told apart by (Balle and Wang 2018, Theorem 8)

    delta(epsilon)  =  Phi(mu/2 - epsilon/mu)  -  e^epsilon Phi(-mu/2 - epsilon/mu)  =  phi(a) (M(a) - M(a + mu)),

where ``a = epsilon/mu - mu/2`` and ``M = (1 - Phi)/phi`` is Mills' ratio.  This is exact for continuous noise: 7 % less
noise than by zCDP at epsilon 1, delta 1e-6.  Our noise is discrete.  A
discrete Gaussian of scale s is, but for a factor 1 + 1e-42, continuous noise of variance ``s^2 - SPLIT`` followed by
randomised rounding, which looks at no data: ``continuous_scales`` are the scales that may be put into ``mu``
(docs/proofs/gaussian.md).

The two terms can agree in twenty digits.  So we count with eighty, and every Mills' ratio comes as a proved
bracket; no accuracy of a mathematical library is assumed.  Searches need no trust: what is returned was evaluated.

Guarantees (tests/unit/test_gaussian.py): ``gaussian_delta`` and ``gaussian_epsilon`` never understate, neither the
continuous law nor a discrete one; ``gaussian_mu`` never overstates; all three by less than a part in 10^12;
``is_possible`` refuses no certificate.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from functools import lru_cache

import numpy as np

from ..arrays import Float, Int
from ..errors import OptionError

SPLIT = 5.0  # the variance, in squared lattice steps, that randomised rounding takes: scales must exceed its root
_DIGITS = Context(  # complete: settings of the calling program have no effect
    prec=80, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, capitals=1, clamp=0, flags=[],
    traps=[InvalidOperation, DivisionByZero, Overflow],
)  # fmt: skip
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
_SLACK = Decimal("1e-20")  # of delta and of epsilon: what discrete noise and 80 digits may cost, with room to spare
_SERIES_UP_TO, _FRACTIONS = 6, 120  # Mills' ratio: a power series up to 6, then so many steps of a continued fraction
SMALLEST_MU, LARGEST_MU = 2.0**-60, 2.0**20  # below, the smallest is used; above, this conversion promises nothing


def continuous_scales(scales: Int) -> Float:
    """Return the scales of the continuous noise inside discrete noise; 0 where there is none to speak of."""
    wide = np.asarray(scales, np.float64)
    return np.asarray(np.sqrt(np.maximum(wide * wide - SPLIT, 0.0)))


def gaussian_delta(epsilon: float, mu: float) -> Decimal:
    """Return a delta, rounded up, for which neighbours ``mu`` apart are (epsilon, delta)-indistinguishable.

    >>> f"{gaussian_delta(1.0, 1 / 4.2247):.4g}"
    '9.999e-7'
    """
    if not SMALLEST_MU <= mu <= LARGEST_MU or not 0 <= epsilon < math.inf:
        raise OptionError(f"no Gaussian trade-off is computed for epsilon {epsilon:g}, mu {mu:g}")
    with localcontext(_DIGITS):
        return _delta(Decimal(epsilon), Decimal(mu))[0]


@lru_cache(maxsize=256)  # public numbers, 4 ms each
def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the smallest epsilon, rounded up, such that neighbours ``mu`` apart are (epsilon, delta)-alike.

    >>> round(gaussian_epsilon(1 / 4.2247, 1e-6), 4)
    1.0
    """
    if mu == 0:
        return 0.0
    if not 0 < delta < 1 or not mu <= LARGEST_MU:
        return math.inf
    mu, allowed = max(mu, SMALLEST_MU), Decimal.from_float(delta)
    if gaussian_delta(0.0, mu) <= allowed:
        return 0.0
    with localcontext(_DIGITS):
        wanted, distance = allowed.ln(), Decimal(mu)
        guess = distance * (distance / 2 + _deviations(wanted))
        for _ in range(60):  # Newton's method for log delta, from above
            found, slope, _ = _delta(guess, distance)
            step = (found.ln() - wanted) * found / slope
            guess = max(Decimal(0), guess + step)
            if abs(step) <= guess * Decimal("1e-18"):
                break
    epsilon = float(guess)
    step_up = math.ulp(epsilon)
    while gaussian_delta(epsilon, mu) > allowed:
        epsilon, step_up = epsilon + step_up, 2 * step_up
    return epsilon


@lru_cache(maxsize=2**14)  # a ledger is read again and again; 1 ms each
def is_possible(rho: float, epsilon: float, delta: float) -> bool:
    """Return whether a certificate of Gaussian noise with this rho can state (epsilon, delta), erring towards yes.

    Continuous noise with neighbours ``mu = sqrt(2 rho)`` apart is rho-zCDP, so neither conversion of ``certificate``
    gives an epsilon below the exact one of that noise (docs/proofs/gaussian.md, section 7).

    >>> is_possible(0.5 / 4.2247**2, 1.0001, 1e-6), is_possible(0.5 / 4.2247**2, 0.9999, 1e-6)
    (True, False)
    """
    mu = math.sqrt(2 * rho) * (1 - 2.0**-40)  # below the true distance; certificates state theirs rounded up
    if rho == 0:
        return True
    if mu > LARGEST_MU:  # at a delta of at most 1/2 the exact epsilon differs from rho by less than 1e-10 of it
        return epsilon >= rho * (1 - 1e-9)
    return gaussian_delta(epsilon, max(mu, SMALLEST_MU)) <= Decimal.from_float(delta)


@lru_cache(maxsize=64)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu, rounded down, whose ``gaussian_epsilon`` stays within epsilon; 0 if none does."""
    if not 0 < delta < 1:
        raise OptionError("Gaussian noise needs delta above 0; use noise='laplace' for pure privacy")
    allowed = Decimal.from_float(delta)
    with localcontext(_DIGITS):
        wanted, spent, least, most = allowed.ln(), Decimal(epsilon), Decimal(SMALLEST_MU), Decimal(LARGEST_MU)
        far = _deviations(wanted)
        guess = max(Decimal(2 * delta), 2 * spent / (far + (far * far + 2 * spent).sqrt()))
        for _ in range(60):  # Newton's method for log delta, from below
            guess = min(max(guess, least), most)
            found, _, slope = _delta(spent, guess)
            step = (wanted - found.ln()) * found / slope
            guess += step
            if abs(step) <= guess * Decimal("1e-18"):
                break
    mu = float(min(guess, most))
    step_down = math.ulp(mu)
    while mu >= SMALLEST_MU and gaussian_delta(epsilon, mu) > allowed:
        mu, step_down = mu - step_down, 2 * step_down
    return mu if mu >= SMALLEST_MU else 0.0


def _deviations(log_delta: Decimal) -> Decimal:
    """Return how many standard deviations leave less than delta outside, on one side."""
    return (-2 * log_delta).sqrt()


def _delta(epsilon: Decimal, mu: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """Return delta rounded up, and how fast it falls with epsilon and grows with mu (for searches)."""
    epsilon = epsilon - _SLACK
    a = epsilon / mu - mu / 2
    if a < -1:
        return Decimal(1), Decimal(1), Decimal(1)
    if a > 40:
        return Decimal("1e-340"), Decimal("1e-340"), Decimal("1e-340")
    near, far = _mills(a)[1], _mills(a + mu)[0]
    density = (-a * a / 2).exp() / (2 * _PI).sqrt()
    return density * (near - far) * (1 + _SLACK), density * far, density


def _mills(x: Decimal) -> tuple[Decimal, Decimal]:
    """Return bounds of Mills' ratio (1 - Phi(x))/phi(x), up to rounding in the 80th digit."""
    if x > _SERIES_UP_TO:
        low, high = Decimal(0), 1 / x
        for k in range(_FRACTIONS, 0, -1):
            low, high = 1 / (x + k * high), 1 / (x + k * low)
        return low, high
    square, odd = x * x, 1
    term = total = x
    while odd < 2 * square or abs(term) > Decimal("1e-72"):  # then the rest is below the last term
        odd += 2
        term = term * square / odd
        total += term
    middle = (_PI / 2).sqrt() * (square / 2).exp() - total
    return middle - abs(term), middle + abs(term)
