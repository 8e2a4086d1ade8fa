"""The verbs, collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from .._version import __version__
from . import ledger, owner, reading, releasing
from .options import Verb, make_command

VERBS: dict[str, Verb] = {
    "demo": owner.demo, "init": releasing.init, "diff": releasing.diff, "plan": releasing.plan,
    "plan-trips": releasing.plan_trips, "release": releasing.release, "release-trips": releasing.release_trips,
    "series": releasing.series, "index": reading.index, "query": reading.query, "matrix": reading.matrix,
    "page": reading.page, "serve": reading.serve, "export": reading.export, "inspect": reading.inspect,
    "evaluate": owner.evaluate, "report": owner.report, "keygen": owner.keygen, "lab": owner.lab,
}  # fmt: skip
LEDGER_VERBS: dict[str, Verb] = {"init": ledger.init, "show": ledger.show, "check": ledger.check}


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hushpath {__version__}")
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def _make_app(verbs: Mapping[str, Verb], **about: Any) -> typer.Typer:
    app = typer.Typer(
        no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]}, **about,
    )  # fmt: skip
    for name, verb in verbs.items():
        app.command(name)(make_command(verb))
    return app


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Return an app with the requested verb alone, since preparing all of them is slow; else with all."""
    alone = arguments and arguments[0] in VERBS
    app = _make_app(
        {arguments[0]: VERBS[arguments[0]]} if alone else VERBS,
        name="hushpath",
        help="Publish all distances of a network without publishing anyone's data.",
        epilog="Exit codes: 0 done, 1 could not be done, 2 bad input, 130 interrupted. Start with: hushpath demo",
    )
    app.callback()(_main)
    if not alone:
        app.add_typer(_make_app(LEDGER_VERBS, help="Budgets and charges of data sets."), name="ledger")
    return app
