"""Verbs that lead to releases: init, diff, plan, plan-trips, release, release-trips, series."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from ..errors import OptionError
from . import options as o
from .files import check_inputs, check_output, public_files, spec_files
from .messages import Answer, finite, privacy_fields

if TYPE_CHECKING:
    from ..releasing.series import PlannedRelease, Series
    from ..releasing.spec import ReleaseSpec

PICTURES = (".svg", ".png")
TARGET_ERROR = "Instead of --epsilon: the mean error to reach, 2 or 5%."
WAIT = (
    "hushpath: stopping when the release that is being made is written; a second signal stops at once, and its charge "
    "is lost"
)
Out = Annotated[Path, Option("-o", "--out", help="The release file to write, e.g. roads.hush.")]
Seed = Annotated[int | None, Option("--seed", help="For tests: reproducible and NOT PRIVATE.")]
Force = Annotated[bool, Option("--force", help="Replace an existing release file.")]


# --- specifications


def init(
    network: Annotated[Path, Argument(help=o.NETWORK_FILE)],
    trips: Annotated[Path | None, Argument(help="PRIVATE table of trips, or a folder of parts.")] = None,
    out: Annotated[Path, Option("-o", "--out", help="The specification to write.")] = Path("release.toml"),
    force: Annotated[bool, Option("--force", help="Replace an existing file.")] = False,
) -> Answer:
    """Write a commented specification to review, from the names and types of columns only."""
    from ..io.container import replacing
    from ..releasing.spec_review import initial_spec

    check_inputs(network)
    check_output(out, network, trips)
    if out.exists() and not force:
        raise OptionError(f"{out} exists: name another file, or use --force")
    text, open_questions = initial_spec(network, trips, relative_to=out.absolute().parent)
    with replacing(out) as temporary:
        temporary.write_text(text, encoding="utf-8")
    decide = f" Decide: {', '.join(open_questions)}." if open_questions else ""
    document = {"file": str(out), "to_decide": open_questions}
    return Answer(document, f"Written to {out}.{decide} Then: hushpath plan {out}")


def diff(
    before: Annotated[Path, Argument(help="A specification (.toml), or a release file that embeds one.")],
    after: Annotated[Path, Argument(help="The other one.")],
) -> Answer:
    """Say what changed between two specifications: in the promise first, then in everything else."""
    from ..releasing.spec_review import compare_specs, read_any_spec

    check_inputs(before, after)
    published = any(path.suffix.lower() != ".toml" for path in (before, after))
    changes = compare_specs(read_any_spec(before), read_any_spec(after), published=published)
    document = {"same": not changes, "changes": [one._asdict() for one in changes]}
    return Answer(document, "\n".join(map(str, changes)) or "The same specification.")


# --- plans


def plan(
    given: o.Given,
    changes: Annotated[
        o.Changes,
        o.SpecOptions(
            *(flag for flag in o.WEIGHT_PROMISE if flag != "--epsilon"), *o.READ, "--weight", "--typical-weight"
        ),
    ],
    epsilon: Annotated[
        str | None, Option(help="Privacy budget; several to compare: 0.5,1,2. inf: NOT PRIVATE.")
    ] = None,
    target_error: Annotated[str | None, Option(help=TARGET_ERROR)] = None,
    previous: Annotated[
        Path | None, Option("--previous-release", help="Earlier release: weights are expected to be like it.")
    ] = None,
    ignore_baseline: o.IgnoreBaseline = False,
    picture: Annotated[
        Path | None, Option(help="Draw error against epsilon, for several: FILE.svg or FILE.png.")
    ] = None,
) -> Answer:
    """Show the predicted error of every mechanism and the choice.  Reads no private data."""
    from ..planning.result import Sweep
    from ..published.release import load

    epsilons = [] if epsilon is None else o.parse_numbers(epsilon, "--epsilon")
    if given.suffix.lower() != ".toml" and not epsilons and target_error is None:
        raise typer.BadParameter("Missing option '--epsilon' (or '--target-error').")
    if epsilons:
        changes.setdefault("budget", {})["epsilon"] = epsilons[0]
    how: dict[str, Any] = {"ignore_baseline": ignore_baseline}
    if target_error is not None:
        how["target_error"] = _no_epsilon(changes, target_error)
    check_inputs(given, previous)
    if picture is not None:
        _check_picture(picture, given, previous, several=len(epsilons) > 1)
    if previous is not None:
        how["previous_release"] = load(previous)
    with o.named_by_flags(given):
        spec = o.spec_from(given, changes)
        check_inputs(*public_files(spec))
        made = spec.plan(epsilon=epsilons if len(epsilons) > 1 else None, **how)
    if picture is None or not isinstance(made, Sweep):
        return Answer(made.as_dict(), str(made))
    from ..output.report.pictures import write_sweep

    write_sweep(picture, made)
    return Answer({**made.as_dict(), "picture": str(picture)}, f"{made}\nPicture written to {picture}.")


def _no_epsilon(changes: o.Changes, target_error: str) -> str:
    """Return a target error, for which epsilon is solved: the promise holds any epsilon."""
    budget = changes.setdefault("budget", {})
    if "epsilon" in budget:
        raise OptionError("--target-error is solved for epsilon: pass one of the two")
    budget["epsilon"] = 1.0
    return target_error


def _check_picture(picture: Path, *inputs: Path | None, several: bool) -> None:
    """Raise an error before the work of a plan if its picture cannot be drawn; ``several`` epsilons are needed."""
    from ..output.report.pictures import needs_matplotlib

    if not several:
        raise OptionError("--picture draws error against epsilon: pass several, such as --epsilon 0.5,1,2")
    if picture.suffix.lower() not in PICTURES:
        raise OptionError(f"--picture must end in {' or '.join(PICTURES)}, got {picture.name[:60]!r}")
    check_output(picture, *inputs)
    needs_matplotlib()


def plan_trips(
    given: o.Given,
    changes: Annotated[o.Changes, o.SpecOptions(*o.TRIP_PROMISE, *o.READ, "--expected-units", "--edges-per-unit")],
    target_error: Annotated[str | None, Option(help=TARGET_ERROR)] = None,
    ignore_baseline: o.IgnoreBaseline = False,
) -> Answer:
    """Forecast the error of a release of trips.  Reads no private data."""
    check_inputs(given)
    how: dict[str, Any] = {"ignore_baseline": ignore_baseline}
    if target_error is not None:
        how["target_error"] = _no_epsilon(changes, target_error)
    trips = None if given.suffix.lower() == ".toml" else Path("trips")  # not read
    spec = o.spec_from(given, changes, trips=trips)
    check_inputs(*public_files(spec))
    with o.named_by_flags(given):
        made = spec.plan(**how)
    return Answer(made.as_dict(), str(made))


# --- releases


def release(
    given: o.Given,
    out: Out,
    changes: Annotated[
        o.Changes, o.SpecOptions(*o.WEIGHT_PROMISE, *o.READ, *o.PRIVATE_WEIGHTS, "--typical-weight", *o.PUBLISH)
    ],
    ignore_baseline: o.IgnoreBaseline = False,
    estimator: o.EstimatorName = "auto",
    sign: o.Sign = None,
    seed: Seed = None,
    force: Force = False,
) -> Answer:
    """Release all distances of a network from a specification, or from its edge weights, with differential privacy."""
    how = dict(seed=seed, ignore_baseline=ignore_baseline, estimator=estimator)
    return _release(o.spec_from(given, changes), given, out, sign, force=force, **how)


def release_trips(
    given: o.Given,
    out: Out,
    changes: Annotated[o.Changes, o.SpecOptions(*o.TRIP_PROMISE, "--days", *o.READ, *o.PRIVATE_TRIPS, *o.PUBLISH)],
    trips: Annotated[Path | None, Argument(help="PRIVATE table: .parquet, .csv, .jsonl, or a folder of parts.")] = None,
    estimator: o.EstimatorName = "auto",
    sign: o.Sign = None,
    seed: Seed = None,
    force: Force = False,
) -> Answer:
    """Release the travel times of a network from people's trips, with differential privacy."""
    if trips is None and given.suffix.lower() != ".toml":
        raise typer.BadParameter("Missing argument 'TRIPS'.")
    spec = o.spec_from(given, changes, trips=trips)
    return _release(spec, given, out, sign, force=force, seed=seed, estimator=estimator)


