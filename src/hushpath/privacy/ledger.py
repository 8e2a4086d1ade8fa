"""The privacy ledger: who spent what on which data (guide to the ledger).

    ledger = Ledger.open("city.ledger")
    number = ledger.charge(Spending.of(certificate, "person-day"), days=(monday, sunday), file="week.hush")
    ...                                   noise is drawn, the release is made
    ledger.released(number, release.fingerprint)

A charge is on the disk before ``charge`` returns, so noise is drawn only after it was paid for.  If the program dies in
between, the charge stays: nobody can tell whether noise was seen.  Two processes cannot both spend the last bit: each
reads and writes while it holds the file alone.

Guarantees (tests/unit/test_ledger.py): charges that fit, and no others, are made; a refusal changes nothing; what is
charged can be neither taken back nor changed, except that ``released`` adds a fingerprint, once.  Nothing here comes
from private data.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from .._version import __version__
from ..days import DateRange, check_dates, format_days
from ..errors import BudgetError, CannotError, OptionError
from .accounting import Budget
from .composition import Cost, Dated, Room, Spending, cost, pieces, room, touched
from .ledger_file import (
    LONGEST,
    Charge,
    Dataset,
    checked_text,
    is_fingerprint,
    read_charges,
    read_datasets,
    transaction,
    write_tables,
)
from .units import Protects


class Ledger:
    """One ledger file.  Every method is one transaction; nothing is open in between."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, dataset: str, protects: str, epsilon: float, delta: float = 0.0
    ) -> Ledger:
        """Make a new file with one data set; a file that is there is never replaced."""
        row = _checked(dataset, protects, epsilon, delta)
        ledger = cls(path)
        if ledger.path.exists() and (not ledger.path.is_file() or ledger.path.stat().st_size):
            raise OptionError(f"{path} exists; a ledger is never replaced: name another file, or add a data set to it")
        if not ledger.path.absolute().parent.is_dir():
            raise CannotError(f"cannot write {path}: there is no folder {ledger.path.parent}")
        with transaction(ledger.path, write=True, new=True) as connection:
            write_tables(connection, ledger.path)
            _insert(connection, row)
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """A file that is there; every value in it is checked, now and whenever it is used."""
        ledger = cls(path)
        ledger.datasets()
        return ledger

    def add_dataset(self, dataset: str, *, protects: str, epsilon: float, delta: float = 0.0) -> None:
        """Add a data set.  A budget is fixed before the first release and cannot be changed."""
        row = _checked(dataset, protects, epsilon, delta)
        with transaction(self.path, write=True) as connection:
            if any(one.name == dataset for one in read_datasets(connection, self.path)):
                raise OptionError(f"{self.path} has a data set {dataset!r} already, and its budget cannot be changed")
            _insert(connection, row)

    def datasets(self) -> list[Dataset]:
        """Every data set, by name."""
        with transaction(self.path, write=False) as connection:
            return read_datasets(connection, self.path)

    def charges(self, dataset: str | None = None) -> list[Charge]:
        """The charges of one data set, or of all, in the order in which they were made."""
        with transaction(self.path, write=False) as connection:
            if dataset is not None:
                dataset = self._named(connection, dataset).name
            return [one for one in read_charges(connection, self.path) if dataset in (None, one.dataset)]

    def charge(
        self, asked: Spending, *, dataset: str | None = None, days: DateRange | None = None, file: str = ""
    ) -> int:
        """Pay for a release that will be made, and return the number of the charge; or raise ``BudgetError``.

        ``dataset`` may be left out if the ledger has one.  ``days`` are those whose data the release may use, all if
        ``None``.  Draw noise after this has returned, never before.
        """
        if not isinstance(asked, Spending):
            raise OptionError(f"a charge needs a Spending, got {type(asked).__name__}; see Spending.of")
        days, file = check_dates(days), _shown(file)
        first, last = (None, None) if days is None else (day.isoformat() for day in days)
        with transaction(self.path, write=True) as connection:
            found = self._named(connection, dataset)
            every = read_charges(connection, self.path)
            _refuse(found, [one for one in every if one.dataset == found.name], asked, days)
            connection.execute(
                "INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)",
                (len(every) + 1, found.name, str(asked.protects), first, last, str(asked.law), asked.spent,
                 asked.epsilon, asked.delta, _now(), __version__, file),
            )  # fmt: skip
        return len(every) + 1

    def released(self, number: int, fingerprint: str) -> None:
        """Note the release made of this charge, by the fingerprint of its file; once, and for one charge only."""
        if not is_fingerprint(fingerprint):
            raise OptionError(f"the fingerprint of a release is 64 digits, got {str(fingerprint)[:40]!r}")
        with transaction(self.path, write=True) as connection:
            every = read_charges(connection, self.path)
            if type(number) is not int or not 1 <= number <= len(every):
                raise OptionError(f"{self.path} has charges 1 to {len(every)}, and no {str(number)[:20]}")
            other = next((one.number for one in every if one.fingerprint == fingerprint), number)
            if other != number or every[number - 1].fingerprint not in (None, fingerprint):
                raise OptionError(f"charge {number} of {self.path}: charges and files belong together one by one")
            connection.execute("UPDATE charge SET fingerprint = ? WHERE number = ?", (fingerprint, number))

    def spent(self, dataset: str | None = None, days: DateRange | None = None) -> Cost:
        """What was spent on the day of these that cost most, rounded up."""
        with transaction(self.path, write=False) as connection:
            found, charges = self._of(connection, dataset)
        return _spent(found, charges, check_dates(days))

    def would_spend(self, planned: Sequence[Dated], dataset: str | None = None) -> Cost:
        """What the day that costs most would cost with these releases; charges nothing.

        ``charge`` accepts all of them, one after the other, exactly if that is within the budget: costs only grow.
        """
        with transaction(self.path, write=False) as connection:
            found, charges = self._of(connection, dataset)
        for one in planned:
            _refuse_other_kind(found, one.asked)
        return _spent(found, [*charges, *planned], None)

    def remaining(
        self, dataset: str | None = None, days: DateRange | None = None, *, delta: float | None = None
    ) -> Room:
        """What one release over these days could still spend, rounded down: pure, or Gaussian certified at ``delta``.

        ``delta`` is the budget's own unless told: it is the one a release is asked for with, not what it takes away.
        """
        if delta is not None and not 0 <= delta <= 0.5:
            raise OptionError(f"delta must be between 0 and 0.5, got {delta:g}")
        with transaction(self.path, write=False) as connection:
            found, charges = self._of(connection, dataset)
        return _remaining(found, charges, check_dates(days), found.budget.delta if delta is None else delta)

    def _of(self, connection: sqlite3.Connection, dataset: str | None) -> tuple[Dataset, list[Charge]]:
        found = self._named(connection, dataset)
        return found, [one for one in read_charges(connection, self.path) if one.dataset == found.name]

    def _named(self, connection: sqlite3.Connection, dataset: str | None) -> Dataset:
        there = read_datasets(connection, self.path)
        found = [one for one in there if dataset in (None, one.name)]
        if len(found) != 1:
            names = ", ".join(repr(one.name) for one in there[:10])
            asked = "say which data set" if dataset is None else f"there is no data set {str(dataset)[:40]!r}"
            raise OptionError(f"{self.path}: {asked}; it has {names}")
        return found[0]


