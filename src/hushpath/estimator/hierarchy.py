"""Groups of edges within groups of edges: the smooth field that neighbouring edges share.

Edges that meet are likely to be alike, most of all those straight ahead.  So the edges of a network are joined to
pairs, the pairs to groups of about four, and so on, each with the neighbour that fits best.  Every group has a number,
that of the group around it plus a normal part of its own; the parts of a level have one variance.  An edge thus shares
most of its field with those near it and less with those farther away, and all that follows from noisy values (means,
samples, the evidence for the variances) takes two passes over the groups (``kernels.field``).

The borders of groups are sharp where a field over the line graph would be smooth.  Errors of distances hardly show it
(averaging over four hierarchies gains half a per cent: docs/explanation/accuracy.md), and time and memory stay in
proportion to the number of edges, which a sparse factorisation cannot promise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Bool, Float, Int
from ..kernels.field import join_neighbours, log_evidence, solve, without_own
from ..network.topology import Topology
from ..noise import simulation

if TYPE_CHECKING:
    from scipy.sparse import csr_array

SAME_END = 0.5  # weight of an arc with the same head, or the same tail
REVERSE = 1.0  # weight of the reverse arc
TURN = 0.1  # weight of a turn at a right angle or sharper, relative to 1 for straight ahead
TURN_DECAY = 2.0
MAX_DEGREE = 64  # nodes with more edges connect none of them: a hub would make too many pairs
OUTERMOST = 6  # groups are joined until so few are left
LARGER = 1.5  # times two to the level: the size of a group at most
SAMPLE_LEVEL = 6  # groups of about 64 edges
FIELD_STEPS = 8  # from edge to edge, of white noise averaged to a smooth field
JITTER = 0.4  # by which weights vary, so that grids are not joined in rows

START = -4.0, 0.0  # logarithm of the variance of a field, and of its decay from level to level, in powers of two
MOST = (-12.0, 2.0), (-1.5, 2.0)
PRIOR_SD = 2.0, 0.7
SEARCH = (0, 1.0), (1, 0.5), (0, 0.5), (1, 0.25), (0, 0.25)  # which of the two, and the step
POOLING, EM_ROUNDS = 10.0, 6  # groups that pull the variance of a level to the line through all levels


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Groups of edges, the edges first; see ``kernels.field``."""

    parent: Int  # the group around each group, -1 for the outermost
    level: Int  # 0 for single edges

    @property
    def levels(self) -> int:
        """The number of levels."""
        return int(self.level.max(initial=0)) + 1

    def restricted(self, edges: Int) -> Hierarchy:
        """Return the groups that hold some of these edges, which are given in ascending order."""
        kept = np.zeros(len(self.parent), np.bool_)
        kept[edges] = True
        for group in np.flatnonzero(kept):
            at = self.parent[group]
            while at >= 0 and not kept[at]:
                kept[at] = True
                at = self.parent[at]
        place = np.cumsum(kept) - 1
        parent = self.parent[kept]
        return Hierarchy(np.where(parent >= 0, place[parent], -1), self.level[kept])

    def sample(self, count: int, rng: np.random.Generator) -> Int:
        """Return about so many edges: all of some groups of a middle level, drawn at random."""
        group = np.arange(int((self.level == 0).sum()))
        for _ in range(SAMPLE_LEVEL):
            group = np.where(self.parent[group] >= 0, self.parent[group], group)
        _, group, size = np.unique(group, return_inverse=True, return_counts=True)
        drawn = rng.permutation(len(size))
        taken = np.zeros(len(size), np.bool_)
        taken[drawn[: 1 + int(np.searchsorted(np.cumsum(size[drawn]), count))]] = True
        return np.flatnonzero(taken[group])


