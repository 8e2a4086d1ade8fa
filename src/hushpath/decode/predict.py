"""What error to expect from a strategy, read as it will be by default: from public facts only.

Decoders predict spread and bias for a sample of pairs (``Decoder.predict``); here they become the numbers of a plan.
The factor between standard deviation and mean absolute error is that of a Gaussian, sqrt(2/pi).
"""

from __future__ import annotations

import math

import numpy as np

from ..blocks.samples import few_hops, sampled_hops
from ..strategy.core import Strategy
from .core import Bound
from .registry import default_decoder

MEAN_OF_STD = math.sqrt(2 / math.pi)


def predicted_error(strategy: Strategy) -> tuple[float, float]:
    """Return predicted mean and 95th percentile of the absolute error over pairs of connected nodes."""
    if len(strategy.scales) == 0:
        return 0.0, 0.0
    expected = default_decoder(strategy).predict(strategy, sampled_hops)
    if len(expected.spread) == 0:
        return 0.0, 0.0
    # A random pair's error is a mixture of normals; its mean absolute value and 95 % point by their usual factors.
    spread, bias = expected.spread, np.asarray(expected.moved + expected.minima)
    mean = float(np.hypot(MEAN_OF_STD * spread, bias).mean()) * strategy.lattice.granularity
    return mean, float(np.sqrt(np.mean((1.96 * spread) ** 2 + bias**2))) * strategy.lattice.granularity


def expected_error(strategy: Strategy) -> float:
    """How far a typical answer is off, from few pairs: quick enough for every load of a file.

    Without the bias of minima, which a plan counts in full though little of it shows.
    """
    if len(strategy.scales) == 0:
        return 0.0
    expected = default_decoder(strategy).predict(strategy, few_hops)
    error = np.hypot(MEAN_OF_STD * expected.spread, expected.moved)
    return float(error.mean()) * strategy.lattice.granularity if len(error) else 0.0


def error_bound(strategy: Strategy, gamma: float) -> Bound:
    """What is proved for the default way to read a strategy, for all pairs at once, with probability 1 - gamma."""
    return default_decoder(strategy).bound(strategy, gamma)
