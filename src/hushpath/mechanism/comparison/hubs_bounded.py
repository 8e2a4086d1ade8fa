"""Hubs for bounded weights (Chen et al. 2023): crowded places, random-radius clusters, hubs inside them.

The published error is n^(a + o(1)) with a = sqrt(2) - 1, for weights in [0, W]: W^a n^a / eps^(1-a).  We know the
statement and rebuilt a structure that gives this exponent; where it differs from the publication we cannot say:

1. *Hubs.* H = n^a (W eps)^a random nodes, all distances between them; they meet a shortest path after n/H hops.
2. *Crowded places.* A ball of R = n^a / (W eps)^(1-a) hops that holds n/H nodes or more is crowded. At most H
   disjoint ones exist; their middles become hubs too. A path that meets a crowded place can move to its hub for 2RW.
3. *Clusters.* Elsewhere paths are cut into pieces by a partition into balls of random radius up to R: a path of n/H
   hops falls into about n/(HR) = n^(a^2) pieces. In each cluster, of at most n/H = n^(1-a) nodes, the problem is
   solved again: local hubs, distances inside the cluster. With error m^a on m nodes the pieces add up to n^(a^2)
   n^(a(1-a)) = n^a.

``constants="paper"``: these numbers with factor 1, the recursion cut off after one level (sqrt(m) local hubs, the
choice of ``hubs``), budget in equal parts for edges, hubs and local hubs.  ``"tuned"`` (default): H is also tried
smaller, local hubs are also left out, shares are varied, and the smallest predicted error is kept.  At n = 10^4 the
printed numbers would be vacuous: hundreds of hubs need noise beyond the diameter of most networks.

Every public random choice comes from ``hub_seed``.  Moving to a hub needs no extra edges: a noisy edge is clipped to
W, so walking there costs at most W a hop.  Hence the bound of ``decoder.hubs`` holds for every hub set:
no node is more than r hops from a hub, and an answer loses at most 4rW beside noise.
"""

from __future__ import annotations

import math

import numpy as np

from ...arrays import Int
from ...kernels.search import carve_balls, count_hops, find_crowded_balls, find_nearest
from ...measurement.blocks import CliqueBlock, ClusterBlock, EdgeBlock
from ...measurement.samples import sampled_hops
from ...measurement.strategy import Strategy
from ...network.topology import Topology
from ...noise import Law, simulation
from ...privacy.sensitivity import hub_cut
from ..base import Design, Mechanism, Problem
from .hubs import (
    MOST_NODES,
    OPTIONS,
    draw_hubs,
    fewer,
    hop_limit,
    pair_errors,
    refuse_too_many,
    relative_scales,
    shared,
)

POWER = math.sqrt(2) - 1
SHARES = ((0.5, 0.5), (0.7, 0.3), (0.8, 0.2), (0.9, 0.1), (0.95, 0.05))  # edges, hubs; local hubs take a fifth


def design(problem: Problem, *, hubs: int | None = None, hub_seed: int = 0, constants: str = "tuned") -> Design:
    """Draw hubs and clusters and share the budget."""
    n, radius = problem.topology.num_nodes, cluster_radius(problem)
    published = min(n, max(2, math.ceil((n * _scaled_weight(problem)) ** POWER)))
    if constants == "paper":
        count, shares, local = hubs or published, (1 / 3, 1 / 3, 1 / 3), True
    else:
        tried = [(h, (*pair, 0.0)) for h in ([hubs] if hubs else fewer(published)) for pair in SHARES]
        tried += [(h, (0.8 * a, 0.8 * b, 0.2)) for h, (a, b, _) in tried]
        ball = _largest_ball(problem.topology, radius)
        count, shares = min(tried, key=lambda option: _expected(problem, radius, ball, *option))
        local = shares[2] > 0
    blocks = _blocks(problem.topology, min(count, n), radius, hub_seed, local=local)
    refuse_too_many(blocks[1])
    details = {
        "hubs": len(blocks[1].vertices), "radius": radius, "local_hubs": len(blocks[2].vertices),
        "shares": list(shares), "constants": constants,
    }  # fmt: skip
    return Design(blocks, lambda law: relative_scales(blocks, law, shares), details)


def _scaled_weight(facts: Problem | Strategy) -> float:
    """The largest weight in units of the protected unit, times epsilon."""
    return max(facts.lattice.largest_weight / facts.terms.unit.norm * min(facts.budget.epsilon, 1e6), 1e-6)


def cluster_radius(facts: Problem | Strategy) -> int:
    """The largest radius of a cluster in hops, from public facts."""
    n = facts.topology.num_nodes
    radius = float(n**POWER * _scaled_weight(facts) ** (POWER - 1))
    return max(1, min(n, round(radius)))


