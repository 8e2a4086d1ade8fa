"""Options several verbs share, and the one way to print for machines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated, Any

import typer

Epsilon = Annotated[float, typer.Option("--epsilon", help="Privacy budget; smaller is more private. inf: NOT PRIVATE.")]
Delta = Annotated[float, typer.Option("--delta", help="Chance of a worse loss than epsilon; 0 for pure privacy.")]
Unit = Annotated[
    float | None,
    typer.Option("--unit", help="Required: how far one protected unit, e.g. a person, can move all weights in total."),
]
MaxWeight = Annotated[float | None, typer.Option("--max-weight", help="Public bound; larger weights are clipped.")]
Population = Annotated[
    int | None, typer.Option("--population", help="Public number of protected units, to judge delta.")
]
MechanismName = Annotated[str, typer.Option("--mechanism", help="See `hushpath plan`; auto: smallest predicted error.")]
LawName = Annotated[str, typer.Option("--law", help="auto, laplace or gaussian.")]
Directed = Annotated[bool, typer.Option("--directed", help="Each row is a one-way arc.")]
Source = Annotated[str, typer.Option("--source", help="Column of the first node.")]
Target = Annotated[str, typer.Option("--target", help="Column of the second node.")]
Weight = Annotated[str, typer.Option("--weight", help="Column of the private weights.")]
Lower = Annotated[str | None, typer.Option("--lower", help="Public lower bound: a number or a column.")]
Upper = Annotated[str | None, typer.Option("--upper", help="Public upper bound: a number or a column.")]
Nodes = Annotated[Path | None, typer.Option("--nodes", help="Node table with columns node, x, y.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", help="A mechanism's option as NAME=VALUE; may be repeated.")
]


def print_json(data: Any) -> None:
    """Print one JSON document; infinity is not JSON and must have been replaced."""
    print(json.dumps(data, indent=2, allow_nan=False, default=str))


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


def the_unit(unit: float | None) -> float:
    """The unit, which has no default; missing, it needs more words than "missing option"."""
    from ..errors import OptionError
    from ..planning import NO_UNIT

    if unit is None:
        raise OptionError(f"--{NO_UNIT}")
    return unit


def check_output(out: Path, *inputs: Path) -> None:
    """Refuse a place that cannot be written, or that holds an input, before any work is done."""
    from ..errors import CannotError, OptionError

    if any(out.exists() and given.exists() and out.samefile(given) for given in inputs):
        raise OptionError(f"{out} is an input of this command; write to another file")
    if out.is_dir():
        raise OptionError(f"{out} is a folder; name a file")
    if not out.absolute().parent.is_dir():
        raise CannotError(f"cannot write {out}: there is no folder {out.parent}")
    if not os.access(out.absolute().parent, os.W_OK):
        raise CannotError(f"cannot write {out}: no permission in {out.absolute().parent}")


def mechanism_options(pairs: list[str] | None) -> dict[str, Any]:
    """``NAME=VALUE`` texts as keyword options; values are JSON where they can be, text otherwise."""
    from ..errors import OptionError

    options: dict[str, Any] = {}
    for pair in pairs or []:
        name, equals, value = pair.partition("=")
        if not equals or not name.replace("-", "_").isidentifier():
            raise OptionError(f"an option is written NAME=VALUE, not {pair[:60]!r}")
        try:
            options[name.replace("-", "_")] = json.loads(value)
        except json.JSONDecodeError:
            options[name.replace("-", "_")] = value
    return options
