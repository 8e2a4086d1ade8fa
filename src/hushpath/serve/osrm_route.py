"""OSRM's route service over released edge weights: one path through all places, in the order given."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError
from ..publish.places import great_circle
from .limits import Limits
from .osrm import ROUTE, NotOk, Snapped, book_of, choice, options, places_of
from .places import encoded, simplified
from .replies import dumps
from .shelf import Book, Shelf

YES_NO = ("true", "false")
NOTES = {"duration", "nodes", "distance", "weight", "datasources", "speed"}
PIXELS = 512  # a simplified line is off by less than one of so many parts of its extent


class Leg:
    """The path between two nodes: places of its nodes, seconds and metres of its parts."""

    def __init__(self, book: Book, source: int, target: int) -> None:
        release, labels = book.release, book.release.topology.labels
        if source == target:
            self.nodes, seconds = [labels[source]], np.zeros(0)
        else:
            if np.isinf(book.one(source, target)):
                raise NotOk("NoRoute", "no route between these places")
            route = release.route(labels[source], labels[target])
            self.nodes, seconds = list(route.nodes), release.edge_weights[route.edges] * book.seconds
        places = book.snapper.places[release.topology.indices(self.nodes)]
        known = np.isfinite(places).all(axis=1)  # a node without a place is passed in a straight line
        self.places: Float = places[known]
        self.metres = great_circle(self.places[:-1], self.places[1:])
        ends = np.flatnonzero(known)
        self.seconds = np.add.reduceat(seconds, ends[:-1]) if len(ends) > 1 else np.zeros(0)
        self.duration = float(seconds.sum())
        self.kept = [self.nodes[i] for i in ends.tolist()]

    def told(self, geometries: str, steps: bool, notes: set[str]) -> dict[str, Any]:
        """As OSRM tells a leg."""
        whole = {"distance": float(self.metres.sum()), "duration": self.duration, "weight": self.duration}
        leg: dict[str, Any] = {**whole, "summary": "", "steps": self._steps(geometries, whole) if steps else []}
        if notes:
            speed = np.divide(self.metres, self.seconds, out=np.zeros(len(self.seconds)), where=self.seconds > 0)
            parts = {
                "distance": self.metres.tolist(), "duration": self.seconds.tolist(), "weight": self.seconds.tolist(),
                "speed": speed.tolist(), "datasources": [0] * len(self.seconds), "nodes": self.kept,
            }  # fmt: skip
            leg["annotation"] = {name: values for name, values in parts.items() if name in notes}
        return leg

    def _steps(self, geometries: str, whole: dict[str, float]) -> list[dict[str, Any]]:
        """Depart and arrive: a release knows no street names and no turns."""
        nothing, (first, last) = dict.fromkeys(whole, 0.0), (self.places[0].tolist(), self.places[-1].tolist())
        ends = [
            ("depart", first, whole, self.places),
            ("arrive", last, nothing, np.stack([self.places[-1], self.places[-1]])),
        ]
        return [
            {
                **amounts, "name": "", "mode": "driving", "driving_side": "right", "geometry": shape(line, geometries),
                "maneuver": {"type": kind, "location": place, "bearing_before": 0, "bearing_after": 0},
                "intersections": [{"location": place, "bearings": [0], "entry": [True]}],
            }
            for kind, place, amounts, line in ends
        ]  # fmt: skip


def shape(places: Float, geometries: str) -> Any:
    """A line in the form that was asked for; one place alone is a line too."""
    line = np.concatenate([places, places]) if len(places) == 1 else places
    if geometries == "geojson":
        return {"type": "LineString", "coordinates": line.tolist()}
    return encoded(line, 6 if geometries == "polyline6" else 5)


def _joined(legs: list[Leg]) -> Float:
    return np.concatenate([legs[0].places, *(leg.places[1:] for leg in legs[1:])])


def _some(places: Float) -> Int:
    return np.asarray(simplified(places, float(np.ptp(places, axis=0).max()) / PIXELS))


def route(shelf: Shelf, limits: Limits, profile: str, coordinates: str, query: bytes) -> tuple[Book, bytes]:
    """The route service: the path of least released duration."""
    found = options(query, ROUTE)
    book = book_of(shelf, profile)
    _ = book.seconds
    if not book.release.decoder.routes:
        raise CannotError("this release tells distances, not the paths they belong to")
    geometries = choice(found, "geometries", "polyline", ("polyline", "polyline6", "geojson"))
    overview = choice(found, "overview", "simplified", ("simplified", "full", "false"))
    steps = choice(found, "steps", "false", YES_NO) == "true"
    asked = found.get("annotations", "false")
    notes = {"true": NOTES, "false": set()}.get(asked, set(asked.split(",")))
    if not notes <= NOTES:
        raise NotOk("InvalidQuery", f"annotations must be true, false or some of {', '.join(sorted(NOTES))}")
    snapped = Snapped(book, places_of(coordinates, limits.waypoints), found)
    if len(snapped.nodes) < 2:
        raise NotOk("InvalidValue", "a route leads through two places at least")
    nodes = snapped.nodes.tolist()
    legs = [Leg(book, a, b) for a, b in pairwise(nodes)]
    told = [leg.told(geometries, steps, notes) for leg in legs]
    whole: dict[str, Any] = {name: sum(leg[name] for leg in told) for name in ("distance", "duration", "weight")}
    whole |= {"weight_name": "duration", "legs": told}
    if overview != "false":
        line = _joined(legs)
        whole["geometry"] = shape(line if overview == "full" else line[_some(line)], geometries)
    answer: dict[str, Any] = {"code": "Ok", "routes": [whole]}
    if choice(found, "skip_waypoints", "false", YES_NO) == "false":
        answer["waypoints"] = snapped.waypoints()
    return book, dumps({**answer, **book.words})
