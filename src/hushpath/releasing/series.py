"""A series of releases of people's trips, one per day, week or month, within one total budget.

    schedule = hushpath.Schedule("2026-01-01", every="month", count=12)
    hushpath.series(trips, schedule, epsilon=3.0, protects="person", low=0.5, high=6, ledger="city.ledger",
                    folder="out", run=hushpath.SeriesRun(hushpath.Quantity(dataset="city")))

Everything public comes first: days and epsilons (``schedule``), the certificate of every release, and whether all of
them fit.  Then each release is charged, measured and written by itself.  Ledger and folder hold the state of a release,
so the same call continues after an interruption, also after ``kill -9``:

    made        the file exists, and a charge of these days is for it
    lost        charged, but the run was killed before it wrote the file: the charge stays spent
    missing     charged and written, but the file was moved or deleted since
    unfinished  charged and written, but the run was killed before it named the file: naming it costs nothing
    to come     its days are not over; its budget is reserved
    to make     the rest

A release is written under a hidden name, its fingerprint is noted in the ledger, and only then the file gets its name.
So the ledger distinguishes a killed run (no fingerprint) from a moved file.  A lost release is charged and made again
within the total, with less for every release that is left; a missing one is never charged again by itself.

Guarantees (tests/unit/test_series.py, tests/contract/test_series_killed.py): nothing is charged, and no ledger made,
unless everything still to be charged fits the total and the ledger's budget; a release that is made is not made again;
an existing file is never replaced; one process at a time works in a folder; a lost charge never stops the series.
"""

from __future__ import annotations

import glob
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

from .._validate import check_type
from ..days import DateRange, format_days
from ..errors import BudgetError, CannotError, FileFormatError, OptionError, warn
from ..io.folders import only_process
from ..io.signing import read_private_key, write_signed
from ..measurement.trip_strategy import TripStrategy
from ..noise import Noise
from ..privacy.accounting import Budget
from ..privacy.composition import Dated, Spending, compose, days_with_same_releases
from ..privacy.ledger import Charge, Ledger
from ..privacy.units import Protects, TripUnit
from ..published.quantity import UNNAMED, Quantity, format_table
from ..published.release import Release, load
from ..trips.trips import Trips
from .release import publish, spending_of, strategy_for
from .schedule import Schedule, convert_to_epsilon, divide_budget, rescale_planned

LOCK = ".series.lock"
MADE, LOST, MISSING, UNFINISHED = "made", "lost", "missing", "unfinished"
TO_COME, TO_MAKE = "to come", "to make"
AnyPath = str | os.PathLike[str]


@dataclass(frozen=True)
class PlannedRelease:
    """One release of a series: its days, its epsilon, what it spends, its file, its state and its charges so far."""

    days: DateRange
    epsilon: float
    asked: Spending
    file: Path
    state: str = TO_MAKE
    charges: tuple[Charge, ...] = ()

    @property
    def draft(self) -> Path:
        """The hidden name of the file until the ledger knows it."""
        return self.file.with_name(f".{self.file.name}.unfinished")

    @property
    def lost_charges(self) -> list[Charge]:
        """The charges without a file."""
        return [charge for charge in self.charges if charge.fingerprint is None]


@dataclass(frozen=True)
class Series:
    """All releases of a series, and the total they stay within."""

    dataset: str
    protects: Protects
    budget: Budget
    split: str
    releases: tuple[PlannedRelease, ...]
    problem: str = ""  # why the series cannot be made as planned

    def of(self, *states: str) -> list[PlannedRelease]:
        """Return the releases in these states."""
        return [release for release in self.releases if release.state in states]

    def epsilon(self, *states: str) -> float:
        """Return what the charges so far and the releases in these states cost together, rounded up."""
        return _highest_cost([*self.charges, *self.of(*states)], self.protects, self.budget)

    @property
    def charges(self) -> list[Charge]:
        """Every charge of the series, in order."""
        every = (charge for release in self.releases for charge in release.charges)
        return sorted(every, key=lambda charge: charge.number)

    @property
    def explanation(self) -> str:
        """How the releases share the total."""
        if not self.protects.within_a_day:
            return f"All releases of one {self.protects} add up, so the total is split between them: {self.split}."
        if self.protects is Protects.TRIP:
            return "A trip over midnight may be in two releases, so two that follow each other share the total."
        return "Each day is in one release, so each release may spend all of it."

    def __str__(self) -> str:
        total = f"epsilon {self.budget.epsilon:g}, delta {self.budget.delta:g} in total for each {self.protects}"
        rows = [("no", "days", "epsilon", "state", "file")]
        for number, one in enumerate(self.releases, 1):
            rows.append((str(number), format_days(one.days), f"{one.epsilon:.6g}", one.state, one.file.name))
        heading = f"{len(self.releases)} releases of {self.dataset}: {total}."
        return "\n".join([heading, self.explanation, *format_table(rows)])


