"""Draw the picture of isochrones: `python docs/draw_isochrones.py`, after `make demo`."""

import io
import pathlib

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path
from PIL import Image

import hushpath
from hushpath.output.isochrones import isochrones
from hushpath.output.report.pictures import GREY, INK, ORANGE, blank, png
from hushpath.published.edges import places_of

HERE = pathlib.Path(__file__).parent
HATCH = "//////"
DARK, LIGHT = 0.88, 0.38  # positions on the colour map of the nearest and the farthest isochrone


def draw(release, drawn):
    """Full colour is reached, hatching is uncertain, a line is the released distance."""
    steps = sorted({feature["properties"]["step"] for feature in drawn["features"]})
    colours = dict(zip(steps, colormaps["Blues"](np.linspace(DARK, LIGHT, len(steps))), strict=True))
    plane, topology = places_of(release.topology).projected(), release.topology
    figure = blank(8.0, 5.8)
    axes = figure.add_axes((0.01, 0.01, 0.7, 0.98))
    looks = {
        "within": lambda hue: dict(facecolor=hue, edgecolor="none"),
        "uncertain": lambda hue: dict(facecolor="none", edgecolor=hue, hatch=HATCH, linewidth=0),
        "released": lambda _: dict(facecolor="none", edgecolor=INK, linewidth=0.9),
    }
    for feature in drawn["features"]:
        step, kind = feature["properties"]["step"], feature["properties"]["kind"]
        layer = 2 * (len(steps) - steps.index(step)) + (kind == "uncertain") if kind != "released" else 99
        for polygon in feature["geometry"]["coordinates"]:
            axes.add_patch(PathPatch(outline(polygon, plane.scale), zorder=layer, **looks[kind](colours[step])))
    ends = np.stack([plane.xy[topology.tails], plane.xy[topology.heads]], axis=1)
    axes.add_collection(LineCollection(list(ends), colors=GREY, linewidths=0.3, alpha=0.7, zorder=98))
    x, y = plane.xy[topology.index(drawn["origin"])]
    axes.plot(x, y, "*", color=ORANGE, markersize=18, markeredgecolor="white", zorder=100)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    confidence = next((feature["properties"].get("confidence") for feature in drawn["features"]), None)
    sure = "" if confidence is None else f" ({100 * confidence:g} %)"
    keys = [Patch(color=colours[step], label=f"within {step / 60:g} min{sure}") for step in steps]
    keys.append(Patch(facecolor="none", edgecolor=INK, hatch=HATCH, linewidth=0, label="uncertain"))
    keys.append(Line2D([], [], color=INK, linewidth=0.9, label="released distance"))
    figure.legend(handles=keys, loc="center right", frameon=False, fontsize=12, labelcolor=INK)
    return png(figure, release.statement.marking)


def outline(polygon, scale):
    """Rings and holes as one path on the plane."""
    codes = [[Path.MOVETO] + [Path.LINETO] * (len(ring) - 2) + [Path.CLOSEPOLY] for ring in polygon]
    return Path(np.concatenate(polygon) * scale, np.concatenate(codes))


def main():
    rel = hushpath.load(HERE.parent / "demo-out" / "city.hush").for_period("am")
    with Image.open(io.BytesIO(draw(rel, isochrones(rel, "market", (300, 600, 900))))) as drawn:
        small = drawn.convert("RGB")
        small.thumbnail((1000, 800))
        small.quantize(64, Image.Quantize.MAXCOVERAGE).save(HERE / "images" / "isochrones.png", optimize=True)


if __name__ == "__main__":
    main()
