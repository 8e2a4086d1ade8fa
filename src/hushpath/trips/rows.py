"""Tables of trips in the shapes owners have them, as one SQL query over canonical rows.

| shape | columns | a row is |
|---|---|---|
| long table | ``edge`` (from and to, or an id), ``seconds`` | one pass over one edge |
| visits | ``node``, ``time`` | a node entered at a time; the next one of the trip ends the pass |
| sequences | ``nodes`` with ``time`` or ``seconds`` (lists, or JSON text) | one trip |

The query is made of *declared* names only.  Every row is first brought to canonical values by itself
(``trips.values``); only then are tables joined.  Rows without a public edge, a key or a duration are dropped.

The day of a trip that is protected as a whole is the first day of all its rows, before any is dropped.  Otherwise a
row has its own day, and no pass is made of rows of two days.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np

from ..errors import NetworkError, OptionError
from ..network.topology import Topology
from .periods import Periods
from .tables import Table, quote_name
from .values import LARGEST_EXACT, canonical_key, clock_sql, day_sql, key_sql, list_sql, number_sql


class TripColumns(TypedDict, total=False):
    """The columns of a table of trips, by what they hold (``read_trips``)."""

    person: str | None
    day: str | None
    trip: str | None
    edge: str | Sequence[str] | None
    seconds: str | None
    node: str | None
    time: str | None
    nodes: str | None
    period: str | None


Named = dict[str, str]  # the columns that are named, by what they hold; ``edge`` is ``id``, or ``tail`` and ``head``
SHAPES = (
    {"id", "seconds"}, {"tail", "head", "seconds"}, {"node", "time"}, {"nodes", "time"}, {"nodes", "seconds"},
)  # fmt: skip
KEYS = ("person", "day", "trip")


def name_columns(columns: TripColumns) -> Named:
    """Return the columns by what they hold; refuse those that make no table of trips."""
    if unknown := next((name for name in columns if name not in TripColumns.__annotations__), None):
        raise OptionError(f"read_trips has no column {unknown!r}; it has: {', '.join(TripColumns.__annotations__)}")
    named: dict[str, Any] = {name: column for name, column in columns.items() if column is not None}
    edge = named.pop("edge", ())
    ends = (edge,) if isinstance(edge, str) else tuple(edge)
    named |= zip(("id",) if len(ends) == 1 else ("tail", "head", "more"), ends, strict=False)
    if not all(isinstance(column, str) and column for column in named.values()):
        raise OptionError("names of columns must be text")
    if named.keys() - {*KEYS, "period"} not in SHAPES:
        raise OptionError(
            "name the columns of one table shape: edge and seconds (a row per pass), node and time (a row per node), "
            "or nodes with time or seconds (a row per trip: lists)"
        )
    if "node" in named and "trip" not in named:
        raise OptionError("a row per node needs the `trip` column")
    return named


def check_types(tables: Sequence[Table], named: Named, periods: Periods, names: Sequence[str | None]) -> None:
    """Refuse ``tables`` with declared types that cannot hold what ``named`` says.  Frames declare no types.

    ``names`` are the public names of edges, nodes and periods.  Floats cannot hold every id: two persons may be one
    float.  Public names are known, so floats may hold them if all are small enough.
    """

    def columns(*holds: str) -> set[str]:
        return {named[name] for name in holds if name in named}

    persons, places = columns("person", "trip"), columns("id", "tail", "head", "node")
    stamps = columns("period") if periods.hours else set()
    places |= columns("period") - stamps
    lists = columns("nodes", "time", "seconds") if "nodes" in named else set()
    large = any(name is not None and name.lstrip("-").isdigit() and abs(int(name)) >= LARGEST_EXACT for name in names)
    for table in tables:
        for column, kind in table.kinds.items() if table.declared else ():
            problem = (
                "holds lists" if kind.endswith("[]") and column not in lists
                else "holds floats, and two ids may be the same float: write ids as text or as integers"
                if kind == "number" and (column in persons or (column in places and large))
                else "holds times, not seconds" if kind == "moment" and column in columns("seconds")
                else "holds numbers, and periods with hours need timestamps"
                if kind in ("whole", "number") and column in stamps
                else ""
            )  # fmt: skip
            if problem:
                raise NetworkError(f"column {column!r} of the trips {problem}")


def make_rows_query(
    tables: Sequence[Table], named: Named, periods: Periods, unit: tuple[str, ...], *, dates_as_numbers: bool
) -> str:
    """Return a query for (person, day, trip, edge, period, seconds) over ``tables``, registered as ``given0``, ...

    It joins the public table ``public_edges``.  ``named`` and ``periods`` say what the columns hold.  ``unit`` are the
    columns that protected units differ in: no row of the result is made of rows of two units.  With
    ``dates_as_numbers`` days are numbers such as 20261001.
    """
    rows = " UNION ALL ".join(
        _make_canonical_query(table, table.select(f"given{i}"), named, periods, dates_as_numbers=dates_as_numbers)
        for i, table in enumerate(tables)
    )
    known = [name for name in KEYS if name in named]
    if "trip" in unit and "day" in known:
        own = ", ".join(name for name in unit if name in known)
        rows = f"SELECT * REPLACE (min(day) OVER (PARTITION BY {own}) AS day) FROM ({rows})"
    if "node" in named:
        # Rows that are equal in all of these are one row twice: the order depends on the rows of the trip alone.
        rows = (
            "SELECT *, lead(tail) OVER trips AS head, lead(entered) OVER trips - entered AS took FROM ({rows}) "
            "WINDOW trips AS (PARTITION BY {within} ORDER BY entered, tail, {order})"
        ).format(rows=rows, within=", ".join(known), order=", ".join(["period", *known]))
    match = "rows.id = edges.id" if "id" in named else "rows.tail = edges.tail AND rows.head = edges.head"
    keys = ", ".join(f"{f'rows.{name}' if name in known else 'NULL'} AS {name}" for name in KEYS)
    return (
        f"SELECT {keys}, edges.edge AS edge, rows.period AS period, rows.took AS seconds "
        f"FROM ({rows}) AS rows JOIN public_edges AS edges ON {match} WHERE isfinite(rows.took)"
    )


def _make_canonical_query(table: Table, source: str, named: Named, periods: Periods, *, dates_as_numbers: bool) -> str:
    """Return a query for the canonical values of one table: person, day, trip, period, and the columns of its shape.

    ``source`` is the query for its rows; ``named``, ``periods`` and ``dates_as_numbers`` are as in ``make_rows_query``.
    """

    def of(rule: Any, name: str, **more: Any) -> Any:
        return rule(quote_name(named[name]), table.kinds[named[name]], **more)

    keys: dict[str, str] = {name: of(key_sql, name) for name in ("person", "trip") if name in named}
    if "day" in named:
        keys["day"] = of(day_sql, "day", dates_as_numbers=dates_as_numbers)
    keys["period"] = of(periods.sql, "period") if "period" in named else "0"
    own = ", ".join(f"{expression} AS {name}" for name, expression in keys.items())
    if "node" in named:
        return f"SELECT {own}, {of(key_sql, 'node')} AS tail, {of(clock_sql, 'time')} AS entered FROM ({source})"
    if "nodes" in named:
        nodes, kind = of(list_sql, "nodes")
        times, of_times = of(list_sql, "time" if "time" in named else "seconds")
        ends = f"unnest({nodes}[1:len({nodes}) - 1]) AS one, unnest({nodes}[2:]) AS other"
        took, clocks = number_sql("since", of_times), f"unnest({times}) AS since"
        if "time" in named:
            took = f"{clock_sql('until', of_times)} - {clock_sql('since', of_times)}"
            clocks = f"unnest({times}[1:len({times}) - 1]) AS since, unnest({times}[2:]) AS until"
        return (
            f"SELECT {', '.join(keys)}, {key_sql('one', kind)} AS tail, {key_sql('other', kind)} AS head, "
            f"{took} AS took FROM (SELECT {own}, {ends}, {clocks} FROM ({source}))"
        )
    edge = ", ".join(f"{of(key_sql, name)} AS {name}" for name in ("id", "tail", "head") if name in named)
    return f"SELECT {own}, {edge}, {of(number_sql, 'seconds')} AS took FROM ({source})"


def make_edge_table(topology: Topology, ids: list[Any] | None) -> dict[str, Any]:
    """Return the public table of edges by id, or by both ends; of parallel edges the fastest."""
    edge = np.arange(topology.num_edges)
    if ids is not None:
        names = [canonical_key(one) for one in ids]
        if len(names) != topology.num_edges or None in names or len(set(names)) != len(names):
            raise OptionError(
                f"`edge_ids` must be {topology.num_edges} different texts or integers, one per edge of the network "
                "(7.5 and 1e3 are neither, 7 and 07 are the same)"
            )
        return {"id": np.array(names, object), "edge": edge}
    names = [canonical_key(label) for label in topology.labels]
    if len(set(names)) != len(names) or None in names:
        same = next(label for i, label in enumerate(topology.labels) if names[i] is None or names.index(names[i]) < i)
        raise OptionError(
            f"node {str(same)[:60]!r} cannot be named in trips: its label is the same number as another one, or not a "
            "whole number"
        )
    labels = np.array(names, object)
    proxy = topology.proxy if topology.proxy is not None else np.zeros(topology.num_edges)
    tails, heads = topology.tails, topology.heads
    if not topology.directed:
        tails, heads, edge = np.append(tails, heads), np.append(heads, tails), np.tile(edge, 2)
    order = np.lexsort((edge, proxy[edge], heads, tails))
    first = np.ones(len(order), np.bool_)
    first[1:] = (tails[order][1:] != tails[order][:-1]) | (heads[order][1:] != heads[order][:-1])
    kept = order[first]
    return {"tail": labels[tails[kept]], "head": labels[heads[kept]], "edge": edge[kept]}
