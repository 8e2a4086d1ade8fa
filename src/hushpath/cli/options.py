"""Options that stand for keys of a specification: declared once, and collected by section.

A verb decorated with ``spec_options`` takes these flags and receives ``changes``, the values that were given, by
section and key.  ``spec_from`` puts them over a specification file, or makes a specification of them alone.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..releasing.spec_text import KEYS

if TYPE_CHECKING:
    from ..published.release import Release
    from ..releasing.spec import ReleaseSpec

Changes = dict[str, dict[str, Any]]


class Flag(NamedTuple):
    """One option: the key of a specification that it sets, and how its text is read."""

    section: str
    key: str
    parse: Callable[[str], Any] | None = None  # of text; None: typer reads the value
    kind: Any = str | None
    panel: str = "Private data"


def _number_or_column(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def numbers(text: str, option: str) -> Any:
    """Return one number, or a list of several that are separated by commas.

    >>> numbers("0.5,1", "--epsilon"), numbers("2", "--epsilon")
    ([0.5, 1.0], 2.0)
    """
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{option} must be a number, or several such as 15,40; got {text[:40]!r}") from None
    return found if "," in text else found[0]


def _typical(text: str) -> Any:
    return numbers(text, "--typical-weight")


def _edges(text: str) -> Any:
    found = numbers(text, "--unit-edges")
    if not isinstance(found, list) or len(found) != 2 or not found[0].is_integer():
        raise typer.BadParameter(f"--unit-edges must be two numbers such as 60,0.5; got {text[:40]!r}")
    return int(found[0]), found[1]


def periods(text: str) -> Any:
    """Return periods: names separated by commas, each perhaps with hours; or the word hours.

    >>> periods("am,pm"), periods("am=7-10,night=22-5.5"), periods("hours")
    (['am', 'pm'], {'am': ('7', '10'), 'night': ('22', '5.5')}, 'hours')
    """
    if text == "hours":
        return text
    parts = [part.strip().partition("=") for part in text.split(",")]
    if any(equals for _, equals, _ in parts):
        return {name.strip(): tuple(hours.split("-")) for name, _, hours in parts}
    return [name for name, _, _ in parts]


def mechanism_option(text: str) -> tuple[str, Any]:
    """Return ``NAME=VALUE`` as a pair; values are JSON where they can be, text otherwise."""
    name, equals, value = text.partition("=")
    if not equals or not name.replace("-", "_").isidentifier():
        raise typer.BadParameter(f"--option must be NAME=VALUE, got {text[:60]!r}")
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = value
    if found is None:
        raise typer.BadParameter(f"--option {name[:60]} has no value")
    return name.replace("-", "_"), found


NETWORK, PROMISE, ABOUT = "Public network", "Promise", "About the release"
FLAGS: dict[str, Flag] = {
    "--source": Flag("network", "source", panel=NETWORK),
    "--target": Flag("network", "target", panel=NETWORK),
    "--directed": Flag("network", "directed", None, bool | None, NETWORK),
    "--nodes": Flag("network", "nodes", panel=NETWORK),
    "--proxy": Flag("network", "proxy", panel=NETWORK),
    "--columns": Flag("network", "columns", _names, panel=NETWORK),
    "--lower": Flag("network", "lower", _number_or_column, panel=NETWORK),
    "--upper": Flag("network", "upper", _number_or_column, panel=NETWORK),
    "--parallel-edges": Flag("network", "parallel_edges", None, bool | None, NETWORK),
    "--weight": Flag("weights", "column"),
    "--edge-data": Flag("weights", "edge_data"),
    "--edge-interval": Flag("weights", "interval", None, float | None),
    "--max-weight": Flag("weights", "max_weight", None, float | None, PROMISE),
    "--mechanism": Flag("weights", "mechanism", panel=PROMISE),
    "--option": Flag("weights", "options", None, list[str] | None, PROMISE),
    "--person": Flag("trips", "person"),
    "--day": Flag("trips", "day"),
    "--trip": Flag("trips", "trip"),
    "--edge": Flag("trips", "edge", _names),
    "--seconds": Flag("trips", "seconds"),
    "--node": Flag("trips", "node"),
    "--time": Flag("trips", "time"),
    "--node-lists": Flag("trips", "nodes"),
    "--period-column": Flag("trips", "period"),
    "--periods": Flag("trips", "periods", periods),
    "--low": Flag("trips", "low", _number_or_column, panel=PROMISE),
    "--high": Flag("trips", "high", _number_or_column, panel=PROMISE),
    "--edge-weighting": Flag("trips", "edge_weighting", panel=PROMISE),
    "--epsilon": Flag("budget", "epsilon", None, float | None, PROMISE),
    "--delta": Flag("budget", "delta", None, float | None, PROMISE),
    "--unit": Flag("unit", "l1", None, float | None, PROMISE),
    "--unit-l2": Flag("unit", "l2", None, float | None, PROMISE),
    "--unit-edges": Flag("unit", "edges", _edges, panel=PROMISE),
    "--lattice-step": Flag("unit", "lattice_step", None, float | None, PROMISE),
    "--protects": Flag("unit", "protects", panel=PROMISE),
    "--neighbours": Flag("unit", "neighbours", panel=PROMISE),
    "--days": Flag("unit", "days", panel=PROMISE),
    "--max-edges": Flag("unit", "max_edges", None, int | None, PROMISE),
    "--population": Flag("unit", "population", None, int | None, PROMISE),
    "--noise": Flag("noise", "law", panel=PROMISE),
    "--sampler": Flag("noise", "sampler", panel=PROMISE),
    "--ledger": Flag("ledger", "file", panel=PROMISE),
    "--quantity": Flag("quantity", "name", panel=ABOUT),
    "--unit-of-measure": Flag("quantity", "unit_of_measure", panel=ABOUT),
    "--date": Flag("quantity", "date", panel=ABOUT),
    "--publisher": Flag("quantity", "publisher", panel=ABOUT),
    "--dataset": Flag("quantity", "dataset", panel=ABOUT),
    "--expected-units": Flag("expected", "units", None, float | None, "Public guesses"),
    "--edges-per-unit": Flag("expected", "edges_per_unit", None, float | None, "Public guesses"),
    "--typical-weight": Flag("expected", "typical_weight", _typical, panel="Public guesses"),
}
READ = (
    "--source", "--target", "--directed", "--nodes", "--proxy", "--columns", "--lower", "--upper", "--parallel-edges",
)  # fmt: skip
PRIVATE_WEIGHTS = ("--weight", "--edge-data", "--edge-interval")
PRIVATE_TRIPS = (
    "--person", "--day", "--trip", "--edge", "--seconds", "--node", "--time", "--node-lists", "--period-column",
)  # fmt: skip
BUDGET = ("--epsilon", "--delta", "--noise")
WEIGHT_PROMISE = (
    *BUDGET, "--unit", "--unit-l2", "--unit-edges", "--lattice-step", "--population", "--max-weight", "--mechanism",
    "--option",
)  # fmt: skip
TRIP_PROMISE = (
    *BUDGET, "--protects", "--low", "--high", "--neighbours", "--max-edges", "--population", "--periods",
    "--edge-weighting",
)  # fmt: skip
PUBLISH = (
    "--sampler", "--ledger", "--dataset", "--quantity", "--unit-of-measure", "--date", "--publisher",
)  # fmt: skip


def spec_options(flags: Iterable[str]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a verb these flags; it receives what was given as ``changes``."""
    chosen = {flag.lstrip("-").replace("-", "_"): (flag, FLAGS[flag]) for flag in flags}

    def decorate(verb: Callable[..., None]) -> Callable[..., None]:
        shape = inspect.signature(verb, eval_str=True)
        own = [one for one in shape.parameters.values() if one.name != "changes"]
        first = [one for one in own if one.default is inspect.Parameter.empty]
        rest = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own if one not in first]
        named = [_parameter(name, flag, one) for name, (flag, one) in chosen.items()]

        def command(**given: Any) -> None:
            changes: Changes = {}
            for name, (_, flag) in chosen.items():
                value = given.pop(name)
                if value is None:
                    continue
                if flag.key == "options":
                    value = dict(mechanism_option(text) for text in value)
                elif flag.parse is not None:
                    value = flag.parse(value)
                changes.setdefault(flag.section, {})[flag.key] = value
            verb(changes=changes, **given)

        command.__signature__ = shape.replace(parameters=[*first, *named, *rest])  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in [*first, *named, *rest]}
        command.__doc__, command.__module__ = verb.__doc__, verb.__module__
        return command

    return decorate


