"""Simulate a release of public stand-in weights: exact numbers plus simulated noise.

Plans, the decoder ``lifted`` and plans for trips all simulate here.  The weights are public and the noise is
predictable, so what comes out is NOT PRIVATE and need not be.  Private weights cannot get here: they are opened by
``measure`` only.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float, Int, concatenated, frozen
from ..measurement.exact import exact_numbers
from ..measurement.private_step import Measurements
from ..measurement.strategy import Strategy
from ..network.lattice import LARGEST_DISTANCE
from ..noise import simulated_noise


def exact_values(strategy: Strategy, steps: Int) -> Int:
    """Return the exact values of all numbers of a strategy, for public weights in lattice steps."""
    return concatenated([exact_numbers(block, strategy.lattice, steps) for block in strategy.blocks])


def draw_noise(strategy: Strategy, rng: np.random.Generator) -> Float:
    """Draw simulated noise for every number of a strategy.

    It is proportional to the noise scale: the same generator state gives twice the noise at twice the scale, so that
    errors under different budgets can be compared.
    """
    return simulated_noise(rng, strategy.law, np.repeat(strategy.scales, strategy.group_sizes))


def simulate_release(strategy: Strategy, exact: Int | Float, noise: Float) -> Measurements:
    """Return the release that would have these exact values and this noise."""
    whole = np.rint(np.clip(noise, -LARGEST_DISTANCE, LARGEST_DISTANCE)).astype(np.int64)
    values = frozen(np.rint(exact).astype(np.int64) + whole, np.int64)
    return Measurements(strategy, values, sampler="simulated", private=False)
