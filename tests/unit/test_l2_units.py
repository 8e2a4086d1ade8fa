"""Units that are smaller in L2 than in L1: what they cost, and that no neighbour costs more."""

import math
from fractions import Fraction

import numpy as np
import pytest
from named_graphs import named
from trip_tables import copies, strategy_for

import hushpath
from hushpath.errors import OptionError
from hushpath.measurement.exact import exact_numbers
from hushpath.measurement.strategy import WeightTerms
from hushpath.measurement.trip_strategy import SHARE
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import Law
from hushpath.privacy.accounting import Budget
from hushpath.privacy.certificate import Exposure, calibrate, certify
from hushpath.privacy.units import WeightUnit, edge_norms

EDGES, MOST = 24, 0.5
ANY = Budget(1e9, 1e-6)


def strategy(network, mechanism, law="gaussian", **options):
    asked = dict(epsilon=1.0, max_weight=20.0, noise=law, mechanism=mechanism, unit=WeightUnit(edges=(EDGES, MOST)))
    return hushpath.plan(named(network).topology, **asked, **options).strategy


def cost(made, first, second):
    """What telling these two weight vectors apart costs, from the exact numbers of both."""
    rows = []
    for weights in (first, second):
        steps = PrivateWeights(weights, num_rows=len(weights)).on_lattice(made.lattice)
        rows.append(np.concatenate([exact_numbers(block, made.lattice, steps) for block in made.blocks]))
    apart = (rows[0] - rows[1]) / np.repeat(made.scales, made.group_sizes)
    return float(np.abs(apart).sum() if made.law is Law.LAPLACE else (apart**2).sum() / 2)


def neighbours(topology, rng):
    """Weights, and others of which at most ``EDGES`` differ by at most ``MOST``: at random, or in a row."""
    m = topology.num_edges
    for turn in range(40):
        first = rng.uniform(1, 19, m)
        at = np.arange(turn, turn + EDGES) % m if turn % 2 else rng.choice(m, min(EDGES, m), replace=False)
        second = first.copy()
        second[at] += MOST * (1 if turn % 4 < 2 else rng.choice([-1, 1], len(at)))
        yield first, np.clip(second, 0, 20)


@pytest.mark.parametrize("unit", [1.0, 3.9, 0.1, 7.0])
@pytest.mark.parametrize("edges", [1, 2, 3, 4, 5, 11, 24, 25])
def test_steps_in_l2_norm_are_rounded_up(edges, unit):
    """unit/g + 2 sqrt(edges), in exact arithmetic (docs/proofs/lattice.md)."""
    topology = hushpath.Network.build(range(edges + 1), range(edges), range(1, edges + 1), np.ones(edges)).topology
    terms = WeightTerms(ANY, WeightUnit(100.0, unit, lattice_step=0.5), 20.0)
    lattice = terms.lattice(topology)
    assert lattice.granularity == 0.5
    roots = terms.l2_steps(lattice) - Fraction(unit) / Fraction(lattice.granularity)
    assert roots > 0
    assert roots**2 >= 4 * edges


def test_a_replaced_unit_of_trips_is_rounded_up():
    """Two of norm SHARE, at right angles: their distance is no whole number."""
    replaced, added = (strategy_for(copies(1), "person", neighbours=one) for one in ("replace", "add-remove"))
    assert replaced.terms.l2_steps(replaced.lattice) ** 2 >= 2 * SHARE**2
    assert added.terms.l2_steps(added.lattice) == SHARE


@pytest.mark.parametrize("network", ["path", "grid", "cycle"])
@pytest.mark.parametrize(
    ("mechanism", "options"),
    [("input", {}), ("lines", {"branch": 2}), ("separator", {"leaves": "edges"}), ("hubs", {})],
    ids=str,
)
def test_no_neighbour_in_the_smaller_ball_costs_more(network, mechanism, options):
    made, rng = strategy(network, mechanism, **options), np.random.default_rng(3)
    spent = made.certificate.spent
    reached = max(cost(made, *pair) / spent for pair in neighbours(made.topology, rng))
    assert reached <= 1 + 1e-12
    if mechanism == "input":
        assert reached > 0.95


def test_edges_need_noise_in_proportion_to_the_l2_norm_and_laplace_to_the_l1_norm():
    gaussian, laplace = strategy("grid", "input"), strategy("grid", "input", "laplace")
    one = hushpath.plan(named("grid").topology, epsilon=1.0, unit=MOST, max_weight=20.0, mechanism="input")
    by_law = {c.law: c.strategy for c in one.candidates}
    noise = {law: made.scales.max() * made.lattice.granularity for law, made in by_law.items()}
    assert gaussian.scales.max() * gaussian.lattice.granularity == pytest.approx(
        math.sqrt(EDGES) * noise[Law.GAUSSIAN], rel=0.02
    )
    assert laplace.scales.max() * laplace.lattice.granularity == pytest.approx(EDGES * noise[Law.LAPLACE], rel=0.02)


