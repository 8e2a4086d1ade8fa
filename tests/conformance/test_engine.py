"""The index gives the answers of the release without it, bit for bit, whatever is asked."""

import numpy as np
import paper_twin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from named_graphs import ALL, SMALL, build, delaunay_ends, exact_distances, grid_ends, named, random_network

import hushpath
from hushpath.decoder.edges import EdgeDecoder
from hushpath.index.index import Index


def noisy_lengths(rel):
    lattice = rel.measurements.strategy.lattice
    return np.clip(rel.measurements.values, lattice.low, lattice.high) * lattice.granularity


def every_way(rel, rng, expected):
    """Ask for the same distances in every way the release has."""
    n = rel.topology.num_nodes
    assert np.array_equal(rel.matrix(positions=True), expected)
    assert np.array_equal(rel.rows(np.array([n - 1])), expected[n - 1 :])
    rows, columns = rng.integers(0, n, 17), rng.integers(0, n, 41)
    assert np.array_equal(rel.matrix(rows, columns, positions=True), expected[np.ix_(rows, columns)])
    assert np.array_equal(rel.matrix(rows, positions=True), expected[rows])
    pairs = rng.integers(0, n, (200, 2))
    assert np.array_equal(rel.distances(pairs, positions=True), expected[pairs[:, 0], pairs[:, 1]])
    labels = [(rel.topology.labels[a], rel.topology.labels[b]) for a, b in pairs[:7].tolist()]
    assert np.array_equal(rel.distances(labels), expected[pairs[:7, 0], pairs[:7, 1]])
    single = rel.matrix(rows, columns, positions=True, dtype=np.float32)
    assert single.dtype == np.float32
    assert np.array_equal(single, expected[np.ix_(rows, columns)].astype(np.float32))
    turned = np.empty((len(columns), len(rows))).T
    rel.matrix(rows, columns, positions=True, out=turned)
    assert np.array_equal(turned, expected[np.ix_(rows, columns)])


@pytest.mark.quick(every=2)
@pytest.mark.parametrize("name", ALL)
def test_input_releases_answer_as_scipy_does(name):
    net = named(name)
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1, max_weight=20.0).with_decoder(
        estimator="clip"
    )
    expected = exact_distances(net.topology, noisy_lengths(rel))
    index = rel.build_index()
    assert rel.index is index
    assert index.labels is not None
    every_way(rel, np.random.default_rng(0), expected)


@pytest.mark.parametrize(
    ("name", "mechanism"),
    [
        pytest.param(name, mechanism, marks=[pytest.mark.slow] * (name == "planar"))
        for name in ALL
        for mechanism in ("separator", "separator-cover")
        if name != "directed"
    ],
)
def test_separator_releases_answer_as_the_paper_does(name, mechanism):
    rel = hushpath.release(named(name), epsilon=1.0, unit=1.0, mechanism=mechanism, seed=1, max_weight=20.0)
    rel = rel.with_decoder(decoder="hierarchy")
    n, expected = rel.topology.num_nodes, rel.matrix(positions=True)
    some = np.unique(np.random.default_rng(2).integers(0, n, 60 if n < 200 else 12))
    assert np.array_equal(expected[np.ix_(some, some)], paper_twin.answers(rel.measurements, some, some))
    every_way(rel, np.random.default_rng(0), expected)
    rel.build_index()
    every_way(rel, np.random.default_rng(1), expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_random_networks_by_dijkstra_and_by_index(seed, directed):
    rng = np.random.default_rng(seed)
    net = random_network(rng, most_nodes=60, directed=directed)
    rel = hushpath.release(net, epsilon=1.0, mechanism="input", seed=seed, unit=0.5).with_decoder(estimator="clip")
    without = rel.matrix(positions=True)
    assert rel.index is None
    rel.build_index()
    every_way(rel, rng, without)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["edges", "all-pairs"]), st.sampled_from([1, 3, 8]))
