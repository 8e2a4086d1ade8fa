"""Who is refused a plan, in words, and that everybody else gets one that measures."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from named_graphs import build, named
from planned_grid import asked, lognormal_grid

import hushpath
from hushpath.errors import CannotError, OptionError
from hushpath.estimator.weights import shrink
from hushpath.planning import surrogates
from hushpath.planning.plan import plan
from hushpath.planning.result import Plan

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


@pytest.mark.parametrize("wrong", ["x", "", "%", "-3", 0, -1.0, math.nan, math.inf, True, [2], "5%%"])
def test_targets_that_are_none_are_refused(wrong):
    with pytest.raises(OptionError, match="target_error") as caught:
        plan(lognormal_grid().topology, unit=1.0, target_error=wrong)
    assert "\n" not in str(caught.value)


def test_a_target_goes_with_no_epsilon_and_a_share_needs_a_scale():
    topology = lognormal_grid().topology
    with pytest.raises(OptionError, match="one of the two"):
        plan(topology, epsilon=1.0, unit=1.0, target_error=2)
    with pytest.raises(OptionError, match="typical_weight"):
        plan(topology, unit=1.0, target_error="5%")


@pytest.mark.usefixtures("quick")
def test_a_target_nobody_can_reach_is_refused_in_words():
    with pytest.raises(CannotError, match="no epsilon up to 1000"):
        plan(lognormal_grid().topology, unit=1e4, target_error=1e-3, typical_weight=5.0)


@pytest.mark.parametrize("wrong", [[], [1, "x"], [1, 0], [-1.0, 2], [math.nan, 1.0], list(range(1, 60)), [[1]]])
def test_epsilons_that_are_none_are_refused(wrong):
    with pytest.raises(OptionError):
        plan(named("grid").topology, epsilon=wrong, unit=1.0)


def test_a_release_has_one_epsilon():
    with pytest.raises(OptionError, match="one epsilon"):
        hushpath.release(named("grid"), epsilon=[1, 2], unit=1.0)


@pytest.mark.parametrize(
    "wrong",
    [0, -1, math.nan, math.inf, "5", True, [5], (40, 15), (5, 5), (0, 5), (5, math.inf), (math.nan, 5), (1, 2, 3),
     (True, 5), ("1", "5"), ([1], [5]), (), np.array([[1, 2], [3, 4]])],
)  # fmt: skip
def test_typical_weights_that_are_none_are_refused(wrong):
    with pytest.raises(OptionError, match="typical_weight"):
        plan(named("grid").topology, epsilon=1.0, unit=1.0, typical_weight=wrong)


@pytest.mark.usefixtures("quick")
def test_a_release_no_better_than_public_facts_is_refused_unless_one_insists():
    net = lognormal_grid()
    drowned = asked(epsilon=0.01)
    with pytest.raises(
        CannotError, match=r"typical weight 5 on every edge.* no better .*ignore_baseline=True"
    ) as caught:
        plan(net.topology, **drowned)
    assert "\n" not in str(caught.value)
    with pytest.raises(CannotError, match="ignore_baseline=True"):
        hushpath.release(net.with_proxy(net.weights.reveal()), epsilon=0.01, unit=1.5)
    made = plan(net.topology, ignore_baseline=True, **drowned)
    assert not made.worth_it
    assert made.choice.mean_error >= made.baseline.error
    assert "no better" in str(made)
    assert hushpath.release(net, plan=made, seed=1).statement.numbers > 0
    assert "no better than public facts" in str(plan(net.topology, **asked(epsilon=[0.01, 2])))


def test_where_nothing_is_known_or_nothing_is_hidden_nobody_is_refused():
    topology = lognormal_grid().topology
    assert plan(topology, epsilon=1e-4, unit=1.0).worth_it
    exact = plan(topology, **asked(epsilon=math.inf))
    assert (exact.worth_it, exact.baseline, exact.choice.mean_error) == (True, None, 0.0)


@pytest.mark.usefixtures("quick")
def test_what_is_no_earlier_release_of_the_network_is_refused():
    net, small = lognormal_grid(), named("grid")
    terms = dict(epsilon=1.0, unit=1.0)
    usual = hushpath.release(net, **terms, mechanism="input", seed=1)
    for wrong, more, words in (
        ("last.hush", {}, "previous_release"),
        (usual, {"typical_weight": 5.0}, "typical_weight"),
        (hushpath.release(small, **terms, mechanism="input", seed=1), {}, "another topology"),
        (hushpath.release(net, epsilon=math.inf, unit=1.0, mechanism="input"), {}, "no noise"),
    ):
        with pytest.raises(OptionError, match=words):
            plan(net.topology, previous_release=wrong, **terms, **more)
    for whom, mechanism in ((small, "all-pairs"), (TINY["two"], "input")):
        earlier = hushpath.release(whom, **terms, max_weight=20.0, mechanism=mechanism, seed=1)
        with pytest.raises(CannotError):
            plan(whom.topology, previous_release=earlier, **terms)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("wild", ["no solution", "no number"])
def test_an_earlier_release_like_no_weights_is_refused(wild, monkeypatch):
    def no_solution(*_args):
        raise np.linalg.LinAlgError

    net, terms = lognormal_grid(rows=3), dict(epsilon=1.0, unit=1.0)
    earlier = hushpath.release(net, **terms, mechanism="input", seed=1)
    if wild == "no solution":
        monkeypatch.setattr(shrink, "fit", no_solution)
    else:
        no_number = SimpleNamespace(sample=lambda rng: np.full(2, np.nan))
        monkeypatch.setattr(surrogates, "model_of", lambda _noisy: no_number)
    with pytest.raises(CannotError):
        plan(net.topology, previous_release=earlier, **terms)


@pytest.mark.quick(every=4)
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 300.0])
@pytest.mark.parametrize("typical", [None, 1e-3, 10.0])
def test_auto_chooses_something_that_measures(name, epsilon, typical):
    topology = TINY[name].topology
    made = plan(topology, epsilon=epsilon, unit=1.0, max_weight=20.0, typical_weight=typical, ignore_baseline=True)
    assert isinstance(made, Plan)
    assert (made.choice.numbers > 0) == (topology.num_edges > 0)
    assert all(c.numbers > 0 for c in made.candidates if c.strategy is not None) or topology.num_edges == 0
    assert (made.choice.mean_error > 0) == (topology.num_edges > 0)
    assert str(made)
    assert json.dumps(made.as_dict(), allow_nan=False)
