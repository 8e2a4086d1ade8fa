"""The paper's mechanisms within their bounds; test_paper.py compares them with the paper number by number."""

import axioms_reference
import networkx as nx
import numpy as np
import pytest
from named_graphs import build, exact_distances, named

import hushpath
from hushpath import HushpathError
from hushpath.decoder.edges import edge_bound
from hushpath.measurement.hierarchy import HierarchyBlock
from hushpath.planning.predict import error_bound


def true_distances(net, rel):
    lattice = rel.measurements.strategy.lattice
    return exact_distances(net.topology, net.weights.on_lattice(lattice) * lattice.granularity)


def tree_of(rel):
    (block,) = rel.measurements.strategy.blocks
    assert isinstance(block, HierarchyBlock)
    return block.hierarchy


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


@pytest.mark.quick(every=3)
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
            rel = hushpath.release(net, epsilon=1.0, unit=1.0, seed=seed, noise=law, **options)
            strategy, mechanism = rel.measurements.strategy, options["mechanism"]
            if mechanism == "input":
                rel = rel.with_decoder(estimator="clip")
                bound = edge_bound(strategy, gamma, hops=net.topology.num_nodes - 1)
            else:
                bound = error_bound(strategy, gamma)
            error = rel.matrix() - exact_distances(net.topology, net.weights.reveal())
            failures += bool(error.min() < -bound.noise or error.max() > bound.total)
    assert failures < 15


def test_the_bound_can_fail():
    """Negative control: a tenth of the bound is exceeded."""
    net = named("path")
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="all-pairs", seed=0, noise="laplace")
    error = np.abs(rel.matrix() - exact_distances(net.topology, net.weights.reveal())).max()
    assert error > error_bound(rel.measurements.strategy, 0.1).total / 10


def test_paper_constants_are_certified_far_below_the_budget():
    net = named("grid")
    rel = hushpath.release(
        net,
        epsilon=0.9,
        unit=1.0,
        delta=1e-6,
        mechanism="separator",
        constants="paper",
        levels="adjacent",
        leaves="all-pairs",
        noise="gaussian",
    )
    assert 0 < rel.statement.epsilon < 0.2
    ours = hushpath.release(net, epsilon=0.9, unit=1.0, delta=1e-6, mechanism="separator", noise="gaussian")
    assert ours.statement.noise[1] < rel.statement.noise[1] / 5
    with pytest.raises(HushpathError, match="gaussian"):
        hushpath.release(net, epsilon=0.9, unit=1.0, mechanism="separator", constants="paper", noise="laplace")


def test_depth_zero_is_input_perturbation():
    net = named("grid")
    a = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="separator", depth=0, seed=4, noise="laplace")
    b = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=4, noise="laplace")
    assert np.array_equal(a.measurements.values, b.measurements.values)
    assert np.array_equal(a.matrix(), b.with_decoder(estimator="clip").matrix())


@pytest.mark.parametrize(
    ("graph", "options", "says"),
    [
        ("cycle", dict(family="tree"), "without cycles"),
        ("cycle", dict(family="grid"), "grid"),
        ("grid", dict(family="forest"), "family"),
        ("grid", dict(constants="mine"), "constants"),
        ("grid", dict(levels="some"), "levels"),
        ("grid", dict(leaves="none"), "leaves"),
        ("grid", dict(depth=-1), "depth"),
        ("grid", dict(depth=1.5), "depth"),
        ("grid", dict(leaf_size=0), "leaf_size"),
        ("grid", dict(mechanism="separator-cover"), "needs max_weight"),
        ("grid", dict(mechanism="separator-cover", hops=3), "needs max_weight"),
        ("grid", dict(mechanism="separator-cover", hops=0, max_weight=3.0), "hops"),
        ("grid", dict(hops=3), "no option 'hops'"),
        ("directed", dict(), "undirected"),
        ("grid", dict(epsilon=0), "epsilon"),
        ("grid", dict(delta=1), "delta"),
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
