"""Choose columns, and refuse an edge list that looks like rows about people: every edge is published as given.

A table with a row per trip, read as a network, would publish every trip.  Two signs of such a table are checked before
anything is charged to a ledger: rows that repeat the same two ends, and columns that only tables of trips have.  A
message gives the number of one row or the name of one column; it has no label, no value and no count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validate import shorten
from ..arrays import Int
from ..errors import NetworkError

MOST_PER_PAIR = 2  # mean number of edges per pair of ends, in formats that name each edge
# Letters and digits of column names that describe people or their trips, never edges.
TRIP_COLUMNS = frozenset({
    "bikeid", "birthyear", "customerid", "deviceid", "driverid", "endedat", "journeyid", "membercasual", "memberid",
    "passengerid", "patientid", "person", "personid", "rentalid", "rideid", "rider", "riderid", "startedat", "tripid",
    "userid", "usertype",
})  # fmt: skip
USE_TRIPS = "release them as trips (read_trips, release-trips) over a network of its own"


def check_columns(names: Iterable[Any], what: str, named: Iterable[str]) -> None:
    """Raise ``NetworkError`` if a public table has a column of trips that the caller did not name.

    >>> check_columns(["a", "b", "minutes"], "the edge list", ["a", "b"])
    """
    taken = set(named)
    for name in names:
        if isinstance(name, str) and name not in taken and re.sub("[^a-z0-9]", "", name.lower()) in TRIP_COLUMNS:
            raise NetworkError(
                f"{what} has a column {name!r}, so its rows look like trips of people, but every row of it is "
                f"published. If rows are trips, {USE_TRIPS}; if every row is public, save it without that column"
            )


@dataclass(frozen=True)
class WantedColumns:
    """Columns to read of a table that messages call ``what``: all needed ones, and the optional ones if all exist."""

    what: str
    needed: Sequence[str]
    optional: Sequence[str] = ()


def choose_public_columns(have: Sequence[Any], wanted: WantedColumns) -> list[str]:
    """Return the columns to read of a public table; a table that looks like people's trips is an error."""
    check_columns(have, wanted.what, wanted.needed)
    return choose_columns(have, wanted)


def choose_columns(have: Sequence[Any], wanted: WantedColumns) -> list[str]:
    """Return the columns to read of those that a table has."""
    what, optional = wanted.what, wanted.optional if set(wanted.optional) <= set(have) else ()
    chosen = list(dict.fromkeys([*wanted.needed, *optional]))
    for name in chosen:
        if name not in have:
            # A file without a header line would show its first row here, with a weight in it.
            if any(isinstance(c, str) and not re.match(r"(?!nan$|inf)[^\W\d]", c, re.I) for c in have):
                raise NetworkError(f"{what} has no column {name!r}; does its first line name the columns?")
            listed = ", ".join(map(shorten, have[:12])) + (", ..." if len(have) > 12 else "")
            hint = "; source, target and weight (--source, ...) name columns" if what == "the edge list" else ""
            if len(have) == 1 and isinstance(have[0], str) and re.search(r"[;\t|]", have[0]):
                hint = " - save it with commas between columns (or tabs, as .tsv) and points in decimals"
            raise NetworkError(f"{what} has no column {name!r}; it has: {listed or 'none'}{hint}")
        if have.count(name) > 1:
            raise NetworkError(f"{what} has two columns called {name!r}")
    return chosen


def count_parallel(tails: Int, heads: Int) -> int:
    """Count edges in canonical order that have the ends of the one before."""
    return int(np.count_nonzero((tails[1:] == tails[:-1]) & (heads[1:] == heads[:-1])))


def check_repeated(tails: Int, heads: Int, *, directed: bool, parallel_edges: bool | None) -> None:
    """Raise ``NetworkError`` if edges repeat the ends of another one, unless ``parallel_edges``; loops do not count.

    ``tails`` and ``heads`` are the ends as given; unless ``directed``, a reversed pair is the same pair.  None (formats
    that name each edge) allows ``MOST_PER_PAIR`` edges per pair of ends on average.
    """
    if parallel_edges:
        return
    n = int(max(tails.max(), heads.max())) + 1
    edge = np.flatnonzero(tails != heads)
    given = tails[edge] * n + heads[edge]
    ends = given if directed else np.minimum(tails, heads)[edge] * n + np.maximum(tails, heads)[edge]
    pairs, first = np.unique(ends, return_index=True)
    if len(pairs) == len(ends) or (parallel_edges is None and len(ends) <= MOST_PER_PAIR * len(pairs)):
        return
    repeats = np.ones(len(ends), np.bool_)
    repeats[first] = False
    row = int(edge[repeats.argmax()]) + 1
    if len(np.unique(given)) == len(given):
        raise NetworkError(
            f"row {row} of the edges is the reverse of an earlier row, but an undirected edge is one row. If each row "
            "is one direction, pass directed=True (--directed); if both rows are the same edge, keep one of them; if "
            "they are two edges, pass parallel_edges=True (--parallel-edges). Every row is published"
        )
    raise NetworkError(
        f"row {row} of the edges repeats the ends of an earlier row, but every row is published, so two ends may "
        "appear once. If rows are trips or other events of people, the edges would publish how often people "
        f"went from place to place: {USE_TRIPS}. If every row is a public road, line or cable of its own, pass "
        "parallel_edges=True (--parallel-edges)"
    )
