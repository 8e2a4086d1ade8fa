"""A series of releases of people's trips, one per day, week or month, within one total budget.

    schedule = hushpath.Schedule("2026-01-01", every="month", count=12)
    hushpath.series(trips, schedule, epsilon=3.0, protects="person", low=0.5, high=6, ledger="city.ledger",
                    folder="out", run=hushpath.SeriesRun(dataset="city"))

Everything public comes first: spans, epsilons (``schedule``), the certificate of every release, and whether all of them
fit (``steps``).  Then each release is charged, measured and written by itself.  The ledger and the folder say how far
a series has come, so the same call goes on where the last one ended, also after ``kill -9``.

Guarantees (tests/unit/test_series.py, tests/contract/test_series_killed.py): nothing is charged, and no ledger made,
unless the whole series fits; what is made is not made again; a file that exists is never replaced; one process at a
time works in a folder; a charge that a killed run lost never stops the series, and the total is never exceeded.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..errors import BudgetError, CannotError, OptionError, warn
from ..io.folders import only_process
from ..io.signing import private_key, write_signed
from ..measurement.private_step import measure_trips
from ..noise import Noise
from ..privacy.accounting import Budget
from ..privacy.ledger import Ledger
from ..privacy.ledger_file import Charge
from ..privacy.units import TripUnit
from ..published.quantity import Quantity
from ..published.release import Release
from ..trips.trips import Trips
from .charging import spending_of
from .release import publish, strategy_for
from .schedule import epsilons, spans
from .steps import LOST, MISSING, TO_COME, UNFINISHED, Series, Step, divided, files, found, trouble

LOCK = ".series.lock"
AnyPath = str | os.PathLike[str]


@dataclass(frozen=True)
class Schedule:
    """When the releases of a series are made, and how they share the budget.

    Parameters
    ----------
    first
        The first day of the first release.
    every
        A release per "day", "week" or "month".
    count
        How many releases.
    split
        "even", or "front": the first release gets most (``schedule.shares``).
    retry
        Keep an eighth of a release's share, so that a release that is killed can be charged and made again.
    """

    first: date | str
    every: str
    count: int
    split: str = "even"
    retry: bool = True


@dataclass(frozen=True)
class SeriesRun:
    """What one run of a series does.

    Parameters
    ----------
    dataset
        The data set of the ledger; required for a new ledger.
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
    """

    dataset: str | None = None
    sign: AnyPath | None = None
    early: bool = False
    skip_missing: bool = False
    only_plan: bool = False
    around: Callable[[Step], AbstractContextManager[Any]] = nullcontext


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
    if not isinstance(trips, Trips):
        raise OptionError(f"series takes Trips, such as read_trips returns, not {type(trips).__name__}")
    when = spans(schedule.first, schedule.every, schedule.count)
    known, name, charges = _ledger(ledger, run.dataset)
    budget, choice = Budget(epsilon, delta), Noise.of(noise)
    whole = strategy_for(
        trips, budget, TripUnit.of(protects, when[0]), low=low, high=high, noise=choice.law,
        edge_weighting=edge_weighting,
    )  # fmt: skip
    protected, retry, skip = whole.terms.unit.protects, schedule.retry, run.skip_missing
    each_epsilon = epsilons(budget, schedule.count, schedule.split, protected, whole.law, retry=retry)
    # The very certificates that will be charged: days are no part of them.
    asked = cache(lambda one: spending_of(whole.with_epsilon(one, when[0]))[0])
    planned = [
        Step(days, one, asked(one), Path(folder) / f"{_plain(name)}-{days[0]}.hush")
        for days, one in zip(when, each_epsilon, strict=True)
    ]

    def stand(charges: list[Charge]) -> tuple[Step, ...]:
        return tuple(found(step, charges, early=run.early) for step in planned)

    steps = stand(charges)
    result = Series(name, protected, budget, schedule.split, steps)
    now = divided(result, known, skip_missing=skip, retry=retry)
    changed = {step.file: replace(step, epsilon=now[step.file], asked=asked(now[step.file]))
               for step in steps if step.file in now}  # fmt: skip
    result = replace(result, steps=tuple(changed.get(step.file, step) for step in steps))
    to_charge = list(changed.values())
    result = replace(result, trouble=trouble(result, known, to_charge, skip_missing=skip))
    if run.only_plan:
        return result
    if result.trouble:
        raise (CannotError if result.of(MISSING) else BudgetError)(f"{result.trouble}. Nothing was charged")
    if run.sign is not None:
        private_key(run.sign)  # a wrong key is an error before a ledger is made
    _make_folder(Path(folder))
    with only_process(Path(folder), LOCK):
        if known is None:
            known = Ledger.create(
                ledger, dataset=name, protects=protected, epsilon=budget.epsilon, delta=budget.delta
            )  # fmt: skip
        if stand(known.charges(name)) != steps:
            raise CannotError(f"another run of this series was at work in {folder}; run it again")
        if lost := ". ".join(_losses(result, steps, now, skip_missing=skip)):
            warn(lost)
        for step in result.steps:
            _sweep(step)
        for step in result.of(UNFINISHED):
            _give_name(step, run.sign)
        for step in (one for one in to_charge if one.state != TO_COME):
            if os.path.lexists(step.file):
                raise CannotError(f"{step.file} was written meanwhile: is the same series running twice?")
            with run.around(step):
                chosen = whole.with_epsilon(step.epsilon, step.days)
                publish(
                    chosen, lambda sampler, chosen=chosen: measure_trips(chosen, trips, sampler), choice,  # type: ignore[misc]
                    quantity=Quantity(date=" to ".join(map(str, step.days)), dataset=name).of_trips(),
                    ledger=known, file=step.file.name, keep=partial(Release.save, path=step.draft),
                )  # fmt: skip
                _give_name(step, run.sign)
        charges = known.charges(name)
    return replace(result, steps=tuple(found(step, charges, early=run.early) for step in result.steps))


def _sweep(step: Step) -> None:
    """Remove what killed runs left of files that they did not finish."""
    if step.state != UNFINISHED:
        step.draft.unlink(missing_ok=True)
    for half in step.file.parent.glob(f".{glob.escape(step.file.name)}*.part"):
        half.unlink(missing_ok=True)
    for half in step.file.parent.glob(f".{glob.escape(step.draft.name)}*.part"):
        half.unlink(missing_ok=True)


def _give_name(step: Step, sign: AnyPath | None) -> None:
    """Turn the draft, which the ledger knows by now, into the file; a run that is killed here can be finished later."""
    if sign is None:
        os.replace(step.draft, step.file)
        return
    write_signed(step.file, sign, lambda path: shutil.copyfile(step.draft, path))
    step.draft.unlink()


def _losses(
    result: Series, before: tuple[Step, ...], now: dict[Path, float], *, skip_missing: bool
) -> Iterator[str]:  # fmt: skip
    """What earlier runs lost, and what is done about it."""
    if result.of(UNFINISHED):
        yield f"An earlier run was killed before it named these files; it is done now: {files(result.of(UNFINISHED))}"
    again = [step for step in result.of(LOST) if step.file in now]
    if again:
        most = max(step.epsilon for step in again)
        yield (
            f"An earlier run was killed between charge and file: {files(again)}. That charge stays spent; the "
            f"release is charged once more, with epsilon {most:.4g}, and made"
        )
    if not skip_missing and (gone := [step for step in result.of(LOST) if step.file not in now]):
        yield (
            f"An earlier run was killed between charge and file: {files(gone)}. Too little of the budget is left to "
            "charge it again, so the series goes on without it"
        )
    less = [(old, new) for old, new in zip(before, result.steps, strict=True) if new.epsilon < old.epsilon]
    if less:
        old, new = less[0]
        yield (
            f"Because charges were lost, {len(less)} releases get less than planned: the first epsilon "
            f"{new.epsilon:.4g} instead of {old.epsilon:.4g}"
        )


def _ledger(path: AnyPath, dataset: str | None) -> tuple[Ledger | None, str, list[Charge]]:
    """The ledger if it is there, the name of the data set, and its charges."""
    there = Path(path)
    if there.exists() and not (there.is_file() and there.stat().st_size == 0):  # an empty file is none yet
        known = Ledger.open(there)
        names = [one.name for one in known.datasets()]
        if dataset is None and len(names) == 1:
            dataset = names[0]
        charges = known.charges(dataset)  # says which there are if there is none of this name
        if dataset is None or dataset not in names:
            raise OptionError(f"{path}: say which data set; it has {', '.join(map(repr, names[:10]))}")
        return known, dataset, charges
    if dataset is None:
        raise OptionError(f"the ledger {path} does not exist: pass `dataset` to name the data in a new ledger")
    return None, dataset, []


def _make_folder(folder: Path) -> None:
    """Before anything is charged for a file that could not be written."""
    if not folder.is_dir():
        if os.path.lexists(folder):
            raise OptionError(f"{folder} is no folder; a series is written to one")
        if not folder.absolute().parent.is_dir():
            raise CannotError(f"cannot make {folder}: there is no folder {folder.parent}")
        folder.mkdir()
    if not os.access(folder, os.W_OK):
        raise CannotError(f"cannot write to {folder}: no permission")


def _plain(name: str) -> str:
    """A data set's name as part of a file name."""
    return re.sub(r"[^\w.-]+", "-", name).lstrip(".-")[:100] or "series"
