"""What the numbers of a release are and who publishes them: declared by the owner, stored in the file.

None of it is computed from data or part of the promise.  People see only the digits that noise leaves meaningful.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..errors import OptionError
from ..privacy.ledger import check_name

LONGEST = 60  # characters of each text
SECONDS = {
    1.0: ("s", "sec", "second", "seconds"),
    60.0: ("min", "minute", "minutes"),
    3600.0: ("h", "hr", "hour", "hours"),
    0.001: ("ms", "millisecond", "milliseconds"),
}
WITHOUT_INTERVAL = 4  # significant digits of an answer whose interval was not asked for


@dataclass(frozen=True)
class Quantity:
    """What the numbers of a release are, declared by its owner and published; no part of the promise.

    Parameters
    ----------
    name
        What one distance is, for example "travel time".
    unit_of_measure
        What it is measured in, for example "seconds".
    date
        The reporting period, free text, for example "2026-03".  Readers of a signed file can demand it (``load``).
    publisher
        Who publishes the release; only a signature proves it.
    dataset
        The name of the data; with a ledger, the data set that is charged.

    Examples
    --------
    >>> str(Quantity("travel time", "seconds", "2026-03"))
    'travel time in seconds, 2026-03'
    >>> Quantity().noun, str(Quantity())
    ('distance', '')
    """

    name: str = ""
    unit_of_measure: str = ""
    date: str = ""
    publisher: str = ""
    dataset: str = ""

    def __post_init__(self) -> None:
        for what, text in asdict(self).items():
            if what == "dataset" and text:
                check_name("dataset", text)
            elif not isinstance(text, str) or len(text) > LONGEST or not text.isprintable() or text != text.strip():
                raise OptionError(f"`{what}` of a quantity must be one line of at most {LONGEST} characters")

    def of_trips(self) -> Quantity:
        """Return the quantity of a release of trips: travel times in seconds, unless it is named otherwise."""
        if self.unit_of_measure and self.seconds != 1.0:
            raise OptionError(f"travel times from trips are in seconds, not {self.unit_of_measure}")
        return replace(
            self, name=self.name or "travel time", unit_of_measure=self.unit_of_measure or "seconds"
        )  # fmt: skip

    @property
    def noun(self) -> str:
        """What one distance is called."""
        return self.name or "distance"

    @property
    def seconds(self) -> float | None:
        """How many seconds one unit is, if it is a time."""
        return SECONDS_IN.get(self.unit_of_measure)

    def __str__(self) -> str:
        what = f"{self.noun} in {self.unit_of_measure}" if self.unit_of_measure else self.name
        return ", ".join(part for part in (what, self.date) if part)

    def heading(self, text: str = "") -> str:
        """Return the name of a column or an axis: ``travel time (seconds)``."""
        return f"{text or self.noun} ({self.unit_of_measure})" if self.unit_of_measure else text or self.noun

    def amount(self, text: str) -> str:
        """Return a formatted number with its unit of measure."""
        return f"{text} {self.unit_of_measure}" if self.unit_of_measure and text != "inf" else text

    def as_dict(self) -> dict[str, str]:
        """Return plain texts."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Quantity:
        """Return the quantity that ``as_dict`` wrote; an ``OptionError`` if it cannot have written this."""
        if set(found) != {one.name for one in fields(cls)}:
            raise OptionError(f"a quantity must have exactly the fields {', '.join(one.name for one in fields(cls))}")
        return cls(**found)


SECONDS_IN = {name: seconds for seconds, names in SECONDS.items() for name in names}
UNNAMED = Quantity()


def format_interval(value: float, low: float, high: float) -> tuple[str, str, str]:
    """Format a number and both ends of its interval, all with the digits of the number.

    >>> format_interval(1234.5678, 1180.4, 1290.6)
    ('1230', '1180', '1290')
    """
    down, up = value - low, high - value
    return (
        format_value(value, low, high),
        format_value(low, low - down, low + up),
        format_value(high, high - down, high + up),
    )


def format_value(value: float, low: float | None = None, high: float | None = None) -> str:
    """Format a number with the digits that noise leaves: the last is worth at most a quarter of its error.

    >>> format_value(1234.5678, 1180, 1290), format_value(1234.5678, 1234.1, 1235.1), format_value(1234.5678)
    ('1230', '1234.6', '1235')
    >>> format_value(0.0123456, 0.0101, 0.0144), format_value(float("inf")), format_value(12345678.0, 0.0, 2e7)
    ('0.0123', 'inf', '12000000')
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    if low is not None and high is not None and math.isfinite(high - low):
        off = max(high - value, value - low)
        last = math.floor(math.log10(off / 4)) if off > 0 else math.floor(math.log10(abs(value))) - 9
    elif low is not None and high is not None:
        last = math.floor(math.log10(abs(value)))
    else:
        last = math.floor(math.log10(abs(value))) + 1 - WITHOUT_INTERVAL
    return f"{round(value, -last):.{max(0, -last)}f}"


def format_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a line for each row, with columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
