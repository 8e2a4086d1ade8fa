"""What several releases cost together: never below what is known of them, exact sums, delta shared, days apart."""

import math
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st

from hushpath.days import DateRange, format_days
from hushpath.errors import CannotError, OptionError
from hushpath.noise import Law
from hushpath.privacy import composition
from hushpath.privacy.accounting import Budget, zcdp_epsilon, zcdp_rho
from hushpath.privacy.certificate import Certificate, Exposure, calibrate, certify
from hushpath.privacy.composition import (
    Accountant,
    Spending,
    accountants,
    compose,
    days_with_same_releases,
    remaining_budget,
)  # fmt: skip
from hushpath.privacy.gaussian import gaussian_epsilon, gaussian_mu
from hushpath.privacy.units import Protects

DELTA = 1e-6


def pure(epsilon):
    return Spending(Protects.PERSON, Law.LAPLACE, epsilon, epsilon)


def gaussian(epsilon, delta=DELTA):
    return Spending(Protects.PERSON, Law.GAUSSIAN, gaussian_mu(epsilon, delta) ** 2 / 2, epsilon, delta)


def budget_of(epsilon, delta=DELTA):
    return Budget(epsilon, delta)


def smallest_budget(charges, delta=DELTA):
    """The smallest epsilon, to a thousandth, whose accountants take all of these in this order."""
    low, high = 0.0, 64.0
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        fits = compose(charges, budget_of(middle, delta)).epsilon <= middle
        low, high = (low, middle) if fits else (middle, high)
    return high


# --- against Google's library


MIXES = {
    "one gaussian": ([], [1.0]),
    "ten gaussians": ([], [0.5] * 10),
    "hundred small gaussians": ([], [0.1] * 100),
    "two pure": ([0.7, 0.4], []),
    "two hundred small pure": ([0.05] * 200, []),
    "a pure and many gaussians": ([1.0], [0.2] * 12),
    "many of both": ([0.1] * 20, [0.3] * 8),
}


@pytest.mark.parametrize("mix", MIXES)
def test_never_below_what_dp_accounting_proves_to_be_lost(mix):
    """Worst cases: randomised response for pure releases, and the smallest sigma that a rho allows."""
    epsilons, certified = MIXES[mix]
    charges = [*map(pure, epsilons), *map(gaussian, certified)]
    how = {"value_discretization_interval": 1e-4, "pessimistic_estimate": False}
    parts = [pld.from_randomized_response(2 / (math.exp(epsilon) + 1), 2, **how) for epsilon in epsilons]
    rho = sum(one.spent for one in charges if one.law is Law.GAUSSIAN)
    parts += [pld.from_gaussian_mechanism(1 / math.sqrt(2 * rho), **how, use_connect_dots=False)] if rho else []
    loss = reduce(lambda one, other: one.compose(other), parts)
    assert smallest_budget(charges) >= loss.get_epsilon_for_delta(DELTA) - 1e-3


@pytest.mark.parametrize(("mix", "dearer"), [
    ("one gaussian", 1.0), ("ten gaussians", 1.04), ("hundred small gaussians", 1.04), ("two pure", 1.0),
    ("two hundred small pure", 1.04), ("a pure and many gaussians", 1.15), ("many of both", 1.15),
])  # fmt: skip
def test_adaptive_choices_cost_a_few_percent_of_what_fixed_ones_would(mix, dearer):
    """The Rényi accountant optimises its order afterwards, which is right for releases fixed in advance only."""
    epsilons, certified = MIXES[mix]
    charges = [*map(pure, epsilons), *map(gaussian, certified)]

    def renyi(events):
        accountant = rdp_privacy_accountant.RdpAccountant([1 + 10 ** (x / 50) for x in range(-100, 200)])
        return accountant.compose(dp_event.ComposedDpEvent(events)).get_epsilon(DELTA)

    noisy = [dp_event.GaussianDpEvent(1 / math.sqrt(2 * one.spent)) for one in charges[len(epsilons) :]]
    every = [*noisy, *(dp_event.ZCDpEvent(epsilon**2 / 2) for epsilon in epsilons)]
    basic = sum(epsilons) + sum(certified) if len(certified) < 2 else math.inf
    fixed = min(renyi(every), basic, sum(epsilons) + (renyi(noisy) if noisy else 0))
    assert smallest_budget(charges) <= dearer * fixed * 1.002


