"""From results to tables: one large table and what is derived from it; plain rows, ready for CSV and JSON.

Answers are clipped at 0.  Where noise dominates the distances, nearly all answers are 0 and the mean error is the mean
distance, which says nothing about the mechanism.  Such cases are marked ``at_zero`` and are left out of fitted
exponents and of comparisons with the plan.

Comparisons of mechanisms use the default estimator (``with_default_estimator``); ``estimators`` compares estimators.
"""

from __future__ import annotations

import io
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..estimator.registry import ESTIMATORS
from ..mechanism.registry import MECHANISMS
from ..output.encode import csv_row_writer
from ..published.statement import NOT_PRIVATE
from .cases import MAIN_WEIGHTS
from .networks import OWN

Row = dict[str, Any]
MAIN = (MAIN_WEIGHTS, OWN)
COLUMNS = (
    "network", "nodes", "edges", "weights", "noise", "epsilon", "delta", "unit", "max_weight", "mechanism", "estimator",
    "skipped", "default", "decoder", "law", "numbers", "hubs", "pairs", "mean_distance", "mean_error", "mean_error_sd",
    "p95_error", "max_error", "bias", "relative_error", "zeros", "predicted_error", "bound", "covered", "intervals",
)  # fmt: skip
ZERO_SHARE = 0.8  # answers count as zero if their bias is below minus this share of the mean distance
REFERENCE = "clip"  # the estimator that the others are compared with
AGAINST = f"times_{REFERENCE}"
TIMES = ("release_seconds", "query_seconds")


def final_table(results: Sequence[Row]) -> list[Row]:
    """Return one flat row per case; times come last, because only they differ between runs."""
    return [
        {
            **{name: row.get(name) for name in COLUMNS},
            "at_zero": at_zero(row),
            **{name: row.get("times", {}).get(name) for name in TIMES},
        }
        for row in results
    ]


def at_zero(row: Row) -> bool:
    """Whether nearly all answers are 0, so that the error is that of always answering 0."""
    return not row["skipped"] and bool(row["bias"] <= -ZERO_SHARE * row["mean_distance"])


def measured(results: Iterable[Row], **fixed: Any) -> list[Row]:
    """Return the rows that were not skipped and have the values ``fixed``."""
    return [row for row in results if not row["skipped"] and all(row[key] == value for key, value in fixed.items())]


def with_default_estimator(results: Iterable[Row]) -> list[Row]:
    """Return the rows of the default estimator, without rates; skipped cases are kept."""
    return [row for row in results if row["unit"] == 1.0 and (row["skipped"] or row["default"])]


def estimators(results: Sequence[Row]) -> list[Row]:
    """Compare every estimator with the reference."""
    here = ("network", "nodes", "weights", "noise", "mechanism")
    rows = [row for row in measured(results, unit=1.0) if row["estimator"] in ESTIMATORS]
    clipped = {tuple(row[key] for key in here): row["mean_error"] for row in rows if row["estimator"] == REFERENCE}
    return [
        {
            **{key: row[key] for key in (*here, "estimator", "default", "mean_distance", "mean_error", "bias")},
            AGAINST: _ratio(row["mean_error"], clipped.get(tuple(row[key] for key in here), 0.0)),
        }
        for row in rows
    ]


def exponent(sizes: Sequence[float], errors: Sequence[float]) -> float | None:
    """Fit the slope of log error against log n by least squares; None with fewer than three sizes."""
    if len(set(sizes)) < 3 or min(errors) <= 0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def exponents(results: Sequence[Row]) -> list[Row]:
    """Fit the exponent of n for each class, noise and mechanism.  (``table1.rates`` compares with theorems.)"""
    groups: dict[tuple[str, float, str], list[Row]] = defaultdict(list)
    for row in measured(results, weights=MAIN_WEIGHTS):
        groups[row["network"], row["noise"], row["mechanism"]].append(row)
    found = []
    for (network, noise, mechanism), rows in groups.items():
        zeros = sum(at_zero(row) for row in rows)
        rows = [row for row in rows if not at_zero(row)]
        sizes = [row["nodes"] for row in rows]
        if len(sizes) + zeros < 3:
            continue
        found.append({
            "network": network, "noise": noise, "mechanism": mechanism, "least_nodes": min(sizes, default=None),
            "most_nodes": max(sizes, default=None), "sizes_at_zero": zeros,
            "exponent_mean_error": exponent(sizes, [row["mean_error"] for row in rows]),
            "exponent_max_error": exponent(sizes, [row["max_error"] for row in rows]),
        })  # fmt: skip
    return found


