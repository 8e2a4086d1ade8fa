"""Hubs (Fan, Li, Li 2022; Chen et al. 2023): noisy edges, and noisy distances between a few random nodes.

A random set of H nodes meets every shortest path of k = (n/H) ln(n^2/miss) hops, but for a chance ``miss``: each of
the at most n^2 fixed sets of k nodes is avoided with probability at most (1 - k/n)^H <= exp(-kH/n).  Measured are all
edges and all distances between hubs.  An answer is the least of: at most k noisy edges to a hub, one number between
hubs, at most k noisy edges; or noisy edges alone.  So it adds up at most 2k + 1 noises instead of n: O~(sqrt(n)/eps)
with sqrt(n) hubs (approximate privacy), O~(n^(2/3)/eps) with n^(1/3) (pure).  Bound: ``decoder.comparison``.

Hubs are drawn with *public* randomness (``hub_seed``), from the number of nodes alone: they may be published and cost
no privacy.  The chance ``MISS`` is over that draw; weights are thought to be fixed before it.

Choices.  Published numbers of hubs: ceil(sqrt(n) ln n) and ceil(n^(1/3) ln n); we know the rates, not the constants.
``constants="paper"`` takes these and halves the budget between edges and hubs.  ``"tuned"`` (default) also tries
fewer hubs and other shares and keeps what has the smallest predicted error; that is few hubs at practical sizes. Two
details of the decoder: the hop limit stays (otherwise paths prefer edges with negative noise, and the bound would
be that of input perturbation), and a pair that no limited path joins (never, but for ``MISS``) is answered over noisy
edges alone, without limit, so that exactly the unreachable pairs are infinite.

``hubs-bounded`` is for bounded weights (Chen et al. 2023): crowded places, random-radius clusters, hubs inside them.

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
W, so walking there costs at most W a hop.  Hence the bound of ``decoder.comparison`` holds for every hub set:
no node is more than r hops from a hub, and an answer loses at most 4rW beside noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from ...arrays import Float, Int
from ...kernels.search import carve_balls, count_hops, find_crowded_balls, find_nearest
from ...measurement.blocks import Block, CliqueBlock, ClusterBlock, EdgeBlock
from ...measurement.samples import sampled_hops, spaced_nodes
from ...measurement.strategy import Strategy
from ...network.topology import Topology
from ...noise import Law, simulation
from ...privacy.sensitivity import hub_cut
from ..base import Design, Mechanism, Problem, integer, one_of

OPTIONS = {"hubs": integer(1), "hub_seed": integer(0, optional=False), "constants": one_of("tuned", "paper")}
MISS = 1e-3
MOST_NODES = 50_000  # a row takes a tenth of a second there
MOST_HUBS = 5_000  # the table between them is looked at for every row
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # of the budget, for edges
POWER = math.sqrt(2) - 1
BOUNDED_SHARES = ((0.5, 0.5), (0.7, 0.3), (0.8, 0.2), (0.9, 0.1), (0.95, 0.05))  # edges, hubs; local hubs take a fifth


def design(problem: Problem, *, hubs: int | None = None, hub_seed: int = 0, constants: str = "tuned") -> Design:
    """Draw ``hubs`` by ``hub_seed`` and share the budget of ``problem``; for ``constants`` see above."""
    n = problem.topology.num_nodes
    published = published_hubs(problem)
    if constants == "paper":
        count, share = min(hubs or published, n), 0.5
    else:
        tried = [min(hubs, n)] if hubs else halvings(published)
        count, share = min(
            ((h, a) for h in tried for a in SHARES), key=lambda option: _expected(problem, *option)
        )  # fmt: skip
    blocks = EdgeBlock(problem.topology), CliqueBlock.on(problem.topology, draw_hubs(n, count, hub_seed))
    details = {"hubs": count, "hop_limit": hop_limit(n, count), "edge_share": share, "constants": constants}
    return Design(blocks, relative_scales(blocks, problem.law, (share, 1 - share)), details)


def published_hubs(problem: Problem) -> int:
    """Return the number of hubs of the publications: sqrt(n) log n, or n^(1/3) log n under pure privacy."""
    n = problem.topology.num_nodes
    power = 1 / 3 if problem.law is Law.LAPLACE else 1 / 2
    return int(min(n, max(1, math.ceil(n**power * math.log(max(n, 2))))))


def halvings(most: int) -> list[int]:
    """Return halves of halves, down to two."""
    return sorted({max(min(2, most), most >> i) for i in range(most.bit_length())})


def draw_hubs(num_nodes: int, count: int, seed: int) -> Int:
    """Draw a public random set of nodes: it depends on nothing but the three numbers."""
    return np.sort(simulation(seed).permutation(num_nodes)[:count])


def hop_limit(num_nodes: int, hubs: int) -> int:
    """Return after how many hops a shortest path has met a hub, but for a chance ``MISS`` over all pairs."""
    n = max(num_nodes, 2)
    return min(n - 1, math.ceil(n * math.log(n * n / MISS) / max(hubs, 1)))


def share_scales(law: Law, cuts: Iterable[int], shares: Iterable[float]) -> list[float]:
    """Return relative scales under which groups of these cut numbers cost these shares."""
    root = 1.0 if law is Law.LAPLACE else 0.5
    return [(max(cut, 1) / max(share, 1e-9)) ** root for cut, share in zip(cuts, shares, strict=True)]


def relative_scales(blocks: Sequence[Block], law: Law, shares: Sequence[float]) -> Float:
    """Return scales under which each block costs an edge its share, group by group."""
    parts = []
    for block, share in zip(blocks, shares, strict=True):
        cut = block.exposure.cut.tolist()
        parts.append(np.array(share_scales(law, cut, [share] * len(cut)), np.float64))
    return np.concatenate(parts)


def pair_errors(hops: Float, edge: float, hub: float, hubs: int, num_nodes: int) -> tuple[Float, Float]:
    """Predict standard deviation and bias of answers to pairs of these ``hops``.

    ``edge`` and ``hub`` are the standard deviations of a noisy edge and of a number between two of the ``hubs`` among
    ``num_nodes``.  It takes the better of noisy edges throughout and edges to hubs, n/H hops away on average.  The
    minimum over pairs of hubs comes out low by about sqrt(2 ln pairs) standard deviations; counted in full, as if all
    were on the path.
    """
    ends = np.minimum(hops, 2 * num_nodes / max(hubs, 1))
    variance = np.minimum(edge**2 * hops, edge**2 * ends + hub**2)
    pairs = hubs * (hubs - 1) / 2
    return np.sqrt(variance), np.full(len(hops), hub * math.sqrt(2 * math.log1p(pairs)))


def _expected(problem: Problem, hubs: int, share: float) -> float:
    """Predict the mean error in units of the noise that one number alone would need."""
    cut = int(hub_cut(hubs, directed=problem.topology.directed))
    edge, hub = share_scales(problem.law, (1, cut), (share, 1 - share))
    sample = sampled_hops(problem.topology)
    spread, bias = pair_errors(sample.hops, edge, hub, hubs, problem.topology.num_nodes)
    return float(np.hypot(spread, bias) @ sample.share)


def design_bounded(problem: Problem, *, hubs: int | None = None, hub_seed: int = 0, constants: str = "tuned") -> Design:
    """Draw hubs and clusters and share the budget; ``problem`` and options (hub_seed, constants) as in `design`."""
    n, radius = problem.topology.num_nodes, cluster_radius(problem)
    published = min(n, max(2, math.ceil((n * _scaled_weight(problem)) ** POWER)))
    if constants == "paper":
        count, shares, local = hubs or published, (1 / 3, 1 / 3, 1 / 3), True
    else:
        tried = [(h, (*pair, 0.0)) for h in ([hubs] if hubs else halvings(published)) for pair in BOUNDED_SHARES]
        tried += [(h, (0.8 * a, 0.8 * b, 0.2)) for h, (a, b, _) in tried]
        ball = _largest_ball(problem.topology, radius)
        count, shares = min(tried, key=lambda option: _expected_bounded(problem, radius, ball, *option))
        local = shares[2] > 0
    blocks = _blocks(problem.topology, min(count, n), radius, hub_seed, local=local)
    details = {
        "hubs": len(blocks[1].vertices), "radius": radius, "local_hubs": len(blocks[2].vertices),
        "shares": list(shares), "constants": constants,
    }  # fmt: skip
    return Design(blocks, relative_scales(blocks, problem.law, shares), details)


def _scaled_weight(facts: Problem) -> float:
    """Return the largest weight in units of the protected unit, times epsilon."""
    return max(facts.lattice.largest_weight / facts.terms.unit.norm * min(facts.budget.epsilon, 1e6), 1e-6)


def cluster_radius(facts: Problem) -> int:
    """Return the largest radius of a cluster in hops, from public facts."""
    n = facts.topology.num_nodes
    radius = float(n**POWER * _scaled_weight(facts) ** (POWER - 1))
    return max(1, min(n, round(radius)))


def _blocks(
    topology: Topology, hubs: int, radius: int, seed: int, *, local: bool
) -> tuple[EdgeBlock, CliqueBlock, ClusterBlock]:
    """Choose what to measure of ``topology``: edges, hubs, clusters of up to ``radius`` hops with hubs if ``local``.

    Hubs are ``hubs`` random nodes (by ``seed``), the middles of crowded places and one node of each component.
    """
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
    """Return how many arcs a walk may take between clusters, how many inside one, and r: hops to the nearest hub.

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
    """Return how many nodes a ball of this radius has, the largest of a few."""
    centres, (start, heads, _) = spaced_nodes(topology, 16), topology.arcs
    return max(int(count_hops(start, heads, centres[i : i + 1])[: radius + 1].sum()) for i in range(len(centres)))


