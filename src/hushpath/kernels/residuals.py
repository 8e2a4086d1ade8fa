"""What a noisy value says about the true one, and about what a model expected of it: on cells around a location.

The true value of an edge is ``exp(location + residual) - offset``, kept within its bounds.  Residuals are cut into
cells, the same for all edges, so that a mixture of normal distributions is one row of probabilities; what is beyond a
bound counts at the bound.  Within a cell every value is as likely as another.  Noise is taken as continuous: scales are
many lattice steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..compiled import njit

ROOT_TWO = math.sqrt(2.0)
FAR = 30.0  # scales beyond a bound: there the likelihood has its final shape (Laplace) or is lost in rounding
TINY = 1e-300
LOWEST_RUNG, RUNG_STEP = 0.01, 0.12  # the ladder of standard deviations: the least, and logarithms between two


@njit(cache=True, nogil=True)
def _tail(gaussian, t):
    """Return the chance that standard noise is farther out than ``t``, on the same side."""
    return 0.5 * math.erfc(abs(t) / ROOT_TWO) if gaussian else 0.5 * math.exp(-abs(t))


@njit(cache=True, nogil=True)
def _moment(gaussian, t, beyond):
    """Return the mean of standard noise below ``t`` (noise above it counting as 0); ``beyond`` is the tail of ``t``."""
    if gaussian:
        return -math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi)
    return beyond * (t - 1) if t < 0 else -beyond * (t + 1)


@njit(cache=True, nogil=True)
def _inner(a, beyond_a, c, beyond_c):
    """Return the chance of standard noise between ``a < c``, accurately, from its tails ``beyond_a``, ``beyond_c``."""
    if a >= 0:
        return beyond_a - beyond_c
    if c <= 0:
        return beyond_c - beyond_a
    return 1 - beyond_a - beyond_c


@njit(cache=True, nogil=True)
def _between(gaussian, a, c):
    return _inner(a, _tail(gaussian, a), c, _tail(gaussian, c))


@njit(cache=True, nogil=True)
def _density(gaussian, t):
    return math.exp(-0.5 * t * t) / math.sqrt(2 * math.pi) if gaussian else 0.5 * math.exp(-abs(t))


@njit(cache=True, nogil=True)
def _cell_mean(gaussian, value, scale, low, high, beyond_low, beyond_high):
    """Return the mean weight in a cell from ``low`` to ``high``, given the noisy ``value``.

    ``gaussian`` and ``scale`` describe the noise, ``beyond_low`` and ``beyond_high`` are its tails at both ends.
    """
    a, c = (low - value) / scale, (high - value) / scale
    mass = _inner(a, beyond_low, c, beyond_high)
    if c - a < 1e-6 or mass < 1e-12:  # flat, or far in a tail, where the near end holds all
        return 0.5 * (low + high) if c - a < 1.0 else (low if a > 0 else high)
    return min(
        max(value + scale * (_moment(gaussian, c, beyond_high) - _moment(gaussian, a, beyond_low)) / mass, low), high
    )


@njit(cache=True, nogil=True)
def _cell_draw(gaussian, value, scale, low, high, share):
    """Return the weight below which this ``share`` of the posterior in a cell is; for normal noise by bisection.

    ``gaussian``, ``value``, ``scale``, ``low`` and ``high`` are those of ``_cell_mean``.
    """
    a, c = (low - value) / scale, (high - value) / scale
    mass = _between(gaussian, a, c)
    if c - a < 0.1 or mass < 1e-12:
        return low + min(share, 1.0) * (high - low) if c - a < 1.0 else (low if a > 0 else high)
    if not gaussian:
        share = min(share, 1.0)
        below = _tail(gaussian, a) + share * mass if a < 0 else 1.0
        if below < 0.5:
            return min(max(value + scale * math.log(2 * below), low), high)
        return min(max(value - scale * math.log(2 * (_tail(gaussian, c) + (1 - share) * mass)), low), high)
    left, right = a, c
    for _ in range(30):
        t = 0.5 * (left + right)
        if _between(gaussian, a, t) < share * mass:
            left = t
        else:
            right = t
    return value + scale * 0.5 * (left + right)


class Seen(NamedTuple):
    """Noisy values of edges, and how the true ones follow from a location: ``exp(location) - offset``, within bounds.

    Attributes:
        gaussian: whether noise is normal, not Laplace.
        values, scales: noisy value of each edge, and scale of its noise.
        low, high: bounds of each true value.
        offset: what is added to values before taking logarithms.
    """

    gaussian: bool
    values: Float
    scales: Float
    low: Float
    high: Float
    offset: float


class Prior(NamedTuple):
    """The distribution of locations around what the model expects: a mixture, and the lowest value by itself.

    Attributes:
        shares: shares of the components and, last, of the lowest value; one row for each class of edges.
        classes: the class of each edge.
        centres, widths: mean and standard deviation of each component.
        mass: probability of each cell, for each component and standard deviation (on a ladder).
        middles, growth: middle of each cell, and exponentials of its ends.
    """

    shares: Float
    classes: Int
    centres: Float
    widths: Float
    mass: Float
    middles: Float
    growth: Float


@njit(cache=True, nogil=True)
def rung(variance, count):
    """Return the place on the ladder of standard deviations."""
    place = round((0.5 * math.log(max(variance, 1e-12)) - math.log(LOWEST_RUNG)) / RUNG_STEP)
    return min(max(int(place), 0), count - 1)


@njit(cache=True, nogil=True)
def _cells_of(seen, i, growth, location, ends, tails, chance):
    """Fill ``chance`` with the mean likelihood of edge ``i`` in each cell around its ``location``, and at its bound.

    ``seen`` and ``growth`` as in ``Seen`` and ``Prior``; ``ends`` takes the true values at the ends of cells, ``tails``
    those of the noise there.  Cells beyond a bound have the likelihood of the bound.  Returns the value that was used.
    """
    scale, low, high = seen.scales[i], seen.low[i], seen.high[i]
    cells, middle = len(growth) - 1, math.exp(min(location, 500.0))
    value = min(max(seen.values[i], low - FAR * scale), high + FAR * scale)
    for j in range(cells + 1):
        ends[j] = min(max(middle * growth[j] - seen.offset, low), high)
    a = (ends[0] - value) / scale
    tail_a = tails[0] = _tail(seen.gaussian, a)
    for j in range(cells):
        if ends[j + 1] <= ends[j]:
            chance[j], tails[j + 1] = max(_density(seen.gaussian, a), TINY), tail_a
            continue
        c = (ends[j + 1] - value) / scale
        tail_c = tails[j + 1] = _tail(seen.gaussian, c)
        if c - a < 1e-9:
            chance[j] = max(_density(seen.gaussian, a), TINY)
        else:
            chance[j] = max(_inner(a, tail_a, c, tail_c) / (c - a), TINY)
        a, tail_a = c, tail_c
    chance[cells] = max(_density(seen.gaussian, (low - value) / scale), TINY)
    return value


@njit(cache=True, nogil=True)
def update(seen, prior, location, spread, out, likelihoods, begin, end):
    """Say what each value tells of the location that the model expects, known with variance ``spread``.

    ``seen`` and ``prior`` are ``Seen`` and ``Prior``; edges are those from ``begin`` up to ``end``.  Rows of ``out``
    are: posterior mean and variance of the expected location, posterior mean of the true value, its mean before the
    noisy value was seen, the log likelihood, and the information that a value is expected to carry.  ``likelihoods``
    takes those of the components.
    """
    shares, classes, centres, widths, mass, middles, growth = prior
    cells, count = len(middles), len(widths)
    ends, tails, chance = np.empty(cells + 1), np.empty(cells + 1), np.empty(cells + 1)
    mixed = np.empty(cells)
    for i in range(begin, end):
        share, v, scale = shares[classes[i]], spread[i], seen.scales[i]
        value = _cells_of(seen, i, growth, location[i], ends, tails, chance)
        mixed[:] = 0.0
        total = first = second = information = 0.0
        relative = scale / math.exp(min(max(location[i], -300.0), 300.0))
        for k in range(count):
            width = widths[k] * widths[k]
            row, centre = mass[k, rung(v + width, mass.shape[1])], centres[k]
            z = a = c = 0.0
            for j in range(cells):
                p, shift = row[j] * chance[j], middles[j] - centre
                z += p
                a += p * shift
                c += p * shift * shift
                mixed[j] += share[k] * row[j]
            gain = v / (v + width)
            likelihoods[i, k] = z
            total += share[k] * z
            first += share[k] * gain * a
            second += share[k] * (gain * gain * c + v * (1 - gain) * z)
            information += share[k] / (width + relative * relative)
        likelihoods[i, count] = chance[cells]
        lowest = share[count] * chance[cells]
        total += lowest
        second += lowest * v
        shift = first / total
        mean, public = lowest * seen.low[i], share[count] * seen.low[i]
        for j in range(cells):
            public += mixed[j] * 0.5 * (ends[j] + ends[j + 1])
            p = mixed[j] * chance[j]
            if p > 1e-9 * total:
                mean += p * _cell_mean(seen.gaussian, value, scale, ends[j], ends[j + 1], tails[j], tails[j + 1])
        out[0, i], out[1, i] = location[i] + shift, max(second / total - shift * shift, 1e-9)
        out[2, i], out[3, i], out[4, i], out[5, i] = mean / total, public, math.log(total), information


@njit(cache=True, nogil=True)
def sample(seen, prior, location, uniform, out, begin, end):
    """Fill ``out`` with a true value of each edge by its posterior, made of ``uniform`` numbers, at known locations.

    ``seen``, ``prior``, ``begin`` and ``end`` as in ``update``.
    """
    shares, classes, _, widths, mass, middles, growth = prior
    cells, count = len(middles), len(widths)
    ends, tails, chance = np.empty(cells + 1), np.empty(cells + 1), np.empty(cells + 1)
    mixed = np.zeros((len(shares), cells))
    for c in range(len(shares)):
        for k in range(count):
            mixed[c] += shares[c, k] * mass[k, rung(widths[k] * widths[k], mass.shape[1])]
    for i in range(begin, end):
        value = _cells_of(seen, i, growth, location[i], ends, tails, chance)
        chance[cells] *= shares[classes[i], count]
        total = chance[cells]
        for j in range(cells):
            chance[j] *= mixed[classes[i], j]
            total += chance[j]
        left, j = uniform[i] * total, 0
        while j < cells and left >= chance[j]:
            left -= chance[j]
            j += 1
        if j == cells:
            out[i] = seen.low[i]
        else:
            share = left / max(chance[j], 1e-300)
            out[i] = _cell_draw(seen.gaussian, value, seen.scales[i], ends[j], ends[j + 1], share)
