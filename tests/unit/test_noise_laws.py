"""The formulas of the laws agree with plain summation of exp(-|x|/t) and exp(-x²/2s²)."""

import numpy as np
import pytest

from hushpath.errors import OptionError
from hushpath.noise import MAX_SCALE, Law, pmf, quantile, std

SMALL = [1, 2, 3, 7, 50, 1000]


def summed(law, scale):
    """Support and mass by brute force: no closed form shared with the code under test."""
    x = np.arange(-40 * scale, 40 * scale + 1)
    weight = np.exp(-np.abs(x) / scale) if law is Law.LAPLACE else np.exp(-0.5 * (x / scale) ** 2)
    return x, weight / weight.sum()


@pytest.mark.parametrize("scale", SMALL)
@pytest.mark.parametrize("law", Law)
def test_pmf_and_std_are_those_of_the_summed_law(law, scale):
    x, mass = summed(law, scale)
    np.testing.assert_allclose(pmf(law, scale, x), mass, rtol=1e-12)
    assert std(law, scale) == pytest.approx(np.sqrt((mass * x.astype(float) ** 2).sum()), rel=1e-12)


@pytest.mark.parametrize("q", [1e-6, 0.0249, 0.31, 0.4999, 0.5001, 0.77, 0.9751, 1 - 1e-6])
@pytest.mark.parametrize("scale", SMALL)
@pytest.mark.parametrize("law", Law)
def test_quantile_is_the_first_point_that_reaches_q(law, scale, q):
    x, mass = summed(law, scale)
    assert quantile(law, scale, q) == x[np.searchsorted(np.cumsum(mass), q)]


def test_the_median_is_zero():
    assert {quantile(law, scale, 0.5) for law in Law for scale in [*SMALL, 2**45]} == {0}


@pytest.mark.parametrize("q", [0.001, 0.025, 0.9, 0.999])
def test_gaussian_quantiles_join_where_the_continuous_formula_takes_over(q, monkeypatch):
    summed_up = quantile(Law.GAUSSIAN, 9_999, q)
    monkeypatch.setattr("hushpath.noise.laws.SUMMED_UP_TO", 0)
    assert abs(summed_up - quantile(Law.GAUSSIAN, 9_999, q)) <= 1


@pytest.mark.parametrize(("law", "factor"), [(Law.LAPLACE, 2.995732), (Law.GAUSSIAN, 1.959964)])
def test_large_quantiles_follow_the_continuous_law(law, factor):
    for scale in (2**30, 2**45):
        q = 0.975
        assert quantile(law, scale, q) / scale == pytest.approx(factor, rel=1e-6)
        assert quantile(law, scale, 1 - q) / scale == pytest.approx(-factor, rel=1e-6)


def test_scale_zero_is_no_noise():
    for law in Law:
        assert std(law, 0) == 0
        assert quantile(law, 0, 0.999) == 0
        assert pmf(law, 0, np.array([-1, 0, 1])).tolist() == [0, 1, 0]


@pytest.mark.parametrize("q", [0, 1, -0.5, float("nan")])
def test_a_quantile_outside_the_open_interval_is_refused(q):
    with pytest.raises(OptionError, match="`q`"):
        quantile(Law.LAPLACE, 3, q)


@pytest.mark.parametrize("scale", [-1, MAX_SCALE + 1, 1.0, True])
def test_bad_scales_are_refused_by_the_formulas_too(scale):
    for function in (lambda: std(Law.LAPLACE, scale), lambda: quantile(Law.GAUSSIAN, scale, 0.9)):
        with pytest.raises(OptionError):
            function()


def test_an_unknown_law_does_not_become_a_gaussian():
    with pytest.raises(ValueError, match="cauchy"):
        std("cauchy", 3)
    assert std("laplace", 3) == std(Law.LAPLACE, 3)
