"""Distances from ancestors in a forest: the block of the tree mechanism.

Root each tree at its lowest node.  Every other node has an *anchor*, one of its ancestors, and the
number measured for it is the weight of the path between the two.  A number is the sum of the weights on its path, so
an edge on the path moves it by exactly its own change and an edge off the path not at all: one group per number, cut
1 (docs/proofs/rivals.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import Float, Int, frozen
from ..errors import FileFormatError
from ..kernels.forests import (
    anchored_variances,
    choose_anchors,
    heavy_path_heads,
    list_path_edges,
    root_forest,
    sum_from_root,
)
from ..network.topology import Topology
from ..privacy.certificate import Exposure
from .block import Block


@dataclass(frozen=True, eq=False)
class Forest:
    """A rooted forest: nodes with parents first, and per node its parent and the edge to it (-1 for roots)."""

    order: Int
    parent: Int
    edge: Int

    @classmethod
    def of(cls, topology: Topology) -> Forest:
        """Root a network without cycles."""
        arcs = topology.arcs
        return cls(*root_forest(arcs.start, arcs.heads, arcs.edges))

    @cached_property
    def depth(self) -> Int:
        """Hops of each node from the root of its tree."""
        return np.asarray(sum_from_root(self.order, self.parent, np.ones(len(self.order), np.int64)))

    @cached_property
    def head(self) -> Int:
        """Top of each node's heavy path."""
        return np.asarray(heavy_path_heads(self.order, self.parent))


def is_forest(topology: Topology) -> bool:
    """Return whether there is no cycle (parallel edges are one): nodes are then edges plus components."""
    return bool(topology.num_edges + topology.components.max(initial=-1) + 1 == topology.num_nodes)


@dataclass(frozen=True, eq=False)
class AnchorBlock(Block):
    """The distance of every node but the roots from its anchor, nodes in order.

    Attributes:
        anchor: per node its anchor, -1 for the root of each tree.
    """

    anchor: Int
    kind: ClassVar[str] = "anchors"

    @classmethod
    def of(cls, topology: Topology) -> AnchorBlock:
        """Choose the anchors of Sealfon's centroid recursion."""
        forest = Forest.of(topology)
        return cls(topology, frozen(choose_anchors(forest.order, forest.parent), np.int64))

    @cached_property
    def forest(self) -> Forest:
        """The network, rooted."""
        return Forest.of(self.topology)

    @cached_property
    def nodes(self) -> Int:
        """The nodes that have a number."""
        return np.flatnonzero(self.anchor >= 0)

    @cached_property
    def group_sizes(self) -> Int:
        """One number per group."""
        return np.ones(len(self.nodes), np.int64)

    @cached_property
    def exposure(self) -> Exposure:
        """The edges of each path, each with the number it is part of."""
        forest, nodes = self.forest, self.nodes
        count = int((forest.depth[nodes] - forest.depth[self.anchor[nodes]]).sum())
        edge, number = np.empty(count, np.int64), np.empty(count, np.int64)
        if not list_path_edges(forest.parent, forest.edge, nodes, self.anchor[nodes], edge, number):
            raise FileFormatError("an anchor is not an ancestor")
        return Exposure(self.topology.num_edges, np.ones(len(nodes), np.int64), edge, number)

    def heights(self, numbers: Int) -> Int:
        """Return distances from the roots, as sums of numbers along anchors."""
        own = np.zeros(len(self.anchor), np.int64)
        own[self.nodes] = numbers
        # An anchor is an ancestor, so it comes first.
        return np.asarray(sum_from_root(self.forest.order, self.anchor, own))

    def variances(self, noise: Float, sources: Int, targets: Int) -> Float:
        """Return the variance of the answer to each pair, given the standard deviation of each number; -1: apart."""
        own, forest = np.zeros(len(self.anchor)), self.forest
        own[self.nodes] = noise**2
        out = np.empty(len(sources))
        anchored_variances(forest.parent, forest.depth, forest.head, self.anchor, own, sources, targets, out)
        return out

    def typical(self, numbers: Int) -> float:
        """Return the mean distance from a root."""
        return float(self.heights(numbers).mean())

    def check(self) -> None:
        """Prove that an anchor is an ancestor, and that paths are as short as centroids make them."""
        topology, anchor, n = self.topology, self.anchor, self.topology.num_nodes
        if anchor.shape != (n,) or topology.directed or not is_forest(topology):
            raise FileFormatError("anchors need one entry per node of an undirected network without cycles")
        forest = self.forest
        if (anchor >= n).any() or not np.array_equal(anchor < 0, forest.parent < 0):
            raise FileFormatError("roots must have no anchor, and every other node must have a node as its anchor")
        length = forest.depth[self.nodes] - forest.depth[anchor[self.nodes]]
        # An edge is on at most log2(n) of the paths (``tree``), so long paths are few: whatever is longer in all is no
        # centroid recursion, and listing it could take more memory than there is.
        if (length < 1).any() or int(length.sum()) > n * n.bit_length():
            raise FileFormatError("anchors are not those of a centroid recursion")
        _ = self.exposure  # says whether anchors are ancestors
