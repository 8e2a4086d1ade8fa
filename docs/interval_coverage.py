"""Measure how often the intervals of a release hold the true distance: the table of docs/explanation/intervals.md.

Run: python docs/interval_coverage.py [--repeats 5] [--large] [--data FOLDER] [--mechanism auto]

Networks are made here (``--large``: of 4096 nodes) or read from a folder of edge lists: ``source,target,weight``, a
public proxy in a column ``proxy``, coordinates beside them in ``NAME.nodes.csv``.  Weights are even between 0 and
10, skewed (lognormal) or alike in each district.  "Ratio" is the scale of the Laplace noise on one weight over the
median weight.  Each repeat has noise and sources of its own; all is seeded, so the table can be made again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.spatial import Delaunay

import hushpath
from hushpath.kernels.paths import distances_from

RATIOS, CONFIDENCE, SOURCES = (0.1, 0.3, 1.0), 0.9, 16


class Coverage(NamedTuple):
    """Of one network and ratio: in percent; and how it was measured and read."""

    held: float
    below: float
    above: float
    width: float
    error: float
    read: str


def made(side: int) -> Iterator[tuple[str, hushpath.Network]]:
    """A grid and a Delaunay triangulation with side x side nodes, each with three kinds of weights, and a tree."""
    rng, n = np.random.default_rng(1), side * side
    at = np.arange(n).reshape(side, side)
    grid = np.vstack([np.c_[at[:, :-1].ravel(), at[:, 1:].ravel()], np.c_[at[:-1].ravel(), at[1:].ravel()]])
    places = rng.random((n, 2)) * side
    corners = Delaunay(places).simplices
    sides = np.sort(np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [0, 2]]]), axis=1)
    tree = np.c_[np.arange(1, n), [int(rng.integers(max(0, v - 8), v)) for v in range(1, n)]]
    square = np.c_[np.repeat(np.arange(side), side), np.tile(np.arange(side), side)].astype(float)
    for name, edges, xy in (
        (f"grid {side} x {side}", grid, square), (f"Delaunay {n}", np.unique(sides, axis=0), places),
        (f"tree {n}", tree, None),
    ):  # fmt: skip
        m, middle = len(edges), (square if xy is None else xy)[edges].mean(axis=1)
        waves = (np.cos(middle @ rng.normal(size=2) / size + 6.28 * rng.random()) for size in (4, 8, 16, 32))
        district = np.sum(list(waves), axis=0)
        for kind, weights in (
            ("even", 10 * rng.random(m)), ("skewed", 5 * np.exp(0.8 * rng.normal(size=m))),
            ("districts", 5 * np.exp(0.5 * district + 0.2 * rng.normal(size=m))),
        ):  # fmt: skip
            yield (
                f"{name}, {kind}",
                hushpath.Network.build(range(n), edges[:, 0], edges[:, 1], weights, coordinates=xy),
            )


def read(folder: Path) -> Iterator[tuple[str, hushpath.Network]]:
    """Every edge list of a folder, without its proxy and with it."""
    for path in sorted(folder.glob("*.csv")):
        if path.suffixes != [".csv"]:
            continue
        nodes = path.with_suffix(".nodes.csv")
        with path.open() as file:
            helped = "proxy" in file.readline().strip().split(",")
        for proxy in (None, "proxy")[: 1 + helped]:
            try:
                net = hushpath.read_network(path, nodes=nodes if nodes.exists() else None, proxy=proxy)
            except hushpath.HushpathError:  # places of some nodes are not known
                net = hushpath.read_network(path, proxy=proxy)
            yield f"{path.stem}, proxy" if proxy else path.stem, net


def coverage(net: hushpath.Network, ratio: float, repeats: int, mechanism: str) -> Coverage:
    """Release again and again, and look where the true distances lie."""
    weights, topology = net.weights.reveal(), net.topology
    unit, rows = float(np.median(weights)), []
    for seed in range(repeats):
        sources = np.random.default_rng([seed, 7]).choice(
            topology.num_nodes, min(SOURCES, topology.num_nodes), replace=False
        )
        release = hushpath.release(
            net,
            plan=hushpath.plan(
                net.topology,
                epsilon=1 / ratio,
                delta=0.0,
                unit=unit,
                mechanism=mechanism,
                noise="laplace",
                ignore_baseline=True,
            ),
            seed=seed,
        )
        true = np.empty((len(sources), topology.num_nodes))
        distances_from(topology.arcs, weights[topology.arcs.edges], sources, true)
        found = release.matrix(sources, positions=True, interval=True, confidence=CONFIDENCE)
        asked = np.isfinite(true) & (np.arange(topology.num_nodes) != sources[:, None])
        low, high, true, distance = found.low[asked], found.high[asked], true[asked], found.distance[asked]
        size = 100 / true.mean()
        misses = 100 * np.mean(true < low), 100 * np.mean(true > high)
        rows.append((100 - sum(misses), *misses, size * np.mean(high - low), size * np.mean(np.abs(distance - true))))
    return Coverage(*np.mean(rows, axis=0).tolist(), f"{release.statement.mechanism}, {release.decoder.estimator.name}")


def main() -> None:
    """Print the table as markdown."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=5)
    asked.add_argument("--large", action="store_true", help="networks of 4096 nodes")
    asked.add_argument("--data", type=Path, help="a folder of edge lists")
    asked.add_argument("--mechanism", default="auto")
    asked.add_argument("--only", default="", help="networks whose name holds this")
    options = asked.parse_args()
    print("| network | ratio | held by 90 % | truth below, above | width / distance | error / distance | read by |")
    print("|---|---|---|---|---|---|---|")
    for name, net in read(options.data) if options.data else made(64 if options.large else 16):
        if options.only not in name:
            continue
        for ratio in RATIOS:
            one = coverage(net, ratio, options.repeats, options.mechanism)
            print(
                f"| {name} | {ratio} | {one.held:.0f} % | {one.below:.0f}, {one.above:.0f} % | {one.width:.0f} % "
                f"| {one.error:.1f} % | {one.read} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
