"""What a release says of itself: cautions in plain words, from what a file holds and nothing else."""

import json
import math
import warnings

import numpy as np
import pytest
from named_graphs import build, delaunay_ends, fitted, grid_ends

import hushpath
from hushpath import HushpathWarning, WeightUnit
from hushpath.errors import OptionError
from hushpath.mechanism.registry import MECHANISMS
from hushpath.planning.plan import plan
from hushpath.privacy.accounting import zcdp_epsilon
from hushpath.published.statement import typical_distance

SIDE = 12
ENDS = grid_ends(SIDE, SIDE)


def town(weight=100.0, **facts):
    """A grid whose weights dwarf noise of size 1."""
    return build(SIDE * SIDE, ENDS, np.full(len(ENDS), weight), **facts)


def silently(net, **ask):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return hushpath.release(net, **{"unit": 1.0, "mechanism": "input", **ask})


def units(population):
    return {"unit": WeightUnit(1.0, population=population)}


PROMISES = [
    (dict(epsilon=1.0), None),
    (dict(epsilon=10.0, noise="laplace"), None),
    (dict(epsilon=10.1, noise="laplace"), "practically no protection: .* 99.996 %, its odds 2[45],000 times"),
    (dict(epsilon=50.5, noise="laplace"), "practically no protection"),
    (dict(epsilon=917.0, noise="laplace"), "may become 100 %, its odds more than 1e304"),
    (dict(epsilon=1.0, delta=0.5, noise="gaussian"), "delta = 0.5 is practically no protection"),
    (dict(epsilon=1.0, delta=0.5, noise="laplace"), None),  # spends no delta
    (dict(epsilon=1.0, delta=1e-3, noise="gaussian"), "delta = 0.001 is too large.*declare it as population"),
    (dict(epsilon=1.0, delta=1e-4, noise="gaussian"), None),
    (dict(epsilon=1.0, delta=1e-3, noise="gaussian", **units(999)), None),
    (dict(epsilon=1.0, delta=1e-3, noise="gaussian", **units(1000)), "; use a delta far below 1 / 1,000"),
    (dict(epsilon=1.0, delta=1e-6, noise="gaussian", **units(2_000_000)), "2 of 2,000,000 units"),
    (dict(epsilon=1.0, delta=1e-6, noise="laplace", **units(2_000_000)), None),
    (dict(epsilon=math.inf), None),  # NOT PRIVATE says it
]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("ask", "says"), PROMISES, ids=str)
def test_a_weak_promise_is_said_everywhere(ask, says, tmp_path):
    net = town(weight=1e4)
    ask = dict(unit=WeightUnit(1.0), mechanism="input") | ask
    planned = plan(net.topology, **ask)
    if says is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            rel = hushpath.release(net, **ask)
        assert rel.statement.cautions == planned.cautions == ()
        return
    with pytest.warns(HushpathWarning, match=says) as caught:
        rel = hushpath.release(net, **ask)
    assert [str(warning.message) for warning in caught] == list(rel.statement.cautions) == list(planned.cautions)
    assert caught[0].filename == __file__  # it points at the caller
    (text,) = rel.statement.cautions
    assert f"Caution: {text}." in str(rel.statement)
    assert f"Caution: {text}." in str(planned)
    assert rel.statement.as_dict()["cautions"] == planned.as_dict()["cautions"] == [text]
    json.dumps(rel.statement.as_dict(), allow_nan=False)
    rel.save(tmp_path / "x.hush")
    loaded = hushpath.load(tmp_path / "x.hush")
    assert loaded.statement == rel.statement
    assert loaded.statement.unit == ask["unit"]


