"""One cell of the laboratory: seeded releases compared with the truth.  NOT PRIVATE: seeds are known, truth is used.

A mechanism that does not fit, or would store more numbers than a laboratory should, is skipped with its public
reason.  Times are kept under ``times``, apart from everything that is the same on every run.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..data.network import Network
from ..data.topology import Topology
from ..data.weights import PrivateWeights
from ..decode.predict import error_bound
from ..errors import CannotError, OptionError
from ..kernels.paths import distances_from
from ..noise import simulation
from ..publish.evaluate import Comparison, Evaluation, compare
from ..publish.oracle import Release
from ..publish.plan import Candidate, plan
from ..publish.release import release
from ..publish.statement import NOT_PRIVATE
from .cells import DELTA, Cell
from .files import load_own
from .networks import make_ground
from .weights import weigh

GAMMA = 0.05  # bounds hold with probability 95 %
CONFIDENCE = 0.9
SOURCES = 64  # compared with the truth, each to every node
COVERED = 8  # pairs whose interval is checked, per release; fewer on large networks, where intervals cost seconds
ASKED = 256  # pairs timed


def guarded_cell(cell: Cell) -> dict[str, Any]:
    """``run_cell``, but a bug in one mechanism is a row of the table and not the end of the run."""
    try:
        return run_cell(cell)
    except Exception as error:
        why = f"failed: {type(error).__name__}"
        return {**_setting(cell, *_weighed(cell, 0)), "skipped": why, "failed": True}


def run_cell(cell: Cell) -> dict[str, Any]:
    """Measure one cell and return plain values for JSON."""
    network, lengths, bound = _weighed(cell, 0)
    row = _setting(cell, network, lengths, bound)
    try:
        choice = _choice(cell, network, bound)
        releases = [_one_release(cell, repeat, str(choice.law)) for repeat in range(cell.repeats)]
    except (OptionError, CannotError) as error:
        return {**row, "skipped": str(error)}
    assert choice.strategy is not None
    measured = [Evaluation.of(comparison) for comparison, _, _ in releases]
    inside = np.concatenate([covered for _, covered, _ in releases])
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
        "by_hops": _by_hops([comparison for comparison, _, _ in releases]),
        "times": {name: _mean(times[name] for _, _, times in releases) for name in releases[0][2]},
    }


def _setting(cell: Cell, network: Network, lengths: Float, bound: float) -> dict[str, Any]:
    """What was asked for."""
    return {
        "id": cell.id, "marking": NOT_PRIVATE, "network": cell.network, "nodes": network.topology.num_nodes,
        "edges": len(lengths), "weights": cell.weights, "noise": cell.noise, "epsilon": cell.epsilon,
        "delta": DELTA, "max_weight": bound, "mechanism": cell.mechanism,
    }  # fmt: skip


def _choice(cell: Cell, network: Network, bound: float) -> Candidate:
    """The better law of the mechanism, by the plan; refuses what is too large for a laboratory."""
    planned = plan(
        network.topology, epsilon=cell.epsilon, unit=1.0, delta=DELTA, max_weight=bound, mechanism=cell.mechanism
    ).choice  # fmt: skip
    if planned.numbers > cell.most:
        raise CannotError(f"{planned.numbers} numbers are more than the lab stores for one cell ({cell.most})")
    return planned


def _one_release(cell: Cell, repeat: int, law: str) -> tuple[Comparison, Int, dict[str, float]]:
    """One seeded release: compared, its intervals checked, and timed."""
    network, lengths, bound = _weighed(cell, repeat)
    topology = network.topology
    began = time.perf_counter()
    made = release(
        network, epsilon=cell.epsilon, unit=1.0, delta=DELTA, max_weight=bound, mechanism=cell.mechanism, law=law,
        seed=cell.seed_for("noise", cell.weights, cell.noise, cell.mechanism, repeat),
    )  # fmt: skip
    released = time.perf_counter() - began
    comparison = compare(network, made, sources=SOURCES)
    rng = simulation(cell.seed_for("pairs", repeat))
    labels = topology.labels
    asked = [(labels[a], labels[b]) for a, b in rng.integers(0, topology.num_nodes, (ASKED, 2)).tolist()]
    began = time.perf_counter()
    made.distances(asked)
    answered = (time.perf_counter() - began) / ASKED
    covered = _intervals(made, lengths, rng)
    return comparison, covered, {"release_seconds": released, "query_seconds": answered}


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
    move = np.concatenate([one.private - one.true for one in comparisons])
    group = np.floor(np.log(hops) / math.log(1.5)).astype(np.int64)
    sums = [np.bincount(group, weights=column) for column in (np.ones(len(hops)), hops, np.abs(move), move)]
    there = np.flatnonzero(sums[0])
    count = sums[0][there]
    columns = [sums[1][there] / count, sums[2][there] / count, sums[3][there] / count, count]
    return [[float(value) for value in row] for row in zip(*columns, strict=True)]


@lru_cache(maxsize=8)
def _weighed_as(cell: Cell, repeat: int) -> tuple[Network, Float, float]:
    if cell.file is not None:
        return load_own(cell.file)
    ground = make_ground(cell.network, cell.size, cell.seed_for("shape"))
    weights = weigh(ground, cell.weights, cell.seed_for("weights", cell.weights, repeat))
    topology, kept = Topology.build(
        range(ground.num_nodes), ground.ends[:, 0], ground.ends[:, 1], coordinates=ground.places
    )
    lengths = weights.values[kept]
    return Network(topology, PrivateWeights(lengths, num_rows=len(lengths))), lengths, weights.bound


def _weighed(cell: Cell, repeat: int) -> tuple[Network, Float, float]:
    """The network of a cell with the weights of one repeat, those weights in the order of edges, and their bound."""
    return _weighed_as(replace(cell, noise=1.0, mechanism="", repeats=0, most=0), repeat)  # one network for many cells


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
