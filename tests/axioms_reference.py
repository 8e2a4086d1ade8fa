"""The axioms of a tree of cells, slowly and plainly: the twin of ``kernels.axioms``."""

import numpy as np


def check(tree, topology):
    """Raise ``AssertionError`` with the axiom that fails."""
    assert np.array_equal(tree.vertices[0], np.arange(tree.num_nodes)), "cover: the root holds every vertex"
    ends = np.stack([topology.tails, topology.heads])
    sets = [set(v.tolist()) for v in tree.vertices]
    inside = _edges_inside(tree)
    for cell in range(tree.num_cells):
        separator = set(tree.separators[cell].tolist())
        assert separator <= sets[cell], f"separation: cell {cell} has a foreign separator vertex"
        assert set(tree.hubs[cell].tolist()) <= separator, f"covering: cell {cell} has a hub off its separator"
        for edge in inside[cell]:
            assert {int(ends[0, edge]), int(ends[1, edge])} <= sets[cell], (
                f"ownership: edge {edge} left cell {cell}"
            )
        if tree.is_leaf[cell]:
            assert not separator, f"separation: leaf {cell} has a separator"
            continue
        left, right = (sets[c] for c in tree.children[cell])
        assert left | right | separator == sets[cell], f"cover: children of cell {cell} lose a vertex"
        assert left & right <= separator, f"separation: children of cell {cell} share more than its separator"
        assert max(len(left), len(right)) < len(sets[cell]), f"shrinking: a child of cell {cell} is no smaller"
        below = set(inside[tree.children[cell][0]]) | set(inside[tree.children[cell][1]])
        for edge in set(inside[cell]) - below:
            assert {int(ends[0, edge]), int(ends[1, edge])} <= separator, (
                f"separation: edge {edge} of cell {cell} is in no child and not inside the separator"
            )
        for vertex in tree.hub_boundary[cell].tolist():
            above, found = int(tree.parent[cell]), False
            while above >= 0 and not found:
                found, above = vertex in set(tree.hubs[above].tolist()), int(tree.parent[above])
            assert found, f"boundary: vertex {vertex} of cell {cell} is no ancestor's hub"
    if tree.hops:
        _check_covers(tree, topology)


def _edges_inside(tree):
    """Private edges of each cell: those whose home is the cell or below it."""
    inside = [[] for _ in range(tree.num_cells)]
    for edge, cell in enumerate(tree.home.tolist()):
        while cell >= 0:
            inside[cell].append(edge)
            cell = int(tree.parent[cell])
    return inside


def _check_covers(tree, topology):
    arcs = topology.arcs
    for cell, separator in enumerate(tree.separators):
        members, reached = set(separator.tolist()), set(tree.hubs[cell].tolist())
        for _ in range(tree.hops):
            reached |= {
                int(u) for v in reached for u in arcs.heads[arcs.start[v] : arcs.start[v + 1]] if int(u) in members
            }
        assert members <= reached, f"covering: cell {cell} has a separator vertex beyond {tree.hops} hops of any hub"
