"""The corpus: one small release of every mechanism and flavour, and an index where there is one.

`python tests/fuzz/seeds.py` writes it again after a change of the format; a test checks that it is current.
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from named_graphs import build, delaunay_ends, grid_ends

import hushpath
from hushpath.network.topology import Topology

CORPUS = Path(__file__).parent / "corpus"
SEED = 5  # the same bytes every time
TERMS = {"epsilon": 1.0, "unit": 1.0, "max_weight": 20.0}


def _net(ends, n, *, text=False, places=False, directed=False, proxy=None):
    rng = np.random.default_rng(1)
    tails, heads = np.array(ends).reshape(-1, 2).T
    return hushpath.Network.build(
        [f"node {i:02}" for i in range(n)] if text else range(n), tails, heads, rng.uniform(1, 9, len(tails)),
        directed=directed, coordinates=rng.random((n, 2)) if places else None, upper=20.0,
        proxy=proxy, parallel_edges=True,
    )  # fmt: skip


GRID, LINE = grid_ends(5, 6), [(i, i + 1) for i in range(23)]
TREE = [((i - 1) // 2, i) for i in range(1, 31)]
APART = [(0, 1), (1, 2), (2, 0), (4, 5), (5, 6), (6, 7), (4, 7)]
RELEASES = {
    "input": (_net(GRID, 30, text=True, places=True), "input", {}),
    "input-directed": (_net(np.concatenate([GRID, GRID[:, ::-1]]), 30, directed=True), "input", {}),
    "input-proxy": (_net([*APART, *APART], 9, proxy=[1.5, 0.0, np.nan, *range(11)]), "input", {}),
    "all-pairs": (_net(APART, 9, text=True), "all-pairs", {}),
    "all-pairs-directed": (_net(LINE[:9], 10, directed=True), "all-pairs", {}),
    "cover": (_net(APART, 9), "cover", {"hops": 1}),
    "hubs": (_net(GRID, 30), "hubs", {"hubs": 5}),
    "hubs-directed": (_net(LINE, 24, directed=True), "hubs", {"hubs": 5}),
    "hubs-bounded": (_net(GRID, 30), "hubs-bounded", {"hubs": 4, "constants": "paper"}),
    "tree": (_net(TREE, 31), "tree", {}),
    "lines": (_net(TREE + [(30, i) for i in range(31, 40)], 40), "lines", {"branch": 3}),
    "treewidth": (_net(LINE, 24), "treewidth", {}),
    "separator": (_net(GRID, 30), "separator", {"leaf_size": 4}),
    "separator-leaves": (_net(delaunay_ends(24), 24), "separator", {"leaf_size": 4, "leaves": "all-pairs"}),
    "separator-adjacent": (_net(TREE, 31), "separator", {"leaf_size": 3, "levels": "adjacent"}),
    "separator-flat": (_net(APART, 9), "separator", {"depth": 0}),
    "separator-cover": (_net(GRID, 30, text=True), "separator-cover", {"leaf_size": 4, "hops": 1}),
    "separator-cover-wide": (build(48, grid_ends(6, 8), np.ones(82)), "separator-cover", {"leaf_size": 6, "hops": 2}),
}
# A mechanism that is not named above has a seed by being registered: made when it is needed, not kept as a file.
NEW = {
    name: (_net(LINE, 24), name, {})
    for name in hushpath.mechanisms()
    if name not in {"auto", *(mechanism for _, mechanism, _ in RELEASES.values())}
}


def _trips(periods, **told):
    """People on a small grid, in two periods or one."""
    ends = GRID[:20]
    topology = Topology.build(range(30), *ends.T, proxy=np.arange(1.0, 21.0), proxy_name="free flow", **told)[0]
    rows = pd.DataFrame({"who": np.arange(300) % 40, "day": np.arange(300) % 5, "seconds": np.arange(300.0) % 60})
    rows[["from", "to"]] = ends[np.arange(300) % 20]
    rows["period"] = np.where(np.arange(300) % 3, "am", "pm")
    named = dict(person="who", day="day", edge=("from", "to"), seconds="seconds")
    return hushpath.read_trips(rows, topology, **named, **({"period": "period", "periods": periods} if periods else {}))


TRIP_TERMS = {"epsilon": 2.0, "protects": "person-day", "low": 0.5, "high": 6.0, "seed": SEED}
TRIPS = {
    "trips": (_trips(["am", "pm"], directed=True), {"days": (0, 3)}),
    "trips-replace": (_trips(None), {"protects": hushpath.TripUnit("person-day", neighbours="replace")}),
    "trips-pure": (_trips(["am", "pm"]), {"delta": 0.0, "protects": hushpath.TripUnit("person", max_edges=3)}),
}
INDEXED = ("input", "input-directed", "separator", "separator-cover", "treewidth")


def write_corpus(folder=CORPUS):
    """Write every seed; the same bytes every time."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in (*RELEASES, *TRIPS):
        write_seed(folder, name)


def write_seed(folder, name):
    """Write one seed."""
    if name in TRIPS:
        trips, told = TRIPS[name]
        hushpath.release_trips(trips, **{**TRIP_TERMS, **told}).save(folder / f"{name}.hush")
        return
    net, mechanism, options = (RELEASES | NEW)[name]
    rel = hushpath.release(
        net, plan=hushpath.plan(net.topology, mechanism=mechanism, **TERMS, **options, ignore_baseline=True), seed=SEED
    )
    rel.save(folder / f"{name}.hush", index=name in INDEXED)


if __name__ == "__main__":
    write_corpus()
