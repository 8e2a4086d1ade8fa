"""The privacy ledger: who spent what on which data (guide to the ledger).

    ledger = Ledger.open("city.ledger")
    number = ledger.charge(Spending.of(certificate, "person-day"), days=(monday, sunday), file="week.hush")
    ...                                   noise is drawn, the release is made
    ledger.released(number, release.fingerprint)

A charge is on the disk before ``charge`` returns, so noise is drawn only after it was paid for.  If the program dies in
between, the charge stays, since the noise may have been seen.  Each process reads and writes while it holds the file
alone, so two processes cannot both spend the same remainder.

The file is SQLite with two tables.  SQLite stores any value in any column, and a file may hold triggers that undo a
charge.  So a transaction begins by checking the file: its marks, its tables to the letter and nothing beside them, its
pages, and the type and range of every value.  Any error is a ``FileFormatError``.

A charge must survive a crash right after it.  The journal is a file beside the ledger that is deleted to commit
(``journal_mode=DELETE``), and ``synchronous=EXTRA`` has the folder flushed, too: with ``FULL`` the deletion may be lost
with the power, and the charge would be rolled back after its noise was seen.  A write-ahead log would be faster, but
needs shared memory, which network drives lack, and a copy of the ledger without its log would forget charges.
Connections live as long as a transaction, so nothing is shared over a fork or between threads.

Guarantees (tests/unit/test_ledger.py): exactly the charges that fit are made; a refusal changes nothing; a charge can
be neither removed nor changed, except that ``released`` adds a fingerprint, once.  Nothing comes from private data.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from .._validate import between, shorten
from .._version import __version__
from ..days import DateRange, check_dates, format_days
from ..errors import BudgetError, CannotError, FileFormatError, HushpathError, OptionError
from ..noise import Law
from .accounting import Budget
from .composition import (
    Cost,
    Dated,
    RemainingBudget,
    Spending,
    compose,
    days_touched,
    days_with_same_releases,
    remaining_budget,
)  # fmt: skip
from .units import Protects

APPLICATION, VERSION = 0x68757368, 1  # "hush"; the accountants of ``composition`` belong to the version
PATIENCE = 180.0  # seconds to wait for other processes; sixteen at once on a busy machine took more than one minute
LONGEST_TEXT = 1000  # characters of a text
TABLES = (
    "CREATE TABLE dataset (name TEXT PRIMARY KEY NOT NULL, protects TEXT NOT NULL, epsilon REAL NOT NULL, "
    "delta REAL NOT NULL, made TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE charge (number INTEGER PRIMARY KEY, dataset TEXT NOT NULL, protects TEXT NOT NULL, first TEXT, "
    "last TEXT, law TEXT NOT NULL, spent REAL NOT NULL, epsilon REAL NOT NULL, delta REAL NOT NULL, at TEXT NOT NULL, "
    "version TEXT NOT NULL, file TEXT NOT NULL, fingerprint TEXT)",
)
# SQLite's codes of errors that are not about the content: permission, busy, locked, memory, read-only, interrupted,
# input and output, full, cannot open.
_NOT_CONTENT = {3, 5, 6, 7, 8, 9, 10, 13, 14}


@dataclass(frozen=True)
class Dataset:
    """One data set: its name, the kind of unit it protects, and what may be spent in total."""

    name: str
    protects: Protects
    budget: Budget
    made: str


@dataclass(frozen=True)
class Charge:
    """One charge; ``released`` once the fingerprint of its release file was noted."""

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
        """``charged`` or ``released``; in both states the charge counts against the budget."""
        return "charged" if self.fingerprint is None else "released"


@dataclass(frozen=True)
class LedgerContent:
    """A ledger inside a transaction; every value was checked."""

    path: Path
    connection: sqlite3.Connection
    datasets: list[Dataset]  # by name
    charges: list[Charge]  # by number

    def dataset(self, name: str | None) -> Dataset:
        """Return the data set of this name; the only one if no name is given."""
        found = [one for one in self.datasets if name in (None, one.name)]
        if len(found) != 1:
            names = ", ".join(repr(one.name) for one in self.datasets[:10])
            problem = "`dataset` is missing" if name is None else f"there is no data set {shorten(name)}"
            raise OptionError(f"{self.path}: {problem}; it has {names}")
        return found[0]

    def charges_of(self, dataset: Dataset) -> list[Charge]:
        """Return the charges of one data set, in the order in which they were made."""
        return [one for one in self.charges if one.dataset == dataset.name]

    def add(self, dataset: Dataset) -> None:
        """Write a data set."""
        budget = dataset.budget
        self.connection.execute(
            "INSERT INTO dataset VALUES (?, ?, ?, ?, ?)",
            (dataset.name, str(dataset.protects), budget.epsilon, budget.delta, dataset.made),
        )


class Ledger:
    """One ledger file: data sets with their budgets, and the charges of releases.

    Every method is one transaction; nothing is open in between.

    Parameters
    ----------
    path
        The file; use ``Ledger.create`` or ``Ledger.open``, which check it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, dataset: str, protects: str, epsilon: float, delta: float = 0.0
    ) -> Ledger:
        """Make a new file with one data set; an existing file is never replaced.

        Parameters
        ----------
        path
            The file to make.
        dataset
            The name of the data.
        protects
            "person", "person-day", "trip", or "declared" for releases of weights.
        epsilon, delta
            What all releases together may spend; it cannot be changed later.
        """
        row = _make_dataset(dataset, protects, epsilon, delta)
        ledger = cls(path)
        if ledger.path.exists() and (not ledger.path.is_file() or ledger.path.stat().st_size):
            raise _exists(ledger.path)
        if not ledger.path.absolute().parent.is_dir():
            raise CannotError(f"cannot write {path}: the folder {ledger.path.parent} does not exist")
        with transaction(ledger.path, write=True, new=True) as content:
            content.add(row)
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open an existing file; every value in it is checked, now and whenever it is used."""
        ledger = cls(path)
        ledger.datasets()
        return ledger

    def add_dataset(self, dataset: str, *, protects: str, epsilon: float, delta: float = 0.0) -> None:
        """Add ``dataset``, which ``protects`` a kind of unit; ``epsilon`` and ``delta`` cannot be changed later."""
        row = _make_dataset(dataset, protects, epsilon, delta)
        with transaction(self.path, write=True) as content:
            if any(one.name == dataset for one in content.datasets):
                raise OptionError(f"{self.path} has a data set {dataset!r} already, and its budget cannot be changed")
            content.add(row)

    def datasets(self) -> list[Dataset]:
        """Return every data set, by name."""
        return self._read().datasets

    def dataset(self, name: str | None = None) -> Dataset:
        """Return the data set of this name; the only one if no name is given."""
        return self._read().dataset(name)

    def charges(self, dataset: str | None = None) -> list[Charge]:
        """Return the charges of one data set, or of all, in the order in which they were made."""
        content = self._read()
        return content.charges if dataset is None else content.charges_of(content.dataset(dataset))

    def charge(
        self, asked: Spending, *, dataset: str | None = None, days: DateRange | None = None, file: str = ""
    ) -> int:
        """Pay for a release that will be made, and return the number of the charge; draw noise only afterwards.

        Parameters
        ----------
        asked
            What the release spends.
        dataset
            The data set; may be omitted if the ledger has one.
        days
            The days whose data the release may use; None for all.
        file
            The name of the release file, for people.

        Raises
        ------
        BudgetError
            If it does not fit the budget on every day; then nothing is charged.
        """
        if not isinstance(asked, Spending):
            raise OptionError(f"a charge needs a Spending, got {type(asked).__name__}; see Spending.of")
        days = check_dates(days)
        # Text that can be stored, whatever bytes the system allows in names.
        file = str(file).encode("utf-8", "backslashreplace").decode("utf-8")[:LONGEST_TEXT]
        first, last = (None, None) if days is None else (day.isoformat() for day in days)
        with transaction(self.path, write=True) as content:
            found, number = content.dataset(dataset), len(content.charges) + 1
            _check_fits(found, content.charges_of(found), asked, days)
            content.connection.execute(
                "INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (number, found.name, str(asked.protects), first, last, str(asked.law), asked.spent,
                 asked.epsilon, asked.delta, _now(), __version__, file),
            )  # fmt: skip
        return number

    def released(self, number: int, fingerprint: str) -> None:
        """Record the fingerprint of the file that a charge paid for: one file per charge, one charge per file."""
        if not is_fingerprint(fingerprint):
            raise OptionError(f"a fingerprint must be 64 hexadecimal digits, got {shorten(fingerprint)}")
        with transaction(self.path, write=True) as content:
            every = content.charges
            if type(number) is not int or not 1 <= number <= len(every):
                raise OptionError(f"{self.path} has charges 1 to {len(every)}, not {shorten(number)}")
            other = next((one.number for one in every if one.fingerprint == fingerprint), number)
            if other != number or every[number - 1].fingerprint not in (None, fingerprint):
                raise OptionError(f"charge {number} of {self.path} has another file, or this file another charge")
            content.connection.execute("UPDATE charge SET fingerprint = ? WHERE number = ?", (fingerprint, number))

    def spent(self, dataset: str | None = None, days: DateRange | None = None) -> Cost:
        """Return the largest amount spent on any one of these days, rounded up."""
        found, charges = self._charged(dataset)
        return _find_cost(found, charges, check_dates(days))

    def would_spend(self, planned: Sequence[Dated], dataset: str | None = None) -> Cost:
        """Return the largest amount that any one day would have spent with these releases; charge nothing.

        ``charge`` accepts all of them, one after the other, exactly if that is within the budget: costs only grow.
        """
        found, charges = self._charged(dataset)
        for one in planned:
            _check_kind(found, one.asked)
        return _find_cost(found, [*charges, *planned], None)

    def remaining(
        self, dataset: str | None = None, days: DateRange | None = None, *, delta: float | None = None
    ) -> RemainingBudget:
        """Return what one release over these days could still spend, rounded down: pure, or Gaussian at ``delta``.

        ``delta`` is the one that the release is certified at, not what it takes away; the budget's own if not given.
        """
        if delta is not None:
            between(delta, "delta", 0, 0.5)
        found, charges = self._charged(dataset)
        delta = found.budget.delta if delta is None else delta
        runs = days_with_same_releases(charges, found.protects, days_touched(found.protects, check_dates(days)))
        left = [remaining_budget([one.asked for one in those], found.budget, delta) for _, those in runs]
        return RemainingBudget(min(one.epsilon for one in left), min(one.gaussian_epsilon for one in left), delta)

    def _read(self) -> LedgerContent:
        """Return what the file holds now; its connection is closed."""
        with transaction(self.path, write=False) as content:
            return content

    def _charged(self, dataset: str | None) -> tuple[Dataset, list[Charge]]:
        content = self._read()
        found = content.dataset(dataset)
        return found, content.charges_of(found)


def _check_kind(dataset: Dataset, asked: Spending) -> None:
    if asked.protects is not dataset.protects:
        raise OptionError(
            f"a release must protect the unit of its data set: {dataset.name!r} protects each {dataset.protects}, this "
            f"release each {asked.protects}. Use protects={str(dataset.protects)!r} or another ledger"
        )


def _check_fits(dataset: Dataset, charges: list[Charge], asked: Spending, days: DateRange | None) -> None:
    """Raise ``BudgetError`` unless what is ``asked`` for ``days`` fits beside the ``charges`` of a ``dataset``."""
    budget = dataset.budget
    _check_kind(dataset, asked)
    for run, those in days_with_same_releases(charges, dataset.protects, days_touched(dataset.protects, days)):
        before = [one.asked for one in those]
        together = compose([*before, asked], budget).epsilon
        if not together <= budget.epsilon:
            left = remaining_budget(before, budget, asked.delta or budget.delta)
            gaussian = f" or {left.gaussian_epsilon:.6g} (gaussian, asked for at delta {left.delta:g})"
            sum_of_all = "more than delta allows" if math.isinf(together) else f"{together:.6g}"
            raise BudgetError(
                f"the budget of {dataset.name!r} is epsilon {budget.epsilon:g}, delta {budget.delta:g} for each "
                f"{dataset.protects}. Spent, {format_days(run)}: epsilon {compose(before, budget).epsilon:.6g}. "
                f"Asked: {asked}, which makes {sum_of_all}. Remaining: epsilon {left.epsilon:.6g} (laplace)"
                f"{gaussian if budget.delta else ''}. Nothing was charged"
            )


def _find_cost(dataset: Dataset, charges: Sequence[Dated], days: DateRange | None) -> Cost:
    """Return the cost of the day that costs most."""
    runs = days_with_same_releases(charges, dataset.protects, days)
    costs = [compose([one.asked for one in those], dataset.budget) for _, those in runs]
    return Cost(max(one.epsilon for one in costs), max(one.delta for one in costs))


def _make_dataset(name: str, protects: str, epsilon: float, delta: float, made: str | None = None) -> Dataset:
    """Return the data set ``name``, which ``protects`` a unit within ``epsilon``, ``delta``, ``made`` now if None."""
    budget = Budget(epsilon, delta)
    if budget.unlimited:
        raise OptionError("the budget of a data set must be finite")
    return Dataset(check_name("dataset", name), Protects.of(protects), budget, _now() if made is None else made)


def _exists(path: Path) -> OptionError:
    return OptionError(f"{path} exists; a ledger is never replaced: name another file, or add a data set to it")


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def transaction(path: Path, *, write: bool, new: bool = False) -> Iterator[LedgerContent]:
    """Open a transaction on a checked file, durable when this context is left; nothing is kept if it raises.

    With ``new`` the file is made; with ``write`` it can be changed.  A writer holds the file alone from the beginning
    (``BEGIN IMMEDIATE``), so what was read stays true.
    """
    if "\0" in str(path):  # an address would end there
        raise OptionError(f"a file name cannot hold a zero byte, got {shorten(path)}")
    if not new and not path.is_file():
        raise FileFormatError(f"{path} does not exist" if not path.exists() else f"{path} is not an ordinary file")
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
            yield _write_tables(connection, path) if new else _check_content(connection, path)
            connection.execute("COMMIT")
    except (sqlite3.Error, UnicodeError) as error:  # SQLite may quote bytes that are not UTF-8
        raise _translate_error(error, path) from None


def _write_tables(connection: sqlite3.Connection, path: Path) -> LedgerContent:
    """Make an empty file a ledger."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
        raise _exists(path)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
    for table in TABLES:
        connection.execute(table)
    return LedgerContent(path, connection, [], [])


