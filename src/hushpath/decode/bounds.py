"""Error bounds with explicit constants, for the very strategy at hand.

With probability at least ``1 - gamma`` every one of the N noises stays within its own limit (union bound), and then
every answer at once is within the bound.  Public: read from the strategy, before or after the release.

| theorem of the paper | function |
|---|---|
| Theorem 16 (recursively separable graphs, approximate DP) | ``hierarchy_bound``, law gaussian |
| Theorem 17 (the same, pure DP) | ``hierarchy_bound``, law laplace |
| Theorem 18 (grids and minor-free graphs, covers) | ``hierarchy_bound`` with a detour |
| Sealfon 2016, input perturbation | ``edge_bound`` (per hop) |
| Sealfon 2016, covers | ``cover_bound`` |
| Sealfon 2016, trees | ``anchor_bound`` |
| Fan, Li, Li 2022 and Chen et al. 2023, hubs | ``hub_bound`` |
| Chen et al. 2023, bounded weights | ``bounded_hub_bound`` |
| all pairs | ``table_bound`` |

``error_bound`` chooses by decoder.  Proofs: docs/proofs/separator.md and docs/proofs/rivals.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..arrays import Float
from ..blocks.anchors import AnchorBlock, Forest
from ..blocks.core import CliqueBlock, ClusterBlock
from ..blocks.hierarchy import HierarchyBlock
from ..errors import OptionError
from ..kernels.hops import nearest_chosen
from ..noise import Law
from ..strategy.core import Strategy
from ..strategy.hubs import MISS, hop_limit
from ..strategy.hubs_bounded import walk_limits


@dataclass(frozen=True)
class Bound:
    """But for gamma no answer errs by more than ``noise + below`` downwards, nor ``noise + detour`` upwards."""

    noise: float
    detour: float = 0.0
    below: float = 0.0

    @property
    def total(self) -> float:
        """The bound on the absolute error."""
        return self.noise + max(self.detour, self.below)


def error_bound(strategy: Strategy, gamma: float) -> Bound:
    """The bound that is proved for the strategy's decoder, for all pairs at once."""
    if strategy.decoder == "edges":
        return edge_bound(strategy, gamma, hops=max(1, strategy.topology.num_nodes - 1))
    proved = {
        "table": table_bound,
        "cover": cover_bound,
        "anchors": anchor_bound,
        "hubs": hub_bound,
        "hubs-bounded": bounded_hub_bound,
        "hierarchy": hierarchy_bound,
    }
    return proved[strategy.decoder](strategy, gamma)


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
    b plus noise(b).  Covered flavour: 4 k W per level at most (docs/proofs/separator.md, section 6).
    """
    (block,) = strategy.blocks
    assert isinstance(block, HierarchyBlock)
    hierarchy, limits = block.hierarchy, noise_limits(strategy, gamma)
    cells = hierarchy.num_cells
    climb = np.zeros(cells)
    answer = 0.0
    edge_limit = np.zeros(cells)
    np.maximum.at(edge_limit, hierarchy.home[block.leaf_edge_ids], limits[cells:])
    sizes = hierarchy.vertices.sizes()
    for cell in range(cells - 1, -1, -1):
        if hierarchy.is_leaf[cell]:
            climb[cell] = edge_limit[cell] * (sizes[cell] - 1) if block.leaf_edges else limits[cell]
            answer = max(answer, float(climb[cell]))
            continue
        left, right = hierarchy.children[cell]
        here = limits[cell] if len(hierarchy.hubs[cell]) else 0.0
        below = max(climb[left], climb[right])
        answer = max(answer, float(2 * below + here))
        climb[cell] = below + here
    rounding = strategy.lattice.granularity * strategy.topology.num_nodes
    detour = 0.0
    if hierarchy.hops:
        detour = 4 * hierarchy.hops * strategy.lattice.largest_weight * max(1, hierarchy.depth)
    if block.adjacent:  # what the printed recursion proves (docs/PAPER.md)
        doubled = 2.0 ** min(hierarchy.depth // 2, 1000)
        answer, detour = answer * doubled, detour * doubled
    return Bound(answer + rounding, detour)


def edge_bound(strategy: Strategy, gamma: float, hops: int) -> Bound:
    """Input perturbation: a pair whose shortest ways (true and noisy) have at most this many edges."""
    limits = noise_limits(strategy, gamma)
    return Bound(float(limits.max(initial=0.0)) * hops + strategy.lattice.granularity * hops)


def table_bound(strategy: Strategy, gamma: float) -> Bound:
    """All pairs: one number per answer."""
    rounding = strategy.lattice.granularity * strategy.topology.num_nodes
    return Bound(float(noise_limits(strategy, gamma).max(initial=0.0)) + rounding)


def cover_bound(strategy: Strategy, gamma: float) -> Bound:
    """Covers: one number, and at most the largest weight for each hop of the two moves, in both directions."""
    (block,) = strategy.blocks
    assert isinstance(block, CliqueBlock)
    arcs = strategy.topology.arcs
    hops = int(nearest_chosen(arcs.start, arcs.heads, block.vertices)[1].max(initial=0))
    moves = 2 * hops * strategy.lattice.largest_weight
    return Bound(table_bound(strategy, gamma).noise, moves, moves)


def anchor_bound(strategy: Strategy, gamma: float) -> Bound:
    """Trees: a root distance adds up the numbers along its anchors, an answer at most four such sums."""
    (block,) = strategy.blocks
    assert isinstance(block, AnchorBlock)
    limits = np.zeros(strategy.topology.num_nodes)
    limits[block.nodes] = noise_limits(strategy, gamma)
    along = np.zeros_like(limits)
    for v in Forest.of(strategy.topology).order.tolist():
        along[v] = (along[block.anchor[v]] if block.anchor[v] >= 0 else 0.0) + limits[v]
    return Bound(4 * float(along.max()) + strategy.lattice.granularity * strategy.topology.num_nodes)


def _hub_limits(strategy: Strategy, gamma: float) -> list[float]:
    """The largest limit of each block."""
    limits = noise_limits(strategy, gamma)
    sizes = [len(block.group_sizes(strategy.topology)) for block in strategy.blocks]
    return [float(part.max(initial=0.0)) for part in np.split(limits, np.cumsum(sizes)[:-1])]


def hub_bound(strategy: Strategy, gamma: float) -> Bound:
    """Hubs: two walks of at most k edges and one number.  ``MISS`` of gamma is for the public draw of hubs."""
    clique, n = strategy.blocks[1], strategy.topology.num_nodes
    assert isinstance(clique, CliqueBlock)
    edge, hub = _hub_limits(strategy, max(gamma - MISS, gamma / 2))
    hops = hop_limit(n, len(clique.vertices))
    return Bound(2 * hops * edge + hub + strategy.lattice.granularity * n)


def bounded_hub_bound(strategy: Strategy, gamma: float) -> Bound:
    """Hubs with bounded weights: nobody is more than r hops from a hub, so 4 r W is lost at most, for every hub set."""
    clique, block, n = strategy.blocks[1], strategy.blocks[2], strategy.topology.num_nodes
    assert isinstance(clique, CliqueBlock)
    assert isinstance(block, ClusterBlock)
    edge, hub, local = _hub_limits(strategy, gamma)
    crossings, stay, far = walk_limits(strategy.topology, clique.vertices, block)
    edges = min(crossings + (crossings + 1) * 2 * stay, n)
    below = 2 * edges * edge + 2 * min(crossings + 1, n) * local
    return Bound(hub + strategy.lattice.granularity * n, 4 * far * strategy.lattice.largest_weight, below)
