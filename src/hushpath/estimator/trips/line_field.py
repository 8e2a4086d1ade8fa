"""A smooth Gaussian field over the line graph of a network: the prior of congestion, and draws of it.

A field is white noise that is averaged over neighbouring edges a number of times; edges that follow each other count
more the straighter they do, and arcs know their reverse arc (``hierarchy``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...arrays import Float, Int
from ...network.topology import Topology
from ..hierarchy import REVERSE, SAME_END, meeting_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_array

OPPOSED = -0.5  # weight of the reverse arc where it is expected to have the opposite sign
WIDE_STEPS = 60


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
        average = self.adjacency + diags_array(self.isolated)
        for _ in range(WIDE_STEPS):
            noise = average @ noise
        field = noise / scale
        return np.asarray((field / np.sqrt(np.mean(field**2, axis=0) + 1e-300)).T, np.float64)


def line_graph(topology: Topology, reverse: float = REVERSE, same_end: float = SAME_END) -> LineGraph:
    """Build the line graph of a network from its ends and, where known, its coordinates."""
    from scipy.sparse import csr_array, diags_array

    m = topology.num_edges
    one, other, weight = meeting_pairs(topology, reverse, same_end)
    upper = csr_array((weight, (np.minimum(one, other), np.maximum(one, other))), shape=(m, m))  # sums duplicates
    found = upper.tocoo()
    ends = found.coords[0].astype(np.int64), found.coords[1].astype(np.int64)
    size = np.abs(found.data)
    degree = np.bincount(ends[0], size, m) + np.bincount(ends[1], size, m)
    scale = diags_array(1 / np.sqrt(np.where(degree > 0, degree, 1.0)))
    adjacency = csr_array(scale @ (upper + upper.T) @ scale)
    return LineGraph(adjacency, ends, np.sign(found.data) * np.sqrt(size), np.asarray(degree, np.float64))


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
