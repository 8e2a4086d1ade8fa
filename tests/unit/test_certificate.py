"""The certificate adds up what each edge can move, rounds up, and guards the budget before weights are read."""

import copy
import math
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import named

import hushpath
from hushpath import HushpathError
from hushpath.errors import BudgetError, OptionError
from hushpath.measurement.private_step import measure
from hushpath.noise import Law
from hushpath.planning.plan import plan
from hushpath.privacy import certificate
from hushpath.privacy.accounting import Budget, zcdp_epsilon, zcdp_rho
from hushpath.privacy.certificate import Exposure, calibrate, certify
from hushpath.privacy.gaussian import SPLIT, gaussian_delta, gaussian_mu


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
def test_what_a_long_sum_loses_is_added_again(law):
    """A thousand groups, each too cheap to move a float beside one that is dear."""
    count, steps = 4000, 1
    cut = np.array([4, *[1] * count])
    scales = np.array([1, *[2**52 if law is Law.LAPLACE else 2**26] * count])
    exposure = Exposure(1, cut, np.zeros(count + 1, int), np.arange(count + 1))
    spent = certify(exposure, scales, law, steps, Budget(math.inf, 1e-6)).spent
    assert Fraction(spent) >= exact_cost(exposure, scales, law, steps)


def test_mu_is_rounded_up(monkeypatch):
    """The square of what is converted is never below twice the cost, in exact arithmetic."""
    seen = []
    monkeypatch.setattr(certificate, "gaussian_epsilon", lambda mu, delta: seen.append(mu) or 1.0)
    exposure = Exposure(1, np.ones(1, int), np.zeros(1, int), np.zeros(1, int))
    rng = np.random.default_rng(0)
    for cost in (0.5, *rng.uniform(1e-6, 50, 50).tolist()):
        monkeypatch.setattr(certificate, "_find_worst_cost", lambda *_, cost=cost: (cost, 0))
        certify(exposure, np.array([9]), Law.GAUSSIAN, 1, Budget(math.inf, 1e-6))
        assert 2 * Fraction(cost) <= Fraction(seen[-1]) ** 2 <= 2 * Fraction(cost) * (1 + Fraction(1, 2**50))


def test_two_parts_of_a_cost_are_added_upwards(monkeypatch):
    """Single weights and the rest: their sum as a float is never below the sum."""
    exposure = Exposure(2, np.ones(2, int), np.arange(2), np.arange(2), np.array([True, False]))
    rng = np.random.default_rng(1)
    for one, other in rng.uniform(1e-3, 1, (50, 2)).tolist():
        answers = cycle([(9.0, 0), (one, 0), (other, 1)])  # joint, then the two parts
        monkeypatch.setattr(certificate, "_find_highest_cost", lambda *_, answers=answers: next(answers))
        spent = certify(exposure, np.array([9, 9]), Law.GAUSSIAN, 5, Budget(math.inf, 0.0), 2).spent
        assert Fraction(spent) >= Fraction(one) + Fraction(other)


@pytest.mark.parametrize("law", list(Law))
@settings(max_examples=200, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), epsilon=st.floats(0.01, 20))
def test_calibrated_scales_are_safe_and_smallest(law, seed, epsilon):
    rng = np.random.default_rng(seed)
    exposure, steps, budget = random_exposure(rng), 2**26, Budget(epsilon, 1e-6)
    scales = calibrate(exposure, rng.uniform(0.1, 10, len(exposure.cut)), law, steps, budget)
    allowed = epsilon if law is Law.LAPLACE else gaussian_mu(epsilon, 1e-6) ** 2 / 2
    assert exact_cost(exposure, scales, law, steps) <= allowed
    smaller = np.maximum((scales * (1 - 1e-4)).astype(np.int64), 1)
    if (smaller < scales).all():
        with pytest.raises(BudgetError):
            certify(exposure, smaller, law, steps, budget)


