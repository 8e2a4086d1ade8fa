"""Places on Earth: the nearest node, and lines as OSRM's clients read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..errors import CannotError, InputError
from ..publish.places import great_circle, places_of

NEAREST = 10_000.0  # metres: places so far off a small network are still meant to be on it


def on_sphere(places: Float) -> Float:
    """Longitudes and latitudes as points of a sphere of radius 1."""
    longitude, latitude = np.radians(places).T
    level = np.cos(latitude)
    return np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=1)


class Snapper:
    """The node that is nearest to a longitude and a latitude, among those whose place is known."""

    def __init__(self, topology: Topology) -> None:
        from scipy.spatial import cKDTree

        places, degrees = places_of(topology)
        if not degrees:
            raise CannotError("the coordinates of this release are not longitudes and latitudes")
        self.places = places
        self.known = np.flatnonzero(np.isfinite(places).all(axis=1))
        corners = np.array([places[self.known].min(axis=0), places[self.known].max(axis=0)])
        # As far as the network is wide: what lies farther off is somewhere else, or has its latitude first.
        self.reach = max(float(great_circle(corners[:1], corners[1:])[0]), NEAREST)
        self._tree = cKDTree(on_sphere(places[self.known]))

    def nearest(self, asked: Float) -> tuple[Int, Float]:
        """The positions of nodes, and how many metres they are away."""
        _, found = self._tree.query(on_sphere(asked))
        nodes = self.known[found]
        return nodes, great_circle(asked, self.places[nodes])


def encoded(places: Float, digits: int) -> str:
    """Longitudes and latitudes as a polyline: differences of latitude, longitude in five-bit groups.

    >>> encoded(np.array([[-120.2, 38.5], [-120.95, 40.7], [-126.453, 43.252]]), 5)
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


def decoded(text: str, digits: int) -> Float:
    """What ``encoded`` wrote.

    >>> decoded("_p~iF~ps|U_ulLnnqC_mqNvxq`@", 5).tolist()
    [[-120.2, 38.5], [-120.95, 40.7], [-126.453, 43.252]]
    """
    values, bits, shift = [], 0, 0
    for letter in text:
        group = ord(letter) - 63
        if not 0 <= group < 64 or shift > 40:
            raise InputError("the polyline is not readable")
        bits |= (group & 0x1F) << shift
        shift += 5
        if group < 0x20:
            values.append(~(bits >> 1) if bits & 1 else bits >> 1)
            bits = shift = 0
    if shift or len(values) % 2:
        raise InputError("the polyline is not readable")
    whole = np.cumsum(np.array(values, np.int64).reshape(-1, 2), axis=0)
    return np.asarray(whole[:, ::-1] / 10**digits, np.float64)


def simplified(places: Float, tolerance: float) -> Any:
    """The positions of places to keep, so that a line through them is nowhere off by more (Douglas and Peucker)."""
    keep = np.zeros(len(places), bool)
    keep[[0, -1]] = True
    parts = [(0, len(places) - 1)]
    while parts:
        first, last = parts.pop()
        if last - first < 2:
            continue
        line, inner = places[last] - places[first], places[first + 1 : last] - places[first]
        length = float(line @ line)
        along = np.clip(inner @ line / length, 0.0, 1.0) if length > 0 else np.zeros(len(inner))
        off = np.hypot(*(inner - along[:, None] * line).T)
        worst = int(off.argmax())
        if off[worst] > tolerance:
            middle = first + 1 + worst
            keep[middle] = True
            parts += [(first, middle), (middle, last)]
    return np.flatnonzero(keep)