def _check_marks(connection: sqlite3.Connection, path: Path) -> None:
    marks = [connection.execute(f"PRAGMA {mark}").fetchone()[0] for mark in ("application_id", "user_version")]
    if marks[0] != APPLICATION:
        raise FileFormatError(f"{path} is not a hushpath ledger")
    if marks[1] != VERSION:
        raise FileFormatError(f"{path} has ledger version {marks[1]}; this hushpath reads version {VERSION} only")


def _check_content(connection: sqlite3.Connection, path: Path) -> LedgerContent:
    """Return what the file holds; refuse one that is not a ledger to the last value."""
    found = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
    if found != [(table,) for table in TABLES]:
        raise FileFormatError(f"{path} is damaged: its tables are not those of a ledger")
    if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
        raise FileFormatError(f"{path} is damaged: its pages contradict each other")
    datasets = [_parse_dataset(row, path) for row in connection.execute("SELECT * FROM dataset ORDER BY name")]
    rows = connection.execute("SELECT * FROM charge ORDER BY number")
    charges = [_parse_charge(row, place, path) for place, row in enumerate(rows, 1)]
    kinds = {dataset.name: dataset.protects for dataset in datasets}
    seen: set[str | None] = set()
    for charge in charges:
        if charge.dataset not in kinds or charge.asked.protects is not kinds[charge.dataset]:
            raise FileFormatError(f"{path} is damaged: charge {charge.number} belongs to no data set of its unit")
        if charge.fingerprint is not None and charge.fingerprint in seen:
            raise FileFormatError(f"{path} is damaged: two charges, one of them {charge.number}, have the same file")
        seen.add(charge.fingerprint)
    return LedgerContent(path, connection, datasets, charges)