@dataclass(frozen=True)
class SeriesRun:
    """What one run of a series does.

    Parameters
    ----------
    quantity
        What the numbers are and who publishes them; its ``dataset`` is required for a new ledger, and its ``date`` is
        set to the days of each release.
    sign
        A private Ed25519 key (PEM) that each release is signed with.
    early
        Also release days that are not over.
    skip_missing
        Skip releases that were charged but whose file is missing.
    only_plan
        Return the plan of the series; charge and write nothing.
    around
        Returns a context in which a release is charged, measured and written.  To stop a series, raise when such a
        context is entered or left, not inside: the charge would be lost.
    specification
        Returns the specification that a release embeds.
    """

    quantity: Quantity = UNNAMED
    sign: AnyPath | None = None
    early: bool = False
    skip_missing: bool = False
    only_plan: bool = False
    around: Callable[[PlannedRelease], AbstractContextManager[Any]] = nullcontext
    specification: Callable[[TripStrategy], str] = field(default=lambda _: "")


def series(
    trips: Trips, schedule: Schedule, *, epsilon: float, delta: float = 1e-6, protects: str | TripUnit | None = None,
    low: Any = None, high: Any = None, ledger: AnyPath, folder: AnyPath, noise: str | Noise = "auto",
    edge_weighting: str = "inverse-traffic", run: SeriesRun = SeriesRun(),  # noqa: B008 - frozen
) -> Series:  # fmt: skip
    """Release trips day by day, week by week or month by month within a total budget; call again to continue.

    Parameters
    ----------
    trips
        People's trips, such as ``read_trips`` returns, with a day column that holds dates.
    schedule
        When releases are made, and how they share the budget.
    epsilon, delta
        The budget of all releases together.
    protects, low, high, noise, edge_weighting
        As for ``release_trips``.
    ledger
        The ledger file; if it does not exist it is created, with the total as its budget.
    folder
        Where the release files go; it is created if it does not exist.
    run
        What this run does: which releases, which signature, plan only.

    Returns
    -------
    Series
        Every release with its days, its epsilon and its state.
    """
    check_type(trips, Trips, "series takes Trips, such as read_trips returns")
    ranges = schedule.spans
    quantity = run.quantity.of_trips()
    existing, name, charges = _open_ledger(ledger, quantity.dataset)
    budget, choice = Budget(epsilon, delta), Noise.of(noise)
    whole = strategy_for(
        trips, budget, TripUnit.of(protects, ranges[0]), low=low, high=high, noise=choice.law,
        edge_weighting=edge_weighting,
    )  # fmt: skip
    protected = whole.terms.unit.protects
    each_epsilon = divide_budget(budget, schedule, protected, whole.law)
    # The very certificates that will be charged: days are no part of them.
    spending_at = cache(lambda one: spending_of(whole.with_epsilon(one, ranges[0]))[0])
    planned = [
        PlannedRelease(days, one, spending_at(one), Path(folder) / f"{_file_stem(name)}-{days[0]}.hush")
        for days, one in zip(ranges, each_epsilon, strict=True)
    ]

    def read_states(charges: list[Charge]) -> tuple[PlannedRelease, ...]:
        return tuple(_read_state(one, charges, early=run.early) for one in planned)

    before = read_states(charges)
    result = Series(name, protected, budget, schedule.split, before)
    now = _divide_remaining(result, existing, skip_missing=run.skip_missing, retry=schedule.retry)
    to_charge = {
        one.file: replace(one, epsilon=now[one.file], asked=spending_at(now[one.file]))
        for one in before if one.file in now
    }  # fmt: skip
    result = replace(result, releases=tuple(to_charge.get(one.file, one) for one in before))
    problem = _find_problem(result, existing, list(to_charge.values()), skip_missing=run.skip_missing)
    result = replace(result, problem=problem)
    if run.only_plan:
        return result
    if problem:
        raise (CannotError if result.of(MISSING) else BudgetError)(f"{problem}. Nothing was charged")
    if run.sign is not None:
        read_private_key(run.sign)  # a wrong key is an error before a ledger is made
    try:  # before anything is charged for a file that could not be written
        Path(folder).mkdir(exist_ok=True)
    except FileExistsError:
        raise OptionError(f"{folder} is not a folder; a series is written to one") from None
    except OSError as error:
        raise CannotError(f"cannot make {folder}: {error.strerror}") from None
    if not os.access(folder, os.W_OK):  # a lock that a killed run left would hide it until after the charge
        raise CannotError(f"cannot write to {folder}: no permission")
    with only_process(Path(folder), LOCK):
        opened = existing or Ledger.create(
            ledger, dataset=name, protects=protected, epsilon=budget.epsilon, delta=budget.delta
        )  # fmt: skip
        if read_states(opened.charges(name)) != before:
            raise CannotError(f"another run of this series was at work in {folder}; run it again")
        if losses := ". ".join(_describe_losses(result, before, now, skip_missing=run.skip_missing)):
            warn(losses)
        for one in result.releases:
            _remove_partial_files(one)
        for one in result.of(UNFINISHED):
            _name_file(one, run.sign)
        for one in (one for one in to_charge.values() if one.state != TO_COME):
            if os.path.lexists(one.file):
                raise CannotError(f"{one.file} was written meanwhile: is the same series running twice?")
            with run.around(one):
                chosen = whole.with_epsilon(one.epsilon, one.days)
                publish(
                    chosen, trips, choice, specification=run.specification(chosen),
                    quantity=replace(quantity, date=" to ".join(map(str, one.days)), dataset=name),
                    ledger=opened, file=one.file.name, keep=partial(Release.save, path=one.draft),
                )  # fmt: skip
                _name_file(one, run.sign)
        charges = opened.charges(name)
    return replace(result, releases=tuple(_read_state(one, charges, early=run.early) for one in result.releases))


