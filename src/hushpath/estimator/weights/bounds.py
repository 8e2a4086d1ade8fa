"""Noisy weights kept within their public bounds: edge by edge (``clip``), or along lines of edges (``sums``).

Neither needs a model of the weights.

``clip`` moves each weight to the nearest bound, which is never farther from the true weight.  A distance is a minimum
over paths, hence concave in the weights, so noise makes distances come out low.

``sums`` is for trees and measured sums.  A distance in a tree is a sum of weights, so noise averages out, unless each
weight is clipped by itself: then every edge comes out too long by the mean of what was cut off, and these errors add
up.  ``sums`` instead takes, along each line of bridges, the curve of partial sums within the bounds that is nearest to
the measured one (``kernels.bounded``).  Where noise is small against the weights nothing changes.  Chains that were
measured with sums (mechanism ``lines``) are treated alike.  On cycles the shortest of several paths counts, and what
clipping adds is about what taking a minimum loses, so all other edges are clipped.

Clipping also removes noise, and is harmless where it moves weights up as much as down.  So where no sums were measured
the release decides: if what clipping adds could be chance, over all edges and along a line, the line is clipped.

``sums`` may move a weight away from the true one, so it is not ``proved`` for decoders that use a few edges of a line.
For whole shortest paths a bound twice that of ``clip`` holds (docs/proofs/lines.md).
"""

from __future__ import annotations

import numpy as np

from ...arrays import Bool, Float, Int, sealed
from ...kernels.bounded import nearest_sums
from ...measurement.anchors import is_forest
from ...measurement.blocks import LineBlock
from ...measurement.lines import PathVariances
from ...measurement.strategy import Strategy
from ...noise import stds
from ...separators.lines import Lines, bridges, lines_of
from ..base import (
    MIN_EDGES,
    LeastSquaresEdges,
    NoisyEdges,
    PathErrors,
    WeightEstimator,
    measures_single_edges,
    measures_sums,
)

SIGNIFICANCE = 2.0  # standard deviations
MAX_EDGES = 100_000  # in larger forests fitting a model of weights would take longer than everything else


def clip_weights(noisy: NoisyEdges) -> Int:
    """Clip each noisy weight to its public bounds."""
    return np.clip(noisy.values, *noisy.bounds)


def keep_sums(noisy: NoisyEdges) -> Int:
    """Keep sums along lines where they are distances, and clip elsewhere."""
    lattice, wanted = noisy.lattice, np.zeros(noisy.topology.num_edges)
    wanted[noisy.edges] = noisy.values
    return within_bounds(lines_to_keep(noisy, wanted), wanted, lattice.low, lattice.high)[noisy.edges]


def within_bounds(lines: Lines, wanted: Float, low: Int, high: Int) -> Int:
    """Return lattice steps between ``low`` and ``high`` whose sums along ``lines`` are near those of ``wanted``."""
    out = np.clip(np.floor(np.clip(wanted, low, high) + 0.5).astype(np.int64), low, high)
    nearest_sums(sealed(lines.start), sealed(lines.order), np.asarray(wanted, np.float64), low, high, out)
    return out


def lines_to_keep(noisy: NoisyEdges, wanted: Float) -> Lines:
    """Return the lines that were measured with sums, and lines of bridges where clipping would add a clear bias."""
    topology, lattice = noisy.topology, noisy.lattice
    lines, summed = lines_of(topology), np.zeros(topology.num_edges, np.bool_)
    if isinstance(noisy, LeastSquaresEdges):
        lines, summed = noisy.block.lines, (noisy.block.levels.sizes() > 0)[noisy.block.lines.line]
    single = np.zeros(topology.num_edges, np.bool_)
    single[noisy.edges] = True
    single &= bridges(topology) & ~summed
    added = np.where(single, np.clip(wanted, lattice.low, lattice.high) - wanted, 0.0)
    if not _is_significant(added, np.zeros(len(added), np.int64), 1)[0]:
        single &= _is_significant(added, lines.line, len(lines))[lines.line]
    return lines.of(single | summed)


def _is_significant(added: Float, group: Int, count: int) -> Bool:
    """Return for each group whether the sum of what is added to its edges exceeds what random signs would give."""
    total, square = (np.bincount(group, weights=one, minlength=count) for one in (added, added**2))
    return np.asarray(np.abs(total) > SIGNIFICANCE * np.sqrt(square))


def noise_along_paths(noisy: NoisyEdges) -> PathErrors:
    """Return the noise of the sum along each path; bounds hardly matter."""
    if isinstance(noisy, LeastSquaresEdges):
        block, noise = noisy.block, stds(noisy.law, noisy.group_scales)
    else:
        block, noise = LineBlock.plain(noisy.topology), noisy.noise
    variances = PathVariances.of(block, np.repeat(noise**2, block.group_sizes))
    return PathErrors(variances, np.empty((0, noisy.topology.num_edges)))


def _suits_sums(strategy: Strategy) -> bool:
    """Return whether sums were measured, or a forest is too large or too small for a model of the weights."""
    topology = strategy.topology
    if measures_sums(strategy):
        return True
    modelled = MIN_EDGES <= topology.num_edges <= MAX_EDGES
    return measures_single_edges(strategy) and not modelled and not topology.directed and is_forest(topology)


CLIP = WeightEstimator(
    name="clip",
    summary="each noisy weight by itself, clipped to its public bounds",
    estimate=clip_weights,
    proved=True,
)
SUMS = WeightEstimator(
    name="sums",
    summary="weights within their bounds whose sums along tree parts and measured lines stay as measured",
    estimate=keep_sums,
    suits=_suits_sums,
    keeps_sums=True,
    path_errors=noise_along_paths,
)
