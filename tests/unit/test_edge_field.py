"""Groups of edges and the field on them: kernels against dense linear algebra, axioms of groups, learnt variances."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from kernels_reference import gaussian_given, group_paths
from noisy_grid import grid
from scipy.sparse.csgraph import connected_components

from hushpath import Network
from hushpath.estimator import hierarchy
from hushpath.estimator.hierarchy import Field, Hierarchy, draw_smooth_field, edge_hierarchy, line_graph
from hushpath.kernels.field import join_neighbours, log_evidence, solve, without_own

# The kernels ---------------------------------------------------------------------------------------------------------


def random_case(seed, *, alone=False):
    """Random groups of a few levels with a variance each, some of them 0, and values, some of them not seen at all."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 12))
    if alone:
        parent, level = np.full(m, -1), np.zeros(m, np.int64)
    else:
        sizes = [m, *sorted(rng.integers(1, m + 1, rng.integers(1, 4)).tolist(), reverse=True)]
        first = np.concatenate([[0], np.cumsum(sizes)])
        parents = [
            start + np.concatenate([np.arange(b), rng.integers(0, b, a - b)])
            for start, (a, b) in zip(first[1:], pairwise(sizes), strict=False)
        ]
        parent = np.concatenate([*parents, np.full(sizes[-1], -1)])
        level = np.repeat(np.arange(len(sizes)), sizes)
    variance = rng.gamma(1.0, 1.0, len(parent)) * (rng.random(len(parent)) < 0.8)
    precision = rng.gamma(1.0, 2.0, m) * (rng.random(m) < 0.8)
    return parent.astype(np.int64), level, variance, precision, rng.normal(size=m), rng


CASES = pytest.mark.parametrize(("seed", "alone"), [(seed, seed == 0) for seed in range(12)])


@CASES
def test_evidence_is_that_of_the_dense_normal(seed, alone):
    parent, _, variance, precision, values, _ = random_case(seed, alone=alone)
    seen, paths = precision > 0, group_paths(parent, len(values))
    noise = np.diag(1 / precision[seen])

    def density(covariance):
        around = covariance + noise
        return -0.5 * (values[seen] @ np.linalg.solve(around, values[seen]) + np.linalg.slogdet(around)[1])

    wanted = density((paths * variance @ paths.T)[np.ix_(seen, seen)]) - density(0 * noise)
    assert log_evidence(parent, variance, precision, values) == pytest.approx(wanted, abs=1e-9)


@CASES
def test_each_edge_given_all_others_is_the_dense_one(seed, alone):
    parent, level, variance, precision, values, _ = random_case(seed, alone=alone)
    m, levels, paths = len(values), int(level.max()) + 1, group_paths(parent, len(values))
    mean, spread, squares, count = without_own(parent, level, variance, precision, values, levels)
    for edge in range(m):
        others = np.where(np.arange(m) == edge, 0.0, precision)
        numbers, covariance = gaussian_given(np.diag(variance), paths, others, values)
        assert mean[edge] == pytest.approx(paths[edge] @ numbers, abs=1e-8)
        assert spread[edge] == pytest.approx(paths[edge] @ covariance @ paths[edge], abs=1e-8)
    numbers, covariance = gaussian_given(np.diag(variance), paths, precision, values)
    free, moments = variance > 0, numbers**2 + np.diag(covariance)
    assert squares == pytest.approx(np.bincount(level[free], moments[free], levels), abs=1e-8)
    assert count.tolist() == np.bincount(level[free], minlength=levels).tolist()


@CASES
def test_solutions_are_dense_means_column_by_column(seed, alone):
    parent, _, variance, precision, values, rng = random_case(seed, alone=alone)
    columns, paths = np.column_stack([values, rng.normal(size=(len(values), 2))]), group_paths(parent, len(values))
    found = solve(parent, variance, precision, columns, np.empty((len(parent), 0)))
    wanted = [paths @ gaussian_given(np.diag(variance), paths, precision, column)[0] for column in columns.T]
    assert found == pytest.approx(np.column_stack(wanted), abs=1e-9)


