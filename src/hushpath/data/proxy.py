"""Public proxies: a declared public column that is known to resemble the private weights, such as free-flow times.

A proxy is a *prior of estimators, never a bound*: nothing that is measured, certified or clipped looks at it, so it
costs no privacy and it cannot be wrong in a way that harms anybody but the accuracy.  It is published with the release.
So it must be public: declaring a column that was computed from the private data publishes that column.

The columns that an owner's file has besides ends, weight and bounds may be private, whatever they are called.
``OtherColumns`` keeps them in case one is named, and shows, writes and pickles none of them.

Twins are edges that nothing public tells apart; their weights are sorted among themselves (``weights``), and so are
their proxies: the lowest proxy goes with the lowest weight, whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from itertools import islice
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..arrays import Float, Int, frozen
from ..errors import OptionError
from .numbers import floats, number

# How to get at a column again, or None if it holds no numbers.
Raw = Callable[[], Iterable[Any]] | None
LONGEST_NAME = 200
SMALLEST, LARGEST = 1e-100, 1e100  # beyond these, sums and ratios of proxies would leave the range of a float
FIRST = 100  # values that decide whether a column of text may hold numbers


class Rows(NamedTuple):
    """Which row of the input each edge is, and its group of twins."""

    kept: Int
    facts: tuple[Any, ...]  # what twins have in common, one array each

    def arranged(self, values: Float) -> Float:
        """One value per edge from one per row of the input."""
        return sorted_among_twins(values[self.kept], twins_of(*self.facts))


class OtherColumns:
    """The columns of a network that nobody has named: they may be private, so nothing of them is shown."""

    __slots__ = ("__raw", "__rows", "__taken")

    def __init__(self, raw: Mapping[str, Raw], taken: Mapping[str, str], rows: Rows | None = None) -> None:
        """Take columns by name, and the columns that cannot be a proxy, with the reason."""
        self.__raw, self.__taken, self.__rows = dict(raw), dict(taken), rows

    def kept(self, rows: Rows) -> OtherColumns:
        """The same columns, one value per edge of a topology."""
        return OtherColumns(self.__raw, self.__taken, rows if self.__raw else None)

    def check_public(self, name: str) -> None:
        """Refuse a column that cannot be public or is no property of an edge."""
        if name in self.__taken:
            raise OptionError(f"{name[:60]!r} is {self.__taken[name]}, so it cannot be a public proxy as well")

    def __getitem__(self, name: str) -> Float:
        """One column by name, a number per edge and NaN where there is none; naming it is to say that it is public."""
        self.check_public(name)
        if name not in self.__raw:
            raise OptionError(f"there is no column {name[:60]!r} to be a proxy; {self._offer(name)}")
        column = self.__raw[name]
        if column is None or self.__rows is None:
            raise OptionError(f"column {name[:60]!r} does not hold numbers, so it cannot be a proxy")
        return self.__rows.arranged(proxy_numbers(column(), f"column {name[:60]!r}", "row"))

    def ids(self, name: str) -> list[str]:
        """One column as names of edges; those of twins are sorted among themselves, as all that is theirs."""
        column = self.__raw.get(name)
        if column is None or self.__rows is None:
            raise OptionError(f"the network was read without a column {name[:60]!r} of edge ids; {self._offer(name)}")
        values = list(column())
        found = np.array([str(values[row]).strip() for row in self.__rows.kept.tolist()], object)
        return [str(one) for one in found[np.lexsort((found.astype(str), twins_of(*self.__rows.facts)))]]

    def _offer(self, name: str) -> str:
        """The names that exist; not those of a file without a header line, which would be its first row."""
        names = [known for known in self.__raw if known and not np.isfinite(number(known))]
        if not names:
            return "the network was read or built without other columns (an array is declared by with_proxy)"
        near = get_close_matches(name, names, 1)
        listed = ", ".join(repr(known[:40]) for known in names[:12]) + (", ..." if len(names) > 12 else "")
        return f"did you mean {near[0][:60]!r}? The other columns are: {listed}" if near else f"there are: {listed}"

    def __len__(self) -> int:
        return len(self.__raw)

    def __iter__(self) -> NoReturn:
        raise TypeError("other columns are hidden; name the one that is public")

    def __repr__(self) -> str:
        return f"OtherColumns({len(self)} hidden)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("columns that nobody has named are not pickled")


NO_COLUMNS = OtherColumns({}, {})


def may_hold_numbers(values: Iterable[Any]) -> bool:
    """Whether a column is worth keeping: one of its first values is a number, or all of them are missing."""
    first = list(islice((value for value in values if not _missing(value)), FIRST))
    return not first or bool(np.isfinite(floats(first)).any())


def held(values: Any) -> Raw:
    """A column as it stands."""
    return lambda: values


class TextColumn:
    """A column of text in little memory, a part at a time; no text in it holds a NUL."""

    def __init__(self) -> None:
        self._parts: list[bytes] | None = []

    def add(self, values: Sequence[str]) -> None:
        """Go on with some values, at least one; the first part decides whether the column is worth keeping."""
        if self._parts == [] and not may_hold_numbers(values):
            self._parts = None
        if self._parts is not None:
            self._parts.append("\0".join(values).encode())

    @property
    def raw(self) -> Raw:
        """How to get at it again."""
        parts = self._parts
        return None if parts is None else lambda: [value for part in parts for value in part.decode().split("\0")]


def proxy_numbers(values: Any, what: str, item: str) -> Float:
    """Values of a public column: finite and not negative, or NaN where one is missing; says which item is not so."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    given = values if isinstance(values, np.ndarray) else list(values)
    out = floats(given)
    for at in np.flatnonzero(np.isnan(out)).tolist():
        if not _missing(given[at]):
            raise OptionError(f"{what}: {item} {at + 1} is not a number; a value that is not known is left empty")
    bad = (out < 0) | (out > LARGEST) | ((out > 0) & (out < SMALLEST))
    if bad.any():
        raise OptionError(
            f"{what}: {item} {int(bad.argmax()) + 1} is negative, infinite or beyond {SMALLEST:g} to {LARGEST:g}; "
            "a proxy is not"
        )
    out[np.isnan(out)] = np.nan  # one NaN of many: equal proxies are equal bytes
    return out + 0.0  # and -0.0 becomes 0.0


