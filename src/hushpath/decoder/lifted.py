"""As ``hierarchy``, with shortcuts lengthened by the expected bias of minima over noisy shortcuts.

An answer is a minimum over very many sums of noisy shortcuts, so it comes out low: the minimum of p normals is up to
sqrt(2 ln p) standard deviations below their mean.  How much of that shows depends on how many paths are almost equally
long, which the release itself shows.  Releases of stand-in weights, scaled so that their distances are as long as the
measured ones, are simulated and read.  Every shortcut is lengthened by one share of (its noise) sqrt(2 ln p): the share
that does best on the stand-in it suits least.

This is post-processing, and deterministic for a release.  Lengthening the shortcuts rather than the answers keeps
d(x, x) = 0, symmetry, non-negative answers, and the index.  Like ``hierarchy``, it does not keep the triangle
inequality: shortcuts are measured separately.

There are several stand-ins, since each may be wrong: leaf edges as they were measured (shrunk towards their mean until
their variance is what remains after that of the noise; other edges drawn among them), and skewed weights, mildly and
strongly.  Noise is used with both signs, so that its effect on sums cancels and only its effect on minima remains.
Unless the mean error on every stand-in falls by `MIN_GAIN` (it does not where noise is tiny, or exceeds all distances),
nothing is lengthened.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..index.tables import Layout, table_work
from ..measurement.blocks import HierarchyBlock
from ..measurement.samples import distance_rows
from ..measurement.strategy import Strategy
from ..network.lattice import LARGEST_DISTANCE
from ..noise import simulation
from .base import Bound, Hops, Prediction, number_noise
from .hierarchy import HierarchyDecoder, costliest
from .simulate import draw_noise, exact_values, simulate_release

MOST_SHARE, STEP = 1.2, 0.1
MIN_GAIN = 0.1  # the mean error must fall by at least this share
MAX_NUMBERS = 4_000_000  # beyond, or with more additions for the tables of a stand-in, simulating takes minutes
MAX_WORK = 1e9
SOURCES = 16
LOG_SDS = (0.6, 1.5)  # standard deviations of the logarithm of skewed weights


class Trial(NamedTuple):
    """Simulated releases of a stand-in, with noise of either sign, and its true distances from a few sources."""

    decoders: tuple[HierarchyDecoder, HierarchyDecoder]
    sources: Int
    true: Float

    def error(self, lift: Int | int) -> float:
        """Return the mean absolute error with shortcuts lengthened by ``lift``."""
        errors = []
        for decoder in self.decoders:
            answers = np.empty_like(self.true)
            decoder.index_over(decoder.shortcuts(lift)).rows(self.sources, answers)
            known = np.isfinite(self.true) & np.isfinite(answers)  # inside leaves too large for a table no lift matters
            errors.append(np.abs(answers[known] - self.true[known]).sum() / max(1, known.sum()))
        return float(np.mean(errors))


class LiftedDecoder(HierarchyDecoder):
    """Shortcuts that are lengthened by a share of their noise."""

    name = "lifted"
    summary = "as hierarchy, with each shortcut lengthened by the expected bias of minima over noisy ones"

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Whatever ``hierarchy`` reads, up to a size."""
        return super().reads(strategy) and strategy.num_values <= MAX_NUMBERS

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """That of ``hierarchy``; and an answer may be higher by all its shortcuts were lengthened, at the most."""
        plain = HierarchyDecoder.bound(strategy, gamma)
        lifted = costliest(strategy.block(HierarchyBlock), MOST_SHARE * losses(strategy))
        return replace(plain, detour=plain.detour + lifted * strategy.lattice.granularity)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """That of ``hierarchy`` without the bias of minima: what is left of it is small against the spread."""
        detour = strategy.block(HierarchyBlock).hierarchy.hops * float(strategy.lattice.high.max(initial=0))
        return replace(HierarchyDecoder.predict(strategy, hops), minima=detour)

    def shortcuts(self, longer: Int | int = 0) -> Int:
        """The measured numbers, lengthened."""
        return super().shortcuts(longer + self._lift(self.share))

    def _lift(self, share: float) -> Int:
        lift = np.repeat(share * losses(self.strategy), self.strategy.group_sizes)
        return np.rint(lift).astype(np.int64)[: int(self.block.group_sizes[: self.hierarchy.num_cells].sum())]

    @cached_property
    def share(self) -> float:
        """The share of the largest possible bias that is corrected."""
        work = table_work(Layout.of(self.hierarchy, separators=True))
        if not losses(self.strategy).any() or work > MAX_WORK:
            return 0.0
        trials = list(self._trials())
        plain = [trial.error(0) for trial in trials]
        if not trials or min(plain) <= 0:
            return 0.0
        shares, worst = [0.0], [1.0]
        while shares[-1] + STEP <= MOST_SHARE and worst[-1] <= worst[max(0, len(worst) - 3)]:
            shares.append(len(shares) * STEP)
            lift = self._lift(shares[-1])
            worst.append(max(trial.error(lift) / error for trial, error in zip(trials, plain, strict=True)))
        best = int(np.argmin(worst))
        return shares[best] if worst[best] < 1 - MIN_GAIN else 0.0

    def _trials(self) -> Iterator[Trial]:
        """Every stand-in, scaled and simulated with noise of both signs; none if the release is too noisy to scale."""
        strategy, n = self.strategy, self.topology.num_nodes
        values = np.clip(self.measurements.values, -LARGEST_DISTANCE, LARGEST_DISTANCE).astype(np.float64)
        precision = 1 / np.maximum(np.repeat(number_noise(strategy), strategy.group_sizes), 1.0) ** 2
        rng = simulation(0)
        for weights in (self._as_measured(rng), *(self._skewed(rng, sd) for sd in LOG_SDS)):
            numbers = exact_values(strategy, self._steps(weights)).astype(np.float64)
            scale = float((precision * values * numbers).sum() / max((precision * numbers**2).sum(), 1e-300))
            if not scale > 0:
                return
            steps = self._steps(weights * scale)
            exact, noise = exact_values(strategy, steps), draw_noise(strategy, rng)
            sources = np.sort(rng.choice(n, min(n, SOURCES), replace=False))
            true = distance_rows(self.topology, self.lattice.floats(steps), sources)
            yield Trial((self._decoder(exact, noise), self._decoder(exact, -noise)), sources, true)

    def _decoder(self, exact: Int, noise: Float) -> HierarchyDecoder:
        """The plain decoder of a simulated release."""
        decoder = HierarchyDecoder(simulate_release(self.strategy, exact, noise), self.estimator)
        decoder.frame = self.frame
        return decoder

    def _as_measured(self, rng: np.random.Generator) -> Float:
        """Leaf edges as measured, without the variance of the noise; other edges drawn among them."""
        noisy = self.noisy
        if not len(noisy.edges):
            return self._skewed(rng, LOG_SDS[0])
        values = noisy.values.astype(np.float64)
        variance = float(values.var())
        kept = math.sqrt(max(0.0, 1 - float(np.mean(noisy.noise**2)) / variance)) if variance > 0 else 1.0
        mine = np.clip(values.mean() + kept * (values - values.mean()), *noisy.bounds)
        if not mine.any():
            return self._skewed(rng, LOG_SDS[0])
        weights = rng.choice(mine, self.topology.num_edges)
        weights[noisy.edges] = mine
        return weights

    def _skewed(self, rng: np.random.Generator, sd: float) -> Float:
        return np.asarray(rng.lognormal(-math.log(self.lattice.granularity), sd, self.topology.num_edges))

    def _steps(self, weights: Float) -> Int:
        return np.rint(np.clip(weights, self.lattice.low, self.lattice.high)).astype(np.int64)


def losses(strategy: Strategy) -> Float:
    """How far a minimum over the hubs of each cell may come out low: one number per group, in lattice steps."""
    hierarchy, noise = strategy.block(HierarchyBlock).hierarchy, number_noise(strategy)
    noise[hierarchy.num_cells :] = 0.0  # leaf edges are for estimators
    noise[: hierarchy.num_cells] *= np.sqrt(2 * np.log(np.maximum(hierarchy.hubs.sizes(), 1)))
    return noise
