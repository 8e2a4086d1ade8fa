"""The pictures of a report of a release, as PNG bytes.

``distance_map`` and nothing else here is publishable: the other two draw the truth, say so inside the
picture (a picture travels without its page), and take a ``Comparison``, which only the data owner can make.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Float
from ..blocks.samples import sampled_hops
from ..data.topology import Topology
from ..decode.edges import EdgeDecoder
from ..decode.predict import MEAN_OF_STD
from ..decode.registry import default_decoder
from ..publish.evaluate import Comparison
from ..publish.planned import Plan
from ..publish.statement import NOT_PRIVATE
from .canvas import BLUE, INK, ORANGE, WATER, blank, plain, png
from .setting import Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PALETTE = "viridis"
SCATTERED = 5_000
LEAST_PAIRS = 25  # a hop count with fewer pairs says nothing


def distance_map(
    topology: Topology, distances: Float, origin: int, *, label: str, widths: Float | None = None,
    water: Float | None = None, named: Sequence[int] = (), farthest: float | None = None,
) -> bytes:  # fmt: skip
    """Draw the network coloured by released distance from one node.  Publishable."""
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patheffects import withStroke

    places = topology.coordinates
    assert places is not None
    figure = blank(6.4, 6.6)
    axes = figure.add_axes((0.0, 0.115, 1.0, 0.885))
    if water is not None:
        axes.plot(*water.T, color=WATER, linewidth=11, solid_capstyle="round", zorder=0)
    colours = LinearSegmentedColormap.from_list("map", list(colormaps[PALETTE](np.linspace(0.0, 0.92, 64))))
    value = (distances[topology.tails] + distances[topology.heads]) / 2
    seen = np.isfinite(value) & np.isfinite(places[topology.tails] + places[topology.heads]).all(axis=1)
    top = farthest or float(value[seen].max(initial=0.0)) or 1.0  # several maps may share one scale
    width = np.full(topology.num_edges, 0.9) if widths is None else widths
    order = np.argsort(width, kind="stable")  # main roads on top
    order = order[seen[order]]
    lines = LineCollection(
        list(np.stack([places[topology.tails], places[topology.heads]], axis=1)[order]),
        array=value[order], cmap=colours, norm=Normalize(0, top), linewidths=width[order], capstyle="round",
    )  # fmt: skip
    axes.add_collection(lines)
    halo = [withStroke(linewidth=3.5, foreground="white")]
    left, right = np.nanmin(places[:, 0]), np.nanmax(places[:, 0])
    for node in named:
        x, y = places[node]
        east = x < left + 0.72 * (right - left)
        axes.plot(x, y, "o", color=INK, markersize=5, markeredgecolor="white", markeredgewidth=1.2, zorder=4)
        axes.annotate(
            str(topology.labels[node]), (x, y), (7 if east else -7, 5), textcoords="offset points", zorder=5,
            ha="left" if east else "right", fontsize=12, color=INK, path_effects=halo,
        )  # fmt: skip
    axes.plot(*places[origin], "*", color=ORANGE, markersize=21, markeredgecolor="white", markeredgewidth=1.5, zorder=6)
    axes.annotate(
        str(topology.labels[origin]), places[origin], (11, 8), textcoords="offset points", zorder=6,
        fontsize=13, fontweight="bold", color=INK, path_effects=halo,
    )  # fmt: skip
    bottom, top_edge = np.nanmin(places[:, 1]), np.nanmax(places[:, 1])
    pad = 0.03 * max(float(right - left), float(top_edge - bottom), 1e-9)
    axes.set_xlim(left - pad, right + pad)
    axes.set_ylim(bottom - pad, top_edge + pad)
    axes.set_aspect("equal")
    axes.set_axis_off()
    bar = figure.colorbar(lines, cax=figure.add_axes((0.16, 0.082, 0.68, 0.02)), orientation="horizontal")
    bar.outline.set_visible(False)
    bar.set_label(label, fontsize=12, color=INK)
    bar.ax.tick_params(labelsize=12, length=3, colors=INK)
    return png(figure)


def true_against_released(comparison: Comparison, words: Setting) -> bytes:
    """Draw released against true distances of some pairs.  NOT PRIVATE."""
    figure, axes = _for_the_owner()
    some = slice(None, None, max(1, len(comparison.true) // SCATTERED))
    true, released = comparison.true[some], comparison.released[some]
    top = 1.03 * float(max(true.max(initial=0.0), released.max(initial=0.0), 1e-9))
    axes.scatter(true, released, s=6, color=BLUE, alpha=0.35, linewidths=0, label="one pair of nodes")
    axes.plot([0, top], [0, top], color=INK, linewidth=1.3, label="no error")
    axes.set(xlim=(0, top), ylim=(0, top))
    axes.set_xlabel(words.measured(f"true {words.quantity}"))
    axes.set_ylabel(words.measured(f"released {words.quantity}"))
    axes.set_aspect("equal")
    legend = axes.legend(loc="upper left", frameon=False, fontsize=12, markerscale=2.2, borderaxespad=0.2)
    for handle in legend.legend_handles:
        handle.set_alpha(1)
    return png(figure)


def error_by_hops(comparison: Comparison, plan: Plan | None, words: Setting) -> bytes:
    """Draw mean error and where 95 % of errors lie, by hop count, beside the plan.  NOT PRIVATE."""
    figure, axes = _for_the_owner()
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
        axes.plot(hops, predicted, color=ORANGE, linewidth=2.2, linestyle=(0, (4, 2)), label="the plan's mean error")
    axes.set(xlim=(0, 1.02 * hops.max()), ylim=(0, 1.3 * top or 1.0), xlabel="hops between the two nodes")
    axes.set_ylabel(words.measured("absolute error"))
    axes.legend(loc="upper left", frameon=False, fontsize=12, borderaxespad=0.2)
    return png(figure)


def predicted_by_hops(plan: Plan, hops: Float) -> Float:
    """Mean error the plan expects at a hop count: spread grows with the root of it, bias in proportion."""
    choice = plan.choice
    if default_decoder(plan.strategy) is EdgeDecoder and choice.bias is not None:
        share = hops / float(sampled_hops(plan.topology).mean())
        spread = np.sqrt(max(choice.mean_error**2 - choice.bias**2, 0.0) * share)
        return np.asarray(np.hypot(spread, choice.bias * share))
    if default_decoder(plan.strategy) is EdgeDecoder:
        return np.asarray(MEAN_OF_STD * choice.noise * np.sqrt(hops))
    return np.full(len(hops), choice.mean_error)


def _for_the_owner() -> tuple[Figure, Any]:
    """A figure that shows the truth and says so, and its axes."""
    figure = blank(6.0, 5.6)
    axes = figure.add_axes((0.15, 0.125, 0.82, 0.8))
    plain(axes, f"{NOT_PRIVATE}: for the data owner only", text=12, hue=ORANGE)
    return figure, axes
