"""The pictures of docs/explanation/case-study.md: error against epsilon, and a map for each network."""

from __future__ import annotations

import io
import json
from itertools import pairwise

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from PIL import Image

from hushpath.output.report.pictures import BLUE, GREY, INK, ORANGE, PALE, blank, plain, png, whole_decades

from .owners import CASES, EPSILONS

LOOK = {
    "metro": (BLUE, "o"), "roads": (ORANGE, "s"), "water": ("#009e73", "D"), "river": ("#882255", "^"),
}  # fmt: skip
MAPS = {  # the case whose map is drawn, and what its title says
    "metro": ("metro, 20 000 person-days", "Minutes from Charing Cross", 60.0),
    "roads": ("roads, 150 000 person-days", "Minutes by car from the capital", 60.0),
    "water": ("water", "Least total flow from the reservoir, L/s", 1.0),
    "river": ("river, lengths public", "Days of water down to the mouth", 86400.0),
}
WIDTH, COLOURS, MOST_BYTES = 1200, (256, 128, 64), 250_000
NOTE = "Made with a seed, for a study: NOT PRIVATE"


def draw(results, work, folder):
    """All of them, as far as they were run."""
    folder.mkdir(parents=True, exist_ok=True)
    save(curves(json.loads(results.read_text())), folder / "epsilon.png")
    for owner, (name, title, size) in MAPS.items():
        if (work / f"{name}.npz").is_file():
            with np.load(work / f"{name}.npz") as found:
                save(maps(dict(found), title, size), folder / f"{owner}.png")


def save(figure, file):
    """As many colours as fit: pages should load quickly."""
    with Image.open(io.BytesIO(png(figure, NOTE))) as picture:
        small = picture.convert("RGB")
        small.thumbnail((WIDTH, WIDTH), Image.Resampling.LANCZOS)
        for colours in COLOURS:
            small.quantize(colours).save(file, optimize=True)
            if file.stat().st_size < MOST_BYTES:
                break


def curves(found):
    """Mean error in percent against epsilon, one line per case."""
    figure = blank(9.0, 5.4, layout="constrained")
    axes = figure.subplots()
    last = []
    for one in found:
        hue, mark = LOOK[one["owner"]]
        same = [case.name for case in CASES if case.owner == one["owner"]]
        style = ("-", "--", ":")[same.index(one["case"])]
        points = [(cell["epsilon"], 100 * cell["relative"]) for cell in one["cells"]]
        if points:
            axes.plot(*zip(*points, strict=True), style, color=hue, marker=mark, markersize=6, linewidth=2)
            last.append((points[-1][1], one["case"], hue))
    for share in (5, 10):
        axes.axhline(share, color=GREY, linewidth=1, zorder=1)
        axes.text(EPSILONS[0] * 0.88, share, f"{share} %", va="center", ha="right", fontsize=10, color=INK)
    axes.set(xlabel="epsilon", ylabel="mean error of distances, % of the mean")
    axes.set_xlim(EPSILONS[0] * 0.9, EPSILONS[-1] * 1.1)
    whole_decades(axes)
    axes.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
    axes.set_yticks([0.1, 1, 100], ["0.1", "1", "100"])
    plain(axes, "")
    spots = spread([np.log10(value) for value, _, _ in last], 0.13)
    for (_, name, hue), spot in zip(last, spots, strict=True):
        axes.annotate(name, (1.02, 10**spot), xycoords=("axes fraction", "data"), va="center", fontsize=9.5, color=hue)
    return figure


def spread(values, apart):
    """The same places, moved so that none is nearer to the next than ``apart``."""
    order, placed = np.argsort(values), np.array(values, float)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + apart)
    return placed


def maps(found, title, size):
    """From one place to all others: the truth, the release in the same colours, and the difference."""
    true, rel = found["true"] / size, found["released"] / size
    places, ends = found["places"], np.stack([found["places"][found[end]] for end in ("tails", "heads")], axis=1)
    spread_x, spread_y = np.ptp(places, axis=0)
    if np.abs(places).max() < 360:  # degrees
        spread_x *= np.cos(np.radians(places[:, 1].mean()))
    tall = 3.55 * min(max(spread_y / spread_x, 0.55), 1.4)
    high = tall + 1.7  # with a title above and a scale of colours below
    figure = blank(12.0, high)
    off = rel - true
    wide = Normalize(np.quantile(true, 0.01), np.quantile(true, 0.99))
    worst = float(np.quantile(np.abs(off), 0.98)) or 1.0
    shown = ((true, "true", wide, "viridis"), (rel, "released, epsilon 1", wide, "viridis"),
             (off, "released minus true", Normalize(-worst, worst), "RdBu_r"))  # fmt: skip
    thin = 3.2 if len(places) < 2000 else 1.1 if len(places) < 20_000 else 0.5
    for number, (values, words, norm, colours) in enumerate(shown):
        left = 0.01 + 0.332 * number
        axes = figure.add_axes((left, 0.98 / high, 0.31, tall / high))
        middle = (values[found["tails"]] + values[found["heads"]]) / 2
        order = np.argsort(np.abs(middle)) if number == 2 else slice(None)
        if number == 2:
            axes.add_collection(LineCollection(ends, colors=PALE, linewidths=thin * 1.5))
        lines = LineCollection(ends[order], array=middle[order], norm=norm, cmap=colours, linewidths=thin)
        axes.add_collection(lines)
        star = dict(color=ORANGE, markersize=13, markeredgecolor="white", zorder=9, clip_on=False)
        axes.plot(*places[found["origin"][0]], "*", **star)
        axes.set_xlim(places[:, 0].min(), places[:, 0].max())
        axes.set_ylim(places[:, 1].min(), places[:, 1].max())
        axes.set_aspect(np.ptp(places[:, 0]) / spread_x, adjustable="box")
        axes.set_axis_off()
        figure.text(left, 1 - 0.4 / high, words, fontsize=12, color=INK, va="top")
        bar = figure.add_axes((left + 0.02, 0.68 / high, 0.27, 0.13 / high))
        scale = figure.colorbar(lines, cax=bar, orientation="horizontal")
        scale.outline.set_visible(False)
        scale.ax.tick_params(labelsize=10, colors=INK, length=2)
    figure.text(0.01, 1 - 0.08 / high, title, fontsize=13, fontweight="bold", color=INK, va="top")
    return figure
