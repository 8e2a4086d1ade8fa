"""The specification of a release: one reviewed TOML file that says what is released, from what, and who is protected.

    [network]   the public network: file, columns, proxy
    [weights]   the private weight column and the mechanism             (either this)
    [trips]     the private table of trips, its columns and bounds      (or this)
    [unit]      the protected unit: a WeightUnit or a TripUnit
    [budget]    epsilon and delta
    [noise]     noise law and sampler
    [quantity]  what the numbers are and who publishes them
    [ledger]    the ledger that the release is charged to
    [expected]  public guesses that a plan needs
    [schedule]  a series of releases

Every section is a dataclass, and the sections that are also arguments in Python (``WeightUnit``, ``TripUnit``,
``Budget``, ``Noise``, ``Quantity``, ``Schedule``) are those very classes, so a key means the same in a file, in Python
and on the command line.  The specification is embedded in the release, with file names in place of paths and
without [expected], which only plans use.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields, replace
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .._validate import is_real, shorten
from ..errors import HushpathError, OptionError
from ..io.readers import read_network, read_topology
from ..measurement.strategy import Strategy
from ..measurement.trip_strategy import usual_law
from ..network.columns import EdgeColumns
from ..network.network import Network
from ..network.topology import Topology
from ..noise import Noise
from ..planning.plan import plan
from ..planning.result import Plan, Sweep
from ..planning.trips import TripPlan, plan_trips
from ..privacy.accounting import Budget
from ..privacy.units import TripUnit, WeightUnit
from ..published.quantity import Quantity
from ..published.release import Release, in_periods
from ..trips.trips import Trips, read_trips
from .evaluate import Comparison, compare
from .release import publish, strategy_for
from .schedule import Schedule
from .series import Series, SeriesRun, series
from .spec_text import KEYS, LARGEST_SPEC, parse_toml, toml_value

Section = TypeVar("Section")


@dataclass(frozen=True)
class NetworkSection:
    """The public network.  Every column named here is published, except the weight."""

    file: Path
    source: str = "source"
    target: str = "target"
    directed: bool = False
    nodes: Path | None = None
    proxy: str | None = None
    columns: tuple[str, ...] = ()
    lower: float | str = 0.0
    upper: float | str = float("inf")
    parallel_edges: bool = False
    format: str | None = None

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments that ``read_network`` and ``read_topology`` have in common."""
        names = ("source", "target", "directed", "nodes", "lower", "upper", "proxy", "parallel_edges")
        path = self.file if self.format is None else (self.file, self.format)
        return {"path": path, **{name: getattr(self, name) for name in names}}


@dataclass(frozen=True)
class WeightsSection:
    """The private weights and the mechanism that measures them."""

    column: str = "weight"
    edge_data: Path | None = None
    interval: float | None = None
    max_weight: float | None = None
    mechanism: str = "auto"
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TripsSection:
    """The private table of trips: a row per pass (edge), per visit (node, time) or per trip (nodes, time)."""

    file: Path
    person: str | None = None
    day: str | None = None
    trip: str | None = None
    edge: tuple[str, ...] = ()
    seconds: str | None = None
    node: str | None = None
    time: str | None = None
    nodes: str | None = None
    period: str | None = None
    periods: Any = None
    low: float | str | None = None
    high: float | str | None = None
    edge_weighting: str = "inverse-traffic"


@dataclass(frozen=True)
class LedgerSection:
    """The ledger that a release is charged to."""

    file: Path


@dataclass(frozen=True)
class ExpectedSection:
    """Public guesses that a plan needs; NEVER computed from the private data."""

    units: float | None = None
    edges_per_unit: float | None = None
    typical_weight: Any = None


# What a parameter of plan, release and series is called in a specification: a key of the same name, or these.
PARAMETERS = {"noise": "noise.law", "expected_units": "expected.units", "unit": "unit.l1"}