def _parameter(name: str, flag: str, one: Flag) -> inspect.Parameter:
    text = f"{KEYS[f'{one.section}.{one.key}'].help}." + (" NAME=VALUE; repeatable." if one.key == "options" else "")
    spelling = f"{flag}/--no-{flag[2:]}" if one.kind == bool | None else flag
    option = typer.Option(spelling, help=text, rich_help_panel=one.panel)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[one.kind, option]
    )  # fmt: skip


def spec_from(source: Path, changes: Changes, *, trips: Path | None = None) -> ReleaseSpec:
    """Return the specification in a file with changes, or one made of a network file and options alone."""
    from ..errors import OptionError
    from ..releasing.spec import make_spec, read_spec

    if source.suffix.lower() == ".toml":
        if trips is not None:
            raise OptionError(f"{source} names the table of trips itself; leave {trips} out")
        return read_spec(source, changes)
    kind: Changes = {"weights": {}} if trips is None else {"trips": {"file": str(trips)}}
    with named_by_flags(source):
        return make_spec({"network": {"file": str(source)}, **kind, "unit": {}, "budget": {}}, changes)


@contextmanager
def named_by_flags(source: Path) -> Iterator[None]:
    """Let option errors name flags instead of keys, unless a specification was given."""
    from ..errors import OptionError

    flags = {f"`{one.section}.{one.key}`": flag for flag, one in FLAGS.items()}
    try:
        yield
    except OptionError as error:
        if source.suffix.lower() == ".toml":
            raise
        text = re.sub(r"`\w+\.\w+`", lambda key: flags.get(key[0], key[0]), str(error))
        raise OptionError(text) from None


def spec_of_release(source: Path, changes: Changes, release: Release) -> ReleaseSpec:
    """Return where the private data of a release are: a specification, or a network file with its weight column."""
    from ..errors import OptionError

    if source.suffix.lower() == ".toml":
        return spec_from(source, changes)
    if not release.statement.unit.measures_edges:
        raise OptionError(f"a release of trips is compared with its trips: pass its specification, not {source}")
    return spec_from(source, {**changes, "unit": {"l1": 1.0}, "budget": {"epsilon": 1.0}})  # neither is used
