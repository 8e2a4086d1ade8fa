"""Weights within their bounds whose sums along lines of bridges stay as measured.

A distance in a tree is a sum of weights, so noise averages out, unless each weight is clipped by itself: then every
edge comes out too long by the mean of what was cut off, and the errors add up.  Here the bounds are kept by the curve
of sums along a line instead: of all curves that the bounds allow the nearest (``kernels.bounded``).  Where noise is
small against the weights nothing happens at all.

So are chains kept that were measured with sums (mechanism ``lines``).  On a cycle the shortest of several
paths counts, and what clipping adds is about what taking a minimum loses: all other edges are clipped.

A weight may be moved away from the true one, so this is not ``proved`` for decoders that use a few edges of a line. For
whole shortest paths in a network a bound holds that is twice the one of ``clip`` (docs/proofs/lines.md).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bool, Float, Int, sealed
from ..blocks import EdgeBlock, LineBlock
from ..blocks.anchors import is_forest
from ..decompose.lines import Lines, bridges, lines_of
from ..kernels.bounded import nearest_sums
from ..strategy.core import Strategy
from .core import Estimator, LeastSquaresEdges, NoisyEdges


def within_bounds(lines: Lines, wanted: Float, low: Int, high: Int) -> Int:
    """One weight per edge, whole steps within its bounds: along lines with sums near the wanted, elsewhere clipped.

    ``wanted``, ``low`` and ``high`` are per edge of the network; ``lines`` may hold some of the edges only.
    """
    out = np.clip(np.floor(np.clip(wanted, low, high) + 0.5).astype(np.int64), low, high)
    nearest_sums(sealed(lines.start), sealed(lines.order), np.asarray(wanted, np.float64), low, high, out)
    return out


def kept_lines(noisy: NoisyEdges) -> Lines:
    """Lines of bridges, and lines that were measured with sums."""
    topology = noisy.topology
    measured = np.zeros(topology.num_edges, np.bool_)
    measured[noisy.edges] = True
    if isinstance(noisy, LeastSquaresEdges):
        block = noisy.block
        summed: Bool = (block.levels.sizes() > 0)[block.lines.line]
        return block.lines.of(measured & (bridges(topology) | summed))
    return lines_of(topology).of(measured & bridges(topology))


def estimate(noisy: NoisyEdges) -> Int:
    """Keep sums where they are distances, clip elsewhere."""
    lattice, wanted = noisy.lattice, np.zeros(noisy.topology.num_edges)
    wanted[noisy.edges] = noisy.values
    return within_bounds(kept_lines(noisy), wanted, lattice.low, lattice.high)[noisy.edges]


def suits(strategy: Strategy) -> bool:
    """Where every path there is can be kept, or sums were measured: forests and lines."""
    only_edges = {type(block) for block in strategy.blocks} == {EdgeBlock}
    return strategy.has(LineBlock) or (only_edges and not strategy.topology.directed and is_forest(strategy.topology))


ESTIMATOR = Estimator(
    name="sums",
    summary="weights within their bounds whose sums along tree parts and measured lines stay as measured",
    estimate=estimate,
    suits=suits,
    keeps_sums=True,
)
