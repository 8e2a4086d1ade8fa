"""The private step does what its docstring says, seen from outside: certificate first, one fresh noise per number."""

from dataclasses import replace

import numpy as np
import pytest
from named_graphs import build, grid_ends, named

from hushpath.errors import BudgetError, HushpathError
from hushpath.measurement.exact import exact_numbers
from hushpath.measurement.hierarchy import HierarchyBlock
from hushpath.measurement.private_step import measure
from hushpath.noise import Law, make_sampler
from hushpath.planning.plan import plan

ENDS = grid_ends(6, 7)
NET = build(42, ENDS, np.linspace(1, 9, len(ENDS)))


def strategy_of(mechanism="hubs", law="laplace", **options):
    """Groups of several sizes and scales."""
    options = {"hubs": 6, **options} if mechanism == "hubs" else options
    return plan(
        NET.topology, epsilon=1.0, unit=1.0, max_weight=20.0, mechanism=mechanism, noise=law, **options
    ).strategy


def exact_of(strategy):
    steps = NET.weights.on_lattice(strategy.lattice)
    return np.concatenate([exact_numbers(b, strategy.lattice, steps) for b in strategy.blocks])


class Recorder:
    """Draws the numbers 0, 1, 2, ... and remembers what it was asked."""

    name = "recorder"

    def __init__(self, private=True):
        self.private, self.asked = private, []

    def draw(self, law, scales):
        self.asked.append((law, scales.copy()))
        return np.arange(scales.size, dtype=np.int64)


@pytest.mark.parametrize("law", list(Law))
@pytest.mark.parametrize("mechanism", ["hubs", "separator", "input"])
def test_every_number_gets_its_own_noise_of_its_groups_scale(mechanism, law):
    strategy, sampler = strategy_of(mechanism, law), Recorder()
    values = measure(strategy, NET.weights, sampler).values
    (asked_law, asked), *more = sampler.asked
    assert (asked_law, more) == (law, [])
    wanted = [s for s, n in zip(strategy.scales.tolist(), strategy.group_sizes.tolist(), strict=True) for _ in range(n)]
    assert asked.tolist() == wanted
    assert values.tolist() == (exact_of(strategy) + np.arange(len(wanted))).tolist()
    assert mechanism == "input" or len(set(wanted)) > 1


# Chernoff, 86 exponential sizes: a mean below 1/2 has probability exp(-86 (ln 2 - 1/2)) < 7e-8; the rest is rarer.
@pytest.mark.noise(rate=1e-7)
@pytest.mark.parametrize("choice", ["vector", "opendp"])
def test_the_noise_is_there_fresh_and_differs_from_number_to_number(choice):
    strategy = strategy_of()
    sampler = make_sampler(choice, size=strategy.num_values)
    first, second = (measure(strategy, NET.weights, sampler).values - exact_of(strategy) for _ in range(2))
    # Two of these 86 numbers are equal by chance once in some thirty runs (scales are in the ten thousands and above),
    # nine of them less than once in 10^12.
    assert len(set(first.tolist())) > 0.9 * len(first)
    assert (first != second).mean() > 0.9
    spread = np.abs(first / np.repeat(strategy.scales, strategy.group_sizes)).mean()
    assert 0.5 < spread < 2.0  # the mean is 1, and there are 80 numbers


@pytest.mark.parametrize(
    ("secret", "epsilon", "private"),
    [(True, 1.0, True), (False, 1.0, False), (True, np.inf, False), (False, np.inf, False)],
)
def test_private_means_secret_noise_that_is_there(secret, epsilon, private):
    strategy = plan(NET.topology, epsilon=epsilon, unit=1.0, mechanism="input", noise="laplace").strategy
    assert measure(strategy, NET.weights, Recorder(secret)).private is private


class OneForAll(Recorder):
    def draw(self, law, scales):
        return np.ones(1, np.int64)


class Transposed(Recorder):
    def draw(self, law, scales):
        return np.ones((scales.size, 1), np.int64)


class Floating(Recorder):
    def draw(self, law, scales):
        return np.full(scales.size, 0.5)


@pytest.mark.parametrize("sampler", [OneForAll, Transposed, Floating])
def test_noise_of_another_shape_or_kind_is_refused(sampler):
    with pytest.raises(RuntimeError):
        measure(strategy_of(), NET.weights, sampler())


def test_a_strategy_with_less_noise_than_its_budget_needs_is_not_measured():
    strategy, sampler = strategy_of(), Recorder()
    with pytest.raises(BudgetError):
        measure(replace(strategy, scales=strategy.scales - strategy.scales // 4), NET.weights, sampler)
    assert sampler.asked == []


def test_sums_beyond_64_bits_wrap():
    class Huge(Recorder):
        def draw(self, law, scales):
            return np.full(scales.size, 2**63 - 1, np.int64)

    strategy = strategy_of()
    values = measure(strategy, NET.weights, Huge()).values
    assert values.tolist() == [x + 2**63 - 1 - (2**64 if x > 0 else 0) for x in exact_of(strategy).tolist()]


def test_cells_of_a_directed_network_are_refused():
    """The cut lemma is about undirected networks: the block itself says so, whatever mechanism made it."""
    hierarchy = next(b.hierarchy for b in strategy_of("separator").blocks if isinstance(b, HierarchyBlock))
    with pytest.raises(HushpathError, match="undirected"):
        _ = HierarchyBlock(named("directed").topology, hierarchy, leaf_edges=True).exposure
