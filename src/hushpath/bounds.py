"""Error bounds with explicit constants, for the very strategy at hand.

With probability at least ``1 - gamma`` every one of the N noises stays within its own limit (union bound), and then
every answer at once is within the bound.  Public: read from the strategy, before or after the release.

| theorem of the paper | function |
|---|---|
| Theorem 16 (recursively separable graphs, approximate DP) | ``hierarchy_bound``, law gaussian |
| Theorem 17 (the same, pure DP) | ``hierarchy_bound``, law laplace |
| Theorem 18 (grids and minor-free graphs, covers) | ``hierarchy_bound`` with a detour |
| Sealfon 2016, input perturbation | ``edge_bound`` (per hop) |
| all pairs | ``table_bound`` |
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .arrays import Float
from .errors import OptionError
from .noise import Law
from .strategy.core import Strategy
from .strategy.hierarchy import HierarchyBlock


@dataclass(frozen=True)
class Bound:
    """No answer errs by more than ``noise`` downwards, nor by more than ``noise + detour`` upwards, but for gamma."""

    noise: float
    detour: float = 0.0

    @property
    def total(self) -> float:
        """The bound on the absolute error."""
        return self.noise + self.detour


def noise_limits(strategy: Strategy, gamma: float) -> Float:
    """One limit per group, in units of weight: with probability 1 - gamma no number exceeds its group's limit.

    Laplace: P(|X| >= z) <= 2 e^(-z/b) / (1 + e^(-1/b)) <= 2 e^(-z/b); Gaussian: <= 2 e^(-z^2 / (2 s^2)) (discrete
    Gaussians are subgaussian with their own scale: Canonne, Kamath and Steinke 2020).
    """
    if not 0 < gamma < 1:
        raise OptionError(f"gamma must be between 0 and 1, got {gamma}")
    tail = math.log(2 * max(strategy.num_values, 1) / gamma)
    factor = tail if strategy.law is Law.LAPLACE else math.sqrt(2 * tail)
    return np.asarray(strategy.scales * (factor * strategy.lattice.granularity), np.float64)


def hierarchy_bound(strategy: Strategy, gamma: float) -> Bound:
    """The bound for a tree of cells: one shortcut a level up, one where the ends meet, one a level down.

    err(leaf) = its noise (times the edges of a way through it, if edges were measured); a climb to cell b costs
    up(b) = max over children up(child) + noise(b); an answer costs at most max over b of the two largest climbs below
    b plus noise(b).  Covered flavour: each of the at most 2 depth + 1 joints may walk k hops there and k back.
    """
    (block,) = strategy.blocks
    assert isinstance(block, HierarchyBlock)
    tree, limits = block.tree, noise_limits(strategy, gamma)
    cells = tree.num_cells
    climb = np.zeros(cells)
    answer = 0.0
    edge_limit = np.zeros(cells)
    np.maximum.at(edge_limit, tree.home[block.leaf_edge_ids], limits[cells:])
    sizes = tree.vertices.sizes()
    for cell in range(cells - 1, -1, -1):
        if tree.is_leaf[cell]:
            climb[cell] = edge_limit[cell] * (sizes[cell] - 1) if block.leaf_edges else limits[cell]
            answer = max(answer, float(climb[cell]))
            continue
        left, right = tree.children[cell]
        here = limits[cell] if len(tree.hubs[cell]) else 0.0
        below = max(climb[left], climb[right])
        answer = max(answer, float(2 * below + here))
        climb[cell] = below + here
    rounding = strategy.lattice.granularity * strategy.topology.num_nodes
    detour = 0.0
    if tree.hops:
        detour = 4 * tree.hops * strategy.lattice.largest_weight * max(1, tree.depth)
    if block.adjacent:
        answer *= 2.0 ** (tree.depth // 2)  # what the printed recursion proves (docs/PAPER.md)
    return Bound(answer + rounding, detour)


def edge_bound(strategy: Strategy, gamma: float, hops: int) -> Bound:
    """Input perturbation: a pair whose shortest ways (true and noisy) have at most this many edges."""
    limits = noise_limits(strategy, gamma)
    return Bound(float(limits.max(initial=0.0)) * hops + strategy.lattice.granularity * hops)


def table_bound(strategy: Strategy, gamma: float) -> Bound:
    """All pairs: one number per answer."""
    rounding = strategy.lattice.granularity * strategy.topology.num_nodes
    return Bound(float(noise_limits(strategy, gamma).max(initial=0.0)) + rounding)
