"""Tables of trips in the shapes owners have them, as one SQL query over canonical rows.

| shape | columns | a row is |
|---|---|---|
| long table | ``edge`` (from and to, or an id), ``seconds`` | one pass over one edge |
| visits | ``node``, ``time`` | a node entered at a time; the next one of the trip ends the pass |
| sequences | ``nodes`` with ``times`` or ``durations`` (lists, or JSON text) | one trip |

The query is made of *declared* names only.  Every row is first brought to canonical values by itself
(``trips.values``); only then are tables joined.  Rows without a public edge, a key or a duration are dropped.

The day of a trip that is protected as a whole is the first day of all its rows, before any is dropped.  Otherwise a
row has its own day, and no pass is made of rows of two days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import NetworkError, OptionError
from ..network.topology import Topology
from .periods import Periods
from .tables import Table, name_of
from .values import LARGEST_EXACT, canonical_key, clock, day, items, key, number


@dataclass(frozen=True, eq=False)
class TripColumns:
    """The named columns, by what they hold; ``edge`` is one column or two."""

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
        """Every named column, once."""
        single = (getattr(self, name) for name in self.__dataclass_fields__ if name != "edge")
        return list(dict.fromkeys([*self.edge, *(name for name in single if name is not None)]))


def check_types(tables: Sequence[Table], named: TripColumns, periods: Periods, names: Sequence[str | None]) -> None:
    """Refuse declared types that cannot hold what a column is named for.  Frames declare no types.

    Floats cannot hold every id: two persons may be one float.  Public names are known, so floats may hold them if all
    are small enough.
    """
    numbers = {name for name in (named.seconds,) if name is not None}
    stamps = {named.period} if periods.hours else set()
    persons = {named.person, named.trip}
    places = {*named.edge, named.node} | (set() if periods.hours else {named.period})
    large = any(name is not None and name.lstrip("-").isdigit() and abs(int(name)) >= LARGEST_EXACT for name in names)
    for table in tables:
        for column, kind in table.kinds.items() if table.declared else ():
            lists = column in (named.nodes, named.times, named.durations)
            problem = (
                "holds lists" if kind.endswith("[]") and not lists
                else "holds floats, and two ids may be the same float: write ids as text or as integers"
                if kind == "number" and (column in persons or (column in places and large))
                else "holds times, not seconds" if kind == "moment" and column in numbers
                else "holds numbers, and periods with hours need timestamps"
                if kind in ("whole", "number") and column in stamps
                else ""
            )  # fmt: skip
            if problem:
                raise NetworkError(f"column {column!r} of the trips {problem}")


def rows_query(
    tables: Sequence[Table], named: TripColumns, periods: Periods, unit: tuple[str, ...], *, dates_as_numbers: bool
) -> str:
    """Return a query for (person, day, trip, edge, period, seconds) over tables ``given0``, ``given1``, ...

    It joins the public table ``public_edges``.  ``unit`` are the columns that protected units differ in: no row of the
    result is made of rows of two units.  With ``dates_as_numbers`` days are numbers such as 20261001.
    """
    rows = " UNION ALL ".join(
        _canonical(table, table.select(f"given{i}"), named, periods, dates_as_numbers=dates_as_numbers)
        for i, table in enumerate(tables)
    )
    known = [name for name in ("person", "day", "trip") if getattr(named, name) is not None]
    if "trip" in unit and "day" in known:
        own = ", ".join(name for name in unit if name in known)
        rows = f"SELECT * REPLACE (min(day) OVER (PARTITION BY {own}) AS day) FROM ({rows})"
    if named.node is not None:
        # Rows that are equal in all of these are one row twice: the order depends on the rows of the trip alone.
        rows = (
            "SELECT *, lead(tail) OVER trips AS head, lead(entered) OVER trips - entered AS took FROM ({rows}) "
            "WINDOW trips AS (PARTITION BY {within} ORDER BY entered, tail, {order})"
        ).format(rows=rows, within=", ".join(known), order=", ".join(["period", *known]))
    match = "rows.id = edges.id" if len(named.edge) == 1 else "rows.tail = edges.tail AND rows.head = edges.head"
    keys = ", ".join(f"{f'rows.{name}' if name in known else 'NULL'} AS {name}" for name in ("person", "day", "trip"))
    return (
        f"SELECT {keys}, edges.edge AS edge, rows.period AS period, rows.took AS seconds "
        f"FROM ({rows}) AS rows JOIN public_edges AS edges ON {match} WHERE isfinite(rows.took)"
    )


def _canonical(table: Table, source: str, named: TripColumns, periods: Periods, *, dates_as_numbers: bool) -> str:
    """Return a query for the canonical values of one table: person, day, trip, period, and the columns of its shape."""

    def of(rule: Any, column: str | None, **more: Any) -> str:
        assert column is not None
        return str(rule(name_of(column), table.kinds[column], **more))

    keys = {name: of(key, column) for name in ("person", "trip") if (column := getattr(named, name))}
    if named.day is not None:
        keys["day"] = of(day, named.day, dates_as_numbers=dates_as_numbers)
    keys["period"] = of(periods.sql, named.period) if named.period is not None else "0"
    own = ", ".join(f"{expression} AS {name}" for name, expression in keys.items())
    if named.node is not None:
        return f"SELECT {own}, {of(key, named.node)} AS tail, {of(clock, named.time)} AS entered FROM ({source})"
    if named.nodes is not None:
        nodes, kind = items(name_of(named.nodes), table.kinds[named.nodes])
        ends = f"unnest({nodes}[1:len({nodes}) - 1]) AS one, unnest({nodes}[2:]) AS other"
        if named.durations is not None:
            times, of_times = items(name_of(named.durations), table.kinds[named.durations])
            took, times = number("since", of_times), f"unnest({times}) AS since"
        else:
            assert named.times is not None
            times, of_times = items(name_of(named.times), table.kinds[named.times])
            took = f"{clock('until', of_times)} - {clock('since', of_times)}"
            times = f"unnest({times}[1:len({times}) - 1]) AS since, unnest({times}[2:]) AS until"
        return (
            f"SELECT {', '.join(keys)}, {key('one', kind)} AS tail, {key('other', kind)} AS head, {took} AS took "
            f"FROM (SELECT {own}, {ends}, {times} FROM ({source}))"
        )
    names = ("id",) if len(named.edge) == 1 else ("tail", "head")
    edge = ", ".join(f"{of(key, column)} AS {name}" for name, column in zip(names, named.edge, strict=True))
    return f"SELECT {own}, {edge}, {of(number, named.seconds)} AS took FROM ({source})"


def edge_table(topology: Topology, ids: list[Any] | None) -> dict[str, Any]:
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
