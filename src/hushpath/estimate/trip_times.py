"""Edge times from noisy totals of trips: for every period and edge a time, how sure it is, and plausible others.

``trip_totals`` says what was measured, ``trip_model`` what is expected of each edge.  Here each edge moves from that
expectation as far as its own totals warrant.  An estimate minimises the error of a time; distances are least over
many routes, so that times known badly are taken a little lower, by a share ``HOPE`` of their spread.

Plausible times for ranges of distances are exact draws from the fitted model, which carry what edges share:
coefficients, levels and fields.  Two things the model does not know are put in by factors that were chosen on simulated
cities and checked on others (``bench/trips.py``): people shun slow edges, so true times are less often luckily short
than draws (``LUCK``); and a wrong model is wrong for many edges together (``WRONG``).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import Bool, Float
from ..noise import simulation
from .congestion import sample
from .trip_model import Fitted, fit
from .trip_totals import TripTotals

__all__ = ["TripTimes", "TripTotals", "estimate_times"]

HOPE = 0.05
LUCK = (0.16, 0.22)  # in one period, in several
WRONG = (0.06, 0.25)  # beside the spread of single edges
SAMPLES = 6  # for the spread that edges share
APART = 5_000  # seeds of what the model does not know, from those of its draws
KEPT = 5 * 10**7  # numbers of draws kept for other periods


@dataclass(eq=False)
class TripTimes:
    """Estimated times.

    Attributes:
        seconds: (P, m), within the public bounds.
        spread: standard errors of the same.
    """

    seconds: Float
    spread: Float
    _known: Bool = field(repr=False)
    _model: Fitted | None = field(repr=False)
    _drawn: dict[tuple[int, int], Float] = field(default_factory=dict, repr=False)

    def draws(self, period: int, count: int, seed: int) -> Float:
        """Plausible times of one period, a row each, that share what edges share; the same for the same seed."""
        if self._model is None:
            return np.repeat(self.seconds[period][None], count, axis=0)
        if (found := self._drawn.get((count, seed))) is None:
            found = np.stack([self._draw(seed * 10_007 + turn) for turn in range(count)])
            self._drawn.clear()
            if len(self.seconds) > 1 and found.size <= KEPT:  # all periods are drawn together
                self._drawn[count, seed] = found
        return np.asarray(found[:, period], np.float64)

    def _draw(self, seed: int) -> Float:
        """All periods at once."""
        model = self._model
        assert model is not None
        shared, own = _sampled(model, seed)
        relative = np.sqrt(model.seen.left)
        several = int(len(shared) > 1)
        wrong = WRONG[several] * np.sqrt(np.mean(relative**2, axis=1, keepdims=True))
        rng = simulation(seed + APART)
        together = wrong * model.graph.wide(rng, len(shared)) + model.level_spread * rng.normal(size=(len(shared), 1))
        times = model.around.seconds * (1 + shared + own) * np.exp(LUCK[several] * relative + together)
        return np.where(self._known, self.seconds, _bounded(model.totals, times))


def estimate_times(totals: TripTotals) -> TripTimes:
    """A time for every edge in every period.

    Guarantees:
        - every time is finite, positive, and within its bounds;
        - without noise it is the ratio that was measured, wherever anything was.
    """
    periods, m = totals.shape
    known = np.zeros((periods, m), np.bool_)
    if not periods * m:
        return TripTimes(np.zeros((periods, m)), np.zeros((periods, m)), known, None)
    model = fit(totals.scaled_for_fit())
    seen, middle = model.seen, model.around.seconds
    left = seen.left
    common = np.mean([_sampled(model, turn)[0] ** 2 for turn in range(SAMPLES)], axis=0).mean(axis=1, keepdims=True)
    relative = np.sqrt(left + common * (left / seen.tau**2) ** 2 + model.level_spread**2)
    seconds = middle * (1 + model.toward) * np.exp(-HOPE * np.sqrt(left))
    spread = np.minimum(middle * relative, totals.width)
    if totals.noise <= 0:
        count = totals.above + totals.below
        known = count > 0
        share = np.clip(totals.above / np.where(known, count, 1.0), 0.0, 1.0)
        seconds = np.where(known, totals.low + share * totals.width, seconds)
        spread = np.where(known, 0.0, spread)
    return TripTimes(_bounded(totals, seconds), spread, known, model)


def _bounded(totals: TripTotals, seconds: Float) -> Float:
    """Within public bounds, and positive."""
    least = np.maximum(totals.low, np.minimum(1e-6 * totals.free_flow, totals.high))
    return np.asarray(np.clip(seconds, least, totals.high), np.float64)


def _sampled(model: Fitted, seed: int) -> tuple[Float, Float]:
    """How far a draw lies from the guess: by what edges share, and by what is left to each of them."""
    drawn, own = sample(model.solved.columns, model.fields, model.seen, model.solved, seed)
    return drawn.expected - (model.guess - model.flat), own
