"""What a plan is told: a typical weight, a proxy, an earlier release, and the stand-in weights that follow from it."""

import math

import numpy as np
import pytest
from named_graphs import build
from planned_grid import ENDS, PLACES, asked, lognormal_grid, stand_ins

import hushpath
from hushpath.measurement.samples import usage
from hushpath.planning.plan import plan

NOT_FOR_PUBLISHING = pytest.mark.filterwarnings("ignore:the previous release is NOT PRIVATE")


def test_stand_ins_are_as_large_as_declared_and_within_the_declared_bounds():
    topology = build(400, ENDS, np.ones(len(ENDS)), coordinates=PLACES, lower=0.5).topology
    for scene in stand_ins(topology):
        assert np.median(scene.weights) == pytest.approx(5.0, rel=0.02)
        assert scene.weights.min() >= 0.499
    for scene in stand_ins(topology, max_weight=12.0):
        assert np.median(scene.weights) == pytest.approx(5.0, rel=0.05)
        assert scene.weights.max() <= 12.0
        assert not scene.usual or (scene.weights > 11.99).mean() < 0.01  # they do not pile up at the bound


def test_without_a_scale_there_are_none_and_a_proxy_is_one():
    topology = lognormal_grid().topology
    assert stand_ins(topology, None) == ()
    proxy = topology.with_proxy(np.where(np.arange(len(ENDS)) % 5, 3.0, np.nan))
    made = stand_ins(proxy, None)
    assert 2.0 < np.median(np.concatenate([scene.weights for scene in made])) < 4.5
    scaled = [np.median(scene.weights) for scene in stand_ins(proxy, 5.0)]
    assert scaled == pytest.approx([5.0] * len(made), rel=0.02)


@pytest.mark.parametrize("ends", [(15.0, 40.0), (0.5, 500.0), (5.0, 5.01)])
def test_half_of_the_stand_ins_lie_between_two_declared_weights(ends):
    for scene in stand_ins(lognormal_grid().topology, *ends):
        assert np.quantile(scene.weights, (0.25, 0.75)) == pytest.approx(ends, rel=0.02)


@pytest.mark.parametrize("proxy", [3.0 + np.arange(len(ENDS)) % 7, np.where(np.arange(len(ENDS)) % 5, 3.0, 0.0)])
def test_around_a_proxy_two_declared_weights_tell_how_large_weights_are_but_stretch_nothing(proxy):
    topology = lognormal_grid().topology.with_proxy(proxy)
    for scene in stand_ins(topology, 10.0, 90.0):
        low, high = np.quantile(scene.weights[scene.weights > 0], (0.25, 0.75))
        assert low * high == pytest.approx(900.0, rel=0.02)
        assert high < (3 if scene.usual else 5) * low  # stretched, it would be 9


def test_some_stand_ins_have_neighbours_alike_and_some_not():
    topology = lognormal_grid().topology

    def likeness(weights):
        logs = np.log(weights) - np.log(weights).mean()
        at = np.concatenate([topology.tails, topology.heads])
        sums, counts = np.bincount(at, np.tile(logs, 2)), np.bincount(at)
        others = (sums[topology.tails] - logs) / (counts[topology.tails] - 1)
        return np.corrcoef(logs, others)[0, 1]

    alike = ("by length, neighbours", "neighbours", "districts")
    found = {scene.kind: likeness(scene.weights) for scene in stand_ins(topology) if "lines" not in scene.kind}
    assert min(one for kind, one in found.items() if kind.startswith(alike)) > 0.5
    assert max(abs(one) for kind, one in found.items() if not kind.startswith(alike)) < 0.2


def test_fast_lines_attract_shortest_paths():
    topology = lognormal_grid().topology
    (lines,) = (scene for scene in stand_ins(topology) if scene.kind.startswith("fast lines"))
    fast = lines.weights < np.median(lines.weights) / 2
    assert 0.1 < fast.mean() < 0.3
    used = usage(topology, lines.weights)
    assert used[fast].mean() > 3 * used[~fast].mean()


def test_the_median_alone_leaves_more_kinds_open_than_the_quartiles():
    topology = lognormal_grid().topology
    median, quartiles = stand_ins(topology), stand_ins(topology, 3.3, 7.5)
    spreads = [float(np.diff(np.quantile(np.log(scene.weights), (0.25, 0.75)))[0]) for scene in median]
    assert min(spreads) < 0.2
    assert max(spreads) > 2
    assert len(quartiles) < len(median)
    assert [scene.usual for scene in quartiles].count(True) == [scene.usual for scene in median].count(True) == 4
    assert len({scene.kind for scene in median}) == len(median)