def _name_keys(text: str, section: str = "") -> str:
    """Replace parameters by keys in a message: first of this section, then those of one section only."""

    def key(found: re.Match[str]) -> str:
        name = PARAMETERS.get(found[1], f"{section}.{found[1]}")
        named = [name] if name in KEYS else [one for one in KEYS if one.partition(".")[2] == found[1]]
        return f"`{named[0]}`" if len(named) == 1 else found[0]

    return re.sub(r"`(?:unit )?(\w+)`", key, text)


@contextmanager
def _named_by_keys() -> Iterator[None]:
    """Let option errors of a method name keys instead of parameters."""
    try:
        yield
    except OptionError as error:
        raise OptionError(_name_keys(str(error))) from None


@dataclass(frozen=True)
class ReleaseSpec:
    """A specification: what is released, from which data, and who is protected.  ``read_spec`` reads one.

    Parameters
    ----------
    network
        The public network.
    budget
        Epsilon and delta; of a series, for all its releases together.
    unit
        The protected unit: a WeightUnit with ``weights``, a TripUnit with ``trips``.
    weights, trips
        The private data: one of the two.
    noise, quantity, ledger
        As for ``hushpath.release``.
    expected
        Public guesses that only plans use; not published.
    schedule
        The releases of a series.
    """

    network: NetworkSection
    budget: Budget
    unit: WeightUnit | TripUnit
    weights: WeightsSection | None = None
    trips: TripsSection | None = None
    noise: Noise = Noise()  # noqa: RUF009 - frozen
    quantity: Quantity = Quantity()  # noqa: RUF009 - frozen
    ledger: LedgerSection | None = None
    expected: ExpectedSection = ExpectedSection()
    schedule: Schedule | None = None

    def __post_init__(self) -> None:
        if self.weights is not None and self.trips is not None:
            raise OptionError("[weights] and [trips] contradict each other: keep one of them")
        if self.weights is None and self.trips is None:
            raise OptionError("[weights] or [trips] is missing")
        if isinstance(self.unit, TripUnit) != (self.trips is not None):
            raise OptionError("[unit] must have `protects` for trips, and `l1` or `edges` for weights")
        if self.schedule is not None and self.trips is None:
            raise OptionError("[schedule] needs a [trips] section; remove it for [weights]")
        if self.schedule is not None and self.unit.days is not None:
            raise OptionError("[schedule] sets the days of each release: remove `unit.days`")
        taken = self.weights.options.keys() & signature(plan).parameters.keys() if self.weights else ()
        if taken:
            raise OptionError(f"`weights.options.{min(taken)}` is not a mechanism option: set it outside `options`")
        named, private = self.network, self.weights.column if self.weights else ""
        EdgeColumns(named.source, named.target, private, named.lower, named.upper, named.proxy, named.columns)

    @cached_property
    def text(self) -> str:
        """The specification as it is published: canonical TOML with file names in place of paths.

        Defaults are left out, except for the budget.
        """
        lines: list[str] = []
        for name in PUBLISHED_SECTIONS:
            if (section := getattr(self, name)) is None:
                continue
            defaults = {one.name: one.default for one in fields(section)}
            values = {
                key: value
                for key, value in inputs(section).items()
                if name == "budget" or (value != defaults.get(key) and value not in ((), {}))
            }
            if values or name in ("weights", "trips"):
                lines += [f"[{name}]", *(f"{key} = {toml_value(value)}" for key, value in values.items()), ""]
        return "\n".join([*lines, ""])

    def topology(self) -> Topology:
        """Read the public network.  No private column is looked at."""
        named, own, columns = self.network, self.trips, list(self.network.columns)
        if own is not None:  # columns that trips refer to
            columns += [one for one in (own.low, own.high) if isinstance(one, str)]
            columns += own.edge if len(own.edge) == 1 else ()
        for key, public in (("file", named.file), ("nodes", named.nodes)):
            if own and public and public.exists() and own.file.exists() and public.samefile(own.file):
                raise OptionError(f"`network.{key}` is published, but {public} is the private table of trips")
        weight = self.weights.column if self.weights else ""
        return read_topology(**named.reading, columns=tuple(dict.fromkeys(columns)), weight=weight)

    @_named_by_keys()
    def read(self) -> Network | Trips:
        """Read the private data: a network with its weights, or trips."""
        own = self.weights
        if own is None:
            return self._trips()
        edge_data: Any = own.edge_data if own.interval is None else (own.edge_data, own.interval)
        return read_network(
            **self.network.reading, columns=self.network.columns, weight=own.column, edge_data=edge_data
        )  # fmt: skip

    def _trips(self) -> Trips:
        own = self.trips
        assert own is not None
        edge: Any = own.edge[0] if len(own.edge) == 1 else own.edge or None
        names = ("person", "day", "trip", "seconds", "node", "time", "nodes", "period", "periods")
        return read_trips(own.file, self.topology(), edge=edge, **{name: getattr(own, name) for name in names})

    @_named_by_keys()
    def plan(self, *, epsilon: Any = None, **more: Any) -> Plan | Sweep | TripPlan:
        """Forecast the error of the release from public facts.

        Parameters
        ----------
        epsilon
            Instead of the budget's; a list compares several (weights only).
        **more
            ``target_error``, ``previous_release`` and ``ignore_baseline`` of ``hushpath.plan``.
        """
        return self._plan(self.topology(), epsilon, **more)

    def _plan(self, topology: Topology, epsilon: Any = None, **more: Any) -> Plan | Sweep | TripPlan:
        budget = self.budget
        wanted = None if "target_error" in more else budget.epsilon if epsilon is None else epsilon
        if self.trips is not None:
            own = self.trips
            return plan_trips(
                topology, epsilon=wanted, delta=budget.delta, protects=self.unit, low=own.low, high=own.high,  # type: ignore[arg-type]
                expected_units=self.expected.units, edges_per_unit=self.expected.edges_per_unit, periods=own.periods,
                noise=self._planned_noise, edge_weighting=own.edge_weighting, **more,
            )  # fmt: skip
        assert self.weights is not None
        return plan(
            topology, epsilon=wanted, delta=budget.delta, unit=cast("WeightUnit", self.unit),
            max_weight=self.weights.max_weight, mechanism=self.weights.mechanism, noise=self.noise,
            typical_weight=self.expected.typical_weight, **self.weights.options, **more,
        )  # fmt: skip

    @property
    def _planned_noise(self) -> Noise:
        """The noise of a plan for trips; a series draws the usual noise, because many releases share its budget."""
        if self.schedule is None or self.noise.law != "auto":
            return self.noise
        return replace(self.noise, law=str(usual_law(self.budget, cast("TripUnit", self.unit))))

    @_named_by_keys()
    def release(
        self, path: Path | str | None = None, *, sign: Path | str | None = None, seed: int | None = None,
        ignore_baseline: bool = False, estimator: str = "auto",
    ) -> Release:  # fmt: skip
        """Measure once, with differential privacy, and write the release file.

        Parameters
        ----------
        path
            The file to write; None writes no file.
        sign
            A private Ed25519 key (PEM) to sign the file with.
        seed
            Makes the release reproducible, for tests: NOT PRIVATE.
        ignore_baseline
            Release even if public data alone are predicted to be as good.
        estimator
            The estimator that the file saves for its readers; each reader may choose another.
        """
        owned, text = self.read(), self.text
        if self.trips is not None:
            strategy: Strategy = strategy_for(
                cast("Trips", owned), self.budget, cast("TripUnit", self.unit), low=self.trips.low,
                high=self.trips.high, noise=self.noise.law, edge_weighting=self.trips.edge_weighting,
                edges_per_unit=self.expected.edges_per_unit,
            )  # fmt: skip
            usual = usual_law(self.budget, cast("TripUnit", self.unit))
            if self.noise.law == "auto" and strategy.law is not usual:  # chosen by a guess that is not published
                text = replace(self, noise=replace(self.noise, law=str(strategy.law))).text
        else:
            strategy = cast("Plan", self._plan(owned.topology, ignore_baseline=ignore_baseline)).strategy
        return publish(
            strategy, owned, self.noise, quantity=self.quantity, seed=seed,
            ledger=None if self.ledger is None else self.ledger.file, specification=text, estimator=estimator,
            file="" if path is None else Path(path).name,
            keep=None if path is None else lambda made: made.save(path, sign=sign),
        )  # fmt: skip

    @_named_by_keys()
    def series(self, folder: Path | str, run: SeriesRun) -> Series:
        """Make the releases of the schedule, as far as they are due."""
        if self.trips is None or self.schedule is None or self.ledger is None:
            raise OptionError("a series needs the sections [trips], [schedule] and [ledger]")
        own, quantity = self.trips, self.quantity
        named = replace(quantity, dataset=run.quantity.dataset or quantity.dataset)
        return series(
            self._trips(), self.schedule, epsilon=self.budget.epsilon, delta=self.budget.delta, protects=self.unit,  # type: ignore[arg-type]
            low=own.low, high=own.high, ledger=self.ledger.file, folder=folder, noise=self.noise,
            edge_weighting=own.edge_weighting, run=replace(run, quantity=named, specification=self._text_of_one),
        )  # fmt: skip

    def _text_of_one(self, one: Strategy) -> str:
        """Return the specification of one release of a series: its own days and epsilon, and no schedule."""
        return replace(self, budget=one.budget, unit=one.terms.unit, schedule=None).text

    def compare(self, release: Release, *, sources: int = 64) -> Comparison:
        """Compare a release with the truth, in all its periods.  NOT PRIVATE: for the data owner only."""
        owned = self.read()
        return Comparison.joined([compare(owned, one, sources=sources) for one in in_periods(release).values()])


