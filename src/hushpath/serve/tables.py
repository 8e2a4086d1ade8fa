"""Distance tables over HTTP: media types, and how many distances are computed before they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..kernels.minplus import LANES
from ..kernels.paths import THREADS
from ..output.distance_table import DistanceTable
from ..output.encode import encode
from .catalog import ServedRelease

MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
}
BLOCK, INTERVAL_BLOCK = 2**21, 2**17  # distances computed at a time
MOST_BLOCK = 2**23  # and never more: 64 MB, of which a stream keeps three
TOGETHER = LANES * THREADS  # rows that the index computes side by side


def stream_table(served: ServedRelease, table: DistanceTable, form: str) -> Iterator[Any]:
    """Return the bytes of a table, block by block; refuse at once what the format cannot hold."""
    cells = min(max(BLOCK, TOGETHER * table.shape[1]), MOST_BLOCK) if table.confidence is None else INTERVAL_BLOCK
    return _when_ready(served, table, encode(table, form, cells))


def _when_ready(served: ServedRelease, table: DistanceTable, pieces: Iterator[Any]) -> Iterator[Any]:
    if table.confidence is not None:
        served.require_intervals()
    yield from pieces
