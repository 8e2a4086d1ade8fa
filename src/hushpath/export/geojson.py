"""Edges as lines with their released weights, or what can be reached from a node, as GeoJSON (RFC 7946).

GeoJSON is in longitude and latitude and knows nothing else.  Coordinates of a plane are written as they are, with a
warning and a property ``coordinates`` that says so: most programs will draw them, in the wrong place.
The collection holds the statement under ``hushpath``; what is NOT PRIVATE says so first in every feature.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ..errors import warn
from ..files.container import replacing
from ..publish.edges import about
from ..publish.oracle import Release
from ..publish.places import places_of
from ..publish.statement import NOT_PRIVATE
from .core import Asked, Format, Written
from .drawn import asked_isochrones


def _write(releases: Sequence[Release], path: Path, asked: Asked) -> Written:
    (release,) = releases
    places = places_of(release.topology, asked.crs)
    said = {"marking": release.statement.marking} if release.statement.marking else {}
    facts: dict[str, Any] = {**about(release.statement, release.period), "coordinates": places.words}
    facts["statement"] = release.statement.as_dict()
    if asked.isochrone is None and asked.steps is None:
        features, what = edges(release, asked), "edges"
    else:
        drawn = asked_isochrones(release, asked)
        features, what = iter(drawn["features"]), "isochrones"
        facts.update({key: value for key, value in drawn.items() if key not in ("type", "features", *facts)})
    if not places.degrees:
        warn("these coordinates are of a plane, and GeoJSON is in longitude and latitude: maps will be wrong (--crs)")
    count = 0
    with replacing(path) as temporary, open(temporary, "w", encoding="utf-8", newline="\n") as file:
        head = {**said, "type": "FeatureCollection", "hushpath": facts}
        file.write(json.dumps(head, allow_nan=False)[:-1] + ', "features": [')
        for count, feature in enumerate(_marked(release, features, places.degrees), start=1):
            file.write(f"{',' if count > 1 else ''}\n{json.dumps(feature, allow_nan=False)}")
        file.write("\n]}\n")
    return Written(f"{count} {what}", {what: count, "longitude_latitude": places.degrees})


def _marked(release: Release, features: Iterable[dict[str, Any]], degrees: bool) -> Iterator[dict[str, Any]]:
    """Features whose properties say what they are, each by itself: programs keep these and drop the rest."""
    mark = {NOT_PRIVATE: NOT_PRIVATE} if release.statement.marking else {}
    plane = {} if degrees else {"coordinates": "not longitude and latitude"}
    for feature in features:
        yield {**feature, "properties": {**mark, **feature["properties"], **plane}}


def edges(release: Release, asked: Asked) -> Iterator[dict[str, Any]]:
    """A feature per edge; one without a known place has no geometry."""
    found, quantity = release.edges, release.statement.quantity
    more = {"units": quantity.unit_of_measure, "date": quantity.date, "period": release.period or ""}
    more = {key: text for key, text in more.items() if text}
    lines = found.lines(places_of(release.topology, asked.crs))
    for (source, target), weight, line in zip(found.ends, found.weights.tolist(), lines, strict=True):
        shape = None if line is None else {"type": "LineString", "coordinates": line}
        properties = {"source": source, "target": target, found.field: weight, **more}
        yield {"type": "Feature", "geometry": shape, "properties": properties}


FORMAT = Format(
    "geojson",
    "edges as lines with released weights, or isochrones (RFC 7946)",
    _write,
    takes=frozenset({"crs", "isochrone", "steps", "confidence"}),
)
