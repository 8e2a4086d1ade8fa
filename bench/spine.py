"""The spine at road-network size: read + `input` release + save, then one-to-all against scipy in the same run.

    .venv/bin/python bench/spine.py [--json FILE]

A planar network of 264 346 nodes and 365 050 edges is generated (a Delaunay triangulation thinned to a spanning tree
plus random edges), written as CSV and released by a fresh process, whose time and peak memory are its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra, minimum_spanning_tree
from scipy.spatial import Delaunay

NODES, EDGES = 264_346, 365_050


def planar_network(nodes=NODES, edges=EDGES, seed=0):
    """Ends and weights of a connected planar network of exactly this size."""
    rng = np.random.default_rng(seed)
    triangles = Delaunay(rng.random((nodes, 2))).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    ends = np.unique(ends, axis=0)
    graph = csr_array((rng.random(len(ends)) + 0.01, (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    tree = minimum_spanning_tree(graph).tocoo()
    in_tree = set(zip(tree.row.tolist(), tree.col.tolist(), strict=True))
    free = np.array([(a, b) not in in_tree for a, b in ends.tolist()])
    extra = rng.choice(np.flatnonzero(free), edges - (nodes - 1), replace=False)
    kept = np.concatenate([np.flatnonzero(~free), extra])
    return ends[kept], rng.uniform(1, 60, edges)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        csv, hush = Path(folder) / "roads.csv", Path(folder) / "roads.hush"
        ends, weights = planar_network()
        rows = "\n".join(f"{a},{b},{w:.3f}" for (a, b), w in zip(ends.tolist(), weights.tolist(), strict=True))
        csv.write_text(f"source,target,weight\n{rows}\n")
        command = [sys.executable, "-m", "hushpath", "release", str(csv), "-o", str(hush)]
        command += ["--epsilon", "1", "--unit", "1"]
        times = []
        for _ in range(2):  # the first run may compile kernels; both are shown
            start = time.perf_counter()
            subprocess.run([*command, "--mechanism", "input"], check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        import hushpath

        start = time.perf_counter()
        release = hushpath.load(hush)
        loading = time.perf_counter() - start
        decoder = release.decoder
        arcs = release.topology.arcs
        matrix = csr_array((decoder.lengths, arcs.heads, arcs.start), shape=(NODES, NODES))
        release.rows(np.array([0]))  # compile
        ours, theirs = [], []
        for source in (5, 1000, 200_000, 77_777):
            start = time.perf_counter()
            mine = release.rows(np.array([source]))
            ours.append(time.perf_counter() - start)
            start = time.perf_counter()
            other = dijkstra(matrix, indices=source)
            theirs.append(time.perf_counter() - start)
            assert np.array_equal(mine[0], other)
    result = {
        "nodes": NODES,
        "edges": EDGES,
        "read_release_save_s": [round(t, 2) for t in times],
        "peak_memory_gb": round(peak, 2),
        "load_s": round(loading, 2),
        "one_to_all_over_scipy": round(sum(ours) / sum(theirs), 3),
    }
    print(json.dumps(result, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
