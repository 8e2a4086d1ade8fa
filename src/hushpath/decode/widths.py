"""Ranges for true distances, from plausible weights: learnt on some rows, told for any pair.

Distances over every draw (``estimate.draws``) from a sample of nodes give the middle and the spread of the true
distance for some pairs.  Both are smooth in the released distance, and depend on where the ends lie: so a curve of the
distance and one number per end are kept, in logarithms, and tell the range of any pair as fast as its distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..estimate.draws import DRAWS, Plausible, rows_over
from ..noise import simulation
from ..progress import steps

MOST_SOURCES, FEWEST_SOURCES = 48, 6
NUMBERS = 6 * 10**7  # of distances over draws, kept while the curves are learnt
KNOTS, TURNS = 16, 3
PRIOR_ROWS = 2.0  # an end is as others are, until that many rows tell otherwise
# Between the mean distance over draws and the distance over mean weights lies what luck among routes is worth.  Draws
# have a little more luck than true weights, whose errors are smoother than any model; nobody knows how much.
LUCK, SHAPE = 0.1, 0.15  # of that difference: how far to move the middle, and its standard deviation
MAD_TO_STD = 1.2533
TINY = 1e-9
LARGEST = 600.0  # a logarithm whose exponential, times any unit, is still a number


class Curve(NamedTuple):
    """A number that depends on a distance, by its logarithm, and on both ends."""

    knots: Float
    heights: Float
    ends: Float

    def at(self, far: Float, sources: Int, targets: Int) -> Float:
        """Its value for pairs whose distance has this logarithm."""
        return np.asarray(np.interp(far, self.knots, self.heights) + (self.ends[sources] + self.ends[targets]))


@dataclass(frozen=True, eq=False)
class Widths:
    """The middle and the spread of a true distance, as factors of ``unit`` and the released one.

    Attributes:
        unit: the scale of the noise: distances below it are not told apart.
        middle: logarithm of the middle over the released distance, both with the unit added.
        spread: logarithm of the standard deviation over the unit.
    """

    unit: float
    middle: Curve
    spread: Curve

    @classmethod
    def learnt(cls, topology: Topology, found: Plausible, sources: Int, released: Float, unit: float) -> Widths:
        """From distances over draws from some sources; ``released`` are their released rows, in units of noise."""
        rows = np.empty((len(found.draws), *released.shape), np.float32)
        for k in steps(range(len(found.draws)), "drawing"):
            rows[k] = rows_over(topology, found.draws[k], sources)
        over_mean = rows_over(topology, found.mean, sources)
        asked = np.isfinite(released)
        asked[np.arange(len(sources)), sources] = False
        values = rows[:, asked]
        few = np.sqrt(1 + 1 / len(values)) * (1 + 0.7 / len(values))  # a mean and a spread of few draws
        mean = values.mean(axis=0, dtype=np.float64)
        spread = MAD_TO_STD * few * np.abs(values - mean).mean(axis=0, dtype=np.float64)
        luck = over_mean[asked] - mean
        spread = np.sqrt((found.factor * spread) ** 2 + (SHAPE * luck) ** 2 + (found.shared * mean) ** 2)
        mean += LUCK * luck
        far, which = np.log(released[asked] + 1.0), np.nonzero(asked)
        ends = sources[which[0]], which[1]
        n = topology.num_nodes
        return cls(
            unit,
            _curve(np.log(mean + 1.0) - far, far, *ends, n),
            _curve(np.log(spread + TINY), far, *ends, n),
        )

    @classmethod
    def unknown(cls, n: int, unit: float) -> Widths:
        """Where nothing is known: any distance is possible."""
        nothing = np.zeros(1)
        return cls(unit, Curve(nothing, nothing, np.zeros(n)), Curve(nothing, np.full(1, np.inf), np.zeros(n)))

    def ranges(self, answers: Float, sources: Int, targets: Int, confidence: float) -> Float:
        """Low and high for finite released distances: around the middle, and around the answer in any case."""
        steps_of_noise = answers / self.unit
        far = np.log1p(steps_of_noise)
        middle = np.expm1(np.minimum(far + self.middle.at(far, sources, targets), LARGEST))
        spread = self.spread.at(far, sources, targets)
        reach = NormalDist().inv_cdf((1 + confidence) / 2) * np.exp(np.minimum(spread, LARGEST))
        low, high = np.maximum(middle - reach, 0.0), middle + reach
        return np.stack([np.minimum(low * self.unit, answers), np.maximum(high * self.unit, answers)], axis=1)


def sample_of_ends(n: int) -> Int:
    """Where sampled rows begin."""
    count = int(np.clip(NUMBERS // (DRAWS * max(n, 1)), FEWEST_SOURCES, MOST_SOURCES))
    return np.sort(simulation(30).choice(n, min(n, count), replace=False))


def _curve(values: Float, far: Float, sources: Int, targets: Int, n: int) -> Curve:
    """Heights and ends in turns."""
    ends = np.zeros(n)
    knots = heights = np.zeros(1)
    if not len(values):
        return Curve(knots, heights, ends)
    bins = np.searchsorted(np.unique(np.quantile(far, np.linspace(0, 1, KNOTS + 1)[1:-1])), far)
    count = np.bincount(bins)
    held = count > 0
    order = np.argsort(knots := np.bincount(bins, far)[held] / count[held])
    seen = np.bincount(targets, minlength=n)
    for _ in range(TURNS):
        alone = values - ends[sources] - ends[targets]
        heights = np.bincount(bins, alone)[held] / count[held]
        left = values - np.interp(far, knots[order], heights[order]) - ends[sources]
        ends = np.bincount(targets, left, minlength=n) / (seen + PRIOR_ROWS)
    return Curve(knots[order], heights[order], ends)
