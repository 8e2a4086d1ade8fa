"""One case of the laboratory: seeded releases compared with the truth.  NOT PRIVATE: seeds are known, truth is used.

A mechanism that does not fit, or would store more numbers than a laboratory should, is skipped with its public
reason.  Times are kept under ``times``, apart from everything that is the same on every run.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.network import Network
from ..data.topology import Topology
from ..data.weights import PrivateWeights
from ..decode.predict import error_bound
from ..errors import CannotError, OptionError
from ..kernels.paths import distances_from
from ..noise import simulation
from ..publish.candidates import Candidate
from ..publish.evaluate import Comparison, Evaluation, compare
from ..publish.oracle import Release
from ..publish.plan import plan
from ..publish.release import release
from ..publish.statement import NOT_PRIVATE
from .cases import DELTA, Case
from .edge_lists import load_own
from .networks import make_ground
from .weights import weigh

GAMMA = 0.05  # bounds hold with probability 95 %
CONFIDENCE = 0.9
SOURCES = 64  # compared with the truth, each to every node
COVERED = 8  # pairs whose interval is checked, per release; fewer on large networks, where intervals cost seconds
ASKED = 256  # pairs timed


class Weighed(NamedTuple):
    """A network, the same weights in the order of its edges, and their public bound.  NOT PRIVATE."""

    network: Network
    lengths: Float
    bound: float


class Repeat(NamedTuple):
    """One seeded release: compared with the truth, its intervals checked (one 0 or 1 each), and timed."""

    comparison: Comparison
    covered: Int
    times: dict[str, float]


def guarded_case(case: Case) -> dict[str, Any]:
    """``run_case``, but a bug in one mechanism is a row of the table and not the end of the run."""
    try:
        return run_case(case)
    except Exception as error:
        why = f"failed: {type(error).__name__}"
        return {**_setting(case, _weighed(case, 0)), "skipped": why, "failed": True}


def run_case(case: Case) -> dict[str, Any]:
    """Measure one case and return plain values for JSON."""
    weighed = _weighed(case, 0)
    row = _setting(case, weighed)
    try:
        choice = _choice(case, weighed)
        repeats = [_repeat(case, repeat, str(choice.law)) for repeat in range(case.repeats)]
    except (OptionError, CannotError) as error:
        return {**row, "skipped": str(error)}
    assert choice.strategy is not None
    measured = [Evaluation.of(one.comparison) for one in repeats]
    inside = np.concatenate([one.covered for one in repeats])
    means = np.array([one.mean_error for one in measured])
    return {
        **row,
        "skipped": "",
        "law": str(choice.law),
        "numbers": choice.numbers,
        "pairs": sum(one.pairs for one in measured),
        "mean_distance": _mean(one.mean_distance for one in measured),
        "mean_error": float(means.mean()),
        "mean_error_sd": float(means.std(ddof=1)) if len(means) > 1 else None,
        "p95_error": _mean(one.p95_error for one in measured),
        "max_error": max(one.max_error for one in measured),
        "bias": _mean(one.bias for one in measured),
        "relative_error": _mean(one.relative_error for one in measured),
        "predicted_error": choice.mean_error,
        "bound": error_bound(choice.strategy, GAMMA).total,
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
        "delta": DELTA, "max_weight": weighed.bound, "mechanism": case.mechanism,
    }  # fmt: skip


def _choice(case: Case, weighed: Weighed) -> Candidate:
    """The better law of the mechanism, by the plan; refuses what is too large for a laboratory."""
    planned = plan(
        weighed.network.topology, epsilon=case.epsilon, unit=1.0, delta=DELTA, max_weight=weighed.bound,
        mechanism=case.mechanism,
    ).choice  # fmt: skip
    if planned.numbers > case.most:
        raise CannotError(f"{planned.numbers} numbers are more than the lab stores for one cell ({case.most})")
    return planned


def _repeat(case: Case, repeat: int, law: str) -> Repeat:
    network, lengths, bound = _weighed(case, repeat)
    topology = network.topology
    began = time.perf_counter()
    made = release(
        network, epsilon=case.epsilon, unit=1.0, delta=DELTA, max_weight=bound, mechanism=case.mechanism, law=law,
        seed=case.seed_for("noise", case.weights, case.noise, case.mechanism, repeat),
    )  # fmt: skip
    released = time.perf_counter() - began
    comparison = compare(network, made, sources=SOURCES)
    rng = simulation(case.seed_for("pairs", repeat))
    labels = topology.labels
    asked = [(labels[a], labels[b]) for a, b in rng.integers(0, topology.num_nodes, (ASKED, 2)).tolist()]
    began = time.perf_counter()
    made.distances(asked)
    answered = (time.perf_counter() - began) / ASKED
    covered = _intervals(made, lengths, rng)
    return Repeat(comparison, covered, {"release_seconds": released, "query_seconds": answered})


def _intervals(made: Release, lengths: Float, rng: np.random.Generator) -> Int:
    """Whether the intervals of a few random pairs hold the true distance: one 0 or 1 each."""
    topology = made.topology
    n = topology.num_nodes
    count = max(1, min(COVERED, 16_000 // n))
    inside = []
    for source, target in rng.integers(0, n, (count, 2)).tolist():
        if source == target:
            continue
        row = np.empty((1, n))
        distances_from(topology.arcs, lengths[topology.arcs.edges], np.array([source]), row)
        true = float(row[0, target])
        if math.isfinite(true):
            low, high = made.interval(topology.labels[source], topology.labels[target], CONFIDENCE)
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
    weights = weigh(ground, case.weights, case.seed_for("weights", case.weights, repeat))
    topology, kept = Topology.build(
        range(ground.num_nodes), ground.ends[:, 0], ground.ends[:, 1], coordinates=ground.places
    )
    lengths = weights.values[kept]
    return Weighed(Network(topology, PrivateWeights(lengths, num_rows=len(lengths))), lengths, weights.bound)


def _weighed(case: Case, repeat: int) -> Weighed:
    """The network of a case with the weights of one repeat."""
    return _weighed_as(replace(case, noise=1.0, mechanism="", repeats=0, most=0), repeat)  # one network for many cases


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
