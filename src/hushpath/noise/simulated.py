"""Noise for simulations on public stand-in weights: NOT PRIVATE.

It is proportional to its scale: the same generator state gives twice the noise at twice the scale, so that errors
simulated under different budgets can be compared.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .laws import Law


def simulated_noise(rng: np.random.Generator, law: Law, scales: NDArray[np.int64]) -> NDArray[np.float64]:
    """Draw one continuous number of noise per entry of ``scales`` (lattice steps, 0 for no noise)."""
    plain = rng.laplace(size=len(scales)) if law is Law.LAPLACE else rng.normal(size=len(scales))
    return np.asarray(plain * scales, np.float64)
