"""Every decoder and every estimator, by being registered: what each way to read a release must keep."""

from functools import cache

import numpy as np
import pytest
from named_graphs import SMALL, exact_distances, fitted, named

import hushpath
from hushpath.blocks.samples import few_hops, sampled_hops
from hushpath.decode.registry import DECODERS, decoders_for, default_decoder
from hushpath.errors import CannotError
from hushpath.estimate.core import Estimator, NoisyEdges
from hushpath.estimate.registry import ESTIMATORS
from hushpath.measure import Measurements
from hushpath.noise import Law, stds
from hushpath.publish.oracle import Release
from hushpath.strategy.registry import MECHANISMS

NETWORKS = [name for name in SMALL if named(name).topology.num_nodes <= 40]
OTHER_WAYS = {
    "separator": {"levels": "adjacent"}, "separator-cover": {"levels": "adjacent", "hops": 1}, "lines": {"branch": 2},
}  # fmt: skip


@cache
def releases():
    """One release per network and mechanism (two where options change what is read), with noise and without."""
    made = []
    for name in NETWORKS:
        for mechanism in MECHANISMS:
            for options in ({}, OTHER_WAYS.get(mechanism)):
                for epsilon in (1.0, np.inf):
                    net = fitted(named(name), mechanism)
                    if options is None or (net.topology.directed and not MECHANISMS[mechanism].directed):
                        continue
                    asked = dict(epsilon=epsilon, unit=1.0, max_weight=20.0, seed=7, mechanism=mechanism, **options)
                    made.append((net, hushpath.release(net, **asked)))
    return made


def readings(decoder):
    """Every release that this decoder reads."""
    found = [(net, rel) for net, rel in releases() if DECODERS[decoder].reads(rel.measurements.strategy)]
    assert found, f"no release here is read by decoder {decoder!r}: add a network or a mechanism that measures for it"
    return [(net, rel, rel.read(decoder=decoder)) for net, rel in found]


