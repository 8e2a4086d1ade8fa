"""What an option of a mechanism may be: said once in its table, checked before anything is designed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Check = Callable[[Any], str | None]


def one_of(*choices: str) -> Check:
    """One of these words."""
    return lambda value: None if value in choices else f"must be one of {', '.join(choices)}"


def whole(least: int, below: int | None = None, *, optional: bool = True) -> Check:
    """A whole number in this range; left out, the mechanism chooses."""
    wanted = f"of at least {least}" if below is None else f"from {least} to {below - 1}"

    def wrong(value: Any) -> str | None:
        number = isinstance(value, int) and not isinstance(value, bool)
        fits = value is None if not number else value >= least and (below is None or value < below)
        return None if fits and (number or optional) else f"must be a whole number {wanted}"

    return wrong
