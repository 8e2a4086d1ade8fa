"""The slow twin of the vector sampler: the same algorithms in Python's unbounded integers.

For tests and readers only.  It reads the same words in the same order as ``exact.py`` and must
give the same values bit for bit; having no buffer that ends and no integer that overflows, it is the version
to check against the paper.  See ``exact.py`` for the algorithms and the proof of the split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hushpath.noise.laws import Law


def draw_reference(law: Law, scales: Iterable[int], words: Iterable[int]) -> list[int]:
    """Return one draw per scale, made from a stream of 64-bit words.

    >>> draw_reference(Law.LAPLACE, [0, 3], [2**63, 2**64 - 1, 2**64 - 1, 2**63])
    [0, 1]
    """
    stream = iter(words)
    sample = _gaussian if Law(law) is Law.GAUSSIAN else _laplace
    return [sample(stream, int(scale)) if scale else 0 for scale in scales]


def _below(words: Iterator[int], n: int) -> int:
    """Uniform in [0, n): high word of word * n, unless the low word is among the 2**64 mod n unfair."""
    while True:
        high, low = divmod(next(words) * n, 2**64)
        if low >= 2**64 % n:
            return high


def _chance(words: Iterator[int], a: int, b: int) -> bool:
    """Bernoulli(a/b)."""
    if a in (0, b):
        return a == b
    return _below(words, b) < a


def _exp_minus(words: Iterator[int], a: int, b: int, c: int = 1, d: int = 1) -> bool:
    """Bernoulli(exp(-(a/b)(c/d)))."""
    k = 1
    while _chance(words, 1, k) and _chance(words, a, b) and _chance(words, c, d):
        k += 1
    return k % 2 == 1


def _laplace(words: Iterator[int], t: int) -> int:
    """P(x) ∝ exp(-|x|/t)."""
    while True:
        u = _below(words, t)
        if not _exp_minus(words, u, t):
            continue
        v = 0
        while _exp_minus(words, 1, 1):
            v += 1
        magnitude = u + t * v
        positive = next(words) >= 2**63
        if positive or magnitude > 0:
            return magnitude if positive else -magnitude


def _gaussian(words: Iterator[int], s: int) -> int:
    """P(x) ∝ exp(-x²/2s²)."""
    while True:
        y = _laplace(words, s)
        q, r = divmod(abs(abs(y) - s), s)
        if (
            _exp_minus(words, r, s, r, 2 * s)
            and all(_exp_minus(words, r, s) for _ in range(q))
            and all(_exp_minus(words, 1, 2) for _ in range(q * q))
        ):
            return y
