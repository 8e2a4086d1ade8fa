"""As ``hierarchy``, but shortcuts are longer by what minima over noisy shortcuts are expected to lose.

An answer is a minimum over very many sums of noisy shortcuts, so it comes out low: the minimum of p normals lies up to
sqrt(2 ln p) standard deviations below their mean.  How much of that shows depends on how many paths are almost equally
long, which the release itself tells.  Stand-ins for the private weights, scaled so that their distances are as long as
the measured ones, are measured with simulated noise and read; every shortcut is lengthened by one share of
(its noise) sqrt(2 ln p), and the share that does best on the stand-in it suits least is the one that is used.

Free post-processing of the release, and always the same for the same release.  Lengthening the shortcuts rather than
the answers keeps everything else: d(x, x) = 0, symmetry, no negative answer, and the index.  It keeps no more than
``hierarchy`` does: shortcuts measured separately do not obey the triangle inequality, nor do answers made of them.

Several stand-ins, since each may be wrong: the leaf edges as they were measured (shrunk towards their mean until their
spread is what is left after the noise's; other edges drawn among them), and skewed weights, mildly and wildly.  Noise
is used with both signs, so that what it adds to sums cancels and only what it takes from minima remains.  Unless the
mean error of each falls by ``GAIN`` (it does not where noise is tiny, or drowns all distances), nothing is lengthened.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..blocks import HierarchyBlock
from ..cells.tables import Layout, table_work
from ..data.lattice import LARGEST_DISTANCE
from ..kernels.paths import distances_from
from ..measure.cells import hierarchy_numbers  # of stand-ins: public weights in, public numbers out
from ..noise import Law, simulation
from ..strategy.core import Strategy
from .core import Bound, Hops, Prediction, number_noise
from .hierarchy import HierarchyDecoder, costliest

MOST_SHARE, STEP = 1.2, 0.1
GAIN = 0.1  # the mean error must fall by this share at least
MOST_NUMBERS = 4_000_000  # beyond, or with more additions for the tables of a stand-in, simulating takes minutes
MOST_WORK = 1e9
SOURCES = 16
SPREADS = (0.6, 1.5)  # of the logarithm of skewed weights


class Trial(NamedTuple):
    """A stand-in, read with simulated noise of either sign, and its true distances from a few sources."""

    decoders: tuple[HierarchyDecoder, HierarchyDecoder]
    sources: Int
    true: Float

    def error(self, lift: Int | int) -> float:
        """Mean absolute error with shortcuts lengthened by ``lift``."""
        errors = []
        for decoder in self.decoders:
            answers = np.empty_like(self.true)
            decoder.index_over(decoder.shortcuts(lift)).rows(self.sources, answers)
            there = np.isfinite(self.true) & np.isfinite(answers)  # inside leaves too large for a table no lift matters
            errors.append(np.abs(answers[there] - self.true[there]).sum() / max(1, there.sum()))
        return float(np.mean(errors))


class LiftedDecoder(HierarchyDecoder):
    """Shortcuts that are longer by a share of their noise."""

    name = "lifted"
    summary = "as hierarchy, each shortcut longer by what minima over noisy ones are expected to lose"

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Whatever ``hierarchy`` reads, up to a size."""
        return super().reads(strategy) and strategy.num_values <= MOST_NUMBERS

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
        """The share of the largest possible loss that is made good."""
        work = table_work(Layout.of(self.hierarchy, separators=True))
        if not losses(self.strategy).any() or work > MOST_WORK:
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
        return shares[best] if worst[best] < 1 - GAIN else 0.0

    def _trials(self) -> Iterator[Trial]:
        """Every stand-in, scaled and measured with noise of both signs; none if the release is too noisy to scale."""
        strategy, arcs, n = self.strategy, self.topology.arcs, self.topology.num_nodes
        values = np.clip(self.measurements.values, -LARGEST_DISTANCE, LARGEST_DISTANCE).astype(np.float64)
        scales = np.repeat(strategy.scales, strategy.group_sizes)
        precision = 1 / np.maximum(np.repeat(number_noise(strategy), strategy.group_sizes), 1.0) ** 2
        rng = simulation(0)
        draw = rng.laplace if strategy.law is Law.LAPLACE else rng.normal
        for weights in (self._as_measured(rng), *(self._skewed(rng, spread) for spread in SPREADS)):
            numbers = self._numbers(weights).astype(np.float64)
            scale = float((precision * values * numbers).sum() / max((precision * numbers**2).sum(), 1e-300))
            if not scale > 0:
                return
            steps = self._steps(weights * scale)
            exact, noise = self._numbers(steps), draw(0.0, scales)
            sources, true = np.sort(rng.choice(n, min(n, SOURCES), replace=False)), np.empty((min(n, SOURCES), n))
            distances_from(arcs, self.lattice.floats(steps)[arcs.edges], sources, true)
            yield Trial((self._again(exact + noise), self._again(exact - noise)), sources, true)

    def _again(self, numbers: Float) -> HierarchyDecoder:
        """The plain decoder over other numbers."""
        values = np.rint(np.clip(numbers, -LARGEST_DISTANCE, LARGEST_DISTANCE)).astype(np.int64)
        decoder = HierarchyDecoder(replace(self.measurements, values=values), self.estimator)
        decoder.frame = self.frame
        return decoder

    def _as_measured(self, rng: np.random.Generator) -> Float:
        """Leaf edges as they were measured, without the spread that is noise; other edges drawn among them."""
        noisy = self.noisy
        if not len(noisy.edges):
            return self._skewed(rng, SPREADS[0])
        values = noisy.values.astype(np.float64)
        spread = float(values.var())
        kept = math.sqrt(max(0.0, 1 - float(np.mean(noisy.noise**2)) / spread)) if spread > 0 else 1.0
        low, high = self.lattice.low[noisy.edges], self.lattice.high[noisy.edges]
        mine = np.clip(values.mean() + kept * (values - values.mean()), low, high)
        if not mine.any():
            return self._skewed(rng, SPREADS[0])
        weights = rng.choice(mine, self.topology.num_edges)
        weights[noisy.edges] = mine
        return weights

    def _skewed(self, rng: np.random.Generator, spread: float) -> Float:
        return np.asarray(rng.lognormal(-math.log(self.lattice.granularity), spread, self.topology.num_edges))

    def _numbers(self, weights: Float | Int) -> Int:
        """What the strategy would measure if these were the weights."""
        return hierarchy_numbers(self.block, self.lattice, self._steps(weights))

    def _steps(self, weights: Float | Int) -> Int:
        return np.rint(np.clip(weights, self.lattice.low, self.lattice.high)).astype(np.int64)


def losses(strategy: Strategy) -> Float:
    """How far a minimum over the hubs of each cell may come out low: one number per group, in lattice steps."""
    hierarchy, noise = strategy.block(HierarchyBlock).hierarchy, number_noise(strategy)
    noise[hierarchy.num_cells :] = 0.0  # leaf edges are for estimators
    noise[: hierarchy.num_cells] *= np.sqrt(2 * np.log(np.maximum(hierarchy.hubs.sizes(), 1)))
    return noise


DECODER = LiftedDecoder