# --- Gaussian noise: two conversions, both proved -----------------------------------------------------------------


def exact_delta(epsilon, noises):
    """What neighbours are told apart by, summed over the laws themselves: (scale, shift) of each number that moves."""
    loss, chance = np.zeros(1), np.ones(1)
    for scale, shift in noises:
        x = np.arange(-12 * scale - shift, 12 * scale + shift + 1)
        mass = np.exp(-(x**2) / (2 * scale**2))
        loss = np.add.outer(loss, shift * (shift + 2 * x) / (2 * scale**2)).ravel()  # log P(x) / P(x + shift)
        chance = np.multiply.outer(chance, mass / mass.sum()).ravel()
    worse = loss > epsilon
    return float((chance[worse] * -np.expm1(epsilon - loss[worse])).sum())


@pytest.mark.parametrize("delta", [0.1, 1e-3, 1e-6])
@pytest.mark.parametrize(
    "groups",
    [
        [(3, 1)], [(5, 1)], [(9, 2)], [(40, 3)], [(300, 20)], [(3, 1), (4, 1)], [(7, 2), (12, 2)], [(1, 1), (30, 1)],
        [(2, 1), (2, 1)], [(6, 1), (5, 1), (8, 1)],
    ],
    ids=str,
)  # fmt: skip
def test_epsilon_holds_for_the_discrete_noise_itself(groups, delta):
    """One edge in every group, one number each: no conversion may promise more than the law of the numbers gives."""
    scales, unit = np.array([scale for scale, _ in groups]), groups[0][1]
    count = len(groups)
    exposure = Exposure(1, np.ones(count, int), np.zeros(count, int), np.arange(count))
    noises = [(scale, unit) for scale, _ in groups]
    certificate = certify(exposure, scales, Law.GAUSSIAN, unit, Budget(math.inf, delta))
    assert exact_delta(certificate.epsilon, noises) <= delta
    assert certificate.epsilon <= zcdp_epsilon(certificate.spent, delta)


@pytest.mark.parametrize("threshold", [1.5, 4.5, 10.5])
@pytest.mark.parametrize("scale", [3, 7, 20])
def test_noise_on_whole_numbers_is_paid_for(scale, threshold):
    """Where the best threshold lies between two numbers, continuous noise of the same scale would promise too much."""
    epsilon = (2 * threshold + 1) / (2 * scale**2)
    delta = exact_delta(epsilon, [(scale, 1)])
    assert gaussian_delta(epsilon, 1 / scale) < delta
    exposure = Exposure(1, np.ones(1, int), np.zeros(1, int), np.zeros(1, int))
    assert certify(exposure, np.array([scale]), Law.GAUSSIAN, 1, Budget(math.inf, delta)).epsilon >= epsilon


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 300.0])
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), steps=st.sampled_from([1, 3, 100, 10**4]))
def test_coarse_lattices_are_calibrated_too(epsilon, seed, steps):
    """Scales of a few steps: never above those of zCDP alone, in all, nor far above those of the trade-off."""
    rng = np.random.default_rng(seed)
    exposure, budget = random_exposure(rng), Budget(epsilon, 1e-6)
    relative = rng.uniform(0.1, 10, len(exposure.cut))
    scales = calibrate(exposure, relative, Law.GAUSSIAN, steps, budget)
    certify(exposure, scales, Law.GAUSSIAN, steps, budget)
    worst = math.sqrt(2 * edge_costs(exposure, relative, steps).max())
    for allowed, added in ((math.sqrt(2 * zcdp_rho(epsilon, 1e-6)), 0.0), (gaussian_mu(epsilon, 1e-6), SPLIT)):
        bound = np.sqrt((relative * worst / allowed) ** 2 + added) * (1 + 1e-9) + 1
        assert scales.sum() <= bound.sum()


