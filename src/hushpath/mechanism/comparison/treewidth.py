"""Bounded treewidth (Ebrahimi et al. 2023, as the paper of Dinitz et al. cites it): recursion on bags, pure privacy.

A bag of a tree decomposition separates the network; measured are distances inside each cell between the vertices of
its bag and from them to the bags above.  The published error is O~(p^2 / eps) for treewidth p under pure privacy: one
edge moves of the order of p^2 numbers a level, and the levels share the budget evenly.

What is as published: bags of a tree decomposition as separators, Laplace noise, the budget shared evenly over levels.
What we chose, as we know the publication by its statement only: which bags (``separators.treewidth``), shortcuts
to the bags of all levels above (the repair that the paper page explains, without which the error that can be proved
doubles every second level), and leaves measured edge by edge.

``constants="certified"``: a cell gets noise in proportion to its own cut number, so that each level costs an edge the
same and the certificate spends the whole budget.  ``"paper"``: every number gets the same Laplace noise, (depth + 1)
p^2 unit / eps with the measured p, the naive count of pairs; the certificate says what that really costs.
"""

from __future__ import annotations

import numpy as np

from ...arrays import Float
from ...errors import OptionError
from ...measurement.hierarchy import HierarchyBlock
from ...measurement.strategy import Strategy
from ...noise import Law
from ...privacy.sensitivity import hub_cut
from ...separators.build import build_hierarchy
from ..base import Design, Mechanism, Problem, one_of, whole
from ..separator import LEAF_SIZE, MOST_WIDTH, bags_of

MOST_NODES = 100_000  # finding a tree decomposition takes a minute beyond


def design(problem: Problem, *, constants: str = "certified", width: int = MOST_WIDTH) -> Design:
    """Find a tree decomposition of at most this width and measure its bags."""
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
        return Design((block,), lambda law: _paper_scales(problem, block), details, fixed=True)
    return Design((block,), lambda law: even_over_levels(block, law), details)


def even_over_levels(block: HierarchyBlock, law: Law) -> Float:
    """Relative scales under which every group costs an edge in its cell the same."""
    cut = np.maximum(hub_cut(*block.shapes(), directed=False), 1).astype(np.float64)
    all_of_them = np.concatenate([cut, np.ones(len(block.edges))])
    return all_of_them if law is Law.LAPLACE else np.sqrt(all_of_them)


def _paper_scales(problem: Problem, block: HierarchyBlock) -> Float:
    p, q = block.shapes()
    pairs = max(1, int((p * (p - 1) // 2 + p * q).max(initial=1)))
    scale = (block.hierarchy.depth + 1) * pairs * problem.unit_steps / problem.budget.epsilon
    return np.full(len(p) + len(block.edges), float(scale))


def misfit(strategy: Strategy) -> str | None:
    """Whole bags of all levels, and leaves edge by edge."""
    block = strategy.block(HierarchyBlock)
    return None if block.leaf_edges and not block.adjacent and not block.hierarchy.hops else "its cells are not bags"


MECHANISM = Mechanism(
    name="treewidth",
    summary="recursion on the bags of a tree decomposition, pure privacy by default (Ebrahimi et al. 2023)",
    design=design,
    measures=(HierarchyBlock,),
    options={"constants": one_of("certified", "paper"), "width": whole(1, optional=False)},
    directed=False,
    undirected_reason="its bags split distances that are the same in both directions",
    most_nodes=MOST_NODES,
    misfit=misfit,
    pure=True,
    printed=Law.LAPLACE,
    comparison=True,
)
