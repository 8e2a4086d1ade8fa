"""Isochrones: the regions within given distances of an origin, with their uncertainty, as GeoJSON.

For each limit there are three regions: ``within`` (the upper end of the interval is at most the limit), ``uncertain``
(the limit is between both ends), and ``released`` (the released distance is at most the limit).  Distances along an
edge are interpolated with its released weight, along directed edges in their direction only.  Everything is computed
from the release, so isochrones cost no privacy.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._validate import between, check_confidence, integer
from ..arrays import Float
from ..errors import CannotError, OptionError
from ..network.labels import Label
from ..published.edges import places_of
from ..published.release import Release
from .raster import CLIP, Grid, burn, polygons, spread

CELLS = 300  # along the longer side
DIGITS = 7  # of longitudes and latitudes: a centimetre
MOST_CELLS = 2_000
KINDS = ("within", "uncertain", "released")


def isochrones(
    release: Release, origin: Label, steps: Iterable[float], *, confidence: float | None = 0.9, cells: int = CELLS,
    reach: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Compute isochrones as a GeoJSON feature collection.

    Parameters
    ----------
    release : Release
        Of one period.
    origin : label
        The node to start from.
    steps : iterable of float
        The limits, in the units of the release.
    confidence : float, optional
        Confidence of the intervals; None computes the ``released`` regions only, which need no intervals.
    cells : int
        Resolution: cells along the longer side of the reached region.
    reach : float, optional
        Width of the region beside the network, in metres for longitudes and latitudes, else in the units of the
        coordinates; at least one and a half cells.  The median length of an edge by default.

    Returns
    -------
    dict
        One feature per limit and kind, the largest limit first; ``reach`` and ``cell`` are the widths that were used.

    Raises
    ------
    CannotError
        If the network has no coordinates.
    OptionError
        If a limit is not a positive number, or ``cells`` or ``reach`` is out of range.
    """
    limits = _check_options(steps, confidence, cells, reach)
    topology, places = release.topology, places_of(release.topology)
    source = topology.index(origin)
    layers, most = _times(release, source, confidence), max(limits)
    plane = places.projected()
    seen = np.isfinite(plane.xy).all(axis=1) & (layers.min(axis=0) <= most)
    if not seen.any():
        raise CannotError("isochrones need coordinates, and no reached node has coordinates")
    weights = _weights(release, layers)
    touched = seen[topology.tails] | (seen[topology.heads] & (not topology.directed))
    ends = np.unique(np.concatenate([np.flatnonzero(seen), topology.tails[touched], topology.heads[touched]]))
    ends = ends[np.isfinite(plane.xy[ends]).all(axis=1)]
    width = _median_length(plane.xy, release) if reach is None else reach
    grid = Grid.over(plane.xy[ends], width, cells)
    width = max(width, 1.5 * grid.cell)  # so that an edge is inside its polygon
    times = spread(*burn(grid, topology, plane.xy, weights, layers), width, grid.cell)
    earth = places.degrees

    def back(points: Float) -> Float:
        return np.round(points / plane.scale, DIGITS) if earth else points

    statement, kinds = release.statement, KINDS if confidence is not None else KINDS[2:]
    facts = {"quantity": str(statement.quantity) or statement.quantity.noun, "private": statement.private}
    if statement.marking:
        facts["marking"] = statement.marking
    features = []
    for step in sorted(limits, reverse=True):
        for kind in kinds:
            drawn = polygons(grid, _above(times, step, kind), CLIP * step, back)
            level = {} if kind == "released" else {"confidence": confidence}
            features.append({
                "type": "Feature",
                "properties": {"step": step, "kind": kind, **level, **facts},
                "geometry": {"type": "MultiPolygon", "coordinates": drawn},
            })  # fmt: skip
    header = {"origin": topology.labels[source], "reach": width, "cell": grid.cell, "in_metres": earth, **facts}
    return {"type": "FeatureCollection", **header, "features": features}


def _check_options(steps: Iterable[float], confidence: float | None, cells: int, reach: float | None) -> list[float]:
    if confidence is not None:
        check_confidence(confidence)
    try:
        wanted = sorted({float(step) for step in steps})
    except (TypeError, ValueError, OverflowError):
        raise OptionError("`steps` must be numbers, such as 300, 600, 900") from None
    if not wanted or not all(0 < step < math.inf for step in wanted):
        raise OptionError("`steps` must be positive numbers, such as 300, 600, 900")
    integer(cells, "cells", 10, MOST_CELLS)
    if reach is not None:
        between(reach, "reach", 0, sys.float_info.max)
    return wanted


def _times(release: Release, source: int, confidence: float | None) -> Float:
    """Return the distances to every node, in rows: released and, with a confidence, low and high."""
    here = np.array([source])
    if confidence is None:
        return np.asarray(release.matrix(here, positions=True), np.float64)
    found = release.matrix(here, positions=True, interval=True, confidence=confidence)
    low, high = np.minimum(found.low, found.distance), np.maximum(found.high, found.distance)
    return np.concatenate([found.distance, low, high])


def _weights(release: Release, layers: Float) -> Float:
    """Return the weight of every edge; for decoders without weights the difference of its ends, at least the bound."""
    topology = release.topology
    if release.decoder.routes:
        return release.edge_weights
    ends = layers[0][topology.tails], layers[0][topology.heads]
    both = np.isfinite(ends[0]) & np.isfinite(ends[1])
    between = np.abs(np.where(both, ends[0], 0.0) - np.where(both, ends[1], 0.0))
    return np.asarray(np.maximum(between, topology.lower), np.float64)


def _median_length(places: Float, release: Release) -> float:
    """Return the median length of an edge."""
    span = np.hypot(*(places[release.topology.heads] - places[release.topology.tails]).T)
    return float(np.median(span[np.isfinite(span)])) if np.isfinite(span).any() else 0.0


def _above(times: Float, step: float, kind: str) -> Float:
    """Return how far each cell is outside a region; not positive inside."""
    if kind == "uncertain":
        return np.asarray(np.maximum(times[1] - step, step - times[2]), np.float64)
    return np.asarray(times[0 if kind == "released" else 2] - step, np.float64)
