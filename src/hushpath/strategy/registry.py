"""The mechanisms and the kinds of block by name."""

from __future__ import annotations

from ..errors import OptionError
from . import all_pairs, input, separator, separator_cover
from .blocks import Block, CliqueBlock, EdgeBlock
from .core import Mechanism
from .hierarchy import HierarchyBlock

BLOCKS: dict[str, type[Block]] = {block.kind: block for block in (EdgeBlock, CliqueBlock, HierarchyBlock)}
# Which blocks each decoder reads.
DECODERS: dict[str, tuple[str, ...]] = {"edges": ("edges",), "table": ("clique",), "hierarchy": ("hierarchy",)}
MECHANISMS: dict[str, Mechanism] = {
    module.MECHANISM.name: module.MECHANISM for module in (input, all_pairs, separator, separator_cover)
}


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if name not in MECHANISMS:
        raise OptionError(f"no mechanism is called {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