def _release(spec: ReleaseSpec, given: Path, out: Path, sign: Path | None, *, force: bool, **how: Any) -> Answer:
    """Write the release of ``spec``, read from ``given``, to ``out``, signed with the key in ``sign``.

    ``force`` replaces an existing file; ``how`` is passed on to ``spec.release``.
    """
    from ..io.signing import read_private_key, signature_path

    inputs = [given, *spec_files(spec), sign]
    check_inputs(*public_files(spec))
    check_output(out, *inputs)
    if sign is not None:
        check_output(signature_path(out), *inputs)
        read_private_key(sign)  # a wrong key is an error before the data are opened
    if out.exists() and not force:
        raise OptionError(
            f"{out} exists. Releasing the same data again spends the budget again, even if this file is replaced: "
            "name another file, or use --force"
        )
    with o.named_by_flags(given):
        statement = spec.release(out, sign=sign, **how).statement
    if sign is None:
        signature_path(out).unlink(missing_ok=True)  # the signature of a replaced release does not fit
    document = {
        **privacy_fields(statement), "promise": statement.promise.as_dict(), "file": str(out),
        "signature": str(signature_path(out)) if sign else None, "statement": statement.as_dict(),
    }  # fmt: skip
    return Answer(document, f"{statement}\nWritten to {out}{f', signed in {signature_path(out)}' if sign else ''}.")


