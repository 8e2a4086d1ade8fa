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
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...errors import OptionError, warn
from ...io.container import replacing
from ...network.labels import Label
from ...published.edges import DEGREES, Places, about, edge_ends, edge_lines, field_name, geopandas_library, places_of
from ...published.release import Release
from ...published.statement import NOT_PRIVATE
from ..distance_table import schema_metadata
from ..isochrones import isochrones


def write_geojson(
    release: Release, path: Path, *, crs: str | None = None, isochrone: Label | None = None,
    steps: Sequence[float] | None = None, confidence: float = 0.9,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Write edges or isochrones of ``release`` to ``path``.

    ``crs``, ``isochrone``, ``steps`` and ``confidence`` as in ``hushpath.export``.
    """
    places = places_of(release.topology, crs)
    mark = {NOT_PRIVATE: NOT_PRIVATE} if release.statement.marking else {}
    facts: dict[str, Any] = {**about(release.statement, release.period), "coordinates": places.description}
    facts["statement"] = release.statement.as_dict()
    if isochrone is None and steps is None:
        features, what = _edge_features(release, places), "edges"
    else:
        drawn = _isochrones(release, crs, isochrone, steps, confidence)
        features, what = iter(drawn["features"]), "isochrones"
        facts.update({key: value for key, value in drawn.items() if key not in ("type", "features", *facts)})
    if not places.degrees:
        warn("GeoJSON needs longitude and latitude, but these coordinates are planar: maps will be wrong; pass --crs")
    # Programs keep the properties of each feature and drop the rest.
    plane = {} if places.degrees else {"coordinates": "not longitude and latitude"}
    head = {"type": "FeatureCollection", "hushpath": facts}
    if release.statement.marking:
        head = {"marking": release.statement.marking, **head}
    count = 0
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(head, allow_nan=False)[:-1] + ', "features": [')
        for count, feature in enumerate(features, start=1):
            marked = {**feature, "properties": {**mark, **feature["properties"], **plane}}
            file.write(f"{',' if count > 1 else ''}\n{json.dumps(marked, allow_nan=False)}")
        file.write("\n]}\n")
    return f"{count} {what}", {what: count, "longitude_latitude": places.degrees}


def write_geoparquet(
    release: Release, path: Path, *, crs: str | None = None, isochrone: Label | None = None,
    steps: Sequence[float] | None = None, confidence: float = 0.9,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Write edges or isochrones of ``release`` to ``path``.

    ``crs``, ``isochrone``, ``steps`` and ``confidence`` as in ``hushpath.export``.
    """
    import pyarrow.parquet as pq

    edges = isochrone is None and steps is None
    if edges:
        frame = release.to_geopandas(crs)
    else:
        drawn, places = _isochrones(release, crs, isochrone, steps, confidence), places_of(release.topology)
        system = DEGREES[0] if places.degrees else None
        frame = geopandas_library().GeoDataFrame.from_features(drawn["features"], crs=system)
        if release.statement.marking:
            frame.insert(0, NOT_PRIVATE, NOT_PRIVATE)
        frame.attrs["coordinates"] = places.description
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
    return f"{len(frame)} {what}", {what: len(frame), "longitude_latitude": frame.crs is not None}


def _isochrones(
    release: Release, crs: str | None, origin: Label | None, steps: Sequence[float] | None, confidence: float
) -> dict[str, Any]:
    """Return isochrones of ``release`` around ``origin`` with limits ``steps`` and ``confidence``; refuse ``crs``."""
    if origin is None or not steps:
        raise OptionError("isochrones need an origin and limits: --isochrone market --steps 300,600")
    if crs is not None:
        raise OptionError("isochrones use the coordinates of the release; --crs applies to edges only")
    return isochrones(release, origin, list(steps), confidence=confidence)


def _edge_features(release: Release, places: Places) -> Iterator[dict[str, Any]]:
    """Yield a feature per edge; without a geometry where coordinates are missing."""
    topology, quantity = release.topology, release.statement.quantity
    more = {"unit_of_measure": quantity.unit_of_measure, "date": quantity.date, "period": release.period or ""}
    more = {key: text for key, text in more.items() if text}
    lines, ends = edge_lines(topology, places), edge_ends(topology)
    for (source, target), weight, line in zip(ends, release.edge_weights.tolist(), lines, strict=True):
        shape = None if line is None else {"type": "LineString", "coordinates": line}
        properties = {"source": source, "target": target, field_name(quantity): weight, **more}
        yield {"type": "Feature", "geometry": shape, "properties": properties}
