"""Exact distances of every cell of a separator tree, bottom-up.

Private: takes lattice weights.  A leaf's table is computed from its edges; a split cell's from the
boundary tables of its children and the edges inside its separator, by min-plus elimination over the separator
(``joined_table``).  On planar graphs that is O(n^1.5) in all, instead of a shortest-path tree per separator vertex.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Int, concatenated
from ..blocks.hierarchy import HierarchyBlock
from ..cells.frame import frame
from ..cells.leaves import LeafGraphs
from ..data.lattice import Lattice
from ..kernels.hierarchy import INFINITE, joined_table
from ..progress import steps as progress_steps


def hierarchy_numbers(block: HierarchyBlock, lattice: Lattice, steps: Int) -> Int:
    """Return the block's numbers in its order: cell by cell, then leaf edges."""
    hierarchy, topology = block.hierarchy, block.topology
    full = frame(hierarchy, hierarchy.separators, hierarchy.separator_boundary)
    leaves = LeafGraphs.of(hierarchy, topology)
    # In the covered flavour edges inside separators stay below as public edges of their largest length.
    lengths, public = steps, lattice.high
    inner = leaves.edges_by_home
    position = np.zeros(topology.num_nodes, np.int64)
    numbers: list[Int] = [np.empty(0, np.int64)] * hierarchy.num_cells
    outside: list[Int] = [np.empty((0, 0), np.int64)] * hierarchy.num_cells
    for cell in progress_steps(range(hierarchy.num_cells - 1, -1, -1), "measuring cells"):
        boundary = full.boundary[cell]
        if hierarchy.is_leaf[cell]:
            if not block.leaf_edges:
                table = leaves.distances(cell, lengths, public)
                i, j = np.triu_indices(len(table), 1)
                pairs = table[i, j]
                numbers[cell] = np.where(pairs >= INFINITE, 0, pairs)  # not connected inside the leaf: public
                outside[cell] = np.ascontiguousarray(table[np.ix_(boundary, boundary)])
            elif len(boundary):
                outside[cell] = leaves.distances(cell, lengths, public, boundary)[:, boundary]
            continue
        members = full.members[cell]
        position[members] = np.arange(len(members))
        edges, (left, right) = inner[cell], hierarchy.children[cell]
        table = joined_table(
            len(members), full.boundary_above[left], outside[left], full.boundary_above[right], outside[right],
            position[topology.tails[edges]], position[topology.heads[edges]], lengths[edges], full.chosen[cell],
        )  # fmt: skip
        outside[left] = outside[right] = np.empty((0, 0), np.int64)
        outside[cell] = np.ascontiguousarray(table[np.ix_(boundary, boundary)])
        hubs = position[hierarchy.hubs[cell]]
        rest = position[block.frame.members[cell][block.frame.rest[cell]]]
        i, j = np.triu_indices(len(hubs), 1)
        numbers[cell] = np.concatenate([table[hubs[i], hubs[j]], table[np.ix_(hubs, rest)].ravel()])
    return concatenated([*numbers, steps[block.edges]])
