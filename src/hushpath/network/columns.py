"""Columns of numbers from an owner's table, and the public ones among them: the proxy, ids and bounds of edges.

Errors name the place of a value, never the value.  A proxy is a *prior of estimators, never a bound*: nothing measured,
certified or clipped depends on it, so it costs no privacy, and a wrong one costs accuracy only.  It is published, so it
must be public.  Columns that are not named when a network is read may be private: they are not kept.

Twins are edges without a public difference; their weights are sorted among themselves, and so are their public
columns: the lowest proxy goes with the lowest weight, whatever the order of the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float, Int, frozen
from ..errors import NetworkError, OptionError

Bound = str | float  # a number for all edges, or the name of a column
NOT_NUMBERS = (bool, np.bool_, np.complexfloating, np.datetime64, np.timedelta64)


def parse_numbers(values: Iterable[Any], what: str, item: str = "row", *, infinite: bool = False) -> Float:
    """Return ``values`` as floats, finite ones unless ``infinite``.

    An error says ``what`` they are and gives the number of the ``item`` (from 1), never its value.
    """
    out = parse_floats(values)
    bad = np.isnan(out) if infinite else ~np.isfinite(out)
    if bad.any():
        kind = "number" if infinite else "finite number"
        raise NetworkError(f"{what}: {item} {int(bad.argmax()) + 1} is missing or not a {kind}")
    return out


def parse_floats(values: Iterable[Any]) -> Float:
    """Return values as floats, NaN where a value is not a number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        with np.errstate(all="ignore"):  # a warning would depend on a weight
            return values.astype(np.float64)
    if isinstance(values, list) and {*map(type, values)} == {str} and "_" not in "".join(values):
        with suppress(ValueError):  # one is not a number; the error quotes it
            return np.fromiter(map(float, values), np.float64, len(values))
    return np.fromiter(map(parse_number, values), np.float64)


def parse_number(value: Any) -> float:
    """Return one value as a float, or NaN: truth values, times and "1_000" are not numbers."""
    if "_" in value if type(value) is str else isinstance(value, NOT_NUMBERS):
        return np.nan
    try:
        return float(value)
    except Exception:  # an object with its own __float__ can raise anything, and quote the value
        return np.nan


LONGEST_NAME = 200
SMALLEST, LARGEST = 1e-100, 1e100  # beyond these, sums and ratios of proxies would leave the range of a float


def parse_proxy(values: Any, what: str, item: str) -> Float:
    """Return a public column: finite and not negative, or NaN where a value is missing."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    given = values if isinstance(values, np.ndarray) else list(values)
    out = parse_floats(given)
    for at in np.flatnonzero(np.isnan(out)).tolist():
        if not _is_missing(given[at]):
            raise OptionError(f"{what}: {item} {at + 1} is not a number; leave an unknown value empty")
    bad = (out < 0) | (out > LARGEST) | ((out > 0) & (out < SMALLEST))
    if bad.any():
        raise OptionError(f"{what}: {item} {int(bad.argmax()) + 1} must be 0 or between {SMALLEST:g} and {LARGEST:g}")
    out[np.isnan(out)] = np.nan  # one pattern of bits: equal proxies are equal bytes
    return out + 0.0  # and -0.0 becomes 0.0


def check_proxy(values: Float, name: Any) -> Float:
    """Return a proxy with at least one positive number and a name that fits on a line."""
    if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise OptionError(f"the name of a proxy must have 1 to {LONGEST_NAME} printable characters")
    if not (values > 0).any():
        raise OptionError(f"the proxy {name[:60]!r} has no positive number")
    return frozen(values, np.float64)


def check_proxy_array(values: Any, count: int) -> Float:
    """Return a proxy given as an array, with one number per edge."""
    if isinstance(values, str):
        raise OptionError(f"a column is named when the network is read: proxy={values[:60]!r}; pass an array here")
    try:
        shape = np.shape(values)
    except ValueError:  # lists of unequal lengths
        shape = ()
    if shape != (count,):
        raise OptionError(f"a proxy must have one number per edge: {count} edges, got shape {shape}")
    return parse_proxy(values, "the proxy", "edge")


@dataclass(frozen=True)
class EdgeColumns:
    """What the columns of an edge list hold; all but the private ``weight`` are public."""

    source: str
    target: str
    weight: str
    lower: Bound = 0.0
    upper: Bound = np.inf
    proxy: str | None = None
    columns: Sequence[str] = ()  # others to keep

    def __post_init__(self) -> None:
        """Refuse public columns that are the private weight or an end of the edges."""
        if self.proxy is not None and not isinstance(self.proxy, str):
            raise OptionError(f"`proxy` must be the name of a public column, got {type(self.proxy).__name__}")
        listed = isinstance(self.columns, Collection) and not isinstance(self.columns, str)
        if not listed or not all(isinstance(name, str) for name in self.columns):
            raise OptionError("`columns` must be a list of the names of public columns")
        for name in self.public:
            if name in (self.weight, self.source, self.target):
                what = "the private weight" if name == self.weight else "an end of the edges"
                raise OptionError(f"{name[:60]!r} is {what}, so it cannot be a public column as well")

    @property
    def public(self) -> list[str]:
        """The names of the public columns besides the ends, each once."""
        named = (self.lower, self.upper, self.proxy, *self.columns)
        return list(dict.fromkeys(name for name in named if isinstance(name, str)))


def arrange_column(values: Iterable[Any], count: int, rows: Int, twins: Int) -> NDArray[Any]:
    """Return a public column per edge from ``values`` of ``count`` rows; those of ``twins`` are sorted as texts.

    ``rows`` has the row of each edge.
    """
    given = list(values)
    if len(given) != count:
        raise OptionError(f"a public column must have one value per edge: {count} edges, {len(given)} values")
    found = np.fromiter((given[row] for row in rows.tolist()), object, len(rows))
    if twins.max(initial=-1) + 1 < len(twins):  # by Python: an array of texts has room for the longest in each place
        group, text = twins.tolist(), format_column(found)
        found = found[sorted(range(len(found)), key=lambda edge: (group[edge], text[edge]))]
    return frozen(found, object)


def format_column(values: NDArray[Any]) -> list[str]:
    """Return each value as stripped text, as ids are compared."""
    return [str(value).strip() for value in values.tolist()]


def sort_among_twins(values: Float, twins: Int) -> Float:
    """Sort the values within each group of twins; NaN comes last."""
    return values[np.lexsort((values, twins))]


def number_twins(*facts: Any) -> Int:
    """Number the groups of twins: neighbouring edges that are alike in every fact."""
    first = np.zeros(len(facts[0]), np.bool_)
    for fact in facts:
        first[1:] |= fact[1:] != fact[:-1]
    return frozen(np.cumsum(first), np.int64)


def _is_missing(value: Any) -> bool:
    """Return whether a value means "unknown"."""
    if isinstance(value, str):
        return value.strip().lower() in ("", "nan", "na")
    if isinstance(value, Decimal):
        return value.is_nan()
    return value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))
