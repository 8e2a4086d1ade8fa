"""How plans try estimators that take long: on fewer stand-ins or a part, never twice, and never in vain."""

from dataclasses import replace

import numpy as np
import pytest
from named_graphs import build, named
from planned_grid import ENDS, asked, lognormal_grid

import hushpath
from hushpath.estimator import registry as estimators
from hushpath.measurement.strategy import WeightTerms
from hushpath.mechanism.base import Problem
from hushpath.planning import predict
from hushpath.planning.plan import plan
from hushpath.planning.predict import Outcome, PerHop, simulate_errors
from hushpath.planning.surrogates import Kind, TypicalWeight, make_surrogates
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import WeightUnit


def test_what_a_slow_estimator_gains_is_extrapolated_from_a_part(monkeypatch):
    net = lognormal_grid()
    monkeypatch.setattr(predict, "WHOLE_EDGES", 100)
    monkeypatch.setattr("hushpath.planning.surrogates.PART_NODES", 150)
    problem = Problem.of(net.topology, WeightTerms(Budget(1.0, 1e-6), WeightUnit(1.5)))
    strategy = plan(net.topology, epsilon=1.0, unit=1.5, mechanism="input", noise="laplace").strategy
    clip = estimators.ESTIMATORS["clip"]

    def alike(noisy):
        return np.full_like(noisy.values, noisy.values.mean())

    slow = {
        "like-clip": replace(clip, name="like-clip", costly=True),
        "all-alike": replace(clip, name="all-alike", costly=True, estimate=alike),
    }
    monkeypatch.setattr(estimators, "ESTIMATORS", {"clip": clip, **slow})
    for surrogate in make_surrogates(net.topology, problem.lattice, TypicalWeight(5.0, 5.0)):
        plain, same = (simulate_errors(strategy, surrogate, name) for name in ("clip", "like-clip"))
        assert (plain.mean, plain.p95) == pytest.approx((same.mean, same.p95))
        assert len(surrogate.part.edges) < len(ENDS)
        monkeypatch.setattr(predict, "WHOLE_EDGES", 10_000)
        whole = simulate_errors(strategy, surrogate, "all-alike")
        monkeypatch.setattr(predict, "WHOLE_EDGES", 100)
        part = simulate_errors(strategy, surrogate, "all-alike")
        assert whole.mean / 3 < part.mean < whole.mean * 3
        assert abs(part.bias) <= part.mean


def test_the_default_estimator_is_the_one_that_is_tried(monkeypatch):
    topology = lognormal_grid().topology
    clip, tried = estimators.ESTIMATORS["clip"], []
    slow = replace(clip, name="slow", costly=True, estimate=lambda noisy: tried.append(1) or clip.estimate(noisy))
    monkeypatch.setattr(estimators, "ESTIMATORS", {"clip": clip})
    plain = plan(topology, **asked())
    monkeypatch.setattr(estimators, "ESTIMATORS", {"slow": slow, "clip": clip})
    made = plan(topology, **asked())
    assert tried
    assert made.choice.read_as == "edges, slow"
    assert made.choice.expected == plain.choice.expected
    assert sum(c.expected.simulated for c in made.candidates) <= sum(c.expected.simulated for c in plain.candidates)


