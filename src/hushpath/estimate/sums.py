"""Weights within their bounds whose sums along lines of bridges stay as measured.

A distance in a tree is a sum of weights, so noise averages out, unless each weight is clipped by itself: then every
edge comes out too long by the mean of what was cut off, and the errors add up.  Here the bounds are kept by the curve
of sums along a line instead: of all curves that the bounds allow the nearest (``kernels.bounded``).  Where noise is
small against the weights nothing happens at all.

So are chains kept that were measured with sums (mechanism ``lines``).  On a cycle the shortest of several
paths counts, and what clipping adds is about what taking a minimum loses: all other edges are clipped.

Clipping has a merit too: it takes noise away.  It is harmless where it moves weights up as much as down, as it does if
weights fill the range between their bounds.  So where no sums were measured the release itself decides: if what
clipping adds could be chance, over all edges and along a line, the edges of that line are clipped.

A weight may be moved away from the true one, so this is not ``proved`` for decoders that use a few edges of a line. For
whole shortest paths in a network a bound holds that is twice the one of ``clip`` (docs/proofs/lines.md).
"""

from __future__ import annotations

import numpy as np

from ..arrays import Bool, Float, Int, sealed
from ..blocks import LineBlock
from ..blocks.anchors import is_forest
from ..blocks.lines import PathVariances
from ..decompose.lines import Lines, bridges, lines_of
from ..kernels.bounded import nearest_sums
from ..noise import stds
from ..strategy.core import Strategy
from .core import FEWEST_EDGES, Estimator, LeastSquaresEdges, NoisyEdges, PathSpread, measured_singly, sums_measured

CHANCE = 2.0  # standard deviations
MOST_EDGES = 100_000  # beyond, in a forest, a model of weights takes longer than all the rest


def within_bounds(lines: Lines, wanted: Float, low: Int, high: Int) -> Int:
    """One weight per edge, whole steps within its bounds: along lines with sums near the wanted, elsewhere clipped.

    ``wanted``, ``low`` and ``high`` are per edge of the network; ``lines`` may hold some of the edges only.
    """
    out = np.clip(np.floor(np.clip(wanted, low, high) + 0.5).astype(np.int64), low, high)
    nearest_sums(sealed(lines.start), sealed(lines.order), np.asarray(wanted, np.float64), low, high, out)
    return out


def kept_lines(noisy: NoisyEdges, wanted: Float) -> Lines:
    """Lines that were measured with sums, and lines of bridges along which clipping would show."""
    topology, lattice = noisy.topology, noisy.lattice
    lines, summed = lines_of(topology), np.zeros(topology.num_edges, np.bool_)
    if isinstance(noisy, LeastSquaresEdges):
        lines, summed = noisy.block.lines, (noisy.block.levels.sizes() > 0)[noisy.block.lines.line]
    plain = np.zeros(topology.num_edges, np.bool_)
    plain[noisy.edges] = True
    plain &= bridges(topology) & ~summed
    added = np.where(plain, np.clip(wanted, lattice.low, lattice.high) - wanted, 0.0)
    if not _shows(added, np.zeros(len(added), np.int64), 1)[0]:
        plain &= _shows(added, lines.line, len(lines))[lines.line]
    return lines.of(plain | summed)


def _shows(added: Float, group: Int, count: int) -> Bool:
    """For each group whether what is added to its edges has a sum beyond what changing signs would give by chance."""
    total, square = (np.bincount(group, weights=one, minlength=count) for one in (added, added**2))
    return np.asarray(np.abs(total) > CHANCE * np.sqrt(square))


def estimate(noisy: NoisyEdges) -> Int:
    """Keep sums where they are distances, clip elsewhere."""
    lattice, wanted = noisy.lattice, np.zeros(noisy.topology.num_edges)
    wanted[noisy.edges] = noisy.values
    return within_bounds(kept_lines(noisy, wanted), wanted, lattice.low, lattice.high)[noisy.edges]


def spread(noisy: NoisyEdges) -> PathSpread:
    """The noise of the sum along each path; bounds hardly matter."""
    if isinstance(noisy, LeastSquaresEdges):
        block, noise = noisy.block, stds(noisy.law, noisy.group_scales)
    else:
        block, noise = LineBlock.plain(noisy.topology), noisy.noise
    variances = PathVariances.of(block, np.repeat(noise**2, block.group_sizes))
    return PathSpread(variances, np.empty((0, noisy.topology.num_edges)))


def suits(strategy: Strategy) -> bool:
    """Where sums were measured; and in forests that are too large for a model of weights, or too small for one."""
    topology = strategy.topology
    if sums_measured(strategy):
        return True
    modelled = FEWEST_EDGES <= topology.num_edges <= MOST_EDGES
    return measured_singly(strategy) and not modelled and not topology.directed and is_forest(topology)


ESTIMATOR = Estimator(
    name="sums",
    summary="weights within their bounds whose sums along tree parts and measured lines stay as measured",
    estimate=estimate,
    suits=suits,
    keeps_sums=True,
    spread=spread,
)
