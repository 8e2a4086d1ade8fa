"""Is the plan right?  Predicted against realised mean error of ``input``, read by each estimator.

    .venv/bin/python bench/plan_honesty.py [--estimators clip,shrink] [--declare median,quartiles,like,proxy]
                                           [--repeats 4] [--most-edges 30000] [--auto] [--json FILE]

Grid 64 x 64 and a Delaunay network of 4 096 nodes with uniform, lognormal and spatially correlated weights, and the
edge lists (NAME.csv with source, target, weight, perhaps proxy; NAME.nodes.csv with node, x, y) in the folder
$HUSHPATH_DATA, if it is set; Laplace noise of scale 0.1, 0.3 and 1.0 of the median weight.  Declared are the largest
weight as max_weight and, truthfully, as typical weight the median or the quartiles of what is above zero; or the plan
is ``like`` an earlier release with the same noise; or nothing but a proxy is known, in networks that have one.  With
--auto also: is the choice of ``auto`` within 1.05 of the best candidate that was simulated, all released?

The mean error of one release is a matter of luck, so few say little: ``clip`` reads ``PLENTY`` of them, and the mean
error of another estimator over few is corrected by how lucky ``clip`` was with these.  NOT PRIVATE: for data one may
look at.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.spatial import Delaunay

import hushpath
from hushpath.estimator.registry import ESTIMATORS
from hushpath.network.private_weights import PrivateWeights
from hushpath.network.topology import Topology
from hushpath.planning.predict import Trials
from hushpath.planning.surrogates import TypicalWeight, make_surrogates, sample_released_weights

RATIOS = (0.1, 0.3, 1.0)
SOURCES = 32
PLENTY, LUCKY_EDGES = 24, 3000  # releases, up to so many edges; a third of them beyond
GOOD, GOOD_CHOICE = 1.25, 1.05


def network(ends, weights, places=None, proxy=None):
    """A network with its weights in the order of its edges."""
    if places is not None and not np.isfinite(places).all():
        places = None
    topology, kept = Topology.build(
        range(int(ends.max()) + 1), ends[:, 0], ends[:, 1], coordinates=places, proxy=proxy, proxy_name="proxy"
    )
    return hushpath.Network(topology, PrivateWeights(weights[kept], num_rows=len(kept))), weights[kept]


def generated(seed=0):
    """The two meshes with three kinds of weights each."""
    rng = np.random.default_rng(seed)
    at = np.arange(64 * 64).reshape(64, 64)
    grid = np.concatenate(
        [np.stack([at[:, :-1], at[:, 1:]], -1).reshape(-1, 2), np.stack([at[:-1], at[1:]], -1).reshape(-1, 2)]
    )
    points = rng.random((4096, 2)) * 64
    corners = Delaunay(points).simplices
    sides = np.unique(
        np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]), axis=1), axis=0
    )
    square = np.stack(np.divmod(np.arange(64 * 64), 64), axis=1).astype(float)
    for name, ends, places in (("grid64", grid, square), ("delaunay4096", sides, points)):
        middle, count = places[ends].mean(axis=1), len(ends)
        field = sum(np.cos(middle @ rng.normal(size=2) / size + rng.random() * 6.28) for size in (4, 8, 16, 32))
        yield f"{name}_uniform", *network(ends, 10 * rng.random(count), places)
        yield f"{name}_lognormal", *network(ends, 5 * np.exp(0.8 * rng.normal(size=count)), places)
        yield f"{name}_spatial", *network(ends, 5 * np.exp(0.5 * field + 0.2 * rng.normal(size=count)), places)


def own(folder, most, proxy):
    """Every edge list of a folder."""
    for path in sorted(Path(folder).glob("*.csv")):
        if path.stem.endswith((".nodes", ".dir")):
            continue
        rows = pd.read_csv(path, dtype={"source": str, "target": str})
        if len(rows) > most or rows.weight.median() <= 0:
            print(f"{path.stem}: left out ({len(rows)} edges, median weight {rows.weight.median():g})", file=sys.stderr)
            continue
        which, names = pd.factorize(np.concatenate([rows.source, rows.target]))
        places = None
        if (table := path.with_suffix(".nodes.csv")).exists():
            places = (
                pd.read_csv(table, dtype={"node": str}).set_index("node").reindex(names)[["x", "y"]].to_numpy(float)
            )
        public = rows["proxy"].to_numpy(float) if proxy and "proxy" in rows else None
        yield path.stem, *network(which.reshape(2, -1).T, rows.weight.to_numpy(float), places, public)


def realised(net, plan, estimator, repeats):
    """The mean error of seeded releases."""
    found, plain = [], []
    plenty = PLENTY if net.topology.num_edges <= LUCKY_EDGES else PLENTY // 3
    corrected = plan.strategy.mechanism == "input" and estimator != "clip"
    for seed in range(max(repeats, plenty) if corrected or estimator == "clip" else repeats):
        made = hushpath.release(net, plan=plan, seed=seed)
        if corrected:
            plain.append(hushpath.evaluate(net, made.with_decoder(estimator="clip"), sources=SOURCES).mean_error)
        if seed < repeats or not corrected:
            read = made.with_decoder(estimator=estimator) if estimator else made
            found.append(hushpath.evaluate(net, read, sources=SOURCES).mean_error)
    return float(np.mean(found) * (np.mean(plain) / np.mean(plain[:repeats]) if corrected else 1.0))


def stand_ins(net, weights, plan, declared):
    """What a plan would try, for one kind of declaration."""
    lattice, middle = plan.strategy.lattice, float(np.median(weights))
    if declared == "proxy":
        return make_surrogates(net.topology, lattice, None)
    if declared == "like":
        drawn = sample_released_weights(hushpath.release(net, plan=plan, seed=10_000).measurements)
        return make_surrogates(net.topology, lattice, TypicalWeight(*[float(np.median(drawn))] * 2), drawn)
    quartiles = np.quantile(weights[weights > 0], (0.25, 0.75)).tolist()
    return make_surrogates(
        net.topology, lattice, TypicalWeight(*(quartiles if declared == "quartiles" else (middle, middle)))
    )


def one_cell(net, weights, ratio, estimators, declared, repeats):
    """Predicted and realised mean error of ``input`` for each estimator and declaration."""
    middle = float(np.median(weights))
    terms = dict(epsilon=1.0, unit=ratio * middle, max_weight=float(weights.max()))
    plan = hushpath.plan(net.topology, mechanism="input", noise="laplace", ignore_baseline=True, **terms)
    for estimator in estimators:
        true = realised(net, plan, estimator, repeats)
        for way in declared:
            if way == "proxy" and net.topology.proxy is None:
                continue
            began = time.perf_counter()
            expected = Trials(stand_ins(net, weights, plan, way)).expected(plan.strategy, estimator)
            yield estimator, way, expected, true, time.perf_counter() - began, middle


def auto_is_right(net, weights, ratio, repeats):
    """The realised error of what ``auto`` chose over that of the best candidate, among those not far behind."""
    middle = float(np.median(weights))
    terms = dict(epsilon=1.0, unit=ratio * middle, max_weight=float(weights.max()), typical_weight=middle)
    terms["ignore_baseline"] = True
    plan = hushpath.plan(net.topology, **terms)
    errors = {}
    for candidate in plan.candidates:
        if candidate.strategy is not None and candidate.expected.simulated:
            alone = hushpath.plan(net.topology, mechanism=candidate.mechanism, noise=str(candidate.law), **terms)
            errors[candidate.mechanism, str(candidate.law)] = realised(net, alone, None, repeats)
    chosen = plan.choice.mechanism, str(plan.choice.law)
    best = min(errors, key=errors.__getitem__)
    return errors[chosen] / max(errors[best], 1e-300), " ".join(chosen), " ".join(best)


def main():
    """Print the table and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--estimators", default=",".join(ESTIMATORS))
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--most-edges", type=int, default=30_000)
    parser.add_argument("--declare", default="median,quartiles,like")
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--only-own", action="store_true", help="no generated networks")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    folder, rows, choices = os.environ.get("HUSHPATH_DATA"), [], []
    declared = asked.declare.split(",")
    nets = list(own(folder, asked.most_edges, "proxy" in declared)) if folder else []
    nets += [] if asked.only_own else list(generated())
    print(f"{'network':<26}{'noise':>6}  {'estimator':<10}{'declared':<10}{'predicted':>10}{'realised':>9}{'ratio':>6}")
    for name, net, weights in nets:
        for ratio in RATIOS:
            for estimator, way, expected, true, took, middle in one_cell(
                net, weights, ratio, asked.estimators.split(","), declared, asked.repeats
            ):
                rows.append(dict(network=name, noise=ratio, estimator=estimator, declared=way, predicted=expected.mean,
                                 realised=true, least=expected.least, most=expected.most, seconds=took))  # fmt: skip
                print(f"{name:<26}{ratio:>6}  {estimator:<10}{way:<10}{expected.mean / middle:>10.3g}"
                      f"{true / middle:>9.3g}{expected.mean / true:>6.2f}  {expected.least / middle:.3g} to "
                      f"{expected.most / middle:.3g} ({took:.1f} s)", flush=True)  # fmt: skip
            if asked.auto:
                choices.append(auto_is_right(net, weights, ratio, asked.repeats))
                print(
                    f"{name:<28}{ratio:>6}  auto: {choices[-1][1]}, best: {choices[-1][2]}, {choices[-1][0]:.2f}",
                    flush=True,
                )
    for estimator, way in sorted({(row["estimator"], row["declared"]) for row in rows}):
        mine = [row for row in rows if (row["estimator"], row["declared"]) == (estimator, way)]
        off = np.abs(np.log([row["predicted"] / row["realised"] for row in mine]))
        inside = np.mean([row["least"] <= row["realised"] <= row["most"] for row in mine])
        shares = ", ".join(f"{100 * np.mean(off <= np.log(by)):.0f} % within {by}" for by in (GOOD, 1.5, 2.0))
        print(f"{estimator}, {way}: {len(mine)} cells; {shares}; between the kinds in {100 * inside:.0f} %")
    if choices:
        right = np.mean([ratio <= GOOD_CHOICE for ratio, _, _ in choices])
        print(f"auto within {GOOD_CHOICE} of the best candidate in {100 * right:.0f} % of {len(choices)} cells")
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
