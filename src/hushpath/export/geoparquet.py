"""Edges as lines with their released weights as GeoParquet: ``rel.to_geopandas()`` in a file.

Coordinates of a plane are written without a coordinate system, which the format has room for.  The schema's metadata
hold the statement; what is NOT PRIVATE has a first column that says so in every row.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from ..files.container import replacing
from ..publish.export import arrow, schema_facts
from ..publish.oracle import Release
from .core import Asked, Format, Written


def _write(releases: Sequence[Release], path: Path, asked: Asked) -> Written:
    (release,) = releases
    _, pq = arrow()
    frame = release.to_geopandas(asked.crs)
    said = {**schema_facts(release), "hushpath.coordinates": frame.attrs["coordinates"]}
    with replacing(path) as temporary:
        try:
            frame.to_parquet(temporary, index=False)
            # Geopandas writes no metadata of ours: the table is read again and written with them.
            table = pq.read_table(temporary)
            table = table.replace_schema_metadata({**table.schema.metadata, **said})
            pq.write_table(table, temporary)
        except OSError as error:  # in the system's words, not Arrow's
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    return Written(f"{len(frame)} edges", {"edges": len(frame), "longitude_latitude": frame.crs is not None})


FORMAT = Format(
    "geoparquet",
    "edges as lines with released weights, as a table",
    _write,
    takes=frozenset({"crs"}),
)
