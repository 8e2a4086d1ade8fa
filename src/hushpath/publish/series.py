"""A series of releases of people's trips, one per day, week or month, within one total budget.

    hushpath.series(trips, first="2026-01-01", every="month", count=12, epsilon=3.0, ledger="city.ledger",
                    folder="out", dataset="city", protects="person", low=0.5, high=6, proxy="free_flow")

Everything public comes first: spans, epsilons (``schedule``), the certificate of every release, and whether all of them
fit (``steps``).  Then each release is charged, measured and written by itself.  The ledger and the folder say how far
a series has come, so the same call goes on where the last one ended.

Guarantees (tests/unit/test_series.py): nothing is charged, and no ledger made, unless the whole series fits; what is
made is not made again; a file that is there is never replaced.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from ..data.trips import Trips
from ..decode.registry import reading
from ..errors import BudgetError, CannotError, OptionError, warn
from ..files.keys import private_key
from ..privacy.ledger import Ledger
from ..privacy.ledger_file import Charge
from ..privacy.spending import Protects, Spending
from ..strategy.trips import trip_strategy
from .release import release
from .schedule import epsilons, spans
from .steps import LOST, TO_MAKE, Series, Step, found, lost_files, trouble
from .trip_terms import declared

AnyPath = str | os.PathLike[str]


def series(
    trips: Trips, *, first: date | str, every: str, count: int, epsilon: float | None = None,
    delta: float | None = None, split: str = "even", ledger: AnyPath, folder: AnyPath, dataset: str | None = None,
    protects: str | None = None, low: Any = None, high: Any = None, proxy: str | None = None,
    neighbours: str | None = None, max_edges: int | None = None, emphasis: str | None = None,
    population: int | None = None, law: str = "auto", estimator: str = "auto",
    sign: AnyPath | None = None, early: bool = False, skip_lost: bool = False, only_plan: bool = False,
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
        skip_lost: leave out what was paid for and has no file, and go on with the rest.
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
    each_epsilon = epsilons(budget, count, split, whole.protects, strategy.law)
    # The very certificates that will be charged: days are no part of them.
    spent = {
        one: Spending.of(trip_strategy(topology, replace(whole, epsilon=one), law).certificate, whole.protects)
        for one in dict.fromkeys(each_epsilon)
    }
    planned = [
        Step(days, one, spent[one], Path(folder) / f"{_plain(name)}-{days[0]}.hush")
        for days, one in zip(when, each_epsilon, strict=True)
    ]
    steps = tuple(found(step, charges, early=early) for step in planned)
    result = Series(name, Protects.of(whole.protects), budget, split, steps)
    result = replace(result, trouble=trouble(result, known, skip_lost=skip_lost))
    if only_plan:
        return result
    if result.trouble:
        raise BudgetError(f"{result.trouble}. Nothing was charged")
    reading(strategy, estimator=estimator)  # what is wrong is said before a ledger is made
    if sign is not None:
        private_key(sign)
    _make_folder(Path(folder))
    if known is None:
        known = Ledger.create(
            ledger, dataset=name, protects=whole.protects, epsilon=budget.epsilon, delta=budget.delta
        )  # fmt: skip
    work = result.of(TO_MAKE) if skip_lost else result.of(TO_MAKE, LOST)
    if not skip_lost and result.of(LOST):
        warn(f"paid for and not there; it stays spent, and is paid for and made again: {lost_files(result)}")
    for step in work:
        if os.path.lexists(step.file):
            raise CannotError(f"{step.file} was written meanwhile: is the same series running twice?")
        with around(step):
            made = release(
                trips, days=step.days, epsilon=step.epsilon, delta=budget.delta, law=law, estimator=estimator,
                ledger=known.path, dataset=name, file=step.file.name, date=" to ".join(map(str, step.days)), **terms,
            )  # fmt: skip
            made.save(step.file, sign=sign)
    charges = known.charges(name)
    now = {step.file: found(step, charges, early=early) for step in work}
    return replace(result, steps=tuple(now.get(step.file, step) for step in steps))


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
