"""Which sizes and shares suit each line: the predicted error of many ladders over sampled pieces of paths.

A ladder is a list of sizes, 1 first, with a share of the budget each.  A share p of the budget means noise of variance
1/p^2 (Laplace) or 1/p (Gaussian), in units of what the whole budget would give.
"""

from __future__ import annotations

import numpy as np

from ..compiled import njit
from .laminar import piece_variance


@njit(cache=True, nogil=True)
def share_variance(shares, gaussian):
    """The variance of a number with each of these shares."""
    return 1.0 / shares if gaussian else 1.0 / (shares * shares)


@njit(cache=True, nogil=True)
def _score(length, first, last, weight, sizes, variance):
    """The weighted sum of the variances of all pieces of a line."""
    total = 0.0
    for i in range(len(first)):
        total += weight[i] * piece_variance(length, first[i], last[i], sizes, variance)
    return total


@njit(cache=True, nogil=True)
def best_ladders(begin, lengths, first, last, weight, start, sizes, shares, gaussian, choice):
    """For each line the ladder of least score; ladder 0 is the plain one.

    Line i has the pieces ``begin[i] .. begin[i + 1] - 1``.  Tried are ladders that fit it: all sizes but the last are
    below its length, and the last is not far beyond.
    """
    variance = share_variance(shares, gaussian)
    for line in range(len(lengths)):
        a, b = begin[line], begin[line + 1]
        least = np.inf
        for ladder in range(len(start) - 1):
            low, high = start[ladder], start[ladder + 1]
            fits = high - low < 3 or (sizes[high - 2] < lengths[line] and sizes[high - 1] < 3 * lengths[line])
            if high - low > 1 and lengths[line] < 2:
                fits = False
            if fits:
                score = _score(
                    lengths[line], first[a:b], last[a:b], weight[a:b], sizes[low:high], variance[low:high]
                )  # fmt: skip
                if score < least:
                    least, choice[line] = score, ladder


@njit(cache=True, nogil=True)
def polished(begin, lengths, first, last, weight, start, sizes, choice, gaussian, shares):
    """Move the shares of each line, one level at a time and less and less, as long as its score falls; in place."""
    for line in range(len(lengths)):
        a, b = begin[line], begin[line + 1]
        mine = sizes[start[choice[line]] : start[choice[line] + 1]]
        now = shares[line, : len(mine)].copy()
        if len(mine) < 2:
            continue
        least = _score(lengths[line], first[a:b], last[a:b], weight[a:b], mine, share_variance(now, gaussian))
        for factor in (1.6, 1.25, 1.1):
            for _ in range(3):
                before = least
                for level in range(len(mine)):
                    for by in (factor, 1.0 / factor):
                        trial = now.copy()
                        trial[level] *= by
                        trial /= trial.sum()
                        variance = share_variance(trial, gaussian)
                        score = _score(lengths[line], first[a:b], last[a:b], weight[a:b], mine, variance)
                        if score < least:
                            least, now = score, trial
                if least > 0.999 * before:
                    break
        shares[line, : len(mine)] = now


@njit(cache=True, nogil=True)
def chosen_variances(begin, lengths, first, last, start, sizes, choice, shares, gaussian, out):
    """The variance of every piece under the ladder and the shares of its line."""
    for line in range(len(lengths)):
        mine = sizes[start[choice[line]] : start[choice[line] + 1]]
        variance = share_variance(shares[line, : len(mine)].copy(), gaussian)
        for i in range(begin[line], begin[line + 1]):
            out[i] = piece_variance(lengths[line], first[i], last[i], mine, variance)
