"""The privacy ledger: who spent what on which data (guide to the ledger).

    ledger = Ledger.open("city.ledger")
    number = ledger.charge(Spending.of(certificate, "person-day"), days=(monday, sunday), file="week.hush")
    ...                                   noise is drawn, the release is made
    ledger.released(number, release.fingerprint)

A charge is on the disk before ``charge`` returns, so noise is drawn only after it was paid for.  If the program dies in
between, the charge stays, since the noise may have been seen.  Each process reads and writes while it holds the file
alone, so two processes cannot both spend the same remainder.

Guarantees (tests/unit/test_ledger.py): exactly the charges that fit are made; a refusal changes nothing; a charge can
be neither removed nor changed, except that ``released`` adds a fingerprint, once.  Nothing comes from private data.
"""

from __future__ import annotations

import math
import os
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from .._validate import between, shorten
from .._version import __version__
from ..days import DateRange, check_dates, format_days
from ..errors import BudgetError, CannotError, OptionError
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
from .ledger_file import (
    LONGEST_TEXT,
    Charge,
    Dataset,
    check_name,
    is_fingerprint,
    read_charges,
    read_datasets,
    transaction,
    write_tables,
)  # fmt: skip
from .units import Protects


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
        row = _checked(dataset, protects, epsilon, delta)
        ledger = cls(path)
        if ledger.path.exists() and (not ledger.path.is_file() or ledger.path.stat().st_size):
            raise OptionError(f"{path} exists; a ledger is never replaced: name another file, or add a data set to it")
        if not ledger.path.absolute().parent.is_dir():
            raise CannotError(f"cannot write {path}: the folder {ledger.path.parent} does not exist")
        with transaction(ledger.path, write=True, new=True) as connection:
            write_tables(connection, ledger.path)
            _insert(connection, row)
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """Open an existing file; every value in it is checked, now and whenever it is used."""
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
        """Return every data set, by name."""
        with transaction(self.path, write=False) as connection:
            return read_datasets(connection, self.path)

    def dataset(self, name: str | None = None) -> Dataset:
        """Return the data set of this name; the only one if no name is given."""
        with transaction(self.path, write=False) as connection:
            return self._named(connection, name)

    def charges(self, dataset: str | None = None) -> list[Charge]:
        """Return the charges of one data set, or of all, in the order in which they were made."""
        with transaction(self.path, write=False) as connection:
            if dataset is not None:
                dataset = self._named(connection, dataset).name
            return [one for one in read_charges(connection, self.path) if dataset in (None, one.dataset)]

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
        days, file = check_dates(days), _file_text(file)
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
            raise OptionError(f"a fingerprint must be 64 hexadecimal digits, got {shorten(fingerprint)}")
        with transaction(self.path, write=True) as connection:
            every = read_charges(connection, self.path)
            if type(number) is not int or not 1 <= number <= len(every):
                raise OptionError(f"{self.path} has charges 1 to {len(every)}, not {shorten(number)}")
            other = next((one.number for one in every if one.fingerprint == fingerprint), number)
            if other != number or every[number - 1].fingerprint not in (None, fingerprint):
                raise OptionError(f"charge {number} of {self.path} or this file is noted already")
            connection.execute("UPDATE charge SET fingerprint = ? WHERE number = ?", (fingerprint, number))

    def spent(self, dataset: str | None = None, days: DateRange | None = None) -> Cost:
        """Return what was spent on the day of these that cost most, rounded up."""
        with transaction(self.path, write=False) as connection:
            found, charges = self._of(connection, dataset)
        return _spent(found, charges, check_dates(days))

    def would_spend(self, planned: Sequence[Dated], dataset: str | None = None) -> Cost:
        """Return what the day that costs most would cost with these releases; charge nothing.

        ``charge`` accepts all of them, one after the other, exactly if that is within the budget: costs only grow.
        """
        with transaction(self.path, write=False) as connection:
            found, charges = self._of(connection, dataset)
        for one in planned:
            _refuse_other_kind(found, one.asked)
        return _spent(found, [*charges, *planned], None)

    def remaining(
        self, dataset: str | None = None, days: DateRange | None = None, *, delta: float | None = None
    ) -> RemainingBudget:
        """Return what one release over these days could still spend, rounded down: pure, or Gaussian at ``delta``.

        ``delta`` is the one that the release is certified at, not what it takes away; the budget's own if not given.
        """
        if delta is not None:
            between(delta, "delta", 0, 0.5)
        with transaction(self.path, write=False) as connection:
            found, charges = self._of(connection, dataset)
        delta = found.budget.delta if delta is None else delta
        runs = days_with_same_releases(charges, found.protects, days_touched(found.protects, check_dates(days)))
        left = [remaining_budget([one.asked for one in those], found.budget, delta) for _, those in runs]
        return RemainingBudget(min(one.epsilon for one in left), min(one.gaussian_epsilon for one in left), delta)

    def _of(self, connection: sqlite3.Connection, dataset: str | None) -> tuple[Dataset, list[Charge]]:
        found = self._named(connection, dataset)
        return found, [one for one in read_charges(connection, self.path) if one.dataset == found.name]

    def _named(self, connection: sqlite3.Connection, dataset: str | None) -> Dataset:
        every = read_datasets(connection, self.path)
        found = [one for one in every if dataset in (None, one.name)]
        if len(found) != 1:
            names = ", ".join(repr(one.name) for one in every[:10])
            problem = "`dataset` is missing" if dataset is None else f"there is no data set {shorten(dataset)}"
            raise OptionError(f"{self.path}: {problem}; it has {names}")
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


def _spent(dataset: Dataset, charges: Sequence[Dated], days: DateRange | None) -> Cost:
    """Return the cost of the day that costs most."""
    runs = days_with_same_releases(charges, dataset.protects, days)
    costs = [compose([one.asked for one in those], dataset.budget) for _, those in runs]
    return Cost(max(one.epsilon for one in costs), max(one.delta for one in costs))


def _checked(dataset: str, protects: str, epsilon: float, delta: float) -> tuple[str, str, float, float, str]:
    """Return the row of a data set."""
    budget = Budget(epsilon, delta)
    if budget.unlimited:
        raise OptionError("the budget of a data set must be finite")
    return check_name("dataset", dataset), str(Protects.of(protects)), budget.epsilon, budget.delta, _now()


def _insert(connection: sqlite3.Connection, row: tuple[str, str, float, float, str]) -> None:
    connection.execute("INSERT INTO dataset VALUES (?, ?, ?, ?, ?)", row)


def _file_text(file: str) -> str:
    """Return a file name as text that can be stored, whatever bytes the system allows in names."""
    return str(file).encode("utf-8", "backslashreplace").decode("utf-8")[:LONGEST_TEXT]


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