def test_orders_are_within_a_percent_of_the_best():
    for epsilon in (0.1, 1.0, 3.0, 10.0):
        everyday = accountants(budget_of(epsilon), [])[1]
        allowed = (epsilon - everyday.fee) / everyday.order
        assert 0.99 * zcdp_rho(epsilon, DELTA / 2) <= allowed <= zcdp_rho(epsilon, DELTA / 2) * (1 + 1e-9)


def test_orders_do_not_depend_on_the_mathematical_library(monkeypatch):
    """A ledger that moves to another machine keeps its accountants: more of them would need more of delta."""
    budgets = [(0.1, 1e-9), (1.0, 1e-6), (3.0, 1e-6), (10.0, 0.01)]
    before, log = [composition._choose_accountant(*one).order for one in budgets], math.log
    monkeypatch.setattr(math, "log", lambda number: 1.01 * log(number))
    assert [composition._choose_accountant(*one).order for one in budgets] == before


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.floats(1e-6, 50), st.floats(0.01, 30), st.floats(1e-12, 0.5))
def test_an_accountant_of_any_order_is_no_cheaper_than_the_conversion(rho, epsilon, delta):
    for one in accountants(Budget(epsilon, delta), [])[1:]:
        asked = Spending(Protects.PERSON, Law.GAUSSIAN, rho, zcdp_epsilon(rho, 0.1), 0.1)
        assert one.total([asked]) >= zcdp_epsilon(rho, one.delta) * (1 - 1e-9) - 1e-11


# --- the parts of delta


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(1e-3, 50), st.floats(1e-300, 0.5))
def test_the_parts_of_delta_are_no_more_than_delta(epsilon, delta):
    for charges in ([], [pure(epsilon / 2)], [gaussian(1.0, 0.5)], [pure(2 * epsilon)]):
        assert sum(Fraction(one.delta) for one in accountants(Budget(epsilon, delta), charges)) <= Fraction(delta)


def test_the_accountants_are_fixed_by_the_first_release():
    """Later ones may depend on what was seen, so they change nothing."""
    later = [pure(0.1), gaussian(0.3), gaussian(0.05, 1e-9)]
    for first in (pure(0.2), gaussian(0.5), gaussian(1.0)):
        whole = accountants(budget_of(1.0), [first])
        assert all(accountants(budget_of(1.0), [first, *later[:count]]) == whole for count in range(4))


def test_a_budget_may_be_spent_at_one_blow():
    assert compose([gaussian(1.0)], budget_of(1.0)).epsilon == 1.0
    assert accountants(budget_of(1.0), [gaussian(1.0)]) == (Accountant(DELTA),)
    assert compose([gaussian(1.0), gaussian(0.001, 1e-20)], budget_of(1.0)).epsilon > 1
    assert compose([gaussian(1.0, 2 * DELTA)], budget_of(1.0)).epsilon > 1
    assert compose([pure(1e-9), gaussian(1.0)], budget_of(1.0 + 1e-9)).epsilon > 1.01  # not the first: delta is shared
    assert compose([gaussian(0.98), pure(0.02)], budget_of(1.0)).epsilon <= 1.0
    assert compose([gaussian(0.98), gaussian(0.01, 1e-9)], budget_of(1.0)).epsilon == math.inf


