"""Options several verbs share, and the one way to print for machines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .voice import print_json as print_json

if TYPE_CHECKING:
    from ..publish.oracle import Release
    from ..publish.statement import Statement

Epsilon = Annotated[float, typer.Option("--epsilon", help="Privacy budget; smaller is more private. inf: NOT PRIVATE.")]
Delta = Annotated[float, typer.Option("--delta", help="Allowed probability of revealing the truth; 0 for none.")]
Unit = Annotated[
    float | None,
    typer.Option("--unit", help="Required: how far one protected unit, e.g. a person, can move all weights in total."),
]
UnitL2 = Annotated[float | None, typer.Option("--unit-l2", help="The same in L2 norm, if that is less.")]
UnitEdges = Annotated[
    str | None, typer.Option("--unit-edges", help="Instead: at most so many weights, by so much each: 60,0.5.")
]
MaxWeight = Annotated[float | None, typer.Option("--max-weight", help="Public bound; larger weights are clipped.")]
Population = Annotated[
    int | None, typer.Option("--population", help="Public number of protected units, to judge delta.")
]
TypicalWeight = Annotated[
    str | None,
    typer.Option(
        "--typical-weight", help="PUBLIC guess: half of the weights lie between 15,40; or the median, 25. Not computed."
    ),
]
Anyway = Annotated[bool, typer.Option("--anyway", help="Go on even if public facts alone are predicted to be as good.")]
MechanismName = Annotated[str, typer.Option("--mechanism", help="See `hushpath plan`; auto: smallest predicted error.")]
LawName = Annotated[str, typer.Option("--law", help="auto, laplace or gaussian.")]
Directed = Annotated[bool, typer.Option("--directed", help="Each row is a one-way arc.")]
ParallelEdges = Annotated[
    bool, typer.Option("--parallel-edges", help="Keep rows with the same ends: each is a PUBLIC edge, not a trip.")
]
Source = Annotated[str, typer.Option("--source", help="Column of the first node.")]
Target = Annotated[str, typer.Option("--target", help="Column of the second node.")]
Weight = Annotated[str, typer.Option("--weight", help="Column of the private weights.")]
Lower = Annotated[str | None, typer.Option("--lower", help="Public lower bound: a number or a column.")]
Upper = Annotated[str | None, typer.Option("--upper", help="Public upper bound: a number or a column.")]
Proxy = Annotated[
    str | None, typer.Option("--proxy", help="PUBLIC column that resembles the weights, for estimators; published.")
]
Nodes = Annotated[Path | None, typer.Option("--nodes", help="Node table with columns node, x, y.")]
NETWORK = "Edge list (.csv, .tsv, .parquet), .graphml, .gpkg, SUMO .net.xml or .tntp; see docs/INPUTS.md."
EdgeData = Annotated[Path | None, typer.Option("--edge-data", help="PRIVATE weights of a SUMO network: its edgeData.")]
EdgeInterval = Annotated[
    float | None, typer.Option("--edge-interval", help="The second at which the interval of --edge-data begins.")
]
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
Options = Annotated[
    list[str] | None, typer.Option("--option", help="A mechanism's option as NAME=VALUE; may be repeated.")
]


def privacy(statement: Statement) -> dict[str, Any]:
    """What a JSON document about a release begins with."""
    return {"private": statement.private, **({"marking": statement.marking} if statement.marking else {})}


def print_marking(statement: Statement) -> None:
    """Say NOT PRIVATE and why on standard error, where it is seen even if the answer goes elsewhere."""
    if statement.marking:
        typer.echo(statement.marking, err=True)


def in_period(release: Release, period: str | None) -> Release:
    """The release in the period that was asked for; one that has several needs to be told which."""
    from ..errors import OptionError

    if period is not None:
        return release.at(period)
    if len(release.periods) > 1:
        raise OptionError(f"this release has several periods: add --period, one of {', '.join(release.periods)}")
    return release


def finite(value: float) -> float | str:
    """A number as JSON can hold it."""
    return "inf" if value == float("inf") else value


def bound(text: str | None, default: float) -> str | float:
    """A bound given on the command line: a number if it reads as one, else the name of a column."""
    if text is None:
        return default
    try:
        return float(text)
    except ValueError:
        return text


def numbers(option: str, text: str | None, example: str) -> Any:
    """One number, or a list of several that stand between commas; ``None`` if nothing was given."""
    if text is None:
        return None
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"'{option}': {text[:40]!r} is no number, nor several between commas, such as {example}."
        ) from None
    return found if "," in text else found[0]


def edges_of_unit(text: str | None) -> Any:
    """``60,0.5``: how many weights by how much each, as ``unit_edges`` takes it; a part of an edge is not cut off.

    >>> edges_of_unit("60,0.5"), edges_of_unit(None)
    ((60, 0.5), None)
    """
    found = numbers("--unit-edges", text, "60,0.5")
    if not isinstance(found, list):
        return found
    return tuple(int(one) if i == 0 and one.is_integer() else one for i, one in enumerate(found))


def the_unit(unit: float | None) -> float:
    """The unit, which has no default; missing, it needs more words than "missing option"."""
    from ..errors import OptionError
    from ..strategy.terms import NO_UNIT

    if unit is None:
        raise OptionError(f"--{NO_UNIT}")
    return unit


def check_inputs(*inputs: Path | None) -> None:
    """Refuse what is there but is no file: reading a pipe or a device may wait, or go on, for ever."""
    from ..errors import InputError

    for given in inputs:
        if given is not None and given.exists() and not given.is_file():
            kind = "folder" if given.is_dir() else "pipe or a device"
            raise InputError(f"{given} is a {kind}; name an ordinary file")


def check_public(trips: Path, *public: Path | None) -> None:
    """Refuse the private table of trips as a public file: every edge and node of a network is published."""
    from ..errors import OptionError

    for given in public:
        if given is not None and given.exists() and trips.exists() and given.samefile(trips):
            raise OptionError(f"{given} is the private table of --trips, and a network is published; give another file")


def check_edge_data(edge_data: Path | None, begin: float | None, trips: Path | None) -> None:
    """Refuse a second private input, and an interval of no file."""
    from ..errors import OptionError

    if trips is not None and edge_data is not None:
        raise OptionError("--trips and --edge-data are two private inputs; give one")
    if edge_data is None and begin is not None:
        raise OptionError("--edge-interval says which part of --edge-data is meant; name that file too")


def check_output(out: Path, *inputs: Path | None) -> None:
    """Refuse a place that cannot be written, or that holds an input, before any work is done."""
    from ..errors import CannotError, OptionError

    if any(given and out.exists() and given.exists() and out.samefile(given) for given in inputs):
        raise OptionError(f"{out} is an input of this command; write to another file")
    if out.is_dir():
        raise OptionError(f"{out} is a folder; name a file")
    if out.is_symlink() and not out.exists():
        raise OptionError(f"{out} is a link that leads nowhere; name another file")
    if out.exists() and not out.is_file():  # writing ends in a rename, which would put a file in place of a device
        raise OptionError(f"{out} is a device or a pipe; name an ordinary file")
    if not out.absolute().parent.is_dir():
        raise CannotError(f"cannot write {out}: there is no folder {out.parent}")
    if not os.access(out.absolute().parent, os.W_OK):
        raise CannotError(f"cannot write {out}: no permission in {out.absolute().parent}")


def mechanism_options(pairs: list[str] | None) -> dict[str, Any]:
    """``NAME=VALUE`` texts as keyword options; values are JSON where they can be, text otherwise."""
    from inspect import signature

    from ..errors import OptionError
    from ..publish.plan import plan
    from ..publish.release import release

    taken = {*signature(plan).parameters, *signature(release).parameters} - {"granularity", "options"}
    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.replace("-", "_").isidentifier():
            raise OptionError(f"an option is written NAME=VALUE, not {pair[:60]!r}")
        if name.replace("-", "_") in taken:
            raise OptionError(f"--option is for options of a mechanism, and {name} is not one")
        try:
            options[name.replace("-", "_")] = json.loads(value)
        except (ValueError, RecursionError):  # text, or a number or nesting that JSON readers refuse
            options[name.replace("-", "_")] = value
    return options
