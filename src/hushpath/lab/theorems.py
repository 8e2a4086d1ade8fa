"""What the theorems say about error, as shapes to be compared with what was measured.

A theorem is a bound on the worst pair of the worst network, up to a constant.  Its *shape* is that bound without the
constant: p log^2 n log(log n / delta) / epsilon for separators of p vertices, say, with its logarithms.  Over two or
three decades of n a bare power of n cannot be told from a smaller one with logarithms, so shapes are compared whole:
one constant is fitted, and what is reported is by how much measured errors stray from the curve.

Where a theorem hides its logarithms (a tilde on its O), so does the shape here, and ``tilde`` says so.  Entries are by
mechanism and, where it matters, by class; a mechanism that is not listed has no theorem here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

ALPHA = math.sqrt(2) - 1  # Chen et al. 2023, bounded weights


@dataclass(frozen=True)
class Setting:
    """Where a bound is asked for: n nodes, separators of p, weights up to W units, a budget."""

    n: float
    max_weight: float
    epsilon: float
    delta: float
    p: float = 1.0


@dataclass(frozen=True)
class Shape:
    """A theorem's bound without its constant, in privacy units.

    Attributes:
        words: the formula for people; ``drawn``: the same for a picture.
        value: the formula.
        tilde: whether the theorem hides logarithms, which the formula then lacks.
    """

    words: str
    drawn: str
    value: Callable[[Setting], float]
    tilde: bool = False


def _logs(s: Setting) -> float:
    """The logarithms of Theorems 16 and 18."""
    return math.log(s.n) ** 2 * math.log(math.log(s.n) / s.delta)


SEPARATOR = Shape(
    "p log²n log(log n/δ) / ε", r"$p\,\log^2 n\,\log\frac{\log n}{\delta}$", lambda s: s.p * _logs(s) / s.epsilon
)
HUBS = Shape("n^(1/2) / ε", r"$n^{1/2}$", lambda s: math.sqrt(s.n) / s.epsilon, tilde=True)
ON_EDGES = Shape("n / ε", r"$n$", lambda s: s.n / s.epsilon, tilde=True)
CHEN = Shape(
    "W^α n^α / ε^(1-α) + n^α / ε", r"$W^\alpha n^\alpha/\epsilon^{1-\alpha}+n^\alpha/\epsilon$",
    lambda s: s.n**ALPHA * (s.max_weight**ALPHA * s.epsilon ** (ALPHA - 1) + 1 / s.epsilon), tilde=True,
)  # fmt: skip
COVER = Shape(
    "(nW / ε)^(1/2)", r"$\sqrt{nW/\epsilon}$", lambda s: math.sqrt(s.n * s.max_weight / s.epsilon), tilde=True
)
GRID_COVER = Shape(
    "n^(1/3) (1/ε + W)", r"$n^{1/3}(1/\epsilon+W)$",
    lambda s: s.n ** (1 / 3) * (1 / s.epsilon + s.max_weight), tilde=True,
)  # fmt: skip
PLANAR = Shape(
    "(nW)^(1/3) log²n log(log n/δ) / ε^(2/3)", r"$(nW)^{1/3}\epsilon^{-2/3}\,\log^2 n\,\log\frac{\log n}{\delta}$",
    lambda s: (s.n * s.max_weight) ** (1 / 3) * s.epsilon ** (-2 / 3) * _logs(s),
)  # fmt: skip
GRID = Shape(
    "n^(1/4) (W/ε)^(1/2) log²n log(log n/δ)", r"$n^{1/4}(W/\epsilon)^{1/2}\,\log^2 n\,\log\frac{\log n}{\delta}$",
    lambda s: s.n**0.25 * math.sqrt(s.max_weight / s.epsilon) * _logs(s),
)  # fmt: skip

SHAPES: dict[str, dict[str, Shape]] = {
    "input": {"": ON_EDGES},
    "all-pairs": {"": ON_EDGES},
    "cover": {"": COVER, "grid": GRID_COVER},
    "hubs": {"": HUBS},
    "hubs-bounded": {"": CHEN},
    "separator": {"": SEPARATOR},
    "separator-cover": {"": PLANAR, "grid": GRID},
}
"""By mechanism and class under approximate privacy; the key "" stands for every other class."""


def theorem_shape(mechanism: str, network: str) -> Shape | None:
    """The shape of the mechanism's bound on a class, or nothing if no theorem is listed."""
    listed = SHAPES.get(mechanism, {})
    return listed.get(network, listed.get(""))
