"""Predicting by trying: stand-in weights are measured with the strategy's own noise and read as a release would be.

The weights are public stand-ins (``surrogates``) and the noise is simulated, so what comes out is NOT PRIVATE and need
not be.  The same scenes and seeds serve every candidate and every budget, which makes comparisons between them fair.

The mean error of one release is a matter of luck (on networks of some hundred edges it is off its own mean by a quarter
or more, as often as not), so quick estimators read several draws of the noise.  ``costly`` ones read the first of these
only, and change the mean of all by the ratio of the two: the luck of a draw is much the same for both.

Beyond ``WHOLE_EDGES`` edges that takes too long, and the ratio is found on a part: there the bias per hop and the
variance per hop of both are found, and carried over to the hop counts of the whole, bias in proportion to hops and
spread in proportion to their root.  Where sums along lines were measured, parts say nothing, and the quick one stands
for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..blocks.samples import sampled_hops
from ..data.lattice import Lattice
from ..data.weights import PrivateWeights
from ..estimate.core import Estimator, NoisyEdges, measured_singly
from ..estimate.registry import quick_estimator
from ..kernels.paths import distances_from
from ..measure import measure
from ..noise import SimulatedNoise
from ..strategy.core import Strategy
from .core import Decoder
from .registry import reading
from .surrogates import MOST_DRAWS, SEARCHED, Part, Scene

WHOLE_EDGES = 15_000
NOISE_SEED, MOST_SCENES = 1000, 8  # a seed of noise for each scene and draw
FEW_DRAWS = 4  # where reading takes longer than a search over edges


class Outcome(NamedTuple):
    """Mean and 95 % point of absolute errors, and the mean of signed ones, in units of weight."""

    mean: float
    p95: float
    bias: float

    @classmethod
    def of(cls, moves: Float) -> Outcome:
        """From signed errors."""
        size = np.abs(moves)
        return cls(float(size.mean()), float(np.quantile(size, 0.95)), float(moves.mean()))

    @classmethod
    def mean_of(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Of several releases."""
        return cls(*np.mean(outcomes, axis=0).tolist())

    def changed(self, before: Outcome, after: Outcome) -> Outcome:
        """These errors, which are means, as far as one change of a single release tells: by the ratio of sizes."""
        if before.mean <= 0 or before.p95 <= 0:
            return after
        mean, bias = self.mean * after.mean / before.mean, self.bias + (after.bias - before.bias)
        return Outcome(mean, self.p95 * after.p95 / before.p95, min(max(bias, -mean), mean))


class PerHop(NamedTuple):
    """How errors grow with hops: bias in proportion, variance in proportion."""

    bias: float
    variance: float

    @classmethod
    def fitted(cls, hops: Float, moves: Float) -> PerHop:
        """The slope is that of the farther half: short routes know little of it."""
        far = hops >= np.median(hops)
        bias = float(moves[far].sum() / hops[far].sum())
        return cls(bias, float(((moves - bias * hops) ** 2).sum() / hops.sum()))

    def mean_error(self, hops: Float, share: Float) -> float:
        """The mean of ``|N(bias h, variance h)|`` over hop counts h with these shares."""
        from scipy.special import erf

        middle, spread = self.bias * hops, np.sqrt(self.variance * hops) + 1e-300
        ratio = np.clip(middle / spread, -1e100, 1e100)
        size = spread * np.sqrt(2 / np.pi) * np.exp(-np.minimum(ratio**2 / 2, 700.0)) + middle * erf(ratio / np.sqrt(2))
        return float(size @ share)


def is_slow(strategy: Strategy, estimator: str = "auto") -> bool:
    """Whether it is read with an estimator that takes long."""
    chosen, reader = reading(strategy, estimator=estimator)
    return chosen.searches and reader.costly


def simulated(strategy: Strategy, scene: Scene, estimator: str = "auto") -> Outcome:
    """The errors of releases of stand-in weights, read by default or with another estimator."""
    (chosen, reader), slow = reading(strategy, estimator=estimator), is_slow(strategy, estimator)
    quick = quick_estimator(strategy) if slow else reader
    weights = PrivateWeights(scene.weights, num_rows=len(scene.weights))
    most = MOST_DRAWS if measured_singly(strategy) else FEW_DRAWS
    draws = max(1, min(most, SEARCHED // max(strategy.num_values, scene.true.size)))
    first, *others = (
        chosen(measure(strategy, weights, SimulatedNoise(NOISE_SEED + scene.seed + MOST_SCENES * draw)), quick)
        for draw in range(draws)
    )
    once = _outcome(first, scene)
    found = Outcome.mean_of([once, *(_outcome(decoder, scene) for decoder in others)])
    if not slow:
        return found
    if len(scene.weights) <= WHOLE_EDGES:
        return found.changed(once, _outcome(chosen(first.measurements, reader), scene))
    return _carried_over(found, scene, first.noisy, reader) if first.noisy.plain else found


def _outcome(decoder: Decoder, scene: Scene) -> Outcome:
    rows = np.empty_like(scene.true)
    decoder.rows(scene.sources, rows)
    return Outcome.of(rows[scene.pairs] - scene.true[scene.pairs])


def _carried_over(clipped: Outcome, scene: Scene, noisy: NoisyEdges, estimator: Estimator) -> Outcome:
    """What an estimator would make of answers read by ``clip``, judged on a part of the network."""
    part, count = scene.part, len(scene.weights)
    if len(noisy.edges) < count or not part.pairs.any():
        return clipped
    inside = _inside(noisy, part)
    sample = sampled_hops(scene.topology)
    hops, share = sample.hops, sample.share
    found = []
    for weights in (np.clip(inside.values, inside.lattice.low, inside.lattice.high), estimator.weights(inside)):
        rows = np.empty_like(part.true)
        distances_from(part.topology.arcs, inside.lattice.floats(weights)[part.topology.arcs.edges], part.sources, rows)
        found.append(PerHop.fitted(part.hops[part.pairs], rows[part.pairs] - part.true[part.pairs]))
    plain, better = found
    ratio = better.mean_error(hops, share) / max(plain.mean_error(hops, share), 1e-300)
    bias = better.bias * float(hops @ share)
    mean = clipped.mean * ratio
    return Outcome(mean, clipped.p95 * ratio, float(np.clip(bias, -mean, mean)))


def _inside(noisy: NoisyEdges, part: Part) -> NoisyEdges:
    """The noisy weights of a part."""
    edges, lattice = part.edges, noisy.lattice
    own = Lattice(lattice.granularity, lattice.low[edges], lattice.high[edges], part.topology.twins)
    every: Int = np.arange(len(edges))
    return NoisyEdges(part.topology, own, noisy.law, every, noisy.values[edges], noisy.scales[edges])
