"""Options that several verbs share, each declared once, and the step from a verb to a command.

A verb is a function that returns an ``Answer``.  ``make_command`` gives it ``--json`` and turns groups into options: a
parameter whose type is a dataclass (``SignedRelease``), or keys of a specification (``Annotated[Changes,
SpecOptions(...)]``), of which the verb receives the values that were given, by section and key.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args

import typer
from typer import Argument, Option

from ..errors import OptionError
from ..progress import shown
from ..releasing.spec_text import KEYS
from .files import check_inputs
from .messages import Answer, print_answer

if TYPE_CHECKING:
    from ..published.release import Release
    from ..releasing.spec import ReleaseSpec

Changes = dict[str, dict[str, Any]]
Verb = Callable[..., Answer | None]
NETWORK_FILE = "Edge list (.csv, .tsv, .parquet), .graphml, .gpkg, SUMO .net.xml or .tntp; see the guide to inputs."
Given = Annotated[
    Path,
    Argument(
        metavar="SPEC|NETWORK", help=f"A specification (.toml, see `init`), or the network itself. {NETWORK_FILE}"
    ),
]
Json = Annotated[bool, Option("--json", help="Print one JSON document, errors included, for machines.")]
IgnoreBaseline = Annotated[
    bool, Option("--ignore-baseline", help="Continue even if public data alone are predicted to be as good.")
]
EstimatorName = Annotated[str, Option("--estimator", help="How edge weights are estimated, where paths are searched.")]
Sign = Annotated[Path | None, Option("--sign", help="Sign with this private key; see `keygen`.")]
Verify = Annotated[Path | None, Option("--verify", help="Fail unless signed with the key of this public key file.")]
MaxGigabytes = Annotated[float, Option("--max-gb", min=0.0, help="Build no index larger than this.")]
Sources = Annotated[int, Option("--sources", min=1, help="Compare from this many nodes to all.")]
Interval = Annotated[bool, Option("--interval", help="Also an interval for each true distance.")]


def _check_confidence(value: float | None) -> float | None:
    from .._validate import check_confidence

    if value is not None:
        check_confidence(value)
    return value


CONFIDENCE = Option("--confidence", callback=_check_confidence, help="Of intervals; 0.9 if not given.")
Confidence = Annotated[float, CONFIDENCE]


# --- from a verb to a command


def make_command(verb: Verb) -> Callable[..., None]:
    """Return the function that typer calls: it takes all options of the verb and prints its answer.

    A verb that prints while it works declares ``json`` itself.
    """
    shape = inspect.signature(verb, eval_str=True)
    groups: dict[str, tuple[list[inspect.Parameter], Callable[..., Any]]] = {}
    own: list[inspect.Parameter] = []
    for one in shape.parameters.values():
        group = next((part for part in get_args(one.annotation) if isinstance(part, SpecOptions)), None)
        if group is not None:
            groups[one.name] = group.parameters(), group.collect
        elif is_dataclass(one.annotation):
            kind: Any = one.annotation
            groups[one.name] = list(inspect.signature(kind, eval_str=True).parameters.values()), kind
        own += [member for member in groups[one.name][0] if _required(member)] if one.name in groups else [one]
    passes_json = "json" in shape.parameters
    if not passes_json:
        own.append(inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))

    def command(**given: Any) -> None:
        as_json = given["json"] if passes_json else given.pop("json")
        for name, (members, build) in groups.items():
            given[name] = build(**{member.name: given.pop(member.name) for member in members})
        with shown():
            answer = verb(**given)
        if answer is not None:
            print_answer(answer, as_json=as_json)

    more = [member for members, _ in groups.values() for member in members if not _required(member)]
    ordered = sorted([*own, *more], key=_required, reverse=True)  # what is required first, options of groups last
    ordered = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in ordered]
    command.__signature__ = shape.replace(parameters=ordered, return_annotation=None)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in ordered}
    command.__doc__ = verb.__doc__
    return command


def _required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


# --- a release file


@dataclass(frozen=True)
class SignedRelease:
    """A release file, and what its signature must say."""

    release: Annotated[Path, Argument(help="A release file.")]
    verify: Verify = None
    dataset: Annotated[str | None, Option(help="With --verify: the name of the data that the file must state.")] = None
    date: Annotated[str | None, Option(help="With --verify: the reporting period that the file must state.")] = None

    def load(self, **how: Any) -> Release:
        """Load the release; ``how`` is passed on to ``hushpath.load``."""
        from ..published.release import load

        check_inputs(self.release)
        return load(self.release, verify=self.verify, dataset=self.dataset, date=self.date, **how)


@dataclass(frozen=True)
class DecodedRelease(SignedRelease):
    """A release file, how to decode it, and for which period."""

    decoder: Annotated[str, Option(help="How to read the release; `inspect` lists the choices.")] = "auto"
    estimator: EstimatorName = "auto"
    period: Annotated[str | None, Option(help="One period of a release that has several.")] = None

    def load(self, *, all_periods: bool = False, **how: Any) -> Release:
        """Load the release in one period; ``all_periods`` allows none to be named where there are several."""
        release = super().load(decoder=self.decoder, estimator=self.estimator, **how)
        if self.period is not None:
            return release.for_period(self.period)
        if len(release.periods) > 1 and not all_periods:
            raise OptionError(f"this release has several periods: add --period, one of {', '.join(release.periods)}")
        return release


# --- keys of a specification


PRIVATE, NETWORK, PROMISE, ABOUT = "Private data", "Public network", "Promise", "About the release"


class Flag(NamedTuple):
    """One option: the key of a specification that it sets, and how its text is read."""

    section: str
    key: str
    parse: Callable[[Any], Any] | None = None  # of text; None: typer reads the value
    kind: Any = str | None
    panel: str = PRIVATE


def _number_or_column(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def parse_numbers(text: str, option: str) -> list[float]:
    """Return the numbers of a text such as ``0.5,1``; ``option`` is named in the error.

    >>> parse_numbers("0.5,1", "--epsilon")
    [0.5, 1.0]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{option} must be a number, or several such as 15,40; got {text[:40]!r}") from None


