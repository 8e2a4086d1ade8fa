"""Plans for trips: their range, the noise they choose, whom they refuse, and what epsilon a target error needs."""

import json

import numpy as np
import pytest

import hushpath
from hushpath.demo.city import make_city
from hushpath.errors import CannotError, OptionError
from hushpath.measurement.trip_strategy import make_trip_terms, trip_strategy
from hushpath.noise import Law
from hushpath.output.report.release import forecast_table
from hushpath.planning import trips as trip_plans
from hushpath.planning.trips import Forecast, TripPlan, plan_trips
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import TripUnit
from hushpath.trips.periods import Periods


@pytest.fixture(scope="module")
def city():
    return make_city(60, 10)


def planned(city, **more):
    terms = dict(
        epsilon=1.0, protects="person-day", low=0.5, high=6, expected_units=3000, edges_per_unit=30, periods=["am"],
        ignore_baseline=True,
    )  # fmt: skip
    return plan_trips(city.topology, **terms | more)


@pytest.fixture(scope="module")
def usual(city):
    return planned(city)


def test_a_plan_for_trips_gives_a_range(usual):
    low, high = usual.optimistic, usual.pessimistic
    assert low.error < usual.share < high.error
    by_error = sorted(usual.forecasts, key=lambda one: one.error / one.distance)
    assert (low.kind, high.kind) == (f"{by_error[0].kind} traffic", f"{by_error[-1].kind} traffic")
    text = str(usual)
    assert f"optimistic {100 * low.error:.2g}\u00a0% ({low.kind})" in text
    assert f"pessimistic {100 * high.error:.2g}\u00a0% ({high.kind})" in forecast_table(usual)
    values = json.loads(json.dumps(usual.as_dict(), allow_nan=False))
    assert values["optimistic"] == {"error": low.error, "kind": low.kind}
    assert values["noise"] == usual.noise
    for one in usual.forecasts:
        assert low.error <= min(one.draws) / one.distance
        assert one.error == pytest.approx(np.mean(one.draws))


@pytest.mark.parametrize(("edges", "law"), [(1, Law.LAPLACE), (2, Law.LAPLACE), (80, Law.GAUSSIAN)])
def test_auto_is_laplace_where_a_unit_passes_one_or_two_edges(city, edges, law):
    topology = city.topology
    terms = make_trip_terms(
        topology, Budget(1.0, 1e-6), TripUnit.of("person-day"), low=0.5, high=6, periods=Periods.declared(None)
    )  # fmt: skip
    assert trip_strategy(topology, terms, "auto", edges).law is law
    assert trip_strategy(topology, terms, "auto").law is Law.GAUSSIAN
    for asked in Law:  # what is asked for is kept
        assert trip_strategy(topology, terms, str(asked), edges).law is asked


def test_the_law_that_auto_chooses_has_the_smaller_error(city):
    chosen, gaussian = planned(city, edges_per_unit=1), planned(city, edges_per_unit=1, noise="gaussian")
    assert chosen.noise == "laplace"
    assert chosen.share < gaussian.share


def test_pure_privacy_and_a_limit_of_edges_stay_laplace(city):
    for more in (dict(delta=0), dict(protects=TripUnit("person-day", max_edges=40))):
        assert planned(city, edges_per_unit=80, **more).noise == "laplace"


@pytest.mark.parametrize("ahead", ["free_flow", "scaled"])
def test_a_release_no_better_than_plain_or_scaled_free_flow_is_refused(city, usual, monkeypatch, ahead):
    figures = dict(kind="usual", distance=100.0, error=10.0, free_flow=20.0, scaled=20.0, draws=(9.0, 11.0))
    worse = Forecast(**figures | {ahead: 9.0})
    assert TripPlan(usual.strategy, 1, 1.0, (Forecast(**figures),)).worth_it
    assert not TripPlan(usual.strategy, 1, 1.0, (worse,)).worth_it
    monkeypatch.setattr(trip_plans.TripTrials, "_forecast", lambda *_: worse)
    with pytest.raises(CannotError, match="ignore_baseline=True"):
        planned(city, ignore_baseline=False)
    assert "NO BETTER" in str(planned(city))


def test_a_target_error_is_solved_for_epsilon(city):
    made = planned(city, epsilon=None, target_error="12%")
    assert made.share <= 0.12
    assert made.target_error == 0.12
    epsilon = made.strategy.budget.epsilon
    assert epsilon == float(f"{epsilon:.3g}")
    assert planned(city, epsilon=epsilon).share == made.share
    assert planned(city, epsilon=0.8 * epsilon).share > 0.12 * 0.97
    assert "target error" in str(made)


def test_a_target_in_seconds_is_a_mean_error_in_seconds(city, usual):
    seconds = float(np.mean([one.error for one in usual.forecasts]))
    made = planned(city, epsilon=None, target_error=1.2 * seconds)
    assert np.mean([one.error for one in made.forecasts]) <= 1.2 * seconds
    assert made.strategy.budget.epsilon < 1.05


@pytest.mark.parametrize("wrong", ["x", "0", -1, True, "5%%"])
def test_targets_that_are_none_are_refused(city, wrong):
    with pytest.raises(OptionError, match="target_error"):
        planned(city, epsilon=None, target_error=wrong)


def test_a_target_goes_without_epsilon(city):
    with pytest.raises(OptionError, match="one of the two"):
        planned(city, target_error="5%")
    with pytest.raises(CannotError, match="no epsilon up to 1000"):
        planned(city, epsilon=None, target_error=1e-9)


def test_a_release_follows_the_plan(city):
    """What ``release_trips`` is given is public; with it the release draws the noise that was planned."""
    trips = city.trips()
    terms = dict(epsilon=1.0, protects="person-day", low=0.5, high=6)
    made = planned(city, edges_per_unit=2, periods=list(trips.periods.names))
    assert hushpath.release_trips(trips, noise=made.noise, seed=1, **terms).measurements.strategy.law == made.noise
