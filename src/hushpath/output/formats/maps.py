"""Maps: edges as lines with their released weights, or isochrones, as GeoJSON (RFC 7946) or GeoParquet.

GeoJSON is defined for longitude and latitude only.  Planar coordinates are written as they are, with a warning and a
property ``coordinates`` that says so; most programs then draw them in the wrong place.  GeoParquet writes planar
coordinates without a coordinate reference system.

A GeoJSON collection holds the statement under ``hushpath``, a GeoParquet file in the metadata of its schema.  What is
NOT PRIVATE is marked in the first property of every feature, or in the first column.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import OptionError, warn
from ...io.container import replacing
from ...published.edges import DEGREES, about, edge_ends, edge_lines, field_name, geopandas_library, places_of
from ...published.release import Release
from ...published.statement import NOT_PRIVATE
from ..distance_table import schema_metadata
from ..isochrones import isochrones
from .core import ExportOptions, ExportResult, Format

if TYPE_CHECKING:
    import geopandas

OPTIONS = frozenset({"crs", "isochrone", "steps", "confidence"})


def _isochrones(release: Release, options: ExportOptions) -> dict[str, Any]:
    """Return the isochrones as a GeoJSON feature collection."""
    if options.isochrone is None or not options.steps:
        raise OptionError("isochrones need an origin and limits: --isochrone market --steps 300,600")
    if options.crs is not None:
        raise OptionError("isochrones use the coordinates of the release; --crs applies to edges only")
    return isochrones(release, options.isochrone, list(options.steps), confidence=options.interval_confidence)


def _write_geojson(releases: Sequence[Release], path: Path, options: ExportOptions) -> ExportResult:
    (release,) = releases
    places = places_of(release.topology, options.crs)
    marking = {"marking": release.statement.marking} if release.statement.marking else {}
    facts: dict[str, Any] = {**about(release.statement, release.period), "coordinates": places.description}
    facts["statement"] = release.statement.as_dict()
    if options.isochrone is None and options.steps is None:
        features, what = _edge_features(release, options), "edges"
    else:
        drawn = _isochrones(release, options)
        features, what = iter(drawn["features"]), "isochrones"
        facts.update({key: value for key, value in drawn.items() if key not in ("type", "features", *facts)})
    if not places.degrees:
        warn("GeoJSON needs longitude and latitude, but these coordinates are planar: maps will be wrong; pass --crs")
    count = 0
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        head = {**marking, "type": "FeatureCollection", "hushpath": facts}
        file.write(json.dumps(head, allow_nan=False)[:-1] + ', "features": [')
        for count, feature in enumerate(_marked(release, features, places.degrees), start=1):
            file.write(f"{',' if count > 1 else ''}\n{json.dumps(feature, allow_nan=False)}")
        file.write("\n]}\n")
    return ExportResult(f"{count} {what}", {what: count, "longitude_latitude": places.degrees})


def _marked(release: Release, features: Iterable[dict[str, Any]], degrees: bool) -> Iterator[dict[str, Any]]:
    """Add markings to the properties of each feature: programs keep these and drop the rest."""
    mark = {NOT_PRIVATE: NOT_PRIVATE} if release.statement.marking else {}
    plane = {} if degrees else {"coordinates": "not longitude and latitude"}
    for feature in features:
        yield {**feature, "properties": {**mark, **feature["properties"], **plane}}


def _edge_features(release: Release, options: ExportOptions) -> Iterator[dict[str, Any]]:
    """Yield a feature per edge; without a geometry where coordinates are missing."""
    topology, quantity = release.topology, release.statement.quantity
    more = {"unit_of_measure": quantity.unit_of_measure, "date": quantity.date, "period": release.period or ""}
    more = {key: text for key, text in more.items() if text}
    lines, ends = edge_lines(topology, places_of(topology, options.crs)), edge_ends(topology)
    for (source, target), weight, line in zip(ends, release.edge_weights.tolist(), lines, strict=True):
        shape = None if line is None else {"type": "LineString", "coordinates": line}
        properties = {"source": source, "target": target, field_name(quantity): weight, **more}
        yield {"type": "Feature", "geometry": shape, "properties": properties}


GEOJSON = Format(
    "geojson",
    "edges as lines with released weights, or isochrones (RFC 7946)",
    _write_geojson,
    takes=OPTIONS,
)


def _write_geoparquet(releases: Sequence[Release], path: Path, options: ExportOptions) -> ExportResult:
    (release,) = releases
    import pyarrow.parquet as pq

    edges = options.isochrone is None and options.steps is None
    frame = release.to_geopandas(options.crs) if edges else _isochrone_frame(release, options)
    metadata = {**schema_metadata(release), "hushpath.coordinates": frame.attrs["coordinates"]}
    with replacing(path) as temporary:
        try:
            frame.to_parquet(temporary, index=False)
            # Geopandas cannot write further metadata, so the table is read and written again.
            table = pq.read_table(temporary)
            table = table.replace_schema_metadata({**table.schema.metadata, **metadata})
            pq.write_table(table, temporary)
        except OSError as error:  # report the error of the system instead of Arrow's
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    what = "edges" if edges else "isochrones"
    return ExportResult(f"{len(frame)} {what}", {what: len(frame), "longitude_latitude": frame.crs is not None})


def _isochrone_frame(release: Release, options: ExportOptions) -> geopandas.GeoDataFrame:
    """Return a row per isochrone and kind."""
    drawn, places = _isochrones(release, options), places_of(release.topology)
    frame = geopandas_library().GeoDataFrame.from_features(
        drawn["features"], crs=DEGREES[0] if places.degrees else None
    )
    if release.statement.marking:
        frame.insert(0, NOT_PRIVATE, NOT_PRIVATE)
    frame.attrs["coordinates"] = places.description
    return frame


GEOPARQUET = Format(
    "geoparquet",
    "edges as lines with released weights, or isochrones, as a table",
    _write_geoparquet,
    takes=OPTIONS,
)
