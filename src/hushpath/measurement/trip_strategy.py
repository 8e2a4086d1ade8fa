"""Travel times from people's trips: noisy totals of every edge and period, whatever any one unit did.

A unit (a person, a person-day, a trip) passes L edges in their periods.  It enters each with weight
``g / sqrt(sum g^2)``, where ``g`` is a public weight of the edge, so its L2 norm is at most 1 whatever L is: nothing is
thrown away and no limit has to be chosen (guide to trips).  For pure privacy the weight is ``g / sum g``, of L1 norm 1.

Edges with little public traffic get more weight: counts differ by orders of magnitude, noise does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._validate import is_real, one_of
from ..arrays import Float, Int, frozen
from ..errors import FileFormatError, OptionError
from ..network.lattice import LARGEST_DISTANCE, Lattice
from ..network.topology import Topology
from ..noise import Law, std
from ..privacy.accounting import Budget
from ..privacy.units import TripUnit
from ..trips.periods import Periods, check_period_names
from .block import Arrays, TripBlock
from .samples import usage
from .strategy import WHOLE_DAY, Problem, Strategy, Terms, check_law, check_measures

NAME = "trips"
SHARE = 2**20  # lattice steps that are a norm of 1
EVEN_WEIGHT = 2**14  # about the weight of an edge of the mean public traffic
FINEST = 2**12  # steps that the shortest bound is cut into at least
EDGE_WEIGHTINGS = ("inverse-traffic", "even")


@dataclass(frozen=True, eq=False)
class TripTerms(Terms):
    """What the owner of trips declares; all of it is published."""

    budget: Budget
    unit: TripUnit
    low: Float  # public bounds of one pass over each edge; other times are clipped, silently
    high: Float
    edge_weights: Int  # the public weight of each edge among those that a unit passes, from 1 to 2**20
    periods: Periods = WHOLE_DAY

    def __post_init__(self) -> None:
        low, high = frozen(self.low, np.float64), frozen(self.high, np.float64)
        if not low.shape == high.shape == np.shape(self.edge_weights):
            raise OptionError("bounds and weights of edges must have the same length")
        with np.errstate(invalid="ignore", over="ignore"):
            if not ((low >= 0) & (high > low) & (high >= 1e-9) & (high <= 1e12) & (high - low >= 1e-9 * high)).all():
                raise OptionError("bounds of a pass must satisfy 0 <= low < high, 1e-9 <= high <= 1e12")
        if not ((self.edge_weights >= 1) & (self.edge_weights <= 2**20)).all():
            raise OptionError("the weight of an edge must be an integer from 1 to 2**20")
        for name, array in (("low", low), ("high", high), ("edge_weights", frozen(self.edge_weights, np.int64))):
            object.__setattr__(self, name, array)

    def lattice(self, topology: Topology) -> Lattice:
        """Return a lattice of times in steps so fine that rounding does not show."""
        for array in (self.low, self.high, self.edge_weights):
            if array.shape != (topology.num_edges,):
                raise OptionError(
                    f"bounds and edge weights must be one per edge: {topology.num_edges} edges, {array.shape}"
                )
        ceiling = min(LARGEST_DISTANCE >> (max(topology.num_nodes, 2) - 1).bit_length(), 2**53)
        granularity = 2.0 ** math.floor(math.log2(float(self.high.min(initial=1.0)) / FINEST))
        while self.high.max(initial=0.0) > ceiling * granularity:
            granularity *= 2
        high = np.floor(self.high / granularity).astype(np.int64)
        low = np.minimum(np.floor(self.low / granularity).astype(np.int64), high)
        return Lattice(granularity, frozen(low, np.int64), frozen(high, np.int64), topology.twins)

    def unit_steps(self, lattice: Lattice) -> int:
        """Return the L1 norm of what one unit adds or removes; twice that if one is replaced by another."""
        return 2 * SHARE if self.unit.neighbours == "replace" else SHARE

    def l2_steps(self, lattice: Lattice) -> int | None:
        """Return the L2 norm of it: two vectors without negative entries are at most sqrt(2) times their norm apart."""
        return math.isqrt(2 * SHARE * SHARE) + 1 if self.unit.neighbours == "replace" else SHARE

    def measured_step(self, lattice: Lattice) -> float:
        """Return a step in units of the norm of one protected unit."""
        return 1 / SHARE

    def header(self, lattice: Lattice) -> dict[str, Any]:
        """Return unit, periods and lattice step."""
        return {
            "unit": self.unit.as_dict(), "periods": list(self.periods.names),
            "hours": [list(span) for span in self.periods.hours], "lattice_step": lattice.granularity,
        }  # fmt: skip

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return bounds and weights of edges."""
        return {"trips.low": self.low, "trips.high": self.high, "trips.edge_weights": self.edge_weights}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays, topology: Topology, budget: Budget) -> Self:
        """Check and invert ``header`` and ``arrays``; parameters as in `Terms`."""
        if set(header) != {"unit", "periods", "hours", "lattice_step"} or not isinstance(header["unit"], dict):
            raise FileFormatError("its terms have unknown or missing fields")
        for name, kind in (("low", np.float64), ("high", np.float64), ("edge_weights", np.int64)):
            array = arrays.get(f"trips.{name}")
            if array is None or array.dtype != kind or array.shape != (topology.num_edges,):
                raise FileFormatError(f"array 'trips.{name}' is missing or does not fit its network")
        names, hours = header["periods"], header["hours"]
        if not isinstance(names, list) or not isinstance(hours, list) or (hours and len(hours) != len(names)):
            raise FileFormatError("its periods and their hours must be two lists of the same length")
        known = check_period_names(names) if names else ()
        periods = Periods.with_hours(known, [_hours(span) for span in hours]) if hours else Periods(known)
        made = cls(
            budget, TripUnit.from_dict(header["unit"]), arrays["trips.low"], arrays["trips.high"],
            arrays["trips.edge_weights"], periods,
        )  # fmt: skip
        if header["lattice_step"] != made.lattice(topology).granularity:
            raise FileFormatError("its lattice step is not that of its bounds")
        return made


