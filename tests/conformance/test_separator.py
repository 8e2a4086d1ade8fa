"""The paper's mechanisms: exact without noise for every family and option, within their bounds with it."""

import itertools

import axioms_reference
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import build, delaunay_ends, exact_distances, grid_ends, named, random_network

import hushpath
from hushpath import HushpathError
from hushpath.blocks.hierarchy import HierarchyBlock
from hushpath.decode.bounds import edge_bound, hierarchy_bound, table_bound

W = 6.0


def true_distances(net, rel):
    lattice = rel.measurements.strategy.lattice
    return exact_distances(net.topology, net.weights.on_lattice(lattice) * lattice.granularity)


def tree_of(rel):
    (block,) = rel.measurements.strategy.blocks
    assert isinstance(block, HierarchyBlock)
    return block.hierarchy


def network_of(family, rng):
    """A small random network that belongs to a family."""
    n = int(rng.integers(2, 60))
    if family == "tree":
        ends = [(int(rng.integers(0, i)), i) for i in range(1, n) if rng.random() < 0.95]
    elif family == "grid":
        a, b = int(rng.integers(1, 8)), int(rng.integers(1, 9))
        shuffle = rng.permutation(a * b)
        n, ends = a * b, shuffle[grid_ends(a, b)]
    elif family == "planar":
        n = max(n, 4)
        ends = delaunay_ends(n, seed=int(rng.integers(1000)))
        ends = ends[rng.random(len(ends)) < rng.uniform(0.5, 1)]
    elif family == "treewidth":
        k = int(rng.integers(1, 5))
        ends = [
            (int(j), i) for i in range(1, n) for j in rng.choice(i, min(i, k), replace=False) if i - j <= k + 1
        ] or [(0, 1)]
    else:
        return random_network(rng, most_nodes=40, directed=False)
    ends = np.array(ends, np.int64).reshape(-1, 2)
    weights = rng.integers(0, 24, len(ends)) / 4 if rng.random() < 0.7 else rng.uniform(0, W, len(ends))
    return build(n, ends, weights)


OPTIONS = list(itertools.product(["edges", "all-pairs"], ["all", "adjacent"], [None, 0, 1, 2], [1, 3, 9]))


@pytest.mark.parametrize("family", ["auto", "tree", "treewidth", "grid", "planar", "general"])
def test_without_noise_every_family_and_option_is_exact(family):
    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(st.integers(0, 2**32 - 1))
    def holds(seed):
        rng = np.random.default_rng(seed)
        net = network_of(family, rng)
        leaves, levels, depth, leaf_size = OPTIONS[rng.integers(len(OPTIONS))]
        rel = hushpath.release(
            net, epsilon=np.inf, unit=1.0, mechanism="separator", family=family, leaves=leaves, levels=levels,
            depth=depth, leaf_size=leaf_size,
        )  # fmt: skip
        axioms_reference.check(tree_of(rel), net.topology)
        expected = true_distances(net, rel)
        assert np.array_equal(rel.matrix(), expected)
        n = net.topology.num_nodes
        pairs = rng.integers(0, n, (40, 2))
        assert np.array_equal(rel.distances(pairs), expected[pairs[:, 0], pairs[:, 1]])

    holds()


@pytest.mark.parametrize("family", ["auto", "tree", "grid", "planar", "general"])
def test_without_noise_covers_stay_within_their_detour(family):
    @settings(max_examples=120, deadline=None, derandomize=True)
    @given(st.integers(0, 2**32 - 1))
    def holds(seed):
        rng = np.random.default_rng(seed)
        net = network_of(family, rng)
        hops = int(rng.integers(1, 5))
        rel = hushpath.release(
            net, epsilon=np.inf, unit=1.0, mechanism="separator-cover", family=family, hops=hops, max_weight=W,
            leaves=str(rng.choice(["edges", "all-pairs"])), leaf_size=int(rng.integers(1, 6)),
        )  # fmt: skip
        axioms_reference.check(tree_of(rel), net.topology)
        expected, answer = true_distances(net, rel), rel.matrix()
        reachable = np.isfinite(expected)
        assert np.array_equal(np.isfinite(answer), reachable)
        error = (answer - np.where(reachable, expected, 0))[reachable]
        bound = hierarchy_bound(rel.measurements.strategy, 0.5)
        assert error.min(initial=0.0) >= 0
        assert error.max(initial=0.0) <= bound.detour

    holds()