def winners(results: Sequence[Row]) -> list[Row]:
    """Return the mechanism with the smallest mean error for each (class, n, noise), and the distance to the others."""
    groups: dict[tuple[str, int, float], list[Row]] = defaultdict(list)
    for row in results:
        if row["weights"] in MAIN and not row["skipped"]:
            groups[row["network"], row["nodes"], row["noise"]].append(row)
    found = []
    for (network, nodes, noise), rows in groups.items():
        order = sorted(rows, key=lambda row: row["mean_error"])
        error = {row["mechanism"]: row["mean_error"] for row in rows}
        best = order[0]
        found.append({
            "network": network, "nodes": nodes, "noise": noise, "winner": best["mechanism"],
            "mean_error": best["mean_error"], "relative_error": best["relative_error"],
            "second": order[1]["mechanism"] if len(order) > 1 else None,
            "second_times": _ratio(order[1]["mean_error"], best["mean_error"]) if len(order) > 1 else None,
            "clear": len(order) > 1 and _clear(best, order[1]),
            "input_times": _ratio(error["input"], best["mean_error"]) if "input" in error else None,
        })  # fmt: skip
    return found


def _clear(best: Row, second: Row) -> bool:
    """Whether the gap is more than twice the difference between repeats, or a factor of two."""
    gap = second["mean_error"] - best["mean_error"]
    between = math.hypot(best["mean_error_sd"] or math.inf, second["mean_error_sd"] or math.inf)
    return bool(gap > 2 * between or gap > best["mean_error"])


def by_hops(results: Sequence[Row]) -> list[Row]:
    """Return the error by number of hops, for the largest network of each class."""
    largest: dict[str, int] = {}
    for row in measured(results):
        largest[row["network"]] = max(row["nodes"], largest.get(row["network"], 0))
    return [
        {
            "network": row["network"], "nodes": row["nodes"], "noise": row["noise"], "mechanism": row["mechanism"],
            "hops": hops, "mean_error": error, "bias": bias, "pairs": int(pairs),
        }
        for row in measured(results)
        if row["weights"] in MAIN and row["nodes"] == largest[row["network"]]
        for hops, error, bias, pairs in row["by_hops"]
    ]  # fmt: skip


def coverage(results: Sequence[Row]) -> list[Row]:
    """Compare intervals, predictions and bounds with the truth, over all cases of a mechanism."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in measured(results):
        groups[row["mechanism"]].append(row)
    found = []
    for mechanism, rows in groups.items():
        inside, asked = (sum(row[name] for row in rows) for name in ("covered", "intervals"))
        bounded = [row for row in rows if row["bound"] is not None]
        ratio = [
            row["mean_error"] / row["predicted_error"] for row in rows if row["predicted_error"] and not at_zero(row)
        ]
        found.append({
            "mechanism": mechanism, "cases": len(rows), "cases_at_zero": sum(map(at_zero, rows)), "intervals": asked,
            "coverage": inside / asked if asked else None,
            "measured_over_predicted_median": float(np.median(ratio)) if ratio else None,
            "measured_over_predicted_least": min(ratio, default=None),
            "measured_over_predicted_most": max(ratio, default=None),
            "cases_above_bound": sum(row["max_error"] > row["bound"] for row in bounded),
            "bound_over_largest_error_median": float(np.median(
                [_ratio(row["bound"], row["max_error"]) or math.nan for row in bounded])) if bounded else None,
        })  # fmt: skip
    return found


def csv_text(rows: Sequence[Row]) -> str:
    """Return rows as CSV, with a first column that marks every row as NOT PRIVATE."""
    file = io.StringIO()
    names = [NOT_PRIVATE, *(rows[0] if rows else ["empty"])]
    write_row = csv_row_writer(file, (text for row in rows for text in row.values() if isinstance(text, str)))
    write_row(names)
    for row in rows:
        write_row([NOT_PRIVATE, *map(row.__getitem__, names[1:])])
    return file.getvalue()


def names_of(rows: Sequence[Row], key: str) -> list[str]:
    """Return the distinct values of a column in order of appearance; mechanisms in the order of the registry."""
    found = list(dict.fromkeys(str(row[key]) for row in rows))
    return [name for name in MECHANISMS if name in found] if key == "mechanism" else found


def middle_noise(results: Sequence[Row]) -> float:
    """Return the median of the measured noises, for pictures at one noise."""
    noises = sorted({row["noise"] for row in results if row["weights"] in MAIN})
    return float(noises[len(noises) // 2])


def _ratio(above: float, below: float) -> float | None:
    return above / below if below > 0 and math.isfinite(above) else None
