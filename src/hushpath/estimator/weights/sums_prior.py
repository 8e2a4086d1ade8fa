"""The estimator ``sums-prior``: sums along the lines of a forest, combined with a prior from public facts.

Least squares from measured sums know nothing else about the weights.  Here each edge has a prior as well: the mean and
variance that a model of public facts predicts (``model.fit`` without a field: the noise of neighbours is in the sums
already).  In the best linear estimate, sums correct what the prior gets wrong along a line, and
the prior removes noise between two sums.

The weight of the prior is learnt from the release.  Measured sums differ from predicted ones by noise, whose variance
is known, and by the deviations of edges.  If long sums deviate more than independent edges would explain, errors are
shared, and the prior variance is raised until it explains them.

The error of distances follows (`path_errors`): the variance of the best linear estimate, plus what all predictions may
be off together.  Bounds make answers better than that, and an estimated prior variance makes them worse; a parametric
bootstrap measures by which factor.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...arrays import Float, Int
from ...kernels.laminar import least_squares
from ...measurement.anchors import is_forest
from ...measurement.blocks import LineBlock
from ...measurement.lines import PathVariances
from ...measurement.strategy import Strategy
from ...noise import simulation, stds
from ..base import MIN_EDGES, LeastSquaresEdges, NoisyEdges, PathErrors, WeightEstimator, measures_sums
from ..model import fit
from .bounds import MAX_EDGES, keep_sums, lines_to_keep, noise_along_paths, within_bounds
from .shrink import observe

DRAWS = 32  # of each weight by its prior, for its variance
LENGTHS = (4, 16, 64, 256, 1024)  # of stretches of lines in which shared errors are looked for
SIGNIFICANCE = 1.0  # standard deviations
MIN_VARIANCE = 1e-6  # in units of noise, squared
REPLICATES, PAIRS, LEVEL = 3, 2000, 0.9  # replicates of the bootstrap, and the quantile of errors that it compares
MIN_FACTOR, MAX_FACTOR = 0.6, 1.1  # the bootstrap shows what bounds gain, not that a model is wrong


def estimate_with_prior(noisy: NoisyEdges) -> Int:
    """Return the best linear estimate within the bounds; without sums or a model, the estimate of ``sums``."""
    if not isinstance(noisy, LeastSquaresEdges) or not noisy.can_be_modelled:
        return keep_sums(noisy)
    return SumsWithPrior.fit(noisy).within_bounds()


def path_errors(noisy: NoisyEdges) -> PathErrors:
    """Return the error of distances, calibrated by a parametric bootstrap."""
    if not isinstance(noisy, LeastSquaresEdges) or not noisy.can_be_modelled:
        return noise_along_paths(noisy)
    found = SumsWithPrior.fit(noisy)
    return replace(found.path_errors, factor=noisy.unit * _bootstrap_factor(found))


@dataclass(frozen=True, eq=False)
class SumsWithPrior:
    """Measured sums and the prior of each weight, in units of noise."""

    noisy: LeastSquaresEdges
    noise_variance: Float  # the noise variance of every measured number
    # (m,): weights by least squares from the measured numbers.  They contain all that the numbers say, so that their
    # sums can stand for the measured ones
    values: Float
    mean: Float  # mean, variance: (m,): the prior of each weight
    variance: Float
    shared_sd: Float  # (k, m): ways in which all predictions may be off together: one row of standard deviations each
    samples: Float  # (r, m): weights sampled from the prior

    @classmethod
    def fit(cls, noisy: LeastSquaresEdges) -> SumsWithPrior:
        """Fit the prior, and raise its variance where sums contradict it."""
        block = noisy.block
        noise_variance = np.repeat((stds(noisy.law, noisy.group_scales) / noisy.unit) ** 2, block.group_sizes)
        values = observe(noisy).values
        mean, variance, shared_sd, samples = _prior(noisy)
        noise, initial = PathVariances.of(block, noise_variance), variance
        for length in LENGTHS:
            first, last = _stretches(block, length)
            errors, own = (total[last] - total[first] for total in map(block.totals, (values - mean, variance)))
            expected = noise.between(first, last) + own
            excess = float((errors**2 - expected).sum() - SIGNIFICANCE * np.sqrt(2 * expected @ expected))
            variance = variance * (1 + max(0.0, excess) / max(float(own.sum()), 1e-300))
        samples = mean + (samples - mean) * np.sqrt(variance / initial)
        return cls(noisy, noise_variance, values, mean, variance, shared_sd, samples)

    def within_bounds(self) -> Int:
        """Return the best linear estimate in lattice steps, with sums as near as the bounds allow."""
        noisy = self.noisy
        wanted = noisy.unit * combine(noisy.block, self.noise_variance, self.values, self.mean, self.variance)
        low, high = noisy.lattice.low, noisy.lattice.high
        return within_bounds(lines_to_keep(noisy, wanted), wanted, low, high)[noisy.edges]

    @property
    def path_errors(self) -> PathErrors:
        """The error of distances, not calibrated: independent errors, and errors that predictions share."""
        block, count = self.noisy.block, len(self.noisy.block.runs.first)
        single = 1 / (1 / self.noise_variance[count:] + 1 / self.variance)
        nothing = np.zeros(len(self.mean))
        shared = [combine(block, self.noise_variance, nothing, row, self.variance) for row in self.shared_sd]
        independent = PathVariances.of(block, np.concatenate([self.noise_variance[:count], single]))
        return PathErrors(independent, np.array(shared))


def _stretches(block: LineBlock, length: int) -> tuple[Int, Int]:
    """Return where stretches of so many edges begin and end, line by line; the remainder of a line is left out."""
    lines = block.lines
    place, lengths = lines.place[lines.order], np.repeat(lines.lengths, lines.lengths)
    first = np.flatnonzero((place % length == 0) & (place + length <= lengths))
    return first, first + length


def combine(block: LineBlock, noise_variance: Float, estimates: Float, mean: Float, variance: Float) -> Float:
    """Return the best linear estimate of weights from the sums measured by a ``block`` and a prior.

    ``estimates`` are the weights by least squares, ``noise_variance`` that of every measured number, and ``mean`` and
    ``variance`` the prior of each weight.
    """
    runs, count, total = block.runs, len(block.runs.first), block.totals(estimates)
    single = 1 / (1 / noise_variance[count:] + 1 / variance)
    edges = (estimates / noise_variance[count:] + mean / variance) * single
    values = np.concatenate([total[runs.last] - total[runs.first], edges])
    found = least_squares(runs.parent, count, values, np.concatenate([noise_variance[:count], single]))
    return np.asarray(found[count:], np.float64)


def _prior(noisy: LeastSquaresEdges) -> tuple[Float, Float, Float, Float]:
    """Return prior mean and variance, shared standard deviations, and samples, as in `SumsWithPrior`.

    The total is as measured.  What predictions share: the noise of the total, and shares of it by the uncertainty of
    the coefficients.
    """
    fitted, rng = fit(noisy.topology, observe(noisy), field=False), simulation(40)
    drawn = np.stack([fitted.sample_prior(rng) for _ in range(DRAWS + REPLICATES)])
    factor = max(float(fitted.seen.values.sum()), 0.0) / max(float(fitted.sites.public_mean.sum()), 1e-300)
    mean, variance = fitted.sites.public_mean * factor, drawn[:DRAWS].var(axis=0) * factor**2 + MIN_VARIANCE
    total = max(float(mean.sum()), 1e-300)
    start = noisy.block.lines.start
    noise_variance = noise_along_paths(noisy).independent.between(start[:-1], start[1:])
    total_sd = float(np.sqrt(noise_variance.sum())) / noisy.unit
    shared_sd = mean * (fitted.design.columns @ fitted.root).T
    shared_sd -= mean * (shared_sd.sum(axis=1, keepdims=True) / total)
    return mean, variance, np.vstack([shared_sd, mean * (total_sd / total)]), drawn[DRAWS:] * factor


def _bootstrap_factor(found: SumsWithPrior) -> float:
    """Return the factor by which errors along paths exceed their predicted standard deviation, by a bootstrap.

    Few replicates vary by chance.  So do the errors of plain sums in the same replicates, whose standard deviation is
    known; the factor is relative to theirs.
    """
    noisy, rng = found.noisy, simulation(41)
    block, n = noisy.block, noisy.topology.num_nodes
    plain, ours, theirs = noise_along_paths(noisy), [], []
    for sample in found.samples:
        truth = np.clip(np.rint(sample * noisy.unit), *noisy.bounds)
        measured = replace(noisy, values=np.rint(truth + noisy.draw_noise(rng)).astype(np.int64))
        again = SumsWithPrior.fit(measured)
        sources, targets = rng.integers(0, n, (2, PAIRS))
        pieces, (first, last) = block.on_paths(sources, targets)
        totals = block.totals(np.stack([again.within_bounds(), measured.values]) - truth)
        error, plain_error = (pieces.per_pair(one) for one in totals[:, last] - totals[:, first])
        sd, plain_sd = again.path_errors.sd(sources, targets) * noisy.unit, plain.sd(sources, targets)
        known = plain_sd > 0
        ours.append(error[known] / sd[known])
        theirs.append(plain_error[known] / plain_sd[known])
    ratio = np.quantile(np.abs(np.concatenate(ours)), LEVEL) / np.quantile(np.abs(np.concatenate(theirs)), LEVEL)
    return float(np.clip(ratio, MIN_FACTOR, MAX_FACTOR))


def _suits(strategy: Strategy) -> bool:
    """Return whether sums were measured in a forest that is neither tiny nor huge."""
    topology = strategy.topology
    modelled = MIN_EDGES <= topology.num_edges <= MAX_EDGES
    return modelled and measures_sums(strategy) and not topology.directed and is_forest(topology)


SUMS_PRIOR = WeightEstimator(
    name="sums-prior",
    summary="sums along the lines of a tree, combined with a prior for each edge from public facts",
    estimate=estimate_with_prior,
    suits=_suits,
    path_errors=path_errors,
    costly=True,
)
