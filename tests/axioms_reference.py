"""The axioms of a hierarchy of cells, slowly and plainly: the twin of ``separators.hierarchy.edge_homes``."""

import numpy as np


def check(hierarchy, topology):
    """Raise ``AssertionError`` with the axiom that fails."""
    assert np.array_equal(hierarchy.vertices[0], np.arange(hierarchy.num_nodes)), "cover: the root holds every vertex"
    ends = np.stack([topology.tails, topology.heads])
    sets = [set(v.tolist()) for v in hierarchy.vertices]
    inside = _edges_inside(hierarchy)
    for cell in range(hierarchy.num_cells):
        separator = set(hierarchy.separators[cell].tolist())
        assert separator <= sets[cell], f"separation: cell {cell} has a foreign separator vertex"
        assert set(hierarchy.hubs[cell].tolist()) <= separator, f"covering: cell {cell} has a hub off its separator"
        for edge in inside[cell]:
            assert {int(ends[0, edge]), int(ends[1, edge])} <= sets[cell], f"ownership: edge {edge} left cell {cell}"
        if hierarchy.is_leaf[cell]:
            assert not separator, f"separation: leaf {cell} has a separator"
            continue
        left, right = (sets[c] for c in hierarchy.children[cell])
        assert left | right | separator == sets[cell], f"cover: children of cell {cell} lose a vertex"
        assert left & right <= separator, f"separation: children of cell {cell} share more than its separator"
        assert max(len(left), len(right)) < len(sets[cell]), f"shrinking: a child of cell {cell} is no smaller"
        below = set(inside[hierarchy.children[cell][0]]) | set(inside[hierarchy.children[cell][1]])
        for edge in set(inside[cell]) - below:
            assert {int(ends[0, edge]), int(ends[1, edge])} <= separator, (
                f"separation: edge {edge} of cell {cell} is in no child and not inside the separator"
            )
        for vertex in hierarchy.hub_boundary[cell].tolist():
            above, found = int(hierarchy.parent[cell]), False
            while above >= 0 and not found:
                found, above = vertex in set(hierarchy.hubs[above].tolist()), int(hierarchy.parent[above])
            assert found, f"boundary: vertex {vertex} of cell {cell} is no ancestor's hub"
    if hierarchy.hops:
        _check_covers(hierarchy, topology)


def _edges_inside(hierarchy):
    """Private edges of each cell: those whose home is the cell or below it."""
    inside = [[] for _ in range(hierarchy.num_cells)]
    for edge, cell in enumerate(hierarchy.home.tolist()):
        while cell >= 0:
            inside[cell].append(edge)
            cell = int(hierarchy.parent[cell])
    return inside


def _check_covers(hierarchy, topology):
    arcs = topology.arcs
    for cell, separator in enumerate(hierarchy.separators):
        members, reached = set(separator.tolist()), set(hierarchy.hubs[cell].tolist())
        for _ in range(hierarchy.hops):
            reached |= {
                int(u) for v in reached for u in arcs.heads[arcs.start[v] : arcs.start[v + 1]] if int(u) in members
            }
        assert members <= reached, f"covering: cell {cell} has a vertex beyond {hierarchy.hops} hops of any hub"
