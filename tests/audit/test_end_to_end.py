"""An attacker's view: tell two neighbouring inputs apart from many whole releases, and bound epsilon from below.

The attacker knows everything but one bit: which of two neighbouring weight vectors was measured.  It looks along the
direction in which the exact numbers differ, which is the best any attacker can do for one coordinate and a strong
statistic for several.  From the counts a lower bound on epsilon follows with confidence 1 - 1e-6 (Clopper-Pearson on
both sides); a private mechanism must not exceed its certificate, and mechanisms broken on purpose must be caught.
"""

from dataclasses import replace

import numpy as np
import pytest
from named_graphs import build
from scipy.stats import beta

from hushpath.exact import exact_numbers
from hushpath.measure import measure
from hushpath.noise import Law, make_sampler
from hushpath.planning import plan
from hushpath.privacy.accounting import Budget
from hushpath.strategy.registry import MECHANISMS
from hushpath.weights import PrivateWeights

RELEASES = 1500
ALPHA = 1e-6
BUDGET = 1.0


def exact_vector(strategy, weights):
    steps = PrivateWeights(weights, num_rows=len(weights)).on_lattice(strategy.lattice)
    blocks = strategy.blocks
    return np.concatenate([exact_numbers(block, strategy.topology, strategy.lattice, steps) for block in blocks])


def lower_bound_on_epsilon(strategy, weights, other, seed):
    """Attack a strategy; return an epsilon that it certainly exceeds (up to ALPHA), at delta of its budget."""
    first, second = (PrivateWeights(w, num_rows=len(w)) for w in (weights, other))
    exact = [exact_vector(strategy, w) for w in (weights, other)]
    scales = np.repeat(strategy.scales, strategy.group_sizes).astype(float)
    shift = (exact[1] - exact[0]) / scales

    def statistic(w, sampler):
        noisy = (measure(strategy, w, sampler).values - exact[0]) / scales
        if strategy.law is Law.LAPLACE:  # the log-likelihood ratio
            return np.sum(np.abs(noisy) - np.abs(noisy - shift))
        return np.sum(noisy * shift)

    sampler = make_sampler("vector", seed=seed, size=strategy.num_values)
    zero = np.sort([statistic(first, sampler) for _ in range(RELEASES)])
    one = np.sort([statistic(second, sampler) for _ in range(RELEASES)])
    best = 0.0
    for threshold in np.quantile(one, [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7]):
        hits, alarms = int((one >= threshold).sum()), int((zero >= threshold).sum())
        low = beta.ppf(ALPHA / 2, hits, RELEASES - hits + 1) if hits else 0.0
        high = beta.ppf(1 - ALPHA / 2, alarms + 1, RELEASES - alarms) if alarms < RELEASES else 1.0
        if low > strategy.budget.delta:
            best = max(best, float(np.log((low - strategy.budget.delta) / high)))
    return best


def worst_case(mechanism, law):
    """A short path and the neighbour, one edge changed, that the measured numbers tell apart best."""
    net = build(6, [(i, i + 1) for i in range(5)], np.full(5, 4.0))
    strategy = plan(net.topology, epsilon=BUDGET, unit=1.0, max_weight=8.0, mechanism=mechanism, law=law).strategy
    weights = net.weights.reveal()
    scales = np.repeat(strategy.scales, strategy.group_sizes)
    before = exact_vector(strategy, weights)
    others = weights + np.eye(len(weights))
    moves = [np.abs((exact_vector(strategy, other) - before) / scales).sum() for other in others]
    return strategy, weights, others[int(np.argmax(moves))]


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_attack_beats_the_certificate(mechanism, law):
    strategy, weights, other = worst_case(mechanism, law)
    assert lower_bound_on_epsilon(strategy, weights, other, seed=11) <= strategy.certificate().epsilon


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_mechanism_with_a_tenth_of_its_noise_is_caught(mechanism, law):
    strategy, weights, other = worst_case(mechanism, law)
    broken = replace(strategy, scales=np.maximum(strategy.scales // 10, 1), budget=Budget(1e6, 1e-6))
    assert lower_bound_on_epsilon(broken, weights, other, seed=12) > BUDGET


def test_noise_on_some_numbers_only_is_caught():
    strategy, weights, other = worst_case("input", "laplace")
    scales = strategy.scales.copy()
    scales[int(np.argmax(other - weights))] = 1
    broken = replace(strategy, scales=scales, budget=Budget(1e9, 1e-6))
    assert lower_bound_on_epsilon(broken, weights, other, seed=13) > BUDGET
