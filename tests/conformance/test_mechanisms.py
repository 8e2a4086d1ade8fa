"""Every mechanism, on every named network: exact without noise, the same after saving, certified always."""

from dataclasses import replace

import numpy as np
import pytest
from named_graphs import ALL, SMALL, exact_distances, fitted, named

import hushpath
from hushpath.mechanism.registry import MECHANISMS
from hushpath.planning.predict import error_bound
from hushpath.published.release import Release

EXACT = [name for name in MECHANISMS if MECHANISMS[name].lossless]
INEXACT = [name for name in MECHANISMS if not MECHANISMS[name].lossless]


def release_or_skip(net, **options):
    mechanism = MECHANISMS[options["mechanism"]]
    if net.topology.directed and not mechanism.directed:
        with pytest.raises(hushpath.HushpathError, match="undirected"):
            hushpath.release(net, **{"unit": 1.0, **options})
        pytest.skip("undirected by nature, and says so")
    try:
        return hushpath.release(net, **{"unit": 1.0, **options})
    except hushpath.HushpathError as refusal:
        if "cannot run on this network" not in str(refusal):
            raise
        pytest.skip("does not fit, and says so")


def lattice_lengths(net, rel):
    lattice = rel.measurements.strategy.lattice
    return net.weights.on_lattice(lattice) * lattice.granularity


@pytest.mark.parametrize("mechanism", EXACT)
@pytest.mark.parametrize("name", ALL)
def test_without_noise_distances_are_scipys_bit_for_bit(name, mechanism):
    if name == "planar" and mechanism == "all-pairs":
        pytest.skip("200 MB of pairs: covered by the slow test")
    net = named(name)
    rel = release_or_skip(net, epsilon=np.inf, mechanism=mechanism)
    sources = np.arange(min(net.topology.num_nodes, 200))
    expected = exact_distances(net.topology, lattice_lengths(net, rel), sources)
    assert np.array_equal(rel.matrix(list(sources)), expected)
    assert not rel.statement.private


@pytest.mark.parametrize("mechanism", INEXACT)
@pytest.mark.parametrize("name", SMALL)
def test_without_noise_other_mechanisms_stay_within_their_detour(name, mechanism):
    net = named(name)
    rel = release_or_skip(net, epsilon=np.inf, mechanism=mechanism, max_weight=20.0)
    expected, answer = exact_distances(net.topology, lattice_lengths(net, rel)), rel.matrix()
    reachable = np.isfinite(expected)
    assert np.array_equal(np.isfinite(answer), reachable)
    error = answer[reachable] - expected[reachable]
    bound = error_bound(rel.measurements.strategy, 0.5)
    assert -bound.below <= error.min()
    assert error.max() <= bound.detour


@pytest.mark.slow
def test_all_pairs_is_exact_on_5000_planar_nodes():
    net = named("planar")
    rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="all-pairs")
    sources = np.arange(0, 5000, 10)
    expected = exact_distances(net.topology, lattice_lengths(net, rel), sources)
    assert np.array_equal(rel.matrix(list(sources)), expected)


# Every network and mechanism in `make test`, the laws in turn; the other half in `make test-slow`.
IN_TURN = [
    pytest.param(name, law, mechanism, marks=[pytest.mark.slow] * ((i + j + k) % 2))
    for i, name in enumerate(SMALL)
    for j, law in enumerate(["laplace", "gaussian"])
    for k, mechanism in enumerate(MECHANISMS)
]


