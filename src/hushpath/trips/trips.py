"""Trips of people along the edges of a public network: the private input that travel times are made of.

``Trips`` is opaque: it prints nothing, cannot be iterated, compared or pickled, and does not reveal the number of rows.
It holds where the rows are; they are read inside the private step.  One method opens it, ``private_rows``, and a
contract test lists its callers (``measure_trips``, and ``evaluate`` for the data owner).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Unpack

from .._validate import one_of
from ..days import LARGEST_DAY_NUMBER, Days, as_dates
from ..errors import OptionError
from ..network.topology import Topology
from .periods import Periods
from .rows import Named, TripColumns, check_types, make_edge_table, make_rows_query, name_columns
from .tables import connection, open_tables, register_arrays

if TYPE_CHECKING:
    import duckdb

# The columns whose values are the same in all rows of a protected unit.
UNITS = {"person": ("person",), "person-day": ("person", "day"), "trip": ("person", "trip")}


class Trips:
    """Who went when along which edges, and how long it took; made by ``read_trips``.  Shows nothing of its rows.

    Attributes
    ----------
    topology
        The public network.
    periods
        The public periods of the day.
    day_kind
        The declared type of the day column: "date", "number" or "any"; "" without a day column.
    """

    __slots__ = ("__edges", "__named", "__tables", "day_kind", "periods", "topology")

    def __init__(self, given: Any, topology: Topology, named: Named, periods: Periods, ids: list[Any] | None) -> None:
        """Open ``given``, whose columns are ``named``, over a ``topology`` whose edges have ``ids``, by ``periods``."""
        self.topology, self.periods = topology, periods
        self.__named = named
        self.__edges = make_edge_table(topology, ids)
        self.__tables = open_tables(given, list(dict.fromkeys(named.values())))
        names = [*self.__edges.get("id", ()), *self.__edges.get("tail", ()), *periods.names]
        check_types(self.__tables, named, periods, names)
        self.day_kind = ""
        if "day" in named:
            kinds = {table.kinds[named["day"]] if table.declared else "text" for table in self.__tables}
            self.day_kind = "date" if kinds == {"moment"} else "number" if kinds <= {"whole", "number"} else "any"

    def keys(self, protects: Any) -> tuple[str, ...]:
        """Return the columns that identify protected units; refuse a unit whose columns are not named."""
        needed = UNITS[one_of(protects, "protects", UNITS)]
        if protects == "trip" and "trip" in self.__named:
            return tuple(key for key in needed if key in self.__named)
        for key in needed:
            if key not in self.__named:
                raise OptionError(f"protects={str(protects)!r} needs the {key} column: name it in read_trips")
        return needed

    def check_unit(self, protects: str, days: Days | None) -> None:
        """Refuse a unit whose columns are not named, and days of another type than the day column."""
        self.keys(protects)
        if days is None:
            return
        if not self.day_kind:
            raise OptionError("`days` needs a day column: name it in read_trips(day=)")
        if self.day_kind not in ("any", "date" if as_dates(days) else "number"):
            known = "two dates" if self.day_kind == "date" else "two integers"
            raise OptionError(f"`days` must have the type of the day column: {known}")

    @contextmanager
    def private_rows(self, protects: str, days: Days | None = None) -> Iterator[tuple[duckdb.DuckDBPyConnection, str]]:
        """Open an engine, and return the query for (person, day, trip, edge, period, seconds).  Private.

        No row of the result is made of rows of two units.  Numbers of eight digits are days only if ``days`` are such.
        """
        as_numbers = days is not None and isinstance(days[0], int) and days[0] > LARGEST_DAY_NUMBER
        query = make_rows_query(self.__tables, self.__named, self.periods, UNITS[protects], dates_as_numbers=as_numbers)
        with connection() as engine:
            for i, table in enumerate(self.__tables):
                table.register(engine, f"given{i}")
            register_arrays(engine, "public_edges_frame", self.__edges)
            engine.execute("CREATE TABLE public_edges AS SELECT * FROM public_edges_frame")
            yield engine, query

    def __repr__(self) -> str:
        return f"Trips(hidden, {self.topology!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("trips are not pickled")


def read_trips(
    trips: Any, topology: Topology, *, periods: Any = None, edge_ids: Any = None, **columns: Unpack[TripColumns]
) -> Trips:
    """Name the columns of a table of trips.  Its rows are private; they are read when they are measured, not here.

    Rows that name no edge of the network, and rows that lack a value, are skipped silently; nothing counts them.

    Parameters
    ----------
    trips
        A file (.parquet, .csv, .tsv, .jsonl), a folder of such parts, or a data frame.  In .csv a line is a row.  In a
        pandas frame, ids of 16 digits and more count as missing; pass the file or an Arrow table instead.
    topology
        The public network, such as ``read_topology`` returns.
    periods
        The public periods in the column ``period``: names, ``["am", "pm"]``; or, for a column of timestamps, hours,
        ``{"am": (7, 10), "pm": (16, 19)}`` or ``"hours"``.  Rows of other periods are skipped.
    edge_ids
        The id of each edge of the network, in the order of its edges, or the name of a public column of the network;
        the column named like ``edge`` if not given.
    **columns
        The names of columns, by what they hold:
    person, day, trip
        The columns of the person, the day (a date, a timestamp or a day number of at most 100 000) and the trip
        (unique for one person).  The unit that ``release_trips`` protects needs its columns.
    edge, seconds
        A row per pass over an edge: the columns of both ends, ``("from", "to")``, or the column of an edge id; and the
        column of the duration.
    node, time
        Instead, a row per node: the node that was entered, and when (seconds or timestamps).  A pass from one day to
        the next is skipped, since it would belong to two units.
    nodes
        Instead, a row per trip: a list (or JSON text) of nodes.  ``time`` is then a list of the times each was entered,
        or ``seconds`` one of the seconds from each to the next, as map matchers return them (OSRM: annotation.nodes,
        annotation.duration).
    period
        The column of the period: a name, or a timestamp.

    Returns
    -------
    Trips
        The opaque private input of ``release_trips``, ``series`` and ``evaluate``.

    Raises
    ------
    OptionError
        If the columns do not make one of the shapes above, or ids and labels are not unique.
    NetworkError
        If the table is not found, lacks a column, or declares a type that cannot hold it.

    Examples
    --------
    >>> import hushpath, pandas
    >>> topology = hushpath.Topology.build("ab", [0], [1], proxy=[60.0], proxy_name="free_flow")[0]
    >>> rows = pandas.DataFrame({"who": ["x"], "from": ["a"], "to": ["b"], "seconds": [75.0]})
    >>> hushpath.read_trips(rows, topology, person="who", edge=("from", "to"), seconds="seconds")
    Trips(hidden, Topology(2 nodes, 1 edges, undirected))
    """
    if not isinstance(topology, Topology):
        raise OptionError(f"read_trips takes a Topology, such as read_topology returns, not {type(topology).__name__}")
    named = name_columns(columns)
    declared = Periods.declared(periods)
    if bool(declared.names) != ("period" in named):
        raise OptionError("pass both `period`, a column, and `periods`, the public periods in it, or neither")
    ids = None
    if "id" in named:
        named_by = named["id"] if edge_ids is None else edge_ids
        ids = topology.texts(named_by) if isinstance(named_by, str) else list(named_by)
    return Trips(trips, topology, named, declared, ids)
