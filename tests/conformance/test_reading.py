"""Every decoder and every estimator, by being registered: what each way to read a release must keep."""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from named_graphs import exact_distances, named

import hushpath
from hushpath.decoder.registry import DECODERS, decoders_for
from hushpath.errors import OptionError
from hushpath.estimator.base import NoisyEdges, WeightEstimator
from hushpath.estimator.registry import ESTIMATORS
from hushpath.measurement.blocks import TripBlock
from hushpath.measurement.private_step import Measurements
from hushpath.network.topology import Topology
from hushpath.noise import Law, stds
from hushpath.published.release import Release
from hushpath.testing import DecoderSuite, EstimatorSuite, SuiteRelease
from hushpath.testing.suites import weight_releases
from hushpath.trips.trips import Trips


class Travelled(NamedTuple):
    """A public network that people travel on: what stands in for a network with weights."""

    topology: Topology
    trips: Trips


def travelled(name, directed, periods):
    """Thirty people on a named network."""
    old, rng = named(name).topology, np.random.default_rng(8)
    public = Topology.build(
        old.labels, old.tails, old.heads, directed=directed, proxy=rng.uniform(2, 9, old.num_edges), proxy_name="free"
    )[0]
    edges = rng.integers(0, public.num_edges, 400)
    rows = pd.DataFrame({
        "who": rng.integers(0, 30, 400), "day": rng.integers(0, 4, 400), "seconds": 1.5 * public.proxy[edges],
        "from": [public.labels[i] for i in public.tails[edges]], "to": [public.labels[i] for i in public.heads[edges]],
        "period": rng.choice(["am", "pm", "night"], 400),
    })  # fmt: skip
    told = {"period": "period", "periods": periods} if periods else {}
    named_so = dict(person="who", day="day", edge=("from", "to"), seconds="seconds")
    return Travelled(public, hushpath.read_trips(rows, public, **named_so, **told))


@cache
def trip_releases():
    """Releases of trips, of both laws, with noise and without; of several periods each is read by itself.

    Any two of network, periods and budget meet.
    """
    made, budgets = [], ((1.0, 1e-6), (1.0, 0.0), (np.inf, 1e-6))
    for row, (name, directed) in enumerate((("grid", False), ("grid", True), ("path", False), ("disconnected", True))):
        for column, periods in enumerate((None, ["am"], ["am", "pm"])):
            epsilon, delta = budgets[(row + column) % 3]
            owned = travelled(name, directed, periods)
            told = dict(protects="person", low=0.5, high=6, seed=7)
            rel = hushpath.release_trips(owned.trips, epsilon=epsilon, delta=delta, **told)
            made += [(owned, rel.for_period(period)) for period in rel.periods] or [(owned, rel)]
    return made


class OfTrips(DecoderSuite):
    def releases(self):
        return tuple(SuiteRelease(rel, None, None) for _, rel in trip_releases())


def _title(name, kind):
    return "Test" + name.title().replace("-", "") + kind


for _name, _one in DECODERS.items():  # one test class each: what packages of others inherit too
    _suite = OfTrips if _one.blocks == (TripBlock,) else DecoderSuite
    _made = _title(_name, "Decoder")
    globals()[_made] = type(_made, (_suite,), {"decoder": _one, "__module__": __name__})


def test_times_of_trips_keep_their_bounds():
    """Nothing is proved of noise; what is certain is that times keep their bounds."""
    for owned, rel in trip_releases():
        strategy = rel.measurements.strategy
        assert np.isinf(type(rel.decoder).bound(strategy, 0.05).noise)
        low, high = (exact_distances(owned.topology, b) for b in (strategy.terms.low, strategy.terms.high))
        joined, step = np.isfinite(low), strategy.lattice.granularity * owned.topology.num_nodes
        assert (rel.matrix()[joined] >= low[joined] - step).all()
        assert (rel.matrix()[joined] <= high[joined]).all()


def test_the_default_is_the_first_that_reads_and_every_release_has_one():
    made = [one.release for one in weight_releases()] + [rel for _, rel in trip_releases()]
    for rel in made:
        able = decoders_for(rel.measurements.strategy)
        assert rel.decoder.name == able[0].name == rel.with_decoder().decoder.name
    for rel in made[::9]:  # which takes longer
        assert np.array_equal(rel.with_decoder(decoder=rel.decoder.name).matrix(), rel.matrix())


def test_decoders_and_estimators_that_do_not_apply_are_refused():
    net = named("grid")
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input")
    for asked in (dict(decoder="anchors"), dict(decoder="nobody"), dict(estimator="nobody")):
        with pytest.raises(OptionError):
            rel.with_decoder(**asked)
    table = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="all-pairs")
    with pytest.raises(OptionError):
        table.with_decoder(estimator="clip")


