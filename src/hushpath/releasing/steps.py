"""How far a series of releases has come, as its ledger and its folder say, and whether the rest still fits.

    made        the file exists, and a charge of these days is for it
    lost        it was charged, but the run ended before its file was written: the charge stays spent
    missing     it was charged and written, and its file is missing now: moved or deleted
    unfinished  it was charged and written, but the run ended before the file got its name: this costs nothing
    to come     its days are not over; what it needs is kept for it
    to make     the rest

A series writes a release under a hidden name, notes its fingerprint in the ledger, and only then gives the file its
name.  So the ledger tells a run that was killed (no fingerprint) from a file that was moved (it has one).  What is lost
is charged and made again within the total, with less for every release that is left (``divided``); what is missing is
never charged again by itself.

Guarantees (tests/unit/test_series.py): there is no ``trouble`` only if everything still to be charged fits, with what
was charged for it before, both in its own total and in the ledger's budget.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from ..days import DateRange, format_days
from ..errors import FileFormatError, OptionError
from ..privacy.accounting import Budget
from ..privacy.composition import Dated, Spending, cost, pieces
from ..privacy.ledger import Ledger
from ..privacy.ledger_file import Charge
from ..privacy.units import Protects
from ..published.release import load
from .schedule import asked_for, rescaled

MADE, LOST, MISSING, UNFINISHED = "made", "lost", "missing", "unfinished"
TO_COME, TO_MAKE = "to come", "to make"


@dataclass(frozen=True)
class Step:
    """One release: its days, the epsilon it is asked for, what it spends, its file, and how far it has come.

    ``paid`` are the charges that were made for it.
    """

    days: DateRange
    epsilon: float
    asked: Spending
    file: Path
    state: str = TO_MAKE
    paid: tuple[Charge, ...] = ()

    @property
    def draft(self) -> Path:
        """The hidden name of the file until the ledger knows it."""
        return self.file.with_name(f".{self.file.name}.unfinished")

    @property
    def wasted(self) -> list[Charge]:
        """The charges of which no file was written."""
        return [one for one in self.paid if one.fingerprint is None]


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
        return _dearest([*self.charges, *self.of(*states)], self.protects, self.budget)

    @property
    def charges(self) -> list[Charge]:
        """Every charge that was made for it, in order."""
        return sorted((one for step in self.steps for one in step.paid), key=lambda charge: charge.number)

    @property
    def words(self) -> str:
        """How the total is shared, in words."""
        if not self.protects.has_a_day:
            return f"All releases of one {self.protects} add up, so the total is split between them: {self.split}."
        if self.protects is Protects.TRIP:
            return "A trip over midnight may be in two releases, so two that follow each other share the total."
        return "Each day is in one release, so each release may spend all of it."

    def __str__(self) -> str:
        total = f"epsilon {self.budget.epsilon:g}, delta {self.budget.delta:g} in total for each {self.protects}"
        rows = [("no", "days", "epsilon", "state", "file")]
        for number, step in enumerate(self.steps, 1):
            rows.append((str(number), format_days(step.days), f"{step.epsilon:.6g}", step.state, step.file.name))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([f"{len(self.steps)} releases of {self.dataset}: {total}.", self.words, *table])


def found(step: Step, charges: Sequence[Charge], *, early: bool) -> Step:
    """How far one release has come, as ledger and folder say."""
    mine = [one for one in charges if one.days == step.days and one.file == step.file.name]
    if not os.path.lexists(step.file):
        over = early or step.days[1] < _today()
        state = TO_MAKE if over else TO_COME
        if any(one.fingerprint for one in mine):
            state = UNFINISHED if _fingerprint(step.draft) in {one.fingerprint for one in mine} else MISSING
        elif mine:
            state = LOST
        return replace(step, state=state, paid=tuple(mine))
    mark = load(step.file, index=False).fingerprint
    paid = next((one for one in charges if one.fingerprint == mark), None)
    if paid is None or paid.days != step.days:
        raise OptionError(
            f"{step.file} is there, and no charge of {format_days(step.days)} is of this file; put it elsewhere "
            "(hushpath ledger check says more)"
        )
    others = [one for one in mine if one.number != paid.number]  # lost once, and made again
    return replace(step, state=MADE, epsilon=paid.asked.epsilon, asked=paid.asked, paid=(*others, paid))


def divided(planned: Series, ledger: Ledger | None, *, skip_missing: bool, retry: bool) -> dict[Path, float]:
    """Return the epsilon of each release still to be charged, by its file, after charges were lost.

    Those that are lost are among them if there is room to make them again.  Nothing changes if nothing was lost.
    """
    lost = [] if skip_missing else planned.of(LOST)
    todo = planned.of(TO_MAKE, TO_COME)
    found = {step.file: step.epsilon for step in [*todo, *lost]}
    if not any(step.wasted for step in planned.steps):
        return found
    accounts: list[tuple[Budget, Protects, list[Charge]]] = [(planned.budget, planned.protects, planned.charges)]
    if ledger is not None:
        (dataset,) = (one for one in ledger.datasets() if one.name == planned.dataset)
        accounts.append((dataset.budget, dataset.protects, ledger.charges(planned.dataset)))

    def factor(steps: list[Step]) -> float:
        def fits(asked: list[Spending]) -> bool:
            more = [replace(step, asked=one) for step, one in zip([*steps, steps[-1]], asked, strict=False)]
            return all(_dearest([*before, *more], kind, budget) <= budget.epsilon for budget, kind, before in accounts)

        return rescaled([step.asked for step in steps], fits, retry=retry)

    every = sorted([*todo, *lost], key=lambda step: step.days)
    alone = planned.protects is Protects.PERSON_DAY  # else releases share units
    groups = [[step] for step in every if step.paid] if alone else [every] if every else []
    for group in groups:
        part = factor(group)
        if not part:  # then what is lost stays lost
            for step in group:
                if step.state == LOST:
                    del found[step.file]
            group = [step for step in group if step.state != LOST]
            part = factor(group) if group else 1.0
        for step in group if 0 < part < 1 else []:  # else as planned: ``trouble`` says if that does not fit
            found[step.file] = asked_for(step.asked.law, part * step.asked.spent, step.asked.delta)
    return found


def trouble(planned: Series, ledger: Ledger | None, to_charge: Sequence[Step], *, skip_missing: bool) -> str:
    """Why what is still to be charged does not fit, in the total or in the ledger, or is missing; else nothing."""
    if planned.of(MISSING) and not skip_missing:
        return (
            f"written before, and missing now: {files(planned.of(MISSING))}. Put it back, or go on without it "
            "(skip_missing, --skip-missing)"
        )
    together = _dearest([*planned.charges, *to_charge], planned.protects, planned.budget)
    if not together <= planned.budget.epsilon:
        before = "with what was charged for it before, " if planned.charges else ""
        return (
            f"{before}the series would cost {_told(together)}, and its total is {planned.budget.epsilon:g} for "
            f"each {planned.protects}"
        )
    if ledger is not None and to_charge:
        (dataset,) = (one for one in ledger.datasets() if one.name == planned.dataset)
        together = ledger.would_spend(to_charge, planned.dataset).epsilon
        if not together <= dataset.budget.epsilon:
            return (
                f"the series does not fit as a whole: the budget of {planned.dataset!r} is epsilon "
                f"{dataset.budget.epsilon:g}, delta {dataset.budget.delta:g} for each {dataset.protects}, spent are "
                f"{ledger.spent(planned.dataset).epsilon:.6g}, and it would be {_told(together)}"
            )
    return ""


def files(steps: Sequence[Step]) -> str:
    """Some releases and their charges, for messages."""
    some = ", ".join(
        f"{step.file.name} ({', '.join(f'charge {one.number}, epsilon {one.asked.epsilon:.4g}' for one in step.paid)})"
        for step in steps[:5]
    )
    return some + (f" and {len(steps) - 5} more" if len(steps) > 5 else "")


def _dearest(every: Sequence[Dated], protects: Protects, budget: Budget) -> float:
    """The epsilon of the day that costs most."""
    return max(cost([one.asked for one in those], budget).epsilon for _, those in pieces(every, protects, None))


def _told(epsilon: float) -> str:
    return "more than delta allows" if math.isinf(epsilon) else f"epsilon {epsilon:.6g}"


def _fingerprint(path: Path) -> str | None:
    """The fingerprint of a release file, if it is one."""
    try:
        return load(path, index=False).fingerprint
    except FileFormatError:
        return None


def _today() -> date:
    return date.today()
