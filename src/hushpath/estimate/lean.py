"""Sums along the lines of a forest, leaning on what public facts make one expect of each edge.

Least squares know nothing of weights but what was measured.  Here every edge is measured once more, as it were: by
what a regression on public facts expects of it (``shrink.by_facts``; not on neighbours, whose noise is in the sums
already), with the variance that weights have around it.  The best linear estimate from all of this lets sums hold what
the regression gets wrong along a line, and the regression take noise away between two sums.

How far to lean is seen in the release: measured sums differ from expected ones by the noise of the sums, which is
known, and by what edges deviate.  Where longer sums deviate more than single edges would explain, errors are shared,
and the variance is raised until they do explain it.

How far the answers are off is known with it (``spread``): the variance that the best linear estimate leaves, and what
the expectation of all edges together may be off.  Bounds make answers better than that, and a variance that had to be
guessed makes them worse: a rehearsal (weights drawn as the release describes them, measured again, estimated again)
tells by which factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Float, Int
from ..blocks import LineBlock
from ..blocks.anchors import is_forest
from ..blocks.lines import PathVariances
from ..kernels.laminar import least_squares
from ..noise import simulation, stds
from ..strategy.core import Strategy
from . import sums
from .core import FEWEST_EDGES, Estimator, LeastSquaresEdges, NoisyEdges, PathSpread, sums_measured
from .residuals import Observed
from .shift import square_root
from .shrink import NO_NOISE, by_facts
from .sums import MOST_EDGES

QUANTILES = 16  # of one weight, for its variance
SIZES = (4, 16, 64, 256, 1024)  # of sums along lines in which shared errors are looked for
CHANCE = 1.0  # standard deviations
LEAST_VARIANCE = 1e-6  # in units of noise, squared
REHEARSALS, REHEARSED_PAIRS = 3, 2000
NARROWEST, WIDEST = 0.6, 1.1  # factors; rehearsals see what bounds gain, not that a model is wrong


def estimate(noisy: NoisyEdges) -> Int:
    """The best linear estimate, within its bounds as ``sums`` keeps them."""
    if not isinstance(noisy, LeastSquaresEdges) or not _modelled(noisy):
        return sums.estimate(noisy)
    return Leaning.of(noisy).within_bounds()


def spread(noisy: NoisyEdges) -> PathSpread:
    """How far the estimates are off along paths."""
    if not isinstance(noisy, LeastSquaresEdges) or not _modelled(noisy):
        return sums.spread(noisy)
    found = Leaning.of(noisy)
    return replace(found.spread, factor=found.unit * _rehearsed(found))


def _modelled(noisy: NoisyEdges) -> bool:
    enough = len(noisy.edges) >= FEWEST_EDGES and bool((noisy.scales > 0).all())
    return enough and bool(np.abs(noisy.values).max() <= NO_NOISE * np.median(noisy.scales))


@dataclass(frozen=True, eq=False)
class Leaning:
    """What is expected of each weight and how it was measured, in units of noise.

    Attributes:
        unit: the noise, in lattice steps.
        variance: of the noise of every measured number.
        values: each weight by least squares from the numbers; all that they say is in it, so that its own sums can
            stand for the measured ones.
        mean, around: what facts make one expect of each weight, and the variance of weights around it.
        doubts: ways in which all expectations may be off together, a row of standard deviations each.
        draws: weights that the same would be expected of, a row each.
    """

    noisy: LeastSquaresEdges
    unit: float
    variance: Float
    values: Float
    mean: Float
    around: Float
    doubts: Float
    draws: Float

    @classmethod
    def of(cls, noisy: LeastSquaresEdges) -> Leaning:
        """Fit expectations, and find out how far to lean on them."""
        unit, block = float(np.median(noisy.scales)), noisy.block
        variance = np.repeat((stds(noisy.law, noisy.group_scales) / unit) ** 2, block.group_sizes)
        observed = Observed.of(noisy, unit)
        mean, around, doubts, draws = _expected(noisy, observed)
        noise, had = PathVariances.of(block, variance), around
        for size in SIZES:
            first, last = _stretches(block, size)
            off, own = (total[last] - total[first] for total in map(block.totals, (observed.values - mean, around)))
            expected = noise.between(first, last) + own
            more = float((off**2 - expected).sum() - CHANCE * np.sqrt(2 * expected @ expected))
            around = around * (1 + max(0.0, more) / max(float(own.sum()), 1e-300))
        draws = mean + (draws - mean) * np.sqrt(around / had)
        return cls(noisy, unit, variance, observed.values, mean, around, doubts, draws)

    @property
    def weights(self) -> Float:
        """The best linear estimate."""
        return combined(self.noisy.block, self.variance, self.values, self.mean, self.around)

    def within_bounds(self) -> Int:
        """The same in lattice steps, with sums as the bounds allow."""
        noisy, wanted = self.noisy, self.weights * self.unit
        low, high = noisy.lattice.low, noisy.lattice.high
        return sums.within_bounds(sums.kept_lines(noisy, wanted), wanted, low, high)[noisy.edges]

    @property
    def spread(self) -> PathSpread:
        """Its error along paths: what noise and single weights leave open, and what expectations share."""
        block, count = self.noisy.block, len(self.noisy.block.runs.first)
        single = 1 / (1 / self.variance[count:] + 1 / self.around)
        nothing = np.zeros(len(self.mean))
        shared = [combined(block, self.variance, nothing, doubt, self.around) for doubt in self.doubts]
        return PathSpread(PathVariances.of(block, np.concatenate([self.variance[:count], single])), np.array(shared))


def _stretches(block: LineBlock, size: int) -> tuple[Int, Int]:
    """Where stretches of so many edges begin and end, line by line; what is left of a line is left out."""
    lines = block.lines
    place, length = lines.place[lines.order], np.repeat(lines.lengths, lines.lengths)
    first = np.flatnonzero((place % size == 0) & (place + size <= length))
    return first, first + size


def combined(block: LineBlock, variance: Float, estimates: Float, mean: Float, around: Float) -> Float:
    """The best linear estimate of weights with this mean and these variances around it.

    Args:
        variance: of the noise of every measured number.
        estimates: by least squares from the numbers.
    """
    runs, count, total = block.runs, len(block.runs.first), block.totals(estimates)
    single = 1 / (1 / variance[count:] + 1 / around)
    edges = (estimates / variance[count:] + mean / around) * single
    values = np.concatenate([total[runs.last] - total[runs.first], edges])
    found = least_squares(runs.parent, count, values, np.concatenate([variance[:count], single]))
    return np.asarray(found[count:], np.float64)


def _expected(noisy: LeastSquaresEdges, observed: Observed) -> tuple[Float, Float, Float, Float]:
    """What facts make one expect of each weight, and its variance around it; the total is as measured.

    Then how far all that may be off together: the total by its noise, shares of it by the doubt about coefficients.
    And draws from the expected law of each weight.
    """
    (fitted, _), m = by_facts(noisy.topology, observed), len(observed.values)
    levels = np.tile((np.arange(QUANTILES)[:, None] + 0.5) / QUANTILES, (1, m))
    levels = np.vstack([levels, simulation(40).random((REHEARSALS, m))])
    silent = replace(observed, scales=np.full(m, np.inf))
    found = silent.posterior(fitted.guess, fitted.residuals, fitted.which, levels)
    scale = max(float(observed.values.sum()), 0.0) / max(float(found.mean.sum()), 1e-300)
    mean, around = found.mean * scale, found.draws[:QUANTILES].var(axis=0) * scale**2 + LEAST_VARIANCE
    total = max(float(mean.sum()), 1e-300)
    noise = stds(noisy.law, noisy.group_scales)
    known = PathVariances.of(noisy.block, np.repeat(noise**2, noisy.block.group_sizes))
    start = noisy.block.lines.start
    noise_of_total = float(np.sqrt(known.between(start[:-1], start[1:]).sum())) / float(np.median(noisy.scales))
    doubts = mean * (fitted.columns @ square_root(fitted.covariance)).T
    doubts -= mean * (doubts.sum(axis=1, keepdims=True) / total)
    return mean, around, np.vstack([doubts, mean * (noise_of_total / total)]), found.draws[QUANTILES:] * scale


def _rehearsed(found: Leaning) -> float:
    """The factor by which errors along paths differ from their spread, if weights are as the release describes them.

    A few rehearsals depend on the luck of their noise; the errors of plain sums, whose spread is known, tell that luck.
    """
    noisy, rng = found.noisy, simulation(41)
    block, n = noisy.block, noisy.topology.num_nodes
    plain, asked = sums.spread(noisy), []
    for draw in found.draws:
        truth = np.clip(np.rint(draw * found.unit), noisy.lattice.low, noisy.lattice.high)
        measured = replace(noisy, values=np.rint(truth + noisy.drawn(rng)).astype(np.int64))
        again = Leaning.of(measured)
        sources, targets = rng.integers(0, n, (2, REHEARSED_PAIRS))
        pieces, (first, last) = block.on_paths(sources, targets)
        off = block.totals(np.stack([again.within_bounds(), measured.values]) - truth)
        miss = [np.abs(pieces.per_pair(one)) for one in off[:, last] - off[:, first]]
        known = again.spread.at(sources, targets) * found.unit, plain.at(sources, targets)
        there = known[1] > 0
        asked.append([one[there] / by[there] for one, by in zip(miss, known, strict=True)])
    ours, noise = (np.quantile(np.concatenate(one), 0.9) for one in zip(*asked, strict=True))
    return float(np.clip(ours / noise, NARROWEST, WIDEST))


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
    spread=spread,
    costly=True,
)