@pytest.mark.parametrize("population", [0, -1, 1.5, True, "many"])
def test_population_is_a_whole_number(population):
    with pytest.raises(OptionError, match="population"):
        plan(town().topology, epsilon=1.0, unit=WeightUnit(l1=1.0, population=population))


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("directed", [False, True])
def test_mostly_noise_is_said_where_it_is_and_only_there(mechanism, law, directed):
    """Quiet where noise is a thousandth of the weights, loud where it is a hundred times as large."""
    if directed and MECHANISMS[mechanism].undirected_only:
        return
    for weight, loud in ((1e6, False), (1e-3, True)):
        net = fitted(town(weight, directed=directed), mechanism)
        rel = silently(net, epsilon=1.0, mechanism=mechanism, noise=law, max_weight=2 * weight)
        said = [text for text in rel.statement.cautions if text.startswith("this is mostly noise")]
        assert len(said) == loud, (weight, rel.statement.cautions)
        planned = plan(net.topology, epsilon=1.0, unit=1.0, mechanism=mechanism, max_weight=2 * weight, noise=law)
        assert any("expect mostly noise" in text for text in planned.cautions) == loud


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("shape", ["grid", "tree", "planar", "pieces"])
def test_the_typical_distance_is_about_right(mechanism, shape):
    """Without noise the estimate is within a factor of three of the true mean; that is all a caution needs."""
    rng = np.random.default_rng(3)
    if shape == "planar":
        ends, n = delaunay_ends(300), 300
    elif shape == "tree":
        ends, n = [(int(rng.integers(max(0, i - 8), i)), i) for i in range(1, 200)], 200
    elif shape == "pieces":
        ends, n = np.concatenate([ENDS, ENDS + SIDE * SIDE]), 2 * SIDE * SIDE + 5
    else:
        ends, n = ENDS, SIDE * SIDE
    net = fitted(build(n, ends, rng.uniform(5, 15, len(ends))), mechanism)
    try:
        rel = silently(net, epsilon=math.inf, mechanism=mechanism, max_weight=15.0)
    except OptionError:
        assert mechanism == "treewidth"
        return
    true = hushpath.release(net, epsilon=math.inf, unit=1.0, mechanism="input").matrix()
    mean = true[np.isfinite(true) & (true > 0)].mean()
    assert mean / 3 < typical_distance(rel.measurements) < 3 * mean


@pytest.mark.usefixtures("quick")
def test_loading_makes_cautions_anew_and_a_file_holds_none(tmp_path):
    rel = silently(town(1e-3), epsilon=1.0)
    assert rel.statement.cautions
    rel.save(tmp_path / "x.hush")
    assert hushpath.load(tmp_path / "x.hush").statement == rel.statement
    assert b"mostly noise" not in (tmp_path / "x.hush").read_bytes()  # its size would depend on the numbers


def test_what_is_not_private_says_that_and_nothing_else():
    assert silently(town(1e-3), epsilon=1.0, seed=1).statement.cautions == ()
    assert silently(town(1e-3), epsilon=math.inf).statement.cautions == ()


@pytest.mark.usefixtures("quick")
def test_the_city_is_told_when_its_unit_drowns_it(tmp_path):
    """The finding: unit 192 with weights up to 60 chose a cover without numbers, and answered 0 everywhere."""
    from hushpath.demo.city import MAX_WEIGHT, make_city

    city = make_city(400, 500)
    ask = dict(epsilon=1.0, max_weight=MAX_WEIGHT)
    planned = plan(city.network.topology, unit=192.0, ignore_baseline=True, **ask)
    assert "expect mostly noise" in str(planned)
    for _ in range(5):
        with pytest.warns(HushpathWarning, match="this is mostly noise"):
            rel = hushpath.release(city.network, plan=planned)
        assert rel.statement.numbers > 0
        assert rel.statement.epsilon > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hushpath.release(city.network, unit=3.0, **ask)


def test_the_statement_says_how_epsilon_was_proved():
    net = town()
    exact = silently(net, epsilon=1.0, delta=1e-6, noise="gaussian").statement
    assert exact.conversion == "the exact trade-off of Gaussian noise"
    said = f"rho (zCDP) = {exact.spent:.6g}, highest at edge {exact.worst_edge}; epsilon by {exact.conversion}; budget"
    assert said in str(exact)
    street = hushpath.Network.build(["a", "b"], [0], [1], [1.0])  # noise of two steps: too coarse for the trade-off
    coarse = silently(
        street, epsilon=10.0, noise="gaussian", unit=WeightUnit(1.0, lattice_step=1.0), max_weight=50.0
    ).statement
    assert coarse.conversion == "the conversion of rho"
    assert coarse.epsilon == pytest.approx(zcdp_epsilon(coarse.spent, coarse.delta))
    assert silently(net, epsilon=1.0, noise="laplace").statement.conversion == ""
    assert silently(net, epsilon=math.inf).statement.conversion == ""
