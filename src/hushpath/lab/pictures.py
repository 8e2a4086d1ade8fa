"""Pictures of results, one comparison each; every picture is marked NOT PRIVATE inside."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..output.report.pictures import GREY, INK, colour, mark, panels, plain, png, short_number, whole_decades
from ..published.statement import NOT_PRIVATE
from .cases import MAIN_WEIGHTS
from .table1 import ENTRIES, rate_rows, shape_at, theorem_shape
from .tables import Row, at_zero, group, measured, names_of

WARNING = f"{NOT_PRIVATE}: seeded releases of generated weights"
DASHED, DOTTED = (0, (4, 2)), (0, (1, 1.6))


def _plot(axis: Any, rows: Sequence[Row], x: str, y: str, style: Any = "-", **options: Any) -> None:
    """Plot column ``y`` against column ``x`` of the ``rows`` of one mechanism on an ``axis``.

    ``style`` is the line style, "" for markers only.
    """
    name = rows[0]["mechanism"]
    axis.plot(
        [row[x] for row in rows], [row[y] for row in rows], linestyle=style, color=colour(name), marker=mark(name),
        **options,
    )  # fmt: skip


def _by_mechanism(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Yield mechanisms in the order of the registry, with their rows."""
    groups = group(rows, "mechanism")
    return ((name, groups[name]) for name in names_of(rows, "mechanism"))


def phase_diagram(winners: Sequence[Row]) -> bytes:
    """Draw fields of (n, noise) coloured by the mechanism with the smallest mean error, a panel per class.

    The number in a field is the error of the second best mechanism as a multiple of the best.  Fields are pale where
    repeats differ by about as much as the two best mechanisms do.
    """
    from matplotlib.patches import Rectangle

    networks = group(winners, "network")
    noises = sorted({row["noise"] for row in winners})
    legend = names_of([{"mechanism": row["winner"]} for row in winners], "mechanism")
    figure, axes = panels(max(1, len(networks)), 4, height=0.95 + 0.33 * len(noises), legend=legend)
    for axis, (network, here) in zip(axes, networks.items(), strict=False):
        sizes = sorted({row["nodes"] for row in here})
        for row in here:
            x, y = sizes.index(row["nodes"]), noises.index(row["noise"])
            hue, strength = colour(row["winner"]), 1.0 if row["clear"] else 0.5
            axis.add_patch(Rectangle((x, y), 1, 1, facecolor=hue, alpha=strength, edgecolor="white", linewidth=2))
            if (ratio := row["second_times"]) is not None:
                text = f"{ratio:.2f}×" if ratio < 9.95 else f"{ratio:.0f}×"
                axis.text(
                    x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=9, fontweight="bold",
                    color="white" if row["clear"] else INK,
                )  # fmt: skip
        plain(axis, _title(network))
        axis.grid(visible=False)
        axis.set(xlim=(0, len(sizes)), ylim=(0, len(noises)), xlabel="nodes", ylabel="noise / weight")
        axis.set_xticks(np.arange(len(sizes)) + 0.5, [short_number(n) if n % 1000 == 0 else f"{n}" for n in sizes])
        axis.set_yticks(np.arange(len(noises)) + 0.5, [f"{noise:g}" for noise in noises])
        for side in ("bottom", "left"):
            axis.spines[side].set_visible(False)
        axis.tick_params(length=0)
    return png(figure, WARNING)


def _title(network: str) -> str:
    """Return the title of a panel: the name of the network, without a suffix, shortened to the panel."""
    return f"{network.rpartition('.')[0] or network:.22}"


def error_against_n(results: Sequence[Row], exponents: Sequence[Row], noise: float) -> bytes:
    """Draw mean error against n at one noise, a panel per class, log-log, with fitted exponents beside the lines."""
    rows = measured(results, weights=MAIN_WEIGHTS, noise=noise)
    slopes = {
        (row["network"], row["mechanism"]): row["exponent_mean_error"] for row in exponents if row["noise"] == noise
    }
    networks = group(rows, "network")
    figure, axes = panels(max(1, len(networks)), 3, height=3.3, legend=names_of(rows, "mechanism"))
    for axis, (network, here) in zip(axes, networks.items(), strict=False):
        ends: list[tuple[float, str, str]] = []
        for name, line in _by_mechanism(here):
            _plot(axis, line, "nodes", "mean_error", markersize=5, linewidth=1.8)
            if zeros := [row for row in line if at_zero(row)]:
                _plot(axis, zeros, "nodes", "mean_error", "", markersize=5, markerfacecolor="white")
            slope = slopes.get((network, name))
            if slope is not None:
                ends.append((line[-1]["mean_error"], f"$n^{{{slope:.2f}}}$", colour(name)))
        zero = {row["nodes"]: row["mean_distance"] for row in here}
        axis.plot(list(zero), list(zero.values()), color=INK, linewidth=1.2, linestyle=DOTTED)
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
    places = spread_apart([(float(np.log(y)) - low) / (high - low) for y, _, _ in ends], 0.078)
    over = max(0.0, max(places) - 1.0)
    for (_, text, hue), place in zip(ends, places, strict=True):
        axis.text(1.02, place - over, text, color=hue, fontsize=8, va="center", transform=axis.transAxes)


