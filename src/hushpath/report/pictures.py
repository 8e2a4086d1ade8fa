"""The pictures of a report of a release, as PNG bytes.

They draw the truth, say so inside the picture (a picture travels without its page), and take a ``Comparison``, which
only the data owner can make.  Maps are in ``page``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Float
from ..blocks.samples import sampled_hops
from ..decode.edges import EdgeDecoder
from ..decode.predict import MEAN_OF_STD
from ..decode.registry import default_decoder
from ..publish.evaluate import Comparison
from ..publish.planned import Plan
from ..publish.statement import NOT_PRIVATE
from .canvas import BLUE, INK, ORANGE, blank, plain, png
from .setting import Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCATTERED = 5_000
LEAST_PAIRS = 25  # a hop count with fewer pairs says nothing


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
        share = hops / sampled_hops(plan.topology).mean
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
