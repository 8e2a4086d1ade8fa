"""Local distances over a hierarchy of cells: the block that Algorithms 1 and 4 measure.

One group per split cell ``b``: distances inside G_b between all its hubs, and from each hub to each
boundary vertex (``levels="all"``: every ancestor's hubs still present; ``"adjacent"``: the parent's only, as printed
in the paper).  Leaves are measured as all pairs, one group per leaf, or as edges, one group per edge.

Order of the numbers: cell by cell.  A split cell: hub pairs ``i < j`` row by row, then hub rows against the boundary
vertices that are not hubs.  A leaf: pairs ``i < j`` row by row.  After all cells, leaf edges by edge id.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Int, sealed
from ..errors import FileFormatError, OptionError
from ..index.tables import Layout
from ..kernels.layout import number_places
from ..network.topology import Topology
from ..privacy.certificate import Exposure
from ..privacy.sensitivity import hub_cut
from ..separators.hierarchy import Hierarchy, Lists
from .block import Arrays, Block, integer_arrays
from .samples import few_hops


@dataclass(frozen=True, eq=False)
class HierarchyBlock(Block):
    """Hub-to-hub and hub-to-boundary distances of every cell, and the leaves.

    Attributes:
        hierarchy: the cells.
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
    def rows(self) -> Lists:
        """The vertices of each cell between which all distances are measured: its hubs, or the vertices of a leaf."""
        hierarchy, whole = self.hierarchy, self.hierarchy.is_leaf & (not self.leaf_edges)
        return Lists.of([hierarchy.vertices[b] if whole[b] else hierarchy.hubs[b] for b in range(hierarchy.num_cells)])

    @cached_property
    def rest(self) -> Lists:
        """The boundary vertices of each split cell that are not hubs: each hub is measured to them, too."""
        hierarchy, n = self.hierarchy, self.hierarchy.num_nodes
        cell, hub_cell = (np.repeat(np.arange(len(one)), one.sizes()) for one in (self.boundary, hierarchy.hubs))
        again = np.isin(cell * n + self.boundary.items, hub_cell * n + hierarchy.hubs.items)
        keep = ~again & ~hierarchy.is_leaf[cell]
        return Lists(np.concatenate([[0], np.cumsum(keep)])[self.boundary.start], self.boundary.items[keep])

    def places(self, layout: Layout, outer: Int | None = None) -> Int:
        """Return the place of each number (without leaf edges) in the concatenated tables of a layout, -1 for none.

        ``outer`` has the places of the outer tables of leaves.
        """
        count = int(self.group_sizes[: layout.num_cells].sum())
        out, nowhere = np.empty(count, np.int64), np.full(layout.num_cells, -1)
        rows, rest = ((sealed(one.start), sealed(one.items)) for one in (self.rows, self.rest))
        number_places(layout.flat, rows[0], rows[1], rest[0], rest[1], nowhere if outer is None else outer, out)
        return out

    @cached_property
    def edges(self) -> Int:
        """Leaf edges, where leaves are measured as edges."""
        return np.flatnonzero(self.hierarchy.is_leaf[self.hierarchy.home]) if self.leaf_edges else np.empty(0, np.int64)

    def shapes(self) -> tuple[Int, Int]:
        """Count hubs and further boundary vertices of each cell's group: the p and q of the cut lemma."""
        return self.rows.sizes(), self.rest.sizes()

    @cached_property
    def group_sizes(self) -> Int:
        """All pairs of hubs and hubs times boundary per cell, then one per leaf edge."""
        p, q = self.shapes()
        return np.concatenate([p * (p - 1) // 2 + p * q, np.ones(len(self.edges), np.int64)])

    @cached_property
    def exposure(self) -> Exposure:
        """An edge moves the groups of its home cell and of every cell above it, and its own number in a leaf."""
        topology = self.topology
        if topology.directed:
            raise OptionError("cells of a hierarchy are measured in undirected networks only")
        hierarchy = self.hierarchy
        p, q = self.shapes()
        cut = np.concatenate([hub_cut(p, q, directed=False), np.ones(len(self.edges), np.int64)])
        edges, groups = [self.edges], [hierarchy.num_cells + np.arange(len(self.edges))]
        edge, cell = np.arange(topology.num_edges), hierarchy.home
        while len(edge):
            edges.append(edge)
            groups.append(cell)
            cell = hierarchy.parent[cell]
            edge, cell = edge[cell >= 0], cell[cell >= 0]
        single = np.arange(len(cut)) >= hierarchy.num_cells
        return Exposure(topology.num_edges, cut, np.concatenate(edges), np.concatenate(groups), single)

    def typical(self, numbers: Int) -> float:
        """Return the mean distance across the largest cell that was measured; else as for edges."""
        sizes, cells = self.group_sizes, self.hierarchy.num_cells
        large = np.where(sizes[:cells] > 0, self.hierarchy.vertices.sizes(), 0)
        if not large.any():
            return float(numbers.mean()) * few_hops(self.topology).mean
        begin = int(sizes[: int(large.argmax())].sum())
        return float(numbers[begin : begin + int(sizes[large.argmax()])].mean())

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the hierarchy as flat arrays and three switches; which cell owns an edge follows from them."""
        hierarchy = self.hierarchy
        lists = {"vertices": hierarchy.vertices, "separators": hierarchy.separators}
        if hierarchy.hops:
            lists["hubs"] = hierarchy.hubs
        flat = {f"{name}.{part}": getattr(one, part) for name, one in lists.items() for part in ("start", "items")}
        switches = np.array([hierarchy.hops, self.leaf_edges, self.adjacent], np.int64)
        return {"parent": hierarchy.parent, "switches": switches, **flat}

    @classmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """Invert ``arrays``; the hierarchy is proved against the topology."""
        if topology.directed:
            raise FileFormatError("a hierarchy of cells needs an undirected network")
        covered = "hubs.start" in arrays
        lists = ("vertices", "separators", *(["hubs"] if covered else []))
        names = [f"{name}.{part}" for name in lists for part in ("start", "items")]
        parent, switches, *flat = integer_arrays(arrays, "parent", "switches", *names)
        if len(switches) != 3 or switches[0] < 0 or ((switches[1:] | 1) != 1).any():
            raise FileFormatError("'switches' must be three numbers: hops >= 0, then two of 0 or 1")
        hops, leaf_edges, adjacent = switches.tolist()
        vertices, separators, *hubs = (Lists(*flat[i : i + 2]) for i in range(0, len(flat), 2))
        hierarchy = Hierarchy.proved(
            topology, parent=parent, vertices=vertices, separators=separators, hubs=hubs[0] if covered else None,
            hops=hops,
        )  # fmt: skip
        return cls(topology, hierarchy, bool(leaf_edges), bool(adjacent))
