"""Measured distances that are looked up: between all nodes, or between the nodes of a cover.

``all-pairs`` measures every distance itself.  The error of an answer is the noise of one number, whatever the hop
count; the price is that one edge can move a quarter of all squared node counts (cut lemma), so the noise grows with the
number of nodes.

``cover`` (Sealfon 2016, weights in [0, W]) measures distances between a few nodes and moves to the nearest.  A k-cover
Z is a set of nodes such that everyone is within k hops of one.  All distances between nodes of Z are measured; the
answer to (s, t) is the number of (z(s), z(t)), where z(v) is the node of Z fewest hops away.  It errs by the noise of
one number and by at most W per hop of the two moves: 2kW at most, in both directions.  If z(s) = z(t) the answer is 0,
which is within the same 2kW.  Bound: ``decoder.comparison``.

Choices.  Z is found by Meir and Moon's argument (``separators.cover``), at most 1 + s/(k+1) nodes of a component of s.
On a full grid Z is regular, one node per block, about n^(1/3) of them, as Sealfon does.  The published k balances the
two errors, with W counted in protected units: one edge moves |Z|^2/4 numbers, so Gaussian noise is about n/k and k =
sqrt(n / (W eps)); Laplace noise is about (n/k)^2 and k = (n^2 / (W eps))^(1/3); n^(1/3) on grids.  We know these
rates, not the constants in front: ``constants="paper"`` takes 1.  ``"tuned"`` (default) also tries halves of it, as
far fewer than n/k nodes cover a network that is not a path, and keeps the smallest predicted error.  ``hops`` sets k.
"""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Float, Int
from ...kernels.search import find_nearest
from ...measurement.blocks import CliqueBlock
from ...measurement.strategy import Strategy
from ...network.topology import Topology
from ...noise import Law
from ...privacy.gaussian import gaussian_mu
from ...separators.cover import k_cover
from ...separators.families import grid_coordinates
from ...separators.graph import Graph
from ...separators.hierarchy import MOST_HOPS
from ..base import Design, Mechanism, Problem, even_scales, integer, one_of

MOST_NODES = 200_000  # a shortest-path search per node of Z
MOST_CHOSEN = 20_000  # 1.6 GB of measurements


def design_all_pairs(problem: Problem) -> Design:
    """Measure all pairs of every component.  Components share no edge, so each gets the least noise it needs."""
    block = CliqueBlock.on(problem.topology, np.arange(problem.topology.num_nodes))
    return Design((block,), even_scales(block.exposure.cut, problem.law))


def misfit_all_pairs(strategy: Strategy) -> str | None:
    """Refuse a table that lacks a node."""
    complete = len(strategy.block(CliqueBlock).vertices) == strategy.topology.num_nodes
    return None if complete else "not every node was measured"


def design_cover(problem: Problem, *, hops: int | None = None, constants: str = "tuned") -> Design:
    """Choose Z (for ``hops`` and ``constants`` see above) and measure all its pairs."""
    graph = Graph.of(problem.topology)
    grid = grid_coordinates(graph) if graph.num_edges > graph.num_nodes else None
    k = published_hops(problem, grid=grid is not None) if hops is None else hops
    tuned = constants == "tuned" and hops is None
    tried = [k >> i for i in range(k.bit_length() + 1)] if tuned else [k]
    everyone = np.arange(graph.num_nodes)
    covers = {k: k_cover(graph, everyone, k)[0] if grid is None else grid_cover(*grid, k) for k in tried}
    if tuned:  # one node per component leaves nothing to measure; all nodes are the last resort
        components = int(problem.topology.components.max(initial=-1)) + 1
        tried = [k for k in tried[:-1] if len(covers[k]) > components] or [0]
    k = min(tried, key=lambda k: _expected(problem, covers[k]))
    block = CliqueBlock.on(problem.topology, covers[k])
    details = {"k": k, "chosen": len(covers[k]), "grid": grid is not None, "constants": constants}
    return Design((block,), even_scales(block.exposure.cut, problem.law), details)


def published_hops(problem: Problem, *, grid: bool) -> int:
    """Return the k of the published rates, at least 1 and at most n."""
    n = problem.topology.num_nodes
    if problem.budget.unlimited:
        return 1
    if grid:
        return int(max(1, round(n ** (1 / 3))))
    weight = max(problem.lattice.largest_weight / problem.unit * problem.budget.epsilon, 1e-9)
    wanted = (n * n / weight) ** (1 / 3) if problem.law is Law.LAPLACE else (n / weight) ** 0.5
    return int(max(1, min(round(wanted), n)))


def move_errors(topology: Topology, chosen: Int, largest_weight: float) -> Float:
    """Return what the two moves may cost pairs: half of the largest weight a hop, in independent directions."""
    hops = find_nearest(topology.arcs.start, topology.arcs.heads, chosen)[1]
    return np.asarray(np.hypot(hops, np.roll(hops, len(hops) // 2)) * (largest_weight / 2))


def _expected(problem: Problem, chosen: Int) -> float:
    """Predict the error: noise of one number and the moves, in units of weight."""
    unit, budget, cut = problem.unit, problem.budget, len(chosen) ** 2 / 4
    if budget.unlimited:
        noise = 0.0
    elif problem.law is Law.GAUSSIAN:
        noise = unit * math.sqrt(cut) / max(gaussian_mu(budget.epsilon, budget.delta), 1e-150)
    else:
        noise = unit * math.sqrt(2) * cut / budget.epsilon
    return noise + float(move_errors(problem.topology, chosen, problem.lattice.largest_weight).mean())


def grid_cover(rows: Int, columns: Int, hops: int) -> Int:
    """Take one node per block of (2a+1) x (2b+1), a + b = hops: its middle, or the nearest node of the grid."""
    middle = []
    for line, reach in ((rows, hops // 2), (columns, hops - hops // 2)):
        last = int(line.max())
        middle.append(np.minimum(line // (2 * reach + 1) * (2 * reach + 1) + reach, last))
    return np.flatnonzero((rows == middle[0]) & (columns == middle[1]))


def misfit_cover(strategy: Strategy) -> str | None:
    """Refuse chosen nodes that leave a component without one, and a table of pairs that is too large."""
    chosen, topology = strategy.block(CliqueBlock).vertices, strategy.topology
    if len(np.unique(topology.components[chosen])) <= topology.components.max():
        return "a component has no chosen node"
    return f"{len(chosen)} chosen nodes (at most {MOST_CHOSEN}); use more hops" if len(chosen) > MOST_CHOSEN else None


ALL_PAIRS = Mechanism(
    name="all-pairs",
    summary="noise on every distance itself, answers by look-up; for very small networks",
    design=design_all_pairs,
    measures=(CliqueBlock,),
    most_nodes=MOST_CHOSEN,
    misfit=misfit_all_pairs,
    comparison=True,
)
COVER = Mechanism(
    name="cover",
    summary="noisy distances between the nodes of a k-hop cover, for bounded weights (Sealfon 2016)",
    design=design_cover,
    measures=(CliqueBlock,),
    options={"hops": integer(0, MOST_HOPS - 1), "constants": one_of("tuned", "paper")},
    undirected_only="a node and its nearest cover node must be near in both directions",
    needs_max_weight=True,
    most_nodes=MOST_NODES,
    misfit=misfit_cover,
    lossless=False,
    comparison=True,
)
