"""A series of releases of people's trips, one per day, week or month, within one total budget.

    hushpath.series(trips, first="2026-01-01", every="month", count=12, epsilon=3.0, ledger="city.ledger",
                    folder="out", dataset="city", protects="person", low=0.5, high=6, proxy="free_flow")

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
from dataclasses import replace
from datetime import date
from functools import cache, partial
from pathlib import Path
from typing import Any

from ..data.trips import Trips
from ..decode.registry import choose_decoder
from ..errors import BudgetError, CannotError, OptionError, warn
from ..files.folders import only_process
from ..files.keys import private_key
from ..files.signing import write_signed
from ..privacy.ledger import Ledger
from ..privacy.ledger_file import Charge
from ..privacy.spending import Protects
from ..strategy.core import Strategy
from ..strategy.trips import trip_strategy
from .charging import Charging, spending_of
from .oracle import Release
from .quantity import Quantity
from .release import measured
from .schedule import Span, epsilons, spans
from .steps import LOST, MISSING, TO_COME, UNFINISHED, Series, Step, divided, files, found, trouble
from .trip_terms import declared

LOCK = ".series.lock"
AnyPath = str | os.PathLike[str]


def series(
    trips: Trips, *, first: date | str, every: str, count: int, epsilon: float | None = None,
    delta: float | None = None, split: str = "even", ledger: AnyPath, folder: AnyPath, dataset: str | None = None,
    protects: str | None = None, low: Any = None, high: Any = None, proxy: str | None = None,
    neighbours: str | None = None, max_edges: int | None = None, emphasis: str | None = None,
    population: int | None = None, law: str = "auto", estimator: str = "auto",
    sign: AnyPath | None = None, early: bool = False, skip_lost: bool = False, retry: bool = True,
    only_plan: bool = False,
    around: Callable[[Step], AbstractContextManager[Any]] = nullcontext,
) -> Series:  # fmt: skip
    """Release trips span by span within a total budget, and return what there is now; call again to go on.

    Args:
        trips: people's trips, such as ``read_trips`` gives, with a column of days that are dates.
        first, every, count: the first day; a release per "day", "week" or "month"; how many.
        epsilon, delta: the budget of all releases together; delta is 1e-6 if not given.
        split: "even", or "front": the first gets most (``schedule.shares``).
        ledger: the ledger file; if there is none it is made, with the total as its budget.
        folder: where files go; it is made if it is not there.
        dataset: the data set of the ledger; needed for a new ledger.
        early: release spans, too, whose last day is not over.
        skip_lost: leave out releases that were charged but whose file is missing, and go on with the rest.
        retry: keep an eighth of a release's share, so that one that is killed can be charged and made again.
        only_plan: write nothing.
        around: gives a context in which a release is charged, measured and written.  Who wants to stop a series should
            raise when such a context is entered or left, not inside: what is paid for by then would be lost.

    The rest is as in ``hushpath.release`` for trips.
    """
    if not isinstance(trips, Trips):
        raise OptionError(f"series takes trips, such as read_trips gives, not {type(trips).__name__}")
    terms = dict(
        protects=protects, low=low, high=high, proxy=proxy, max_edges=max_edges, population=population,
        neighbours=neighbours or "add-remove", emphasis=emphasis or "quiet",
    )  # fmt: skip
    when = spans(first, every, count)
    known, name, charges = _ledger(ledger, dataset)
    topology, whole = declared(trips, epsilon=epsilon, delta=delta, days=when[0], **terms)
    budget, strategy = whole.budget, trip_strategy(topology, whole, law)
    each_epsilon = epsilons(budget, count, split, whole.protects, strategy.law, retry=retry)
    # The very certificates that will be charged: days are no part of them.
    asked = cache(lambda one: spending_of(strategy_of(one))[0])

    def strategy_of(one: float, days: Span = when[0]) -> Strategy:
        return trip_strategy(topology, replace(whole, epsilon=one, days=days), law)

    planned = [
        Step(days, one, asked(one), Path(folder) / f"{_plain(name)}-{days[0]}.hush")
        for days, one in zip(when, each_epsilon, strict=True)
    ]

    def stand(charges: list[Charge]) -> tuple[Step, ...]:
        return tuple(found(step, charges, early=early) for step in planned)

    steps = stand(charges)
    result = Series(name, Protects.of(whole.protects), budget, split, steps)
    now = divided(result, known, skip_lost=skip_lost, retry=retry)
    changed = {step.file: replace(step, epsilon=now[step.file], asked=asked(now[step.file]))
               for step in steps if step.file in now}  # fmt: skip
    result = replace(result, steps=tuple(changed.get(step.file, step) for step in steps))
    to_charge = list(changed.values())
    result = replace(result, trouble=trouble(result, known, to_charge, skip_lost=skip_lost))
    if only_plan:
        return result
    if result.trouble:
        raise (CannotError if result.of(MISSING) else BudgetError)(f"{result.trouble}. Nothing was charged")
    choose_decoder(strategy, estimator=estimator)  # what is wrong is said before a ledger is made
    if sign is not None:
        private_key(sign)
    _make_folder(Path(folder))
    with only_process(Path(folder), LOCK):
        if known is None:
            known = Ledger.create(
                ledger, dataset=name, protects=whole.protects, epsilon=budget.epsilon, delta=budget.delta
            )  # fmt: skip
        if stand(known.charges(name)) != steps:
            raise CannotError(f"another run of this series was at work in {folder}; run it again")
        if lost := ". ".join(_losses(result, steps, now, skip_lost=skip_lost)):
            warn(lost)
        for step in result.steps:
            _sweep(step)
        for step in result.of(UNFINISHED):
            _give_name(step, sign)
        for step in (one for one in to_charge if one.state != TO_COME):
            if os.path.lexists(step.file):
                raise CannotError(f"{step.file} was written meanwhile: is the same series running twice?")
            with around(step):
                chosen = strategy_of(step.epsilon, step.days)
                charging = Charging(known, *spending_of(chosen), name, step.file.name)
                said = Quantity.declared(None, None, " to ".join(map(str, step.days)), trips=True)
                measured(
                    chosen, trips, "auto", None, estimator, charging, said, keep=partial(Release.save, path=step.draft)
                )  # fmt: skip
                _give_name(step, sign)
        charges = known.charges(name)
    return replace(result, steps=tuple(found(step, charges, early=early) for step in result.steps))


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
    result: Series, before: tuple[Step, ...], now: dict[Path, float], *, skip_lost: bool
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
    if not skip_lost and (gone := [step for step in result.of(LOST) if step.file not in now]):
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
        raise OptionError(f"there is no ledger {path} yet: say what a new one is to call the data, dataset='city'")
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
