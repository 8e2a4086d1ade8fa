"""``hushpath.paper`` is the oracle: the house measures its numbers and, from the same numbers, gives its answers.

The house chooses separators (its hierarchy), the page does the rest by itself; ``paper_twin`` puts one beside the other
and states the three conventions that are the house's own.
"""

import doctest
import math

import axioms_reference
import numpy as np
import paper_twin
import pytest
from named_graphs import SMALL, build, delaunay_ends, exact_distances, grid_ends, named, random_network

import hushpath
from hushpath import paper
from hushpath.measurement.private_step import Measurements
from hushpath.planning.plan import plan
from hushpath.planning.predict import error_bound
from hushpath.published.release import Release

W, GRANULARITY = 6.0, 0.25  # coarse steps and few of them: many ties
FAMILIES = {"separator": ["auto", "tree", "treewidth", "grid", "planar", "general"],
            "separator-cover": ["auto", "tree", "grid", "planar", "general"]}  # fmt: skip
SEEDS = {"some": range(40), "more": range(40, 150)}
ASKED = 20  # vertices between which the page is asked, which takes its time


def network_of(family, rng):
    """A small random network of a family: bridges, several components, parallel edges, ties, weights at the bounds."""
    n = int(rng.integers(2, 60))
    if family == "tree":
        ends = [(int(rng.integers(0, i)), i) for i in range(1, n) if rng.random() < 0.95]
    elif family == "grid":
        a, b = int(rng.integers(1, 8)), int(rng.integers(1, 9))
        n, ends = a * b, rng.permutation(a * b)[grid_ends(a, b)]
    elif family == "planar":
        n = max(n, 4)
        ends = delaunay_ends(n, seed=int(rng.integers(1000)))
        ends = ends[rng.random(len(ends)) < rng.uniform(0.5, 1)]
        ends = np.concatenate([ends, ends[rng.random(len(ends)) < 0.1]])
    elif family == "treewidth":
        k = int(rng.integers(1, 5))
        ends = [(int(j), i) for i in range(1, n) for j in rng.choice(i, min(i, k), replace=False) if i - j <= k + 1]
    else:
        return random_network(rng, most_nodes=40, directed=False)
    ends = np.array(ends, np.int64).reshape(-1, 2)
    kind, m = rng.integers(4), len(ends)
    weights = [rng.integers(0, 28, m) / 4, rng.choice([0.0, W], m), rng.uniform(-1, 1.2 * W, m), np.full(m, 1.5)][kind]
    bounds = dict(lower=rng.integers(0, 4, m) / 2, upper=rng.integers(4, 14, m) / 2) if rng.random() < 0.3 else {}
    return build(n, ends, weights, **bounds)


def options_of(mechanism, family, rng):
    options = dict(
        mechanism=mechanism, family=family, leaves=str(rng.choice(["edges", "all-pairs"])), max_weight=W,
        levels=str(rng.choice(["all", "adjacent"])), depth=[None, 0, 1, 2][rng.integers(4)],
        leaf_size=int(rng.choice([1, 1, 2, 3, 9])),
    )  # fmt: skip
    return options | (dict(hops=int(rng.integers(1, 5))) if mechanism == "separator-cover" else {})


def with_noise(exact, rng):
    """The same strategy with other numbers: many below zero, many ties."""
    noise = rng.integers(-30, 31, len(exact.values)) * int(rng.choice([1, 1, 40]))
    return Measurements(exact.strategy, exact.values + noise, "test", private=False)


