"""Our conversions against dp-accounting, Google's library: never below it, and close to it."""

import math
from decimal import Decimal, localcontext

import pytest
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

from hushpath import HushpathError
from hushpath.privacy.accounting import Budget, zcdp_epsilon, zcdp_rho


@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.5309, 30.0, 1000.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
def test_agrees_with_dp_accounting(sigma, delta):
    """rho-zCDP with rho = 1/(2 sigma^2) is what one Gaussian release of sensitivity 1 spends."""
    ours = zcdp_epsilon(0.5 / sigma**2, delta)
    orders = [1 + 10 ** (x / 200) for x in range(-800, 1400)]
    accountant = rdp_privacy_accountant.RdpAccountant(orders)
    accountant.compose(dp_event.GaussianDpEvent(sigma))
    assert ours == pytest.approx(accountant.get_epsilon(delta), rel=2e-3, abs=1e-6)
    tight = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, value_discretization_interval=1e-4, pessimistic_estimate=False
    ).get_epsilon_for_delta(delta)  # fmt: skip
    assert ours >= tight


def test_known_value():
    """The sigma of the zCDP route at epsilon 1, delta 1e-6."""
    assert 1 / math.sqrt(2 * zcdp_rho(1.0, 1e-6)) == pytest.approx(4.5309, abs=1e-4)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(1e-3, 50), st.floats(1e-14, 0.5))
def test_rho_rounds_down_and_is_the_largest(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * (1 + 1e-6), delta) > epsilon


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(1e-8, 100), st.floats(1e-14, 0.5))
def test_no_alpha_on_a_fine_grid_does_noticeably_better(rho, delta):
    best = min(
        a * rho - math.log(a * delta) / (a - 1) + math.log1p(-1 / a)
        for a in (1 + 10 ** (x / 20) for x in range(-120, 240))
    )
    assert zcdp_epsilon(rho, delta) <= max(best, 0) * (1 + 1e-9) + 1e-9


def lowest_epsilon(rho, delta):
    """The best that the formula gives over all alpha, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        rho, delta, one = Decimal(rho), Decimal(delta), Decimal(1)

        def bound(x):
            alpha = 1 + x.exp()
            return alpha * rho - (alpha * delta).ln() / (alpha - 1) + (one - 1 / alpha).ln()

        low, high = Decimal(-14), Decimal(28)
        for _ in range(120):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if bound(left) <= bound(right) else (left, high)
        return bound((low + high) / 2)


@pytest.mark.parametrize("rho", [1e-7, 0.003, 0.0244, 0.5, 7.0, 300.0, *(10.0**power / 7 for power in range(5, 12))])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.01])
def test_epsilon_is_rounded_up(rho, delta):
    """Never below the exact value, and above it by no more than the slack it is given."""
    ours, exact = Decimal(zcdp_epsilon(rho, delta)), max(Decimal(0), lowest_epsilon(rho, delta))
    assert exact <= ours <= exact + Decimal(2.0**-38) * (1 + exact)


def test_edges_of_the_range():
    assert zcdp_epsilon(0.0, 1e-6) == 0
    assert zcdp_epsilon(0.1, 0.0) == math.inf
    with pytest.raises(HushpathError, match="delta above 0"):
        zcdp_rho(1.0, 0.0)


@pytest.mark.parametrize(
    ("epsilon", "delta", "message"),
    [(0, 0, "epsilon"), (-1, 0, "epsilon"), (math.nan, 0, "epsilon"), (1, -0.1, "delta"), (1, 1, "delta"),
     (1, math.nan, "delta"), ("1", 0, "epsilon")],
)  # fmt: skip
def test_bad_budgets_are_refused(epsilon, delta, message):
    with pytest.raises(HushpathError, match=message):
        Budget(epsilon, delta)
