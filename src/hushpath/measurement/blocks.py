"""The kinds of measurement.

| block | one group per | numbers in a group |
|---|---|---|
| ``EdgeBlock`` | edge | its weight |
| ``CliqueBlock`` | component | distances in the whole network between its chosen vertices |
| ``ClusterBlock`` | cluster of a partition of the nodes | distances inside the cluster between its chosen vertices |
| ``AnchorBlock`` | node of a forest | its distance from an ancestor |
| ``LineBlock`` | line and level, edge | sums of consecutive edges of the line; the weight |
| ``HierarchyBlock`` | cell of a hierarchy, leaf edge | distances inside the cell between hubs |
| ``TripBlock`` | all | two totals of people's trips per edge and period |
"""

from __future__ import annotations

from .anchors import AnchorBlock
from .block import Block, EdgeBlock, TripBlock
from .hierarchy import HierarchyBlock
from .lines import LineBlock
from .pairs import CliqueBlock, ClusterBlock, PairBlock

BLOCKS: dict[str, type[Block]] = {
    block.kind: block
    for block in (EdgeBlock, CliqueBlock, ClusterBlock, AnchorBlock, HierarchyBlock, LineBlock, TripBlock)
}

__all__ = [
    "BLOCKS", "AnchorBlock", "Block", "CliqueBlock", "ClusterBlock", "EdgeBlock", "HierarchyBlock", "LineBlock",
    "PairBlock", "TripBlock",
]  # fmt: skip
