"""How much of the noisy weights to mix in, and what routes show about the shrunken ones."""

from dataclasses import replace

import numpy as np
import pytest
from noisy_grid import grid, noisy_edges

from hushpath.estimator.weights import shrink
from hushpath.estimator.weights.regression import Observed
from hushpath.measurement.samples import distances
from hushpath.noise import Law


@pytest.fixture(scope="module")
def plane():
    return grid(12)


@pytest.mark.slow
def test_a_shared_error_keeps_noisy_weights(plane):
    noisy = noisy_edges(plane, scale=1.0)
    unit = noisy.unit
    samples = shrink.shrink_once(noisy).samples
    shares = [shrink.best_share(noisy, samples, shared, unit, shrink.shrink_once) for shared in (0.0, 0.1, 1.0)]
    assert shares[0] < shares[1] < shares[2]
    assert shares[0] < 0.4
    assert shares[2] > 0.9


def test_routes_longer_than_their_facts_promise_are_no_error_but_shorter_ones_are(plane):
    m = plane.topology.num_edges
    noise, vague = np.random.default_rng(3).laplace(0, 0.1, m), np.full(m, 0.5)

    def in_common(mean, values, spread):
        shrunk = shrink.ShrunkWeights(mean, mean, values, (), spread)
        return shrink.shared_error_of_means(plane.topology, np.ones(m), shrunk, values)

    longer, shorter = (in_common(np.ones(m), ratio + noise, vague) for ratio in (1.3, 0.7))
    assert longer < 0.03
    assert shorter == pytest.approx(0.3, abs=0.05)
    assert in_common(np.ones(m), 0.97 + noise, vague / 50) < 0.003  # each edge is known: it is noise
    assert in_common(np.zeros(m), noise, vague) == 0.0


def test_small_networks_have_more_replicates(plane, monkeypatch):
    noisy = noisy_edges(plane)
    unit, samples = noisy.unit, shrink.shrink_once(noisy).samples
    turns = []
    monkeypatch.setattr(shrink, "_relative_risks", lambda *args: turns.append(args[-1]) or np.ones(5))
    shrink.best_share(noisy, samples, 0.0, unit, shrink.shrink_once)
    monkeypatch.setattr(shrink, "BOOTSTRAP_EDGES", plane.topology.num_edges)
    shrink.best_share(noisy, samples, 0.0, unit, shrink.shrink_once)
    assert turns == [*range(shrink.MAX_REPLICATES), 0]


def test_a_replicate_of_weights_that_are_all_zero_prefers_nothing(plane):
    noisy = noisy_edges(plane)
    silent = replace(noisy, values=np.zeros_like(noisy.values), scales=np.zeros_like(noisy.scales))
    zero = shrink.ShrunkWeights(*(np.zeros(len(noisy.edges)),) * 3, samples=(), sd=np.zeros(len(noisy.edges)))
    with np.errstate(all="raise"):
        risk = shrink._relative_risks(silent, zero.mean, 0.0, 1.0, lambda _: zero, 0)
    assert risk.tolist() == [1.0] * len(shrink.MIXED_SHARES)


def test_distances_over_shrunken_weights_are_right_on_average():
    """The factor for selection bias: means of weights alone make distances a quarter too long here."""
    rng = np.random.default_rng(4)
    off = []
    for seed in range(6):
        net = grid(20, weights=rng.lognormal(1.0, 0.7, 760))
        shrunk = shrink.shrink_once(noisy := noisy_edges(net, scale=3.0, seed=seed))
        unit = noisy.unit * float(noisy.lattice.granularity)
        true, found, plain = (
            distances(net.topology, weights).mean()
            for weights in (net.weights.reveal(), shrunk.weights * unit, shrunk.mean * unit)
        )
        off.append((found / true - 1, plain / true - 1))
    found, plain = np.mean(off, axis=0)
    assert abs(found) < 0.05
    assert plain > 0.15


def test_what_routes_show_counts_where_edges_are_not_known(plane):
    noisy = noisy_edges(plane, scale=0.2)
    fitted = shrink.fit_regression(plane.topology, Observed.from_edges(noisy))
    mean = fitted.posterior().mean
    shorter = replace(fitted, observed=replace(fitted.observed, values=0.9 * mean))
    known, vague = 0.01 * mean, 0.5 * mean
    assert shrink._route_factor(shorter, mean, known) > 0.98
    assert shrink._route_factor(shorter, mean, vague) == pytest.approx(0.9, abs=0.02)
    assert shrink._route_factor(fitted, np.zeros_like(mean), np.zeros_like(mean)) == 1.0


def test_a_bootstrap_in_a_part_of_a_large_network(plane, monkeypatch):
    monkeypatch.setattr(shrink, "BOOTSTRAP_PART", 60)
    noisy = noisy_edges(plane)
    part, kept = shrink._bootstrap_part(noisy)
    assert 10 < len(kept) <= 60
    topology = part.topology
    nodes = np.unique(np.concatenate([plane.topology.tails[kept], plane.topology.heads[kept]]))
    assert np.array_equal(nodes[topology.tails], plane.topology.tails[kept])
    assert np.array_equal(part.values, noisy.values[kept])
    assert part.law is Law.LAPLACE
    assert (shrink.shrink_weights(noisy) >= noisy.lattice.low).all()
