"""Travel times from people's trips: noisy totals of every edge and period, whatever any one unit did.

A unit (a person, a person-day, a trip) touches L cells.  It enters each with weight ``g / sqrt(sum g^2)``, where ``g``
is a public emphasis of the cell's edge, so its L2 norm is at most 1 whatever L is: nothing is thrown away and nobody
has to choose how much (docs/TRIPS.md).  For pure privacy the weight is ``g / sum g``, of L1 norm 1.

Quiet edges get more emphasis: counts differ by orders of magnitude, noise does not.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Float, Int, frozen
from ..blocks.routes import usage
from ..blocks.trips import TripBlock
from ..data.lattice import LARGEST_DISTANCE, Lattice
from ..data.periods import Periods
from ..data.topology import Topology
from ..data.trips import UNITS
from ..errors import OptionError
from ..noise import Law, std
from .core import Design, Mechanism, Problem, Strategy, build_strategy
from .terms import Terms

SHARE = 2**20  # lattice steps that are a norm of 1
EMPHASIS = 2**14  # the emphasis of an edge of the mean public traffic, about
NEIGHBOURS = ("add-remove", "replace")
WHOLE_DAY = Periods()
FINEST = 2**12  # steps that the shortest bound is cut into at least
Days = tuple[datetime.date, datetime.date] | tuple[int, int]


@dataclass(frozen=True, eq=False)
class TripLattice(Lattice):
    """Where totals of trips are counted: a norm of 1 is ``SHARE`` steps.  Its bounds and granularity are of times."""

    replaced: bool = False

    @property
    def step(self) -> float:
        """In units of the norm of one protected unit."""
        return 1 / SHARE

    @property
    def unit_steps(self) -> int:
        """L1 norm of what one unit adds or takes away; twice that if one is replaced by another."""
        return 2 * SHARE if self.replaced else SHARE

    @property
    def l2_steps(self) -> int:
        """L2 norm of the same: two vectors without negative entries are at most sqrt(2) times their norm apart."""
        return math.isqrt(2 * SHARE * SHARE) + 1 if self.replaced else SHARE


@dataclass(frozen=True, eq=False)
class TripTerms(Terms):
    """What the owner of trips declares; all of it is published.

    Attributes:
        protects: what one unit is: "person", "person-day" or "trip".
        neighbours: two tables are told apart by a unit more or less, or by one unit replaced by another.
        low, high: public bounds of the time of one pass over each edge; other times are clipped, silently.
        emphasis: the public weight of each edge among those that a unit touches, whole numbers.
        periods: the public periods of the day.
        days: the first and the last day that may count; others are left out.
        max_edges: for pure privacy: at most so many cells of a unit count, drawn evenly; ``None``: all of them do.
    """

    protects: str = ""
    neighbours: str = "add-remove"
    low: Float = field(default_factory=lambda: np.empty(0))
    high: Float = field(default_factory=lambda: np.empty(0))
    emphasis: Int = field(default_factory=lambda: np.empty(0, np.int64))
    periods: Periods = WHOLE_DAY
    days: Days | None = None
    max_edges: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.protects not in UNITS:
            raise OptionError(f"protects must be one of {', '.join(UNITS)}, got {str(self.protects)[:40]!r}")
        if self.neighbours not in NEIGHBOURS:
            raise OptionError(f"neighbours must be one of {', '.join(NEIGHBOURS)}, got {str(self.neighbours)[:40]!r}")
        most = self.max_edges
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or not 1 <= most < SHARE):
            raise OptionError(f"max_edges must be a whole number from 1 to {SHARE - 1}, got {str(most)[:40]!r}")
        low, high = frozen(self.low, np.float64), frozen(self.high, np.float64)
        if not low.shape == high.shape == np.shape(self.emphasis):
            raise OptionError("bounds and emphasis of edges are of different lengths")
        with np.errstate(invalid="ignore", over="ignore"):
            if not ((low >= 0) & (high > low) & (high >= 1e-9) & (high <= 1e12) & (high - low >= 1e-9 * high)).all():
                raise OptionError("bounds of a pass need 0 <= low < high, high from 1e-9 to 1e12, for every edge")
        if not ((self.emphasis >= 1) & (self.emphasis <= 2**20)).all():
            raise OptionError("the emphasis of an edge is a whole number from 1 to 2**20")
        for name, array in (("low", low), ("high", high), ("emphasis", frozen(self.emphasis, np.int64))):
            object.__setattr__(self, name, array)

    def lattice(self, topology: Topology) -> TripLattice:
        """Times in steps so fine that rounding does not show."""
        for array in (self.low, self.high, self.emphasis):
            if array.shape != (topology.num_edges,):
                raise OptionError(f"bounds and emphasis are one per edge: {topology.num_edges} edges, {array.shape}")
        ceiling = min(LARGEST_DISTANCE >> (max(topology.num_nodes, 2) - 1).bit_length(), 2**53)
        granularity = 2.0 ** math.floor(math.log2(float(self.high.min(initial=1.0)) / FINEST))
        while self.high.max(initial=0.0) > ceiling * granularity:
            granularity *= 2
        high = np.floor(self.high / granularity).astype(np.int64)
        low = np.minimum(np.floor(self.low / granularity).astype(np.int64), high)
        return TripLattice(
            granularity, 1.0, frozen(low, np.int64), frozen(high, np.int64), topology.twins,
            replaced=self.neighbours == "replace",
        )  # fmt: skip

    def declared_of_trips(self) -> dict[str, Any]:
        """What is promised to whom, as plain values."""
        days = None if self.days is None else [str(day) for day in self.days]
        return {
            "protects": self.protects, "neighbours": self.neighbours, "periods": list(self.periods.names),
            "hours": [list(span) for span in self.periods.hours], "days": days, "max_edges": self.max_edges,
        }  # fmt: skip

    def bound_every_weight(self, topology: Topology) -> bool:
        """Every pass is bounded."""
        return True


@lru_cache(maxsize=2)  # a plan, and every release of a series, asks for the same network
def public_traffic(topology: Topology) -> Float:
    """How much fastest routes over free-flow times use each edge, as a multiple of the mean."""
    free_flow = free_flow_of(topology)
    used = usage(topology, free_flow / free_flow.mean())
    return used / max(float(used.mean()), 1e-300)


def quiet_emphasis(topology: Topology) -> Int:
    """Edges that fastest routes on empty streets use little count more: a public fact, by a power that served best."""
    if topology.num_edges == 0:
        return np.empty(0, np.int64)
    share = (public_traffic(topology) + 0.1) ** -0.25
    return np.clip(np.rint(EMPHASIS * share), 1, 2**20).astype(np.int64)


def bounds_of(topology: Topology, given: Any, name: str) -> Float:
    """One bound per edge: a multiple of the public free-flow time, the name of a column, or an array."""
    if given is None:
        raise OptionError(
            f"{name} is missing: the public bound of one pass over an edge, as a multiple of the free-flow time "
            f"({name}={'0.5' if name == 'low' else '6'}) or the name of a column; it is never read from the trips"
        )
    if isinstance(given, str):
        return topology.numbers(given)
    if isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool):
        if not 0 <= given < 1e6:
            raise OptionError(f"{name} is a multiple of the free-flow time, from 0 to 1e6, got {given:g}")
        return free_flow_of(topology) * float(given)
    array = np.asarray(given)
    if array.shape != (topology.num_edges,) or array.dtype.kind not in "iuf":
        raise OptionError(f"{name} is a multiple, a column or one number per edge ({topology.num_edges})")
    return array.astype(np.float64)


def free_flow_of(topology: Topology) -> Float:
    """The public free-flow time of every edge; it must be known everywhere, since bounds and prior rest on it."""
    if topology.proxy is None:
        raise OptionError(
            "trips need the public free-flow time of every edge: name its column when the network is read, "
            "proxy='free_flow'"
        )
    if not (topology.proxy > 0).all():
        at = int(np.flatnonzero(~(topology.proxy > 0))[0])
        ends = topology.labels[topology.tails[at]], topology.labels[topology.heads[at]]
        raise OptionError(
            f"column {topology.proxy_name!r} has no positive free-flow time for the edge from {ends[0]!r:.40} to "
            f"{ends[1]!r:.40}; give every edge one"
        )
    return topology.proxy


def noise_of_totals(strategy: Strategy) -> float:
    """The standard deviation of the noise of each total, in units of the norm of one protected unit."""
    return std(strategy.law, int(strategy.scales.max(initial=0))) / SHARE


def design(problem: Problem) -> Design:
    """All totals, with one scale of noise."""
    if not isinstance(problem.terms, TripTerms):
        raise OptionError("totals of trips are measured under terms of trips")
    return Design((TripBlock(problem.topology, len(problem.terms.periods)),), lambda law: np.ones(1))


def _misfit(strategy: Strategy) -> str | None:
    """A file must say the same of its periods twice."""
    if not isinstance(strategy.terms, TripTerms):
        return "it has no terms of trips"
    if strategy.block(TripBlock).periods != len(strategy.terms.periods):
        return "it measures other periods than it names"
    if strategy.law is Law.GAUSSIAN and strategy.terms.max_edges is not None:
        return "max_edges is for Laplace noise"
    if strategy.topology.proxy is None or not (strategy.topology.proxy > 0).all():
        return "it has no free-flow time of every edge"
    return None


MECHANISM = Mechanism(
    name="trips",
    summary="noisy totals of people's trips on every edge, whatever any one person did",
    design=design,
    measures=(TripBlock,),
    misfit=_misfit,
)


def trip_strategy(topology: Topology, terms: TripTerms, law: str = "auto") -> Strategy:
    """The strategy: Gaussian noise, unless pure privacy or Laplace noise is asked for."""
    if law not in ("auto", *Law):
        raise OptionError(f"law must be auto, laplace or gaussian, got {str(law)[:40]!r}")
    pure = terms.budget.delta == 0 or terms.max_edges is not None
    chosen = Law(law) if law != "auto" else Law.LAPLACE if pure else Law.GAUSSIAN
    if chosen is Law.GAUSSIAN and terms.max_edges is not None:
        raise OptionError("max_edges is for Laplace noise; with Gaussian noise nothing has to be left out")
    free_flow_of(topology)
    return build_strategy(MECHANISM, Problem.of(topology, terms), chosen, {})