def test_every_reading_keeps_its_bound_where_hubs_are_not_random():
    """One hub in each of many components: a hop limit that took them all for random ones would prove too much."""
    n, lonely = 400, 300
    net = hushpath.Network.build(range(n + lonely), np.arange(n - 1), np.arange(1, n), np.full(n - 1, 5.0), upper=10.0)
    true = exact_distances(net.topology, net.weights.reveal())[:n, :n]
    for mechanism in ("hubs", "hubs-bounded", "cover", "input"):
        few = {"hubs": 6} if "hub" in mechanism else {}
        rel = hushpath.release(net, epsilon=np.inf, unit=1.0, mechanism=mechanism, **few)
        for decoder in decoders_for(rel.measurements.strategy):
            bound = decoder.bound(rel.measurements.strategy, 0.05)
            error = rel.with_decoder(decoder=decoder.name).matrix()[:n, :n] - true
            assert error.max() <= bound.noise + bound.detour, decoder.name
            assert error.min() >= -bound.noise - bound.below, decoder.name


def test_a_cover_is_read_as_one_even_if_it_holds_everybody():
    rel = hushpath.release(named("path"), epsilon=1.0, unit=1.0, mechanism="cover", hops=0, max_weight=20.0)
    assert rel.decoder.name == "cover"


def test_an_index_of_one_estimator_is_not_served_for_another(monkeypatch, tmp_path):
    longest = WeightEstimator(name="longest", summary="", estimate=lambda noisy: noisy.bounds[1])
    monkeypatch.setitem(ESTIMATORS, "longest", longest)
    rel = hushpath.release(named("grid"), epsilon=1.0, unit=1.0, mechanism="input", max_weight=20.0, seed=1)
    other = rel.with_decoder(estimator="longest")
    for mine, theirs in ((rel, other), (other, rel)):
        mine.save_index(tmp_path / "x.hushx")
        with pytest.raises(hushpath.HushpathError, match="another way to read it"):
            theirs.load_index(tmp_path / "x.hushx")
        mine.load_index(tmp_path / "x.hushx")
    assert not np.array_equal(rel.matrix(), other.matrix())


# --- estimators ------------------------------------------------------------------------------------------------------


OF_WEIGHTS = [name for name, one in ESTIMATORS.items() if isinstance(one, WeightEstimator)]
OF_TRIPS = [name for name in ESTIMATORS if name not in OF_WEIGHTS]


COSTLY = [name for name in OF_WEIGHTS if ESTIMATORS[name].costly]
for _name in OF_WEIGHTS:
    _made = _title(_name, "Estimator")
    globals()[_made] = type(_made, (EstimatorSuite,), {"estimator": ESTIMATORS[_name], "__module__": __name__})


def noisy_edges():
    for one in weight_releases():
        noisy = NoisyEdges.from_measurements(one.release.measurements)
        if len(noisy.edges):
            yield one.release, noisy


@pytest.mark.parametrize(
    "estimator", [pytest.param(name, marks=[pytest.mark.slow] * (name in COSTLY)) for name in OF_WEIGHTS]
)  # those that take long have tests of their intervals in tests/unit: test_intervals.py and test_sums_prior.py
def test_intervals_know_how_far_an_estimator_may_be_off(estimator):
    """Simulated intervals hold the truth about as often as they say; proved ones are refused if nothing is proved."""
    net = named("zero weights")  # the smallest grid, as each release is rehearsed many times
    true, inside = exact_distances(net.topology, net.weights.reveal())[0], []
    for seed in range(12):
        rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", max_weight=20.0, seed=seed)
        read, targets = rel.with_decoder(estimator=estimator), [5, 20, 33]
        low, high = read.intervals([(0, target) for target in targets], 0.9).T
        inside.extend((low <= true[targets]) & (true[targets] <= high))
    assert np.mean(inside) > 0.6  # 36 draws of a chance of about 0.9; below 0.6 by chance once in a million
    hubs = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="hubs", seed=1).with_decoder(estimator=estimator)
    if ESTIMATORS[estimator].proved:
        hubs.interval(0, 5)
    else:
        with pytest.raises(hushpath.HushpathError, match="not proved for estimator"):
            hubs.interval(0, 5)


