"""What an owner must say before anything is planned or measured."""

import inspect

import numpy as np
import pytest
from named_graphs import named

import hushpath
from hushpath.errors import OptionError


@pytest.mark.parametrize("given", [{}, {"unit": None}], ids=str)
def test_unit_has_no_default_and_the_error_says_how_to_think(given):
    net = named("grid")
    for function, first in ((hushpath.plan, net.topology), (hushpath.release, net)):
        with pytest.raises(OptionError) as caught:
            function(first, epsilon=1.0, **given)
        text = str(caught.value)
        assert "\n" not in text
        for word in ("`unit` is missing", "ALL weights", "one person", "removed"):
            assert word in text
    for function in (hushpath.plan, hushpath.release):
        unit = inspect.signature(function).parameters["unit"]
        assert unit.default is None  # a plan may stand for it; left out without one, it is refused above
        assert unit.kind is inspect.Parameter.KEYWORD_ONLY


def test_wrong_objects_and_places_get_one_line():
    net = named("path")
    for call, says in (
        (lambda: hushpath.plan(net, epsilon=1.0, unit=1.0), "net.topology"),
        (lambda: hushpath.release(net.topology, epsilon=1.0, unit=1.0), "takes a Network"),
        (lambda: hushpath.release("roads.csv", epsilon=1.0, unit=1.0), "read_network"),
    ):
        with pytest.raises(OptionError, match=says):
            call()
    with pytest.raises(TypeError):
        hushpath.release(net, 1.0, 3.0)


def test_questions_of_the_wrong_kind_get_one_line():
    rel = hushpath.release(named("path"), epsilon=1.0, unit=1.0, seed=1)
    for ask in (
        lambda: rel.matrix(5), lambda: rel.distances(None), lambda: rel.distance(10**5000, 1),
        lambda: rel.interval(1, 2, "x"), lambda: rel.interval(1, 2, 0.9999999999999999),
        lambda: rel.interval(1, 2, 1e-320), lambda: rel.save("a\0b"),
    ):  # fmt: skip
        with pytest.raises(hushpath.HushpathError):
            ask()


def test_a_plan_stands_for_everything_but_sampler_and_seed():
    net, other = named("grid"), named("path")
    plan = hushpath.plan(
        net.topology, epsilon=1.0, delta=1e-5, unit=hushpath.WeightUnit(l1=1.0, population=7), noise="gaussian"
    )
    rel = hushpath.release(net, plan=plan)
    assert rel.measurements.strategy.scales is plan.strategy.scales
    assert (rel.statement.budget_delta, rel.statement.unit.population) == (1e-5, 7)
    first, second = (hushpath.release(net, plan=plan).measurements.values for _ in range(2))
    assert not np.array_equal(first, second)
    for given in ({"delta": 1e-6}, {"epsilon": 1.0}, {"unit": 1.0}, {"mechanism": "input"}, {"hops": 2}):
        with pytest.raises(OptionError):
            hushpath.release(net, plan=plan, **given)
    for wrong in ("x", 0, plan.strategy, plan.as_dict()):
        with pytest.raises(OptionError, match=r"what hushpath\.plan returns"):
            hushpath.release(net, plan=wrong)
    bounded = hushpath.Network.build(
        net.topology.labels, net.topology.tails, net.topology.heads, net.weights.reveal(), upper=50.0
    )
    for stranger in (other, bounded):
        with pytest.raises(OptionError, match="another topology"):
            hushpath.release(stranger, plan=plan)


def test_words_that_nobody_knows_are_named_before_anything_is_missed():
    net = named("path")
    for given, meant in (({"epsilonn": 1.0}, "epsilon"), ({"maxweight": 9}, "max_weight")):
        with pytest.raises(OptionError, match=f"did you mean '{meant}'"):
            hushpath.release(net, unit=1.0, **given)
    for given in ({"hops": 2}, {"colour": "red"}):  # an option of a mechanism that is not named, and of none
        with pytest.raises(OptionError, match=next(iter(given))):
            hushpath.release(net, epsilon=1.0, unit=1.0, **given)
