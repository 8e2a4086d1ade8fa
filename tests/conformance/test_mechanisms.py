"""Every mechanism, on every named network: exact without noise, the same after saving, certified always."""

from dataclasses import replace

import numpy as np
import pytest
from named_graphs import build, delaunay_ends, exact_distances, fitted, named

import hushpath
from hushpath.errors import OptionError
from hushpath.mechanism.registry import MECHANISMS
from hushpath.planning.predict import error_bound
from hushpath.published.release import Release
from hushpath.testing import MechanismSuite


class Ours(MechanismSuite):
    @pytest.mark.quick(every=2)
    def test_saving_changes_no_answer(self, network, law, tmp_path):
        super().test_saving_changes_no_answer(network, law, tmp_path)

    @pytest.mark.quick(every=2)
    def test_every_query_gives_the_same_answer(self, network):
        super().test_every_query_gives_the_same_answer(network)


for _name, _one in MECHANISMS.items():  # one test class each: what packages of others inherit too
    _title = "Test" + _name.title().replace("-", "")
    globals()[_title] = type(_title, (Ours,), {"mechanism": _one, "__module__": __name__})


def lattice_lengths(net, rel):
    lattice = rel.measurements.strategy.lattice
    return net.weights.on_lattice(lattice) * lattice.granularity


@pytest.mark.parametrize("nodes", [800, pytest.param(5000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "mechanism", [name for name, one in MECHANISMS.items() if one.lossless and name != "all-pairs"]
)
def test_without_noise_distances_of_planar_networks_are_those_of_scipy(mechanism, nodes):
    ends = delaunay_ends(nodes)
    net = build(nodes, ends, np.random.default_rng(0).uniform(0.5, 20.0, len(ends)))
    try:
        rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism=mechanism)
    except OptionError:
        assert mechanism in ("tree", "treewidth")
        return
    sources = np.arange(200)
    expected = exact_distances(net.topology, lattice_lengths(net, rel), sources)
    assert np.array_equal(rel.matrix(list(sources)), expected)


@pytest.mark.slow
def test_all_pairs_is_exact_on_5000_planar_nodes():
    net = named("planar")
    rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism="all-pairs")
    sources = np.arange(0, 5000, 10)
    expected = exact_distances(net.topology, lattice_lengths(net, rel), sources)
    assert np.array_equal(rel.matrix(list(sources)), expected)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_frames_have_labels(mechanism):
    net = fitted(named("cycle"), mechanism)
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism=mechanism, max_weight=20.0, seed=3)
    frame = rel.frame([0], None)
    assert np.array_equal(frame.to_numpy()[0], rel.matrix()[0])
    assert list(frame.columns) == list(net.topology.labels)
    with pytest.raises(hushpath.HushpathError):
        rel.interval(0, 1, confidence=1.0)


@pytest.mark.usefixtures("quick")
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