def test_on_larger_networks_slow_estimators_are_tried_on_two_kinds_and_the_others_gain_as_much(monkeypatch):
    topology = lognormal_grid().topology
    clip, tried = estimators.ESTIMATORS["clip"], []
    slow = replace(clip, name="slow", costly=True, estimate=lambda noisy: tried.append(1) or clip.estimate(noisy) // 2)
    monkeypatch.setattr(estimators, "ESTIMATORS", {"slow": slow, "clip": clip})
    every = plan(topology, ignore_baseline=True, **asked(mechanism="input", noise="laplace"))
    assert len(tried) == 4
    monkeypatch.setattr(predict, "SMALL_NETWORK", 100)
    few = plan(topology, ignore_baseline=True, **asked(mechanism="input", noise="laplace"))
    assert len(tried) == 4 + 2
    assert few.choice.mean_error == pytest.approx(every.choice.mean_error, rel=0.2)
    assert few.choice.p95_error == pytest.approx(every.choice.p95_error, rel=0.2)
    assert few.choice.bias < 0


def test_a_change_of_one_release_is_carried_to_the_mean_of_many():
    usual, before, after = Outcome(10.0, 30.0, -2.0), Outcome(5.0, 20.0, -1.0), Outcome(2.5, 5.0, 1.0)
    assert usual.changed(before, after)[:3] == pytest.approx((5.0, 7.5, 0.0))
    assert usual.changed(before, before)[:3] == pytest.approx(usual[:3])
    assert usual.changed(Outcome(0.0, 0.0, 0.0), after) == after
    assert Outcome.mean_of([before, after])[:3] == pytest.approx((3.75, 12.5, 0.0))
    several = usual._replace(draws=(8.0, 12.0))
    assert several.changed(before, after).draws == pytest.approx((4.0, 6.0))
    assert Outcome.mean_of([several, several]).draws == (8.0, 12.0, 8.0, 12.0)


@pytest.mark.slow
def test_what_quick_estimators_put_far_behind_is_tried_too_where_it_is_read_by_another_slow_one(monkeypatch):
    """On a long path sums beat single edges by far, unless somebody reads single edges much better."""
    length = 400
    topology = build(length + 1, [(i, i + 1) for i in range(length)], np.ones(length)).topology
    lucky = replace(estimators.ESTIMATORS["shrink"], estimate=lambda noisy: np.full(len(noisy.values), truth))
    terms = dict(epsilon=1.0, unit=3.0, typical_weight=5.0, noise="laplace")
    assert plan(topology, **terms).choice.mechanism == "lines"
    truth = np.rint(5.0 / plan(topology, **terms).strategy.lattice.granularity).astype(np.int64)
    monkeypatch.setitem(estimators.ESTIMATORS, "shrink", lucky)
    even = Kind("even", by_length=False, shared_sd=0.0, own_sd=1e-6)
    monkeypatch.setattr("hushpath.planning.surrogates.USUAL", (even, even))
    assert plan(topology, ignore_baseline=True, **terms).choice.mechanism == "input"


def test_errors_per_hop_are_fitted_and_their_mean_is_that_of_normals():
    rng = np.random.default_rng(0)
    hops = rng.integers(1, 40, 20_000).astype(float)
    moves = rng.normal(-0.3 * hops, np.sqrt(2.0 * hops))
    fitted = PerHop.fit(hops, moves)
    assert fitted.bias == pytest.approx(-0.3, abs=0.02)
    assert fitted.variance == pytest.approx(2.0, rel=0.03)
    kinds, counts = np.unique(hops, return_counts=True)
    assert fitted.mean_error(kinds, counts / counts.sum()) == pytest.approx(np.abs(moves).mean(), rel=0.02)
    assert PerHop(0.5, 0.0).mean_error(np.array([4.0]), np.array([1.0])) == pytest.approx(2.0)
    assert Outcome.of(np.array([-1.0, 3.0]))[:3] == pytest.approx((2.0, 2.9, 1.0))


def test_nothing_is_simulated_twice_and_nothing_where_there_is_nothing_to_decide(monkeypatch):
    net, seen, real = named("grid"), [], predict.simulate_errors

    def counted(strategy, surrogate, estimator):
        seen.append((strategy.mechanism, strategy.law, strategy.budget, surrogate.seed, estimator))
        return real(strategy, surrogate, "clip")

    monkeypatch.setattr(predict, "simulate_errors", counted)
    terms = dict(unit=2.0, max_weight=20.0, typical_weight=10.0)
    plan(net.topology, **terms, target_error="30%")
    assert len(seen) == len(set(seen)) > 8
    proxied = net.with_proxy(net.weights.reveal())
    alone = dict(epsilon=1.0, unit=2.0, max_weight=20.0, mechanism="input", seed=1)
    for given, noise, simulates in ((proxied, "laplace", True), (proxied, "auto", True), (net, "laplace", False)):
        seen.clear()  # a proxy is a baseline, and a release that is no better is refused
        hushpath.release(given, **alone, noise=noise).with_decoder(estimator="clip")
        assert bool(seen) == simulates
    seen.clear()
    made = plan(net.topology, epsilon=1.0, mechanism="input", noise="laplace", ignore_baseline=True, **terms)
    assert made.baseline is not None
    assert seen
