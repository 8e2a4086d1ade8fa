"""Plans that were tried on stand-in weights: what they predict, solve, compare and refuse."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from named_graphs import build, grid_ends, named

import hushpath
from hushpath.decode import predict, simulate
from hushpath.decode.registry import default_decoder
from hushpath.decode.simulate import Outcome, PerHop, simulated
from hushpath.decode.surrogates import Kind, Typical, scenes
from hushpath.errors import CannotError, OptionError
from hushpath.estimate import registry as estimators
from hushpath.noise import Law, SimulatedNoise
from hushpath.publish import target
from hushpath.publish.plan import plan
from hushpath.publish.planned import Plan, Sweep
from hushpath.report.sweep import picture
from hushpath.strategy.core import Problem
from hushpath.strategy.terms import Terms

ENDS = grid_ends(20, 20)
PLACES = np.stack(np.divmod(np.arange(400), 20), axis=1).astype(float)


def lognormal_grid(seed=0):
    weights = 5 * np.exp(0.6 * np.random.default_rng(seed).normal(size=len(ENDS)))
    return build(400, ENDS, weights, coordinates=PLACES)


def asked(**more):
    return dict(epsilon=1.0, unit=1.5, typical_weight=5.0) | more


@pytest.fixture
def quick(monkeypatch):
    """Everything is read by ``clip``: for tests that are about something else than estimators."""
    monkeypatch.setattr(estimators, "_made", [estimators.ESTIMATORS["clip"]])


def stand_ins(topology, typical=5.0, high=None, **terms):
    declared = typical and Typical(typical, high or typical)
    return scenes(topology, Terms.declared(1.0, 1e-6, 1.0, **terms).lattice(topology), declared)


# Stand-in weights


def test_stand_ins_are_as_large_as_declared_and_within_the_declared_bounds():
    topology = build(400, ENDS, np.ones(len(ENDS)), coordinates=PLACES, lower=0.5).topology
    for scene in stand_ins(topology):
        assert np.median(scene.weights) == pytest.approx(5.0, rel=0.02)
        assert scene.weights.min() >= 0.499
    for scene in stand_ins(topology, max_weight=12.0):
        assert np.median(scene.weights) == pytest.approx(5.0, rel=0.05)
        assert scene.weights.max() <= 12.0
        assert (scene.weights > 11.99).mean() < 0.01  # they do not pile up at the bound


def test_without_a_scale_there_are_none_and_a_proxy_is_one():
    topology = lognormal_grid().topology
    assert stand_ins(topology, None) == ()
    proxy = topology.with_proxy(np.where(np.arange(len(ENDS)) % 5, 3.0, np.nan))
    made = stand_ins(proxy, None)
    assert 2.0 < np.median(np.concatenate([scene.weights for scene in made])) < 4.5
    assert [np.median(scene.weights) for scene in stand_ins(proxy, 5.0)] == pytest.approx([5.0] * len(made), rel=0.02)


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
        assert high < 3 * low


def test_some_stand_ins_have_neighbours_alike_and_some_not():
    topology = lognormal_grid().topology

    def likeness(weights):
        logs = np.log(weights) - np.log(weights).mean()
        at = np.concatenate([topology.tails, topology.heads])
        sums, counts = np.bincount(at, np.tile(logs, 2)), np.bincount(at)
        others = (sums[topology.tails] - logs) / (counts[topology.tails] - 1)
        return np.corrcoef(logs, others)[0, 1]

    found = sorted(likeness(scene.weights) for scene in stand_ins(topology))
    assert max(map(abs, found[:2])) < 0.2
    assert min(found[2:]) > 0.5


def test_everything_drawn_is_drawn_again_the_same():
    net = lognormal_grid()
    again = lognormal_grid(seed=1)  # other weights, which nobody looks at
    assert str(plan(net.topology, **asked())) == str(plan(again.topology, **asked()))


# What is predicted


@pytest.mark.parametrize("unit", [0.5, 1.5, 5.0])
def test_the_predicted_error_is_the_realised_one_where_weights_are_like_stand_ins(unit):
    net = lognormal_grid()
    made = plan(net.topology, **asked(unit=unit, mechanism="input", law="laplace"))
    found = [hushpath.evaluate(net, hushpath.release(net, plan=made, seed=seed)) for seed in range(12)]  # bias is luck
    mean, bias = np.mean([one.mean_error for one in found]), np.mean([one.bias for one in found])
    assert mean / 1.5 < made.choice.mean_error < mean * 1.5
    assert made.choice.bias == pytest.approx(bias, abs=mean / 2)
    assert made.choice.expected.least < made.choice.mean_error < made.choice.expected.most
    assert made.choice.mean_error < made.choice.p95_error < made.choice.bound
    assert made.choice.relative == pytest.approx(made.choice.mean_error / made.known.distance)


@pytest.mark.parametrize("unit", [1.5, 5.0])
def test_who_tells_how_far_weights_lie_apart_is_told_the_error_of_such_weights(unit):
    """A quarter below 1 and a quarter above 25: far from what a median alone makes one think."""
    weights = 5 * np.exp(2.4 * np.random.default_rng(3).normal(size=len(ENDS)))
    net = build(400, ENDS, weights, coordinates=PLACES)
    asked_so = dict(epsilon=1.0, unit=unit, mechanism="input", law="laplace", max_weight=5000.0)
    middle, quarters = (plan(net.topology, typical_weight=typical, **asked_so) for typical in (5.0, (1.0, 25.0)))
    found = [hushpath.evaluate(net, hushpath.release(net, plan=quarters, seed=seed)) for seed in range(3)]
    true = np.mean([one.mean_error for one in found])
    off_by = [abs(math.log(made.choice.mean_error / true)) for made in (middle, quarters)]
    assert off_by[1] < math.log(1.4) < off_by[0]


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
def test_the_luck_of_one_draw_of_noise_is_averaged_out():
    """On small networks one release is often off the mean of all by a third."""
    net = named("grid")
    made = plan(net.topology, epsilon=1.0, unit=2.0, typical_weight=10.0, mechanism="input", law="laplace")
    trials = predict.Trials(stand_ins(net.topology, 10.0))
    for which, scene in enumerate(trials.scenes):
        stand_in = build(net.topology.num_nodes, np.stack([net.topology.tails, net.topology.heads], 1), scene.weights)
        found = [
            hushpath.evaluate(stand_in, hushpath.release(stand_in, plan=made, seed=seed)).mean_error
            for seed in range(40)
        ]
        assert trials.only(which).expected(made.strategy).mean == pytest.approx(np.mean(found), rel=0.2)


@pytest.mark.usefixtures("quick")
def test_simulation_sees_the_bias_that_noise_alone_does_not_tell():
    """Many nearly equal routes, read by ``clip``: the setting of docs/PITFALLS.md."""
    net = build(400, ENDS, np.random.default_rng(0).uniform(5, 10, len(ENDS)))
    blind, tried = (
        plan(net.topology, epsilon=1.0, unit=1.7, mechanism="input", law="laplace", **scale)
        for scale in ({}, {"typical_weight": 7.5})
    )
    true = hushpath.evaluate(net, hushpath.release(net, plan=blind, seed=0)).mean_error
    assert blind.choice.mean_error < true / 1.5
    assert (blind.choice.bias, blind.choice.relative, blind.known) == (None, None, None)
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
    assert all(len(line) <= 160 for line in text.splitlines() if "everybody" not in line and "cannot" not in line)
    values = json.loads(json.dumps(made.as_dict(), allow_nan=False))
    first = values["candidates"][0]
    assert first["bias"] == made.choice.bias
    assert first["mean_error_between"] == [made.choice.expected.least, made.choice.expected.most]
    assert values["known_already"]["error"] == made.known.error
    assert values["worth_it"] is True


def test_no_candidate_that_was_left_out_would_have_won():
    """Everything is tried by name, whatever noise alone says of it."""
    topology = named("grid").topology
    terms = dict(epsilon=2.0, unit=2.0, max_weight=20.0, typical_weight=10.0, anyway=True)
    made = plan(topology, **terms)
    for candidate in made.candidates:
        if candidate.strategy is not None:
            alone = plan(topology, mechanism=candidate.mechanism, law=str(candidate.law), **terms)
            assert alone.choice.expected.simulated
            assert alone.choice.mean_error >= made.choice.mean_error


def test_without_a_scale_the_plan_says_so():
    text = str(plan(lognormal_grid().topology, epsilon=1.0, unit=1.0))
    assert "Nothing public says how large weights are" in text
    assert "everybody" not in text
    assert "four kinds" not in text


def test_simulations_are_marked_not_private(monkeypatch):
    topology = lognormal_grid().topology
    seen = []
    real = simulate.measure
    monkeypatch.setattr(simulate, "measure", lambda *given: seen.append(real(*given)) or seen[-1])
    plan(topology, **asked(mechanism="input", law="laplace"))
    assert seen
    assert not any(one.private for one in seen)
    for scale in (1, 7, 2**40):  # in proportion, so that budgets can be compared
        one, ten = (SimulatedNoise(3).draw(Law.LAPLACE, np.full(50, times * scale)) for times in (1, 10))
        assert np.abs(10 * one - ten).max() <= 5.5


# Estimators that take long


def test_what_a_slow_estimator_gains_is_carried_over_from_a_part(monkeypatch):
    net = lognormal_grid()
    monkeypatch.setattr(simulate, "WHOLE_EDGES", 100)
    monkeypatch.setattr("hushpath.decode.surrogates.PART_NODES", 150)
    problem = Problem.of(net.topology, Terms.declared(1.0, 1e-6, 1.5))
    strategy = plan(net.topology, epsilon=1.0, unit=1.5, mechanism="input", law="laplace").strategy
    clip = estimators.ESTIMATORS["clip"]

    def alike(noisy):
        return np.full_like(noisy.values, noisy.values.mean())

    slow = {
        "like-clip": replace(clip, name="like-clip", costly=True),
        "all-alike": replace(clip, name="all-alike", costly=True, estimate=alike),
    }
    monkeypatch.setattr(estimators, "ESTIMATORS", {"clip": clip, **slow})
    for scene in scenes(net.topology, problem.lattice, Typical(5.0, 5.0)):
        plain, same = (simulated(strategy, scene, name) for name in ("clip", "like-clip"))
        assert (plain.mean, plain.p95) == pytest.approx((same.mean, same.p95))
        assert len(scene.part.edges) < len(ENDS)
        monkeypatch.setattr(simulate, "WHOLE_EDGES", 10_000)
        whole = simulated(strategy, scene, "all-alike")
        monkeypatch.setattr(simulate, "WHOLE_EDGES", 100)
        carried = simulated(strategy, scene, "all-alike")
        assert whole.mean / 3 < carried.mean < whole.mean * 3
        assert abs(carried.bias) <= carried.mean


def test_the_default_estimator_is_the_one_that_is_tried(monkeypatch):
    topology = lognormal_grid().topology
    clip, tried = estimators.ESTIMATORS["clip"], []
    slow = replace(clip, name="slow", costly=True, estimate=lambda noisy: tried.append(1) or clip.estimate(noisy))
    monkeypatch.setattr(estimators, "_made", [clip])
    plain = plan(topology, **asked())
    monkeypatch.setattr(estimators, "_made", [slow, clip])
    made = plan(topology, **asked())
    assert tried
    assert made.choice.read_as == "edges, slow"
    assert made.choice.expected == plain.choice.expected
    assert sum(c.expected.simulated for c in made.candidates) <= sum(c.expected.simulated for c in plain.candidates)


def test_on_larger_networks_slow_estimators_are_tried_on_two_kinds_and_the_others_gain_as_much(monkeypatch):
    topology = lognormal_grid().topology
    clip, tried = estimators.ESTIMATORS["clip"], []
    slow = replace(clip, name="slow", costly=True, estimate=lambda noisy: tried.append(1) or clip.estimate(noisy) // 2)
    monkeypatch.setattr(estimators, "_made", [slow, clip])
    monkeypatch.setattr(estimators, "ESTIMATORS", {"slow": slow, "clip": clip})
    every = plan(topology, **asked(mechanism="input", law="laplace"), anyway=True)
    assert len(tried) == 4
    monkeypatch.setattr(predict, "FEW_EDGES", 100)
    few = plan(topology, **asked(mechanism="input", law="laplace"), anyway=True)
    assert len(tried) == 4 + 2
    assert few.choice.mean_error == pytest.approx(every.choice.mean_error, rel=0.2)
    assert few.choice.p95_error == pytest.approx(every.choice.p95_error, rel=0.2)
    assert few.choice.bias < 0


def test_a_change_of_one_release_is_carried_to_the_mean_of_many():
    usual, before, after = Outcome(10.0, 30.0, -2.0), Outcome(5.0, 20.0, -1.0), Outcome(2.5, 5.0, 1.0)
    assert usual.changed(before, after) == pytest.approx((5.0, 7.5, 0.0))
    assert usual.changed(before, before) == pytest.approx(usual)
    assert usual.changed(Outcome(0.0, 0.0, 0.0), after) == after
    assert Outcome.mean_of([before, after]) == pytest.approx((3.75, 12.5, 0.0))


def test_what_quick_estimators_put_far_behind_is_tried_too_where_it_is_read_by_another_slow_one(monkeypatch):
    """On a long path sums beat single edges by far, unless somebody reads single edges much better."""
    length = 400
    topology = build(length + 1, [(i, i + 1) for i in range(length)], np.ones(length)).topology
    made = [estimators.ESTIMATORS[name] for name in ("lean", "sums", "shrink", "clip")]
    lucky = replace(made[2], estimate=lambda noisy: np.full(len(noisy.values), truth))
    terms = dict(epsilon=1.0, unit=3.0, typical_weight=5.0, law="laplace")
    assert plan(topology, **terms).choice.mechanism == "lines"
    truth = np.rint(5.0 / plan(topology, **terms).strategy.lattice.granularity).astype(np.int64)
    monkeypatch.setattr(estimators, "_made", [made[0], made[1], lucky, made[3]])
    monkeypatch.setattr("hushpath.decode.surrogates.PLAIN", (Kind(False, 0.0, 1e-6), Kind(False, 0.0, 1e-6)))
    assert plan(topology, **terms, anyway=True).choice.mechanism == "input"


def test_errors_per_hop_are_fitted_and_their_mean_is_that_of_normals():
    rng = np.random.default_rng(0)
    hops = rng.integers(1, 40, 20_000).astype(float)
    moves = rng.normal(-0.3 * hops, np.sqrt(2.0 * hops))
    fitted = PerHop.fitted(hops, moves)
    assert fitted.bias == pytest.approx(-0.3, abs=0.02)
    assert fitted.variance == pytest.approx(2.0, rel=0.03)
    kinds, counts = np.unique(hops, return_counts=True)
    assert fitted.mean_error(kinds, counts / counts.sum()) == pytest.approx(np.abs(moves).mean(), rel=0.02)
    assert PerHop(0.5, 0.0).mean_error(np.array([4.0]), np.array([1.0])) == pytest.approx(2.0)
    assert Outcome.of(np.array([-1.0, 3.0])) == pytest.approx((2.0, 2.9, 1.0))


def test_nothing_is_simulated_twice_and_nothing_where_there_is_nothing_to_decide(monkeypatch):
    net, seen, real = named("grid"), [], predict.simulated

    def counted(strategy, scene, estimator):
        seen.append((strategy.mechanism, strategy.law, strategy.budget, scene.seed, estimator))
        return real(strategy, scene, "clip")

    monkeypatch.setattr(predict, "simulated", counted)
    terms = dict(unit=2.0, max_weight=20.0, typical_weight=10.0)
    plan(net.topology, **terms, target_error="30%")
    assert len(seen) == len(set(seen)) > 8
    alone = dict(terms, epsilon=1.0, mechanism="input", seed=1)
    for more, simulates in (
        ({"law": "laplace"}, True), ({"anyway": True}, True),  # refused if useless; two laws to choose from
        ({"law": "laplace", "anyway": True}, False), ({"delta": 0.0, "anyway": True}, False),
    ):  # fmt: skip
        seen.clear()
        hushpath.release(net, **alone, **more, estimator="clip")
        assert bool(seen) == simulates
    seen.clear()
    assert plan(net.topology, epsilon=1.0, mechanism="input", law="laplace", **terms, anyway=True).known  # it is shown
    assert seen


# A target, several epsilons


@pytest.mark.parametrize(
    ("wanted", "more", "estimator"),
    [(4.0, {}, "clip"), ("4", {}, "clip"), (" 5 %", {}, "auto"), (8.0, {"typical_weight": None}, "clip")],
)
def test_a_target_error_is_solved_for_epsilon(wanted, more, estimator, request):
    if estimator == "clip":
        request.getfixturevalue("quick")
    topology = lognormal_grid().topology
    made = plan(topology, **asked(epsilon=None, target_error=wanted, **more))
    goal = 0.05 * made.known.distance if isinstance(wanted, str) and "%" in wanted else float(wanted)
    assert made.target_error == pytest.approx(goal)
    assert 0.9 * goal < made.choice.mean_error <= goal
    assert made.terms.epsilon == float(f"{made.terms.epsilon:.3g}")
    assert f"predicted mean error of {goal:.4g}" in str(made)
    less = plan(topology, **asked(epsilon=0.9 * made.terms.epsilon, **more))
    assert less.choice.mean_error > goal * 0.97


def test_a_search_takes_few_steps_and_rounds_up():
    for power in (0.4, 1.0, 1.7):
        for goal in (1e-2, 0.5, 3.0, 40.0):
            steps = []
            found = target.smallest_epsilon(lambda e, p=power, s=steps: s.append(e) or 2.0 * e**-p, goal) \
                if target.SMALLEST < (2 / goal) ** (1 / power) < target.LARGEST else None  # fmt: skip
            if found is not None:
                assert len(steps) <= target.MOST_TRIES
                assert 2.0 * found**-power <= goal
                assert found <= 1.2 * (2 / goal) ** (1 / power)
    assert target.smallest_epsilon(lambda _: 0.0, 1.0) == target.SMALLEST
    with pytest.raises(CannotError, match=r"no epsilon up to 1000 .* at 1000 it is 7"):
        target.smallest_epsilon(lambda _: 7.0, 1.0)
    with pytest.raises(CannotError):
        target.smallest_epsilon(lambda _: math.inf, 1.0)


@pytest.mark.parametrize("wrong", ["x", "", "%", "-3", 0, -1.0, math.nan, math.inf, True, [2], "5%%"])
def test_targets_that_are_none_are_refused(wrong):
    with pytest.raises(OptionError, match="target_error must be a positive number or a share") as caught:
        plan(lognormal_grid().topology, unit=1.0, target_error=wrong)
    assert "\n" not in str(caught.value)


def test_a_target_goes_with_no_epsilon_and_a_share_needs_a_scale():
    topology = lognormal_grid().topology
    with pytest.raises(OptionError, match="give one of the two"):
        plan(topology, epsilon=1.0, unit=1.0, target_error=2)
    with pytest.raises(OptionError, match="needs typical_weight or a proxy"):
        plan(topology, unit=1.0, target_error="5%")


@pytest.mark.usefixtures("quick")
def test_a_target_nobody_can_reach_is_refused_in_words():
    with pytest.raises(CannotError, match="no epsilon up to 1000"):
        plan(lognormal_grid().topology, unit=1e4, target_error=1e-3, typical_weight=5.0)


@pytest.mark.usefixtures("quick")
def test_several_epsilons_make_a_sweep():
    topology = lognormal_grid().topology
    made = plan(topology, **asked(epsilon=[2, 0.5, 1, 2.0]))
    assert isinstance(made, Sweep)
    assert [one.terms.epsilon for one in made.plans] == [0.5, 1.0, 2.0]
    errors = [one.choice.mean_error for one in made.plans]
    assert errors == sorted(errors, reverse=True)
    assert made.plans[1].choice.expected == plan(topology, **asked()).choice.expected
    rows = json.loads(json.dumps(made.as_dict(), allow_nan=False))["sweep"]
    assert [row["epsilon"] for row in rows] == [0.5, 1.0, 2.0]
    assert [row["mean_error"] for row in rows] == errors
    assert "What everybody knows already" in str(made)
    assert "Nothing public" in str(plan(topology, epsilon=(1, 2), unit=1.0))


@pytest.mark.parametrize("wrong", [[], [1, "x"], [1, 0], [-1.0, 2], [math.nan, 1.0], list(range(1, 60)), [[1]]])
def test_epsilons_that_are_none_are_refused(wrong):
    with pytest.raises(OptionError):
        plan(named("grid").topology, epsilon=wrong, unit=1.0)


def test_a_release_has_one_epsilon():
    with pytest.raises(OptionError, match="one epsilon"):
        hushpath.release(named("grid"), epsilon=[1, 2], unit=1.0)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("scale", [{}, {"typical_weight": 5.0}])
def test_a_sweep_is_drawn_the_same_every_time(scale):
    made = plan(lognormal_grid().topology, epsilon=[0.3, 1, math.inf], unit=1.5, **scale)
    assert picture(made) == picture(made)
    assert picture(made).startswith(b"\x89PNG")
    text = picture(made, "svg").decode()
    assert text == picture(made, "svg").decode()
    assert ("public facts alone" in text) == bool(scale)
    assert ("from noise alone" in text) != bool(scale)
    with pytest.raises(CannotError, match="no error to draw"):
        picture(plan(lognormal_grid().topology, epsilon=[math.inf], unit=1.5))


# What everybody knows already


@pytest.mark.usefixtures("quick")
def test_a_release_no_better_than_public_facts_is_refused_unless_one_insists():
    net = lognormal_grid()
    drowned = asked(epsilon=0.01)
    for ask, whom in ((plan, net.topology), (hushpath.release, net)):
        with pytest.raises(CannotError, match=r"typical weight 5 on every edge .* no better .*anyway=True") as caught:
            ask(whom, **drowned)
        assert "\n" not in str(caught.value)
    made = plan(net.topology, **drowned, anyway=True)
    assert not made.worth_it
    assert made.choice.mean_error >= made.known.error
    assert "no better" in str(made)
    assert hushpath.release(net, **drowned, anyway=True, seed=1).statement.numbers > 0
    assert "no better than public facts" in str(plan(net.topology, **asked(epsilon=[0.01, 2])))


@pytest.mark.usefixtures("quick")
def test_a_proxy_is_known_too_and_named():
    topology = lognormal_grid().topology.with_proxy(np.full(len(ENDS), 4.0), name="free_flow")
    made = plan(topology, epsilon=2.0, unit=1.0)
    assert made.known.source == "the public column free_flow"
    scaled = plan(topology, epsilon=2.0, unit=1.0, typical_weight=5.0)
    assert scaled.known.source == "the public column free_flow, scaled to the typical weight"
    assert "the public column free_flow would be off by" in str(made)


def test_where_nothing_is_known_or_nothing_is_hidden_nobody_is_refused():
    topology = lognormal_grid().topology
    assert plan(topology, epsilon=1e-4, unit=1.0).worth_it
    exact = plan(topology, **asked(epsilon=math.inf))
    assert (exact.worth_it, exact.known, exact.choice.mean_error) == (True, None, 0.0)


@pytest.mark.parametrize(
    "wrong",
    [0, -1, math.nan, math.inf, "5", True, [5], (40, 15), (5, 5), (0, 5), (5, math.inf), (math.nan, 5), (1, 2, 3),
     (True, 5), ("1", "5"), ([1], [5]), (), np.array([[1, 2], [3, 4]])],
)  # fmt: skip
def test_typical_weights_that_are_none_are_refused(wrong):
    with pytest.raises(OptionError, match="typical_weight must be a positive finite number"):
        plan(named("grid").topology, epsilon=1.0, unit=1.0, typical_weight=wrong)


# Like an earlier release


NOT_FOR_PUBLISHING = pytest.mark.filterwarnings("ignore:the earlier release is NOT PRIVATE")


@NOT_FOR_PUBLISHING
@pytest.mark.parametrize("unit", [0.5, 2.0])
def test_an_earlier_release_tells_how_weights_lie(unit):
    """Weights that are half zero-like and half large: nothing that a median would make one think of."""
    rng = np.random.default_rng(5)
    weights = np.where(PLACES[ENDS[:, 0], 0] < 10, 0.3, 20.0) * np.exp(0.2 * rng.normal(size=len(ENDS)))
    net = build(400, ENDS, weights)
    earlier = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", law="laplace", seed=9)
    asked_so = dict(epsilon=1.0, unit=unit, mechanism="input", law="laplace")
    guessed = plan(net.topology, typical_weight=float(np.median(weights)), anyway=True, **asked_so)
    made = plan(net.topology, like=earlier, **asked_so)
    found = [hushpath.evaluate(net, hushpath.release(net, plan=made, seed=seed)) for seed in range(12)]
    true = np.mean([one.mean_error for one in found])
    off_by = [abs(math.log(one.choice.mean_error / true)) for one in (guessed, made)]
    assert off_by[1] < math.log(1.5)
    assert off_by[1] < off_by[0] / 2
    assert made.choice.expected.least <= made.choice.mean_error <= made.choice.expected.most
    assert "on every edge" in made.known.source


@NOT_FOR_PUBLISHING
@pytest.mark.usefixtures("quick")
def test_a_plan_like_an_earlier_release_solves_sweeps_and_changes_nothing_published():
    net = lognormal_grid()
    earlier = hushpath.release(net, epsilon=1.0, unit=1.5, mechanism="input", law="laplace", seed=9)
    terms = dict(unit=1.5, like=earlier)
    solved = plan(net.topology, target_error="6%", **terms)
    assert solved.choice.mean_error <= 0.06 * solved.known.distance
    assert [one.terms.epsilon for one in plan(net.topology, epsilon=[1, 2], **terms).plans] == [1.0, 2.0]
    made, blind = plan(net.topology, epsilon=1.0, **terms), plan(net.topology, epsilon=1.0, unit=1.5)
    assert hushpath.release(net, plan=made, seed=1).fingerprint == hushpath.release(net, plan=blind, seed=1).fingerprint
    assert str(made) == str(plan(net.topology, epsilon=1.0, **terms))


@pytest.mark.usefixtures("quick")
def test_an_earlier_release_that_is_not_private_is_said_to_be_so():
    net = lognormal_grid()
    asked_so = dict(epsilon=1.0, unit=1.5, mechanism="input", law="laplace")
    with pytest.warns(hushpath.HushpathWarning, match="NOT PRIVATE, and so is whatever is chosen"):
        plan(net.topology, like=hushpath.release(net, seed=9, **asked_so), **asked_so)
    plan(net.topology, like=hushpath.release(net, **asked_so), **asked_so)


@pytest.mark.usefixtures("quick")
def test_what_is_no_earlier_release_of_the_network_is_refused():
    net, small = lognormal_grid(), named("grid")
    terms = dict(epsilon=1.0, unit=1.0)
    usual = hushpath.release(net, **terms, mechanism="input", seed=1)
    for wrong, more, words in (
        ("last.hush", {}, "like takes an earlier release"),
        (usual, {"typical_weight": 5.0}, "give like or typical_weight, not both"),
        (hushpath.release(small, **terms, mechanism="input", seed=1), {}, "another topology"),
        (hushpath.release(net, epsilon=math.inf, unit=1.0, mechanism="input"), {}, "no noise"),
    ):
        with pytest.raises(OptionError, match=words):
            plan(net.topology, like=wrong, **terms, **more)
    for whom, mechanism in ((small, "all-pairs"), (TINY["two"], "input")):
        earlier = hushpath.release(whom, **terms, max_weight=20.0, mechanism=mechanism, seed=1)
        with pytest.raises(CannotError, match="does not tell how weights lie: every edge must have been measured"):
            plan(whom.topology, like=earlier, **terms)


@pytest.mark.usefixtures("quick")
def test_a_plan_holds_the_typical_weight():
    net = lognormal_grid()
    with pytest.raises(OptionError, match="give it alone"):
        hushpath.release(net, plan=plan(net.topology, **asked()), typical_weight=5.0)


# Never nothing


TINY = {
    "no edges": build(3, np.empty((0, 2), np.int64), np.empty(0)),
    "one edge": build(2, [(0, 1)], [1.0]),
    "one edge and a hermit": build(3, [(0, 2)], [1.0]),
    "loop only": build(2, [(1, 1)], [1.0]),
    "two": build(3, [(0, 1), (1, 2)], [1.0, 2.0]),
    "components": named("disconnected"),
    "parallel": named("parallel edges"),
    "star": named("star"),
    "directed": build(4, [(0, 1), (1, 2), (3, 2)], [1.0, 2.0, 1.0], directed=True),
}


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 300.0])
@pytest.mark.parametrize("typical", [None, 1e-3, 10.0])
def test_auto_chooses_something_that_measures(name, epsilon, typical):
    topology = TINY[name].topology
    made = plan(topology, epsilon=epsilon, unit=1.0, max_weight=20.0, typical_weight=typical, anyway=True)
    assert isinstance(made, Plan)
    assert (made.choice.numbers > 0) == (topology.num_edges > 0)
    assert all(c.numbers > 0 for c in made.candidates if c.strategy is not None) or topology.num_edges == 0
    assert (made.choice.mean_error > 0) == (topology.num_edges > 0)
    assert str(made)
    assert json.dumps(made.as_dict(), allow_nan=False)
