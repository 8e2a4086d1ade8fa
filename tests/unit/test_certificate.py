"""The certificate adds up what each edge can move, rounds up, and guards the budget before weights are read."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import named

from hushpath import HushpathError
from hushpath.errors import BudgetError
from hushpath.measure import measure
from hushpath.noise import Law
from hushpath.planning import plan
from hushpath.privacy.accounting import Budget, zcdp_rho
from hushpath.privacy.certificate import Exposure, calibrate, certify


def random_exposure(rng):
    m, g = int(rng.integers(1, 8)), int(rng.integers(1, 6))
    inside = rng.random((m, g)) < 0.5
    inside[0, 0] = True
    edge, group = np.nonzero(inside)
    return Exposure(m, rng.integers(1, 50, g), edge, group)


def exact_cost(exposure, scales, law, steps):
    """The formula in exact rational arithmetic."""
    total = [Fraction(0)] * exposure.num_edges
    for edge, group in zip(exposure.edge.tolist(), exposure.group.tolist(), strict=True):
        ratio = Fraction(steps, int(scales[group]))
        total[edge] += int(exposure.cut[group]) * (ratio if law is Law.LAPLACE else ratio * ratio / 2)
    return max(total)


@pytest.mark.parametrize("law", list(Law))
@settings(max_examples=300, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1))
def test_never_below_the_exact_cost_and_hardly_above(law, seed):
    rng = np.random.default_rng(seed)
    exposure, steps = random_exposure(rng), int(rng.integers(1, 2**40))
    scales = rng.integers(1, 2**45, len(exposure.cut))
    spent = certify(exposure, scales, law, steps, Budget(math.inf, 1e-6)).spent
    exact = exact_cost(exposure, scales, law, steps)
    assert exact <= Fraction(spent) <= exact * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("law", list(Law))
@settings(max_examples=200, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), epsilon=st.floats(0.01, 20))
def test_calibrated_scales_are_safe_and_smallest(law, seed, epsilon):
    rng = np.random.default_rng(seed)
    exposure, steps, budget = random_exposure(rng), 2**26, Budget(epsilon, 1e-6)
    scales = calibrate(exposure, rng.uniform(0.1, 10, len(exposure.cut)), law, steps, budget)
    allowed = epsilon if law is Law.LAPLACE else zcdp_rho(epsilon, 1e-6)
    assert exact_cost(exposure, scales, law, steps) <= allowed
    smaller = np.maximum((scales * (1 - 1e-4)).astype(np.int64), 1)
    if (smaller < scales).all():
        with pytest.raises(BudgetError):
            certify(exposure, smaller, law, steps, budget)


def test_a_strategy_above_its_budget_is_stopped_before_weights_are_read():
    net = named("grid")
    strategy = plan(net.topology, epsilon=1.0, unit=1.0, mechanism="input").strategy
    cheat = replace(strategy, scales=strategy.scales - 1000)

    class Untouchable:
        def __getattr__(self, name):
            raise AssertionError("weights or noise were touched")

    with pytest.raises(BudgetError, match="above the budget"):
        measure(cheat, Untouchable(), Untouchable())


def test_no_edges_cost_nothing_and_no_noise_costs_everything():
    empty = Exposure(0, np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
    assert certify(empty, np.empty(0, np.int64), Law.LAPLACE, 1, Budget(1.0)).epsilon == 0
    strategy = plan(named("path").topology, epsilon=math.inf, unit=1.0).strategy
    assert strategy.certificate().epsilon == math.inf
    with pytest.raises(BudgetError):
        replace(strategy, budget=Budget(1e9)).certificate()


def test_noise_beyond_64_bits_is_refused():
    with pytest.raises(HushpathError, match="64 bits"):
        plan(named("path").topology, epsilon=1e-12, unit=1.0, law="laplace")
