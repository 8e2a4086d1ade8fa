"""The exact trade-off of Gaussian noise: against 200 digits, dp-accounting, and discrete noise summed up itself."""

import math
from decimal import ROUND_FLOOR, Decimal, FloatOperation, Inexact, localcontext

import mpmath
import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

from hushpath import HushpathError
from hushpath.privacy import gaussian
from hushpath.privacy.accounting import zcdp_epsilon, zcdp_rho
from hushpath.privacy.gaussian import continuous_scales, gaussian_delta, gaussian_epsilon, gaussian_mu

DELTAS = st.floats(-300, math.log10(0.5)).map(lambda x: 10**x)


def balle_wang(epsilon, mu):
    """The formula as it was published, with so many digits that nothing cancels."""
    with mpmath.workdps(200):
        epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)


def precise(number):
    return mpmath.mpf(str(number))


def discrete_delta(epsilon, scale, shift):
    """The delta of discrete noise when one whole number moves, from its law: the sum of what is too likely."""
    with mpmath.workdps(60):
        reach = 30 * scale + shift
        mass = [mpmath.exp(-mpmath.mpf(k * k) / (2 * scale * scale)) for k in range(reach + 1)]
        factor, total = mpmath.exp(epsilon), 2 * mpmath.fsum(mass) - 1
        excess = (mass[abs(k)] - factor * mass[abs(k + shift)] for k in range(-reach, reach - shift + 1))
        return mpmath.fsum(e for e in excess if e > 0) / total


@settings(max_examples=150, deadline=None, derandomize=True)
@given(delta=DELTAS, log_mu=st.floats(-17.9, 3))
def test_never_below_200_digits_and_hardly_above(delta, log_mu):
    mu = 10**log_mu
    epsilon = gaussian_epsilon(mu, delta)
    with mpmath.workdps(200):
        assert balle_wang(epsilon, mu) <= precise(Decimal(delta))
        claimed, exact = precise(gaussian_delta(epsilon, mu)), balle_wang(epsilon, mu)
        assert exact < claimed
        if epsilon > 1e-8:  # below, the slack of 1e-20 in epsilon is felt
            assert claimed <= exact * (1 + mpmath.mpf("1e-9"))
            assert balle_wang(epsilon * (1 - 1e-12), mu) > precise(Decimal(delta))
    assert gaussian_delta(epsilon, mu) <= delta


