"""Exact arithmetic: the exact numbers of each kind of block, as integers on the lattice.

The private step calls it with private lattice weights; planning and decoders call it with public stand-ins.  It adds no
noise, draws nothing at random, and the shape of its results depends on the public block alone.  (Inside the compiled
shortest-path kernels the order of steps depends on weights: timing is not promised.)

The distances of a hierarchy are computed bottom-up by the builder of ``index.tables``, in ``int64`` and over whole
separators, and each number is read from its place there.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..arrays import Int, concatenated
from ..index.tables import Layout, as_tables, cell_graphs, fill_tables, outer_room
from ..kernels.forests import sum_from_root
from ..kernels.minplus import INFINITE
from ..kernels.paths import UNREACHED, distances_from
from ..network.lattice import Lattice
from .blocks import AnchorBlock, Block, EdgeBlock, HierarchyBlock, LineBlock, PairBlock


@singledispatch
def exact_numbers(block: Block, lattice: Lattice, steps: Int) -> Int:
    """Return the numbers of a block for lattice weights ``steps``, in the order of its groups."""
    raise NotImplementedError(type(block).__name__)


@exact_numbers.register
def _(block: EdgeBlock, lattice: Lattice, steps: Int) -> Int:
    return steps


@exact_numbers.register
def _(block: PairBlock, lattice: Lattice, steps: Int) -> Int:
    numbers: list[Int] = []
    n, lengths = block.topology.num_nodes, steps[block.arcs.edges]
    for group in block.groups:
        rows = max(1, 2**23 // n)  # at most 64 MB of full rows at a time
        for first in range(0, len(group), rows):
            chunk = group[first : first + rows]
            out = np.empty((len(chunk), n), np.int64)
            distances_from(block.arcs, lengths, chunk, out)
            table = out[:, group]
            # Unreached is a public fact (directed networks, clusters): such a pair counts as 0 and holds noise only.
            table[table == UNREACHED] = 0
            i, j = np.indices(table.shape)
            numbers.append(table[(i + first != j) if block.topology.directed else (i + first < j)])
    return concatenated(numbers)


@exact_numbers.register
def _(block: AnchorBlock, lattice: Lattice, steps: Int) -> Int:
    forest = block.forest
    own = np.append(steps, 0)[forest.edge]  # roots have edge -1 and weight 0
    height = sum_from_root(forest.order, forest.parent, own)
    return np.asarray(height[block.nodes] - height[block.anchor[block.nodes]])


@exact_numbers.register
def _(block: LineBlock, lattice: Lattice, steps: Int) -> Int:
    # Sums so far may wrap at 64 bits where a network has many lines; their differences, distances along a line, do not.
    runs, so_far = block.runs, np.concatenate([[0], np.cumsum(steps[block.lines.order])])
    return np.concatenate([so_far[runs.last] - so_far[runs.first], steps])


@exact_numbers.register
def hierarchy_numbers(block: HierarchyBlock, lattice: Lattice, steps: Int) -> Int:
    """Return the block's numbers in its order: cell by cell, then leaf edges."""
    hierarchy, pairs = block.hierarchy, not block.leaf_edges
    layout = Layout.of(hierarchy, pairs, separators=True)
    # In the covered flavour edges inside separators stay below as public edges of their largest length.
    graphs = cell_graphs(hierarchy, block.topology, steps, public=lattice.high)
    place, room = outer_room(layout, keep_leaves=pairs)
    size = sum(layout.table_sizes)
    flat = np.empty(size + room, np.int64)
    fill_tables(layout, graphs, as_tables(layout, flat), INFINITE, place, flat[size:])
    places = block.places(layout, size + place)
    if (places < 0).any():
        raise RuntimeError("every number needs a place in the tables")
    numbers = flat[places]
    numbers[numbers >= INFINITE] = 0  # not connected inside the cell: public
    return np.concatenate([numbers, steps[block.edges]])
