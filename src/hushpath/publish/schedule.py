"""A series of releases on paper: its spans of days, and what each may spend.  Public: reads neither data nor ledger.

All releases of one person add up.  So a total is split: in rho for Gaussian noise, in epsilon for Laplace noise, since
these are what the ledger adds (``privacy.composition``).  The split fixes proportions; the largest common factor that
the ledger's own sum still accepts is found by bisection, and epsilons are rounded down from there.

Units that lie within one day are in one release only, since spans do not overlap: each may spend all.

Guarantees (tests/unit/test_series.py): spans follow each other without gap or overlap; charges of these epsilons, one
after the other, never exceed the total, and use more than 97 % of it.
"""

from __future__ import annotations

import math
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import ROUND_DOWN, Context, Decimal
from itertools import pairwise

from ..errors import CannotError, OptionError
from ..noise import Law
from ..privacy.accounting import Budget
from ..privacy.composition import cost
from ..privacy.gaussian import gaussian_epsilon, gaussian_mu
from ..privacy.spending import Protects, Spending

EVERY = ("day", "week", "month")
SPLITS = ("even", "front")
MOST = 1000  # releases of a series
Span = tuple[date, date]
_SHORT = Context(prec=6, rounding=ROUND_DOWN)  # digits of an epsilon: enough to lose nothing, few enough to type
_SLACK = 1e-9  # above what conversions between rho and epsilon are rounded by


def spans(first: date | str, every: str, count: int) -> list[Span]:
    """The first and the last day of every release.

    A month begins on the day of the month that ``first`` is, or on the last one of a month that has no such day.

    >>> [str(last) for _, last in spans("2024-01-31", "month", 3)]
    ['2024-02-28', '2024-03-30', '2024-04-29']
    """
    if every not in EVERY:
        raise OptionError(f"every must be one of {', '.join(EVERY)}, got {str(every)[:40]!r}")
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST:
        raise OptionError(f"count, the number of releases, must be from 1 to {MOST}, got {str(count)[:40]!r}")
    start = _day(first)
    try:
        begins = [_later(start, every, number) for number in range(count + 1)]
    except (ValueError, OverflowError):
        raise OptionError("the series ends after the last day that has a date, 9999-12-31") from None
    return [(begin, after - timedelta(days=1)) for begin, after in pairwise(begins)]


def shares(count: int, split: str) -> list[float]:
    """What part of the total each release gets; the parts add up to 1.

    "front" is harmonic, 1, 1/2, 1/3, ...: it needs no ratio to be chosen, and nobody starves.  Of twelve releases the
    first gets 32 % and the last 2.7 %; halving each time would leave the last 0.02 %.
    """
    if split not in SPLITS:
        raise OptionError(f"split must be one of {', '.join(SPLITS)}, got {str(split)[:40]!r}")
    parts = [1.0 if split == "even" else 1 / number for number in range(1, count + 1)]
    total = math.fsum(parts)
    return [part / total for part in parts]


def epsilons(budget: Budget, count: int, split: str, protects: str, law: Law) -> list[float]:
    """What each release is asked for, at the delta of the total, so that all together stay within it."""
    parts = shares(count, split)
    if budget.unlimited:
        raise OptionError("the total of a series must be finite")
    if Protects.of(protects).has_a_day or count == 1:
        return [budget.epsilon] * count
    found = _gaussian(budget, parts) if law is Law.GAUSSIAN else _pure(budget, parts)
    if not min(found) > 0:
        raise CannotError(
            f"epsilon {budget.epsilon:g} with delta {budget.delta:g} leaves nothing for each of {count} releases: "
            "use a larger epsilon, a smaller delta or fewer releases"
        )
    return found


def _gaussian(budget: Budget, parts: Sequence[float]) -> list[float]:
    """Epsilons whose rho are in proportion."""
    delta, whole = budget.delta, gaussian_mu(budget.epsilon, budget.delta) ** 2 / 2

    def fits(rho: float) -> bool:
        # Certificates of several releases at the whole delta fit no book by certificates, so their epsilon is not felt.
        asked = [Spending(Protects.PERSON, Law.GAUSSIAN, rho * part, zcdp_epsilon(rho * part, delta), delta) for part in parts]
        return cost(asked, budget).epsilon <= budget.epsilon

    rho = _largest(whole, fits) * (1 - _SLACK)
    return [_rounded_down(gaussian_epsilon(math.sqrt(2 * rho * part), delta)) for part in parts]


def _pure(budget: Budget, parts: Sequence[float]) -> list[float]:
    """Epsilons in proportion."""

    def rounded(epsilon: float) -> list[float]:
        return [_rounded_down(epsilon * part) for part in parts]

    def fits(epsilon: float) -> bool:
        asked = [Spending(Protects.PERSON, Law.LAPLACE, one, one) for one in rounded(epsilon)]
        return cost(asked, budget).epsilon <= budget.epsilon

    # Many small pure releases cost less together than their sum, if there is a delta: hence the larger bound.
    return rounded(_largest(budget.epsilon * (len(parts) if budget.delta else 1), fits))


def _largest(most: float, fits: Callable[[float], bool]) -> float:
    """The largest factor up to ``most`` that fits, rounded down; 0 if none does."""
    low, high = 0.0, most
    if fits(most):
        return most
    while high - low > 1e-12 * most:
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _rounded_down(epsilon: float) -> float:
    """Six digits: the shortest text of a number reads back as that number, so a shorter one is not above it."""
    return float(_SHORT.create_decimal(Decimal(repr(epsilon))))


def _later(start: date, every: str, number: int) -> date:
    """The day on which a release begins, counted from the first one: 31 January is followed by 31 March."""
    if every != "month":
        return start + timedelta(days=number * (7 if every == "week" else 1))
    year, month = divmod(start.year * 12 + start.month - 1 + number, 12)
    if year > date.max.year:
        raise ValueError
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))


def _day(given: object) -> date:
    """A date, or the text of one."""
    if isinstance(given, date) and not isinstance(given, datetime):
        return given
    try:
        return date.fromisoformat(str(given))
    except ValueError:
        raise OptionError(f"the first day is a date such as 2026-01-01, not {str(given)[:40]!r}") from None
