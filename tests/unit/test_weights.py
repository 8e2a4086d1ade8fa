"""The private half shows nothing, and the lattice keeps the promise its proof makes."""

import copy
import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hushpath import Budget, WeightUnit
from hushpath.errors import NetworkError, OptionError
from hushpath.measurement.strategy import WeightTerms
from hushpath.network.lattice import LARGEST_DISTANCE, ROUNDING_SHARE, Lattice
from hushpath.network.network import Network
from hushpath.network.private_weights import PrivateWeights
from hushpath.network.topology import Topology

SECRET = 123.456


def star(m, **bounds):
    return Topology.build(range(m + 1), [0] * m, range(1, m + 1), **bounds)[0]


def terms(unit=1.0, **more):
    return WeightTerms(Budget(1.0, 0.0), WeightUnit(unit, **more))


def private(values):
    return PrivateWeights(values, num_rows=len(values))


# --- nothing is shown -------------------------------------------------------------------------------------


def test_repr_shows_nothing():
    net = Network.build("ab", [0], [1], [SECRET])
    for text in (repr(net), str(net), f"{net}", repr(net.weights), str(net.weights), f"{net.weights}"):
        assert "123" not in text
        assert "hidden" in text


def test_no_public_attribute_but_the_two_doors():
    weights = private([SECRET])
    assert [name for name in dir(weights) if not name.startswith("_")] == ["on_lattice", "reveal"]
    assert not hasattr(weights, "__dict__")
    with pytest.raises(AttributeError):
        weights.extra = 1


@pytest.mark.parametrize("use", [iter, len, float, np.float64, lambda w: w[0], lambda w: w < w, lambda w: w + 1])
def test_it_is_no_number_and_no_sequence(use):
    with pytest.raises(TypeError) as caught:
        use(private([SECRET]))
    assert "123" not in str(caught.value)


def test_equal_weights_are_not_equal_objects():
    assert private([SECRET]) != private([SECRET])


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_pickling_is_refused(duplicate):
    with pytest.raises(TypeError, match="not pickled"):
        duplicate(private([SECRET]))
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(Network.build("ab", [0], [1], [SECRET]))


def test_reveal_is_a_frozen_copy_of_the_kept_rows():
    values = np.array([1.0, 2.0, 3.0])
    weights = PrivateWeights(values, num_rows=3, keep=np.array([0, 2]))
    values[:] = 0
    assert weights.reveal().tolist() == [1.0, 3.0]
    with pytest.raises(ValueError, match="read-only"):
        weights.reveal()[0] = 5


@pytest.mark.parametrize(
    "values",
    [
        [SECRET, math.nan], [SECRET, math.inf], [SECRET, -math.inf], [SECRET, None], [SECRET, "123"],
        ["12345"],
        [SECRET + 0j], [12345, 10**400], np.array([12345], "m8[s]"), [True], [[SECRET]], [SECRET, [SECRET]],
        np.array([np.longdouble("1e4000")]) if np.finfo(np.longdouble).maxexp > 2000 else [math.inf],
    ],
)  # fmt: skip
def test_what_is_not_a_finite_number_is_refused_without_being_quoted(values):
    with pytest.raises(NetworkError) as caught:
        private(values)
    assert "123" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_number_of_weights_must_fit():
    with pytest.raises(NetworkError, match="3 edges"):
        PrivateWeights([1.0, 2.0], num_rows=3)
    with pytest.raises(NetworkError, match="2 weights"):
        private([1.0, 2.0]).on_lattice(Lattice.build(star(3), unit=1))


# --- the lattice ------------------------------------------------------------------------------------------


PAIRS = 20  # per example of hypothesis: 8 000 pairs in all