def _read_state(planned: PlannedRelease, charges: Sequence[Charge], *, early: bool) -> PlannedRelease:
    """Return a release with the state and the charges that ledger and folder hold."""
    own = [one for one in charges if one.days == planned.days and one.file == planned.file.name]
    if not os.path.lexists(planned.file):
        state = TO_MAKE if early or planned.days[1] < _today() else TO_COME
        if marks := {one.fingerprint for one in own if one.fingerprint}:
            state = UNFINISHED if _fingerprint(planned.draft) in marks else MISSING
        elif own:
            state = LOST
        return replace(planned, state=state, charges=tuple(own))
    mark = load(planned.file, index=False).fingerprint
    paid = next((one for one in charges if one.fingerprint == mark), None)
    if paid is None or paid.days != planned.days:
        raise OptionError(
            f"{planned.file} exists, but the ledger has no charge of {format_days(planned.days)} for it; move it "
            "elsewhere (hushpath ledger check says more)"
        )
    others = [one for one in own if one.number != paid.number]  # lost once, and made again
    return replace(planned, state=MADE, epsilon=paid.asked.epsilon, asked=paid.asked, charges=(*others, paid))


def _divide_remaining(planned: Series, ledger: Ledger | None, *, skip_missing: bool, retry: bool) -> dict[Path, float]:
    """Return the epsilon of each release of ``planned`` still to be charged, by its file; less after a loss.

    Lost releases are among them, unless ``skip_missing``, if the total and the ``ledger`` have enough left to make them
    again, with a reserve if ``retry``.
    """
    lost = [] if skip_missing else planned.of(LOST)
    todo = planned.of(TO_MAKE, TO_COME)
    found = {one.file: one.epsilon for one in [*todo, *lost]}
    if not any(one.lost_charges for one in planned.releases):
        return found
    accounts: list[tuple[Budget, Protects, list[Charge]]] = [(planned.budget, planned.protects, planned.charges)]
    if ledger is not None:
        dataset = ledger.dataset(planned.dataset)
        accounts.append((dataset.budget, dataset.protects, ledger.charges(planned.dataset)))

    def factor(group: list[PlannedRelease]) -> float:
        def fits(asked: list[Spending]) -> bool:
            more = [replace(one, asked=new) for one, new in zip([*group, group[-1]], asked, strict=False)]
            return all(
                _highest_cost([*before, *more], protects, budget) <= budget.epsilon
                for budget, protects, before in accounts
            )

        return rescale_planned([one.asked for one in group], fits, retry=retry)

    every = sorted([*todo, *lost], key=lambda one: one.days)
    apart = planned.protects is Protects.PERSON_DAY  # else releases share units
    groups = [[one] for one in every if one.charges] if apart else [every] if every else []
    for group in groups:
        part = factor(group)
        if not part:  # a lost release stays lost
            for one in group:
                if one.state == LOST:
                    del found[one.file]
            group = [one for one in group if one.state != LOST]
            part = factor(group) if group else 1.0
        for one in group if 0 < part < 1 else []:  # else as planned: ``_find_problem`` says if that does not fit
            found[one.file] = convert_to_epsilon(one.asked.law, part * one.asked.spent, one.asked.delta)
    return found