@pytest.mark.parametrize("decoder", DECODERS)
def test_answers_are_a_metric_that_knows_who_is_joined(decoder):
    for net, rel, read in readings(decoder):
        answers, n = read.matrix(), net.topology.num_nodes
        assert (np.diag(answers) == 0).all()
        assert (answers >= 0).all()
        apart = np.isinf(exact_distances(net.topology, np.ones(net.topology.num_edges)))
        assert np.array_equal(np.isinf(answers), apart)
        if not net.topology.directed:
            assert np.array_equal(answers, answers.T)
        pairs = np.argwhere(np.ones((n, n), bool))[:: max(1, n * n // 60)]
        assert np.array_equal(read.distances(pairs, positions=True), answers[tuple(pairs.T)])
        assert rel.measurements is read.measurements


@pytest.mark.parametrize("decoder", DECODERS)
def test_the_proved_bound_holds_without_noise_and_with_it(decoder):
    outside = total = 0
    for net, rel, read in readings(decoder):
        strategy = rel.measurements.strategy
        true = exact_distances(net.topology, net.weights.on_lattice(strategy.lattice) * strategy.lattice.granularity)
        joined = np.isfinite(true)
        error = read.matrix()[joined] - true[joined]
        bound = DECODERS[decoder].bound(strategy, 0.05)
        inside = (error <= bound.noise + bound.detour + 1e-9) & (error >= -bound.noise - bound.below - 1e-9)
        if strategy.budget.unlimited:
            assert inside.all()
            if MECHANISMS[strategy.mechanism].lossless and DECODERS[decoder] is default_decoder(strategy):
                assert np.array_equal(read.matrix()[joined], true[joined])
        else:
            outside, total = outside + (not inside.all()), total + 1
    assert total
    assert outside <= 0.05 * total + 3 * np.sqrt(0.05 * total)  # each bound may fail with probability 0.05


@pytest.mark.parametrize("decoder", DECODERS)
def test_predictions_come_from_public_facts_and_are_zero_without_noise(decoder):
    for _, rel, _ in readings(decoder):
        strategy = rel.measurements.strategy
        for hops in (few_hops, sampled_hops):
            expected = DECODERS[decoder].predict(strategy, hops)
            assert np.isfinite(expected.spread).all()
            assert (expected.spread >= 0).all()
            assert (np.asarray(expected.moved) >= 0).all()
            assert (np.asarray(expected.minima) >= 0).all()
            assert not strategy.budget.unlimited or not expected.spread.any()


@pytest.mark.parametrize("decoder", DECODERS)
def test_intervals_surround_the_answer(decoder):
    for net, rel, read in readings(decoder)[::3]:
        topology, labels = net.topology, net.topology.labels
        if read.decoder.searches and not read.decoder.estimator.proved and "ranges" not in vars(DECODERS[decoder]):
            for edge in np.flatnonzero(topology.tails != topology.heads)[
                :1
            ]:  # where there is something to be unsure of
                with pytest.raises(CannotError, match="estimator='clip'"):  # no bound is known
                    read.interval(labels[topology.tails[edge]], labels[topology.heads[edge]])
            read = rel.read(decoder=decoder, estimator="clip")
        for a, b in ((labels[0], labels[-1]), (labels[0], labels[min(1, len(labels) - 1)])):
            low, high = read.interval(a, b)
            assert 0 <= low <= read.distance(a, b) <= high or np.isinf(low)
        assert read.interval(labels[0], labels[0]) == (0.0, 0.0)


@pytest.mark.parametrize("decoder", [name for name in DECODERS if DECODERS[name].indexed])
def test_the_index_answers_as_the_decoder_does(decoder, tmp_path):
    for i, (_, rel, read) in enumerate(readings(decoder)[::4]):
        before = read.matrix()
        read.save_index(tmp_path / f"{i}.hushx")
        assert np.array_equal(read.matrix(), before)
        again = rel.read(decoder=decoder)
        again.load_index(tmp_path / f"{i}.hushx")
        assert np.array_equal(again.matrix(), before)
        if DECODERS[decoder] is not default_decoder(rel.measurements.strategy) and rel.decoder.indexed:
            with pytest.raises(hushpath.HushpathError, match="another"):
                rel.load_index(tmp_path / f"{i}.hushx")


def test_the_default_is_the_first_that_reads_and_every_release_has_one():
    for _, rel in releases():
        able = decoders_for(rel.measurements.strategy)
        assert rel.decoder.name == able[0].name == rel.read().decoder.name
        assert np.array_equal(rel.read(decoder=able[0].name).matrix(), rel.matrix())


def test_what_cannot_be_read_so_is_refused_in_words():
    net = named("grid")
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input")
    for asked, words in (
        (dict(decoder="anchors"), "cannot read a release by 'input'; these can: edges"),
        (dict(decoder="nobody"), "no decoder is called 'nobody'; choose from: lifted, hierarchy"),
        (dict(estimator="nobody"), "no estimator is called 'nobody'; choose from: lean, sums, shrink, clip"),
    ):
        with pytest.raises(hushpath.HushpathError, match=words):
            rel.read(**asked)
    table = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="all-pairs")
    with pytest.raises(hushpath.HushpathError, match="searches no edge weights"):
        table.read(estimator="clip")


def test_every_reading_keeps_its_bound_where_hubs_are_not_random():
    """One hub in each of many components: a hop limit that took them all for random ones would prove too much."""
    n, lonely = 400, 300
    net = hushpath.Network.build(range(n + lonely), np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5.0), upper=10.0)
    true = exact_distances(net.topology, net.weights.reveal())[:n, :n]
    for mechanism in ("hubs", "hubs-bounded", "cover", "input"):
        few = {"hubs": 6} if "hub" in mechanism else {}
        rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism=mechanism, **few)
        for decoder in decoders_for(rel.measurements.strategy):
            bound = decoder.bound(rel.measurements.strategy, 0.05)
            error = rel.read(decoder=decoder.name).matrix()[:n, :n] - true
            assert error.max() <= bound.noise + bound.detour, decoder.name
            assert error.min() >= -bound.noise - bound.below, decoder.name


def test_a_cover_is_read_as_one_even_if_it_holds_everybody():
    rel = hushpath.release(named("path"), epsilon=1.0, unit=1.0, mechanism="cover", hops=0, max_weight=20.0)
    assert rel.decoder.name == "cover"


def test_an_index_of_one_estimator_is_not_served_for_another(monkeypatch, tmp_path):
    longest = Estimator("longest", "every edge as long as it may be", lambda noisy: noisy.lattice.high[noisy.edges])
    monkeypatch.setitem(ESTIMATORS, "longest", longest)
    rel = hushpath.release(named("grid"), epsilon=1.0, unit=1.0, mechanism="input", max_weight=20.0, seed=1)
    other = rel.read(estimator="longest")
    for mine, theirs in ((rel, other), (other, rel)):
        mine.save_index(tmp_path / "x.hushx")
        with pytest.raises(hushpath.HushpathError, match="another way to read it"):
            theirs.load_index(tmp_path / "x.hushx")
        mine.load_index(tmp_path / "x.hushx")
    assert not np.array_equal(rel.matrix(), other.matrix())


