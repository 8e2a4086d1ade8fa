"""The decoder that makes good what minima over noisy shortcuts lose: it helps where they lose much, and never else."""

from dataclasses import replace

import numpy as np
import pytest

import hushpath
from hushpath.decoder.hierarchy import MOST_SHARE, Trial, bias_limits
from hushpath.decoder.registry import default_decoder
from hushpath.lab.networks import draw_weights, generate_graph
from hushpath.measurement.blocks import HierarchyBlock
from hushpath.measurement.exact import exact_numbers
from hushpath.published.release import Release
from hushpath.releasing.evaluate import evaluate


def grid_ends(side):
    at = np.arange(side * side).reshape(side, side)
    along, across = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (along, across)])


def made(name, size, epsilon, *, kind="uniform", mechanism="separator", seed=5, **options):
    graph = generate_graph(name, size, 1)
    drawn, bound = draw_weights(graph, kind, seed)
    net = hushpath.Network.build(range(len(graph.places)), *graph.ends.T, drawn)
    return net, hushpath.release(
        net, epsilon=epsilon, unit=1.0, max_weight=bound, mechanism=mechanism, seed=seed, **options
    )


@pytest.mark.quick(every=3)
@pytest.mark.parametrize(
    ("name", "epsilon", "most"),
    [("grid", 100, 0.4), ("grid", 1000, 0.5), ("delaunay", 1000, 0.5), ("ktree", 100, 0.8), ("ladder", 1, 0.8)],
)
def test_most_of_the_bias_goes_where_minima_lose_much(name, epsilon, most):
    before, after = [], []
    for seed in (1, 2):
        net, rel = made(name, 900, epsilon, seed=seed)
        assert rel.decoder.name == "lifted"
        before.append(evaluate(net, rel.with_decoder(decoder="hierarchy")))
        after.append(evaluate(net, rel))
    assert all(one.bias < -0.6 * one.mean_error for one in before)  # nearly all of the error is bias
    assert np.mean([one.mean_error for one in after]) < most * np.mean([one.mean_error for one in before])
    assert abs(np.mean([one.bias for one in after])) < 0.5 * abs(np.mean([one.bias for one in before]))


@pytest.mark.parametrize("name", ["grid", "ktree", "city"])
@pytest.mark.parametrize("epsilon", [1e-2, 1e6])
def test_where_minima_lose_little_or_noise_drowns_everything_shortcuts_are_read_as_they_are(name, epsilon):
    _, rel = made(name, 400, epsilon)
    assert rel.decoder.share == 0.0
    assert np.array_equal(rel.matrix(), rel.with_decoder(decoder="hierarchy").matrix())


def test_on_trees_nothing_is_lost_and_nothing_is_lengthened():
    _, rel = made("tree", 300, 1.0)
    assert rel.decoder.name == "lifted"
    assert not bias_limits(rel.measurements.strategy).any()
    assert rel.decoder.share == 0.0


def test_the_share_is_the_same_every_time_and_depends_on_what_was_released_only():
    _, rel = made("grid", 400, 100.0)
    share = rel.decoder.share
    assert 0 < share <= MOST_SHARE
    assert Release(rel.measurements).decoder.share == share
    longer = replace(rel.measurements, values=rel.measurements.values.copy())
    assert Release(longer).decoder.share == share
    block = rel.measurements.strategy.block(HierarchyBlock)
    cells = int(block.group_sizes[: block.hierarchy.num_cells].sum())
    lifted, plain = rel.decoder.groups.items, rel.with_decoder(decoder="hierarchy").decoder.groups.items
    most = np.repeat(MOST_SHARE * bias_limits(rel.measurements.strategy), block.group_sizes)[:cells]
    assert (lifted >= plain).all()
    assert (lifted - plain <= most + 1).all()


def test_wild_numbers_break_nothing():
    _, rel = made("grid", 100, 10.0)
    for extreme in (-(2**62), -1, 0, 2**62):
        values = np.full_like(rel.measurements.values, extreme)
        answers = Release(replace(rel.measurements, values=values)).matrix()
        assert np.isfinite(answers).all()
        assert (answers >= 0).all()
    mixed = np.where(np.arange(len(rel.measurements.values)) % 2, 2**62, -(2**62))
    assert np.isfinite(Release(replace(rel.measurements, values=mixed)).matrix()).all()


def test_a_stand_in_that_would_suffer_is_heard(monkeypatch):
    """The share is chosen for the stand-in it suits least: one that loses nothing speaks against all others."""
    _, rel = made("grid", 400, 100.0)
    assert rel.decoder.share > 0
    inner, first = Trial.error, []

    def error(trial, lift):
        first.append(trial)
        return 1.0 + float(np.max(lift) > 0) if trial is first[0] else inner(trial, lift)

    monkeypatch.setattr(Trial, "error", error)
    assert Release(rel.measurements).decoder.share == 0.0


def test_leaves_without_edges_and_networks_in_pieces():
    _, rel = made("grid", 400, 100.0, leaves="all-pairs")
    assert rel.decoder.share > 0  # without leaf edges the stand-ins are skewed weights alone
    ends = np.concatenate([grid_ends(12), 144 + grid_ends(12)])
    weights = np.random.default_rng(1).uniform(1, 3, len(ends))
    net = hushpath.Network.build(range(290), *ends.T, weights)  # two grids and two lonely nodes
    rel = hushpath.release(net, epsilon=30.0, unit=1.0, max_weight=4.0, mechanism="separator", seed=1)
    assert rel.decoder.share > 0
    assert np.array_equal(np.isinf(rel.matrix()), np.isinf(rel.with_decoder(decoder="hierarchy").matrix()))
    assert np.isinf(rel.matrix()).any()


def test_large_releases_are_read_plainly(monkeypatch):
    _, rel = made("grid", 400, 100.0)
    monkeypatch.setattr("hushpath.decoder.hierarchy.MAX_NUMBERS", 100)
    assert default_decoder(rel.measurements.strategy).name == "hierarchy"


def test_hard_ones_are_not_simulated(monkeypatch):
    """Where the tables of a stand-in take too long (covers of the large separators of an expander), none is made."""
    _, rel = made("grid", 400, 100.0)
    monkeypatch.setattr("hushpath.decoder.hierarchy.MAX_WORK", 1e3)
    monkeypatch.setattr("hushpath.decoder.hierarchy.exact_values", None)
    assert Release(rel.measurements).decoder.share == 0.0


@pytest.mark.parametrize("name", ["grid", "ktree"])
def test_the_bound_counts_every_lengthened_shortcut_and_little_more(name):
    """Numbers without noise, lengthened as far as they may be: all of the error is what the bound adds for it."""
    net, rel = made(name, 200, 100.0)
    strategy = rel.measurements.strategy
    steps = net.weights.on_lattice(strategy.lattice)
    exact = replace(rel.measurements, values=exact_numbers(strategy.blocks[0], strategy.lattice, steps))
    lifted = Release(exact, decoder="lifted")
    lifted.decoder.share = MOST_SHARE
    error = lifted.matrix() - Release(exact, decoder="hierarchy").matrix()
    added = lifted.decoder.bound(strategy, 0.05).detour
    assert error.min() >= 0
    assert 0.2 * added < error.max() <= added
