"""What a plan predicts, tried on stand-in weights, and how it says so."""

import json
import math

import numpy as np
import pytest
from named_graphs import build, named
from planned_grid import ENDS, PLACES, asked, lognormal_grid, stand_ins

import hushpath
from hushpath.decoder.registry import default_decoder
from hushpath.noise import Law, simulated_noise, simulation, std
from hushpath.planning import predict
from hushpath.planning.plan import plan

SLOW = pytest.mark.slow  # one noise shows it each time; `make test-slow` tries the others


@pytest.mark.slow
@pytest.mark.parametrize("unit", [pytest.param(0.5, marks=SLOW), 1.5, pytest.param(5.0, marks=SLOW)])
def test_the_predicted_error_is_the_realised_one_where_weights_are_like_stand_ins(unit):
    net = lognormal_grid()
    made = plan(net.topology, **asked(unit=unit, mechanism="input", noise="laplace"))
    found = [hushpath.evaluate(net, hushpath.release(net, plan=made, seed=seed)) for seed in range(12)]  # bias is luck
    mean, bias = np.mean([one.mean_error for one in found]), np.mean([one.bias for one in found])
    assert mean / 1.5 < made.choice.mean_error < mean * 1.5
    assert made.choice.bias == pytest.approx(bias, abs=mean / 2)
    assert made.optimistic.error < made.choice.mean_error < made.pessimistic.error
    assert all(made.optimistic.error < one.mean_error < made.pessimistic.error for one in found)
    assert made.choice.mean_error < made.choice.p95_error < made.choice.bound
    assert made.choice.relative == pytest.approx(made.choice.mean_error / made.baseline.distance)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1.5, 5.0])
def test_who_tells_how_far_weights_lie_apart_is_told_the_error_of_such_weights(unit):
    """A quarter below 1 and a quarter above 25: far from what a median alone makes one think."""
    weights = 5 * np.exp(2.4 * np.random.default_rng(3).normal(size=len(ENDS)))
    net = build(400, ENDS, weights, coordinates=PLACES)
    asked_so = dict(epsilon=1.0, unit=unit, mechanism="input", noise="laplace", max_weight=5000.0)
    middle, quarters = (plan(net.topology, typical_weight=typical, **asked_so) for typical in (5.0, (1.0, 25.0)))
    found = [hushpath.evaluate(net, hushpath.release(net, plan=quarters, seed=seed)) for seed in range(3)]
    true = np.mean([one.mean_error for one in found])
    off_by = [abs(math.log(made.choice.mean_error / true)) for made in (middle, quarters)]
    assert off_by[1] < math.log(1.4) < off_by[0]


@pytest.mark.usefixtures("quick")
def test_the_luck_of_one_draw_of_noise_is_averaged_out():
    """On small networks one release is often off the mean of all by a third."""
    net = named("grid")
    made = plan(net.topology, epsilon=1.0, unit=2.0, typical_weight=10.0, mechanism="input", noise="laplace")
    trials = predict.Trials(stand_ins(net.topology, 10.0))
    for which, scene in enumerate(trials.usual):
        stand_in = build(net.topology.num_nodes, np.stack([net.topology.tails, net.topology.heads], 1), scene.weights)
        found = [
            hushpath.evaluate(stand_in, hushpath.release(stand_in, plan=made, seed=seed)).mean_error
            for seed in range(40)
        ]
        assert trials.only(which).expected(made.strategy).mean == pytest.approx(np.mean(found), rel=0.2)


@pytest.mark.usefixtures("quick")
def test_simulation_sees_the_bias_that_noise_alone_does_not_tell():
    """Many nearly equal routes, read by ``clip``: the setting of the pitfalls page."""
    net = build(400, ENDS, np.random.default_rng(0).uniform(5, 10, len(ENDS)))
    blind, tried = (
        plan(net.topology, epsilon=1.0, unit=1.7, mechanism="input", noise="laplace", **scale)
        for scale in ({}, {"typical_weight": 7.5})
    )
    true = hushpath.evaluate(net, hushpath.release(net, plan=blind, seed=0)).mean_error
    assert blind.choice.mean_error < true / 1.5
    assert (blind.choice.bias, blind.choice.relative, blind.baseline) == (None, None, None)
    assert true / 1.5 < tried.choice.mean_error < true * 1.5
    assert tried.choice.bias < -tried.choice.mean_error / 2


