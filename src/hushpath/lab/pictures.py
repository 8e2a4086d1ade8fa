"""Pictures of what was measured: error against n, against hops, and against the kind of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..strategy.registry import MECHANISMS
from .canvas import INK, apart, colour, mark, panels, plain, png, whole_decades
from .cells import MAIN_WEIGHTS
from .tables import MAIN, Row, at_zero, by_hops, exponents, measured, middle_noise
from .theorems import power


def names_of(rows: Sequence[Row], key: str) -> list[str]:
    """The values of a column in order of appearance; mechanisms in the order of the registry."""
    found = list(dict.fromkeys(str(row[key]) for row in rows))
    return [name for name in MECHANISMS if name in found] if key == "mechanism" else found


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
                text = f"{slope:.2f}  ({power(fit['theorem'], drawn=True)})"
                ends.append((sizes[-1], errors[-1], text, colour(mechanism)))
        zero = {row["nodes"]: row["mean_distance"] for row in rows if row["network"] == network}
        axis.plot(list(zero), list(zero.values()), color=INK, linewidth=1.2, linestyle=(0, (1, 1.6)))
        plain(axis, network)
        whole_decades(axis, "x")
        whole_decades(axis, "y")
        axis.set_xlabel("nodes")
        axis.set_ylabel("mean |error|")
        _label_ends(axis, ends)
    return png(figure)


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
        plain(axis, f"{network}, {here[0]['nodes']} nodes")
        whole_decades(axis, "x")
        whole_decades(axis, "y")
        axis.set_xlabel("hops between the two nodes")
        axis.set_ylabel("mean |error|")
    return png(figure)


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
            axis.axvline(edge - 0.5, color="#e6e6e6", linewidth=0.8)
        whole_decades(axis, "y")
        axis.set_ylabel("mean |error|")
    return png(figure)