@pytest.mark.slow
def test_everything_drawn_is_drawn_again_the_same():
    net = lognormal_grid(rows=6)
    again = lognormal_grid(seed=1, rows=6)  # other weights, which nobody looks at
    assert str(plan(net.topology, **asked())) == str(plan(again.topology, **asked()))


@pytest.mark.usefixtures("quick")
def test_what_is_declared_for_the_plan_changes_nothing_that_is_published(tmp_path):
    net = lognormal_grid()
    made = [plan(net.topology, **asked(typical_weight=typical)) for typical in (None, 5.0, (3.0, 8.0), [3, 8])]
    assert len({one.choice.mean_error for one in made}) == 3
    assert made[2].choice.expected == made[3].choice.expected
    released = [hushpath.release(net, plan=one, seed=4) for one in made]
    assert len({one.fingerprint for one in released}) == 1
    assert len({str(one.statement) for one in released}) == 1


@pytest.mark.usefixtures("quick")
def test_a_proxy_is_known_too_and_named():
    topology = lognormal_grid().topology.with_proxy(np.full(len(ENDS), 4.0), name="free_flow")
    made = plan(topology, epsilon=2.0, unit=1.0)
    assert made.baseline.source == "the public column free_flow"
    scaled = plan(topology, epsilon=2.0, unit=1.0, typical_weight=5.0)
    assert scaled.baseline.source == "the public column free_flow, scaled to the typical weight"
    assert "Baseline from public data (the public column free_flow)" in str(made)


@NOT_FOR_PUBLISHING
@pytest.mark.slow
@pytest.mark.parametrize("unit", [0.5, 2.0])
def test_an_earlier_release_tells_how_weights_lie(unit):
    """Weights that are half zero-like and half large: nothing that a median would make one think of."""
    rng = np.random.default_rng(5)
    weights = np.where(PLACES[ENDS[:, 0], 0] < 10, 0.3, 20.0) * np.exp(0.2 * rng.normal(size=len(ENDS)))
    net = build(400, ENDS, weights)
    earlier = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=9, noise="laplace")
    asked_so = dict(epsilon=1.0, unit=unit, mechanism="input", noise="laplace")
    guessed = plan(net.topology, typical_weight=float(np.median(weights)), ignore_baseline=True, **asked_so)
    made = plan(net.topology, previous_release=earlier, **asked_so)
    found = [hushpath.evaluate(net, hushpath.release(net, plan=made, seed=seed)) for seed in range(12)]
    true = np.mean([one.mean_error for one in found])
    off_by = [abs(math.log(one.choice.mean_error / true)) for one in (guessed, made)]
    assert off_by[1] < math.log(1.5)
    assert off_by[1] < off_by[0] / 2
    assert made.optimistic.error <= made.choice.mean_error <= made.pessimistic.error
    assert made.pessimistic.kind == "like the earlier release"
    assert "on every edge" in made.baseline.source


@NOT_FOR_PUBLISHING
@pytest.mark.usefixtures("quick")
def test_a_plan_like_an_earlier_release_solves_sweeps_and_changes_nothing_published():
    net = lognormal_grid()
    earlier = hushpath.release(net, epsilon=1.0, unit=1.5, mechanism="input", seed=9, noise="laplace")
    terms = dict(unit=1.5, previous_release=earlier)
    solved = plan(net.topology, target_error="6%", **terms)
    assert solved.choice.mean_error <= 0.06 * solved.baseline.distance
    assert [one.terms.budget.epsilon for one in plan(net.topology, epsilon=[1, 2], **terms).plans] == [1.0, 2.0]
    made, blind = plan(net.topology, epsilon=1.0, **terms), plan(net.topology, epsilon=1.0, unit=1.5)
    assert hushpath.release(net, plan=made, seed=1).fingerprint == hushpath.release(net, plan=blind, seed=1).fingerprint
    assert str(made) == str(plan(net.topology, epsilon=1.0, **terms))


@pytest.mark.usefixtures("quick")
def test_an_earlier_release_that_is_not_private_is_said_to_be_so():
    net = lognormal_grid()
    asked_so = dict(epsilon=1.0, unit=1.5, mechanism="input", noise="laplace")
    with pytest.warns(hushpath.HushpathWarning, match="previous release is NOT PRIVATE"):
        plan(net.topology, previous_release=hushpath.release(net, seed=9, **asked_so), **asked_so)
    plan(net.topology, previous_release=hushpath.release(net, **asked_so), **asked_so)
