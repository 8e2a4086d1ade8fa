"""The mechanisms by name: those that ``auto`` chooses from, those of the literature for comparison, and plugins.

A package registers a mechanism of its own under the entry point group ``hushpath.mechanisms``.
"""

from __future__ import annotations

from ..errors import OptionError
from ..extras import with_plugins
from .base import Mechanism
from .comparison.cover import ALL_PAIRS, COVER
from .comparison.hubs import HUBS, HUBS_BOUNDED
from .comparison.trees import TREE, TREEWIDTH
from .edges import INPUT, LINES
from .separator import SEPARATOR, SEPARATOR_COVER

_ALL = (INPUT, ALL_PAIRS, COVER, HUBS, HUBS_BOUNDED, TREE, LINES, TREEWIDTH, SEPARATOR, SEPARATOR_COVER)
MECHANISMS = with_plugins("hushpath.mechanisms", _ALL, lambda found: isinstance(found, Mechanism))


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if not isinstance(name, str) or name not in MECHANISMS:
        raise OptionError(f"unknown mechanism {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
