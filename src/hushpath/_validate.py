"""Checks of arguments: each says what must hold and what was found, and raises ``OptionError``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .errors import OptionError


def shorten(value: Any) -> str:
    """Return ``repr(value)`` cut to 40 characters, for error messages."""
    return repr(value) if is_real(value) and len(str(value)) <= 40 else f"{str(value)[:40]!r}"


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer, Python's or numpy's, and not a bool."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def is_real(value: Any) -> bool:
    """Return whether a value is an integer or a float, Python's or numpy's, and not a bool."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))


def check_type(value: Any, kind: Any, rule: str) -> None:
    """Refuse a value of another type than ``kind``; ``rule`` says what is needed."""
    if not isinstance(value, kind):
        raise OptionError(f"{rule}, got {type(value).__name__}")


def as_float(value: Any, name: str) -> float:
    """Return a real number as a float; ``nan`` and infinities pass."""
    if not is_real(value):
        raise OptionError(f"`{name}` must be a number, got {shorten(value)}")
    try:
        return float(value)
    except OverflowError:
        raise OptionError(f"`{name}` is too large a number") from None


def positive(value: Any, name: str) -> float:
    """Return a positive finite float.

    >>> positive(3, "unit")
    3.0
    """
    number = as_float(value, name)
    if not 0 < number < math.inf:
        raise OptionError(f"`{name}` must be a positive finite number, got {shorten(value)}")
    return number


def between(value: Any, name: str, low: float, high: float) -> float:
    """Return ``value``, an argument called ``name``, as a float from ``low`` to ``high``, both included."""
    number = as_float(value, name)
    if not low <= number <= high:
        raise OptionError(f"`{name}` must be between {low:g} and {high:g}, got {shorten(value)}")
    return number


def integer(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Return ``value``, an argument called ``name``, as an integer of at least ``low`` and at most ``high``.

    >>> integer(np.int64(7), "count", 1)
    7
    """
    if not is_integer(value) or value < low or (high is not None and value > high):
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        raise OptionError(f"`{name}` must be an integer {allowed}, got {shorten(value)}")
    return int(value)


def one_of(value: Any, name: str, choices: Iterable[str]) -> str:
    """Return a value that is one of these texts."""
    allowed = [str(choice) for choice in choices]
    if not isinstance(value, str) or value not in allowed:
        got = "it is missing" if value is None else f"got {shorten(value)}"
        raise OptionError(f"`{name}` must be one of {', '.join(allowed)}; {got}")
    return value


def check_confidence(confidence: float) -> None:
    """Refuse what is not a probability, or so close to 0 or 1 that its tails are lost in rounding."""
    if not isinstance(confidence, (int, float, np.number)) or not 0 < 1 - confidence < 1 or (1 + confidence) / 2 == 1:
        raise OptionError(f"`confidence` must be a number between 0 and 1, got {shorten(confidence)}")