def _blocks(
    topology: Topology, hubs: int, radius: int, seed: int, *, local: bool
) -> tuple[EdgeBlock, CliqueBlock, ClusterBlock]:
    """Edges, hubs with the middles of crowded places and one node of each component, clusters with local hubs."""
    arcs, n = topology.arcs, topology.num_nodes
    middles = find_crowded_balls(arcs.start, arcs.heads, radius, max(2, n // hubs))
    first_of_each = np.unique(topology.components, return_index=True)[1]
    drawn = np.concatenate([draw_hubs(n, hubs, seed), middles])
    lonely = np.setdiff1d(topology.components, topology.components[drawn])
    clique = CliqueBlock.on(topology, np.concatenate([drawn, first_of_each[lonely]]))
    rng = simulation(seed + 1)
    order, radii = rng.permutation(n), np.minimum(rng.geometric(min(1.0, 2 / (radius + 1)), n), radius)
    cluster: Int = carve_balls(arcs.start, arcs.heads, order, radii) if local else np.zeros(n, np.int64)
    chosen = np.empty(0, np.int64)
    if local:
        turn = np.empty(n, np.int64)
        turn[np.lexsort((order, cluster))] = np.arange(n)
        size = np.bincount(cluster)
        place = turn - (np.cumsum(size) - size)[cluster]  # 0, 1, ... inside each cluster, in random order
        chosen = np.flatnonzero((place < np.ceil(np.sqrt(size))[cluster]) & (size[cluster] > 2))
    return EdgeBlock(topology), clique, ClusterBlock.on(topology, cluster, chosen)


def walk_limits(topology: Topology, hubs: Int, block: ClusterBlock) -> tuple[int, int, int]:
    """How many arcs a walk may take between clusters, how many inside one, and r: hops to the nearest hub.

    Without local hubs there are no clusters to speak of, and the first limit is that of ``hubs``.
    """
    n = topology.num_nodes
    far = int(find_nearest(topology.arcs.start, topology.arcs.heads, hubs)[1].max(initial=0))
    free = hop_limit(n, len(hubs))
    if len(block.vertices) == 0:
        return max(free, far), 0, far
    size = np.bincount(block.cluster)
    local = np.bincount(block.cluster[block.vertices], minlength=len(size))
    stay = max(hop_limit(s, h) for s, h in zip(size.tolist(), local.tolist(), strict=True))
    pieces = math.ceil(free / max(1, round(n / len(size)) ** 0.5))
    return max(pieces, far), min(stay, int(size.max()) - 1), far


def _largest_ball(topology: Topology, radius: int) -> int:
    """How many nodes a ball of this radius has, the largest of a few."""
    n = topology.num_nodes
    centres = np.unique(np.linspace(0, n - 1, min(n, 16)).astype(np.int64))
    start, heads, _ = topology.arcs
    return max(int(count_hops(start, heads, centres[i : i + 1])[: radius + 1].sum()) for i in range(len(centres)))


def _expected(problem: Problem, radius: int, ball: int, hubs: int, shares: tuple[float, float, float]) -> float:
    """Mean error in units of the noise that one number alone would need; a piece per ``radius`` hops if local."""
    law, n = problem.law or Law.LAPLACE, problem.topology.num_nodes
    sample = sampled_hops(problem.topology)
    hops, share_of = sample.hops, sample.share
    inside = max(1, math.isqrt(max(1, n // max(hubs, 1))))
    points = min(n, hubs + (min(hubs, n // ball) if ball * hubs >= n else 0))  # with the middles of crowded places
    cuts = (1, int(hub_cut(points, directed=False)), int(hub_cut(inside, directed=False)))
    edge, hub, near = shared(law, cuts, shares)
    if shares[2] == 0:
        spread, bias = pair_errors(hops, edge, hub, points, n)
    else:
        pieces = np.minimum(hops, 2 * n / hubs) / radius
        spread, bias = pair_errors(np.minimum(hops, pieces * inside), edge, hub, points, n)
        bias = bias + pieces * near
    return float(np.hypot(spread, bias) @ share_of)


def misfit(strategy: Strategy) -> str | None:
    """As for hubs."""
    refuse_too_many(strategy.block(CliqueBlock))
    return None


MECHANISM = Mechanism(
    name="hubs-bounded",
    summary="hubs, crowded places and hubs inside random clusters, for bounded weights (Chen et al. 2023)",
    design=design,
    measures=(EdgeBlock, CliqueBlock, ClusterBlock),
    options=OPTIONS,
    directed=False,
    undirected_reason="a node and its nearest hub must be near in both directions",
    needs_max_weight=True,
    most_nodes=MOST_NODES,
    misfit=misfit,
    lossless=False,
    comparison=True,
)
