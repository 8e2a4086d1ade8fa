"""Is a plan right?  The range and the middle of plans against the mean error of releases, on networks one may look at.

    HUSHPATH_DATA=... python bench/plan_honesty.py --pool development --learn
    HUSHPATH_DATA=... python bench/plan_honesty.py --pool test

A cell is a network of a pool (``pools.py``), a noise scale (epsilon 1, and a unit of 0.1, 0.3 or 1.0 median weights)
and what is declared, truthfully: the median; the quartiles of what is above zero; the proxy, with the median where the
proxy is not in the unit of the weights (off by more than 2 in total); or an earlier release of the same noise.  The
largest weight is declared as max_weight.  The realised error is the mean over three releases of what the plan chose,
read as by default.  Plans for trips (``--declare trips``) are told the true number of units and edges per unit of
generated cities, which are others in each pool.

Every cell is a line of the file that ``--out`` names; a run that was stopped continues there.  Begin a new file when
hushpath changes.  ``--learn`` ends with the constants of ``hushpath.planning.surrogates.MODEL_ERROR``: the smallest
factors for which 95 % of the cells lie inside their range.  NOT PRIVATE.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pools

import hushpath
from hushpath.demo.city import make_city
from hushpath.planning.surrogates import MODEL_ERROR

DECLARED = ("median", "quartiles", "proxy", "earlier release")
CITIES = [(size, people) for size in (100, 300) for people in (200, 1500)]  # intersections, people
CITY_EPSILONS, CITY_UNITS, CITY_SEED = (0.3, 1.0, 3.0), ("person-day", "trip"), {"development": 1, "test": 2}
RELEASES, SOURCES = 3, 32
GOOD, LEARNT_INSIDE, LEAST_FACTOR = 1.25, 0.95, 1.05
SAME_UNIT = 2.0  # a proxy whose total is within this factor of that of the weights is in their unit


def declare(how, net, weights, terms):
    """Return what a plan is given; None if it cannot be declared."""
    middle = float(np.median(weights))
    if how == "median":
        return dict(typical_weight=middle)
    if how == "quartiles":
        low, high = np.quantile(weights[weights > 0], (0.25, 0.75)).tolist()
        return dict(typical_weight=(low, high) if low < high else middle)
    if how == "proxy":
        ratio = float(np.nansum(net.topology.proxy) / weights.sum())
        return {} if 1 / SAME_UNIT < ratio < SAME_UNIT else dict(typical_weight=middle)
    earlier = hushpath.release(net, mechanism="input", noise="laplace", seed=10_000, **terms)
    return dict(previous_release=earlier)


def cell(case, noise, how, mechanism):
    """Return one line: what the plan says, without the factor for model error, and what came of it."""
    began, net = time.perf_counter(), case.network(proxy=how == "proxy")
    row = dict(case=case.name, family=case.family, edges=net.topology.num_edges, noise=noise, declared=how)
    weights = net.weights.reveal()
    terms = dict(epsilon=1.0, unit=noise * float(np.median(weights)), max_weight=float(weights.max()))
    try:
        declared = declare(how, net, weights, terms)
        plan = hushpath.plan(net.topology, mechanism=mechanism, ignore_baseline=True, **declared, **terms)
    except hushpath.HushpathError as error:
        return row | dict(refused=str(error))
    if plan.optimistic is None:
        return row | dict(refused="not simulated")
    factor, planned = MODEL_ERROR[plan.trials.declared], time.perf_counter() - began
    errors = [
        hushpath.evaluate(net, hushpath.release(net, plan=plan, seed=seed), sources=SOURCES).mean_error
        for seed in range(RELEASES)
    ]
    return row | dict(
        mechanism=plan.choice.mechanism, law=str(plan.choice.law), expected=plan.choice.mean_error,
        low=plan.optimistic.error * factor, low_kind=plan.optimistic.kind, high=plan.pessimistic.error / factor,
        high_kind=plan.pessimistic.kind, realised=float(np.mean(errors)), errors=errors, planned_in=planned,
        distance=plan.baseline.distance, seconds=time.perf_counter() - began,
    )  # fmt: skip


def trip_cell(city, protects, epsilon):
    """Return one line for a release of trips: errors are shares of the mean distance."""
    began, rows = time.perf_counter(), city.table
    units = rows.groupby(["person", "date"] + ["trip"] * (protects == "trip")).size()
    terms = dict(epsilon=epsilon, protects=protects, low=0.5, high=6)
    trips = city.trips()
    plan = hushpath.plan_trips(
        city.topology, expected_units=len(units), edges_per_unit=float(units.mean()), periods=list(trips.periods.names),
        ignore_baseline=True, **terms,
    )  # fmt: skip
    factor, planned, errors = MODEL_ERROR["trips"], time.perf_counter() - began, []
    for seed in range(RELEASES):
        made = hushpath.release_trips(trips, noise=plan.noise, seed=seed, **terms)
        found = [hushpath.evaluate(trips, made.for_period(name), sources=SOURCES) for name in made.periods]
        errors.append(float(np.mean([one.relative_error for one in found])))
    return dict(
        mechanism="trips", law=plan.noise, expected=plan.share, low=plan.optimistic.error * factor,
        low_kind=plan.optimistic.kind, high=plan.pessimistic.error / factor, high_kind=plan.pessimistic.kind,
        realised=float(np.mean(errors)), errors=errors, planned_in=planned, seconds=time.perf_counter() - began,
    )  # fmt: skip


def cells(asked, done):
    """Make the cells that are missing, one after the other."""
    declared, noises = asked.declare.split(","), [float(noise) for noise in asked.noise.split(",")]
    for case in pools.cases(asked.pool):
        ways = [how for how in declared if how in DECLARED and (how != "proxy" or case.has_proxy)]
        missing = [(noise, how) for noise in noises for how in ways if (case.name, noise, how) not in done]
        if not missing or not any(part in case.name for part in asked.only.split(",")):
            continue
        net = case.network(proxy=False)
        if net.topology.num_edges <= asked.most_edges and np.median(net.weights.reveal()) > 0:
            for noise, how in missing:
                yield cell(case, noise, how, asked.mechanism)
    for size, people in CITIES if "trips" in declared else ():
        for protects in CITY_UNITS:
            name = f"city-{size}-{people}-{protects}"
            for epsilon in CITY_EPSILONS:
                if (name, epsilon, "trips") not in done and any(part in name for part in asked.only.split(",")):
                    row = dict(case=name, family="city", noise=epsilon, declared="trips")
                    yield row | trip_cell(make_city(size, people, CITY_SEED[asked.pool]), protects, epsilon)


def needed_factor(row):
    """Return the factor for model error with which a cell would lie just inside its range."""
    return max(row["low"] / row["realised"], row["realised"] / row["high"], 1.0)


def summary(rows, how, factor):
    """Return one line of the summary: how often the realised error is in the range, and how near to the middle."""
    inside = np.mean([needed_factor(row) <= factor for row in rows])
    ratios = np.array([row["realised"] / row["expected"] for row in rows])
    off = np.abs(np.log(ratios))
    near = ", ".join(f"{100 * np.mean(off <= np.log(by)):.0f} % within {by}" for by in (GOOD, 1.5, 2))
    low, middle, high = np.quantile(ratios, (0.1, 0.5, 0.9))
    width = np.median([row["high"] / row["low"] for row in rows]) * factor**2
    return (
        f"{how:16}{len(rows):4} cells: {100 * inside:3.0f} % in the range (factor {factor:.2f}, {width:.1f} to 1)"
        f"; of the middle {near}; realised / middle {low:.2f}, {middle:.2f}, {high:.2f} (10, 50, 90 %)"
    )


def main():
    """Make the cells that are missing, and print what they come to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pool", choices=pools.POOLS, default="development")
    parser.add_argument("--out", type=Path, help="lines of cells; default: plan_honesty.POOL.jsonl")
    parser.add_argument("--only", default="", help="parts of the names of networks, separated by commas")
    parser.add_argument("--noise", default="0.1,0.3,1.0")
    parser.add_argument("--declare", default=",".join([*DECLARED, "trips"]))
    parser.add_argument("--mechanism", default="auto")
    parser.add_argument("--most-edges", type=int, default=30_000)
    parser.add_argument("--learn", action="store_true", help="print the constants that follow")
    parser.add_argument("--summary", action="store_true", help="make no cell")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    out = asked.out or Path(f"plan_honesty.{asked.pool}.jsonl")
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    done = {(row["case"], row["noise"], row["declared"]) for row in rows}
    for row in () if asked.summary else cells(asked, done):
        rows.append(row)
        with out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        shown = row.get("refused") or (
            f"{row['expected']:9.4g} ({row['low']:.4g} to {row['high']:.4g})  realised {row['realised']:9.4g}  "
            f"needs {needed_factor(row):.2f}  {row['mechanism']} ({row['planned_in']:.0f} s)"
        )
        print(f"{row['case']:46}{row['noise']:4} {row['declared']:16} {shown}", flush=True)
    learnt = dict(MODEL_ERROR)
    for how in MODEL_ERROR:
        mine = [row for row in rows if row["declared"] == how and "refused" not in row]
        if mine and asked.learn:
            factor = float(np.quantile([needed_factor(row) for row in mine], LEARNT_INSIDE, method="higher"))
            learnt[how] = max(LEAST_FACTOR, float(np.ceil(20 * factor) / 20))
        if mine:
            print(summary(mine, how, learnt[how]))
    if asked.learn:
        print(f"MODEL_ERROR = {json.dumps(learnt)}")


if __name__ == "__main__":
    main()
