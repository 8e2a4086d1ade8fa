"""Every picture in one style: errors against the truth, for the data owner, and predicted error against epsilon.

The colours (Okabe and Ito, and similar ones) are distinguishable with all common forms of colour blindness.  A
mechanism has one colour and one marker in every picture.

A picture may be copied without its page, so those that show the truth are marked NOT PRIVATE inside the picture; they
take a ``Comparison``, which only the data owner can make.  The picture of a sweep reads nothing private.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Float
from ...decoder.base import MEAN_OF_STD
from ...decoder.edges import EdgeDecoder
from ...decoder.registry import default_decoder
from ...errors import CannotError
from ...extras import library
from ...measurement.samples import sampled_hops
from ...mechanism.registry import MECHANISMS
from ...planning.result import Plan, Sweep
from ...published.statement import NOT_PRIVATE
from ...releasing.evaluate import Comparison
from .html import ReportTexts, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, GREY, PALE, BLUE, ORANGE = "#1d2329", "#767676", "#e6e6e6", "#0072b2", "#d55e00"
WARNING = "#b34700"  # a darker orange, for text
COLOURS = (
    BLUE, "#8c8c8c", "#009e73", "#56b4e9", "#332288", "#a89a00", "#cc79a7", ORANGE, "#e69f00", "#882255", "#000000",
)  # fmt: skip
MARKS = "osD^vPX*dhp"
SCATTERED = 5_000
LEAST_PAIRS = 25  # hop counts with fewer pairs are left out
MOST_TICKS = 8  # epsilons that can each have a tick


def needs_matplotlib() -> None:
    """Raise an error if matplotlib is missing; call this before long work that ends in a picture."""
    library("matplotlib", "pictures", "a picture")


def colour(mechanism: str) -> str:
    """Return the colour of a mechanism."""
    return COLOURS[_place(mechanism) % len(COLOURS)]


def mark(mechanism: str) -> str:
    """Return the marker of a mechanism."""
    return MARKS[_place(mechanism) % len(MARKS)]


def _place(mechanism: str) -> int:
    names = list(MECHANISMS)
    return names.index(mechanism) if mechanism in names else len(names)


def blank(width: float, height: float, *, dpi: int = 200, layout: Any = None) -> Figure:
    """Make a figure of ``width`` x ``height`` inches without a window; ``dpi`` and ``layout`` as in matplotlib.

    At 6 to 8 inches, 12-point text is legible on a phone.
    """
    needs_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=dpi, facecolor="white", layout=layout)
    FigureCanvasAgg(figure)
    return figure


def panels(count: int, columns: int, *, height: float, legend: Sequence[str]) -> tuple[Figure, Any]:
    """Make a figure with ``count`` axes in ``columns``, each ``height`` inches, below a ``legend`` of mechanisms."""
    needs_matplotlib()
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.lines import Line2D

    rows = math.ceil(count / columns)
    tall = rows * height + 0.7
    layout = ConstrainedLayoutEngine(rect=(0, 0.22 / tall, 1, 1 - 0.55 / tall), w_pad=0.1, h_pad=0.09)
    figure = blank(11.0, tall, dpi=110, layout=layout)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    handles = [
        Line2D([], [], color=colour(name), marker=mark(name), markersize=6, linewidth=2, label=name) for name in legend
    ]
    figure.legend(
        handles=handles, loc="upper left", ncols=min(9, max(1, len(handles))), frameon=False, fontsize=10,
        handlelength=1.8, columnspacing=1.3, bbox_to_anchor=(0.005, 1.0),
    )  # fmt: skip
    return figure, axes[:count]


def plain(axes: Any, title: str, *, text: float = 9, hue: str = INK) -> None:
    """Style ``axes`` plainly under a ``title`` of colour ``hue``; ``text`` is the size of text in points."""
    axes.set_title(title, fontsize=max(11, text), fontweight="bold", color=hue, loc="left", pad=text - 3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        axes.spines[side].set_color(GREY)
    axes.tick_params(labelsize=text, colors=INK, length=3, which="major")
    axes.tick_params(length=0, which="minor")
    axes.xaxis.label.set(size=text + 1, color=INK)
    axes.yaxis.label.set(size=text + 1, color=INK)
    axes.grid(color=PALE, linewidth=0.7)
    axes.set_axisbelow(True)


def whole_decades(axes: Any, which: str = "xy") -> None:
    """Make axes logarithmic, with few and plain labels."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for letter in which:
        axis = axes.xaxis if letter == "x" else axes.yaxis
        getattr(axes, f"set_{letter}scale")("log")
        low, high = sorted(axis.get_view_interval())
        narrow = high / max(low, 1e-300) < 30
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if narrow else (1.0,), numticks=7))
        axis.set_major_formatter(FuncFormatter(lambda value, _: short_number(value)))
        axis.set_minor_formatter(NullFormatter())


def short_number(value: float) -> str:
    """Format 1000 as 1k, and 10^6 and larger as a power."""
    if value >= 1e6:
        return f"$10^{{{math.log10(value):.0f}}}$"
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def png(figure: Figure, warning: str = "") -> bytes:
    """Return the picture as PNG, the same bytes for the same numbers; a warning is written into the picture."""
    if warning:
        figure.text(0.995, 0.004, warning, ha="right", va="bottom", fontsize=7.5, color=WARNING)
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()


# --- pictures ---------------------------------------------------------------------------------------------------------


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
        least, most = ([end.error for end in ends if end] for ends in zip(*(one.ends for one in plans), strict=True))
        axes.fill_between(epsilons, least, most, color=BLUE, alpha=0.18, linewidth=0, label="range of the mean error")
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
