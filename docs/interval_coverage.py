"""Measure how often the intervals of a release hold the true distance: the table of docs/PITFALLS.md.

Run: python docs/interval_coverage.py [releases per cell]

Weights are even between 5 and 10, or skewed (lognormal: one in six above 20, one in six below 2.7).  Weights
and pairs are new for each release; noise is seeded, so the table can be made again.  "Ratio" is the standard
deviation of the noise on one number over the median weight.  No bound is declared, unless the row says so.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import networkx as nx
import numpy as np
from scipy.spatial import Delaunay

import hushpath

RELEASES, PAIRS, CONFIDENCE = 60, 20, 0.9
RATIOS = (0.1, 0.3, 1.0)
LAPLACE = {"law": "laplace", "delta": 0.0}
SETTINGS: dict[str, dict[str, Any]] = {
    "input, laplace": {"mechanism": "input", **LAPLACE},
    "input, laplace, max_weight 10": {"mechanism": "input", "max_weight": 10.0, **LAPLACE},
    "input, gaussian": {"mechanism": "input", "law": "gaussian", "delta": 1e-6},
    "all-pairs, laplace": {"mechanism": "all-pairs", **LAPLACE},
    "input, laplace, skewed weights": {"mechanism": "input", **LAPLACE},
}


def graphs() -> dict[str, nx.Graph]:
    """Public topologies with integer nodes."""
    rng = np.random.default_rng(1)
    triangles = Delaunay(rng.random((300, 2))).simplices.tolist()
    sides = ((0, 1), (0, 2), (1, 2))
    return {
        "grid 15 x 15": nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 15)),
        "Delaunay 300": nx.Graph((t[i], t[j]) for t in triangles for i, j in sides),
        "tree 300": nx.Graph((v, int(rng.integers(max(0, v - 8), v))) for v in range(1, 300)),
    }


def epsilon_for(topology: hushpath.Topology, wanted: float, options: dict[str, Any]) -> float:
    """Return the epsilon whose noise has this standard deviation: it goes nearly as one over epsilon."""
    epsilon = math.sqrt(2) / wanted
    for _ in range(12):
        epsilon *= hushpath.plan(topology, epsilon=epsilon, unit=1.0, **options).choice.noise / wanted
    return epsilon


def cell(graph: nx.Graph, ratio: float, releases: int, options: dict[str, Any], *, skewed: bool) -> tuple[float, ...]:
    """Return coverage, width / distance, bias / distance and hops, each a mean."""
    hops = dict(nx.all_pairs_shortest_path_length(graph))
    nodes, epsilon = sorted(graph), 0.0
    median = math.exp(2) if skewed else 7.5
    rows = []
    for seed in range(releases):
        rng = np.random.default_rng([seed, 7])
        weights = [rng.lognormal(2, 1) if skewed else rng.uniform(5, 10) for _ in graph.edges]
        nx.set_edge_attributes(graph, dict(zip(graph.edges, map(float, weights), strict=True)), "weight")
        net = hushpath.Network.from_networkx(graph)
        epsilon = epsilon or epsilon_for(net.topology, ratio * median, options)
        release = hushpath.release(net, epsilon=epsilon, unit=1.0, seed=seed, **options)
        for _ in range(PAIRS):
            a, b = (nodes[i] for i in rng.choice(len(nodes), 2, replace=False))
            truth = nx.dijkstra_path_length(graph, a, b)
            low, high = release.interval(a, b, CONFIDENCE)
            rows.append((low <= truth <= high, high - low, release.distance(a, b) - truth, hops[a][b], truth))
    covered, width, bias, hop, distance = np.mean(rows, axis=0)
    return float(covered), float(width / distance), float(bias / distance), float(hop)


def main() -> None:
    """Print the table as markdown."""
    releases = int(sys.argv[1]) if len(sys.argv) > 1 else RELEASES
    print("| setting | network | hops | ratio | held by 90 % | width / distance | bias / distance |")
    print("|---|---|---|---|---|---|---|")
    for setting, options in SETTINGS.items():
        for name, graph in graphs().items():
            for ratio in RATIOS:
                cover, width, bias, hops = cell(graph, ratio, releases, options, skewed="skewed" in setting)
                print(
                    f"| {setting} | {name} | {hops:.0f} | {ratio} | {100 * cover:.0f} % "
                    f"| {100 * width:.0f} % | {100 * bias:+.0f} % |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