# --- estimators ------------------------------------------------------------------------------------------------------


def noisy_edges():
    for _, rel in releases():
        noisy = NoisyEdges.of(rel.measurements)
        if len(noisy.edges):
            yield rel, noisy


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimated_weights_are_whole_steps_within_public_bounds(estimator):
    for i, (rel, noisy) in enumerate(noisy_edges()):
        before = noisy.values.copy()
        weights = ESTIMATORS[estimator].weights(noisy)
        assert weights.dtype == np.int64
        assert weights.shape == (rel.topology.num_edges,)
        assert (noisy.lattice.low <= weights).all()
        assert (weights <= noisy.lattice.high).all()
        assert np.array_equal(noisy.values, before)
        if i % 4 == 0:  # of every two releases the first is noisy
            assert np.array_equal(ESTIMATORS[estimator].weights(noisy), weights)  # nothing is drawn at random


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_without_noise_there_is_nothing_to_estimate(estimator):
    seen = 0
    for rel, noisy in noisy_edges():
        if rel.measurements.strategy.budget.unlimited:
            seen += 1
            assert np.array_equal(ESTIMATORS[estimator].weights(noisy)[noisy.edges], noisy.values)
    assert seen


@pytest.mark.parametrize("estimator", [name for name in ESTIMATORS if ESTIMATORS[name].proved])
def test_a_proved_estimator_moves_no_weight_away_from_the_truth(estimator):
    seen = 0
    for net, rel in releases():
        noisy = NoisyEdges.of(rel.measurements)
        if len(noisy.edges):
            seen += not rel.measurements.strategy.budget.unlimited
            true = net.weights.on_lattice(noisy.lattice)[noisy.edges]
            weights = ESTIMATORS[estimator].weights(noisy)[noisy.edges]
            assert (np.abs(weights - true) <= np.abs(noisy.values - true)).all()
    assert seen


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_intervals_know_how_far_an_estimator_may_be_off(estimator):
    """Simulated intervals hold the truth about as often as they say; proved ones are refused if nothing is proved."""
    net = named("grid")
    true, inside = exact_distances(net.topology, net.weights.reveal())[0], []
    for seed in range(12):
        rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", max_weight=20.0, seed=seed)
        read, targets = rel.read(estimator=estimator), [5, 40, 60]
        low, high = read.intervals([(0, target) for target in targets], 0.9).T
        inside.extend((low <= true[targets]) & (true[targets] <= high))
    assert np.mean(inside) > 0.6  # 36 draws of a chance of about 0.9; below 0.6 by chance once in a million
    hubs = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="hubs", seed=1).read(estimator=estimator)
    if ESTIMATORS[estimator].proved:
        hubs.interval(0, 5)
    else:
        with pytest.raises(hushpath.HushpathError, match="not proved for estimator"):
            hubs.interval(0, 5)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_wild_noise_breaks_no_estimator(estimator):
    rel = hushpath.release(named("grid"), epsilon=1.0, unit=1.0, mechanism="input", max_weight=20.0, seed=1)
    for extreme in (-(2**62), 0, 2**62):
        values = np.full_like(rel.measurements.values, extreme)
        wild = Release(Measurements(rel.measurements.strategy, values, "vector-seeded", False))
        answers = wild.read(estimator=estimator).matrix()
        assert (answers >= 0).all()
        assert np.isfinite(answers).all()


def test_noisy_edges_know_their_noise():
    for rel, noisy in noisy_edges():
        strategy = rel.measurements.strategy
        assert noisy.law is Law(strategy.law)
        assert len(noisy.edges) == len(noisy.values) == len(noisy.scales) == len(noisy.noise)
        block = next(block for block in strategy.blocks if len(block.edges))
        last = strategy.numbers_of(type(block)).stop
        measured = slice(last - len(noisy.edges), last)
        drawn = noisy.drawn(np.random.default_rng(1))
        assert drawn.shape == noisy.values.shape
        assert np.array_equal(drawn == 0, noisy.noise == 0)
        if noisy.plain:
            assert set(noisy.scales.tolist()) <= set(strategy.scales.tolist())
            assert np.array_equal(noisy.values, rel.measurements.values[measured])
        else:  # sums can only add to what an edge's own number says (tests/unit/test_lines.py compares with a twin)
            own = noisy.edges - noisy.edges[0] + len(strategy.scales) - len(noisy.edges)
            assert (noisy.noise <= stds(strategy.law, strategy.scales[own]) + 1e-9).all()
    assert {type(noisy).__name__ for _, noisy in noisy_edges()} == {"NoisyEdges", "LeastSquaresEdges"}