@pytest.mark.parametrize("hops", [0, 1, 2])
@pytest.mark.parametrize("leaves", ["edges", "all-pairs"])
def test_the_numbers_are_distances_inside_cells_in_the_written_order(leaves, hops):
    """The order is that of the file (``blocks.hierarchy``); the distances are networkx's, cell by cell."""

    @settings(max_examples=25, deadline=None, derandomize=True)
    @given(st.integers(0, 2**32 - 1))
    def holds(seed):
        rng = np.random.default_rng(seed)
        net = network_of(str(rng.choice(["tree", "grid", "planar", "general"])), rng)
        options = dict(mechanism="separator-cover", hops=hops, max_weight=W) if hops else dict(mechanism="separator")
        rel = hushpath.release(
            net, epsilon=np.inf, unit=1.0, leaves=leaves, leaf_size=int(rng.integers(1, 9)),
            levels=str(rng.choice(["all", "adjacent"])), **options,
        )  # fmt: skip
        strategy = rel.measurements.strategy
        steps = net.weights.on_lattice(strategy.lattice)
        expected = [
            number
            for cell in range(tree_of(rel).num_cells)
            for number in numbers_of_cell(strategy.blocks[0], cell, net.topology, steps, strategy.lattice.high)
        ]
        assert rel.measurements.values.tolist() == [*expected, *steps[strategy.blocks[0].leaf_edge_ids].tolist()]

    holds()


def numbers_of_cell(block, cell, topology, steps, high):
    """Hub pairs row by row, then hubs times the rest of the boundary; of a leaf all pairs, or none."""
    hierarchy = block.hierarchy
    leaf, inside = hierarchy.is_leaf[cell], set(hierarchy.vertices[cell].tolist())
    graph = nx.Graph()
    graph.add_nodes_from(inside)
    for e, (u, v) in enumerate(zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)):
        home, private = hierarchy.home[e], False
        while home >= 0:
            private |= home == cell
            home = hierarchy.parent[home]
        if private or (hierarchy.hops and u in inside and v in inside):
            length = int(steps[e] if private else high[e])
            graph.add_edge(u, v, weight=min(length, graph.edges[u, v]["weight"] if graph.has_edge(u, v) else length))
    hubs = ([] if block.leaf_edges else sorted(inside)) if leaf else hierarchy.hubs[cell].tolist()
    rest = [] if leaf else [v for v in block.boundary[cell].tolist() if v not in hubs]
    pairs = [*itertools.combinations(hubs, 2), *itertools.product(hubs, rest)]
    distance = {hub: nx.single_source_dijkstra_path_length(graph, hub) for hub in hubs}
    return [distance[u].get(v, 0) for u, v in pairs]


def test_on_a_path_it_is_the_binary_tree_mechanism():
    """The measured numbers are the dyadic intervals, each once, but for longer ones at the two ends of the path.

    (Nothing lies beyond an end, so an interval there would only shorten sums of others; the paper leaves them out too.)
    """
    n = 65
    net = build(n, [(i, i + 1) for i in range(n - 1)], np.ones(n - 1))
    rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="separator", leaf_size=3)
    intervals = []
    block = rel.measurements.strategy.blocks[0]
    for cell in range(block.hierarchy.num_cells):
        if not block.hierarchy.is_leaf[cell]:
            (hub,) = block.hierarchy.hubs[cell].tolist()
            intervals += [tuple(sorted((hub, v))) for v in block.rest[cell].tolist()]
    intervals += [
        tuple(sorted(ends)) for ends in zip(net.topology.tails.tolist(), net.topology.heads.tolist(), strict=True)
    ]
    dyadic = {(a, a + 2**level) for level in range(6) for a in range(0, n - 1, 2**level)}
    dyadic = {(a, b) for a, b in dyadic if b - a == 1 or (a > 0 and b < n - 1)}
    assert len(intervals) == len(set(intervals))
    assert set(intervals) == dyadic


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    "options",
    [
        dict(mechanism="separator"),
        dict(mechanism="separator", leaves="all-pairs", depth=3),
        dict(mechanism="separator", levels="adjacent", leaves="all-pairs"),
        dict(mechanism="separator-cover", hops=2, max_weight=20.0),
        dict(mechanism="all-pairs"),
        dict(mechanism="input"),
    ],
    ids=lambda options: "-".join(str(v) for v in options.values()),
)
def test_the_realised_maximum_stays_below_the_bound(options, law):
    """At confidence 1 - gamma the bound may fail in a share gamma of releases; 40 releases at gamma = 0.1.

    False alarm: P(Binomial(40, 0.1) >= 15) < 1e-6, were the bound exactly tight.
    """
    gamma, failures = 0.1, 0
    for name in ("grid", "path"):
        net = named(name)
        for seed in range(20):
            rel = hushpath.release(net, epsilon=1.0, unit=1.0, law=law, seed=seed, **options)
            strategy, mechanism = rel.measurements.strategy, options["mechanism"]
            if mechanism == "input":
                bound = edge_bound(strategy, gamma, hops=net.topology.num_nodes - 1)
            else:
                bound = table_bound(strategy, gamma) if mechanism == "all-pairs" else hierarchy_bound(strategy, gamma)
            error = rel.matrix() - exact_distances(net.topology, net.weights.reveal())
            failures += bool(error.min() < -bound.noise or error.max() > bound.total)
    assert failures < 15


