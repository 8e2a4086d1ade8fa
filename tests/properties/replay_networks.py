"""Networks, strategies and weights for the neighbour replay: deep trees of cells and every option of every mechanism.

Nothing here is random but by a seed, and nothing assumes that an edge keeps the row it was given in: everything is said
in terms of the topology's own tails and heads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from named_graphs import delaunay_ends, grid_ends

from hushpath.measurement.strategy import WeightTerms
from hushpath.mechanism.base import Problem, build_strategy
from hushpath.mechanism.registry import MECHANISMS
from hushpath.network.topology import Topology
from hushpath.noise import Law
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import WeightUnit

UNIT = 1.0
MOST = 64.0  # the declared largest weight


def caterpillar(spine, legs):
    chain = [(i, i + 1) for i in range(spine - 1)]
    return np.array(chain + [(i % spine, spine + i) for i in range(legs)])


def random_tree(n, seed):
    rng = np.random.default_rng(seed)
    return np.array([(int(rng.integers(max(0, i - 6), i)), i) for i in range(1, n)])


def partial_k_tree(n, k, seed):
    """Each new node joins a clique of k older ones; then one edge in five is taken away."""
    rng = np.random.default_rng(seed)
    cliques, ends = [list(range(k))], [(a, b) for a in range(k) for b in range(a)]
    for v in range(k, n):
        base = cliques[int(rng.integers(max(0, len(cliques) - 12), len(cliques)))]
        ends += [(v, u) for u in base]
        cliques += [[v, *(u for u in base if u != left)] for left in base]
    kept = rng.random(len(ends)) < 0.8
    kept[: k * (k - 1) // 2] = True
    ends = np.array(ends)
    return np.concatenate([ends[kept], [(i, i + 1) for i in range(n - 1)]])  # with a path, so that it stays connected


def random_graph(n, m, seed):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, (m, 2))
    return np.concatenate([ends[ends[:, 0] != ends[:, 1]], [(i, i + 1) for i in range(n - 1)]])


def beside(*parts):
    """Several networks as the components of one, and two lonely nodes."""
    out, n = [], 0
    for count, ends in parts:
        out.append(np.asarray(ends) + n)
        n += count
    return n + 2, np.concatenate(out)


def doubled(ends, every):
    """Parallel edges: every so many are there twice, once the other way round."""
    return np.concatenate([ends, ends[::every, ::-1]])


NETWORKS = {
    "path": lambda: (70, [(i, i + 1) for i in range(69)]),
    "caterpillar": lambda: (90, caterpillar(40, 50)),
    "random tree": lambda: (120, random_tree(120, 3)),
    "forest": lambda: beside((60, random_tree(60, 4)), (20, caterpillar(8, 12))),
    "corridor": lambda: (90, grid_ends(3, 30)),
    "grid": lambda: (64, grid_ends(8, 8)),
    "large grid": lambda: (168, grid_ends(12, 14)),
    "grid with parallel edges": lambda: (49, doubled(grid_ends(7, 7), 3)),
    "planar": lambda: (70, delaunay_ends(70, 5)),
    "large planar": lambda: (150, delaunay_ends(150, 6)),
    "k-tree": lambda: (90, partial_k_tree(90, 4, 7)),
    "general": lambda: (50, random_graph(50, 70, 8)),
    "wide grid": lambda: (196, grid_ends(14, 14)),
    "dense": lambda: (56, random_graph(56, 120, 3)),
    "components": lambda: beside((36, grid_ends(6, 6)), (40, delaunay_ends(40, 9)), (12, random_tree(12, 1))),
    "small": lambda: (24, doubled(delaunay_ends(24, 2), 5)),
    "directed": lambda: (30, np.concatenate([random_graph(30, 60, 5), [(29, 0)]])),
    "directed parts": lambda: beside((16, random_graph(16, 20, 6)), (12, np.sort(random_graph(12, 14, 7)))),
}


@cache
def topology_named(name, bounds="wide"):
    n, ends = NETWORKS[name]()
    tails, heads = np.asarray(ends, np.int64).T
    lower = 0.0 if bounds == "wide" else 1.5
    directed = name.startswith("directed")
    return Topology.build(range(n), tails, heads, directed=directed, lower=lower, parallel_edges=True)[0]


@dataclass(frozen=True)
class Case:
    """One strategy to push."""

    network: str
    mechanism: str
    law: Law
    options: dict[str, Any] = field(default_factory=dict)
    granularity: float | None = None
    bounds: str = "wide"

    @property
    def topology(self):
        return topology_named(self.network, self.bounds)

    def strategy(self):
        epsilon = 4.0 if self.options.get("constants") == "paper" else 1.0
        unit = WeightUnit(UNIT, lattice_step=self.granularity)
        terms = WeightTerms(Budget(epsilon, 1e-6), unit, MOST)
        problem = Problem.of(self.topology, terms)
        return build_strategy(MECHANISMS[self.mechanism], problem, self.law, self.options)

    def __str__(self):
        given = " ".join(f"{k}={v}" for k, v in self.options.items())
        return f"{self.mechanism} {self.law} on {self.network} {given} g={self.granularity} {self.bounds}"


# (network, family): every family on networks it is for, and the general ones on others too.
FAMILIES_ON = [
    ("path", "tree"), ("caterpillar", "tree"), ("random tree", "tree"), ("forest", "tree"), ("random tree", "general"),
    ("corridor", "grid"), ("grid", "grid"), ("large grid", "grid"), ("corridor", "treewidth"), ("k-tree", "treewidth"),
    ("grid", "treewidth"), ("planar", "planar"), ("large planar", "planar"), ("grid", "planar"),
    ("grid with parallel edges", "planar"), ("grid with parallel edges", "general"), ("general", "general"),
    ("planar", "general"), ("components", "planar"), ("components", "general"), ("small", "planar"), ("k-tree", "auto"),
]  # fmt: skip
# Covers leave few hubs, so they need long separators.
COVERED_ON = [
    ("random tree", "tree"), ("forest", "tree"), ("corridor", "grid"), ("large grid", "grid"), ("wide grid", "grid"),
    ("k-tree", "treewidth"), ("corridor", "treewidth"), ("planar", "planar"), ("large planar", "planar"),
    ("grid with parallel edges", "planar"), ("dense", "auto"), ("general", "general"),
    ("dense", "general"), ("components", "planar"), ("components", "general"), ("grid", "auto"),
]  # fmt: skip
GRANULARITIES = [None, 2.0**-4, None, 2.0**-24, 1.0]


def all_cases():
    """The table: switches turn at different speeds, so that they meet in all combinations of two."""
    cases = []
    for mechanism, table in (("separator", FAMILIES_ON), ("separator-cover", COVERED_ON)):
        for i, (network, family) in enumerate(table):
            for j in range(4):
                options = {
                    "family": family,
                    "levels": ("all", "adjacent")[j % 2],
                    "leaves": ("edges", "all-pairs")[j // 2],
                    "leaf_size": (2, 3, 5, 8)[(i + j) % 4],
                }
                if (i + j) % 7 == 6:
                    options["depth"] = 5 if i % 2 else 3
                if mechanism == "separator-cover":
                    options["hops"] = (1, 2, 1, 3)[(i + 3 * j) % 4]
                granularity, bounds = GRANULARITIES[len(cases) % 5], "narrow" if len(cases) % 6 == 5 else "wide"
                cases.append(Case(network, mechanism, list(Law)[(i + j) % 2], options, granularity, bounds))
    for i, (network, mechanism, options) in enumerate([*OTHERS, *newcomers()]):
        for law in Law:
            if options.get("constants") == "paper" and law is not PAPER_LAW.get(mechanism, law):
                continue
            granularity = None if "constants" in options else GRANULARITIES[len(cases) % 5]
            cases.append(Case(network, mechanism, law, options, granularity, "narrow" if i % 6 == 5 else "wide"))
    return cases


def newcomers():
    """A mechanism that the tables do not know is replayed where it fits, by being registered."""
    known = {"separator", "separator-cover", *(mechanism for _, mechanism, _ in OTHERS)}
    return [
        (network, name, {})
        for name, mechanism in MECHANISMS.items()
        if name not in known
        for network in ("path", "caterpillar", "forest", "grid", "planar", "components", "directed")
        if (not mechanism.undirected_only or network != "directed")
        and not mechanism.unfit(topology_named(network, "wide"))
    ]


PAPER_LAW = {"tree": Law.LAPLACE, "treewidth": Law.LAPLACE, "separator": Law.GAUSSIAN, "separator-cover": Law.GAUSSIAN}
OTHERS = [
    ("grid", "input", {}), ("directed", "input", {}), ("components", "input", {}),
    ("path", "all-pairs", {}), ("small", "all-pairs", {}), ("directed", "all-pairs", {}), ("forest", "all-pairs", {}),
    ("directed parts", "all-pairs", {}), ("directed parts", "hubs", {"hubs": 14}),
    ("path", "cover", {"hops": 0}), ("grid", "cover", {"hops": 1}), ("planar", "cover", {"hops": 2}),
    ("components", "cover", {"hops": 3}), ("large grid", "cover", {"constants": "tuned"}),
    ("caterpillar", "cover", {"constants": "paper"}),
    ("path", "hubs", {"hubs": 12}), ("grid", "hubs", {"hubs": 8, "hub_seed": 3}), ("directed", "hubs", {"hubs": 9}),
    ("large planar", "hubs", {"hubs": 16, "hub_seed": 1}), ("components", "hubs", {"constants": "paper"}),
    ("directed", "hubs", {"constants": "paper", "hub_seed": 2}), ("general", "hubs", {}),
    ("path", "hubs-bounded", {"hubs": 4, "constants": "paper"}), ("grid", "hubs-bounded", {"constants": "paper"}),
    ("large planar", "hubs-bounded", {"hubs": 6, "hub_seed": 2, "constants": "paper"}),
    ("components", "hubs-bounded", {"hubs": 5, "constants": "paper"}), ("caterpillar", "hubs-bounded", {"hubs": 7}),
    ("grid with parallel edges", "hubs-bounded", {"hub_seed": 4, "constants": "paper"}),
    ("path", "tree", {}), ("caterpillar", "tree", {}), ("random tree", "tree", {}), ("forest", "tree", {}),
    ("random tree", "tree", {"constants": "paper"}), ("caterpillar", "tree", {"constants": "paper"}),
    ("path", "lines", {"branch": 2}), ("caterpillar", "lines", {"branch": 3}), ("random tree", "lines", {"branch": 2}),
    ("forest", "lines", {"branch": 4}), ("components", "lines", {"branch": 2}), ("corridor", "lines", {"branch": 2}),
    ("grid with parallel edges", "lines", {"branch": 2}), ("path", "lines", {}), ("grid", "lines", {}),
    ("k-tree", "treewidth", {}), ("corridor", "treewidth", {"width": 5}), ("path", "treewidth", {"width": 1}),
    ("components", "treewidth", {"width": 12}), ("k-tree", "treewidth", {"constants": "paper"}),
    ("grid", "separator", {"constants": "paper", "family": "grid"}),
    ("random tree", "separator", {"constants": "paper", "leaves": "all-pairs"}),
    ("grid", "separator-cover", {"constants": "paper", "family": "planar", "hops": 1}),
    ("large grid", "separator-cover", {}), ("large planar", "separator", {}),
    # Leaves too large for a dense table.
    ("large planar", "separator", {"leaf_size": 149, "leaves": "all-pairs", "depth": 0}),
    ("wide grid", "separator-cover", {"family": "grid", "depth": 1, "leaf_size": 20, "hops": 2, "leaves": "all-pairs"}),
    ("large grid", "separator", {"depth": 0}),
]  # fmt: skip
