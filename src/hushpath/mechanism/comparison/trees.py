"""Trees, and networks of bounded treewidth.

``tree`` (Sealfon 2016): centroid recursion, polylogarithmic error.  In a part with root r, let v* be the lowest node
with more than half of the part at or below it.  Measured are the distance r to v* and the edges from v* to its
children; the parts below the children and the part above v* follow in the same way.  Every node is measured from one
*anchor*, an ancestor; sums along anchors give its distance from the root, and d(s, t) = d(s) + d(t) - 2 d(lowest common
ancestor).  An edge is part of at most one number a level, of at most log2(n) numbers in all, so noise of scale
log2(n)/eps suffices (Laplace) and an answer adds up at most 4 log2(n) numbers.

This is Sealfon's own structure, with its own block (``anchors``), not a hierarchy of cells: one over a tree
would measure each centroid against all ancestor centroids still present, log(n) more numbers per edge.  One change:
v* is known once measured, so it is left out of the part above it (it is a leaf of that part in the publication); no
answer changes, and one number a level is saved.

A distance in a tree is a linear function of the weights, so nothing is clipped but the final answer at 0; on a path
this is the binary tree mechanism for range queries (Dwork et al. 2010; Chan et al. 2011).

``constants="certified"``: the certificate counts how many numbers an edge is really part of.  ``"paper"``: Laplace
noise of scale log2(n) unit / eps on every number, as published.

``treewidth`` (Ebrahimi et al. 2023, as the paper of Dinitz et al. cites it): recursion on bags, pure privacy.  A bag
of a tree decomposition separates the network; measured are distances inside each cell between the vertices of its bag
and from them to the bags above.  The published error is O~(p^2 / eps) for treewidth p under pure privacy: one edge
moves of the order of p^2 numbers a level, and the levels share the budget evenly.

What is as published: bags of a tree decomposition as separators, Laplace noise, the budget shared evenly over levels.
What we chose, as we know the publication by its statement only: which bags (``separators.treewidth``), shortcuts
to the bags of all levels above (the repair that the paper page explains, without which the error that can be proved
doubles every second level), and leaves measured edge by edge.

``constants="certified"``: a cell gets noise in proportion to its own cut number, so that each level costs an edge the
same and the certificate spends the whole budget.  ``"paper"``: every number gets the same Laplace noise, (depth + 1)
p^2 unit / eps with the measured p, the naive count of pairs; the certificate says what that really costs.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import OptionError
from ...measurement.anchors import AnchorBlock, is_forest
from ...measurement.hierarchy import HierarchyBlock
from ...measurement.strategy import Strategy
from ...network.topology import Topology
from ...noise import Law
from ...separators.build import build_hierarchy
from ..base import Design, Mechanism, Problem, even_scales, integer, one_of
from ..separator import LEAF_SIZE, MOST_WIDTH, bags_of

MOST_NODES = 100_000  # finding a tree decomposition takes a minute beyond


def design_tree(problem: Problem, *, constants: str = "certified") -> Design:
    """Measure the distance of every node from its anchor, a node above it in the tree, with equal noise on each."""
    block = AnchorBlock.of(problem.topology)
    most = int(np.bincount(block.exposure.edge, minlength=1).max())  # paths that one edge is on; at most log2(n)
    details, count = {"numbers_per_edge": most, "constants": constants}, len(block.nodes)
    if constants == "paper":
        levels = max(1.0, math.log2(problem.topology.num_nodes))
        scales = np.full(count, levels * problem.unit_steps / problem.budget.epsilon)
        return Design((block,), scales, details, fixed=True)
    return Design((block,), np.ones(count), details)


def unfit_tree(topology: Topology) -> str | None:
    """Refuse networks with cycles."""
    if is_forest(topology):
        return None
    return f"it is for trees, and {topology.num_edges} edges on {topology.num_nodes} nodes close a cycle"


def design_treewidth(problem: Problem, *, constants: str = "certified", width: int = MOST_WIDTH) -> Design:
    """Find a tree decomposition of at most this ``width`` and measure its bags."""
    splitter = bags_of(problem.topology, width)
    if splitter is None:
        found = f"no tree decomposition of width {width} or less was found"
        raise OptionError(f"mechanism 'treewidth' cannot run on this network: {found}")
    hierarchy = build_hierarchy(
        problem.topology, splitter, leaf_size=max(splitter.bag_size, LEAF_SIZE[True]), family="treewidth"
    )
    block = HierarchyBlock(problem.topology, hierarchy, leaf_edges=True)
    details = {**hierarchy.facts(), "width": splitter.width, "constants": constants}
    if constants == "paper":
        pairs = int(block.group_sizes.max(initial=1))
        scale = (hierarchy.depth + 1) * pairs * problem.unit_steps / problem.budget.epsilon
        return Design((block,), np.full(len(block.group_sizes), float(scale)), details, fixed=True)
    return Design((block,), even_scales(block.exposure.cut, problem.law), details)


def misfit_treewidth(strategy: Strategy) -> str | None:
    """Refuse what is not whole bags of all levels, and leaves edge by edge."""
    block = strategy.block(HierarchyBlock)
    return None if block.leaf_edges and not block.adjacent and not block.hierarchy.hops else "its cells are not bags"


TREE = Mechanism(
    name="tree",
    summary="centroid recursion on a tree, sums of a few noisy distances (Sealfon 2016)",
    design=design_tree,
    measures=(AnchorBlock,),
    options={"constants": one_of("certified", "paper")},
    undirected_only="a tree is passed in both directions",
    unfit=unfit_tree,
    printed=Law.LAPLACE,
    comparison=True,
)
TREEWIDTH = Mechanism(
    name="treewidth",
    summary="recursion on the bags of a tree decomposition, pure privacy by default (Ebrahimi et al. 2023)",
    design=design_treewidth,
    measures=(HierarchyBlock,),
    options={"constants": one_of("certified", "paper"), "width": integer(1, optional=False)},
    undirected_only="its bags split distances that are the same in both directions",
    most_nodes=MOST_NODES,
    misfit=misfit_treewidth,
    pure=True,
    printed=Law.LAPLACE,
    comparison=True,
)
