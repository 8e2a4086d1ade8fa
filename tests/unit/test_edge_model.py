"""The model of edges: public facts, what it learns and what it does not, and that nothing breaks it."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_grid import grid, noisy_edges

from hushpath import Network
from hushpath.estimator import facts, model
from hushpath.estimator.facts import Design, design_of, edge_facts
from hushpath.estimator.hierarchy import edge_hierarchy
from hushpath.estimator.model import fit
from hushpath.estimator.weights.shrink import observe
from hushpath.kernels.residuals import Seen
from hushpath.measurement import samples
from hushpath.measurement.samples import usage


@pytest.fixture(scope="module")
def plane():
    return grid(12)


# Public facts --------------------------------------------------------------------------------------------------

USED, LEAST, MOST, BRIDGE, FAR, CHAIN = range(6)


def by_ends(topology, values):
    ends = zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)
    return dict(zip(ends, np.asarray(values).tolist(), strict=True))


def test_facts_of_a_network_with_a_tail():
    #  0 - 1 - 2 - 0 triangle, 2 - 3 - 4 - 5 tail
    topology = Network.build(range(6), [0, 1, 0, 2, 3, 4], [1, 2, 2, 3, 4, 5], np.ones(6)).topology
    found = [by_ends(topology, trait) for trait in edge_facts(topology).traits]
    assert {end for end, bridge in found[BRIDGE].items() if bridge} == {(2, 3), (3, 4), (4, 5)}
    assert np.exp(found[CHAIN][3, 4]) == pytest.approx(3)
    assert np.exp(found[CHAIN][0, 2]) == pytest.approx(3)  # 0 and 1 have two edges each
    assert [np.exp(found[which][2, 3]) for which in (LEAST, MOST)] == pytest.approx([2, 3])
    assert found[USED][2, 3] > found[USED][3, 4] > found[USED][4, 5]
    assert found[FAR][4, 5] > found[FAR][2, 3]
    assert np.isnan(edge_facts(topology).size).all()


def test_two_directions_and_parallel_edges_are_one_street():
    topology = grid(4, directed=True, weights=np.ones(48)).topology
    for trait in edge_facts(topology).traits:
        found = by_ends(topology, trait)
        assert all(found[a, b] == found[b, a] for a, b in found)
    assert not edge_facts(topology).traits[BRIDGE].any()


def test_a_proxy_is_the_size_and_routes_by_it_are_a_fact():
    rng = np.random.default_rng(14)
    proxy = rng.lognormal(1.0, 1.0, 264)
    net = grid(12, proxy=proxy)
    used = np.log(usage(net.topology, net.topology.proxy / net.topology.proxy.mean()) + 0.5 / 144)
    plain, known = (edge_facts(one.topology) for one in (grid(12), net))
    alike = [
        max(abs(np.corrcoef(used, trait)[0, 1]) for trait in one.traits if trait.std() > 0) for one in (plain, known)
    ]
    assert alike[0] < 0.8
    assert alike[1] == pytest.approx(1)
    assert np.array_equal(known.size, net.topology.proxy)
    assert np.allclose(plain.size, 1.0, rtol=0.03)  # lengths, as of degrees
    missing = grid(12, proxy=np.where(np.arange(264) % 5 == 0, np.nan, proxy)).topology
    found = edge_facts(missing)
    assert np.isnan(found.size).sum() == 53
    assert np.isfinite(found.traits).all()


def test_lengths_of_degrees_are_those_on_the_ground():
    places = np.array([[10.0, 60.0], [11.0, 60.0], [10.0, 61.0]])
    net = Network.build(range(3), [0, 0], [1, 2], np.ones(2), coordinates=places)
    length = by_ends(net.topology, edge_facts(net.topology).size)
    assert length[0, 1] / length[0, 2] == pytest.approx(0.5, rel=0.02)


def test_effects_are_piecewise_linear_and_constant_outside():
    fact = np.random.default_rng(2).normal(size=300)
    made = Design.constant(300).with_steps(fact)
    steps = made.columns[:, 1:]
    low, high = np.quantile(fact, (0.02, 0.98))
    for outside in (fact < low, fact > high):
        assert outside.sum() > 3
        assert np.ptp(steps[outside], axis=0).max() < 1e-12
    order = np.argsort(fact)
    effect = steps[order] @ np.arange(1.0, steps.shape[1] + 1)
    assert (np.diff(effect) >= -1e-12).all()
    knots = np.quantile(fact, np.linspace(0.02, 0.98, facts.KNOTS))
    between = (fact > knots[2]) & (fact < knots[3])
    slope = np.polyfit(fact[between], steps[between] @ np.arange(1.0, steps.shape[1] + 1), 1, full=True)
    assert slope[1] == pytest.approx(0, abs=1e-20)
    assert made.groups.tolist() == [-1] + [0] * steps.shape[1]
    assert np.abs(steps.mean(axis=0)).max() < 1e-12


def test_a_fact_of_few_values_has_a_step_between_any_two():
    fact = np.repeat([0.0, 1.0, 5.0], [10, 20, 30])
    columns = Design.constant(60).with_steps(fact).columns
    assert columns.shape == (60, 3)
    assert len(np.unique(columns.round(12), axis=0)) == 3


def test_facts_that_do_not_vary_are_left_out():
    start = Design.constant(50)
    assert start.with_steps(np.full(50, 3.0)) is start
    assert start.with_steps(3.0 + 1e-9 * (np.arange(50) == 7)).columns.shape[1] <= 2
    ring = Network.build(range(30), np.arange(30), (np.arange(30) + 1) % 30, np.ones(30)).topology
    assert design_of(ring).columns.shape == (30, 1)
    for count in (0, 1, 2):
        topology = Network.build(range(5), range(count), range(1, count + 1), np.ones(count)).topology
        assert design_of(topology).columns.shape[0] == count


def test_edges_of_unknown_size_are_a_class_of_their_own():
    rng = np.random.default_rng(3)
    proxy = rng.lognormal(1.0, 0.5, 264)
    known, some = (design_of(grid(12, proxy=one).topology) for one in (proxy, np.where(proxy > 4, np.nan, proxy)))
    assert known.classes.max() == 0
    topology = grid(12, proxy=np.where(proxy > 4, np.nan, proxy)).topology
    unknown = ~np.isfinite(edge_facts(topology).size)
    assert np.array_equal(some.classes == 1, unknown)
    wanted = (1.0 * unknown) - unknown.mean()
    assert np.abs(some.columns - wanted[:, None]).max(axis=0).min() < 1e-12
    few = design_of(grid(12, proxy=np.where(np.arange(264) < 5, proxy, np.nan)).topology)
    assert few.classes.max() == 0  # too few to learn from


def test_some_rows_of_a_design():
    made = design_of(grid(6).topology)
    part = made.rows(np.array([3, 7]))
    assert np.array_equal(part.columns, made.columns[[3, 7]])
    assert len(part.classes) == 2


# Fits ----------------------------------------------------------------------------------------------------------

M = 264


def seen_of(values, gaussian=False, *, scales=1.0, low=0.0, high=1e3):
    fill = lambda x: np.broadcast_to(np.asarray(x, float), M).copy()  # noqa: E731
    return Seen(gaussian, fill(values), fill(scales), fill(low), fill(high), 0.1)


def hostile():
    rng = np.random.default_rng(0)
    usual = 5 * np.exp(0.4 * rng.normal(size=M)) + rng.laplace(size=M)
    return {
        "equal": {"values": 5.0},
        "zero": {"values": 0.0},
        "negative": {"values": -5.0},
        "far below": {"values": rng.normal(-50, 5, M)},
        "one huge": {"values": np.where(np.arange(M) == 7, 1e6, usual)},
        "one far below": {"values": np.where(np.arange(M) == 7, -1e6, usual)},
        "beyond all bounds": {"values": usual + 2000},
        "no room": {"values": usual, "low": 3.0, "high": 3.0},
        "room for some": {"values": usual, "high": np.where(np.arange(M) % 2, 0.0, 50.0)},
        "high lowest values": {"values": usual, "low": 50.0},
        "a billion times the noise": {"values": 1e9 * rng.lognormal(0, 1, M), "high": 1e12},
        "uneven noise": {"values": usual, "scales": 10.0 ** rng.uniform(-3, 3, M)},
        "half zero": {"values": np.where(np.arange(M) % 2, 0, 5) + rng.laplace(size=M)},
        "nothing but noise": {"values": rng.laplace(size=M)},
    }


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("name", hostile())
def test_hostile_values_do_no_harm(plane, gaussian, name):
    seen = seen_of(gaussian=gaussian, **hostile()[name])
    fitted = fit(plane.topology, seen)
    rng = np.random.default_rng(1)
    slack = 1e-6 * (1 + seen.low)
    for weights in (fitted.mean, fitted.sites.public_mean, fitted.sample(rng), fitted.sample_prior(rng)):
        assert np.isfinite(weights).all()
        assert (weights >= seen.low - slack).all()
        assert (weights <= seen.high * (1 + 1e-6)).all()
    for other in (fitted.location, fitted.spread, fitted.coefficients, fitted.root, fitted.sites.precision):
        assert np.isfinite(other).all()
    assert (fitted.spread > 0).all()
    assert fitted.shares.sum(axis=1) == pytest.approx(1)
    assert (fitted.deviation_variance > 0).all()


@pytest.mark.parametrize("name", ["zero", "negative"])
def test_where_every_value_is_the_lowest_the_others_are_not_expected_to_be_huge(plane, name):
    fitted = fit(plane.topology, seen_of(**hostile()[name]))
    assert fitted.mean.max() < 0.1
    assert fitted.sites.public_mean.max() < 1.0


def test_one_huge_value_is_believed_and_says_little_of_the_others(plane):
    usual, huge = (fit(plane.topology, seen_of(np.where(np.arange(M) == 7, x, 5.0))) for x in (5.0, 500.0))
    assert huge.mean[7] > 450
    others = np.arange(M) != 7
    assert np.abs(huge.mean - usual.mean)[others].max() < 1.5


@pytest.mark.parametrize("gaussian", [False, True])
def test_precise_values_are_kept(plane, gaussian):
    values = np.random.default_rng(4).lognormal(1.5, 1.0, M)
    fitted = fit(plane.topology, seen_of(values, gaussian, scales=0.001))
    assert fitted.mean == pytest.approx(values, abs=0.005)


def test_the_same_values_give_the_same_model(plane):
    seen = observe(noisy_edges(plane))
    one, other = (fit(plane.topology, seen) for _ in range(2))
    assert np.array_equal(one.mean, other.mean)
    assert np.array_equal(one.location, other.location)
    assert np.array_equal(one.sample(np.random.default_rng(1)), other.sample(np.random.default_rng(1)))


def test_an_edges_own_value_hardly_moves_what_is_expected_of_it(plane):
    """The field leaves it out, and of the effects of facts, which all values tell together, it is a small part."""
    fitted = fit(plane.topology, observe(noisy_edges(plane)))
    before = fitted._next(1.0, learn=False)
    own, said = [], []
    for edge in range(0, M, 12):
        values = fitted.seen.values.copy()
        values[edge] += 1.5
        after = replace(fitted, seen=fitted.seen._replace(values=values))._next(1.0, learn=False)
        own.append(abs(after.location - before.location)[edge])
        told = np.abs(after.sites.value - before.sites.value)
        said.append(told[edge])
        told[edge] = 0
        assert told.max() == 0  # one round: no other edge has heard of it
    assert np.mean(said) > 0.2
    assert np.mean(own) < 0.1 * np.mean(said)
    assert max(own) < 0.12


def test_without_a_field_and_facts_edges_say_only_how_large_they_all_are(plane):
    values = np.where(np.arange(M) < 132, 2.0, 20.0) + np.random.default_rng(5).laplace(size=M)
    alone = fit(plane.topology, seen_of(values), field=False, design=Design.constant(M))
    assert np.ptp(alone.location) < 1e-9
    assert alone.field.variances.sum() == 0
    assert np.ptp(fit(plane.topology, seen_of(values)).location) > 0.5


def test_nothing_is_learnt_from_noise(plane):
    """The same weight everywhere: means stay together although noisy values do not."""
    for seed in range(3):
        noise = np.random.default_rng(seed).laplace(size=M)
        fitted = fit(plane.topology, seen_of(5 + noise))
        assert np.std(fitted.location) < 0.15
        assert np.std(fitted.mean) < 0.35 * np.std(noise)
        assert fitted.field.variances.sum() < 0.1
        assert fitted.mean.mean() == pytest.approx(5, abs=0.4)


def test_what_neighbours_share_is_learnt(plane):
    true = observe(noisy_edges(plane, scale=0.001)).values * 0.001
    fitted = fit(plane.topology, observe(noisy_edges(plane, scale=2.0)))
    assert np.corrcoef(fitted.location, np.log(true))[0, 1] > 0.8
    noisy = np.abs(fitted.seen.values * 2.0 - true).mean()
    assert np.abs(fitted.mean * 2.0 - true).mean() < 0.75 * noisy


def test_what_a_fact_tells_is_learnt():
    rng = np.random.default_rng(6)
    proxy = rng.lognormal(1.0, 1.0, M)
    net = grid(12, weights=proxy**0.5 * np.exp(0.05 * rng.normal(size=M)), proxy=proxy)
    fitted = fit(net.topology, observe(noisy_edges(net, scale=0.5)))
    slope = np.polyfit(np.log(net.topology.proxy), fitted.location, 1)[0]
    assert 0.4 < slope < 0.7
    assert np.corrcoef(fitted.location, np.log(net.weights.reveal()))[0, 1] > 0.85


def test_classes_have_deviations_of_their_own():
    """Where sizes are known weights lie close to them; elsewhere they scatter."""
    rng = np.random.default_rng(7)
    proxy = rng.lognormal(1.0, 0.3, M)
    known = rng.random(M) < 0.6
    weights = proxy * np.exp(np.where(known, 0.03, 1.0) * rng.normal(size=M))
    net = grid(12, weights=weights, proxy=np.where(known, proxy, np.nan))
    fitted = fit(net.topology, observe(noisy_edges(net, scale=0.1)))
    unknown = fitted.design.classes == 1
    assert fitted.shares.shape[0] == 2
    assert np.mean(fitted.deviation_variance[unknown]) > 3 * np.mean(fitted.deviation_variance[~unknown])


def test_unused_edges_are_found_out(plane):
    weights = np.where(np.random.default_rng(8).random(M) < 0.4, 0.0, 20.0)
    fitted = fit(plane.topology, seen_of(weights + np.random.default_rng(9).laplace(size=M)))
    assert fitted.shares[0, -1] + fitted.shares[0, :-1] @ (model.CENTRES < -1) > 0.05
    assert np.mean(fitted.mean[weights == 0]) < 1.0
    assert np.mean(fitted.mean[weights > 0]) == pytest.approx(20, abs=0.5)


# What it says ----------------------------------------------------------------------------------------------------


def test_means_for_other_values(plane):
    fitted = fit(plane.topology, observe(noisy_edges(plane)))
    assert np.allclose(fitted.posterior_mean(fitted.seen.values), fitted.mean, rtol=1e-12)
    values = fitted.seen.values.copy()
    values[5] += 4
    found = fitted.posterior_mean(values)
    assert found[5] > fitted.mean[5] + 0.5
    assert np.array_equal(np.delete(found, 5), np.delete(fitted.mean, 5))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_samples_are_around_the_means(plane, law):
    fitted = fit(plane.topology, observe(noisy_edges(plane, law=law)))
    rng = np.random.default_rng(10)
    drawn = np.stack([fitted.sample(rng) for _ in range(200)])
    assert drawn.mean() == pytest.approx(fitted.mean.mean(), rel=0.05)
    assert np.corrcoef(drawn.mean(axis=0), fitted.mean)[0, 1] > 0.97
    values = fitted.seen.values
    assert np.abs(drawn - values).mean() == pytest.approx(np.abs(fitted.sample(rng) - values).mean(), rel=0.2)
    prior = np.stack([fitted.sample_prior(rng) for _ in range(200)])
    assert (prior.std(axis=0) > drawn.std(axis=0)).mean() > 0.8
    assert np.median(prior) == pytest.approx(np.median(fitted.mean), rel=0.25)


def test_samples_carry_the_level_of_all_weights():
    """Of few edges under much noise the mean weight is not known well: samples do not agree on it."""
    net = grid(5, weights=np.full(40, 4.0))
    fitted = fit(net.topology, observe(noisy_edges(net, scale=4.0)))
    rng = np.random.default_rng(11)
    means = np.array([fitted.sample(rng).mean() for _ in range(100)])
    # Noise of standard deviation sqrt(2) on each of 40 weights leaves their mean unknown by 0.22.
    assert 0.1 < means.std() < 0.4


# Large networks --------------------------------------------------------------------------------------------------


def test_groups_of_some_edges_are_the_groups_of_all(plane):
    groups = edge_hierarchy(plane.topology)
    edges = np.array([3, 4, 100, 263])
    part = groups.restricted(edges)
    assert part.levels == groups.levels
    for i, edge in enumerate(edges):
        for j, other in enumerate(edges):
            assert _common_level(groups, edge, other) == _common_level(part, i, j)
    assert (part.level[:4] == 0).all()
    whole = groups.restricted(np.arange(M))
    assert np.array_equal(whole.parent, groups.parent)
    assert np.array_equal(whole.level, groups.level)


def _common_level(groups, one, other):
    seen = set()
    while one >= 0:
        seen.add(int(one))
        one = groups.parent[one]
    while other >= 0 and int(other) not in seen:
        other = groups.parent[other]
    return int(groups.level[other]) if other >= 0 else -1


def test_a_sample_of_edges_is_whole_groups():
    groups = edge_hierarchy(grid(24).topology)
    found = groups.sample(300, np.random.default_rng(1))
    assert 250 < len(found) < 450
    assert (np.diff(found) > 0).all()
    assert np.array_equal(groups.sample(10**6, np.random.default_rng(1)), np.arange(1104))


def test_threads_change_nothing(plane, monkeypatch):
    seen = observe(noisy_edges(plane))
    usual = fit(plane.topology, seen)
    monkeypatch.setattr(model, "PARALLEL_EDGES", 1)
    assert np.array_equal(fit(plane.topology, seen).mean, usual.mean)


def test_a_part_teaches_about_as_much(monkeypatch):
    net = grid(24)
    true = net.weights.reveal()
    noisy = observe(noisy_edges(net, scale=3.0))
    usual = fit(net.topology, noisy)
    monkeypatch.setattr(model, "PART_EDGES", 400)
    monkeypatch.setattr(facts, "LARGE_NETWORK", 10)
    monkeypatch.setattr(facts, "MAX_VISITED", 1)
    monkeypatch.setattr(samples, "MANY_NODES", 10)
    edge_facts.cache_clear()
    samples.side_by_side.cache_clear()
    part = fit(net.topology, noisy)
    edge_facts.cache_clear()
    samples.side_by_side.cache_clear()
    off = [np.abs(one * 3.0 - true).mean() for one in (usual.mean, part.mean, np.maximum(noisy.values, 0))]
    assert off[1] < 1.2 * off[0]
    assert off[1] < 0.8 * off[2]
    assert not np.array_equal(usual.mean, part.mean)
