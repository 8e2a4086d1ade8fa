"""Tables of trips in the shapes owners have them, as one SQL query over plain rows.

| shape | columns | a row is |
|---|---|---|
| long table | ``edge`` (from and to, or an id), ``seconds`` | one pass over one edge |
| visits | ``node``, ``time`` | a node entered at a time; the next one of the trip ends the pass |
| sequences | ``nodes`` with ``times`` or ``durations`` (lists, or JSON text) | one trip |

The query is put together from *declared* names only; what stands in the table decides nothing but the rows that come
out.  Values are cast with TRY_CAST, so that one that is no number, no date or no list is nothing, not an error: whether
it is there is private.  Rows that name no public edge, and rows that lack who, when or how long, do not come out.

Who went is told in one way: spaces around a text do not count, and 7, "7" and "7.0" are the same.  A day is a date or a
number of a day; anything finer (a time of day, seconds since 1970) would make one day many, so it is cut or left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import OptionError
from .periods import Periods
from .topology import Topology
from .trip_files import Source, name_of

MOST_DAYS = 10**8  # numbers of days, 20261001 among them, are below: seconds since 1970 are not
WHOLE = (
    "INTEGER",
    "BIGINT",
    "SMALLINT",
    "TINYINT",
    "HUGEINT",
    "UINTEGER",
    "UBIGINT",
    "USMALLINT",
    "UTINYINT",
    "UHUGEINT",
)
FLOAT = ("DOUBLE", "FLOAT")
REAL = (*FLOAT, "DECIMAL")
TIME = ("TIMESTAMP", "DATE")


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


def told_as(kind: str) -> str:
    """How a column is read: a type of numbers or times as it is, everything else as text."""
    return kind if kind.startswith((*WHOLE, *REAL, *TIME)) and not kind.endswith("]") else "VARCHAR"


def rows_query(source: Source, named: Named, topology: Topology, periods: Periods, unit: tuple[str, ...]) -> str:
    """A query for (person, day, trip, edge, period, seconds); it joins the public table ``public_edges``.

    ``unit`` are the columns that protected units differ in: no row that comes out is made of rows of two units.
    """
    types = source.types
    integers = topology.num_nodes > 0 and isinstance(topology.labels[0], int)

    def label(expression: str) -> str:
        return f"TRY_CAST({expression} AS BIGINT)" if integers else f"trim(CAST({expression} AS VARCHAR))"

    told = {name: _key(column, types[column]) for name in ("person", "trip") if (column := getattr(named, name))}
    if named.day is not None:
        told["day"] = _day(named.day, types[named.day])
    told["period"] = periods.sql(name_of(named.period)) if named.period is not None else "0"
    own = ", ".join(f"{expression} AS {name}" for name, expression in told.items())
    match = "rows.tail = edges.tail AND rows.head = edges.head"
    if named.node is not None and named.time is not None:
        inner = (
            f"SELECT {own}, {label(name_of(named.node))} AS tail, {_clock(named.time, types[named.time])} AS entered "
            f"FROM {source.table}"
        )
        within = ", ".join(name for name in dict.fromkeys(("person", "trip", *unit)) if name in told)
        # Rows that are equal in all of these are one row twice: the order depends on the rows of the trip alone.
        order = ", ".join(["entered", "tail", *told])
        table = (
            "SELECT *, lead(tail) OVER trips AS head, lead(entered) OVER trips - entered AS took "
            f"FROM ({inner}) WINDOW trips AS (PARTITION BY {within} ORDER BY {order})"
        )
    elif named.nodes is not None:
        nodes = _list(named.nodes, types[named.nodes], "VARCHAR")
        ends = f"unnest({nodes}[1:len({nodes}) - 1]) AS one, unnest({nodes}[2:]) AS other"
        if named.durations is not None:
            took = f"unnest({_list(named.durations, types[named.durations], 'DOUBLE')}) AS took"
            inner = f"SELECT {own}, {ends}, {took} FROM {source.table}"
        else:
            assert named.times is not None
            times = _list(named.times, types[named.times], "DOUBLE")
            inner = (
                f"SELECT *, until - since AS took FROM (SELECT {own}, {ends}, "
                f"unnest({times}[1:len({times}) - 1]) AS since, unnest({times}[2:]) AS until FROM {source.table})"
            )
        table = f"SELECT *, {label('one')} AS tail, {label('other')} AS head FROM ({inner})"
    else:
        assert named.seconds is not None
        took = f"TRY_CAST({name_of(named.seconds)} AS DOUBLE) AS took"
        if len(named.edge) == 2:
            tail, head = (label(name_of(end)) for end in named.edge)
            table = f"SELECT {own}, {tail} AS tail, {head} AS head, {took} FROM {source.table}"
        else:
            table = f"SELECT {own}, trim(CAST({name_of(named.edge[0])} AS VARCHAR)) AS id, {took} FROM {source.table}"
            match = "rows.id = edges.id"
    keys = ", ".join(f"{f'rows.{name}' if name in told else 'NULL'} AS {name}" for name in ("person", "day", "trip"))
    return (
        f"SELECT {keys}, edges.edge AS edge, rows.period AS period, rows.took AS seconds "
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


def _list(column: str, kind: str, item: str) -> str:
    """A column of lists, or of JSON text that holds one."""
    plain = name_of(column) if kind.endswith("]") else f"TRY_CAST({name_of(column)} AS JSON)"
    return f"TRY_CAST({plain} AS {item}[])"


def _clock(column: str, kind: str) -> str:
    """A time as seconds: a number, or a date with a time of day."""
    if kind.startswith(TIME):
        return f"epoch({name_of(column)})"
    number, stamp = f"TRY_CAST({name_of(column)} AS DOUBLE)", f"epoch(TRY_CAST({name_of(column)} AS TIMESTAMP))"
    return f"coalesce({number}, {stamp})" if told_as(kind) == "VARCHAR" else number


def _key(column: str, kind: str) -> str:
    """Who, or which trip: one spelling for each."""
    if told_as(kind) == "VARCHAR":
        whole = rf"regexp_replace(trim(CAST({name_of(column)} AS VARCHAR)), '^(-?[0-9]+)[.]0+$', '\1')"
        return f"nullif(regexp_replace({whole}, '^-0$', '0'), '')"
    if kind.startswith(FLOAT):  # what is no number is nobody, and there is one zero
        return f"CASE WHEN NOT isnan({name_of(column)}) THEN {name_of(column)} + 0 END"
    return name_of(column)


def _day(column: str, kind: str) -> str:
    """A day as a date or as a whole number; what is neither is no day."""
    if kind.startswith(TIME):
        return f"TRY_CAST({name_of(column)} AS DATE)"
    number = f"TRY_CAST(floor(TRY_CAST({name_of(column)} AS DOUBLE)) AS BIGINT)"
    whole = f"CASE WHEN {number} BETWEEN {1 - MOST_DAYS} AND {MOST_DAYS - 1} THEN {number} END"
    if told_as(kind) != "VARCHAR":
        return whole
    return f"CAST(coalesce(CAST(TRY_CAST({name_of(column)} AS DATE) AS VARCHAR), CAST({whole} AS VARCHAR)) AS VARCHAR)"