def spread_apart(heights: Sequence[float], least: float) -> list[float]:
    """Move heights so that neighbours are at least ``least`` apart; the order stays."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = list(heights)
    for before, here in pairwise(order):
        placed[here] = max(placed[here], placed[before] + least)
    return placed


def error_against_hops(hops: Sequence[Row], noise: float) -> bytes:
    """Draw mean error against the hops between two nodes, on the largest network of each class."""
    rows = [row for row in hops if row["noise"] == noise]
    networks = group(rows, "network")
    figure, axes = panels(max(1, len(networks)), 3, height=3.0, legend=names_of(rows, "mechanism"))
    for axis, (network, here) in zip(axes, networks.items(), strict=False):
        for _, line in _by_mechanism(here):
            _plot(axis, line, "hops", "mean_error", linewidth=1.8, markersize=3.5)
        plain(axis, f"{_title(network)}, {here[0]['nodes']} nodes")
        whole_decades(axis)
        axis.set(xlabel="hops between the two nodes", ylabel="mean |error|")
    return png(figure, WARNING)


RATE_SHAPES = {  # mechanisms whose theorems need no bound on weights
    "separator": r"$p\,\log^2 n\,\log\frac{\log n}{\delta}$",
    "hubs": r"$n^{1/2}$",
    "input": r"$n$",
}


def measured_rates(results: Sequence[Row], rates: Sequence[Row]) -> bytes:
    """Draw largest errors against n where nothing is clipped, with the fitted shape of the theorem."""
    rows = [row for row in rate_rows(results) if row["mechanism"] in RATE_SHAPES]
    networks, units = names_of(rows, "network"), sorted({row["unit"] for row in rows})
    legend = names_of(rows, "mechanism")
    figure, axes = panels(len(networks) * len(units), max(1, len(networks)), height=3.7, legend=legend)
    fits = {(row["network"], row["mechanism"], row["unit"]): row for row in rates}
    for axis, (unit, network) in zip(axes, [(u, n) for u in units for n in networks], strict=True):
        lines = []
        here = group(measured(rows, network=network, unit=unit), "mechanism")
        for name, line in ((name, here[name]) for name in RATE_SHAPES if name in here):
            scaled = [{**row, "max_error": row["max_error"] / unit} for row in line]
            _plot(axis, scaled, "nodes", "max_error", "", markersize=6)
            fit, shape = fits.get((network, name, unit)), theorem_shape(name, network)
            if fit is not None and shape is not None:
                curve = [fit["constant"] * shape_at(row, shape) / unit for row in line]
                axis.plot([row["nodes"] for row in line], curve, color=colour(name), linewidth=1.5, linestyle=DASHED)
                lines.append((f"c = {_format_constant(fit['constant'])},  within {fit['within']:.2f}×", colour(name)))
        plain(axis, f"{network}, unit $10^{{{math.log10(unit):.0f}}}$")
        whole_decades(axis)
        axis.set(xlabel="nodes", ylabel="largest |error| / unit" if network == networks[0] else "")
        _write_above(axis, lines)
    shapes = "     ".join(f"{name}: c {shape}" for name, shape in RATE_SHAPES.items())
    figure.text(0.995, 0.995, f"dashed, one constant each:   {shapes}", ha="right", va="top", fontsize=9.5, color=INK)
    return png(figure, WARNING)


def _format_constant(value: float) -> str:
    """Format with two digits, never as a power of ten."""
    return f"{value:.{max(0, 1 - math.floor(math.log10(value)))}f}" if value < 10 else f"{value:.0f}"


def _write_above(axis: Any, lines: Sequence[tuple[str, str]], step: float = 0.095) -> None:
    """Write lines of text in the upper left corner, and extend the axis to make room."""
    low, high = axis.get_ylim()
    axis.set_ylim(low, high * (high / low) ** (1.25 * step * len(lines) / (1 - step * len(lines))))
    for i, (text, hue) in enumerate(lines):
        axis.text(0.03, 0.97 - step * i, text, color=hue, fontsize=8.5, transform=axis.transAxes, va="top")


PREDICTED_NOTES = (
    "dashed: predicted bound",
    "open markers: bound of a strategy that was built",
    "full markers: largest measured error",
    "(stops growing where answers are clipped at 0)",
    "numbers: exponent of n fitted over",
    "$10^6$ to $10^9$ nodes (the theorem's shape there)",
)


def predicted_bounds(curves: Sequence[Row], slopes: Sequence[Row], results: Sequence[Row]) -> bytes:
    """Draw predicted bounds up to 10^9 nodes; measured largest errors and bounds of real strategies as markers."""
    families = group(curves, "family")
    figure, axes = panels(len(families), 3, height=3.7, legend=names_of(curves, "mechanism"))
    exponents = {(row["family"], row["mechanism"]): row for row in slopes}
    networks = {(entry.family, entry.mechanism): entry.networks for entry in ENTRIES}
    for axis, (family, here) in zip(axes, families.items(), strict=True):
        lines = []
        for name, curve in group(here, "mechanism").items():
            _plot(axis, curve, "nodes", "bound", DASHED, linewidth=2, markersize=0)
            setting = {key: curve[0][key] for key in ("mechanism", "epsilon", "max_weight")}
            real = [
                row for row in measured(results, weights=MAIN_WEIGHTS, **setting)
                if row["network"] in networks[family, name] and row["bound"] is not None
            ]  # fmt: skip
            if real:
                _plot(axis, real, "nodes", "bound", "", markersize=5.5, markerfacecolor="white")
                _plot(axis, real, "nodes", "max_error", "", markersize=4.5)
            slope = exponents[family, name]
            lines.append((f"{name}: {slope['n_fitted']:.2f}  ({slope['n_theorem']:.2f})", colour(name)))
        plain(axis, family)
        whole_decades(axis)
        axis.set(xlabel="nodes", ylabel="bound on all errors")
        _write_above(axis, lines, 0.085)
    for spare in figure.axes[len(families) : len(families) + 1]:
        for i, text in enumerate(PREDICTED_NOTES):
            spare.text(0.02, 0.9 - 0.11 * i, text, fontsize=9.5, color=GREY, transform=spare.transAxes)
    return png(figure, WARNING)
