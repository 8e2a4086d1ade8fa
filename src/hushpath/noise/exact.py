r"""Exact discrete Laplace and Gaussian noise from a row of random words: the kernels of the vector sampler.

The algorithms are those of Canonne, Kamath and Steinke, "The Discrete Gaussian
for Differential Privacy" (2020), compiled by numba and fed by an AES keystream.  Everything is an
integer: no float is ever formed (a test reads the compiled code to be sure), and no product
overflows for scales up to ``MAX_SCALE = 2**52``.

*Bernoulli(exp(-g)), 0 <= g <= 1* (their Algorithm 1): draw Bernoulli(g/k) for k = 1, 2, ... until
the first failure, at k = K.  ``P(K > k) = g**k / k!``, so ``P(K odd) = 1 - g + g**2/2! - ... = exp(-g)``.
Here ``g = (a/b)(c/d)``; Bernoulli(g/k) is the conjunction of Bernoulli(1/k), (a/b) and (c/d), so that no
denominator is ever multiplied up.

*Laplace of scale t* (Algorithm 2): U uniform below t, kept with probability exp(-U/t); V counts
successes of Bernoulli(exp(-1)); then ``|X| = U + tV`` has ``P(m) ∝ exp(-m/t)``.  A fair sign follows, and
minus zero is drawn anew, as zero would otherwise weigh double.

*Gaussian of scale s* (Algorithm 3 with t = s, any t being valid): propose Y ~ Laplace(s).  Target over
proposal is ``exp(-y²/2s² + |y|/s) = exp(1/2) exp(-Z²/2s²)`` with ``Z = ||y| - s|``, so accept with
probability ``exp(-Z²/2s²)``.  Z² would overflow; but with ``Z = qs + r``, ``0 <= r < s``,

    Z²/2s²  =  q²/2  +  q r/s  +  r²/2s²,

hence accept = q² Bernoullis of exp(-1/2), q of exp(-r/s) and one of exp(-(r/s)(r/2s)), all to succeed.
About 76 in 100 proposals are accepted, at any scale.

*Words.*  A value is a pure function of the keystream from where the last one ended.  When the buffer
ends inside a value, the value is begun again on **the same words**, followed by new ones.  Beginning
again on fresh words would favour values that need few words, that is, small noise.

Running time depends on the noise drawn and on the public scales, never on data: none comes here.

Checked by: tests/unit/test_noise_exact.py (twin in tests/noise_reference.py), tests/statistical/test_noise_samples.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

# |X| = U + tV must fit int64 at t = 2**52.  V goes further with probability exp(-2046) < 1e-888.
MOST_TURNS = 2046

ALL_ONES = np.uint64(2**64 - 1)
LOW_HALF = np.uint64(2**32 - 1)
HALF = np.uint64(32)
TOP_BIT = np.uint64(63)

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F) -> F:
    """Compile a function; typed, so that mypy then checks callers against the Python signature."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy")(function))


# Each function below takes the position of the next unread word and returns its answer with the new position.
# A position beyond the end means "ran out": the answer is then worthless and the caller starts over.
# Counts are int64 and only words are uint64, never mixed: numba makes a mixture signed, numpy makes it float.


@_compiled
def _word(words: NDArray[np.uint64], at: int) -> tuple[np.uint64, int]:
    """Return the next word.  Past the end all ones: every Bernoulli(a/b), a < b, then fails, so every loop ends."""
    if at < words.size:
        return words[at], at + 1
    return ALL_ONES, words.size + 1


