"""Sums of consecutive edges along public lines, and every edge: the block of the lines mechanism.

A public partition divides all edges into lines (``separators.lines``).  A line of L edges may have *levels*: sizes
2 <= b_1 | b_2 | ..., each dividing the next, all but the last below L.  At each level the line is divided into runs of
that many consecutive edges and the sum of each run is measured; last, every edge by itself.  An edge is in one run of
each level, and moves that sum by exactly what it moves itself: one group per line and level, cut 1
(docs/proofs/lines.md).

The error of such sums is predicted from paths divided into pieces of lines.  In a forest the path of a pair is known;
elsewhere it is the shortest one when all edges are equally long, or drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..arrays import Float, Int, sealed
from ..errors import FileFormatError
from ..kernels.laminar import (
    error_limits,
    known_below,
    least_squares,
    line_blocks,
    uneven_variances,
    variances,
)
from ..kernels.lines import forest_pieces, route_pieces, walk_lines
from ..kernels.paths import distances_from
from ..kernels.search import FREE, hops_from
from ..network.topology import Topology
from ..privacy.certificate import Exposure
from ..separators.hierarchy import Lists
from ..separators.lines import Lines, lines_of
from .anchors import Forest, is_forest
from .block import Arrays, EdgeBlock, integer_arrays

PAIRS = 6000
SOURCES, TARGETS = 48, 60  # where paths are guessed
SEARCHED = 2**20  # nodes, over all searches


class Pieces(NamedTuple):
    """Paths cut into pieces: piece ``i`` is edges ``first[i] .. last[i] - 1`` of ``line[i]``, for ``pair[i]``."""

    pairs: int
    pair: Int
    line: Int
    first: Int
    last: Int

    def per_pair(self, values: Float) -> Float:
        """Add up values over the pieces of each pair."""
        return np.asarray(np.bincount(self.pair, weights=values, minlength=self.pairs), np.float64)

    def join(self, other: Pieces) -> Pieces:
        """Return the pieces of these pairs and of others."""
        joined = (np.concatenate(pair) for pair in zip(self[2:], other[2:], strict=True))
        return Pieces(self.pairs + other.pairs, np.concatenate([self.pair, self.pairs + other.pair]), *joined)


def line_nodes(topology: Topology, lines: Lines) -> Int:
    """Return the nodes each line passes, line after line, one more than it has edges."""
    nodes = np.empty(len(lines.order) + len(lines), np.int64)
    wrong = walk_lines(lines.order, lines.start, topology.tails, topology.heads, nodes)
    if wrong >= 0:
        raise FileFormatError(f"the edges of line {wrong} do not follow each other")
    return nodes


@dataclass(frozen=True, eq=False)
class LinesInForest:
    """A rooted forest, and where its nodes are on the line of the edge above them."""

    depth: Int
    line_above: Int  # -1 for roots
    place: Int
    top: Int  # of each line the node nearest to the root,
    top_place: Int  # and its place

    @classmethod
    def of(cls, topology: Topology, lines: Lines) -> LinesInForest:
        """Root a network without cycles."""
        forest, nodes = Forest.of(topology), line_nodes(topology, lines)
        line = np.append(lines.line, -1)[forest.edge]
        place = np.append(lines.place, 0)[forest.edge]
        begin = np.append(lines.start[:-1] + np.arange(len(lines)), 0)[line]
        passed = np.append(nodes, -1)[begin + place] == np.arange(topology.num_nodes)
        first = lines.start[:-1] + np.arange(len(lines))
        best = np.lexsort((forest.depth[nodes], np.repeat(np.arange(len(lines)), lines.lengths + 1)))[first]
        return cls(forest.depth, line, np.where(passed, place, place + 1), nodes[best], best - first)

    def pieces(self, sources: Int, targets: Int) -> Pieces:
        """Return the path of each pair; none for pairs that are not connected."""
        begin = np.zeros(len(sources) + 1, np.int64)
        where = self.depth, self.line_above, self.place, self.top, self.top_place, sources, targets
        forest_pieces(*where, begin, np.empty((3, 0), np.int64))
        np.cumsum(begin, out=begin)
        out = np.empty((3, int(begin[-1])), np.int64)
        forest_pieces(*where, begin, out)
        return Pieces(len(sources), np.repeat(np.arange(len(sources)), np.diff(begin)), *out)


def sample_paths(topology: Topology, lines: Lines, rng: np.random.Generator, *, drawn: bool = False) -> Pieces:
    """Return the paths, in pieces of ``lines``, of connected pairs of ``topology`` that are drawn by ``rng``.

    Outside forests they are shortest paths with every edge 1 long or, if ``drawn``, as long as is drawn for it.
    """
    arcs, n = topology.arcs, topology.num_nodes
    if is_forest(topology):
        sources, targets = rng.integers(0, n, (2, PAIRS))
        joined = (topology.components[sources] == topology.components[targets]) & (sources != targets)
        return LinesInForest.of(topology, lines).pieces(sources[joined], targets[joined])
    sources = rng.choice(n, min(n, SOURCES, max(2, SEARCHED // n)), replace=False)
    edge_lengths = rng.exponential(1.0, topology.num_edges) + 1e-9 if drawn else np.ones(topology.num_edges)
    lengths, rows = edge_lengths[arcs.edges], np.empty((len(sources), n))
    if drawn:
        distances_from(arcs, lengths, sources, rows)
    else:
        rows[:] = [hops_from(arcs.start, arcs.heads, source) for source in sources]
        rows[rows == FREE] = np.inf
    found, pairs = [np.empty((4, 0), np.int64)], 0
    for row in rows:
        near = np.flatnonzero(np.isfinite(row) & (row > 0))
        targets = rng.choice(near, min(len(near), TARGETS), replace=False)
        search = arcs.start, arcs.heads, arcs.edges, lengths, row, targets, lines.line, lines.place
        out = np.empty((4, route_pieces(*search, np.empty((4, 0), np.int64))), np.int64)
        route_pieces(*search, out)
        out[0] += pairs
        pairs += len(targets)
        found.append(out)
    return Pieces(pairs, *np.concatenate(found, axis=1))


WHOLE = 2**60  # a size beyond every line: the line in one sum


class Runs(NamedTuple):
    """Sums of edges from one place of the order of edges to another, and the sum that each number is part of."""

    first: Int
    last: Int
    parent: Int  # of sums, then of edges; -1 for none


@dataclass(frozen=True, eq=False)
class LineBlock(EdgeBlock):
    """Sums along lines, line by line and coarse before fine, then the weight of every edge.

    Attributes:
        lines: the partition.
        ladder: which of the ladders each line has.
        ladders: lists of sizes, fine before coarse; an empty one measures edges only.
    """

    lines: Lines
    ladder: Int
    ladders: Lists
    kind: ClassVar[str] = "lines"

    @classmethod
    def plain(cls, topology: Topology) -> LineBlock:
        """Return the public lines of a network without any sum."""
        lines = lines_of(topology)
        return cls(topology, lines, np.zeros(len(lines), np.int64), Lists.of([np.empty(0, np.int64)]))

    @cached_property
    def levels(self) -> Lists:
        """The sizes of each line, fine before coarse."""
        count = self.ladders.sizes()[self.ladder]
        start = np.concatenate([[0], np.cumsum(count)])
        inside = np.arange(start[-1]) - np.repeat(start[:-1], count)
        return Lists(start, self.ladders.items[np.repeat(self.ladders.start[self.ladder], count) + inside])

    @cached_property
    def level_lines(self) -> Int:
        """The line of each level."""
        return np.repeat(np.arange(len(self.lines)), self.levels.sizes())

    @cached_property
    def coarse_first(self) -> Int:
        """The levels in the order of their groups: line by line, coarse before fine."""
        start, line = self.levels.start, self.level_lines
        return start[line] + start[line + 1] - 1 - np.arange(len(line))

    @cached_property
    def sum_sizes(self) -> Int:
        """How many sums each group has."""
        sizes = self.levels.items[self.coarse_first]
        return -(-self.lines.lengths[self.level_lines] // sizes)

    @cached_property
    def group_sizes(self) -> Int:
        """The sums of each line and level, then one number per edge."""
        return np.concatenate([self.sum_sizes, np.ones(self.topology.num_edges, np.int64)])

    @cached_property
    def runs(self) -> Runs:
        """What is summed."""
        lines, levels, m = self.lines, self.levels, self.topology.num_edges
        in_line = np.bincount(self.level_lines, weights=self.sum_sizes, minlength=len(lines)).astype(np.int64)
        begin = np.concatenate([[0], np.cumsum(in_line)])
        first, last, parent = (np.empty(int(begin[-1]), np.int64) for _ in range(3))
        of_place, of_edge = np.empty(m, np.int64), np.empty(m, np.int64)
        line_blocks(
            sealed(lines.start), sealed(levels.start), sealed(levels.items), begin, first, last, parent, of_place
        )
        of_edge[lines.order] = of_place
        return Runs(first, last, np.concatenate([parent, of_edge]))

    @cached_property
    def exposure(self) -> Exposure:
        """An edge moves one sum in each group of its line, and its own number."""
        lines, m, sums = self.lines, self.topology.num_edges, len(self.level_lines)
        length = lines.lengths[self.level_lines]
        inside = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        edge = lines.order[np.repeat(lines.start[self.level_lines], length) + inside]
        return Exposure(
            m, np.ones(sums + m, np.int64), np.concatenate([edge, self.edges]),
            np.concatenate([np.repeat(np.arange(sums), length), sums + self.edges]), np.arange(sums + m) >= sums,
        )  # fmt: skip

    # --- least squares: what all numbers together say about each edge, given the standard deviation of each group

    def estimates(self, noise: Float, numbers: Float) -> Float:
        """Estimate the weight of each edge."""
        runs, variance = self.runs, np.repeat(noise**2, self.group_sizes)
        return np.asarray(least_squares(runs.parent, len(runs.first), numbers, variance)[len(runs.first) :])

    def edge_noise(self, noise: Float) -> Float:
        """Return the standard deviation of each of these estimates."""
        runs, variance = self.runs, np.repeat(noise**2, self.group_sizes)
        return np.asarray(np.sqrt(variances(runs.parent, len(runs.first), variance)[len(runs.first) :]))

    def edge_limits(self, noise: Float, limits: Float) -> Float:
        """Return how far each of these estimates can be off if no number is off by more than the limit of its group."""
        runs, variance = self.runs, np.repeat(noise**2, self.group_sizes)
        far = error_limits(runs.parent, len(runs.first), variance, np.repeat(limits, self.group_sizes))
        return np.asarray(far[len(runs.first) :])

    @cached_property
    def forest(self) -> LinesInForest:
        """The network, rooted, if it has no cycle."""
        return LinesInForest.of(self.topology, self.lines)

    def places(self, pieces: Pieces) -> tuple[Int, Int]:
        """Return the places of the order of edges where each piece begins and ends."""
        begin = self.lines.start[pieces.line]
        return begin + pieces.first, begin + pieces.last

    def on_paths(self, sources: Int, targets: Int) -> tuple[Pieces, tuple[Int, Int]]:
        """Return, in a forest, the pieces of the path of each pair and their places."""
        pieces = self.forest.pieces(sources, targets)
        return pieces, self.places(pieces)

    def totals(self, weights: Float) -> Float:
        """Return sums of weights before each place of the order of edges, and of all; for every row of weights."""
        total = np.zeros((*weights.shape[:-1], weights.shape[-1] + 1))
        np.cumsum(weights[..., self.lines.order], axis=-1, out=total[..., 1:])
        return total

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the partition, and the levels of each line."""
        lines, ladders = self.lines, self.ladders
        return {
            "order": lines.order, "start": lines.start, "ladder": self.ladder,
            "ladders.start": ladders.start, "ladders.items": ladders.items,
        }  # fmt: skip

    @classmethod
    def from_arrays(cls, arrays: Arrays, topology: Topology) -> Self:
        """Invert ``arrays``.  Every edge is in one line, a line is a walk, and sizes divide each other."""
        order, start, ladder, ladder_start, sizes = integer_arrays(
            arrays, "order", "start", "ladder", "ladders.start", "ladders.items"
        )
        m, n = topology.num_edges, topology.num_nodes
        if topology.directed or not np.array_equal(np.sort(order), np.arange(m)):
            raise FileFormatError("lines hold every edge of an undirected network once")
        _check_starts(start, m, "lines")
        _check_starts(ladder_start, len(sizes), "ladders", empty=True)
        lines, ladders = Lines(start, order), Lists(ladder_start, sizes)
        # A walk that passes no node twice has at most n edges, so its sum is a distance and fits 64 bits.
        if lines.lengths.max(initial=0) > n:
            raise FileFormatError("a line has more edges than the network has nodes")
        if ladder.shape != (len(lines),) or ladder.min(initial=0) < 0 or ladder.max(initial=-1) >= len(ladders):
            raise FileFormatError("every line needs one of the ladders")
        _check_sizes(ladders)
        count = ladders.sizes()
        # A size that reaches a whole line ends its ladder: with more, or with sums of one edge, numbers could be many.
        before = np.ones(len(ladders), np.int64)
        before[count > 1] = sizes[ladder_start[1:][count > 1] - 2]
        if ((lines.lengths <= before[ladder]) & (count[ladder] > 0)).any():
            raise FileFormatError("a ladder reaches farther than its line")
        line_nodes(topology, lines)
        return cls(topology, lines, ladder, ladders)


