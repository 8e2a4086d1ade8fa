"""Where everything stands inside each cell: the flat positions that distance tables are indexed by.

Stage 2 of 6.  A frame is made for one choice of vertices per cell (all separator vertices, or the hubs).  The *members*
of a split cell are its chosen vertices and its boundary; those of a leaf are all its vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Int
from .hierarchy import Hierarchy, Lists


@dataclass(frozen=True, eq=False)
class Frame:
    """Positions in the tables of each cell.

    Attributes:
        members: vertices that index the cell's table, increasing.
        chosen: positions of the cell's own chosen vertices among its members; empty for leaves.
        boundary: positions of its boundary among its members.
        boundary_above: positions of the same vertices among the parent's members.
        rest: positions of boundary vertices that are not chosen again.
    """

    members: Lists
    chosen: Lists
    boundary: Lists
    boundary_above: Lists
    rest: Lists


def frame(hierarchy: Hierarchy, chosen: Lists, boundary: Lists) -> Frame:
    """Lay out the members of every cell.  ``boundary`` must be a part of the parent's members."""
    members: list[Int] = []
    own: list[Int] = []
    inside: list[Int] = []
    above: list[Int] = []
    rest: list[Int] = []
    for cell in range(hierarchy.num_cells):
        mine, edge = chosen[cell], boundary[cell]
        if hierarchy.is_leaf[cell]:
            all_of_them = hierarchy.vertices[cell]
            mine = mine[:0]
        else:
            all_of_them = np.union1d(mine, edge)
        members.append(all_of_them)
        own.append(np.searchsorted(all_of_them, mine))
        inside.append(np.searchsorted(all_of_them, edge))
        above.append(np.searchsorted(members[hierarchy.parent[cell]], edge) if cell else edge)
        free = np.ones(len(all_of_them), bool)
        free[own[-1]] = False
        rest.append(inside[-1][free[inside[-1]]])
    return Frame(Lists.of(members), Lists.of(own), Lists.of(inside), Lists.of(above), Lists.of(rest))
