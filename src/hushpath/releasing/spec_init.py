"""A first specification to review: from the names and types of columns only, never from a value.

Names are public facts of the layout.  What cannot be guessed from a name is left as a commented line to decide.
"""

from __future__ import annotations

import csv
import gzip
import os
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from ..errors import NetworkError
from .spec import toml_value
from .spec_help import HELP

GUESSES: dict[str, tuple[str, ...]] = {
    "network.source": ("source", "from", "u", "tail", "start", "from_node", "init_node", "from_osm_id"),
    "network.target": ("target", "to", "v", "head", "end", "to_node", "term_node", "to_osm_id"),
    "network.proxy": ("free_flow", "free_flow_time", "freeflow", "travel_time_free", "length", "length_m", "distance"),
    "weights.column": ("weight", "seconds", "minutes", "travel_time", "time", "duration", "latency", "load", "flow"),
    "trips.person": ("person", "person_id", "user", "user_id", "device", "device_id", "card", "rider"),
    "trips.day": ("day", "date", "trip_date", "service_date"),
    "trips.trip": ("trip", "trip_id", "ride_id", "journey", "journey_id"),
    "trips.seconds": ("seconds", "duration", "travel_time", "time_s", "secs"),
    "trips.period": ("period", "time_of_day", "peak"),
}
LONGEST_HEADER = 2**16  # bytes
ENDS = (("from", "to"), ("source", "target"), ("u", "v"), ("tail", "head"), ("from_node", "to_node"))
EDGE_IDS = ("edge", "edge_id", "link", "link_id", "way_id", "segment")


