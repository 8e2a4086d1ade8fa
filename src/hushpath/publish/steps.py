"""How far a series of releases has come, as its ledger and its folder say, and whether the rest still fits.

    made      the file is there, and a charge of these days is of it
    lost      it was paid for, and its file is not there: the charge stays spent, whoever saw the noise
    to come   its days are not over; what it needs is kept for it
    to make   the rest

Nothing is written here.  A crash between charge and file leaves a release lost; so does a file that was moved away.
Either way its charge counts, and to make it again costs again.

Guarantees (tests/unit/test_series.py): there is no ``trouble`` only if everything still to be charged fits, with what
was charged for it before, both in its own total and in the ledger's budget.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from ..errors import OptionError
from ..privacy.accounting import Budget
from ..privacy.composition import Dated, cost, pieces
from ..privacy.ledger import Ledger
from ..privacy.ledger_file import Charge
from ..privacy.spending import Protects, Spending, days_text
from .oracle import load
from .schedule import Span

MADE, LOST, TO_COME, TO_MAKE = "made", "lost", "to come", "to make"


@dataclass(frozen=True)
class Step:
    """One release: its days, the epsilon it is asked for, what it spends, its file, and how far it has come.

    ``paid`` are the charges that were made for it.
    """

    days: Span
    epsilon: float
    asked: Spending
    file: Path
    state: str = TO_MAKE
    paid: tuple[Charge, ...] = ()


@dataclass(frozen=True)
class Series:
    """All releases of a series, and the total they stay within."""

    dataset: str
    protects: Protects
    budget: Budget
    split: str
    steps: tuple[Step, ...]
    trouble: str = ""  # why it cannot be made as it is planned

    def of(self, *states: str) -> list[Step]:
        """The releases that have come so far."""
        return [step for step in self.steps if step.state in states]

    def epsilon(self, *states: str) -> float:
        """What the charges made so far, and the releases in these states beside them, cost together, rounded up."""
        before = sorted((one for step in self.steps for one in step.paid), key=lambda charge: charge.number)
        every: list[Dated] = [*before, *self.of(*states)]
        runs = pieces(every, self.protects, None)
        return max(cost([one.asked for one in those], self.budget).epsilon for _, those in runs)

    @property
    def words(self) -> str:
        """How the total is shared, in words."""
        if not self.protects.has_a_day:
            return f"All releases of one {self.protects} add up, so the total is split between them: {self.split}."
        whole = "Each day is in one release, so each release may spend all of it."
        over = " A trip over midnight is of the day it began on."
        return whole + (over if self.protects is Protects.TRIP else "")

    def __str__(self) -> str:
        total = f"epsilon {self.budget.epsilon:g}, delta {self.budget.delta:g} in total for each {self.protects}"
        rows = [("no", "days", "epsilon", "state", "file")]
        for number, step in enumerate(self.steps, 1):
            rows.append((str(number), days_text(step.days), f"{step.epsilon:.6g}", step.state, step.file.name))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{len(self.steps)} releases of {self.dataset}: {total}.", self.words, *table])


def found(step: Step, charges: Sequence[Charge], *, early: bool) -> Step:
    """How far one release has come, as ledger and folder say."""
    mine = [one for one in charges if one.days == step.days and one.file == step.file.name]
    if not os.path.lexists(step.file):
        over = early or step.days[1] < _today()
        return replace(step, state=LOST if mine else TO_MAKE if over else TO_COME, paid=tuple(mine))
    mark = load(step.file, index=False).fingerprint
    paid = next((one for one in charges if one.fingerprint == mark), None)
    if paid is None or paid.days != step.days:
        raise OptionError(
            f"{step.file} is there, and no charge of {days_text(step.days)} is of this file; put it elsewhere "
            "(hushpath ledger check says more)"
        )
    others = [one for one in mine if one.number != paid.number]  # lost once, and made again
    return replace(step, state=MADE, epsilon=paid.asked.epsilon, paid=(*others, paid))


def trouble(planned: Series, ledger: Ledger | None, *, skip_lost: bool) -> str:
    """Why what is still to be charged does not fit, in the total or in the ledger; nothing if it does."""
    states = (TO_MAKE, TO_COME) if skip_lost else (TO_MAKE, TO_COME, LOST)
    together = planned.epsilon(*states)
    if not together <= planned.budget.epsilon:
        before = "with what was charged for it before, " if any(step.paid for step in planned.steps) else ""
        return (
            f"{before}the series would cost epsilon {together:.6g}, and its total is {planned.budget.epsilon:g} for "
            f"each {planned.protects}{_advice(planned, skip_lost)}"
        )
    if ledger is not None and (to_charge := planned.of(*states)):
        (dataset,) = (one for one in ledger.datasets() if one.name == planned.dataset)
        together = ledger.would_spend(to_charge, planned.dataset).epsilon
        if not together <= dataset.budget.epsilon:
            return (
                f"the series does not fit as a whole: the budget of {planned.dataset!r} is epsilon "
                f"{dataset.budget.epsilon:g}, delta {dataset.budget.delta:g} for each {dataset.protects}, spent are "
                f"{ledger.spent(planned.dataset).epsilon:.6g}, and it would be {together:.6g}"
                f"{_advice(planned, skip_lost)}"
            )
    return ""


def lost_files(planned: Series) -> str:
    """What was paid for and is not there, for messages."""
    lost = planned.of(LOST)
    some = ", ".join(f"{step.file.name} (charge {step.paid[-1].number})" for step in lost[:5])
    return some + (f" and {len(lost) - 5} more" if len(lost) > 5 else "")


def _advice(planned: Series, skip_lost: bool) -> str:
    """What can be done about it."""
    if skip_lost or not planned.of(LOST):
        return ""
    return (
        f". Paid for, and so spent, but not there: {lost_files(planned)}. Put it back, wait for a run that is under "
        "way, or go on without it (skip_lost, --skip-lost)"
    )


def _today() -> date:
    return date.today()