@dataclass(frozen=True, eq=False)
class PathVariances:
    """Variances of estimated sums along the paths of a forest, where edges of a line may be known unequally well.

    Attributes:
        parent, variance: of sums, then of edges in the order of lines.
        below: what ``kernels.laminar.uneven_variances`` takes beside them.
    """

    block: LineBlock
    parent: Int
    variance: Float
    below: tuple[Float, Float, Float, Int, Int]

    @classmethod
    def of(cls, block: LineBlock, variance: Float) -> PathVariances:
        """Prepare the variances, given that of every number."""
        count = len(block.runs.first)
        order = np.concatenate([np.arange(count), count + block.lines.order])
        parent, variance = block.runs.parent[order], variance[order]
        own, *below = known_below(parent, count, variance)
        return cls(block, parent, variance, (own, np.concatenate([[0.0], np.cumsum(own)]), *below))

    def between(self, first: Int, last: Int) -> Float:
        """Return the variance of the sum over places ``first .. last - 1`` of the order of edges; both on one line."""
        return np.asarray(uneven_variances(self.parent, self.variance, *self.below, first, last), np.float64)


def _check_starts(start: Int, end: int, name: str, *, empty: bool = False) -> None:
    """Refuse a ``start`` of ``name`` that does not divide ``end`` items into lists, ``empty`` ones only if allowed."""
    if len(start) == 0 or start[0] != 0 or start[-1] != end or (start[1:] < start[:-1] + (not empty)).any():
        raise FileFormatError(f"its {name} do not follow each other")


def _check_sizes(ladders: Lists) -> None:
    """Refuse sizes unless they are from 2 to ``WHOLE`` and each divides the next of its ladder."""
    sizes = ladders.items
    if sizes.min(initial=2) < 2 or sizes.max(initial=2) > WHOLE:
        raise FileFormatError("a sum along a line has two edges or more")
    inside = np.ones(len(sizes), np.bool_)
    inside[ladders.start[:-1][ladders.sizes() > 0]] = False
    at = np.flatnonzero(inside)
    if ((sizes[at] % sizes[at - 1] != 0) | (sizes[at] <= sizes[at - 1])).any():
        raise FileFormatError("the sizes of a ladder do not divide each other")
