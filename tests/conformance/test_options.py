"""Every combination of mechanism, constants, law, delta and epsilon gives a strategy or one clear line."""

import math
from itertools import product

import numpy as np
import pytest
from named_graphs import build, fitted, named

import hushpath
from hushpath import HushpathError
from hushpath.errors import BudgetError, CannotError, OptionError
from hushpath.mechanism.registry import MECHANISMS
from hushpath.noise import Law
from hushpath.planning.plan import plan

CONSTANTS = {name: (None, "paper") if "constants" in m.options else (None,) for name, m in MECHANISMS.items()}
EPSILONS = [5e-324, 1e-300, 1e-9, 1.0, 917.0, 1e300, math.inf]
ENOUGH = {  # one of each outcome and each end of a range; `make test-slow` tries every combination
    ("auto", 1e-6, 1.0), ("gaussian", 0.0, 1.0), ("laplace", 0.0, 1e-9), ("gaussian", 0.5, 917.0),
    ("auto", 0.0, 5e-324), ("auto", 1e-300, 1e300), ("gaussian", 0.0, math.inf),
}  # fmt: skip
BUDGETS = [
    pytest.param(*one, marks=[pytest.mark.slow] * (one not in ENOUGH))
    for one in product(["auto", "laplace", "gaussian"], [0.0, 1e-300, 1e-6, 0.5], EPSILONS)
]


@pytest.mark.quick(every=4)
@pytest.mark.parametrize(("law", "delta", "epsilon"), BUDGETS)
@pytest.mark.parametrize(("mechanism", "constants"), [(name, c) for name, all_ in CONSTANTS.items() for c in all_])
def test_a_strategy_or_one_line(mechanism, constants, law, delta, epsilon):
    topology = fitted(named("grid"), mechanism).topology
    options = {} if constants is None else {"constants": constants}
    made = strategy_or_refusal(
        topology, epsilon=epsilon, delta=delta, unit=1.0, max_weight=20.0, mechanism=mechanism, noise=law, **options
    )
    printed = MECHANISMS[mechanism].printed if constants == "paper" else None
    wrong = printed is not None and law not in ("auto", printed)
    impure = (law == "gaussian" or printed is Law.GAUSSIAN) and delta == 0 and epsilon != math.inf
    if isinstance(made, HushpathError):
        assert "\n" not in str(made)
        assert isinstance(made, OptionError if wrong or impure else CannotError)
        # The lemma that constants are printed with holds below epsilon = 1 only; tiny ones need noise beyond 64 bits.
        beyond = constants == "paper" and epsilon > 1 and isinstance(made, BudgetError)
        assert wrong or impure or beyond or epsilon < 1e-8
    else:
        assert not wrong
        assert not impure
        assert made.num_values > 0
        assert made.scales.min() >= (0 if math.isinf(epsilon) else 1)
        assert made.certificate.epsilon <= epsilon
        assert printed in (made.law, None)


def strategy_or_refusal(topology, **ask):
    try:
        return plan(topology, **ask).strategy
    except HushpathError as refusal:
        return refusal


@pytest.mark.parametrize(
    ("mechanism", "law"),
    [("separator", "gaussian"), ("separator-cover", "gaussian"), ("tree", "laplace"), ("treewidth", "laplace")],
)
def test_printed_constants_take_the_law_they_are_printed_for(mechanism, law):
    net = fitted(named("grid"), mechanism)
    ask = dict(epsilon=0.9, unit=1.0, max_weight=20.0, mechanism=mechanism, constants="paper")
    assert hushpath.release(net, **ask).statement.law == law
    other = "laplace" if law == "gaussian" else "gaussian"
    with pytest.raises(OptionError, match=f"{law} noise, not {other}"):
        hushpath.release(net, noise=other, **ask)


def test_one_law_that_fails_does_not_take_the_other_with_it():
    topology = named("grid").topology
    with pytest.raises(CannotError, match="does not fit in 64 bits"):
        plan(
            topology,
            epsilon=1e-9,
            unit=hushpath.WeightUnit(l1=1.0, lattice_step=2.0**-30),
            mechanism="input",
            noise="laplace",
        )
    for mechanism in ("input", "auto"):
        made = plan(
            topology, epsilon=1e-9, unit=hushpath.WeightUnit(l1=1.0, lattice_step=2.0**-30), mechanism=mechanism
        )
        assert made.strategy.law is Law.GAUSSIAN


@pytest.mark.parametrize("unit", [20.0, 192.0, 1e6])
@pytest.mark.parametrize("name", ["grid", "path", "cycle", "star"])
def test_auto_never_measures_nothing(name, unit):
    made = plan(named(name).topology, epsilon=1.0, unit=unit, max_weight=2.0)
    for candidate in made.candidates:
        assert candidate.strategy is None or candidate.numbers > 0
    assert made.choice.mean_error > 0


def test_what_measures_nothing_is_refused_by_name():
    with pytest.raises(CannotError, match="'cover' would measure no number") as caught:
        hushpath.release(named("path"), epsilon=1.0, unit=1.0, max_weight=2.0, mechanism="cover", hops=1000)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mechanism", [*MECHANISMS, "auto"])
def test_a_network_without_streets_has_nothing_to_measure_and_that_is_no_fault(mechanism):
    net = build(3, np.empty((0, 2), np.int64), np.empty(0))
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=2.0, mechanism=mechanism)
    assert rel.statement.numbers == 0
    assert rel.distance(0, 0) == 0
    assert rel.distance(0, 1) == math.inf


@pytest.mark.parametrize("name", ["grid", "path", "cycle", "star", "disconnected"])
def test_a_tuned_cover_finds_something_to_measure(name):
    """However large the noise: fewer hops, down to none, before it gives up."""
    for law in ("laplace", "gaussian"):
        ask = dict(epsilon=1e-3, unit=1e4, max_weight=2.0, mechanism="cover", noise=law)
        assert plan(named(name).topology, **ask).strategy.num_values > 0
