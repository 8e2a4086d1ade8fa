"""What releases cost: one release (``Spending``), and several together (docs/proofs/ledger.md).

A ledger holds one kind of unit and accepts releases of that kind only.  A release that protects each *person* does not
protect each *person-day* at the same cost: removing one day of a person replaces the person's rows by others, which
moves more than removing the person (docs/proofs/ledger.md, section 5).

Several releases are added up by *accountants*.  Each has a price for every release, and adds prices up:

    by certificates     price epsilon and, beside it, delta                          (Rogers et al. 2016)
    of order alpha      price alpha rho (Gaussian), min(epsilon, alpha epsilon^2/2) (pure), and an initial fee
                        log(1 / (alpha delta)) / (alpha - 1)  +  log(1 - 1/alpha)     (Feldman and Zrnic 2021)

Releases fit a budget if at least one accountant stays within it.  Owners see one release before they choose the next,
and which accountant fits in the end may depend on that.  So each accountant has its own part of delta, and orders are
fixed by the budget alone: a choice of alpha afterwards would break the promise.  One order suits a budget spent on
Gaussian releases; three more suit what is left after pure ones took a half, three quarters or seven eighths.  The
first release is chosen before anything was seen; if it needs all of delta, certificates keep the whole delta.

Units within a day are touched only by releases that cover it; ``pieces`` splits time where that changes.

Guarantees (tests/unit/test_composition.py): a ``Spending`` holds finite non-negative numbers; Laplace noise has no
delta; the rho and epsilon of Gaussian noise agree.  Sums are exact fractions; costs are rounded up, remaining budgets
down; the parts of delta never exceed it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from functools import cache, lru_cache
from itertools import pairwise
from typing import Protocol, TypeVar

from .._validate import as_float, one_of
from ..days import DateRange
from ..errors import OptionError
from ..noise import Law
from .accounting import SMALLEST_DELTA, Budget, zcdp_epsilon
from .certificate import Certificate
from .gaussian import gaussian_epsilon, is_possible
from .units import Protects

_ROUNDING = 1e-9  # above what another platform's logarithms may change in a certificate


@dataclass(frozen=True)
class Spending:
    """What one release spends."""

    protects: Protects
    law: Law
    spent: float  # pure epsilon (Laplace) or rho of zCDP (Gaussian)
    epsilon: float  # certified, with delta
    delta: float = 0.0  # 0 for Laplace

    def __post_init__(self) -> None:
        """Refuse what no certificate states, above all a negative cost: it would pay for others."""
        vars(self).update(protects=Protects.of(self.protects), law=Law(one_of(self.law, "law", Law)))
        for name in ("spent", "epsilon", "delta"):
            value = as_float(getattr(self, name), name)
            if not 0 <= value < math.inf:
                raise OptionError(f"`{name}` of a release must be finite and at least 0, got {value:g}: NOT PRIVATE")
            object.__setattr__(self, name, value)
        if self.law is Law.LAPLACE and (self.delta != 0 or self.epsilon != self.spent):
            raise OptionError("a release with Laplace noise has delta 0, and spends its epsilon")
        if self.law is Law.GAUSSIAN and not SMALLEST_DELTA <= self.delta <= 0.5:
            raise OptionError(f"a release with Gaussian noise has a delta of at most 0.5, got {self.delta:g}")
        if self.law is Law.GAUSSIAN:
            self._check_consistency()

    def _check_consistency(self) -> None:
        """Refuse rho, epsilon and delta that no certificate states together: one of them would be too small."""
        numbers = f"rho {self.spent:g}, epsilon {self.epsilon:g}, delta {self.delta:g} of Gaussian noise do not agree"
        if not is_possible(self.spent, self.epsilon, self.delta):
            raise OptionError(f"{numbers}: epsilon is too small. Use Spending.of(certificate, protects)")
        if not self.epsilon <= zcdp_epsilon(self.spent, self.delta) * (1 + _ROUNDING) + _ROUNDING:
            raise OptionError(f"{numbers}: rho is too small. Use Spending.of(certificate, protects)")

    @classmethod
    def of(cls, certificate: Certificate, protects: str) -> Spending:
        """Return what a release with this certificate spends."""
        return cls(Protects.of(protects), certificate.law, certificate.spent, certificate.epsilon, certificate.delta)

    def is_paid_by(self, charged: Spending) -> bool:
        """Return whether a charge covers this: the same law and unit, and no number larger."""
        same_promise = self.law is charged.law and self.protects is charged.protects
        return same_promise and all(
            getattr(self, name) <= getattr(charged, name) for name in ("spent", "epsilon", "delta")
        )

    def __str__(self) -> str:
        more = f", delta {self.delta:g}" if self.delta else ""
        return f"epsilon {self.epsilon:.6g}{more} ({self.law} noise, {self.protects})"


_SLACK = 2.0**-40  # as in ``accounting``: above the rounding errors of the fee
# Powers of two, so that parts are exact.  Half goes where everyday spending ends; the sum is 1.
_BY_CERTIFICATES, _BY_ORDER = 1 / 8, (1 / 2, 1 / 8, 1 / 8, 1 / 8)
# The same on every machine: floats with four bits, at most an eighth apart, which costs less than 1 % of rho.
_ORDERS = [1 + math.ldexp(eighths, power - 3) for power in range(-10, 40) for eighths in range(8, 16)]


# A mathematical library may round logarithms in its own way; decimals are rounded in one way only.
_DIGITS = Context(
    prec=30, rounding=ROUND_HALF_EVEN, Emin=-999_999, Emax=999_999, capitals=1, clamp=0, flags=[],
    traps=[InvalidOperation, DivisionByZero, Overflow],
)  # fmt: skip


class Dated(Protocol):
    """A release as composition sees it."""

    @property
    def asked(self) -> Spending: ...  # noqa: D102 - what it spends
    @property
    def days(self) -> DateRange | None: ...  # noqa: D102 - the days it covers


_D = TypeVar("_D", bound=Dated)


@dataclass(frozen=True)
class Accountant:
    """One way to add up releases: certificates, or Rényi divergences of one order at a fee (docs/proofs/ledger.md)."""

    delta: float
    order: float | None = None
    fee: float = 0.0

    def price(self, asked: Spending) -> Fraction:
        """Return what one release costs, exactly."""
        if self.order is None:
            return Fraction(asked.epsilon)
        alpha, spent = Fraction(self.order), Fraction(asked.spent)
        return alpha * spent if asked.law is Law.GAUSSIAN else min(spent, alpha * spent * spent / 2)

    def total(self, charges: Sequence[Spending]) -> Fraction | float:
        """Return an epsilon for all of them at this accountant's delta; infinite if certificates need more delta."""
        if self.order is None and _sum_deltas(charges) > self.delta:
            return math.inf
        return max(Fraction(0), Fraction(self.fee) + sum((self.price(one) for one in charges), Fraction(0)))

    def remaining(self, charges: Sequence[Spending], epsilon: float, delta: float) -> tuple[float, float]:
        """Return the largest epsilon that fits beside these: pure, and of Gaussian noise certified at ``delta``."""
        total = self.total(charges)
        if total > epsilon:
            return 0.0, 0.0
        left = Fraction(epsilon) - Fraction(total)
        if self.order is None:
            fits = delta and _sum_deltas(charges) + Fraction(delta) <= self.delta
            return _round_down(left), _round_down(left) if fits else 0.0
        mu = math.sqrt(2 * left / Fraction(self.order)) * (1 - _SLACK)  # pure epsilon mu costs as much as rho = mu²/2
        # Noise for this epsilon has rho = mu²/2, but for what certificates are rounded up by.
        return max(_round_down(left), mu), gaussian_epsilon(mu, delta) * (1 - 1e-9) if delta else 0.0


