"""Predict the error of a release of trips before any trip is read, by simulating a declared typical release.

The owner declares about how many protected units there will be and how many cells (an edge in a period) one touches;
everything else is public.  Routes are fastest routes over free-flow times.  How slow streets are is unknown, so three
kinds of stand-in times are simulated (calm, usual, rough), with several draws of the noise where that is quick.  Noise
and estimation are those of the release.  The result is a prediction, not a guarantee.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from .._validate import between, check_type
from ..arrays import Float
from ..decoder.simulate import draw_noise, simulate_release
from ..decoder.trips import totals_of
from ..errors import CannotError, OptionError
from ..estimator.hierarchy import draw_smooth_field
from ..estimator.trips.times import estimate_times
from ..measurement.private_step import Measurements
from ..measurement.samples import distances
from ..measurement.trip_strategy import (
    SHARE,
    TripStrategy,
    TripTerms,
    free_flow_of,
    make_trip_terms,
    public_traffic,
    trip_strategy,
)
from ..network.topology import Topology
from ..noise import Law, Noise, simulation
from ..privacy.accounting import Budget
from ..privacy.units import TripUnit
from ..trips.periods import Periods
from .plan import parse_target, smallest_epsilon
from .predict import RANGE, Scenario
from .surrogates import MODEL_ERROR

LEVEL = 0.3  # logarithm of a usual time over free flow
FIELD_SD, OWN_SD = 0.2, 0.2  # of what neighbouring streets share, and of single streets
KINDS = {"calm": 0.6, "usual": 1.0, "rough": 1.6}  # factors of all three
MAX_DRAWS, MAX_NUMBERS = 2, 200_000  # releases simulated of each kind, or fewer: so many numbers in total
MIN_TRAFFIC = 0.1  # of the mean traffic: what an edge has that no fastest route uses
PASS_SD = 0.3  # of single passes, relative to their time
MISSING = (
    "a plan for trips needs `expected_units` (how many units the release protects) and `edges_per_unit` (how many "
    "edges one passes, counted per period): public guesses, never counted in the data"
)


class Forecast(NamedTuple):
    """Mean errors of distances for one kind of stand-in times, in seconds."""

    kind: str
    distance: float  # the mean true distance
    error: float  # of the release
    free_flow: float  # of free-flow times
    scaled: float  # of free-flow times scaled by one released ratio
    draws: tuple[float, ...] = ()  # error of each simulated release


@dataclass(frozen=True, eq=False)
class TripPlan:
    """The predicted errors of a release of trips."""

    strategy: TripStrategy
    expected_units: int
    edges_per_unit: float
    forecasts: tuple[Forecast, ...]
    target_error: float | None = None  # the share of the mean distance, or the seconds, that epsilon was chosen for

    @property
    def share(self) -> float:
        """The mean error as a share of the mean distance, on average over kinds of times."""
        return float(np.mean([one.error / one.distance for one in self.forecasts]))

    @property
    def optimistic(self) -> Scenario:
        """The share of the mean distance that a favourable release is off, and the kind of times."""
        return self._end(0)

    @property
    def pessimistic(self) -> Scenario:
        """The share of the mean distance that an unfavourable release is off, and the kind of times."""
        return self._end(1)

    def _end(self, side: int) -> Scenario:
        shares = [draw / one.distance for one in self.forecasts for draw in one.draws]
        kinds = sorted(self.forecasts, key=lambda one: one.error / one.distance)
        error = float(np.quantile(shares, RANGE[side])) * MODEL_ERROR["trips"] ** (2 * side - 1)
        return Scenario(error, f"{kinds[-side].kind} traffic")

    @property
    def noise(self) -> str:
        """The noise distribution to pass to ``release_trips``."""
        return str(self.strategy.law)

    def expected_error(self, amount: Callable[[float], str]) -> str:  # noqa: ARG002 - as of plans for weights
        """Format the expected mean error as a share of the mean distance, and its range."""
        return f"{_percent(self.share)} ({_percent(self.optimistic.error)} to {_percent(self.pessimistic.error)})"

    @property
    def gain(self) -> float:
        """How many times smaller the error is than that of public times (geometric mean over kinds).

        Of free-flow times as they are, or scaled by one released ratio: whichever have the smaller error.
        """
        error = _log_mean([one.error for one in self.forecasts])
        public = ([one.scaled for one in self.forecasts], [one.free_flow for one in self.forecasts])
        return float(np.exp(min(map(_log_mean, public)) - error))

    @property
    def worth_it(self) -> bool:
        """Whether the release is predicted to be better than free-flow times, plain or scaled."""
        return self.gain > 1

    @property
    def range_summary(self) -> str:
        """The range of the mean error in words."""
        low, high = self.optimistic, self.pessimistic
        return (
            f"Mean error, of the mean distance: expected {_percent(self.share)}, optimistic {_percent(low.error)} "
            f"({low.kind}), pessimistic {_percent(high.error)} ({high.kind})."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        terms = self.strategy.terms
        return {
            "unit": terms.unit.as_dict(), "periods": list(terms.periods.names), "noise": str(self.strategy.law),
            "epsilon": terms.budget.epsilon, "delta": terms.budget.delta, "expected_units": self.expected_units,
            "edges_per_unit": self.edges_per_unit, "noise_std": self.strategy.noise,
            "target_error": self.target_error, "relative_error": self.share,
            "optimistic": self.optimistic._asdict(), "pessimistic": self.pessimistic._asdict(), "gain": self.gain,
            "worth_it": self.worth_it, "forecasts": [one._asdict() for one in self.forecasts],
        }  # fmt: skip

    def _repr_html_(self) -> str:
        from ..output.report.release import forecast_table

        return forecast_table(self)

    def __str__(self) -> str:
        terms = self.strategy.terms
        noise = self.strategy.noise
        verdict = f"{self.gain:.2g} times as close as" if self.worth_it else "NO BETTER than"
        solved = [] if self.target_error is None else ["Epsilon is about the smallest that reaches the target error."]
        rows = [
            f"  {one.kind:6} {100 * one.error / one.distance:7.2g} % {100 * one.scaled / one.distance:12.2g} % "
            f"{100 * one.free_flow / one.distance:9.2g} %"
            for one in self.forecasts
        ]
        return "\n".join([
            f"Protected: {terms.unit.description}.",
            f"Budget: epsilon = {terms.budget.epsilon:g}, delta = {terms.budget.delta:g}; {self.strategy.num_values} "
            f"totals with {self.noise.capitalize()} noise, standard deviation {noise:.4g} per unit.",
            *solved,
            f"A typical release of {self.expected_units:,} units with {self.edges_per_unit:g} edges each, simulated:",
            "  traffic release  scaled free flow     free flow   (mean error of distances)",
            *rows,
            self.range_summary,
            f"The release is expected to be {verdict} public free-flow times.",
            "No trip was read.",
        ])  # fmt: skip


def plan_trips(
    topology: Topology, *, epsilon: float | None = None, delta: float = 1e-6,
    protects: str | TripUnit | None = None, low: Any = None, high: Any = None,
    expected_units: float | None = None, edges_per_unit: float | None = None, periods: Any = None,
    noise: str | Noise = "auto", edge_weighting: str = "inverse-traffic", target_error: float | str | None = None,
    ignore_baseline: bool = False,
) -> TripPlan:  # fmt: skip
    """Forecast the error of a release of trips, before any trip is read.

    Parameters
    ----------
    topology
        The public network with free-flow times as its proxy (``read_topology(..., proxy="free_flow")``).
    epsilon, delta
        The privacy budget.
    protects
        "person", "person-day" or "trip", or a ``TripUnit``.
    low, high
        Public bounds of one pass over an edge: multiples of the free-flow time, or names of public columns.
    expected_units
        About how many protected units the release will have: public, NEVER counted in the data.
    edges_per_unit
        About how many edges one of them passes, counted per period: public.
    periods
        The public periods, as for ``read_trips``.
    noise
        "auto", "laplace" or "gaussian", or a ``Noise``.  "auto" chooses by ``edges_per_unit``; pass the choice on:
        ``release_trips(..., noise=plan.noise)``.
    edge_weighting
        "inverse-traffic" or "even", as for ``release_trips``.
    target_error
        The mean error to reach, ``20`` seconds or ``"5%"`` of the mean distance: epsilon is solved for.
    ignore_baseline
        Plan even if public free-flow times alone are predicted to be as good.

    Returns
    -------
    TripPlan
        Mean errors under three kinds of simulated travel times, and their range.

    Raises
    ------
    CannotError
        If public free-flow times alone, plain or scaled, are predicted to be as good (see ``ignore_baseline``).
    """
    check_type(topology, Topology, "plan_trips takes a topology, such as net.topology")
    if target_error is not None and epsilon is not None:
        raise OptionError("`target_error` is solved for epsilon: pass one of the two")
    wanted = None if target_error is None else parse_target(target_error)
    budget = Budget(1.0 if wanted else epsilon, delta)  # type: ignore[arg-type]
    terms = make_trip_terms(
        topology, budget, TripUnit.of(protects), low=low, high=high, periods=Periods.declared(periods),
        edge_weighting=edge_weighting,
    )  # fmt: skip
    law = Noise.of(noise).law
    trip_strategy(topology, terms, law)  # refuse first what is wrong with the terms
    if expected_units is None or edges_per_unit is None:
        raise OptionError(MISSING)
    units = between(expected_units, "expected_units", 1, 1e12)
    edges = between(edges_per_unit, "edges_per_unit", 1, 1e12)
    trials = TripTrials(topology, terms, law, units, edges)
    made = trials.with_epsilon(terms.budget.epsilon) if wanted is None else trials.solve(*wanted)
    if not (made.worth_it or ignore_baseline):
        raise CannotError(
            f"the expected mean error is {_percent(made.share)}, no better than public free-flow times, plain or "
            "scaled by one ratio; use a larger epsilon or more units, or pass ignore_baseline=True (--ignore-baseline)"
        )
    return made


class StandInTimes(NamedTuple):
    """One kind of stand-in times, and the distances over them and over free-flow times."""

    kind: str
    times: Float  # (P, m)
    distances: list[Float]  # one array for each period
    free_flow: Float


@dataclass(frozen=True, eq=False)
class TripTrials:
    """Stand-in times, none of which depends on epsilon, and the declared typical release."""

    topology: Topology
    terms: TripTerms
    law: str
    units: float
    edges_per_unit: float

    @cached_property
    def stand_ins(self) -> list[StandInTimes]:
        """One set of times for each kind."""
        topology, terms, periods = self.topology, self.terms, len(self.terms.periods)
        if topology.num_edges == 0:
            raise CannotError("the network has no edges")
        free_flow, found = free_flow_of(topology), []
        alone = distances(topology, free_flow)
        rngs = [simulation(700 + turn) for turn in range(len(KINDS))]
        fields = [draw_smooth_field(topology, rng) for rng in rngs for _ in range(periods + 1)]
        for turn, (kind, size) in enumerate(KINDS.items()):
            shared, *each = fields[turn * (periods + 1) : (turn + 1) * (periods + 1)]
            shape, rng = (periods, len(free_flow)), rngs[turn]
            own = (rng.normal(size=shape) + rng.normal(size=len(free_flow))) / np.sqrt(2)
            field = (np.stack(each) + shared) / np.sqrt(2)
            times = free_flow * np.exp(size * (LEVEL + FIELD_SD * field + OWN_SD * own))
            times = np.clip(times, terms.low, terms.high)
            found.append(StandInTimes(kind, times, [distances(topology, row) for row in times], alone))
        return found

    @cached_property
    def passes(self) -> Float:
        """How often each edge is passed in one period."""
        return _expected_passes(self.topology, self.units * self.edges_per_unit / len(self.terms.periods))

    def with_epsilon(self, epsilon: float) -> TripPlan:
        """Return the plan for this epsilon."""
        terms = replace(self.terms, budget=replace(self.terms.budget, epsilon=epsilon))
        strategy = trip_strategy(self.topology, terms, self.law, self.edges_per_unit)
        found = tuple(self._forecast(strategy, one, turn) for turn, one in enumerate(self.stand_ins))
        return TripPlan(strategy, int(self.units), self.edges_per_unit, found)

    def solve(self, target: float, relative: bool) -> TripPlan:
        """Return the plan with the smallest epsilon that is predicted to reach a mean error, in seconds or a share."""
        plans: dict[float, TripPlan] = {}

        def error_at(epsilon: float) -> float:
            made = plans[epsilon] = self.with_epsilon(epsilon)
            return made.share if relative else float(np.mean([one.error for one in made.forecasts]))

        return replace(plans[smallest_epsilon(error_at, target)], target_error=target)

    def _forecast(self, strategy: TripStrategy, stand_in: StandInTimes, turn: int) -> Forecast:
        """Simulate releases of one kind of times, and return their errors."""
        true, free_flow = stand_in.times, free_flow_of(self.topology)
        draws, scaled = [], []
        for draw in range(max(1, min(MAX_DRAWS, MAX_NUMBERS // strategy.num_values))):
            rng = simulation(800 + MAX_DRAWS * turn + draw)
            measured = _simulate(strategy, true, self.passes, self.edges_per_unit, rng)
            released = estimate_times(totals_of(measured)).seconds
            ratio = float(released.sum() / (len(true) * free_flow.sum()))
            draws.append(_mean_error([distances(self.topology, row) for row in released], stand_in))
            scaled.append(_mean_error([ratio * stand_in.free_flow] * len(true), stand_in))
        alone = _mean_error([stand_in.free_flow] * len(true), stand_in)
        far = float(np.mean([one.mean() for one in stand_in.distances]))
        return Forecast(stand_in.kind, far, float(np.mean(draws)), alone, float(np.mean(scaled)), tuple(draws))


def _mean_error(rows: list[Float], stand_in: StandInTimes) -> float:
    pairs = zip(rows, stand_in.distances, strict=True)
    return float(np.mean([np.abs(one - two).mean() for one, two in pairs]))


def _log_mean(errors: list[float]) -> float:
    return float(np.log(np.maximum(errors, 1e-300)).mean())


def _percent(share: float) -> str:
    return f"{100 * share:.2g}\u00a0%"


def _expected_passes(topology: Topology, total: float) -> Float:
    """Return how often each edge is passed in one period: as fastest routes use it, and a little everywhere."""
    share = public_traffic(topology) + MIN_TRAFFIC
    return np.asarray(total * share / share.sum(), np.float64)


def _simulate(
    strategy: TripStrategy, true: Float, touched: Float, cells: float, rng: np.random.Generator
) -> Measurements:
    """Simulate a release of ``strategy``; noise and passes are drawn from ``rng``.

    A unit touches ``cells`` (an edge in a period) on average; ``touched`` is how often each edge is passed in a period,
    ``true`` its time.
    """
    terms = strategy.terms
    edge_weights = terms.edge_weights.astype(np.float64)
    if terms.unit.max_edges is not None:
        share = np.full(len(edge_weights), 1 / terms.unit.max_edges * min(1.0, terms.unit.max_edges / cells))
    else:
        power = 2 if strategy.law is Law.GAUSSIAN else 1
        norm = (cells * np.average(edge_weights**power, weights=touched)) ** (1 / power)
        share = edge_weights / max(norm, float(edge_weights.max()))
    passes = rng.poisson(np.minimum(touched, 1e15), true.shape).astype(np.float64)
    error = PASS_SD * true / np.sqrt(np.maximum(passes, 1.0)) * rng.normal(size=true.shape)
    part = np.clip((true + error - terms.low) / (terms.high - terms.low), 0.0, 1.0)
    exact = SHARE * passes * share * np.stack([part, 1 - part])
    return simulate_release(strategy, exact.ravel(), draw_noise(strategy, rng))
