"""The schedule of a series: the days of each release, and what it may spend.  Public: reads neither data nor ledger.

All releases of one person add up.  So a total is split: in rho for Gaussian noise, in epsilon for Laplace noise, since
these are what the ledger adds (``privacy.composition``).  The split fixes proportions; the largest common factor that
the ledger's own sum still accepts is found by bisection, and epsilons are rounded down from there.

Units within one day are in one release only, since spans do not overlap: each may spend all.

A release that is killed after its charge must be charged again.  So the plan keeps a reserve: an eighth of an average
share (``RESERVE``), or, where each release may spend all, an eighth of that.  ``rescaled`` divides what is left,
reserve included, between the releases that are still to be made and keeps an eighth back again.

Guarantees (tests/unit/test_series.py): spans follow each other without gap or overlap; charges of these epsilons, one
after the other, never exceed the total, and with the reserve they use more than 97 % of it.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_DOWN, Context, Decimal
from functools import cached_property
from itertools import pairwise
from typing import cast

from .._validate import integer, one_of
from ..days import DateRange, parse_date
from ..errors import CannotError, OptionError
from ..noise import Law
from ..privacy.accounting import Budget, zcdp_epsilon
from ..privacy.composition import Spending, compose
from ..privacy.gaussian import gaussian_epsilon, gaussian_mu
from ..privacy.units import Protects

EVERY = ("day", "week", "month")
SPLITS = ("even", "front")
MOST_RELEASES = 1000
_SIX_DIGITS = Context(prec=6, rounding=ROUND_DOWN)
RESERVE = 1 / 8  # of the share of one release
SMALLEST = 1 / 100  # of its planned share: with less a release is not made
_SLACK = 1e-9  # above what conversions between rho and epsilon are rounded by


@dataclass(frozen=True)
class Schedule:
    """When the releases of a series are made, and how they share the budget.

    Parameters
    ----------
    first
        The first day of the first release.
    every
        A release per "day", "week" or "month".
    count
        How many releases.
    split
        "even", or "front": the first release gets most (of twelve 32 %, the last 2.7 %).
    retry
        Keep an eighth of a release's share, so that a release that is killed can be charged and made again.

    Examples
    --------
    >>> [str(last) for _, last in Schedule("2024-01-31", "month", 3).spans]
    ['2024-02-28', '2024-03-30', '2024-04-29']
    """

    first: date | str
    every: str
    count: int
    split: str = "even"
    retry: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", parse_date(self.first, "first"))
        one_of(self.every, "every", EVERY)
        integer(self.count, "count", 1, MOST_RELEASES)
        one_of(self.split, "split", SPLITS)
        _ = self.spans  # raises if there are no such days

    @cached_property
    def spans(self) -> list[DateRange]:
        """The first and the last day of every release.

        A month begins on the day of the month of ``first``, or on the last day of a month that has no such day.
        """
        try:
            begins = [_later(cast("date", self.first), self.every, number) for number in range(self.count + 1)]
        except (ValueError, OverflowError):
            raise OptionError("the series ends after the last day that has a date, 9999-12-31") from None
        return [(begin, after - timedelta(days=1)) for begin, after in pairwise(begins)]

    @property
    def shares(self) -> list[float]:
        """The part of the total that each release gets; "front" is harmonic: 1, 1/2, 1/3, ..."""
        parts = [1.0 if self.split == "even" else 1 / number for number in range(1, self.count + 1)]
        total = math.fsum(parts)
        return [part / total for part in parts]


def divide_budget(budget: Budget, schedule: Schedule, protects: str, law: Law) -> list[float]:
    """Return the epsilon of each release, at the delta of the total, so that all together stay within ``budget``.

    The releases of ``schedule``, each with noise of this ``law``, protect units of the kind ``protects``.
    """
    parts, count, retry = schedule.shares, schedule.count, schedule.retry
    if budget.unlimited:
        raise OptionError("the total of a series must be finite")
    apart = Protects.of(protects).within_a_day
    if apart:  # a trip over midnight is in two releases at most
        parts = [0.5, 0.5] if Protects.of(protects) is Protects.TRIP and count > 1 else [1.0]
    if len(parts) == 1 and not retry:
        return [budget.epsilon] * count
    reserve = [RESERVE / len(parts)] if retry else []

    def fits(total: float) -> bool:
        # Orders add up rho, and several certificates at the whole delta fit no accountant: two stand for all.
        sizes = [total * parts[0], total * math.fsum([*parts[1:], *reserve])] if law is Law.GAUSSIAN else [
            _rounded_down(total * part) for part in [*parts, *reserve]
        ]  # fmt: skip
        return compose([make_spending(law, size, budget.delta) for size in sizes], budget).epsilon <= budget.epsilon

    # Many small pure releases cost less together than their sum, if there is a delta: hence the larger bound.
    pure = budget.epsilon * (len(parts) + 1 if budget.delta else 1)
    most = gaussian_mu(budget.epsilon, budget.delta) ** 2 / 2 if law is Law.GAUSSIAN else pure
    total = _largest(most, fits)
    found = [convert_to_epsilon(law, total * part, budget.delta) for part in parts]
    if not min(found) > 0:
        raise CannotError(
            f"epsilon {budget.epsilon:g} with delta {budget.delta:g} leaves nothing for each of {count} releases: "
            "use a larger epsilon, a smaller delta or fewer releases"
        )
    return found[:1] * count if apart else found


def rescale_planned(planned: Sequence[Spending], fits: Callable[[list[Spending]], bool], *, retry: bool) -> float:
    """Return the largest factor, up to 1, by which planned releases and a reserve fit; 0 if it is below ``SMALLEST``.

    ``fits`` gets what each release and then the reserve would spend.
    """
    sizes = [(one.law, one.spent, one.delta) for one in planned]
    if retry:
        mean = math.fsum(size for _, size, _ in sizes) / len(sizes)
        sizes.append((sizes[0][0], RESERVE * mean, sizes[0][2]))
    factor = _largest(1.0, lambda part: fits([make_spending(law, part * size, delta) for law, size, delta in sizes]))
    return factor if factor >= SMALLEST else 0.0


def convert_to_epsilon(law: Law, spent: float, delta: float) -> float:
    """Return the epsilon of a release that may spend so much epsilon, or rho, rounded down."""
    if law is Law.LAPLACE:
        return _rounded_down(spent)
    return _rounded_down(gaussian_epsilon(math.sqrt(2 * spent * (1 - _SLACK)), delta))


def make_spending(law: Law, spent: float, delta: float) -> Spending:
    """Return a spending for sums; whom it protects does not matter there."""
    if law is Law.LAPLACE:
        return Spending(Protects.PERSON, law, spent, spent)
    return Spending(Protects.PERSON, law, spent, zcdp_epsilon(spent, delta), delta)


def _largest(most: float, fits: Callable[[float], bool]) -> float:
    """Return the largest factor up to ``most`` that fits, rounded down; 0 if none does."""
    low, high = 0.0, most
    if fits(most):
        return most
    while high - low > 1e-12 * most:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _rounded_down(epsilon: float) -> float:
    """Return six digits: the shortest text of a float reads back as that float, so a shorter one is not above it."""
    return float(_SIX_DIGITS.create_decimal(Decimal(repr(epsilon))))


def _later(start: date, every: str, number: int) -> date:
    """Return the day on which a release begins, counted from the first: 31 January, 29 February, 31 March."""
    if every != "month":
        return start + timedelta(days=number * (7 if every == "week" else 1))
    year, month = divmod(start.year * 12 + start.month - 1 + number, 12)
    if year > date.max.year:
        raise ValueError
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
