"""The estimator ``shrink``: every noisy weight shrunk towards what all others say of it, as far as a check allows.

1. *Model*: posterior means of all weights (``model``).
2. *Check*: weights are drawn from the model, measured again with fresh noise and estimated again (`Replicates`).  The
   distances over plain noisy weights are known for the release, too, and say what no model can say about itself: if
   they are shorter than in the replicates, the model is too slow.
3. *Level*: a distance is a minimum over paths, and the minimum over mean weights exceeds the mean minimum.  One factor
   corrects this, and by how much the check finds the model to be too slow or too fast.
4. *Mixing*: noisy weights are mixed in by the share that has the least expected error.  Where noisy and estimated
   distances of the release differ more than in the replicates, the model is charged with the difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...arrays import Float, Int
from ...kernels.residuals import Seen
from ...measurement.samples import distance_rows
from ...measurement.strategy import Strategy
from ...network.topology import Topology
from ...noise import Law, simulation
from ...separators.lines import bridges
from ..base import MIN_EDGES, NoisyEdges, WeightEstimator, measures_single_edges
from ..model import EdgeModel, fit
from .bounds import clip_weights

OFFSET = 0.1  # of the noise, added to weights before taking logarithms: weights far below it are not told apart
FAR_ABOVE = 20.0  # scales of noise above every value: higher bounds do not matter
MAX_EDGES = 4_000_000  # beyond, it takes minutes and gigabytes, and must be asked for by name

REPLICATES, SOURCES = 8, 12
INTERVAL_REPLICATES, INTERVAL_SOURCES = 16, 24
FEW_REPLICATES, VISITED = 3, 2_000_000  # where the nodes that all searches visit are many, there are fewer
SCALED = 1.15  # by which replicates are scaled to see how plain distances answer
# Expected squared errors over what replicates show: of the model, of noisy weights, and of what the check finds.
MODEL_RISK, PLAIN_RISK, EXCESS_RISK = 1.5, 0.9, 2.0
# Intervals: errors that all distances share; the logarithm of the inflation, and how it grows with the correction for
# the minimum and with the gap that the check finds (in standard deviations, at most so many).
SHARED, BASE_INFLATION, SELECTION_INFLATION, GAP_INFLATION, MOST_GAP = 2.0, -0.06, 0.7, 0.09, 4.0
MOST_INFLATION = 3.0
TINY = 1e-12


def observe(noisy: NoisyEdges) -> Seen:
    """Return noisy edges in units of the typical noise scale."""
    unit = noisy.unit
    low, high = (bound / unit for bound in noisy.bounds)
    values, scales = noisy.values / unit, noisy.scales / unit
    highest = max(float(np.max(values, initial=0.0)), 0.0) + FAR_ABOVE * float(scales.max(initial=1.0))
    return Seen(noisy.law is Law.GAUSSIAN, values, scales, low, np.maximum(np.minimum(high, highest), low), OFFSET)


def model_of(noisy: NoisyEdges) -> EdgeModel | None:
    """Fit the model; ``None`` if not every edge was measured, or the values are too extreme for a fit."""
    if len(noisy.edges) < noisy.topology.num_edges or not noisy.can_be_modelled:
        return None
    try:
        with np.errstate(all="ignore"):
            model = fit(noisy.topology, observe(noisy))
    except np.linalg.LinAlgError:
        return None
    known = np.isfinite(model.mean).all() and np.isfinite(model.location).all() and np.isfinite(model.root).all()
    return model if known else None


@dataclass(frozen=True, eq=False)
class Replicates:
    """Distances from some nodes in a parametric bootstrap, and the same distances for the release itself.

    All in units of noise, for the same pairs; rows are replicates.  *Plain* distances are over noisy weights within
    their bounds, *shrunk* ones over posterior means under the priors of the fitted model.
    """

    sources: Int
    pairs: tuple[Int, Int]  # row and column of each pair among all distances from ``sources``
    true: Float  # true, plain, shrunk: (replicates, pairs)
    plain: Float
    shrunk: Float
    released_plain: Float  # released_plain, released_shrunk: (pairs,)
    released_shrunk: Float
    response: float  # by how much plain distances change if all weights do, both in logarithms

    @property
    def scale(self) -> float:
        """The factor that makes shrunk distances as long as true ones, on average."""
        return float(self.true.sum()) / max(float(self.shrunk.sum()), TINY)

    @classmethod
    def simulate(cls, noisy: NoisyEdges, model: EdgeModel, replicates: int, most_sources: int) -> Replicates:
        """Simulate so many replicates (fewer in large networks), with distances from so many sources at most."""
        topology, unit, n = noisy.topology, noisy.unit, noisy.topology.num_nodes
        count = max(FEW_REPLICATES, min(replicates, VISITED // (3 * max(n, 1) * FEW_REPLICATES)))
        size = min(n, max(2, min(most_sources, VISITED // (3 * max(n, 1) * count))))
        sources = np.sort(simulation(30).choice(n, size, replace=False))

        def rows(weights: Float) -> Float:
            return distance_rows(topology, weights, sources)

        first = rows(plain_weights(topology, model.seen, model.seen.values))
        row, column = np.nonzero(np.isfinite(first) & (np.arange(n) != sources[:, None]))
        pairs = row.astype(np.int64), column.astype(np.int64)
        found: list[tuple[Float, Float, Float]] = []
        scaled = []
        for turn in range(count):
            rng = simulation(300 + turn)
            truth = model.sample(rng)
            noise = noisy.draw_noise(rng) / unit
            values = truth + noise
            made = truth, plain_weights(topology, model.seen, values), model.posterior_mean(values)
            found.append((rows(made[0])[pairs], rows(made[1])[pairs], rows(made[2])[pairs]))
            if turn < FEW_REPLICATES:
                more = rows(plain_weights(topology, model.seen, SCALED * truth + noise))[pairs]
                scaled.append(np.log(max(more.sum(), TINY) / max(found[-1][1].sum(), TINY)))
        response = float(np.clip(np.mean(scaled) / np.log(SCALED), 0.05, 1.5))
        true, plain, shrunk = (np.stack(parts) for parts in zip(*found, strict=True))
        return cls(sources, pairs, true, plain, shrunk, first[pairs], rows(model.mean)[pairs], response)


def plain_weights(topology: Topology, seen: Seen, values: Float) -> Float:
    """Return noisy values within their bounds; on bridges as they are, because there noise averages out."""
    return np.where(bridges(topology), values, np.clip(values, seen.low, seen.high))


@dataclass(frozen=True, eq=False)
class Calibration:
    """How posterior means and noisy weights are put together, and how far off distances are expected to be."""

    factor: float  # of posterior means
    share: float  # of noisy weights
    level_sd: float  # standard deviation of the logarithm of the factor
    excess: float  # standard deviation of what the model gets wrong, relative to the distance
    inflation: float  # of the standard deviations of errors, because models that had much to correct are more wrong

    @classmethod
    def of(cls, made: Replicates) -> Calibration:
        """Calibrate by replicates."""
        if not made.released_plain.sum() > 0 or not made.true.sum() > 0:
            return cls(1.0, 0.0, 0.0, 0.0, 1.0)
        count, total = len(made.true), max(float(made.released_shrunk.sum()), TINY)
        selection = float(made.true.sum(axis=1).mean()) / total
        model, plain = made.scale * made.shrunk - made.true, made.plain - made.true
        # A model is as likely to be wrong about the level of all distances as it says it is about a single one.
        doubt = float(np.mean(model**2)) / (total / len(made.released_shrunk)) ** 2 + TINY
        sums = np.log(np.maximum(made.plain.sum(axis=1), TINY))
        gap = float(np.log(made.released_plain.sum()) - sums.mean())
        chance = float(sums.var(ddof=1)) * (1 + 1 / count)
        factor = selection * float(np.exp(gap * made.response / (made.response**2 + chance / doubt)))
        # Where replicates are right, both distances of the release differ as they do in them.
        theirs = np.square(made.scale * made.shrunk - made.plain).mean(axis=1)
        ours = np.mean((factor * made.released_shrunk - made.released_plain) ** 2)
        excess = max(float(ours - theirs.mean() - theirs.std(ddof=1)), 0.0)
        risk, other = MODEL_RISK * np.mean(model**2) + EXCESS_RISK * excess, PLAIN_RISK * np.mean(plain**2)
        common = np.mean(model * plain)
        share = float(np.clip((risk - common) / max(float(risk + other - 2 * common), TINY), 0, 1))
        level_sd = np.sqrt(chance / (made.response**2 + chance / doubt))
        relative_excess = float(np.sqrt(excess)) / (total / len(made.released_shrunk))
        surprise = min(abs(gap) / np.sqrt(chance + TINY), MOST_GAP)
        corrected = abs(float(np.log(max(selection, TINY))))
        inflation = np.exp(BASE_INFLATION + SELECTION_INFLATION * corrected + GAP_INFLATION * surprise)
        return cls(factor, share, float(level_sd), relative_excess, float(min(inflation, MOST_INFLATION)))

    def mix(self, shrunk: Float, plain: Float) -> Float:
        """Put both kinds of weights together."""
        return (1 - self.share) * self.factor * shrunk + self.share * plain


def shrink_weights(noisy: NoisyEdges) -> Int:
    """Estimate all weights."""
    model = model_of(noisy)
    if model is None:
        return clip_weights(noisy)
    made = Replicates.simulate(noisy, model, REPLICATES, SOURCES)
    plain = plain_weights(noisy.topology, model.seen, model.seen.values)
    wanted = Calibration.of(made).mix(model.mean, plain) * noisy.unit
    return np.clip(np.rint(wanted).astype(np.int64), noisy.lattice.low, noisy.lattice.high)


class ErrorReplicates(NamedTuple):
    """Estimated and true distances of the same pairs in replicates, one row each, in units of noise."""

    ends: tuple[Int, Int]
    estimates: Float
    truths: Float
    relative_sd: float  # of a further error that no replicate shows, relative to the distance
    inflation: float


def error_replicates(noisy: NoisyEdges) -> ErrorReplicates | None:
    """Return replicates of the errors of `shrink_weights`; ``None`` where there is no model."""
    model = model_of(noisy)
    if model is None:
        return None
    made = Replicates.simulate(noisy, model, INTERVAL_REPLICATES, INTERVAL_SOURCES)
    calibration = Calibration.of(made)
    estimates = (1 - calibration.share) * made.scale * made.shrunk + calibration.share * made.plain
    relative_sd = SHARED * (1 - calibration.share) * np.hypot(calibration.excess, calibration.level_sd)
    ends = made.sources[made.pairs[0]], made.pairs[1]
    return ErrorReplicates(ends, estimates, made.true, float(relative_sd), calibration.inflation)


def posterior(noisy: NoisyEdges, count: int, seed: int) -> tuple[Float, Float] | None:
    """Draw all weights ``count`` times, in lattice steps, and say how much of each is measured."""
    model, rng = model_of(noisy), simulation(seed)
    if model is None:
        return None
    return np.stack([model.sample(rng) for _ in range(count)]) * noisy.unit, model.measured


def _suits(strategy: Strategy) -> bool:
    return measures_single_edges(strategy) and MIN_EDGES <= strategy.topology.num_edges <= MAX_EDGES


SHRINK = WeightEstimator(
    name="shrink",
    summary="each noisy weight shrunk towards its prediction from public facts and neighbouring edges",
    estimate=shrink_weights,
    suits=_suits,
    costly=True,
    posterior=posterior,
)
