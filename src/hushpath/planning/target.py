"""Solve for epsilon: a search on the predicted mean error, which falls as epsilon grows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .._validate import shorten
from ..errors import CannotError, OptionError

SMALLEST, LARGEST = 1e-3, 1e3
CLOSE = 0.97  # of the target is close enough
MOST_TRIES = 10


def parse_target(target: Any) -> tuple[float, bool]:
    """Parse a target error, ``2``, ``"2"`` or ``"5%"``: the number, and whether it is relative to the mean distance."""
    text = target.strip() if isinstance(target, str) else target
    relative = isinstance(text, str) and text.endswith("%")
    try:
        number = float(text[:-1] if relative else text) if not isinstance(text, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise OptionError(f"`target_error` must be a positive number or a share such as '5%', got {shorten(target)}")
    return (number / 100, True) if relative else (number, False)


def smallest_epsilon(error_at: Callable[[float], float], target: float, first: float = 1.0) -> float:
    """Return the smallest epsilon, to three digits and rounded up, whose predicted error is at most ``target``.

    ``error_at`` falls with epsilon, roughly like a power of it; so the search interpolates logarithms.  It begins at
    ``first``.
    """
    low, high = SMALLEST, LARGEST
    worst, best = math.inf, 0.0  # errors at low and high, where known
    guess, found = first, math.inf
    for _ in range(MOST_TRIES):
        error = error_at(guess)
        if error <= target:
            high, best, found = guess, error, guess
            if error >= CLOSE * target or guess <= SMALLEST:
                break
        else:
            low, worst = guess, error
            if guess >= LARGEST:
                raise CannotError(
                    f"no epsilon up to {LARGEST:g} is predicted to bring the mean error down to {target:.4g}; "
                    f"at {LARGEST:g} it is {error:.4g}"
                )
        guess = rounded_up(_between(low, high, worst, best, target, guess, error))
        if guess >= found:
            break
    if not math.isfinite(found):
        raise CannotError(f"no epsilon was found whose predicted mean error is {target:.4g}")
    return rounded_up(found)


def _between(low: float, high: float, worst: float, best: float, target: float, last: float, error: float) -> float:
    """Return where to look next: interpolate between known errors, or assume errors in proportion to noise."""
    if math.isfinite(worst) and best > 0:
        share = math.log(worst / (math.sqrt(CLOSE) * target)) / math.log(worst / best) if worst > best else 0.5
        return float(low * (high / low) ** min(max(share, 0.1), 0.9))
    if math.isinf(error):
        return math.sqrt(low * high)
    guess = last * (error / (math.sqrt(CLOSE) * target)) ** 1.2 if error > 0 else SMALLEST
    return min(max(guess, low), high)


def rounded_up(value: float) -> float:
    """Round up to three digits.

    >>> rounded_up(0.123401), rounded_up(2.0), rounded_up(7.119)
    (0.124, 2.0, 7.12)
    """
    digits = 2 - math.floor(math.log10(value))
    down = round(value, digits)
    return down if down >= value else round(down + 10.0**-digits, digits)
