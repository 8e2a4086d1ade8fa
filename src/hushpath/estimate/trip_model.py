"""A model of congestion, fitted to totals of trips in four rounds.

Each round reads the totals around what the last one expected (``trip_totals.linear``), which makes them noisy values of
the logarithm of time over free flow with known variance.  A regression on facts and a smooth field over the edges
(``congestion``) explain what edges share; how strong the field is, is what predicts hidden edges best.  What is left
to each edge has a variance that differs by length, expectation and count, learnt from hidden edges too.  If nothing
predicts hidden edges better than one level per period, that level is all there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bool, Float
from ..noise import simulation
from .congestion import Columns, Seen, Solved, solve
from .line_graph import REVERSED, Fields, LineGraph, Smooth, line_graph
from .trip_facts import columns, expected_counts, no_columns, shared_facts, shunned
from .trip_totals import Linear, TripTotals, level, level_spread, linear

ROUNDS, FOLDS = 4, 4
FIRST_TAU, FIRST_ALIKE = 0.3, 0.5
FIRST_SMOOTH = Smooth(30.0, 0.02), Smooth(100.0, 0.02)
TAUS = (0.055, 1.0)
TRUSTED = 0.25  # of that correlation: hidden edges also lack what the field knows of them, in all periods alike
UNLIKE = 0.02  # variance of passes of one edge beside the square of their mean, times a typical share of a unit
OUTLIER = 6.0  # standard deviations: values farther off are drawn in
LARGEST_LOSS = 25.0  # of one hidden value
CLEARLY, SURELY = 2.0, 10.0  # a better loss, or else the simpler model; the second beside one level only
BINS, PRIOR_VARIANCE, PRIOR_WEIGHT = 8, 0.02, 1_000.0
SEARCHED = (("strength", 10**0.5, 2.0, 1000.0), ("stray", 5.0, 0.004, 0.5))  # part, step, least, largest


@dataclass(frozen=True, eq=False)
class Fitted:
    """What totals say about every edge in every period.

    Attributes:
        totals: read with these.
        flat: one logarithm of time over free flow per period, where the model begins; its numbers are added to it.
        guess: what facts and neighbours make one expect instead.
        graph: which edges are neighbours.
        around: the totals, read around that guess.
        seen: the same as noisy values, with what is left to each edge.
        fields: none if no field predicts hidden edges better than facts alone.
        solved: coefficients and field.
    """

    totals: TripTotals
    flat: Float
    guess: Float
    graph: LineGraph
    around: Linear
    seen: Seen
    fields: Fields | None
    solved: Solved

    @property
    def level_spread(self) -> Float:
        """How unsure the level of each period is, (P, 1), where coefficients do not say so: if there are no facts."""
        found = level_spread(self.totals, self.flat)
        return found if len(self.solved.beta) == len(self.flat) else np.zeros_like(found)

    @property
    def toward(self) -> Float:
        """How far each edge moves from the guess by its own values."""
        return self.seen.drawn_toward(self.seen.values - (self.guess - self.flat))


def fit(totals: TripTotals) -> Fitted:
    """Fit the model; ``totals`` have noise and at least one edge."""
    shape = totals.shape
    periods, m = shape
    graph, apart = line_graph(totals.topology), line_graph(totals.topology, REVERSED)
    fields: Fields | None = Fields(graph, apart, *FIRST_SMOOTH)
    flat = totals.limited(level(totals) + np.zeros(shape))
    guess, tau, alike = flat, np.full(shape, FIRST_TAU), FIRST_ALIKE if periods > 1 else 0.0
    shared, fold = shared_facts(totals), simulation(3).integers(0, FOLDS, m)
    avoided, plain = np.zeros(shape), False
    solved: Solved | None = None
    for turn in range(ROUNDS):
        around = linear(totals, guess)
        counts, doubt = expected_counts(totals, around, graph)
        seen = _seen(around, guess - flat, counts, doubt, tau, alike)
        if turn % 2 == 0:
            avoided = shunned(totals, guess, counts)
        facts = columns(shared, totals, counts, avoided, tau)
        if turn % 2 == 0:
            plain, fields = _chosen(facts, fields or Fields(graph, apart, *FIRST_SMOOTH), seen, fold % 2 == 0, solved)
        if plain:
            facts = no_columns(shape)
        start = solved if solved is not None and len(solved.beta) == len(facts.ridge) else None
        solved = solve(facts, fields, seen, start)
        hidden = np.empty(shape)
        for one in range(FOLDS):
            out = fold == one
            hidden[:, out] = solve(facts, fields, seen.hidden(out), solved).expected[:, out]
        tau, alike = _left(seen, hidden, np.log(totals.free_flow), np.log(counts))
        guess = totals.limited(flat + solved.expected)
    assert solved is not None
    around = linear(totals, guess)
    counts, doubt = expected_counts(totals, around, graph)
    seen = _seen(around, guess - flat, counts, doubt, tau, alike)
    return Fitted(totals, flat, guess, graph, around, seen, fields, solved)


def _seen(around: Linear, at: Float, counts: Float, doubt: Float, tau: Float, alike: float) -> Seen:
    """Totals as noisy values of the logarithm; a doubtful count makes them noisier the farther off an edge may be."""
    slope = around.slope
    steep = counts * slope
    error = (around.tilt_noise**2 + UNLIKE * counts * slope**2 + doubt * (slope * tau) ** 2) / steep**2
    most = OUTLIER * np.sqrt(error + tau**2)
    values = at + np.clip(around.tilt / steep, -most, most)
    return Seen(values, np.asarray(error, np.float64), tau, alike, np.ones(at.shape[1], np.bool_))


def _chosen(facts: Columns, fields: Fields, seen: Seen, half: Bool, start: Solved | None) -> tuple[bool, Fields | None]:
    """Whether one level must do, and else how smooth the fields are: what predicts either half from the other best."""
    weight = 1 / (seen.error + seen.tau**2)
    start = start if start is not None and len(start.beta) == len(facts.ridge) else None

    def loss(expected: Callable[[Seen], Float]) -> float:
        total = 0.0
        for out in (half, ~half):
            off = (seen.values - expected(seen.hidden(out)))[:, out]
            total += float(np.minimum(weight[:, out] * off**2, LARGEST_LOSS).sum())
        return total

    def tried(one: Fields | None) -> float:
        return loss(lambda some: solve(facts, one, some, start).expected)

    level_loss, facts_loss, best = loss(lambda some: np.zeros_like(some.values)), tried(None), tried(fields)
    for name in ("smooth", "differ")[: min(len(seen.values), 2)]:
        for part, step, least, largest in SEARCHED:
            for factor in (step, 1 / step):
                before = best
                while True:  # one way as long as it helps
                    own: Smooth = getattr(fields, name)
                    value = getattr(own, part) * factor
                    changed = own._replace(**{part: value})
                    other = replace(fields, smooth=changed) if name == "smooth" else replace(fields, differ=changed)
                    if not least <= value <= largest or (found := tried(other)) >= best - CLEARLY:
                        break
                    fields, best = other, found
                if best < before:
                    break
    if level_loss - SURELY <= min(facts_loss, best):
        return True, None
    return False, fields if best < facts_loss - CLEARLY else None


def _left(seen: Seen, hidden: Float, size: Float, crowd: Float) -> tuple[Float, float]:
    """The spread of what is left to each edge, and how alike it is between periods, from values and what hides them."""
    off, total = seen.values - hidden, seen.error + seen.tau**2
    power = np.minimum(off**2, OUTLIER**2 * total) - seen.error
    tau = np.empty_like(off)
    for q in range(len(off)):
        weight, variance = total[q] ** -2, np.ones(off.shape[1])
        for fact, least in ((size, 0.005), (hidden[q], 0.05), (crowd[q], 0.05)):
            prior = (PRIOR_WEIGHT, PRIOR_VARIANCE) if fact is size else (PRIOR_WEIGHT * PRIOR_VARIANCE**2, 1.0)
            share = _binned(power[q] / variance, weight * variance**2, fact, least, *prior)
            variance = variance * share
        tau[q] = np.clip(np.sqrt(variance), *TAUS)
    if len(off) == 1:
        return tau, 0.0
    found, most = (((x / total).sum(axis=0) ** 2 - ((x / total) ** 2).sum(axis=0)).sum() for x in (off, tau))
    alike = (found + FIRST_ALIKE * PRIOR_WEIGHT / 10) / (most + PRIOR_WEIGHT / 10)
    return tau, float(TRUSTED * np.clip(alike, 0.0, 0.97))


def _binned(power: Float, weight: Float, fact: Float, least: float, prior: float, typical: float) -> Float:
    """A variance (or a factor of it) that depends on a fact: means in bins, drawn to the mean of all, and between.

    ``prior`` is the weight that ``typical`` has beside what was seen.
    """
    which = np.searchsorted(np.quantile(fact, np.linspace(0, 1, BINS + 1)[1:-1]), fact, side="right")
    size, sums, weights = (np.bincount(which, x, BINS) for x in (None, weight * power, weight))
    middle = (sums.sum() + prior * typical) / (weights.sum() + prior)
    drawn = 0.1 * weights.sum() / BINS + prior
    means = np.maximum((sums + drawn * max(float(middle), least)) / (weights + drawn), least)
    there = size > 0
    centres = np.bincount(which, fact, BINS)[there] / size[there]
    return np.asarray(np.interp(fact, centres, means[there]), np.float64)
