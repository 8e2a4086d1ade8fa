"""Travel times from totals of trips, against simpler ways to publish them, on cities of different shape.

    HUSHPATH_DATA=... python bench/trips.py                     cities that the estimator was chosen on
    HUSHPATH_DATA=... python bench/trips.py --held-out          cities it was not
    python bench/trips.py --cities "demo city" --seeds 1 --periods 1

150 000 simulated person-days, epsilon 1, delta 1e-6, one person-day protected.  Figures are mean |error| of distances
in % of the mean true travel time, over all targets from random sources.  Results are kept case by case in a file of
lines: stop it when you like, and it goes on from there.

What is compared:
    free flow       nothing private
    one ratio       free flow times one number per period, learnt from the same totals
    plain ratio     low + (high - low) A / (A + B) for each edge, one ratio where A + B is not positive
    laplace         pure epsilon: units of norm 1 in L1, Laplace noise, the same estimator
    weights         today's other way: at most K edges of each unit count, public denominators, Laplace noise on the
                    weights, the estimator ``shrink`` with free flow for a proxy.  Its denominators happen to be right
    prototype       the estimator of the research folder, if $HUSHPATH_RESEARCH names one
    ours            ``estimate_times``;  no noise: the plain ratio of exact totals
    cover           share of true distances in 90 % ranges (mean and spread of distances over 24 draws)
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
from trip_cities import CITIES, HELD_OUT, HIGH, LOW, case, totals

import hushpath
from hushpath.estimator.trips.times import estimate_times
from hushpath.estimator.trips.totals import TripTotals
from hushpath.measurement.samples import distance_rows
from hushpath.noise import Law
from hushpath.privacy.gaussian import gaussian_mu

EPSILON, DELTA = 1.0, 1e-6
STRETCH, LARGEST_DELAY, LEAST_PLANNED = 5, 30.0, 100  # of the way "weights": edges of a unit, seconds, reports
SOURCES, DRAWS, NORMAL_90 = 60, 24, 1.6449
SHOWN = ("free flow", "one ratio", "plain ratio", "laplace", "weights", "prototype", "ours", "no noise", "cover")


def plain(found, above, below):
    """A / (A + B) clipped; where nothing is left of A + B, the ratio of all."""
    count, free = above + below, found.roads.free_flow
    usual = np.clip(above.sum(1) / count.sum(1), 0, 1)[:, None]
    share = np.where(count > 0, np.clip(above / np.where(count > 0, count, 1), 0, 1), usual)
    return free * (LOW + (HIGH - LOW) * share), free * (LOW + (HIGH - LOW) * usual + 0 * share)


def weights_route(found, rng, seed, sources):
    """Distances from weights with an L1 unit: K random cells of each unit report their delay, up to a largest one."""
    periods, m = found.truth.shape
    order = np.lexsort((rng.random(len(found.unit)), found.unit))
    unit = found.unit[order]
    first = np.concatenate([[True], unit[1:] != unit[:-1]])
    rank = np.arange(len(unit)) - np.flatnonzero(first)[np.cumsum(first) - 1]
    kept = order[rank < STRETCH]
    cell, free = found.cell[kept], found.roads.free_flow[found.cell[kept] % m]
    delay = np.clip(free * (LOW + (HIGH - LOW) * found.share[kept]) - free, 0, LARGEST_DELAY)
    planned = np.maximum(np.bincount(cell, minlength=periods * m), LEAST_PLANNED)
    total = np.bincount(cell, delay, minlength=periods * m)
    weights = np.tile(found.roads.free_flow, periods) + np.minimum(total / planned, LARGEST_DELAY)
    rows = []
    for q, row in enumerate(weights.reshape(periods, m)):
        net = hushpath.Network.build(
            range(found.topology.num_nodes), found.roads.tails, found.roads.heads, row, directed=True,
            coordinates=found.roads.places, proxy=found.roads.free_flow,
        )  # fmt: skip
        released = hushpath.release(
            net,
            plan=hushpath.plan(
                net.topology,
                epsilon=EPSILON,
                unit=STRETCH * LARGEST_DELAY / LEAST_PLANNED,
                mechanism="input",
                max_weight=float(found.roads.free_flow.max() + LARGEST_DELAY),
                ignore_baseline=True,
            ),
            seed=1000 * seed + q,
        ).with_decoder(estimator="shrink")
        rows.append(released.matrix(sources, positions=True))
    return np.stack(rows)


def prototype(found, above, below, noise):
    """The research estimator, or none."""
    if not (folder := os.environ.get("HUSHPATH_RESEARCH")):
        return None
    sys.path.append(folder)
    from trips_base import linegraph
    from trips_estimator import estimate

    roads = found.roads
    n, m = len(roads.places), len(roads.tails)
    city = dict(n=n, m=m, a=roads.tails, b=roads.heads, ff=roads.free_flow, xy=roads.places)
    near = linegraph(roads.tails, roads.heads, n, roads.places)
    return estimate(city, above, below, noise, near)["r"] * roads.free_flow


def one(name, periods, seed, scale):
    """All ways on one city and one draw of its people."""
    began, rng = time.process_time(), np.random.default_rng(seed)
    found = case(name, periods, seed)
    free, shape = found.roads.free_flow, found.truth.shape
    sources = rng.choice(len(found.roads.places), min(SOURCES, len(found.roads.places)), replace=False)
    over = lambda times: np.stack([distance_rows(found.topology, row, sources) for row in times])  # noqa: E731
    true = over(found.truth)
    asked = np.isfinite(true) & (true > 0)
    error = lambda rows: 100 * float(np.abs(rows - true)[asked].mean() / true[asked].mean())  # noqa: E731
    public = (found.topology, free, LOW * free, HIGH * free, found.emphasis)
    exact = totals(found, 2)
    noisy = [x + scale * rng.normal(size=shape) for x in exact]
    row = dict(city=name, periods=periods, seed=seed, arcs=len(free), units=found.count)
    ratio, usual = plain(found, *noisy)
    row["free flow"], row["one ratio"] = error(over(np.tile(free, (periods, 1)))), error(over(usual))
    row["plain ratio"], row["no noise"] = error(over(ratio)), error(over(plain(found, *exact)[0]))
    pure = [x + rng.laplace(0, 1 / EPSILON, shape) for x in totals(found, 1)]
    row["laplace"] = error(over(estimate_times(TripTotals(*public, *pure, 2**0.5 / EPSILON, Law.LAPLACE)).seconds))
    row["weights"] = error(weights_route(found, rng, seed, sources))
    if (rival := prototype(found, *noisy, scale)) is not None:
        row["prototype"] = error(over(rival))
    start = time.process_time()
    times = estimate_times(TripTotals(*public, *noisy, scale, Law.GAUSSIAN))
    row["seconds"] = time.process_time() - start
    answers = over(times.seconds)
    row["ours"], row["bias"] = error(answers), 100 * float((answers - true)[asked].mean() / true[asked].mean())
    drawn = np.stack([over(draw) for draw in zip(*(times.sample(q, DRAWS, seed) for q in range(periods)), strict=True)])
    reach = NORMAL_90 * np.sqrt(1 + 1 / DRAWS) * drawn[:, asked].std(axis=0, ddof=1)
    row["cover"] = 100 * float((np.abs(drawn[:, asked].mean(axis=0) - true[asked]) <= reach).mean())
    row["all seconds"] = time.process_time() - began
    return row


def page(rows):
    """A table: the mean over seeds, and the range of ours."""
    lines = [
        "# Travel times from totals of trips", "",
        "Mean |error| of distances in % of the mean true travel time; 150 000 simulated person-days, epsilon 1,",
        "delta 1e-6, one person-day protected (`make bench-trips`).  Ours: mean over seeds (least to largest).", "",
        "| city | periods | seeds | " + " | ".join(SHOWN) + " | s |", "|" + "---|" * (len(SHOWN) + 4),
    ]  # fmt: skip
    for name, periods in dict.fromkeys((row["city"], row["periods"]) for row in rows):
        some = [row for row in rows if (row["city"], row["periods"]) == (name, periods)]
        cells = []
        for key in SHOWN:
            values = [row[key] for row in some if key in row]
            text = f"{np.mean(values):.{0 if key == 'cover' else 2}f}" if values else "-"
            cells.append(f"**{text}** ({min(values):.2f} to {max(values):.2f})" if key == "ours" else text)
        label = name + (" (held out)" if name in HELD_OUT else "")
        spent = np.mean([row["seconds"] for row in some])
        lines.append(f"| {label} | {periods} | {len(some)} | " + " | ".join(cells) + f" | {spent:.1f} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cities", nargs="*", help="names; else all that the estimator was chosen on")
    parser.add_argument("--held-out", action="store_true", help="all cities, those it was not chosen on too")
    parser.add_argument("--seeds", type=int, nargs="*", default=[11, 12, 13])
    parser.add_argument("--periods", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--out", type=Path, default=Path("bench/results/trips.jsonl"))
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    names = asked.cities or [name for name in CITIES if asked.held_out or name not in HELD_OUT]
    names = [name for name in names if "extract" not in name or os.environ.get("HUSHPATH_DATA")]
    done = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.is_file() else []
    have = {(row["city"], row["periods"], row["seed"]) for row in done}
    tasks = [(name, p, seed) for seed in asked.seeds for name in names for p in asked.periods]
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    scale = 1 / gaussian_mu(EPSILON, DELTA)  # for units of norm 1
    for i, task in enumerate(tasks, 1):
        if task in have:
            continue
        print(f"{i} of {len(tasks)}: {task[0]}, {task[1]} period(s), seed {task[2]}", file=sys.stderr, flush=True)
        done.append(one(*task, scale))
        with asked.out.open("a") as file:
            file.write(json.dumps(done[-1]) + "\n")
        order = {name: k for k, name in enumerate(CITIES)}
        done.sort(key=lambda row: (order[row["city"]], row["periods"], row["seed"]))
        asked.out.with_suffix(".md").write_text(page(done))
    print(page(done))


if __name__ == "__main__":
    main()