@lru_cache(maxsize=4)
def edge_hierarchy(topology: Topology) -> Hierarchy:
    """Join the edges of a network to groups."""
    from scipy.sparse import csr_array

    rng, graph = simulation(10), line_graph(topology)
    m = topology.num_edges
    parents, levels, first = [], [np.zeros(m, np.int64)], 0
    size: Float = np.ones(m)
    for level in range(1, 64):
        n = len(size)
        weights = graph.data * (1 + JITTER * (2 * rng.random(len(graph.data)) - 1))
        links = graph.indptr.astype(np.int64), graph.indices.astype(np.int64), weights
        label, count = join_neighbours(*links, size, rng.permutation(n), LARGER * 2.0**level)
        if n <= OUTERMOST or (count == n and 2**level > m):
            break
        if count == n:
            continue
        joined = csr_array((np.ones(n), (np.arange(n), label)), shape=(n, count))
        graph = csr_array(joined.T @ graph @ joined)
        parents.append(first + n + label)
        levels.append(np.full(count, level))
        size, first = np.bincount(label, size, count).astype(np.float64), first + n
    parents.append(np.full(len(size), -1))
    return Hierarchy(np.concatenate(parents).astype(np.int64), np.concatenate(levels))


@dataclass(frozen=True, eq=False)
class Field:
    """A hierarchy with a variance for each level."""

    hierarchy: Hierarchy
    line: tuple[float, float]  # logarithm of the variance of the field, and decay of the parts from level to level
    variances: Float  # (levels,)

    @classmethod
    def on(cls, hierarchy: Hierarchy, line: tuple[float, float] = START) -> Field:
        """Return the field whose variances are those of a ``line``."""
        part = np.exp2(-line[1] * np.arange(hierarchy.levels))
        part[0] = 0.0
        return cls(hierarchy, line, np.exp(line[0]) * part / max(float(part.sum()), 1e-300))

    @property
    def variance(self) -> Float:
        """The variance of the own part of each group."""
        return np.asarray(self.variances[self.hierarchy.level])

    def fit(self, precision: Float, values: Float) -> Field:
        """Return the field whose variances fit ``values`` observed with a ``precision``: by evidence, then by EM."""

        def score(line: tuple[float, float]) -> float:
            prior = sum(((at - middle) / sd) ** 2 for at, middle, sd in zip(line, START, PRIOR_SD, strict=True))
            field = Field.on(self.hierarchy, line)
            return float(log_evidence(self.hierarchy.parent, field.variance, precision, values)) - 0.5 * prior

        line, best = self.line, score(self.line)
        for which, step in SEARCH:
            for sign in (1, -1):
                moved = False
                while True:
                    tried = list(line)
                    tried[which] += sign * step
                    if not MOST[which][0] <= tried[which] <= MOST[which][1]:
                        break
                    found = score((tried[0], tried[1]))
                    if found <= best:
                        break
                    line, best, moved = (tried[0], tried[1]), found, True
                if moved:
                    break
        found_field = Field.on(self.hierarchy, line)
        start = found_field.variances
        for _ in range(EM_ROUNDS):
            squares, count = found_field.without_own(precision, values)[2:]
            variances = (squares + POOLING * start) / (count + POOLING)
            variances[0] = 0.0
            found_field = Field(self.hierarchy, line, variances)
        return found_field

    def without_own(self, precision: Float, values: Float) -> tuple[Float, Float, Float, Float]:
        """Return mean and variance of each edge's field given all other ``values``, and moments (``kernels.field``)."""
        groups = self.hierarchy
        found = without_own(groups.parent, groups.level, self.variance, precision, values, groups.levels)
        mean, variance, squares, count = found
        return mean, variance, squares, count

    def smooth(self, precision: Float, columns: Float) -> Float:
        """Return the posterior mean of the field for every column of values."""
        none = np.empty((len(self.hierarchy.parent), 0))
        return np.asarray(solve(self.hierarchy.parent, self.variance, precision, columns, none), np.float64)

    def sample(self, precision: Float, values: Float, rng: np.random.Generator) -> Float:
        """Draw the field given ``values`` observed with a ``precision``."""
        noise = rng.normal(size=(len(self.hierarchy.parent), 1))
        columns = np.ascontiguousarray(values[:, None])
        return np.asarray(solve(self.hierarchy.parent, self.variance, precision, columns, noise)[:, 0], np.float64)


