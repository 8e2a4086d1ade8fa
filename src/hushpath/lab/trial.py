"""Cases of the lab: seeded releases compared with the truth.  NOT PRIVATE: seeds are known, truth is used.

A release is made once and read by every estimator that is asked for: reading is free.

A mechanism that does not fit, or would store more numbers than the lab allows, is skipped with its public
reason.  Times are kept under ``times``, apart from everything that is the same on every run.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, OptionError
from ..estimator.registry import ESTIMATORS, estimators_for
from ..kernels.paths import distances_from
from ..network.network import Network
from ..network.private_weights import PrivateWeights
from ..network.topology import Topology
from ..noise import simulation
from ..planning.plan import plan
from ..planning.predict import Candidate, error_bound
from ..published.release import Release
from ..published.statement import NOT_PRIVATE
from ..releasing.evaluate import Comparison, Evaluation, compare
from ..releasing.release import release
from .cases import DELTA, NO_ESTIMATOR, Case
from .networks import draw_weights, load_own, make_ground

GAMMA = 0.05  # bounds hold with probability 95 %
CONFIDENCE = 0.9
SOURCES = 64  # compared with the truth, each to every node
COVERED = 24  # pairs whose interval is checked, in the first release of a case: preparing them takes longest
ASKED = 256  # pairs timed


class Weighed(NamedTuple):
    """A network, the same weights in the order of its edges, and their public bound.  NOT PRIVATE."""

    network: Network
    lengths: Float
    bound: float


class Repeat(NamedTuple):
    """One reading of a release: compared with the truth, its intervals checked (one 0 or 1 each), and timed."""

    comparison: Comparison
    covered: Int
    decoder: str
    default: bool
    times: dict[str, float]


def guarded_cases(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """``measure_cases``, but a bug in one mechanism is a row of the table and not the end of the run."""
    try:
        return measure_cases(cases)
    except Exception as error:
        return [{**_setting(case, _weighed(case, 0)), **_failed(error)} for case in cases]


def measure_cases(cases: Sequence[Case]) -> list[dict[str, Any]]:
    """Measure once what these cases share, read it as each asks, and return plain values for JSON."""
    shared = cases[0]
    weighed = _weighed(shared, 0)
    repeats: dict[str, list[Repeat]] = {case.id: [] for case in cases}
    without: dict[str, dict[str, Any]] = {}
    try:
        choice = _choice(shared, weighed)
        for repeat in range(shared.repeats):
            released = _released(shared, repeat, str(choice.law))
            for case in cases:
                try:
                    repeats[case.id].append(_read(case, repeat, *released))
                except (OptionError, CannotError) as error:
                    without[case.id] = {"skipped": str(error)}
                except Exception as error:
                    without[case.id] = _failed(error)
    except (OptionError, CannotError) as error:
        return [{**_setting(case, weighed), "skipped": str(error)} for case in cases]
    return [
        {**_setting(case, weighed), **(without.get(case.id) or _found(case, choice, repeats[case.id]))}
        for case in cases
    ]


def _failed(error: Exception) -> dict[str, Any]:
    return {"skipped": f"failed: {type(error).__name__}", "failed": True}


def _found(case: Case, choice: Candidate, repeats: list[Repeat]) -> dict[str, Any]:
    """What the repeats of a case say together."""
    assert choice.strategy is not None
    measured = [Evaluation.of(one.comparison) for one in repeats]
    inside = np.concatenate([one.covered for one in repeats])
    means = np.array([one.mean_error for one in measured])
    default = repeats[0].default
    proved = case.estimator == NO_ESTIMATOR or ESTIMATORS[case.estimator].proved
    hubs = choice.strategy.details.get("hubs")
    return {
        "skipped": "",
        "law": str(choice.law),
        "decoder": repeats[0].decoder,
        "default": default,
        "numbers": choice.numbers,
        "hubs": hubs if isinstance(hubs, int) else None,
        "pairs": sum(one.pairs for one in measured),
        "mean_distance": _mean(one.mean_distance for one in measured),
        "mean_error": float(means.mean()),
        "mean_error_sd": float(means.std(ddof=1)) if len(means) > 1 else None,
        "p95_error": _mean(one.p95_error for one in measured),
        "max_error": max(one.max_error for one in measured),
        "bias": _mean(one.bias for one in measured),
        "relative_error": _mean(one.relative_error for one in measured),
        "zeros": _mean((one.comparison.released <= 0).mean() for one in repeats),
        "predicted_error": choice.mean_error if default else None,
        "bound": error_bound(choice.strategy, GAMMA).total if default and proved else None,
        "covered": int(inside.sum()),
        "intervals": len(inside),
        "by_hops": _by_hops([one.comparison for one in repeats]),
        "times": {name: _mean(one.times[name] for one in repeats) for name in repeats[0].times},
    }


def _setting(case: Case, weighed: Weighed) -> dict[str, Any]:
    """What was asked for."""
    return {
        "id": case.id, "marking": NOT_PRIVATE, "network": case.network, "nodes": weighed.network.topology.num_nodes,
        "edges": len(weighed.lengths), "weights": case.weights, "noise": case.noise, "epsilon": case.epsilon,
        "delta": DELTA, "unit": case.unit, "max_weight": weighed.bound, "mechanism": case.mechanism,
        "estimator": case.estimator,
    }  # fmt: skip


def _choice(case: Case, weighed: Weighed) -> Candidate:
    """The better law of the mechanism, by the plan; refuses what is too large for the lab."""
    planned = plan(
        weighed.network.topology, epsilon=case.epsilon, unit=case.unit, delta=DELTA, max_weight=weighed.bound,
        mechanism=case.mechanism,
    ).choice  # fmt: skip
    if planned.numbers > case.most:
        raise CannotError(f"{planned.numbers} numbers are more than the lab stores for one case ({case.most})")
    return planned


def _released(case: Case, repeat: int, law: str) -> tuple[Release, float]:
    """Make a seeded release; return it and the seconds that it took."""
    network, _, bound = _weighed(case, repeat)
    began = time.perf_counter()
    made = release(
        network, epsilon=case.epsilon, unit=case.unit, delta=DELTA, max_weight=bound, mechanism=case.mechanism,
        noise=law, seed=case.seed_for("noise", case.weights, case.noise, case.mechanism, repeat),
    )  # fmt: skip
    return made, time.perf_counter() - began


def _read(case: Case, repeat: int, made: Release, seconds: float) -> Repeat:
    """Read a release as a case asks, and compare."""
    network, lengths, _ = _weighed(case, repeat)
    default = case.estimator in (NO_ESTIMATOR, made.decoder.estimator.name)
    if not default:
        strategy = made.measurements.strategy
        if case.estimator not in [one.name for one in estimators_for(strategy) if one.suits(strategy)]:
            raise CannotError(f"estimator {case.estimator!r} does not suit what {case.mechanism!r} measures here")
        made = made.with_decoder(estimator=case.estimator)
    comparison = compare(network, made, sources=SOURCES)
    rng, topology = simulation(case.seed_for("pairs", repeat)), network.topology
    labels = topology.labels
    asked = [(labels[a], labels[b]) for a, b in rng.integers(0, topology.num_nodes, (ASKED, 2)).tolist()]
    began = time.perf_counter()
    made.distances(asked)
    answered = (time.perf_counter() - began) / ASKED
    checked = default and repeat == 0 and case.unit == 1.0  # rates are about the largest error
    covered = _intervals(made, lengths, rng) if checked else np.empty(0, np.int64)
    times = {"release_seconds": seconds, "query_seconds": answered}
    return Repeat(comparison, covered, made.decoder.name, default, times)


def _intervals(made: Release, lengths: Float, rng: np.random.Generator) -> Int:
    """Whether the intervals of a few random pairs hold the true distance: one 0 or 1 each."""
    topology = made.topology
    n = topology.num_nodes
    count = max(1, min(COVERED, 48_000 // n))
    inside = []
    for source, target in rng.integers(0, n, (count, 2)).tolist():
        if source == target:
            continue
        row = np.empty((1, n))
        distances_from(topology.arcs, lengths[topology.arcs.edges], np.array([source]), row)
        true = float(row[0, target])
        if math.isfinite(true):
            try:
                low, high = made.interval(topology.labels[source], topology.labels[target], CONFIDENCE)
            except CannotError:  # no interval is known for this way to read
                break
            inside.append(int(low <= true <= high))
    return np.array(inside, np.int64)


def _by_hops(comparisons: list[Comparison]) -> list[list[float]]:
    """Mean hops, mean error, bias and pairs in at most about 24 classes of hop counts, each half as wide again."""
    hops = np.concatenate([one.hops for one in comparisons])
    move = np.concatenate([one.released - one.true for one in comparisons])
    group = np.floor(np.log(hops) / math.log(1.5)).astype(np.int64)
    sums = [np.bincount(group, weights=column) for column in (np.ones(len(hops)), hops, np.abs(move), move)]
    there = np.flatnonzero(sums[0])
    count = sums[0][there]
    columns = [sums[1][there] / count, sums[2][there] / count, sums[3][there] / count, count]
    return [[float(value) for value in row] for row in zip(*columns, strict=True)]


@lru_cache(maxsize=8)
def _weighed_as(case: Case, repeat: int) -> Weighed:
    if case.file is not None:
        return Weighed(*load_own(case.file))
    ground = make_ground(case.network, case.size, case.seed_for("shape"))
    values, bound = draw_weights(ground, case.weights, case.seed_for("weights", case.weights, repeat))
    topology, kept = Topology.build(
        range(ground.num_nodes), ground.ends[:, 0], ground.ends[:, 1], coordinates=ground.places
    )
    lengths = values[kept]
    return Weighed(Network(topology, PrivateWeights(lengths, num_rows=len(lengths))), lengths, bound)


def _weighed(case: Case, repeat: int) -> Weighed:
    """The network of a case with the weights of one repeat."""
    one_for_many = replace(case, noise=1.0, mechanism="", estimator="", repeats=0, most=0, unit=1.0)
    return _weighed_as(one_for_many, repeat)


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
