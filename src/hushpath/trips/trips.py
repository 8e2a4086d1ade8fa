"""Trips of people along the edges of a public network: the private input that travel times are made of.

``Trips`` is opaque: it prints nothing, cannot be iterated, compared or pickled, and says nothing of its rows, not even
how many there are.  It holds where the rows are, not the rows: they are read inside the private step.  One method opens
it, ``private_rows``, and a contract test lists who may call it (``measure``, and ``evaluate`` for the data owner).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from .._validate import one_of
from ..days import LARGEST_DAY_NUMBER, Days, as_dates
from ..errors import OptionError
from ..network.topology import Topology
from .periods import Periods
from .rows import Named, edge_table, refuse_unfit_types, rows_query
from .tables import connection, register_arrays, tables_of

if TYPE_CHECKING:
    import duckdb

# What a protected unit may be, and the columns whose values it shares in all its rows.
UNITS = {"person": ("person",), "person-day": ("person", "day"), "trip": ("person", "trip")}
SHAPES = "edge and seconds (a row per pass), node and time (a row per node), or nodes with times or durations (lists)"


class Trips:
    """Who went when along which edges, and how long it took.  Holds where that is; shows nothing.

    Attributes:
        topology: the public network.
        periods: the public periods of the day.
        day_kind: "date" or "number" if the table declares what its days are, "any" if it does not, "" without days.
    """

    __slots__ = ("__edges", "__named", "__tables", "day_kind", "periods", "topology")

    def __init__(self, given: Any, topology: Topology, named: Named, periods: Periods, ids: list[Any] | None) -> None:
        self.topology, self.periods = topology, periods
        self.__named = named
        self.__edges = edge_table(topology, ids)
        self.__tables = tables_of(given, named.all)
        names = [*self.__edges.get("id", ()), *self.__edges.get("tail", ()), *periods.names]
        refuse_unfit_types(self.__tables, named, periods, names)
        self.day_kind = ""
        if named.day is not None:
            kinds = {table.kinds[named.day] if table.declared else "text" for table in self.__tables}
            self.day_kind = "date" if kinds == {"moment"} else "number" if kinds <= {"whole", "number"} else "any"

    def keys(self, protects: Any) -> tuple[str, ...]:
        """Return the columns that tell protected units apart; refuse a unit that the table cannot tell."""
        needed = UNITS[one_of(protects, "protects", UNITS)]
        if protects == "trip" and self.__named.trip is not None:  # without persons the number of a trip says enough
            return tuple(key for key in needed if getattr(self.__named, key) is not None)
        for key in needed:
            if getattr(self.__named, key) is None:
                raise OptionError(f"protects={str(protects)!r} needs the {key}: name its column in read_trips")
        return needed

    def check_unit(self, protects: str, days: Days | None) -> None:
        """Refuse a unit that the table cannot tell apart, and days of another type than the day column."""
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
        """Open an engine, and give the query for (person, day, trip, edge, period, seconds).  Private.

        Args:
            protects: the unit; no row that comes out is made of rows of two units.
            days: the declared days; numbers of eight digits count as days only if these are such numbers.
        """
        dates_as_numbers = days is not None and isinstance(days[0], int) and days[0] > LARGEST_DAY_NUMBER
        query = rows_query(
            self.__tables, self.__named, self.periods, UNITS[protects], dates_as_numbers=dates_as_numbers
        )  # fmt: skip
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
    trips: Any, topology: Topology, *, person: str | None = None, day: str | None = None, trip: str | None = None,
    edge: str | Sequence[str] | None = None, seconds: str | None = None, node: str | None = None,
    time: str | None = None, nodes: str | None = None, times: str | None = None, durations: str | None = None,
    period: str | None = None, periods: Any = None, edge_ids: Any = None,
) -> Trips:  # fmt: skip
    """Name the columns of a table of trips.  Its rows are private and are read when they are measured, not here.

    Args:
        trips: a file (.parquet, .csv, .tsv, .jsonl), a folder of such parts, or a data frame.  In .csv a line is a row.
            In a pandas frame ids of 16 digits and more are missing values; pass the file or an Arrow table instead.
        topology: the public network, such as ``read_topology`` gives.
        person, day, trip: columns that tell who went, on which day (a date, a timestamp or the number of a day, at most
            100 000; other rows are left out), on which trip (numbers must not be used twice for one person).  What
            ``release(protects=)`` names must be there.
        edge, seconds: a row per pass over an edge: the columns of both ends, ``("from", "to")``, or the column of an
            edge id; and how long it took.
        node, time: instead of these, a row per node entered and when: seconds, or timestamps.  With
            ``protects="person-day"`` a pass from one day to the next is left out: it would tell of two units.
        nodes, times, durations: instead of these, a row per trip: lists (or JSON text) of nodes, with the time each was
            entered or with the seconds from each to the next, as map matchers give them (OSRM: annotation.nodes,
            annotation.duration).
        period, periods: the column that tells the period, and the public periods: their names, ``["am", "pm"]``; or
            hours, ``{"am": (7, 10), "pm": (16, 19)}`` or ``"hours"``, if the column is a timestamp.  Other rows are
            left out.
        edge_ids: the id of each edge of the network, in the order of its edges; or the name of a public column that it
            was read with (``columns``).  By default the column called as ``edge`` is.

    Rows that name no edge of the network, and rows that lack a value, are left out silently; nothing counts them.
    """
    if not isinstance(topology, Topology):
        raise OptionError(f"read_trips takes a topology, such as read_topology gives, not {type(topology).__name__}")
    ends = (edge,) if isinstance(edge, str) else () if edge is None else tuple(edge)
    named = Named(person, day, trip, ends, seconds, node, time, nodes, times, durations, period)
    for name in named.all:
        if not isinstance(name, str) or not name:
            raise OptionError("read_trips takes the names of columns, as text")
    shape = (bool(ends), seconds is not None, node is not None, time is not None, nodes is not None)
    lists = (times is not None) + (durations is not None)
    if (shape, lists) not in (
        ((True, True, False, False, False), 0), ((False, False, True, True, False), 0),
        ((False, False, False, False, True), 1),
    ) or len(ends) > 2:  # fmt: skip
        raise OptionError(f"name the columns of one shape of table: {SHAPES}")
    if node is not None and trip is None:
        raise OptionError("a row per node needs to know the trip: name its column")
    declared = Periods.declared(periods)
    if bool(declared.names) != (period is not None):
        raise OptionError("period names a column and periods the public periods it may tell: give both or neither")
    ids = None
    if len(ends) == 1:
        named_by = ends[0] if edge_ids is None else edge_ids
        ids = topology.texts(named_by) if isinstance(named_by, str) else list(named_by)
    return Trips(trips, topology, named, declared, ids)
