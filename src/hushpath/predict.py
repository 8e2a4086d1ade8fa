"""What error to expect from a strategy: one function per decoder, from public facts only.

``table``: the noise of one number.  ``edges``: noise times the square root of the hops of a pair (counted on the
topology), which is right while the noise is small against the weights; where it is not, the true error is larger and
no public fact tells by how much.  ``hierarchy``: the shortcuts of both ways to the root, and the bias of the minima on
the way.  The factor between standard deviation and mean absolute error is that of a Gaussian, sqrt(2/pi).
"""

from __future__ import annotations

import math

import numpy as np

from .arrays import Float
from .kernels.paths import UNREACHED, distances_from
from .noise import std
from .strategy.core import Strategy
from .strategy.hierarchy import HierarchyBlock
from .topology import Topology

MEAN_OF_STD = math.sqrt(2 / math.pi)
SAMPLED_NUMBERS = 2**22


def predicted_error(strategy: Strategy) -> tuple[float, float]:
    """Return predicted mean and 95th percentile of the absolute error over pairs of connected nodes."""
    spread, bias = _spread_and_bias(strategy)
    if len(spread) == 0:
        return 0.0, 0.0
    # A random pair's error is a mixture of normals; its mean absolute value and 95 % point by their usual factors.
    spread, bias = spread * strategy.lattice.granularity, bias * strategy.lattice.granularity
    mean = np.hypot(MEAN_OF_STD * spread, bias).mean()
    return float(mean), float(np.sqrt(np.mean((1.96 * spread) ** 2 + bias**2)))


def _spread_and_bias(strategy: Strategy) -> tuple[Float, Float]:
    """Standard deviation and bias of the answers to a public sample of pairs, in lattice steps."""
    if len(strategy.scales) == 0:
        return np.empty(0), np.empty(0)
    scales, which = np.unique(strategy.scales, return_inverse=True)
    noise = np.array([std(strategy.law, int(scale)) for scale in scales])[which]
    if strategy.decoder == "edges":
        spread = np.sqrt(sampled_hops(strategy.topology)) * float(noise.max())
        return spread, np.zeros(len(spread))
    if strategy.decoder == "hierarchy":
        return _hierarchy_spread_and_bias(strategy, noise)
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
    tree = block.tree
    variance, bias = np.zeros(tree.num_cells), np.zeros(tree.num_cells)
    variance[:] = (
        np.where(tree.hubs.sizes() + (not block.leaf_edges) * tree.is_leaf > 0, noise[: tree.num_cells], 0) ** 2
    )
    bias[:] = np.sqrt(variance * 2 * np.log(np.maximum(tree.hubs.sizes(), 1)))
    if len(block.leaf_edge_ids):
        leaf = tree.home[block.leaf_edge_ids]
        np.maximum.at(variance, leaf, noise[tree.num_cells :] ** 2 * np.sqrt(tree.vertices.sizes()[leaf]))
    for cell in range(1, tree.num_cells):
        variance[cell] += variance[tree.parent[cell]]
        bias[cell] += bias[tree.parent[cell]]
    n = strategy.topology.num_nodes
    home = tree.vertex_home[np.unique(np.linspace(0, n - 1, min(n, 4096)).astype(np.int64))]
    other = np.roll(home, len(home) // 2)
    return np.sqrt(variance[home] + variance[other]), bias[home] + bias[other]


def sampled_hops(topology: Topology) -> Float:
    """Hop counts from evenly spaced nodes to all nodes they reach: a public sample of pairs."""
    n = topology.num_nodes
    sources = np.unique(np.linspace(0, n - 1, max(1, min(n, 256, SAMPLED_NUMBERS // n))).astype(np.int64))
    hops = np.empty((len(sources), n), np.int64)
    distances_from(topology.arcs, np.ones(len(topology.arcs.heads), np.int64), sources, hops)
    return np.asarray(hops[(hops > 0) & (hops != UNREACHED)], np.float64)
