"""Draw the picture of isochrones: `python docs/draw_isochrones.py`, after `make demo`."""

import io
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Patch, PathPatch
from matplotlib.path import Path as Outline
from PIL import Image

import hushpath
from hushpath.publish.isochrones import isochrones
from hushpath.report.canvas import GREY, INK, ORANGE, blank, png

HERE = Path(__file__).parent
ORIGIN, STEPS = "market", (300, 600, 900)
COLOURS = {300: "#08519c", 600: "#4292c6", 900: "#9ecae1"}


def outline(polygon):
    """Rings and holes as one outline."""
    codes = [[Outline.MOVETO] + [Outline.LINETO] * (len(ring) - 2) + [Outline.CLOSEPOLY] for ring in polygon]
    return Outline(np.concatenate(polygon), np.concatenate(codes))


def main():
    rel = hushpath.load(HERE.parent / "demo-out" / "city.hush").at("am")
    figure = blank(8.0, 6.2)
    axes = figure.add_axes((0.0, 0.0, 0.74, 1.0))
    for feature in isochrones(rel, ORIGIN, STEPS)["features"]:
        step, kind = feature["properties"]["step"], feature["properties"]["kind"]
        for polygon in feature["geometry"]["coordinates"] if kind != "released" else ():
            look = (
                dict(facecolor=COLOURS[step], edgecolor="none")
                if kind == "surely"
                else dict(facecolor="none", edgecolor=COLOURS[step], hatch="//////", linewidth=0)
            )
            axes.add_patch(PathPatch(outline(polygon), zorder=10 - step / 100 + (kind == "maybe") / 2, **look))
    places, topology = rel.topology.coordinates, rel.topology
    ends = np.stack([places[topology.tails], places[topology.heads]], axis=1)
    axes.add_collection(LineCollection(ends, colors=GREY, linewidths=0.3, alpha=0.7, zorder=20))
    axes.plot(*places[topology.index(ORIGIN)], "*", color=ORANGE, markersize=18, markeredgecolor="white", zorder=30)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    keys = [Patch(color=COLOURS[step], label=f"surely within {step // 60} min") for step in STEPS]
    keys.append(Patch(facecolor="none", edgecolor=INK, hatch="//////", linewidth=0, label="maybe"))
    figure.legend(handles=keys, loc="center right", frameon=False, fontsize=12, labelcolor=INK)
    with Image.open(io.BytesIO(png(figure))) as picture:
        small = picture.convert("RGB")
        small.thumbnail((1000, 800))
        small.quantize(64).save(HERE / "isochrones.png", optimize=True)


if __name__ == "__main__":
    main()
