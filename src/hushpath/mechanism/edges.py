"""Edges: input perturbation, and sums of consecutive edges along public lines beside every edge.

``input`` (Sealfon 2016) is noise on every edge weight, then ordinary shortest paths.  One protected unit moves one
number (or several by the same total), so the noise is as small as noise can be; the price is that a distance adds up
the noise of every edge on its path.  Expected error: noise times the square root of the number of hops while noise is
small against the weights; beyond that shortest paths pick edges with negative noise, and answers are too low, in
proportion to hops.

``lines``: in a tree a distance is a sum of weights, and along a line sums of blocks of edges add up less noise than
edges do: blocks of sizes 1 | b_2 | b_3 | ... with shares p_1 + p_2 + ... = 1 of the budget.  An edge is in one block a
level, so the cost is the sum of the shares, whatever the sizes (the hierarchical counting of Dwork et al. 2010 and
Chan et al. 2011 with uneven sizes and shares, read by least squares: Hay et al. 2010).  Where lines are short this
only loses: half of a budget is worth less than half.  So sizes and shares are chosen line by line, by predicted error
over sampled public pairs, and pairs that were not looked at before decide against plain edges.

How: what counts is the sum over pairs of the root of the variance of their path.  At the present choice the root lies
below its tangent, so each round weighs every piece of a path by 1 / (2 root) and takes for each line the ladder with
the least weighted sum of variances (majorise and minimise); then shares are refined.  In a forest paths are known and
variances exact.  Elsewhere paths are guessed: sums must then promise a clear gain.

``branch=k``: no choice; every line has sums of k, k^2, ... edges up to the whole line, the same noise on each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int, frozen
from ..kernels.lines import best_ladders, chosen_variances, refine_shares
from ..kernels.paths import in_threads
from ..measurement.anchors import is_forest
from ..measurement.blocks import EdgeBlock
from ..measurement.lines import WHOLE, LineBlock, Pieces, sample_paths
from ..measurement.strategy import Strategy
from ..network.topology import Topology
from ..noise import Law, simulation
from ..separators.hierarchy import Lists
from ..separators.lines import Lines, lines_of
from .base import Design, Mechanism, Problem, integer

RATIOS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
GROWTH = (0.6, 0.8, 1.0, 1.25, 1.6)  # of shares, from level to level
TOTALS = (0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9)  # share of a line's total, where edges have the rest
FEWEST = 40  # pieces of a line in the sample; fewer are too few to learn from
ROUNDS = 5
CLEAR_GAIN = 0.95  # where paths are guessed


class Choice(NamedTuple):
    """What each line measures: its ladder (0: edges only), and the share of edges and of each size of the ladder."""

    ladder: Int
    ladders: Lists
    shares: Float
    gain: float


def design_input(problem: Problem) -> Design:
    """Measure every edge, the same noise on each."""
    return Design((EdgeBlock(problem.topology),), np.ones(problem.topology.num_edges))


def design_lines(problem: Problem, *, branch: int | None = None) -> Design:
    """Measure every edge, and sums along lines where they are predicted to pay (or sums of ``branch`` edges)."""
    lines = lines_of(problem.topology)
    choice = _choose(problem.topology, lines, problem.law) if branch is None else _branch(lines, branch)
    block = LineBlock(problem.topology, lines, frozen(choice.ladder, np.int64), choice.ladders)
    count = block.levels.sizes()
    details: dict[str, float] = {
        "lines": len(lines), "lines_with_sums": int((count > 0).sum()),
        "edges_with_sums": int(lines.lengths[count > 0].sum()), "levels": int(count.max(initial=0)),
    }  # fmt: skip
    if branch is None:
        details["predicted_ratio"] = round(choice.gain, 4)
    # In the order of groups: sums of every line, coarse before fine, then edges.
    scale = 1 / choice.shares if problem.law is Law.LAPLACE else 1 / np.sqrt(choice.shares)
    levels, line = block.coarse_first, block.level_lines
    relative = np.concatenate([scale[line, 1 + levels - block.levels.start[line]], scale[lines.line, 0]])
    return Design((block,), relative, details)


def _branch(lines: Lines, branch: int) -> Choice:
    """Take sums of ``branch`` edges, of as many of these, and so on until one holds the whole line."""
    reach, ladders = 1, [np.empty(0, np.int64)]
    ladder = np.zeros(len(lines), np.int64)
    while reach < lines.lengths.max(initial=0):
        ladder[lines.lengths > reach] += 1
        reach *= branch
        ladders.append(np.append(ladders[-1], reach))
    shares = 1 / (1.0 + np.repeat(ladder[:, None], len(ladders), axis=1))
    return Choice(ladder, Lists.of(ladders), shares, 1.0)


def _choose(topology: Topology, lines: Lines, law: Law) -> Choice:
    """Choose sizes and shares by predicted error; plain edges unless that is clearly less."""
    learnt, judged = _sample_pieces(topology)
    met = np.bincount(learnt.line, minlength=len(lines))
    worth = np.flatnonzero((met >= FEWEST) & (lines.lengths > 1))
    plain = Choice(np.zeros(len(lines), np.int64), Lists.of([np.empty(0, np.int64)]), np.ones((len(lines), 1)), 1.0)
    if len(worth) == 0:
        return plain
    tuning = _Tuning(lines, worth, law)
    ladder, shares = tuning.tune(learnt)
    with_sums = tuning.error(judged, ladder, shares)
    edges = float(np.sqrt(judged.per_pair((judged.last - judged.first).astype(np.float64))).mean())
    if with_sums > edges * (1.0 if is_forest(topology) else CLEAR_GAIN):
        return plain
    used, which = np.unique(ladder, return_inverse=True)
    kept = [np.empty(0, np.int64), *(tuning.sizes[one][1:] for one in used)]
    out_ladder, out_shares = np.zeros(len(lines), np.int64), np.ones((len(lines), shares.shape[1]))
    out_ladder[worth], out_shares[worth] = 1 + which, shares
    return Choice(out_ladder, Lists.of(kept), out_shares, with_sums / edges)


@lru_cache(maxsize=2)  # a plan asks once per law
def _sample_pieces(topology: Topology) -> tuple[Pieces, Pieces]:
    """Return pieces of paths to learn from, and others to judge by."""
    rng, lines = simulation(5), lines_of(topology)
    learnt, judged = sample_paths(topology, lines, rng), sample_paths(topology, lines, rng)
    if not is_forest(topology):
        learnt = learnt.join(sample_paths(topology, lines, rng, drawn=True))
        judged = judged.join(sample_paths(topology, lines, rng, drawn=True))
    return learnt, judged


def _ladders_to_try(longest: int) -> tuple[Lists, Float]:
    """Return sizes (1 first) and shares: edges only, a total beside them, and even ratios with growing shares."""
    ladders: list[tuple[list[int], Float]] = [([1], np.ones(1))]
    ladders += [([1, WHOLE], np.array([1 - total, total])) for total in TOTALS]
    for ratio in RATIOS:
        sizes = [1, ratio]
        while sizes[-1] < longest:
            for growth in GROWTH:
                shares = growth ** np.arange(len(sizes), dtype=np.float64)
                ladders.append((list(sizes), shares / shares.sum()))
            sizes.append(sizes[-1] * ratio)
    sizes_of = Lists.of([np.array(sizes, np.int64) for sizes, _ in ladders])
    return sizes_of, np.concatenate([shares for _, shares in ladders])


class _Tuning:
    """The lines that may gain from sums, numbered from 0, and the ladders they choose from."""

    def __init__(self, lines: Lines, worth: Int, law: Law) -> None:
        self.lengths, self.number = lines.lengths[worth], np.full(len(lines), -1)
        self.number[worth] = np.arange(len(worth))
        self.sizes, self.ladder_shares = _ladders_to_try(int(self.lengths.max()))
        self.gaussian = law is Law.GAUSSIAN

    def tune(self, pieces: Pieces) -> tuple[Int, Float]:
        """Majorise and minimise: return a ladder and its shares for each of the lines."""
        part, begin, base = self._sort(pieces)
        start, sizes, levels = self.sizes.start, self.sizes.items, self.sizes.sizes()
        choice, shares = np.zeros(len(self.lengths), np.int64), np.ones((len(self.lengths), int(levels.max())))
        variance = (part.last - part.first).astype(np.float64)
        weight = np.empty(len(variance))
        what = part.first, part.last, weight, start, sizes

        def choose(few: slice) -> None:
            mine = begin[few.start : few.stop + 1], self.lengths[few]
            best_ladders(*mine, *what, self.ladder_shares, self.gaussian, choice[few])

        def polish(few: slice) -> None:
            mine = begin[few.start : few.stop + 1], self.lengths[few]
            refine_shares(*mine, *what, choice[few], self.gaussian, shares[few])

        for turn in range(ROUNDS):
            weight[:] = 1 / np.sqrt(base + part.per_pair(variance))[part.pair]
            if turn < ROUNDS - 2:
                in_threads(choose, len(choice))
                for i, one in enumerate(choice.tolist()):
                    shares[i, : levels[one]] = self.ladder_shares[start[one] : start[one + 1]]
            else:
                in_threads(polish, len(choice))
            variance = self._variances(part, begin, choice, shares)
        return choice, shares

    def error(self, pieces: Pieces, choice: Int, shares: Float) -> float:
        """Return the mean standard deviation over pairs."""
        part, begin, base = self._sort(pieces)
        return float(np.sqrt(base + part.per_pair(self._variances(part, begin, choice, shares))).mean())

    def _sort(self, pieces: Pieces) -> tuple[Pieces, Int, Float]:
        """Return the pieces on these lines line by line, where each line begins, and what the others add to pairs."""
        number = self.number[pieces.line]
        base = pieces.per_pair(np.where(number >= 0, 0.0, pieces.last - pieces.first))
        order = np.flatnonzero(number >= 0)
        order = order[np.argsort(number[order], kind="stable")]
        part = Pieces(pieces.pairs, *(column[order] for column in pieces[1:]))
        return part, np.searchsorted(number[order], np.arange(len(self.lengths) + 1)), base

    def _variances(self, part: Pieces, begin: Int, choice: Int, shares: Float) -> Float:
        """Return the variance of each piece of ``part`` (lines from ``begin`` on), given ``choice`` and ``shares``."""
        out, sizes = np.empty(len(part.line)), self.sizes
        chosen_variances(
            begin, self.lengths, part.first, part.last, sizes.start, sizes.items, choice, shares, self.gaussian, out
        )
        return out


def misfit(strategy: Strategy) -> str | None:
    """Refuse lines whose edges differ in noise: a design gives the edges of a line one share."""
    block, m = strategy.block(LineBlock), strategy.topology.num_edges
    if strategy.scales.shape != block.group_sizes.shape:
        return "it has not one noise scale for each group"
    lines, single = block.lines, strategy.scales[len(strategy.scales) - m :]
    if (single[lines.order] != np.repeat(single[lines.order[lines.start[:-1]]], lines.lengths)).any():
        return "edges of a line differ in their noise"
    return None


INPUT = Mechanism(
    name="input",
    summary="noise on every edge weight, answers by shortest paths over the noisy weights (Sealfon 2016)",
    design=design_input,
    measures=(EdgeBlock,),
)
LINES = Mechanism(
    name="lines",
    summary="every edge, and sums of blocks of edges along public lines where they pay: trees, corridors, long chains",
    design=design_lines,
    measures=(LineBlock,),
    options={"branch": integer(2, 2**20 - 1)},
    undirected_only="a line is passed in both directions",
    misfit=misfit,
)
