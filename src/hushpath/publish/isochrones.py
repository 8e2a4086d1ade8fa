"""How far one gets in a given time: polygons around an origin, and how sure they are.

For each step there are three regions: ``within`` (the upper end of the interval is within the step), ``uncertain`` (the
step lies between both ends), and ``released`` (the released distance is within it).  Times between the ends of an edge
are interpolated with its released weight, one-way edges along their direction only.  All of it comes from the release:
it costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays import Float
from ..data.labels import Label
from ..errors import CannotError, OptionError
from .asked import check_confidence
from .oracle import Release
from .places import places_of
from .raster import BLUNT, DIGITS, Flat, Grid, burn, polygons, spread

CELLS = 300  # along the longer side
MOST_CELLS = 2_000
KINDS = ("within", "uncertain", "released")


def isochrones(
    release: Release, origin: Label, steps: Iterable[float], *, confidence: float | None = 0.9, cells: int = CELLS,
    reach: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return a GeoJSON feature collection: for each step one feature of each kind, the largest step first.

    ``steps`` are in the units of the release.  Without ``confidence`` only what is ``released`` is drawn, which needs
    no intervals.  ``cells`` is the resolution along the longer side of the region that is reached.  ``reach`` is how
    far beside the network a place still counts, in metres for longitudes and latitudes, else in the units of the
    coordinates, and not less than one and a half cells; the default is a typical length of an edge.  The answer says
    which was taken.

    Raises:
        CannotError: if the network has no coordinates.
        OptionError: if a step is not a positive number, or ``cells`` or ``reach`` makes no sense.
    """
    wanted = _checked(steps, confidence, cells, reach)
    topology, places = release.topology, places_of(release.topology)
    source = topology.index(origin)
    layers, most = _times(release, source, confidence), max(wanted)
    flat = Flat.of(places)
    seen = np.isfinite(flat.places).all(axis=1) & (layers.min(axis=0) <= most)
    if not seen.any():
        raise CannotError("isochrones need places: no node that is reached has coordinates")
    weights = _weights(release, layers)
    touched = seen[topology.tails] | (seen[topology.heads] & (not topology.directed))
    ends = np.unique(np.concatenate([np.flatnonzero(seen), topology.tails[touched], topology.heads[touched]]))
    ends = ends[np.isfinite(flat.places[ends]).all(axis=1)]
    wide = _typical(flat.places, release) if reach is None else reach
    grid = Grid.over(flat.places[ends], wide, cells)
    wide = max(wide, 1.5 * grid.cell)  # the cells beside an edge, so that it lies inside of its polygon
    times = spread(*burn(grid, topology, flat.places, weights, layers), wide, grid.cell)
    earth = places.degrees

    def back(points: Float) -> Float:
        return np.round(points / flat.scale, DIGITS) if earth else points

    statement, kinds = release.statement, KINDS if confidence is not None else KINDS[2:]
    told = {"quantity": str(statement.quantity) or statement.quantity.noun, "private": statement.private}
    if statement.marking:
        told["marking"] = statement.marking
    features = []
    for step in sorted(wanted, reverse=True):
        for kind in kinds:
            drawn = polygons(grid, _above(times, step, kind), BLUNT * step, back)
            sure = {} if kind == "released" else {"confidence": confidence}
            features.append({
                "type": "Feature",
                "properties": {"step": step, "kind": kind, **sure, **told},
                "geometry": {"type": "MultiPolygon", "coordinates": drawn},
            })  # fmt: skip
    said = {"origin": topology.labels[source], "reach": wide, "cell": grid.cell, "in_metres": earth, **told}
    return {"type": "FeatureCollection", **said, "features": features}


def _checked(steps: Iterable[float], confidence: float | None, cells: int, reach: float | None) -> list[float]:
    if confidence is not None:
        check_confidence(confidence)
    try:
        wanted = sorted({float(step) for step in steps})
    except (TypeError, ValueError, OverflowError):
        raise OptionError("steps are numbers, such as 300, 600, 900") from None
    if not wanted or not all(0 < step < math.inf for step in wanted):
        raise OptionError("steps are positive numbers, such as 300, 600, 900")
    if isinstance(cells, bool) or not isinstance(cells, int) or not 10 <= cells <= MOST_CELLS:
        raise OptionError(f"cells must be a whole number from 10 to {MOST_CELLS}")
    if reach is not None and not 0 <= reach < math.inf:
        raise OptionError("reach must be a distance that is not negative")
    return wanted


def _times(release: Release, source: int, confidence: float | None) -> Float:
    """Times of every node, in rows: released, and if asked for low and high."""
    here = np.array([source])
    if confidence is None:
        return np.asarray(release.matrix(here, positions=True), np.float64)
    found = release.matrix(here, positions=True, interval=True, confidence=confidence)
    low, high = np.minimum(found.low, found.distance), np.maximum(found.high, found.distance)
    return np.concatenate([found.distance, low, high])


def _weights(release: Release, layers: Float) -> Float:
    """The released weight of every edge; where none is told, what its ends differ by, but not less than is public."""
    topology = release.topology
    if release.decoder.routes:
        return release.edge_weights
    ends = layers[0][topology.tails], layers[0][topology.heads]
    both = np.isfinite(ends[0]) & np.isfinite(ends[1])
    between = np.abs(np.where(both, ends[0], 0.0) - np.where(both, ends[1], 0.0))
    return np.asarray(np.maximum(between, topology.lower), np.float64)


def _typical(places: Float, release: Release) -> float:
    """Half of all edges are longer than this."""
    span = np.hypot(*(places[release.topology.heads] - places[release.topology.tails]).T)
    return float(np.median(span[np.isfinite(span)])) if np.isfinite(span).any() else 0.0


def _above(times: Float, step: float, kind: str) -> Float:
    """How far each cell is outside of a region; not positive inside."""
    if kind == "uncertain":
        return np.asarray(np.maximum(times[1] - step, step - times[2]), np.float64)
    return np.asarray(times[0 if kind == "released" else 2] - step, np.float64)
