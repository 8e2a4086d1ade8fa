"""The verbs, collected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import typer

from . import (
    demo,
    evaluate,
    export,
    index,
    inspect,
    keygen,
    lab,
    ledger,
    matrix,
    page,
    plan,
    query,
    release,
    report,
    series,
    serve,
    specification,
)


def _version(wanted: bool) -> None:
    if wanted:
        from .._version import __version__

        print(f"hushpath {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


VERBS: dict[str, Any] = {
    "demo": demo.command, "init": specification.init, "diff": specification.diff, "plan": plan.command,
    "plan-trips": plan.trips_command, "release": release.command, "release-trips": release.trips_command,
    "series": series.command, "index": index.command, "query": query.command, "matrix": matrix.command,
    "page": page.command, "serve": serve.command, "export": export.command, "inspect": inspect.command,
    "evaluate": evaluate.command, "report": report.command, "keygen": keygen.command, "lab": lab.command,
}  # fmt: skip


def _of(verbs: Iterable[str]) -> typer.Typer:
    made = typer.Typer(
        name="hushpath",
        help="Publish all distances of a network without publishing anyone's data.",
        epilog="Exit codes: 0 done, 1 could not be done, 2 bad input, 130 interrupted. Start with: hushpath demo",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(_main)
    for name in verbs:
        made.command(name)(VERBS[name])
    return made


app = _of(VERBS)
app.add_typer(ledger.app, name="ledger")


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return an app with the requested verb alone, since preparing all of them is slow; else with all."""
    return _of(arguments[:1]) if arguments and arguments[0] in VERBS else app
