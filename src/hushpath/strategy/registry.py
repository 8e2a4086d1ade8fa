"""The mechanisms and the kinds of block by name."""

from __future__ import annotations

from ..blocks.anchors import AnchorBlock
from ..blocks.core import Block, CliqueBlock, ClusterBlock, EdgeBlock
from ..blocks.hierarchy import HierarchyBlock
from ..errors import OptionError
from . import all_pairs, cover, hubs, hubs_bounded, input, separator, separator_cover, tree, treewidth
from .core import Mechanism

BLOCKS: dict[str, type[Block]] = {
    block.kind: block for block in (EdgeBlock, CliqueBlock, ClusterBlock, AnchorBlock, HierarchyBlock)
}
# Which blocks each decoder reads.
DECODERS: dict[str, tuple[str, ...]] = {
    "edges": ("edges",),
    "table": ("clique",),
    "cover": ("clique",),
    "hubs": ("edges", "clique"),
    "hubs-bounded": ("edges", "clique", "clusters"),
    "anchors": ("anchors",),
    "hierarchy": ("hierarchy",),
}
MECHANISMS: dict[str, Mechanism] = {
    module.MECHANISM.name: module.MECHANISM
    for module in (input, all_pairs, cover, hubs, hubs_bounded, tree, treewidth, separator, separator_cover)
}


def mechanism_named(name: str) -> Mechanism:
    """Return a mechanism or say which names exist."""
    if name not in MECHANISMS:
        raise OptionError(f"no mechanism is called {str(name)[:40]!r}; choose from: {', '.join(MECHANISMS)}, auto")
    return MECHANISMS[name]
