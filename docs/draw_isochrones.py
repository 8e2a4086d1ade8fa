"""Draw the picture of isochrones: `python docs/draw_isochrones.py`, after `make demo`."""

import io
from pathlib import Path

from PIL import Image

import hushpath
from hushpath.output.isochrones import isochrones
from hushpath.output.report.isochrones import draw_isochrones

HERE = Path(__file__).parent


def main():
    rel = hushpath.load(HERE.parent / "demo-out" / "city.hush").for_period("am")
    with Image.open(io.BytesIO(draw_isochrones(rel, isochrones(rel, "market", (300, 600, 900))))) as drawn:
        small = drawn.convert("RGB")
        small.thumbnail((1000, 800))
        small.quantize(64, Image.Quantize.MAXCOVERAGE).save(HERE / "images" / "isochrones.png", optimize=True)


if __name__ == "__main__":
    main()