def _refuse_other_kind(dataset: Dataset, asked: Spending) -> None:
    if asked.protects is not dataset.protects:
        raise OptionError(
            f"data set {dataset.name!r} protects each {dataset.protects}, and this release each {asked.protects}: "
            f"a ledger takes releases of its own unit alone. Use protects={str(dataset.protects)!r} or another ledger"
        )


def _refuse(dataset: Dataset, charges: list[Charge], asked: Spending, days: DateRange | None) -> None:
    """Raise ``BudgetError`` unless this release fits beside the others on every day it covers."""
    budget = dataset.budget
    _refuse_other_kind(dataset, asked)
    for run, those in pieces(charges, dataset.protects, touched(dataset.protects, days)):
        before = [one.asked for one in those]
        together = cost([*before, asked], budget).epsilon
        if not together <= budget.epsilon:
            left = room(before, budget, asked.delta or budget.delta)
            gaussian = f" or {left.gaussian_epsilon:.6g} (gaussian, asked for at delta {left.delta:g})"
            sum_of_all = "more than delta allows" if math.isinf(together) else f"{together:.6g}"
            raise BudgetError(
                f"the budget of {dataset.name!r} is epsilon {budget.epsilon:g}, delta {budget.delta:g} for each "
                f"{dataset.protects}. Spent, {format_days(run)}: epsilon {cost(before, budget).epsilon:.6g}. "
                f"Asked: {asked}, which makes {sum_of_all}. Remaining: epsilon {left.epsilon:.6g} (laplace)"
                f"{gaussian if budget.delta else ''}. Nothing was charged"
            )


def _spent(dataset: Dataset, charges: Sequence[Dated], days: DateRange | None) -> Cost:
    """The cost of the day that costs most."""
    runs = pieces(charges, dataset.protects, days)
    costs = [cost([one.asked for one in those], dataset.budget) for _, those in runs]
    return Cost(max(one.epsilon for one in costs), max(one.delta for one in costs))


def _remaining(dataset: Dataset, charges: list[Charge], days: DateRange | None, delta: float) -> Room:
    """The room on the day that has least."""
    runs = pieces(charges, dataset.protects, touched(dataset.protects, days))
    rooms = [room([one.asked for one in those], dataset.budget, delta) for _, those in runs]
    return Room(min(one.epsilon for one in rooms), min(one.gaussian_epsilon for one in rooms), delta)


def _checked(dataset: str, protects: str, epsilon: float, delta: float) -> tuple[str, str, float, float, str]:
    """The row of a data set."""
    budget = Budget(epsilon, delta)
    if budget.unlimited:
        raise OptionError("the budget of a data set must be finite")
    return checked_text("a data set", dataset), str(Protects.of(protects)), budget.epsilon, budget.delta, _now()


def _insert(connection: sqlite3.Connection, row: tuple[str, str, float, float, str]) -> None:
    connection.execute("INSERT INTO dataset VALUES (?, ?, ?, ?, ?)", row)


def _shown(file: str) -> str:
    """A file name as text that can be stored, whatever bytes the system allows in names."""
    return str(file).encode("utf-8", "backslashreplace").decode("utf-8")[:LONGEST]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
