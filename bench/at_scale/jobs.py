"""One function per measurement, each run in a process of its own, so that its peak of memory is its own.

A job reads what earlier ones left in its folder, leaves files for later ones, and returns numbers.
"""

from __future__ import annotations

import os
import statistics

import numpy as np
from engine import timed

from .commands import query, read, table
from .common import SIDE, agree, asked_of, clocked, engine, enough, generated, loaded, peak, weighed
from .contests import all_pairs, rival
from .networks import delaunay, osm_like, road_like, shares, tiled
from .rivals import Scipy

KINDS = {
    "road_like": road_like, "osm_like": osm_like, "delaunay": delaunay,
    "tiled": lambda nodes: tiled(road_like(nodes // 8), 8),
}  # fmt: skip


def warm(_):
    """Compile every kernel, so that no later job pays for that in time or memory."""
    ours = engine()
    for kind in (osm_like, road_like, delaunay):
        ours.cut_then(ours.network(kind(3000)).topology)
    plan_small(ours)
    return {}


def make(folder):
    kind, nodes = folder.name.split("-")
    seconds, made = timed(lambda: KINDS[kind](int(nodes)))
    places = np.empty((0, 2)) if made.places is None else made.places
    np.savez(folder / "generated.npz", nodes=made.nodes, ends=made.ends, places=places)
    chain, tree, _ = shares(made.nodes, made.ends)
    return {"generate_s": seconds, "nodes": made.nodes, "edges": len(made.ends), "chain": chain, "tree": tree}


def release(folder):
    ours, made = engine(), generated(folder)
    network, net = clocked("network", lambda: ours.network(made))
    release, found = clocked("release", lambda: ours.released(net))
    save, _ = clocked("save", lambda: found.save(folder / "roads.hush"))
    row = network | release | save | {"peak_gb": peak(), "file_bytes": (folder / "roads.hush").stat().st_size}
    arcs, step = found.topology.arcs, found.measurements.strategy.lattice.granularity
    kept = {"start": arcs.start, "heads": arcs.heads, "lengths": found.decoder.lengths}
    np.savez(folder / "weighed.npz", step=step, places=made.places, **kept)
    return row


def default(folder):
    """A release from the network to the file as it is made unless told otherwise, weights estimated with care."""
    ours, made = engine(), generated(folder)
    ours.released(ours.network(road_like(600)), "auto").save(folder / "small.hush")
    row, _ = clocked("default", lambda: ours.released(ours.network(made), "auto").save(folder / "default.hush"))
    return row | {"peak_gb": peak()}


def cut(folder):
    os.environ["HUSHPATH_CACHE"] = str(folder / "empty")  # where no cut of this network can be found
    ours, topology = engine(), loaded(folder, index=False).topology
    row, made = clocked("cut", lambda: ours.cut(topology))
    row["peak_gb"], path = peak(), folder / "roads.hushd"
    made.save(path)
    load, _ = clocked("load", lambda: ours.again(path, topology))
    return row | load | {"file_bytes": path.stat().st_size}


def then(folder):
    """The whole network cut up, without folding it first, and the size of an index on that."""
    ours, topology = engine(), loaded(folder, index=False).topology
    ours.cut_then(ours.network(osm_like(3000)).topology)
    row, hierarchy = clocked("cut", lambda: ours.cut_then(topology))
    return row | {"peak_gb": peak(), "index_bytes": ours.bytes_then(hierarchy)}


def weigh(folder, kind):
    """An index on the known partition, with labels or tables only; then what it answers, and how fast."""
    ours, first = engine(), loaded(folder, index=False)
    made, labels, clocks = ours.again(folder / "roads.hushd", first.topology), kind == "labels", []
    for _ in range(3):
        release, index = ours.fresh(first), None  # none is kept while the next is made
        clock, index = clocked("weigh", lambda release=release: ours.weigh(release, made, labels=labels))
        clocks.append(clock)
    row = {key: statistics.median(clock[key] for clock in clocks) for key in clocks[0]}
    row |= {"index_bytes": index.nbytes, "peak_gb": peak()} | answers(release, weighed(folder))
    row["peak_with_answers_gb"] = peak()
    if labels:
        row["save_s"], _ = timed(lambda: release.save_index(folder / "roads.hushx"))
        row["file_bytes"] = (folder / "roads.hushx").stat().st_size
    return row


def answers(release, network):
    """A pair by itself, pairs in a batch, one to all, and a block; compared with scipy."""
    pairs, sources, targets = asked_of(network.nodes)
    many = np.random.default_rng(3).integers(0, network.nodes, (200_000, 2))
    release.distances(many[:1000], positions=True)
    some = enough(lambda: release.distances(many[:10], positions=True), len(many) // 10) * 10
    in_batch, _ = timed(lambda: release.distances(many[:some], positions=True))
    single = [timed(lambda a=a, b=b: release.distance(a, b))[0] for a, b in pairs.tolist()]
    blocks = [timed(lambda: release.matrix(sources, targets, positions=True)) for _ in range(3)]
    rows = [timed(lambda s=s: release.rows(sources[s : s + 1])) for s in range(4)]
    expected = Scipy(network).rows(sources[:4])
    agree(blocks[-1][1][:4], expected[:, targets])
    agree(np.concatenate([row for _, row in rows]), expected)
    ends = np.stack([np.repeat(sources[:4], SIDE), np.tile(targets, 4)], 1)[::7]
    agree(release.distances(ends, positions=True), expected[:, targets].ravel()[::7])
    return {
        "point_us": 1e6 * statistics.median(single), "pair_us": 1e6 * in_batch / some,
        "block_s": statistics.median(wall for wall, _ in blocks),
        "row_ms": 1e3 * statistics.median(wall for wall, _ in rows),
    }  # fmt: skip


def plan(folder):
    """Which mechanism is best, predicted: on a topology nobody has looked at yet."""
    ours = engine()
    plan_small(ours)
    net = ours.network(generated(folder))
    row, made = clocked("plan", lambda: ours.planned(net.topology))
    return row | {"peak_gb": peak(), "choice": made.choice.mechanism}


def plan_small(ours):
    ours.planned(ours.network(road_like(3000)).topology)


JOBS = {
    "warm": warm, "make": make, "release": release, "default": default, "cut": cut, "then": then, "weigh": weigh,
    "rival": rival, "all_pairs": all_pairs, "plan": plan, "query": query, "table": table, "read": read,
}  # fmt: skip
NEEDS = {
    "release": "make", "default": "make", "cut": "release", "then": "release", "weigh": "cut", "rival": "weigh labels",
    "all_pairs": "release", "plan": "make", "query": "weigh labels", "table": "make", "read": "table",
}  # fmt: skip
