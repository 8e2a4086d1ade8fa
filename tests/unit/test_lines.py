"""Sums along lines against slow twins: bridges, partition, least squares, variances, and weights within bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import ALL, build, exact_distances, grid_ends, named, random_network
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import hushpath
from hushpath.estimator.base import NoisyEdges, PathErrors
from hushpath.estimator.weights.bounds import within_bounds
from hushpath.measurement.anchors import is_forest
from hushpath.measurement.lines import LineBlock, PathVariances, line_nodes
from hushpath.measurement.strategy import WeightTerms
from hushpath.mechanism.base import Problem, build_strategy
from hushpath.mechanism.registry import MECHANISMS
from hushpath.noise import Law, stds
from hushpath.planning.predict import predict_from_noise
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import WeightUnit
from hushpath.separators.lines import Lines, bridges, lines_of, traffic

RNG = np.random.default_rng(8)
NETWORKS = [random_network(RNG, directed=False).topology for _ in range(60)]
NETWORKS += [named(name).topology for name in ALL if named(name).topology.num_edges <= 60]
NETWORKS += [build(6, [(i, (i + 1) % 6) for i in range(6)], np.ones(6)).topology]  # one closed line
NETWORKS = [topology for topology in NETWORKS if not topology.directed]


def parts(topology, without):
    keep = np.arange(topology.num_edges) != without
    ends = topology.tails[keep], topology.heads[keep]
    graph = coo_array((np.ones(keep.sum()), ends), shape=(topology.num_nodes,) * 2)
    return connected_components(graph, directed=False)


def test_bridges_are_what_parts_a_network_and_traffic_is_how_many_pairs():
    for topology in NETWORKS:
        whole, _ = parts(topology, -1)
        for edge in range(topology.num_edges):
            count, label = parts(topology, edge)
            one, other = (int((label == label[end[edge]]).sum()) for end in (topology.tails, topology.heads))
            assert traffic(topology)[edge] == (one * other if count > whole else 0)
            assert bridges(topology)[edge] == (count > whole)


def test_lines_are_walks_that_hold_every_edge_once_and_pass_no_node_twice():
    for topology in NETWORKS:
        lines = lines_of(topology)
        assert np.array_equal(np.sort(lines.order), np.arange(topology.num_edges))
        assert (lines.lengths > 0).all()
        nodes = line_nodes(topology, lines)  # raises if a line is no walk
        for i in range(len(lines)):
            mine = nodes[lines.start[i] + i : lines.start[i + 1] + i + 1]
            assert len(np.unique(mine[:-1])) == len(np.unique(mine[1:])) == len(mine) - 1
            edges = lines.order[lines.start[i] : lines.start[i + 1]]
            assert len(set(bridges(topology)[edges].tolist())) == 1
            assert np.array_equal(lines.line[edges], np.full(len(edges), i))
            assert np.array_equal(lines.place[edges], np.arange(len(edges)))


def test_a_tree_falls_into_few_lines_and_a_path_into_one():
    assert len(lines_of(build(50, [(i, i + 1) for i in range(49)], np.ones(49)).topology)) == 1
    star = lines_of(build(9, [(0, i) for i in range(1, 9)], np.ones(8)).topology)
    assert sorted(star.lengths.tolist()) == [1, 1, 1, 1, 1, 1, 2]


# --- twins -----------------------------------------------------------------------------------------------------------


def strategy_of(topology, law, branch=2):
    """Uneven scales, as a real choice of shares has them."""
    problem = Problem.of(topology, WeightTerms(Budget(1.0, 1e-6), WeightUnit(1.0), 50.0))
    return build_strategy(MECHANISMS["lines"], problem, law, {"branch": branch})


def matrix(block):
    """Which edges each number adds up."""
    m, runs = block.topology.num_edges, block.runs
    rows = np.zeros((len(runs.first) + m, m))
    for i, (a, b) in enumerate(zip(runs.first, runs.last, strict=True)):
        rows[i, block.lines.order[a:b]] = 1
    rows[len(runs.first) :] = np.eye(m)
    return rows


def uneven(block, rng):
    """A standard deviation per group: every level of a line has its own, its edges share one."""
    levels = rng.uniform(0.5, 4, len(block.level_lines))
    return np.concatenate([levels, rng.uniform(0.5, 4, len(block.lines))[block.lines.line]])


@pytest.mark.parametrize("branch", [2, 3, 5])
def test_least_squares_are_those_of_the_dense_twin(branch):
    rng, levels = np.random.default_rng(1), 0
    for topology in NETWORKS:
        if topology.num_edges == 0:
            continue
        block = strategy_of(topology, Law.LAPLACE, branch).block(LineBlock)
        levels += len(block.level_lines)
        noise = uneven(block, rng)
        weight = 1 / np.repeat(noise, block.group_sizes) ** 2
        rows = matrix(block)
        numbers = rng.normal(0, 10, len(rows))
        covariance = np.linalg.inv(rows.T @ (weight[:, None] * rows))
        assert np.allclose(block.estimates(noise, numbers), covariance @ (rows.T @ (weight * numbers)))
        assert np.allclose(block.edge_noise(noise) ** 2, np.diag(covariance))
        # No combination of errors within the limits moves an estimate farther than the limit says.
        limits = rng.uniform(0.5, 2, len(noise))
        worst = np.abs(covariance @ (rows.T * weight)) @ np.repeat(limits, block.group_sizes)
        assert (block.edge_limits(noise, limits) >= worst - 1e-9).all()
        if is_forest(topology):
            n = topology.num_nodes
            sources, targets = (index.ravel() for index in np.indices((n, n)))
            nothing_shared = np.empty((0, topology.num_edges))
            same = PathErrors(PathVariances.of(block, np.repeat(noise**2, block.group_sizes)), nothing_shared)
            onto = on_paths(topology).reshape(n * n, -1)
            assert np.allclose(same.sd(sources, targets) ** 2, ((onto @ covariance) * onto).sum(1))
            each = rng.uniform(0.5, 4, len(rows))  # and where edges of a line differ
            covariance = np.linalg.inv(rows.T @ (rows / each[:, None]))
            each_own = PathErrors(PathVariances.of(block, each), nothing_shared)
            assert np.allclose(each_own.sd(sources, targets) ** 2, ((onto @ covariance) * onto).sum(1))
    assert levels > 50


def on_paths(topology):
    """For every pair 1 for each edge whose weight is part of its distance."""
    ones = np.ones(topology.num_edges)
    base = exact_distances(topology, ones)
    base[np.isinf(base)] = 0
    longer = [exact_distances(topology, ones + unit) for unit in np.eye(topology.num_edges)]
    return np.stack([np.where(np.isinf(one), 0, one) - base for one in longer], axis=-1)


def test_sums_are_sums_and_without_noise_all_is_exact():
    net = named("path")
    for branch in (2, 3, 7):
        rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="lines", branch=branch)
        strategy = rel.measurements.strategy
        steps = net.weights.on_lattice(strategy.lattice)
        assert np.array_equal(rel.measurements.values, matrix(strategy.block(LineBlock)) @ steps)
        assert np.array_equal(NoisyEdges.from_measurements(rel.measurements).values, steps)


def test_sums_of_the_largest_weights_do_not_overflow():
    """Sums so far wrap around over many lines; what is measured does not."""
    n = 40
    net = build(n, [(0, i) for i in range(1, n)], np.full(n - 1, 1e30))
    rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="lines", branch=2)
    lattice = rel.measurements.strategy.lattice
    values = rel.measurements.values.astype(object)
    assert (values[: -(n - 1)] == 2 * int(lattice.high[0])).all()


def test_least_squares_are_rounded_along_lines():
    net = build(60, [(i, i + 1) for i in range(59)], np.full(59, 3.0))
    rel = hushpath.release(
        net,
        epsilon=1.0,
        unit=hushpath.WeightUnit(l1=1.0, lattice_step=1.0),
        max_weight=9.0,
        mechanism="lines",
        branch=4,
        seed=2,
    )
    noisy, strategy = NoisyEdges.from_measurements(rel.measurements), rel.measurements.strategy
    block = strategy.block(LineBlock)
    exact = block.estimates(stds(strategy.law, strategy.scales), rel.measurements.values.astype(float))
    order = block.lines.order
    assert np.abs(np.cumsum(noisy.values[order]) - np.cumsum(exact[order])).max() <= 0.5 + 1e-9


def test_the_choice_pays_on_a_path_and_leaves_a_star_alone():
    path = build(1025, [(i, i + 1) for i in range(1024)], np.ones(1024)).topology
    star = build(300, [(0, i) for i in range(1, 300)], np.ones(299)).topology
    grid = build(400, grid_ends(20, 20), np.ones(760)).topology
    for law in Law:
        terms = WeightTerms(Budget(1.0, 1e-6), WeightUnit(1.0))
        sums = build_strategy(MECHANISMS["lines"], Problem.of(path, terms), law, {})
        edges = build_strategy(MECHANISMS["input"], Problem.of(path, terms), law, {})
        assert predict_from_noise(sums)[0].mean < 0.56 * predict_from_noise(edges)[0].mean
        for other in (star, grid):
            plain = build_strategy(MECHANISMS["lines"], Problem.of(other, terms), law, {})
            assert plain.details["lines_with_sums"] == 0
            assert plain.num_values == other.num_edges


@pytest.mark.slow
@pytest.mark.parametrize("law", [Law.LAPLACE, pytest.param(Law.GAUSSIAN, marks=pytest.mark.slow)])
def test_the_predicted_error_is_the_realised_one(law):
    n, errors = 1025, []
    net = build(n, [(i, i + 1) for i in range(n - 1)], np.random.default_rng(3).uniform(90, 110, n - 1))
    true = np.abs(np.subtract.outer(*2 * [np.concatenate([[0], np.cumsum(net.weights.reveal())])]))
    for seed in range(30):
        rel = hushpath.release(
            net, epsilon=1.0, unit=1.0, max_weight=200.0, mechanism="lines", seed=seed, noise=law
        ).with_decoder(estimator="sums")
        sources = np.arange(0, n, 40)
        errors.append(np.abs(rel.matrix(sources.tolist()) - true[sources]).mean())
    # 30 means of strongly dependent errors: their spread is about a third of the mean, so this is three of its errors.
    assert np.mean(errors) == pytest.approx(predict_from_noise(rel.measurements.strategy)[0].mean, rel=0.2)


@pytest.mark.slow
def test_intervals_of_a_tree_hold_the_truth_as_often_as_they_say():
    n, inside = 200, []
    net = build(n, [(max(0, i - 1 - i % 3), i) for i in range(1, n)], np.random.default_rng(3).uniform(1, 9, n - 1))
    true = exact_distances(net.topology, net.weights.reveal())
    for mechanism in ("input", "lines"):
        for seed in range(40):
            rel = hushpath.release(
                net, epsilon=1.0, unit=1.0, max_weight=10.0, mechanism=mechanism, seed=seed
            ).with_decoder(estimator="sums")
            for s, t in ((0, n - 1), (20, 150), (5, 100), (60, 61)):
                low, high = rel.interval(s, t, 0.9)
                inside.append(low <= true[s, t] <= high)
    assert np.mean(inside) > 0.85  # 320 draws of about 0.9, dependent in fours


# --- within bounds ---------------------------------------------------------------------------------------------------


@st.composite
def wanted_lines(draw):
    lengths = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    m = sum(lengths)
    whole = st.lists(st.integers(-40, 60), min_size=m, max_size=m)
    low = np.array(draw(st.lists(st.integers(0, 9), min_size=m, max_size=m)))
    high = low + np.array(draw(st.lists(st.integers(0, 20), min_size=m, max_size=m)))
    order = np.array(draw(st.permutations(range(m))))
    return Lines(np.concatenate([[0], np.cumsum(lengths)]), order), np.array(draw(whole), float), low, high


def sums_along(lines, values):
    """Per line the sums from its beginning to each of its nodes."""
    return [
        np.concatenate([[0], np.cumsum(values[lines.order[a:b]])])
        for a, b in zip(lines.start[:-1], lines.start[1:], strict=True)
    ]


@settings(max_examples=300, deadline=None)
@given(wanted_lines(), st.integers(0, 2**32 - 1))
def test_weights_within_bounds_stray_no_farther_than_what_was_wanted(case, seed):
    lines, wanted, low, high = case
    got = within_bounds(lines, wanted, low, high)
    assert got.dtype == np.int64
    assert (low <= got).all()
    assert (got <= high).all()
    truth = np.random.default_rng(seed).integers(low, high + 1)  # anything that the bounds allow
    for one, other, true in zip(*(sums_along(lines, v) for v in (got, wanted, truth)), strict=True):
        # Nearest up to a constant: the range of the errors of all sums along the line does not grow, but by rounding.
        assert np.ptp(one - true) <= np.ptp(other - true) + 1 + 1e-9


@settings(max_examples=100, deadline=None)
@given(wanted_lines())
def test_what_is_within_bounds_stays_and_sums_are_the_nearest(case):
    lines, wanted, low, high = case
    inside = np.clip(wanted, low, high)
    assert np.array_equal(within_bounds(lines, inside, low, high), inside)
    scale = 1000
    got = within_bounds(lines, wanted * scale, low * scale, high * scale) / scale
    for one, other, order in zip(
        sums_along(lines, got), sums_along(lines, wanted), np.split(lines.order, lines.start[1:-1]), strict=True
    ):
        found, best = np.var(one - other), twin(wanted[order], low[order], high[order])
        assert found <= best + 0.05 + 0.01 * best


def twin(wanted, low, high):
    """The least variance of the errors of sums, by projected coordinate descent on the weights."""
    weights, target = np.clip(wanted, low, high).astype(float), np.concatenate([[0], np.cumsum(wanted)])
    columns = (np.arange(len(target))[:, None] > np.arange(len(wanted))).astype(float)
    columns -= columns.mean(0)
    target = target - target.mean()
    for _ in range(400):
        for j in range(len(weights)):
            rest = target - columns @ weights + columns[:, j] * weights[j]
            weights[j] = np.clip(columns[:, j] @ rest / (columns[:, j] @ columns[:, j]), low[j], high[j])
    return float(np.var(columns @ weights - target))


def test_hopeless_lines_are_clipped_in_reasonable_time():
    """Alternating values beyond all bounds would pass every break point at every step: given up and clipped."""
    n = 200_000
    lines = Lines(np.array([0, n]), np.arange(n))
    wild = np.where(np.arange(n) % 2, 2.0**62, -(2.0**62))
    low, high = np.zeros(n, np.int64), np.full(n, 10**6)
    assert set(within_bounds(lines, wild, low, high).tolist()) <= {0, 1, 10**6 - 1, 10**6}


def test_where_clipping_could_be_chance_a_tree_is_clipped():
    """Weights that fill the range between their bounds are clipped up as often as down; small ones are not."""
    ends, rng = [((i - 1) // 2, i) for i in range(1, 1023)], np.random.default_rng(3)
    same = 0
    for seed in range(5):
        for weights, clipped in ((rng.uniform(0, 10, 1022), True), (rng.exponential(1.0, 1022), False)):
            net = build(1023, ends, weights)
            rel = hushpath.release(net, epsilon=0.2, unit=1.0, max_weight=10.0, mechanism="input", seed=seed)
            answers = (rel.with_decoder(estimator=name).matrix([0, 500]) for name in ("sums", "clip"))
            same += np.mean(np.isclose(*answers)) > 0.9 if clipped else 0
            assert clipped or not np.array_equal(*(rel.with_decoder(estimator=e).matrix([0]) for e in ("sums", "clip")))
    assert same >= 3  # each of five may go wrong with a chance of about 0.05


def test_sums_beat_clipping_where_noise_is_as_large_as_weights():
    n, errors = 400, {"sums": [], "clip": []}
    net = build(n, [(i, i + 1) for i in range(n - 1)], np.random.default_rng(3).exponential(1.0, n - 1))
    true = np.abs(np.subtract.outer(*2 * [np.concatenate([[0], np.cumsum(net.weights.reveal())])]))
    for seed in range(4):
        rel = hushpath.release(
            net, epsilon=1.0, unit=1.0, max_weight=20.0, mechanism="input", seed=seed, noise="laplace"
        )
        for estimator, found in errors.items():
            found.append(np.abs(rel.with_decoder(estimator=estimator).matrix() - true).mean())
    assert np.mean(errors["sums"]) < 0.4 * np.mean(errors["clip"])
