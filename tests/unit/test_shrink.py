"""Structured empirical Bayes: kernels against slow twins, what must never happen, and that it is worth it."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_grid import grid, noisy_edges
from scipy.integrate import quad
from scipy.stats import laplace, norm

import hushpath
from hushpath import Network
from hushpath.errors import OptionError
from hushpath.estimator.accuracy import shared_error
from hushpath.estimator.base import NoisyEdges
from hushpath.estimator.weights import facts, regression, shrink
from hushpath.estimator.weights.bounds import clip_weights
from hushpath.estimator.weights.facts import edge_facts
from hushpath.estimator.weights.regression import (
    CELLS,
    COMPONENTS,
    EXACT,
    MASS,
    MEANS,
    OFFSET,
    SDS,
    Observed,
    ResidualModel,
)
from hushpath.measurement import samples as block_routes
from hushpath.measurement.samples import routes, usage


@pytest.fixture(scope="module")
def plane():
    return grid(12)


# What one noisy weight says ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("value", [-3.0, 0.2, 2.5, 40.0])
@pytest.mark.parametrize("even", [0.0, 4.0])
def test_posterior_means_are_integrals(gaussian, value, even):
    guess, scale, low, top = 0.7, 1.5, 0.0, 30.0
    observed = Observed(gaussian, np.array([value]), np.array([scale]), np.array([low]), np.array([top]))
    residuals = ResidualModel.initial(1, even).with_skew()
    stretch = residuals.scale(np.array([guess]))[0]
    assert stretch == 1.0 if not even else 0.2 < stretch < 0.8
    found = observed.posterior(np.array([guess]), residuals, np.zeros(1, int), np.empty((0, 1)))
    ends = np.clip(np.exp(guess + CELLS * (stretch + (1 - stretch) * (CELLS / CELLS[-1]) ** 4)) - OFFSET, low, top)
    inside = np.diff(ends) > 0
    mass = np.where(inside, MASS, 0.0)
    kept = mass.sum(1) > 1e-9
    prior = (residuals.shares[0, :COMPONENTS][kept, None] * mass[kept] / mass[kept].sum(1, keepdims=True)).sum(0)
    law = norm if gaussian else laplace
    likely = lambda w: law.pdf(value, w, scale)  # noqa: E731
    total = residuals.shares[0, COMPONENTS] * likely(low)
    first = low * total
    for a, b, p in zip(ends[:-1][inside], ends[1:][inside], prior[inside], strict=True):
        points = [value] if a < value < b else None
        total += p / (b - a) * quad(likely, a, b, points=points)[0]
        first += p / (b - a) * quad(lambda w: w * likely(w), a, b, points=points)[0]
    assert found.mean[0] == pytest.approx(first / total, rel=1e-5)


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("stretch", [1.0, 0.7])
def test_slopes_are_derivatives(gaussian, stretch):
    rng = np.random.default_rng(0)
    m, step = 40, 1e-5
    wide = [4, 5, COMPONENTS - 2, COMPONENTS - 1]  # wider than their cells, and bounds far away
    observed = Observed(gaussian, rng.normal(60, 9, m), np.full(m, 5.0), np.zeros(m), np.full(m, 1e6))
    guess = rng.normal(4, 0.5, m)
    stretched = np.full(m, stretch)
    up, down = observed.evidence(guess + step, stretched), observed.evidence(guess - step, stretched)
    slope = (up.likelihoods[:, wide] - down.likelihoods[:, wide]) / (2 * step)
    found = observed.evidence(guess, stretched).slopes[:, wide]
    assert (np.abs(found - slope).max(0) < 0.2 * np.abs(slope).max(0)).all()


@pytest.mark.parametrize("gaussian", [False, True])
def test_draws_have_the_posterior_mean(gaussian):
    observed = Observed(gaussian, np.array([0.5, 4.0, 90.0]), np.array([1.0, 2.0, 0.5]), np.zeros(3), np.full(3, 99.0))
    guess, which, uniform = np.array([0.0, 1.0, 2.0]), np.zeros(3, int), np.random.default_rng(3).random((20_000, 3))
    found = observed.posterior(guess, ResidualModel.initial(1), which, uniform)
    assert np.abs(found.samples.mean(0) - found.mean).max() < 4 * (found.samples.std(0) / np.sqrt(20_000)).max()


def test_noise_that_says_nothing_leaves_the_prior(plane):
    observed = Observed.from_edges(noisy_edges(plane))
    fitted = shrink.fit_regression(plane.topology, observed)
    moved = replace(fitted, observed=replace(observed, values=observed.values[::-1]))
    assert np.array_equal(fitted.posterior().prior_mean, moved.posterior().prior_mean)


# Public facts and routes ---------------------------------------------------------------------------------------------


def test_facts_of_a_network_with_a_tail():
    #  0 - 1 - 2 - 0 triangle, 2 - 3 - 4 - 5 tail
    net = Network.build(range(6), [0, 1, 0, 2, 3, 4], [1, 2, 2, 3, 4, 5], np.ones(6))
    facts = edge_facts(net.topology)
    ends = list(zip(net.topology.tails.tolist(), net.topology.heads.tolist(), strict=True))
    assert [end for end, bridge in zip(ends, facts.bridge, strict=True) if bridge] == [(2, 3), (3, 4), (4, 5)]
    chain = dict(zip(ends, facts.groups[0].tolist(), strict=True))
    assert chain[2, 3] == chain[3, 4] == chain[4, 5] != chain[0, 1]
    assert chain[0, 1] == chain[0, 2] == chain[1, 2]  # 0 and 1 have two edges each
    busy = dict(zip(ends, facts.traffic.tolist(), strict=True))
    assert busy[2, 3] == pytest.approx(2 * 3 * 3 / 36)
    assert busy[4, 5] == pytest.approx(2 * 5 / 36)


def test_two_directions_are_one_street():
    net = grid(4, directed=True, weights=np.ones(48))
    facts = edge_facts(net.topology)
    street = facts.groups[-1]
    tails, heads = net.topology.tails, net.topology.heads
    for i in range(48):
        twin = np.flatnonzero((tails == heads[i]) & (heads == tails[i]))
        assert street[i] == street[twin[0]]
    assert not facts.bridge.any()


def test_usage_counts_shortest_paths():
    net = Network.build(range(4), [0, 1, 2, 0], [1, 2, 3, 3], np.ones(4))
    ends = list(zip(net.topology.tails.tolist(), net.topology.heads.tolist(), strict=True))
    weight = {(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0, (0, 3): 9.0}
    used = dict(zip(ends, usage(net.topology, np.array([weight[end] for end in ends])), strict=True))
    assert used == {(0, 1): 6 / 16, (1, 2): 8 / 16, (2, 3): 6 / 16, (0, 3): 0.0}


def test_error_that_edges_share_is_told_from_noise(plane):
    rng, m = np.random.default_rng(5), plane.topology.num_edges
    noise = rng.laplace(0, 0.3, (8, m))
    usual = shrink.SHARED_ERROR_PRIOR * 0.2
    chance, shown = (
        np.mean([shared_error(plane.topology, np.ones(m), np.ones(m), one + error, usual) for one in noise])
        for error in (0.0, 0.2)
    )
    assert chance < 0.03
    assert shown == pytest.approx(0.2, abs=0.05)


def test_error_that_noise_would_hide_is_not_believed(plane):
    rng, m = np.random.default_rng(6), plane.topology.num_edges
    noise = rng.laplace(0, 2.0, (12, m))
    found = [shared_error(plane.topology, np.ones(m), np.ones(m), one, 0.2) for one in noise]
    assert np.mean(found) < 0.05


def test_routes_of_no_length_share_nothing(plane):
    m = plane.topology.num_edges
    assert shared_error(plane.topology, np.ones(m), np.zeros(m), np.zeros(m), 0.2) == 0


def test_routes_go_downhill(plane):
    for found in routes(plane.topology, np.random.default_rng(0).random(plane.topology.num_edges)):
        child = np.flatnonzero(found.edge >= 0)
        assert (found.distance[found.parent[child]] < found.distance[child]).all()
        assert len(child) == plane.topology.num_nodes - 1


# The estimate --------------------------------------------------------------------------------------------------------


def test_an_edges_own_noise_is_never_its_neighbours(plane):
    noisy = noisy_edges(plane)
    fitted = shrink.fit_regression(plane.topology, Observed.from_edges(noisy))
    public = slice(0, fitted.public_columns)
    first = replace(fitted, columns=fitted.columns[:, public], coefficients=fitted.coefficients[public])
    before = shrink._neighbour_columns(edge_facts(plane.topology), first, 1)
    for edge in (0, 57, 200):
        values = first.observed.values.copy()
        values[edge] += 3
        after = shrink._neighbour_columns(
            edge_facts(plane.topology), replace(first, observed=replace(first.observed, values=values)), 1
        )
        moved = np.abs(after - before)
        assert moved[edge].max() < 0.2 * moved.max()  # but for the common mean that is taken off


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("directed", [False, True])
def test_weights_are_whole_within_bounds_and_the_same_again(law, directed):
    net = grid(6, directed=directed)
    noisy = noisy_edges(net, law=law)
    found = shrink.shrink_weights(noisy)
    assert found.dtype == np.int64
    assert (found >= noisy.lattice.low).all()
    assert (found <= noisy.lattice.high).all()
    assert np.array_equal(found, shrink.shrink_weights(noisy))


def test_where_there_is_nothing_to_learn_weights_are_clipped():
    few = Network.build(range(4), [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    noisy = noisy_edges(few)
    assert np.array_equal(shrink.shrink_weights(noisy), clip_weights(noisy))
    exact = hushpath.release(grid(6), epsilon=float("inf"), unit=1.0, mechanism="input")
    assert exact.decoder.estimator.name == "shrink"
    noisy = NoisyEdges.from_measurements(exact.measurements)
    assert np.array_equal(shrink.shrink_weights(noisy), clip_weights(noisy))


@pytest.mark.parametrize("value", [-(2**62), 2**62, 0])
def test_hostile_values_do_no_harm(value):
    noisy = noisy_edges(grid(5))
    values = np.where(np.arange(len(noisy.values)) % 3 == 0, value, noisy.values)
    found = shrink.shrink_weights(replace(noisy, values=values))
    assert ((found >= noisy.lattice.low) & (found <= noisy.lattice.high)).all()


def test_many_components_parallel_edges_and_isolated_nodes():
    rng = np.random.default_rng(2)
    tails = np.concatenate([rng.integers(0, 15, 40), rng.integers(20, 30, 30)])
    heads = np.concatenate([rng.integers(0, 15, 40), rng.integers(20, 30, 30)])
    net = Network.build(range(40), tails, heads, rng.random(70) * 10, parallel_edges=True)
    noisy = noisy_edges(net)
    found = shrink.shrink_weights(noisy)
    assert ((found >= noisy.lattice.low) & (found <= noisy.lattice.high)).all()


def test_half_the_error_where_neighbours_are_alike(plane):
    """Fails if neighbours, scale or hedge are taken out (a share of 1 gives 1.0)."""
    errors = []
    for seed in (1, 2):
        made = hushpath.release(plane, epsilon=1.0, delta=0, unit=4.0, max_weight=60.0, mechanism="input", seed=seed)
        assert made.decoder.estimator.name == "shrink"
        errors.append(
            hushpath.evaluate(plane, made).mean_error
            / hushpath.evaluate(plane, made.with_decoder(estimator="clip")).mean_error
        )
    assert np.mean(errors) < 0.5


@pytest.mark.slow
def test_a_proxy_helps():
    rng = np.random.default_rng(9)
    weights = rng.lognormal(1.0, 0.8, 264)
    plain, known = grid(12, weights=weights), grid(12, weights=weights, proxy=weights * rng.uniform(0.9, 1.1, 264))
    terms = {"epsilon": 1.0, "delta": 0, "unit": 1.5, "max_weight": 40.0, "mechanism": "input", "ignore_baseline": True}
    error = np.zeros(2)
    for seed in range(5):
        made = [hushpath.release(net, plan=hushpath.plan(net.topology, **terms), seed=seed) for net in (plain, known)]
        error += [hushpath.evaluate(plain, one).mean_error for one in made]
    assert error[1] < 0.5 * error[0]


def errors_with(proxies, weights, unit, side=12, seeds=4):
    """Mean errors of the same network and the same noise without a proxy and with each of these."""
    nets = [grid(side, weights=weights), *(grid(side, weights=weights, proxy=proxy) for proxy in proxies)]
    terms = {
        "epsilon": 1.0,
        "delta": 0,
        "unit": unit,
        "max_weight": 40.0,
        "mechanism": "input",
        "ignore_baseline": True,
    }
    plans = [hushpath.plan(net.topology, **terms) for net in nets]
    made = [
        [hushpath.release(net, plan=p, seed=seed) for net, p in zip(nets, plans, strict=True)] for seed in range(seeds)
    ]
    return np.mean([[hushpath.evaluate(nets[0], one).mean_error for one in row] for row in made], axis=0)


@pytest.mark.slow
def test_a_proxy_that_is_off_by_a_summand_helps_too():
    """Fails if the law of residuals is the same for small and large weights."""
    rng = np.random.default_rng(10)
    weights = 10 * rng.random(264)
    plain, known = errors_with([np.maximum(weights + rng.normal(0, 1.4, 264), 0)], weights, 5.0)
    assert known < 0.7 * plain


@pytest.mark.slow
def test_a_proxy_that_means_nothing_costs_little():
    rng = np.random.default_rng(11)
    weights = rng.lognormal(1.0, 0.5, 264)
    plain, misled = errors_with([rng.lognormal(0, 1, 264)], weights, 1.5)
    assert misled < 1.1 * plain


def test_laws_with_stretched_residuals_can_still_be_overruled():
    """A weight of 30 times the guess is believed where the noise is small against it."""
    one, guess = np.ones(1), np.log(np.full(1, 1000.0))
    residuals = ResidualModel.initial(1, additive=10.0)
    assert residuals.scale(guess) < 0.15
    found = Observed(False, 30_000 * one, one, 0 * one, 1e6 * one).posterior(
        guess, residuals, np.zeros(1, int), np.empty((0, 1))
    )
    assert found.mean[0] == pytest.approx(30_000, abs=1)


def test_noise_that_says_nothing_does_not_make_up_tails():
    """Each round of estimation used to add wide bells; where noise cannot tell them from narrow ones they piled up."""
    share = np.full(COMPONENTS + 1, 0.001)
    share[EXACT] = 1 - share[1:].sum()
    found, wide = ResidualModel(share[None]), (SDS >= 1).nonzero()[0]
    for _ in range(12):
        found = found.refit(np.ones((1000, COMPONENTS + 1)), np.zeros(1000, int))
    assert found.shares[0, wide].sum() < 0.2


@pytest.mark.slow
def test_queues_make_the_law_lopsided():
    """Every fifth road is up to twice as slow as its proxy, none is faster."""
    rng = np.random.default_rng(13)
    proxy = rng.lognormal(1.0, 0.5, 760)
    weights = proxy * np.where(rng.random(760) < 0.2, 1 + rng.random(760), 1.0)
    noisy = noisy_edges(grid(20, weights=weights, proxy=proxy), scale=0.2)
    fitted = shrink.fit_regression(noisy.topology, Observed.from_edges(noisy))
    bells = fitted.residuals.shares[0, :COMPONENTS]
    assert bells[MEANS > 0].sum() > 0.1
    assert bells[MEANS < 0].sum() < 0.01


def test_routes_by_the_proxy_are_a_fact():
    rng = np.random.default_rng(14)
    proxy = rng.lognormal(1.0, 1.0, 264)
    net = grid(12, proxy=proxy)
    used = np.log(usage(net.topology, net.topology.proxy / net.topology.proxy.mean()) + 0.5 / 144)
    plain, known = (edge_facts(one.topology).traits for one in (grid(12), net))
    alike = [max(abs(np.corrcoef(used, column)[0, 1]) for column in traits.T) for traits in (plain, known)]
    assert alike[0] < 0.8
    assert alike[1] == pytest.approx(1)
    unknown = grid(12, proxy=np.where(np.arange(264) % 5 == 0, np.nan, proxy))
    assert np.isfinite(edge_facts(unknown.topology).traits).all()


def test_most_weights_lie_around_what_is_expected_or_it_must_move():
    """Else a guess that is far too low stays there, and a bell apart explains all weights."""
    vague = ResidualModel.initial(1).with_skew()
    evidence = np.full((500, vague.shares.shape[1]), 1e-3)
    evidence[:, 9] = 1.0  # all is two above
    found = vague.refit(evidence, np.zeros(500, np.int64))
    assert found.shares.sum() == pytest.approx(1.0)
    assert found.shares[0, 8:10].sum() <= 0.3
    few = np.where(np.arange(500)[:, None] < 100, evidence, evidence[:, ::-1])
    assert vague.refit(few, np.zeros(500, np.int64)).shares[0, 9] == pytest.approx(0.2, abs=0.03)  # these may stay


# Files carry what took long to work out ------------------------------------------------------------------------------


def test_a_file_carries_the_weights(plane, tmp_path, monkeypatch):
    made = hushpath.release(plane, epsilon=1.0, unit=2.0, max_weight=60.0, mechanism="input", seed=1)
    made.save(tmp_path / "x.hush")
    quick = hushpath.release(plane, epsilon=1.0, unit=2.0, max_weight=60.0, mechanism="input", seed=1).with_decoder(
        estimator="clip"
    )
    quick.save(tmp_path / "quick.hush")

    def never(*_):
        raise AssertionError("estimated again")

    monkeypatch.setattr(shrink, "fit_regression", never)
    again = hushpath.load(tmp_path / "x.hush")
    assert again.decoder.estimator.name == "shrink"
    assert np.array_equal(again.matrix(), made.matrix())
    assert again.fingerprint == made.fingerprint
    assert hushpath.load(tmp_path / "quick.hush").decoder.estimator.name == "clip"
    assert hushpath.load(tmp_path / "x.hush", estimator="clip").decoder.estimator.name == "clip"


def test_a_wrong_estimator_is_refused(plane):
    for mechanism, estimator in (("input", "magic"), ("all-pairs", "clip")):
        released = hushpath.release(plane, epsilon=1.0, unit=2.0, mechanism=mechanism)
        with pytest.raises(OptionError):
            released.with_decoder(estimator=estimator)


# Large networks -------------------------------------------------------------------------------------------------------


def test_the_mean_before_a_value_is_seen_is_that_of_a_value_that_says_nothing():
    rng, m = np.random.default_rng(0), 200
    guess, which, low = rng.normal(1, 1, m), rng.integers(0, 2, m), rng.choice([0.0, 1.0], m)
    observed = Observed(False, rng.normal(3, 4, m), np.ones(m), low, low + rng.uniform(1, 30, m))
    for even in (0.0, 4.0):
        law = ResidualModel.initial(2, even).with_skew()
        silent = replace(observed, scales=np.full(m, np.inf)).posterior(guess, law, which, np.empty((0, m)))
        seen = observed.posterior(guess, law, which, np.empty((0, m)))
        assert seen.prior_mean == pytest.approx(silent.mean, rel=1e-6)
        assert not np.allclose(seen.mean, silent.mean)


def shuffled(network, seed=3):
    """The same network with nodes called in another order."""
    topology, n = network.topology, network.topology.num_nodes
    called = np.random.default_rng(seed).permutation(n)
    ends, ones = (topology.tails, topology.heads), np.ones(topology.num_edges)
    return Network.build(called, *ends, ones, parallel_edges=True).topology


def test_what_routes_tell_does_not_depend_on_how_nodes_are_numbered(plane, monkeypatch):
    topology = shuffled(plane)
    weights = np.random.default_rng(1).uniform(1, 9, topology.num_edges)
    monkeypatch.setattr(block_routes, "SEARCHED", 16 * topology.num_nodes)
    found = {}
    for many in (10**9, 1):
        monkeypatch.setattr(block_routes, "MANY_NODES", many)
        monkeypatch.setattr(block_routes, "sources_of", lambda _: np.arange(5, 21))
        block_routes.side_by_side.cache_clear()
        found[many] = usage(topology, weights), np.sort(block_routes.distances(topology, weights))
    block_routes.side_by_side.cache_clear()
    for one, other in zip(*found.values(), strict=True):
        assert np.allclose(one, other, rtol=1e-6)


def test_arcs_side_by_side_are_the_same_network(plane, monkeypatch):
    topology = shuffled(plane)
    monkeypatch.setattr(block_routes, "MANY_NODES", 1)
    block_routes.side_by_side.cache_clear()
    arcs, number = block_routes.side_by_side(topology)
    block_routes.side_by_side.cache_clear()
    assert np.array_equal(np.sort(number), np.arange(topology.num_nodes))
    ends = np.stack([np.repeat(np.arange(topology.num_nodes), np.diff(arcs.start)), arcs.heads])
    wanted = np.sort(np.stack([number[topology.tails], number[topology.heads]])[:, arcs.edges], axis=0)
    assert np.array_equal(np.sort(ends, axis=0), wanted)
    assert np.abs(np.diff(ends, axis=0)).mean() < np.abs(topology.heads - topology.tails).mean()


def test_fewer_samples_are_drawn_of_larger_networks(plane, monkeypatch):
    topology, n = plane.topology, plane.topology.num_nodes
    assert len(block_routes.sources_of(topology)) == 32
    monkeypatch.setattr(block_routes, "MANY_NODES", 1)
    for searched, count in ((n * 100, 16), (n * 7, 7), (1, 2)):
        monkeypatch.setattr(block_routes, "SEARCHED", searched)
        assert len(block_routes.sources_of(topology)) == count


def test_an_estimate_in_the_way_of_large_networks_is_about_as_good(plane, monkeypatch):
    noisy = noisy_edges(plane, 2.0)
    rel = hushpath.release(plane, epsilon=np.inf, unit=2.0, mechanism="input")
    exact = NoisyEdges.from_measurements(rel.measurements)
    true = exact.lattice.floats(exact.values)
    usual = shrink.shrink_weights(noisy)
    for module, name, value in (
        (shrink, "LARGE_NETWORK", 10), (regression, "CORRECTION_EDGES", 100), (regression, "CHUNK", 37),
        (block_routes, "MANY_NODES", 10), (block_routes, "SEARCHED", 1), (facts, "LARGE_NETWORK", 10),
        (facts, "MAX_VISITED", 1), (regression, "PARALLEL_EDGES", 10),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    edge_facts.cache_clear()
    block_routes.side_by_side.cache_clear()
    sampled = shrink.shrink_weights(noisy)
    edge_facts.cache_clear()
    block_routes.side_by_side.cache_clear()
    off = [np.abs(noisy.lattice.floats(weights) - true).mean() for weights in (usual, sampled, clip_weights(noisy))]
    assert off[1] < 1.1 * off[0] < off[2]
