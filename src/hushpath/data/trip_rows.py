"""Tables of trips in the shapes owners have them, as one SQL query over plain rows.

| shape | columns | a row is |
|---|---|---|
| long table | ``edge`` (from and to, or an id), ``seconds`` | one pass over one edge |
| visits | ``node``, ``time`` | a node entered at a time; the next one of the trip ends the pass |
| sequences | ``nodes`` with ``times`` or ``durations`` (lists, or JSON text) | one trip |

The query is put together from *declared* names only; what stands in the table decides nothing but the rows that come
out.  Values are cast with TRY_CAST, so that one that is no number, no date or no list is nothing, not an error: whether
it is there is private.  Rows that name no public edge, and rows that lack who, when or how long, do not come out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NetworkError, OptionError
from .columns import choose_columns
from .periods import Periods, quoted
from .readers.core import shown
from .topology import Topology

if TYPE_CHECKING:
    import duckdb

MEMORY = "3GB"  # beyond, the engine works on disk
SUFFIXES = {
    ".parquet": "read_parquet({files}, union_by_name = true)",
    ".csv": "read_csv({files}, all_varchar = true, header = true, ignore_errors = true, union_by_name = true)",
    ".jsonl": "read_json({files}, format = 'newline_delimited', ignore_errors = true, union_by_name = true)",
}
SUFFIXES |= {".tsv": SUFFIXES[".csv"], ".ndjson": SUFFIXES[".jsonl"]}
WHAT = "the table of trips"


@dataclass(frozen=True, eq=False)
class Named:
    """The columns that were named, by what they hold; ``edge`` is one column or two."""

    person: str | None
    day: str | None
    trip: str | None
    edge: tuple[str, ...]
    seconds: str | None
    node: str | None
    time: str | None
    nodes: str | None
    times: str | None
    durations: str | None
    period: str | None

    @property
    def all(self) -> list[str]:
        """Every column that is needed."""
        single = (getattr(self, name) for name in self.__dataclass_fields__ if name != "edge")
        return list(dict.fromkeys([*self.edge, *(name for name in single if name is not None)]))


@contextmanager
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    """A fresh engine that installs nothing; what does not fit in memory goes to a folder that only its owner reads."""
    import duckdb

    with TemporaryDirectory(prefix="hushpath-") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": MEMORY, "temp_directory": folder, "preserve_insertion_order": False,
            "autoinstall_known_extensions": False, "autoload_known_extensions": False,
        }  # fmt: skip
        with duckdb.connect(":memory:", config=settings) as opened:
            opened.execute("SET TimeZone = 'UTC'")  # a day of a time with a zone does not depend on this machine's
            yield opened


def source_of(given: Any) -> tuple[str, Any]:
    """How the engine names a table, and the data frame behind it, if it is one."""
    if not isinstance(given, (str, PathLike)):
        if not hasattr(given, "columns") and not hasattr(given, "column_names"):
            raise NetworkError(f"trips are a file, a folder of parts or a data frame, not {type(given).__name__}")
        return "given", given
    path = Path(fspath(given))
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    parts = [file for file in files if file.suffix.lower() in SUFFIXES and not file.name.startswith((".", "_"))]
    if not parts:
        listed = ", ".join(SUFFIXES)
        raise NetworkError(f"{shown(given)} is no file, and no folder of files, with one of the suffixes {listed}")
    kinds = {SUFFIXES[file.suffix.lower()] for file in parts}
    if len(kinds) > 1:
        raise NetworkError(f"{shown(given)} holds files of different kinds; keep the trips in a folder of their own")
    missing = next((file for file in parts if not file.is_file()), None)
    if missing is not None:
        raise NetworkError(f"cannot read {shown(missing)}: there is no such file")
    # The engine reads patterns in names: brackets keep their meaning as plain letters only if they are escaped.
    names = ", ".join(quoted("".join(f"[{c}]" if c in "*?[" else c for c in fspath(file))) for file in parts)
    return kinds.pop().format(files=f"[{names}]"), None


def column_types(source: str, frame: Any, needed: list[str]) -> dict[str, str]:
    """The type of each needed column; refuses a table that lacks one.  Reads no value."""
    with connection() as engine:
        if frame is not None:
            engine.register("given", frame)
        trouble = False
        try:
            found = {row[0]: str(row[1]) for row in engine.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        except Exception:  # what the engine says may quote a value
            trouble = True
    if trouble:
        raise NetworkError(f"{WHAT} cannot be read; is each file whole, with a first line that names its columns?")
    choose_columns(list(found), WHAT, needed)
    return {name: found[name] for name in needed}


def rows_query(source: str, types: Mapping[str, str], named: Named, topology: Topology, periods: Periods) -> str:
    """A query for (person, day, trip, edge, period, seconds); it joins the public table ``public_edges``."""
    kept = {"person": named.person, "day": named.day, "trip": named.trip, "period": named.period}
    own = ", ".join(f"{_name(column)} AS {name}" for name, column in kept.items() if column is not None)
    integers = topology.num_nodes > 0 and isinstance(topology.labels[0], int)

    def label(expression: str) -> str:
        return f"TRY_CAST({expression} AS BIGINT)" if integers else f"trim(CAST({expression} AS VARCHAR))"

    own = own and own + ", "
    if named.node is not None and named.time is not None:
        order = f"(PARTITION BY {_trip_of(named)} ORDER BY entered)"
        inner = (
            f"SELECT {own}{_name(named.node)} AS node, {_clock(named.time, types[named.time])} AS entered FROM {source}"
        )
        table = (
            f"SELECT *, {label('node')} AS tail, {label('(lead(node) OVER trips)')} AS head, "
            f"lead(entered) OVER trips - entered AS took FROM ({inner}) WINDOW trips AS {order}"
        )
        match = "rows.tail = edges.tail AND rows.head = edges.head"
    elif named.nodes is not None:
        nodes = _list(named.nodes, types[named.nodes], "VARCHAR")
        ends = f"unnest({nodes}[1:len({nodes}) - 1]) AS one, unnest({nodes}[2:]) AS other"
        if named.durations is not None:
            took = f"unnest({_list(named.durations, types[named.durations], 'DOUBLE')}) AS took"
            inner = f"SELECT {own}{ends}, {took} FROM {source}"
        else:
            assert named.times is not None
            times = _list(named.times, types[named.times], "DOUBLE")
            inner = (
                f"SELECT *, until - since AS took FROM (SELECT {own}{ends}, "
                f"unnest({times}[1:len({times}) - 1]) AS since, unnest({times}[2:]) AS until FROM {source})"
            )
        table = f"SELECT *, {label('one')} AS tail, {label('other')} AS head FROM ({inner})"
        match = "rows.tail = edges.tail AND rows.head = edges.head"
    else:
        assert named.seconds is not None
        took = f"TRY_CAST({_name(named.seconds)} AS DOUBLE) AS took"
        if len(named.edge) == 2:
            tail, head = (label(_name(end)) for end in named.edge)
            table = f"SELECT {own}{tail} AS tail, {head} AS head, {took} FROM {source}"
            match = "rows.tail = edges.tail AND rows.head = edges.head"
        else:
            table = f"SELECT {own}trim(CAST({_name(named.edge[0])} AS VARCHAR)) AS id, {took} FROM {source}"
            match = "rows.id = edges.id"
    day = "NULL" if named.day is None else _day("rows.day", types[named.day])
    person, trip = (f"rows.{name}" if kept[name] is not None else "NULL" for name in ("person", "trip"))
    return (
        f"SELECT {person} AS person, {day} AS day, {trip} AS trip, edges.edge AS edge, "
        f"{periods.sql('rows.period')} AS period, rows.took AS seconds "
        f"FROM ({table}) AS rows JOIN public_edges AS edges ON {match} "
        "WHERE rows.took IS NOT NULL AND NOT isnan(rows.took)"
    )


def edge_table(topology: Topology, ids: list[Any] | None) -> dict[str, Any]:
    """The public table that names edges: by both ends, or by id.  Of parallel edges the first stands for its ends."""
    edge = np.arange(topology.num_edges)
    if ids is not None:
        if len(ids) != topology.num_edges or len({str(one).strip() for one in ids}) != len(ids):
            raise OptionError(f"edge ids must be {topology.num_edges} different ones, one per edge of the network")
        return {"id": np.array([str(one).strip() for one in ids], object), "edge": edge}
    labels = np.array(topology.labels, np.int64 if topology.labels and isinstance(topology.labels[0], int) else object)
    proxy = topology.proxy if topology.proxy is not None else np.zeros(topology.num_edges)
    tails, heads = topology.tails, topology.heads
    if not topology.directed:
        tails, heads, edge = np.append(tails, heads), np.append(heads, tails), np.tile(edge, 2)
    order = np.lexsort((edge, proxy[edge], heads, tails))  # of parallel edges the quickest, by public times
    first = np.ones(len(order), np.bool_)
    first[1:] = (tails[order][1:] != tails[order][:-1]) | (heads[order][1:] != heads[order][:-1])
    kept = order[first]
    return {"tail": labels[tails[kept]], "head": labels[heads[kept]], "edge": edge[kept]}


def _trip_of(named: Named) -> str:
    return ", ".join(name for name in ("person", "trip") if getattr(named, name) is not None)


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _list(column: str, kind: str, item: str) -> str:
    """A column of lists, or of JSON text that holds one."""
    plain = kind.endswith("[]")
    return f"TRY_CAST({_name(column) if plain else f'TRY_CAST({_name(column)} AS JSON)'} AS {item}[])"


def _clock(column: str, kind: str) -> str:
    """A time as seconds: a number, or a date with a time of day."""
    if kind.startswith("TIMESTAMP"):
        return f"epoch({_name(column)})"
    number, stamp = f"TRY_CAST({_name(column)} AS DOUBLE)", f"epoch(TRY_CAST({_name(column)} AS TIMESTAMP))"
    return f"coalesce({number}, {stamp})" if kind == "VARCHAR" else number


def _day(column: str, kind: str) -> str:
    """A day as a date where it is one, else as it stands (the number of a day, say)."""
    if kind.startswith("TIMESTAMP") or kind == "DATE":
        return f"CAST({column} AS DATE)"
    if kind == "VARCHAR":
        return f"coalesce(CAST(TRY_CAST({column} AS DATE) AS VARCHAR), trim({column}))"
    return column
