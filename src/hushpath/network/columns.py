"""Columns of whatever an owner has, as floats; trouble is named by its place, never by what stands there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float, Int, frozen
from ..errors import NetworkError, OptionError

NOT_NUMBERS = (bool, np.bool_, np.complexfloating, np.datetime64, np.timedelta64)


def numbers(values: Iterable[Any], what: str, item: str = "row", *, infinite: bool = False) -> Float:
    """Return values as floats; say which item (from 1) is not a number, never what stands there."""
    out = floats(values)
    bad = np.isnan(out) if infinite else ~np.isfinite(out)
    if bad.any():
        kind = "number" if infinite else "finite number"
        raise NetworkError(f"{what}: {item} {int(bad.argmax()) + 1} is missing or not a {kind}")
    return out


def floats(values: Iterable[Any]) -> Float:
    """Return values as floats, NaN where there is no number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        with np.errstate(all="ignore"):  # a warning would depend on a weight
            return values.astype(np.float64)
    if isinstance(values, list) and {*map(type, values)} == {str} and "_" not in "".join(values):
        out = _all_numbers(values)
        if out is not None:
            return out
    return np.fromiter(map(number, values), np.float64)


def _all_numbers(texts: list[str]) -> Float | None:
    """A column of texts without "_", as most files have it, at once; nothing if one of them is no number."""
    try:
        return np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:  # it quotes the value, so nobody may see it
        return None


def number(value: Any) -> float:
    """One value as a float, or NaN: truth values, times and "1_000" are not numbers.  What it raises is not let out."""
    if "_" in value if type(value) is str else isinstance(value, NOT_NUMBERS):
        return np.nan
    try:
        return float(value)
    except Exception:  # of any kind, from an object with its own idea of float(); it may quote the value
        return np.nan


LONGEST_NAME = 200
SMALLEST, LARGEST = 1e-100, 1e100  # beyond these, sums and ratios of proxies would leave the range of a float


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
    if isinstance(values, str):
        raise OptionError(f"a column is named when the network is read, as proxy={values[:60]!r}; here give an array")
    try:
        shape = np.shape(values)
    except ValueError:  # lists of unequal lengths
        shape = ()
    if shape != (count,):
        raise OptionError(f"a proxy has one number per edge: {count} edges, proxy {shape}")
    return proxy_numbers(values, "the proxy", "edge")


def public_names(weight: str, ends: Sequence[str], proxy: Any, columns: Any, *bounds: Any) -> list[str]:
    """Return the public columns to read, each once; refuse the private weight and the ends of edges.

    Parameters
    ----------
    weight
        The private column.
    ends
        The columns of the two ends of an edge.
    proxy
        The column of the proxy, or None.
    columns
        Other public columns.
    bounds
        Bounds of the weights; only texts name columns.
    """
    if proxy is not None and not isinstance(proxy, str):
        raise OptionError(f"`proxy` must be the name of a public column, got {type(proxy).__name__}")
    listed = isinstance(columns, Collection) and not isinstance(columns, str)
    if not listed or not all(isinstance(name, str) for name in columns):
        raise OptionError("`columns` must be a list of the names of public columns")
    names = [name for name in (*bounds, proxy, *columns) if isinstance(name, str)]
    for name in names:
        if name == weight or name in ends:
            what = "the private weight" if name == weight else "an end of the edges"
            raise OptionError(f"{name[:60]!r} is {what}, so it cannot be a public column as well")
    return list(dict.fromkeys(names))


def column_arranged(values: Iterable[Any], count: int, rows: Int, twins: Int) -> NDArray[Any]:
    """A public column, a value per edge from one per row of the input (``count``); twins' are sorted as texts."""
    given = list(values)
    if len(given) != count:
        raise OptionError(f"a public column has one value per edge: {count} edges, {len(given)} values")
    found = np.fromiter((given[row] for row in rows.tolist()), object, len(rows))
    if twins.max(initial=-1) + 1 < len(twins):  # by Python: an array of texts has room for the longest in each place
        group, text = twins.tolist(), column_texts(found)
        found = found[sorted(range(len(found)), key=lambda edge: (group[edge], text[edge]))]
    return frozen(found, object)


def column_texts(values: NDArray[Any]) -> list[str]:
    """Each value as a text without blanks around it, as ids are compared."""
    return [str(value).strip() for value in values.tolist()]


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
