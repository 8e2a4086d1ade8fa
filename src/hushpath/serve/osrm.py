"""A part of OSRM's HTTP interface, so that its clients can ask a release: services ``table`` and ``route``, version 1.

Places are snapped to the nearest node.  Durations are released times in seconds; metres are those of the public
coordinates along a path.  ``profile`` may name a release, a period, or ``release@period``; any other word will do where
one release without periods is served.  Options that only help OSRM to find a street are accepted and change nothing.
"""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, HushpathError, InputError
from ..geodesy import great_circle
from .catalog import ReleaseCatalog, ServedRelease
from .limits import HttpError, Limits
from .responses import json_bytes, json_list_bytes
from .schema import OsrmOptions, RouteOptions, TableOptions, read_query

NUMBER = re.compile(r"(?=.{1,40}\Z)[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
POLYLINE = re.compile(r"polyline(6?)\((.*)\)", re.S)
M = TypeVar("M", bound=OsrmOptions)
METRES_SOURCES = 100  # of one table of metres: each takes a search over the whole network


class OsrmError(HushpathError):
    """An answer whose code is not ``Ok``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def as_osrm_error(error: HushpathError) -> OsrmError:
    """Return any error with one of OSRM's codes."""
    if isinstance(error, OsrmError):
        return error
    if isinstance(error, HttpError) and error.status == 413:
        return OsrmError("TooBig", str(error))
    return OsrmError("NotImplemented" if isinstance(error, CannotError) else "InvalidValue", str(error))


# --- the services


def table(
    catalog: ReleaseCatalog, limits: Limits, profile: str, coordinates: str, options: TableOptions
) -> tuple[ServedRelease, bytes]:
    """Answer the table service: durations between places, and on request the metres of their paths.

    ``profile`` selects a release of the ``catalog``, ``coordinates`` name places, ``options`` are OSRM's;
    ``limits`` bound the table.
    """
    served = find_profile(catalog, profile)
    seconds = served.seconds
    if "distance" in options.annotations and not served.release.decoder.routes:
        raise OsrmError("NotImplemented", "this release has distances without paths: ask for durations only")
    if options.fallback_speed:
        raise OsrmError("NotImplemented", "fallback_speed is not supported: durations come from the release; omit it")
    if not 0 < options.scale_factor < 1e9:
        raise OsrmError("InvalidValue", "scale_factor must be a positive number")
    snapped = Snapped(served, parse_coordinates(coordinates, limits.nodes), options.radiuses)
    count = len(snapped.nodes)
    sources = _indices(options.sources, count, "sources")
    targets = _indices(options.destinations, count, "destinations")
    if len(sources) * len(targets) > limits.table_cells:
        raise OsrmError("TooBig", f"a table has at most {limits.table_cells} cells; POST /matrix streams larger ones")
    answer: dict[str, Any] = {"code": "Ok"}
    if "distance" in options.annotations:
        if len(sources) > METRES_SOURCES:
            raise OsrmError("TooBig", f"annotations=distance: at most {METRES_SOURCES} sources, got {len(sources)}")
        metres = [_path_metres(served, source)[snapped.nodes[targets]] for source in snapped.nodes[sources].tolist()]
        answer["distances"] = _nullable(np.stack(metres))
    if not options.skip_waypoints:
        answer |= {"sources": snapped.waypoints(sources), "destinations": snapped.waypoints(targets)}
    if "duration" not in options.annotations:
        return served, json_bytes({**answer, **served.facts})
    numbers = served.release.matrix(snapped.nodes[sources], snapped.nodes[targets], positions=True)
    durations = _nullable(numbers * (seconds * options.scale_factor))
    return served, json_list_bytes("durations", durations, {**answer, **served.facts})


def route(
    catalog: ReleaseCatalog, limits: Limits, profile: str, coordinates: str, options: RouteOptions
) -> tuple[ServedRelease, bytes]:
    """Answer the route service: the path of least released duration through all places, in the order given.

    ``profile`` selects a release of the ``catalog``, ``coordinates`` name places, ``options`` are OSRM's;
    ``limits`` bound the number of places.
    """
    served = find_profile(catalog, profile)
    _ = served.seconds
    if not served.release.decoder.routes:
        raise CannotError("this release has distances without paths")
    snapped = Snapped(served, parse_coordinates(coordinates, limits.waypoints), options.radiuses)
    if len(snapped.nodes) < 2:
        raise OsrmError("InvalidValue", "a route needs two coordinates at least")
    legs = [Leg(served, a, b) for a, b in pairwise(snapped.nodes.tolist())]
    parts = [leg.as_dict(options) for leg in legs]
    whole: dict[str, Any] = {name: sum(part[name] for part in parts) for name in ("distance", "duration", "weight")}
    whole |= {"weight_name": "duration", "legs": parts}
    if options.overview != "false":
        line = np.concatenate([legs[0].places, *(leg.places[1:] for leg in legs[1:])])
        whole["geometry"] = _geometry(line, options.geometries)
    answer: dict[str, Any] = {"code": "Ok", "routes": [whole]}
    if not options.skip_waypoints:
        answer["waypoints"] = snapped.waypoints()
    return served, json_bytes({**answer, **served.facts})


# --- what a request says


def read_options(model: type[M], query: bytes) -> M:
    """Return the checked options of a request; an unknown one is an error, as in OSRM."""
    try:
        options = read_query(model, query)
    except InputError as error:
        raise OsrmError("InvalidQuery", str(error)) from None
    if options.exclude:
        raise OsrmError("InvalidValue", "exclude is not supported: a release has no classes of streets")
    return options


def find_profile(catalog: ReleaseCatalog, profile: str) -> ServedRelease:
    """Return the release that a profile means."""
    name, _, period = profile.partition("@")
    if name not in catalog.releases and len(catalog.releases) == 1 and not period:
        (only,) = catalog.releases
        return catalog.find(only, profile if profile in catalog.releases[only].periods else None)
    return catalog.find(name, period or None)


def parse_coordinates(text: str, most: int) -> Float:
    """Return places from ``lon,lat;lon,lat`` or ``polyline(...)``, with or without ``.json`` at the end."""
    text = text.removesuffix(".json")
    polyline = POLYLINE.fullmatch(text)
    if polyline:
        found = decode_polyline(polyline[2], 6 if polyline[1] else 5)
    else:
        parts = text.split(";", most + 1)
        if len(parts) > most:
            raise OsrmError("TooBig", f"at most {most} coordinates")
        pairs = [part.split(",") for part in parts]
        if any(len(pair) != 2 or not all(map(NUMBER.fullmatch, pair)) for pair in pairs):
            raise OsrmError("InvalidQuery", "coordinates are written longitude,latitude;longitude,latitude")
        found = np.array([[float(number) for number in pair] for pair in pairs])
    if len(found) > most:
        raise OsrmError("TooBig", f"at most {most} coordinates")
    if not len(found) or not (np.abs(found) <= (180.0, 90.0)).all():
        raise OsrmError("InvalidValue", "a longitude must be between -180 and 180, a latitude between -90 and 90")
    return found


def _indices(given: list[int], count: int, name: str) -> Int:
    if len(given) > count or any(index >= count for index in given):
        raise OsrmError("InvalidValue", f"an index in {name} must be below the number of coordinates")
    return np.array(given or range(count), np.int64)


# --- places and paths


class Snapped:
    """The places of a request and their nearest nodes."""

    def __init__(self, served: ServedRelease, places: Float, radiuses: list[float]) -> None:
        self.served = served
        self.nodes, self.metres = served.nearest.find(places)
        if radiuses and len(radiuses) != len(places):
            raise OsrmError("InvalidValue", "radiuses must be as many as coordinates")
        for place, limit in enumerate(radiuses or [math.inf] * len(places)):
            if self.metres[place] > limit:
                raise OsrmError("NoSegment", f"no node within the radius of coordinate {place}")
            if self.metres[place] > served.nearest.reach:
                away = f"the nearest node is {self.metres[place] / 1000:.0f} km away from coordinate {place}"
                raise OsrmError("NoSegment", f"{away}; coordinates are written longitude,latitude")

    def waypoints(self, which: Int | None = None) -> list[dict[str, Any]]:
        """Return waypoints as OSRM has them, with the label of a node for the name of a street."""
        labels, places = self.served.release.topology.labels, self.served.nearest.places
        return [
            {
                "hint": "", "name": str(labels[self.nodes[i]]), "distance": float(self.metres[i]),
                "location": places[self.nodes[i]].tolist(),
            }
            for i in (range(len(self.nodes)) if which is None else which.tolist())
        ]  # fmt: skip


class Leg:
    """The path between two nodes: places of its nodes, seconds and metres between them."""

    def __init__(self, served: ServedRelease, source: int, target: int) -> None:
        release, labels = served.release, served.release.topology.labels
        if source == target:
            nodes, seconds = [labels[source]], np.zeros(0)
        else:
            if np.isinf(served.distance(source, target)):
                raise OsrmError("NoRoute", "no route between these places")
            path = release.route(labels[source], labels[target])
            nodes, seconds = list(path.nodes), release.edge_weights[path.edges] * served.seconds
        places = served.nearest.places[release.topology.indices(nodes)]
        known = np.isfinite(places).all(axis=1)  # the line passes a node without a place straight
        self.places: Float = places[known]
        self.metres = great_circle(self.places[:-1], self.places[1:])
        ends = np.flatnonzero(known)
        self.seconds = np.add.reduceat(seconds, ends[:-1]) if len(ends) > 1 else np.zeros(0)
        self.duration = float(seconds.sum())
        self.labels = [nodes[i] for i in ends.tolist()]

    def as_dict(self, options: RouteOptions) -> dict[str, Any]:
        """Return the leg as OSRM has it."""
        whole = {"distance": float(self.metres.sum()), "duration": self.duration, "weight": self.duration}
        leg: dict[str, Any] = {**whole, "summary": "", "steps": []}
        if options.steps:
            leg["steps"] = self._steps(options.geometries, whole)
        if options.annotations:
            speed = np.divide(self.metres, self.seconds, out=np.zeros(len(self.seconds)), where=self.seconds > 0)
            parts = {
                "distance": self.metres.tolist(), "duration": self.seconds.tolist(), "weight": self.seconds.tolist(),
                "speed": speed.tolist(), "datasources": [0] * len(self.seconds), "nodes": self.labels,
            }  # fmt: skip
            leg["annotation"] = {name: values for name, values in parts.items() if name in options.annotations}
        return leg

    def _steps(self, geometries: str, whole: dict[str, float]) -> list[dict[str, Any]]:
        """Return two steps, depart and arrive: a release has no street names and no turns."""
        nothing, last = dict.fromkeys(whole, 0.0), self.places[-1:]
        return [
            {
                **amounts, "name": "", "mode": "driving", "driving_side": "right",
                "geometry": _geometry(line, geometries),
                "maneuver": {"type": kind, "location": place, "bearing_before": 0, "bearing_after": 0},
                "intersections": [{"location": place, "bearings": [0], "entry": [True]}],
            }
            for kind, place, amounts, line in (
                ("depart", self.places[0].tolist(), whole, self.places), ("arrive", last[0].tolist(), nothing, last),
            )
        ]  # fmt: skip


def _path_metres(served: ServedRelease, source: int) -> Float:
    """Return the metres from one node to every other, added up along a tree of shortest paths.

    A path is one of least released duration, and among those one with fewest edges, as in ``Release.route``.  Infinite
    without a path; not a number where a path passes a node without a place.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    release, places = served.release, served.nearest.places
    arcs, size = release.topology.arcs, release.topology.num_nodes
    row, lengths = release.rows(np.array([source]))[0], release.edge_weights[arcs.edges]
    tails = np.repeat(np.arange(size), np.diff(arcs.start))
    tight = np.flatnonzero(np.isfinite(row[tails]) & (row[tails] + lengths == row[arcs.heads]))  # on a shortest path
    graph = csr_array((np.ones(len(tight)), (tails[tight], arcs.heads[tight])), shape=(size, size))
    _, before = breadth_first_order(graph, source, directed=True, return_predecessors=True)
    reached = before >= 0
    before = np.where(reached, before, np.arange(size))
    metres = np.where(reached, great_circle(places[before], places), 0.0)
    while (before != before[before]).any():  # pointer jumping: twice as far back each time
        metres, before = metres + metres[before], before[before]
    metres[~np.isfinite(row)] = np.inf
    return np.asarray(metres, np.float64)


def _nullable(numbers: Float) -> list[list[float | None]]:
    """Return the rows of a table; null where there is no path."""
    return [[value if math.isfinite(value) else None for value in row] for row in numbers.tolist()]


# --- lines


def _geometry(places: Float, geometries: str) -> Any:
    """Return a line in the requested form; a single place is a line too."""
    line = np.concatenate([places, places]) if len(places) == 1 else places
    if geometries == "geojson":
        return {"type": "LineString", "coordinates": line.tolist()}
    return encode_polyline(line, 6 if geometries == "polyline6" else 5)


def encode_polyline(places: Float, digits: int) -> str:
    """Return longitudes and latitudes as a polyline: differences of latitude, longitude in five-bit groups.

    >>> encode_polyline(np.array([[-120.2, 38.5], [-120.95, 40.7], [-126.453, 43.252]]), 5)
    '_p~iF~ps|U_ulLnnqC_mqNvxq`@'
    """
    whole = np.round(places[:, ::-1] * 10**digits).astype(np.int64)
    letters = []
    for value in np.diff(whole, axis=0, prepend=0).ravel().tolist():
        bits = ~(value << 1) if value < 0 else value << 1
        while bits >= 0x20:
            letters.append(chr((0x20 | (bits & 0x1F)) + 63))
            bits >>= 5
        letters.append(chr(bits + 63))
    return "".join(letters)


def decode_polyline(text: str, digits: int) -> Float:
    """Return the longitudes and latitudes of a polyline.

    >>> decode_polyline("_p~iF~ps|U_ulLnnqC_mqNvxq`@", 5).tolist()
    [[-120.2, 38.5], [-120.95, 40.7], [-126.453, 43.252]]
    """
    values, bits, shift = [], 0, 0
    for letter in text:
        group = ord(letter) - 63
        if not 0 <= group < 64 or shift > 40:
            raise OsrmError("InvalidQuery", "the polyline is not readable")
        bits |= (group & 0x1F) << shift
        shift += 5
        if group < 0x20:
            values.append(~(bits >> 1) if bits & 1 else bits >> 1)
            bits = shift = 0
    if shift or len(values) % 2:
        raise OsrmError("InvalidQuery", "the polyline is not readable")
    whole = np.cumsum(np.array(values, np.int64).reshape(-1, 2), axis=0)
    return np.asarray(whole[:, ::-1] / 10**digits, np.float64)
