"""Weights as they may be: draws from what a release says about them, fit for sums along routes.

A range for a true distance is the spread of distances over such draws.  Draws edge by edge would be too sure of
themselves: errors that edges share do not average out along a route.  Each draw carries

* the uncertainty of the coefficients of the expectation (``regression``) and of the shift (``shift``),
* the uncertainty of each weight, with fields that neighbours share (``fields``),

what routes share beyond that is added to the spread (``coherence``).  A *rehearsal* tells how far to trust them: a
draw is taken for the truth, measured again with fresh noise and estimated like the release; how far its true distances
lie from the new draws, in units of their spread, is the factor by which to widen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from ..arrays import Float, Int
from ..data.topology import Topology
from ..kernels.paths import distances_from
from ..noise import simulation
from ..progress import steps
from . import shrink
from .coherence import shared_along_routes
from .fields import RANGES, Fields
from .regression import Expectation
from .residuals import Observed
from .shift import Shift, square_root

DRAWS = 24
QUANTILES = 16  # of one weight, for its spread
BINS, EDGES_PER_BIN = 24, 40
REHEARSED_DRAWS, REHEARSED_SOURCES = 12, 12
NARROWEST, WIDEST = 1.0, 3.0  # factors; few rehearsals do not prove that draws are too wide
MOST_SHARED, SIGNS = 1.0, 8
NORMAL_90 = 1.6449
FEW_EDGES = 5000  # up to here one rehearsal is too few: its routes share too much


@dataclass(frozen=True, eq=False)
class Belief:
    """A model fitted to noisy weights, in units of noise.

    Attributes:
        fitted, shift: the model.
        mean, spread: of each weight; the spread is typical for edges with such a guess, whatever their own noise.
    """

    fitted: Expectation
    shift: Shift
    mean: Float
    spread: Float

    @classmethod
    def of(cls, topology: Topology, observed: Observed) -> Belief:
        """Fit it."""
        fitted = shrink.expect(topology, observed)
        shift = Shift.of(topology, fitted)
        levels = np.tile((np.arange(QUANTILES)[:, None] + 0.5) / QUANTILES, (1, len(fitted.guess)))
        found = observed.posterior(fitted.guess, fitted.residuals, fitted.which, levels)
        mean, guess = found.mean + shift.added(found.mean), fitted.guess
        parts = int(np.clip(len(guess) // EDGES_PER_BIN, 2, BINS))
        bins = np.searchsorted(np.quantile(guess, np.linspace(0, 1, parts + 1)[1:-1]), guess)
        power = np.bincount(bins, found.draws.var(axis=0)) / np.maximum(np.bincount(bins), 1)
        return cls(fitted, shift, mean, np.maximum(np.sqrt(power[bins]), 1e-3))

    @property
    def left(self) -> Float:
        """Noisy weights less estimated ones."""
        return self.fitted.observed.values - self.mean

    def along_routes(self, topology: Topology, left: Float) -> Float:
        """The variance that rows of errors share along routes, relative to the square of their length."""
        return shared_along_routes(topology, self.fitted.prior_mean(), np.maximum(self.mean, 0.0), left)

    def draws(self, fields: Fields, shares: Float, count: int, seed: int) -> Float:
        """Plausible weights, a row each."""
        rng, fitted, observed = simulation(seed), self.fitted, self.fitted.observed
        root = square_root(fitted.covariance)
        out = np.empty((count, len(self.mean)))
        for row in out:
            coefficients = fitted.coefficients + root @ rng.normal(size=len(root))
            guess = replace(fitted, coefficients=coefficients).guess
            levels = ndtr(fields.sampled(shares, rng))[None]
            found = observed.posterior(guess, fitted.residuals, fitted.which, levels)
            moved = found.draws[0] + self.shift.added(found.mean, rng.normal(size=len(self.shift.root)))
            row[:] = np.clip(moved, observed.low, observed.top)
        return out


@dataclass(frozen=True, eq=False)
class Plausible:
    """Weights as they may be, in units of noise.

    Attributes:
        mean: of each weight.
        draws: plausible weights, a row each.
        factor: by which the spread of distances over the draws falls short in rehearsals.
        shared: standard deviation of the error that routes surely have beyond that of the draws, relative to length.
    """

    mean: Float
    draws: Float
    factor: float
    shared: float


def plausible(topology: Topology, observed: Observed, count: int = DRAWS) -> Plausible:
    """What a release says about all weights together; the same for the same release."""
    belief, fields = Belief.of(topology, observed), Fields(topology)
    rehearsals = 2 if topology.num_edges <= FEW_EDGES else 1
    found: list[Float] = []
    shares, leak = np.zeros(0), 0.0
    for turn in steps(range(rehearsals + 1), "rehearsing"):
        if turn == 0:
            truth, again = _again(topology, belief, fields, np.zeros(len(RANGES)), turn)
            errors, left = (truth - again.mean) / again.spread, again.left / again.spread
            shares = fields.shares(belief.left, belief.spread, fields.products(errors) - fields.products(left))
            error, seen = again.along_routes(topology, np.stack([truth - again.mean, again.left]))
            leak = float(error - seen)
        else:
            truth, again = _again(topology, belief, fields, shares, turn)
            found.append(_misses(topology, truth, again.draws(fields, shares, REHEARSED_DRAWS, 200 + turn), turn))
    misses = np.concatenate(found)
    missed = float(np.quantile(misses, 0.9)) / NORMAL_90 if len(misses) else 1.0
    trust = rehearsals / (rehearsals + 1)
    factor = float(np.clip(max(missed, 0.1) ** trust, NARROWEST, WIDEST))
    mean, draws = np.clip(belief.mean, observed.low, observed.top), belief.draws(fields, shares, count, 100)
    mixed = belief.left * simulation(600).choice([-1.0, 1.0], (SIGNS, len(mean)))  # errors that share nothing
    found_there = belief.along_routes(topology, np.vstack([belief.left, mixed, draws - draws.mean(axis=0)]))
    seen, chance, drawn = found_there[0], found_there[1 : SIGNS + 1], found_there[SIGNS + 1 :]
    proved = float(seen + leak - np.mean(drawn) - np.sqrt(np.mean(chance**2)))
    shared = np.sqrt(max(proved, 0.0))
    return Plausible(mean, draws, factor, min(float(shared), MOST_SHARED))


def _again(topology: Topology, belief: Belief, fields: Fields, shares: Float, turn: int) -> tuple[Float, Belief]:
    """A draw taken for the truth, and what would be believed of it if it were released."""
    observed, rng = belief.fitted.observed, simulation(300 + turn)
    truth = belief.draws(fields, shares, 1, 400 + turn)[0]
    noise = rng.normal(size=len(truth)) if observed.gaussian else rng.laplace(size=len(truth))
    return truth, Belief.of(topology, replace(observed, values=truth + noise * observed.scales))


def _misses(topology: Topology, truth: Float, draws: Float, turn: int) -> Float:
    """How far true distances lie from those over draws, in units of their spread."""
    n = topology.num_nodes
    sources = simulation(500 + turn).choice(n, min(n, REHEARSED_SOURCES), replace=False)
    true, rows = rows_over(topology, truth, sources), np.stack([rows_over(topology, one, sources) for one in draws])
    asked = np.isfinite(true) & (true > 0)
    few = np.sqrt(1 + 1 / len(draws)) * (1 + 0.7 / len(draws))  # a mean and a spread of few draws
    spread = rows[:, asked].std(axis=0, ddof=1) * few
    return np.asarray(np.abs(true[asked] - rows[:, asked].mean(axis=0)) / np.maximum(spread, 1e-9), np.float64)


def rows_over(topology: Topology, weights: Float, sources: Int) -> Float:
    """Full rows of distances from each source."""
    out = np.empty((len(sources), topology.num_nodes))
    distances_from(topology.arcs, np.maximum(weights, 0.0)[topology.arcs.edges], sources, out)
    return out