def test_noisy_edges_know_their_noise():
    for rel, noisy in noisy_edges():
        strategy = rel.measurements.strategy
        assert noisy.law is Law(strategy.law)
        assert len(noisy.edges) == len(noisy.values) == len(noisy.scales) == len(noisy.noise)
        block = next(block for block in strategy.blocks if len(block.edges))
        last = strategy.numbers_of(type(block)).stop
        measured = slice(last - len(noisy.edges), last)
        drawn = noisy.draw_noise(np.random.default_rng(1))
        assert drawn.shape == noisy.values.shape
        assert np.array_equal(drawn == 0, noisy.noise == 0)
        if noisy.independent:
            assert set(noisy.scales.tolist()) <= set(strategy.scales.tolist())
            assert np.array_equal(noisy.values, rel.measurements.values[measured])
        else:  # sums can only add to what an edge's own number says (tests/unit/test_lines.py compares with a twin)
            own = noisy.edges - noisy.edges[0] + len(strategy.scales) - len(noisy.edges)
            assert (noisy.noise <= stds(strategy.law, strategy.scales[own]) + 1e-9).all()
    assert {type(noisy).__name__ for _, noisy in noisy_edges()} == {"NoisyEdges", "LeastSquaresEdges"}


# --- estimators of times from trips ----------------------------------------------------------------------------------


@cache
def read_times(estimator):
    """Every release of trips, read once for all tests."""
    return [(owned, rel, rel.with_decoder(estimator=estimator)) for owned, rel in trip_releases()]


@pytest.mark.parametrize("estimator", OF_TRIPS)
def test_estimated_times_are_whole_steps_within_public_bounds(estimator):
    seen = 0
    for _, rel, found in read_times(estimator):
        read = found.decoder
        times = read.all_weights
        assert times.dtype == np.int64
        assert times.shape == (max(1, len(rel.periods)), rel.topology.num_edges)
        assert (read.lattice.low <= times).all()
        assert (times <= read.lattice.high).all()
        if seen % 3 == 0:
            assert np.array_equal(times, rel.with_decoder(estimator=estimator).decoder.all_weights)  # nothing is drawn
        if found.saved_estimate.weights is not None:
            assert np.array_equal(found.saved_estimate.weights.reshape(times.shape), times)
        seen += 1
    assert seen


@pytest.mark.parametrize("estimator", OF_TRIPS)
def test_without_noise_times_that_all_agree_are_found(estimator):
    """Everybody took 1.5 times free flow everywhere: whoever shrinks towards anything shrinks towards that."""
    seen = 0
    for owned, rel, found in read_times(estimator):
        if rel.measurements.strategy.budget.unlimited:
            times = found.decoder.weights * rel.measurements.strategy.lattice.granularity
            above, below = rel.measurements.of(TripBlock).reshape(2, -1, owned.topology.num_edges)
            often = (above + below)[rel.periods.index(rel.period) if rel.period else 0] > 0
            assert times[often] == pytest.approx(1.5 * owned.topology.proxy[often], rel=0.02)
            seen += often.any()
    assert seen


@pytest.mark.parametrize("estimator", OF_TRIPS)
def test_wild_noise_breaks_no_estimator_of_trips(estimator):
    for owned, rel in trip_releases()[::5]:
        for extreme in (-(2**62), 0, 2**62):
            values = np.full_like(rel.measurements.values, extreme)
            wild = Release(Measurements(rel.measurements.strategy, values, "vector-seeded", False))
            read = wild.with_decoder(estimator=estimator)
            answers = (read.for_period(rel.period) if rel.period else read).matrix()
            assert (answers >= 0).all()
            apart = np.isinf(exact_distances(owned.topology, np.ones(owned.topology.num_edges)))
            assert np.array_equal(np.isinf(answers), apart)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_read_either_weights_or_trips(estimator):
    net, (owned, rel) = named("grid"), trip_releases()[0]
    of_trips = estimator in OF_TRIPS
    weights = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1)
    with pytest.raises(hushpath.HushpathError):
        (weights if of_trips else rel).with_decoder(estimator=estimator)
    assert (rel if of_trips else weights).with_decoder(estimator=estimator).decoder_choice.estimator.name == estimator
    assert owned.topology is rel.topology


def test_a_release_of_trips_is_the_same_after_saving(tmp_path):
    for owned, rel in trip_releases():
        rel.save(tmp_path / "x.hush")
        again = hushpath.load(tmp_path / "x.hush")
        again = again if rel.period is None else again.for_period(rel.period)
        assert np.array_equal(again.matrix(), rel.matrix())
        assert again.statement == rel.statement
        assert again.fingerprint == rel.fingerprint
        assert not rel.statement.private
        assert rel.statement.epsilon <= rel.statement.budget_epsilon
        assert hushpath.evaluate(owned.trips, rel).pairs > 0