def neighbours(rng, m, unit, g):
    """Two weight vectors with ``||w - w'||_1 <= unit``, near lattice points, where floor does the most."""
    hair = 2.0**-30 * min(unit, g)
    w = rng.integers(-2, 9, m) * g + rng.choice([0.0, -hair, hair, 0.37 * g], m)
    size = np.where(rng.random(m) < 0.5, hair, rng.dirichlet(np.full(m, 0.3)) * unit * rng.choice([0.3, 1.0]))
    size *= min(1.0, unit * (1 - 2.0**-40) / size.sum())  # rounding below must not leave the ball
    return w, w + size * rng.choice([-1.0, 1.0], m)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.integers(1, 12),
    st.sampled_from([2.0**-30, 0.1, 1.0, 1.5, 3.7, 1000.0]),
    st.sampled_from([None, -3, 0, 1, 2]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([3.0, 3.3, math.inf]),
    st.integers(0, 2**32 - 1),
)
def test_neighbours_differ_by_at_most_unit_steps(m, unit, coarseness, lower, upper, seed):
    g = None if coarseness is None else 2.0 ** (math.floor(math.log2(unit)) + coarseness)
    lattice = Lattice.build(star(m, lower=lower * unit, upper=upper * unit), unit=unit, step=g)
    rng = np.random.default_rng(seed)
    for _ in range(PAIRS):
        w, moved = neighbours(rng, m, unit, lattice.granularity)
        assert sum(abs(Fraction(a) - Fraction(b)) for a, b in zip(w, moved, strict=True)) <= Fraction(unit)
        gap = np.abs(private(w).on_lattice(lattice) - private(moved).on_lattice(lattice))
        assert int(gap.sum()) <= terms(unit).unit_steps(lattice)


def test_these_neighbours_would_catch_a_bound_that_forgets_rounding():
    lattice, rng, worst = Lattice.build(star(6), unit=1.0, step=0.5), np.random.default_rng(0), 0
    for _ in range(200):
        w, moved = neighbours(rng, 6, 1.0, 0.5)
        gap = np.abs(private(w).on_lattice(lattice) - private(moved).on_lattice(lattice))
        worst = max(worst, int(gap.sum()))
    assert math.ceil(1.0 / 0.5) < worst <= terms().unit_steps(lattice)


def test_the_bound_is_reached():
    """Every edge crosses a lattice point by a hair, one takes the rest: ceil(unit/g) + m - 1, for floats."""
    m = 5
    lattice = Lattice.build(star(m), unit=2.0, step=0.5)
    hair = 2.0**-40
    w = np.full(m, 1 - hair)
    moved = np.full(m, 1.0)
    moved[0] = w[0] + 2.0 - (m - 1) * hair
    assert np.abs(moved - w).sum() <= 2.0
    gap = np.abs(private(w).on_lattice(lattice) - private(moved).on_lattice(lattice)).sum()
    # 2 - 4 hairs start a hair below a point: 4 steps; the other four edges take one step each.
    assert gap == math.ceil(2.0 / 0.5) + m - 1 == terms(2.0).unit_steps(lattice) - m