def _typical_weight(text: str) -> float | list[float]:
    found = parse_numbers(text, "--typical-weight")
    return found if len(found) > 1 else found[0]


def _mechanism_options(given: list[str]) -> dict[str, Any]:
    return parse_settings(given, "--option")


def _unit_edges(text: str) -> tuple[int, float]:
    found = parse_numbers(text, "--unit-edges")
    if len(found) != 2 or not found[0].is_integer():
        raise typer.BadParameter(f"--unit-edges must be two numbers such as 60,0.5; got {text[:40]!r}")
    return int(found[0]), found[1]


def _periods(text: str) -> Any:
    """Return periods: names separated by commas, each perhaps with hours; or the word hours.

    >>> _periods("am,pm"), _periods("am=7-10,night=22-5.5"), _periods("hours")
    (['am', 'pm'], {'am': ('7', '10'), 'night': ('22', '5.5')}, 'hours')
    """
    if text == "hours":
        return text
    parts = [part.strip().partition("=") for part in text.split(",")]
    if any(equals for _, equals, _ in parts):
        return {name.strip(): tuple(hours.split("-")) for name, _, hours in parts}
    return [name for name, _, _ in parts]


def parse_settings(given: Sequence[str], option: str) -> dict[str, Any]:
    """Return texts ``NAME=VALUE`` as a dictionary; values are JSON where they can be, text otherwise.

    >>> parse_settings(["leaf-size=3", "family=grid"], "--option")
    {'leaf_size': 3, 'family': 'grid'}
    """
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.replace("-", "_").isidentifier():
            raise typer.BadParameter(f"{option} must be NAME=VALUE, got {text[:60]!r}")
        try:
            setting = json.loads(value)
        except (ValueError, RecursionError):
            setting = value
        if setting is None:
            raise typer.BadParameter(f"{option} {name[:60]} must have a value, got null")
        found[name.replace("-", "_")] = setting
    return found


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
    "--option": Flag("weights", "options", _mechanism_options, list[str] | None, PROMISE),
    "--person": Flag("trips", "person"),
    "--day": Flag("trips", "day"),
    "--trip": Flag("trips", "trip"),
    "--edge": Flag("trips", "edge", _names),
    "--seconds": Flag("trips", "seconds"),
    "--node": Flag("trips", "node"),
    "--time": Flag("trips", "time"),
    "--node-lists": Flag("trips", "nodes"),
    "--period-column": Flag("trips", "period"),
    "--periods": Flag("trips", "periods", _periods),
    "--low": Flag("trips", "low", _number_or_column, panel=PROMISE),
    "--high": Flag("trips", "high", _number_or_column, panel=PROMISE),
    "--edge-weighting": Flag("trips", "edge_weighting", panel=PROMISE),
    "--epsilon": Flag("budget", "epsilon", None, float | None, PROMISE),
    "--delta": Flag("budget", "delta", None, float | None, PROMISE),
    "--unit": Flag("unit", "l1", None, float | None, PROMISE),
    "--unit-l2": Flag("unit", "l2", None, float | None, PROMISE),
    "--unit-edges": Flag("unit", "edges", _unit_edges, panel=PROMISE),
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
    "--typical-weight": Flag("expected", "typical_weight", _typical_weight, panel="Public guesses"),
}


