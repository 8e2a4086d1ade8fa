"""What the calibration number would give on top of today's estimator: why it was not built (accuracy page).

    .venv/bin/python bench/calibration.py                                   two meshes, noise 0.1, 0.3, 1.0
    .venv/bin/python bench/calibration.py grid-128-uniform roads@proxy      others; files are sought in $HUSHPATH_DATA

The number: cut the network into K disjoint connected cells, sample q nodes of each, and add up over all cells the mean
distance inside the cell between its sampled nodes.  One edge lies in at most one cell, and the pairs it can move lie in
a cut there, so the number moves by at most floor(q^2 / 4) / (q (q - 1) / 2) of what an edge moves, whatever K
(docs/proofs/cut_lemma.md).  On a lattice: the sum over all pairs, divided by floor(q^2 / 4) and rounded down, moves by
no more steps than the edge, so it would be one number of cut 1 and today's certificate would do.

It gets a share of the budget, edges the rest.  Compared with the same sum over estimated weights it shows how much
longer or shorter routes really are: one factor on all weights, as far as it is to be trusted.

Compared are ``input`` read by ``shrink`` with the whole budget and with what the number leaves of it, the same seed:

    paid      nothing is made of the number: what it costs
    best      the factor that fits the true distances best: no number can be worth more
    K cells   the factor of the noisy number; in brackets that of the number without noise, trusted in full
    K raw     the latter, if the number is compared with the sum over the estimated weights as it is; everywhere else
              with what draws of the weights make one expect of short routes, in a model that is right about long ones

Everything is NOT PRIVATE: the number is made from true weights here, outside the private door.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import cached_property, lru_cache
from pathlib import Path

import accuracy
import numpy as np
import pymetis
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import hushpath
from hushpath.estimator.weights.shrink import shrink_once
from hushpath.kernels.paths import distances_from
from hushpath.measurement.samples import distances
from hushpath.network.topology import Arcs
from hushpath.separators.graph import Graph

CELLS = (1, 4, 16, 64, 256, 1024)
SMALLEST = 50  # nodes of a cell, on average
SAMPLED = 24  # nodes of each cell
# Per hop, in standard deviations of the noise of an edge: how far off estimates are, and how far short routes mislead.
SLOPE, MISFIT = 0.05, 0.025
DRAWS = 20  # of the number's noise


class Cells:
    """Parts of about the same size with few edges between them, and sampled nodes of each.

    All cells are searched at once: an extra node has a free arc to the first sampled node of every cell, another one to
    the second of each, and so on.
    """

    def __init__(self, topology, count):
        rng, arcs, n = np.random.default_rng(count), topology.arcs, topology.num_nodes
        tails = np.repeat(np.arange(n), np.diff(arcs.start))
        part = parts(Graph.of(topology), count)
        inside = np.flatnonzero(part[tails] == part[arcs.heads])
        joined = csr_array((np.ones(len(inside)), (tails[inside], arcs.heads[inside])), shape=(n, n))
        cell = connected_components(joined, directed=False)[1]
        order = rng.permutation(n)
        order = order[np.argsort(cell[order], kind="stable")]
        size = np.bincount(cell)
        large = np.flatnonzero(size >= SAMPLED)
        self.sampled = order[(np.cumsum(size) - size)[large][:, None] + np.arange(SAMPLED)]  # a row per cell
        start = np.searchsorted(tails[inside], np.arange(n + 1))
        extra = start[-1] + len(self.sampled) * np.arange(1, SAMPLED + 1)
        free = np.full(self.sampled.size, topology.num_edges)
        heads = np.concatenate([arcs.heads[inside], self.sampled.T.ravel()])
        self.arcs = Arcs(np.concatenate([start, extra]), heads, np.concatenate([arcs.edges[inside], free]))
        self.num_edges = topology.num_edges

    pairs = SAMPLED * (SAMPLED - 1) / 2
    moved = (SAMPLED**2 // 4) / pairs  # by an edge that moves by 1

    def number(self, weights):
        """The sum over cells of mean distances."""
        extra = np.arange(SAMPLED) + len(self.arcs.start) - 1 - SAMPLED
        rows = np.empty((SAMPLED, len(self.arcs.start) - 1))
        distances_from(self.arcs, np.append(np.maximum(weights, 0.0), 0.0)[self.arcs.edges], extra, rows)
        return float(rows[:, self.sampled].sum()) / 2 / self.pairs

    @cached_property
    def hops(self):
        return self.number(np.ones(self.num_edges))


def parts(graph, count):
    """The number of each node's part."""
    if count == 1:
        return np.zeros(graph.num_nodes, np.int64)
    adjacency = pymetis.CSRAdjacency(graph.start.astype(np.int32), graph.heads.astype(np.int32))
    return np.array(pymetis.part_graph(count, adjacency, options=pymetis.Options(seed=1), recursive=True)[1])


@lru_cache(maxsize=1)
def network(name):
    """As in ``accuracy``; after an @ the column that is declared as a proxy."""
    name, _, column = name.partition("@")
    return accuracy.network(name, column or None)


@lru_cache(maxsize=len(CELLS))
def cells_of(name, count):
    return Cells(network(name).topology, count)


def error(true, found, factor=1.0):
    return float(np.abs(factor * found - true).mean())


