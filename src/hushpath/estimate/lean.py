"""Sums along the lines of a forest, leaning on what public facts make one expect of each edge.

Least squares know nothing of weights but what was measured.  Here every edge is measured once more, as it were: by
what a regression on public facts expects of it (``shrink.by_facts``; not on neighbours, whose noise is in the sums
already), with the variance that weights have around it.  The best linear estimate from all of this lets sums hold what
the regression gets wrong along a line, and the regression take noise away between two sums.

How far to lean is seen in the release: measured sums differ from expected ones by the noise of the sums, which is
known, and by what edges deviate.  Where longer sums deviate more than single edges would explain, errors are shared,
and the variance is raised until they do explain it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import Float, Int
from ..blocks import LineBlock
from ..blocks.anchors import is_forest
from ..kernels.laminar import least_squares, variances
from ..noise import stds
from ..strategy.core import Strategy
from . import sums
from .core import FEWEST_EDGES, Estimator, LeastSquaresEdges, NoisyEdges, sums_measured
from .residuals import Observed
from .shrink import NO_NOISE, by_facts
from .sums import MOST_EDGES

QUANTILES = 16  # of one weight, for its variance
SIZES = (4, 16, 64)  # where classes of short and long sums begin
LEAST_VARIANCE = 1e-6  # in units of noise, squared


def estimate(noisy: NoisyEdges) -> Int:
    """The best linear estimate, within its bounds as ``sums`` keeps them."""
    unit = float(np.median(noisy.scales)) if len(noisy.scales) else 0.0
    if (
        not isinstance(noisy, LeastSquaresEdges)
        or len(noisy.edges) < FEWEST_EDGES
        or not (noisy.scales > 0).all()
        or np.abs(noisy.values).max() > NO_NOISE * unit
    ):
        return sums.estimate(noisy)
    lattice, wanted = noisy.lattice, leaning(noisy, unit) * unit
    return sums.within_bounds(sums.kept_lines(noisy, wanted), wanted, lattice.low, lattice.high)[noisy.edges]


def leaning(noisy: LeastSquaresEdges, unit: float) -> Float:
    """The weight of each edge, in units of noise."""
    block, runs = noisy.block, noisy.block.runs
    variance = np.repeat((stds(noisy.law, noisy.group_scales) / unit) ** 2, block.group_sizes)
    observed = Observed.of(noisy, unit)
    mean, around = _expected(noisy, observed)
    noise = variances(runs.parent, len(runs.first), variance)[: len(runs.first)]
    off = (summed(block, observed.values) - summed(block, mean)) ** 2 - noise
    sizes = np.searchsorted(SIZES, runs.last - runs.first, side="right")
    for size in np.unique(sizes):
        here = sizes == size
        around = around * max(1.0, float(off[here].sum() / summed(block, around)[here].sum()))
    return combined(noisy.block, variance, observed.values, mean, around)


def combined(block: LineBlock, variance: Float, estimates: Float, mean: Float, around: Float) -> Float:
    """The best linear estimate of weights with this mean and these variances around it.

    Args:
        variance: of the noise of every measured number.
        estimates: by least squares from the numbers; all that they say about weights is in it, so its own sums can
            stand for the measured ones.
    """
    count = len(block.runs.first)
    single = 1 / (1 / variance[count:] + 1 / around)
    values = np.concatenate([summed(block, estimates), (estimates / variance[count:] + mean / around) * single])
    found = least_squares(block.runs.parent, count, values, np.concatenate([variance[:count], single]))
    return np.asarray(found[count:], np.float64)


def summed(block: LineBlock, weights: Float) -> Float:
    """The sums that are measured beside single edges."""
    total = np.concatenate([[0.0], np.cumsum(weights[block.lines.order])])
    return np.asarray(total[block.runs.last] - total[block.runs.first], np.float64)


def _expected(noisy: LeastSquaresEdges, observed: Observed) -> tuple[Float, Float]:
    """What facts make one expect of each weight, and its variance around it; the total is as measured."""
    (fitted, _), m = by_facts(noisy.topology, observed), len(observed.values)
    levels = np.tile((np.arange(QUANTILES)[:, None] + 0.5) / QUANTILES, (1, m))
    silent = replace(observed, scales=np.full(m, np.inf))
    found = silent.posterior(fitted.guess, fitted.residuals, fitted.which, levels)
    scale = max(float(observed.values.sum()), 0.0) / max(float(found.mean.sum()), 1e-300)
    return found.mean * scale, found.draws.var(axis=0) * scale**2 + LEAST_VARIANCE


def suits(strategy: Strategy) -> bool:
    """Where sums were measured in a forest that is neither tiny nor huge."""
    topology = strategy.topology
    modelled = FEWEST_EDGES <= topology.num_edges <= MOST_EDGES
    return modelled and sums_measured(strategy) and not topology.directed and is_forest(topology)


ESTIMATOR = Estimator(
    name="lean",
    summary="sums along the lines of a tree, leaning on what public facts make one expect of each edge",
    estimate=estimate,
    suits=suits,
    close_to_sums=True,
    costly=True,
)
