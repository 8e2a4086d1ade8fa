"""Where the cost of a release is written down: a ledger, charged before anything is measured."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..days import DateRange, as_dates
from ..errors import OptionError
from ..measurement.strategy import Strategy
from ..privacy.composition import Spending
from ..privacy.ledger import Ledger


class Charging(NamedTuple):
    """One release and the ledger that it is charged to."""

    ledger: Ledger
    asked: Spending
    days: DateRange | None
    dataset: str | None
    file: str

    @classmethod
    def of(cls, path: Any, dataset: str | None, file: str, strategy: Strategy) -> Charging | None:
        """Return what this strategy costs; None without a ledger."""
        if path is None:
            return None
        if strategy.budget.unlimited:
            raise OptionError("a release without noise cannot be charged to a ledger: leave `ledger` out")
        ledger = path if isinstance(path, Ledger) else Ledger.open(path)
        names = [one.name for one in ledger.datasets()]
        only = names[0] if not dataset and len(names) == 1 else dataset
        return cls(ledger, *spending_of(strategy), only or None, file)

    def charge(self) -> int:
        """Charge the ledger and return the number of the charge; ``BudgetError`` if it does not fit."""
        return self.ledger.charge(self.asked, dataset=self.dataset, days=self.days, file=self.file)


def spending_of(strategy: Strategy) -> tuple[Spending, DateRange | None]:
    """Return what a release of this strategy spends, and the days it covers; day numbers count as all days."""
    unit = strategy.terms.unit
    return Spending.of(strategy.certificate, unit.protects), as_dates(unit.days)
