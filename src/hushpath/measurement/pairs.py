"""All distances between chosen vertices: of the whole network, or inside each cluster of a partition.

Both are one idea.  Every node has a *part*: its connected component, or its cluster.  One group per part that holds a
chosen vertex, parts in order of their number; the numbers of a group run over pairs ``(i, j)`` of its vertices in
order, row by row: ``i < j``, or all ``i != j`` in a directed network.  Distances are taken along edges with both ends
in the part.  A pair that its part does not join (a public fact) holds noise only.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..arrays import Int, frozen
from ..errors import FileFormatError
from ..network.topology import Arcs, Topology
from ..privacy.certificate import Exposure
from ..privacy.sensitivity import hub_cut
from .block import Block
from .samples import FEW, few_hops


@dataclass(frozen=True, eq=False)
class PairBlock(Block):
    """Distances inside each part between all pairs of its chosen vertices.

    Attributes:
        vertices: the chosen vertices, increasing.
    """

    vertices: Int

    @property
    @abstractmethod
    def part(self) -> Int:
        """The number of each node's part."""

    @cached_property
    def groups(self) -> list[Int]:
        """The chosen vertices of each part that has any."""
        part = self.part[self.vertices]
        order = np.argsort(part, kind="stable")
        starts = np.flatnonzero(np.diff(part[order])) + 1
        return np.split(self.vertices[order], starts) if len(order) else []

    @cached_property
    def group_sizes(self) -> Int:
        """All pairs, ordered ones if directed."""
        p = np.array([len(group) for group in self.groups], np.int64)
        return p * (p - 1) if self.topology.directed else p * (p - 1) // 2

    @cached_property
    def exposure(self) -> Exposure:
        """An edge inside a part moves that part's group, if it has one; an edge between parts moves nothing."""
        topology, part = self.topology, self.part
        cut = hub_cut([len(group) for group in self.groups], directed=topology.directed)
        group_of_part = np.full(part.max(initial=-1) + 1, -1, np.int64)
        for g, group in enumerate(self.groups):
            group_of_part[part[group[0]]] = g
        inside = part[topology.tails] == part[topology.heads]
        group_of_edge = np.where(inside, group_of_part[part[topology.tails]], -1)
        edge = np.flatnonzero(group_of_edge >= 0)
        return Exposure(topology.num_edges, cut, edge, group_of_edge[edge])

    @cached_property
    def arcs(self) -> Arcs:
        """The arcs of the edges inside parts."""
        arcs, n = self.topology.arcs, self.topology.num_nodes
        tails = np.repeat(np.arange(n), np.diff(arcs.start))
        keep = np.flatnonzero(self.part[tails] == self.part[arcs.heads])
        start = np.searchsorted(tails[keep], np.arange(n + 1))
        return Arcs(start.astype(np.int64), arcs.heads[keep], arcs.edges[keep])

    def check(self) -> None:
        """Refuse what is not a strictly increasing row of node positions."""
        vertices = self.vertices
        if ((vertices < 0) | (vertices >= self.topology.num_nodes)).any() or (np.diff(vertices) <= 0).any():
            raise FileFormatError("chosen vertices are not increasing node positions")

    def typical(self, numbers: Int) -> float:
        """Return a mean number; pairs that cannot be reached hold noise only and do not count."""
        topology = self.topology
        reached = int(few_hops(topology).pairs.sum()) / (FEW * (topology.num_nodes - 1)) if topology.directed else 1.0
        return float(numbers.mean()) / min(1.0, reached)

    def squares(self, numbers: Int) -> list[Int]:
        """Return the numbers of each group as a square table over its vertices, 0 on the diagonal."""
        tables, at = [], 0
        for group, count in zip(self.groups, self.group_sizes.tolist(), strict=True):
            table = np.zeros((len(group), len(group)), np.int64)
            if self.topology.directed:
                table[~np.eye(len(group), dtype=bool)] = numbers[at : at + count]
            else:
                table = symmetric(len(group), numbers[at : at + count])
            tables.append(table)
            at += count
        return tables


@dataclass(frozen=True, eq=False)
class CliqueBlock(PairBlock):
    """Distances in the whole network between all pairs of chosen vertices, one group per component."""

    kind: ClassVar[str] = "clique"

    @classmethod
    def on(cls, topology: Topology, vertices: Int) -> CliqueBlock:
        """Build from node positions."""
        return cls(topology, frozen(np.unique(vertices), np.int64))

    @property
    def part(self) -> Int:
        """Components, in order of their lowest node."""
        return self.topology.components


@dataclass(frozen=True, eq=False)
class ClusterBlock(PairBlock):
    """Distances inside each cluster of a partition of the nodes.  Undirected networks only.

    Attributes:
        cluster: the number of each node's cluster.
    """

    cluster: Int
    kind: ClassVar[str] = "clusters"

    @classmethod
    def on(cls, topology: Topology, cluster: Int, vertices: Int) -> ClusterBlock:
        """Build from cluster numbers and node positions."""
        return cls(topology, frozen(np.unique(vertices), np.int64), frozen(cluster, np.int64))

    @property
    def part(self) -> Int:
        """Clusters."""
        return self.cluster

    def check(self) -> None:
        """Refuse other clusters than one per node of an undirected network."""
        super().check()
        n = self.topology.num_nodes
        if self.cluster.shape != (n,) or ((self.cluster < 0) | (self.cluster >= n)).any() or self.topology.directed:
            raise FileFormatError("clusters need a number from 0 to n - 1 per node of an undirected network")


def symmetric(size: int, numbers: Int) -> Int:
    """Return the square table of pairs ``i < j`` that are listed row by row, 0 on the diagonal."""
    table = np.zeros((size, size), np.int64)
    table[np.triu_indices(size, 1)] = numbers
    return table + table.T
