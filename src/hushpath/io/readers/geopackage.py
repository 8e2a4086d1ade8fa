"""GeoPackage with the layers ``nodes`` and ``edges``, as ``osmnx.save_graph_geopackage`` writes.

A GeoPackage is an SQLite file; the standard library reads it.  The database is read in memory, and an authorizer lets
SQLite read columns of the two tables and nothing else: no view, trigger, function, virtual table or computed column of
an untrusted schema runs.

| in the file | treatment |
|---|---|
| ``nodes`` | labels ``osmid`` (else ``node``, ``id``), as integers or text; places ``x``, ``y`` |
| ``edges`` | ends: the columns that the caller names, else ``u`` and ``v``; every row is an edge |
| ``key`` | beside ``u`` and ``v``: parallel edges are named by it, so they are kept |
| direction | osmnx writes ``u, v, key``, and ``from, to`` besides only if it joined the two directions of a street |
| columns that are not named | not read |
| circular pages | an error: rows and text may not be larger than the file |
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from typing import IO, TYPE_CHECKING

from ...errors import CannotError, HushpathError, NetworkError
from ...network.network import Columns, Table
from ...network.public_rows import WantedColumns, choose_public_columns
from .base import Reader

if TYPE_CHECKING:
    import sqlite3

LARGEST = 2**30  # bytes of a file: SQLite keeps no more in memory unless told
LONGEST = 2**24  # bytes of one value, a geometry that is stepped over included
SMALLEST_ROW = 4  # bytes of a row in a page
ENDS = {"source": "u", "target": "v"}  # what the ends are called if not as by default
LABELS = ("osmid", "node", "id")


def _read(raw: IO[bytes], wanted: WantedColumns) -> Table:
    try:
        import sqlite3
    except ImportError:
        raise CannotError("reading a GeoPackage needs the sqlite3 module of Python") from None
    if not hasattr(sqlite3.Connection, "deserialize"):  # depends on how Python was built
        raise CannotError("reading a GeoPackage needs a sqlite3 module that can deserialize")
    content = _checked(raw)
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(content)
            return _Package(database, len(content)).table(wanted.needed)
    except HushpathError:
        raise
    except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError):  # they may quote values
        pass
    raise NetworkError("the GeoPackage is damaged, or its tables are more than plain columns")


def _checked(raw: IO[bytes]) -> bytes:
    """Return the bytes of a complete file without a write-ahead log."""
    content = raw.read(LARGEST + 1)
    if not content.startswith(b"SQLite format 3\0") or len(content) < 512:
        raise NetworkError("the file is not a GeoPackage, which is an SQLite database")
    if len(content) > LARGEST:
        raise NetworkError("the GeoPackage has more than 1 GiB; write its edges as Parquet")
    if 2 in content[18:20]:
        raise NetworkError("the GeoPackage goes on in a write-ahead log; close what has it open (journal_mode=delete)")
    page = int.from_bytes(content[16:18], "big")
    size = (65536 if page == 1 else page) * int.from_bytes(content[28:32], "big")
    if len(content) < size and content[24:28] == content[92:96]:  # else the size is that of an older version
        raise NetworkError("the GeoPackage is shorter than it says; is it whole?")
    return content


class _Package:
    """The two tables of an untrusted database."""

    def __init__(self, database: sqlite3.Connection, size: int) -> None:
        import sqlite3

        self.database = database
        self.size = size  # bytes of the file

        def allowed(action: int, what: str | None, _: str | None, __: str | None, through: str | None) -> int:
            """Allow an ``action`` that reads or lists ``what`` directly, not through a view or trigger."""
            reads = action == sqlite3.SQLITE_READ and what in ("nodes", "edges", "sqlite_master") and through is None
            asks = action == sqlite3.SQLITE_PRAGMA and what == "table_xinfo"
            return sqlite3.SQLITE_OK if reads or asks or action == sqlite3.SQLITE_SELECT else sqlite3.SQLITE_DENY

        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
        for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
            database.execute(f"PRAGMA {pragma}")
        database.set_authorizer(allowed)

    def table(self, needed: Sequence[str]) -> Table:
        """Return the wanted columns of the edges and nodes."""
        edges, nodes = self._columns("edges"), self._columns("nodes")
        names = {name: ENDS[name] if name not in edges and ENDS.get(name) in edges else name for name in needed}
        choose_public_columns(edges, WantedColumns("the table 'edges'", list(names.values())))
        columns = self._select("edges", names)
        label = next((name for name in LABELS if name in nodes), LABELS[0])
        found = choose_public_columns(nodes, WantedColumns("the table 'nodes'", [label], ("x", "y")))
        places = self._select("nodes", {"node": label, **dict(zip(found[1:], found[1:], strict=True))})
        joined = {"from", "to"} <= set(edges)
        by_osmnx = {"u", "v", "key"} <= set(edges) and set(names.values()) >= {"u", "v"}
        return Table(columns, places, not joined if by_osmnx else None, names_edges=by_osmnx)

    def _columns(self, table: str) -> list[str]:
        """Return the names of the stored columns."""
        here = self.database.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
        if not here:
            raise NetworkError(f"the GeoPackage has no table {table!r}; osmnx writes 'nodes' and 'edges'")
        if len(here) > 1 or here[0][0] != "table" or not re.match(r"CREATE\s+TABLE\b", str(here[0][1]), re.I):
            raise NetworkError(f"{table!r} of the GeoPackage is not a plain table")
        return [row[1] for row in self.database.execute(f'PRAGMA table_xinfo("{table}")') if row[6] == 0]

    def _select(self, table: str, names: dict[str, str]) -> Columns:
        """Return columns under the names of the caller; more rows or text than the file has bytes is an error."""
        columns: Columns = {name: [] for name in names}
        quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in names.values())
        left = self.size
        for row in self.database.execute(f'SELECT {quoted} FROM "{table}" NOT INDEXED'):
            left -= SMALLEST_ROW + sum(len(value) for value in row if isinstance(value, (str, bytes)))
            if left < 0:
                raise NetworkError("the GeoPackage has more rows or text than bytes; it is damaged")
            for values, value in zip(columns.values(), row, strict=True):
                values.append(value)
        return columns


GEOPACKAGE = Reader("gpkg", "GeoPackage", (".gpkg",), _read, typed=True, whole=True)
