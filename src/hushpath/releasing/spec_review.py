"""For those who review specifications: a first one to edit, and what changed between two.

A first specification is made from the names and types of columns only, never from a value: names are public facts of
the layout.  What cannot be guessed from a name is left as a commented line to decide.  Changes are listed with what
they mean: those of the promise first, then of the data, then the rest.
"""

from __future__ import annotations

import csv
import gzip
import math
import os
import sqlite3
import zlib
from collections.abc import Sequence
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import NetworkError, OptionError
from ..privacy.units import Protects
from ..published.promise import odds_factor
from ..published.release import load
from .spec import PUBLISHED_SECTIONS, SECTIONS, ReleaseSpec, inputs, make_spec, read_spec
from .spec_text import KEYS, parse_toml, toml_value

GUESSES: dict[str, tuple[str, ...]] = {  # names of columns, in lower case
    "network.source": ("source", "from", "u", "tail", "start", "from_node", "init_node", "from_osm_id"),
    "network.target": ("target", "to", "v", "head", "end", "to_node", "term_node", "to_osm_id"),
    "network.proxy": ("free_flow", "free_flow_time", "freeflow", "travel_time_free", "length", "length_m", "distance"),
    "weights.column": ("weight", "seconds", "minutes", "travel_time", "time", "duration", "latency", "load", "flow"),
    "trips.person": ("person", "person_id", "user", "user_id", "device", "device_id", "card", "rider"),
    "trips.day": ("day", "date", "trip_date", "service_date"),
    "trips.trip": ("trip", "trip_id", "ride_id", "journey", "journey_id"),
    "trips.seconds": ("seconds", "duration", "travel_time", "time_s", "secs"),
}
ENDS = (("from", "to"), ("source", "target"), ("u", "v"), ("tail", "head"), ("from_node", "to_node"))
EDGE_IDS = ("edge", "edge_id", "link", "link_id", "way_id", "segment")
LONGEST_HEADER = 2**16  # bytes
# The keys of a first specification, section by section; those in DECIDE have no default.
NETWORK = [f"network.{key}" for key in ("file", "source", "target", "directed", "nodes", "proxy")]
ABOUT = [f"quantity.{key}" for key in ("name", "unit_of_measure", "date", "publisher", "dataset")]
PROMISE_KEYS = ["unit.population", "budget.epsilon", "budget.delta", "ledger.file", *ABOUT]
WEIGHT_KEYS = [
    *NETWORK, "weights.column", "weights.max_weight", "weights.mechanism", "unit.l1", "unit.l2", *PROMISE_KEYS,
    "expected.typical_weight",
]  # fmt: skip
TRIP_KEYS = [
    *NETWORK, "trips.file", "trips.person", "trips.day", "trips.trip", "trips.edge", "trips.seconds", "trips.period",
    "trips.periods", "trips.low", "trips.high", "unit.protects", "unit.days", *PROMISE_KEYS, "expected.units",
    "expected.edges_per_unit", "schedule.first", "schedule.every", "schedule.count",
]  # fmt: skip
DECIDE = ("trips.low", "trips.high", "unit.l1", "unit.protects", "budget.epsilon")
HEADINGS = {
    "network": "public: every column named here is published", "weights": "private", "trips": "private",
    "unit": "who is protected", "ledger": "adds up all releases of the same data",
    "expected": "public guesses for `hushpath plan`, never computed from the private data",
    "schedule": "for `hushpath series`",
}  # fmt: skip
PREAMBLE = """\
# What is released, from which data, and who is protected. Review every line: all of it but [expected] is
# published with the release, file names included. Lines that begin with '# DECIDE' have no default, and
# their values are examples: choose a value, then delete '# DECIDE'. A '#' alone marks an optional key.
"""
PROMISE, PUBLISHED, PRIVATE, OTHER = "promise", "published data", "private data", "other"
TOPICS = {
    "unit": PROMISE, "budget": PROMISE, "ledger": PROMISE, "network": PUBLISHED, "quantity": PUBLISHED,
    "trips": PRIVATE, "weights": PRIVATE,
}  # fmt: skip
SIZE = {Protects.TRIP: 0, Protects.PERSON_DAY: 1, Protects.PERSON: 2}