def test_certificates_have_their_part_of_delta_and_no_more():
    two = [gaussian(0.4, 1e-9)] * 2
    assert Accountant(2e-9).total(two) == 2 * Fraction(0.4)
    assert Accountant(math.nextafter(2e-9, 0)).total(two) == math.inf
    assert compose(two, budget_of(30.0, 1.6e-8)).epsilon == 0.8
    assert compose(two, budget_of(30.0, math.nextafter(1.6e-8, 0))).epsilon > 0.8


def test_a_pure_budget_takes_pure_releases_only():
    assert compose([pure(0.25)] * 4, Budget(1.0)).epsilon == 1.0
    assert compose([pure(0.25)] * 4, Budget(1.0)).delta == 0
    assert compose([gaussian(0.01, 1e-300)], Budget(1.0)).epsilon == math.inf
    assert remaining_budget([pure(0.25)], Budget(1.0), 0.0).gaussian_epsilon == 0


# --- rounding


def test_sums_are_exact():
    tiny = 2.0**-60
    assert compose([pure(1.0), *[pure(tiny)] * 3], Budget(2.0)).epsilon > 1.0
    assert compose([pure(0.1)] * 10, Budget(1.0)).epsilon > 1.0  # the float next to 0.1 lies above it
    assert sum([0.1] * 10) < 1.0  # which floats do not see
    assert compose([pure(0.125)] * 8, Budget(1.0)).epsilon == 1.0
    many = compose([pure(math.nextafter(0.125, 1))] * 8, Budget(1.0)).epsilon
    assert many == math.nextafter(1.0, 2)


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 0.3])
def test_fees_are_rounded_up(delta):
    """Against 60 digits, for every order that an accountant can have."""
    with localcontext() as context:
        context.prec = 60
        for alpha in composition._ORDERS:
            a, d = Decimal(alpha), Decimal(delta)
            exact = -(a * d).ln() / (a - 1) + (1 - 1 / a).ln()
            fee = Decimal(composition._compute_fee(alpha, delta))
            assert exact < fee < exact + Decimal(2.0**-38) * (1 + abs(exact) + a)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.floats(1e-9, 50), st.floats(1, 1e6))
def test_prices_are_exact(spent, order):
    one, alpha, exact = Accountant(DELTA, order), Fraction(order), Fraction(spent)
    asked = Spending(Protects.PERSON, Law.GAUSSIAN, spent, zcdp_epsilon(spent, DELTA), DELTA)
    assert one.price(asked) == alpha * exact
    assert one.price(pure(spent)) == min(exact, alpha * exact**2 / 2)
    assert Accountant(DELTA).price(asked) == Fraction(asked.epsilon)


def test_deltas_add_up_exactly_and_sums_beyond_floats_are_infinite():
    assert Accountant(1e-6).total([gaussian(0.1)]) < 1
    assert Accountant(1e-6).total([gaussian(0.1), gaussian(0.1, 1e-30)]) == math.inf  # beyond floats
    assert compose([pure(1e308)] * 20, Budget(1e300)).epsilon == math.inf


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.booleans(), st.floats(1e-3, 0.6)), max_size=6),
    st.floats(0.5, 4),
    st.sampled_from([0.0, DELTA]),
)
def test_what_remains_is_what_one_more_release_can_spend(spent, epsilon, delta):
    budget = Budget(epsilon, delta)
    charges = []
    for is_pure, size in spent:
        one = pure(size) if is_pure or not delta else gaussian(size)
        if compose([*charges, one], budget).epsilon <= epsilon:
            charges.append(one)
    left = remaining_budget(charges, budget, delta)
    assert left.epsilon >= 0
    for kind, most in ((pure, left.epsilon), (gaussian, left.gaussian_epsilon)):
        if most > 1e-6:
            assert compose([*charges, kind(most)], budget).epsilon <= epsilon
            assert compose([*charges, kind(most * 1.0001)], budget).epsilon > epsilon


# --- days


@dataclass(frozen=True)
class Dated:
    name: str
    days: DateRange | None
    asked: Spending = None


