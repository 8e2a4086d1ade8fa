r"""What several releases cost together: books, one of which must balance (docs/proofs/ledger.md).

A *book* has a price for every release, and adds prices up.  There are two kinds:

    by certificates     price epsilon and, beside it, delta                          (Rogers et al. 2016)
    of order alpha      price alpha rho (Gaussian), min(epsilon, alpha epsilon²/2) (pure), and a fee to begin with,
                        log(1 / (alpha delta)) / (alpha - 1)  +  log(1 - 1/alpha)     (Feldman and Zrnic 2021)

Releases fit a budget if at least one book stays within it.  Owners see one release before they choose the next, and
which book balances in the end may depend on that.  So each book has its own part of delta, and orders are fixed by the
budget alone: with a free choice of alpha afterwards the promise would be false.  One order suits a budget
spent on Gaussian releases; three more suit what is left after pure ones took a half, three quarters, seven eighths.

The first release is chosen before anything was seen.  If it fits no book, but all of epsilon and delta, then
certificates get the whole delta, for good: an owner may spend a budget at one blow.

Units that lie within a day are touched only by releases that cover it; ``pieces`` cuts time where that changes.

Guarantees (tests/unit/test_composition.py): sums are exact, because every float is a fraction, so that nothing is lost
however many small numbers are added; ``Cost`` is rounded up, ``Room`` down; the parts of delta never exceed it.
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

from ..days import DateRange
from ..noise import Law
from .accounting import Budget
from .gaussian import gaussian_epsilon
from .spending import Spending
from .units import Protects

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
class Book:
    """One way to add up releases; ``order`` is ``None`` if certificates are added."""

    delta: float
    order: float | None = None
    fee: float = 0.0

    def price(self, asked: Spending) -> Fraction:
        """What one release costs in this book, exactly."""
        if self.order is None:
            return Fraction(asked.epsilon)
        alpha, spent = Fraction(self.order), Fraction(asked.spent)
        return alpha * spent if asked.law is Law.GAUSSIAN else min(spent, alpha * spent * spent / 2)

    def total(self, charges: Sequence[Spending]) -> Fraction | float:
        """An epsilon for all of them at this book's delta; infinite if certificates need more delta."""
        if self.order is None and _deltas(charges) > self.delta:
            return math.inf
        return max(Fraction(0), Fraction(self.fee) + sum((self.price(one) for one in charges), Fraction(0)))

    def room(self, charges: Sequence[Spending], epsilon: float, delta: float) -> tuple[float, float]:
        """The largest pure epsilon, and the largest of Gaussian noise certified at ``delta``, that fit beside these."""
        total = self.total(charges)
        if total > epsilon:
            return 0.0, 0.0
        left = Fraction(epsilon) - Fraction(total)
        if self.order is None:
            return _down(left), _down(left) if delta and _deltas(charges) + Fraction(delta) <= self.delta else 0.0
        mu = math.sqrt(2 * left / Fraction(self.order)) * (1 - _SLACK)  # pure epsilon mu costs as much as rho = mu²/2
        # Noise for this epsilon has rho = mu²/2, but for what certificates are rounded up by.
        return max(_down(left), mu), gaussian_epsilon(mu, delta) * (1 - 1e-9) if delta else 0.0


