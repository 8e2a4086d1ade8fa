"""Hubs (Fan, Li, Li 2022; Chen et al. 2023): noisy edges, and noisy distances between a few random nodes.

A random set of H nodes meets every shortest path of k = (n/H) ln(n^2/miss) hops, but for a chance ``miss``: each of
the at most n^2 fixed sets of k nodes is avoided with probability at most (1 - k/n)^H <= exp(-kH/n).  Measured are all
edges and all distances between hubs.  An answer is the least of: at most k noisy edges to a hub, one number between
hubs, at most k noisy edges; or noisy edges alone.  So it adds up at most 2k + 1 noises instead of n: O~(sqrt(n)/eps)
with sqrt(n) hubs (approximate privacy), O~(n^(2/3)/eps) with n^(1/3) (pure).  Bound: ``decoder.hubs``.

Hubs are drawn with *public* randomness (``hub_seed``), from the number of nodes alone: they may be published and cost
no privacy.  The chance ``MISS`` is over that draw; weights are thought to be fixed before it.

Choices.  Published numbers of hubs: ceil(sqrt(n) ln n) and ceil(n^(1/3) ln n); we know the rates, not the constants.
``constants="paper"`` takes these and halves the budget between edges and hubs.  ``"tuned"`` (default) also tries
fewer hubs and other shares and keeps what has the smallest predicted error; that is few hubs at practical sizes. Two
details of the decoder: the hop limit stays (otherwise paths prefer edges with negative noise, and the bound would
be that of input perturbation), and a pair that no limited path joins (never, but for ``MISS``) is answered over noisy
edges alone, without limit, so that exactly the unreachable pairs are infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ...arrays import Float, Int
from ...errors import OptionError
from ...measurement.blocks import Block, CliqueBlock, EdgeBlock
from ...measurement.samples import sampled_hops
from ...measurement.strategy import Strategy
from ...noise import Law, simulation
from ...privacy.sensitivity import hub_cut
from ..base import Design, Mechanism, Problem, one_of, whole

OPTIONS = {"hubs": whole(1), "hub_seed": whole(0, optional=False), "constants": one_of("tuned", "paper")}
MISS = 1e-3
MOST_NODES = 50_000  # a row takes a tenth of a second there
MOST_HUBS = 5_000  # the table between them is looked at for every row
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)  # of the budget, for edges


def design(problem: Problem, *, hubs: int | None = None, hub_seed: int = 0, constants: str = "tuned") -> Design:
    """Draw hubs and share the budget between them and the edges."""
    n = problem.topology.num_nodes
    published = published_hubs(problem)
    if constants == "paper":
        count, share = min(hubs or published, n), 0.5
    else:
        tried = [min(hubs, n)] if hubs else fewer(published)
        count, share = min(
            ((h, a) for h in tried for a in SHARES), key=lambda option: _expected(problem, *option)
        )  # fmt: skip
    blocks = EdgeBlock(problem.topology), CliqueBlock.on(problem.topology, draw_hubs(n, count, hub_seed))
    refuse_too_many(blocks[1])
    details = {"hubs": count, "hop_limit": hop_limit(n, count), "edge_share": share, "constants": constants}
    return Design(blocks, lambda law: relative_scales(blocks, law, (share, 1 - share)), details)


def published_hubs(problem: Problem) -> int:
    """The number of hubs of the publications: sqrt(n) log n, or n^(1/3) log n under pure privacy."""
    n = problem.topology.num_nodes
    power = 1 / 3 if problem.law is Law.LAPLACE else 1 / 2
    return int(min(n, max(1, math.ceil(n**power * math.log(max(n, 2))))))


def fewer(most: int) -> list[int]:
    """Halves of halves, down to two."""
    return sorted({max(min(2, most), most >> i) for i in range(most.bit_length())})


def draw_hubs(num_nodes: int, count: int, seed: int) -> Int:
    """A public random set of nodes: depends on nothing but the three numbers."""
    return np.sort(simulation(seed).permutation(num_nodes)[:count])


def hop_limit(num_nodes: int, hubs: int) -> int:
    """After how many hops a shortest path has met a hub, but for a chance ``MISS`` over all pairs."""
    n = max(num_nodes, 2)
    return min(n - 1, math.ceil(n * math.log(n * n / MISS) / max(hubs, 1)))


def shared(law: Law, cuts: Iterable[int], shares: Iterable[float]) -> list[float]:
    """Relative scales under which groups of these cut numbers cost these shares."""
    root = 1.0 if law is Law.LAPLACE else 0.5
    return [(max(cut, 1) / max(share, 1e-9)) ** root for cut, share in zip(cuts, shares, strict=True)]


def relative_scales(blocks: Sequence[Block], law: Law, shares: Sequence[float]) -> Float:
    """Scales under which each block costs an edge its share, group by group."""
    parts = []
    for block, share in zip(blocks, shares, strict=True):
        cut = block.exposure.cut.tolist()
        parts.append(np.array(shared(law, cut, [share] * len(cut)), np.float64))
    return np.concatenate(parts)


def pair_errors(hops: Float, edge: float, hub: float, hubs: int, num_nodes: int) -> tuple[Float, Float]:
    """Standard deviation and bias of answers to pairs of these hops, for these noises (standard deviations).

    The better of noisy edges throughout and edges to hubs, n/H hops away on average.  The minimum over pairs of hubs
    comes out low by about sqrt(2 ln pairs) standard deviations; counted in full, as if all were on the path.
    """
    ends = np.minimum(hops, 2 * num_nodes / max(hubs, 1))
    variance = np.minimum(edge**2 * hops, edge**2 * ends + hub**2)
    pairs = hubs * (hubs - 1) / 2
    return np.sqrt(variance), np.full(len(hops), hub * math.sqrt(2 * math.log1p(pairs)))


def _expected(problem: Problem, hubs: int, share: float) -> float:
    """Mean error in units of the noise that one number alone would need."""
    law = problem.law or Law.LAPLACE
    cut = int(hub_cut(hubs, directed=problem.topology.directed))
    edge, hub = shared(law, (1, cut), (share, 1 - share))
    sample = sampled_hops(problem.topology)
    hops, share_of = sample.hops, sample.share
    spread, bias = pair_errors(hops, edge, hub, hubs, problem.topology.num_nodes)
    return float(np.hypot(spread, bias) @ share_of)


def refuse_too_many(clique: CliqueBlock) -> None:
    """The table between hubs must fit in memory."""
    if len(clique.vertices) > MOST_HUBS:
        raise OptionError(f"{len(clique.vertices)} hubs are too many (at most {MOST_HUBS})")


def misfit(strategy: Strategy) -> str | None:
    """The same for blocks from a file."""
    refuse_too_many(strategy.block(CliqueBlock))
    return None


MECHANISM = Mechanism(
    name="hubs",
    summary="noisy edges and noisy distances between random hubs (Fan, Li and Li 2022; Chen et al. 2023)",
    design=design,
    measures=(EdgeBlock, CliqueBlock),
    options=OPTIONS,
    most_nodes=MOST_NODES,
    misfit=misfit,
    comparison=True,
)
