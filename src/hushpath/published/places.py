"""Coordinates of nodes: what they are, distances on Earth, and a plane to draw on.

A release holds two numbers per node without their meaning.  It can be given (``crs="EPSG:25832"``, or ``"planar"``).
Otherwise they are taken as longitude and latitude if all are in range and they do not lie around (0, 0), which is in
the sea and the origin of many planar systems, unless they span a continent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Float
from ..errors import CannotError, OptionError
from ..extras import library
from ..geodesy import metres_per_degree
from ..network.topology import Topology

PLANAR = "planar"
DEGREES = ("EPSG:4326", "OGC:CRS84")
CONTINENT = 60  # degrees: wider coordinates may lie around (0, 0)
FARTHEST = 1e15  # in any unit; beyond it differences are lost to rounding


class Places(NamedTuple):
    """Coordinates per node, NaN where unknown, and whether these are longitude and latitude in degrees."""

    xy: Float
    degrees: bool

    @property
    def description(self) -> str:
        """What the coordinates are, for the metadata of files."""
        return "longitude and latitude" if self.degrees else "planar, not longitude and latitude"

    def projected(self) -> Projection:
        """Project to a plane: metres for longitudes and latitudes, else the coordinates themselves."""
        if not self.degrees:
            return Projection(self.xy, np.ones(2))
        scale = metres_per_degree(float(np.nanmean(self.xy[:, 1])))
        return Projection(self.xy * scale, scale)


class Projection(NamedTuple):
    """Coordinates on a plane, accurate for a city or a region, and their scale: plane = scale * coordinates."""

    xy: Float
    scale: Float


def places_of(topology: Topology, crs: str | None = None) -> Places:
    """Return the coordinates of all nodes, converted to degrees from the system that ``crs`` names."""
    xy = topology.coordinates
    if xy is None or np.isnan(xy).all():
        raise CannotError("a map needs coordinates, and this release has no coordinates")
    if np.nanmax(np.abs(xy)) > FARTHEST:
        raise CannotError(f"coordinates must be between -{FARTHEST:g} and {FARTHEST:g} to be drawn")
    if crs is None:
        return Places(xy, _like_degrees(xy))
    if not isinstance(crs, str):
        raise OptionError(f"`crs` must be a text such as EPSG:25832, or {PLANAR}, got {type(crs).__name__}")
    if crs == PLANAR:
        return Places(xy, False)
    found = xy if crs.upper() in DEGREES else _as_degrees(xy, crs)
    if not _in_range(found):
        raise OptionError(f"the coordinates do not fit `crs` {crs[:40]}: no longitude and latitude result")
    return Places(found, True)


def _in_range(xy: Float) -> bool:
    known = xy[~np.isnan(xy[:, 0])]
    return bool(np.isfinite(known).all() and (np.abs(known) <= (180, 90)).all())


def _like_degrees(xy: Float) -> bool:
    low, high = np.nanmin(xy, axis=0), np.nanmax(xy, axis=0)
    around_zero = bool((low <= 1).all() and (high >= -1).all() and (high - low).min() < CONTINENT)
    return _in_range(xy) and not around_zero


def _as_degrees(xy: Float, crs: str) -> Float:
    pyproj = library("pyproj", "geo", "a coordinate reference system")
    try:
        turned = pyproj.Transformer.from_crs(crs, DEGREES[0], always_xy=True).transform(xy[:, 0], xy[:, 1])
    except pyproj.exceptions.ProjError:
        raise OptionError(f"`crs` must be a coordinate reference system such as EPSG:25832, got {crs[:40]!r}") from None
    return np.where(np.isnan(xy), np.nan, np.column_stack(turned))
