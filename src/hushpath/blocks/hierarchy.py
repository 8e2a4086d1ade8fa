"""Local distances over a tree of cells: the block that Algorithms 1 and 4 measure.

Stage 3 of 6.  One group per split cell ``b``: distances inside G_b between all its hubs, and from each hub to each
boundary vertex (``levels="all"``: every ancestor's hubs still present; ``"adjacent"``: the parent's only, as printed
in the paper).  Leaves are measured as all pairs, one group per leaf, or as edges, one group per edge.

Order of the numbers: cell by cell.  A split cell: hub pairs ``i < j`` row by row, then hub rows against the boundary
vertices that are not hubs.  A leaf: pairs ``i < j`` row by row.  After all cells, leaf edges by edge id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int
from ..cells.frame import Frame, frame
from ..cells.hierarchy import Hierarchy, Lists
from ..data.topology import Topology
from ..errors import FileFormatError, OptionError
from ..privacy.certificate import Exposure
from ..privacy.sensitivity import hub_cut
from .core import integer_arrays


@dataclass(frozen=True, eq=False)
class HierarchyBlock:
    """Hub-to-hub and hub-to-boundary distances of every cell, and the leaves.

    Attributes:
        tree: the decomposition.
        leaf_edges: measure leaf edges; otherwise all pairs of each leaf.
        adjacent: measure only the parent's hubs as boundary (the literal Algorithm 1).
    """

    hierarchy: Hierarchy
    leaf_edges: bool
    adjacent: bool = False
    kind: ClassVar[str] = "hierarchy"

    @cached_property
    def boundary(self) -> Lists:
        """The boundary vertices that are measured in each cell."""
        hierarchy = self.hierarchy
        if not self.adjacent:
            return hierarchy.hub_boundary
        nothing = np.empty(0, np.int64)
        return Lists.of([
            np.intersect1d(vertices, hierarchy.hubs[hierarchy.parent[cell]], assume_unique=True) if cell else nothing
            for cell, vertices in enumerate(hierarchy.vertices)
        ])  # fmt: skip

    @cached_property
    def frame(self) -> Frame:
        """Positions of hubs and boundary in each cell's table."""
        return frame(self.hierarchy, self.hierarchy.hubs, self.boundary)

    @cached_property
    def leaf_edge_ids(self) -> Int:
        """Edges that are measured one by one."""
        return np.flatnonzero(self.hierarchy.is_leaf[self.hierarchy.home]) if self.leaf_edges else np.empty(0, np.int64)

    def shapes(self) -> tuple[Int, Int]:
        """Hubs and further boundary vertices of each cell's group: the p and q of the cut lemma."""
        hierarchy, size = self.hierarchy, self.hierarchy.vertices.sizes()
        leaf_hubs = np.zeros_like(size) if self.leaf_edges else size
        p = np.where(hierarchy.is_leaf, leaf_hubs, hierarchy.hubs.sizes())
        q = np.where(hierarchy.is_leaf, 0, self.frame.rest.sizes())
        return p, q

    def group_sizes(self, topology: Topology) -> Int:
        """All pairs of hubs and hubs times boundary per cell, then one per leaf edge."""
        p, q = self.shapes()
        return np.concatenate([p * (p - 1) // 2 + p * q, np.ones(len(self.leaf_edge_ids), np.int64)])

    def exposure(self, topology: Topology) -> Exposure:
        """An edge moves the groups of its home cell and of every cell above it, and its own number in a leaf."""
        if topology.directed:
            raise OptionError("cells of a separator tree are measured in undirected networks only")
        hierarchy = self.hierarchy
        p, q = self.shapes()
        cut = np.concatenate([hub_cut(p, q, directed=False), np.ones(len(self.leaf_edge_ids), np.int64)])
        edges, groups = [self.leaf_edge_ids], [hierarchy.num_cells + np.arange(len(self.leaf_edge_ids))]
        edge, cell = np.arange(topology.num_edges), hierarchy.home
        while len(edge):
            edges.append(edge)
            groups.append(cell)
            cell = hierarchy.parent[cell]
            edge, cell = edge[cell >= 0], cell[cell >= 0]
        return Exposure(topology.num_edges, cut, np.concatenate(edges), np.concatenate(groups))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The tree as flat arrays and three switches; who owns which edge follows from them."""
        hierarchy = self.hierarchy
        lists = {"vertices": hierarchy.vertices, "separators": hierarchy.separators}
        if hierarchy.hops:
            lists["hubs"] = hierarchy.hubs
        flat = {f"{name}.{part}": getattr(one, part) for name, one in lists.items() for part in ("start", "items")}
        switches = np.array([hierarchy.hops, self.leaf_edges, self.adjacent], np.int64)
        return {"parent": hierarchy.parent, "switches": switches, **flat}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], topology: Topology) -> HierarchyBlock:
        """The inverse of ``arrays``; the tree is proved against the topology."""
        if topology.directed:
            raise FileFormatError("a tree of cells is measured in undirected networks only")
        covered = "hubs.start" in arrays
        lists = ("vertices", "separators", *(["hubs"] if covered else []))
        names = [f"{name}.{part}" for name in lists for part in ("start", "items")]
        parent, switches, *flat = integer_arrays(arrays, "parent", "switches", *names)
        if len(switches) != 3 or switches[0] < 0 or ((switches[1:] | 1) != 1).any():
            raise FileFormatError("its switches are not those of a tree of cells")
        hops, leaf_edges, adjacent = switches.tolist()
        vertices, separators, *hubs = (Lists(*flat[i : i + 2]) for i in range(0, len(flat), 2))
        hierarchy = Hierarchy.proved(
            topology, parent=parent, vertices=vertices, separators=separators, hubs=hubs[0] if covered else None,
            hops=hops,
        )  # fmt: skip
        return cls(hierarchy, bool(leaf_edges), bool(adjacent))