def day(number):
    return date(2024, 1, number)


def test_time_is_cut_where_coverage_changes():
    charges = [Dated("week", (day(1), day(7))), Dated("all", None), Dated("day", (day(3), day(3)))]
    runs = days_with_same_releases(charges, Protects.PERSON_DAY, None)
    found = [(format_days(days), [one.name for one in those]) for days, those in runs]
    assert found == [
        ("until 2023-12-31", ["all"]), ("2024-01-01 to 2024-01-02", ["week", "all"]),
        ("2024-01-03", ["week", "all", "day"]), ("2024-01-04 to 2024-01-07", ["week", "all"]),
        ("from 2024-01-08", ["all"]),
    ]  # fmt: skip
    found = [(format_days(days), [one.name for one in those])
             for days, those in days_with_same_releases(charges, Protects.PERSON_DAY, (day(7), day(9)))]  # fmt: skip
    assert found == [("2024-01-07", ["week", "all"]), ("2024-01-08 to 2024-01-09", ["all"])]


@pytest.mark.parametrize("protects", [Protects.PERSON, Protects.DECLARED])
def test_a_person_has_no_day(protects):
    charges = [Dated("a", (day(1), day(1))), Dated("b", (day(9), day(9)))]
    assert list(days_with_same_releases(charges, protects, (day(5), day(5)))) == [(None, charges)]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.one_of(st.none(), st.tuples(st.integers(1, 31), st.integers(1, 31))), max_size=6),
       st.tuples(st.integers(1, 31), st.integers(1, 31)))  # fmt: skip
def test_every_day_meets_exactly_the_releases_that_cover_it(spans, asked):
    charges = [Dated(str(i), span and (day(min(span)), day(max(span)))) for i, span in enumerate(spans)]
    asked = day(min(asked)), day(max(asked))
    seen = {}
    for (first, last), those in days_with_same_releases(charges, Protects.PERSON_DAY, asked):
        for ordinal in range(first.toordinal(), last.toordinal() + 1):
            assert ordinal not in seen
            seen[ordinal] = those
    assert seen == {
        at: [one for one in charges if one.days is None or one.days[0].toordinal() <= at <= one.days[1].toordinal()]
        for at in range(asked[0].toordinal(), asked[1].toordinal() + 1)
    }


# --- kinds of unit, and spendings


@pytest.mark.parametrize("values", [
    ("person", "laplace", -1.0, -1.0), ("trip", "laplace", math.nan, math.nan), ("trip", "laplace", math.inf, math.inf),
    ("person", "laplace", 1.0, 1.0, 1e-6), ("person", "laplace", 1.0, 0.5), ("person", "gaussian", 1.0, 1.0),
    ("person", "gaussian", -1e-9, 1.0, 1e-6), ("trip", "gaussian", 1.0, math.nan, 1e-6), ("me", "laplace", 1.0, 1.0),
    ("person", "cauchy", 1.0, 1.0), ("person", "laplace", True, True), ("person", "laplace", "1", "1"),
    ("person", "gaussian", 1.0, 1.0, -1e-6), ("person", "gaussian", 1.0, 1.0, 0.9),
    ("person", "gaussian", 5.0, 0.0, 1e-7), ("person", "gaussian", 5.0, 0.0, 1e-300),
    ("trip", "gaussian", 1.0, 1.0, 1e-6),
    ("person", "gaussian", 1e-37, 0.0, 1e-300), ("person", "gaussian", 1e14, 9e13, 0.5),
    ("person", "gaussian", 1e300, 1e13, 1e-6), ("person", "gaussian", 0.0, 1.0, 1e-6),
])  # fmt: skip
def test_what_no_certificate_says_is_refused(values):
    with pytest.raises(OptionError):
        Spending(*values)