@dataclass(frozen=True)
class Cost:
    """What releases cost together, rounded up; infinite if they fit no accountant's delta."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class RemainingBudget:
    """What one more release could spend, rounded down: pure, or Gaussian if certified at ``delta``."""

    epsilon: float
    gaussian_epsilon: float
    delta: float


def accountants(budget: Budget, charges: Sequence[Spending]) -> tuple[Accountant, ...]:
    """Return the accountants of a budget, which the first of its releases may change; later ones may not."""
    shared = _make_accountants(budget.epsilon, budget.delta)
    if not charges or any(one.total(charges[:1]) <= budget.epsilon for one in shared):
        return shared
    return (Accountant(budget.delta),)


def compose(charges: Sequence[Spending], budget: Budget) -> Cost:
    """Return what releases, in their order, cost together: within the budget if and only if one accountant accepts."""
    least = min(one.total(charges) for one in accountants(budget, charges))
    return Cost(_round_up(least), budget.delta if _sum_deltas(charges) else 0.0)


def remaining_budget(charges: Sequence[Spending], budget: Budget, delta: float) -> RemainingBudget:
    """Return what one more release could spend beside these; a Gaussian one would be certified at ``delta``."""
    ways = [one.remaining(charges, budget.epsilon, delta) for one in accountants(budget, charges)]
    if not charges:  # it would be the first, and may take everything
        ways.append(Accountant(budget.delta).remaining([], budget.epsilon, delta))
    return RemainingBudget(max(pure for pure, _ in ways), max(gaussian for _, gaussian in ways), delta)


def days_with_same_releases(
    charges: Sequence[_D], protects: Protects, days: DateRange | None
) -> Iterator[tuple[DateRange | None, list[_D]]]:
    """Yield runs of days that the same releases cover, each with those releases in their order."""
    if not protects.within_a_day:
        yield None, list(charges)
        return
    first, last = _as_ordinals(days)
    begins: dict[int, list[int]] = {first: []}
    ends: dict[int, list[int]] = {last + 1: []}
    for place, charge in enumerate(charges):
        begin, end = _as_ordinals(days_touched(protects, charge.days))
        if begin <= last and end >= first:
            begins.setdefault(max(begin, first), []).append(place)
            ends.setdefault(min(end, last) + 1, []).append(place)
    running: set[int] = set()
    for begin, after in pairwise(sorted(begins.keys() | ends.keys())):
        running.update(begins.get(begin, ()))
        running.difference_update(ends.get(begin, ()))
        run = date.fromordinal(begin), date.fromordinal(after - 1)
        yield run, [charges[place] for place in sorted(running)]


def days_touched(protects: Protects, days: DateRange | None) -> DateRange | None:
    """Return the days whose units a release of these days may depend on.

    A trip is counted on the day it began, but a table that begins at midnight shows one that is under way as if it
    began then.  So a release of trips may depend on those of the day before, too.
    """
    if protects is not Protects.TRIP or days is None:
        return days
    return max(days[0], date.min + timedelta(days=1)) - timedelta(days=1), days[1]


def _as_ordinals(days: DateRange | None) -> tuple[int, int]:
    """Return the first and the last day as numbers."""
    first, last = days or (date.min, date.max)
    return first.toordinal(), last.toordinal()


@lru_cache(maxsize=64)
def _make_accountants(epsilon: float, delta: float) -> tuple[Accountant, ...]:
    """Return the accountants of a budget, each with its part of delta; a pure budget has one."""
    if delta == 0:
        return (Accountant(0.0),)
    of_order = (_choose_accountant(epsilon / 2**halved, part * delta) for halved, part in enumerate(_BY_ORDER))
    return (Accountant(_BY_CERTIFICATES * delta), *of_order)


def _choose_accountant(epsilon: float, delta: float) -> Accountant:
    """Return the accountant that allows Gaussian releases the most rho within (epsilon, delta)."""
    with localcontext(_DIGITS):
        spent, log_delta = Decimal(epsilon), Decimal(delta).ln()
        order = max(_logarithms(), key=lambda one: (spent + (one[1] + log_delta) / (one[3] - 1) - one[2]) / one[3])[0]
    return Accountant(delta, order, _compute_fee(order, delta))


@cache
def _logarithms() -> list[tuple[float, Decimal, Decimal, Decimal]]:
    """Return (alpha, log(alpha), log(1 - 1/alpha), alpha as a decimal) for every order alpha."""
    with localcontext(_DIGITS):
        exact = [Decimal(alpha) for alpha in _ORDERS]
        return [(float(alpha), alpha.ln(), (1 - 1 / alpha).ln(), alpha) for alpha in exact]


def _compute_fee(alpha: float, delta: float) -> float:
    """Return what a Rényi divergence of order alpha needs to become (epsilon, delta), rounded up."""
    terms = -math.log(alpha * delta) / (alpha - 1), math.log1p(-1 / alpha)
    return sum(terms) + _SLACK * (1 + sum(abs(term) for term in terms))


def _sum_deltas(charges: Sequence[Spending]) -> Fraction:
    return sum((Fraction(one.delta) for one in charges), Fraction(0))


def _round_up(value: Fraction | float) -> float:
    """Return the smallest float that is not below."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return near if near >= value else math.nextafter(near, math.inf)


def _round_down(value: Fraction) -> float:
    """Return the largest float that is not above."""
    near = float(value)
    return near if near <= value else math.nextafter(near, 0.0)
