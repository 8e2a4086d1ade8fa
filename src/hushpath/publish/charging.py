"""Where the cost of a release is written down: a ledger, charged before anything is measured."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

from ..errors import OptionError
from ..privacy.ledger import Ledger
from ..privacy.spending import Days, Spending
from ..strategy.core import Strategy
from ..strategy.trips import TripTerms


class Charging(NamedTuple):
    """One release and the ledger that pays for it."""

    ledger: Ledger
    asked: Spending
    days: Days
    dataset: str | None
    file: str

    @classmethod
    def of(cls, path: Any, dataset: str | None, file: str, strategy: Strategy) -> Charging | None:
        """What this strategy costs whom; nothing without a ledger."""
        if path is None:
            return None
        if strategy.budget.unlimited:
            raise OptionError("without noise there is nothing that a ledger could count: leave it out")
        ledger = Ledger.open(path)
        names = [one.name for one in ledger.datasets()]
        return cls(ledger, *spending_of(strategy), names[0] if dataset is None and len(names) == 1 else dataset, file)

    def paid(self) -> int:
        """Charge it; ``BudgetError`` if it does not fit."""
        return self.ledger.charge(self.asked, dataset=self.dataset, days=self.days, file=self.file)


def spending_of(strategy: Strategy) -> tuple[Spending, Days]:
    """Return what a release of this strategy spends, and the days it covers."""
    terms = strategy.terms
    if not isinstance(terms, TripTerms):
        return Spending.of(strategy.certificate, "declared"), None
    days: Days = None  # numbered days are not dates, so such a release counts as one of all days
    if terms.days is not None and isinstance(terms.days[0], datetime.date):
        days = terms.days
    return Spending.of(strategy.certificate, terms.protects), days