def _flags(section: str, panel: str) -> tuple[str, ...]:
    return tuple(flag for flag, one in FLAGS.items() if (one.section, one.panel) == (section, panel))


READ = _flags("network", NETWORK)
PRIVATE_WEIGHTS = _flags("weights", PRIVATE)
PRIVATE_TRIPS = _flags("trips", PRIVATE)
PUBLISH = ("--sampler", "--ledger", *_flags("quantity", ABOUT))
BUDGET = ("--epsilon", "--delta", "--noise")
WEIGHT_PROMISE = (
    *BUDGET, "--unit", "--unit-l2", "--unit-edges", "--lattice-step", "--population", *_flags("weights", PROMISE),
)  # fmt: skip
TRIP_PROMISE = (
    *BUDGET, "--protects", "--neighbours", "--max-edges", "--population", "--periods", *_flags("trips", PROMISE),
)  # fmt: skip


class SpecOptions:
    """Options that set keys of a specification, for a parameter of type ``Annotated[Changes, SpecOptions(...)]``."""

    def __init__(self, *flags: str) -> None:
        self.flags = {flag.lstrip("-").replace("-", "_"): flag for flag in flags}

    def parameters(self) -> list[inspect.Parameter]:
        """Return one parameter per option."""
        found = []
        for name, flag in self.flags.items():
            one = FLAGS[flag]
            text = KEYS[f"{one.section}.{one.key}"].help + "."
            if one.key == "options":
                text += " NAME=VALUE; repeatable."
            spelling = f"{flag}/--no-{flag[2:]}" if one.kind == bool | None else flag
            option = Option(spelling, help=text, rich_help_panel=one.panel)
            found.append(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[one.kind, option]
                )
            )
        return found

    def collect(self, **given: Any) -> Changes:
        """Return the values that were given, by section and key."""
        changes: Changes = {}
        for name, value in given.items():
            flag = FLAGS[self.flags[name]]
            if value is None:
                continue
            changes.setdefault(flag.section, {})[flag.key] = value if flag.parse is None else flag.parse(value)
        return changes


def spec_from(source: Path, changes: Changes, *, trips: Path | None = None) -> ReleaseSpec:
    """Return the specification in a file with changes, or one made of a network file and options alone."""
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
    if source.suffix.lower() == ".toml":
        return spec_from(source, changes)
    if not release.statement.unit.measures_edges:
        raise OptionError(f"a release of trips is compared with its trips: pass its specification, not {source}")
    return spec_from(source, {**changes, "unit": {"l1": 1.0}, "budget": {"epsilon": 1.0}})  # neither is used
