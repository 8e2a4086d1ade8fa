"""The file of a ledger: SQLite, two tables, believed only after a look at every value (guide to the ledger).

SQLite stores what it is given, whatever a column is declared as, and a file may hold triggers that undo a charge.  So a
transaction begins by proving the file: its marks, its tables to the letter and nothing beside them, its pages, and the
type and range of every value.  Whatever is wrong is one ``FileFormatError``.

A charge must outlive a crash that follows at once.  The journal is a file beside the ledger that is deleted to commit
(``journal_mode=DELETE``), and ``synchronous=EXTRA`` has the folder flushed, too: with ``FULL`` the deletion may be lost
with the power, and the charge would be rolled back after its noise was seen.  A write-ahead log would be quicker, but
needs memory shared between processes, which network drives lack, and a copy of the ledger without its log would forget
charges.  A release takes seconds; a charge may take milliseconds.

Connections live as long as a transaction, so nothing is shared over a fork or between threads.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from ..days import DateRange, check_dates
from ..errors import CannotError, FileFormatError, HushpathError, OptionError
from ..noise import Law
from .accounting import Budget
from .composition import Spending
from .units import Protects

APPLICATION, VERSION = 0x68757368, 1  # "hush"; the books of ``composition`` belong to the version
PATIENCE = 180.0  # seconds to wait for other processes; sixteen at once on a busy machine took more than one minute
LONGEST = 1000  # characters of a text
TABLES = (
    "CREATE TABLE dataset (name TEXT PRIMARY KEY NOT NULL, protects TEXT NOT NULL, epsilon REAL NOT NULL, "
    "delta REAL NOT NULL, made TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE charge (number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, protects TEXT NOT NULL, first TEXT, "
    "last TEXT, law TEXT NOT NULL, spent REAL NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL, at TEXT NOT NULL, "
    "version TEXT NOT NULL, file TEXT NOT NULL, fingerprint TEXT)",
)
# SQLite's own names for trouble with the place and not with the content: permission, busy, locked, memory, read-only,
# interrupted, input and output, full, cannot open.
_PLACE = {3, 5, 6, 7, 8, 9, 10, 13, 14}


@dataclass(frozen=True)
class Dataset:
    """One data set: its name, the kind of unit it protects, and what may be spent in total."""

    name: str
    protects: Protects
    budget: Budget
    made: str


@dataclass(frozen=True)
class Charge:
    """One charge; ``released`` once a release was made of it, and then the fingerprint of its file is known."""

    number: int
    dataset: str
    asked: Spending
    days: DateRange | None
    at: str
    version: str
    file: str
    fingerprint: str | None

    @property
    def state(self) -> str:
        """``charged`` or ``released``; both count."""
        return "charged" if self.fingerprint is None else "released"


@contextmanager
def transaction(path: Path, *, write: bool, new: bool = False) -> Iterator[sqlite3.Connection]:
    """A transaction on a proved file, durable when this context is left; nothing is kept if it raises.

    Who writes holds the file alone from the beginning (``BEGIN IMMEDIATE``), so what was read is true when it is used.
    """
    if "\0" in str(path):  # an address would end there
        raise OptionError(f"no file can be named {str(path)[:40]!r}")
    if not new and not path.is_file():
        raise FileFormatError(f"there is no file {path}" if not path.exists() else f"{path} is no ordinary file")
    try:
        address = f"{path.absolute().as_uri()}?mode={'rwc' if new else 'rw'}"
        with closing(sqlite3.connect(address, uri=True, timeout=PATIENCE, isolation_level=None)) as connection:
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2**20)  # of a value; ours are short
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            if not new:
                _check_marks(connection, path)  # before anything is set: it may be another program's file
            # SQLite answers with the mode it is in, whether or not it could change it.
            if connection.execute("PRAGMA journal_mode = DELETE").fetchone() != ("delete",):
                raise CannotError(f"{path} is open in another program that keeps a log beside it; close that first")
            connection.execute("PRAGMA synchronous = EXTRA")
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            if not new:
                _prove(connection, path)
            yield connection
            connection.execute("COMMIT")
    except (sqlite3.Error, UnicodeError) as error:  # SQLite may quote bytes that are no text
        raise _understood(error, path) from None


def write_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Make an empty file a ledger."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
        raise OptionError(f"{path} exists; a ledger is never replaced: name another file, or add a data set to it")
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for table in TABLES:
        connection.execute(table)


def read_datasets(connection: sqlite3.Connection, path: Path) -> list[Dataset]:
    """Every data set, by name."""
    rows = connection.execute("SELECT name, protects, epsilon, delta, made FROM dataset ORDER BY name")
    return [_dataset(row, path) for row in rows]


def read_charges(connection: sqlite3.Connection, path: Path) -> list[Charge]:
    """Every charge, by number."""
    rows = connection.execute(
        "SELECT number, dataset, protects, first, last, law, spent, epsilon, delta, at, version, file, fingerprint "
        "FROM charge ORDER BY number"
    )
    return [_charge(row, place, path) for place, row in enumerate(rows, 1)]


def _check_marks(connection: sqlite3.Connection, path: Path) -> None:
    marks = [connection.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version")]
    if marks[0] != APPLICATION:
        raise FileFormatError(f"{path} is not a hushpath ledger")
    if marks[1] != VERSION:
        raise FileFormatError(f"{path} has ledger version {marks[1]}; this hushpath knows {VERSION}")


def _prove(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is not a ledger to the last value."""
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    if found != [(table,) for table in TABLES]:
        raise FileFormatError(f"{path} is damaged: its tables are not those of a ledger")
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise FileFormatError(f"{path} is damaged: SQLite finds its pages at odds with each other")
    kinds = {dataset.name: dataset.protects for dataset in read_datasets(connection, path)}
    seen: set[str | None] = set()
    for charge in read_charges(connection, path):
        if charge.dataset not in kinds or charge.asked.protects is not kinds[charge.dataset]:
            raise FileFormatError(f"{path} is damaged: charge {charge.number} fits no data set")
        if charge.fingerprint is not None and charge.fingerprint in seen:
            raise FileFormatError(f"{path} is damaged: charge {charge.number} is of a file that another is of")
        seen.add(charge.fingerprint)


