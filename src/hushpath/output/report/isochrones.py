"""Isochrones as a picture: full colour is reached, hatching is uncertain, a line is the released distance.

The polygons come from ``output.isochrones``, which uses the release only, so the picture may be published like it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from ...arrays import Float
from ...published.edges import places_of
from ...published.release import Release
from .canvas import GREY, INK, ORANGE, blank, needs_matplotlib, png
from .page import write_file

HATCH = "//////"
DARK, LIGHT = 0.88, 0.38  # positions on the colour map of the nearest and the farthest isochrone


def write_isochrones(path: str | PathLike[str], release: Release, drawn: Mapping[str, Any]) -> None:
    """Write the result of ``isochrones(release, ...)`` as a PNG file."""
    write_file(path, draw_isochrones(release, drawn))


def draw_isochrones(release: Release, drawn: Mapping[str, Any]) -> bytes:
    """Draw isochrones over the network, as PNG; NOT PRIVATE is written into the picture where it applies."""
    needs_matplotlib()
    from matplotlib import colormaps
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, PathPatch

    steps = sorted({feature["properties"]["step"] for feature in drawn["features"]})
    colours = dict(zip(steps, colormaps["Blues"](np.linspace(DARK, LIGHT, len(steps))), strict=True))
    plane, topology = places_of(release.topology).projected(), release.topology
    figure = blank(8.0, 5.8)
    axes = figure.add_axes((0.01, 0.01, 0.7, 0.98))
    looks: dict[str, Any] = {
        "within": lambda hue: dict(facecolor=hue, edgecolor="none"),
        "uncertain": lambda hue: dict(facecolor="none", edgecolor=hue, hatch=HATCH, linewidth=0),
        "released": lambda _: dict(facecolor="none", edgecolor=INK, linewidth=0.9),
    }
    for feature in drawn["features"]:
        step, kind = feature["properties"]["step"], feature["properties"]["kind"]
        layer = 2 * (len(steps) - steps.index(step)) + (kind == "uncertain") if kind != "released" else 99
        for polygon in feature["geometry"]["coordinates"]:
            axes.add_patch(PathPatch(_outline(polygon, plane.scale), zorder=layer, **looks[kind](colours[step])))
    ends = np.stack([plane.xy[topology.tails], plane.xy[topology.heads]], axis=1)
    axes.add_collection(LineCollection(list(ends), colors=GREY, linewidths=0.3, alpha=0.7, zorder=98))
    x, y = plane.xy[topology.index(drawn["origin"])]
    axes.plot(x, y, "*", color=ORANGE, markersize=18, markeredgecolor="white", zorder=100)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    confidence = next((feature["properties"].get("confidence") for feature in drawn["features"]), None)
    sure = "" if confidence is None else f" ({100 * confidence:g} %)"
    keys: list[Any] = [Patch(color=colours[step], label=f"within {format_step(release, step)}{sure}") for step in steps]
    keys.append(Patch(facecolor="none", edgecolor=INK, hatch=HATCH, linewidth=0, label="uncertain"))
    keys.append(Line2D([], [], color=INK, linewidth=0.9, label="released distance"))
    figure.legend(handles=keys, loc="center right", frameon=False, fontsize=12, labelcolor=INK)
    return png(figure, release.statement.marking)


def _outline(polygon: Sequence[Any], scale: Float) -> Any:
    """Return rings and holes as one path on the plane."""
    from matplotlib.path import Path

    codes = [[Path.MOVETO] + [Path.LINETO] * (len(ring) - 2) + [Path.CLOSEPOLY] for ring in polygon]
    return Path(np.concatenate(polygon) * scale, np.concatenate(codes))


def format_step(release: Release, step: float) -> str:
    """Format the limit of an isochrone; whole minutes instead of seconds."""
    quantity = release.statement.quantity
    if quantity.seconds == 1 and step % 60 == 0:
        return f"{step / 60:g} min"
    return f"{step:g} {quantity.unit_of_measure}".strip()
