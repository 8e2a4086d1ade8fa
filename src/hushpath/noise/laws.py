r"""The two noise laws: what they guarantee, their mass functions and widths.

Both are on the integers; ``scale`` is an integer number of lattice steps, and scale 0 means
no noise.  For integer answers whose neighbours differ by at most ``D1`` in l1 or ``D2`` in l2 norm:

    law        P(x), x integer          guarantee                  std
    Laplace    ∝ exp(-|x|/scale)        (D1/scale)-DP              1 / (√2 sinh(1/(2 scale))) ≈ √2 scale
    Gaussian   ∝ exp(-x²/(2 scale²))    (D2²/(2 scale²))-zCDP      scale (less 1e-7 at scale 1)

(Canonne, Kamath and Steinke 2020, Theorem 4 for the Gaussian.)  The privacy loss falls as the
scale grows, so calibration rounds scales **up**.  Normalisers are closed forms: a geometric series for
Laplace; for the Gaussian Poisson summation, ``sum_k exp(-k²/2s²) = s √(2π) sum_j exp(-2π²s²j²)``, of
which ``|j| <= 1`` is all that double precision can see at ``s >= 1`` (the next terms are ``exp(-79)``).

These formulas describe the noise; the samplers use no floating-point numbers.
"""

from __future__ import annotations

import math
from enum import StrEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError

# Exact as a float (opendp takes one), and leaves the vector sampler 2**11 turns of headroom in int64.
MAX_SCALE = 2**52

# Up to here Gaussian quantiles are sums of the mass itself; beyond, the continuous law is off by < 1 step.
SUMMED_UP_TO = 10_000


class Law(StrEnum):
    """The noise distributions.  The set is closed: each has a proof, two samplers and tests of both."""

    LAPLACE = "laplace"
    GAUSSIAN = "gaussian"


def std(law: Law, scale: int) -> float:
    """Return the standard deviation in lattice steps, exact to double precision at every scale.

    >>> std(Law.GAUSSIAN, 1000), round(std(Law.LAPLACE, 1000), 3), round(std(Law.LAPLACE, 1), 3)
    (1000.0, 1414.214, 1.357)
    """
    scale = check_scale(scale)
    if scale == 0:
        return 0.0
    if Law(law) is Law.LAPLACE:
        return 1 / (math.sqrt(2) * math.sinh(0.5 / scale))
    first = math.exp(-2 * (math.pi * scale) ** 2)  # j = 1 in the Poisson sum, and below for x² exp(-x²/2s²)
    return scale * math.sqrt((1 + 2 * first * (1 - (2 * math.pi * scale) ** 2)) / (1 + 2 * first))


def stds(law: Law, scales: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the standard deviation for each of many scales, of which few differ."""
    distinct, which = np.unique(scales, return_inverse=True)
    return np.array([std(law, int(scale)) for scale in distinct], np.float64)[which]


def pmf(law: Law, scale: int, x: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return P(x) entry by entry, normalised in closed form.

    >>> pmf(Law.LAPLACE, 1, np.array([-1, 0, 1])).round(4).tolist()
    [0.17, 0.4621, 0.17]
    """
    scale = check_scale(scale)
    distance = np.abs(np.asarray(x, dtype=np.float64))
    if scale == 0:
        return np.asarray(distance == 0, dtype=np.float64)
    if Law(law) is Law.LAPLACE:
        return np.asarray(math.tanh(0.5 / scale) * np.exp(-distance / scale))
    mass = math.sqrt(2 * math.pi) * scale * (1 + 2 * math.exp(-2 * (math.pi * scale) ** 2))
    return np.asarray(np.exp(-0.5 * (distance / scale) ** 2) / mass)


def quantile(law: Law, scale: int, q: float) -> int:
    """Return the smallest x with ``P(X <= x) >= q``, for 0 < q < 1.

    Laplace: closed form, exact at every scale up to float rounding (which can move a tie by one step).
    Gaussian: summed from the exact mass up to scale 10 000; above, the continuous law with continuity
    correction, less than one lattice step away.

    >>> quantile(Law.LAPLACE, 7, 0.975), quantile(Law.GAUSSIAN, 7, 0.975), quantile(Law.GAUSSIAN, 7, 0.025)
    (21, 14, -14)
    """
    scale = check_scale(scale)
    if not 0 < q < 1:
        raise OptionError(f"`q` must be between 0 and 1, got {q}")
    if scale == 0:
        return 0
    # Both laws are symmetric: above the median, the first x >= 0 with P(X > x) <= 1 - q;
    # below it, minus the last m >= 0 with P(X >= m) >= q.
    if q >= 0.5:
        return max(0, math.ceil(_find_tail(law, scale, 1 - q)) - 1)
    return -max(0, math.floor(_find_tail(law, scale, q)))


def _find_tail(law: Law, scale: int, p: float) -> float:
    """Return m (real where a formula gives it) such that ``P(X >= m)`` comes down to p there, p <= 1/2."""
    if Law(law) is Law.LAPLACE:  # P(X >= m) = exp(-m/scale) / (1 + exp(-1/scale)) for m >= 1
        return -scale * (math.log(p) + math.log1p(math.exp(-1 / scale)))
    if scale > SUMMED_UP_TO:  # P(X >= m) is nearly the continuous P(X >= m - 1/2)
        return -scale * NormalDist().inv_cdf(p) + 0.5
    # Terms beyond 39 scales are zero in double precision; add the smallest first.
    steps = np.arange(1, 39 * scale + 1)
    tails = np.cumsum(pmf(law, scale, steps)[::-1])[::-1]  # tails[i] = P(X >= i + 1), falling
    above = int(np.searchsorted(-tails, -p, side="left"))  # how many tails exceed p strictly
    reached = above < len(tails) and tails[above] == p
    return float(above + 1) if reached else above + 0.5


def check_scale(scale: int) -> int:
    """Return one scale as an int, or raise."""
    return int(check_scales(np.asarray(scale))[()])


def check_scales(scales: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return scales as int64, or raise: whole numbers of steps, 0 <= scale <= MAX_SCALE.

    A float is refused even if it is an integer: the direction of its rounding is unknown.
    """
    array = np.asarray(scales)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise OptionError(f"a noise scale must be an integer number of lattice steps, got dtype {array.dtype}")
    for bad in (int(array.min()), int(array.max())):
        if not 0 <= bad <= MAX_SCALE:
            raise OptionError(f"a noise scale must be from 0 to 2**52 lattice steps, got {bad}")
    return array.astype(np.int64, copy=False)
