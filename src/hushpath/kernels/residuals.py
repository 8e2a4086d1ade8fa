"""What a noisy weight says about the true one: likelihood, posterior mean and draws on cells around a guess.

The true weight of an edge is ``exp(guess + stretched residual) - offset``; residuals are cut into cells, the same for
all edges, so that a prior is one row of probabilities (and a last one: that the weight is the lowest there is, mostly
0).  A residual is stretched by a factor of the edge's own, but hardly if it is extreme: the ends stay where they are.
Within a cell every weight is as likely as another.  Noise is taken as continuous: scales are many lattice steps.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..arrays import Float
from ..compiled import njit

ROOT_TWO = math.sqrt(2.0)
FAR = 30.0  # scales beyond a bound: there the likelihood has its final shape (Laplace) or is lost in rounding
TINY = 1e-30
LEAST = 1e-9  # a mixture component with less mass within the bounds is left out


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
def _stretched(residual, stretch, farthest):
    return residual * (stretch + (1 - stretch) * (residual / farthest) ** 4)


@njit(cache=True, nogil=True)
def _ends(guess, stretch, cells, growth, offset, top, low, out):
    """Fill ``out`` with the ends of the ``cells`` of one edge, as weights from ``low`` to ``top``.

    ``guess``, ``stretch`` and ``offset`` are those of ``NoisyValues``; ``growth`` are exponentials of the cells.
    """
    middle = math.exp(min(guess, 600.0))
    for j in range(len(growth)):
        times = growth[j] if stretch == 1.0 else math.exp(_stretched(cells[j], stretch, cells[-1]))
        out[j] = min(max(middle * times - offset, low), top)


@njit(cache=True, nogil=True)
def _row(gaussian, value, scale, ends, low, out, tails):
    """Fill ``out`` with the likelihood of each cell (0 outside the bounds) and of the lowest weight, up to a factor.

    ``gaussian`` noise (else Laplace) of this ``scale`` gave ``value``; at an infinite scale it says nothing.  ``ends``
    are those of the cells, ``low`` is the lowest weight, ``tails`` takes those of noise at the ends.
    """
    cells = len(ends) - 1
    a = (ends[0] - value) / scale
    beyond_a = tails[0] = _tail(gaussian, a)
    for j in range(cells):
        if ends[j + 1] <= ends[j]:
            out[j], tails[j + 1] = 0.0, beyond_a
            continue
        c = (ends[j + 1] - value) / scale
        beyond_c = tails[j + 1] = _tail(gaussian, c)
        if c - a < 1e-9:
            out[j] = max(_density(gaussian, a), TINY)
        else:
            out[j] = max(_inner(a, beyond_a, c, beyond_c) / (c - a), TINY)
        a, beyond_a = c, beyond_c
    out[cells] = max(_density(gaussian, (low - value) / scale), TINY)


class NoisyValues(NamedTuple):
    """Noisy values of edges, and where their true weights may be.

    Attributes:
        gaussian: whether noise is normal, not Laplace.
        values, scales: noisy value of each edge, and scale of its noise.
        guess, stretch: location of its log weight, and the factor of its residuals.
        cells: where the cells of residuals end.
        offset: what is added to weights before taking logarithms.
        low, top: bounds of each weight.
    """

    gaussian: bool
    values: Float
    scales: Float
    guess: Float
    stretch: Float
    cells: Float
    offset: float
    low: Float
    top: Float


@njit(cache=True, nogil=True)
def likelihood(seen, out, first, last, begin, end):
    """Fill ``out[i]`` with the likelihood of each cell of edge ``i``, and of its lowest weight in the last column.

    ``seen`` are ``NoisyValues``; edges are those from ``begin`` up to ``end``.  Cells from ``first[i]`` up to
    ``last[i]`` are within the bounds.
    """
    gaussian, values, scales, guess, stretch, cells, offset, low, top = seen
    ends, tails, growth = np.empty(len(cells)), np.empty(len(cells)), np.exp(cells)
    for i in range(begin, end):
        _ends(guess[i], stretch[i], cells, growth, offset, top[i], low[i], ends)
        value = min(max(values[i], -FAR * scales[i]), top[i] + FAR * scales[i])
        _row(gaussian, value, scales[i], ends, low[i], out[i], tails)
        first[i], last[i] = _inside(ends)


@njit(cache=True, nogil=True)
def _inside(ends):
    first, last = 0, len(ends) - 1
    while first < last and ends[first + 1] <= ends[first]:
        first += 1
    while last > first and ends[last] <= ends[last - 1]:
        last -= 1
    return first, last


@njit(cache=True, nogil=True)
def posterior(seen, prior, uniform, moments, draws, begin, end):
    """Fill the posterior ``moments`` of each edge, and ``draws`` of its weight made of ``uniform`` numbers.

    ``seen`` are ``NoisyValues``.  Rows of ``moments`` are the mean weight before and after the noisy value is seen, the
    mean residual and its variance.  ``prior`` is a tuple: mixture shares by class, the class of each edge, and the
    mass of each mixture component in each cell.  Components are truncated at the bounds and mixed in these shares; the
    last share is the probability of the lowest weight.  Edges are those from ``begin`` up to ``end``.
    """
    gaussian, values, scales, guess, stretch, cells, offset, low, top = seen
    shares, which, mass = prior
    before, mean, residual, spread = moments[0], moments[1], moments[2], moments[3]
    count, bells = len(cells) - 1, len(mass)
    ends, tails, chance, growth = np.empty(count + 1), np.empty(count + 1), np.empty(count + 1), np.exp(cells)
    # Priors by class and bounds, made when first needed: most edges share theirs with others.
    kept, known = np.empty((len(shares), count + 1, count + 1, count)), np.zeros((len(shares), count + 1, count + 1))
    for i in range(begin, end):
        scale, share = scales[i], shares[which[i]]
        _ends(guess[i], stretch[i], cells, growth, offset, top[i], low[i], ends)
        value = values[i]
        if scale < np.inf:
            value = min(max(value, -FAR * scale), top[i] + FAR * scale)
        _row(gaussian, value, scale, ends, low[i], chance, tails)
        first, last = _inside(ends)
        mixed = kept[which[i], first, last]
        if known[which[i], first, last] == 0:
            known[which[i], first, last] = 1
            mixed[:] = 0.0
            for k in range(bells):
                whole = mass[k, first:last].sum()
                if whole > LEAST:
                    mixed[first:last] += share[k] / whole * mass[k, first:last]
        before[i] = _mean_before(mixed, share[bells], ends, low[i])
        chance[count] *= share[bells]
        total = chance[count]
        for j in range(count):
            chance[j] *= mixed[j]
            total += chance[j]
        if not total > 0.0:
            total = chance[count] = 1.0
        zero = max(math.log(max(low[i], 0.0) + offset) - guess[i], cells[0])
        p = chance[count] / total
        m, r, s = p * low[i], p * zero, p * zero * zero
        for j in range(first, last):
            p = chance[j] / total
            if p > 1e-9:
                m += p * _cell_mean(gaussian, value, scale, ends[j], ends[j + 1], tails[j], tails[j + 1])
                middle = _stretched(0.5 * (cells[j] + cells[j + 1]), stretch[i], cells[-1])
                r += p * middle
                s += p * middle * middle
        mean[i], residual[i], spread[i] = m, r, max(s - r * r, 0.0)
        for k in range(len(draws)):
            left, j = uniform[k, i] * total, 0
            while j < count and left >= chance[j]:
                left -= chance[j]
                j += 1
            if j == count:
                draws[k, i] = low[i]
            else:
                draws[k, i] = _cell_draw(gaussian, value, scale, ends[j], ends[j + 1], left / max(chance[j], 1e-300))


@njit(cache=True, nogil=True)
def _mean_before(prior, lowest, ends, low):
    """Return the mean weight by the ``prior`` of cells between ``ends``; ``lowest`` is the chance of ``low``."""
    total, mean = lowest, lowest * low
    for j in range(len(prior)):
        total += prior[j]
        mean += prior[j] * 0.5 * (ends[j] + ends[j + 1])
    return mean / total if total > 0.0 else low


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