def assert_numbers(net, exact):
    """The measured distances are those of Algorithm 1 (or 4), no more and no fewer; leaf edges are lattice weights."""
    strategy = exact.strategy
    (block,) = strategy.blocks
    steps = net.weights.on_lattice(strategy.lattice)
    T, keys = paper_twin.binary_tree(strategy, steps), paper_twin.measured(strategy)
    for cell, b in paper_twin.names(block.hierarchy).items():
        assert sorted(T[b].G) == block.hierarchy.vertices[cell].tolist()
    d_hat = paper.shortcuts(T, lambda b, x, y: 0, repaired=not block.adjacent)
    pairs = {(b, *sorted((x, y))) for b, x, y in d_hat if x != y}
    if block.leaf_edges:
        pairs = {pair for pair in pairs if pair[0] + "0" in T}
    assert sorted((b, *sorted((x, y))) for b, x, y in keys) == sorted(pairs)
    # A leaf that does not connect a pair measures 0 with noise: which pairs these are is public.
    expected = [0 if d_hat[key] == math.inf and key[0] + "0" not in T else d_hat[key] for key in keys]
    assert exact.values.tolist() == expected + steps[block.edges].tolist()


def as_printed(measurements):
    """The decoder that does what the paper does, and no more."""
    return "literal" if measurements.strategy.blocks[0].adjacent else "hierarchy"


def assert_answers(measurements, rng, asked=ASKED):
    """Matrix, rows, a few pairs and many, all as Algorithms 2 and 3 have them, to the last bit."""
    rel, n = Release(measurements, decoder=as_printed(measurements)), measurements.strategy.topology.num_nodes
    some = rng.permutation(n)[:asked]
    expected = paper_twin.answers(measurements, some, some)
    few, many = some[None, [0, -1]], np.stack(np.indices((n, n)), -1).reshape(-1, 2)
    assert rel.distances(few, positions=True) == expected[0, -1]
    assert np.array_equal(rel.rows(some[:1])[:, some], expected[:1])
    matrix = rel.matrix()
    assert np.array_equal(matrix[np.ix_(some, some)], expected)
    assert np.array_equal(rel.distances(many, positions=True), matrix.ravel())


def assert_exact(net, exact):
    """Without noise: the distances, or those of covers with a detour that is proved."""
    strategy = exact.strategy
    lengths = net.weights.on_lattice(strategy.lattice) * strategy.lattice.granularity
    expected, answer = exact_distances(net.topology, lengths), Release(exact).matrix()
    if not strategy.blocks[0].hierarchy.hops:
        assert np.array_equal(answer, expected)
        return
    reachable = np.isfinite(expected)
    assert np.array_equal(np.isfinite(answer), reachable)
    detour = answer[reachable] - expected[reachable]
    assert detour.min(initial=0.0) >= 0
    assert detour.max(initial=0.0) <= error_bound(strategy, 0.5).detour


@pytest.mark.quick(every=2)
@pytest.mark.parametrize("seeds", ["some", pytest.param("more", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("mechanism", "family"), [(m, family) for m in FAMILIES for family in FAMILIES[m]])
def test_random_networks_are_measured_and_answered_as_the_paper_does(mechanism, family, seeds):
    for seed in SEEDS[seeds]:
        rng = np.random.default_rng(seed)
        net = network_of(family, rng)
        unit = hushpath.WeightUnit(l1=1.0, lattice_step=GRANULARITY)
        rel = hushpath.release(net, epsilon=np.inf, unit=unit, **options_of(mechanism, family, rng))
        exact = rel.measurements
        axioms_reference.check(exact.strategy.blocks[0].hierarchy, net.topology)
        assert_numbers(net, exact)
        assert_exact(net, exact)
        assert_answers(with_noise(exact, rng), rng)


@pytest.mark.quick(every=2)
@pytest.mark.parametrize("levels", ["all", "adjacent"])
@pytest.mark.parametrize("options", [
    dict(mechanism="separator"), dict(mechanism="separator", leaves="all-pairs", leaf_size=2),
    dict(mechanism="separator-cover", hops=1), dict(mechanism="separator-cover", hops=2, leaves="all-pairs"),
    dict(mechanism="separator-cover", hops=3, leaf_size=3),
], ids=lambda options: "-".join(map(str, options.values())))  # fmt: skip
@pytest.mark.parametrize("name", [name for name in SMALL if name != "directed"])
def test_named_networks_are_measured_and_answered_as_the_paper_does(name, options, levels):
    net, rng = named(name), np.random.default_rng(1)
    exact = hushpath.release(net, epsilon=np.inf, unit=1.0, max_weight=20.0, levels=levels, **options).measurements
    assert_numbers(net, exact)
    assert_exact(net, exact)
    noisy = hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=20.0, levels=levels, seed=3, **options)
    assert_answers(noisy.measurements, rng, asked=1000)


def test_leaves_that_are_searched_are_answered_as_the_paper_does():
    net = build(290, [(i, i + 1) for i in range(289)], np.ones(289))
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="separator", depth=1, seed=2)
    some = np.arange(0, 290, 7)
    rel = rel.with_decoder(decoder="hierarchy")
    expected = paper_twin.answers(rel.measurements, some, some)
    assert np.array_equal(rel.matrix(some, some, positions=True), expected)
    assert [rel.distance(s, 7) for s in some.tolist()] == expected[:, 1].tolist()


