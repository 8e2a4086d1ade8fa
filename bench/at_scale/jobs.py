"""One function per measurement, each run in a process of its own, so that its peak of memory is its own.

A job reads what earlier ones left in its folder, leaves files for later ones, and returns numbers.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from functools import partial
from importlib import import_module

import numpy as np
from engine import timed, touch_memory, versus

from .networks import Generated, delaunay, osm_like, road_like, shares, tiled
from .rivals import RIVALS, Scipy, Weighed, rivals

KINDS = {
    "road_like": road_like, "osm_like": osm_like, "delaunay": delaunay,
    "tiled": lambda nodes: tiled(road_like(nodes // 8), 8),
}  # fmt: skip
SECONDS = 2.0  # about so long is a slow rival asked, and its time taken per question
SIDE = 1000  # of the block


def peak():
    """The most memory this process had so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def clocked(name, work):
    """Wall and processor time of one run under a name, and what it made."""
    cpu = time.process_time()
    wall, value = timed(work)
    return {f"{name}_s": wall, f"{name}_cpu_s": time.process_time() - cpu}, value


def enough(work, most):
    """How many questions fill the time, if one of them is ``work``; and no fewer than two."""
    one, _ = timed(work)
    return max(2, min(most, int(SECONDS / max(one, 1e-9))))


def engine():
    """Our side, imported only by those who need it and ready to be timed."""
    ours = import_module("at_scale.ours")
    ours.warm_up()
    return ours


def asked_of(nodes):
    """The same pairs, sources and targets for everybody."""
    rng = np.random.default_rng(2)
    return rng.integers(0, nodes, (3000, 2)), *rng.integers(0, nodes, (2, SIDE))


def agree(mine, theirs, exact=True):
    """Every answer that is timed is compared."""
    if exact:
        np.testing.assert_array_equal(mine, theirs)
    else:
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-3)


def generated(folder):
    found = np.load(folder / "generated.npz")
    return Generated(int(found["nodes"]), found["ends"], found["places"])


def weighed(folder):
    found = np.load(folder / "weighed.npz")
    return Weighed(found["start"], found["heads"], found["lengths"], float(found["step"]), found["places"])


def loaded(folder, index=True):
    return import_module("hushpath").load(folder / "roads.hush", index=index)


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
    ours, topology = engine(), loaded(folder, index=False).topology
    row, made = clocked("cut", lambda: ours.cut(topology))
    row["peak_gb"] = peak()
    row["file_bytes"] = ours.kept(made, folder / "roads.hushd")
    row["load_s"], _ = timed(lambda: ours.again(folder / "roads.hushd", topology) if row["file_bytes"] else None)
    return row


def then(folder):
    """The whole network cut up, without folding it first, and the size of an index on that."""
    ours, topology = engine(), loaded(folder, index=False).topology
    row, hierarchy = clocked("cut", lambda: ours.cut_then(topology))
    return row | {"peak_gb": peak(), "index_bytes": ours.bytes_then(hierarchy)}


def weigh(folder, kind):
    """An index on the known decomposition, with labels or tables only; then what it answers, and how fast."""
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


def rival(folder, name):
    """A rival by itself, for its peak; then in turn with ours on the index of the file."""
    import_module(RIVALS[name].module)
    network = weighed(folder)
    pairs, sources, targets = asked_of(network.nodes)
    row, other = clocked("prepare", lambda: RIVALS[name](network))
    some = enough(lambda: other.point(pairs[:1].tolist()), len(pairs))
    rows = enough(lambda: other.block(sources[:1], targets), SIDE)
    row |= {"peak_gb": peak(), "pairs_asked": some, "sources_asked": rows}
    ours, release = engine(), loaded(folder)
    assert release.index is not None
    clocks, (mine, theirs) = versus(
        lambda: [release.distance(a, b) for a, b in pairs.tolist()], lambda: other.point(pairs[:some].tolist())
    )
    agree(mine[:some], theirs, other.exact)
    row |= beside("point", clocks, len(pairs), some)
    clocks, (mine, theirs) = versus(
        lambda: release.matrix(sources, targets, positions=True), lambda: other.block(sources[:rows], targets)
    )
    agree(mine[:rows], theirs, other.exact)
    row |= beside("block", clocks, SIDE, rows)
    row["point_us"], row["block_s"] = 1e6 * row.pop("point_theirs_s"), SIDE * row.pop("block_theirs_s")
    if other.weighs:
        made = ours.again(folder / "roads.hushd", release.topology)
        for kind in ("tables", "labels"):
            waiting = [ours.fresh(release) for _ in range(3)]
            mine = partial(weigh_one_of, ours, waiting, made, kind == "labels")
            row |= beside(f"weigh_{kind}", versus(mine, other.weigh)[0])
        row["weigh_s"] = row["weigh_tables_theirs_s"]
    return row