@pytest.mark.parametrize(("name", "law", "mechanism"), IN_TURN)
def test_saving_changes_no_bit_of_any_answer(name, law, mechanism, tmp_path):
    net = named(name)
    rel = release_or_skip(net, epsilon=1.0, mechanism=mechanism, noise=law, max_weight=20.0)
    rel.save(tmp_path / "x.hush")
    again = hushpath.load(tmp_path / "x.hush")
    assert np.array_equal(again.matrix(), rel.matrix())
    assert again.statement == rel.statement
    assert again.statement.private
    again.save(tmp_path / "y.hush")
    assert (tmp_path / "y.hush").read_bytes() == (tmp_path / "x.hush").read_bytes()


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("name", SMALL)
def test_every_way_to_ask_gives_the_same_answer(name, mechanism):
    net = named(name)
    rel = release_or_skip(net, epsilon=1.0, mechanism=mechanism, seed=3, max_weight=20.0)
    matrix = rel.matrix()
    n = net.topology.num_nodes
    assert (np.diag(matrix) == 0).all()
    pairs = [(i, j) for i in range(n) for j in range(n)][:: max(1, n * n // 150)]
    asked = rel.distances(pairs)
    assert np.array_equal(asked, [matrix[i, j] for i, j in pairs])
    assert [rel.distance(i, j) for i, j in pairs[:20]] == asked[:20].tolist()
    picked = rel.matrix([n - 1, 0], [0, n - 1])
    assert np.array_equal(picked, matrix[np.ix_([n - 1, 0], [0, n - 1])])
    frame = rel.frame([0], None)
    assert np.array_equal(frame.to_numpy()[0], matrix[0])
    assert list(frame.columns) == list(net.topology.labels)
    if not net.topology.directed:
        assert np.array_equal(matrix, matrix.T)
    unreachable = np.isinf(exact_distances(net.topology, np.ones(net.topology.num_edges)))
    assert np.array_equal(np.isinf(matrix), unreachable)
    assert (matrix >= 0).all()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_pure_and_approximate_budgets_are_met(mechanism):
    net = fitted(named("grid"), mechanism)
    for delta, law in [(0.0, "laplace"), (1e-6, "gaussian"), (1e-6, "auto")]:
        rel = hushpath.release(net, epsilon=0.7, unit=1.0, delta=delta, mechanism=mechanism, max_weight=20.0, noise=law)
        assert 0.69 < rel.statement.epsilon <= 0.7
        assert rel.statement.delta == (1e-6 if rel.statement.law == "gaussian" else 0.0)
    with pytest.raises(hushpath.HushpathError, match="delta above 0"):
        hushpath.release(net, epsilon=1.0, unit=1.0, delta=0, mechanism=mechanism, max_weight=20.0, noise="gaussian")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_seeded_releases_repeat_and_are_marked(mechanism):
    net = fitted(named("cycle"), mechanism)
    ask = dict(epsilon=1.0, unit=1.0, mechanism=mechanism, max_weight=20.0)
    a, b = (hushpath.release(net, seed=5, **ask) for _ in range(2))
    assert np.array_equal(a.matrix(), b.matrix())
    assert not a.statement.private
    assert str(a.statement).startswith("NOT PRIVATE")
    assert "NOT PRIVATE" in repr(a)
    c, d = (hushpath.release(net, **ask) for _ in range(2))
    assert not np.array_equal(c.measurements.values, d.measurements.values)
    assert c.statement.private


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_intervals_hold_the_answer_and_respect_public_facts(mechanism):
    net = fitted(named("disconnected"), mechanism)
    rel = release_or_skip(net, epsilon=2.0, mechanism=mechanism, max_weight=20.0)
    low, high = rel.interval(0, 2, confidence=0.9)
    assert 0 <= low <= high
    assert low < high
    assert rel.interval(0, 0) == (0.0, 0.0)
    assert rel.interval(0, 4) == (np.inf, np.inf)
    with pytest.raises(hushpath.HushpathError, match="between 0 and 1"):
        rel.interval(0, 1, confidence=1.0)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_details_are_for_people_only(mechanism):
    """No answer, interval or bound rests on them: a file could say anything there."""
    net = fitted(named("grid"), mechanism)
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism=mechanism, max_weight=20.0, seed=3)
    strategy = replace(rel.measurements.strategy, details={"hubs": 10**9, "radius": -1, "shares": "none"})
    forged = Release(replace(rel.measurements, strategy=strategy))
    assert np.array_equal(forged.matrix(), rel.matrix())
    assert forged.intervals([(0, 5)]).tolist() == rel.intervals([(0, 5)]).tolist()
    assert error_bound(strategy, 0.05) == error_bound(rel.measurements.strategy, 0.05)


def test_auto_leaves_mechanisms_for_comparison_alone(monkeypatch):
    topology = named("grid").topology
    for name, one in MECHANISMS.items():
        if one.comparison:
            monkeypatch.setitem(MECHANISMS, name, replace(one, design=lambda *_, **__: pytest.fail("was built")))
    found = {one.mechanism: one for one in hushpath.plan(topology, epsilon=1.0, unit=1.0, max_weight=20.0).candidates}
    assert set(found) == set(MECHANISMS)
    for name, one in MECHANISMS.items():
        assert (found[name].strategy is None) == one.comparison, found[name].reason
