"""Exact distances of every cell of a hierarchy, bottom-up.

Private: takes lattice weights.  The tables are those of ``cells.tables``, in ``int64`` and over whole
separators (hubs may be a part of them), and each number is read from its place there.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Int
from ..blocks.hierarchy import HierarchyBlock
from ..cells.tables import Layout, as_tables, cell_graphs, fill_tables, outer_room
from ..data.lattice import Lattice
from ..kernels.minplus import INFINITE


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