@settings(max_examples=500, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_the_bound_holds_for_real_numbers_behind_the_floats(seed):
    """The owner's numbers are exact rationals; the code sees their nearest floats, up to the largest allowed weight."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    lattice = Lattice.build(star(m), unit=1.0, step=float(2.0 ** rng.integers(-12, 1)))
    top = int(lattice.high.max() * lattice.granularity)
    base = [Fraction(int(rng.integers(0, top)) if rng.random() < 0.5 else int(rng.integers(0, 50))) for _ in range(m)]
    base = [b + Fraction(int(rng.integers(0, 10**6)), 10**6) for b in base]
    share = rng.dirichlet(np.ones(m))
    most, signs = Fraction(999_999, 10**6), rng.choice([-1, 1], m)
    other = [b + Fraction(s) * most * int(sign) for b, s, sign in zip(base, share, signs, strict=True)]
    assert sum(abs(a - b) for a, b in zip(base, other, strict=True)) <= 1
    first, second = ([float(x) for x in numbers] for numbers in (base, other))
    gap = np.abs(private(first).on_lattice(lattice) - private(second).on_lattice(lattice)).sum()
    assert gap <= terms().unit_steps(lattice)


# --- twins ------------------------------------------------------------------------------------------------


def test_twins_are_sorted_among_themselves_and_nobody_else_moves():
    topology, kept = Topology.build(
        "abc", [0, 0, 1, 0, 0, 0], [1, 1, 2, 1, 1, 2], lower=[0, 0, 0, 1, 1, 0], upper=9.0, parallel_edges=True
    )
    lattice = Lattice.build(topology, unit=1.0, step=1.0)
    given = np.array([7.0, 3.0, 1.0, 5.0, 2.0, 4.0])
    steps = PrivateWeights(given, num_rows=6, keep=kept).on_lattice(lattice)
    assert lattice.twins.tolist() == [0, 0, 1, 1, 2, 3]
    assert steps.tolist() == [3, 7, 2, 5, 4, 1]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_sorting_twins_never_moves_neighbours_further_apart(seed):
    """In L1 and L2, against the same steps without the sorting; and no edge leaves its bounds."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 12))
    bounds = {"lower": rng.choice([0.0, 1.0], m), "upper": rng.choice([4.0, 9.0], m)}
    topology, _ = Topology.build("abc", np.zeros(m, int), rng.integers(1, 3, m), parallel_edges=True, **bounds)
    lattice = Lattice.build(topology, unit=1.0, step=float(rng.choice([0.25, 0.5])))
    w, moved = neighbours(rng, m, 1.0, lattice.granularity)
    plain = replace(lattice, twins=np.arange(m))  # every edge on its own
    unsorted = private(w).on_lattice(plain) - private(moved).on_lattice(plain)
    first, second = private(w).on_lattice(lattice), private(moved).on_lattice(lattice)
    assert np.abs(first - second).sum() <= np.abs(unsorted).sum() <= terms().unit_steps(lattice)
    assert ((first - second) ** 2).sum() <= (unsorted**2).sum()
    assert ((lattice.low <= first) & (first <= lattice.high)).all()


def test_integers_beyond_floats_are_refused_rather_than_understated():
    with pytest.raises(OptionError, match="64 bits"):
        Lattice.build(star(1), unit=1.0, max_weight=2.0**60)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(1, 400), st.floats(1e-90, 1e90), st.one_of(st.none(), st.floats(1e-3, 1e3)))
@example(1, 1.0, None)
@example(1, 1e-100, None)
@example(1, 1e100, None)
def test_granularity_is_a_power_of_two_and_fine_enough(m, unit, relative):
    lattice = Lattice.build(star(m), unit=unit, max_weight=None if relative is None else relative * unit)
    assert math.frexp(lattice.granularity)[0] == 0.5
    assert lattice.granularity * m * ROUNDING_SHARE <= unit
    steps = terms(unit).unit_steps(lattice)
    assert steps * lattice.granularity <= unit * (1 + 2 / ROUNDING_SHARE)
    assert steps == math.ceil(unit / lattice.granularity) + 2 * m - 1
    assert int(lattice.high.max()) * (m + 1) <= LARGEST_DISTANCE
    assert (lattice.low <= lattice.high).all()


def test_rounding_is_down_and_clipping_is_to_the_public_bounds():
    topology = star(5, lower=[0, 0, 0, 1.3, 0], upper=[9, 9, 9, 9, 1.7])
    lattice = Lattice.build(topology, unit=1, step=0.5)
    assert lattice.low.tolist() == [0, 0, 0, 2, 0]
    assert lattice.high.tolist() == [18, 18, 18, 18, 3]
    steps = private([0.49, 0.5, 0.99, 0.0, 1.69]).on_lattice(lattice)
    assert steps.tolist() == [0, 1, 1, 2, 3]
    assert steps.dtype == np.int64
    assert lattice.floats(steps).tolist() == [0.0, 0.5, 0.5, 1.0, 1.5]


