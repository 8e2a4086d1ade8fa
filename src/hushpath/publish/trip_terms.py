"""What the owner of trips declares, from what a caller gave, and as a release file holds it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..data.periods import Periods, checked_names
from ..data.topology import Topology
from ..data.trip_values import MOST_DAYS
from ..data.trips import UNITS, Trips
from ..errors import FileFormatError, OptionError
from ..strategy.trips import EMPHASIS, Days, TripTerms, bounds_of, free_flow_of, quiet_emphasis

KEYS = {"protects", "neighbours", "periods", "hours", "days", "max_edges"}


class PlannedTrips(NamedTuple):
    """Trips that are still to come: what is public of them."""

    topology: Topology
    periods: Periods
    day_kind: str = "date"

    def keys(self, protects: Any) -> tuple[str, ...]:
        """The columns that will tell protected units apart."""
        if protects not in UNITS:
            raise OptionError(f"protects must be one of {', '.join(UNITS)}, got {str(protects)[:40]!r}")
        return UNITS[protects]


def declared(
    trips: Trips | PlannedTrips, *, epsilon: float | None, delta: float | None, protects: Any, low: Any, high: Any,
    neighbours: str, days: Any, max_edges: int | None, population: int | None, emphasis: str,
) -> tuple[Topology, TripTerms]:  # fmt: skip
    """The public network with its free-flow times, and the terms; nothing that changes the promise has a default."""
    if epsilon is None:
        raise OptionError("epsilon is missing: the privacy budget, e.g. epsilon=1.0; see docs/GUARANTEE.md")
    trips.keys(protects)
    topology = trips.topology
    if emphasis not in ("quiet", "even"):
        raise OptionError(f"emphasis must be quiet or even, got {str(emphasis)[:40]!r}")
    lowest, highest = bounds_of(topology, low, "low"), bounds_of(topology, high, "high")
    free_flow_of(topology)  # said before anything is worked out with it
    even = np.full(topology.num_edges, EMPHASIS)  # not 1: shares are divided by a norm that is rounded up
    terms = TripTerms(
        epsilon=epsilon, delta=1e-6 if delta is None else delta, unit=1.0, population=population,
        protects=protects, neighbours=neighbours, days=checked_days(days, trips.day_kind), max_edges=max_edges,
        emphasis=quiet_emphasis(topology) if emphasis == "quiet" else even,
        periods=trips.periods, low=lowest, high=highest,
    )  # fmt: skip
    return topology, terms


def trip_words(trips: Mapping[str, Any]) -> str:
    """What one protected unit of a table of trips is."""
    unit = {"person": "everything one person did", "person-day": "everything one person did on one day"}
    words = f"{unit.get(trips['protects'], 'one trip')}, whatever the number of edges"
    words += " and periods" if trips["periods"] else ""
    words += ", replaced by anything else" if trips["neighbours"] == "replace" else ", left out or added"
    return words


def days_between(first: str, last: str) -> int:
    """Return how many days the first and the last one hold, as a release tells them: dates, or numbers.

    >>> days_between("2026-10-01", "2026-10-31"), days_between("3", "3")
    (31, 1)
    """
    begin, end = _day(first), _day(last)
    if isinstance(begin, int) and isinstance(end, int):
        return end - begin + 1
    return (end - begin).days + 1  # type: ignore[operator, union-attr]


def checked_days(days: Any, kind: str) -> Days | None:
    """Return the first and the last day that count: two dates, or two numbers where the table numbers its days.

    Args:
        days: ``"2026-10-01..2026-10-31"``, one day, or a pair; None for all days.
        kind: what the table declares of its days, as in ``Trips.day_kind``.

    >>> checked_days("2026-10-01..2026-10-31", "date")
    (datetime.date(2026, 10, 1), datetime.date(2026, 10, 31))
    """
    if days is None:
        return None
    if not kind:
        raise OptionError("`days` needs a column of days: name it in read_trips(day=)")
    try:
        pair = days.split("..") if isinstance(days, str) else [days, days] if _is_day(days) else list(days)
        if len(pair) == 1:
            pair *= 2
        first, last = (_day(one) for one in pair)
    except (TypeError, ValueError):
        raise OptionError("`days` must be a first and a last day, such as 2026-10-01..2026-10-31") from None
    told = "number" if isinstance(first, int) else "date"
    if isinstance(first, int) != isinstance(last, int) or kind not in ("any", told):
        known = "two dates or two integers" if kind == "any" else "two dates" if kind == "date" else "two integers"
        raise OptionError(f"`days` must have the type of the day column: {known}")
    if first > last:  # type: ignore[operator]
        raise OptionError(f"the first day, {first}, comes after the last, {last}")
    if isinstance(first, int) and not _are_numbered(first, last):  # type: ignore[arg-type]
        raise OptionError(
            f"numbered days must be at most {MOST_DAYS}, or dates such as 20261001, got {first} to {last}: hours and "
            "minutes since 1970 are finer than a day, and would make one day many"
        )
    return first, last  # type: ignore[return-value]


def _are_numbered(first: int, last: int) -> bool:
    """Whether two numbers can be those of days: small ones, or eight digits of a date each."""
    if abs(first) <= MOST_DAYS and abs(last) <= MOST_DAYS:
        return True
    try:
        return all(1900 <= datetime.datetime.strptime(str(day), "%Y%m%d").year < 2200 for day in (first, last))
    except ValueError:
        return False


def _is_day(value: Any) -> bool:
    return isinstance(value, (int, datetime.date)) and not isinstance(value, bool)


def _day(value: Any) -> datetime.date | int:
    if isinstance(value, datetime.datetime):
        return value.date()
    if _is_day(value):
        return value  # type: ignore[no-any-return]
    text = str(value).strip()
    number = text.lstrip("-").isdigit() and len(text) < 19
    return int(text) if number else datetime.date.fromisoformat(text)


def packed(terms: TripTerms) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a file."""
    return terms.declared_of_trips(), {
        "trips.low": terms.low, "trips.high": terms.high, "trips.emphasis": terms.emphasis,
    }  # fmt: skip