# --- series


def series(
    given: Annotated[Path, Argument(metavar="SPEC", help="Specification with trips, schedule and ledger.")],
    out: Annotated[Path, Option("-o", "--out", help="The folder for the release files.")],
    changes: Annotated[o.Changes, o.SpecOptions("--epsilon", "--delta", "--dataset", "--ledger")],
    plan: Annotated[bool, Option("--plan", help="Show days and epsilons; write nothing.")] = False,
    early: Annotated[bool, Option("--early", help="Also release days that are not over.")] = False,
    skip_missing: Annotated[
        bool, Option("--skip-missing", help="Skip releases that were charged but whose file is missing.")
    ] = False,
    sign: o.Sign = None,
    json: o.Json = False,
) -> Answer:
    """Make the releases of a schedule within one total budget; run it again to continue."""
    from ..published.quantity import Quantity
    from ..releasing.series import SeriesRun

    if given.suffix.lower() != ".toml":
        raise OptionError(f"{given} is not a specification (.toml); write one with `hushpath init`")
    spec = o.spec_from(given, changes)
    check_inputs(given, *public_files(spec))

    @contextmanager
    def around(step: PlannedRelease) -> Iterator[None]:
        with _finishing():
            yield
            if not json:
                print(f"{step.file}: epsilon {step.epsilon:g}, charged and written", flush=True)

    dataset = spec.quantity.dataset
    if not dataset and spec.trips and spec.ledger:
        dataset = _new_dataset_name(spec.trips.file, spec.ledger.file)
    found = spec.series(out, SeriesRun(Quantity(dataset=dataset), sign, early, skip_missing, plan, around))
    document = {"ledger": str(spec.ledger.file if spec.ledger else ""), **_series_document(found)}
    return Answer(document, "\n".join([str(found), *_next_steps(found)]))


@contextmanager
def _finishing() -> Iterator[None]:
    """Let the release that is being made be written before Ctrl-C or SIGTERM ends the series: it is charged already."""
    signals: list[int] = []

    def note(number: int, frame: Any) -> None:  # noqa: ARG001 - what signal handlers are given
        signals.append(number)
        if len(signals) > 1:
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
    if signals:
        raise KeyboardInterrupt


def _new_dataset_name(trips: Path, ledger: Path) -> str:
    """Return the name of the data in a new ledger; an existing ledger has one."""
    if ledger.exists() and ledger.stat().st_size:
        return ""
    place = trips.absolute()
    return place.name if place.is_dir() else place.stem


def _next_steps(found: Series) -> list[str]:
    """Return what to do next."""
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


def _series_document(found: Series) -> dict[str, Any]:
    steps = [
        {"days": [str(day) for day in step.days], "epsilon": step.epsilon, "state": step.state, "file": str(step.file),
         "charges": [one.number for one in step.charges], "lost_charges": [one.number for one in step.lost_charges]}
        for step in found.releases
    ]  # fmt: skip
    return {
        "dataset": found.dataset, "protects": str(found.protects), "split": found.split,
        "explanation": found.explanation,
        "budget": {"epsilon": found.budget.epsilon, "delta": found.budget.delta},
        "together": finite(found.epsilon("to make", "to come")), "problem": found.problem or None, "releases": steps,
    }  # fmt: skip