@pytest.mark.parametrize("hops", [0, 2])
def test_printed_constants_are_those_of_the_page(hops):
    options = dict(mechanism="separator-cover", hops=hops) if hops else dict(mechanism="separator")
    for name, epsilon, unit in (("grid", 0.9, 1.0), ("path", 0.1, 0.5), ("zero weights", 3.0, 2.0)):
        topology, delta = named(name).topology, 1e-6
        strategy = plan(
            topology, epsilon=epsilon, delta=delta, unit=unit, max_weight=20.0, constants="paper", **options
        ).strategy
        hierarchy = strategy.blocks[0].hierarchy
        p, c = max(map(len, hierarchy.hubs)), max(hierarchy.vertices.sizes()[hierarchy.is_leaf])
        sigma, leaf = (paper.sigma(int(one), hierarchy.depth, epsilon, delta) * unit for one in (p, c))
        leaf_groups = np.concatenate([hierarchy.is_leaf, np.ones(len(strategy.scales) - hierarchy.num_cells, bool)])
        steps = np.where(leaf_groups, leaf, sigma) / strategy.lattice.granularity
        assert (strategy.scales >= steps * (1 - 1e-12)).all()  # rounded up to whole steps
        assert (strategy.scales < steps * (1 + 1e-12) + 1).all()


@pytest.mark.parametrize("repaired", [True, False])
def test_the_page_by_itself(repaired):
    """Exact without noise, with covers (its own) at most 4 k W a level off, and at most 2 depth + 1 shortcuts."""
    assert doctest.testmod(paper).failed == 0
    side, edges = 5, [(int(u), int(v), 1 + (3 * u + v) % W) for u, v in grid_ends(5, 5)]
    G, longest = paper.graph(edges), paper.graph([(u, v, W) for u, v, _ in edges])
    columns = [set(range(i, side * side, side)) for i in range(side)]
    cuts = {"": (columns[2], columns[0] | columns[1], columns[3] | columns[4]),
            "0": (columns[1], columns[0], columns[2]), "1": (columns[3], columns[2], columns[4])}  # fmt: skip
    true = {(s, t): d for s in G for t, d in paper.distances(G, s).items() if s != t}
    assert paper.all_pairs(G, cuts, lambda b, x, y: 0, repaired=repaired) == true
    for hops in (1, 2):
        covers = paper.covered(paper.binary_tree(G, cuts, longest), hops)
        assert all(len(cell.Z) <= 1 + side // (hops + 1) for cell in covers.values())
        off = paper.all_pairs(G, cuts, lambda b, x, y: 0, W=longest, hops=hops, repaired=repaired)
        assert 0 < max(off[pair] - true[pair] for pair in true) <= 4 * hops * W * 2 * (1 if repaired else 2)
        assert min(off[pair] - true[pair] for pair in true) >= 0
    counted = paper.all_pairs(G, cuts, lambda b, x, y: 1e-6, repaired=True)
    assert max(counted[pair] - true[pair] for pair in true) < 5.5e-6