def initial_spec(network: Path, trips: Path | None, *, relative_to: Path) -> tuple[str, list[str]]:
    """Return the text of a specification of a public network file and perhaps a private table of trips.

    Paths are relative to the folder ``relative_to``.  Also return the keys that are left to decide.
    """
    tables = {"network": network} if trips is None else {"network": network, "trips": trips}
    columns = {section: column_names(path) for section, path in tables.items()}
    columns["weights"] = [name for name in columns["network"] if name != _guess("network.proxy", columns["network"])]
    found: dict[str, Any] = {key: _guess(key, columns.get(key.partition(".")[0], ())) for key in GUESSES}
    for section, path in tables.items():
        found[f"{section}.file"] = Path(os.path.relpath(path.absolute(), relative_to)).as_posix()
    found["trips.edge"] = _guess_edge(columns.get("trips", ()))
    found["network.directed"] = "from" in map(str.lower, columns.get("trips", ())) or None
    found["budget.delta"] = KEYS["budget.delta"].example
    lines, undecided = [PREAMBLE], []
    for section, keys in groupby(WEIGHT_KEYS if trips is None else TRIP_KEYS, lambda key: key.partition(".")[0]):
        rows, active = [], section == "weights"  # required, though it may be empty
        for key in keys:
            value = found.get(key)
            mark = "# DECIDE " if key in DECIDE else "#" if value is None else ""
            active |= mark != "#"
            shown = toml_value(KEYS[key].example if value is None else value)
            rows.append(f"{mark}{key.partition('.')[2]} = {shown}  # {KEYS[key].help}")
            undecided += [key] if key in DECIDE or (key == "weights.column" and value is None) else []
        comment = f"  # {HEADINGS[section]}" if section in HEADINGS else ""
        lines += [f"{'' if active else '#'}[{section}]{comment}", *rows]
        if names := columns[section] if section in tables else []:  # escaped, so that none can end the comment
            some = ", ".join(toml_value(name[:100]) for name in names[:40])
            lines.append(f"# columns of {toml_value(tables[section])}: {some}")
        lines.append("")
    if trips is not None and found["network.proxy"] is None:
        undecided.append("network.proxy (free-flow times)")
    return "\n".join(lines), undecided


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


def _guess(key: str, names: Sequence[str]) -> str | None:
    low = {name.lower(): name for name in names}
    return next((low[guess] for guess in GUESSES[key] if guess in low), None)


def _guess_edge(names: Sequence[str]) -> list[str] | None:
    low = {name.lower(): name for name in names}
    known = [*ENDS, *((name,) for name in EDGE_IDS)]
    return next(([low[name] for name in those] for those in known if all(name in low for name in those)), None)


class Change(NamedTuple):
    """One key that differs, and what that means."""

    about: str
    key: str
    before: Any
    after: Any
    meaning: str

    def __str__(self) -> str:
        values = f"{_format(self.before)} -> {_format(self.after)}"
        return f"{self.about}: {self.key}: {values}{f' ({self.meaning})' if self.meaning else ''}"


def read_any_spec(path: Path) -> ReleaseSpec:
    """Read a specification file, or the specification that a release file embeds."""
    if path.suffix.lower() == ".toml":
        return read_spec(path)
    text = load(path, index=False).statement.specification
    if not text:
        raise OptionError(f"{path} embeds no specification: it was made in Python")
    return make_spec(parse_toml(text))


def compare_specs(before: ReleaseSpec, after: ReleaseSpec, *, published: bool = False) -> list[Change]:
    """Return every key that differs, those of the promise first; ``published`` leaves out what is not embedded."""
    sections = PUBLISHED_SECTIONS if published else tuple(SECTIONS)
    one, other = _flat(before, sections), _flat(after, sections)
    found = [
        Change(TOPICS.get(key.partition(".")[0], OTHER), key, one.get(key), other.get(key), _meaning(key, one, other))
        for key in dict.fromkeys([*one, *other])
        if one.get(key) != other.get(key)
    ]
    return sorted(found, key=lambda change: (PROMISE, PUBLISHED, PRIVATE, OTHER).index(change.about))


def _flat(spec: ReleaseSpec, sections: tuple[str, ...]) -> dict[str, Any]:
    chosen = [(name, getattr(spec, name)) for name in sections]
    return {
        f"{name}.{key}": value.name if isinstance(value, Path) else value
        for name, section in chosen
        if section is not None
        for key, value in inputs(section).items()
    }


def _meaning(key: str, one: dict[str, Any], other: dict[str, Any]) -> str:
    """Say what a change means for those who are protected."""
    before: Any = one.get(key)
    after: Any = other.get(key)
    if ("unit.protects" in one) != ("unit.protects" in other) and key.startswith("unit."):
        return "another kind of protected unit: the two promises cannot be compared"
    if key == "budget.epsilon":
        factors = f"an observer's odds change at most {odds_factor(after)} times, before {odds_factor(before)}"
        return _protection(after < before, "NOT PRIVATE" if after == math.inf else factors)
    if key == "budget.delta":
        return _protection(after < before)
    if key in ("unit.l1", "unit.l2"):  # without a bound in L2 norm, all changes within the L1 norm are protected
        larger = before is not None and (after is None or after > before)
        return _protection(larger, f"{'larger' if larger else 'smaller'} changes of the weights are protected")
    if key == "unit.protects":
        return _protection(SIZE[after] > SIZE[before], f"one unit is a {after}")
    if key == "unit.neighbours":
        return _protection(after == "replace", f"exchanging a unit counts as {1 if after == 'replace' else 2} changes")
    if key == "ledger.file":
        if before and after:
            return "charged to another ledger; earlier releases are not added up with it"
        return f"{'' if after else 'no ledger: '}releases of the same data are {'' if after else 'not '}added up"
    return KEYS[key].change


def _protection(stronger: bool, reason: str = "") -> str:
    return f"{'stronger' if stronger else 'weaker'} protection{f': {reason}' if reason else ''}"


def _format(value: Any) -> str:
    return "not set" if value is None else toml_value(value)