def draw_smooth_field(topology: Topology, rng: np.random.Generator) -> Float:
    """Draw a smooth field over the edges, with mean 0 and variance 1 (0 on networks too small for one)."""
    graph, field = line_graph(topology), rng.normal(size=topology.num_edges)
    total = np.asarray(graph.sum(axis=1)).ravel()
    for _ in range(FIELD_STEPS):
        field = np.where(total > 0, (graph @ field) / np.where(total > 0, total, 1.0), field)
    sd = float(field.std()) if len(field) else 0.0
    return np.asarray((field - field.mean()) / sd if sd > 1e-12 else np.zeros(len(field)), np.float64)


@lru_cache(maxsize=2)
def line_graph(topology: Topology) -> csr_array:
    """Return how alike edges that meet are likely to be; the weights of an edge do not grow with its neighbours."""
    from scipy.sparse import csr_array, diags_array

    m = topology.num_edges
    one, other, weight = meeting_pairs(topology)
    found = csr_array((weight, (one, other)), shape=(m, m))  # sums duplicates
    found = csr_array(found + found.T)
    degree = np.asarray(found.sum(axis=1)).ravel()
    scale = diags_array(1 / np.sqrt(np.where(degree > 0, degree, 1.0)))
    return csr_array(scale @ found @ scale)


def meeting_pairs(topology: Topology, reverse: float = REVERSE, same_end: float = SAME_END) -> tuple[Int, Int, Float]:
    """Return pairs of edges that meet, with weights; ``reverse`` and ``same_end`` are those of such arcs."""
    pairs = _arc_pairs(topology, reverse, same_end) if topology.directed else _edge_pairs(topology)
    one, other, weight = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    distinct = one != other
    return one[distinct], other[distinct], weight[distinct]


def _arc_pairs(topology: Topology, reverse: float, same_end: float) -> list[tuple[Int, Int, Float]]:
    """Return pairs of arcs with weights: one after the other, with the same head, with the same tail."""
    tails, heads, n = topology.tails, topology.heads, topology.num_nodes
    before, after = _meeting(heads, tails, n)
    back = tails[before] == heads[after]  # an arc and its reverse: found from both sides
    follow = np.where(back, reverse / 2, _straightness(topology, before, after, 1.0))
    siblings = [_meeting(ends, ends, n) for ends in (heads, tails)]
    return [(before, after, follow), *((one, other, np.full(len(one), same_end / 2)) for one, other in siblings)]


def _edge_pairs(topology: Topology) -> list[tuple[Int, Int, Float]]:
    """Return pairs of undirected edges that share an end; each is found twice, so weights are halved."""
    found = []
    for ends, away in ((topology.tails, 1.0), (topology.heads, -1.0)):
        for others, along in ((topology.tails, 1.0), (topology.heads, -1.0)):
            one, other = _meeting(ends, others, topology.num_nodes)
            found.append((one, other, _straightness(topology, one, other, -away * along) / 2))
    return found


def _meeting(ends: Int, others: Int, n: int) -> tuple[Int, Int]:
    """Return all pairs of an edge with its node in ``ends`` and an edge with the same node in ``others``."""
    order = np.argsort(others, kind="stable")
    count = np.bincount(others, minlength=n)
    count[count > MAX_DEGREE] = 0
    start = np.searchsorted(others[order], np.arange(n))
    size = count[ends]
    one = np.repeat(np.arange(len(ends)), size)
    within = np.arange(len(one)) - np.repeat(np.cumsum(size) - size, size)
    return one, order[np.repeat(start[ends], size) + within]


def _straightness(topology: Topology, one: Int, other: Int, sign: float) -> Float:
    """Return the weight of each pair of edges, ``one`` and ``other``, by the angle between them.

    ``sign`` is -1 if one of the two is passed against its direction.  Without coordinates of the ``topology`` it is 1.
    """
    if topology.coordinates is None:
        return np.ones(len(one))
    way = topology.coordinates[topology.heads] - topology.coordinates[topology.tails]
    way = way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-300)[:, None]
    bend = sign * (way[one] * way[other]).sum(axis=1) - 1
    known: Bool = np.isfinite(bend)
    return np.where(known, np.exp(TURN_DECAY * np.where(known, bend, 0.0)) + TURN, 1.0)
