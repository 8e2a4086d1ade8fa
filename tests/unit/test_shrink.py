"""The estimator ``shrink``: what it gains, what it must never lose, and how it is checked and calibrated."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_grid import grid, noisy_edges

import hushpath
from hushpath import Network
from hushpath.errors import OptionError
from hushpath.estimator.base import NoisyEdges
from hushpath.estimator.model import fit
from hushpath.estimator.weights import shrink
from hushpath.estimator.weights.bounds import clip_weights
from hushpath.estimator.weights.shrink import Calibration, Replicates, error_replicates, observe, shrink_weights
from hushpath.measurement.samples import distance_rows


@pytest.fixture(scope="module")
def plane():
    return grid(12)


# What it is worth -------------------------------------------------------------------------------------------------


def mean_errors(net, scale, seeds=4, estimate=shrink_weights, true=None):
    """Mean errors of distances of ``estimate`` and of clipped weights, relative to the mean distance."""
    found = []
    true = net if true is None else true
    sources = np.arange(0, net.topology.num_nodes, 5)
    exact = distance_rows(net.topology, true.weights.reveal(), sources)
    for seed in range(seeds):
        noisy = noisy_edges(net, scale, seed=seed)
        step = float(noisy.lattice.granularity)
        rows = (distance_rows(net.topology, one(noisy) * step, sources) for one in (estimate, clip_weights))
        found.append([np.abs(one - exact).mean() / exact.mean() for one in rows])
    return np.mean(found, axis=0)


@pytest.mark.parametrize(("scale", "gain"), [(2.0, 0.75), (4.0, 0.7)])
def test_much_is_gained_where_neighbours_are_alike(plane, scale, gain):
    shrunk, clipped = mean_errors(plane, scale)
    assert shrunk < gain * clipped


def flows(seed=1, side=12):
    """Flows that no fact tells: few edges carry most."""
    m = 2 * side * (side - 1)
    return grid(side, weights=5 * np.random.default_rng(seed).pareto(1.2, m))


@pytest.mark.parametrize("scale", [0.02, 0.2, 1.0])
def test_next_to_nothing_is_lost_on_flows_that_facts_do_not_tell(scale):
    shrunk, clipped = mean_errors(flows(), scale)
    assert shrunk < 1.05 * clipped


def lognormal(seed=9, sd=0.8, m=264):
    return np.random.default_rng(seed).lognormal(1.0, sd, m)


def proxies():
    rng, weights = np.random.default_rng(10), lognormal()
    off = weights * np.exp(0.1 * rng.normal(size=len(weights)))
    return {"right": off, "useless": rng.lognormal(0, 1, len(weights)), "minutes": off / 60, "millimetres": 1000 * off}


def error_with(proxy, scale=2.0):
    return mean_errors(grid(12, weights=lognormal(), proxy=proxy), scale)[0]


def test_a_proxy_helps_whatever_its_unit():
    plain, right = error_with(None), error_with(proxies()["right"])
    assert right < 0.6 * plain
    for unit in ("minutes", "millimetres"):
        assert error_with(proxies()[unit]) < 1.15 * right


def test_a_proxy_that_means_nothing_costs_little():
    assert error_with(proxies()["useless"]) < 1.12 * error_with(None)


def test_a_proxy_that_is_off_by_a_summand_helps_too():
    rng = np.random.default_rng(10)
    weights = 10 * rng.random(264)
    around = np.maximum(weights + rng.normal(0, 1.4, 264), 0)
    plain, known = (mean_errors(grid(12, weights=weights, proxy=proxy), 5.0)[0] for proxy in (None, around))
    assert known < 0.7 * plain


@pytest.mark.parametrize("scale", [0.1, 0.5])
def test_weights_of_exactly_zero(scale):
    rng = np.random.default_rng(3)
    weights = np.where(rng.random(264) < 0.4, 0.0, rng.lognormal(1.0, 0.5, 264))
    shrunk, clipped = mean_errors(grid(12, weights=weights), scale)
    assert shrunk < clipped


def test_nothing_but_zeros(plane):
    noisy = noisy_edges(grid(12, weights=np.zeros(264)), 2.0)
    found = shrink_weights(noisy)
    assert (found >= 0).all()
    assert found.mean() < 0.8 * clip_weights(noisy).mean()


def test_distances_are_right_on_average():
    """The factor for selection bias: means of weights alone make distances a tenth too long here, or more."""
    rng, found = np.random.default_rng(4), []
    sources = np.arange(0, 400, 13)
    for seed in range(4):
        net = grid(20, weights=rng.lognormal(1.0, 0.7, 760))
        noisy = noisy_edges(net, scale=3.0, seed=seed)
        model = fit(net.topology, observe(noisy))
        step = float(noisy.lattice.granularity)
        both = shrink_weights(noisy) * step, model.mean * noisy.unit * step
        true, shrunk, plain = (
            distance_rows(net.topology, one, sources).mean() for one in (net.weights.reveal(), *both)
        )
        found.append((shrunk / true - 1, plain / true - 1))
    shrunk, plain = np.mean(found, axis=0)
    assert abs(shrunk) < 0.06
    assert plain > 0.1


# What must never happen --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("directed", [False, True])
def test_weights_are_whole_within_bounds_and_the_same_again(law, directed):
    net = grid(6, directed=directed)
    noisy = noisy_edges(net, law=law)
    found = shrink_weights(noisy)
    assert found.dtype == np.int64
    assert (found >= noisy.lattice.low).all()
    assert (found <= noisy.lattice.high).all()
    assert np.array_equal(found, shrink_weights(noisy))


def test_where_there_is_nothing_to_learn_weights_are_clipped():
    few = Network.build(range(4), [0, 1, 2], [1, 2, 3], [1.0, 2.0, 3.0])
    noisy = noisy_edges(few)
    assert np.array_equal(shrink_weights(noisy), clip_weights(noisy))
    assert error_replicates(noisy) is None
    exact = hushpath.release(grid(6), epsilon=float("inf"), unit=1.0, mechanism="input")
    assert exact.decoder.estimator.name == "shrink"
    noisy = NoisyEdges.from_measurements(exact.measurements)
    assert np.array_equal(shrink_weights(noisy), clip_weights(noisy))


@pytest.mark.parametrize("value", [-(2**62), 2**62, 0])
@pytest.mark.parametrize("every", [1, 3])
def test_hostile_values_do_no_harm(value, every):
    noisy = noisy_edges(grid(5))
    noisy = replace(noisy, values=np.where(np.arange(len(noisy.values)) % every == 0, value, noisy.values))
    found = shrink_weights(noisy)
    assert ((found >= noisy.lattice.low) & (found <= noisy.lattice.high)).all()
    made = error_replicates(noisy)
    assert made is None or all(np.isfinite(part).all() for part in (made.estimates, made.truths, made.relative_sd))


def test_many_components_parallel_edges_and_isolated_nodes():
    rng = np.random.default_rng(2)
    tails = np.concatenate([rng.integers(0, 15, 40), rng.integers(20, 30, 30)])
    heads = np.concatenate([rng.integers(0, 15, 40), rng.integers(20, 30, 30)])
    net = Network.build(range(40), tails, heads, rng.random(70) * 10, parallel_edges=True)
    noisy = noisy_edges(net)
    found = shrink_weights(noisy)
    assert ((found >= noisy.lattice.low) & (found <= noisy.lattice.high)).all()


def test_values_are_counted_in_units_of_noise(plane):
    noisy = noisy_edges(plane, scale=2.0)
    seen = observe(noisy)
    assert seen.scales == pytest.approx(1.0)
    assert noisy.unit * float(noisy.lattice.granularity) == pytest.approx(2.0, rel=0.01)
    assert seen.values * noisy.unit == pytest.approx(noisy.values)
    assert not seen.gaussian
    assert seen.high.max() == pytest.approx(seen.values.max() + shrink.FAR_ABOVE)  # the bound of 100 does not matter
    low = observe(replace(noisy, values=noisy.values - 10**9))
    assert (low.high >= low.low).all()


# The check and what follows from it -------------------------------------------------------------------------------


def replicates_of(true, model_sd, plain_sd, *, level=1.0, count=8, seed=0, shared=0.0):
    """Replicates by hand: independent errors of all distances, and a model whose level is off by a factor.

    ``shared`` is the standard deviation of the logarithm of an error that all plain distances of one replicate share.
    """
    rng, pairs = np.random.default_rng(seed), len(true)

    def three(mean, scale):
        made = mean * np.exp(0.1 * rng.normal(size=pairs))
        plain = made * np.exp(shared * rng.normal()) + plain_sd * rng.normal(size=pairs)
        return made, plain, scale * made + model_sd * rng.normal(size=pairs)

    rows = [three(level * true, 1.0) for _ in range(count)]
    _, plain, shrunk = three(true, level)
    parts = (np.stack(part) for part in zip(*rows, strict=True))
    where = np.zeros(pairs, np.int64), np.arange(pairs)
    return Replicates(np.zeros(1, np.int64), where, *parts, plain, shrunk, 1.0)


DISTANCES = np.random.default_rng(5).uniform(5, 40, 400)


@pytest.mark.parametrize(("model_sd", "plain_sd"), [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)])
def test_right_replicates_give_nearly_the_best_share(model_sd, plain_sd):
    found = Calibration.of(replicates_of(DISTANCES, model_sd, plain_sd))
    best = model_sd**2 / (model_sd**2 + plain_sd**2)
    assert found.share == pytest.approx(best, abs=0.15)
    assert found.factor == pytest.approx(1.0, abs=0.02)
    assert found.excess < 0.05
    assert found.level_sd < 0.02


@pytest.mark.parametrize("level", [1.2, 1 / 1.2])
def test_a_model_at_the_wrong_level_is_corrected(level):
    found = Calibration.of(replicates_of(DISTANCES, 3.0, 2.0, level=level))
    assert found.factor * level == pytest.approx(1.0, abs=0.04)


def test_a_level_that_chance_explains_is_not_corrected():
    """Plain distances of one replicate share an error of 30 %: that those of the release are shorter says little."""
    found = Calibration.of(replicates_of(DISTANCES, 1.0, 2.0, level=1.1, shared=0.3))
    sure = Calibration.of(replicates_of(DISTANCES, 1.0, 2.0, level=1.1))
    assert abs(np.log(found.factor)) < 0.03
    assert found.level_sd > 2 * sure.level_sd


def test_a_model_that_is_wrong_about_single_distances_is_charged_with_it():
    made = replicates_of(DISTANCES, 1.0, 3.0)
    wrong = 6.0 * np.random.default_rng(6).normal(size=len(DISTANCES))
    right, found = (Calibration.of(one) for one in (made, replace(made, released_shrunk=made.released_shrunk + wrong)))
    assert found.share > right.share + 0.3
    assert found.excess * DISTANCES.mean() == pytest.approx(6.0, rel=0.3)


def test_where_there_are_no_distances_nothing_is_calibrated():
    made = replicates_of(np.zeros(5), 0.0, 0.0)
    found = Calibration.of(made)
    assert (found.factor, found.share, found.level_sd, found.excess) == (1.0, 0.0, 0.0, 0.0)
    assert found.mix(np.array([2.0]), np.array([5.0])).tolist() == [2.0]


def test_both_kinds_of_weights_are_mixed():
    found = Calibration(0.5, 0.25, 0.0, 0.0, 1.0).mix(np.array([8.0]), np.array([2.0]))
    assert found.tolist() == [0.75 * 0.5 * 8 + 0.25 * 2]


def test_replicates_are_of_the_release(plane):
    noisy = noisy_edges(plane)
    model = fit(plane.topology, observe(noisy))
    made = Replicates.simulate(noisy, model, 6, 5)
    assert made.true.shape == made.plain.shape == made.shrunk.shape == (6, 5 * 143)
    assert not (made.sources[made.pairs[0]] == made.pairs[1]).any()
    assert np.abs(np.log(made.true.mean() / made.released_shrunk.mean())) < 0.1
    assert np.abs(made.plain - made.true).mean() > np.abs(made.shrunk - made.true).mean()
    assert 0.5 < made.response < 1.5
    again = Replicates.simulate(noisy, model, 6, 5)
    assert np.array_equal(made.plain, again.plain)
    assert not np.array_equal(made.true[0], made.true[1])


def test_a_model_that_is_a_fifth_too_slow_is_found_out(plane):
    noisy = noisy_edges(plane, scale=1.0)
    seen = observe(noisy)
    slow = fit(plane.topology, seen._replace(values=1.2 * seen.values))
    right, wrong = (
        Calibration.of(Replicates.simulate(noisy, replace(model, seen=seen), 8, 12))
        for model in (fit(plane.topology, seen), slow)
    )
    assert np.log(wrong.factor / right.factor) == pytest.approx(-np.log(1.2), abs=0.08)


def test_large_networks_have_fewer_replicates(plane, monkeypatch):
    noisy = noisy_edges(plane)
    model = fit(plane.topology, observe(noisy))
    monkeypatch.setattr(shrink, "VISITED", 1)
    made = Replicates.simulate(noisy, model, 8, 12)
    assert made.true.shape == (shrink.FEW_REPLICATES, 2 * 143)
    assert np.isfinite(Calibration.of(made).factor)


def test_bridges_keep_noise_that_points_down():
    net = Network.build(range(5), [0, 1, 2, 2, 3], [1, 2, 3, 4, 4], np.ones(5))
    values = np.full(5, -2.0)
    seen = observe(noisy_edges(net))._replace(values=values)
    ends = zip(net.topology.tails.tolist(), net.topology.heads.tolist(), strict=True)
    found = dict(zip(ends, shrink.plain_weights(net.topology, seen, values).tolist(), strict=True))
    assert found == {(0, 1): -2.0, (1, 2): -2.0, (2, 3): 0.0, (2, 4): 0.0, (3, 4): 0.0}


def test_replicates_of_errors_are_as_large_as_the_errors(plane):
    """The standard deviation that replicates show is that of the error found, within a factor."""
    ratios = []
    for seed in range(4):
        noisy = noisy_edges(plane, seed=seed)
        made = error_replicates(noisy)
        step = noisy.unit * float(noisy.lattice.granularity)
        shown = np.sqrt(np.mean((made.estimates - made.truths) ** 2)) * step
        sources = np.unique(made.ends[0])
        rows = [
            distance_rows(plane.topology, weights, sources)
            for weights in (plane.weights.reveal(), shrink_weights(noisy) * float(noisy.lattice.granularity))
        ]
        ratios.append(np.sqrt(np.mean((rows[0] - rows[1]) ** 2)) / shown)
        assert 0 <= made.relative_sd < 0.3
    assert 0.5 < np.mean(ratios) < 1.7


# Files carry what took long to work out ---------------------------------------------------------------------------


def test_a_file_carries_the_weights(plane, tmp_path, monkeypatch):
    terms = dict(epsilon=1.0, unit=2.0, max_weight=60.0, mechanism="input", seed=1)
    made = hushpath.release(plane, **terms)
    made.save(tmp_path / "x.hush")
    hushpath.release(plane, **terms).with_decoder(estimator="clip").save(tmp_path / "quick.hush")

    def never(*_):
        raise AssertionError("estimated again")

    monkeypatch.setattr(shrink, "fit", never)
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


def test_a_table_of_edges_says_what_is_not_private_and_holds_every_estimate(plane):
    made = hushpath.release(plane, epsilon=1.0, unit=1.0, mechanism="input", max_weight=100.0, seed=1)
    table = made.edges(0.8)
    assert list(table.columns) == ["NOT PRIVATE", "source", "target", "estimate", "low", "high", "measured"]
    assert (table["NOT PRIVATE"] == "NOT PRIVATE").all()
    assert table.attrs["marking"] == made.statement.marking
    assert np.array_equal(table["estimate"], made.edge_weights)
    assert ((table["low"] <= table["estimate"]) & (table["estimate"] <= table["high"])).all()
    assert table["measured"].between(0, 1).all()
    wider = made.edges(0.99)
    assert (wider["high"] - wider["low"] > 1.2 * (table["high"] - table["low"])).mean() > 0.9
    assert np.array_equal(made.draws(3), made.draws(3))
