"""The suites: what every mechanism, decoder and estimator must keep.

A test class inherits one and names what it tests.  pytest is imported when a test runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..decoder.base import Decoder
from ..decoder.registry import DECODERS, default_decoder
from ..errors import CannotError, HushpathError, OptionError
from ..estimator.base import NoisyEdges, WeightEstimator
from ..estimator.registry import ESTIMATORS
from ..measurement.private_step import Measurements
from ..measurement.samples import few_hops, sampled_hops
from ..mechanism.base import Mechanism
from ..mechanism.registry import MECHANISMS
from ..network.topology import Topology
from ..noise import Law
from ..planning.plan import plan
from ..planning.predict import error_bound
from ..published.release import Release, load
from ..releasing.release import release
from .networks import MAX_WEIGHT, NETWORKS, exact_distances, network_for

UNIT = 1.0


def _true_steps(net: Any) -> Int:
    """Return the exact weights in lattice steps: what is measured without noise."""
    return _make(net, "input", epsilon=np.inf).measurements.values


def _make(net: Any, mechanism: str, **options: Any) -> Release:
    return release(net, **{"epsilon": 1.0, "unit": UNIT, "max_weight": MAX_WEIGHT, **options}, mechanism=mechanism)


def _unreachable(topology: Topology) -> Any:
    return np.isinf(exact_distances(topology, np.ones(topology.num_edges)))


class _Suite:
    """Runs a test that asks for ``network`` or ``law`` on each."""

    networks: ClassVar[tuple[str, ...]] = NETWORKS

    def pytest_generate_tests(self, metafunc: Any) -> None:
        for name, values in (("network", self.networks), ("law", [str(law) for law in Law])):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, values)


class MechanismSuite(_Suite):
    """Tests of a mechanism: its certificate, answers without noise, files, budgets and marks.

    Attributes
    ----------
    mechanism
        The mechanism, registered under the entry point group ``hushpath.mechanisms``.
    networks
        Names of the networks to run on: all of ``hushpath.testing.networks.NETWORKS`` unless fewer are named.
    options
        Options of the mechanism that every release here is made with.
    """

    mechanism: ClassVar[Mechanism]
    options: ClassVar[Mapping[str, Any]] = {}

    def net(self, network: str, change: tuple[int, float] | None = None) -> Any:
        """Return a network that the mechanism runs on; skip the test if it refuses the network as it says."""
        import pytest

        net = network_for(self.mechanism, network, change)
        if net.topology.directed and self.mechanism.undirected_only:
            with pytest.raises(OptionError):
                _make(net, self.mechanism.name)
            pytest.skip("for undirected networks only")
        return net

    def make(self, net: Any, **options: Any) -> Release:
        """Release a network by the mechanism."""
        return _make(net, self.mechanism.name, **self.options, **options)

    def test_registered(self) -> None:
        assert MECHANISMS.get(self.mechanism.name) is self.mechanism

    def test_without_noise_answers_are_distances(self, network: str) -> None:
        """Exactly the distances if the mechanism is lossless, else within its decoder's bound; NOT PRIVATE."""
        net = self.net(network)
        rel = self.make(net, epsilon=np.inf)
        strategy, answers = rel.measurements.strategy, rel.matrix()
        expected = exact_distances(net.topology, strategy.lattice.floats(_true_steps(net)))
        joined = np.isfinite(expected)
        assert np.array_equal(np.isfinite(answers), joined)
        if self.mechanism.lossless:
            assert np.array_equal(answers, expected)
        else:
            error, bound = answers[joined] - expected[joined], error_bound(strategy, 0.5)
            assert -bound.below <= error.min()
            assert error.max() <= bound.detour
        assert not rel.statement.private

    def test_certificate_holds_for_neighbours(self, network: str, law: str) -> None:
        """With the same noise, moving one weight by the unit costs no more than the certificate says.

        Each group of numbers moves by at most its cut number times the steps that its edges move.
        """
        first = self.net(network)
        made = plan(
            first.topology, epsilon=1.0, unit=UNIT, max_weight=MAX_WEIGHT, mechanism=self.mechanism.name, noise=law,
            ignore_baseline=True, **self.options,
        )  # fmt: skip
        strategy, m = made.strategy, first.topology.num_edges
        group = np.repeat(np.arange(len(strategy.scales)), strategy.group_sizes)
        exposure, count = strategy.exposure, len(strategy.scales)
        before, steps = release(first, plan=made, seed=1).measurements.values, _true_steps(first)
        for edge, amount in zip(range(0, m, max(1, m // 6)), (UNIT, -UNIT) * m, strict=False):
            second = self.net(network, (edge, amount))
            moves = np.abs(release(second, plan=made, seed=1).measurements.values - before).astype(float)
            ratio = moves / strategy.scales[group]
            cost = ratio.sum() if strategy.law is Law.LAPLACE else (ratio**2).sum() / 2
            assert cost <= strategy.certificate.spent * (1 + 1e-12), f"edge {edge}"
            changed = np.abs(_true_steps(second) - steps).astype(float)
            assert changed.sum() <= strategy.terms.unit_steps(strategy.lattice)
            allowed = np.bincount(exposure.group, weights=changed[exposure.edge], minlength=count)
            assert (np.bincount(group, weights=moves, minlength=count) <= exposure.cut * allowed).all(), f"edge {edge}"
            assert (moves <= allowed[group]).all(), f"edge {edge}"

    def test_saving_changes_no_answer(self, network: str, law: str, tmp_path: Path) -> None:
        rel = self.make(self.net(network), noise=law)
        rel.save(tmp_path / "x.hush")
        again = load(tmp_path / "x.hush")
        assert np.array_equal(again.matrix(), rel.matrix())
        assert again.statement == rel.statement
        assert again.statement.private
        again.save(tmp_path / "y.hush")
        assert (tmp_path / "y.hush").read_bytes() == (tmp_path / "x.hush").read_bytes()

    def test_every_query_gives_the_same_answer(self, network: str) -> None:
        net = self.net(network)
        rel, n = self.make(net, seed=3), net.topology.num_nodes
        matrix = rel.matrix()
        assert (np.diag(matrix) == 0).all()
        assert (matrix >= 0).all()
        assert np.array_equal(np.isinf(matrix), _unreachable(net.topology))
        assert net.topology.directed or np.array_equal(matrix, matrix.T)
        pairs = np.argwhere(np.ones((n, n), bool))[:: max(1, n * n // 150)].tolist()
        asked = rel.distances(pairs)
        assert np.array_equal(asked, [matrix[i, j] for i, j in pairs])
        assert [rel.distance(i, j) for i, j in pairs[:20]] == asked[:20].tolist()
        ends = [n - 1, 0]
        assert np.array_equal(rel.matrix(ends, ends[::-1]), matrix[np.ix_(ends, ends[::-1])])

    def test_budgets_are_met_and_errors_predicted(self) -> None:
        net = self.net("grid")
        for delta, law in [(0.0, "laplace"), (1e-6, "gaussian"), (1e-6, "auto")]:
            rel = self.make(net, epsilon=0.7, delta=delta, noise=law)
            assert rel.statement.epsilon <= 0.7
            assert rel.statement.delta == (1e-6 if rel.statement.law == "gaussian" else 0.0)
        made = plan(net.topology, epsilon=1.0, unit=UNIT, max_weight=MAX_WEIGHT, mechanism=self.mechanism.name,
                    ignore_baseline=True, **self.options)  # fmt: skip
        assert 0 < made.choice.mean_error < np.inf

    def test_pure_privacy_takes_no_gaussian_noise(self) -> None:
        import pytest

        with pytest.raises(OptionError):
            self.make(self.net("grid"), delta=0.0, noise="gaussian")

    def test_seeded_releases_repeat_and_are_not_private(self) -> None:
        net = self.net("cycle")
        first, second = (self.make(net, seed=5) for _ in range(2))
        assert np.array_equal(first.matrix(), second.matrix())
        assert not first.statement.private
        assert str(first.statement).startswith("NOT PRIVATE")
        assert "NOT PRIVATE" in repr(first)
        fresh, other = (self.make(net) for _ in range(2))
        assert not np.array_equal(fresh.measurements.values, other.measurements.values)
        assert fresh.statement.private

    def test_intervals_hold_the_answer(self) -> None:
        rel = self.make(self.net("disconnected"), epsilon=2.0)
        low, high = rel.interval(0, 2, confidence=0.9)
        assert 0 <= low < high
        assert rel.interval(0, 0) == (0.0, 0.0)
        assert rel.interval(0, 4) == (np.inf, np.inf)


class SuiteRelease(NamedTuple):
    """A release to decode, with the true distances (None if they are not known) and its true lattice steps."""

    release: Release
    distances: Float | None
    steps: Int | None


@cache
def weight_releases() -> tuple[SuiteRelease, ...]:
    """Release small networks by every mechanism, with noise and without."""
    made = []
    for name, mechanism in product(NETWORKS, MECHANISMS.values()):
        net = network_for(mechanism, name)
        if net.topology.num_nodes > 40 or (net.topology.directed and mechanism.undirected_only):
            continue
        steps = _true_steps(net)
        for options, epsilon in product(({}, _OTHER_OPTIONS.get(mechanism.name)), (1.0, np.inf)):
            if options is not None:
                rel = _make(net, mechanism.name, epsilon=epsilon, seed=7, **options)
                lengths = rel.measurements.strategy.lattice.floats(steps)
                made.append(SuiteRelease(rel, exact_distances(net.topology, lengths), steps))
    return tuple(made)


_OTHER_OPTIONS: dict[str, dict[str, Any]] = {  # they change what is decoded
    "separator": {"levels": "adjacent"}, "separator-cover": {"levels": "adjacent", "hops": 1}, "lines": {"branch": 2},
}  # fmt: skip


@cache
def _decode(rel: Release, decoder: str) -> Release:
    """Decode each release of the suites once for all tests."""
    return rel.with_decoder(decoder=decoder)


class DecoderSuite(_Suite):
    """Tests of a decoder: answers, proved bound, prediction, intervals and index.

    Attributes
    ----------
    decoder
        The class, registered under the entry point group ``hushpath.decoders``.
    """

    decoder: ClassVar[type[Decoder]]

    def releases(self) -> tuple[SuiteRelease, ...]:
        """Return the releases to decode; those that the decoder does not read are left out."""
        return weight_releases()

    def decoded(self, every: int = 1) -> Iterator[tuple[SuiteRelease, Release]]:
        """Yield the releases that the decoder reads, each with its decoded twin."""
        able = [one for one in self.releases() if self.decoder.reads(one.release.measurements.strategy)]
        assert able, "no release is read by this decoder: override `releases`"
        for one in able[::every]:
            yield one, _decode(one.release, self.decoder.name)

    def test_registered(self) -> None:
        assert DECODERS.get(self.decoder.name) is self.decoder

    def test_answers_are_a_metric(self) -> None:
        for one, read in self.decoded():
            answers, topology = read.matrix(), read.topology
            assert (np.diag(answers) == 0).all()
            assert (answers >= 0).all()
            assert np.array_equal(np.isinf(answers), _unreachable(topology))
            assert topology.directed or np.array_equal(answers, answers.T)
            pairs = np.argwhere(np.ones(answers.shape, bool))[:: max(1, answers.size // 60)]
            assert np.array_equal(read.distances(pairs, positions=True), answers[tuple(pairs.T)])
            assert read.measurements is one.release.measurements

    def test_proved_bound_holds(self) -> None:
        """Always without noise; with (seeded) noise each bound may fail with probability 0.05."""
        outside = total = 0
        for one, read in self.decoded():
            if one.distances is None:
                continue
            strategy, joined = read.measurements.strategy, np.isfinite(one.distances)
            error, bound = read.matrix()[joined] - one.distances[joined], self.decoder.bound(strategy, 0.05)
            inside = (error <= bound.noise + bound.detour + 1e-9) & (error >= -bound.noise - bound.below - 1e-9)
            if not strategy.budget.unlimited:
                outside, total = outside + (not inside.all()), total + 1
                continue
            assert inside.all()
            if MECHANISMS[strategy.mechanism].lossless and self.decoder is default_decoder(strategy):
                assert (error == 0).all()
        assert outside <= 0.05 * total + 3 * np.sqrt(0.05 * total)

    def test_predictions_are_finite_and_zero_without_noise(self) -> None:
        import pytest

        for one, _ in self.decoded():
            strategy = one.release.measurements.strategy
            for hops in (few_hops, sampled_hops):
                if strategy.terms.unit.kind == "trips":
                    with pytest.raises(CannotError):
                        self.decoder.predict(strategy, hops)
                    continue
                expected = self.decoder.predict(strategy, hops)
                assert np.isfinite(expected.spread).all()
                for part in (expected.spread, expected.moved, expected.minima):
                    assert (np.asarray(part) >= 0).all()
                assert not strategy.budget.unlimited or not expected.spread.any()

    def test_intervals_hold_the_answer(self) -> None:
        import pytest

        for one, read in self.decoded(every=3):
            topology, labels = read.topology, read.topology.labels
            by_bound = self.decoder.ranges is Decoder.ranges  # none of its own
            if read.decoder.searches and not read.decoder.estimator.proved and by_bound:
                for edge in np.flatnonzero(topology.tails != topology.heads)[:1]:
                    with pytest.raises(CannotError):  # no bound is known
                        read.interval(labels[topology.tails[edge]], labels[topology.heads[edge]])
                read = one.release.with_decoder(decoder=self.decoder.name, estimator="clip")
            for target in (labels[-1], labels[min(1, len(labels) - 1)]):
                low, high = read.interval(labels[0], target)
                assert 0 <= low <= read.distance(labels[0], target) <= high or np.isinf(low)
            assert read.interval(labels[0], labels[0]) == (0.0, 0.0)

    def test_index_gives_the_same_answers(self, tmp_path: Path) -> None:
        import pytest

        if not self.decoder.indexed:
            pytest.skip("the decoder has no index")
        for i, (one, read) in enumerate(self.decoded(every=4)):
            rel, before = one.release, read.matrix()
            read = rel.with_decoder(decoder=self.decoder.name)
            read.save_index(tmp_path / f"{i}.hushx")
            assert np.array_equal(read.matrix(), before)
            again = rel.with_decoder(decoder=self.decoder.name)
            again.load_index(tmp_path / f"{i}.hushx")
            assert np.array_equal(again.matrix(), before)
            if self.decoder is not default_decoder(rel.measurements.strategy) and rel.decoder.indexed:
                with pytest.raises(HushpathError):  # the index of another decoder
                    rel.load_index(tmp_path / f"{i}.hushx")


class EstimatorSuite(_Suite):
    """Tests of an estimator of edge weights.

    Attributes
    ----------
    estimator
        The estimator, registered under the entry point group ``hushpath.estimators``.
    every
        Estimate every so many releases only; an estimator that is ``costly`` takes every third.
    """

    estimator: ClassVar[WeightEstimator]
    every: ClassVar[int] = 0

    def noisy(self, *, noiseless: bool = False) -> Iterator[tuple[SuiteRelease, NoisyEdges]]:
        """Yield noisy edges of the releases that measure edges."""
        found = []
        for one in weight_releases():
            edges = NoisyEdges.from_measurements(one.release.measurements)
            if len(edges.edges) and (not noiseless or one.release.measurements.strategy.budget.unlimited):
                found.append((one, edges))
        assert found
        yield from found[:: self.every or (3 if self.estimator.costly else 1)]

    def test_registered(self) -> None:
        assert ESTIMATORS.get(self.estimator.name) is self.estimator

    def test_estimates_are_lattice_steps_within_bounds(self) -> None:
        for i, (one, noisy) in enumerate(self.noisy()):
            before, weights = noisy.values.copy(), self.estimator.weights(noisy)
            assert weights.dtype == np.int64
            assert weights.shape == (one.release.topology.num_edges,)
            assert (noisy.lattice.low <= weights).all()
            assert (weights <= noisy.lattice.high).all()
            assert np.array_equal(noisy.values, before)
            if i % 4 == 0:
                assert np.array_equal(self.estimator.weights(noisy), weights)  # nothing is drawn at random

    def test_without_noise_nothing_changes(self) -> None:
        for _, noisy in self.noisy(noiseless=True):
            assert np.array_equal(self.estimator.weights(noisy)[noisy.edges], noisy.values)

    def test_proved_means_no_farther_from_the_truth(self) -> None:
        import pytest

        if not self.estimator.proved:
            pytest.skip("the estimator does not say that it is proved")
        for one, noisy in self.noisy():
            assert one.steps is not None
            true = one.steps[noisy.edges]
            assert (np.abs(self.estimator.weights(noisy)[noisy.edges] - true) <= np.abs(noisy.values - true)).all()

    def test_extreme_noise_gives_finite_answers(self) -> None:
        rel = _make(network_for(MECHANISMS["input"], "grid"), "input", seed=1)
        for extreme in (-(2**62), 0, 2**62):
            values = np.full_like(rel.measurements.values, extreme)
            wild = Release(Measurements(rel.measurements.strategy, values, "vector-seeded", False))
            answers = wild.with_decoder(estimator=self.estimator.name).matrix()
            assert (answers >= 0).all()
            assert np.isfinite(answers).all()
