"""Table 1 measured: how errors grow with n where noise is small against distances and nothing is clipped.

For every class, mechanism and unit the theorem's own shape (``theorems``) is laid through the largest errors: one
constant, fitted on logarithms, and the factor within which measured errors stay of the curve.  p is that of the
strategy that was measured, not of the theorem.

What a short range can show: whether a shape is compatible, not which one is true.  So beside it stands how well a bare
power of n fits the same points, and, for separators, the power of log n that fits best if error / p is taken for one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .tables import Row, measured
from .theorems import SEPARATOR, Setting, Shape, theorem_shape

FEWEST = 3  # sizes, for a fit


class Fit(NamedTuple):
    """A curve through points: its constant, and the largest factor between a point and the curve."""

    constant: float
    within: float


def fit(measured: Sequence[float], curve: Sequence[float]) -> Fit:
    """The constant that makes a curve fit best on logarithms."""
    gap = np.log(measured) - np.log(curve)
    return Fit(float(np.exp(gap.mean())), float(np.exp(np.abs(gap - gap.mean()).max())))


def rate_rows(results: Sequence[Row]) -> list[Row]:
    """The cases that are rates, as they are read by default."""
    return [row for row in measured(results) if row["unit"] != 1.0 and row["default"]]


def shape_at(row: Row, shape: Shape) -> float:
    """A theorem's shape where a row was measured, in units of weight."""
    unit = float(row["unit"])
    return unit * shape.value(
        Setting(row["nodes"], row["max_weight"] / unit, row["epsilon"], row["delta"], float(row["hubs"] or 1))
    )


def rates(results: Sequence[Row]) -> list[Row]:
    """One row per class, mechanism and unit: the theorem's shape beside a bare power of n."""
    groups: dict[tuple[str, str, float], list[Row]] = defaultdict(list)
    for row in rate_rows(results):
        groups[row["network"], row["mechanism"], row["unit"]].append(row)
    found = []
    for (network, mechanism, unit), rows in groups.items():
        shape = theorem_shape(mechanism, network)
        sizes, errors = [float(row["nodes"]) for row in rows], [row["max_error"] for row in rows]
        if shape is None or len(rows) < FEWEST or min(errors) <= 0:
            continue
        curve = fit(errors, [shape_at(row, shape) for row in rows])
        slope = float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
        found.append({
            "network": network, "mechanism": mechanism, "unit": unit, "least_nodes": min(sizes),
            "most_nodes": max(sizes), "sizes": len(rows), "least_error": errors[0] / unit,
            "most_error": errors[-1] / unit, "mean_error_least": rows[0]["mean_error"] / unit,
            "mean_error_most": rows[-1]["mean_error"] / unit, "bias_most": rows[-1]["bias"] / unit,
            "zeros": max(row["zeros"] for row in rows), "shape": shape.words, "hides_logarithms": shape.tilde,
            "constant": curve.constant, "within": curve.within, "exponent_of_n": slope,
            "within_power": fit(errors, [n**slope for n in sizes]).within,
            "exponent_of_log": _log_exponent(rows) if shape is SEPARATOR else None, "kind": "measured",
        })  # fmt: skip
    return found


def _log_exponent(rows: Sequence[Row]) -> float:
    """The a of error = c p (log n)^a."""
    logs = [math.log(math.log(row["nodes"])) for row in rows]
    left = [math.log(row["max_error"] / (row["hubs"] or 1)) for row in rows]
    return float(np.polyfit(logs, left, 1)[0])


def points(results: Sequence[Row]) -> list[dict[str, Any]]:
    """Every measured point behind the fits, in privacy units."""
    return [
        {
            "network": row["network"], "nodes": row["nodes"], "mechanism": row["mechanism"],
            "estimator": row["estimator"], "unit": row["unit"], "law": row["law"], "p": row["hubs"],
            "mean_error": row["mean_error"] / row["unit"], "max_error": row["max_error"] / row["unit"],
            "bias": row["bias"] / row["unit"], "zeros": row["zeros"],
            "mean_distance": row["mean_distance"] / row["unit"],
        }
        for row in rate_rows(results)
    ]  # fmt: skip