def test_the_planner_takes_the_better_law():
    asked = dict(epsilon=1.0, max_weight=20.0, mechanism="input")
    few, many = (
        hushpath.plan(named("grid").topology, unit=WeightUnit(edges=(k, 1.0)), **asked) for k in (2, 30)
    )  # fmt: skip
    assert (few.choice.law, many.choice.law) == (Law.LAPLACE, Law.GAUSSIAN)


def test_other_numbers_keep_the_l1_norm():
    """Two single weights and a group of cut 1 that both edges move."""
    exposure = Exposure(2, [1, 1, 1], [0, 1, 0, 1], [0, 1, 2, 2], [True, True, False])
    scales = np.full(3, 1000)
    alone = certify(exposure, scales, Law.GAUSSIAN, 100, ANY, 10)
    assert alone.spent == pytest.approx((10**2 + 100**2) / 2 / 1000**2, rel=1e-9)
    assert certify(exposure, scales, Law.GAUSSIAN, 100, ANY).spent == pytest.approx(2 * 100**2 / 2 / 1000**2, rel=1e-9)
    assert certify(exposure, scales, Law.LAPLACE, 100, ANY, 10).spent == pytest.approx(2 * 100 / 1000, rel=1e-9)
    # a norm that is no smaller never makes the cost larger
    assert certify(exposure, scales, Law.GAUSSIAN, 100, ANY, 100).spent <= 2 * 100**2 / 2 / 1000**2 * (1 + 1e-9)


def test_calibration_uses_the_smaller_norm():
    exposure = Exposure(4, np.ones(4, int), np.arange(4), np.arange(4), np.ones(4, bool))
    budget = Budget(1.0, 1e-6)
    wide = calibrate(exposure, np.ones(4), Law.GAUSSIAN, 40_000, budget)
    narrow = calibrate(exposure, np.ones(4), Law.GAUSSIAN, 40_000, budget, 10_000)
    assert wide[0] == pytest.approx(4 * narrow[0], rel=1e-3)


def test_a_group_that_is_not_one_weight_cannot_say_it_is():
    with pytest.raises(OptionError, match="single weight"):
        Exposure(2, [1], [0, 1], [0, 0], [True])
    with pytest.raises(OptionError, match="single weight"):
        Exposure(2, [3], [0], [0], [True])
    with pytest.raises(OptionError, match="yes or no per group"):
        Exposure(2, [1], [0], [0], [True, False])
    with pytest.raises(OptionError, match="yes or no per group"):
        Exposure(2, [1], [0], [0], [1])


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, 2**63])
def test_a_unit_in_l2_is_a_whole_number_of_steps(steps):
    exposure = Exposure(1, [1], [0], [0], [True])
    with pytest.raises(OptionError, match="whole number of lattice steps"):
        certify(exposure, np.array([10]), Law.GAUSSIAN, 5, ANY, steps)


def test_edge_norms_are_never_below_the_truth():
    from fractions import Fraction

    rng = np.random.default_rng(0)
    for _ in range(300):
        k, c = int(rng.integers(1, 10**6)), float(rng.lognormal(0, 20))
        l1, l2 = edge_norms((k, c))
        assert Fraction(l1) >= Fraction(c) * k
        assert Fraction(l2) ** 2 >= Fraction(c) ** 2 * k
        assert l1 == pytest.approx(c * k)
        assert l2 == pytest.approx(c * math.sqrt(k))


@pytest.mark.parametrize(
    "wrong", [3, (0, 1), (2, 0), (2.5, 1), (2, math.inf), (True, 1), ("2", 1), (1, 2, 3), (2, math.nan)]
)
def test_unit_edges_is_two_numbers(wrong):
    with pytest.raises(OptionError, match="edges"):
        edge_norms(wrong)


def test_it_is_said_once_and_kept_in_the_file(tmp_path):
    net = named("grid")
    with pytest.raises(OptionError, match="edges"):
        hushpath.release(net, epsilon=1.0, unit=hushpath.WeightUnit(l1=1.0, edges=(2, 1.0)))
    made = hushpath.release(
        net, epsilon=1.0, unit=hushpath.WeightUnit(l1=12.0, l2=2.5), max_weight=20, mechanism="input", noise="gaussian"
    )
    assert "whose squares add up to at most the square of 2.5" in str(made.statement)
    made.save(tmp_path / "a.hush")
    again = hushpath.load(tmp_path / "a.hush")
    assert again.statement == made.statement
    steps = [one.measurements.strategy.terms.l2_steps(one.measurements.strategy.lattice) for one in (again, made)]
    assert steps[0] == steps[1]


def test_rounding_to_steps_is_paid_for_in_l2_norm():
    """A hundred weights that each cross a line by a hair: a step each, though the unit is a tenth of a step."""
    at = np.arange(100)
    nets = [hushpath.Network.build(range(101), at, at + 1, np.full(100, w), upper=20.0) for w in (0.995, 1.005)]
    terms = WeightTerms(Budget(1.0, 1e-6), WeightUnit(1.0 + 1e-9, 0.1 + 1e-9, lattice_step=1.0))
    lattice = terms.lattice(nets[0].topology)
    one, other = (net.weights.on_lattice(lattice) for net in nets)
    moved = math.sqrt(float(((one - other) ** 2).sum()))
    assert moved == 10
    assert moved <= terms.l2_steps(lattice)
