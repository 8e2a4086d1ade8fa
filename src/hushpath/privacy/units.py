"""Protected units: whose data two neighbouring inputs differ in, declared by the owner and published.

A release of edge weights protects a ``WeightUnit``: any change of the weights within a declared norm.  A release of
trips protects a ``TripUnit``: a person, a person's day or a trip.  Both have the same properties for statements,
promises and ledgers, so the code that shows them does not ask which one it has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, cast

from .._validate import integer, is_integer, is_real, one_of, positive, shorten
from ..days import Days, count_days, parse_day, parse_days
from ..errors import FileFormatError, OptionError

NEIGHBOURS = ("add-remove", "replace")
SEVERAL_UNITS = 20  # units of one person that the promise speaks of, for units smaller than a person
MOST_EDGES = 2**20 - 1
MISSING_UNIT = (
    "`unit` is missing: the largest total change of ALL weights (sum of absolute changes, in the unit of the weights) "
    "when the data of one protected unit, e.g. all trips of one person, are removed. See the guide to epsilon and unit"
)


class Protects(StrEnum):
    """The kinds of unit that a ledger knows.  A closed list: which days a unit touches is part of the proof."""

    PERSON = "person"
    PERSON_DAY = "person-day"
    TRIP = "trip"
    DECLARED = "declared"

    @classmethod
    def of(cls, name: Any) -> Protects:
        """Return the kind of this name."""
        return cls(one_of(name, "protects", cls))

    @property
    def within_a_day(self) -> bool:
        """Whether one unit lies within one day: releases of other days do not touch it."""
        return self in (Protects.PERSON_DAY, Protects.TRIP)


class Question(NamedTuple):
    """A question about protected units whose two answers are ``units`` neighbours apart.

    ``versions`` marks two versions of the same unit of trips: both add non-negative numbers, so in L2 norm they are
    at most sqrt(2) apart, not 2 (docs/proofs/trips.md).
    """

    text: str
    units: int
    versions: bool = False


@dataclass(frozen=True)
class WeightUnit:
    """How far one protected unit can change the edge weights.

    Parameters
    ----------
    l1
        The largest sum of absolute changes over all edges.
    l2
        The largest Euclidean norm of the changes, if that is smaller: Gaussian noise on edges is then in proportion.
    edges
        Instead of both, ``(k, c)``: a unit changes at most ``k`` weights by at most ``c`` each.
    population
        About how many protected units there are: public, declared, never counted in the data.
    lattice_step
        The step that weights are rounded down to, a power of two; chosen from public facts if not given.

    Examples
    --------
    >>> WeightUnit(edges=(4, 0.5))
    WeightUnit(l1=2.0, l2=1.0, edges=None, population=None, lattice_step=None)
    """

    kind: ClassVar[str] = "weights"  # in files
    measures_edges: ClassVar[bool] = True  # whether noise and cost belong to single edges
    clipped_noun: ClassVar[str] = "weight"  # what is clipped to public bounds
    noun: ClassVar[str] = "one protected unit"
    several: ClassVar[int] = SEVERAL_UNITS  # units of one person that the promise also speaks of
    several_noun: ClassVar[str] = f"{SEVERAL_UNITS} units"
    several_reason: ClassVar[str] = f"Whoever can change the weights {SEVERAL_UNITS} times as much gets less:"
    population_noun: ClassVar[str] = "units"
    covered_days: ClassVar[str] = ""  # weights have no days
    l1: float | None = None
    l2: float | None = None
    edges: tuple[int, float] | None = None
    population: int | None = None
    lattice_step: float | None = field(default=None, compare=False)  # of the lattice, not of the promise
    protects: Protects = field(default=Protects.DECLARED, init=False, repr=False)  # only the owner knows what it is
    days: Days | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.edges is not None:
            if self.l1 is not None or self.l2 is not None:
                raise OptionError("`edges` of a unit replaces `l1` and `l2`: pass it alone")
            l1, l2 = edge_norms(self.edges)
            object.__setattr__(self, "l1", l1)
            object.__setattr__(self, "l2", l2)
            object.__setattr__(self, "edges", None)
        if self.l1 is None:
            raise OptionError(MISSING_UNIT)
        object.__setattr__(self, "l1", positive(self.l1, "unit"))
        object.__setattr__(self, "l2", None if self.l2 is None else positive(self.l2, "unit l2"))
        object.__setattr__(self, "population", _population(self.population))

    @classmethod
    def of(cls, unit: WeightUnit | float | None) -> WeightUnit:
        """Return a unit from a number (L1) or as it is."""
        return unit if isinstance(unit, WeightUnit) else cls(l1=unit)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> WeightUnit:
        """Return the unit that ``as_dict`` wrote; every value is checked."""
        if set(found) != {"l1", "l2", "population"}:
            raise FileFormatError("the protected unit of the weights has unknown or missing fields")
        return cls(l1=found["l1"], l2=found["l2"], population=found["population"])

    @property
    def norm(self) -> float:
        """The declared L1 norm."""
        return cast("float", self.l1)  # set by __post_init__

    @property
    def description(self) -> str:
        """What neighbouring inputs may differ in: a change within the declared norms."""
        also = "" if self.l2 is None else f", and whose squares add up to at most the square of {self.l2:g}"
        return f"any change of the edge weights that adds up to at most {self.norm:g} over all edges together{also}"

    def rounding(self, step: float) -> str:
        """Return the steps of the lattice, in words."""
        return f"{step:.3g}"

    def questions(self) -> list[Question]:
        """Ask for two sets of weights, one or several units apart."""
        text = "Two sets of weights, {} apart: which is true?"
        return [Question(text.format("1 unit"), 1), Question(text.format(self.several_noun), self.several)]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values; the lattice step is part of the lattice."""
        return {"l1": self.l1, "l2": self.l2, "population": self.population}