def _hours(span: Any) -> tuple[float, float]:
    if not isinstance(span, list) or len(span) != 2 or any(type(hour) is not float for hour in span):
        raise FileFormatError("the hours of a period must be two numbers")
    return span[0], span[1]


@dataclass(frozen=True, eq=False)
class TripStrategy(Strategy):
    """A strategy that measures totals of trips."""

    terms: TripTerms

    @property
    def noise(self) -> float:
        """The standard deviation of the noise of each total, in units of the norm of one protected unit."""
        return std(self.law, int(self.scales.max(initial=0))) / SHARE

    def noise_per_pass(self, edges_per_unit: float) -> float:
        """Return the noise relative to what a pass counts for if a unit passes so many edges of the same weight."""
        return self.noise * (math.sqrt(edges_per_unit) if self.law is Law.GAUSSIAN else edges_per_unit)

    def with_epsilon(self, epsilon: float, days: Any) -> TripStrategy:
        """Return the same strategy with another epsilon and other days."""
        unit = replace(self.terms.unit, days=days)
        terms = replace(self.terms, budget=Budget(epsilon, self.budget.delta), unit=unit)
        return trip_strategy(self.topology, terms, self.law)


def trip_strategy(
    topology: Topology, terms: TripTerms, noise: str = "auto", edges_per_unit: float | None = None
) -> TripStrategy:
    """Return the strategy of this noise distribution.

    "auto" is Laplace noise for pure privacy and where few edges of a unit count (``max_edges``); else Gaussian noise,
    or, if it is declared about how many ``edges_per_unit`` there are, the one that hides a pass less.
    """
    one_of(noise, "noise", ("auto", *Law))
    if noise != "auto":
        return _strategy(topology, terms, Law(noise))
    usual = _strategy(topology, terms, usual_law(terms.budget, terms.unit))
    if usual.law is Law.LAPLACE or edges_per_unit is None:
        return usual
    return min(usual, _strategy(topology, terms, Law.LAPLACE), key=lambda one: one.noise_per_pass(edges_per_unit))


def usual_law(budget: Budget, unit: TripUnit) -> Law:
    """Return the noise distribution that "auto" is where nothing is known about how many edges a unit passes."""
    return Law.LAPLACE if budget.delta == 0 or unit.max_edges is not None else Law.GAUSSIAN


