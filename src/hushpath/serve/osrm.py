"""A part of OSRM's HTTP interface, so that its clients can ask a release: services ``table`` and ``route``, version 1.

Places are snapped to the nearest node.  Durations are released times in seconds; metres are those of the public
coordinates along a path.  ``profile`` may name a release, a period, or ``release@period``; any other word will do where
one release of one time is served.  Options that only help OSRM to find a street are accepted and make no difference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, HushpathError
from .asked import NUMBER, fields
from .limits import Limits
from .metres import MOST_SOURCES, metres_between
from .places import decoded
from .replies import Refusal, dumps, dumps_list
from .shelf import Book, Shelf

GENERAL = {"bearings", "hints", "generate_hints", "approaches", "snapping", "radiuses", "exclude", "skip_waypoints"}
TABLE = GENERAL | {"sources", "destinations", "annotations", "fallback_speed", "fallback_coordinate", "scale_factor"}
ROUTE = GENERAL | {
    "alternatives", "steps", "annotations", "geometries", "overview", "continue_straight", "waypoints", "number",
}  # fmt: skip
POLYLINE = re.compile(r"polyline(6?)\((.*)\)", re.S)


class NotOk(HushpathError):  # noqa: N818 - after the code of its answer
    """An answer whose code is not ``Ok``."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def spelt(error: HushpathError) -> NotOk:
    """Any refusal in OSRM's words."""
    if isinstance(error, NotOk):
        return error
    if isinstance(error, Refusal):
        return NotOk({413: "TooBig"}.get(error.status, "InvalidValue"), str(error))
    return NotOk("NotImplemented" if isinstance(error, CannotError) else "InvalidValue", str(error))


def options(query: bytes, known: set[str]) -> dict[str, str]:
    """The options of a request; what OSRM does not know is refused, as OSRM does."""
    try:
        found = fields(query)
    except HushpathError as error:
        raise NotOk("InvalidQuery", str(error)) from None
    for name in found:
        if name not in known:
            raise NotOk("InvalidQuery", f"there is no option {name[:60]!r}")
    if found.get("exclude"):
        raise NotOk("InvalidValue", "nothing can be excluded: a release knows no classes of streets")
    return found


