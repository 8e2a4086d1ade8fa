"""For a map maker: isochrones of 2, 3 and 4 minutes with their uncertainty, as GeoJSON.

The city is simulated.  Replace `weights.csv` by your own edge list and `places.csv` by a table of longitudes and
latitudes.  The streets are public, the seconds are private.  Needs `hushpath[pictures,pandas]`.
"""

import json
from itertools import pairwise
from pathlib import Path

import pandas as pd

import hushpath
from hushpath.demo.city import make_city

make_city(size=200, people=1_000).write(Path("."))  # weights.csv: source, target, seconds, free_flow
places = pd.read_csv("city.nodes.csv")  # kilometres; as if the city lay beside the Vltava
places.assign(x=14.42 + places.x / 71.5, y=50.08 + places.y / 111.2).to_csv("places.csv", index=False)

net = hushpath.read_network("weights.csv", weight="seconds", nodes="places.csv", proxy="free_flow")

# Yours to declare: one trip moves all seconds together by at most 3, and no street takes more than 62.
terms = dict(epsilon=1.0, unit=3.0, max_weight=62, mechanism="input")
rel = hushpath.release(
    net, quantity=hushpath.Quantity(name="travel time", unit_of_measure="seconds", date="2026-03"), **terms
)

# Free from here on, and as often as one likes: everything is made of the release.
steps = [120, 180, 240]
drawn = hushpath.isochrones(rel, "market", steps)
hushpath.export(rel, "isochrones.geojson", "geojson", isochrone="market", steps=steps)
print(rel.statement)


def area(step: int, kind: str) -> float:
    """Square degrees; GeoJSON turns the other way around a hole, so holes count as less than nothing."""
    (shape,) = [f["geometry"] for f in features if (f["properties"]["step"], f["properties"]["kind"]) == (step, kind)]
    rings = [ring for polygon in shape["coordinates"] for ring in polygon]
    return sum((a * d - b * c) / 2 for ring in rings for (a, b), (c, d) in pairwise(ring))


features = json.loads(Path("isochrones.geojson").read_text(encoding="utf-8"))["features"]
for step in steps:
    within, uncertain, released = (area(step, kind) for kind in ("within", "uncertain", "released"))
    print(f"released: within {step} seconds of the market; by 90 % intervals {within / released:.0%} of that area")
    assert 0 < within < released < within + uncertain
assert area(120, "released") < area(180, "released") < area(240, "released")
assert [f["geometry"] for f in features] == [f["geometry"] for f in drawn["features"]]
assert rel.statement.epsilon <= 1
