"""Pictures of results, one comparison each; every picture is marked NOT PRIVATE inside.

The phase diagram shows, for each class, the mechanism with the smallest mean error by size and noise.  The number in a
field is the error of the second best mechanism as a multiple of the best.  Fields are pale where repeats differ by
about as much as the two best mechanisms do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..estimator.registry import ESTIMATORS
from ..output.report import pictures as canvas
from ..output.report.pictures import GREY, INK, colour, mark, panels, plain, png, whole_decades
from ..published.statement import NOT_PRIVATE
from . import tables as t
from .cases import MAIN_WEIGHTS
from .table1 import ENTRIES, SHAPES, rate_rows, shape_at, theorem_shape
from .tables import AGAINST, MAIN, REFERENCE, Row, at_zero, measured, middle_noise, names_of

WARNING = f"{NOT_PRIVATE}: seeded releases of generated weights"


def phase_diagram(results: Sequence[Row]) -> bytes:
    """Draw fields of (n, noise) coloured by the best mechanism, a panel per class."""
    from matplotlib.patches import Rectangle

    rows = t.winners(results)
    networks = names_of(rows, "network")
    legend = [name for name in names_of(results, "mechanism") if name in {row["winner"] for row in rows}]
    noises = sorted({row["noise"] for row in rows})
    figure, axes = panels(max(1, len(networks)), 4, height=0.95 + 0.33 * len(noises), legend=legend)
    for axis, network in zip(axes, networks, strict=False):
        here = [row for row in rows if row["network"] == network]
        sizes = sorted({row["nodes"] for row in here})
        for row in here:
            x, y = sizes.index(row["nodes"]), noises.index(row["noise"])
            hue, strength = colour(row["winner"]), 1.0 if row["clear"] else 0.5
            axis.add_patch(Rectangle((x, y), 1, 1, facecolor=hue, alpha=strength, edgecolor="white", linewidth=2))
            if row["second_times"] is not None:
                axis.text(
                    x + 0.5, y + 0.5, _times(row["second_times"]), ha="center", va="center", fontsize=9,
                    fontweight="bold", color="white" if row["clear"] else INK,
                )  # fmt: skip
        plain(axis, titled(network))
        axis.grid(visible=False)
        axis.set(xlim=(0, len(sizes)), ylim=(0, len(noises)))
        axis.set_xticks(
            np.arange(len(sizes)) + 0.5, [canvas.short_number(n) if n % 1000 == 0 else f"{n}" for n in sizes]
        )
        axis.set_yticks(np.arange(len(noises)) + 0.5, [f"{noise:g}" for noise in noises])
        for side in ("bottom", "left"):
            axis.spines[side].set_visible(False)
        axis.tick_params(length=0)
        axis.set(xlabel="nodes", ylabel="noise / weight")
    return png(figure, WARNING)


def titled(network: str) -> str:
    """Return the title of a panel: the name of the network, without a suffix, shortened to the panel."""
    return f"{network.rpartition('.')[0] or network:.22}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 9.95 else f"{ratio:.0f}×"


def error_against_n(results: Sequence[Row]) -> bytes:
    """Draw mean error against n, a panel per class, log-log, with fitted exponents beside the lines."""
    noise = middle_noise(results)
    rows = measured(results, weights=MAIN_WEIGHTS, noise=noise)
    fitted = {(row["network"], row["mechanism"]): row for row in t.exponents(results) if row["noise"] == noise}
    networks, mechanisms = names_of(rows, "network"), names_of(rows, "mechanism")
    figure, axes = panels(max(1, len(networks)), 3, height=3.3, legend=mechanisms)
    for axis, network in zip(axes, networks, strict=False):
        ends: list[tuple[float, str, str]] = []
        for mechanism in mechanisms:
            line = [row for row in rows if (row["network"], row["mechanism"]) == (network, mechanism)]
            if not line:
                continue
            sizes, errors = ([row[key] for row in line] for key in ("nodes", "mean_error"))
            axis.plot(sizes, errors, color=colour(mechanism), marker=mark(mechanism), markersize=5, linewidth=1.8)
            for row in filter(at_zero, line):
                axis.plot(
                    row["nodes"], row["mean_error"], mark(mechanism), color=colour(mechanism), markersize=5,
                    markerfacecolor="white",
                )  # fmt: skip
            slope = fitted.get((network, mechanism), {}).get("exponent_mean_error")
            if slope is not None:
                ends.append((errors[-1], f"$n^{{{slope:.2f}}}$", colour(mechanism)))
        zero = {row["nodes"]: row["mean_distance"] for row in rows if row["network"] == network}
        axis.plot(list(zero), list(zero.values()), color=INK, linewidth=1.2, linestyle=(0, (1, 1.6)))
        plain(axis, network)
        whole_decades(axis)
        axis.set(xlabel="nodes", ylabel="mean |error|")
        _label_ends(axis, ends)
    return png(figure, WARNING)


def _label_ends(axis: Any, ends: list[tuple[float, str, str]]) -> None:
    """Write each label beside the end of its line, without overlap."""
    if not ends:
        return
    low, high = np.log(axis.get_ylim())
    places = apart([(float(np.log(y)) - low) / (high - low) for y, _, _ in ends], 0.078)
    over = max(0.0, max(places) - 1.0)
    for (_, text, hue), place in zip(ends, places, strict=True):
        axis.text(1.02, place - over, text, color=hue, fontsize=8, va="center", transform=axis.transAxes)


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights so that neighbours are at least ``least`` apart; the order stays."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = list(heights)
    for before, here in pairwise(order):
        placed[here] = max(placed[here], placed[before] + least)
    return placed


def error_against_hops(results: Sequence[Row]) -> bytes:
    """Draw mean error against the hops between two nodes, on the largest network of each class."""
    noise = middle_noise(results)
    rows = [row for row in t.by_hops(results) if row["noise"] == noise]
    networks, mechanisms = names_of(rows, "network"), names_of(rows, "mechanism")
    figure, axes = panels(max(1, len(networks)), 3, height=3.0, legend=mechanisms)
    for axis, network in zip(axes, networks, strict=False):
        here = [row for row in rows if row["network"] == network]
        for mechanism in mechanisms:
            line = [row for row in here if row["mechanism"] == mechanism]
            if line:
                hops, errors = ([row[key] for row in line] for key in ("hops", "mean_error"))
                axis.plot(hops, errors, color=colour(mechanism), linewidth=1.8, marker=mark(mechanism), markersize=3.5)
        plain(axis, f"{titled(network)}, {here[0]['nodes']} nodes")
        whole_decades(axis)
        axis.set(xlabel="hops between the two nodes", ylabel="mean |error|")
    return png(figure, WARNING)


def error_against_weights(results: Sequence[Row]) -> bytes:
    """Draw mean error by kind of weights."""
    rows = [row for row in measured(results) if row["weights"] not in MAIN]
    networks, mechanisms = names_of(rows, "network"), names_of(rows, "mechanism")
    kinds = [MAIN_WEIGHTS, *names_of(rows, "weights")]
    noises = sorted({row["noise"] for row in rows})
    places = [(network, noise) for noise in noises for network in networks]
    figure, axes = panels(max(1, len(places)), 3, height=2.9, legend=mechanisms)
    for axis, (network, noise) in zip(axes, places, strict=False):
        nodes = next(row["nodes"] for row in rows if row["network"] == network)
        here = measured(results, network=network, noise=noise, nodes=nodes)
        step = 0.7 / max(1, len(mechanisms) - 1)
        for offset, mechanism in enumerate(mechanisms):
            error = {row["weights"]: row["mean_error"] for row in here if row["mechanism"] == mechanism}
            at = [i - 0.35 + step * offset for i, kind in enumerate(kinds) if kind in error]
            values = [error[kind] for kind in kinds if kind in error]
            axis.plot(at, values, linestyle="", color=colour(mechanism), marker=mark(mechanism), markersize=6)
        plain(axis, f"{network}, {nodes} nodes, noise {noise:g}")
        axis.set_xticks(range(len(kinds)), kinds, rotation=18, ha="right", rotation_mode="anchor")
        axis.grid(visible=False, axis="x")
        for edge in range(1, len(kinds)):
            axis.axvline(edge - 0.5, color=canvas.PALE, linewidth=0.8)
        whole_decades(axis, "y")
        axis.set_ylabel("mean |error|")
    return png(figure, WARNING)


PREDICTED_NOTES = (
    "dashed: predicted bound",
    "open markers: bound of a strategy that was built",
    "full markers: largest measured error",
    "(stops growing where answers are clipped at 0)",
    "numbers: exponent of n fitted over",
    "$10^6$ to $10^9$ nodes (the theorem's shape there)",
)
MEASURED = ("separator", "hubs", "input")  # mechanisms whose theorems need no bound on weights


def measured_rates(results: Sequence[Row], fits: Sequence[Row]) -> bytes:
    """Draw largest errors against n where nothing is clipped, with the fitted shape of the theorem."""
    rows = [row for row in rate_rows(results) if row["mechanism"] in MEASURED]
    networks, units = names_of(rows, "network"), sorted({row["unit"] for row in rows})
    figure, axes = panels(
        len(networks) * len(units), max(1, len(networks)), height=3.7, legend=names_of(rows, "mechanism")
    )
    fitted = {(row["network"], row["mechanism"], row["unit"]): row for row in fits}
    for axis, (unit, network) in zip(axes, [(u, n) for u in units for n in networks], strict=True):
        lines = []
        for name in MEASURED:
            line = [row for row in rows if (row["network"], row["mechanism"], row["unit"]) == (network, name, unit)]
            if not line:
                continue
            sizes, hue = [row["nodes"] for row in line], colour(name)
            axis.plot(sizes, [row["max_error"] / unit for row in line], mark(name), color=hue, markersize=6)
            fit, shape = fitted.get((network, name, unit)), theorem_shape(name, network)
            if fit is not None and shape is not None:
                curve = [fit["constant"] * shape_at(row, shape) / unit for row in line]
                axis.plot(sizes, curve, color=hue, linewidth=1.5, linestyle=(0, (4, 2)))
                lines.append((f"c = {_short(fit['constant'])},  within {fit['within']:.2f}×", hue))
        plain(axis, f"{network}, unit $10^{{{math.log10(unit):.0f}}}$")
        whole_decades(axis)
        axis.set(xlabel="nodes", ylabel="largest |error| / unit" if network == networks[0] else "")
        _write_above(axis, lines)
    shapes = "     ".join(f"{name}: c {SHAPES[name][''].mathtext}" for name in MEASURED)
    figure.text(0.995, 0.995, f"dashed, one constant each:   {shapes}", ha="right", va="top", fontsize=9.5, color=INK)
    return png(figure, WARNING)


def _short(value: float) -> str:
    """Format with two digits, never as a power of ten."""
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}" if value < 10 else f"{value:.0f}"


def _write_above(axis: Any, lines: Sequence[tuple[str, str]], step: float = 0.095) -> None:
    """Write lines of text in the upper left corner, and extend the axis to make room."""
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** (1.25 * step * len(lines) / (1 - step * len(lines))))
    for i, (text, hue) in enumerate(lines):
        axis.text(0.03, 0.97 - step * i, text, color=hue, fontsize=8.5, transform=axis.transAxes, va="top")


def table1_curves(curves: Sequence[Row], slopes: Sequence[Row], results: Sequence[Row]) -> bytes:
    """Draw predicted bounds up to 10^9 nodes; measured largest errors and bounds of real strategies as markers."""
    families = names_of(curves, "family")
    figure, axes = panels(len(families), 3, height=3.7, legend=names_of(curves, "mechanism"))
    fitted = {(row["family"], row["mechanism"]): row for row in slopes}
    for axis, family in zip(axes, families, strict=True):
        lines = []
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
            lines.append((f"{entry.mechanism}: {slope['n_fitted']:.2f}  ({slope['n_theorem']:.2f})", hue))
        plain(axis, family)
        whole_decades(axis)
        axis.set(xlabel="nodes", ylabel="bound on all errors")
        _write_above(axis, lines, 0.085)
    for spare in figure.axes[len(families) : len(families) + 1]:
        for i, text in enumerate(PREDICTED_NOTES):
            spare.text(0.02, 0.9 - 0.11 * i, text, fontsize=9.5, color=GREY, transform=spare.transAxes)
    return png(figure, WARNING)


def estimator_panels(rows: Sequence[Row]) -> bytes:
    """Draw the mean error of every estimator over the reference's, against noise, a panel per class."""
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
            axis.plot(
                noises,
                means,
                color=canvas.COLOURS[place],
                marker=canvas.MARKS[place],
                markersize=5,
                linewidth=1.8,
                label=name,
            )
        axis.axhline(1.0, color=INK, linewidth=1.0, linestyle=(0, (1, 1.6)))
        plain(axis, network)
        whole_decades(axis, "x")
        axis.set_ylim(bottom=0.0)
        axis.set(xlabel="noise / weight", ylabel=f"error / {REFERENCE}'s")
    if shown:
        axes[0].legend(frameon=False, fontsize=9)
    return png(figure, WARNING)