@_compiled
def multiply(x: np.uint64, y: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the high and the low word of the 128-bit product, by schoolbook on 32-bit halves."""
    x1, x0 = x >> HALF, x & LOW_HALF
    y1, y0 = y >> HALF, y & LOW_HALF
    cross, other = x0 * y1, x1 * y0
    middle = ((x0 * y0) >> HALF) + (cross & LOW_HALF) + (other & LOW_HALF)
    return x1 * y1 + (cross >> HALF) + (other >> HALF) + (middle >> HALF), x * y


@_compiled
def _below(words: NDArray[np.uint64], at: int, n: int) -> tuple[int, int]:
    """Draw a uniform integer in [0, n), 1 <= n < 2**63: Lemire's rejection, exact, nearly always one word."""
    size = np.uint64(n)
    word, at = _word(words, at)
    high, low = multiply(word, size)
    if low < size:  # necessary for rejection; saves the division below
        unfair = (ALL_ONES - size + np.uint64(1)) % size  # = 2**64 mod n
        while low < unfair:
            word, at = _word(words, at)
            high, low = multiply(word, size)
    return np.int64(high), at  # type: ignore[return-value]  # int would let numba choose the width


@_compiled
def _chance(words: NDArray[np.uint64], at: int, a: int, b: int) -> tuple[bool, int]:
    """Draw Bernoulli(a/b), 0 <= a <= b, from ``words`` from ``at`` on; probabilities 0 and 1 use no word."""
    if a == 0 or a == b:
        return a == b, at
    draw, at = _below(words, at, b)
    return draw < a, at


@_compiled
def _exp_minus(words: NDArray[np.uint64], at: int, a: int, b: int, c: int, d: int) -> tuple[bool, int]:
    """Draw Bernoulli(exp(-g)) for g = (a/b)(c/d) in [0, 1] from ``words`` from ``at`` on: Algorithm 1."""
    k = 1
    while True:
        passed, at = _chance(words, at, 1, k)  # the rarest first: fewest words
        if passed:
            passed, at = _chance(words, at, a, b)
        if passed:
            passed, at = _chance(words, at, c, d)
        if not passed:
            return k % 2 == 1, at
        k += 1


@_compiled
def _laplace(words: NDArray[np.uint64], at: int, t: int) -> tuple[int, int]:
    """Draw from P(x) ∝ exp(-|x|/t): Algorithm 2."""
    while at <= words.size:
        u, at = _below(words, at, t)
        kept, at = _exp_minus(words, at, u, t, 1, 1)
        if not kept:
            continue
        v = 0
        again, at = _exp_minus(words, at, 1, 1, 1, 1)
        while again and v < MOST_TURNS:
            v += 1
            again, at = _exp_minus(words, at, 1, 1, 1, 1)
        magnitude = u + t * v
        word, at = _word(words, at)
        if word >> TOP_BIT == np.uint64(1):
            return magnitude, at
        if magnitude > 0:
            return -magnitude, at
    return 0, at


@_compiled
def _gaussian(words: NDArray[np.uint64], at: int, s: int) -> tuple[int, int]:
    """Draw from P(x) ∝ exp(-x²/2s²): Algorithm 3 with the exponent split as in the module's proof."""
    while at <= words.size:
        y, at = _laplace(words, at, s)
        z = abs(abs(y) - s)
        q = z // s
        r = z - q * s
        accepted, at = _exp_minus(words, at, r, s, r, 2 * s)
        for _ in range(q):
            if accepted:
                accepted, at = _exp_minus(words, at, r, s, 1, 1)
        for _ in range(q * q):
            if accepted:
                accepted, at = _exp_minus(words, at, 1, 2, 1, 1)
        if accepted:
            return y, at
    return 0, at


@_compiled
def fill(
    gaussian: bool, scales: NDArray[np.int64], out: NDArray[np.int64], done: int, words: NDArray[np.uint64]
) -> tuple[int, int]:
    """Fill ``out[done:]`` with noise until the random ``words`` run out; return (values filled, words used).

    The noise is Gaussian if ``gaussian``, else Laplace; ``scales`` has one scale per value.
    """
    used = 0
    for i in range(done, scales.size):
        if scales[i] == 0:
            out[i] = 0
            continue
        if gaussian:
            value, at = _gaussian(words, used, scales[i])
        else:
            value, at = _laplace(words, used, scales[i])
        if at > words.size:
            return i, used  # this value's words stay unread, to be read again
        out[i], used = value, at
    return scales.size, used
