r"""Budgets, and the way from zero-concentrated to approximate differential privacy.

Two currencies are used.  Laplace noise spends pure ``epsilon``; Gaussian noise spends ``rho`` (zCDP),
which converts to ``(epsilon, delta)`` for every alpha > 1 by (Canonne, Kamath and Steinke 2020, Proposition 12)

    epsilon  =  alpha rho  +  log(1 / (alpha delta)) / (alpha - 1)  +  log(1 - 1/alpha).

Any alpha gives a valid epsilon, so the search for a good one needs no trust; only the last evaluation is rounded,
and it is rounded up.  (For Gaussian noise ``gaussian`` does better; both hold, and the certificate takes the smaller.)

Guarantees: ``zcdp_epsilon`` never understates (tests compare with dp-accounting); ``zcdp_rho`` never overstates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from .._validate import as_float
from ..errors import OptionError

# Far above the rounding error of the few floating-point operations it covers, far below anything that matters.
_SLACK = 2.0**-40
SMALLEST_DELTA = 1e-300  # the conversion is proved above this and below 1/2 (docs/proofs/certificate.md)


@dataclass(frozen=True)
class Budget:
    """The privacy budget.

    Parameters
    ----------
    epsilon
        Positive; ``inf`` adds no noise: NOT PRIVATE.
    delta
        0 for pure differential privacy, else from 1e-300 to 0.5.
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if self.epsilon is None:
            raise OptionError("`epsilon` is missing: the privacy budget, for example 1.0. See the guide to epsilon")
        for name in ("epsilon", "delta"):
            object.__setattr__(self, name, as_float(getattr(self, name), name))
        if not self.epsilon > 0:
            raise OptionError(f"`epsilon` must be positive, got {self.epsilon:g}. Choose 0.1 to 10")
        if self.delta != 0 and not SMALLEST_DELTA <= self.delta <= 0.5:
            raise OptionError(f"`delta` must be 0, or between {SMALLEST_DELTA:g} and 0.5, got {self.delta:g}")

    @property
    def unlimited(self) -> bool:
        """Whether nothing is promised (``epsilon = inf``)."""
        return math.isinf(self.epsilon)


@lru_cache(maxsize=2**14)  # public numbers; a ledger is read again and again
def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon, rounded up, such that rho-zCDP implies (epsilon, delta)-DP.

    >>> round(zcdp_epsilon(0.5 / 4.5309**2, 1e-6), 4)
    1.0
    """
    if rho == 0:
        return 0.0
    if not 0 < delta < 1:
        return math.inf

    def bound(alpha: float) -> float:
        terms = (alpha * rho, -math.log(alpha * delta) / (alpha - 1), math.log1p(-1 / alpha))
        return sum(terms) + _SLACK * (1 + sum(abs(t) for t in terms))

    # The bound is unimodal in log(alpha - 1); golden section from a range that holds every minimum we meet.
    low, high = math.log(1e-6), math.log(1e12)
    shrink = (math.sqrt(5) - 1) / 2
    for _ in range(200):
        left, right = high - shrink * (high - low), low + shrink * (high - low)
        if bound(1 + math.exp(left)) <= bound(1 + math.exp(right)):
            high = right
        else:
            low = left
    return max(0.0, bound(1 + math.exp((low + high) / 2)))


@lru_cache(maxsize=64)  # public numbers, 20 ms each
def zcdp_rho(epsilon: float, delta: float) -> float:
    """Return the largest rho, rounded down, for which ``zcdp_epsilon`` stays within epsilon."""
    if not 0 < delta < 1:
        raise OptionError("Gaussian noise needs delta above 0; use noise='laplace' for pure privacy")
    low, high = 0.0, max(1.0, epsilon)
    while zcdp_epsilon(high, delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if zcdp_epsilon(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return low
