"""Speeds from released times and public lengths, as routing programs take them: whole km/h for each pair of nodes.

| case | what is written |
|---|---|
| an undirected edge | both directions |
| parallel edges | one speed for each pair of nodes: that of the fastest |
| a speed below 1 or above 250 km/h, also of an edge whose released time is 0 | 1 or 250; they are counted |
| a length | a row of ``lengths``, else the great circle between longitudes and latitudes |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..errors import CannotError, InputError
from ..geodesy import great_circle
from ..publish.oracle import Release
from ..publish.places import places_of
from .core import Asked
from .rows import read_lengths

SLOWEST, FASTEST = 1, 250  # km/h: 0 would close a road, and more is no road


class Speeds(NamedTuple):
    """A speed for each ordered pair of neighbours, by position and sorted; how many were cut off, and left out."""

    tails: Int
    heads: Int
    kmh: Int
    cut: int
    parallel: int

    @property
    def words(self) -> str:
        """What was done to them, if anything."""
        said = []
        if self.cut:
            said.append(f"{self.cut} of them moved to {SLOWEST} or {FASTEST} km/h")
        if self.parallel:
            said.append(f"of parallel edges the fastest ({self.parallel} left out)")
        return "".join(f", {text}" for text in said)


def speeds_of(release: Release, asked: Asked) -> Speeds:
    """The speed of every edge, in each direction it may be used in."""
    seconds = released_seconds(release)
    topology = release.topology
    metres = _metres(topology, asked)
    tails, heads = topology.tails, topology.heads
    if not topology.directed:
        tails, heads = np.concatenate([tails, heads]), np.concatenate([heads, tails])
        seconds, metres = np.tile(seconds, 2), np.tile(metres, 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        kmh = np.nan_to_num(3.6 * metres / seconds, nan=FASTEST)
    order = np.lexsort((-kmh, heads, tails))
    tails, heads, kmh = tails[order], heads[order], kmh[order]
    first = np.ones(len(tails), bool)
    first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    whole = np.rint(kmh[first])
    within = np.clip(whole, SLOWEST, FASTEST)
    cut, parallel = int((whole != within).sum()), int((~first).sum())
    return Speeds(tails[first], heads[first], within.astype(np.int64), cut, parallel)


def released_seconds(release: Release) -> Float:
    """The released time of every edge in seconds; refuse what is not known to be a time."""
    seconds = release.statement.quantity.seconds
    if seconds is None:
        units = release.statement.quantity.units
        found = f"is in {units}" if units else "does not say what it is measured in"
        raise CannotError(f"speeds need times, and this release {found}; whoever releases says --in seconds")
    return release.edge_weights * seconds


def _metres(topology: Topology, asked: Asked) -> Float:
    """The length of each edge: of all from the table, or of all from their places."""
    if asked.lengths is not None:
        table = read_lengths(asked.lengths, topology)
        pairs = list(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True))
        gone = [pair for pair in pairs if pair not in table]
        if gone:
            a, b = (topology.labels[i] for i in gone[0])
            raise InputError(f"{len(gone)} of {len(pairs)} edges have no length; the first is from {a!r} to {b!r}")
        return np.array([table[pair] for pair in pairs], np.float64)
    if topology.coordinates is None:
        raise CannotError("speeds need lengths, and this release has no coordinates: give --lengths")
    places = places_of(topology, asked.crs)
    if not places.degrees:
        raise CannotError(
            "speeds need lengths, and these coordinates are not longitude and latitude: give --lengths, or --crs"
        )
    metres = great_circle(places.xy[topology.tails], places.xy[topology.heads])
    unknown = int(np.isnan(metres).sum())
    if unknown:
        raise CannotError(f"speeds need lengths, and {unknown} edges have an end without a place: give --lengths")
    return metres
