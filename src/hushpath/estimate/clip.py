"""Each noisy weight by itself, clipped to its public bounds.

Clipping keeps lengths non-negative and moves a weight towards the true one.  A distance is a minimum over paths, hence
concave in the weights: noise makes it come out low, the more the larger the noise is against the weights.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Int
from .core import Estimator, NoisyEdges


def estimate(noisy: NoisyEdges) -> Int:
    """Return the noisy weights within their bounds."""
    return np.clip(noisy.values, noisy.lattice.low[noisy.edges], noisy.lattice.high[noisy.edges])


ESTIMATOR = Estimator(
    name="clip",
    summary="each noisy weight by itself, clipped to its public bounds",
    estimate=estimate,
    proved=True,
    quick=True,
)