def checked_proxy(values: Float, name: Any) -> Float:
    """A proxy that says something, and a name that fits on a line."""
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise OptionError(f"the name of a proxy is a printable text of 1 to {LONGEST_NAME} characters")
    if not (values > 0).any():
        raise OptionError(f"the proxy {name[:60]!r} has no positive number, so it says nothing about any edge")
    return frozen(values, np.float64)


def proxy_array(values: Any, count: int) -> Float:
    """One number for each of so many edges, from an array."""
    try:
        shape = np.shape(values)
    except ValueError:  # lists of unequal lengths
        shape = ()
    if shape != (count,):
        raise OptionError(f"a proxy has one number per edge: {count} edges, proxy {shape}")
    return proxy_numbers(values, "the proxy", "edge")


def sorted_among_twins(values: Float, twins: Int) -> Float:
    """Sort the values of each group of twins, which lie side by side; NaN comes last."""
    return values[np.lexsort((values, twins))]


def twins_of(*facts: Any) -> Int:
    """The number of each edge's group of twins, which lie side by side: alike in every one of the facts."""
    first = np.zeros(len(facts[0]), np.bool_)
    for fact in facts:
        first[1:] |= fact[1:] != fact[:-1]
    return frozen(np.cumsum(first), np.int64)


def _missing(value: Any) -> bool:
    """Whether a value says that it is not known."""
    if isinstance(value, str):
        return value.strip().lower() in ("", "nan", "na")
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
