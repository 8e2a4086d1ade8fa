"""Days that a release covers: two dates, or two day numbers, both included.

Dates are ``datetime.date``.  Tables that number their days use integers: up to 100 000 in absolute value, or eight
digits of a date such as 20261001.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any, cast

from ._validate import is_integer, shorten
from .errors import OptionError

Day = date | int
DateRange = tuple[date, date]
Days = DateRange | tuple[int, int]
LARGEST_DAY_NUMBER = 100_000
EXAMPLE = "2026-10-01..2026-10-31"


def parse_day(value: Any) -> Day:
    """Return one day: a date, a day number, or the text of either; ``ValueError`` or ``TypeError`` otherwise.

    >>> parse_day("2026-10-01"), parse_day("17")
    (datetime.date(2026, 10, 1), 17)
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if is_integer(value):
        return int(value)
    text = str(value).strip()
    return int(text) if re.fullmatch("-?[0-9]{1,18}", text) else date.fromisoformat(text)


def parse_date(value: Any, name: str) -> date:
    """Return a date, from a date or its text; a time of day is refused."""
    try:
        found = parse_day(value)
    except (TypeError, ValueError):
        found = 0
    if not isinstance(found, date) or isinstance(value, datetime):
        raise OptionError(f"`{name}` must be a date such as 2026-01-01, got {shorten(value)}")
    return found


def parse_days(value: Any, name: str = "days") -> Days | None:
    """Return the first and the last day.

    Parameters
    ----------
    value
        Two days, one day, or text such as ``"2026-10-01..2026-10-31"``; None for all days.
    name
        The name of the argument, for error messages.

    >>> parse_days("2026-10-01..2026-10-31")
    (datetime.date(2026, 10, 1), datetime.date(2026, 10, 31))
    >>> parse_days(3)
    (3, 3)
    """
    if value is None:
        return None
    try:
        single = isinstance(value, (date, bytes)) or is_integer(value)  # bytes are no list of day numbers
        pair = value.split("..") if isinstance(value, str) else [value] if single else list(value)
        first, last = map(parse_day, pair * 2 if len(pair) == 1 else pair)
    except (TypeError, ValueError):
        raise OptionError(f"`{name}` must be a first and a last day, such as {EXAMPLE}") from None
    if isinstance(first, int) != isinstance(last, int):
        raise OptionError(f"`{name}` must be two dates or two integers, got {first} and {last}")
    if first > last:  # type: ignore[operator]
        raise OptionError(f"`{name}`: the first day, {first}, is after the last, {last}")
    if isinstance(first, int) and not _are_day_numbers(first, cast("int", last)):
        raise OptionError(
            f"`{name}`: day numbers must be at most {LARGEST_DAY_NUMBER}, or dates such as 20261001; got {first} to "
            f"{last}. Hours or minutes since 1970 would split one day into many"
        )
    return cast("Days", (first, last))


def count_days(days: Days) -> int:
    """Return the number of days from the first to the last, both included."""
    first, last = days
    return (last - first if isinstance(first, int) else (last - first).days) + 1  # type: ignore[operator, union-attr]


def as_dates(days: Days | None) -> DateRange | None:
    """Return days that are dates; None for all days and for day numbers, which no calendar knows."""
    return days if days is not None and isinstance(days[0], date) else None


def check_dates(days: Any, name: str = "days") -> DateRange | None:
    """Return days as given, if they are two dates in order, or None."""
    found = parse_days(days, name)
    if found is not None and (as_dates(found) is None or not isinstance(days, tuple) or found != days):
        raise OptionError(f"`{name}` must be the first and the last date, or None, got {shorten(days)}")
    return as_dates(found)


def format_days(days: DateRange | None) -> str:
    """Return a range of dates for people.

    >>> format_days((date(2026, 10, 1), date(2026, 10, 31))), format_days(None)
    ('2026-10-01 to 2026-10-31', 'all days')
    """
    if days is None or days == (date.min, date.max):
        return "all days"
    first, last = (day.isoformat() for day in days)
    if days[0] == date.min:
        return f"until {last}"
    return f"from {first}" if days[1] == date.max else first if first == last else f"{first} to {last}"


def _are_day_numbers(first: int, last: int) -> bool:
    """Whether two integers can number days: small ones, or the eight digits of a date each."""
    if abs(first) <= LARGEST_DAY_NUMBER and abs(last) <= LARGEST_DAY_NUMBER:
        return True
    try:
        return all(1900 <= datetime.strptime(str(day), "%Y%m%d").year < 2200 for day in (first, last))
    except ValueError:
        return False