@CASES
def test_samples_have_the_dense_mean_and_covariance(seed, alone):
    """A sample is linear in its noise, so its law is exact: no draws are needed to compare it."""
    parent, _, variance, precision, values, _ = random_case(seed, alone=alone)
    n, m, paths = len(parent), len(values), group_paths(parent, len(values))
    columns = np.ascontiguousarray(np.repeat(values[:, None], n + 1, axis=1))
    noise = np.hstack([np.zeros((n, 1)), np.eye(n)])
    found = solve(parent, variance, precision, columns, noise)
    numbers, covariance = gaussian_given(np.diag(variance), paths, precision, values)
    assert found[:, 0] == pytest.approx(paths @ numbers, abs=1e-9)
    root = found[:, 1:] - found[:, :1]
    assert root @ root.T == pytest.approx(paths @ covariance @ paths.T, abs=1e-9)
    assert root.shape == (m, n)


def test_neighbours_are_joined_by_the_greatest_weight_for_their_size():
    #  0 -5- 1 -1- 2 -4- 3, and 4 apart
    start, neighbours = np.array([0, 1, 3, 5, 6, 6]), np.array([1, 0, 2, 1, 3, 2])
    weights, size = np.array([5.0, 5, 1, 1, 4, 4]), np.ones(5)
    label, count = join_neighbours(start, neighbours, weights, size, np.arange(5), 3.0)
    assert (label.tolist(), count) == ([0, 0, 1, 1, 2], 3)
    label, _ = join_neighbours(start, neighbours, weights, size, np.array([1, 0, 3, 2, 4]), 3.0)
    assert label[1] == label[0] != label[2]  # the best of two
    label, count = join_neighbours(start, neighbours, weights, size, np.array([1, 0, 3, 2, 4]), 1.3)
    assert count == 5  # pairs would be too large
    label, count = join_neighbours(start, neighbours, weights, size, np.array([0, 2, 1, 3, 4]), 1.4)
    assert (label.tolist(), count) == ([0, 0, 1, 1, 2], 3)  # who comes last may join one that stays small


# Groups of edges -----------------------------------------------------------------------------------------------------


def network(edges, directed=False, nodes=None, places=None):
    tails, heads = np.array(edges, np.int64).reshape(-1, 2).T
    nodes = nodes or int(max(tails.max(initial=0), heads.max(initial=0))) + 1
    return Network.build(
        range(nodes), tails, heads, np.ones(len(tails)), directed=directed, parallel_edges=True, coordinates=places
    )  # fmt: skip


def both_ways(edges):
    return [*edges, *((b, a) for a, b in edges)]


def ring_and_random():
    rng = np.random.default_rng(5)
    return [*((i, (i + 1) % 60) for i in range(60)), *rng.choice(60, (40, 2)).tolist()]


GRID = [(a, b) for a, b in nx.convert_node_labels_to_integers(nx.grid_2d_graph(9, 9)).edges]
NETWORKS = {
    "nothing": network([], nodes=3),
    "one edge": network([(0, 1)]),
    "two edges": network([(0, 1), (1, 2)]),
    "two edges apart": network([(0, 1), (2, 3)]),
    "path": network([(i, i + 1) for i in range(50)]),
    "star": network([(0, i + 1) for i in range(40)]),
    "star that is too large to join": network([(0, i + 1) for i in range(hierarchy.MAX_DEGREE + 6)]),
    "disconnected": network([*GRID, *((100 + i, 101 + i) for i in range(20)), (200, 201)]),
    "grid": network(GRID),
    "directed grid": network(both_ways(GRID), directed=True),
    "one way ring": network([(i, (i + 1) % 30) for i in range(30)], directed=True),
    "parallel edges": network([(0, 1)] * 8 + [(1, 2)] * 5 + [(2, 3)]),
    "random": network([(a, b) for a, b in ring_and_random() if a != b]),
}


@pytest.mark.filterwarnings("ignore::hushpath.HushpathWarning")
@pytest.mark.parametrize("name", NETWORKS)
def test_groups_are_nested_connected_and_small(name):
    topology = NETWORKS[name].topology
    m, groups, links = topology.num_edges, edge_hierarchy(topology), line_graph(topology)
    parent, level = groups.parent, groups.level
    assert len(parent) == len(level)
    assert (level[:m] == 0).all()
    assert (level[m:] > 0).all()
    inner = np.flatnonzero(parent >= 0)
    assert (parent[inner] > inner).all()
    assert (level[parent[inner]] > level[inner]).all()
    assert set(parent[inner].tolist()) == set(range(m, len(parent)))  # every group holds something
    at = np.arange(m)
    for one in np.unique(level[m:]):
        at = np.where(level[at] < one, parent[at], at)
        assert (level[at] == one).all()  # one group on each level
        for group in np.unique(at):
            edges = np.flatnonzero(at == group)
            assert len(edges) <= 1.5 * hierarchy.LARGER * 2.0**one
            assert connected_components(links[edges][:, edges], directed=False)[0] == 1
    if m:
        assert (parent[at] == -1).all()