def test_the_bound_can_fail():
    """Negative control: a tenth of the bound is exceeded."""
    net = named("path")
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="all-pairs", law="laplace", seed=0)
    error = np.abs(rel.matrix() - exact_distances(net.topology, net.weights.reveal())).max()
    assert error > table_bound(rel.measurements.strategy, 0.1).total / 10


def test_paper_constants_are_certified_far_below_the_budget():
    net = named("grid")
    rel = hushpath.release(
        net, epsilon=0.9, unit=1.0, delta=1e-6, mechanism="separator", law="gaussian", constants="paper",
        levels="adjacent", leaves="all-pairs",
    )  # fmt: skip
    assert 0 < rel.statement.epsilon < 0.2
    ours = hushpath.release(net, epsilon=0.9, unit=1.0, delta=1e-6, mechanism="separator", law="gaussian")
    assert ours.statement.noise[1] < rel.statement.noise[1] / 5
    with pytest.raises(HushpathError, match="gaussian"):
        hushpath.release(net, epsilon=0.9, unit=1.0, mechanism="separator", law="laplace", constants="paper")


def test_depth_zero_is_input_perturbation():
    net = named("grid")
    a = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="separator", depth=0, law="laplace", seed=4)
    b = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", law="laplace", seed=4)
    assert np.array_equal(a.measurements.values, b.measurements.values)
    assert np.array_equal(a.matrix(), b.matrix())


@pytest.mark.parametrize(
    ("graph", "options", "says"),
    [
        ("cycle", dict(family="tree"), "without cycles"),
        ("cycle", dict(family="grid"), "grid"),
        ("grid", dict(family="forest"), "family"),
        ("grid", dict(constants="mine"), "constants must be one of"),
        ("grid", dict(levels="some"), "levels must be one of"),
        ("grid", dict(leaves="none"), "leaves must be one of"),
        ("grid", dict(depth=-1), "depth must be a whole number"),
        ("grid", dict(depth=1.5), "depth must be a whole number"),
        ("grid", dict(leaf_size=0), "leaf_size must be a whole number"),
        ("grid", dict(mechanism="separator-cover"), "needs max_weight"),
        ("grid", dict(mechanism="separator-cover", hops=3), "needs max_weight"),
        ("grid", dict(mechanism="separator-cover", hops=0, max_weight=3.0), "hops must be a whole number"),
        ("grid", dict(hops=3), "no option 'hops'"),
        ("directed", dict(), "undirected"),
        ("grid", dict(epsilon=0), "epsilon must be greater"),
        ("grid", dict(delta=1), "delta must be"),
    ],
)
def test_bad_input_gets_one_clear_line(graph, options, says):
    with pytest.raises(HushpathError, match=says) as caught:
        hushpath.release(named(graph), **{"epsilon": 1.0, "unit": 1.0, "mechanism": "separator", **options})
    assert "\n" not in str(caught.value)


def test_k5_is_not_planar():
    graph = nx.complete_graph(6)
    ends = np.array(list(graph.edges))
    with pytest.raises(HushpathError, match="planar"):
        hushpath.release(
            build(6, ends, np.ones(len(ends))), epsilon=1.0, unit=1.0, mechanism="separator", family="planar"
        )


@pytest.mark.parametrize("graph", [nx.complete_graph(40), nx.star_graph(40), nx.empty_graph(7), nx.path_graph(2)])
def test_odd_graphs_stop_splitting(graph):
    ends = np.array(list(graph.edges), np.int64).reshape(-1, 2)
    net = build(graph.number_of_nodes(), ends, np.ones(len(ends)))
    for mechanism in ("separator", "separator-cover"):
        rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism=mechanism, max_weight=1.0, leaf_size=1)
        axioms_reference.check(tree_of(rel), net.topology)
        assert np.array_equal(rel.matrix(), true_distances(net, rel))
