"""The phase diagram, and Table 1 as curves.

The phase diagram shows, for each class, which mechanism has the smallest mean error at which size and noise.  The
number in a field says how many times larger the error of the best *other* mechanism is.  Fields are pale where
repeats differ by about as much as the two best mechanisms do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .canvas import GREY, INK, colour, mark, panels, plain, png, short_number, whole_decades
from .pictures import names_of
from .table1 import ENTRIES
from .tables import Row, measured, winners
from .theorems import power

NOTES = (
    "dashed: predicted bound",
    "open marks: bound of a strategy really built",
    "full marks: largest error measured",
    "numbers: exponent of n fitted over",
    "10^6 to 10^9 nodes (theorem's)",
)


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
        plain(axis, network)
        axis.grid(visible=False)
        axis.set(xlim=(0, len(sizes)), ylim=(0, len(noises)))
        axis.set_xticks(np.arange(len(sizes)) + 0.5, [short_number(n) if n % 1000 == 0 else f"{n}" for n in sizes])
        axis.set_yticks(np.arange(len(noises)) + 0.5, [f"{noise:g}" for noise in noises])
        for side in ("bottom", "left"):
            axis.spines[side].set_visible(False)
        axis.tick_params(length=0)
        axis.set_xlabel("nodes")
        axis.set_ylabel("noise / weight")
    return png(figure)


def _times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 9.95 else f"{ratio:.0f}×"


def table1_curves(curves: Sequence[Row], slopes: Sequence[Row], results: Sequence[Row]) -> bytes:
    """Predicted bounds to a thousand million nodes; measured largest errors and bounds of real strategies as marks."""
    families = names_of(curves, "family")
    figure, axes = panels(len(families), 3, height=3.5, legend=names_of(curves, "mechanism"))
    fitted = {(row["family"], row["mechanism"]): row for row in slopes}
    for axis, family in zip(axes, families, strict=True):
        lines = []
        for entry in (one for one in ENTRIES if one.family == family):
            hue = colour(entry.mechanism)
            curve = [row for row in curves if (row["family"], row["mechanism"]) == (family, entry.mechanism)]
            sizes, bounds = ([row[key] for row in curve] for key in ("nodes", "bound"))
            axis.plot(sizes, bounds, color=hue, linewidth=2, linestyle=(0, (4, 2)))
            real = [
                row for row in measured(results, mechanism=entry.mechanism)
                if row["network"] in entry.networks and row["epsilon"] == curve[0]["epsilon"]
                and row["max_weight"] == curve[0]["max_weight"] and row["weights"] == "uniform"
            ]  # fmt: skip
            sizes, shape = [row["nodes"] for row in real], mark(entry.mechanism)
            axis.plot(sizes, [row["bound"] for row in real], shape, color=hue, markersize=5.5, markerfacecolor="white")
            axis.plot(sizes, [row["max_error"] for row in real], shape, color=hue, markersize=4.5)
            slope = fitted[family, entry.mechanism]
            lines.append(
                (f"{entry.mechanism}: {slope['n_fitted']:.2f}  ({power(slope['n_theorem'], drawn=True)})", hue)
            )
        plain(axis, family)
        whole_decades(axis, "x")
        whole_decades(axis, "y")
        axis.set_xlabel("nodes")
        axis.set_ylabel("bound on every |error|")
        low, high = axis.get_ylim()
        axis.set_ylim(low, high * (high / low) ** (0.1 * len(lines)))  # room for the words
        for i, (text, hue) in enumerate(lines):
            axis.text(0.04, 0.95 - 0.085 * i, text, color=hue, fontsize=9, transform=axis.transAxes, va="top")
    spare = figure.axes[len(families)] if len(figure.axes) > len(families) else None
    if spare is not None:
        for i, text in enumerate(NOTES):
            spare.text(0.02, 0.9 - 0.11 * i, text, fontsize=9.5, color=GREY, transform=spare.transAxes)
    return png(figure)