@dataclass(frozen=True)
class Cost:
    """What releases cost together, rounded up; infinite if no book can say."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Room:
    """What one more release could spend, rounded down: pure, or Gaussian if certified at ``delta``."""

    epsilon: float
    gaussian_epsilon: float
    delta: float


def books(budget: Budget, charges: Sequence[Spending]) -> tuple[Book, ...]:
    """The books of a budget, which the first of its releases may change; later ones may not."""
    shared = _shared(budget.epsilon, budget.delta)
    if not charges or any(book.total(charges[:1]) <= budget.epsilon for book in shared):
        return shared
    return (Book(budget.delta),)


def cost(charges: Sequence[Spending], budget: Budget) -> Cost:
    """What releases, in their order, cost together: no more than the budget exactly if one of its books balances."""
    least = min(book.total(charges) for book in books(budget, charges))
    return Cost(_up(least), budget.delta if _deltas(charges) else 0.0)


def room(charges: Sequence[Spending], budget: Budget, delta: float) -> Room:
    """What one more release could spend beside these; a Gaussian one would be certified at ``delta``."""
    ways = [book.room(charges, budget.epsilon, delta) for book in books(budget, charges)]
    if not charges:  # it would be the first, and may take everything
        ways.append(Book(budget.delta).room([], budget.epsilon, delta))
    return Room(max(pure for pure, _ in ways), max(gaussian for _, gaussian in ways), delta)


def pieces(
    charges: Sequence[_D], protects: Protects, days: DateRange | None
) -> Iterator[tuple[DateRange | None, list[_D]]]:
    """Cut days into runs that the same releases cover: each run and, in their order, those releases."""
    if not protects.has_a_day:
        yield None, list(charges)
        return
    first, last = _span(days)
    begins: dict[int, list[int]] = {first: []}
    ends: dict[int, list[int]] = {last + 1: []}
    for place, charge in enumerate(charges):
        begin, end = _span(touched(protects, charge.days))
        if begin <= last and end >= first:
            begins.setdefault(max(begin, first), []).append(place)
            ends.setdefault(min(end, last) + 1, []).append(place)
    running: set[int] = set()
    for begin, after in pairwise(sorted(begins.keys() | ends.keys())):
        running.update(begins.get(begin, ()))
        running.difference_update(ends.get(begin, ()))
        run = date.fromordinal(begin), date.fromordinal(after - 1)
        yield run, [charges[place] for place in sorted(running)]


def touched(protects: Protects, days: DateRange | None) -> DateRange | None:
    """Return the days whose units a release of these days may depend on.

    A trip is counted on the day it began, but a table that begins at midnight shows one that is under way as if it
    began then.  So a release of trips may depend on those of the day before, too.
    """
    if protects is not Protects.TRIP or days is None:
        return days
    return max(days[0], date.min + timedelta(days=1)) - timedelta(days=1), days[1]


def _span(days: DateRange | None) -> tuple[int, int]:
    """The first and the last day as numbers."""
    first, last = days or (date.min, date.max)
    return first.toordinal(), last.toordinal()


@lru_cache(maxsize=64)
def _shared(epsilon: float, delta: float) -> tuple[Book, ...]:
    """The books of a budget, each with its part of delta; a pure budget has one."""
    if delta == 0:
        return (Book(0.0),)
    of_order = (_suited(epsilon / 2**halved, part * delta) for halved, part in enumerate(_BY_ORDER))
    return (Book(_BY_CERTIFICATES * delta), *of_order)


def _suited(epsilon: float, delta: float) -> Book:
    """The book in which Gaussian releases may spend the most rho within (epsilon, delta), the same on every machine."""
    with localcontext(_DIGITS):
        spent, log_delta = Decimal(epsilon), Decimal(delta).ln()
        order = max(_logarithms(), key=lambda one: (spent + (one[1] + log_delta) / (one[3] - 1) - one[2]) / one[3])[0]
    return Book(delta, order, _fee(order, delta))


@cache
def _logarithms() -> list[tuple[float, Decimal, Decimal, Decimal]]:
    """Every order alpha with log(alpha), log(1 - 1/alpha) and itself as a decimal."""
    with localcontext(_DIGITS):
        exact = [Decimal(alpha) for alpha in _ORDERS]
        return [(float(alpha), alpha.ln(), (1 - 1 / alpha).ln(), alpha) for alpha in exact]


def _fee(alpha: float, delta: float) -> float:
    """From a Rényi divergence of order alpha to (epsilon, delta): what is added, rounded up."""
    terms = -math.log(alpha * delta) / (alpha - 1), math.log1p(-1 / alpha)
    return sum(terms) + _SLACK * (1 + sum(abs(term) for term in terms))


def _deltas(charges: Sequence[Spending]) -> Fraction:
    return sum((Fraction(one.delta) for one in charges), Fraction(0))


def _up(value: Fraction | float) -> float:
    """The smallest float that is not below."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return near if near >= value else math.nextafter(near, math.inf)


def _down(value: Fraction) -> float:
    """The largest float that is not above."""
    near = float(value)
    return near if near <= value else math.nextafter(near, 0.0)
