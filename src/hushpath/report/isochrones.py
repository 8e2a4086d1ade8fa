"""The picture of isochrones: full colour is within a step, stripes are uncertain, a line is the released distance.

Like the polygons it shows (``publish.isochrones``) it is made of the release alone: it may be published as that may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from ..publish.oracle import Release
from ..publish.places import places_of
from ..publish.raster import Flat
from .canvas import GREY, INK, ORANGE, blank, needs_matplotlib, png
from .page import write_file

STRIPES = "//////"
DARK, LIGHT = 0.88, 0.38  # of the colours, for the nearest step and the farthest


def write_isochrones(path: str | PathLike[str], release: Release, drawn: Mapping[str, Any]) -> None:
    """Write what ``isochrones(release, ...)`` gave as a PNG file."""
    write_file(path, picture(release, drawn))


def picture(release: Release, drawn: Mapping[str, Any]) -> bytes:
    """The polygons over the network, as PNG; NOT PRIVATE is written inside."""
    needs_matplotlib()
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, PathPatch

    steps = sorted({feature["properties"]["step"] for feature in drawn["features"]})
    colours = dict(zip(steps, colormaps["Blues"](np.linspace(DARK, LIGHT, len(steps))), strict=True))
    flat, topology = Flat.of(places_of(release.topology)), release.topology
    figure = blank(8.0, 5.8)
    axes = figure.add_axes((0.01, 0.01, 0.7, 0.98))
    looks: dict[str, Any] = {
        "within": lambda hue: dict(facecolor=hue, edgecolor="none"),
        "uncertain": lambda hue: dict(facecolor="none", edgecolor=hue, hatch=STRIPES, linewidth=0),
        "released": lambda _: dict(facecolor="none", edgecolor=INK, linewidth=0.9),
    }
    for feature in drawn["features"]:
        step, kind = feature["properties"]["step"], feature["properties"]["kind"]
        layer = 2 * (len(steps) - steps.index(step)) + (kind == "uncertain") if kind != "released" else 99
        for polygon in feature["geometry"]["coordinates"]:
            axes.add_patch(PathPatch(_outline(polygon, flat), zorder=layer, **looks[kind](colours[step])))
    ends = np.stack([flat.places[topology.tails], flat.places[topology.heads]], axis=1)
    axes.add_collection(LineCollection(list(ends), colors=GREY, linewidths=0.3, alpha=0.7, zorder=98))
    x, y = flat.places[topology.index(drawn["origin"])]
    axes.plot(x, y, "*", color=ORANGE, markersize=18, markeredgecolor="white", zorder=100)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    confidence = next((feature["properties"].get("confidence") for feature in drawn["features"]), None)
    sure = "" if confidence is None else f" ({100 * confidence:g} %)"
    keys: list[Any] = [Patch(color=colours[step], label=f"within {told(release, step)}{sure}") for step in steps]
    keys.append(Patch(facecolor="none", edgecolor=INK, hatch=STRIPES, linewidth=0, label="uncertain"))
    keys.append(Line2D([], [], color=INK, linewidth=0.9, label="by released numbers"))
    figure.legend(handles=keys, loc="center right", frameon=False, fontsize=12, labelcolor=INK)
    return png(figure, release.statement.marking)


def _outline(polygon: Sequence[Any], flat: Flat) -> Any:
    """Rings and holes as one outline, on the plane."""
    from matplotlib.path import Path

    codes = [[Path.MOVETO] + [Path.LINETO] * (len(ring) - 2) + [Path.CLOSEPOLY] for ring in polygon]
    return Path(np.concatenate(polygon) * flat.scale, np.concatenate(codes))


def told(release: Release, step: float) -> str:
    """A step in words: seconds as minutes where these are whole."""
    quantity = release.statement.quantity
    if quantity.seconds == 1 and step % 60 == 0:
        return f"{step / 60:g} min"
    return f"{step:g} {quantity.unit_of_measure}".strip()
