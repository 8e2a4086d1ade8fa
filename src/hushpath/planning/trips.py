"""Predict the error of a release of trips before any trip is read, by simulating a declared typical release.

The owner declares about how many protected units there will be and how many cells (an edge in a period) one touches;
everything else is public.  Routes are fastest routes over free-flow times.  How slow streets are is unknown, so three
kinds of stand-in times are simulated (calm, usual, rough).  Noise and estimation are those of the release.  The result
is a prediction, not a guarantee.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._validate import between, check_type
from ..arrays import Float
from ..decoder.simulate import draw_noise, simulate_release
from ..decoder.trips import totals_of
from ..errors import CannotError, OptionError
from ..estimator.fields import line_graph
from ..estimator.trips.times import estimate_times
from ..measurement.private_step import Measurements
from ..measurement.samples import distances
from ..measurement.trip_strategy import (
    SHARE,
    TripStrategy,
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

LEVEL = 0.3  # logarithm of a usual time over free flow
FIELD_SD, OWN_SD = 0.2, 0.2  # of what neighbouring streets share, and of single streets
KINDS = {"calm": 0.6, "usual": 1.0, "rough": 1.6}  # factors of all three
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


@dataclass(frozen=True, eq=False)
class TripPlan:
    """The predicted errors of a release of trips."""

    strategy: TripStrategy
    expected_units: int
    edges_per_unit: float
    forecasts: tuple[Forecast, ...]

    @property
    def share(self) -> float:
        """The mean error as a share of the mean distance, on average over kinds of times."""
        return float(np.mean([one.error / one.distance for one in self.forecasts]))

    def expected_error(self, amount: Callable[[float], str]) -> str:  # noqa: ARG002 - as of plans for weights
        """Format the expected mean error as a share of the mean distance."""
        return f"{100 * self.share:.2g}\u00a0%"

    @property
    def gain(self) -> float:
        """How many times smaller the error is than that of scaled free-flow times (geometric mean over kinds)."""
        return float(np.exp(np.mean([np.log(one.scaled / max(one.error, 1e-300)) for one in self.forecasts])))

    @property
    def worth_it(self) -> bool:
        """Whether the release is predicted to be better than scaled free-flow times."""
        return self.gain > 1

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        terms = self.strategy.terms
        return {
            "unit": terms.unit.as_dict(), "periods": list(terms.periods.names), "noise": str(self.strategy.law),
            "epsilon": terms.budget.epsilon, "delta": terms.budget.delta, "expected_units": self.expected_units,
            "edges_per_unit": self.edges_per_unit, "noise_std": self.strategy.noise,
            "relative_error": self.share, "gain": self.gain, "worth_it": self.worth_it,
            "forecasts": [one._asdict() for one in self.forecasts],
        }  # fmt: skip

    def _repr_html_(self) -> str:
        from ..output.report.release import forecast_table

        return forecast_table(self)

    def __str__(self) -> str:
        terms = self.strategy.terms
        noise = self.strategy.noise
        verdict = f"{self.gain:.2g} times as close as" if self.worth_it else "NO BETTER than"
        rows = [
            f"  {one.kind:6} {100 * one.error / one.distance:7.2g} % {100 * one.scaled / one.distance:12.2g} % "
            f"{100 * one.free_flow / one.distance:9.2g} %"
            for one in self.forecasts
        ]
        return "\n".join([
            f"Protected: {terms.unit.description}.",
            f"Budget: epsilon = {terms.budget.epsilon:g}, delta = {terms.budget.delta:g}; {self.strategy.num_values} "
            f"totals with {str(self.strategy.law).capitalize()} noise, standard deviation {noise:.4g} per unit.",
            f"A typical release of {self.expected_units:,} units with {self.edges_per_unit:g} edges each, simulated:",
            "  traffic release  scaled free flow     free flow   (mean error of distances)",
            *rows,
            f"Expected mean error: {100 * self.share:.2g} % of the mean distance, {verdict} scaled free-flow times.",
            "No trip was read.",
        ])  # fmt: skip


def plan_trips(
    topology: Topology, *, epsilon: float | None = None, delta: float = 1e-6,
    protects: str | TripUnit | None = None, low: Any = None, high: Any = None,
    expected_units: float | None = None, edges_per_unit: float | None = None, periods: Any = None,
    noise: str | Noise = "auto", edge_weighting: str = "inverse-traffic", ignore_baseline: bool = False,
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
        "auto", "laplace" or "gaussian", or a ``Noise``.
    edge_weighting
        "inverse-traffic" or "even", as for ``release_trips``.
    ignore_baseline
        Plan even if public free-flow times alone are predicted to be as good.

    Returns
    -------
    TripPlan
        Mean errors under three kinds of simulated travel times.
    """
    check_type(topology, Topology, "plan_trips takes a topology, such as net.topology")
    budget, unit = Budget(epsilon, delta), TripUnit.of(protects)  # type: ignore[arg-type]
    terms = make_trip_terms(
        topology, budget, unit, low=low, high=high, periods=Periods.declared(periods), edge_weighting=edge_weighting
    )  # fmt: skip
    strategy = trip_strategy(topology, terms, Noise.of(noise).law)
    if expected_units is None or edges_per_unit is None:
        raise OptionError(MISSING)
    units = between(expected_units, "expected_units", 1, 1e12)
    edges = between(edges_per_unit, "edges_per_unit", 1, 1e12)
    made = TripPlan(strategy, int(units), edges, tuple(_simulate_kinds(strategy, units, edges)))
    if made.forecasts and not (made.worth_it or ignore_baseline):
        raise CannotError(
            f"the expected mean error is {100 * made.share:.2g} %, no better than public free-flow times scaled by one "
            "ratio; use a larger epsilon or more units, or pass ignore_baseline=True (--ignore-baseline)"
        )
    return made


def _simulate_kinds(strategy: TripStrategy, units: float, cells: float) -> list[Forecast]:
    """Return the errors of simulated releases, one for each kind of stand-in times."""
    topology, terms = strategy.topology, strategy.terms
    if topology.num_edges == 0:
        raise CannotError("the network has no edges")
    free_flow, periods = free_flow_of(topology), len(terms.periods)
    graph, found = line_graph(topology), []
    touched = _expected_passes(topology, units * cells / periods)
    for turn, (kind, size) in enumerate(KINDS.items()):
        rng = simulation(700 + turn)
        field = (graph.wide_fields(rng, periods) + graph.wide_fields(rng, 1)) / np.sqrt(2)
        own = (rng.normal(size=(periods, len(free_flow))) + rng.normal(size=len(free_flow))) / np.sqrt(2)
        times = free_flow * np.exp(size * (LEVEL + FIELD_SD * field + OWN_SD * own))
        true = np.clip(times, terms.low, terms.high)
        released = estimate_times(totals_of(_simulate(strategy, true, touched, cells, rng))).seconds
        far = [distances(topology, row) for row in true]
        ratio = float(released.sum() / (periods * free_flow.sum()))
        alone = distances(topology, free_flow)

        def error(rows: list[Float], far: list[Float] = far) -> float:
            return float(np.mean([np.abs(one - two).mean() for one, two in zip(rows, far, strict=True)]))

        mean = float(np.mean([one.mean() for one in far]))
        own_rows = [distances(topology, row) for row in released]
        found.append(Forecast(kind, mean, error(own_rows), error([alone] * periods), error([ratio * alone] * periods)))
    return found


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
