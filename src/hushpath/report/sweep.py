"""The picture of a sweep: predicted error against epsilon, beside what public facts alone would give.

May be published: nothing private has been read.
"""

from __future__ import annotations

import io
import math
from os import PathLike
from pathlib import Path
from typing import Any

from ..errors import CannotError
from ..publish.planned import Sweep
from .canvas import BLUE, INK, ORANGE, blank, plain, png, whole_decades
from .page import write_file

FEW = 8  # epsilons that can each be named on the axis


def write_picture(path: str | PathLike[str], sweep: Sweep) -> None:
    """Draw a sweep as SVG or PNG, by the name of the file."""
    write_file(path, picture(sweep, "svg" if Path(path).suffix.lower() == ".svg" else "png"))


def picture(sweep: Sweep, kind: str = "png") -> bytes:
    """Mean error, the band of kinds of weights, 95 % point, and the line to beat; the same bytes for the same plan."""
    plans = [one for one in sweep.plans if math.isfinite(one.terms.epsilon) and one.choice.mean_error > 0]
    if not plans:
        raise CannotError("there is no error to draw at these epsilons")
    figure = blank(7.2, 5.4)
    axes = figure.add_axes((0.125, 0.245, 0.745 if sweep.known else 0.845, 0.675))
    epsilons = [one.terms.epsilon for one in plans]
    choices = [one.choice for one in plans]
    tried = [one.expected.simulated for one in choices]
    if all(tried):
        least, most = ([getattr(one.expected, side) for one in choices] for side in ("least", "most"))
        axes.fill_between(epsilons, least, most, color=BLUE, alpha=0.18, linewidth=0, label="mean, by kind of weights")
    mean, p95 = [one.mean_error for one in choices], [one.p95_error for one in choices]
    axes.plot(epsilons, mean, color=BLUE, linewidth=2.2, marker="o", markersize=6, label="mean error")
    axes.plot(epsilons, p95, color=BLUE, linewidth=1.6, linestyle=(0, (4, 2)), label="95 % of errors are below")
    if sweep.known is not None:
        label = "public facts alone (mean)"
        axes.axhline(sweep.known.error, color=ORANGE, linewidth=2.2, linestyle=(0, (1, 1)), label=label)
    plain(axes, "Predicted error against epsilon" + ("" if all(tried) else ", from noise alone"), text=12)
    axes.set(xlabel="epsilon: smaller is more private", ylabel="error, in the measure of the weights")
    whole_decades(axes)
    if len(epsilons) <= FEW:
        axes.set_xticks(epsilons, [f"{one:g}" for one in epsilons])
    figure.legend(loc="lower center", ncols=2, frameon=False, fontsize=11)  # below: lines may be anywhere inside
    if sweep.known is not None and sweep.known.distance > 0:
        distance = sweep.known.distance
        to_share: Any = lambda error: 100 * error / distance  # noqa: E731
        to_error: Any = lambda share: share * distance / 100  # noqa: E731
        side = axes.secondary_yaxis("right", functions=(to_share, to_error))
        side.set_ylabel("% of the mean distance", fontsize=13, color=INK)
        side.tick_params(labelsize=12, colors=INK)
        side.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        side.spines["right"].set_visible(False)
    return png(figure) if kind == "png" else _svg(figure)


def _svg(figure: Any) -> bytes:
    """Text stays text; the same bytes for the same numbers."""
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "hushpath", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
