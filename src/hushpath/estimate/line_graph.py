"""Which edges are neighbours, and how closely: the graph that congestion spreads over, and fields on it.

An arc resembles the arcs that follow it, most those straight ahead; its reverse twin, if it has one; and, less, the
arcs that end or begin where it does.  Undirected edges resemble those that share an end, most those straight on.
Weights are divided by the roots of both sums of weights, so that edges at large crossings are tied no more than others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BESIDE = 0.5  # an arc with the same head, or the same tail
TWIN = 1.0
REVERSED = -0.5  # a twin whose value is expected to have the other sign
TURNING = 0.1  # at a right angle or sharper, beside 1 for straight ahead
SHARP = 2.0
WIDE = 60  # steps from neighbour to neighbour
CROWDED = 64  # ends of more edges than that tie none: a hub would make too many pairs


@dataclass(frozen=True, eq=False)
class LineGraph:
    """Neighbours of each edge, normalised: rows of ``near`` have sums of about 1, and no eigenvalue is above 1."""

    near: csr_array
    ends: tuple[Int, Int]  # of each pair once,
    root: Float  # the root of its weight before normalisation,
    degree: Float  # and the sum of these weights at each edge

    @property
    def alone(self) -> Float:
        """1 where an edge has no neighbour, else 0."""
        return np.asarray(self.degree <= 0, np.float64)

    def rough(self, values: Float) -> Float:
        """Rows of values less what their neighbours have: the roughness operator, applied."""
        return np.asarray(values - (self.near @ values.T).T - self.alone * values, np.float64)

    def sample(self, rng: np.random.Generator, rows: int) -> Float:
        """Normal numbers whose covariance is the roughness operator."""
        scale = 1 / np.sqrt(np.where(self.degree > 0, self.degree, 1.0))
        out = np.empty((rows, len(scale)))
        for row in out:
            drawn = rng.normal(size=len(self.root))
            row[:] = np.bincount(self.ends[0], np.abs(self.root) * drawn, len(scale))
            row -= np.bincount(self.ends[1], self.root * drawn, len(scale))
        return np.asarray(out * scale, np.float64)

    def wide(self, rng: np.random.Generator, rows: int) -> Float:
        """Random fields that hardly differ between neighbours, with mean square 1."""
        field = rng.normal(size=(len(self.degree), rows))
        scale = np.sqrt(np.where(self.degree > 0, self.degree, 1.0))[:, None]
        field = field * scale
        for _ in range(WIDE):
            field = self.near @ field + self.alone[:, None] * field
        field = field / scale
        return np.asarray((field / np.sqrt(np.mean(field**2, axis=0) + 1e-300)).T, np.float64)


class Smooth(NamedTuple):
    """How smooth a field is, and how far it may stray: its precision is strength * (rough + stray)."""

    strength: float
    stray: float


@dataclass(frozen=True, eq=False)
class Fields:
    """A field that all periods have in common, and one for how each differs from their mean."""

    common: LineGraph
    apart: LineGraph
    smooth: Smooth
    differ: Smooth

    def precise(self, field: Float) -> Float:
        """The precision of both together, applied to a row per period."""
        mean = field.mean(axis=0, keepdims=True)
        out = self.smooth.strength * (self.common.rough(mean) + self.smooth.stray * mean)
        if len(field) > 1:
            rest = field - mean
            out = out + self.differ.strength * (self.apart.rough(rest) + self.differ.stray * rest)
        return np.asarray(out + np.zeros_like(field), np.float64)

    def diagonal(self, periods: int) -> Float:
        """Of the same precision."""
        one = self.smooth.strength * (1 + self.smooth.stray - self.common.alone)
        other = self.differ.strength * (1 + self.differ.stray - self.apart.alone)
        return np.asarray(one / periods + other * (1 - 1 / periods), np.float64)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Float:
        """Normal numbers with this precision for their covariance."""
        one = self.common.sample(rng, 1) + np.sqrt(self.smooth.stray) * rng.normal(size=(1, shape[1]))
        out = np.sqrt(self.smooth.strength / shape[0]) * one + np.zeros(shape)
        if shape[0] > 1:
            rest = self.apart.sample(rng, shape[0]) + np.sqrt(self.differ.stray) * rng.normal(size=shape)
            out += np.sqrt(self.differ.strength) * (rest - rest.mean(axis=0))
        return np.asarray(out, np.float64)


def line_graph(topology: Topology, twin: float = TWIN, beside: float = BESIDE) -> LineGraph:
    """Computed from public facts: ends and, where known, places."""
    from scipy.sparse import csr_array, diags_array

    m = topology.num_edges
    pairs = _following(topology, twin, beside) if topology.directed else _touching(topology)
    one, other, weight = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    apart = one != other
    one, other, weight = one[apart], other[apart], weight[apart]
    tied = csr_array((weight, (np.minimum(one, other), np.maximum(one, other))), shape=(m, m))  # sums what is double
    found = tied.tocoo()
    ends = found.coords[0].astype(np.int64), found.coords[1].astype(np.int64)
    size = np.abs(found.data)
    degree = np.bincount(ends[0], size, m) + np.bincount(ends[1], size, m)
    scale = diags_array(1 / np.sqrt(np.where(degree > 0, degree, 1.0)))
    near = csr_array(scale @ (tied + tied.T) @ scale)
    return LineGraph(near, ends, np.sign(found.data) * np.sqrt(size), np.asarray(degree, np.float64))


def _following(topology: Topology, twin: float, beside: float) -> list[tuple[Int, Int, Float]]:
    """Pairs of arcs: one after the other, with a common head, with a common tail."""
    tails, heads, n = topology.tails, topology.heads, topology.num_nodes
    before, after = _meeting(heads, tails, n)
    back = tails[before] == heads[after]  # a street and back: found from either side
    follow = np.where(back, twin / 2, _straight(topology, before, after, 1.0))
    siblings = [_meeting(ends, ends, n) for ends in (heads, tails)]
    found = [(before, after, follow)]
    return found + [(one, other, np.full(len(one), beside / 2)) for one, other in siblings]


def _touching(topology: Topology) -> list[tuple[Int, Int, Float]]:
    """Pairs of undirected edges with a common end; each pair is found from both sides, so weights are halves."""
    found = []
    for ends, away in ((topology.tails, 1.0), (topology.heads, -1.0)):
        for others, along in ((topology.tails, 1.0), (topology.heads, -1.0)):
            one, other = _meeting(ends, others, topology.num_nodes)
            found.append((one, other, _straight(topology, one, other, -away * along) / 2))
    return found


def _meeting(ends: Int, others: Int, n: int) -> tuple[Int, Int]:
    """All pairs of an edge that has its end, and an edge that has its other end, at one node."""
    order = np.argsort(others, kind="stable")
    count = np.bincount(others, minlength=n)
    count[count > CROWDED] = 0
    start = np.searchsorted(others[order], np.arange(n))
    size = count[ends]
    one = np.repeat(np.arange(len(ends)), size)
    within = np.arange(len(one)) - np.repeat(np.cumsum(size) - size, size)
    return one, order[np.repeat(start[ends], size) + within]


def _straight(topology: Topology, one: Int, other: Int, sign: float) -> Float:
    """How straight it goes from one edge to the other; 1 if places are not known."""
    if topology.coordinates is None:
        return np.ones(len(one))
    way = topology.coordinates[topology.heads] - topology.coordinates[topology.tails]
    way = way / np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-300)[:, None]
    bend = sign * (way[one] * way[other]).sum(axis=1) - 1
    return np.where(np.isfinite(bend), np.exp(SHARP * np.where(np.isfinite(bend), bend, 0.0)) + TURNING, 1.0)