def _dataset(row: tuple[Any, ...], path: Path) -> Dataset:
    try:
        name, protects, epsilon, delta, made = _texts(row, 0, 1, 4)
        budget = Budget(epsilon, delta)
        if budget.unlimited:
            raise ValueError
        return Dataset(checked_text("a data set", name), Protects.of(protects), budget, made)
    except (ValueError, HushpathError):
        raise FileFormatError(f"{path} is damaged: a data set has a value that none can have") from None


def _charge(row: tuple[Any, ...], place: int, path: Path) -> Charge:
    try:
        number, dataset, protects, first, last, law, spent, epsilon, delta, at, version, file, mark = row
        _texts(row, 1, 2, 5, 9, 10, 11)
        asked = Spending(Protects.of(protects), Law(law), spent, epsilon, delta)
        days = None if first is None and last is None else check_dates((_day(first), _day(last)))
        if number != place or not (mark is None or is_fingerprint(mark)):  # a gap: a charge was taken away
            raise ValueError
        return Charge(number, dataset, asked, days, at, version, file, mark)
    except (ValueError, HushpathError):
        raise FileFormatError(
            f"{path} is damaged: charge {place} is missing, or has values that none can have"
        ) from None


def _texts(row: tuple[Any, ...], *places: int) -> tuple[Any, ...]:
    if not all(isinstance(row[place], str) and len(row[place]) <= LONGEST for place in places):
        raise ValueError
    return row


def _day(text: Any) -> date:
    day = date.fromisoformat(text) if isinstance(text, str) else None
    if day is None or day.isoformat() != text:  # one text per day
        raise ValueError
    return day


def checked_text(what: str, text: Any) -> str:
    """A name that can be stored, printed and compared."""
    if not isinstance(text, str) or not 0 < len(text) <= 200 or not text.isprintable() or text != text.strip():
        raise OptionError(f"{what} has a name of up to 200 printable letters, no blanks around, got {str(text)[:40]!r}")
    return text


def is_fingerprint(mark: Any) -> bool:
    """Whether this is what ``Release.fingerprint`` looks like."""
    return isinstance(mark, str) and len(mark) == 64 and set(mark) <= set("0123456789abcdef")


def _understood(error: Exception, path: Path) -> HushpathError:
    """SQLite's trouble in our words: of the place, or of the content."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _PLACE:
        if code & 0xFF in (5, 6):
            return CannotError(f"{path} is in use by another process for more than {PATIENCE:g} seconds")
        return CannotError(f"cannot use {path}: {error}")
    return FileFormatError(f"{path} is damaged or is not a hushpath ledger")
