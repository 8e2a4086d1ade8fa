"""Networks, weights, cases and edge lists of the laboratory."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hushpath.errors import NetworkError, OptionError
from hushpath.estimator.base import WeightEstimator
from hushpath.estimator.registry import ESTIMATORS
from hushpath.lab.cases import FULL, NO_ESTIMATOR, QUICK, code_digest, estimators_for, make_cases
from hushpath.lab.networks import CLASSES, KINDS, check_own, draw_weights, generate_graph, load_own
from hushpath.mechanism.registry import MECHANISMS
from hushpath.network.network import Network
from hushpath.releasing.evaluate import evaluate
from hushpath.releasing.release import release

RATE_NOISES = {2**0.5 * unit for unit in FULL.rate_units}


@pytest.mark.parametrize("name", CLASSES)
def test_networks_are_connected_simple_and_repeatable(name):
    graph = generate_graph(name, 200, 7)
    n = len(graph.places)
    assert 140 <= n <= 280
    ends = np.sort(graph.ends, axis=1)
    assert (ends[:, 0] < ends[:, 1]).all()
    assert len(np.unique(ends, axis=0)) == len(ends)
    assert np.isfinite(graph.places).all()
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    assert connected_components(matrix, directed=False)[0] == 1
    again = generate_graph(name, 200, 7)
    assert np.array_equal(again.ends, graph.ends)
    if name in ("tree", "caterpillar", "path"):
        assert len(ends) == n - 1
    if name not in ("path", "ladder", "thin-grid", "grid"):
        other = generate_graph(name, 200, 8)
        assert not (np.array_equal(other.places, graph.places) and np.array_equal(other.ends, graph.ends))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["grid", "delaunay", "tree"])
def test_weights_have_median_one_and_keep_their_bound(kind, name):
    graph = generate_graph(name, 300, 1)
    drawn, bound = draw_weights(graph, kind, 5)
    assert np.median(drawn) == pytest.approx(1.0)
    assert drawn.min() >= 0
    assert drawn.max() <= bound
    assert np.array_equal(drawn, draw_weights(graph, kind, 5)[0])


@pytest.mark.slow
def test_adversarial_weights_are_the_worst_for_input_perturbation():
    graph = generate_graph("delaunay", 400, 1)
    relative = {}
    for kind in ("uniform", "lognormal", "correlated", "adversarial"):
        drawn, bound = draw_weights(graph, kind, 3)
        net = Network.build(range(len(graph.places)), *graph.ends.T, drawn)
        made = release(net, epsilon=2.0, unit=1.0, max_weight=bound, mechanism="input", seed=1)
        relative[kind] = evaluate(net, made).relative_error
    assert max(relative, key=relative.get) == "adversarial"


def test_cases_cover_the_registry_and_have_ids_of_their_own():
    cases = make_cases(QUICK, seed=0)
    assert {case.mechanism for case in cases} == set(MECHANISMS)
    assert {case.network for case in cases} == set(CLASSES)
    assert len({case.id for case in cases}) == len(cases)
    assert not {case.id for case in make_cases(QUICK, seed=1)} & {case.id for case in cases}
    assert {case.weights for case in cases} == set(KINDS)
    noises = {case.noise for case in make_cases(FULL, seed=0)}
    assert (min(noises - RATE_NOISES), max(noises)) == (0.05, 3.0)
    one = cases[0]
    assert one.epsilon * one.noise == pytest.approx(2**0.5)
    assert all(case.epsilon == pytest.approx(1.0) for case in cases if case.unit != 1.0)


def test_a_case_names_every_estimator_that_applies(monkeypatch):
    before = make_cases(QUICK, seed=0)
    monkeypatch.setitem(ESTIMATORS, "another", WeightEstimator(name="another", summary="", estimate=lambda noisy: None))
    cases = make_cases(QUICK, seed=0)
    assert len(cases) == len(before)
    assert not {case.id for case in cases if case.mechanism == "input"} & {case.id for case in before}
    for case in cases:
        searched = case.mechanism not in ("all-pairs", "cover", "tree")
        assert case.estimators == (tuple(ESTIMATORS) if searched else (NO_ESTIMATOR,))
    assert estimators_for("input", ["another"]) == ("another",)
    assert estimators_for("tree", ["another"]) == (NO_ESTIMATOR,)


def test_an_id_changes_with_the_code_that_makes_the_result(tmp_path):
    (tmp_path / "lab").mkdir()
    (tmp_path / "noise.py").write_text("a = 1\n")
    (tmp_path / "lab" / "report.py").write_text("b = 1\n")
    before = code_digest(tmp_path)
    (tmp_path / "lab" / "report.py").write_text("b = 2\n")
    assert code_digest(tmp_path) == before  # shows results only
    (tmp_path / "noise.py").write_text("a = 2\n")
    assert code_digest(tmp_path) != before
    assert code_digest() in make_cases(QUICK, seed=0)[0].id


def test_filters_keep_the_order_of_the_registry():
    cases = make_cases(QUICK, seed=0, mechanisms=["separator", "input", "input"], classes=["grid", "path"])
    assert list(dict.fromkeys(case.mechanism for case in cases)) == ["input", "separator"]
    assert list(dict.fromkeys(case.network for case in cases)) == ["path", "grid"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: make_cases(QUICK, seed=0, mechanisms=["magic"]),
        lambda: make_cases(QUICK, seed=0, classes=["torus"]),
        lambda: make_cases(QUICK, seed=-1),
        lambda: make_cases(QUICK, seed=0, estimators=["oracle"]),
        lambda: generate_graph("torus", 100, 0),
        lambda: generate_graph("grid", 4, 0),
        lambda: draw_weights(generate_graph("grid", 100, 0), "heavy", 0),
    ],
)
def test_mistakes_are_option_errors(call):
    with pytest.raises(OptionError):
        call()


@pytest.mark.parametrize("name", ["grid", "metro"])
def test_lengths_of_a_case_are_in_the_order_of_its_edges(name):
    case = make_cases(QUICK, seed=1, classes=[name])[0]
    network, lengths, _ = case.load(0)
    graph = generate_graph(case.network, case.size, case.seed_for("shape"))
    drawn, _ = draw_weights(graph, case.weights, case.seed_for("weights", case.weights, 0))
    by_ends = {frozenset(ends): w for ends, w in zip(graph.ends.tolist(), drawn.tolist(), strict=True)}
    topology = network.topology
    ends = zip(topology.tails.tolist(), topology.heads.tolist(), strict=True)
    assert lengths.tolist() == network.weights.reveal().tolist() == [by_ends[frozenset(pair)] for pair in ends]
    assert lengths.tolist() != drawn.tolist()


def test_an_edge_list_keeps_its_own_weights(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("source,target,minutes\nd,c,6\na,b,2\nc,c,9\nc,b,4\n")
    own = check_own(path, "minutes")
    assert (own.name, own.nodes) == ("roads.csv", 4)
    network, lengths, bound = load_own(own)
    assert lengths.tolist() == [0.5, 1.0, 1.5]
    assert lengths.tolist() == network.weights.reveal().tolist()
    assert bound >= lengths.max()
    assert network.topology.num_edges == 3
    assert network.topology.labels == ("a", "b", "c", "d")
    before = own.digest
    path.write_text(path.read_text().replace("a,b,2", "a,b,3"))
    assert check_own(path, "minutes").digest != before


def test_edge_lists_the_lab_cannot_use(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text("source,target,minutes\na,b,0\nb,c,0\n")
    with pytest.raises(OptionError, match="median"):
        check_own(path, "minutes")
    path.write_text("source,target,minutes\na,a,1\n")
    with pytest.raises(NetworkError, match="edge"):
        check_own(path, "minutes")
    with pytest.raises(NetworkError, match="weight"):
        check_own(path, "weight")
    with pytest.raises(NetworkError, match="cannot read"):
        check_own(tmp_path / "absent.csv", "weight")
    with pytest.raises(OptionError, match="graphml"):
        check_own(tmp_path / "roads.graphml", "weight")
