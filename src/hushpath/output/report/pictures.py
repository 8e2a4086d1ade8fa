"""Pictures of errors: against the truth, for the data owner, and predicted against epsilon.

A picture may be copied without its page, so those that show the truth are marked NOT PRIVATE inside the picture; they
take a ``Comparison``, which only the data owner can make.  The picture of a sweep reads nothing private.
"""

from __future__ import annotations

import io
import math
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Float
from ...decoder.base import MEAN_OF_STD
from ...decoder.edges import EdgeDecoder
from ...decoder.registry import default_decoder
from ...errors import CannotError
from ...measurement.samples import sampled_hops
from ...planning.result import Plan, Sweep
from ...published.statement import NOT_PRIVATE
from ...releasing.evaluate import Comparison
from .canvas import BLUE, INK, ORANGE, blank, plain, png, whole_decades
from .page import write_file
from .texts import ReportTexts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCATTERED = 5_000
LEAST_PAIRS = 25  # hop counts with fewer pairs are left out
MOST_TICKS = 8  # epsilons that can each have a tick


def true_against_released(comparison: Comparison, texts: ReportTexts) -> bytes:
    """Draw released against true distances of some pairs, as PNG.  NOT PRIVATE."""
    figure, axes = _owner_figure()
    some = slice(None, None, max(1, len(comparison.true) // SCATTERED))
    true, released = comparison.true[some], comparison.released[some]
    top = 1.03 * float(max(true.max(initial=0.0), released.max(initial=0.0), 1e-9))
    axes.scatter(true, released, s=6, color=BLUE, alpha=0.35, linewidths=0, label="one pair of nodes")
    axes.plot([0, top], [0, top], color=INK, linewidth=1.3, label="no error")
    axes.set(xlim=(0, top), ylim=(0, top))
    axes.set_xlabel(texts.measured(f"true {texts.quantity}"))
    axes.set_ylabel(texts.measured(f"released {texts.quantity}"))
    axes.set_aspect("equal")
    legend = axes.legend(loc="upper left", frameon=False, fontsize=12, markerscale=2.2, borderaxespad=0.2)
    for handle in legend.legend_handles:
        handle.set_alpha(1)
    return png(figure)


def error_by_hops(comparison: Comparison, plan: Plan | None, texts: ReportTexts) -> bytes:
    """Draw the mean error and the central 95 % of errors by hop count, as PNG, beside the plan.  NOT PRIVATE."""
    figure, axes = _owner_figure()
    error = np.abs(comparison.released - comparison.true)
    width = max(1, int(comparison.hops.max(initial=1)) // 60)
    group = comparison.hops // width
    least = max(LEAST_PAIRS, len(error) // 1_000)
    order = np.argsort(group, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    groups = [pairs for pairs in groups if len(pairs) >= least] or [order]
    hops = np.array([comparison.hops[pairs].mean() for pairs in groups])
    mean = np.array([error[pairs].mean() for pairs in groups])
    low, high = np.array([np.quantile(error[pairs], [0.025, 0.975]) for pairs in groups]).T
    axes.fill_between(hops, low, high, color=BLUE, alpha=0.18, linewidth=0, label="95 % of the pairs")
    axes.plot(hops, mean, color=BLUE, linewidth=2.2, marker="o" if len(hops) == 1 else "", label="mean error")
    top = float(high.max())
    if plan is not None:
        predicted = predicted_by_hops(plan, hops)
        top = max(top, min(float(predicted.max()), 3 * top))
        axes.plot(hops, predicted, color=ORANGE, linewidth=2.2, linestyle=(0, (4, 2)), label="predicted mean error")
    axes.set(xlim=(0, 1.02 * hops.max()), ylim=(0, 1.3 * top or 1.0), xlabel="hops between the two nodes")
    axes.set_ylabel(texts.measured("absolute error"))
    axes.legend(loc="upper left", frameon=False, fontsize=12, borderaxespad=0.2)
    return png(figure)


def predicted_by_hops(plan: Plan, hops: Float) -> Float:
    """Return the mean error that a plan predicts at a hop count: spread grows with its square root, bias linearly."""
    choice = plan.choice
    if default_decoder(plan.strategy) is EdgeDecoder and choice.bias is not None:
        share = hops / sampled_hops(plan.topology).mean
        spread = np.sqrt(max(choice.mean_error**2 - choice.bias**2, 0.0) * share)
        return np.asarray(np.hypot(spread, choice.bias * share))
    if default_decoder(plan.strategy) is EdgeDecoder:
        return np.asarray(MEAN_OF_STD * choice.noise_std * np.sqrt(hops))
    return np.full(len(hops), choice.mean_error)


def _owner_figure() -> tuple[Figure, Any]:
    """Make a figure marked NOT PRIVATE, and its axes."""
    figure = blank(6.0, 5.6)
    axes = figure.add_axes((0.15, 0.125, 0.82, 0.8))
    plain(axes, f"{NOT_PRIVATE}: for the data owner only", text=12, hue=ORANGE)
    return figure, axes


def write_sweep(path: str | PathLike[str], sweep: Sweep) -> None:
    """Write the picture of a sweep as SVG or PNG, by the suffix of the file."""
    write_file(path, draw_sweep(sweep, "svg" if Path(path).suffix.lower() == ".svg" else "png"))


def draw_sweep(sweep: Sweep, kind: str = "png") -> bytes:
    """Draw mean error, 95th percentile and the baseline from public data against epsilon; always the same bytes."""
    plans = [one for one in sweep.plans if math.isfinite(one.terms.budget.epsilon) and one.choice.mean_error > 0]
    if not plans:
        raise CannotError("no error to draw: every epsilon is infinite or every predicted error is 0")
    figure = blank(7.2, 5.4)
    axes = figure.add_axes((0.125, 0.245, 0.745 if sweep.baseline else 0.845, 0.675))
    epsilons = [one.terms.budget.epsilon for one in plans]
    choices = [one.choice for one in plans]
    tried = [one.expected.simulated for one in choices]
    if all(tried):
        least, most = ([getattr(one.expected, side) for one in choices] for side in ("least", "most"))
        axes.fill_between(epsilons, least, most, color=BLUE, alpha=0.18, linewidth=0, label="mean, by kind of weights")
    mean, p95 = [one.mean_error for one in choices], [one.p95_error for one in choices]
    axes.plot(epsilons, mean, color=BLUE, linewidth=2.2, marker="o", markersize=6, label="mean error")
    axes.plot(epsilons, p95, color=BLUE, linewidth=1.6, linestyle=(0, (4, 2)), label="95th percentile")
    if sweep.baseline is not None:
        label = "baseline from public data (mean)"
        axes.axhline(sweep.baseline.error, color=ORANGE, linewidth=2.2, linestyle=(0, (1, 1)), label=label)
    plain(axes, "Predicted error against epsilon" + ("" if all(tried) else ", from noise only"), text=12)
    axes.set(xlabel="epsilon: smaller is more private", ylabel="error, in the unit of the weights")
    whole_decades(axes)
    if len(epsilons) <= MOST_TICKS:
        axes.set_xticks(epsilons, [f"{one:g}" for one in epsilons])
    figure.legend(loc="lower center", ncols=2, frameon=False, fontsize=11)  # below the axes, clear of all lines
    if sweep.baseline is not None and sweep.baseline.distance > 0:
        distance = sweep.baseline.distance
        to_share: Any = lambda error: 100 * error / distance  # noqa: E731
        to_error: Any = lambda share: share * distance / 100  # noqa: E731
        side = axes.secondary_yaxis("right", functions=(to_share, to_error))
        side.set_ylabel("% of the mean distance", fontsize=13, color=INK)
        side.tick_params(labelsize=12, colors=INK)
        side.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        side.spines["right"].set_visible(False)
    return png(figure) if kind == "png" else _svg(figure)


def _svg(figure: Any) -> bytes:
    """Return SVG with text as text; the same bytes for the same numbers."""
    from matplotlib import rc_context

    file = io.BytesIO()
    with rc_context({"svg.hashsalt": "hushpath", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()
