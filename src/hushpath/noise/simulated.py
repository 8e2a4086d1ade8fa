"""Noise for trying things out on public stand-ins: **it protects nobody** and says so.

In proportion to its scale, draw by draw: the same seed under twice the scale gives twice the noise (up to rounding), so
that errors simulated under different budgets can be compared.  The exact samplers cannot do that, and these floats must
not do what exact samplers do: whatever is measured with this noise is NOT PRIVATE by construction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .laws import Law
from .samplers import simulation


class SimulatedNoise:
    """A sampler that is never private; one draw per seed."""

    name = "simulated"
    private = False

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def draw(self, law: Law, scales: NDArray[np.int64]) -> NDArray[np.int64]:
        """One number per entry of ``scales``, the same for the same seed."""
        rng = simulation(self._seed)
        plain = rng.laplace(size=len(scales)) if law is Law.LAPLACE else rng.normal(size=len(scales))
        limit = 2.0**62  # larger numbers would not fit; no plan depends on them
        return np.rint(np.clip(plain * scales, -limit, limit)).astype(np.int64)
