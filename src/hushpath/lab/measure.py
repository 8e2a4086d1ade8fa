"""Measure a case: seeded releases compared with the truth.  NOT PRIVATE: seeds are known, truth is used.

Each release is made once and decoded by every estimator, because decoding is free.  A mechanism that does not fit, or
would store more numbers than the lab allows, is skipped with its public reason.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError, OptionError
from ..estimator.registry import ESTIMATORS, estimators_for
from ..kernels.paths import distances_from
from ..noise import simulation
from ..planning.plan import plan
from ..planning.predict import Candidate, error_bound
from ..published.release import Release
from ..published.statement import NOT_PRIVATE
from ..releasing.evaluate import Comparison, Evaluation, compare
from ..releasing.release import release
from .cases import DELTA, NO_ESTIMATOR, Case

GAMMA = 0.05  # bounds hold with probability 95 %
CONFIDENCE = 0.9
SOURCES = 64  # compared with the truth, each to every node
INTERVALS = 24  # pairs whose interval is checked, in the first release of a case: preparing them takes longest
TIMED = 256  # pairs


class Repeat(NamedTuple):
    """One decoded release: compared with the truth, its intervals checked (one 0 or 1 each), and timed in seconds."""

    comparison: Comparison
    covered: Int
    decoder: str
    default: bool
    query_seconds: float


def measure_case(case: Case) -> list[dict[str, Any]]:
    """Return one row per estimator, plain values for JSON; a bug in one of them is a row with ``failed``."""
    repeats: dict[str, list[Repeat]] = {name: [] for name in case.estimators}
    problems: dict[str, dict[str, Any]] = {}
    seconds = []
    try:
        choice = _choose(case)
        for repeat in range(case.repeats):
            began = time.perf_counter()
            made = _release(case, repeat, str(choice.law))
            seconds.append(time.perf_counter() - began)
            for name in case.estimators:
                try:
                    repeats[name].append(_decode(case, name, repeat, made))
                except Exception as error:
                    problems[name] = _problem(error)
    except Exception as error:
        problems = dict.fromkeys(case.estimators, _problem(error))
    return [
        {
            **_setting(case), "estimator": name,
            **(problems.get(name) or {**_summarise(choice, name, repeats[name]), "release_seconds": _mean(seconds)}),
        }
        for name in case.estimators
    ]  # fmt: skip


def _problem(error: Exception) -> dict[str, Any]:
    """Return why there is no result: a public reason, or the type of an unexpected error."""
    if isinstance(error, (OptionError, CannotError)):
        return {"skipped": str(error)}
    return {"skipped": f"failed: {type(error).__name__}", "failed": True}


def _setting(case: Case) -> dict[str, Any]:
    """Return what was asked for."""
    network, lengths, bound = case.load(0)
    return {
        "marking": NOT_PRIVATE, "network": case.network, "nodes": network.topology.num_nodes, "edges": len(lengths),
        "weights": case.weights, "noise": case.noise, "epsilon": case.epsilon, "delta": DELTA, "unit": case.unit,
        "max_weight": bound, "mechanism": case.mechanism,
    }  # fmt: skip


def _choose(case: Case) -> Candidate:
    """Plan the case and return the candidate with the better noise; refuse one that is too large for the lab."""
    network, _, bound = case.load(0)
    planned = plan(
        network.topology, epsilon=case.epsilon, unit=case.unit, delta=DELTA, max_weight=bound, mechanism=case.mechanism
    ).choice
    if planned.numbers > case.max_numbers:
        raise CannotError(f"{planned.numbers} numbers are more than the lab stores for one case ({case.max_numbers})")
    return planned


def _release(case: Case, repeat: int, noise: str) -> Release:
    network, _, bound = case.load(repeat)
    return release(
        network, epsilon=case.epsilon, unit=case.unit, delta=DELTA, max_weight=bound, mechanism=case.mechanism,
        noise=noise, seed=case.seed_for("noise", case.weights, case.noise, case.mechanism, repeat),
    )  # fmt: skip


def _decode(case: Case, estimator: str, repeat: int, made: Release) -> Repeat:
    """Decode a release by an ``estimator``, and compare; ``made`` is that of this ``repeat`` of the ``case``."""
    network, lengths, _ = case.load(repeat)
    default = estimator in (NO_ESTIMATOR, made.decoder.estimator.name)
    if not default:
        strategy = made.measurements.strategy
        if estimator not in [one.name for one in estimators_for(strategy) if one.suits(strategy)]:
            raise CannotError(f"estimator {estimator!r} does not suit what {case.mechanism!r} measures here")
        made = made.with_decoder(estimator=estimator)
    comparison = compare(network, made, sources=SOURCES)
    rng, n = simulation(case.seed_for("pairs", repeat)), network.topology.num_nodes
    pairs = rng.integers(0, n, (TIMED, 2))
    began = time.perf_counter()
    made.distances(pairs, positions=True)
    query_seconds = (time.perf_counter() - began) / TIMED
    checked = default and repeat == 0 and case.unit == 1.0  # rates are about the largest error
    covered = _check_intervals(made, lengths, rng) if checked else np.empty(0, np.int64)
    return Repeat(comparison, covered, made.decoder.name, default, query_seconds)


def _check_intervals(made: Release, lengths: Float, rng: np.random.Generator) -> Int:
    """Return whether the intervals of a few random pairs contain the true distance: one 0 or 1 each."""
    arcs, n = made.topology.arcs, made.topology.num_nodes
    pairs = rng.integers(0, n, (max(1, min(INTERVALS, 48_000 // n)), 2))
    rows = np.empty((len(pairs), n))
    distances_from(arcs, lengths[arcs.edges], pairs[:, 0], rows)
    true = rows[np.arange(len(pairs)), pairs[:, 1]]
    joined = (pairs[:, 0] != pairs[:, 1]) & np.isfinite(true)
    try:
        low, high = made.intervals(pairs[joined], CONFIDENCE, positions=True).T
    except CannotError:  # this decoder has no intervals
        return np.empty(0, np.int64)
    return np.asarray((low <= true[joined]) & (true[joined] <= high), np.int64)


def _summarise(choice: Candidate, estimator: str, repeats: list[Repeat]) -> dict[str, Any]:
    """Return what the repeats say together."""
    assert choice.strategy is not None
    found = [Evaluation.of(one.comparison) for one in repeats]
    inside = np.concatenate([one.covered for one in repeats])
    means = np.array([one.mean_error for one in found])
    default = repeats[0].default
    proved = estimator == NO_ESTIMATOR or ESTIMATORS[estimator].proved
    hubs = choice.strategy.details.get("hubs")
    return {
        "skipped": "",
        "law": str(choice.law),
        "decoder": repeats[0].decoder,
        "default": default,
        "numbers": choice.numbers,
        "hubs": hubs if isinstance(hubs, int) else None,
        "pairs": sum(one.pairs for one in found),
        "mean_distance": _mean(one.mean_distance for one in found),
        "mean_error": float(means.mean()),
        "mean_error_sd": float(means.std(ddof=1)) if len(means) > 1 else None,
        "p95_error": _mean(one.p95_error for one in found),
        "max_error": max(one.max_error for one in found),
        "bias": _mean(one.bias for one in found),
        "relative_error": _mean(one.relative_error for one in found),
        "zeros": _mean((one.comparison.released <= 0).mean() for one in repeats),
        "predicted_error": choice.mean_error if default else None,
        "bound": error_bound(choice.strategy, GAMMA).total if default and proved else None,
        "covered": int(inside.sum()),
        "intervals": len(inside),
        "by_hops": _error_by_hops([one.comparison for one in repeats]),
        "query_seconds": _mean(one.query_seconds for one in repeats),
    }


def _error_by_hops(comparisons: list[Comparison]) -> list[list[float]]:
    """Return mean hops, mean error, bias and pairs in at most about 24 classes of hops, each half as wide again."""
    hops = np.concatenate([one.hops for one in comparisons])
    error = np.concatenate([one.released - one.true for one in comparisons])
    group = np.floor(np.log(hops) / math.log(1.5)).astype(np.int64)
    count, *sums = (np.bincount(group, column) for column in (np.ones(len(hops)), hops, np.abs(error), error))
    filled = count > 0
    rows = np.stack([*(total[filled] / count[filled] for total in sums), count[filled]], axis=1)
    return [[float(value) for value in row] for row in rows]


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