def test_a_spending_is_taken_from_a_certificate():
    found = Spending.of(Certificate(Law.GAUSSIAN, 0.02, 0.85, 1e-6, 3), "trip")
    assert (found.protects, found.law, found.spent, found.epsilon, found.delta) == (
        "trip",
        "gaussian",
        0.02,
        0.85,
        1e-6,
    )
    assert found == Spending(Protects.TRIP, Law.GAUSSIAN, 0.02, 0.85, 1e-6)
    with pytest.raises(OptionError, match="NOT PRIVATE"):
        Spending.of(Certificate(Law.LAPLACE, math.inf, math.inf, 0.0, 3), "trip")


def test_a_release_is_paid_by_a_charge_that_is_no_smaller_in_anything():
    charged = Spending("trip", "gaussian", 0.02, 0.85, 1e-6)
    assert charged.is_paid_by(charged)
    assert Spending("trip", "gaussian", 0.01, 0.65, 1e-7).is_paid_by(charged)
    for more in ((0.0202, 0.85, 1e-6), (0.02, 0.86, 1e-6), (0.02, 0.84, 2e-6)):
        assert not Spending("trip", "gaussian", *more).is_paid_by(charged)
    assert not Spending("trip", "laplace", 0.01, 0.01).is_paid_by(charged)
    one = Spending("person-day", "laplace", 1.0, 1.0)
    assert [Spending(unit, "laplace", 1.0, 1.0).is_paid_by(one) for unit in Protects] == [False, True, False, False]


# --- epsilon, delta and rho of one Gaussian release


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.floats(1e-6, 1e6), st.one_of(st.floats(1e-12, 0.5), st.just(1e-300), st.just(0.5)))
def test_epsilon_lies_between_the_exact_one_and_that_of_rho(rho, delta):
    """The exact epsilon of continuous noise is the least that a certificate of this rho can state."""
    least = gaussian_epsilon(math.sqrt(2 * rho), delta)
    for allowed in (least, zcdp_epsilon(rho, delta)):
        assert Spending("person", "gaussian", rho, allowed, delta).epsilon == allowed
    if least * 1e-9 > 1e-15:
        with pytest.raises(OptionError):
            Spending("person", "gaussian", rho, least * (1 - 1e-9), delta)
    with pytest.raises(OptionError):
        Spending("person", "gaussian", rho, zcdp_epsilon(rho, delta) * (1 + 1e-8) + 1e-8, delta)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.data(), st.floats(1e-4, 60), st.sampled_from([1e-300, 1e-12, 1e-6, 0.01, 0.3, 0.5]))
def test_every_certificate_can_be_charged(data, epsilon, delta):
    """Groups of different scales, cuts and edges; narrow noise, where rho decides, and wide; L1 and L2 units."""
    groups, edges = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 4))
    whole = st.integers(0, 10**6)
    relative = np.array(data.draw(st.lists(st.floats(0.01, 1e4), min_size=groups, max_size=groups)))
    chance = np.random.default_rng(data.draw(whole))
    member = chance.random((groups, edges)) < 0.7
    single = (member.sum(1) == 1) & (chance.random(groups) < 0.5)
    cut = np.where(single, 1, chance.integers(1, 10**4, groups))
    group, edge = np.nonzero(member)
    exposure = Exposure(edges, cut, edge, group, single)
    unit = data.draw(st.sampled_from([1, 7, 1000, 2**40]))
    l2_steps = data.draw(st.sampled_from([None, max(1, unit // 3)]))
    for law in Law:
        budget = Budget(epsilon, delta)
        try:
            scales = calibrate(exposure, relative, law, unit, budget, l2_steps)
        except CannotError:  # such noise does not fit in 64 bits
            continue
        certificate = certify(exposure, scales, law, unit, budget, l2_steps)
        charged = Spending.of(certificate, "declared")
        assert (charged.spent, charged.epsilon, charged.delta) == (
            certificate.spent, certificate.epsilon, certificate.delta
        )  # fmt: skip
