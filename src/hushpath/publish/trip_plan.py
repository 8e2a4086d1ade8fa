"""Predict the error of a release of trips before any trip is read, by simulating a declared typical release.

The owner declares about how many protected units there will be and how many cells (an edge in a period) one touches;
everything else is public.  Routes are fastest routes over free-flow times.  How slow streets are is unknown, so three
kinds of stand-in times are simulated (calm, usual, rough).  Noise and estimation are those of the release.  The result
is a prediction, not a guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float
from ..blocks.routes import distances
from ..data.topology import Topology
from ..decode.simulate import draw_noise, simulate_release
from ..decode.trips import totals_of
from ..errors import CannotError, OptionError
from ..estimate.fields import line_graph
from ..estimate.trips.times import estimate_times
from ..later import later
from ..measure import Measurements
from ..noise import Law, simulation
from ..strategy.core import Strategy
from ..strategy.trips import SHARE, TripTerms, free_flow_of, noise_of_totals, public_traffic
from .trip_terms import trip_words

LEVEL = 0.3  # logarithm of a usual time over free flow
FIELD_SD, OWN_SD = 0.2, 0.2  # of what neighbouring streets share, and of single streets
KINDS = {"calm": 0.6, "usual": 1.0, "rough": 1.6}  # factors of all three
MIN_TRAFFIC = 0.1  # of the mean traffic: what an edge has that no fastest route uses
PASS_SD = 0.3  # of single passes, relative to their time
ASKED = "pass `units` (how many the release protects) and `cells` (how many edges and periods one touches)"


class Forecast(NamedTuple):
    """Mean errors of distances for one kind of stand-in times, in seconds.

    Attributes
    ----------
    kind : str
    distance : float
        The mean true distance.
    error, free_flow, scaled : float
        Mean errors of the release, of free-flow times, and of free-flow times scaled by one released ratio.
    """

    kind: str
    distance: float
    error: float
    free_flow: float
    scaled: float


@dataclass(frozen=True, eq=False)
class TripPlan:
    """The predicted errors of a release of trips."""

    strategy: Strategy
    units: int
    cells: float
    forecasts: tuple[Forecast, ...]

    @property
    def share(self) -> float:
        """The mean error as a share of the mean distance, on average over kinds of times."""
        return float(np.mean([one.error / one.distance for one in self.forecasts]))

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
        assert isinstance(terms, TripTerms)
        return {
            "trips": terms.declared_of_trips(), "law": str(self.strategy.law), "epsilon": terms.epsilon,
            "delta": terms.delta, "units": self.units, "cells": self.cells, "noise": noise_of_totals(self.strategy),
            "relative_error": self.share, "gain": self.gain, "worth_it": self.worth_it,
            "forecasts": [one._asdict() for one in self.forecasts],
        }  # fmt: skip

    def _repr_html_(self) -> str:
        return str(later("report.notebook").plan_card(self))

    def __str__(self) -> str:
        terms = self.strategy.terms
        assert isinstance(terms, TripTerms)
        noise = noise_of_totals(self.strategy)
        verdict = f"{self.gain:.2g} times as close as" if self.worth_it else "NO BETTER than"
        rows = [
            f"  {one.kind:6} {100 * one.error / one.distance:7.2g} % {100 * one.scaled / one.distance:12.2g} % "
            f"{100 * one.free_flow / one.distance:9.2g} %"
            for one in self.forecasts
        ]
        return "\n".join([
            f"Protected: {trip_words(terms.declared_of_trips())}.",
            f"Budget: epsilon = {terms.epsilon:g}, delta = {terms.delta:g}; {self.strategy.num_values} totals with "
            f"{str(self.strategy.law).capitalize()} noise, standard deviation {noise:.4g} of one unit's norm.",
            f"A typical release of {self.units:,} units with {self.cells:g} cells each, simulated on stand-in times:",
            "  times   release  free flow x 1 ratio  free flow   (mean error of distances)",
            *rows,
            f"Expected: mean error {100 * self.share:.2g} % of the mean distance, {verdict} scaled free-flow times.",
            "No trip was read.",
        ])  # fmt: skip


def plan_trips(strategy: Strategy, units: Any, cells: Any, anyway: bool) -> TripPlan:
    """Predict the error of a strategy for a declared typical release.

    Parameters
    ----------
    strategy : Strategy
    units, cells : float
        The declared number of protected units, and of cells that one touches.
    anyway : bool
        Return the plan even if free-flow times, scaled by one ratio, would be as good.

    Raises
    ------
    OptionError
        If ``units`` or ``cells`` is missing or below 1.
    CannotError
        If the release is predicted to be useless and ``anyway`` is not set.
    """
    for name, value in (("units", units), ("cells", cells)):
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        if not number or not 1 <= value <= 1e12:
            raise OptionError(ASKED if value is None else f"`{name}` must be at least 1, got {str(value)[:40]!r}")
    made = TripPlan(strategy, int(units), float(cells), tuple(_simulate_kinds(strategy, float(units), float(cells))))
    if made.forecasts and not (made.worth_it or anyway):
        raise CannotError(
            f"the predicted mean error is {100 * made.share:.2g} %, no better than public free-flow times scaled by "
            "one ratio. Use a larger epsilon or more units, or pass anyway=True (--anyway)"
        )
    return made


def _simulate_kinds(strategy: Strategy, units: float, cells: float) -> list[Forecast]:
    """The errors of simulated releases, one for each kind of stand-in times."""
    topology, terms = strategy.topology, strategy.terms
    assert isinstance(terms, TripTerms)
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
    """How often each edge is passed in one period: as fastest routes use it, and a little everywhere."""
    share = public_traffic(topology) + MIN_TRAFFIC
    return np.asarray(total * share / share.sum(), np.float64)


def _simulate(strategy: Strategy, true: Float, touched: Float, cells: float, rng: np.random.Generator) -> Measurements:
    """Simulate a release of such trips."""
    terms = strategy.terms
    assert isinstance(terms, TripTerms)
    emphasis = terms.emphasis.astype(np.float64)
    if terms.max_edges is not None:
        share = np.full(len(emphasis), 1 / terms.max_edges * min(1.0, terms.max_edges / cells))
    else:
        power = 2 if strategy.law is Law.GAUSSIAN else 1
        norm = (cells * np.average(emphasis**power, weights=touched)) ** (1 / power)
        share = emphasis / max(norm, float(emphasis.max()))
    passes = rng.poisson(np.minimum(touched, 1e15), true.shape).astype(np.float64)
    error = PASS_SD * true / np.sqrt(np.maximum(passes, 1.0)) * rng.normal(size=true.shape)
    part = np.clip((true + error - terms.low) / (terms.high - terms.low), 0.0, 1.0)
    exact = SHARE * passes * share * np.stack([part, 1 - part])
    return simulate_release(strategy, exact.ravel(), draw_noise(strategy, rng))