def _expected_bounded(problem: Problem, radius: int, ball: int, hubs: int, shares: tuple[float, float, float]) -> float:
    """Predict the mean error for ``problem`` as `_expected`; with local hubs a path has a piece per ``radius`` hops.

    ``ball`` is the number of nodes within ``radius``; ``shares`` are those of edges, of ``hubs`` and of local hubs.
    """
    n, sample = problem.topology.num_nodes, sampled_hops(problem.topology)
    hops = sample.hops
    inside = max(1, math.isqrt(max(1, n // max(hubs, 1))))
    points = min(n, hubs + (min(hubs, n // ball) if ball * hubs >= n else 0))  # with the middles of crowded places
    cuts = (1, int(hub_cut(points, directed=False)), int(hub_cut(inside, directed=False)))
    edge, hub, near = share_scales(problem.law, cuts, shares)
    if shares[2] == 0:
        spread, bias = pair_errors(hops, edge, hub, points, n)
    else:
        pieces = np.minimum(hops, 2 * n / hubs) / radius
        spread, bias = pair_errors(np.minimum(hops, pieces * inside), edge, hub, points, n)
        bias = bias + pieces * near
    return float(np.hypot(spread, bias) @ sample.share)


def misfit(strategy: Strategy) -> str | None:
    """Refuse hubs whose table would not fit in memory."""
    hubs = len(strategy.block(CliqueBlock).vertices)
    return f"{hubs} hubs are too many (at most {MOST_HUBS})" if hubs > MOST_HUBS else None


HUBS = Mechanism(
    name="hubs",
    summary="noisy edges and noisy distances between random hubs (Fan, Li and Li 2022; Chen et al. 2023)",
    design=design,
    measures=(EdgeBlock, CliqueBlock),
    options=OPTIONS,
    most_nodes=MOST_NODES,
    misfit=misfit,
    comparison=True,
)
HUBS_BOUNDED = replace(
    HUBS,
    name="hubs-bounded",
    summary="hubs, crowded places and hubs inside random clusters, for bounded weights (Chen et al. 2023)",
    design=design_bounded,
    measures=(EdgeBlock, CliqueBlock, ClusterBlock),
    undirected_only="a node and its nearest hub must be near in both directions",
    needs_max_weight=True,
    lossless=False,
)