@pytest.mark.parametrize("mu", [2.0**-60, 1e-9, 0.01, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("deviations", [-0.9, -0.3, 0.0, 1.0, 5.5, 5.999, 6.001, 12.0, 39.9])
def test_the_slack_pays_for_noise_on_whole_numbers(mu, deviations):
    """2^63 numbers, each within a factor e^eta of rounded continuous noise: docs/proofs/gaussian.md, section 2."""
    epsilon = max(0.0, mu * (deviations + mu / 2))
    with mpmath.workdps(200):
        first = mpmath.exp(-2 * mpmath.pi**2 * mpmath.mpf(gaussian.SPLIT))
        kappa = 2 * first / (1 - first)
        eta = 2**63 * mpmath.log((1 + kappa) / (1 - kappa))
        needed = balle_wang(mpmath.mpf(epsilon) - 2 * eta, mu) * mpmath.exp(eta)
        # What is found at 80 digits is above by most of the slack: no rounding has eaten it.
        spare = mpmath.mpf("0.9e-20")
        most = balle_wang(mpmath.mpf(epsilon) - spare, mu) * (1 + spare)
        assert needed < most < precise(gaussian_delta(epsilon, mu))


@pytest.mark.parametrize("shift", [1, 2, 7])
@pytest.mark.parametrize("scale", [3, 4, 7, 20, 150])
def test_never_below_the_delta_of_discrete_noise(scale, shift):
    """Summed up from the law itself, at epsilons where the best threshold lies between two whole numbers.

    There the discrete law is *worse* than continuous noise of the same scale, as if its variance were smaller by 1/12.
    """
    mu, plain = shift / float(continuous_scales(np.array([scale]))[0]), shift / scale
    for threshold in (0.5, 1.5, scale + 0.5, 3 * scale + 0.5, 6 * scale + 0.5):
        epsilon = shift * (2 * threshold + shift) / (2 * scale * scale)
        exact = discrete_delta(epsilon, scale, shift)
        assert exact <= precise(gaussian_delta(epsilon, mu))
        assert exact > balle_wang(epsilon, plain)  # the scale itself would promise too much
        delta = float(exact) * (1 - 1e-15)
        assert gaussian_epsilon(mu, delta) >= epsilon


def test_a_scale_without_continuous_noise_inside_has_none():
    assert continuous_scales(np.array([0, 1, 2])).tolist() == [0.0, 0.0, 0.0]
    assert continuous_scales(np.array([3, 10**6]))[0] == 2.0


@pytest.mark.parametrize("sigma", [pytest.param(0.3, marks=pytest.mark.slow), 0.5, 1.0, 4.2247, 30.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_agrees_with_dp_accounting(sigma, delta):
    ours = gaussian_epsilon(1 / sigma, delta)
    low, high = (
        privacy_loss_distribution.from_gaussian_mechanism(
            sigma, value_discretization_interval=1e-4, pessimistic_estimate=pessimistic
        ).get_epsilon_for_delta(delta)
        for pessimistic in (False, True)
    )
    assert low * (1 - 1e-9) <= ours <= high * (1 + 1e-9) + 1e-12
    accountant = rdp_privacy_accountant.RdpAccountant()
    accountant.compose(dp_event.GaussianDpEvent(sigma))
    assert ours <= accountant.get_epsilon(delta)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(delta=DELTAS, epsilon=st.floats(-12, 6).map(lambda x: 10**x))
def test_mu_is_rounded_down_and_is_the_largest(delta, epsilon):
    mu = gaussian_mu(epsilon, delta)
    assert balle_wang(epsilon, mu) <= precise(Decimal(delta))
    assert gaussian_delta(epsilon, mu * (1 + 1e-12)) > delta
    assert gaussian_epsilon(mu, delta) <= epsilon


@settings(max_examples=60, deadline=None, derandomize=True)
@given(delta=DELTAS, mu=st.floats(-15, 3).map(lambda x: 10**x), more=st.floats(1e-9, 1))
def test_monotone(delta, mu, more):
    epsilon = gaussian_epsilon(mu, delta)
    assert epsilon <= gaussian_epsilon(mu * (1 + more), delta)
    assert gaussian_epsilon(mu, min(0.5, delta * (1 + more))) <= epsilon
    assert gaussian_delta(epsilon * (1 + more), mu) <= gaussian_delta(epsilon, mu)


@pytest.mark.parametrize("delta", [1e-5, 1e-6, 1e-9, 1e-100, 0.5])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 300.0])
def test_less_noise_than_zcdp_needs_at_the_same_promise(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert math.sqrt(2 * zcdp_rho(epsilon, delta)) < mu
    assert gaussian_epsilon(mu, delta) < zcdp_epsilon(mu * mu / 2, delta)


def test_mills_ratio_is_in_its_bracket():
    with mpmath.workdps(110):
        assert abs(precise(gaussian._PI) - mpmath.pi) < mpmath.mpf("1e-99")
    for x in (-1.0, 0.0, 1e-30, 0.5, 3.0, 6.0, 6.001, 20.0, 41.0, 1e6):
        with localcontext(gaussian._DIGITS):
            low, high = gaussian._mills(Decimal(x))
        with mpmath.workdps(200):
            exact = mpmath.sqrt(mpmath.pi / 2) * mpmath.exp(mpmath.mpf(x) ** 2 / 2) * mpmath.erfc(x / mpmath.sqrt(2))
            assert precise(low) - mpmath.mpf("1e-66") <= exact <= precise(high) + mpmath.mpf("1e-66")
            assert precise(high) - precise(low) < mpmath.mpf("1e-49")


def test_known_values():
    """Balle and Wang's sigma at epsilon 1: 4.2247 for delta 1e-6, where zCDP needs 4.5309."""
    assert 1 / gaussian_mu(1.0, 1e-6) == pytest.approx(4.22468, abs=1e-5)
    assert 1 / gaussian_mu(1.0, 1e-5) == pytest.approx(3.73063, abs=1e-5)


def test_nobody_elses_decimal_settings_are_felt():
    gaussian_epsilon.cache_clear()
    with localcontext() as context:
        context.prec, context.rounding = 3, ROUND_FLOOR
        context.traps[Inexact] = context.traps[FloatOperation] = True
        rough = gaussian_epsilon(0.25, 1e-6), gaussian_delta(1.0, 0.25)
    gaussian_epsilon.cache_clear()
    assert rough == (gaussian_epsilon(0.25, 1e-6), gaussian_delta(1.0, 0.25))


def test_edges_of_the_range():
    assert gaussian_epsilon(0.0, 1e-6) == 0
    assert gaussian_epsilon(1e-9, 1e-6) == 0  # the delta alone pays for it
    assert gaussian_epsilon(1e-300, 1e-300) == gaussian_epsilon(2.0**-60, 1e-300) > 0
    for mu, delta in ((0.1, 0.0), (2.0**21, 1e-6), (math.inf, 1e-6), (math.nan, 1e-6), (0.1, math.nan), (0.1, 1.0)):
        assert gaussian_epsilon(mu, delta) == math.inf
    assert gaussian_epsilon(100.0, 0.5) > 4900  # far beyond: the bound is 1, not 0
    assert gaussian_mu(1e-18, 1e-300) == 0.0
    assert gaussian_mu(1e300, 1e-6) == gaussian.LARGEST_MU
    with pytest.raises(HushpathError, match="delta above 0"):
        gaussian_mu(1.0, 0.0)
    for epsilon, mu in ((-1.0, 0.1), (math.nan, 0.1), (math.inf, 0.1), (1.0, 0.0), (1.0, math.inf)):
        with pytest.raises(HushpathError, match="no Gaussian trade-off"):
            gaussian_delta(epsilon, mu)
