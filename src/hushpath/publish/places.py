"""Where the nodes of a release are: as longitude and latitude if that is what their coordinates are.

A release carries two numbers per node and not what they mean.  Whoever knows says so (``crs="EPSG:25832"``, or
``"planar"`` for a plane of one's own); else they are taken for degrees if all of them could be, and if they do not lie
around (0, 0), where there is water on the map and the origin of many a plane, unless they span a continent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from ..errors import CannotError, OptionError
from ..extras import library

PLANAR = "planar"
DEGREES = ("EPSG:4326", "OGC:CRS84")
CONTINENT = 60  # degrees: what is wider may well lie around (0, 0)
FARTHEST = 1e15  # of any unit: beyond, differences are lost in rounding


class Places(NamedTuple):
    """A place per node, NaN where unknown, and whether these are longitude and latitude in degrees."""

    xy: Float
    degrees: bool

    @property
    def words(self) -> str:
        """What the coordinates are, for whoever finds them in a file."""
        return "longitude and latitude" if self.degrees else "of a plane, not longitude and latitude"


def places_of(topology: Topology, crs: str | None = None) -> Places:
    """The places of all nodes; what is told in another known system is turned into degrees."""
    xy = topology.coordinates
    if xy is None or np.isnan(xy).all():
        raise CannotError("this release has no coordinates, so nothing of it can be drawn on a map")
    if np.nanmax(np.abs(xy)) > FARTHEST:
        raise CannotError(f"these coordinates go beyond {FARTHEST:g}, and nothing can be drawn there")
    if crs is None:
        return Places(xy, _like_degrees(xy))
    if not isinstance(crs, str):
        raise OptionError(f"crs is a text such as EPSG:25832, or {PLANAR}, not {type(crs).__name__}")
    if crs == PLANAR:
        return Places(xy, False)
    found = xy if crs.upper() in DEGREES else _as_degrees(xy, crs)
    if not _in_range(found):
        raise OptionError(f"these coordinates are no longitude and latitude if they are {crs[:40]}")
    return Places(found, True)


def _in_range(xy: Float) -> bool:
    known = xy[~np.isnan(xy[:, 0])]
    return bool(np.isfinite(known).all() and (np.abs(known) <= (180, 90)).all())


def _like_degrees(xy: Float) -> bool:
    low, high = np.nanmin(xy, axis=0), np.nanmax(xy, axis=0)
    around_zero = bool((low <= 1).all() and (high >= -1).all() and (high - low).min() < CONTINENT)
    return _in_range(xy) and not around_zero


def _as_degrees(xy: Float, crs: str) -> Float:
    pyproj = library("pyproj", "geo", "another coordinate system than degrees")
    try:
        turned = pyproj.Transformer.from_crs(crs, DEGREES[0], always_xy=True).transform(xy[:, 0], xy[:, 1])
    except pyproj.exceptions.ProjError:
        raise OptionError(f"no coordinate system is called {crs[:40]!r}; write EPSG:25832, say") from None
    return np.where(np.isnan(xy), np.nan, np.column_stack(turned))
