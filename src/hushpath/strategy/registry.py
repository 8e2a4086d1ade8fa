"""The mechanisms by name: one line each."""

from __future__ import annotations

from importlib import import_module

from ..errors import OptionError
from .core import Mechanism

FILES = (
    "input",
    "all_pairs",
    "cover",
    "hubs",
    "hubs_bounded",
    "tree",
    "lines",
    "treewidth",
    "separator",
    "separator_cover",
)
_made: list[Mechanism] = [import_module(f"{__package__}.{file}").MECHANISM for file in FILES]
MECHANISMS = {mechanism.name: mechanism for mechanism in _made}


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if not isinstance(name, str) or name not in MECHANISMS:
        raise OptionError(f"no mechanism is called {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
