"""Public periods of the day: names a table uses itself, or hours that a time falls into.

Everything here is declared by the owner and published; nothing is read from the data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from .._validate import shorten
from ..errors import OptionError
from .values import DAY, SECOND, canonical_key, key_sql, moment_sql

MOST_PERIODS = 168  # the hours of a week
LONGEST_NAME = 40


@dataclass(frozen=True)
class Periods:
    """Names in order, and the hours of each if times are read; without names the whole day is one period."""

    names: tuple[str, ...] = ()
    hours: tuple[tuple[float, float], ...] = ()

    @classmethod
    def declared(cls, periods: Any) -> Periods:
        """Return periods from names, ``{"am": (7, 10), "night": (22, 5)}``, ``"hours"`` or None.

        >>> Periods.declared({"am": (7, 10), "pm": (16, 19)}).names
        ('am', 'pm')
        """
        if periods is None:
            return cls()
        if isinstance(periods, str) and periods == "hours":
            return cls(tuple(f"{hour:02d}" for hour in range(24)), tuple((h, h + 1.0) for h in range(24)))
        if isinstance(periods, str) or not isinstance(periods, (Mapping, Sequence)):
            raise OptionError("`periods` must be a list of names, names with hours {'am': (7, 10)}, or 'hours'")
        names = check_period_names(list(periods))
        if not isinstance(periods, Mapping):
            return cls(names)
        return cls.with_hours(names, [periods[name] for name in names])

    @classmethod
    def with_hours(cls, names: tuple[str, ...], hours: Sequence[Any]) -> Periods:
        """Return names with two hours each; periods must not overlap."""
        spans = tuple(_parse_hours(name, span) for name, span in zip(names, hours, strict=True))
        parts = sorted((a, b, name) for name, span in zip(names, spans, strict=True) for a, b in _split_hours(span))
        for (_, end, one), (begin, _, other) in pairwise(parts):
            if begin < end:
                raise OptionError(f"periods {one!r} and {other!r} overlap")
        return cls(names, spans)

    def __len__(self) -> int:
        return max(1, len(self.names))

    def position(self, name: Any) -> int:
        """Return the number of a period."""
        if name not in self.names:
            raise OptionError(f"there is no period {shorten(name)}; the periods are: {', '.join(self.names) or 'none'}")
        return self.names.index(name)

    def sql(self, column: str, kind: str) -> str:
        """Return an SQL expression: the number of the period that the value of ``column`` is in, or NULL."""
        if not self.hours:
            keys = enumerate(map(canonical_key, self.names))
            cases = " ".join(f"WHEN {quote_text(name or '')} THEN {i}" for i, name in keys)
            return f"CASE {key_sql(column, kind)} {cases} END"
        found = moment_sql(column, kind)
        hour = f"((({found}) % {DAY} + {DAY}) % {DAY}) / {3600 * SECOND}.0"
        parts = [(a, b, i) for i, span in enumerate(self.hours) for a, b in _split_hours(span)]
        cases = " ".join(f"WHEN {hour} >= {a!r} AND {hour} < {b!r} THEN {i}" for a, b, i in parts)
        return f"CASE {cases} END"


def check_period_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Return names that are short, printable and unique: they are published and printed on terminals."""
    for name in names:
        if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
            raise OptionError(f"the name of a period must be 1 to {LONGEST_NAME} printable characters")
        if name != name.strip():
            raise OptionError(f"the name of a period must not have spaces around it, got {name!r}")
    keys = [canonical_key(name) for name in names]
    if None in keys or len(set(keys)) != len(keys):
        raise OptionError("every period needs its own name; numbers such as 7 and 07 are the same name")
    if not 1 <= len(names) <= MOST_PERIODS:
        raise OptionError(f"`periods` must have 1 to {MOST_PERIODS} names, got {len(names)}")
    return tuple(names)


def quote_text(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _parse_hours(name: str, given: Any) -> tuple[float, float]:
    try:
        first, last = (float(hour) for hour in given)
    except (TypeError, ValueError):
        first = last = math.nan
    if not (0 <= first < 24 and 0 < last <= 24 and first != last):
        raise OptionError(f"period {name!r} needs two hours, such as (7, 10) or (22, 5) over midnight")
    return first, last


def _split_hours(span: tuple[float, float]) -> list[tuple[float, float]]:
    first, last = span
    return [span] if first < last else [(first, 24.0), (0.0, last)]