@dataclass(frozen=True)
class TripUnit:
    """Whose trips are protected.

    Parameters
    ----------
    protects
        "person", "person-day" or "trip".
    neighbours
        "add-remove": the data of one unit are present or absent.  "replace": they are exchanged for others.
    days
        The first and the last day that count; rows of other days are left out.  None for all days.
    max_edges
        With Laplace noise: at most this many edges and periods of a unit count, chosen at random; None for all.
    population
        About how many protected units there are: public, declared, never counted in the data.

    Examples
    --------
    >>> TripUnit("person-day", days="2026-10-01..2026-10-31").covered_days
    '2026-10-01 to 2026-10-31'
    """

    kind: ClassVar[str] = "trips"
    measures_edges: ClassVar[bool] = False
    clipped_noun: ClassVar[str] = "pass over an edge"
    protects: Protects
    neighbours: str = "add-remove"
    days: Days | None = None
    max_edges: int | None = None
    population: int | None = None

    def __post_init__(self) -> None:
        allowed = [one for one in Protects if one is not Protects.DECLARED]
        object.__setattr__(self, "protects", Protects(one_of(self.protects, "protects", allowed)))
        one_of(self.neighbours, "neighbours", NEIGHBOURS)
        object.__setattr__(self, "days", parse_days(self.days))
        if self.max_edges is not None:
            object.__setattr__(self, "max_edges", integer(self.max_edges, "max_edges", 1, MOST_EDGES))
        object.__setattr__(self, "population", _population(self.population))

    @classmethod
    def of(cls, protects: TripUnit | str | None, days: Any = None) -> TripUnit:
        """Return a unit from the name of its kind or as it is, restricted to ``days``."""
        unit = protects if isinstance(protects, TripUnit) else cls(protects)  # type: ignore[arg-type]
        if days is None:
            return unit
        if unit.days is not None:
            raise OptionError("`days` were given twice: in the unit and as an argument")
        return replace(unit, days=days)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> TripUnit:
        """Return the unit that ``as_dict`` wrote; every value is checked."""
        if set(found) != {"protects", "neighbours", "days", "max_edges", "population"}:
            raise FileFormatError("the protected unit of the trips has unknown or missing fields")
        days = found["days"]
        if days is not None:
            if not (isinstance(days, list) and len(days) == 2 and all(type(day) is str for day in days)):
                raise FileFormatError("the days of the protected unit must be a first and a last day")
            try:
                days = [parse_day(day) for day in days]
            except ValueError:
                raise FileFormatError("the days of the protected unit must be a first and a last day") from None
        made = cls(**{**found, "days": days})
        if made.as_dict() != dict(found):
            raise FileFormatError("the days of the protected unit are not in canonical form")
        return made

    @property
    def norm(self) -> float:
        """The trips of one unit are scaled to norm 1 before they are added up."""
        return 1.0

    @property
    def description(self) -> str:
        """What neighbouring inputs may differ in: everything that a unit did."""
        unit = {"person": "everything one person did", "person-day": "everything one person did on one day"}
        change = "replaced by anything else" if self.neighbours == "replace" else "added or removed"
        return f"{unit.get(self.protects, 'one trip')} (any number of edges and periods), {change}"

    @property
    def noun(self) -> str:
        """One unit, in words."""
        return {"person": "one person", "person-day": "one person's day", "trip": "one trip"}[self.protects]

    @property
    def several(self) -> int:
        """The units of 20 days, or of all days that count; a person is one unit."""
        if self.protects is Protects.PERSON:
            return 0
        whole = self.days is None or self.protects is Protects.TRIP
        most = SEVERAL_UNITS if whole or self.days is None else count_days(self.days)
        return min(SEVERAL_UNITS, most) if most > 1 else 0

    @property
    def several_noun(self) -> str:
        """``several`` in words, such as "5 days of one person"."""
        return f"{self.several} {'trips' if self.protects is Protects.TRIP else 'days'} of one person"

    @property
    def several_reason(self) -> str:
        """Why the promise speaks of several units."""
        one = "trip" if self.protects is Protects.TRIP else "day"
        return f"A {one} is protected, not a person. For {self.several_noun}"

    @property
    def population_noun(self) -> str:
        """What ``population`` counts."""
        return {"person": "people", "person-day": "person-days", "trip": "trips"}[self.protects]

    @property
    def covered_days(self) -> str:
        """The declared days."""
        return "every day in the data; none were declared" if self.days is None else "{} to {}".format(*self.days)

    def rounding(self, step: float) -> str:  # noqa: ARG002
        """Return parts of the way from the lower to the upper bound, in words."""
        return "a millionth of the range between them"

    def questions(self) -> list[Question]:
        """Ask whether a unit is in the data, which of two versions it is, and the same of several units."""
        one = {"person": "this person", "person-day": "this day of one person", "trip": "this trip"}[self.protects]
        if self.neighbours == "replace":
            found = [Question(f"Which of two versions of {one} is in the data?", 1)]
            more = f"Which of two versions of {self.several_noun}?"
        else:
            versions = Question("If so, which of two versions of it?", 2, versions=True)
            found = [Question(f"Is {one} in the data?", 1), versions]
            more = f"Are {self.several_noun} in the data?"
        return [*found, Question(more, self.several)] if self.several else found

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "protects": str(self.protects), "neighbours": self.neighbours,
            "days": None if self.days is None else [str(day) for day in self.days],
            "max_edges": self.max_edges, "population": self.population,
        }  # fmt: skip


Unit = WeightUnit | TripUnit


def edge_norms(declared: Any) -> tuple[float, float]:
    """Return L1 and L2 norm, rounded up, of a unit that changes at most ``k`` weights by at most ``c`` each.

    >>> edge_norms((4, 0.5))
    (2.0, 1.0)
    """
    pair = tuple(declared) if isinstance(declared, (tuple, list)) and len(declared) == 2 else (None, None)
    edges, most = pair
    if not (is_integer(edges) and is_real(most) and 1 <= edges < 2**53 and 0 < most <= 1e80):
        raise OptionError(
            f"`edges` of a unit must be (k, c): at most k weights change by at most c each; got {shorten(declared)}"
        )
    k, c = int(edges), float(most)
    # A product and a root of floats are each off by half a unit in the last place: step up until they bound the norm.
    l1 = c * k if Fraction(c) * k <= Fraction(c * k) else math.nextafter(c * k, math.inf)
    l2 = c * math.sqrt(k)
    while Fraction(l2) ** 2 < Fraction(c) ** 2 * k:
        l2 = math.nextafter(l2, math.inf)
    return l1, min(l1, l2)


def _population(value: Any) -> int | None:
    return None if value is None else integer(value, "population", 1, 2**63 - 1)
