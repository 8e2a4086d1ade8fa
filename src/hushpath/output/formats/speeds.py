"""Speeds for the routing engines OSRM and Valhalla: whole km/h, from released times and public lengths.

| case | what is written |
|---|---|
| an undirected edge | both directions |
| parallel edges | one speed for each pair of nodes: that of the fastest edge |
| a speed below 1 or above 250 km/h, also where the released time is 0 | 1 or 250; these are counted |
| a length | a row of ``lengths``, else the great-circle distance between the coordinates |

**OSRM** (``osrm-customize --segment-speed-file``) reads lines ``from,to,km/h`` of OSM node ids without a header.  It
looks up pairs of nodes that are adjacent in OSM and computes times from its own great-circle distances, so a released
edge that was merged from several segments is not found there.  Speeds are integers, because many versions of OSRM
reject others, and never 0, which would close the road.

**Valhalla** (``valhalla_add_predicted_traffic``) reads a folder of CSV files by tile with lines ``edge id,free-flow
speed,constrained speed``: its own id of a directed edge (``level/tile/id``), the speed of the night (19 to 7 o'clock)
and of the day.  Speeds of every five minutes of a week, a fourth column, are not released.  The table of ids is public;
making it needs Valhalla's tiles.

| release | night | day |
|---|---|---|
| without periods | its speed | its speed |
| ``--period am`` | 0, which Valhalla reads as "unchanged" | the speed of ``am`` |
| ``--period am --night late`` | the speed of ``late`` | the speed of ``am`` |
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Float, Int
from ...errors import CannotError, InputError, OptionError
from ...geodesy import great_circle
from ...io.container import replacing
from ...io.folders import new_folder
from ...network.topology import Topology
from ...published.edges import places_of
from ...published.release import Release
from .tables import Rows, read_lengths, read_rows

DIGITS = {0: 6, 1: 6, 2: 9}  # of a Valhalla tile in its file name, by level
MOST_TILES, MOST_IDS = 2**22, 2**21  # limits of a Valhalla id
SLOWEST, FASTEST = 1, 250  # km/h: 0 would close a road, and no road is faster


class Speeds(NamedTuple):
    """A speed for each ordered pair of adjacent nodes, sorted; the number of clipped speeds and of omitted edges."""

    tails: Int
    heads: Int
    kmh: Int
    cut: int
    parallel: int

    @property
    def remarks(self) -> str:
        """How many speeds were clipped and how many parallel edges omitted, if any."""
        clipped = f", {self.cut} of them clipped to {SLOWEST} or {FASTEST} km/h" if self.cut else ""
        return clipped + (f", {self.parallel} slower parallel edges omitted" if self.parallel else "")

    @property
    def by_pair(self) -> dict[tuple[int, int], int]:
        """The speeds by pair of node positions."""
        pairs = zip(self.tails.tolist(), self.heads.tolist(), strict=True)
        return dict(zip(pairs, self.kmh.tolist(), strict=True))


def speeds_of(release: Release, lengths: Rows | None = None, crs: str | None = None) -> Speeds:
    """Return the speed of every edge, in each direction in which it may be used."""
    seconds = released_seconds(release)
    topology = release.topology
    metres = _metres(topology, lengths, crs)
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
    """Return the released time of every edge in seconds; raise an error if the quantity is not a time."""
    seconds = release.statement.quantity.seconds
    if seconds is None:
        units = release.statement.quantity.unit_of_measure
        found = f"is in {units}" if units else "does not state its unit of measurement"
        raise CannotError(f"speeds need times, but this release {found}; release with --unit-of-measure seconds")
    return release.edge_weights * seconds


def _metres(topology: Topology, lengths: Rows | None, crs: str | None) -> Float:
    """Return the length of each edge, from the table if there is one, else from coordinates."""
    if lengths is not None:
        table = read_lengths(lengths, topology)
        pairs = list(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True))
        missing = [pair for pair in pairs if pair not in table]
        if missing:
            a, b = (topology.labels[i] for i in missing[0])
            raise InputError(f"{len(missing)} of {len(pairs)} edges have no length, for example from {a!r} to {b!r}")
        return np.array([table[pair] for pair in pairs], np.float64)
    if topology.coordinates is None:
        raise CannotError("speeds need lengths, but this release has no coordinates; pass --lengths")
    places = places_of(topology, crs)
    if not places.degrees:
        raise CannotError(
            "speeds need lengths, but the coordinates are not longitude and latitude; pass --lengths or --crs"
        )
    metres = great_circle(places.xy[topology.tails], places.xy[topology.heads])
    unknown = int(np.isnan(metres).sum())
    if unknown:
        raise CannotError(f"speeds need lengths, but {unknown} edges have an end without coordinates; pass --lengths")
    return metres


def write_osrm(
    release: Release, path: Path, *, lengths: Rows | None = None, crs: str | None = None
) -> tuple[str, dict[str, Any]]:
    """Write speeds of ``release`` for OSRM to ``path``; ``lengths`` and ``crs`` as in ``hushpath.export``."""
    labels = release.topology.labels
    if not isinstance(labels[0], int) or labels[0] < 0:  # labels are sorted and of one type
        raise CannotError("OSRM identifies nodes by OSM ids, but the labels of this release are not whole numbers")
    speeds = speeds_of(release, lengths, crs)
    rows = zip(speeds.tails.tolist(), speeds.heads.tolist(), speeds.kmh.tolist(), strict=True)
    with replacing(path) as temporary, open(temporary, "w", encoding="ascii", newline="\n") as file:
        file.writelines(f"{labels[a]},{labels[b]},{kmh}\n" for a, b, kmh in rows)
    facts = {"speeds": len(speeds.kmh), "cut": speeds.cut, "parallel": speeds.parallel}
    return f"{len(speeds.kmh)} speeds in whole km/h{speeds.remarks}", facts


def write_valhalla(
    release: Release, path: Path, *, ids: Rows | None = None, night: str | None = None, lengths: Rows | None = None,
    crs: str | None = None,
) -> tuple[str, dict[str, Any]]:  # fmt: skip
    """Write speeds of ``release`` for Valhalla to a new folder ``path``.

    ``ids``, ``night`` (the period of free-flow speeds), ``lengths`` and ``crs`` as in ``hushpath.export``.
    """
    if ids is None:
        raise OptionError("Valhalla identifies edges by its own ids; pass --ids, a CSV file source,target,edge_id")
    index, edges = release.topology.index, []  # read first, so that mistakes in the table are reported at once
    for place, (source, target, text) in read_rows(ids, ("source", "target", "edge_id"), "ids"):
        edges.append((place, (index(source), index(target)), text))
    day = speeds_of(release, lengths, crs)
    constrained = day.by_pair
    if night is not None:
        free_flow = speeds_of(release.for_period(night), lengths, crs).by_pair
    else:
        free_flow = constrained if release.period is None else {}
    tiles: dict[tuple[int, int], dict[int, str]] = {}
    named = set()
    for place, pair, text in edges:
        level, tile, number = graph_id(text, place)
        if pair not in constrained:
            raise InputError(f"{place} names two nodes without an edge in this direction")
        rows = tiles.setdefault((level, tile), {})
        if number in rows:
            raise InputError(f"{place} repeats an edge id")
        rows[number] = f"{level}/{tile}/{number},{free_flow.get(pair, 0)},{constrained[pair]}\n"
        named.add(pair)
    with new_folder(path) as temporary:
        for (level, tile), rows in tiles.items():
            file = temporary / tile_file(level, tile)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(rows[number] for number in sorted(rows)), encoding="ascii", newline="\n")
    count, left = sum(map(len, tiles.values())), len(constrained) - len(named)
    without = f", {left} edges without an id omitted" if left else ""
    facts = {"speeds": count, "tiles": len(tiles), "cut": day.cut, "parallel": day.parallel, "without_id": left}
    return f"{count} speeds in whole km/h in {len(tiles)} tiles{day.remarks}{without}", facts


def graph_id(text: Any, place: str = "an id") -> tuple[int, int, int]:
    """Return level, tile and number of an edge id, in either form that Valhalla writes.

    >>> graph_id("1/47701/130"), graph_id(112642252344)
    ((1, 47701, 130), (0, 3015, 3357))
    """
    parts = re.fullmatch(r"(\d{1,7})/(\d{1,7})/(\d{1,7})", str(text), re.ASCII)
    if parts:
        level, tile, number = (int(part) for part in parts.groups())
    elif re.fullmatch(r"\d{1,14}", str(text), re.ASCII):
        level, tile, number = int(text) & 7, int(text) >> 3 & MOST_TILES - 1, int(text) >> 25
    else:
        level, tile, number = -1, 0, 0
    if level not in DIGITS or tile >= MOST_TILES or number >= MOST_IDS:
        raise InputError(f"{place} must be a Valhalla edge id such as 1/47701/130, with level 0 to {max(DIGITS)}")
    return level, tile, number


def tile_file(level: int, tile: int) -> str:
    """Return the path at which Valhalla expects the speeds of a tile.

    >>> tile_file(1, 47701), tile_file(2, 756425)
    ('1/047/701.csv', '2/000/756/425.csv')
    """
    digits = str(tile).zfill(DIGITS[level])
    return "/".join([str(level), *(digits[i : i + 3] for i in range(0, len(digits), 3))]) + ".csv"
