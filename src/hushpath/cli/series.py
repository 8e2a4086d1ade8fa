"""``hushpath series``: a release of people's trips per day, week or month, all within one total budget."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import common as c
from . import trips as t

if TYPE_CHECKING:
    from ..publish.steps import Series, Step

WAIT = "hushpath: stopping when the release under way is written; once more stops at once, and what it paid is lost"


def command(
    network: Annotated[Path, typer.Argument(help=c.NETWORK)],
    trips: Annotated[Path, typer.Option("--trips", help="PRIVATE table of trips, or a folder of parts.")],
    first: Annotated[str, typer.Option("--from", help="The first day, e.g. 2026-01-01.")],
    every: Annotated[str, typer.Option("--every", help="A release per day, week or month.")],
    count: Annotated[int, typer.Option("--count", help="How many releases.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="What all releases together may spend.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder for the release files.")],
    ledger: Annotated[Path, typer.Option("--ledger", help="Charged before each release; made if not there.")],
    delta: c.Delta = 1e-6,
    split: Annotated[str, typer.Option("--split", help="even, or front: the first get more.")] = "even",
    dataset: Annotated[str | None, typer.Option("--dataset", help="Of the ledger; else the name of --trips.")] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show spans and epsilons; write nothing.")] = False,
    early: Annotated[bool, typer.Option("--early", help="Release spans, too, that are not over yet.")] = False,
    skip_lost: Annotated[bool, typer.Option("--skip-lost", help="Skip releases charged but without a file.")] = False,
    retry: Annotated[bool, typer.Option("--retry/--no-retry", help="Keep room to repeat a killed release.")] = True,
    population: c.Population = None,
    law: c.LawName = "auto",
    directed: c.Directed = False,
    parallel_edges: c.ParallelEdges = False,
    source: c.Source = "source",
    target: c.Target = "target",
    proxy: c.Proxy = None,
    nodes: c.Nodes = None,
    estimator: c.EstimatorName = "auto",
    sign: Annotated[Path | None, typer.Option("--sign", help="Sign with this private key; see `keygen`.")] = None,
    protects: t.Protects = None,
    low: t.Low = None,
    high: t.High = None,
    person: t.Person = None,
    day: t.Day = None,
    trip: t.Trip = None,
    edge: t.Edge = None,
    seconds: t.Seconds = None,
    node: t.Node = None,
    time: t.Time = None,
    node_lists: t.NodeLists = None,
    time_lists: t.TimeLists = None,
    durations: t.Durations = None,
    period: t.PeriodColumn = None,
    periods: t.PeriodNames = None,
    neighbours: t.Neighbours = None,
    max_edges: t.MaxEdges = None,
    emphasis: t.Emphasis = None,
    json: c.Json = False,
) -> None:
    """Release people's trips span by span within one total budget; run it again to go on where it ended."""
    given = {**locals(), "days": None}
    from ..privacy.accounting import Budget
    from ..progress import shown
    from ..publish.series import series

    c.check_inputs(network, nodes, ledger)
    Budget(epsilon, delta)  # a wrong budget is said before the data are opened
    terms = t.declared(given)
    del terms["days"]  # each release has its own

    @contextmanager
    def around(step: Step) -> Iterator[None]:
        with _finishing():
            yield
            if not json:
                print(f"{step.file}: epsilon {step.epsilon:g}, charged and written", flush=True)

    with shown():
        found = series(
            t.read(network, trips, given), first=first, every=every, count=count, epsilon=epsilon, delta=delta,
            split=split, ledger=ledger, folder=out, dataset=dataset or _name(trips, ledger),
            population=population, law=law, estimator=estimator, sign=sign, early=early, skip_lost=skip_lost,
            retry=retry, only_plan=plan, around=around, **terms,
        )  # fmt: skip
    if json:
        c.print_json({"ledger": str(ledger), **_document(found)})
    else:
        print("\n".join([str(found), *_outlook(found)]))


@contextmanager
def _finishing() -> Iterator[None]:
    """Let the release under way be written before Ctrl-C or a polite kill ends the series: it is paid for already."""
    asked: list[int] = []

    def note(number: int, frame: Any) -> None:  # noqa: ARG001 - what signal handlers are given
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt
        print(WAIT, file=sys.stderr, flush=True)

    if threading.current_thread() is not threading.main_thread():  # others get no signals
        yield
        return
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if asked:
        raise KeyboardInterrupt


def _name(trips: Path, ledger: Path) -> str | None:
    """What a new ledger calls the data; one that is there knows."""
    if ledger.exists() and ledger.stat().st_size:
        return None
    place = trips.absolute()
    return place.name if place.is_dir() else place.stem


def _outlook(found: Series) -> list[str]:
    """What there is to do about it."""
    lines = [f"NOT POSSIBLE as planned: {found.trouble}."] if found.trouble else []
    if found.of("lost"):
        lines.append("Lost: a run was killed between charge and file; the charge stays spent.")
    for step in found.of("made"):
        if step.wasted:
            numbers = ", ".join(f"{one.number} (epsilon {one.asked.epsilon:.4g})" for one in step.wasted)
            lines.append(f"Charged more than once: {step.file.name}; no file was made of charge {numbers}.")
    if found.of("to come"):
        lines.append("To come: the days are not over. Its budget is kept; run this again then.")
    return lines


def _document(found: Series) -> dict[str, Any]:
    """The series for machines."""
    steps = [
        {"days": [str(day) for day in step.days], "epsilon": step.epsilon, "state": step.state, "file": str(step.file),
         "charges": [one.number for one in step.paid], "lost_charges": [one.number for one in step.wasted]}
        for step in found.steps
    ]  # fmt: skip
    return {
        "dataset": found.dataset, "protects": str(found.protects), "split": found.split, "words": found.words,
        "budget": {"epsilon": found.budget.epsilon, "delta": found.budget.delta},
        "together": c.finite(found.epsilon("to make", "to come")), "trouble": found.trouble or None, "releases": steps,
    }  # fmt: skip