def edge_costs(exposure, scales, steps):
    """Each edge's rho, in floats."""
    share = exposure.cut * (steps / np.asarray(scales)) ** 2 / 2
    return np.bincount(exposure.edge, weights=share[exposure.group], minlength=exposure.num_edges)


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
    assert strategy.certificate.epsilon == math.inf
    with pytest.raises(BudgetError):
        _ = replace(strategy, terms=replace(strategy.terms, budget=Budget(1e9))).certificate


def test_noise_beyond_64_bits_is_refused():
    with pytest.raises(HushpathError, match="64 bits"):
        plan(named("path").topology, epsilon=1e-12, unit=1.0, noise="laplace")


@pytest.mark.parametrize("law", list(Law))
def test_what_the_certificate_says_of_itself(law):
    """Laplace noise is pure; Gaussian noise has the delta of the budget, and an epsilon converted for it."""
    strategy = plan(named("grid").topology, epsilon=1.0, delta=1e-5, unit=1.0, mechanism="input", noise=law).strategy
    certificate = strategy.certificate
    if law is Law.LAPLACE:
        assert (certificate.epsilon, certificate.delta) == (certificate.spent, 0.0)
    else:
        assert certificate.delta == 1e-5
        assert certificate.epsilon < zcdp_epsilon(certificate.spent, 1e-5)
        mu = math.sqrt(2 * certificate.spent)
        assert 0.999e-5 < gaussian_delta(certificate.epsilon, mu) <= 1e-5
    assert 0.999 <= certificate.epsilon <= 1.0


def test_the_worst_edge_is_the_worst_and_the_unit_is_the_lattices():
    exposure = two_groups()
    certificate = certify(exposure, np.array([10, 20]), Law.LAPLACE, 4, Budget(2.0))
    assert certificate.worst_edge == 1
    strategy = plan(named("grid").topology, epsilon=1.0, unit=1.0, mechanism="input", noise="laplace").strategy
    steps = Fraction(strategy.terms.unit_steps(strategy.lattice))
    assert strategy.certificate.spent >= steps / int(strategy.scales.min())


# --- nobody goes around the certificate --------------------------------------------------------------------


def two_groups(**changed):
    """Three edges, two groups of cut 2 and 5; edge 1 is in both."""
    parts = {"num_edges": 3, "cut": [2, 5], "edge": [0, 1, 1, 2], "group": [0, 0, 1, 1], **changed}
    return Exposure(parts["num_edges"], *(np.asarray(parts[name]) for name in ("cut", "edge", "group")))


def test_what_the_malformed_ones_below_are_made_of_is_sound():
    spent = certify(two_groups(), np.array([10, 20]), Law.LAPLACE, 4, Budget(2.0)).spent
    assert spent == pytest.approx(2 * 4 / 10 + 5 * 4 / 20)


@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize(
    "scales",
    [
        [-10, 20], [10, -20], [-1, -1], [10.0, 20.0], [math.nan, 20.0], [10, math.inf], [True, True], [10],
        [10, 20, 30], [[10, 20]], 10, [10, 2**52 + 1], ["10", "20"], [None, 20], [2**63, 2**63],
    ],
)  # fmt: skip
def test_scales_that_are_not_one_whole_number_per_group_are_refused(scales, law):
    with pytest.raises(OptionError):
        certify(two_groups(), np.asarray(scales), law, 4, Budget(math.inf, 1e-6))


@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize("steps", [0, -1, 1.0, math.nan, math.inf, True, None, "1"])
def test_a_unit_below_one_whole_step_is_refused(steps, law):
    with pytest.raises(OptionError, match="whole number of lattice steps"):
        certify(two_groups(), np.array([10, 20]), law, steps, Budget(math.inf, 1e-6))
    with pytest.raises(OptionError, match="whole number of lattice steps"):
        calibrate(two_groups(), np.ones(2), law, steps, Budget(1.0, 1e-6))


