"""What one request may take: enough for honest work, too little to hurt anybody."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..errors import OptionError


@dataclass(frozen=True)
class Limits:
    """Bounds of every request; more is refused with a plain answer.

    Attributes:
        cells: of one matrix.
        interval_cells: of one matrix with intervals, which take much longer.
        table_cells: of one OSRM table, which is one JSON document and not streamed.
        nodes: listed by one request.
        body_bytes: of a request's body.
        held_bytes: of all bodies larger than 64 kB that are being received or answered; others are told to come back.
        header_bytes: of its first line and headers.
        heavy: matrices, isochrones and tables of metres at work at once; others are told to come back (503).
        waiting: smaller requests (a search, an OSRM table) that may wait for a thread; others are told to come back.
        threads: that do such work.
        connections: open at once.
        request_seconds: for a request to arrive as a whole.
        stall_seconds: that a reader may let an answer wait.
        stream_seconds: of a stream as a whole.
        steps: of one isochrone request.
        waypoints: of one route.
    """

    cells: int = 100_000_000
    interval_cells: int = 1_000_000
    table_cells: int = 250_000
    nodes: int = 100_000
    body_bytes: int = 2**20
    held_bytes: int = 32 * 2**20
    header_bytes: int = 64 * 2**10
    heavy: int = 4
    waiting: int = 64
    threads: int = 2
    connections: int = 500
    request_seconds: float = 20.0
    stall_seconds: float = 10.0
    stream_seconds: float = 600.0
    steps: int = 10
    waypoints: int = 25

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = isinstance(field.default, int)
            if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not 0 < value < 1e15:
                kind = "a whole number" if whole else "a number"
                raise OptionError(f"limit {field.name!r} must be {kind} above 0")
