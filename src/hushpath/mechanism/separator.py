"""The paper's mechanism for recursively separable graphs (Dinitz, Fan, Liu, Upadhyay, Zou; Algorithms 1 to 3).

A hierarchy of cells, each split by a small separator; measured are distances inside each cell between separator
vertices and from them to the separators of cells above.  An answer climbs from one end to a common cell and descends to
the other, one shortcut a level.  Bound: the paper page and ``decoder.hierarchy``.

``constants="certified"`` (ours) shares the noise between cells so that the predicted error is smallest and lets the
certificate find the smallest safe scales.  ``constants="paper"`` takes the sigma printed in Algorithm 1, and the
certificate says what that really costs.  ``levels="all"`` measures every ancestor's separator still present;
``"adjacent"`` only the parent's, as printed (see the paper page for why the printed recursion proves less).

Options (all public):
    family      how separators are found: auto, tree, treewidth, grid, planar, general
    constants   certified or paper
    levels      all or adjacent
    leaves      edges: noisy edge weights inside leaves; all-pairs: the paper's; auto: edges
    depth       at most this many levels of cuts; 0 is input perturbation
    leaf_size   cells of at most this many vertices are not cut
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..arrays import Float
from ..errors import OptionError
from ..measurement.hierarchy import HierarchyBlock
from ..measurement.strategy import Strategy
from ..network.topology import Topology
from ..noise import Law
from ..privacy.sensitivity import hub_cut
from ..separators.build import separator_hierarchy
from ..separators.graph import Graph
from ..separators.hierarchy import Hierarchy
from ..separators.treewidth import TreewidthSplitter
from .base import Design, Mechanism, Problem, one_of, whole

OPTIONS = {
    "family": lambda name: None if isinstance(name, str) else "must be the name of a separator family",
    "constants": one_of("certified", "paper"),
    "levels": one_of("all", "adjacent"),
    "leaves": one_of("auto", "edges", "all-pairs"),
    "depth": whole(0),
    "leaf_size": whole(1),
}
LITERAL_NODES = 3000  # the printed recursion is read by matrices over whole cells
LEAF_SIZE = {True: 8, False: 4}  # with leaf edges / with all pairs
AUTO_NODES = 30_000  # cutting larger networks up takes too long for a try
# With separators above this width even the first cut measures so many numbers that a network of this size, whose paths
# cannot be long beside it, is answered far better by its edges: cutting it up would be for nothing.
MANY_NODES, MOST_WIDTH = 10_000, 16


def design(
    problem: Problem, *, family: str = "auto", constants: str = "certified", levels: str = "all", leaves: str = "auto",
    depth: int | None = None, leaf_size: int | None = None, hops: int = 0,
) -> Design:  # fmt: skip
    """Decompose and propose what to measure; ``hops`` is for ``separator-cover``."""
    leaf_edges, topology = leaves != "all-pairs", problem.topology
    if levels == "adjacent" and topology.num_nodes > LITERAL_NODES:
        raise OptionError(f"levels='adjacent' is read literally, for up to {LITERAL_NODES} nodes; use levels='all'")
    hierarchy, why = separator_hierarchy(
        topology, family, leaf_size=leaf_size or LEAF_SIZE[leaf_edges], depth=depth, hops=hops
    )  # fmt: skip
    block = HierarchyBlock(topology, hierarchy, leaf_edges=leaf_edges, adjacent=levels == "adjacent")
    details = {**hierarchy.facts(), "why": why, "constants": constants, "levels": levels}
    if constants == "paper":
        sigma, leaf_sigma = paper_sigma(problem, hierarchy)
        details |= {"paper_sigma": sigma, "paper_leaf_sigma": leaf_sigma}
        return Design((block,), lambda law: _paper_scales(problem, block, sigma, leaf_sigma), details, fixed=True)
    return Design((block,), lambda law: shared_noise(block, law), details)


def shared_noise(block: HierarchyBlock, law: Law) -> Float:
    """Relative scales that minimise the variance of an answer under the certificate.

    An answer adds up about ``uses`` numbers of a cell; minimise sum(uses s^2) subject to the cost of one edge:
    sum(cut / s^2) (Gaussian) gives s^2 ~ sqrt(cut / uses); sum(cut / s) (Laplace) gives s^3 ~ cut / uses.
    """
    p, q = block.shapes()
    cut = hub_cut(p, q, directed=False).astype(np.float64)
    edges = len(block.edges)
    uses = np.full(len(cut), 2.0)
    leaf_hops = np.sqrt(block.hierarchy.vertices.sizes()[block.hierarchy.home[block.edges]])
    ratio = np.concatenate([np.maximum(cut, 1.0) / uses, np.ones(edges) / (2 * leaf_hops)])
    return ratio**0.25 if law is Law.GAUSSIAN else ratio ** (1 / 3)


def paper_sigma(problem: Problem, hierarchy: Hierarchy) -> tuple[float, float]:
    """The sigma of Algorithm 1, steps 2, 3 and 5, in units of weight, with the measured h, p and c; 0 without noise.

    The square of epsilon' that the printed Gaussian lemma lacks is put back (paper page).
    """
    epsilon, delta = problem.budget.epsilon, problem.budget.delta
    if problem.budget.unlimited:
        return 0.0, 0.0
    facts = hierarchy.facts()
    h, p, c = max(1, hierarchy.depth), max(1, int(facts["hubs"])), max(1, int(facts["largest_leaf"]))
    delta_prime = delta / (4 * h)
    advanced = math.sqrt(4 * h * math.log(1 / delta_prime))  # epsilon / epsilon'
    factor = math.sqrt(2 * math.log(1.25 / delta_prime)) * advanced * problem.unit / epsilon
    return p * factor, c * factor


def _paper_scales(problem: Problem, block: HierarchyBlock, sigma: float, leaf_sigma: float) -> Float:
    steps = np.where(block.hierarchy.is_leaf, leaf_sigma, sigma) / problem.lattice.granularity
    return np.concatenate([steps, np.full(len(block.edges), leaf_sigma / problem.lattice.granularity)])


@lru_cache(maxsize=4)  # a plan asks several times for the same network
def bags_of(topology: Topology, width: int) -> TreewidthSplitter | None:
    """A tree decomposition of at most this width, ready to cut; ``None`` if none was found."""
    try:
        return TreewidthSplitter(Graph.of(topology), width)
    except OptionError:
        return None


def unpromising(topology: Topology) -> str | None:
    """Large networks, unless few vertices separate them."""
    if topology.num_nodes > AUTO_NODES:
        return f"beyond {AUTO_NODES} nodes"
    if topology.num_nodes > MANY_NODES and not topology.directed and bags_of(topology, MOST_WIDTH) is None:
        return f"beyond {MANY_NODES} nodes where no tree decomposition of width {MOST_WIDTH} or less was found"
    return None


def misfit(strategy: Strategy) -> str | None:
    """Hubs are whole separators here."""
    return "its hubs are covers" if strategy.block(HierarchyBlock).hierarchy.hops else None


MECHANISM = Mechanism(
    name="separator",
    summary="recursive separators with noisy shortcuts (Dinitz et al., Algorithms 1-3)",
    design=design,
    measures=(HierarchyBlock,),
    options=OPTIONS,
    directed=False,
    undirected_reason="its separators split distances that are the same in both directions",
    unpromising=unpromising,
    misfit=misfit,
    printed=Law.GAUSSIAN,
)