def _find_problem(
    planned: Series, ledger: Ledger | None, to_charge: Sequence[PlannedRelease], *, skip_missing: bool
) -> str:  # fmt: skip
    """Return why the ``planned`` series cannot go on: a file is missing, unless ``skip_missing``, or the budget.

    Neither the total nor that of the ``ledger`` may be exceeded by the releases ``to_charge``.
    """
    if planned.of(MISSING) and not skip_missing:
        return (
            f"written before, and missing now: {_list_files(planned.of(MISSING))}. Put it back, or go on without it "
            "(skip_missing, --skip-missing)"
        )
    together = _highest_cost([*planned.charges, *to_charge], planned.protects, planned.budget)
    if not together <= planned.budget.epsilon:
        before = "with what was charged for it before, " if planned.charges else ""
        return (
            f"{before}the series would cost {_format_epsilon(together)}, and its total is {planned.budget.epsilon:g} "
            f"for each {planned.protects}"
        )
    if ledger is not None and to_charge:
        dataset = ledger.dataset(planned.dataset)
        together = ledger.would_spend(to_charge, planned.dataset).epsilon
        if not together <= dataset.budget.epsilon:
            return (
                f"the series does not fit as a whole: the budget of {planned.dataset!r} is epsilon "
                f"{dataset.budget.epsilon:g}, delta {dataset.budget.delta:g} for each {dataset.protects}, spent are "
                f"{ledger.spent(planned.dataset).epsilon:.6g}, and it would be {_format_epsilon(together)}"
            )
    return ""


def _describe_losses(
    result: Series, before: tuple[PlannedRelease, ...], now: dict[Path, float], *, skip_missing: bool
) -> Iterator[str]:  # fmt: skip
    """Say what earlier runs lost, and what is done about it.

    ``before`` and ``result`` are the releases as planned and as they are made; ``now`` has the epsilons of those still
    to be charged; ``skip_missing`` leaves lost ones out.
    """
    killed = "An earlier run was killed between charge and file"
    if unfinished := result.of(UNFINISHED):
        yield f"An earlier run was killed before it named these files; they are named now: {_list_files(unfinished)}"
    if again := [one for one in result.of(LOST) if one.file in now]:
        most = max(one.epsilon for one in again)
        yield (
            f"{killed}: {_list_files(again)}. That charge stays spent; the release is charged once more, with epsilon "
            f"{most:.4g}, and made"
        )
    if not skip_missing and (gone := [one for one in result.of(LOST) if one.file not in now]):
        yield (
            f"{killed}: {_list_files(gone)}. Too little of the budget is left to charge it again, so the series goes "
            "on without it"
        )
    if less := [(old, new) for old, new in zip(before, result.releases, strict=True) if new.epsilon < old.epsilon]:
        old, new = less[0]
        yield (
            f"Because charges were lost, {len(less)} releases get less than planned: the first epsilon "
            f"{new.epsilon:.4g} instead of {old.epsilon:.4g}"
        )


def _list_files(releases: Sequence[PlannedRelease]) -> str:
    some = ", ".join(
        f"{one.file.name} ({', '.join(f'charge {c.number}, epsilon {c.asked.epsilon:.4g}' for c in one.charges)})"
        for one in releases[:5]
    )
    return some + (f" and {len(releases) - 5} more" if len(releases) > 5 else "")


def _highest_cost(every: Sequence[Dated], protects: Protects, budget: Budget) -> float:
    """Return the epsilon of the day that costs most."""
    runs = days_with_same_releases(every, protects, None)
    return max(compose([one.asked for one in those], budget).epsilon for _, those in runs)


def _format_epsilon(epsilon: float) -> str:
    return "more than delta allows" if math.isinf(epsilon) else f"epsilon {epsilon:.6g}"


def _remove_partial_files(release: PlannedRelease) -> None:
    if release.state != UNFINISHED:
        release.draft.unlink(missing_ok=True)
    for path in (release.file, release.draft):
        for part in path.parent.glob(f".{glob.escape(path.name)}*.part"):
            part.unlink(missing_ok=True)


def _name_file(release: PlannedRelease, sign: AnyPath | None) -> None:
    """Turn the draft, whose fingerprint the ledger has, into the file; a run killed here can be finished later."""
    if sign is None:
        os.replace(release.draft, release.file)
        return
    write_signed(release.file, sign, lambda path: shutil.copyfile(release.draft, path))
    release.draft.unlink()


def _open_ledger(path: AnyPath, dataset: str) -> tuple[Ledger | None, str, list[Charge]]:
    """Return the ledger if it exists, the name of the data set, and its charges."""
    place = Path(path)
    if place.exists() and not (place.is_file() and place.stat().st_size == 0):  # an empty file is no ledger yet
        ledger = Ledger.open(place)
        name = ledger.dataset(dataset or None).name
        return ledger, name, ledger.charges(name)
    if not dataset:
        raise OptionError(f"the ledger {path} does not exist: pass `dataset` to name the data in a new ledger")
    return None, dataset, []


def _file_stem(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).lstrip(".-")[:100] or "series"


def _fingerprint(path: Path) -> str | None:
    """Return the fingerprint of a release file, None if it is none."""
    try:
        return load(path, index=False).fingerprint
    except FileFormatError:
        return None


def _today() -> date:
    return date.today()
