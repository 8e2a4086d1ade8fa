"""Weights as they may be: draws from what a release says about them, fit for sums along routes.

A range for a true distance is the spread of distances over such draws.  Draws edge by edge would be too sure of
themselves: errors that edges share do not average out along a route.  Each draw carries

* the uncertainty of the coefficients of the expectation (``regression``) and of the shift (``shift``),
* the uncertainty of each weight, with fields that neighbours share (``fields``),

what routes share beyond that is added to the spread (``coherence``).  *Rehearsals* tell how far to trust them: a draw
is taken for the truth, measured again with fresh noise, and read again from scratch by the estimator that answers; how
far its true distances lie from the new answers is known.  These draws carry no doubt about coefficients and shift: they
are what the fitted model describes, and whatever the fit gets wrong it gets wrong again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..kernels.paths import distances_from
from ..noise import simulation
from ..progress import steps
from . import shrink
from .coherence import shared_along_routes
from .core import NoisyEdges
from .fields import RANGES, Fields
from .regression import Expectation
from .residuals import Observed
from .shift import Shift, square_root

DRAWS = 24
QUANTILES = 16  # of one weight, for its spread
BINS, EDGES_PER_BIN = 24, 40
REHEARSED_DRAWS = 12
REHEARSALS = ((5_000, 3), (20_000, 2))  # up to so many edges; else 1: in small networks routes share too much
MOST_SHARED, SIGNS = 1.0, 8
CHANCE = 2.0  # standard deviations

Found = TypeVar("Found")


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
    def of(cls, topology: Topology, observed: Observed, even: float | None = None) -> Belief:
        """Fit it; a rehearsal is told how far errors are even, and takes fewer rounds."""
        fitted = shrink.expect(topology, observed, even)
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

    def doubtless(self) -> Belief:
        """The same model, with no doubt about its coefficients and its shift."""
        fitted = replace(self.fitted, covariance=np.zeros_like(self.fitted.covariance))
        return replace(self, fitted=fitted, shift=replace(self.shift, root=np.zeros_like(self.shift.root)))

    def draws(self, fields: Fields, shares: Float, count: int, seed: int) -> Float:
        """Plausible weights, a row each."""
        from scipy.special import ndtr

        rng, fitted, observed = simulation(seed), self.fitted, self.fitted.observed
        root = square_root(fitted.covariance)
        out = np.empty((count, len(self.mean)))
        for row in out:
            coefficients = fitted.coefficients + root @ rng.normal(size=len(root))
            guess = replace(fitted, coefficients=coefficients).guess
            levels = ndtr(fields.sample(shares, rng))[None]
            found = observed.posterior(guess, fitted.residuals, fitted.which, levels)
            moved = found.draws[0] + self.shift.added(found.mean, rng.normal(size=len(self.shift.root)))
            row[:] = np.clip(moved, observed.low, observed.top)
        return out


class Rehearsal(NamedTuple):
    """Weights taken for the truth, the answers that would be given if they were, and draws around these."""

    truth: Float
    answer: Float
    draws: Float


@dataclass(frozen=True, eq=False)
class Plausible:
    """Weights as they may be, in units of noise.

    Attributes:
        draws: plausible weights, a row each.
        rehearsals: what happens if weights like these are the truth.
        shared: standard deviation of the error that routes surely have beyond that of the draws, relative to length.
    """

    draws: Float
    rehearsals: tuple[Rehearsal, ...]
    shared: float


def plausible(noisy: NoisyEdges, estimated: Callable[[NoisyEdges], Int], count: int = DRAWS) -> Plausible:
    """What a release says about all weights together, read by an estimator; the same for the same release."""
    topology, unit = noisy.topology, float(np.median(noisy.scales))
    belief, fields = Belief.of(topology, Observed.of(noisy, unit)), Fields(topology)
    rehearsals = next((times for most, times in REHEARSALS if topology.num_edges <= most), 1)
    shares, found, leaks = np.zeros(len(RANGES)), [], []
    for turn in steps(range(rehearsals + 1), "rehearsing"):
        truth, measured = _measured_again(noisy, belief.doubtless().draws(fields, shares, 1, 400 + turn)[0], turn)
        again = Belief.of(topology, Observed.of(measured, unit), belief.fitted.residuals.even)
        error, seen = again.along_routes(topology, np.stack([truth - again.mean, again.left]))
        leaks.append(float(error - seen))  # noise is in neighbours' estimates
        if turn == 0:
            leak = fields.products((truth - again.mean) / again.spread) - fields.products(again.left / again.spread)
            shares = fields.shares(belief.left, belief.spread, leak)
        else:
            answer = estimated(measured) / unit
            found.append(Rehearsal(truth, answer, again.draws(fields, shares, REHEARSED_DRAWS, 200 + turn)))
    draws = belief.draws(fields, shares, count, 100)
    return Plausible(draws, tuple(found), _shared(topology, belief, draws, np.array(leaks)))


def if_solvable(find: Callable[[], Found]) -> Found | None:
    """What is found by fitting a ``Belief``, without warnings; none for numbers that no measurement brings."""
    try:
        with np.errstate(all="ignore"):
            return find()
    except np.linalg.LinAlgError:
        return None


def _measured_again(noisy: NoisyEdges, weights: Float, turn: int) -> tuple[Float, NoisyEdges]:
    """Weights on the lattice, and what would be published of them, with other noise."""
    unit, lattice = float(np.median(noisy.scales)), noisy.lattice
    truth = np.clip(np.rint(weights * unit), lattice.low[noisy.edges], lattice.high[noisy.edges])
    values = np.rint(truth + noisy.drawn(simulation(300 + turn))).astype(np.int64)
    return truth / unit, replace(noisy, values=values)


def _shared(topology: Topology, belief: Belief, draws: Float, leaks: Float) -> float:
    """The error that routes share beyond that of the draws, as far as it is more than chance."""
    mixed = belief.left * simulation(600).choice([-1.0, 1.0], (SIGNS, len(belief.mean)))  # errors that share nothing
    found = belief.along_routes(topology, np.vstack([belief.left, mixed, draws - draws.mean(axis=0)]))
    seen, chance, drawn = found[0], found[1 : SIGNS + 1], found[SIGNS + 1 :]
    spread = np.sqrt(np.mean(chance**2) + leaks.var(ddof=1) * (1 + 1 / len(leaks)))
    proved = float(seen + leaks.mean() - np.mean(drawn) - CHANCE * spread)
    return min(float(np.sqrt(max(proved, 0.0))), MOST_SHARED)


def rows_over(topology: Topology, weights: Float, sources: Int) -> Float:
    """Full rows of distances from each source."""
    out = np.empty((len(sources), topology.num_nodes))
    distances_from(topology.arcs, np.maximum(weights, 0.0)[topology.arcs.edges], sources, out)
    return out
