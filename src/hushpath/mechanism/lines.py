"""Lines: sums of consecutive edges along public lines, beside every edge.

In a tree a distance is a sum of weights, and along a line sums of blocks of edges add up less noise than edges do:
blocks of sizes 1 | b_2 | b_3 | ... with shares p_1 + p_2 + ... = 1 of the budget.  An edge is in one block a level, so
the cost is the sum of the shares, whatever the sizes (the hierarchical counting of Dwork et al. 2010 and Chan et al.
2011 with uneven sizes and shares, read by least squares: Hay et al. 2010).  Where lines are short this only loses:
half of a budget is worth less than half.  So sizes and shares are chosen line by line, by predicted error over sampled
public pairs, and pairs that were not looked at before decide against plain edges.

How: what counts is the sum over pairs of the root of the variance of their path.  At the present choice the root lies
below its tangent, so each round weighs every piece of a path by 1 / (2 root) and takes for each line the ladder with
the least weighted sum of variances (majorise and minimise); then shares are polished.  In a forest paths are known and
variances exact.  Elsewhere paths are guessed: sums must then promise a clear gain.

``branch=k``: no choice; every line has sums of k, k^2, ... edges up to the whole line, the same noise on each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Bool, Float, Int, frozen
from ..kernels.lines import best_ladders, chosen_variances, refine_shares
from ..kernels.paths import in_threads
from ..measurement.anchors import is_forest
from ..measurement.lines import WHOLE, LineBlock, Pieces, sampled_in_forest, sampled_routes
from ..measurement.strategy import Strategy
from ..network.topology import Topology
from ..noise import Law, simulation
from ..separators.hierarchy import Lists
from ..separators.lines import Lines, lines_of
from .base import Design, Mechanism, Problem, whole

RATIOS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
GROWTH = (0.6, 0.8, 1.0, 1.25, 1.6)  # of shares, from level to level
TOTALS = (0.15, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9)  # share of a line's total, where edges have the rest
FEWEST = 40  # pieces of a line in the sample; on fewer nothing can be learnt
ROUNDS = 5
CLEAR_GAIN = 0.95  # where paths are guessed


class Choice(NamedTuple):
    """What each line measures: its ladder (0: edges only), and the share of edges and of each size of the ladder."""

    ladder: Int
    ladders: Lists
    shares: Float
    gain: float


def design(problem: Problem, *, branch: int | None = None) -> Design:
    """Every edge, and sums along lines where they are predicted to pay."""
    topology, lines = problem.topology, lines_of(problem.topology)
    law = problem.law or Law.LAPLACE
    choice = _branched(lines, branch) if branch is not None else _chosen(topology, lines, law)
    block = LineBlock(topology, lines, frozen(choice.ladder, np.int64), choice.ladders)
    summed = block.levels.sizes() > 0
    details: dict[str, float] = {
        "lines": len(lines), "lines_with_sums": int(summed.sum()), "edges_with_sums": int(lines.lengths[summed].sum()),
        "levels": int(block.levels.sizes().max(initial=0)),
    }  # fmt: skip
    if branch is None:
        details["predicted_ratio"] = round(choice.gain, 4)
    return Design((block,), lambda law: _relative(block, choice.shares, law), details)


def _relative(block: LineBlock, shares: Float, law: Law) -> Float:
    """Noise scales in the order of groups: sums of every line, coarse before fine, then edges."""
    scale = 1 / shares if law is Law.LAPLACE else 1 / np.sqrt(shares)
    levels, line = block.coarse_first, block.level_lines
    return np.concatenate([scale[line, 1 + levels - block.levels.start[line]], scale[block.lines.line, 0]])


def _branched(lines: Lines, branch: int) -> Choice:
    """Sums of ``branch`` edges, of as many of these, and so on until one holds the whole line."""
    reach, ladders = 1, [np.empty(0, np.int64)]
    ladder = np.zeros(len(lines), np.int64)
    while reach < lines.lengths.max(initial=0):
        ladder[lines.lengths > reach] += 1
        reach *= branch
        ladders.append(np.append(ladders[-1], reach))
    shares = 1 / (1.0 + np.repeat(ladder[:, None], len(ladders), axis=1))
    return Choice(ladder, Lists.of(ladders), shares, 1.0)


# --- the choice


@lru_cache(maxsize=2)  # a plan asks once per law
def _samples(topology: Topology) -> tuple[Pieces, Pieces]:
    """Pieces of paths to learn from, and others to judge by."""
    rng, lines = simulation(5), lines_of(topology)
    if is_forest(topology):
        return sampled_in_forest(topology, lines, rng), sampled_in_forest(topology, lines, rng)
    learnt, judged = [], []
    for drawn in (False, True):
        learnt.append(sampled_routes(topology, lines, rng, drawn=drawn))
        judged.append(sampled_routes(topology, lines, rng, drawn=drawn))
    return _both(*learnt), _both(*judged)


def _both(one: Pieces, other: Pieces) -> Pieces:
    joined = (np.concatenate(pair) for pair in zip(one[2:], other[2:], strict=True))
    return Pieces(one.pairs + other.pairs, np.concatenate([one.pair, one.pairs + other.pair]), *joined)


def _chosen(topology: Topology, lines: Lines, law: Law) -> Choice:
    """Sizes and shares by predicted error; plain edges wherever that is not clearly more."""
    learnt, judged = _samples(topology)
    met = np.bincount(learnt.line, minlength=len(lines))
    worth = np.flatnonzero((met >= FEWEST) & (lines.lengths > 1))
    plain = Choice(np.zeros(len(lines), np.int64), Lists.of([np.empty(0, np.int64)]), np.ones((len(lines), 1)), 1.0)
    if len(worth) == 0:
        return plain
    library = _library(int(lines.lengths[worth].max()))
    on_worth = np.zeros(len(lines), np.bool_)
    on_worth[worth] = True
    tuning = _Tuning(lines, worth, library, law)
    ladder, shares = tuning.tuned(learnt, on_worth)
    with_sums, edges = tuning.error(judged, on_worth, ladder, shares), tuning.plain_error(judged)
    if with_sums > edges * (1.0 if is_forest(topology) else CLEAR_GAIN):
        return plain
    used, which = np.unique(ladder, return_inverse=True)
    kept = [np.empty(0, np.int64), *(library.sizes[one][1:] for one in used)]
    out_ladder, out_shares = np.zeros(len(lines), np.int64), np.ones((len(lines), shares.shape[1]))
    out_ladder[worth], out_shares[worth] = 1 + which, shares
    return Choice(out_ladder, Lists.of(kept), out_shares, with_sums / edges)


class _Library(NamedTuple):
    sizes: Lists  # of each ladder, 1 first
    shares: Float


def _library(longest: int) -> _Library:
    """Ladders to try: plain, a total beside the edges, and even ratios with shares that grow or fall."""
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
    return _Library(sizes_of, np.concatenate([shares for _, shares in ladders]))


class _Tuning:
    """The lines that are worth a thought, and the library they choose from."""

    def __init__(self, lines: Lines, worth: Int, library: _Library, law: Law) -> None:
        self.lengths, self.number = lines.lengths[worth], np.full(len(lines), -1)
        self.number[worth] = np.arange(len(worth))
        self.library, self.gaussian = library, law is Law.GAUSSIAN

    def tuned(self, pieces: Pieces, on_worth: Bool) -> tuple[Int, Float]:
        """Majorise and minimise: a ladder and its shares for each of the lines."""
        part, begin, base = self._sorted(pieces, on_worth)
        start, sizes, levels = self.library.sizes.start, self.library.sizes.items, self.library.sizes.sizes()
        choice, shares = np.zeros(len(self.lengths), np.int64), np.ones((len(self.lengths), int(levels.max())))
        variance = (part.last - part.first).astype(np.float64)
        weight = np.empty(len(variance))
        what = part.first, part.last, weight, start, sizes

        def choose(few: slice) -> None:
            mine = begin[few.start : few.stop + 1], self.lengths[few]
            best_ladders(*mine, *what, self.library.shares, self.gaussian, choice[few])

        def polish(few: slice) -> None:
            mine = begin[few.start : few.stop + 1], self.lengths[few]
            refine_shares(*mine, *what, choice[few], self.gaussian, shares[few])

        for turn in range(ROUNDS):
            weight[:] = 1 / np.sqrt(base + part.per_pair(variance))[part.pair]
            if turn < ROUNDS - 2:
                in_threads(choose, len(choice))
                for i, one in enumerate(choice.tolist()):
                    shares[i, : levels[one]] = self.library.shares[start[one] : start[one + 1]]
            else:
                in_threads(polish, len(choice))
            variance = self._variances(part, begin, choice, shares)
        return choice, shares

    def error(self, pieces: Pieces, on_worth: Bool, choice: Int, shares: Float) -> float:
        """The mean standard deviation over pairs."""
        part, begin, base = self._sorted(pieces, on_worth)
        return float(np.sqrt(base + part.per_pair(self._variances(part, begin, choice, shares))).mean())

    @staticmethod
    def plain_error(pieces: Pieces) -> float:
        """The same with edges only."""
        return float(np.sqrt(pieces.per_pair((pieces.last - pieces.first).astype(np.float64))).mean())

    def _sorted(self, pieces: Pieces, on_worth: Bool) -> tuple[Pieces, Int, Float]:
        """Pieces on the lines in question, line by line, where each line begins, and what the others add to pairs."""
        mine = on_worth[pieces.line]
        base = pieces.per_pair(np.where(mine, 0.0, pieces.last - pieces.first))
        order = np.flatnonzero(mine)
        order = order[np.argsort(self.number[pieces.line[order]], kind="stable")]
        part = Pieces(pieces.pairs, *(column[order] for column in pieces[1:]))
        begin = np.searchsorted(self.number[part.line], np.arange(len(self.lengths) + 1))
        return part, begin, base

    def _variances(self, part: Pieces, begin: Int, choice: Int, shares: Float) -> Float:
        out, sizes = np.empty(len(part.line)), self.library.sizes
        chosen_variances(
            begin, self.lengths, part.first, part.last, sizes.start, sizes.items, choice, shares, self.gaussian, out
        )
        return out


def misfit(strategy: Strategy) -> str | None:
    """The edges of a line share their noise: predictions and intervals take it from the first."""
    block, m = strategy.block(LineBlock), strategy.topology.num_edges
    if strategy.scales.shape != block.group_sizes.shape:
        return "it has not one noise scale for each group"
    lines, single = block.lines, strategy.scales[len(strategy.scales) - m :]
    if (single[lines.order] != np.repeat(single[lines.order[lines.start[:-1]]], lines.lengths)).any():
        return "edges of a line differ in their noise"
    return None


MECHANISM = Mechanism(
    name="lines",
    summary="every edge, and sums of blocks of edges along public lines where they pay: trees, corridors, long chains",
    design=design,
    measures=(LineBlock,),
    options={"branch": whole(2, 2**20)},
    directed=False,
    undirected_reason="a line is passed in both directions",
    misfit=misfit,
)
