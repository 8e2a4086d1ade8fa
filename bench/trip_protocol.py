"""How wrong travel times from totals of trips are: simulated people, exact totals, the noise of a release, estimators.

    HUSHPATH_DATA=... python bench/trip_protocol.py --pool development
    python bench/trip_protocol.py --pool test --only country --persons 150000 --epsilon 1
    python bench/trip_protocol.py --pool development --estimator times --table

Each combination of case, person-days, epsilon, periods, seed, design and estimator is one line of ``--out`` (JSON);
one that is there is not run again.  ``--table`` runs nothing and prints what is there.  Exact totals are kept in
``--work``.

Designs: ``gaussian`` counts all edges of a person-day, in L2, with the noise of (epsilon, 1e-6); ``laplace-1`` and
``laplace-2`` count one or two of them, drawn evenly, with Laplace noise of scale 1/epsilon.

Estimators:
    free flow    nothing private
    one factor   free flow times the single factor of each period that is best on the truth (an oracle, weighted median)
    ratio        A / (A + B), edge by edge
    times        the congestion model of version 0.2
    NAME         any other estimator of trips in the registry
    a:b          any function ``b`` of a module ``a`` from ``TripTotals`` to ``EdgeTimes``
    LABEL=...    one of these under another label, as for ``times`` of an older version on the path

Figures of a line, in %, over all periods and all targets from random sources:
    error, bias            mean |error| and mean error of distances, of the mean true distance
    cover                  share of true distances in 90 % ranges: mean and spread of distances over draws
    true_below, true_above share of true distances below or above these ranges
    edge_cover             the same for times of edges; edge_cover_passed, edge_cover_unpassed: of those alone
    ratio_passed           100 * mean estimated over mean true ratio to free flow, edges that somebody passed;
    ratio_unpassed         edges that nobody passed (none: no figure)
    rows, sample_rows      process time of the estimate, and of one draw, in Dijkstra rows of the same network
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
from trip_people import DESIGNS
from trip_pools import LARGE, PERSONS, POOLS, cases

from hushpath.demo.people import Roads
from hushpath.demo.streets import generate_streets
from hushpath.estimator.trips.times import estimate_ratios
from hushpath.estimator.trips.totals import TripTotals
from hushpath.measurement.samples import distance_rows
from hushpath.network.topology import Topology
from hushpath.noise import Law
from hushpath.privacy.gaussian import gaussian_mu

EPSILONS, DELTA, PERIODS = (0.3, 1.0, 3.0), 1e-6, (1, 2)
LOW, HIGH = 0.5, 6.0
SOURCES, SOURCES_LARGE, DRAWS, NORMAL_90 = 60, 16, 24, 1.6449
KEY = ("case", "persons", "epsilon", "periods", "seed", "design", "estimator")
ORACLES = ("free flow", "one factor")
NAMED = {"ratio": estimate_ratios}
USUAL = (*ORACLES, "ratio", "times")


def estimator(name):
    name = name.split("=")[-1]
    if name in NAMED:
        return NAMED[name]
    if ":" in name:
        module, function = name.split(":")
        return getattr(import_module(module), function)
    from hushpath.estimator.registry import ESTIMATORS

    return ESTIMATORS[name].estimate


def noise_of(design, epsilon):
    """The law and the standard deviation of the noise of each total, for units of norm 1."""
    if design == "gaussian":
        return Law.GAUSSIAN, 1 / gaussian_mu(epsilon, DELTA)
    return Law.LAPLACE, 2**0.5 / epsilon


def noisy(found, design, epsilon, seed):
    """What a release would publish."""
    law, sd = noise_of(design, epsilon)
    exact = found.totals[DESIGNS.index(design)]
    rng = np.random.default_rng([seed, round(1000 * epsilon), DESIGNS.index(design)])
    noise = rng.normal(0, sd, exact.shape) if law is Law.GAUSSIAN else rng.laplace(0, sd / 2**0.5, exact.shape)
    weight = found.weight if design == "gaussian" else np.ones_like(found.weight)
    free = found.roads.free_flow
    return TripTotals(found.topology, free, LOW * free, HIGH * free, weight, *(exact + noise), sd, law)


class Distances:
    """True distances from random sources, and what estimates are worth against them."""

    def __init__(self, found, large, seed):
        n = found.topology.num_nodes
        self.found, rng = found, np.random.default_rng(seed)
        self.sources = rng.choice(n, min(SOURCES_LARGE if large else SOURCES, n), replace=False)
        self.true = self.rows(found.truth)
        self.free = self.rows(found.roads.free_flow[None])[0]
        self.asked = np.isfinite(self.true) & (self.true > 0)
        began = time.process_time()
        self.rows(found.roads.free_flow[None])
        self.row_seconds = (time.process_time() - began) / len(self.sources)

    def rows(self, times):
        return np.stack([distance_rows(self.found.topology, row, self.sources) for row in times])

    def errors(self, rows):
        off, mean = (rows - self.true)[self.asked], self.true[self.asked].mean()
        return dict(error=100 * np.abs(off).mean() / mean, bias=100 * off.mean() / mean)

    def oracle(self, name):
        if name == "free flow":
            return np.broadcast_to(self.free, self.true.shape)
        best = []
        for true, asked in zip(self.true, self.asked, strict=True):  # the weighted median minimises mean |error|
            ratio, size = true[asked] / self.free[asked], self.free[asked]
            order = np.argsort(ratio)
            part = np.cumsum(size[order])
            best.append(ratio[order][np.searchsorted(part, part[-1] / 2)])
        return np.array(best)[:, None, None] * self.free

    def covered(self, draw, periods):
        """How often 90 % ranges of distances and of edges hold the truth."""
        passed, inside, edges, out = self.found.passed > 0, [], [], {}
        for q in range(periods):
            drawn = draw(q)
            rows, asked = self.rows(drawn)[:, self.asked[q]], self.asked[q]
            inside.append(_standing(rows, self.true[q][asked]))
            edges.append(_standing(drawn, self.found.truth[q]))
        inside, edges = np.concatenate(inside), np.stack(edges)
        out |= dict(cover=_share(inside == 0), true_below=_share(inside < 0), true_above=_share(inside > 0))
        out["edge_cover"] = _share(edges == 0)
        for kind, those in (("passed", passed), ("unpassed", ~passed)):
            if those.any():
                out[f"edge_cover_{kind}"] = _share(edges[those] == 0)
        return out


def _share(which):
    return 100 * float(np.mean(which))


def _standing(drawn, true):
    """-1, 0 or 1: the truth is below, in or above the range of the draws."""
    middle = drawn.mean(axis=0)
    reach = NORMAL_90 * np.sqrt(1 + 1 / len(drawn)) * drawn.std(axis=0, ddof=1) + 1e-9
    return np.where(true < middle - reach, -1, np.where(true > middle + reach, 1, 0))


def judge(name, found, at, totals, seed):
    """The figures of one estimator on one draw of noise."""
    periods = len(found.truth)
    if name in ORACLES:
        return at.errors(at.oracle(name))
    began = time.process_time()
    times = estimator(name)(totals)
    seconds = np.asarray(times.seconds)
    spent = time.process_time() - began
    figures = at.errors(at.rows(seconds)) | dict(rows=spent / at.row_seconds, seconds=spent)
    passed, free = found.passed > 0, found.roads.free_flow
    for kind, those in (("passed", passed), ("unpassed", ~passed)):
        if those.any():
            figures[f"ratio_{kind}"] = 100 * float((seconds / free)[those].mean() / (found.truth / free)[those].mean())
            figures[f"true_{kind}"] = float((found.truth / free)[those].mean())
    if hasattr(times, "sample"):
        began = time.process_time()
        times.sample(0, 1, seed)
        figures["sample_rows"] = (time.process_time() - began) / at.row_seconds
        figures |= at.covered(partial(times.sample, count=DRAWS, seed=seed), periods)
    return figures


def warm_up(names):
    """Run every estimator once on a small network, so that no compilation is counted."""
    roads = Roads.of(generate_streets(200, 1))
    topology, _ = Topology.build(range(len(roads.places)), roads.tails, roads.heads, directed=True,
                                 coordinates=roads.places, proxy=roads.free_flow)  # fmt: skip
    rng, free = np.random.default_rng(1), roads.free_flow
    distance_rows(topology, free, np.arange(2))
    above, below = 20 + rng.normal(0, 4, (2, 2, len(free))), 100 + rng.normal(0, 4, (2, 2, len(free)))
    for name in set(names) - set(ORACLES):
        for periods in PERIODS:
            parts = above[0, :periods], below[0, :periods]
            times = estimator(name)(TripTotals(topology, free, LOW * free, HIGH * free, np.ones(len(free)), *parts,
                                               4.0, Law.GAUSSIAN))  # fmt: skip
            if hasattr(times, "sample"):
                times.sample(0, 2, 1)


def run(asked, done):
    """Run what is not there yet, case by case; yield a line for each."""
    have = {tuple(row[key] for key in KEY) for row in done}
    names = [name for name in POOLS[asked.pool] if not asked.only or name in asked.only]
    warmed = False
    for name, periods, seed in ((n, p, s) for n in names for p in asked.periods for s in asked.seeds):
        wanted = {persons: [(epsilon, design, one) for epsilon in asked.epsilon for design in asked.design
                            for one in asked.estimator
                            if (name, persons, epsilon, periods, seed, design, one.split("=")[0]) not in have]
                  for persons in asked.persons}  # fmt: skip
        wanted = {persons: rest for persons, rest in wanted.items() if rest}
        if not wanted:
            continue
        if not warmed:
            warm_up(asked.estimator)
            warmed = True
        at = None
        for persons, found in cases(name, list(wanted), periods, seed, asked.work):
            at = at or Distances(found, name in LARGE, seed)
            at.found = found
            for epsilon, design, one in wanted[persons]:
                print(f"{name}, {persons} person-days, epsilon {epsilon:g}, {periods} period(s), {design}, {one}",
                      file=sys.stderr, flush=True)  # fmt: skip
                key = dict(zip(KEY, (name, persons, epsilon, periods, seed, design, one.split("=")[0]), strict=True))
                figures = judge(one, found, at, noisy(found, design, epsilon, seed), seed)
                facts = dict(pool=asked.pool, arcs=len(found.weight))
                yield key | facts | {figure: round(float(value), 4) for figure, value in figures.items()}


COLUMNS = ("error", "bias", "cover", "true_below", "true_above", "edge_cover", "ratio_passed", "ratio_unpassed", "rows")


def table(rows):
    """One line per combination, the mean over seeds."""
    lines = ["| " + " | ".join((*KEY[:4], *KEY[5:], *COLUMNS)) + " |", "|" + "---|" * (len(KEY) - 1 + len(COLUMNS))]
    group = {}
    for row in rows:
        group.setdefault(tuple(row[key] for key in KEY if key != "seed"), []).append(row)
    order = {name: i for i, name in enumerate([*POOLS["development"], *POOLS["test"]])}
    for key, some in sorted(group.items(), key=lambda item: (order[item[0][0]], *item[0][1:5])):
        cells = []
        for column in COLUMNS:
            values = [row[column] for row in some if column in row]
            digits = 2 if column in ("error", "bias") else 0
            cells.append(f"{np.mean(values):.{digits}f}" if values else "-")
        lines.append("| " + " | ".join([*map(str, key), *cells]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pool", choices=list(POOLS), default="development")
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--estimator", nargs="*", default=list(USUAL))
    parser.add_argument("--persons", type=int, nargs="*", default=list(PERSONS))
    parser.add_argument("--epsilon", type=float, nargs="*", default=list(EPSILONS))
    parser.add_argument("--periods", type=int, nargs="*", default=list(PERIODS))
    parser.add_argument("--seeds", type=int, nargs="*", default=[11])
    parser.add_argument("--design", nargs="*", choices=DESIGNS, default=["gaussian"])
    parser.add_argument("--work", type=Path, default=Path("build/trips"), help="where exact totals are kept")
    parser.add_argument("--out", type=Path, help="lines of results; else results-POOL.jsonl in --work")
    parser.add_argument("--table", action="store_true", help="print what is there; run nothing")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    out = asked.out or asked.work / f"results-{asked.pool}.jsonl"
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []
    if not asked.table:
        out.parent.mkdir(parents=True, exist_ok=True)
        for row in run(asked, done):
            done.append(row)
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    lists = dict(case=asked.only or list(POOLS[asked.pool]), persons=asked.persons, epsilon=asked.epsilon,
                 periods=asked.periods, seed=asked.seeds, design=asked.design,
                 estimator=[one.split("=")[0] for one in asked.estimator])  # fmt: skip
    print(table([row for row in done if all(row[key] in some for key, some in lists.items())]))


if __name__ == "__main__":
    main()
