"""What error to expect from a strategy: one function per decoder, from public facts only.

``table``: the noise of one number.  ``edges``: noise times the square root of the hops of a pair (counted on the
topology), which is right while the noise is small against the weights; where it is not, the true error is larger and
no public fact tells by how much.  ``hierarchy``: the shortcuts of both ways to the root, and the bias of the minima on
the way.  The factor between standard deviation and mean absolute error is that of a Gaussian, sqrt(2/pi).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..arrays import Float
from ..blocks.anchors import AnchorBlock, Forest
from ..blocks.core import CliqueBlock, ClusterBlock
from ..blocks.hierarchy import HierarchyBlock
from ..data.topology import Topology
from ..noise import std
from ..strategy.core import Strategy
from ..strategy.cover import move_errors
from ..strategy.hubs import pair_errors
from ..strategy.samples import few_hops, sampled_hops

MEAN_OF_STD = math.sqrt(2 / math.pi)
Hops = Callable[[Topology], Float]


def predicted_error(strategy: Strategy) -> tuple[float, float]:
    """Return predicted mean and 95th percentile of the absolute error over pairs of connected nodes."""
    spread, bias = _spread_and_bias(strategy, sampled_hops)
    if len(spread) == 0:
        return 0.0, 0.0
    # A random pair's error is a mixture of normals; its mean absolute value and 95 % point by their usual factors.
    spread, bias = spread * strategy.lattice.granularity, bias * strategy.lattice.granularity
    mean = np.hypot(MEAN_OF_STD * spread, bias).mean()
    return float(mean), float(np.sqrt(np.mean((1.96 * spread) ** 2 + bias**2)))


def expected_error(strategy: Strategy) -> float:
    """How far a typical answer is off, from few pairs: quick enough for every load of a file.

    Without the bias of minima, which a plan counts in full though little of it shows; but with the moves of a cover.
    """
    spread, bias = _spread_and_bias(strategy, few_hops)
    error = np.hypot(MEAN_OF_STD * spread, bias if strategy.decoder == "cover" else 0.0)
    return float(error.mean()) * strategy.lattice.granularity if len(error) else 0.0


def number_noise(strategy: Strategy) -> Float:
    """The standard deviation of a number of each group, in lattice steps."""
    scales, which = np.unique(strategy.scales, return_inverse=True)
    return np.array([std(strategy.law, int(scale)) for scale in scales])[which]


def _spread_and_bias(strategy: Strategy, hops_of: Hops) -> tuple[Float, Float]:
    """Standard deviation and bias of the answers to a public sample of pairs, in lattice steps."""
    if len(strategy.scales) == 0:
        return np.empty(0), np.empty(0)
    noise = number_noise(strategy)
    if strategy.decoder == "edges":
        spread = np.sqrt(hops_of(strategy.topology)) * float(noise.max())
        return spread, np.zeros(len(spread))
    if strategy.decoder in ("hubs", "hubs-bounded"):
        return _hub_spread_and_bias(strategy, noise, hops_of(strategy.topology))
    if strategy.decoder in OTHERS:
        return OTHERS[strategy.decoder](strategy, noise)
    sizes = strategy.group_sizes
    spread = np.repeat(noise, np.minimum(sizes, 1000)) if sizes.sum() else np.empty(0)
    return spread, np.zeros(len(spread))


def _hierarchy_spread_and_bias(strategy: Strategy, noise: Float) -> tuple[Float, Float]:
    """Climb to the root and down again: variances add up, and each minimum over p noisy ways comes out low.

    The minimum of p normals lies about sqrt(2 ln p) standard deviations below their mean; it is counted in full,
    as if all ways were equally long, so the prediction errs on the cautious side.
    """
    (block,) = strategy.blocks
    assert isinstance(block, HierarchyBlock)
    hierarchy = block.hierarchy
    variance, bias = np.zeros(hierarchy.num_cells), np.zeros(hierarchy.num_cells)
    measured = hierarchy.hubs.sizes() + (not block.leaf_edges) * hierarchy.is_leaf > 0
    variance[:] = np.where(measured, noise[: hierarchy.num_cells], 0) ** 2
    bias[:] = np.sqrt(variance * 2 * np.log(np.maximum(hierarchy.hubs.sizes(), 1)))
    if len(block.leaf_edge_ids):
        leaf = hierarchy.home[block.leaf_edge_ids]
        np.maximum.at(variance, leaf, noise[hierarchy.num_cells :] ** 2 * np.sqrt(hierarchy.vertices.sizes()[leaf]))
    for cell in range(1, hierarchy.num_cells):
        variance[cell] += variance[hierarchy.parent[cell]]
        bias[cell] += bias[hierarchy.parent[cell]]
    n = strategy.topology.num_nodes
    home = hierarchy.vertex_home[np.unique(np.linspace(0, n - 1, min(n, 4096)).astype(np.int64))]
    other = np.roll(home, len(home) // 2)
    detour = hierarchy.hops * float(strategy.lattice.high.max(initial=0))  # covers: typically about k W in all
    return np.sqrt(variance[home] + variance[other]), bias[home] + bias[other] + detour


def _cover_spread_and_bias(strategy: Strategy, noise: Float) -> tuple[Float, Float]:
    """One number, and two moves of known hops."""
    (block,) = strategy.blocks
    assert isinstance(block, CliqueBlock)
    moves = move_errors(strategy.topology, block.vertices, float(strategy.lattice.high.max(initial=0)))
    return np.full(len(moves), float(noise.max(initial=0.0))), moves


def _anchor_spread_and_bias(strategy: Strategy, noise: Float) -> tuple[Float, Float]:
    """The exact variance of each sampled pair; answers are linear, so there is no bias."""
    (block,) = strategy.blocks
    assert isinstance(block, AnchorBlock)
    n = strategy.topology.num_nodes
    sources = np.unique(np.linspace(0, n - 1, min(n, 4096)).astype(np.int64))
    parts = [
        block.variances(noise, Forest.of(strategy.topology), sources, np.roll(sources, shift))
        for shift in {1 + len(sources) // 7, 1 + len(sources) // 3, len(sources) // 2}
    ]  # fmt: skip
    variance = np.concatenate(parts)
    spread = np.sqrt(variance[variance > 0])
    return spread, np.zeros(len(spread))


def _hub_spread_and_bias(strategy: Strategy, noise: Float, hops: Float) -> tuple[Float, Float]:
    """As the mechanism tunes itself (``strategy.hubs.pair_errors``); local numbers add a bias for each piece."""
    topology, clique = strategy.topology, strategy.blocks[1]
    assert isinstance(clique, CliqueBlock)
    sizes = np.cumsum([len(block.group_sizes(topology)) for block in strategy.blocks])
    edge, hub, *local = (float(part.max(initial=0.0)) for part in np.split(noise, sizes[:-1]))
    spread, bias = pair_errors(hops, edge, hub, len(clique.vertices), topology.num_nodes)
    if local and isinstance(block := strategy.blocks[2], ClusterBlock) and len(block.vertices):
        bias = bias + local[0] * hops / max(1, int(strategy.details.get("radius", 1)))
    return spread, bias


OTHERS = {
    "hierarchy": _hierarchy_spread_and_bias,
    "cover": _cover_spread_and_bias,
    "anchors": _anchor_spread_and_bias,
}