@pytest.mark.parametrize("upper", [math.inf, 10.0])
def test_huge_negative_zero_and_tiny_weights_are_clipped_without_a_warning(upper):
    lattice = Lattice.build(star(6, upper=upper), unit=1)
    steps = private([1e308, -1e308, 0.0, -0.0, 5e-324, -5e-324]).on_lattice(lattice)
    assert steps.tolist() == [lattice.high[0], 0, 0, 0, 0, 0]
    assert float(steps[0]) * lattice.granularity == lattice.largest_weight


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_no_unit_makes_a_weight_overflow(unit):
    lattice = Lattice.build(star(2), unit=unit)
    assert private([1.7e308, -1.7e308]).on_lattice(lattice).tolist() == [lattice.high[0], 0]
    assert math.isfinite(lattice.largest_weight)


def test_declared_max_weight_is_the_largest_weight():
    topology = star(3, upper=[2.0, 50.0, math.inf])
    lattice = Lattice.build(topology, unit=1, max_weight=30)
    assert (lattice.high * lattice.granularity).tolist() == [2.0, 30.0, 30.0]
    assert lattice.largest_weight == 30.0
    assert lattice.floats(private([100.0] * 3).on_lattice(lattice)).tolist() == [2.0, 30.0, 30.0]


def test_a_large_declared_weight_coarsens_the_lattice_and_says_so():
    fine = Lattice.build(star(1000), unit=1, max_weight=2.0)
    # 2**62 over 1 001 nodes leaves 2**52 steps: 2**40 of weight need steps of 2**-12, four times the share.
    coarse = Lattice.build(star(1000), unit=1, max_weight=2.0**40)
    assert coarse.granularity > fine.granularity
    assert coarse.largest_weight == 2.0**40
    assert terms().unit_steps(coarse) * coarse.granularity > 1.2


@pytest.mark.parametrize("upper", [1e18, 1e308])
def test_a_declared_weight_beyond_64_bits_is_refused_without_a_warning(upper):
    with pytest.raises(OptionError, match="64 bits"):
        Lattice.build(star(100), unit=1, max_weight=upper)
    with pytest.raises(OptionError, match="64 bits"):
        Lattice.build(star(100, upper=upper), unit=1)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", None, True, 10**400, 1e-101, 1e101])
def test_bad_units_are_refused(bad):
    with pytest.raises(OptionError, match="unit"):
        terms(bad).lattice(star(1))


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1\n", True, 10**400])
def test_bad_max_weights_are_refused(bad):
    with pytest.raises(OptionError, match="max_weight"):
        Lattice.build(star(1), unit=1, max_weight=bad)


def test_max_weight_below_a_lower_bound_is_refused_and_equal_to_it_is_not():
    topology = star(2, lower=[0.0, 5.0])
    with pytest.raises(OptionError, match="below the declared lower bound"):
        Lattice.build(topology, unit=1, max_weight=4.99)
    lattice = Lattice.build(topology, unit=1, max_weight=5.0)
    assert lattice.low[1] == lattice.high[1]


@pytest.mark.parametrize("bad", [0.3, 0.0, -0.5, math.nan, math.inf, 5e-324, 2.0**400, "1"])
def test_bad_granularities_are_refused(bad):
    with pytest.raises(OptionError, match="lattice_step"):
        terms(lattice_step=bad).lattice(star(1))


def test_unit_may_be_any_kind_of_number():
    for unit in (2, 2.0, np.float32(2), np.int64(2)):
        assert terms(unit).lattice(star(1)).granularity == Lattice.build(star(1), unit=2.0).granularity


def test_a_network_without_edges_has_a_lattice():
    lattice = Lattice.build(Topology.build("ab", [], [])[0], unit=1)
    assert lattice.largest_weight == 0.0
    assert private([]).on_lattice(lattice).size == 0