def read_spec(path: str | Path, changes: Mapping[str, Mapping[str, Any]] | None = None) -> ReleaseSpec:
    """Read a specification; paths in it are relative to its folder, those of ``changes`` to the current folder.

    Parameters
    ----------
    path
        The TOML file.
    changes
        Values that replace those of the file, by section and key, for example ``{"budget": {"epsilon": 2.0}}``.

    Raises
    ------
    OptionError
        If the file is missing, a key is unknown, a value has the wrong type, or sections contradict each other; the
        message names the key by its path.

    Examples
    --------
    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "release.toml")
    >>> tables = ('[network]', 'file = "roads.csv"', '[weights]', '[unit]', 'l1 = 3.0', '[budget]', 'epsilon = 1.0')
    >>> written = place.write_text("\\n".join(tables))
    >>> read_spec(place).unit.description
    'any change of the edge weights that adds up to at most 3 over all edges together'
    """
    place = Path(path)
    try:
        if place.exists() and not place.is_file():  # reading a pipe or a device may wait for ever
            raise OptionError(f"{place} is not an ordinary file")
        with place.open(encoding="utf-8-sig") as file:
            text = file.read(LARGEST_SPEC + 1)
    except (OSError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise OptionError(f"{place}: {reason}") from None
    try:
        return make_spec(parse_toml(text), changes, folder=place.parent)
    except OptionError as error:
        raise OptionError(f"{place}: {error}") from None


def make_spec(
    tables: Mapping[str, Any], changes: Mapping[str, Mapping[str, Any]] | None = None, folder: Path = Path()
) -> ReleaseSpec:
    """Return the specification of these tables, with ``changes``; paths in the tables are relative to ``folder``."""
    for name, table in tables.items():
        if name not in SECTIONS:
            raise OptionError(f"`{_printable(name)}` is not a section{_suggest_name(name, SECTIONS)}")
        if not isinstance(table, Mapping):
            raise OptionError(f"`{name}` must be a section, [{name}], got {shorten(table)}")
    given = {name: dict(table) for name, table in tables.items()}
    changed = {name: dict(values) for name, values in (changes or {}).items()}
    if changed.get("unit", {}).keys() & {"l1", "edges"}:  # two ways to say the same thing
        given["unit"] = {key: value for key, value in given.get("unit", {}).items() if key not in ("l1", "l2", "edges")}
    names = [*given, *(name for name in changed if name not in given)]
    for needed in ("network", "unit", "budget"):
        if needed not in names:
            raise OptionError(f"the section [{needed}] is missing")
    given["budget"] = {"delta": 1e-6, **given.get("budget", {})}
    kinds: dict[str, type] = {**SECTIONS, "unit": TripUnit if "trips" in names else WeightUnit}
    return ReleaseSpec(**{
        name: _make_section(kinds[name], name, given.get(name, {}), changed.get(name, {}), folder) for name in names
    })  # fmt: skip


SECTIONS: dict[str, type] = {
    "network": NetworkSection, "weights": WeightsSection, "trips": TripsSection, "unit": WeightUnit, "budget": Budget,
    "noise": Noise, "quantity": Quantity, "ledger": LedgerSection, "expected": ExpectedSection, "schedule": Schedule,
}  # fmt: skip
PUBLISHED_SECTIONS = tuple(name for name in SECTIONS if name != "expected")


def _make_section(
    kind: type[Section], name: str, given: Mapping[str, Any], changed: Mapping[str, Any], folder: Path
) -> Section:
    """Build the section ``name`` as a ``kind``; errors name the key by its path.

    Values of ``changed`` replace those of ``given``, whose paths are relative to ``folder``.
    """
    known = {one.name: one for one in fields(kind) if one.init}  # type: ignore[arg-type]
    hints, table = get_type_hints(kind), {**given, **changed}
    for key in table:
        if key not in known:
            if name == "unit" and f"unit.{key}" in KEYS:
                owner = "weights" if kind is TripUnit else "trips"
                raise OptionError(f"`unit.{key}` applies to [{owner}] only; known: {', '.join(known)}")
            raise OptionError(f"`{name}.{_printable(key)}` is unknown{_suggest_name(key, known)}")
    needed = [key for key, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
    if kind is WeightUnit and "edges" not in table:
        needed.append("l1")
    for key in needed:
        if table.get(key) is None:
            raise OptionError(f"`{name}.{key}` is missing: {KEYS[f'{name}.{key}'].help}")
    values = {key: _convert(value, hints[key], f"{name}.{key}") for key, value in table.items()}
    for key in given.keys() - changed.keys():
        if isinstance(values[key], Path):
            values[key] = folder / values[key]
    try:
        return kind(**values)
    except HushpathError as error:
        text = str(error)
        named = _name_keys(text, name)
        raise OptionError(named if named != text else f"[{name}]: {text}") from None


def _convert(value: Any, hint: Any, path: str) -> Any:
    """Return a TOML value as the type that a field declares."""
    if isinstance(value, date) and path == "quantity.date":  # TOML has dates without quotes
        return str(value)
    if hint is Any or (isinstance(value, date) and path in ("unit.days", "schedule.first")):
        return value
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for kind in kinds:
        base = get_origin(kind) or kind
        if base is Path and isinstance(value, (str, Path)) and str(value).isprintable() and str(value):
            return Path(value)
        if base is float and is_real(value) and (isinstance(value, float) or abs(value) < 10**308):
            return float(value)
        if base is tuple:
            texts = get_args(kind)[:1] == (str,)
            if isinstance(value, str):  # a list of one name; or text that the class itself parses
                return (value,) if texts else value
            if isinstance(value, (list, tuple)) and not (texts and any(not isinstance(one, str) for one in value)):
                return tuple(value)
        text = base is Literal or (base is not Path and issubclass(base, str))  # the class checks its own names
        if isinstance(value, str) if text else type(value) is base:
            return value
    names = dict.fromkeys(TYPE_NAMES.get(getattr(get_origin(one) or one, "__name__", ""), "text") for one in kinds)
    raise OptionError(f"`{path}` must be {' or '.join(name for name in names if name)}, got {shorten(value)}")


TYPE_NAMES = {
    "Path": "a file name", "str": "text", "bool": "true or false", "float": "a number", "int": "an integer",
    "tuple": "a list of names", "dict": "a table", "NoneType": "", "date": "a date",
}  # fmt: skip


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in name[:40])


def _suggest_name(name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"


def inputs(section: Any) -> dict[str, Any]:
    """Return the keys of a section that are set, with their values."""
    found = {one.name: getattr(section, one.name) for one in fields(section) if one.init}
    return {key: value for key, value in found.items() if value is not None}
