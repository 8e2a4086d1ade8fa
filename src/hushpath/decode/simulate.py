"""Predicting by trying: stand-in weights are measured with the strategy's own noise and read as a release would be.

The weights are public stand-ins (``surrogates``) and the noise is simulated, so what comes out is NOT PRIVATE and need
not be.  The same scenes and seeds serve every candidate and every budget, which makes comparisons between them fair.

Some estimators are ``costly`` on large networks (beyond ``WHOLE_EDGES`` edges).  There the whole is read by the quick
one that suits it, and what another gains over ``clip`` is measured on a part: there the bias per hop and the variance
per hop of both are found, and carried over to the hop counts of the whole, bias in proportion to hops and spread in
proportion to their root.  Where sums along lines were measured, parts say nothing, and the quick one stands for both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erf

from ..arrays import Float, Int
from ..blocks.samples import hop_histogram
from ..data.lattice import Lattice
from ..data.weights import PrivateWeights
from ..estimate.core import Estimator, NoisyEdges
from ..estimate.registry import quick_estimator
from ..kernels.paths import distances_from
from ..measure import measure
from ..noise import SimulatedNoise
from ..strategy.core import Strategy
from .registry import reading
from .surrogates import Part, Scene

WHOLE_EDGES = 1200
NOISE_SEED = 1000


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
        middle, spread = self.bias * hops, np.sqrt(self.variance * hops) + 1e-300
        ratio = np.clip(middle / spread, -1e100, 1e100)
        size = spread * np.sqrt(2 / np.pi) * np.exp(-np.minimum(ratio**2 / 2, 700.0)) + middle * erf(ratio / np.sqrt(2))
        return float(size @ share)


def simulated(strategy: Strategy, scene: Scene, estimator: str = "auto") -> Outcome:
    """The errors of one release of stand-in weights, read by default or with another estimator."""
    weights = PrivateWeights(scene.weights, num_rows=len(scene.weights))
    measured = measure(strategy, weights, SimulatedNoise(NOISE_SEED + scene.seed))
    chosen, reader = reading(strategy, estimator=estimator)
    whole = not chosen.searches or not reader.costly or strategy.topology.num_edges <= WHOLE_EDGES
    decoder = chosen(measured, reader if whole else quick_estimator(strategy))
    rows = np.empty_like(scene.true)
    decoder.rows(scene.sources, rows)
    found = Outcome.of(rows[scene.pairs] - scene.true[scene.pairs])
    return _carried_over(found, scene, decoder.noisy, reader) if not whole and decoder.noisy.plain else found


def _carried_over(clipped: Outcome, scene: Scene, noisy: NoisyEdges, estimator: Estimator) -> Outcome:
    """What an estimator would make of answers read by ``clip``, judged on a part of the network."""
    part, count = scene.part, len(scene.weights)
    if len(noisy.edges) < count or not part.pairs.any():
        return clipped
    inside = _inside(noisy, part)
    hops, share = hop_histogram(scene.topology)
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
    own = Lattice(lattice.granularity, lattice.unit, lattice.low[edges], lattice.high[edges], part.topology.twins)
    every: Int = np.arange(len(edges))
    return NoisyEdges(part.topology, own, noisy.law, every, noisy.values[edges], noisy.scales[edges])
