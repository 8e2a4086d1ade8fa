"""The query engine against its alternatives, on the same graphs and weights, in one run.

    make bench                                   everything (some minutes)
    .venv/bin/python bench/engine.py --quick     small graphs only
    .venv/bin/python bench/engine.py --only "delaunay 10000"

Every ratio is measured here and now: ours and theirs in turn, equally often, both allocating their output.  scipy is
always there; networkx answers on small graphs; networkit and routingkit-cch join in where they are installed.  Every
answer that is timed is also compared.  A dated JSON and a plot go to bench/results/.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import Delaunay

import hushpath

RESULTS = Path(__file__).parent / "results"


def delaunay(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    return n, np.unique(ends, axis=0)


def grid(a, b):
    at = np.arange(a * b).reshape(a, b)
    across, down = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1), np.stack([at[:-1].ravel(), at[1:].ravel()], 1)
    return a * b, np.concatenate([across, down])


def partial_3_tree(n, seed=0):
    """A random 3-tree with a fifth of its edges left out."""
    rng = np.random.default_rng(seed)
    triangles, ends = [(0, 1, 2)], [(0, 1), (1, 2), (0, 2)]
    for v in range(3, n):
        a, b, c = triangles[rng.integers(len(triangles))]
        ends += [(a, v), (b, v), (c, v)]
        triangles += [(a, b, v), (a, c, v), (b, c, v)]
    ends = np.array(ends)
    return n, ends[(rng.random(len(ends)) < 0.8) | (np.arange(len(ends)) % 3 == 0)]


def tree(n, seed=0):
    rng = np.random.default_rng(seed)
    below = np.arange(1, n)
    return n, np.stack([(below * rng.random(n - 1) ** 0.5).astype(np.int64), below], 1)


def roads(n, edges):
    from spine import planar_network

    return n, planar_network(n, edges)[0]


GRAPHS = {
    "delaunay 2500": lambda: delaunay(2500),
    "delaunay 10000": lambda: delaunay(10_000),
    "delaunay 100000": lambda: delaunay(100_000),
    "grid 300x300": lambda: grid(300, 300),
    "partial 3-tree 5000": lambda: partial_3_tree(5_000),
    "partial 3-tree 20000": lambda: partial_3_tree(20_000),
    "tree 25000": lambda: tree(25_000),
    "tree 100000": lambda: tree(100_000),
    "roads 62500": lambda: roads(62_500, 86_250),
    "roads 250000": lambda: roads(250_000, 345_000),
}
QUICK = ("delaunay 2500", "tree 25000")


def timed(work):
    start = time.perf_counter()
    value = work()
    return time.perf_counter() - start, value


def versus(ours, theirs, rounds=3):
    """Both in turn, equally often; median wall and processor time of each, and the last answers.

    Processor time counts all threads and no waiting: its ratio is fair on a busy machine, and hard on us, since two
    threads cost twice their time there.
    """
    clocks, answers = np.empty((2, 2, rounds)), [None, None]
    for i in range(rounds):
        for who, work in enumerate((ours, theirs)):
            wall, cpu = time.perf_counter(), time.process_time()
            answers[who] = work()
            clocks[who, :, i] = time.perf_counter() - wall, time.process_time() - cpu
    return np.median(clocks, axis=2), answers


def ratios(name, clocks, size_ours=1.0, size_theirs=1.0):
    """Times faster than scipy per unit of work, by the clock on the wall and by processor time."""
    wall, cpu = clocks[1] / size_theirs / (clocks[0] / size_ours)
    return {f"{name}_ratio": float(wall), f"{name}_cpu_ratio": float(cpu)}


def warm_up():
    """Compile (or load from the cache) every kernel before anything is timed."""
    for directed in (False, True):
        n, ends = grid(12, 12)
        net = hushpath.Network.build(range(n), ends[:, 0], ends[:, 1], np.ones(len(ends)), directed=directed)
        rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=0)
        rel.rows(np.array([0]))
        rel.matrix(dtype=np.float32)
        rel.build_index()
        rel.rows(np.array([0]))
        rel.matrix()
        rel.matrix(dtype=np.float32)
        rel.matrix([1, 2], [3])
        rel.distance(0, 5)


def bench(name):
    n, ends = GRAPHS[name]()
    weights = np.random.default_rng(1).uniform(1, 60, len(ends))
    net = hushpath.Network.build(range(n), ends[:, 0], ends[:, 1], weights)
    rel = hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", max_weight=60.0, seed=1)
    arcs, lengths = rel.topology.arcs, rel.decoder.lengths
    matrix = csr_array((lengths, arcs.heads, arcs.start), shape=(n, n))
    rng = np.random.default_rng(2)
    row = {"graph": name, "nodes": n, "edges": len(ends)}
    row["build_s"], index = timed(rel.build_index)
    row["index_mb"] = index.nbytes / 2**20
    row["build_peak_gb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row["label_mean"] = index.labels.row_start[-1] / len(index.labels.row_start)

    # Few scipy rows are timed on large graphs: they all cost the same.
    sample = rng.integers(0, n, max(4, min(200, 2_000_000 // n)))
    clocks, (mine, expected) = versus(
        lambda: [rel.rows(sample[i : i + 1]) for i in range(len(sample))], lambda: dijkstra(matrix, indices=sample)
    )
    assert np.array_equal(np.concatenate(mine), expected)
    row["one_to_all_ms"], row["scipy_row_ms"] = 1e3 * clocks[:, 0] / len(sample)
    row |= ratios("one_to_all", clocks)
    row |= bench_pairs(rel, sample, expected, rng)
    sources, targets = rng.integers(0, n, (2, 1000))
    sources[: len(sample)] = sample
    clocks, (block, _) = versus(
        lambda: rel.matrix(sources, targets, positions=True), lambda: dijkstra(matrix, indices=sample)
    )
    assert np.array_equal(block[: len(sample)], expected[:, targets])
    row["many_to_many_s"] = clocks[0, 0]
    row |= ratios("many_to_many", clocks, 1000, len(sample))
    whole = n <= 10_000  # then every row of scipy, not a sample; both allocate their output
    rows = n if whole else max(256, 100_000_000 // n // 64 * 64)
    touch_memory(2 * 8 * rows * n)
    clocks, (mine, theirs) = versus(
        lambda: rel.matrix(np.arange(rows), positions=True),
        lambda: dijkstra(matrix, indices=None if whole else sample),
    )
    if whole:
        assert np.array_equal(mine, theirs)
    first = np.flatnonzero(sample < rows)
    assert np.array_equal(mine[sample[first]], expected[first])
    del mine, theirs
    theirs_rows = n if whole else len(sample)
    row["all_pairs_rows"], row["scipy_rows"] = rows, theirs_rows
    row["all_pairs_s"], scipy_s = clocks[0, 0] * n / rows, clocks[1, 0] * n / theirs_rows
    row |= ratios("all_pairs", clocks, rows, theirs_rows)
    row["all_pairs_ratio_with_build"] = scipy_s / (row["all_pairs_s"] + row["build_s"])
    row |= bench_file(rel) | others(rel, matrix, sample, expected)
    row["load"] = os.getloadavg()[0]
    return row


def touch_memory(size):
    """Have the operating system (and the host of a virtual machine) supply the pages before either side is timed.

    The first touch of a gigabyte can take seconds there, which whoever runs first would pay.
    """
    np.empty(size // 8).fill(0.0)


def bench_pairs(rel, sample, expected, rng):
    n = rel.topology.num_nodes
    pairs = rng.integers(0, n, (1_000_000, 2))
    ours, answers = timed(lambda: rel.distances(pairs, positions=True))
    check = np.stack([np.repeat(sample, 50), rng.integers(0, n, 50 * len(sample))], 1)
    asked = rel.distances(check, positions=True)
    assert np.array_equal(asked, expected[np.repeat(np.arange(len(sample)), 50), check[:, 1]])
    single = []
    for a, b in pairs[:3000].tolist():
        start = time.perf_counter()
        rel.distance(a, b)
        single.append(time.perf_counter() - start)
    return {"point_us_median": 1e6 * float(np.median(single)), "pair_us_in_batch": 1e6 * ours / len(answers)}


def bench_file(rel):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.hushx"
        saving, _ = timed(lambda: rel.save_index(path))
        fresh = hushpath.Release(rel.measurements)
        fresh.decoder  # noqa: B018 - made before the clock starts
        loading, _ = timed(lambda: fresh.load_index(path))
        first, _ = timed(lambda: fresh.distance(0, 1))
    return {"save_index_s": saving, "load_index_s": loading, "first_answer_s": first}


def others(rel, matrix, sample, expected):
    """Alternatives that happen to be here; none of them is needed."""
    row, n = {}, rel.topology.num_nodes
    if n <= 30_000:
        import networkx as nx

        graph = nx.from_scipy_sparse_array(matrix)  # the named graphs have no parallel edges
        one, lengths = timed(lambda: nx.single_source_dijkstra_path_length(graph, int(sample[0]), weight="weight"))
        assert all(lengths[v] == expected[0, v] for v in lengths)
        row["networkx_row_ms"] = 1e3 * one
    with contextlib.suppress(ImportError):
        row |= networkit(rel, sample, expected)
    with contextlib.suppress(ImportError):
        row |= routingkit(rel, sample, expected)
    return row


def networkit(rel, sample, expected):
    import networkit as nk

    topology, lengths = rel.topology, rel.decoder._lengths(rel.decoder.values)
    weight = np.empty(topology.num_edges)
    weight[topology.arcs.edges] = lengths
    data = (weight, (topology.tails, topology.heads))
    graph = nk.GraphFromCoo(data, n=topology.num_nodes, weighted=True, directed=False)
    run = nk.distance.Dijkstra(graph, int(sample[0]), False)
    one, _ = timed(run.run)
    assert np.allclose(run.getDistances(), expected[0])
    return {"networkit_row_ms": 1e3 * one}


def routingkit(rel, sample, expected):
    """Customizable contraction hierarchies, given our own elimination order; weights are rounded to 32 bits."""
    import routingkit_cch as rk

    arcs, layout = rel.topology.arcs, rel.index.layout
    tails = np.repeat(np.arange(rel.topology.num_nodes), np.diff(arcs.start)).tolist()
    weights = np.rint(rel.decoder.lengths * 1000).astype(np.int64).tolist()
    build, cch = timed(lambda: rk.CCH(layout.own.items[::-1].tolist(), tails, arcs.heads.tolist(), False))
    customise, metric = timed(lambda: rk.CCHMetric(cch, weights))
    targets = np.random.default_rng(3).integers(0, rel.topology.num_nodes, 1000)
    many = rk.CCHOneToMany(metric, targets.tolist())
    theirs, rows = timed(lambda: [many.distances_from(int(s)) for s in sample[:20]])
    found = np.array([[np.inf if d is None else d / 1000 for d in row] for row in rows])
    np.testing.assert_allclose(found, expected[:20][:, targets], rtol=1e-2, atol=1.0)
    query = rk.CCHQuery(metric)
    asked = [(int(s), int(t)) for s, t in zip(np.resize(sample, 1000), targets, strict=True)]
    point, _ = timed(lambda: [query.run(s, t).distance for s, t in asked])
    ours, _ = timed(lambda: rel.matrix(np.resize(sample, 1000), targets, positions=True))
    return {
        "routingkit_build_s": build,
        "routingkit_customise_s": customise,
        "routingkit_point_us": 1e6 * point / len(asked),
        "many_to_many_over_routingkit": theirs / len(rows) * 1000 / ours,
    }


def exponents(rows):
    """Growth between the two sizes of a family: the slope of log(time) over log(nodes)."""
    found = {}
    for small, large in (
        ("delaunay 10000", "delaunay 100000"),
        ("tree 25000", "tree 100000"),
        ("partial 3-tree 5000", "partial 3-tree 20000"),
        ("roads 62500", "roads 250000"),
    ):
        if small in rows and large in rows:
            a, b = rows[small], rows[large]
            size = np.log(b["nodes"] / a["nodes"])
            found[small.rpartition(" ")[0]] = {
                what: round(float(np.log(b[key] / a[key]) / size), 2)
                for what, key in (
                    ("build", "build_s"), ("index size", "index_mb"), ("pair in a batch", "pair_us_in_batch"),
                    ("one to all", "one_to_all_ms"), ("all pairs", "all_pairs_s"),
                )
            }  # fmt: skip
    return found


def plot(rows, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(rows)
    figure, axes = plt.subplots(figsize=(9, 0.5 * len(names) + 1.5))
    for shift, (key, label) in enumerate(
        [("one_to_all_ratio", "one to all"), ("many_to_many_ratio", "1000 x 1000"), ("all_pairs_ratio", "all pairs")]
    ):
        axes.barh(np.arange(len(names)) + 0.27 * (shift - 1), [rows[x][key] for x in names], 0.25, label=label)
    axes.axvline(1, color="grey", lw=0.8)
    axes.set(
        yticks=range(len(names)), yticklabels=names, xscale="log", xlabel="times faster than scipy's Dijkstra, same run"
    )
    axes.invert_yaxis()
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:  # a process per graph, so that its peak memory is its own
        warm_up()
        print(json.dumps(bench(arguments.one)))
        return
    rows = {}
    for name in arguments.only or (QUICK if arguments.quick else GRAPHS):
        done = subprocess.run([sys.executable, __file__, "--one", name], check=True, stdout=subprocess.PIPE, text=True)
        rows[name] = json.loads(done.stdout.splitlines()[-1])
        show(rows[name])
    slopes = exponents(rows)
    print("exponents", json.dumps(slopes, indent=2))
    RESULTS.mkdir(exist_ok=True)
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
    facts = {"date": stamp, "cores": os.cpu_count(), "load": os.getloadavg()[0], "python": platform.python_version()}
    short = {
        name: {k: v if isinstance(v, (int, str)) else float(f"{v:.4g}") for k, v in row.items()}
        for name, row in rows.items()
    }
    (RESULTS / f"engine-{stamp}.json").write_text(
        json.dumps({**facts, "rows": short, "exponents": slopes}, indent=1) + "\n"
    )
    plot(rows, RESULTS / "engine.png")


def show(row):
    print(
        f"{row['graph']:>22}  build {row['build_s']:.1f} s, {row['index_mb']:.0f} MB, "
        f"peak {row['build_peak_gb']:.1f} GB, load {row['load_index_s']:.2f} s | "
        f"point {row['point_us_median']:.0f} us, in a batch {row['pair_us_in_batch']:.2f} us | "
        f"times faster than scipy, wall (processor): "
        f"one to all {row['one_to_all_ratio']:.1f} ({row['one_to_all_cpu_ratio']:.1f}), "
        f"1000 x 1000 {row['many_to_many_ratio']:.0f} ({row['many_to_many_cpu_ratio']:.0f}), "
        f"all pairs {row['all_pairs_ratio']:.1f} ({row['all_pairs_cpu_ratio']:.1f}), "
        f"with build {row['all_pairs_ratio_with_build']:.1f} | load {row['load']:.1f}"
    )
    known = {
        key: row[key] for key in row if key.startswith(("networkx", "networkit", "routingkit", "many_to_many_over"))
    }
    print(" " * 24 + ", ".join(f"{key} {value:.3g}" for key, value in known.items()), flush=True)


if __name__ == "__main__":
    main()
