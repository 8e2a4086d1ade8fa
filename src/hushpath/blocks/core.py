"""The kinds of measurement a strategy is made of.  A closed set: each kind is reviewed code with a proof.

Stage 3 of 6.  A block is a batch of groups.  It knows its public facts only: how many numbers each group holds and
which edges can move them (``exposure``).  The exact numbers are computed in ``exact``, stage 4.

| block | one group per | numbers in a group |
|---|---|---|
| ``EdgeBlock`` | edge | its weight |
| ``CliqueBlock`` | set of vertices of one component | distances in the whole network between all of them |
| ``ClusterBlock`` | cluster of a partition of the nodes | distances inside the cluster between its chosen vertices |
| ``AnchorBlock`` (``anchors``) | node of a forest | its distance from an ancestor |
| ``HierarchyBlock`` (``hierarchy``) | cell of a separator tree, leaf edge | distances inside the cell between hubs |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int, frozen
from ..data.topology import Arcs, Topology
from ..errors import FileFormatError
from ..privacy.certificate import Exposure
from ..privacy.sensitivity import hub_cut


class Block(Protocol):
    """A batch of groups of local distances."""

    kind: ClassVar[str]

    def group_sizes(self, topology: Topology) -> Int:
        """How many numbers each group holds; the block's numbers are the groups' behind each other."""

    def exposure(self, topology: Topology) -> Exposure:
        """Which groups each edge can move, and how many of their numbers."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The public arrays that describe this block in a file."""

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], topology: Topology) -> Block:
        """The inverse of ``arrays``: everything is proved against the topology, or a ``FileFormatError`` is raised."""


def integer_arrays(arrays: Mapping[str, NDArray[Any]], *names: str) -> list[Int]:
    """Frozen copies of exactly these arrays of a file, each a plain row of 64-bit integers."""
    if set(arrays) != set(names):
        raise FileFormatError(f"a block has the arrays {sorted(arrays)}"[:200] + f", not {sorted(names)}")
    for name in names:
        if arrays[name].dtype != np.int64 or arrays[name].ndim != 1:
            raise FileFormatError(f"array {name!r} of a block is not a row of 64-bit integers")
    return [frozen(arrays[name], np.int64) for name in names]


def check_vertices(vertices: Int, topology: Topology) -> Int:
    """Refuse what is not a strictly increasing row of node positions."""
    if ((vertices < 0) | (vertices >= topology.num_nodes)).any() or (np.diff(vertices) <= 0).any():
        raise FileFormatError("chosen vertices are not increasing node positions")
    return vertices


