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
and on the command line.  The specification, with file names in place of paths, is embedded in the release.
"""

from __future__ import annotations

import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields, is_dataclass, replace
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from .._validate import shorten
from ..errors import HushpathError, OptionError
from ..io.readers import read_network, read_topology
from ..measurement.private_step import measure, measure_trips
from ..network.network import Network
from ..network.topology import Topology
from ..noise import Noise
from ..planning.plan import plan, plan_trips
from ..planning.result import Plan, Sweep
from ..planning.trips import TripPlan
from ..privacy.accounting import Budget
from ..privacy.units import TripUnit, WeightUnit
from ..published.quantity import Quantity
from ..published.release import Release, in_periods
from ..trips.trips import Trips, read_trips
from .evaluate import Comparison, compare
from .release import publish, strategy_for
from .series import Schedule, SeriesRun, series
from .steps import Series

LARGEST_SPEC = 2**16  # characters
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
    """The private table of trips: a row per pass (edge), per visit (node, time) or per trip (nodes, times)."""

    file: Path
    person: str | None = None
    day: str | None = None
    trip: str | None = None
    edge: tuple[str, ...] = ()
    seconds: str | None = None
    node: str | None = None
    time: str | None = None
    nodes: str | None = None
    times: str | None = None
    durations: str | None = None
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


@dataclass(frozen=True)
class ReleaseSpec:
    """A specification: what is released, from what, and to whom it is promised.

    Make one with ``read_spec``, or from its sections.
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
        if (self.weights is None) == (self.trips is None):
            raise OptionError("a specification needs either [weights] or [trips]")
        if isinstance(self.unit, TripUnit) != (self.trips is not None):
            raise OptionError("[unit] must have `protects` for trips, and `l1` or `edges` for weights")
        if self.schedule is not None and self.trips is None:
            raise OptionError("[schedule] is for releases of trips")

    @cached_property
    def text(self) -> str:
        """The specification as it is published: canonical TOML with file names in place of paths."""
        return "\n".join(_toml(self)) + "\n"

    def topology(self) -> Topology:
        """Read the public network.  No private column is looked at."""
        named, found = self.network, _named_columns(self)
        return read_topology(
            named.file, source=named.source, target=named.target, directed=named.directed, nodes=named.nodes,
            lower=named.lower, upper=named.upper, proxy=named.proxy, columns=found, format=named.format,
            weight=self.weights.column if self.weights else "weight", parallel_edges=named.parallel_edges,
        )  # fmt: skip

    def read(self) -> Network | Trips:
        """Read the private data: a network with its weights, or trips."""
        if self.trips is not None:
            return self._trips()
        assert self.weights is not None
        named, own = self.network, self.weights
        return read_network(
            named.file, source=named.source, target=named.target, weight=own.column, directed=named.directed,
            nodes=named.nodes, lower=named.lower, upper=named.upper, proxy=named.proxy, columns=named.columns,
            edge_data=own.edge_data, interval=own.interval, parallel_edges=named.parallel_edges, format=named.format,
        )  # fmt: skip

    def _trips(self) -> Trips:
        own = self.trips
        assert own is not None
        for public in (self.network.file, self.network.nodes):
            if public is not None and public.exists() and own.file.exists() and public.samefile(own.file):
                raise OptionError(f"{public} is the private table of trips, and a network is published")
        edge: Any = own.edge[0] if len(own.edge) == 1 else own.edge or None
        names = ("person", "day", "trip", "seconds", "node", "time", "nodes", "times", "durations", "period", "periods")
        return read_trips(own.file, self.topology(), edge=edge, **{name: getattr(own, name) for name in names})

    def plan(self, *, epsilon: Any = None, **more: Any) -> Plan | Sweep | TripPlan:
        """Forecast the error of the release from public facts.

        Parameters
        ----------
        epsilon
            Instead of the budget's; a list compares several (weights only).
        **more
            ``target_error``, ``previous_release`` and ``ignore_baseline`` of ``hushpath.plan``.
        """
        topology, budget = self.topology(), self.budget
        wanted = None if "target_error" in more else budget.epsilon if epsilon is None else epsilon
        if self.trips is not None:
            own = self.trips
            return plan_trips(
                topology, epsilon=wanted, delta=budget.delta, protects=self.unit, low=own.low, high=own.high,  # type: ignore[arg-type]
                expected_units=self.expected.units, edges_per_unit=self.expected.edges_per_unit, periods=own.periods,
                noise=self.noise, edge_weighting=own.edge_weighting, **more,
            )  # fmt: skip
        assert self.weights is not None
        return plan(
            topology, epsilon=wanted, delta=budget.delta, unit=cast("WeightUnit", self.unit),
            max_weight=self.weights.max_weight, mechanism=self.weights.mechanism, noise=self.noise,
            typical_weight=self.expected.typical_weight,
            **self.weights.options, **more,
        )  # fmt: skip

    def release(
        self, path: Path | str | None = None, *, sign: Path | str | None = None, seed: int | None = None,
        ignore_baseline: bool = False,
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
        """
        keep = None if path is None else lambda made: made.save(path, sign=sign)
        more: dict[str, Any] = dict(
            seed=seed, ledger=None if self.ledger is None else self.ledger.file, keep=keep,
            file="" if path is None else Path(path).name, specification=self.text,
        )  # fmt: skip
        if self.trips is not None:
            trips, unit = self._trips(), self.unit
            assert isinstance(unit, TripUnit)
            chosen = strategy_for(
                trips, self.budget, unit, low=self.trips.low, high=self.trips.high, noise=self.noise.law,
                edge_weighting=self.trips.edge_weighting,
            )  # fmt: skip
            quantity = self.quantity.of_trips()
            return publish(
                chosen, lambda sampler: measure_trips(chosen, trips, sampler), self.noise, quantity=quantity, **more
            )
        network, made = self.read(), self.plan(ignore_baseline=ignore_baseline)
        assert isinstance(network, Network)
        assert isinstance(made, Plan)
        return publish(
            made.strategy, lambda sampler: measure(made.strategy, network.weights, sampler), self.noise,
            quantity=self.quantity, **more,
        )  # fmt: skip

    def series(self, folder: Path | str, run: SeriesRun) -> Series:
        """Make the releases of the schedule, as far as they are due."""
        if self.trips is None or self.schedule is None or self.ledger is None:
            raise OptionError("a series needs the sections [trips], [schedule] and [ledger]")
        own, name = self.trips, self.quantity.dataset or None
        return series(
            self._trips(), self.schedule, epsilon=self.budget.epsilon, delta=self.budget.delta, protects=self.unit,  # type: ignore[arg-type]
            low=own.low, high=own.high, ledger=self.ledger.file, folder=folder, noise=self.noise,
            edge_weighting=own.edge_weighting, run=replace(run, dataset=run.dataset or name),
        )  # fmt: skip

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
    """
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise OptionError(f"{place}: {reason}") from None
    try:
        return make_spec(parse_toml(text), changes, folder=place.parent)
    except OptionError as error:
        raise OptionError(f"{place}: {error}") from None


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text of bounded size."""
    if len(text) > LARGEST_SPEC:
        raise OptionError(f"a specification has at most {LARGEST_SPEC} characters")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise OptionError(f"not valid TOML: {str(error)[:100]}") from None


def make_spec(
    tables: Mapping[str, Any], changes: Mapping[str, Mapping[str, Any]] | None = None, folder: Path | None = None
) -> ReleaseSpec:
    """Return the specification of these tables, with ``changes``; paths are relative to ``folder``."""
    merged = {name: dict(_table(name, table)) for name, table in tables.items()}
    for name, values in (changes or {}).items():
        merged.setdefault(name, {}).update(values)
    unknown = sorted(set(merged) - SECTIONS.keys())
    if unknown:
        raise OptionError(f"unknown section [{unknown[0][:40]}]{_suggest(unknown[0], SECTIONS)}")
    for needed in ("network", "unit", "budget"):
        if needed not in merged:
            raise OptionError(f"the section [{needed}] is missing")
    merged["budget"].setdefault("delta", 1e-6)
    kinds: dict[str, type] = {**SECTIONS, "unit": TripUnit if "trips" in merged else WeightUnit}
    found: dict[str, Any] = {name: _section(kinds[name], name, table) for name, table in merged.items()}
    made = ReleaseSpec(**found)
    return made if folder is None else _placed(made, folder, changes or {})


SECTIONS: dict[str, type] = {
    "network": NetworkSection, "weights": WeightsSection, "trips": TripsSection, "unit": WeightUnit, "budget": Budget,
    "noise": Noise, "quantity": Quantity, "ledger": LedgerSection, "expected": ExpectedSection, "schedule": Schedule,
}  # fmt: skip


def _table(name: str, table: Any) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise OptionError(f"`{name[:40]}` must be a section, [{name[:40]}], got {shorten(table)}")
    return table


def _section(kind: type[Section], name: str, table: Mapping[str, Any]) -> Section:
    """Build one section; errors name the key by its path."""
    known = {one.name: one for one in fields(kind) if one.init}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    for key in table:
        if key not in known:
            raise OptionError(f"`{name}.{key[:40]}` is unknown{_suggest(key, known)}")
    for key, one in known.items():
        if key not in table and one.default is MISSING and one.default_factory is MISSING:
            raise OptionError(f"`{name}.{key}` is missing")
    values = {key: _value(value, hints[key], f"{name}.{key}") for key, value in table.items()}
    try:
        return kind(**values)
    except HushpathError as error:
        raise OptionError(f"[{name}]: {error}") from None


def _value(value: Any, hint: Any, path: str) -> Any:
    """Return a TOML value as the type that a field declares."""
    if hint is Any or isinstance(value, date):
        return value
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for option in options:
        base = get_origin(option) or option
        if base is Path and isinstance(value, (str, Path)):
            return Path(value)
        if base is tuple and isinstance(value, (list, tuple)):
            return tuple(value)
        if base is tuple and isinstance(value, str):  # a list of one name; or text that the class itself parses
            return (value,) if get_args(option)[0] is str else value
        if base is float and isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        if base is bool and isinstance(value, bool):
            return value
        if isinstance(base, type) and base is not bool and isinstance(value, base) and not isinstance(value, bool):
            return value
        if base is types.NoneType and value is None:
            return value
        if isinstance(base, type) and issubclass(base, str) and isinstance(value, str):
            return value  # an enum checks its own names
    names = sorted({TYPE_NAMES.get(getattr(get_origin(one) or one, "__name__", ""), "text") for one in options} - {""})
    raise OptionError(f"`{path}` must be {' or '.join(names)}, got {shorten(value)}")


TYPE_NAMES = {
    "Path": "a file name", "str": "text", "bool": "true or false", "float": "a number", "int": "an integer",
    "tuple": "a list", "dict": "a table", "NoneType": "",
}  # fmt: skip


def _suggest(name: str, known: Mapping[str, Any]) -> str:
    near = get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else f"; known: {', '.join(known)}"


def _named_columns(spec: ReleaseSpec) -> tuple[str, ...]:
    """The public columns that the network must be read with: those named, and those that trips refer to."""
    own, found = spec.trips, list(spec.network.columns)
    if own is not None:
        found += [one for one in (own.low, own.high) if isinstance(one, str)]
        found += own.edge if len(own.edge) == 1 else ()
    return tuple(dict.fromkeys(found))


def _placed(spec: ReleaseSpec, folder: Path, changes: Mapping[str, Mapping[str, Any]]) -> ReleaseSpec:
    """The same specification with its own paths relative to its folder; those of changes stay as they are."""

    def placed(name: str) -> Any:
        section = getattr(spec, name)
        if not is_dataclass(section):
            return section
        paths = {
            one.name: folder / value
            for one in fields(section)
            if isinstance(value := getattr(section, one.name), Path) and one.name not in changes.get(name, ())
        }
        return replace(section, **paths) if paths else section  # type: ignore[type-var]

    return replace(spec, **{one.name: placed(one.name) for one in fields(spec)})


def _toml(spec: ReleaseSpec) -> Iterator[str]:
    """Canonical TOML of everything that differs from its default."""
    for name in SECTIONS:
        section = getattr(spec, name)
        if section is None:
            continue
        defaults = {one.name: one.default for one in fields(section)}
        values = {
            key: value
            for key, value in asdict(section).items()
            if value is not None and value != defaults.get(key) and value not in ((), {}) and key in _inputs(section)
        }
        if values:
            yield f"[{name}]"
            yield from (f"{key} = {toml_value(value)}" for key, value in values.items())
            yield ""


def _inputs(section: Any) -> set[str]:
    return {one.name for one in fields(section) if one.init}


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it.

    >>> toml_value(["a", 1, True]), toml_value({"am": (7, 10)}), toml_value(Path("x/y.csv"))
    ('["a", 1, true]', '{am = [7, 10]}', '"y.csv"')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Path):
        return toml_value(value.name)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {toml_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(one) for one in value) + "]"
    if isinstance(value, (int, float)):
        return repr(value)
    return '"' + "".join(_escaped(letter) for letter in str(value)) + '"'


def _key(key: Any) -> str:
    text = str(key)
    bare = text.isascii() and text != "" and all(letter.isalnum() or letter in "-_" for letter in text)
    return text if bare else toml_value(text)


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
