"""The estimator ``sums-prior``: least squares on sums along lines, with a prior for each edge."""

import numpy as np
import pytest

import hushpath
from hushpath import Network
from hushpath.estimator.base import LeastSquaresEdges
from hushpath.estimator.registry import ESTIMATORS
from hushpath.estimator.weights.bounds import keep_sums
from hushpath.estimator.weights.sums_prior import combine, estimate_with_prior


def released(weights, seed=1, places=None, **terms):
    n = len(weights) + 1
    net = Network.build(range(n), np.arange(n - 1), np.arange(1, n), weights, coordinates=places)
    asked = dict(epsilon=1.0, delta=0.0, unit=1.0, max_weight=20.0, mechanism="lines", seed=seed)
    return net, hushpath.release(net, **{**asked, **terms})


def test_it_is_the_mean_of_weights_given_all_numbers():
    _, rel = released(np.random.default_rng(0).uniform(0, 9, 150))
    block = rel.decoder.noisy.block
    rng, m, count = np.random.default_rng(1), 150, len(block.runs.first)
    assert count > 5
    numbers, variance = rng.normal(size=count + m), rng.uniform(0.5, 2, count + m)
    mean, around = rng.normal(size=m), rng.uniform(0.5, 2, m)
    design = np.vstack([np.zeros((count, m)), np.eye(m)])
    for row, first, last in zip(design, block.runs.first, block.runs.last, strict=False):
        row[block.lines.order[first:last]] = 1
    told = design.T / variance
    estimates = np.linalg.solve(told @ design, told @ numbers)
    expected = np.linalg.solve(told @ design + np.diag(1 / around), told @ numbers + mean / around)
    assert combine(block, variance, estimates, mean, around) == pytest.approx(expected, abs=1e-9)


def mean_error(weights, estimator, repeats=6, **more):
    found = []
    for seed in range(repeats):
        net, rel = released(weights, seed, **more)
        found.append(hushpath.evaluate(net, rel.with_decoder(estimator=estimator), sources=20).mean_error)
    return np.mean(found)


@pytest.mark.slow
def test_it_beats_sums_where_weights_are_alike_and_more_so_with_lengths():
    weights = np.random.default_rng(2).uniform(0.5, 1.5, 300)
    plain = mean_error(weights, "sums", epsilon=4.0)
    assert mean_error(weights, "sums-prior", epsilon=4.0) < 0.85 * plain
    places = np.c_[np.concatenate([[0], np.cumsum(weights)]), np.zeros(301)]
    assert mean_error(weights, "sums-prior", places=places, epsilon=4.0) < 0.7 * plain


@pytest.mark.slow
def test_the_prior_yields_to_sums_that_contradict_it():
    # Half of the line is ten times as slow, and no fact tells which: a model of single edges is wrong about all sums.
    weights = np.repeat([0.2, 2.0], 150) * np.random.default_rng(3).uniform(0.9, 1.1, 300)
    for epsilon in (1.0, 16.0):  # taking neighbours into the model too costs a third: their noise would count twice
        assert mean_error(weights, "sums-prior", epsilon=epsilon) < 1.1 * mean_error(weights, "sums", epsilon=epsilon)


def test_it_is_the_default_in_forests_with_sums_and_falls_back_on_sums_elsewhere():
    net, rel = released(np.full(60, 3.0))
    assert str(rel.decoder_choice) == "edges, sums-prior"
    assert isinstance(rel.decoder.noisy, LeastSquaresEdges)
    assert "edges, sums-prior" in str(rel.statement)
    small = released(np.full(8, 3.0))[1]
    assert small.decoder_choice.estimator.name == "sums"
    assert np.array_equal(estimate_with_prior(small.decoder.noisy), keep_sums(small.decoder.noisy))
    single = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1)
    assert single.decoder_choice.estimator.name == "shrink"
    assert np.array_equal(estimate_with_prior(single.decoder.noisy), keep_sums(single.decoder.noisy))
    assert ESTIMATORS["sums-prior"].costly


def test_the_file_stores_its_weights(tmp_path):
    _, rel = released(np.random.default_rng(4).uniform(0, 9, 80))
    rel.save(tmp_path / "line.hush")
    again = hushpath.load(tmp_path / "line.hush")
    assert np.array_equal(again.matrix(), rel.matrix())
    assert again.statement.read_as == "edges, sums-prior"


@pytest.mark.slow  # tests/unit/test_intervals.py has others of lines, which are quick
def test_intervals_hold_the_truth():
    inside = total = 0
    for seed in range(8):
        net, rel = released(np.random.default_rng(seed).lognormal(1.0, 0.6, 200), seed, max_weight=30.0)
        true = np.concatenate([[0], np.cumsum(net.weights.reveal())])
        pairs = np.random.default_rng(seed).integers(0, 201, (300, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        low, high = rel.intervals(pairs, positions=True).T
        far = np.abs(true[pairs[:, 0]] - true[pairs[:, 1]])
        inside, total = inside + ((low <= far) & (far <= high)).sum(), total + len(far)
    assert inside / total > 0.86
