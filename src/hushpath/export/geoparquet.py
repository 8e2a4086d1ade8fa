"""Edges as lines with their released weights as GeoParquet (``rel.to_geopandas()`` in a file), or isochrones.

Coordinates of a plane are written without a coordinate system, which the format has room for.  The schema's metadata
hold the statement; what is NOT PRIVATE has a first column that says so in every row.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..files.container import replacing
from ..output.distance_table import schema_metadata
from ..publish.edges import geopandas_library
from ..publish.oracle import Release
from ..publish.places import DEGREES, places_of
from ..publish.statement import NOT_PRIVATE
from .core import Asked, Format, Written
from .drawn import asked_isochrones

if TYPE_CHECKING:
    import geopandas


def _write(releases: Sequence[Release], path: Path, asked: Asked) -> Written:
    (release,) = releases
    import pyarrow.parquet as pq

    edges = asked.isochrone is None and asked.steps is None
    frame = release.to_geopandas(asked.crs) if edges else _isochrones(release, asked)
    said = {**schema_metadata(release), "hushpath.coordinates": frame.attrs["coordinates"]}
    with replacing(path) as temporary:
        try:
            frame.to_parquet(temporary, index=False)
            # Geopandas writes no metadata of ours: the table is read again and written with them.
            table = pq.read_table(temporary)
            table = table.replace_schema_metadata({**table.schema.metadata, **said})
            pq.write_table(table, temporary)
        except OSError as error:  # in the system's words, not Arrow's
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    what = "edges" if edges else "isochrones"
    return Written(f"{len(frame)} {what}", {what: len(frame), "longitude_latitude": frame.crs is not None})


def _isochrones(release: Release, asked: Asked) -> geopandas.GeoDataFrame:
    """A row per step and kind."""
    drawn, places = asked_isochrones(release, asked), places_of(release.topology)
    frame = geopandas_library().GeoDataFrame.from_features(
        drawn["features"], crs=DEGREES[0] if places.degrees else None
    )
    if release.statement.marking:
        frame.insert(0, NOT_PRIVATE, NOT_PRIVATE)
    frame.attrs["coordinates"] = places.words
    return frame


FORMAT = Format(
    "geoparquet",
    "edges as lines with released weights, or isochrones, as a table",
    _write,
    takes=frozenset({"crs", "isochrone", "steps", "confidence"}),
)
