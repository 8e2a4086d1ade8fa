"""Times from totals of trips: what they promise, and that they are worth it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from hushpath.estimator.trips.congestion import Columns, Seen, sample, solve
from hushpath.estimator.trips.line_field import OPPOSED, PeriodFields, Smoothness, line_graph
from hushpath.estimator.trips.times import estimate_times
from hushpath.estimator.trips.totals import TripTotals
from hushpath.measurement.samples import distance_rows
from hushpath.network.topology import Topology
from hushpath.noise import Law

LOW, HIGH = 0.5, 6.0


def grid(side=14, directed=True, places=True):
    """A street grid; every fourth street is fast."""
    spot = np.arange(side * side).reshape(side, side)
    ends = np.vstack([np.c_[spot[:, :-1].ravel(), spot[:, 1:].ravel()], np.c_[spot[:-1].ravel(), spot[1:].ravel()]])
    if directed:
        ends = np.vstack([ends, ends[:, ::-1]])
    xy = np.c_[np.repeat(np.arange(side), side), np.tile(np.arange(side), side)].astype(float)
    topology, _ = Topology.build(
        range(side * side), ends[:, 0], ends[:, 1], directed=directed, coordinates=xy if places else None
    )
    line = xy[topology.tails] == xy[topology.heads]  # the coordinate that stays
    fast = (np.where(line[:, 0], xy[topology.tails, 0], xy[topology.tails, 1]) % 4) == 2
    return topology, np.where(fast, 12.0, 24.0), xy


def simulated(periods=1, noise=4.2, seed=1, volume=200.0, **options):
    """Totals of a grid where crowded streets are slow and a field lies over the city; and true seconds."""
    topology, free, xy = grid(**options)
    rng = np.random.default_rng(seed)
    m = topology.num_edges
    middle = (xy[topology.tails] + xy[topology.heads]) / 2
    crowd = volume * np.exp(-((free > 20) * 1.2) + 0.5 * rng.normal(size=m) - 0.1 * np.abs(middle - 6.5).sum(1))
    field = 0.2 * np.sin(middle[:, 0] / 3) + 0.2 * np.cos(middle[:, 1] / 4)
    own = 0.1 * rng.normal(size=m) + 0.06 * rng.normal(size=(periods, m)) + 0.05 * np.arange(periods)[:, None]
    ratio = 1.4 * np.exp(field + own + 0.1 * np.log(crowd / volume))
    truth, count = free * ratio, np.tile(crowd, (periods, 1))
    share = (ratio - LOW) / (HIGH - LOW)
    above, below = (x + noise * rng.normal(size=x.shape) for x in (count * share, count * (1 - share)))
    public = topology, free, LOW * free, HIGH * free, np.ones(m)
    return TripTotals(*public, above, below, noise, Law.GAUSSIAN), truth


def plain_ratio(totals):
    count = totals.above + totals.below
    share = np.where(count > 0, np.clip(totals.above / np.where(count > 0, count, 1), 0, 1), 0.2)
    return totals.low + totals.width * share


def one_ratio(totals):
    return totals.low + totals.width * (totals.above.sum() / (totals.above + totals.below).sum())


def distance_error(totals, seconds, truth, period=0):
    sources = np.arange(0, totals.topology.num_nodes, 9)
    over = [distance_rows(totals.topology, np.broadcast_to(x, truth.shape)[period], sources) for x in (seconds, truth)]
    return np.abs(over[0] - over[1]).mean() / over[1].mean()


def test_without_noise_it_is_the_ratio_wherever_anything_was_measured():
    totals, truth = simulated(noise=0.0, periods=2)
    above, below = totals.above.copy(), totals.below.copy()
    above[0, :9] = below[0, :9] = 0.0
    times = estimate_times(replace(totals, above=above, below=below))
    measured = (above + below) > 0
    assert np.allclose(times.seconds[measured], truth[measured])
    assert (times.standard_error[measured] == 0).all()
    assert (times.sample(0, 2, 1)[:, measured[0]] == times.seconds[0][measured[0]]).all()
    unseen = times.seconds[0, :9] / totals.free_flow[:9]
    assert ((unseen > 0.8) & (unseen < 3.0)).all()


def test_without_signal_it_is_free_flow_times_a_learnt_level():
    totals, _ = simulated(noise=4.2, volume=2.0)
    times = estimate_times(totals)
    ratio = times.seconds / totals.free_flow
    assert ratio.std() < 0.06
    many = replace(totals, above=totals.above + 0.6, below=totals.below + 2.4)  # each edge 3, far below its noise
    level = np.median(estimate_times(many).seconds / totals.free_flow)
    count = (many.above + many.below).sum()
    assert level == pytest.approx(LOW + (HIGH - LOW) * many.above.sum() / count, rel=0.1)


def test_draws_carry_an_unsure_level():
    rows = []
    for seed in range(6):
        totals, truth = simulated(noise=4.2, volume=6.0, seed=seed, side=10)
        drawn = estimate_times(totals).sample(0, 24, 3).mean(axis=1)
        rows.append((truth.mean() - drawn.mean()) / drawn.std())
    assert 0.4 < np.sqrt(np.mean(np.square(rows))) < 2.5  # without it the level is off by 10 spreads and more


def test_with_pure_noise_it_stays_at_free_flow():
    totals, _ = simulated()
    rng = np.random.default_rng(4)
    above, below = 1e6 * rng.normal(size=(2, *totals.shape))
    drowned = replace(totals, noise=1e6, above=above, below=below)
    ratio = estimate_times(drowned).seconds / totals.free_flow
    assert ratio.std() < 0.1
    assert 0.5 < ratio.mean() < 2.5


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("directed", [True, False])
def test_it_beats_the_plain_ratio_and_one_ratio_clearly(seed, directed):
    totals, truth = simulated(seed=seed, directed=directed)
    ours = distance_error(totals, estimate_times(totals).seconds, truth)
    assert ours < 0.5 * distance_error(totals, plain_ratio(totals), truth)
    assert ours < 0.6 * distance_error(totals, one_ratio(totals), truth)


def test_weak_signal_is_not_worse_than_one_ratio():
    errors = []
    for seed in range(4):
        totals, truth = simulated(seed=seed, volume=12.0, side=12)
        pair = estimate_times(totals).seconds, one_ratio(totals)
        errors.append([distance_error(totals, x, truth) for x in pair])
    ours, ratio = np.mean(errors, axis=0)
    assert ours < 1.05 * ratio


def test_periods_borrow_strength():
    together, alone = [], []
    for seed in (1, 2, 3):
        totals, truth = simulated(periods=3, volume=80.0, seed=seed)
        single = replace(totals, above=totals.above[:1], below=totals.below[:1])
        together.append(np.mean((estimate_times(totals).seconds[0] / truth[0] - 1) ** 2))
        alone.append(np.mean((estimate_times(single).seconds[0] / truth[0] - 1) ** 2))
    assert np.mean(together) < 0.85 * np.mean(alone)


def test_many_periods_are_quick_enough():
    totals, truth = simulated(periods=24, side=7)
    times = estimate_times(totals)
    assert times.seconds.shape == (24, totals.topology.num_edges)
    assert np.mean(np.abs(times.seconds / truth - 1)) < 0.15


def test_bounds_need_not_be_multiples_of_free_flow():
    totals, truth = simulated()
    rng = np.random.default_rng(8)
    low, high = truth[0] * rng.uniform(0.2, 0.6, truth.shape[1]), truth[0] * rng.uniform(2, 4, truth.shape[1])
    share, count = (truth - low) / (high - low), 25.0
    above, below = (count * x + 4.2 * rng.normal(size=truth.shape) for x in (share, 1 - share))
    other = replace(totals, low=low, high=high, above=above, below=below)
    times = estimate_times(other)
    assert distance_error(other, times.seconds, truth) < 0.6 * distance_error(other, plain_ratio(other), truth)


@pytest.mark.parametrize("periods", [1, 2])
def test_draws_are_as_wide_as_true_errors(periods):
    within, scores, sizes = [], [], []
    for seed in range(4):
        totals, truth = simulated(seed=seed, periods=periods, side=10)
        times, sources = estimate_times(totals), np.arange(0, totals.topology.num_nodes, 9)
        scores.append((times.seconds - truth) / times.standard_error)
        drawn = np.stack([distance_rows(totals.topology, row, sources) for row in times.sample(0, 24, 7)])
        true = distance_rows(totals.topology, truth[0], sources)
        z = ((true - drawn.mean(0)) / np.maximum(drawn.std(0), 1e-9))[true > 0]
        within.append(np.mean(np.abs(z) < 1.645))
        sizes.append(z)
    assert 0.7 < np.sqrt(np.mean(np.square(scores))) < 1.4  # of single times
    assert 0.78 < np.mean(within) < 0.99  # nominal 0.9; four draws of what edges share are few
    assert 0.6 < np.sqrt(np.mean(np.square(np.concatenate(sizes)))) < 1.5


def test_draws_are_the_same_for_the_same_seed_and_share_errors_between_neighbours():
    totals, _ = simulated()
    times = estimate_times(totals)
    one, again, other = times.sample(0, 40, 5), estimate_times(totals).sample(0, 40, 5), times.sample(0, 40, 6)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    off = (one - one.mean(0)) / one.std(0)
    assert np.var(off.mean(axis=1)) > 3 / totals.topology.num_edges  # independent errors would give 1


@pytest.mark.parametrize("places", ["none", "nan", "some", "same"])
def test_places_may_be_unknown(places):
    totals, truth = simulated()
    t = totals.topology
    xy = {"none": None, "nan": np.full((t.num_nodes, 2), np.nan), "some": t.coordinates.copy(),
          "same": np.zeros((t.num_nodes, 2))}[places]  # fmt: skip
    if places == "some":
        xy[::3] = np.nan
    times = estimate_times(replace(totals, topology=replace(t, coordinates=xy)))
    assert distance_error(totals, times.seconds, truth) < 0.7 * distance_error(totals, plain_ratio(totals), truth)


TINY = {
    "one edge": (2, [(0, 1)]),
    "two parallel edges": (2, [(0, 1), (0, 1)]),
    "both ways": (2, [(0, 1), (1, 0)]),
    "a path": (4, [(0, 1), (1, 2), (2, 3)]),
    "a star": (90, [(0, i) for i in range(1, 90)]),
    "apart": (6, [(0, 1), (2, 3), (4, 5)]),
    "none": (3, []),
}


@pytest.mark.quick(every=3)
@pytest.mark.parametrize("noise", [0.0, 4.2, 1e9])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", TINY)
def test_hostile_totals_give_times_within_bounds(name, directed, noise):
    nodes, ends = TINY[name]
    tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
    topology, _ = Topology.build(range(nodes), tails, heads, directed=directed, parallel_edges=True)
    m = topology.num_edges
    rng = np.random.default_rng(2)
    free = rng.uniform(1, 100, m)
    low, high = np.zeros(m), free * rng.uniform(0.5, 9, m)
    for periods in (1, 2):
        zero = np.zeros((periods, m))
        for above, below in ((zero, zero), (zero - 50, zero - 9), (zero - 5, zero + 1e7),
                             (noise * rng.normal(size=zero.shape), noise * rng.normal(size=zero.shape))):  # fmt: skip
            totals = TripTotals(topology, free, low, high, np.ones(m), above, below, noise, Law.LAPLACE)
            times = estimate_times(totals)
            for seconds in (*times.seconds, *times.sample(periods - 1, 2, 1)):
                assert np.isfinite(seconds).all()
                assert (seconds > 0).all()
                assert ((seconds >= low) & (seconds <= high)).all()
            assert times.seconds.shape == times.standard_error.shape == zero.shape
            assert np.isfinite(times.standard_error).all()


def test_fields_are_solved_and_drawn_as_the_dense_algebra_says():
    topology, _, _ = grid(side=4)
    rng, (p, m) = np.random.default_rng(1), (2, topology.num_edges)
    graphs = line_graph(topology), line_graph(topology, OPPOSED)
    fields = PeriodFields(*graphs, Smoothness(5.0, 0.1), Smoothness(20.0, 0.2))
    facts = Columns(rng.normal(size=(2, m)), rng.normal(size=(1, p, m)), np.array([1.0, 1.0, 3.0, 3.0, 3.0]))
    values, error, tau = rng.normal(size=(p, m)), rng.uniform(0.5, 2, (p, m)), rng.uniform(0.2, 1, (p, m))
    seen = Seen(values, error, tau, 0.6, np.ones(m, bool))
    unit = np.eye(p * m).reshape(-1, p, m)
    precision = np.stack([fields.apply_precision(one).ravel() for one in unit])
    weight = np.stack([seen.apply_precision(one).ravel() for one in unit])
    cov = np.zeros((p * m, p * m))
    for q in range(p):
        for r in range(p):
            alike = 1.0 if q == r else 0.6
            cov[q * m : q * m + m, r * m : r * m + m] = np.diag(alike * seen.tau[q] * seen.tau[r])
    nu = cov.copy()
    cov += np.diag(seen.error.ravel())
    assert np.allclose(weight @ cov, np.eye(p * m))
    assert np.allclose(np.diag(weight), seen.precision_diagonal.ravel())
    assert np.allclose(np.diag(precision), np.broadcast_to(fields.diagonal(p), (p, m)).ravel())
    assert np.allclose(seen.posterior_variance.ravel(), np.diag(nu - nu @ weight @ nu))
    wide = np.hstack([np.stack([facts.predict(row).ravel() for row in np.eye(5)], axis=1), np.eye(p * m)])
    prior = np.zeros((5 + p * m,) * 2)
    prior[:5, :5], prior[5:, 5:] = np.diag(facts.ridge), precision
    posterior = np.linalg.inv(wide.T @ weight @ wide + prior)
    mean = wide @ (posterior @ (wide.T @ (weight @ seen.values.ravel())))
    found = solve(facts, fields, seen)
    assert np.abs(found.expected.ravel() - mean).max() < 0.02
    drawn = [sample(facts, fields, seen, found, seed) for seed in range(300)]
    shared = np.array([one.expected.ravel() for one, _ in drawn])
    variance = np.einsum("ij,jk,ik->i", wide, posterior, wide)
    assert np.mean(shared.var(axis=0) / variance) == pytest.approx(1.0, abs=0.08)
    assert np.mean((shared.mean(axis=0) - mean) ** 2 / variance) < 6 / 300
    eta = np.array([(one.expected + own).ravel() for one, own in drawn])
    given = np.linalg.inv(wide @ np.linalg.inv(prior) @ wide.T + nu)
    exact = np.linalg.inv(given + np.diag(1 / seen.error.ravel()))
    assert np.mean(eta.var(axis=0) / np.diag(exact)) == pytest.approx(1.0, abs=0.08)


def test_line_graphs_tie_what_they_should():
    topology, _ = Topology.build(
        range(4), [0, 1, 1, 1], [1, 2, 3, 0], directed=True, coordinates=[(0, 0), (1, 0), (2, 0), (1, 1)]
    )
    arc = {(int(a), int(b)): i for i, (a, b) in enumerate(zip(topology.tails, topology.heads, strict=True))}
    near = line_graph(topology).adjacency.toarray()
    assert near[arc[0, 1], arc[1, 2]] > near[arc[0, 1], arc[1, 3]] > 0  # straight on, then round the corner
    assert line_graph(topology, OPPOSED).adjacency.toarray()[arc[0, 1], arc[1, 0]] < 0 < near[arc[0, 1], arc[1, 0]]
    assert np.allclose(near, near.T)
    assert np.linalg.eigvalsh(near).max() < 1 + 1e-9
    assert np.isinf(dijkstra(line_graph(grid(3, directed=False)[0]).adjacency)).sum() == 0