def weigh_one_of(ours, waiting, made, labels):
    """Weigh a release that has no index yet; none of them is kept."""
    ours.weigh(waiting.pop(), made, labels=labels)


def beside(name, clocks, ours=1, theirs=1):
    """Their seconds for each of so many questions, and how many times as long we take, by wall and by processor."""
    each = clocks / [[ours], [theirs]]
    wall, cpu = each[0] / each[1]
    return {f"{name}_ours_s": each[0, 0], f"{name}_theirs_s": each[1, 0], f"{name}_over": wall, f"{name}_cpu_over": cpu}


def all_pairs(folder):
    """The whole matrix against copying one of the same size into new memory, and against the rivals' rows."""
    ours, found, network = engine(), loaded(folder, index=False), weighed(folder)
    release, nodes = ours.fresh(found), network.nodes
    ours.weigh(release, ours.cut(release.topology), labels=True)
    touch_memory(3 * 8 * nodes * nodes)
    row, sources = {}, np.random.default_rng(4).integers(0, nodes, nodes)
    for dtype in (np.float64, np.float32):
        source = np.random.default_rng(5).random((nodes, nodes), dtype)

        def copied(source=source):
            made = np.empty_like(source)
            np.copyto(made, source)
            return made

        clocks, (matrix, _) = versus(lambda dtype=dtype: release.matrix(dtype=dtype), copied, rounds=5)
        row |= beside(f"copy_{np.dtype(dtype).name}", clocks)
    for name in rivals()[0]:
        other = RIVALS[name](network)
        some = enough(lambda other=other: other.rows(sources[:1]), nodes)
        clocks, (matrix, rows) = versus(release.matrix, lambda other=other, some=some: other.rows(sources[:some]))
        agree(matrix[sources[:some]], rows, other.exact)
        row |= beside(name, clocks, nodes, some)
    return row | {"peak_gb": peak()}


def plan(folder):
    """Which mechanism is best, predicted: on a topology nobody has looked at yet."""
    from hushpath import plan

    ours = engine()
    plan(ours.network(road_like(300)).topology, **ours.TERMS)
    net = ours.network(generated(folder))
    row, made = clocked("plan", lambda: plan(net.topology, **ours.TERMS))
    return row | {"peak_gb": peak(), "choice": made.choice.mechanism}


def query(folder):
    """``hushpath query`` in a process of its own, index beside the release; the first run is not counted."""
    nodes = weighed(folder).nodes
    command = [sys.executable, "-m", "hushpath", "query", folder / "roads.hush", "0", str(nodes // 2), "--json"]
    runs = [measured(command) for _ in range(6)][1:]
    told = json.loads(runs[-1][2])["answers"][0]["distance"]
    assert told == Scipy(weighed(folder)).rows(np.array([0]))[0, nodes // 2]
    return {"query_s": statistics.median(run[0] for run in runs), "peak_gb": max(run[1] for run in runs)}


def table(folder):
    """The network as an edge list for people."""
    import pandas

    made = generated(folder)
    weights = np.random.default_rng(1).uniform(1, 60, len(made.ends)).round(2)
    rows = pandas.DataFrame({"source": made.ends[:, 0], "target": made.ends[:, 1], "weight": weights})
    seconds, _ = timed(lambda: rows.to_csv(folder / "roads.csv", index=False))
    return {"write_s": seconds, "file_bytes": (folder / "roads.csv").stat().st_size}


def read(folder):
    """An edge list read and released on the command line."""
    out = folder / "read.hush"
    command = [sys.executable, "-m", "hushpath", "release", folder / "roads.csv", "-o", out, "--mechanism", "input"]
    terms = ["--epsilon", "1", "--unit", "1", "--max-weight", "60", "--estimator", "clip"]
    seconds, gigabytes, _ = measured([*command, *terms])
    return {"release_s": seconds, "peak_gb": gigabytes, "file_bytes": out.stat().st_size}


def measured(command):
    """Seconds, peak of memory in GB and output of a command; whoever calls must be small when it does."""
    start = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(map(str, command[1:4]))} ended with {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss / 2**20, output


JOBS = {
    "make": make, "release": release, "default": default, "cut": cut, "then": then, "weigh": weigh, "rival": rival,
    "all_pairs": all_pairs, "plan": plan, "query": query, "table": table, "read": read,
}  # fmt: skip
NEEDS = {
    "release": "make", "default": "make", "cut": "release", "then": "release", "weigh": "cut", "rival": "weigh labels",
    "all_pairs": "release", "plan": "make", "query": "weigh labels", "table": "make", "read": "table",
}  # fmt: skip
