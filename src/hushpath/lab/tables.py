"""From results to tables: one long table and what is derived from it; plain rows, ready for CSV and JSON.

Answers are clipped at 0.  Where noise dominates the distances, nearly all answers are 0 and the mean error is the mean
distance, which says nothing about the mechanism.  Such cases are marked ``at_zero`` and are left out of fitted
exponents and of comparisons with the plan.

Comparisons of mechanisms use the default estimator (``with_default_estimator``); ``estimators`` compares estimators.
"""

from __future__ import annotations

import io
import math
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
    "at_zero", "release_seconds", "query_seconds",
)  # fmt: skip
ZERO_SHARE = 0.8  # answers count as zero if their bias is below minus this share of the mean distance
REFERENCE = "clip"  # the estimator that the others are compared with
AGAINST = f"times_{REFERENCE}"


def final_table(results: Iterable[Row]) -> list[Row]:
    """Return one flat row per case and estimator; times come last, because only they differ between runs."""
    return [{name: row.get(name) for name in COLUMNS} for row in ({**row, "at_zero": at_zero(row)} for row in results)]


def group(rows: Iterable[Row], *keys: str) -> dict[Any, list[Row]]:
    """Group rows by the values of columns, in order of appearance; several columns give tuples."""
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[keys[0]] if len(keys) == 1 else tuple(row[key] for key in keys), []).append(row)
    return groups


def names_of(rows: Iterable[Row], key: str) -> list[str]:
    """Return the distinct values of a column in order of appearance; mechanisms in the order of the registry."""
    found = list(group(rows, key))
    return [name for name in MECHANISMS if name in found] if key == "mechanism" else found


def measured(results: Iterable[Row], **fixed: Any) -> list[Row]:
    """Return the rows that were not skipped and have the values ``fixed``."""
    return [row for row in results if not row["skipped"] and all(row[key] == value for key, value in fixed.items())]


def at_zero(row: Row) -> bool:
    """Return whether nearly all answers are 0, so that the error is that of always answering 0."""
    return not row["skipped"] and bool(row["bias"] <= -ZERO_SHARE * row["mean_distance"])


def with_default_estimator(results: Iterable[Row]) -> list[Row]:
    """Return the rows of the default estimator, without rates; skipped cases are kept."""
    return [row for row in results if row["unit"] == 1.0 and (row["skipped"] or row["default"])]


def log_slope(at: Sequence[float], values: Sequence[float]) -> float:
    """Fit the slope of logarithms by least squares."""
    return float(np.polyfit(np.log(at), np.log(values), 1)[0])


def exponent(sizes: Sequence[float], errors: Sequence[float]) -> float | None:
    """Fit the exponent of n; None with fewer than three sizes."""
    return log_slope(sizes, errors) if len(set(sizes)) >= 3 and min(errors) > 0 else None


def exponents(results: Iterable[Row]) -> list[Row]:
    """Fit the exponent of n for each class, noise and mechanism.  (``table1.rates`` compares with theorems.)"""
    found = []
    main = measured(results, weights=MAIN_WEIGHTS)
    for (network, noise, mechanism), rows in group(main, "network", "noise", "mechanism").items():
        if len(rows) < 3:
            continue
        fitted = [row for row in rows if not at_zero(row)]
        sizes = [row["nodes"] for row in fitted]
        found.append({
            "network": network, "noise": noise, "mechanism": mechanism, "least_nodes": min(sizes, default=None),
            "most_nodes": max(sizes, default=None), "sizes_at_zero": len(rows) - len(fitted),
            "exponent_mean_error": exponent(sizes, [row["mean_error"] for row in fitted]),
            "exponent_max_error": exponent(sizes, [row["max_error"] for row in fitted]),
        })  # fmt: skip
    return found


