"""Columns of whatever an owner has, as floats; trouble is named by its place, never by what stands there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Float
from ..errors import NetworkError

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
