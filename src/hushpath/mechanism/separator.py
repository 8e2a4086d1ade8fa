"""The paper's mechanisms for recursively separable graphs (Dinitz, Fan, Liu, Upadhyay, Zou; Algorithms 1 to 4).

A hierarchy of cells, each split by a small separator; measured are distances inside each cell between separator
vertices and from them to the separators of cells above.  An answer climbs from one end to a common cell and descends to
the other, one shortcut a level.  Bound: the paper page and ``decoder.hierarchy``.

``constants="certified"`` (ours) shares the noise between cells so that the predicted error is smallest and lets the
certificate find the smallest safe scales.  ``constants="paper"`` takes the sigma printed in Algorithm 1, and the
certificate says what that really costs.  ``levels="all"`` measures every ancestor's separator still present;
``"adjacent"`` only the parent's, as printed (see the paper page for why the printed recursion proves less).

``separator-cover`` is for minor-free, planar and grid graphs with bounded weights (Algorithm 4, repaired).  It measures
between covers: of each separator only every k-th vertex or so is a hub, so fewer numbers are measured with less noise,
and an answer may take a detour of a few times ``k * max_weight``.  The repair: edges inside a separator stay in both
children as public edges of their largest allowed length, so that every separator vertex can walk to its hub there
(paper page).  Public edges carry no private data and never shorten a distance.

Options (all public):
    family      how separators are found: auto, tree, treewidth, grid, planar, general
    constants   certified or paper
    levels      all or adjacent
    leaves      edges: noisy edge weights inside leaves; all-pairs: the paper's; auto: edges
    depth       at most this many levels of cuts; 0 is input perturbation
    leaf_size   cells of at most this many vertices are not cut
    hops        (separator-cover) k; default: the paper's choice, n^(1/4) / sqrt(W eps) on grids and n^(1/3) /
                (eps W)^(2/3) elsewhere, with W in protected units, at least 1 and at most what separators can use
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from .._validate import shorten
from ..arrays import Float
from ..errors import OptionError
from ..measurement.hierarchy import HierarchyBlock
from ..network.topology import Topology
from ..noise import Law
from ..separators.build import family_of, separator_hierarchy
from ..separators.graph import Graph
from ..separators.hierarchy import MOST_HOPS, Hierarchy
from ..separators.treewidth import TreewidthSplitter
from .base import Design, Mechanism, Problem, integer, one_of


def _check_family(value: Any, name: str) -> None:
    """Check the type; which names exist is known to ``separators``."""
    if not isinstance(value, str):
        raise OptionError(f"`{name}` must be the name of a separator family, got {shorten(value)}")


OPTIONS = {
    "family": _check_family,
    "constants": one_of("certified", "paper"),
    "levels": one_of("all", "adjacent"),
    "leaves": one_of("auto", "edges", "all-pairs"),
    "depth": integer(0),
    "leaf_size": integer(1),
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
    """Decompose and propose what to measure for ``problem``.

    Options as above: ``family``, ``constants``, ``levels``, ``leaves``, ``depth``, ``leaf_size``, ``hops``.
    """
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
        is_leaf = np.append(hierarchy.is_leaf, np.ones(len(block.edges), np.bool_))
        scales = np.where(is_leaf, leaf_sigma, sigma) / problem.lattice.granularity
        return Design((block,), scales, details, fixed=True)
    return Design((block,), _optimal_scales(block, problem.law), details)


def design_cover(problem: Problem, *, hops: int | None = None, family: str = "auto", **options: Any) -> Design:
    """Decompose with covers of ``hops`` and propose what to measure; ``family`` and ``options`` as in `design`."""
    k = hops or paper_hops(problem, grid=family_of(problem.topology, family)[1] == "grid")
    made = design(problem, family=family, hops=k, **options)
    return replace(made, details={**made.details, "k": k})


def paper_hops(problem: Problem, *, grid: bool) -> int:
    """Return the k in the proof of Theorem 18, clamped: below 1 there is no cover, above sqrt(n) no gain."""
    n, epsilon = problem.topology.num_nodes, problem.budget.epsilon
    weight = float(np.max(problem.lattice.high, initial=1)) * problem.lattice.granularity / problem.unit
    if problem.budget.unlimited:
        return 1
    spent = max(weight * epsilon, 1e-100)  # a product of tiny numbers must not vanish
    wanted = n**0.25 / spent**0.5 if grid else n ** (1 / 3) / spent ** (2 / 3)
    return max(1, min(round(float(wanted)), math.isqrt(n)))


def _optimal_scales(block: HierarchyBlock, law: Law) -> Float:
    """Return relative scales that minimise the variance of an answer under the certificate.

    An answer adds up about ``uses`` numbers of a cell; minimise sum(uses s^2) subject to the cost of one edge:
    sum(cut / s^2) (Gaussian) gives s^2 ~ sqrt(cut / uses); sum(cut / s) (Laplace) gives s^3 ~ cut / uses.
    """
    cut = block.exposure.cut[: block.hierarchy.num_cells].astype(np.float64)
    leaf_hops = np.sqrt(block.hierarchy.vertices.sizes()[block.hierarchy.home[block.edges]])
    ratio = np.concatenate([np.maximum(cut, 1.0) / 2, 1 / (2 * leaf_hops)])
    return ratio**0.25 if law is Law.GAUSSIAN else ratio ** (1 / 3)


def paper_sigma(problem: Problem, hierarchy: Hierarchy) -> tuple[float, float]:
    """Return the sigma of Algorithm 1, steps 2, 3 and 5, in weight units, with the measured h, p and c (0 if no noise).

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


@lru_cache(maxsize=4)  # a plan asks several times for the same network
def bags_of(topology: Topology, width: int) -> TreewidthSplitter | None:
    """Return a tree decomposition of at most this width, ready to cut; ``None`` if none was found."""
    try:
        return TreewidthSplitter(Graph.of(topology), width)
    except OptionError:
        return None


def unpromising(topology: Topology) -> str | None:
    """Leave out large networks, unless few vertices separate them."""
    if topology.num_nodes > AUTO_NODES:
        return f"beyond {AUTO_NODES} nodes"
    if topology.num_nodes > MANY_NODES and not topology.directed and bags_of(topology, MOST_WIDTH) is None:
        return f"beyond {MANY_NODES} nodes where no tree decomposition of width {MOST_WIDTH} or less was found"
    return None


SEPARATOR = Mechanism(
    name="separator",
    summary="recursive separators with noisy shortcuts (Dinitz et al., Algorithms 1-3)",
    design=design,
    measures=(HierarchyBlock,),
    options=OPTIONS,
    undirected_only="its separators split distances that are the same in both directions",
    unpromising=unpromising,
    misfit=lambda strategy: "its hubs are covers" if strategy.block(HierarchyBlock).hierarchy.hops else None,
    printed=Law.GAUSSIAN,
)
SEPARATOR_COVER = replace(
    SEPARATOR,
    name="separator-cover",
    summary="the same between k-hop covers of the separators, for bounded weights (Dinitz et al., Algorithm 4)",
    design=design_cover,
    options={**OPTIONS, "hops": integer(1, MOST_HOPS - 1)},
    needs_max_weight=True,
    misfit=lambda strategy: None if strategy.block(HierarchyBlock).hierarchy.hops else "its hubs are not covers",
    lossless=False,
)
