"""What the theorems say about error against n, for setting beside what was measured.

The exponents of n hide logarithms, as the theorems do; 0 means polylogarithmic.  Entries are by mechanism and, where
it matters, by class; a mechanism that is not listed has no theorem here and the report shows a dash.
"""

from __future__ import annotations

import math

ALPHA = math.sqrt(2) - 1  # Chen et al. 2023, bounded weights
TREES = ("path", "caterpillar", "tree")
THIN = ("ladder", "thin-grid", "ktree")  # treewidth does not grow with n
PLANAR = ("metro", "city", "grid", "delaunay")

EXPONENTS: dict[str, dict[str, float]] = {
    "input": {"": 1.0},
    "all-pairs": {"": 1.0},
    "cover": {"": 1 / 2, "grid": 1 / 3},
    "hubs": {"": 1 / 2},
    "hubs-bounded": {"": ALPHA},
    "tree": dict.fromkeys(TREES, 0.0),
    "treewidth": dict.fromkeys((*TREES, *THIN), 0.0),
    "separator": {**dict.fromkeys((*TREES, *THIN), 0.0), **dict.fromkeys(PLANAR, 1 / 2)},
    "separator-cover": {
        **dict.fromkeys((*TREES, *THIN), 0.0), **dict.fromkeys(PLANAR, 1 / 3), "grid": 1 / 4,
    },
}  # fmt: skip
"""Worst-case exponent of n in the upper bound under approximate privacy; the key "" stands for every other class."""


def theorem_exponent(mechanism: str, network: str) -> float | None:
    """The exponent of n in the mechanism's bound on a class, or nothing if no theorem is listed."""
    listed = EXPONENTS.get(mechanism, {})
    return listed.get(network, listed.get(""))


def power(exponent: float | None, *, drawn: bool = False) -> str:
    """An exponent of n for people; raised, if it is drawn in a picture."""
    if exponent is None:
        return "–"
    if exponent == 0:
        return "log n"
    names = {1.0: "n", 1 / 2: "n^(1/2)", 1 / 3: "n^(1/3)", 1 / 4: "n^(1/4)"}
    text = names.get(exponent, f"n^{exponent:.2f}")
    return f"${text.replace('^(', '^{').replace(')', '}').replace('^0.41', '^{0.41}')}$" if drawn else text
