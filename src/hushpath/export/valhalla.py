"""Speeds for Valhalla: a folder of CSV files by tile, for ``valhalla_add_predicted_traffic``.

A line is ``edge id,free-flow speed,constrained speed``: Valhalla's own id of a directed edge (``level/tile/id``), the
speed of the night (19 to 7 o'clock) and of the day.  Speeds of every five minutes of a week, a fourth column, are not
released.  Which id is which of our edges is a public table that only somebody with Valhalla's tiles can make.

| release | night | day |
|---|---|---|
| of one time | its speed | its speed |
| ``--period am`` | 0, which Valhalla takes for "as it was" | that of ``am`` |
| ``--period am --night late`` | that of ``late`` | that of ``am`` |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import InputError, OptionError
from ..files.folders import new_folder
from ..publish.oracle import Release
from .core import Asked, Format, Written
from .rows import read_ids
from .speeds import Speeds, speeds_of

DIGITS = {0: 6, 1: 6, 2: 9}  # of a tile in the name of its file, by level
MOST_TILES, MOST_IDS = 2**22, 2**21  # what an id has room for


def _write(releases: Sequence[Release], path: Path, asked: Asked) -> Written:
    (release,) = releases
    if asked.ids is None:
        raise OptionError("Valhalla knows edges by ids of its own: give --ids, a CSV file source,target,edge_id")
    ids = list(read_ids(asked.ids, release.topology))  # first: a table that cannot be read is said at once
    day = speeds_of(release, asked)
    if asked.night is not None:
        night = by_pair(speeds_of(release.at(asked.night), asked))
    else:
        night = by_pair(day) if release.period is None else {}
    constrained = by_pair(day)
    tiles: dict[tuple[int, int], dict[int, str]] = {}
    named = set()
    for place, pair, text in ids:
        level, tile, number = graph_id(text, place)
        if pair not in constrained:
            raise InputError(f"{place} names two nodes that no edge joins in this direction")
        rows = tiles.setdefault((level, tile), {})
        if number in rows:
            raise InputError(f"{place} names an edge of Valhalla for the second time")
        rows[number] = f"{level}/{tile}/{number},{night.get(pair, 0)},{constrained[pair]}\n"
        named.add(pair)
    with new_folder(path) as temporary:
        for (level, tile), rows in tiles.items():
            file = temporary / tile_file(level, tile)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("".join(rows[number] for number in sorted(rows)), encoding="ascii", newline="\n")
    count, left = sum(map(len, tiles.values())), len(constrained) - len(named)
    without = f", {left} edges without an id left out" if left else ""
    facts = {"speeds": count, "tiles": len(tiles), "cut": day.cut, "parallel": day.parallel, "without_id": left}
    return Written(f"{count} speeds in whole km/h in {len(tiles)} tiles{day.words}{without}", facts)


def by_pair(speeds: Speeds) -> dict[tuple[int, int], int]:
    """Speeds by the two positions between which they hold."""
    return dict(zip(zip(speeds.tails.tolist(), speeds.heads.tolist(), strict=True), speeds.kmh.tolist(), strict=True))


def graph_id(text: Any, place: str = "an id") -> tuple[int, int, int]:
    """Level, tile and number of an edge, from either form that Valhalla writes.

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
        raise InputError(f"{place} is no id of Valhalla such as 1/47701/130, for levels 0 to {max(DIGITS)}")
    return level, tile, number


def tile_file(level: int, tile: int) -> str:
    """Where Valhalla looks for the speeds of a tile.

    >>> tile_file(1, 47701), tile_file(2, 756425)
    ('1/047/701.csv', '2/000/756/425.csv')
    """
    digits = str(tile).zfill(DIGITS[level])
    return "/".join([str(level), *(digits[i : i + 3] for i in range(0, len(digits), 3))]) + ".csv"


FORMAT = Format(
    "valhalla",
    "a folder of speeds for `valhalla_add_predicted_traffic`",
    _write,
    takes=frozenset({"lengths", "crs", "ids", "night"}),
    unmarked="its lines are an id and two speeds",
    folder=True,
)
