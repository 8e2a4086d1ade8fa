"""Trees (Sealfon 2016): centroid recursion, polylogarithmic error.

In a part with root r, let v* be the lowest node with more than half of the part at or below it.  Measured are the
distance r to v* and the edges from v* to its children; the parts below the children and the part above v* follow in
the same way.  Every node is measured from one *anchor*, an ancestor; sums along anchors give its distance from the
root, and d(s, t) = d(s) + d(t) - 2 d(lowest common ancestor).  An edge is part of at most one number a level, of at
most log2(n) numbers in all, so noise of scale log2(n)/eps suffices (Laplace) and an answer adds up at most 4 log2(n)
numbers.

This is Sealfon's own structure, with its own block (``anchors``), not a hierarchy of cells: one over a tree
would measure each centroid against all ancestor centroids still present, log(n) more numbers per edge.  One change:
v* is known once measured, so it is left out of the part above it (it is a leaf of that part in the publication); no
answer changes, and one number a level is saved.

A distance in a tree is a linear function of the weights, so nothing is clipped but the final answer at 0; on a path
this is the binary tree mechanism for range queries (Dwork et al. 2010; Chan et al. 2011).

``constants="certified"``: the certificate counts how many numbers an edge is really part of.  ``"paper"``: Laplace
noise of scale log2(n) unit / eps on every number, as published.
"""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Float
from ...measurement.anchors import AnchorBlock, is_forest
from ...network.topology import Topology
from ...noise import Law
from ..base import Design, Mechanism, Problem, one_of


def design(problem: Problem, *, constants: str = "certified") -> Design:
    """Anchor every node and measure its distance from the anchor, the same noise on each."""
    block = AnchorBlock.of(problem.topology)
    count = len(block.nodes)
    details = {"numbers_per_edge": _most_numbers(block), "constants": constants}
    if constants == "paper":
        return Design((block,), lambda law: _paper_scales(problem, count), details, fixed=True)
    return Design((block,), lambda law: np.ones(count), details)


def _most_numbers(block: AnchorBlock) -> int:
    """The largest number of paths one edge is on; at most log2(n)."""
    return int(np.bincount(block.exposure.edge, minlength=1).max())


def _paper_scales(problem: Problem, count: int) -> Float:
    levels = max(1.0, math.log2(problem.topology.num_nodes))
    return np.full(count, levels * problem.unit_steps / problem.budget.epsilon)


def unfit(topology: Topology) -> str | None:
    """Only networks without cycles."""
    if is_forest(topology):
        return None
    return f"it is for trees, and {topology.num_edges} edges on {topology.num_nodes} nodes close a cycle"


MECHANISM = Mechanism(
    name="tree",
    summary="centroid recursion on a tree, sums of a few noisy distances (Sealfon 2016)",
    design=design,
    measures=(AnchorBlock,),
    options={"constants": one_of("certified", "paper")},
    directed=False,
    undirected_reason="a tree is passed in both directions",
    unfit=unfit,
    printed=Law.LAPLACE,
    comparison=True,
)
