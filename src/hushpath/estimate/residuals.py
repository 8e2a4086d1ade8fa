"""How far weights lie from what public facts make one expect: a law of residuals, learnt from the release.

Residuals are differences of logarithms, cut into cells that are fine around 0 and coarse far from it.  Their law is a
mixture of bells of many widths around 0, two beside it, halves of bells above it (a queue makes a road slower than it
is by itself, nothing makes it faster), and a chance that a weight is the lowest there is (an unused pipe, a closed
road).  The narrowest bell stands for "exactly as expected": a length that is the weight itself.

Where errors do not grow with the weight (a length that is off by a summand), logarithms of large weights are nearer to
what was expected than those of small ones: the law is *stretched* by a factor that falls with the expected weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Float, Int
from ..kernels.paths import in_threads
from ..kernels.residuals import LEAST, likelihood, posterior
from ..noise import Law
from .core import NoisyEdges

EDGE_OF_CELLS, FINEST, GROWTH = 7.0, 0.01, 1.2
OFFSET = 0.1  # in units of noise: weights far below the noise need not be told apart
WIDTHS = (0.005, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0)
APART = ((-2.0, 1.0), (2.0, 1.0))  # centre and width of bells for edges of another kind
LONGER = (0.25, 0.5)  # widths of half bells
MOST_APART = 0.3  # of all edges: if more are of another kind, it is the guess that is off, and must move
EXACT = 0  # the narrowest bell
HEAVY_TAIL = 0.01  # a share of wide bells in every law: a release can always overrule what was expected
FIRST_SKEW = 0.1
MOST_STRETCHED = 8.0  # a small weight's law beside a large one's
WORTH_A_THREAD = 10_000  # edges
POOLED = 20  # a class of edges with fewer follows the others


def _cells() -> Float:
    side, width = [FINEST], FINEST
    while side[-1] < EDGE_OF_CELLS:
        width *= GROWTH
        side.append(side[-1] + width)
    return np.array([*(-x for x in reversed(side)), *side])


CELLS = _cells()
_WIDTH = np.array([*WIDTHS, *(spread for _, spread in APART), *LONGER])
_TOP = np.array([*(0.0 for _ in WIDTHS), *(centre for centre, _ in APART), *(0.0 for _ in LONGER)])
BELLS = len(_WIDTH)
HALF = np.arange(BELLS) >= BELLS - len(LONGER)
SPREADS = np.where(HALF, _WIDTH * np.sqrt(1 - 2 / np.pi), _WIDTH)  # standard deviations
CENTRES = np.where(HALF, _WIDTH * np.sqrt(2 / np.pi), _TOP)  # means


def _below(at: Float) -> Float:
    """The chance that a standard normal number is below each of these."""
    return np.array([0.5 * math.erfc(-one / math.sqrt(2)) for one in at.ravel()]).reshape(at.shape)


_AT, _HALF = (CELLS - _TOP[:, None]) / _WIDTH[:, None], HALF[:, None]
_DENSITY = np.exp(-0.5 * _AT**2) / (np.sqrt(2 * np.pi) * _WIDTH[:, None]) * np.where(_HALF, 2 * (_AT > 0), 1)
MASS = np.diff(np.where(_HALF, np.maximum(2 * _below(_AT) - 1, 0), _below(_AT)), axis=1)  # of each bell in each cell
SLOPE = -np.diff(_DENSITY, axis=1)  # as the guess moves up
_UP_TO, _SLOPE_UP_TO = (np.pad(np.cumsum(table, axis=1), ((0, 0), (1, 0))) for table in (MASS, SLOPE))
_APART = np.append((_TOP != 0), False)  # and the lowest weight is not
TAIL = np.where((SPREADS >= 1) & (CENTRES == 0), 0.5, 0.0)


@dataclass(frozen=True, eq=False)
class Observed:
    """Noisy weights as the kernels take them, in units of the typical noise scale."""

    gaussian: bool
    values: Float
    scales: Float
    low: Float
    top: Float

    @classmethod
    def of(cls, noisy: NoisyEdges, unit: float) -> Observed:
        """Nothing is lost by a top that no value comes near."""
        low, high = noisy.lattice.low[noisy.edges] / unit, noisy.lattice.high[noisy.edges] / unit
        values, scales = noisy.values / unit, noisy.scales / unit
        highest = float(np.max(values, initial=0.0)) + 20 * float(scales.max(initial=1.0))
        top = np.maximum(np.minimum(high, highest), low)
        return cls(noisy.law is Law.GAUSSIAN, values, scales, low, top)

    @property
    def noise(self) -> Float:
        """The standard deviation of each value's noise."""
        return np.asarray(self.scales * (1.0 if self.gaussian else np.sqrt(2)))

    def part(self, rows: Int) -> Observed:
        """Some of the edges."""
        return replace(self, values=self.values[rows], scales=self.scales[rows], low=self.low[rows], top=self.top[rows])

    def evidence(self, guess: Float, stretch: Float) -> Evidence:
        """How well each bell around the guess, cut off at the bounds, and the lowest weight explain each value.

        Slopes are those of a law that is stretched alike everywhere, as it nearly is where slopes matter.
        """
        m = len(guess)
        rows, first, last = np.empty((m, len(CELLS))), np.empty(m, np.int64), np.empty(m, np.int64)
        seen = self.gaussian, self.values, self.scales, guess, stretch, CELLS, OFFSET, self.low, self.top
        in_threads(
            lambda part: likelihood(*seen, rows, first, last, part.start, part.stop), m, worth_it=m >= WORTH_A_THREAD
        )
        inside = _UP_TO[:, last].T - _UP_TO[:, first].T
        change = _SLOPE_UP_TO[:, last].T - _SLOPE_UP_TO[:, first].T
        there = inside > LEAST
        inside = np.where(there, inside, 1.0)
        bells = np.where(there, rows[:, :-1] @ MASS.T, 0.0) / inside
        slopes = np.where(there, rows[:, :-1] @ SLOPE.T, 0.0) / inside - bells * (change / inside)
        return Evidence(np.hstack([bells, rows[:, -1:]]) + 1e-30, slopes / stretch[:, None])

    def posterior(self, guess: Float, residuals: Residuals, which: Int, uniform: Float) -> Posterior:
        """What the release says about each weight."""
        m = len(guess)
        before, mean, residual, spread = np.empty((4, m))
        draws = np.empty((len(uniform), m))
        stretch = residuals.stretch(guess)
        seen = self.gaussian, self.values, self.scales, guess, stretch, CELLS, OFFSET, self.low, self.top
        prior, out = (residuals.shares, which, MASS), (before, mean, residual, spread, draws)
        in_threads(
            lambda part: posterior(*seen, *prior, uniform, *out, part.start, part.stop), m, worth_it=m >= WORTH_A_THREAD
        )
        return Posterior(before, mean, residual, spread, draws)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Per edge the likelihood under each bell, and last under the lowest weight; and its slope by the guess."""

    bells: Float
    slopes: Float


@dataclass(frozen=True, eq=False)
class Posterior:
    """Per edge: mean weight before its own noisy one is seen, and after; mean residual, its variance; draws of all."""

    before: Float
    mean: Float
    residual: Float
    spread: Float
    draws: Float


@dataclass(frozen=True, eq=False)
class Residuals:
    """One law per class of edges.

    Attributes:
        shares: of each bell, and last of the lowest weight.
        even: the weight up to which errors do not grow with it; 0 if they always do.
    """

    shares: Float
    even: float = 0.0

    def stretch(self, guess: Float) -> Float:
        """By how much to stretch the law of each residual: 1 for the smallest weights, less for larger ones."""
        if not self.even:
            return np.ones(len(guess))
        weight = np.exp(guess)
        return np.asarray((weight + self.even) / (weight * MOST_STRETCHED + self.even))

    @classmethod
    def vague(cls, classes: int, even: float = 0.0) -> Residuals:
        """Before anything is learnt.

        Half bells are left out.  Beside a guess that is still too low they explain everything, and it stays there.
        """
        share = np.full(BELLS + 1, 0.2 / (BELLS + 1))
        share[:BELLS][np.isin(SPREADS, (0.5, 1.0)) & (CENTRES == 0)] += 0.4
        share[:BELLS][HALF] = 0.0
        share[BELLS] += 0.15
        return cls(np.tile(share / share.sum(), (classes, 1)), even)

    def skewed(self) -> Residuals:
        """With half bells, a little of each, where there are none."""
        if (self.shares[:, :BELLS][:, HALF] > 0).all():
            return self
        seed = FIRST_SKEW * np.append(HALF / HALF.sum(), 0.0)
        return replace(self, shares=(1 - FIRST_SKEW) * self.shares + seed)

    @property
    def exact(self) -> Float:
        """The chance, per class, that a weight is exactly as expected."""
        return self.shares[:, EXACT]

    @property
    def variance(self) -> Float:
        """Of a residual, per class, lowest weights aside."""
        bells = self.shares[:, :BELLS] / self.shares[:, :BELLS].sum(1, keepdims=True)
        return np.asarray(np.maximum(bells @ (SPREADS**2 + CENTRES**2) - (bells @ CENTRES) ** 2, 1e-4))

    def refined(self, evidence: Float, which: Int, rounds: int = 30) -> Residuals:
        """Shares by expectation and maximisation; small classes follow the pooled ones.  Bells left out stay out."""
        shares, sizes = self.shares, np.bincount(which, minlength=len(self.shares))
        members = [evidence[which == one] for one in range(len(shares))]
        for _ in range(rounds):
            pooled = sizes @ shares / max(sizes.sum(), 1)
            new = [
                own * (rows.T @ (1 / (rows @ own))) + POOLED * pooled + 0.5 / (BELLS + 1) * (own > 0)
                for rows, own in zip(members, shares, strict=True)
            ]
            shares = _mostly_around(np.array([share / share.sum() for share in new]))
        return replace(self, shares=(1 - HEAVY_TAIL) * shares + HEAVY_TAIL * np.append(TAIL, 0.0))


def _mostly_around(shares: Float) -> Float:
    """Shares of bells apart cut to the most that is allowed; the others have the rest."""
    apart = shares[:, _APART].sum(1, keepdims=True)
    kept = np.minimum(apart, MOST_APART)
    factor = np.where(_APART, kept / np.maximum(apart, 1e-300), (1 - kept) / np.maximum(1 - apart, 1e-300))
    return np.asarray(shares * factor)
