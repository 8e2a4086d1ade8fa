"""Pictures of what was measured and predicted, each of one comparison; marked inside, for a picture travels alone.

The phase diagram shows, for each class, which mechanism has the smallest mean error at which size and noise.  The
number in a field says how many times larger the error of the best *other* mechanism is.  Fields are pale where
repeats differ by about as much as the two best mechanisms do.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..publish.statement import NOT_PRIVATE
from ..report.canvas import INK, PALE, colour, mark, panels, plain, png, short_number, whole_decades
from .cases import MAIN_WEIGHTS
from .tables import MAIN, Row, at_zero, by_hops, exponents, measured, middle_noise, names_of, winners

WARNING = f"{NOT_PRIVATE}: seeded releases of generated weights"


def phase_diagram(results: Sequence[Row]) -> bytes:
    """Fields of (n, noise) coloured by the winner, a panel per class."""
    from matplotlib.patches import Rectangle

    rows = winners(results)
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
        axis.set_xticks(np.arange(len(sizes)) + 0.5, [short_number(n) if n % 1000 == 0 else f"{n}" for n in sizes])
        axis.set_yticks(np.arange(len(noises)) + 0.5, [f"{noise:g}" for noise in noises])
        for side in ("bottom", "left"):
            axis.spines[side].set_visible(False)
        axis.tick_params(length=0)
        axis.set_xlabel("nodes")
        axis.set_ylabel("noise / weight")
    return png(figure, WARNING)


def titled(network: str) -> str:
    """The name of a network above a panel: files without their suffix, and no longer than the panel is wide."""
    return f"{network.rpartition('.')[0] or network:.22}"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 9.95 else f"{ratio:.0f}×"


def error_against_n(results: Sequence[Row]) -> bytes:
    """Mean error against n, a panel per class, log-log, with fitted exponents at the ends of the lines."""
    noise = middle_noise(results)
    rows = measured(results, weights=MAIN_WEIGHTS, noise=noise)
    fitted = {(row["network"], row["mechanism"]): row for row in exponents(results) if row["noise"] == noise}
    networks, mechanisms = names_of(rows, "network"), names_of(rows, "mechanism")
    figure, axes = panels(max(1, len(networks)), 3, height=3.3, legend=mechanisms)
    for axis, network in zip(axes, networks, strict=False):
        ends: list[tuple[float, float, str, str]] = []
        for mechanism in mechanisms:
            line = [row for row in rows if (row["network"], row["mechanism"]) == (network, mechanism)]
            if not line:
                continue
            sizes, errors = ([row[key] for row in line] for key in ("nodes", "mean_error"))
            axis.plot(sizes, errors, color=colour(mechanism), marker=mark(mechanism), markersize=5, linewidth=1.8)
            hollow = [(row["nodes"], row["mean_error"]) for row in line if at_zero(row)]
            if hollow:
                axis.plot(
                    *zip(*hollow, strict=True), linestyle="", color=colour(mechanism), marker=mark(mechanism),
                    markersize=5, markerfacecolor="white",
                )  # fmt: skip
            fit = fitted.get((network, mechanism), {})
            slope = fit.get("exponent_mean_error")
            if slope is not None:
                text = f"$n^{{{slope:.2f}}}$"
                ends.append((sizes[-1], errors[-1], text, colour(mechanism)))
        zero = {row["nodes"]: row["mean_distance"] for row in rows if row["network"] == network}
        axis.plot(list(zero), list(zero.values()), color=INK, linewidth=1.2, linestyle=(0, (1, 1.6)))
        plain(axis, network)
        whole_decades(axis)
        axis.set_xlabel("nodes")
        axis.set_ylabel("mean |error|")
        _label_ends(axis, ends)
    return png(figure, WARNING)


def _label_ends(axis: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Write each label beside the end of its line, none over another."""
    if not ends:
        return
    low, high = np.log(axis.get_ylim())
    places = apart([(float(np.log(y)) - low) / (high - low) for _, y, _, _ in ends], 0.078)
    over = max(0.0, max(places) - 1.0)
    for (_, _, text, hue), place in zip(ends, places, strict=True):
        axis.text(
            1.02, place - over, text, color=hue, fontsize=8, va="center", ha="left", transform=axis.transAxes
        )  # fmt: skip


def apart(heights: Sequence[float], least: float) -> list[float]:
    """Heights in the same order, moved so that neighbours are at least ``least`` apart."""
    order = sorted(range(len(heights)), key=lambda i: heights[i])
    placed = list(heights)
    for before, here in pairwise(order):
        placed[here] = max(placed[here], placed[before] + least)
    return placed


def error_against_hops(results: Sequence[Row]) -> bytes:
    """Mean error against the hops between two nodes, on the largest network of each class."""
    noise = middle_noise(results)
    rows = [row for row in by_hops(results) if row["noise"] == noise]
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
        axis.set_xlabel("hops between the two nodes")
        axis.set_ylabel("mean |error|")
    return png(figure, WARNING)


def error_against_weights(results: Sequence[Row]) -> bytes:
    """How the kind of weights changes each mechanism's error: mean error, and the bias behind it."""
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
            axis.axvline(edge - 0.5, color=PALE, linewidth=0.8)
        whole_decades(axis, "y")
        axis.set_ylabel("mean |error|")
    return png(figure, WARNING)
