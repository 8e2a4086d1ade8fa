"""The mechanisms by name: one line each."""

from __future__ import annotations

from ..errors import OptionError
from . import all_pairs, cover, hubs, hubs_bounded, input, separator, separator_cover, tree, treewidth
from .core import Mechanism

MECHANISMS: dict[str, Mechanism] = {
    module.MECHANISM.name: module.MECHANISM
    for module in (
        input,
        all_pairs,
        cover,
        hubs,
        hubs_bounded,
        tree,
        treewidth,
        separator,
        separator_cover,
    )
}


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if name not in MECHANISMS:
        raise OptionError(f"no mechanism is called {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
