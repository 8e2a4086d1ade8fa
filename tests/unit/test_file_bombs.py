"""Small files that once asked for gigabytes or minutes: each is loaded and asked in a process of its own and weighed.

The first three are forged and must be refused.  The others are made with our own code from structures that obey every
axiom but that no mechanism would ever propose.
"""

import subprocess
import sys

import numpy as np
import pytest
from forging import forged

import hushpath
from hushpath.errors import FileFormatError
from hushpath.measurement.blocks import CliqueBlock, ClusterBlock, EdgeBlock
from hushpath.measurement.hierarchy import HierarchyBlock
from hushpath.measurement.private_step import Measurements
from hushpath.measurement.strategy import Strategy, WeightTerms
from hushpath.network.topology import Topology
from hushpath.noise import Law
from hushpath.privacy.accounting import Budget
from hushpath.privacy.units import WeightUnit
from hushpath.published.release import Release
from hushpath.separators.hierarchy import Hierarchy, Lists

MOST_MEGABYTES = 900  # Python, numba and scipy take some 250 of them
ASK = """
import re, sys, hushpath
try:
    rel = hushpath.load(sys.argv[1])
    labels = rel.topology.labels
    rel.distance(labels[0], labels[-1])
except hushpath.HushpathError as error:
    print(f"refused: {error}")
status = open("/proc/self/status").read()  # getrusage would count what the parent had before this process began
print("MB", int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) // 1000)
"""


def anchors(path):
    """1 MB that wanted more than 4 GB: a path, everybody anchored at its end, so n^2/2 edges of paths."""
    n = 30_000
    net = hushpath.Network.build(range(n), np.arange(n - 1), np.arange(1, n), np.ones(n - 1))
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="tree", seed=1).save(path)
    forged(path, lambda header, arrays: arrays["block0.anchor"].__setitem__(slice(1, None), 0))


def labels(path):
    """Every label the whole text."""
    net = hushpath.Network.build([f"{i:020}" for i in range(20_000)], [0], [1], [1.0])
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="input", seed=1).save(path)
    forged(path, lambda header, arrays: arrays["topology.labels.ends"].fill(400_000))


def hubs(path):
    """As many hubs as nodes, each alone in its component: no number measured, a table of n^2."""
    net = hushpath.Network.build(range(40_000), [0], [1], [1.0], directed=True)
    hushpath.release(net, epsilon=1.0, unit=1.0, mechanism="hubs", hubs=1, seed=1).save(path)
    everybody = {"block1.vertices": np.arange(2, 40_000), "strategy.scales": np.full(39_999, 10**9)}
    forged(path, lambda header, arrays: arrays.update(everybody))


def packed(lists):
    return Lists.of([np.asarray(one, np.int64) for one in lists])


def saved(path, topology, mechanism, blocks):
    """A release of nothing but zeros over these blocks."""
    groups, terms = sum(len(block.group_sizes) for block in blocks), WeightTerms(Budget(1e9), WeightUnit(1.0), 10.0)
    strategy = Strategy(
        mechanism=mechanism, topology=topology, terms=terms, lattice=terms.lattice(topology), law=Law.LAPLACE,
        blocks=blocks, scales=np.full(groups, 2**30), details={"radius": 1},
    )  # fmt: skip
    Release(Measurements(strategy, np.zeros(strategy.num_values, np.int64), "vector", True)).save(path)


def public_edges(path):
    """Thousands of parallel edges inside every separator of thousands of leaves."""
    leaves, count = 2048, 12_000
    n = leaves + 2
    tails, heads = np.append(np.zeros(count, int), 0), np.append(np.ones(count, int), 2)
    parent, vertices, split, queue = [-1], [np.arange(n)], set(), [(0, 2, n)]
    for cell, first, last in queue:
        if last - first > 1:
            split.add(cell)
            for a, b in ((first, (first + last) // 2), ((first + last) // 2, last)):
                queue.append((len(parent), a, b))
                parent.append(cell)
                vertices.append(np.append([0, 1], np.arange(a, b)))
    topology, _ = Topology.build(range(n), tails, heads, upper=10.0, parallel_edges=True)
    tree = Hierarchy.proved(
        topology, parent=np.array(parent), vertices=packed(vertices), hops=1,
        separators=packed([[0, 1] if cell in split else [] for cell in range(len(parent))]),
        hubs=packed([[0] if cell in split else [] for cell in range(len(parent))]),
    )  # fmt: skip
    saved(path, topology, "separator-cover", (HierarchyBlock(topology, tree, True),))


def literal_tables(path):
    """Large leaves that are nearly the same, read by the decoder that keeps whole tables."""
    core, count = np.arange(2900), 26
    extra = np.arange(2900, 2900 + count + 1)
    n = len(core) + len(extra)
    topology, _ = Topology.build(range(n), np.zeros(2900, int), np.append(np.arange(1, 2900), 2900), upper=10.0)
    chain = [np.append(core, extra[i:]) for i in range(count)]
    leaves = [np.append(core, extra[i]) for i in range(count + 1)]
    tree = Hierarchy.proved(
        topology, parent=np.array([-1, *range(count - 1), *range(count), count - 1]), hops=1,
        vertices=packed([*chain, *leaves]), separators=packed([core] * count + [[]] * (count + 1)),
        hubs=packed([core[:1]] * count + [[]] * (count + 1)),
    )  # fmt: skip
    saved(path, topology, "separator-cover", (HierarchyBlock(topology, tree, True, True),))


def lonely_clusters(path):
    """As many clusters as nodes."""
    n = 6_000
    topology, _ = Topology.build(range(n), np.arange(n - 1), np.arange(1, n), upper=10.0)
    clusters = ClusterBlock.on(topology, np.arange(n), np.arange(n))
    saved(path, topology, "hubs-bounded", (EdgeBlock(topology), CliqueBlock.on(topology, np.array([0])), clusters))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
@pytest.mark.parametrize("bomb", [anchors, labels, hubs, public_edges, literal_tables, lonely_clusters])
def test_a_small_file_stays_small(tmp_path, bomb):
    bomb(tmp_path / "x.hush")
    assert (tmp_path / "x.hush").stat().st_size < 2.5e6
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(tmp_path / "x.hush")], capture_output=True, text=True, timeout=120
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout.split()[-1]) < MOST_MEGABYTES, done.stdout
    if bomb in (anchors, labels, hubs):
        assert done.stdout.startswith("refused: "), done.stdout


def test_edges_below_hundreds_of_cells():
    """Every edge is listed with each cell above it: a chain of cells would make that the square of the file."""
    depth, count = 400, 36_000
    n = depth + 2
    topology, _ = Topology.build(range(n), np.full(count, n - 2), np.full(count, n - 1), parallel_edges=True)
    vertices = [*(np.arange(i, n) for i in range(depth)), *([i] for i in range(depth)), [n - 2, n - 1]]
    nothing = packed([[]] * len(vertices))
    parent = np.array([-1, *range(depth - 1), *range(depth), depth - 1])
    with pytest.raises(FileFormatError, match="more than 64 cells"):
        Hierarchy.proved(topology, parent=parent, vertices=packed(vertices), separators=nothing)
