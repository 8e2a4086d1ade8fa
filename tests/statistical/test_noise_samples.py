"""Both samplers draw the laws they name: one set of tests for all, each able to fail.

Every check takes the false-alarm rate it may have.  The seeded sampler makes its runs repeatable; OpenDP
takes no seed, so there 1e-9 is what stands between us and a flaky test.  The checks:

    scale    mean of |x| (Laplace) or x² (Gaussian) against the exact mean, in exact standard errors.  At
             n >= 100 000 the true rate is within 30 % of the named one, at 20 000 within a factor two
             (skewness 2/√n and √8/√n, by Edgeworth's correction).
    shape    chi-square over up to 42 bins of the exact law; every bin expects >= 100 draws.
    sign     positives among the non-zero are Binomial(1/2), exactly.
    low bits of wide noise are uniform: noise made of rounded floats, or short of words, fails here.
    order    signs and sizes of neighbours are uncorrelated.

"Exact law" means: masses summed by brute force up to scale 1000; above, the continuous law, from which the
discrete one differs by about 1/scale² < 1e-17 in every bin.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import binomtest, chi2, laplace, norm

from hushpath.noise import Law, make_sampler, simulation

FALSE_ALARM = 1e-9
SCALES = [1, 2, 7, 1000, 2**30, 2**45]
COUNTS = {"opendp": 100_000, "vector-seeded": 200_000}
CONTINUOUS = {Law.LAPLACE: laplace, Law.GAUSSIAN: norm}

every_sampler = pytest.mark.parametrize("name", COUNTS)
every_law = pytest.mark.parametrize("law", Law)
every_scale = pytest.mark.parametrize("scale", SCALES)


@cache
def drawn(name, law, scale):
    """One sample per case, shared by the tests: OpenDP takes a second for it."""
    seed = {"opendp": None, "vector-seeded": 20_240_601}[name]
    choice = {"opendp": "opendp", "vector-seeded": "vector"}[name]
    sampler = make_sampler(choice, seed=seed, size=COUNTS[name])
    assert sampler.name == name
    return sampler.draw(law, np.full(COUNTS[name], scale))


@cache
def masses(law, scale):
    """Support and probabilities by brute force; the scale may be fractional, for the controls."""
    x = np.arange(-40 * int(scale + 1), 40 * int(scale + 1) + 1)
    weight = np.exp(-np.abs(x) / scale) if law is Law.LAPLACE else np.exp(-0.5 * (x / scale) ** 2)
    return x, weight / weight.sum()


def simulated(law, scale, count=200_000, seed=1):
    """A control sample of any scale, made by inversion with numpy: owes nothing to the code under test."""
    rng = simulation(seed)
    if scale < 2000:
        return rng.choice(masses(law, scale)[0], size=count, p=masses(law, scale)[1])
    return np.rint(CONTINUOUS[law].rvs(scale=scale, size=count, random_state=rng)).astype(np.int64)


def scale_ok(x, law, scale, false_alarm=FALSE_ALARM):
    power = 1 if law is Law.LAPLACE else 2
    sizes = np.abs(x / scale) ** power
    if scale < 2000:
        support, mass = masses(law, scale)
        mean, square = ((np.abs(support / scale) ** (power * k) * mass).sum() for k in (1, 2))
    else:  # E|x| = t, E x² = 2t²;  E x² = s², E x⁴ = 3s⁴
        mean, square = 1, power + 1
    errors = (sizes.mean() - mean) / np.sqrt((square - mean**2) / len(x))
    return abs(errors) <= norm.isf(false_alarm / 2)


def shape_ok(x, law, scale, false_alarm=FALSE_ALARM):
    levels = np.concatenate([[0.002], np.arange(1, 40) / 40, [0.998]])
    if scale < 2000:
        support, mass = masses(law, scale)
        below = np.cumsum(mass)
        at = np.unique(np.searchsorted(below, levels))
        edges, cumulated = support[at], below[at]
    else:
        edges = np.ceil(CONTINUOUS[law].ppf(levels) * scale)
        cumulated = CONTINUOUS[law].cdf((edges + 0.5) / scale)
    filled = np.minimum(cumulated, 1 - cumulated) * len(x) >= 100  # thin tails join their neighbour
    edges, cumulated = edges[filled], cumulated[filled]
    expected = np.diff(cumulated, prepend=0, append=1) * len(x)  # bin i holds edges[i-1] < x <= edges[i]
    observed = np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1)
    assert expected.min() >= 100
    assert len(expected) >= 5
    return ((observed - expected) ** 2 / expected).sum() <= chi2(len(expected) - 1).isf(false_alarm)


def signs_ok(x, false_alarm=FALSE_ALARM):
    return binomtest(int((x > 0).sum()), int((x != 0).sum())).pvalue >= false_alarm


def low_bits_ok(x, bits=6, false_alarm=FALSE_ALARM):
    expected = len(x) / 2**bits
    observed = np.bincount(x & (2**bits - 1), minlength=2**bits)
    return ((observed - expected) ** 2 / expected).sum() <= chi2(2**bits - 1).isf(false_alarm)


def order_ok(x, false_alarm=FALSE_ALARM):
    """Lag-one correlation of bounded scores, times √n, is standard normal under independence."""
    scores = [np.sign(x), np.minimum(np.abs(x), 2 * np.median(np.abs(x)) + 1).astype(float)]
    correlations = [np.corrcoef(s[:-1], s[1:])[0, 1] for s in scores]
    return max(np.abs(correlations)) * np.sqrt(len(x)) <= norm.isf(false_alarm / 4)  # two scores, two sides


@pytest.mark.noise(rate=2e-8)  # six checks (order has two sides of two scores) of up to twice 1e-9
@every_sampler
@every_law
@every_scale
def test_sampler_has_its_law(name, law, scale):
    x = drawn(name, law, scale)
    assert scale_ok(x, law, scale)
    assert shape_ok(x, law, scale)
    assert signs_ok(x)
    assert order_ok(x)
    if scale >= 2**30:
        assert low_bits_ok(x)


@pytest.mark.noise(rate=2e-8)  # eight checks of up to twice 1e-9
@every_sampler
@every_law
def test_every_entry_gets_its_own_scale(name, law):
    """Scales in disorder, zeros among them: each group alone has its law."""
    pattern = simulation(9).permutation(np.repeat([0, 1, 7, 1000, 2**45], 20_000))
    choice, seed = ("opendp", None) if name == "opendp" else ("vector", 6)
    x = make_sampler(choice, seed=seed, size=len(pattern)).draw(law, pattern)
    assert not x[pattern == 0].any()
    for scale in (1, 7, 1000, 2**45):
        assert scale_ok(x[pattern == scale], law, scale)
        assert shape_ok(x[pattern == scale], law, scale)


@every_law
@every_scale
def test_controls_of_the_right_scale_pass(law, scale):
    x = simulated(law, scale)
    assert scale_ok(x, law, scale)
    assert shape_ok(x, law, scale)
    assert signs_ok(x)
    assert order_ok(x)


@pytest.mark.parametrize("error", [0.97, 1.03])  # too little noise and too much
@every_law
@every_scale
def test_three_percent_off_is_caught(law, scale, error):
    assert not scale_ok(simulated(law, scale * error), law, scale)


@every_scale
def test_each_law_is_refused_as_the_other_of_equal_std(scale):
    narrow = scale / np.sqrt(2)
    assert not shape_ok(simulated(Law.LAPLACE, narrow), Law.GAUSSIAN, scale)
    assert not shape_ok(simulated(Law.GAUSSIAN, scale), Law.LAPLACE, narrow)


def test_a_rounded_continuous_gaussian_is_caught_at_scale_one():
    """Its variance is 1 + 1/12.  At scale 7 the excess is 0.2 %, beyond what 200 000 draws can show."""
    x = np.rint(simulation(2).normal(size=200_000)).astype(np.int64)
    assert not scale_ok(x, Law.GAUSSIAN, 1)
    assert not shape_ok(x, Law.GAUSSIAN, 1)


@pytest.mark.parametrize("scale", [1, 2, 7])
def test_a_sampler_that_keeps_minus_zero_is_caught(scale):
    rng = simulation(3)
    magnitude = rng.geometric(1 - np.exp(-1 / scale), size=200_000) - 1
    assert not shape_ok(magnitude * rng.choice([-1, 1], size=200_000), Law.LAPLACE, scale)


def test_crooked_signs_missing_low_bits_and_repeated_values_are_caught():
    x = simulated(Law.GAUSSIAN, 2**30)
    assert low_bits_ok(x)
    assert not low_bits_ok(x & ~1)
    assert not signs_ok(np.where(np.arange(len(x)) % 40 == 0, np.abs(x), x))  # 51.25 % positive
    assert not order_ok(np.repeat(x[: len(x) // 2], 2))
    assert not order_ok(np.abs(x) * np.repeat(np.sign(x[: len(x) // 2]), 2))  # fresh sizes, repeated signs
