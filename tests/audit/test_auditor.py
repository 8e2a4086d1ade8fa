"""The auditor itself: its bounds hold on mechanisms whose privacy is known exactly, and they are tight.

Coverage: each known mechanism is audited RUNS times; a bound above the truth may happen in 5 % of them.  More than
LIMIT bounds above the truth happen by chance with probability below 1e-3 if coverage is as promised (seeds are fixed).
"""

import math

import numpy as np
import pytest
from auditor import (
    CONFIDENCE,
    STRICT,
    Claim,
    Pairing,
    Threshold,
    gaussian_delta,
    gaussian_epsilon,
    high,
    likelihood_ratio,
    linear,
    low,
    low_bits,
    one_number,
    strongest,
)  # fmt: skip
from scipy.stats import binom

from hushpath.noise import Law

RUNS, TRIALS = 300, 2000
LIMIT = int(binom.isf(1e-3, RUNS, CONFIDENCE))
VALUE = {"value": lambda zero, one: lambda values: values[:, 0]}


def randomised_response(rng, epsilon, trials):
    kept = 1 / (1 + math.exp(-epsilon))
    return (rng.random((trials, 1)) > kept) * 1.0, (rng.random((trials, 1)) <= kept) * 1.0


def laplace(rng, epsilon, trials):
    return rng.laplace(0, 1 / epsilon, (trials, 1)), rng.laplace(1, 1 / epsilon, (trials, 1))


def gaussian(rng, mu, trials):
    return rng.normal(0, 1, (trials, 1)), rng.normal(mu, 1, (trials, 1))


KNOWN = [
    (randomised_response, Law.LAPLACE, 1.0, 0.85), (laplace, Law.LAPLACE, 1.0, 0.75), (laplace, Law.LAPLACE, 2.5, 0.75),
    (gaussian, Law.GAUSSIAN, 0.5, 0.75), (gaussian, Law.GAUSSIAN, 1.5, 0.9),
]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "law", "loss", "near"), KNOWN)
def test_bounds_hold_as_often_as_promised_and_are_tight(mechanism, law, loss, near):
    rng, claim = np.random.default_rng(5), Claim(law, math.nan, 1e-6, loss)
    found = [strongest(VALUE, *mechanism(rng, loss, TRIALS), claim) for _ in range(RUNS)]
    bounds = np.array([one.evidence.loss() for one in found])
    assert (bounds > loss).sum() <= LIMIT
    assert np.median(bounds) > near * loss
    assert not any(one.refutes for one in found)


@pytest.mark.parametrize(("mechanism", "law", "loss", "near"), KNOWN)
def test_a_claim_of_two_thirds_is_refuted(mechanism, law, loss, near):
    rng, claim = np.random.default_rng(6), Claim(law, math.nan, 1e-6, loss * 2 / 3)
    assert sum(strongest(VALUE, *mechanism(rng, loss, 5 * TRIALS), claim).refutes for _ in range(20)) >= 18


def test_choosing_among_many_useless_attacks_costs_no_confidence():
    """The negative control: thresholds and attacks chosen on the trials that bound would break the promise here."""
    rng, claim = np.random.default_rng(7), Claim(Law.LAPLACE, math.nan, 0.0, 0.0)
    attacks = {str(i): lambda zero, one, i=i: lambda values: values[:, i] for i in range(20)}
    above = peeked = 0
    for _ in range(100):
        zero, one = rng.normal(size=(2, 400, 20))
        above += strongest(attacks, zero, one, claim).evidence.loss() > 0
        cuts = np.quantile(zero, np.linspace(0.01, 0.99, 99), axis=0)
        hits, alarms = ((side[None] >= cuts[:, None]).sum(axis=1) for side in (one, zero))
        peeked += (low(hits, 400, CONFIDENCE / 2) > high(alarms, 400, CONFIDENCE / 2)).any()
    assert above <= binom.isf(1e-3, 100, CONFIDENCE)
    assert peeked > 3 * binom.isf(1e-3, 100, CONFIDENCE)


@pytest.mark.parametrize("trials", [10, 300])
@pytest.mark.parametrize("p", [0.0, 0.02, 0.5, 0.99, 1.0])
def test_limits_on_a_probability_hold(trials, p):
    counts = np.arange(trials + 1)
    chance = binom.pmf(counts, trials, p)
    assert chance[low(counts, trials, 0.05) > p].sum() <= 0.05
    assert chance[high(counts, trials, 0.05) < p].sum() <= 0.05
    assert low(0, trials, 0.05) == 0
    assert high(trials, trials, 0.05) == 1


def test_epsilon_of_a_gaussian():
    # Balle and Wang: sigma = 4.2247 gives epsilon = 1 at delta = 1e-6; zCDP needs 4.5309.
    assert gaussian_epsilon(1 / 4.2247, 1e-6) == pytest.approx(1.0, abs=1e-3)
    for mu in (0.05, 0.5, 3.0, 12.0):
        assert gaussian_delta(mu, gaussian_epsilon(mu, 1e-6)) == pytest.approx(1e-6, rel=1e-3)
    assert gaussian_epsilon(0.0, 1e-6) == 0
    assert gaussian_epsilon(1e-7, 1e-6) == 0


def test_stricter_means_lower():
    assert Threshold(500, 100, 1000).loss(STRICT) < Threshold(500, 100, 1000).loss() < math.log(5)
    assert Pairing(700, 1000).loss(STRICT) < Pairing(700, 1000).loss()
    assert Threshold(0, 0, 1000).loss() == 0
    assert Pairing(400, 1000).loss() == 0


def test_the_linear_attack_finds_noise_shared_by_two_numbers():
    rng = np.random.default_rng(8)
    noise = rng.laplace(0, 1000, (2, 400, 1)) * np.ones((1, 1, 2))
    statistic = linear(noise[0][:200], (noise[1] + [1, 0])[:200])
    zero, one = statistic(noise[0][200:]), statistic((noise[1] + [1, 0])[200:])
    assert one.min() > zero.max()


def test_low_bits_finds_noise_that_is_coarser_than_the_data():
    rng = np.random.default_rng(9)
    first, second = np.array([100, 7]), np.array([355, 7])
    for step, apart in ((1, False), (64, True)):
        noise = rng.integers(-1000, 1000, (2, 400, 2)) * step
        statistic = low_bits(first, second)(noise[0], noise[1])
        zero, one = statistic(first + noise[0]), statistic(second + noise[1])
        assert (np.mean(one > zero) > 0.95) == apart


def test_likelihood_ratio_of_laplace_is_bounded_by_what_was_spent():
    first, second, scales = np.array([0, 0]), np.array([300, 200]), np.array([1000, 400])
    statistic = likelihood_ratio(Law.LAPLACE, first, second, scales)(None, None)
    far = np.array([[10**6, 10**6], [-(10**6), -(10**6)], [10**6, -(10**6)]])
    assert statistic(far).tolist() == pytest.approx([0.8, -0.8, -0.2])


def test_one_number_looks_the_right_way():
    zero, one = np.array([[0.0, 5.0], [0.1, 5.1]]), np.array([[0.0, 3.0], [0.1, 3.1]])
    statistic = one_number(zero, one)
    assert statistic(one).min() > statistic(zero).max()
