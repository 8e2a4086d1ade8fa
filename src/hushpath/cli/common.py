"""Options that several verbs share, and checks of paths."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .messages import print_json as print_json

if TYPE_CHECKING:
    from ..published.release import Release
    from ..published.statement import Statement
    from ..releasing.spec import ReleaseSpec

IgnoreBaseline = Annotated[
    bool, typer.Option("--ignore-baseline", help="Continue even if public data alone are predicted to be as good.")
]
Period = Annotated[str | None, typer.Option("--period", help="One period of a release that has several.")]
NETWORK = "Edge list (.csv, .tsv, .parquet), .graphml, .gpkg, SUMO .net.xml or .tntp; see the guide to inputs."
SPEC_OR_NETWORK = f"A specification (.toml, see `init`), or the network itself. {NETWORK}"
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, errors included, for machines.")]
Verify = Annotated[Path | None, typer.Option("--verify", help="Only if signed with the key of this public key file.")]
ExpectedDataset = Annotated[
    str | None, typer.Option("--dataset", help="With --verify: the name of the data that the file must state.")
]
ExpectedDate = Annotated[
    str | None, typer.Option("--date", help="With --verify: the reporting period that the file must state.")
]
DecoderName = Annotated[str, typer.Option("--decoder", help="How to read the release; `inspect` lists the choices.")]
EstimatorName = Annotated[
    str, typer.Option("--estimator", help="How edge weights are estimated, where paths are searched.")
]


def privacy(statement: Statement) -> dict[str, Any]:
    """Return the first fields of a JSON document about a release."""
    return {"private": statement.private, **({"marking": statement.marking} if statement.marking else {})}


def print_marking(statement: Statement) -> None:
    """Print NOT PRIVATE and why on standard error, where it is seen even if the answer is redirected."""
    if statement.marking:
        typer.echo(statement.marking, err=True)


def in_period(release: Release, period: str | None) -> Release:
    """Return a release in one period; a release with several periods requires ``--period``."""
    from ..errors import OptionError

    if period is not None:
        return release.for_period(period)
    if len(release.periods) > 1:
        raise OptionError(f"this release has several periods: add --period, one of {', '.join(release.periods)}")
    return release


def finite(value: float) -> float | str:
    """Return a number as JSON can represent it."""
    return "inf" if value == float("inf") else value


def check_inputs(*inputs: Path | None) -> None:
    """Raise ``InputError`` for a folder, a pipe or a device: reading the latter may never end."""
    from ..errors import InputError

    for given in inputs:
        if given is not None and given.exists() and not given.is_file():
            kind = "folder" if given.is_dir() else "pipe or a device"
            raise InputError(f"{given} is a {kind}; name an ordinary file")


def public_files(spec: ReleaseSpec) -> list[Path | None]:
    """Return the ordinary files that a specification reads; a table of trips may also be a folder."""
    edge_data = spec.weights.edge_data if spec.weights else None
    return [spec.network.file, spec.network.nodes, edge_data]


def spec_files(spec: ReleaseSpec) -> list[Path | None]:
    """Return every file that a specification names."""
    return [*public_files(spec), spec.trips.file if spec.trips else None, spec.ledger.file if spec.ledger else None]


def check_output(out: Path, *inputs: Path | None) -> None:
    """Check before any work is done that a path can be written and is not an input."""
    from ..errors import CannotError, OptionError

    if any(given and out.exists() and given.exists() and out.samefile(given) for given in inputs):
        raise OptionError(f"{out} is an input of this command; write to another file")
    if out.is_dir():
        raise OptionError(f"{out} is a folder; name a file")
    if out.is_symlink() and not out.exists():
        raise OptionError(f"{out} is a broken link; name another file")
    if out.exists() and not out.is_file():  # writing ends in a rename, which would put a file in place of a device
        raise OptionError(f"{out} is a device or a pipe; name an ordinary file")
    if not out.absolute().parent.is_dir():
        raise CannotError(f"cannot write {out}: the folder {out.parent} does not exist")
    if not os.access(out.absolute().parent, os.W_OK):
        raise CannotError(f"cannot write {out}: no permission in {out.absolute().parent}")
