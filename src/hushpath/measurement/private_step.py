"""The private step: exact numbers plus noise.  Everything else in hushpath is public.

This is the only code that sees private data and noise together; read it in one sitting.

Why the result may be published:
    1. ``strategy.certificate`` proves from public facts that noise of these scales meets the budget for every
       pair of neighbouring inputs, or raises before private data is read.
    2. Weights become integers on a public lattice, by clipping, rounding down, and sorting those of twins: edges that
       nothing public tells apart, so that the order of rows cannot show (docs/proofs/lattice.md).  Trips become
       integers whose movement by one protected unit is bounded before they are added up (docs/proofs/trips.md).
    3. The exact numbers move by no more than the certificate assumes (docs/proofs/cut_lemma.md), and how many there
       are depends on the public strategy alone.
    4. The sampler is exact and independent of the data; integer addition wraps at 64 bits, which is a function of
       the true sum and so costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ..arrays import Int, concatenated, frozen
from ..network.private_weights import PrivateWeights
from ..noise import MAX_SCALE, Law, Sampler
from ..trips.trips import Trips
from .blocks import Block
from .exact import exact_numbers
from .strategy import Strategy
from .trip_strategy import TripStrategy
from .trip_totals import trip_totals

AnyStrategy = TypeVar("AnyStrategy", bound=Strategy)


@dataclass(frozen=True, eq=False)
class Measurements:
    """Noisy numbers, safe to publish as far as ``strategy.certificate`` and the sampler go.

    Attributes
    ----------
    strategy
        The public strategy that was measured.
    values
        One lattice number per measured quantity, in the order of the strategy's groups.
    sampler
        The name of the sampler that drew the noise.
    private
        Whether the noise was secret (a seeded sampler's is not) and present at all.
    """

    strategy: Strategy
    values: Int
    sampler: str
    private: bool

    def of(self, kind: type[Block]) -> Int:
        """Return the numbers of the block of this kind."""
        return self.values[self.strategy.numbers_of(kind)]


def measure(strategy: Strategy, weights: PrivateWeights, sampler: Sampler) -> Measurements:
    """Measure local distances of private weights, each once, with fresh noise from the sampler."""
    strategy = _certified(strategy)
    steps = weights.on_lattice(strategy.lattice)
    exact = concatenated([exact_numbers(block, strategy.lattice, steps) for block in strategy.blocks])
    return _with_noise(strategy, exact, sampler)


def measure_trips(strategy: TripStrategy, trips: Trips, sampler: Sampler) -> Measurements:
    """Measure totals of people's trips, each once, with fresh noise from the sampler."""
    strategy = _certified(strategy)
    # A key of some 400 random bits for choices inside the private step, as secret as the noise is.
    key = sampler.draw(Law.LAPLACE, np.full(8, MAX_SCALE)).tobytes().hex()
    return _with_noise(strategy, trip_totals(strategy, trips, key), sampler)


def _certified(strategy: AnyStrategy) -> AnyStrategy:
    """Return a fresh object, certified anew: arrays of a copied plan may have changed since its certificate."""
    fresh = replace(strategy)
    _ = fresh.certificate  # raises if the budget does not hold
    return fresh


def _with_noise(strategy: Strategy, exact: Int, sampler: Sampler) -> Measurements:
    noise = sampler.draw(strategy.law, np.repeat(strategy.scales, strategy.group_sizes))
    if noise.shape != exact.shape or noise.dtype != np.int64:
        raise RuntimeError("every number needs one integer of noise")
    return Measurements(
        strategy=strategy, values=frozen(exact + noise, np.int64), sampler=sampler.name,
        private=sampler.private and not strategy.budget.unlimited,
    )  # fmt: skip


__all__ = ["Measurements", "measure", "measure_trips"]
