"""Separators and the `separator` release at size: sizes, times, growth.

    .venv/bin/python bench/separators.py [--quick] [--json FILE]

Prints the measured top separators beside their bounds, decomposition times, and how the time of the private step grows
from 12 500 to 100 000 Delaunay nodes (fitted exponent).
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import time
from pathlib import Path

import numpy as np
from scipy.spatial import Delaunay

from hushpath import Network
from hushpath.measurement.private_step import measure
from hushpath.noise import make_sampler
from hushpath.planning.plan import plan
from hushpath.separators.build import separator_hierarchy


def network(n, ends, seed=0):
    tails, heads = np.asarray(ends).reshape(-1, 2).T
    return Network.build(range(n), tails, heads, np.random.default_rng(seed).uniform(1, 20, len(tails)))


def delaunay(n, seed=0):
    triangles = Delaunay(np.random.default_rng(seed).random((n, 2))).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    return network(n, np.unique(ends, axis=0))


def grid(a, b):
    at = np.arange(a * b).reshape(a, b)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1)
    return network(a * b, np.concatenate([across, np.stack([at[:-1].ravel(), at[1:].ravel()], 1)]))


def random_tree(n, seed=0):
    rng = np.random.default_rng(seed)
    return network(n, [(int(rng.integers(0, i)), i) for i in range(1, n)])


def partial_k_tree(n, k, keep=0.7, seed=0):
    """A random k-tree with a share of its edges removed."""
    rng = np.random.default_rng(seed)
    cliques, ends = [list(range(k))], [(i, j) for i in range(k) for j in range(i)]
    for v in range(k, n):
        clique = cliques[int(rng.integers(len(cliques)))]
        ends += [(u, v) for u in clique]
        cliques += [[*(u for u in clique if u != out), v] for out in clique]
    ends = np.array(ends)
    return network(n, ends[rng.random(len(ends)) < keep])


def decomposed(net, family):
    start = time.perf_counter()
    hierarchy, _ = separator_hierarchy(net.topology, family, leaf_size=8)
    return hierarchy, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    tenth = 10 if arguments.quick else 1
    result = {"separators": [], "measure": []}
    n, side = 100_000 // tenth, 300 // (3 if tenth > 1 else 1)
    cases = [
        ("delaunay", delaunay(n), "general", 330),
        ("delaunay", delaunay(n), "planar", math.sqrt(8 * n)),
        ("grid", grid(side, side), "grid", side),
        ("grid", grid(side, side), "planar", math.sqrt(8 * side * side)),
        ("tree", random_tree(n), "tree", 1),
        *((f"partial {k}-tree", partial_k_tree(20_000 // tenth, k), "treewidth", k + 1) for k in range(1, 6)),
    ]
    decomposed(delaunay(500), "general"), decomposed(delaunay(500), "planar")  # compile
    for name, net, family, bound in cases:
        hierarchy, seconds = decomposed(net, family)
        facts = hierarchy.facts()
        row = {
            "network": name, "nodes": net.topology.num_nodes, "family": family, "top": len(hierarchy.separators[0]),
            "largest": facts["p"], "bound": round(bound, 1), "seconds": round(seconds, 1), "depth": facts["depth"],
        }  # fmt: skip
        result["separators"].append(row)
        print(row, flush=True)
    sizes = [12_500 // tenth, 25_000 // tenth, 50_000 // tenth, 100_000 // tenth]
    for size in sizes:
        net = delaunay(size)
        options = dict(mechanism="separator", family="general", noise="gaussian")
        strategy = plan(net.topology, epsilon=1.0, unit=1.0, **options).strategy
        start = time.perf_counter()
        measure(strategy, net.weights, make_sampler(size=strategy.num_values))
        seconds = time.perf_counter() - start
        row = {"nodes": size, "numbers": strategy.num_values, "measure_s": round(seconds, 2)}
        result["measure"].append(row)
        print(row, flush=True)
    exponent = np.polyfit(np.log(sizes), np.log([row["measure_s"] for row in result["measure"]]), 1)[0]
    result["measure_exponent"] = round(float(exponent), 2)
    result["peak_memory_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    print({key: result[key] for key in ("measure_exponent", "peak_memory_gb")})
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
