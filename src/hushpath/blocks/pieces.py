"""Paths cut into pieces of public lines: what the error of sums along lines is predicted from.

Reads no weights.  In a forest the path of a pair is known; elsewhere it is guessed, as the shortest one when all
edges are equally long, or drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..decompose.lines import Lines
from ..errors import FileFormatError
from ..kernels.lines import forest_pieces, line_tops, route_pieces, walked
from ..kernels.paths import distances_from, in_threads
from ..kernels.search import fill_hops
from .anchors import Forest

PAIRS = 6000
SOURCES, TARGETS = 48, 60  # where paths are guessed
SEARCHED = 2**20  # nodes, over all searches


class Pieces(NamedTuple):
    """Edges ``first .. last - 1`` of a line each; together those of one pair are its path."""

    pairs: int
    pair: Int
    line: Int
    first: Int
    last: Int

    def per_pair(self, values: Float) -> Float:
        """Sums over the pieces of each pair."""
        return np.asarray(np.bincount(self.pair, weights=values, minlength=self.pairs), np.float64)


def line_nodes(topology: Topology, lines: Lines) -> Int:
    """The nodes each line passes, line behind line, one more than it has edges."""
    nodes = np.empty(len(lines.order) + len(lines), np.int64)
    wrong = walked(lines.order, lines.start, topology.tails, topology.heads, nodes)
    if wrong >= 0:
        raise FileFormatError(f"the edges of line {wrong} do not follow each other")
    return nodes


@dataclass(frozen=True, eq=False)
class LinesInForest:
    """A forest hung up, and where its nodes are on the line of the edge above them."""

    depth: Int
    line_above: Int  # -1 for roots
    place: Int
    top: Int  # of each line the node nearest to the root,
    top_place: Int  # and its place

    @classmethod
    def of(cls, topology: Topology, lines: Lines) -> LinesInForest:
        """Hang up a network without cycles."""
        forest, nodes = Forest.of(topology), line_nodes(topology, lines)
        line = np.append(lines.line, -1)[forest.edge]
        place = np.append(lines.place, 0)[forest.edge]
        begin = np.append(lines.start[:-1] + np.arange(len(lines)), 0)[line]
        passed = np.append(nodes, -1)[begin + place] == np.arange(topology.num_nodes)
        top, top_place = line_tops(lines.start, nodes, forest.depth)
        return cls(forest.depth, line, np.where(passed, place, place + 1), top, top_place)

    def pieces(self, sources: Int, targets: Int) -> Pieces:
        """The path of each pair; none for pairs apart."""
        begin = np.zeros(len(sources) + 1, np.int64)
        where = self.depth, self.line_above, self.place, self.top, self.top_place, sources, targets
        forest_pieces(*where, begin, np.empty((3, 0), np.int64))
        np.cumsum(begin, out=begin)
        out = np.empty((3, int(begin[-1])), np.int64)
        forest_pieces(*where, begin, out)
        return Pieces(len(sources), np.repeat(np.arange(len(sources)), np.diff(begin)), *out)


def sampled_in_forest(topology: Topology, lines: Lines, rng: np.random.Generator) -> Pieces:
    """Pairs drawn evenly among those that are joined."""
    sources, targets = rng.integers(0, topology.num_nodes, (2, PAIRS))
    joined = (topology.components[sources] == topology.components[targets]) & (sources != targets)
    return LinesInForest.of(topology, lines).pieces(sources[joined], targets[joined])


def sampled_routes(topology: Topology, lines: Lines, rng: np.random.Generator, *, drawn: bool) -> Pieces:
    """Shortest paths between pairs drawn evenly; every edge is 1 long, or as long as is drawn for it."""
    arcs, n = topology.arcs, topology.num_nodes
    sources = rng.choice(n, min(n, SOURCES, max(2, SEARCHED // n)), replace=False)
    edge_lengths = rng.exponential(1.0, topology.num_edges) + 1e-9 if drawn else np.ones(topology.num_edges)
    lengths, rows = edge_lengths[arcs.edges], np.empty((len(sources), n))
    if drawn:
        distances_from(arcs, lengths, sources, rows)
    else:
        in_threads(lambda part: fill_hops(arcs.start, arcs.heads, sources[part], rows[part]), len(sources))
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