def unpacked(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], topology: Topology, **budget: Any
) -> TripTerms:
    """The inverse of ``packed``; everything is proved, or an error of ours is raised."""
    if set(header) != KEYS:
        raise FileFormatError("what it says of its trips has other fields than this version knows")
    for name, kind in (("low", np.float64), ("high", np.float64), ("emphasis", np.int64)):
        array = arrays.get(f"trips.{name}")
        if array is None or array.dtype != kind or array.shape != (topology.num_edges,):
            raise FileFormatError(f"array 'trips.{name}' is missing or does not fit its network")
    names, hours, days = header["periods"], header["hours"], header["days"]
    if not isinstance(names, list) or not isinstance(hours, list) or not isinstance(header["protects"], str):
        raise FileFormatError("what it says of its trips is not plain")
    if hours and len(hours) != len(names):
        raise FileFormatError("its periods have other hours than names")
    known = checked_names(names) if names else ()
    periods = Periods.with_hours(known, [_pair(span) for span in hours]) if hours else Periods(known)
    if days is not None and not (isinstance(days, list) and len(days) == 2 and all(type(d) is str for d in days)):
        raise FileFormatError("its days are not a first and a last one")
    try:
        span = None if days is None else (_day(days[0]), _day(days[1]))
    except ValueError:
        raise FileFormatError("its days are not a first and a last one") from None
    if span is not None and (
        type(span[0]) is not type(span[1]) or [str(day) for day in span] != days or span[0] > span[1]  # type: ignore[operator]
    ):
        raise FileFormatError("its days are not a first and a last one")
    return TripTerms(
        **budget, unit=1.0, protects=header["protects"], neighbours=header["neighbours"],
        periods=periods, days=span, max_edges=header["max_edges"],  # type: ignore[arg-type]
        low=arrays["trips.low"], high=arrays["trips.high"], emphasis=arrays["trips.emphasis"],
    )  # fmt: skip


def _pair(span: Any) -> tuple[float, float]:
    if not isinstance(span, list) or len(span) != 2 or any(type(hour) is not float for hour in span):
        raise FileFormatError("a period of it has no hours")
    return span[0], span[1]
