"""How far answers are off, and how often intervals hold: on networks by family, in a development and a test pool.

    HUSHPATH_DATA=... python bench/accuracy.py --pool development      constants may be chosen on these
    HUSHPATH_DATA=... python bench/accuracy.py --pool test             reported, once
    python bench/accuracy.py --pool test --table                       the tables of what was run before

A cell is a network (``pools``), with or without its public proxy, and a noise scale: 0.1, 0.3 or 1.0 median weights
(mean weights, where the median is 0).  Its figures are means over releases: the mean |error| of distances, read by
default, as a ratio to that of plain Dijkstra over clipped weights (Sealfon 2016) of the *same* release, over all
targets from 16 sources; and the share of true distances in 90 % intervals.  Each line of the output is one release; a
run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
import pools

import hushpath

NOISE = (0.1, 0.3, 1.0)
SOURCES, CONFIDENCE = 16, 0.9
LARGEST, SMALLEST = 25_000, 20  # edges


@cache
def case(pool, name):
    return next(one for one in pools.cases(pool) if one.name == name)


@cache
def network(pool, name, proxy):
    return case(pool, name).network(proxy)


def one(task):
    """One release of one cell."""
    pool, name, proxy, noise, seed, mechanism = task
    warnings.simplefilter("ignore")
    net = network(pool, name, proxy)
    weights = net.weights.reveal()
    unit = noise * (float(np.median(weights)) or float(weights.mean()))
    asked = hushpath.plan(
        net.topology, epsilon=1.0, delta=0.0, unit=unit, max_weight=float(weights.max()), mechanism=mechanism,
        ignore_baseline=True,
    )  # fmt: skip
    release = hushpath.release(net, plan=asked, seed=seed)
    n = net.topology.num_nodes
    sources = np.random.default_rng(seed).choice(n, min(n, SOURCES), replace=False)
    exact = hushpath.release(net, epsilon=float("inf"), unit=unit, mechanism="input", seed=1)
    true = exact.with_decoder(estimator="clip").rows(sources)
    began = time.process_time()
    answers = release.rows(sources)
    estimated = time.process_time() - began
    asked_about = np.isfinite(true) & (np.arange(n) != sources[:, None])
    plain = release if release.statement.mechanism == "input" else hushpath.release(
        net, epsilon=1.0, delta=0.0, unit=unit, max_weight=float(weights.max()), mechanism="input", seed=seed
    )  # fmt: skip
    baseline = plain.with_decoder(estimator="clip").rows(sources)
    row, column = np.nonzero(asked_about)
    keep = np.random.default_rng(seed).permutation(len(row))[:20_000]
    pairs = np.column_stack([sources[row[keep]], column[keep]])
    ends = release.intervals(pairs, CONFIDENCE, positions=True)
    truth = true[row[keep], column[keep]]
    slack = 1e-9 * truth
    length = float(true[asked_about].mean())
    error = (answers - true)[asked_about]
    return {
        "name": name, "family": case(pool, name).family, "proxy": proxy, "noise": noise, "seed": seed,
        "edges": net.topology.num_edges, "error": float(np.abs(error).mean()), "bias": float(error.mean()),
        "baseline": float(np.abs(baseline - true)[asked_about].mean()), "length": length,
        "mechanism": release.statement.mechanism, "estimator": release.decoder.estimator.name,
        "below": float((truth < ends[:, 0] - slack).mean()), "above": float((truth > ends[:, 1] + slack).mean()),
        "width": float((ends[:, 1] - ends[:, 0]).mean()), "seconds": estimated,
    }  # fmt: skip


def tasks_of(asked):
    """Every release to make, small networks first."""
    found = []
    for one_case in pools.cases(asked.pool):
        if asked.only in one_case.name:
            edges = one_case.network(False).topology.num_edges
            if SMALLEST <= edges <= asked.most_edges:
                kinds = [False, True] if one_case.has_proxy else [False]
                found += [(edges, (asked.pool, one_case.name, kind, noise, seed, asked.mechanism))
                          for kind in kinds for noise in NOISE for seed in range(1, asked.repeats + 1)]  # fmt: skip
    return [task for _, task in sorted(found)]


def table(rows):
    """Print a line per network, then what was asked for: errors as ratios, and coverage, by cells."""
    cells = {}
    for row in rows:
        cells.setdefault((row["proxy"], row["name"], row["noise"]), []).append(row)
    ratio = {key: sum(r["error"] for r in cell) / max(sum(r["baseline"] for r in cell), 1e-300)
             for key, cell in cells.items()}  # fmt: skip
    cover = {key: 1 - float(np.mean([r["below"] + r["above"] for r in cell])) for key, cell in cells.items()}
    for proxy in (False, True):
        names = sorted({(cells[key][0]["family"], key[1]) for key in cells if key[0] == proxy})
        if not names:
            continue
        print(
            f"\n{'with a proxy' if proxy else 'without a proxy'}: error over that of clip, coverage of 90 % intervals"
        )
        for family, name in names:
            keys = [key for key in ((proxy, name, x) for x in NOISE) if key in ratio]
            shown = "   ".join(f"{ratio[key]:5.2f} {100 * cover[key]:4.0f} %" for key in keys)
            print(f"{family:22.22} {name:44.44} {shown}")
        for label in ("all", "real"):
            keys = [key for key in ratio if key[0] == proxy and (label == "all" or "generated/" not in key[1])]
            if not keys:
                continue
            logs, held = np.log([max(ratio[key], 1e-3) for key in keys]), np.array([cover[key] for key in keys])
            by_noise = [np.exp(np.mean([v for k, v in zip(keys, logs, strict=True) if k[2] == x])) for x in NOISE]
            print(
                f"{label:5} {len(keys)} cells: geometric mean {np.exp(logs.mean()):.3f} "
                f"({', '.join(f'{x:.2f}' for x in by_noise)} by noise), worst {np.exp(logs.max()):.2f}, "
                f"above 1.05: {int((logs > np.log(1.05)).sum())}; coverage mean {100 * held.mean():.0f} %, "
                f"85 to 95 %: {100 * np.mean((held >= 0.85) & (held <= 0.95)):.0f} % of cells, above 95 %: "
                f"{100 * np.mean(held > 0.95):.0f} %, below 80 %: {100 * np.mean(held < 0.8):.0f} %, "
                f"lowest {100 * held.min():.0f} %"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pool", choices=["development", "test"], default="development")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--mechanism", default="input", help="input, or auto for what a plan chooses")
    parser.add_argument("--most-edges", type=int, default=LARGEST)
    parser.add_argument("--only", default="", help="part of the names of networks")
    parser.add_argument("--out", type=Path, help="file of results, by default build/accuracy-POOL.jsonl")
    parser.add_argument("--table", action="store_true", help="run nothing")
    asked = parser.parse_args()
    out = asked.out or Path(f"build/accuracy-{asked.pool}.jsonl")
    done = [json.loads(line) for line in out.read_text().splitlines()] if out.is_file() else []
    if not asked.table:
        out.parent.mkdir(parents=True, exist_ok=True)
        have = {(row["name"], row["proxy"], row["noise"], row["seed"]) for row in done}
        left = [task for task in tasks_of(asked) if task[1:5] not in have]
        with ProcessPoolExecutor(asked.jobs) as pool, out.open("a") as file:
            for i, row in enumerate(pool.map(one, left, chunksize=3), 1):
                done.append(row)
                file.write(json.dumps(row) + "\n")
                file.flush()
                print(f"\r{i} of {len(left)}", end="", file=sys.stderr, flush=True)
    table(done)


if __name__ == "__main__":
    main()
