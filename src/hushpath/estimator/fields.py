"""Smooth random fields on the edges of a network: one number per edge, alike on neighbouring edges.

A field is white noise that is averaged over neighbours a number of times (`diffuse`); more steps reach farther.  Two
relations say which edges are neighbours:

* `EdgeDiffusion`: edges that share an end, all alike;
* `LineGraph`: edges that follow each other count more the straighter they do, and arcs know their reverse arc.

`ErrorFields` (errors of a model that neighbours share) and stand-in weights use the first, congestion the second, also
as the prior of a regression (`PeriodFields`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..measurement.samples import side_by_side
from ..network.topology import Topology
from ..noise import simulation

if TYPE_CHECKING:
    from scipy.sparse import csr_array

RANGES = (1, 3, 9, 27, 81)  # steps of diffusion of the error fields
FOLDS, PROBES, SIGN_FLIPS, EXAMPLES = 4, 16, 12, 3
PRIOR_SHARE, PRIOR_SHARE_SD = 0.02, 0.1  # of the error variance that one range carries
MAX_SHARE = 0.95  # of the error variance, for all ranges together

SAME_END = 0.5  # weight of an arc with the same head, or the same tail
REVERSE = 1.0  # weight of the reverse arc
OPPOSED = -0.5  # the same, where the reverse arc is expected to have the opposite sign
TURN = 0.1  # weight of a turn at a right angle or sharper, relative to 1 for straight ahead
TURN_DECAY = 2.0
WIDE_STEPS = 60
MAX_DEGREE = 64  # nodes with more edges connect none of them: a hub would make too many pairs


def diffuse(averages: Sequence[csr_array], values: Float, steps: Sequence[int]) -> list[Float]:
    """Average values over neighbours repeatedly."""
    found, done = [], 0
    for count in steps:
        while done < count:
            for average in averages:
                values = average @ values
            done += 1
        found.append(values)
    return found


class EdgeDiffusion:
    """Averaging between edges that share an end: from edges to nodes, and back to edges."""

    def __init__(self, topology: Topology) -> None:
        from scipy.sparse import csr_array, diags_array

        m, n = topology.num_edges, topology.num_nodes
        self.order = side_by_side(topology)[1]  # neighbours are close in memory
        ends = np.concatenate([self.order[topology.tails], self.order[topology.heads]])
        touches = csr_array((np.ones(2 * m), (np.tile(np.arange(m), 2), ends)), shape=(m, n))
        self.count = m
        self.to_edges = (0.5 * touches).tocsr()
        self.to_nodes = (diags_array(1 / np.maximum(touches.sum(axis=0), 1)) @ touches.T).tocsr()

    def smooth(self, values: Float, steps: Sequence[int]) -> list[Float]:
        """Average columns of one number per edge, and return them after each of these numbers of steps."""
        return diffuse((self.to_nodes, self.to_edges), values, steps)

    def standard_field(self, rng: np.random.Generator, steps: int) -> Float:
        """Draw a field with mean 0 and variance 1 over the edges (0 on networks too small for one)."""
        nodes = np.empty(len(self.order))
        nodes[self.order] = rng.normal(size=len(self.order))
        (nodes,) = diffuse((self.to_edges, self.to_nodes), nodes, [steps])
        field = self.to_edges @ nodes
        sd = float(field.std())
        return np.asarray((field - field.mean()) / sd if sd > 1e-12 else np.zeros(len(field)))


class ErrorFields:
    """Errors of a model that neighbouring edges share, as fields of several ranges with variance 1 each.

    A model that expects too little of one district is wrong about all its streets together, and routes add such errors
    up.  Noise is independent between edges, so the products of residuals on two edges average to the error they share.
    Shares of the error variance are fitted to such products.
    """

    def __init__(self, topology: Topology) -> None:
        self._diffusion = EdgeDiffusion(topology)
        self.count = topology.num_edges
        rng = simulation(20)
        probes = self._fields(rng.normal(size=(self.count, PROBES)))
        self._sd = [float(np.sqrt(np.mean(field**2))) or 1.0 for field in probes]
        self._fold = rng.integers(0, FOLDS, self.count)
        examples = self._fields(rng.normal(size=(self.count, EXAMPLES)))
        self._examples = [field / sd for field, sd in zip(examples, self._sd, strict=True)]

    def _fields(self, values: Float) -> list[Float]:
        return self._diffusion.smooth(values, RANGES)

    def products(self, residuals: Float) -> Float:
        """Return, for each range, the mean product of an edge and the edges around it, its own fold left out."""
        hidden = self._fold[:, None] == np.arange(FOLDS)
        around = self._fields(np.where(hidden, 0.0, residuals[:, None]))
        return np.array([np.mean(residuals * field[hidden]) for field in around])

    def shares(self, residuals: Float, sd: Float, correction: Float) -> Float:
        """Estimate the share of the error variance that each range carries."""
        from scipy.optimize import nnls

        rng, scaled = simulation(21), residuals / sd
        flipped = np.array([self.products(scaled * rng.choice([-1.0, 1.0], self.count)) for _ in range(SIGN_FLIPS)])
        unit = np.sqrt(np.mean(flipped**2, axis=0)) + 1e-12
        correlation = 0.9 * (flipped / unit).T @ (flipped / unit) / SIGN_FLIPS + 0.1 * np.eye(len(RANGES))
        whiten = np.linalg.inv(np.linalg.cholesky(correlation))
        shape = np.array([np.mean([self.products(one) for one in field.T], axis=0) for field in self._examples]).T
        rows = np.vstack([whiten @ (shape / unit[:, None]), np.eye(len(RANGES)) / PRIOR_SHARE_SD])
        prior = np.full(len(RANGES), PRIOR_SHARE / PRIOR_SHARE_SD)
        target = np.concatenate([whiten @ ((self.products(scaled) + correction) / unit), prior])
        found = nnls(rows, target)[0]
        return np.asarray(found * min(1.0, MAX_SHARE / max(float(found.sum()), 1e-12)), np.float64)

    def sample(self, shares: Float, rng: np.random.Generator) -> Float:
        """Draw standard normal numbers, one per edge, of whose variance the fields carry these shares."""
        normal = np.sqrt(1 - shares.sum()) * rng.normal(size=self.count)
        for field, sd, share in zip(self._fields(rng.normal(size=(self.count, 1))), self._sd, shares, strict=True):
            normal += np.sqrt(share) * field[:, 0] / sd
        return np.asarray(normal, np.float64)


@dataclass(frozen=True, eq=False)
class LineGraph:
    """A weighted graph whose vertices are the edges of a network; neighbours are likely to be alike.

    An arc resembles the arcs that follow it, most those straight ahead; its reverse arc; and, less, arcs with the same
    head or tail.  Undirected edges resemble those that share an end, most those straight ahead.  Weights are divided
    by the square roots of both degrees, so that edges at large crossings count no more than others.
    """

    adjacency: csr_array  # normalised weights; no eigenvalue exceeds 1
    ends: tuple[Int, Int]  # the two edges of each neighbouring pair
    root: Float  # the square root of the weight of each pair before normalisation, with the sign of the weight
    degree: Float  # (m,): the sum of the absolute weights at each edge

    @property
    def isolated(self) -> Float:
        """1 for edges without neighbours, else 0."""
        return np.asarray(self.degree <= 0, np.float64)

    def laplacian(self, values: Float) -> Float:
        """Apply the normalised Laplacian to rows of values: each less those of its neighbours."""
        return np.asarray(values - (self.adjacency @ values.T).T - self.isolated * values, np.float64)

    def sample_laplacian(self, rng: np.random.Generator, rows: int) -> Float:
        """Draw normal numbers whose covariance is the normalised Laplacian."""
        scale = 1 / np.sqrt(np.where(self.degree > 0, self.degree, 1.0))
        out = np.empty((rows, len(scale)))
        for row in out:
            drawn = rng.normal(size=len(self.root))
            row[:] = np.bincount(self.ends[0], np.abs(self.root) * drawn, len(scale))
            row -= np.bincount(self.ends[1], self.root * drawn, len(scale))
        return np.asarray(out * scale, np.float64)

    def wide_fields(self, rng: np.random.Generator, rows: int) -> Float:
        """Draw fields of long range, one per row, with mean square 1."""
        from scipy.sparse import diags_array

        scale = np.sqrt(np.where(self.degree > 0, self.degree, 1.0))[:, None]
        noise = rng.normal(size=(len(self.degree), rows)) * scale
        (field,) = diffuse([self.adjacency + diags_array(self.isolated)], noise, [WIDE_STEPS])
        field = field / scale
        return np.asarray((field / np.sqrt(np.mean(field**2, axis=0) + 1e-300)).T, np.float64)


def line_graph(topology: Topology, reverse: float = REVERSE, same_end: float = SAME_END) -> LineGraph:
    """Build the line graph of a network from its ends and, where known, its coordinates."""
    from scipy.sparse import csr_array, diags_array

    m = topology.num_edges
    pairs = _arc_pairs(topology, reverse, same_end) if topology.directed else _edge_pairs(topology)
    one, other, weight = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    distinct = one != other
    one, other, weight = one[distinct], other[distinct], weight[distinct]
    upper = csr_array((weight, (np.minimum(one, other), np.maximum(one, other))), shape=(m, m))  # sums duplicates
    found = upper.tocoo()
    ends = found.coords[0].astype(np.int64), found.coords[1].astype(np.int64)
    size = np.abs(found.data)
    degree = np.bincount(ends[0], size, m) + np.bincount(ends[1], size, m)
    scale = diags_array(1 / np.sqrt(np.where(degree > 0, degree, 1.0)))
    adjacency = csr_array(scale @ (upper + upper.T) @ scale)
    return LineGraph(adjacency, ends, np.sign(found.data) * np.sqrt(size), np.asarray(degree, np.float64))


def _arc_pairs(topology: Topology, reverse: float, same_end: float) -> list[tuple[Int, Int, Float]]:
    """Return pairs of arcs with weights: one after the other, with the same head, with the same tail."""
    tails, heads, n = topology.tails, topology.heads, topology.num_nodes
    before, after = _meeting(heads, tails, n)
    back = tails[before] == heads[after]  # an arc and its reverse: found from both sides
    follow = np.where(back, reverse / 2, _straightness(topology, before, after, 1.0))
    siblings = [_meeting(ends, ends, n) for ends in (heads, tails)]
    found = [(before, after, follow)]
    return found + [(one, other, np.full(len(one), same_end / 2)) for one, other in siblings]


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
    known = np.isfinite(bend)
    return np.where(known, np.exp(TURN_DECAY * np.where(known, bend, 0.0)) + TURN, 1.0)


class Smoothness(NamedTuple):
    """The precision of a Gaussian field: ``strength * (Laplacian + ridge * identity)``."""

    strength: float
    ridge: float


@dataclass(frozen=True, eq=False)
class PeriodFields:
    """A Gaussian prior for one field per period: their mean, and how each period differs from the mean."""

    mean_graph: LineGraph
    difference_graph: LineGraph
    mean: Smoothness
    difference: Smoothness

    def apply_precision(self, field: Float) -> Float:
        """Apply the precision matrix to a field, one row per period."""
        mean = field.mean(axis=0, keepdims=True)
        out = self.mean.strength * (self.mean_graph.laplacian(mean) + self.mean.ridge * mean)
        if len(field) > 1:
            rest = field - mean
            out = out + self.difference.strength * (
                self.difference_graph.laplacian(rest) + self.difference.ridge * rest
            )
        return np.asarray(out + np.zeros_like(field), np.float64)

    def diagonal(self, periods: int) -> Float:
        """Return the diagonal of the precision matrix."""
        one = self.mean.strength * (1 + self.mean.ridge - self.mean_graph.isolated)
        other = self.difference.strength * (1 + self.difference.ridge - self.difference_graph.isolated)
        return np.asarray(one / periods + other * (1 - 1 / periods), np.float64)

    def sample_precision(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Float:
        """Draw normal numbers whose covariance is the precision matrix."""
        one = self.mean_graph.sample_laplacian(rng, 1) + np.sqrt(self.mean.ridge) * rng.normal(size=(1, shape[1]))
        out = np.sqrt(self.mean.strength / shape[0]) * one + np.zeros(shape)
        if shape[0] > 1:
            rest = self.difference_graph.sample_laplacian(rng, shape[0])
            rest = rest + np.sqrt(self.difference.ridge) * rng.normal(size=shape)
            out += np.sqrt(self.difference.strength) * (rest - rest.mean(axis=0))
        return np.asarray(out, np.float64)
