"""``hushpath plan`` and ``plan-trips``: what error to expect, before any private data is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import common as c
from . import options as o

if TYPE_CHECKING:
    from ..releasing.spec import ReleaseSpec

PICTURES = (".svg", ".png")


@o.spec_options([*(flag for flag in o.WEIGHT_PROMISE if flag != "--epsilon"), *o.READ, "--weight", "--typical-weight"])
def command(
    given: Annotated[Path, typer.Argument(metavar="SPEC|NETWORK", help=c.SPEC_OR_NETWORK)],
    changes: o.Changes,
    epsilon: Annotated[
        str | None, typer.Option("--epsilon", help="Privacy budget; several to compare: 0.5,1,2. inf: NOT PRIVATE.")
    ] = None,
    target_error: Annotated[
        str | None, typer.Option("--target-error", help="Instead of --epsilon: the mean error to reach, 2 or 5%.")
    ] = None,
    previous: Annotated[
        Path | None, typer.Option("--previous-release", help="Earlier release: weights are expected to be like it.")
    ] = None,
    ignore_baseline: c.IgnoreBaseline = False,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw error against epsilon, for several: FILE.svg or FILE.png.")
    ] = None,
    json: c.Json = False,
) -> None:
    """Show the predicted error of every mechanism and the choice.  Reads no private data."""
    from ..errors import OptionError

    wanted = None if epsilon is None else o.numbers(epsilon, "--epsilon")
    several = isinstance(wanted, list)
    if wanted is not None and target_error is not None:
        raise OptionError("--target-error is solved for epsilon: pass one of the two")
    if given.suffix.lower() != ".toml" and wanted is None and target_error is None:
        raise typer.BadParameter("Missing option '--epsilon' (or '--target-error').")
    changes.setdefault("budget", {})
    if wanted is not None:
        changes["budget"]["epsilon"] = wanted[0] if isinstance(wanted, list) else wanted
    elif target_error is not None:
        changes["budget"].setdefault("epsilon", 1.0)
    c.check_inputs(given, previous)
    if picture is not None:
        if not several:
            raise OptionError("--picture draws error against epsilon: pass several, such as --epsilon 0.5,1,2")
        if picture.suffix.lower() not in PICTURES:
            raise OptionError(f"--picture must end in {' or '.join(PICTURES)}, got {picture.name[:60]!r}")
        c.check_output(picture, given, previous)
    more: dict[str, Any] = {"ignore_baseline": ignore_baseline}
    if target_error is not None:
        more["target_error"] = target_error
    if previous is not None:
        from ..published.release import load

        more["previous_release"] = load(previous)
    with o.named_by_flags(given):
        _plan(o.spec_from(given, changes), wanted if several else None, more, picture, json=json)


@o.spec_options([*o.TRIP_PROMISE, *o.READ, "--expected-units", "--edges-per-unit"])
def trips_command(
    given: Annotated[Path, typer.Argument(metavar="SPEC|NETWORK", help=c.SPEC_OR_NETWORK)],
    changes: o.Changes,
    ignore_baseline: c.IgnoreBaseline = False,
    json: c.Json = False,
) -> None:
    """Forecast the error of a release of trips.  Reads no private data."""
    c.check_inputs(given)
    trips = None if given.suffix.lower() == ".toml" else Path("trips")  # not read
    spec = o.spec_from(given, changes, trips=trips)
    with o.named_by_flags(given):
        _plan(spec, None, {"ignore_baseline": ignore_baseline}, None, json=json)


def _plan(spec: ReleaseSpec, epsilons: Any, more: dict[str, Any], picture: Path | None, *, json: bool) -> None:
    from ..planning.result import Sweep
    from ..progress import shown

    c.check_inputs(*c.public_files(spec))
    if picture is not None:
        from ..output.report.pictures import needs_matplotlib

        needs_matplotlib()
    with shown():
        made = spec.plan(epsilon=epsilons, **more)
    if picture is not None and isinstance(made, Sweep):
        from ..output.report.pictures import write_sweep

        write_sweep(picture, made)
    if json:
        c.print_json({**made.as_dict(), **({"picture": str(picture)} if picture is not None else {})})
    else:
        print(made)
        if picture is not None:
            print(f"Picture written to {picture}.")