@pytest.mark.parametrize("name", ["grid", "directed grid", "path"])
def test_groups_grow_until_few_are_left(name):
    groups = edge_hierarchy(NETWORKS[name].topology)
    count = np.bincount(groups.level)
    assert count[-1] <= hierarchy.OUTERMOST
    assert (count[1:] <= 0.75 * count[:-1]).all()


def test_a_hub_joins_nothing():
    groups = edge_hierarchy(NETWORKS["star that is too large to join"].topology)
    assert (groups.parent == -1).all()


def test_edges_straight_ahead_are_more_alike_than_turns():
    net = network(GRID, places=np.c_[np.arange(81) // 9, np.arange(81) % 9].astype(float))
    links, topology = line_graph(net.topology).toarray(), net.topology
    name = {(a, b): i for i, (a, b) in enumerate(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True))}
    centre, ahead, turn = name[39, 40], name[40, 41], name[40, 49]
    assert links[centre, ahead] > 2 * links[centre, turn] > 0
    assert np.allclose(links, links.T)
    assert links[centre, name[0, 1]] == 0


# What is learnt of variances -----------------------------------------------------------------------------------------


def field_values(wanted, seed, noise, side=24):
    groups, rng = edge_hierarchy(grid(side).topology), np.random.default_rng(seed)
    m = int((groups.level == 0).sum())
    field = Field.on(groups, wanted)
    values = field.sample(np.zeros(m), np.zeros(m), rng) + noise * rng.normal(size=m)
    return Field.on(groups), np.full(m, noise**-2.0), values, field


@pytest.mark.parametrize("log_variance", [-2.0, 0.0])
@pytest.mark.parametrize("decay", [-0.5, 0.5])
def test_a_planted_field_is_found(log_variance, decay):
    start, precision, values, planted = field_values((log_variance, decay), 3, 0.3)
    found = start.fit(precision, values)
    assert 0.5 < found.variances.sum() / planted.variances.sum() < 2
    assert found.variances[0] == 0
    mean = found.smooth(precision, values[:, None])[:, 0]
    assert np.var(values - mean) < 0.8 * np.var(values)
    noise = field_values((log_variance, decay), 3, 1e-6)[2]  # the same field, hardly any noise
    assert np.corrcoef(mean, noise)[0, 1] > 0.7


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_independent_values_have_no_field(seed):
    start, precision, _, _ = field_values((-4.0, 0.0), 3, 0.5)
    values = 0.5 * np.random.default_rng(seed).normal(size=len(precision))
    found = start.fit(precision, values)
    assert found.variances.sum() < 0.02 * 0.25 + 0.005
    assert np.std(found.smooth(precision, values[:, None])) < 0.1


def test_a_smooth_field_is_smooth_and_standardised():
    topology = grid(16).topology
    field, rng = draw_smooth_field(topology, np.random.default_rng(4)), np.random.default_rng(5)
    assert (field.mean(), field.std()) == pytest.approx((0, 1))
    one, other = line_graph(topology).nonzero()
    near = np.mean((field[one] - field[other]) ** 2)
    anywhere = np.mean((field[one] - field[rng.permutation(other)]) ** 2)
    assert near < 0.6 * anywhere
    assert draw_smooth_field(NETWORKS["nothing"].topology, rng).shape == (0,)
    assert draw_smooth_field(NETWORKS["one edge"].topology, rng).tolist() == [0.0]


def test_a_field_of_single_groups_is_nothing():
    alone = Field.on(Hierarchy(np.full(4, -1), np.zeros(4, np.int64)), (1.0, 0.0))
    assert alone.variances.tolist() == [0.0]
    mean, spread, _, count = alone.without_own(np.ones(4), np.arange(4.0))
    assert mean.tolist() == [0.0] * 4
    assert (spread < 1e-9).all()
    assert count.tolist() == [0.0]
