"""The mechanisms by name, in the order they are listed."""

from __future__ import annotations

from ..errors import OptionError
from . import all_pairs, input
from .core import Mechanism

MECHANISMS: dict[str, Mechanism] = {m.name: m for m in (input.MECHANISM, all_pairs.MECHANISM)}


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if name not in MECHANISMS:
        raise OptionError(f"no mechanism is called {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