@pytest.mark.parametrize(
    "changed",
    [
        {"cut": [-1, 5]}, {"cut": [2.0, 5.0]}, {"cut": [math.nan, 5]}, {"cut": [[2, 5]]}, {"cut": [2]}, {"cut": []},
        {"edge": [0, 1, 1, 3]}, {"edge": [0, 1, 1, -1]}, {"edge": [0, 1, 1]}, {"edge": [0.0, 1, 1, 2]},
        {"group": [0, 0, 1, 2]}, {"group": [0, -1, 1, 1]}, {"group": [0]}, {"num_edges": 2}, {"num_edges": -3},
        {"num_edges": 3.0}, {"num_edges": True},
    ],
)  # fmt: skip
def test_an_exposure_out_of_range_cannot_be_made(changed):
    with pytest.raises(OptionError):
        two_groups(**changed)


def test_exposures_of_different_networks_are_not_joined():
    with pytest.raises(OptionError, match="different networks"):
        Exposure.joined([two_groups(), two_groups(num_edges=4)])


def test_joined_groups_stay_apart():
    joined = Exposure.joined([two_groups(), two_groups(cut=[7, 11, 13]), two_groups()])
    assert joined.cut.tolist() == [2, 5, 7, 11, 13, 2, 5]
    assert joined.group.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 5, 5, 6, 6]
    assert joined.edge.tolist() == [0, 1, 1, 2] * 3


@pytest.mark.parametrize("relative", [[1.0, 0.0], [1.0, -1.0], [1.0, math.nan], [1.0, math.inf], [1.0], [1.0] * 3])
def test_relative_scales_must_be_positive_and_one_per_group(relative):
    with pytest.raises(OptionError):
        calibrate(two_groups(), np.array(relative), Law.LAPLACE, 4, Budget(1.0))


@pytest.mark.parametrize("law", list(Law))
def test_one_group_without_noise_costs_infinity_even_if_no_edge_is_known_to_move_it(law):
    for exposure in (two_groups(), two_groups(edge=[0], group=[0]), two_groups(edge=[], group=[])):
        assert certify(exposure, np.array([10, 0]), law, 4, Budget(math.inf, 1e-6)).epsilon == math.inf
        with pytest.raises(BudgetError):
            certify(exposure, np.array([10, 0]), law, 4, Budget(1e300, 1e-6))
    nothing_measured = two_groups(cut=[2, 0])
    assert certify(nothing_measured, np.array([10, 0]), Law.LAPLACE, 4, Budget(1.0)).spent == pytest.approx(0.8)


def test_a_block_that_hides_its_numbers_from_the_certificate_is_refused():
    strategy = plan(named("grid").topology, epsilon=1.0, unit=1.0, mechanism="input", noise="laplace").strategy
    exposure = strategy.exposure

    class Hiding(type(strategy.blocks[0])):
        @property
        def exposure(self):
            return replace(exposure, cut=np.zeros_like(exposure.cut))

    with pytest.raises(BudgetError):
        _ = replace(strategy, blocks=(Hiding(strategy.topology),)).certificate


def test_a_block_of_another_network_is_refused():
    """Its exposure would speak of other edges than those whose weights are measured."""
    one = named("grid").topology
    strategy = plan(one, epsilon=1.0, unit=1.0, mechanism="input", noise="laplace").strategy
    with pytest.raises(BudgetError, match="another network"):
        _ = replace(strategy, blocks=(type(strategy.blocks[0])(replace(one)),)).certificate


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda plan: pickle.loads(pickle.dumps(plan))])
def test_a_certificate_made_before_is_not_believed_at_the_door(copied):
    """In a copy arrays can be written, and the certificate that was made of the old ones comes along."""
    net = named("grid")
    tampered = copied(plan(net.topology, epsilon=1.0, unit=1.0, mechanism="input"))
    tampered.strategy.scales[:] = 1
    assert tampered.strategy.certificate.epsilon <= 1.0
    with pytest.raises(BudgetError, match="above the budget"):
        hushpath.release(net, plan=tampered)
