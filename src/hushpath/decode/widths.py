"""Ranges for true distances, from plausible weights: learnt on some rows, told for any pair.

Distances over every draw (``estimate.draws``) from a sample of nodes give the middle and the spread of the true
distance for some pairs.  Both are smooth in the released distance, and depend on where the ends lie: so a curve of the
distance and one number per end are kept, in logarithms, and tell the range of any pair as fast as its distance.

A range lies around a mean of that middle and the answer: two estimates whose errors differ.  How far it must reach, in
units of the spread, is what rehearsals tell: there the true distances are known, and answers and ranges are made as for
the release.  Above and below count apart: among many routes draws have more luck than true weights, which then lie
above.  Rehearsals only widen: in them the model is right, and how wrong it may be they cannot tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..estimate.draws import DRAWS, Plausible, Rehearsal, rows_over
from ..noise import simulation
from ..progress import steps

MOST_SOURCES, FEWEST_SOURCES = 48, 6
NUMBERS = 6 * 10**7  # of distances over draws, kept while the curves are learnt
KNOTS, TURNS = 16, 3
PRIOR_ROWS = 2.0  # an end is as others are, until that many rows tell otherwise
ANSWER = 0.25  # its share in the centre of a range
NARROWEST, WIDEST = 1.0, 3.0  # factors
REHEARSED_SOURCES, MANY_NODES = 12, 20_000
NORMAL_90 = 1.6449
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
        middle: logarithm of the middle of draws over the released distance, both with the unit added.
        spread: logarithm of the standard deviation over the unit.
        below, above: by how much errors to either side exceed that in rehearsals.
        shared: standard deviation of a further error in proportion to the distance.
    """

    unit: float
    middle: Curve
    spread: Curve
    below: float = 1.0
    above: float = 1.0
    shared: float = 0.0

    @classmethod
    def learnt(cls, topology: Topology, found: Plausible, sources: Int, released: Float, unit: float) -> Widths:
        """From distances over draws from some sources; ``released`` are their released rows, in units of noise."""
        plain = cls._over(topology, found.draws, sources, released, unit)
        apart = 1 if topology.num_nodes <= MANY_NODES else max(1, len(sources) // REHEARSED_SOURCES)
        misses = [cls._missed(topology, one, sources[::apart], turn) for turn, one in enumerate(found.rehearsals)]
        missed = np.concatenate([np.empty(0), *misses])
        if not len(missed):
            return replace(plain, shared=found.shared)
        both, down, up = np.quantile(np.abs(missed), 0.9), -np.quantile(missed, 0.05), np.quantile(missed, 0.95)
        trust = len(misses) / (len(misses) + 1)
        factor = np.maximum(np.array([both, down, max(both, up)]) / NORMAL_90, TINY) ** trust
        either, down, up = np.clip(factor, NARROWEST, WIDEST).tolist()
        return replace(plain, below=(either + down) / 2, above=up, shared=found.shared)

    @classmethod
    def _over(cls, topology: Topology, draws: Float, sources: Int, released: Float, unit: float) -> Widths:
        """From draws alone."""
        rows = np.empty((len(draws), *released.shape), np.float32)
        for k in steps(range(len(draws)), "drawing"):
            rows[k] = rows_over(topology, draws[k], sources)
        asked = np.isfinite(released)
        asked[np.arange(len(sources)), sources] = False
        values = rows[:, asked]
        few = np.sqrt(1 + 1 / len(values)) * (1 + 0.7 / len(values))  # a mean and a spread of few draws
        mean = values.mean(axis=0, dtype=np.float64)
        spread = MAD_TO_STD * few * np.abs(values - mean).mean(axis=0, dtype=np.float64)
        far, which = np.log(released[asked] + 1.0), np.nonzero(asked)
        ends = sources[which[0]], which[1]
        n = topology.num_nodes
        middle = _curve(np.log(mean + 1.0) - far, far, *ends, n)
        # Of one pair, from the curve: the answer's own luck.
        off = (np.expm1(far + middle.at(far, *ends)) - mean) * (1 - ANSWER)
        spread = np.sqrt(spread**2 + _smooth(off**2, far))
        return cls(unit, middle, _curve(np.log(spread + TINY), far, *ends, n))

    @classmethod
    def _missed(cls, topology: Topology, one: Rehearsal, sources: Int, turn: int) -> Float:
        """How far true distances of a rehearsal lie from the centre of their range, in units of the spread."""
        again = cls._over(topology, one.draws, sources, rows_over(topology, one.answer, sources), 1.0)
        n = topology.num_nodes
        asked = simulation(500 + turn).choice(n, min(n, REHEARSED_SOURCES), replace=False)
        true, answers = (rows_over(topology, weights, asked) for weights in (one.truth, one.answer))
        row, targets = np.nonzero(np.isfinite(true) & (asked[:, None] != np.arange(n)))
        centre, spread = again._centred(answers[row, targets], asked[row], targets)
        return np.asarray((true[row, targets] - centre) / np.maximum(spread, TINY), np.float64)

    @classmethod
    def unknown(cls, n: int, unit: float) -> Widths:
        """Where nothing is known: any distance is possible."""
        nothing = np.zeros(1)
        return cls(unit, Curve(nothing, nothing, np.zeros(n)), Curve(nothing, np.full(1, np.inf), np.zeros(n)))

    def _centred(self, released: Float, sources: Int, targets: Int) -> tuple[Float, Float]:
        """The centre of each range and the spread around it, in units of noise as ``released`` is."""
        far = np.log1p(released)
        middle = np.expm1(np.minimum(far + self.middle.at(far, sources, targets), LARGEST))
        spread = np.exp(np.minimum(self.spread.at(far, sources, targets), LARGEST))
        return ANSWER * released + (1 - ANSWER) * middle, spread

    def ranges(self, answers: Float, sources: Int, targets: Int, confidence: float) -> Float:
        """Low and high for finite released distances: around the centre, and around the answer in any case."""
        released, reach = answers / self.unit, NormalDist().inv_cdf((1 + confidence) / 2)
        centre, spread = self._centred(released, sources, targets)
        low = centre - reach * np.hypot(self.below * spread, self.shared * released)
        high = centre + reach * np.hypot(self.above * spread, self.shared * released)
        return np.stack([np.clip(low * self.unit, 0.0, answers), np.maximum(high * self.unit, answers)], axis=1)


def sample_of_ends(n: int) -> Int:
    """Where sampled rows begin."""
    count = int(np.clip(NUMBERS // (DRAWS * max(n, 1)), FEWEST_SOURCES, MOST_SOURCES))
    return np.sort(simulation(30).choice(n, min(n, count), replace=False))


def _smooth(values: Float, far: Float) -> Float:
    """The mean of values at about the same distance."""
    if not len(values):
        return values
    bins = np.searchsorted(np.unique(np.quantile(far, np.linspace(0, 1, KNOTS + 1)[1:-1])), far)
    return np.asarray((np.bincount(bins, values) / np.maximum(np.bincount(bins), 1))[bins], np.float64)


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
