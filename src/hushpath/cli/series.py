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
from . import options as o

if TYPE_CHECKING:
    from ..releasing.series import PlannedRelease, Series

WAIT = (
    "hushpath: stopping when the release that is being made is written; a second signal stops at once, and its charge "
    "is lost"
)


@o.spec_options(["--epsilon", "--delta", "--dataset", "--ledger"])
def command(
    given: Annotated[Path, typer.Argument(metavar="SPEC", help="Specification with trips, schedule and ledger.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder for the release files.")],
    changes: o.Changes,
    plan: Annotated[bool, typer.Option("--plan", help="Show days and epsilons; write nothing.")] = False,
    early: Annotated[bool, typer.Option("--early", help="Also release days that are not over.")] = False,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Skip releases that were charged but whose file is missing.")
    ] = False,
    sign: Annotated[Path | None, typer.Option("--sign", help="Sign with this private key; see `keygen`.")] = None,
    json: c.Json = False,
) -> None:
    """Make the releases of a schedule within one total budget; run it again to continue."""
    from ..errors import OptionError
    from ..progress import shown
    from ..published.quantity import Quantity
    from ..releasing.series import SeriesRun

    if given.suffix.lower() != ".toml":
        raise OptionError(f"{given} is not a specification (.toml); write one with `hushpath init`")
    spec = o.spec_from(given, changes)
    c.check_inputs(given, *c.public_files(spec))

    @contextmanager
    def around(step: PlannedRelease) -> Iterator[None]:
        with _finishing():
            yield
            if not json:
                print(f"{step.file}: epsilon {step.epsilon:g}, charged and written", flush=True)

    dataset = spec.quantity.dataset
    if not dataset and spec.trips and spec.ledger:
        dataset = _new_name(spec.trips.file, spec.ledger.file)
    run = SeriesRun(Quantity(dataset=dataset), sign, early, skip_missing, plan, around)
    with shown():
        found = spec.series(out, run)
    if json:
        c.print_json({"ledger": str(spec.ledger.file if spec.ledger else ""), **_document(found)})
    else:
        print("\n".join([str(found), *_outlook(found)]))


@contextmanager
def _finishing() -> Iterator[None]:
    """Let the release that is being made be written before Ctrl-C or SIGTERM ends the series: it is charged already."""
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


def _new_name(trips: Path, ledger: Path) -> str:
    """The name of the data in a new ledger; an existing ledger has one."""
    if ledger.exists() and ledger.stat().st_size:
        return ""
    place = trips.absolute()
    return place.name if place.is_dir() else place.stem


def _outlook(found: Series) -> list[str]:
    """What to do next."""
    lines = [f"NOT POSSIBLE as planned: {found.problem}."] if found.problem else []
    if found.of("lost"):
        lines.append("Lost: a run was killed between charge and file; the charge stays spent.")
    for step in found.of("made"):
        if step.lost_charges:
            numbers = ", ".join(f"{one.number} (epsilon {one.asked.epsilon:.4g})" for one in step.lost_charges)
            lines.append(f"Charged more than once: {step.file.name}; charge {numbers} has no file.")
    if found.of("to come"):
        lines.append("To come: the days are not over. The budget is reserved; run this again then.")
    return lines


def _document(found: Series) -> dict[str, Any]:
    """The series for machines."""
    steps = [
        {"days": [str(day) for day in step.days], "epsilon": step.epsilon, "state": step.state, "file": str(step.file),
         "charges": [one.number for one in step.charges], "lost_charges": [one.number for one in step.lost_charges]}
        for step in found.releases
    ]  # fmt: skip
    return {
        "dataset": found.dataset, "protects": str(found.protects), "split": found.split,
        "explanation": found.explanation,
        "budget": {"epsilon": found.budget.epsilon, "delta": found.budget.delta},
        "together": c.finite(found.epsilon("to make", "to come")), "problem": found.problem or None, "releases": steps,
    }  # fmt: skip