def _parse_dataset(row: tuple[Any, ...], path: Path) -> Dataset:
    try:
        name, protects, epsilon, delta, made = _check_texts(row, 0, 1, 4)
        return _make_dataset(name, protects, epsilon, delta, made)
    except (ValueError, HushpathError):
        raise FileFormatError(f"{path} is damaged: a data set has an invalid value") from None


def _parse_charge(row: tuple[Any, ...], place: int, path: Path) -> Charge:
    try:
        number, dataset, protects, first, last, law, spent, epsilon, delta, at, version, file, mark = row
        _check_texts(row, 1, 2, 5, 9, 10, 11)
        asked = Spending(Protects.of(protects), Law(law), spent, epsilon, delta)
        days = None if first is None and last is None else check_dates((_parse_day(first), _parse_day(last)))
        if number != place or not (mark is None or is_fingerprint(mark)):  # a gap: a charge was taken away
            raise ValueError
        return Charge(number, dataset, asked, days, at, version, file, mark)
    except (ValueError, HushpathError):
        raise FileFormatError(f"{path} is damaged: charge {place} is missing or has an invalid value") from None


def _check_texts(row: tuple[Any, ...], *places: int) -> tuple[Any, ...]:
    if not all(isinstance(row[place], str) and len(row[place]) <= LONGEST_TEXT for place in places):
        raise ValueError
    return row


def _parse_day(text: Any) -> date:
    day = date.fromisoformat(text) if isinstance(text, str) else None
    if day is None or day.isoformat() != text:  # one text per day
        raise ValueError
    return day


def check_name(name: str, text: Any) -> str:
    """Return a text that can be stored, printed and compared."""
    if not isinstance(text, str) or not 0 < len(text) <= 200 or not text.isprintable() or text != text.strip():
        raise OptionError(f"`{name}` must be 1 to 200 printable characters without spaces around, got {shorten(text)}")
    return text


def is_fingerprint(mark: Any) -> bool:
    """Return whether this has the form of ``Release.fingerprint``."""
    return isinstance(mark, str) and len(mark) == 64 and set(mark) <= set("0123456789abcdef")


def _translate_error(error: Exception, path: Path) -> HushpathError:
    """Return our error for one of SQLite's."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and code & 0xFF in _NOT_CONTENT:
        if code & 0xFF in (5, 6):
            return CannotError(f"{path} has been in use by another process for {PATIENCE:g} seconds")
        return CannotError(f"cannot use {path}: {error}")
    return FileFormatError(f"{path} is damaged or is not a hushpath ledger")