def winners(results: Iterable[Row]) -> list[Row]:
    """Return the mechanism with the smallest mean error for each (class, n, noise), and the distance to the others."""
    found = []
    main = (row for row in measured(results) if row["weights"] in MAIN)
    for (network, nodes, noise), rows in group(main, "network", "nodes", "noise").items():
        best, *others = sorted(rows, key=lambda row: row["mean_error"])
        second = others[0] if others else None
        error = {row["mechanism"]: row["mean_error"] for row in rows}
        found.append({
            "network": network, "nodes": nodes, "noise": noise, "winner": best["mechanism"],
            "mean_error": best["mean_error"], "relative_error": best["relative_error"],
            "second": second and second["mechanism"],
            "second_times": second and _ratio(second["mean_error"], best["mean_error"]),
            "clear": second is not None and _is_clear(best, second),
            "input_times": _ratio(error["input"], best["mean_error"]) if "input" in error else None,
        })  # fmt: skip
    return found


def _is_clear(best: Row, second: Row) -> bool:
    """Return whether the gap is more than twice the difference between repeats, or a factor of two."""
    gap = second["mean_error"] - best["mean_error"]
    between = math.hypot(best["mean_error_sd"] or math.inf, second["mean_error_sd"] or math.inf)
    return bool(gap > 2 * between or gap > best["mean_error"])


def by_hops(results: Iterable[Row]) -> list[Row]:
    """Return the error by number of hops, for the largest network of each class."""
    return [
        {
            "network": network, "nodes": row["nodes"], "noise": row["noise"], "mechanism": row["mechanism"],
            "hops": hops, "mean_error": error, "bias": bias, "pairs": int(pairs),
        }
        for network, rows in group(measured(results), "network").items()
        for row in rows
        if row["weights"] in MAIN and row["nodes"] == max(one["nodes"] for one in rows)
        for hops, error, bias, pairs in row["by_hops"]
    ]  # fmt: skip


def coverage(results: Iterable[Row]) -> list[Row]:
    """Compare intervals, predictions and bounds with the truth, over all cases of a mechanism."""
    found = []
    for mechanism, rows in group(measured(results), "mechanism").items():
        inside, asked = (sum(row[name] for row in rows) for name in ("covered", "intervals"))
        bounded = [row for row in rows if row["bound"] is not None]
        ratio = [
            row["mean_error"] / row["predicted_error"] for row in rows if row["predicted_error"] and not at_zero(row)
        ]
        margin = [_ratio(row["bound"], row["max_error"]) or math.nan for row in bounded]
        found.append({
            "mechanism": mechanism, "cases": len(rows), "cases_at_zero": sum(map(at_zero, rows)), "intervals": asked,
            "coverage": inside / asked if asked else None,
            "measured_over_predicted_median": float(np.median(ratio)) if ratio else None,
            "measured_over_predicted_least": min(ratio, default=None),
            "measured_over_predicted_most": max(ratio, default=None),
            "cases_above_bound": sum(row["max_error"] > row["bound"] for row in bounded),
            "bound_over_largest_error_median": float(np.median(margin)) if margin else None,
        })  # fmt: skip
    return found


def estimators(results: Iterable[Row]) -> list[Row]:
    """Compare every estimator with the reference, case by case."""
    setting = ("network", "nodes", "weights", "noise", "mechanism")
    estimated = (row for row in measured(results, unit=1.0) if row["estimator"] in ESTIMATORS)
    found = []
    for rows in group(estimated, *setting).values():
        reference = next((row["mean_error"] for row in rows if row["estimator"] == REFERENCE), 0.0)
        for row in rows:
            shown = {key: row[key] for key in (*setting, "estimator", "default", "mean_distance", "mean_error", "bias")}
            found.append({**shown, AGAINST: _ratio(row["mean_error"], reference)})
    return found


def estimators_by_mechanism(compared: Iterable[Row]) -> list[Row]:
    """Summarise ``estimators``: one row per mechanism and estimator."""
    found = []
    for (mechanism, estimator), rows in group(compared, "mechanism", "estimator").items():
        ratios = [row[AGAINST] for row in rows if row[AGAINST]]
        found.append({
            "mechanism": mechanism, "estimator": estimator, "cases": len(rows),
            "default": sum(row["default"] for row in rows),
            "geometric_mean": math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None,
            "worst": max(ratios, default=None),
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


def _ratio(above: float, below: float) -> float | None:
    return above / below if below > 0 and math.isfinite(above) else None