def best_factor(true, found):
    """The one of least mean absolute error: a weighted median."""
    ratio = true / np.maximum(found, 1e-300)
    order = np.argsort(ratio)
    so_far = np.cumsum(found[order])
    return float(ratio[order][np.searchsorted(so_far, so_far[-1] / 2)])


def one(name, ratio, seed, share):
    """One release with the whole budget, one with the rest, and what each number of cells makes of it."""
    warnings.simplefilter("ignore")
    net = network(name)
    topology, weights = net.topology, net.weights.reveal()
    scale = ratio * float(np.median(weights))
    lengths, n = [], topology.num_nodes
    for epsilon in (1.0, 1.0 - share):
        made = hushpath.release(
            net,
            plan=hushpath.plan(
                net.topology,
                mechanism="input",
                epsilon=epsilon,
                delta=0.0,
                unit=scale,
                max_weight=float(weights.max()),
                noise="laplace",
                ignore_baseline=True,
            ),
            seed=seed,
        ).with_decoder(estimator="shrink")
        lengths.append(made.decoder.lattice.floats(made.decoder.weights))
    sources = np.sort(np.random.default_rng(0).choice(n, min(n, accuracy.SOURCES), replace=False))
    rows = np.empty((3, len(sources), n))
    for row, length in zip(rows, (weights, *lengths), strict=True):
        distances_from(topology.arcs, np.maximum(length, 0.0)[topology.arcs.edges], sources, row)
    true, whole, rest = rows[:, np.isfinite(rows[0]) & (rows[0] > 0)]
    shrunk, base, best = shrink_once(made.decoder.noisy), error(true, whole), best_factor(true, rest)
    found = {
        "name": name, "ratio": ratio, "seed": seed, "share": share, "base": base, "paid": error(true, rest),
        "best": error(true, rest, best), "best factor": best,
    }  # fmt: skip
    sampled = np.mean([distances(topology, one).sum() for one in shrunk.samples])
    long = sampled / distances(topology, shrunk.weights).sum()
    edge_noise = np.sqrt(2) * scale / (1 - share)
    rng = np.random.default_rng(seed)
    for count in (count for count in CELLS if count == 1 or n >= SMALLEST * count):
        cells = cells_of(name, count)
        exact, estimated = cells.number(weights), cells.number(lengths[1])
        short = np.mean([cells.number(draw) for draw in shrunk.samples]) / cells.number(shrunk.weights)
        expected = estimated * short / long
        noise = cells.moved * scale / share
        known, misled = np.array([SLOPE, MISFIT]) * edge_noise * cells.hops
        trust = known**2 / (known**2 + misled**2 + 2 * noise**2)
        off = trust * (exact + rng.laplace(0, noise, DRAWS) - expected) / expected
        found[f"{count} cells"] = float(np.mean([error(true, rest, max(1 + some, 0.1)) for some in off]))
        found[f"{count} factor"] = exact / expected
        found[f"{count} exact"] = error(true, rest, exact / expected)
        found[f"{count} raw"] = error(true, rest, exact / estimated)
    return found


def show(rows):
    """A line per network and noise: ratios of mean errors over seeds to those with the whole budget."""
    logs = {}
    for name, ratio in dict.fromkeys((row["name"], row["ratio"]) for row in rows):
        cell = [row for row in rows if (row["name"], row["ratio"]) == (name, ratio)]
        value = {
            key: sum(row[key] for row in cell) / sum(row["base"] for row in cell)
            for key in cell[0]
            if key in ("paid", "best") or key.split()[-1] in ("cells", "exact", "raw")
        }
        for key in value:
            logs.setdefault(key, []).append(np.log(value[key]))
        counts = [key.split()[0] for key in value if key.endswith("cells")]
        each = "".join(
            f"   {k}: {value[k + ' cells']:.2f} ({value[k + ' exact']:.2f}, raw {value[k + ' raw']:.2f})"
            for k in counts
        )
        print(f"{name:28}{ratio:5}  paid {value['paid']:.2f}  best {value['best']:.2f} {each}")
    for key, some in logs.items():
        print(f"{key:12} geometric mean {np.exp(np.mean(some)):.3f}, worst {np.exp(max(some)):.2f}, {len(some)} cells")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("networks", nargs="*", default=["grid-64-uniform", "delaunay-4096-lognormal"])
    parser.add_argument("--share", type=float, default=0.05, help="of the budget, for the number")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("bench/results/calibration.jsonl"))
    asked = parser.parse_args()
    done = [json.loads(line) for line in asked.out.read_text().splitlines()] if asked.out.is_file() else []
    have = {(row["name"], row["ratio"], row["seed"], row["share"]): row for row in done}
    tasks = [
        (name, ratio, seed, asked.share)
        for name in asked.networks
        for ratio in accuracy.RATIOS
        for seed in range(1, asked.repeats + 1)
    ]
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    for task in tasks:
        if task not in have:
            have[task] = one(*task)
            with asked.out.open("a") as file:
                file.write(json.dumps(have[task]) + "\n")
    print(f"{asked.share:.0%} of the budget for the number; mean |error| as a ratio to that without it")
    show([have[task] for task in tasks])


if __name__ == "__main__":
    main()