def initial_spec(network: Path, trips: Path | None, *, relative_to: Path) -> tuple[str, list[str]]:
    """Return the text of a specification, and the keys that are left to decide.

    Parameters
    ----------
    network
        The public network file.
    trips
        The private table of trips, if there is one.
    relative_to
        The folder that paths in the specification are relative to.
    """
    public = column_names(network)
    private = [] if trips is None else column_names(trips)
    lines = [
        "# What is released, from what, and to whom it is promised. Review every line: all of it but [expected] is",
        "# published with the release, file names included. Lines that begin with '# DECIDE' have no default.",
        "",
        "[network]  # public: every column named here is published",
        *_line("network.file", _path(network, relative_to)),
    ]
    source, target = _guess("network.source", public), _guess("network.target", public)
    lines += _line("network.source", source or "source", active=source not in (None, "source"))
    lines += _line("network.target", target or "target", active=target not in (None, "target"))
    lines += _line("network.directed", False, active=trips is not None and _directed(private), value=True)
    lines += _line("network.nodes", "nodes.csv", active=False)
    proxy = _guess("network.proxy", public)
    lines += _line("network.proxy", proxy or "free_flow", active=proxy is not None)
    open_keys: list[str] = []
    if public:
        lines.append(_listed(network, public))
    if trips is None:
        weight = _guess("weights.column", [name for name in public if name != proxy])
        lines += ["", "[weights]  # private", *_line("weights.column", weight or "weight", active=weight is not None)]
        lines += _line("weights.max_weight", 60.0, active=False)
        lines += _line("weights.mechanism", "auto", active=False)
        lines += ["", "[unit]  # who is protected", *_decide("unit.l1", 1.0), *_line("unit.l2", 1.0, active=False)]
        lines += _line("unit.population", 100_000, active=False)
        open_keys += ["unit.l1"] + ([] if weight else ["weights.column"])
    else:
        lines += ["", "[trips]  # private", *_line("trips.file", _path(trips, relative_to)), *_trip_lines(private)]
        lines += [*_decide("trips.low", 0.5), *_decide("trips.high", 6.0)]
        if private:
            lines.append(_listed(trips, private))
        lines += ["", "[unit]  # who is protected", *_decide("unit.protects", "person-day")]
        lines += _line("unit.days", "2026-10-01..2026-10-31", active=False)
        lines += _line("unit.population", 100_000, active=False)
        open_keys += ["trips.low", "trips.high", "unit.protects"]
        open_keys += [] if proxy else ["network.proxy (free-flow times)"]
    lines += ["", "[budget]", *_decide("budget.epsilon", 1.0), *_line("budget.delta", 1e-6)]
    open_keys.append("budget.epsilon")
    lines += ["", "#[ledger]  # adds up all releases of the same data"]
    lines += _line("ledger.file", "city.ledger", active=False)
    lines += ["", "#[quantity]"]
    for key, example in (("name", "travel time"), ("unit_of_measure", "seconds"), ("date", "2026-03"),
                         ("publisher", "City"), ("dataset", "city")):  # fmt: skip
        lines += _line(f"quantity.{key}", example, active=False)
    lines += ["", "#[expected]  # public guesses for `hushpath plan`, never computed from the private data"]
    if trips is None:
        lines += _line("expected.typical_weight", [15, 40], active=False)
    else:
        lines += [*_line("expected.units", 35_000, active=False), *_line("expected.edges_per_unit", 80, active=False)]
        lines += ["", "#[schedule]  # for `hushpath series`"]
        lines += _line("schedule.first", "2026-01-01", active=False)
        lines += [*_line("schedule.every", "month", active=False), *_line("schedule.count", 12, active=False)]
    return "\n".join(lines) + "\n", open_keys


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a file, or of the first part of a folder; none if its format has no header.

    A header line, a schema or a table definition is read, and nothing behind it.
    """
    if path.is_dir():
        parts = sorted(part for part in path.iterdir() if part.suffix.lower() in (".parquet", ".csv", ".tsv"))
        return column_names(parts[0]) if parts else []
    if not path.is_file():
        raise NetworkError(f"{path}: not found")
    name = path.name.lower().removesuffix(".gz")
    try:
        if name.endswith(".parquet"):
            from pyarrow.parquet import read_schema

            return [str(name) for name in read_schema(path).names]
        if name.endswith((".csv", ".tsv")):
            with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as file:
                header = file.readline(LONGEST_HEADER).decode("utf-8-sig")  # bytes: no other line is decoded
            names = next(csv.reader([header], delimiter="\t" if name.endswith(".tsv") else ","), [])
            return [name.strip() for name in names]
        if name.endswith(".gpkg"):
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
                return [str(row[1]) for row in connection.execute("PRAGMA table_info(edges)")]
    except (OSError, EOFError, ValueError, zlib.error, csv.Error, sqlite3.Error):  # they may quote what they found
        pass
    else:
        return []
    raise NetworkError(f"cannot read the column names of {path}")


def _trip_lines(names: list[str]) -> list[str]:
    lines: list[str] = []
    for key, example in (("person", "person"), ("day", "date"), ("trip", "trip_id")):
        found = _guess(f"trips.{key}", names)
        lines += _line(f"trips.{key}", found or example, active=found is not None)
    low = {name.lower(): name for name in names}
    ends = next(([low[a], low[b]] for a, b in ENDS if a in low and b in low), None)
    one = next((low[name] for name in EDGE_IDS if name in low), None)
    edge = ends or ([one] if one else None)
    lines += _line("trips.edge", edge or ["from", "to"], active=edge is not None)
    seconds = _guess("trips.seconds", names)
    lines += _line("trips.seconds", seconds or "seconds", active=seconds is not None)
    period = _guess("trips.period", names)
    lines += _line("trips.period", period or "period", active=False)
    return [*lines, *_line("trips.periods", ["am", "pm"], active=False)]


def _listed(path: Path, names: list[str]) -> str:
    """A comment; names are escaped, so that none can end it."""
    return f"# columns of {toml_value(path)}: {', '.join(toml_value(name[:100]) for name in names[:40])}"


def _guess(key: str, names: Iterable[str]) -> str | None:
    low = {name.lower(): name for name in names}
    return next((low[guess] for guess in GUESSES[key] if guess in low), None)


def _directed(names: list[str]) -> bool:
    return any(a in {name.lower() for name in names} for a, _ in ENDS[:1])


def _line(key: str, example: object, *, active: bool = True, value: object = None) -> list[str]:
    name = key.partition(".")[2]
    text = f"{name} = {toml_value(example if value is None else value)}"
    return [f"{text if active else f'#{text}'}  # {HELP[key]}"]


def _decide(key: str, example: object) -> list[str]:
    return [f"# DECIDE {key.partition('.')[2]} = {toml_value(example)}  # {HELP[key]}"]


def _path(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path.absolute(), folder)).as_posix()