def test_every_candidate_says_how_it_is_read_and_the_far_ones_are_in_brackets():
    made = plan(lognormal_grid().topology, **asked(max_weight=40.0))
    text = str(made)
    for candidate in made.candidates:
        if candidate.strategy is not None:
            assert candidate.read_as.startswith(default_decoder(candidate.strategy).name)
    assert made.choice.expected.simulated
    assert [c.mean_error for c in made.candidates] == sorted(c.mean_error for c in made.candidates)
    far = [c for c in made.candidates if c.strategy is not None and not c.expected.simulated]
    assert far
    assert f"({far[-1].mean_error:.4g})" in text
    assert "In brackets" in text
    assert "times as close" in text
    assert all(len(line) <= 160 for line in text.splitlines() if "Baseline" not in line and "cannot" not in line)
    values = json.loads(json.dumps(made.as_dict(), allow_nan=False))
    first = values["candidates"][0]
    assert first["bias"] == made.choice.bias
    assert values["baseline"]["error"] == made.baseline.error
    assert values["worth_it"] is True


@pytest.mark.slow
def test_no_candidate_that_was_left_out_would_have_won():
    """What was not tried is tried by name, whatever noise alone says of it."""
    topology = named("grid").topology
    terms = dict(epsilon=2.0, unit=2.0, max_weight=20.0, typical_weight=10.0, ignore_baseline=True)
    made = plan(topology, **terms)
    possible = [candidate for candidate in made.candidates if candidate.strategy is not None]
    assert {candidate.expected.simulated for candidate in possible} == {True, False}
    for candidate in possible:
        assert candidate.mean_error >= made.choice.mean_error
        if not candidate.expected.simulated:
            alone = plan(topology, mechanism=candidate.mechanism, noise=str(candidate.law), **terms)
            assert alone.choice.expected.simulated
            assert alone.choice.mean_error >= made.choice.mean_error


def test_without_a_scale_the_plan_says_so():
    text = str(plan(lognormal_grid().topology, epsilon=1.0, unit=1.0))
    assert "Nothing public says how large weights are" in text
    assert "Baseline" not in text
    assert "four kinds" not in text


def test_simulations_are_marked_not_private(monkeypatch):
    topology = lognormal_grid(rows=6).topology
    seen = []
    real = predict.simulate_release
    monkeypatch.setattr(predict, "simulate_release", lambda *given: seen.append(real(*given)) or seen[-1])
    plan(topology, **asked(mechanism="input", noise="laplace"))
    assert seen
    assert not any(one.private for one in seen)
    for scale in (1, 7, 2**40):  # in proportion, so that budgets can be compared
        one, ten = (simulated_noise(simulation(3), Law.LAPLACE, np.full(50, times * scale)) for times in (1, 10))
        assert ten == pytest.approx(10 * one)
    for law in Law:
        assert simulated_noise(simulation(4), law, np.full(20_000, 50)).std() == pytest.approx(std(law, 50), rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "tried"), [(3, True), (80, False)])
def test_auto_cuts_a_large_network_up_only_where_few_nodes_separate_it(rows, tried):
    columns = 10_200 // rows
    at = np.arange(rows * columns).reshape(rows, columns)
    ends = np.concatenate(
        [np.stack([at[:, :-1], at[:, 1:]], -1).reshape(-1, 2), np.stack([at[:-1], at[1:]], -1).reshape(-1, 2)]
    )
    topology = build(at.size, [*ends.tolist(), (0, int(at[1, 1]))], np.ones(len(ends) + 1)).topology  # no grid
    made = plan(topology, epsilon=1.0, unit=1.0, max_weight=9.0)
    found = [one for one in made.candidates if one.mechanism in ("separator", "separator-cover")]
    assert all((one.strategy is not None) == tried for one in found)
    if not tried:
        assert {one.reason for one in found} == {
            "not tried by auto beyond 10000 nodes where no tree decomposition of width 16 or less was found; name it"
        }
