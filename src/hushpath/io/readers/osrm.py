"""Speeds for OSRM: lines ``from_osm_id,to_osm_id,speed in km/h[,rate[,anything]]`` without a header.

Only the public half can be read: directed segments between OSM nodes.  A speed does not add up along a path, and the
file has no lengths: divide lengths in metres by speeds in metres per second and pass the result as a table of edges.

The segments of the file are published.  A file of the segments that were driven along is private: what it leaves out
tells where no one was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import IO

from ...errors import NetworkError
from ...network.labels import canonical_integer
from ...network.table import Table
from .base import Reader
from .edge_lists import text_rows, text_table


def _read(raw: IO[bytes], what: str, needed: list[str], _: tuple[str, ...]) -> Table:
    return replace(text_table(_rows(raw, what, needed), what, needed), directed=True)


def _rows(raw: IO[bytes], what: str, needed: list[str]) -> Iterator[list[str]]:
    """Yield the names of the four columns, then every row; fields behind the rate are ignored."""
    yield [*needed[:2], "speed", "rate"]
    for row, fields in enumerate(text_rows(raw, what, nul=False), 1):
        if not fields:
            raise NetworkError(f"{what} is an empty file")
        if len(fields) < 3 or not all(canonical_integer(end.strip()) for end in fields[:2]):
            raise NetworkError(f"row {row} of {what} does not begin with two OSM node ids and a speed")
        yield [*fields, ""][:4]


NO_WEIGHTS = (
    "a speed does not add up along a path, and OSRM speeds come without lengths; read_topology takes the segments, "
    "seconds (metres / km/h * 3.6) are weights"
)
OSRM = Reader("osrm", "OSRM speeds", (".osrm.csv",), _read, nodes=False, no_weights=NO_WEIGHTS)
