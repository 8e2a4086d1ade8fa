"""Pictures of Table 1, measured and predicted, and of estimators side by side; marked inside, as all of the lab's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..estimate.registry import ESTIMATORS
from ..report.canvas import COLOURS, GREY, INK, MARKS, colour, mark, panels, plain, png, whole_decades
from .pictures import WARNING
from .rates import rate_rows, shape_at
from .table1 import ENTRIES
from .tables import AGAINST, REFERENCE, Row, measured, names_of
from .theorems import SHAPES, theorem_shape

PREDICTED_NOTES = (
    "dashed: predicted bound",
    "open marks: bound of a strategy really built",
    "full marks: largest error measured",
    "(where answers are clipped at 0 it stops growing)",
    "numbers: exponent of n fitted over",
    "$10^6$ to $10^9$ nodes (the theorem's shape there)",
)
MEASURED = ("separator", "hubs", "input")  # those whose theorems need no bound on weights


def measured_rates(results: Sequence[Row], fits: Sequence[Row]) -> bytes:
    """Largest errors against n where nothing is clipped, with the theorem's shape through them: class by unit."""
    rows = [row for row in rate_rows(results) if row["mechanism"] in MEASURED]
    networks, units = names_of(rows, "network"), sorted({row["unit"] for row in rows})
    figure, axes = panels(
        len(networks) * len(units), max(1, len(networks)), height=3.7, legend=names_of(rows, "mechanism")
    )
    for axis, (unit, network) in zip(axes, [(u, n) for u in units for n in networks], strict=True):
        words = []
        for name in MEASURED:
            line = [row for row in rows if (row["network"], row["mechanism"], row["unit"]) == (network, name, unit)]
            if not line:
                continue
            sizes, hue = [row["nodes"] for row in line], colour(name)
            axis.plot(sizes, [row["max_error"] / unit for row in line], mark(name), color=hue, markersize=6)
            fit = next((one for one in fits if _same(one, network, name, unit)), None)
            shape = theorem_shape(name, network)
            if fit is not None and shape is not None:
                curve = [fit["constant"] * shape_at(row, shape) / unit for row in line]
                axis.plot(sizes, curve, color=hue, linewidth=1.5, linestyle=(0, (4, 2)))
                words.append((f"c = {_short(fit['constant'])},  within {fit['within']:.2f}×", hue))
        plain(axis, f"{network}, unit $10^{{{math.log10(unit):.0f}}}$")
        whole_decades(axis)
        axis.set_xlabel("nodes")
        axis.set_ylabel("largest |error| / unit" if network == networks[0] else "")
        _words_above(axis, words)
    shapes = "     ".join(f"{name}: c {SHAPES[name][''].drawn}" for name in MEASURED)
    figure.text(0.995, 0.995, f"dashed, one constant each:   {shapes}", ha="right", va="top", fontsize=9.5, color=INK)
    return png(figure, WARNING)


def _same(fit: Row, network: str, mechanism: str, unit: float) -> bool:
    return (fit["network"], fit["mechanism"], fit["unit"]) == (network, mechanism, unit)


def _short(value: float) -> str:
    """Two digits, never as a power of ten."""
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}" if value < 10 else f"{value:.0f}"


def _words_above(axis: Any, words: Sequence[tuple[str, str]], step: float = 0.095) -> None:
    """Write lines of words in the upper left, and make room for them."""
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** (1.25 * step * len(words) / (1 - step * len(words))))
    for i, (text, hue) in enumerate(words):
        axis.text(0.03, 0.97 - step * i, text, color=hue, fontsize=8.5, transform=axis.transAxes, va="top")


def table1_curves(curves: Sequence[Row], slopes: Sequence[Row], results: Sequence[Row]) -> bytes:
    """Predicted bounds to a thousand million nodes; measured largest errors and bounds of real strategies as marks."""
    families = names_of(curves, "family")
    figure, axes = panels(len(families), 3, height=3.7, legend=names_of(curves, "mechanism"))
    fitted = {(row["family"], row["mechanism"]): row for row in slopes}
    for axis, family in zip(axes, families, strict=True):
        words = []
        for entry in (one for one in ENTRIES if one.family == family):
            hue, shape = colour(entry.mechanism), mark(entry.mechanism)
            curve = [row for row in curves if (row["family"], row["mechanism"]) == (family, entry.mechanism)]
            sizes, bounds = ([row[key] for row in curve] for key in ("nodes", "bound"))
            axis.plot(sizes, bounds, color=hue, linewidth=2, linestyle=(0, (4, 2)))
            real = [
                row for row in measured(results, mechanism=entry.mechanism, weights="uniform")
                if row["network"] in entry.networks and row["epsilon"] == curve[0]["epsilon"]
                and row["max_weight"] == curve[0]["max_weight"] and row["bound"] is not None
            ]  # fmt: skip
            sizes = [row["nodes"] for row in real]
            axis.plot(sizes, [row["bound"] for row in real], shape, color=hue, markersize=5.5, markerfacecolor="white")
            axis.plot(sizes, [row["max_error"] for row in real], shape, color=hue, markersize=4.5)
            slope = fitted[family, entry.mechanism]
            words.append((f"{entry.mechanism}: {slope['n_fitted']:.2f}  ({slope['n_theorem']:.2f})", hue))
        plain(axis, family)
        whole_decades(axis)
        axis.set_xlabel("nodes")
        axis.set_ylabel("bound on every |error|")
        _words_above(axis, words, 0.085)
    spare = figure.axes[len(families)] if len(figure.axes) > len(families) else None
    if spare is not None:
        for i, text in enumerate(PREDICTED_NOTES):
            spare.text(0.02, 0.9 - 0.11 * i, text, fontsize=9.5, color=GREY, transform=spare.transAxes)
    return png(figure, WARNING)


def estimator_panels(rows: Sequence[Row]) -> bytes:
    """Mean error of every estimator in terms of the reference's, against noise: a panel per class, a line each."""
    names = [name for name in ESTIMATORS if name != REFERENCE]
    shown = [row for row in rows if row["estimator"] != REFERENCE and row[AGAINST] and row["mechanism"] == "input"]
    networks = names_of(shown, "network")
    figure, axes = panels(max(1, len(networks)), 4, height=2.7, legend=())
    for axis, network in zip(axes, networks, strict=False):
        for name in names:
            here = [row for row in shown if (row["network"], row["estimator"]) == (network, name)]
            if not here:
                continue
            noises = sorted({row["noise"] for row in here})
            at = [[np.log(row[AGAINST]) for row in here if row["noise"] == noise] for noise in noises]
            means = [float(np.exp(np.mean(logs))) for logs in at]
            place = names.index(name)
            axis.plot(noises, means, color=COLOURS[place], marker=MARKS[place], markersize=5, linewidth=1.8, label=name)
        axis.axhline(1.0, color=INK, linewidth=1.0, linestyle=(0, (1, 1.6)))
        plain(axis, network)
        whole_decades(axis, "x")
        axis.set_ylim(bottom=0.0)
        axis.set_xlabel("noise / weight")
        axis.set_ylabel(f"error / {REFERENCE}'s")
    if shown:
        axes[0].legend(frameon=False, fontsize=9)
    return png(figure, WARNING)
