"""Noisy totals of trips, and what they say around a guess.

A protected unit passes some edges in some periods.  Each of its times, clipped to public bounds, is a share p of the
way from the lowest to the highest; it adds u p to A and u (1 - p) to B, where its u have norm 1 over all it passes.
Published are A and B with independent noise.  Around a guess p0 of the mean share two combinations are independent:

    tilt   = (1 - p0) A - p0 B            with mean  (sum of u) * (p - p0)
    passes = (p0 A + (1 - p0) B) / h      with mean about  sum of u,   where h = p0^2 + (1 - p0)^2
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from ..noise import Law

MARGIN = 0.02  # of the way between the bounds: guesses keep away from them
DOUBT = 0.5  # standard deviation of the logarithm of a city's time over free flow, before anything is measured
HALVINGS = 40


@dataclass(frozen=True, eq=False)
class TripTotals:
    """What was published about trips, and the public facts it is read with.

    Attributes:
        free_flow: seconds on the empty edge, positive.
        low, high: public bounds of seconds, 0 <= low < high.
        emphasis: the public factor of each edge before the norm is taken, positive.
        above, below: noisy A and B, one row per period, in units of the norm of one protected unit.
        noise: standard deviation of each of their numbers; 0 for none.
    """

    topology: Topology
    free_flow: Float
    low: Float
    high: Float
    emphasis: Float
    above: Float
    below: Float
    noise: float
    law: Law

    @property
    def shape(self) -> tuple[int, int]:
        """Periods and edges."""
        return self.above.shape[0], self.above.shape[1]

    @cached_property
    def width(self) -> Float:
        """From the lowest time to the highest."""
        return np.asarray(self.high - self.low, np.float64)

    @cached_property
    def bounds(self) -> tuple[Float, Float]:
        """The least and the largest logarithm of time over free flow that a guess may have."""
        least, most = (np.log((self.low + share * self.width) / self.free_flow) for share in (MARGIN, 1 - MARGIN))
        return np.asarray(least, np.float64), np.asarray(most, np.float64)

    def limited(self, guess: Float) -> Float:
        """A guess within its bounds."""
        return np.asarray(np.clip(guess, *self.bounds), np.float64)

    def scaled_for_fit(self) -> TripTotals:
        """With a little noise where there is none, so that nothing is divided by 0."""
        typical = float(np.abs(self.above + self.below).mean()) if self.above.size else 0.0
        return self if self.noise > 0 else replace(self, noise=1e-3 * typical + 1e-9)


class Linear(NamedTuple):
    """Totals around a guess: tilt = passes * slope * (eta - guess) + noise, and noisy passes.

    The noises are independent of each other (normal ones; others are uncorrelated).
    """

    seconds: Float
    slope: Float
    tilt: Float
    tilt_noise: Float
    passes: Float
    passes_noise: Float


def linear(totals: TripTotals, guess: Float) -> Linear:
    """Read totals around a guess of the logarithm of time over free flow."""
    seconds = totals.free_flow * np.exp(guess)
    share = np.clip((seconds - totals.low) / totals.width, 0.0, 1.0)
    h = share**2 + (1 - share) ** 2
    tilt = (1 - share) * totals.above - share * totals.below
    passes = (share * totals.above + (1 - share) * totals.below) / h
    root = np.sqrt(h)
    return Linear(seconds, seconds / totals.width, tilt, totals.noise * root, passes, totals.noise / root)


def _level_facts(totals: TripTotals, guess: Float) -> tuple[Float, Float, Float]:
    """Sums over the edges of a period: how tilts move with the level, tilts, and the variance of their noise."""
    around = linear(totals, guess)
    steep = np.maximum((around.passes * around.slope).sum(axis=1, keepdims=True), 0.0)
    noise = np.maximum((around.tilt_noise**2).sum(axis=1, keepdims=True), 1e-300)
    return steep, around.tilt.sum(axis=1, keepdims=True), noise


def level_spread(totals: TripTotals, guess: Float) -> Float:
    """Standard deviation of the level of each period, (P, 1)."""
    steep, _, noise = _level_facts(totals, guess)
    return np.asarray(1 / np.sqrt(1 / DOUBT**2 + steep**2 / noise), np.float64)


def level(totals: TripTotals) -> Float:
    """One logarithm of time over free flow per period, (P, 1): the sums of all edges are hardly noisy.

    Where even they say nothing, it is that of free flow.
    """
    shape = (totals.shape[0], 1)
    low, high = np.full(shape, totals.bounds[0].min()), np.full(shape, totals.bounds[1].max())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        steep, tilt, noise = _level_facts(totals, totals.limited(middle))
        higher = steep * tilt / noise > middle / DOUBT**2
        low, high = np.where(higher, middle, low), np.where(higher, high, middle)
    return np.asarray((low + high) / 2, np.float64)
