"""The mechanisms by name: those that ``auto`` chooses from, those of the literature for comparison, and plugins.

A package registers a mechanism of its own under the entry point group ``hushpath.mechanisms``.
"""

from __future__ import annotations

from ..errors import OptionError
from ..extras import with_plugins
from .base import Mechanism
from .comparison.all_pairs import MECHANISM as ALL_PAIRS
from .comparison.cover import MECHANISM as COVER
from .comparison.hubs import MECHANISM as HUBS
from .comparison.hubs_bounded import MECHANISM as HUBS_BOUNDED
from .comparison.tree import MECHANISM as TREE
from .comparison.treewidth import MECHANISM as TREEWIDTH
from .input import MECHANISM as INPUT
from .lines import MECHANISM as LINES
from .separator import MECHANISM as SEPARATOR
from .separator_cover import MECHANISM as SEPARATOR_COVER

_ALL = (
    INPUT, ALL_PAIRS, COVER, HUBS, HUBS_BOUNDED, TREE, LINES, TREEWIDTH, SEPARATOR, SEPARATOR_COVER,
)  # fmt: skip
MECHANISMS = with_plugins("hushpath.mechanisms", _ALL, lambda found: isinstance(found, Mechanism))


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if not isinstance(name, str) or name not in MECHANISMS:
        raise OptionError(f"unknown mechanism {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