@dataclass(frozen=True, eq=False)
class EdgeBlock:
    """The weight of every edge: the local distance of its two ends in the cell that is the edge itself."""

    kind: ClassVar[str] = "edges"

    def group_sizes(self, topology: Topology) -> Int:
        """One number per edge."""
        return np.ones(topology.num_edges, np.int64)

    def exposure(self, topology: Topology) -> Exposure:
        """Each edge moves its own number and no other."""
        ids = np.arange(topology.num_edges)
        return Exposure(topology.num_edges, np.ones(len(ids), np.int64), ids, ids)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Nothing to say beyond the kind."""
        return {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], topology: Topology) -> EdgeBlock:
        """The inverse of ``arrays``."""
        integer_arrays(arrays)
        return cls()


@dataclass(frozen=True, eq=False)
class CliqueBlock:
    """Distances in the whole network between all pairs of chosen vertices, one group per component.

    The numbers of a group run over pairs ``(i, j)`` of its vertices in order, row by row: ``i < j``, or all
    ``i != j`` in a directed network.  A pair that cannot be reached (directed networks; public) holds noise only.
    """

    vertices: Int
    kind: ClassVar[str] = "clique"

    @classmethod
    def on(cls, vertices: Int) -> CliqueBlock:
        """Build from distinct node positions."""
        return cls(frozen(np.unique(vertices), np.int64))

    def groups(self, topology: Topology) -> list[Int]:
        """The chosen vertices of each component, components in order of their lowest node."""
        component = topology.components[self.vertices]
        order = np.argsort(component, kind="stable")
        starts = np.flatnonzero(np.diff(component[order])) + 1
        return np.split(self.vertices[order], starts) if len(order) else []

    def group_sizes(self, topology: Topology) -> Int:
        """All pairs, ordered ones if directed."""
        p = np.array([len(group) for group in self.groups(topology)], np.int64)
        return p * (p - 1) if topology.directed else p * (p - 1) // 2

    def exposure(self, topology: Topology) -> Exposure:
        """Every edge of a component is in the cell of that component's group."""
        groups = self.groups(topology)
        cut = hub_cut([len(group) for group in groups], directed=topology.directed)
        group_of_component = np.full(topology.components.max(initial=-1) + 1, -1, np.int64)
        for g, group in enumerate(groups):
            group_of_component[topology.components[group[0]]] = g
        group_of_edge = group_of_component[topology.components[topology.tails]]
        edge = np.flatnonzero(group_of_edge >= 0)
        return Exposure(topology.num_edges, cut, edge, group_of_edge[edge])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The chosen vertices."""
        return {"vertices": self.vertices}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], topology: Topology) -> CliqueBlock:
        """The inverse of ``arrays``."""
        (vertices,) = integer_arrays(arrays, "vertices")
        return cls(check_vertices(vertices, topology))


@dataclass(frozen=True, eq=False)
class ClusterBlock:
    """Distances inside each cluster of a partition of the nodes, between all pairs of its chosen vertices.

    One group per cluster that holds a chosen vertex, clusters in order of their number; the numbers of a group run
    over pairs ``i < j`` of its vertices, row by row.  A pair that its cluster does not connect (public) holds noise
    only.  Undirected networks only.

    Attributes:
        cluster: the number of each node's cluster.
        vertices: the chosen vertices, increasing.
    """

    cluster: Int
    vertices: Int
    kind: ClassVar[str] = "clusters"

    @classmethod
    def on(cls, cluster: Int, vertices: Int) -> ClusterBlock:
        """Build from cluster numbers and distinct node positions."""
        return cls(frozen(cluster, np.int64), frozen(np.unique(vertices), np.int64))

    def groups(self, topology: Topology) -> list[Int]:
        """The chosen vertices of each cluster that has any."""
        cluster = self.cluster[self.vertices]
        order = np.argsort(cluster, kind="stable")
        starts = np.flatnonzero(np.diff(cluster[order])) + 1
        return np.split(self.vertices[order], starts) if len(order) else []

    def inner_edges(self, topology: Topology) -> Int:
        """Edges with both ends in one cluster: the edges of the cells."""
        return np.flatnonzero(self.cluster[topology.tails] == self.cluster[topology.heads])

    def inner_arcs(self, topology: Topology) -> Arcs:
        """The arcs of these edges."""
        arcs = topology.arcs
        tails = np.repeat(np.arange(topology.num_nodes), np.diff(arcs.start))
        keep = np.flatnonzero(self.cluster[tails] == self.cluster[arcs.heads])
        start = np.searchsorted(tails[keep], np.arange(topology.num_nodes + 1))
        return Arcs(start.astype(np.int64), arcs.heads[keep], arcs.edges[keep])

    def group_sizes(self, topology: Topology) -> Int:
        """All pairs."""
        p = np.array([len(group) for group in self.groups(topology)], np.int64)
        return p * (p - 1) // 2

    def exposure(self, topology: Topology) -> Exposure:
        """An edge inside a cluster moves that cluster's group; other edges move none."""
        groups = self.groups(topology)
        cut = hub_cut([len(group) for group in groups], directed=False)
        numbers = self.cluster[np.array([group[0] for group in groups], np.int64)]
        edge = self.inner_edges(topology)
        at = np.searchsorted(numbers, self.cluster[topology.tails[edge]])
        known = at < len(numbers)
        known[known] = numbers[at[known]] == self.cluster[topology.tails[edge[known]]]
        return Exposure(topology.num_edges, cut, edge[known], at[known])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The partition and the chosen vertices."""
        return {"cluster": self.cluster, "vertices": self.vertices}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], topology: Topology) -> ClusterBlock:
        """The inverse of ``arrays``."""
        cluster, vertices = integer_arrays(arrays, "cluster", "vertices")
        n = topology.num_nodes
        if cluster.shape != (n,) or ((cluster < 0) | (cluster >= n)).any() or topology.directed:
            raise FileFormatError("clusters need a number from 0 to n - 1 per node of an undirected network")
        return cls(cluster, check_vertices(vertices, topology))
