"""The exact numbers of each kind of block, as integers on the lattice.

Stage 4 of 6.  Private: these functions take lattice weights and are called by ``measure`` only.  They add no noise,
draw nothing at random, and the shape of what they return depends on the public block alone.  (Inside the compiled
shortest-path kernels the order of steps depends on weights: timing is not promised, docs/GUARANTEE.md.)
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..arrays import Int, concatenated
from ..blocks.anchors import AnchorBlock, Forest
from ..blocks.core import Block, CliqueBlock, ClusterBlock, EdgeBlock
from ..blocks.hierarchy import HierarchyBlock
from ..data.lattice import Lattice
from ..data.topology import Arcs, Topology
from ..kernels.forests import summed
from ..kernels.paths import UNREACHED, distances_from
from .cells import hierarchy_numbers


@singledispatch
def exact_numbers(block: Block, topology: Topology, lattice: Lattice, steps: Int) -> Int:
    """Return the numbers of a block for lattice weights ``steps``, in the order of its groups."""
    raise NotImplementedError(type(block).__name__)


@exact_numbers.register
def _(block: EdgeBlock, topology: Topology, lattice: Lattice, steps: Int) -> Int:
    return steps


@exact_numbers.register
def _(block: CliqueBlock, topology: Topology, lattice: Lattice, steps: Int) -> Int:
    arcs = topology.arcs
    return _all_pairs(block.groups(topology), topology, arcs, steps[arcs.edges])


@exact_numbers.register
def _(block: ClusterBlock, topology: Topology, lattice: Lattice, steps: Int) -> Int:
    arcs = block.inner_arcs(topology)
    return _all_pairs(block.groups(topology), topology, arcs, steps[arcs.edges])


@exact_numbers.register
def _(block: AnchorBlock, topology: Topology, lattice: Lattice, steps: Int) -> Int:
    forest = Forest.of(topology)
    own = np.append(steps, 0)[forest.edge]  # roots have edge -1 and weight 0
    height = summed(forest.order, forest.parent, own)
    return np.asarray(height[block.nodes] - height[block.anchor[block.nodes]])


def _all_pairs(groups: list[Int], topology: Topology, arcs: Arcs, lengths: Int) -> Int:
    """Distances along the given arcs between the vertices of each group, in the order of ``CliqueBlock``."""
    numbers: list[Int] = []
    for group in groups:
        rows = max(1, 2**23 // topology.num_nodes)  # at most 64 MB of full rows at a time
        for first in range(0, len(group), rows):
            chunk = group[first : first + rows]
            out = np.empty((len(chunk), topology.num_nodes), np.int64)
            distances_from(arcs, lengths, chunk, out)
            table = out[:, group]
            # Unreached is a public fact (directed networks, clusters): such a pair counts as 0 and holds noise only.
            table[table == UNREACHED] = 0
            i, j = np.indices(table.shape)
            numbers.append(table[(i + first != j) if topology.directed else (i + first < j)])
    return concatenated(numbers)


@exact_numbers.register
def _(block: HierarchyBlock, topology: Topology, lattice: Lattice, steps: Int) -> Int:
    return hierarchy_numbers(block, topology, lattice, steps)
