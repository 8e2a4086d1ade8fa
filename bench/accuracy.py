"""How far answers are off, as a ratio to the 2016 baseline at the same certificate, the same seeds, the same pairs.

    make accuracy                       all sections, on generated networks and those in $HUSHPATH_DATA
    .venv/bin/python bench/accuracy.py cells proxy trees meshes --repeats 5 --out bench/results/accuracy.jsonl

The baseline is input perturbation (Sealfon 2016): every edge with Laplace noise, clipped, shortest paths.  The noise
of a cell is a Laplace scale of 0.1, 0.3 or 1.0 median weights.  Everything runs through the public interface with its
defaults (``mechanism="auto"``, ``estimator="auto"``), so choices of the plan are in the figures.  Each line of the
output file is one repeat of one cell; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
from scipy.spatial import Delaunay

import hushpath
from hushpath import Network

RATIOS = (0.1, 0.3, 1.0)
SOURCES = 24


def grid(side):
    i = np.arange(side * side).reshape(side, side)
    edges = np.vstack([np.c_[i[:, :-1].ravel(), i[:, 1:].ravel()], np.c_[i[:-1].ravel(), i[1:].ravel()]])
    return edges, np.c_[np.repeat(np.arange(side), side), np.tile(np.arange(side), side)].astype(float)


def triangulated(n, rng):
    places = rng.random((n, 2))
    corners = Delaunay(places).simplices
    edges = np.unique(np.sort(np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]), axis=1), axis=0)
    return edges, places * np.sqrt(n)


def weighed(edges, places, kind, rng):
    """Independent even or skewed weights, or a field over the plane with a little of its own on each edge."""
    m = len(edges)
    if kind == "uniform":
        return 10 * rng.random(m)
    if kind == "lognormal":
        return 5 * np.exp(0.8 * rng.normal(size=m))
    middle = places[edges].mean(axis=1)
    waves = [np.cos(middle @ rng.normal(size=2) / length + 2 * np.pi * rng.random()) for length in (4, 8, 16, 32)]
    return 5 * np.exp(0.5 * sum(waves) + 0.2 * rng.normal(size=m))


def built(edges, weights, places=None, proxy=None):
    n = int(edges.max()) + 1
    return Network.build(range(n), edges[:, 0], edges[:, 1], weights, coordinates=places, proxy=proxy)


@lru_cache(maxsize=2)
def network(name, proxy=None):
    """A network by name: a file in $HUSHPATH_DATA (``proxy`` is a column of it), or generated (``grid-64-uniform``)."""
    path = Path(os.environ.get("HUSHPATH_DATA", "")) / f"{name.removesuffix('+proxy')}.csv"
    if path.is_file():
        nodes = path.with_suffix(".nodes.csv")
        net = hushpath.read_network(path, nodes=nodes if nodes.is_file() else None, proxy=proxy)
        return alike(net) if name.endswith("+proxy") else net
    rng = np.random.default_rng(7)
    family, size, kind, *more = name.split("-")
    size = int(size)
    if family == "path":
        edges, places = np.c_[np.arange(size - 1), np.arange(1, size)], None
    elif family == "tree":
        edges, places = np.c_[(rng.random(size - 1) * np.arange(1, size)).astype(int), np.arange(1, size)], None
    elif family == "binary":
        edges, places = np.c_[(np.arange(1, size) - 1) // 2, np.arange(1, size)], None
    elif family == "star":
        edges, places = np.c_[np.zeros(size - 1, int), np.arange(1, size)], None
    else:
        edges, places = grid(size) if family == "grid" else triangulated(size, rng)
    net = built(edges, weighed(edges, places, kind, rng), places)
    return alike(net) if more == ["proxy"] else net


def alike(net):
    """The network with a made-up public column whose linear correlation with the weights is 0.9."""
    weights = net.weights.reveal()
    noise = np.random.default_rng(8).normal(size=len(weights)) * weights.std()
    return net.with_proxy(np.maximum(weights + noise * np.sqrt(1 / 0.9**2 - 1), 0.0), name="alike")


def one(task):
    """One repeat of one cell: errors of the default and of the baseline, and what each candidate would give."""
    name, ratio, seed = task
    warnings.simplefilter("ignore")
    net = network(name)
    weights = net.weights.reveal()
    terms = {
        "epsilon": 1.0, "delta": 0.0, "unit": ratio * float(np.median(weights)), "max_weight": float(weights.max()),
        "ignore_baseline": True,
    }  # fmt: skip
    error = lambda release: hushpath.evaluate(net, release, sources=SOURCES).mean_error  # noqa: E731
    make = lambda **more: hushpath.release(net, plan=hushpath.plan(net.topology, **terms, **more), seed=seed)  # noqa: E731
    plain = make(mechanism="input").with_decoder(estimator="clip")
    base = error(plain)
    chosen = make()
    found = {
        "name": name, "ratio": ratio, "seed": seed, "baseline": base, "error": error(chosen),
        "mechanism": chosen.statement.mechanism, "estimator": chosen.decoder.estimator.name,
    }  # fmt: skip
    if chosen.statement.mechanism != "input":
        found["input"] = error(plain.with_decoder(estimator="auto"))
    return found


def sections(data):
    """The names of the networks in each section."""
    kinds = ("uniform", "lognormal", "spatial")
    generated = [f"{shape}-{kind}" for shape in ("grid-64", "delaunay-4096") for kind in kinds]
    trees = ("path-1024", "path-65536", "tree-3000", "binary-1023", "star-500")
    return {
        "cells": [*data, *generated],
        "meshes": [f"{shape}-{kind}" for shape in ("grid-128", "delaunay-16000") for kind in kinds],
        "proxy": [*(f"{name}+proxy" for name in data), *(f"{name}-proxy" for name in generated)],
        "trees": [f"{shape}-{kind}" for shape in trees for kind in ("uniform", "lognormal")],
    }


def table(rows):
    """Ratios of mean errors over repeats, one network a line."""
    logs = []
    for name in dict.fromkeys(row["name"] for row in rows):
        shown = []
        for ratio in RATIOS:
            cell = [row for row in rows if (row["name"], row["ratio"]) == (name, ratio)]
            if cell:
                value = sum(row["error"] for row in cell) / sum(row["baseline"] for row in cell)
                logs.append(np.log(value))
                shown.append(f"{value:6.2f} {cell[-1]['mechanism']}+{cell[-1]['estimator']:<8}")
        print(f"{name:34}", "".join(shown))
    if logs:
        print(f"{'geometric mean':34} {np.exp(np.mean(logs)):.3f}, worst {np.exp(max(logs)):.2f}, {len(logs)} cells\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sections", nargs="*", default=["cells", "meshes", "proxy", "trees"])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench/results/accuracy.jsonl"))
    parser.add_argument("--only", default="", help="part of the names of networks")
    asked = parser.parse_args()
    folder = os.environ.get("HUSHPATH_DATA")
    data = sorted(p.stem for p in Path(folder).glob("*.csv") if not p.stem.endswith(".nodes")) if folder else []
    done = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.is_file() else []
    have = {(row["name"], row["ratio"], row["seed"]) for row in done}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    for section in asked.sections:
        names = [name for name in sections(data)[section] if asked.only in name]
        tasks = [(name, ratio, seed) for name in names for ratio in RATIOS for seed in range(1, asked.repeats + 1)]
        with ProcessPoolExecutor(asked.jobs) as pool, asked.out.open("a") as file:
            for i, row in enumerate(pool.map(one, [task for task in tasks if task not in have]), 1):
                done.append(row)
                file.write(json.dumps(row) + "\n")
                file.flush()
                print(f"\r{section}: {i}", end="", file=sys.stderr)
        print(f"\n{section}: mean |error| as a ratio to the baseline; Laplace scale 0.1, 0.3, 1.0 median weights")
        table([row for row in done if (row["name"], row["ratio"], row["seed"]) in set(tasks)])


if __name__ == "__main__":
    main()
