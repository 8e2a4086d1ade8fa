"""The range of a plan: what single releases of plausible weights are off, and which kinds of weights its ends are."""

import json
import math

import numpy as np
import pytest
from named_graphs import build
from planned_grid import ENDS, PLACES, asked, lognormal_grid

import hushpath
from hushpath.output.report.release import plan_card
from hushpath.planning import predict
from hushpath.planning.plan import plan

pytestmark = pytest.mark.usefixtures("quick")
TERMS = dict(epsilon=1.0, unit=1.5, mechanism="input", noise="laplace", ignore_baseline=True)


def spread_weights(kind):
    """Weights of median 5: nearly even, lognormal, alike in columns of the grid, or of heavy tails."""
    rng = np.random.default_rng(11)
    noise = rng.normal(size=len(ENDS))
    logs = {
        "even": 0.08 * noise,
        "lognormal": 0.6 * noise,
        "alike": np.sin(PLACES[ENDS[:, 0], 1] / 2) + 0.2 * noise,
        "heavy": 1.4 * rng.laplace(size=len(ENDS)) / math.sqrt(2),
    }[kind]
    return 5 * np.exp(logs - np.median(logs))


@pytest.mark.parametrize("kind", ["even", "lognormal", "alike", "heavy"])
@pytest.mark.parametrize("declared", ["median", "quartiles"])
def test_the_mean_error_for_weights_of_several_kinds_lies_in_the_range(kind, declared):
    weights = spread_weights(kind)
    net = build(400, ENDS, weights, coordinates=PLACES)
    typical = 5.0 if declared == "median" else tuple(np.quantile(weights, (0.25, 0.75)).tolist())
    made = plan(net.topology, typical_weight=typical, **TERMS)
    found = [hushpath.evaluate(net, hushpath.release(net, plan=made, seed=seed)).mean_error for seed in range(4)]
    assert made.optimistic.error < np.mean(found) < made.pessimistic.error


def test_the_range_holds_the_middle_and_is_narrower_where_more_is_declared():
    net = lognormal_grid()
    earlier = hushpath.release(net, epsilon=1.0, unit=1.5, mechanism="input", noise="laplace", seed=3)
    with pytest.warns(hushpath.HushpathWarning, match="previous release is NOT PRIVATE"):
        like = plan(net.topology, previous_release=earlier, **TERMS)
    median, quartiles = (plan(net.topology, typical_weight=typical, **TERMS) for typical in (5.0, (3.3, 7.5)))
    for made in (median, quartiles, like):
        assert 0 < made.optimistic.error < made.choice.mean_error < made.pessimistic.error
    widths = [made.pessimistic.error / made.optimistic.error for made in (median, quartiles, like)]
    assert widths[0] > max(widths[1:])


def test_model_error_widens_both_ends(monkeypatch):
    topology = lognormal_grid(rows=6).topology
    ends = []
    for factor in (1.0, 2.0):
        monkeypatch.setitem(predict.MODEL_ERROR, "median", factor)
        made = plan(topology, typical_weight=5.0, **TERMS)
        ends.append((made.optimistic.error, made.pessimistic.error))
    assert ends[1] == pytest.approx((ends[0][0] / 2, 2 * ends[0][1]))


def test_chance_alone_makes_a_range():
    """One kind of weights, several draws of noise."""
    topology = lognormal_grid(rows=6).topology
    made = plan(topology, typical_weight=5.0, **TERMS)
    low, high = made.trials.only(0).range_of(made.strategy)
    assert low.error < high.error
    assert low.kind == high.kind


def test_the_ends_are_named_everywhere():
    made = plan(lognormal_grid(rows=6).topology, **asked(ignore_baseline=True))
    low, high = made.optimistic, made.pessimistic
    assert low.kind != high.kind
    text, card = str(made), plan_card(made)
    for end, word in ((low, "optimistic"), (high, "pessimistic")):
        assert f"{word} {end.error:.4g} ({end.kind})" in text
        assert f"{word} {end.error:.4g} ({end.kind})" in card
        assert json.loads(json.dumps(made.as_dict()))[word] == {"error": end.error, "kind": end.kind}
    amounts = made.expected_error(lambda value: f"{value:.4g} min")
    assert amounts == f"{made.choice.mean_error:.4g} min ({low.error:.4g} min to {high.error:.4g} min)"
    sweep = plan(lognormal_grid(rows=6).topology, **asked(epsilon=[1, 2], ignore_baseline=True))
    assert sweep.as_dict()["sweep"][0]["optimistic"]["error"] == pytest.approx(low.error)
    assert f"{low.error:.4g}" in str(sweep)


@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_where_nothing_is_simulated_no_range_is_given(epsilon):
    typical = 5.0 if epsilon == math.inf else None
    made = plan(lognormal_grid(rows=6).topology, epsilon=epsilon, unit=1.5, typical_weight=typical)
    assert made.optimistic is None
    assert made.pessimistic is None
    assert made.as_dict()["optimistic"] is None
    assert "optimistic" not in str(made)


def test_a_release_does_not_wait_for_the_range(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(predict.Trials, "range_of", refuse)
    net = lognormal_grid(rows=6)
    made = plan(net.topology, **asked(ignore_baseline=True))
    assert hushpath.release(net, plan=made, seed=1).statement.numbers > 0
    with pytest.raises(AssertionError):
        str(made)