def test_random_networks_by_climbing_and_by_labels(seed, leaves, leaf_size):
    rng = np.random.default_rng(seed)
    net = random_network(rng, most_nodes=60, directed=False)
    rel = hushpath.release(
        net, epsilon=1.0, mechanism="separator", seed=seed, leaves=leaves, leaf_size=leaf_size, unit=0.5
    )
    n = net.topology.num_nodes
    pairs = rng.integers(0, n, (3, 2))
    climbed = rel.decoder.index.pairs(pairs[:, 0].copy(), pairs[:, 1].copy())
    without = paper_twin.answers(rel.measurements, range(n), range(n))
    assert np.array_equal(climbed, without[pairs[:, 0], pairs[:, 1]])
    rel.build_index()
    every_way(rel, rng, without)


@pytest.mark.parametrize("directed", [False, True])
def test_weights_of_a_million_millions(directed):
    ends = delaunay_ends(400)
    weights = np.random.default_rng(5).uniform(0, 1e12, len(ends))
    net = build(400, ends, weights, directed=directed)
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1)
    expected = exact_distances(net.topology, noisy_lengths(rel))
    rel.build_index()
    np.testing.assert_allclose(rel.matrix(), expected, rtol=1e-12)
    pairs = np.random.default_rng(1).integers(0, 400, (1000, 2))
    answers = rel.distances(pairs, positions=True)
    np.testing.assert_allclose(answers, expected[pairs[:, 0], pairs[:, 1]], rtol=1e-12)


def test_a_network_without_separators_is_one_large_leaf():
    rng = np.random.default_rng(0)
    n = 500
    ends = np.stack(np.triu_indices(n, 1), 1)
    for directed in (False, True):
        net = build(n, ends, rng.uniform(0, 9, len(ends)), directed=directed)
        rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=2).with_decoder(estimator="clip")
        without = rel.matrix()
        rel.build_index()
        assert np.array_equal(rel.matrix(), without)
        assert rel.distance(3, 77) == without[3, 77]


def test_large_leaves_of_separator_releases_are_searched():
    ends = grid_ends(20, 20)
    net = build(400, ends, np.random.default_rng(0).uniform(0, 9, len(ends)))
    shallow = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="separator", depth=1, seed=3)
    sources = np.arange(400)
    matrix = shallow.matrix()
    pairs = np.random.default_rng(0).integers(0, 400, (300, 2))
    assert np.array_equal(shallow.distances(pairs, positions=True), matrix[pairs[:, 0], pairs[:, 1]])
    assert np.array_equal(matrix, matrix.T)
    exact = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="separator", depth=1)
    assert np.array_equal(exact.matrix(sources.tolist()), exact_distances(net.topology, exact_lengths(net, exact)))


def exact_lengths(net, rel):
    lattice = rel.measurements.strategy.lattice
    return net.weights.on_lattice(lattice) * lattice.granularity


@pytest.mark.parametrize("name", SMALL)
def test_the_file_gives_the_same_answers(name, tmp_path):
    for mechanism in ("input", "separator"):
        net = named(name)
        if net.topology.directed and mechanism == "separator":
            continue
        rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism=mechanism, seed=1)
        expected = rel.matrix()
        rel.save(tmp_path / "x.hush", index=True)
        again = hushpath.load(tmp_path / "x.hush")
        assert again.index is not None
        assert again.index.labels is not None
        every_way(again, np.random.default_rng(3), expected)


def test_many_rows_build_tables_by_themselves(monkeypatch):
    net = named("planar")
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1).with_decoder(estimator="clip")
    some = rel.matrix(range(20))
    assert rel.index is None
    rows = rel.matrix(range(1600))
    assert isinstance(rel.index, Index)
    assert rel.index.labels is None
    assert np.array_equal(rows[:20], some)
    for name, value in (("MAX_BYTES", 4), ("ADDITIONS_PER_ARC", 1), ("MOST_ARCS_PER_NODE", 1)):
        with monkeypatch.context() as patch:
            patch.setattr(f"hushpath.decoder.edges.{name}", value)
            # too large, too slow or too dense: Dijkstra, without a word
            without = EdgeDecoder(rel.measurements, rel.decoder.estimator)
            assert without.index_for(1600) is None
            assert without.index_for(1600) is None