def _strategy(topology: Topology, terms: TripTerms, law: Law) -> TripStrategy:
    check_law(law, terms.budget)
    if law is Law.GAUSSIAN and terms.unit.max_edges is not None:
        raise OptionError("`max_edges` is for Laplace noise; Gaussian noise needs no limit")
    free_flow_of(topology)
    problem, block = Problem.of(topology, terms, law), TripBlock(topology, len(terms.periods))
    strategy = TripStrategy(
        mechanism=NAME, topology=topology, terms=terms, lattice=problem.lattice, law=law, blocks=(block,),
        scales=frozen(problem.calibrate(block.exposure, np.ones(1)), np.int64),
    )  # fmt: skip
    _ = strategy.certificate
    check_measures(strategy)
    return strategy


def make_trip_terms(
    topology: Topology, budget: Budget, unit: TripUnit, *, low: Any, high: Any, periods: Periods,
    edge_weighting: str = "inverse-traffic",
) -> TripTerms:  # fmt: skip
    """Return the terms from what an owner declares.

    ``budget``, ``unit`` and ``periods`` are those of the terms.  ``low`` and ``high`` bound one pass over an edge of
    ``topology`` (`bounds_of`), and ``edge_weighting`` is one of `EDGE_WEIGHTINGS`.
    """
    one_of(edge_weighting, "edge_weighting", EDGE_WEIGHTINGS)
    lowest, highest = bounds_of(topology, low, "low"), bounds_of(topology, high, "high")
    free_flow_of(topology)
    even = np.full(topology.num_edges, EVEN_WEIGHT)  # not 1: shares are divided by a norm that is rounded up
    weights = even if edge_weighting == "even" else inverse_traffic(topology)
    return TripTerms(budget, unit, lowest, highest, weights, periods)


@lru_cache(maxsize=2)  # a plan, and every release of a series, asks for the same network
def public_traffic(topology: Topology) -> Float:
    """Return how much fastest routes over free-flow times use each edge, as a multiple of the mean."""
    free_flow = free_flow_of(topology)
    used = usage(topology, free_flow / free_flow.mean())
    return used / max(float(used.mean()), 1e-300)


def inverse_traffic(topology: Topology) -> Int:
    """Return weights of edges: the less fastest routes on empty streets use an edge, the more it counts."""
    if topology.num_edges == 0:
        return np.empty(0, np.int64)
    share = (public_traffic(topology) + 0.1) ** -0.25
    return np.clip(np.rint(EVEN_WEIGHT * share), 1, 2**20).astype(np.int64)


def bounds_of(topology: Topology, given: Any, name: str) -> Float:
    """Return one bound per edge, from a multiple of the public free-flow time, a column or an array."""
    if given is None:
        raise OptionError(
            f"`{name}` is missing: the public bound of one pass over an edge, as a multiple of the free-flow time "
            f"({name}={'0.5' if name == 'low' else '6'}) or the name of a column; it is never read from the trips"
        )
    if isinstance(given, str):
        return topology.numbers(given)
    if is_real(given):
        if not 0 <= given < 1e6:
            raise OptionError(f"`{name}` must be a multiple of the free-flow time from 0 to 1e6, got {given:g}")
        return free_flow_of(topology) * float(given)
    array = np.asarray(given)
    if array.shape != (topology.num_edges,) or array.dtype.kind not in "iuf":
        raise OptionError(f"`{name}` must be a multiple, a column or one number per edge ({topology.num_edges})")
    return array.astype(np.float64)


def free_flow_of(topology: Topology) -> Float:
    """Return the public free-flow time of every edge; bounds and prior rest on it."""
    if topology.proxy is None:
        raise OptionError(
            "trips need the public free-flow time of every edge: name its column when reading the network (proxy=)"
        )
    if not (topology.proxy > 0).all():
        at = int(np.flatnonzero(~(topology.proxy > 0))[0])
        ends = topology.labels[topology.tails[at]], topology.labels[topology.heads[at]]
        raise OptionError(
            f"column {topology.proxy_name!r} has no positive free-flow time for the edge from {ends[0]!r:.40} to "
            f"{ends[1]!r:.40}; give every edge one"
        )
    return topology.proxy
