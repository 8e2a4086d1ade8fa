"""The paper's mechanism for minor-free, planar and grid graphs with bounded weights (Algorithm 4, repaired).

As ``separator``, but between covers: of each separator only every k-th vertex or so is a hub, so fewer numbers are
measured with less noise, and an answer may take a detour of a few times ``k * max_weight``.  The repair: edges inside
a separator stay in both children as public edges of their largest allowed length, so that every separator vertex can
walk to its hub there (paper page).  Public edges carry no private data and never shorten a distance.

``hops`` (k) defaults to the paper's choice: n^(1/4) / sqrt(W eps) on grids, n^(1/3) / (eps W)^(2/3) otherwise, where W
is counted in protected units, at least 1 and at most what the separators can use.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ..measurement.hierarchy import HierarchyBlock
from ..measurement.strategy import Strategy
from ..noise import Law
from ..separators.build import family_of
from ..separators.hierarchy import MOST_HOPS
from . import separator
from .base import Design, Mechanism, Problem, whole


def design(problem: Problem, *, hops: int | None = None, family: str = "auto", **options: Any) -> Design:
    """Decompose with covers and propose what to measure."""
    k = hops or paper_hops(problem, grid=family_of(problem.topology, family)[1] == "grid")
    made = separator.design(problem, family=family, hops=k, **options)
    return replace(made, details={**made.details, "k": k})


def paper_hops(problem: Problem, *, grid: bool) -> int:
    """The k in the proof of Theorem 18, clamped: below 1 there is no cover, above sqrt(n) no gain."""
    n, epsilon = problem.topology.num_nodes, problem.budget.epsilon
    weight = float(np.max(problem.lattice.high, initial=1)) * problem.lattice.granularity / problem.unit
    if problem.budget.unlimited:
        return 1
    spent = max(weight * epsilon, 1e-100)  # a product of tiny numbers must not vanish
    wanted = n**0.25 / spent**0.5 if grid else n ** (1 / 3) / spent ** (2 / 3)
    return max(1, min(round(float(wanted)), math.isqrt(n)))


def misfit(strategy: Strategy) -> str | None:
    """Hubs are covers here."""
    return None if strategy.block(HierarchyBlock).hierarchy.hops else "its hubs are not covers"


MECHANISM = Mechanism(
    name="separator-cover",
    summary="the same between k-hop covers of the separators, for bounded weights (Dinitz et al., Algorithm 4)",
    design=design,
    measures=(HierarchyBlock,),
    options={**separator.OPTIONS, "hops": whole(1, MOST_HOPS)},
    directed=False,
    undirected_reason="its separators split distances that are the same in both directions",
    unpromising=separator.unpromising,
    needs_max_weight=True,
    misfit=misfit,
    lossless=False,
    printed=Law.GAUSSIAN,
)