def choice(found: Mapping[str, str], name: str, default: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    value = found.get(name, default)
    if value not in choices:
        raise NotOk("InvalidQuery", f"{name} must be one of {', '.join(choices)}")
    return value


def book_of(shelf: Shelf, profile: str) -> Book:
    """The release that a profile means."""
    name, _, period = profile.partition("@")
    if name in shelf.releases:
        return shelf.find(name, period or None)
    if len(shelf.releases) == 1 and not period:
        (only,) = shelf.releases
        return shelf.find(only, profile if profile in shelf.releases[only].periods else None)
    return shelf.find(name, period or None)


def places_of(text: str, most: int) -> Float:
    """``lon,lat;lon,lat`` or ``polyline(...)``, with ``.json`` behind it or not."""
    text = text.removesuffix(".json")
    drawn = POLYLINE.fullmatch(text)
    if drawn:
        try:
            found = decoded(drawn[2], 6 if drawn[1] else 5)
        except HushpathError as error:
            raise NotOk("InvalidQuery", str(error)) from None
    else:
        parts = text.split(";", most + 1)
        if len(parts) > most:
            raise NotOk("TooBig", f"too many coordinates: at most {most}")
        pairs = [part.split(",") for part in parts]
        if any(len(pair) != 2 or not all(len(t) < 40 and NUMBER.fullmatch(t) for t in pair) for pair in pairs):
            raise NotOk("InvalidQuery", "coordinates are written longitude,latitude;longitude,latitude")
        found = np.array([[float(t) for t in pair] for pair in pairs])
    if len(found) > most:
        raise NotOk("TooBig", f"too many coordinates: at most {most}")
    if not len(found) or not (np.abs(found) <= (180.0, 90.0)).all():
        raise NotOk("InvalidValue", "a longitude lies between -180 and 180, a latitude between -90 and 90")
    return found


class Snapped:
    """Places of a request and their nodes, as waypoints tell them."""

    def __init__(self, book: Book, places: Float, found: Mapping[str, str]) -> None:
        self.book = book
        self.nodes, self.metres = book.snapper.nearest(places)
        for place, limit in enumerate(_radiuses(found.get("radiuses", ""), len(places))):
            if self.metres[place] > limit:
                raise NotOk("NoSegment", f"could not find a node within the radius of coordinate {place}")
            if self.metres[place] > book.snapper.reach:
                away = f"the nearest node is {self.metres[place] / 1000:.0f} km away from coordinate {place}"
                raise NotOk("NoSegment", f"{away}; coordinates are written longitude,latitude")

    def waypoints(self, which: Int | None = None) -> list[dict[str, Any]]:
        """What OSRM calls them; a node's label stands for the name of a street."""
        labels, some = self.book.release.topology.labels, range(len(self.nodes)) if which is None else which.tolist()
        return [
            {
                "hint": "", "name": str(labels[self.nodes[i]]), "distance": float(self.metres[i]),
                "location": self.book.snapper.places[self.nodes[i]].tolist(),
            }
            for i in some
        ]  # fmt: skip


def _radiuses(text: str, count: int) -> list[float]:
    if not text or text == "unlimited":
        return [math.inf] * count
    parts = text.split(";", count + 1)
    if len(parts) != count:
        raise NotOk("InvalidValue", "radiuses must be as many as coordinates")
    if not all(part in ("", "unlimited") or (len(part) < 40 and NUMBER.fullmatch(part)) for part in parts):
        raise NotOk("InvalidQuery", "a radius is a number of metres, or unlimited")
    return [math.inf if part in ("", "unlimited") else float(part) for part in parts]


def _indices(text: str, count: int, name: str) -> Int:
    if text == "all":
        return np.arange(count)
    parts = text.split(";", count + 1)
    if not all(re.fullmatch(r"[0-9]{1,9}", part) for part in parts):
        raise NotOk("InvalidQuery", f"{name} must be all, or indices between semicolons")
    found = np.array([int(part) for part in parts], np.int64)
    if len(found) > count or found.max() >= count:
        raise NotOk("InvalidValue", f"an index in {name} is not below the number of coordinates")
    return found


def weight_of_table(query: bytes) -> str:
    """The gate it goes through: metres take a search over the whole network for each source."""
    return "heavy" if "distance" in options(query, TABLE).get("annotations", "") else "waiting"


def table(shelf: Shelf, limits: Limits, profile: str, coordinates: str, query: bytes) -> tuple[Book, bytes]:
    """The table service: durations between places, and if asked for the metres of their paths."""
    found = options(query, TABLE)
    book = book_of(shelf, profile)
    seconds = book.seconds
    wanted = set(found.get("annotations", "duration").split(","))
    if not wanted <= {"duration", "distance"}:
        raise NotOk("InvalidQuery", "annotations must be duration, distance or both")
    if "distance" in wanted and not book.release.decoder.routes:
        raise NotOk("NotImplemented", "this release tells no paths, so nobody knows their metres: ask for durations")
    if "fallback_speed" in found:
        raise NotOk("NotImplemented", "durations are released, not guessed: there is no fallback_speed")
    scale = found.get("scale_factor", "1")
    if len(scale) > 40 or NUMBER.fullmatch(scale) is None or not 0 < float(scale) < 1e9:
        raise NotOk("InvalidValue", "scale_factor must be a positive number")
    snapped = Snapped(book, places_of(coordinates, limits.nodes), found)
    count = len(snapped.nodes)
    sources = _indices(found.get("sources", "all"), count, "sources")
    targets = _indices(found.get("destinations", "all"), count, "destinations")
    if len(sources) * len(targets) > limits.table_cells:
        raise NotOk("TooBig", f"a table has at most {limits.table_cells} cells; POST /matrix streams larger ones")
    answer: dict[str, Any] = {"code": "Ok"}
    if "distance" in wanted:
        if len(sources) > MOST_SOURCES:
            raise NotOk("TooBig", f"metres are told from at most {MOST_SOURCES} sources at a time")
        answer["distances"] = _nullable(metres_between(book, snapped.nodes[sources], snapped.nodes[targets]))
    if choice(found, "skip_waypoints", "false", ("true", "false")) == "false":
        answer |= {"sources": snapped.waypoints(sources), "destinations": snapped.waypoints(targets)}
    if "duration" not in wanted:
        return book, dumps({**answer, **book.words})
    numbers = book.release.matrix(snapped.nodes[sources], snapped.nodes[targets], positions=True)
    durations = _nullable(numbers * (seconds * float(scale)))
    return book, dumps_list("durations", durations, {**answer, **book.words})


def _nullable(numbers: Float) -> list[list[float | None]]:
    """Rows of a table; nothing where no path leads."""
    found = numbers.astype(object)
    found[~np.isfinite(numbers)] = None
    rows: list[list[float | None]] = found.tolist()
    return rows
