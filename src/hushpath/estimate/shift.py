"""What to add to posterior means so that groups of edges are right on average, and how sure that is.

Noise has mean 0 whatever the model, so noisy weights less posterior means are regressed on columns that leave the
edge's own noise out; how much of the fit to trust is learnt as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from .facts import edge_facts
from .regression import Expectation

LARGEST_REACH = 3.0  # in units of noise: how far a weight that is large against the noise may be moved
EDGES_PER_PART, MOST_PARTS = 60, 12
ROUNDS = 30
FAR = 40.0  # no noise is that large
MANY_EDGES = 100_000  # coefficients are fitted to about so many at most
CHUNK = 2**16


@dataclass(frozen=True, eq=False)
class Design:
    """The columns of the regression, made when they are asked for: of a large network all rows would be gigabytes.

    Attributes:
        bins: groups of edges, and how many there are in each grouping.
        columns: those of the guess, and what to multiply each with.
        reach: what a row is multiplied with.
    """

    bins: tuple[tuple[Int, int], ...]
    columns: Float
    scale: Float
    reach: Float

    @classmethod
    def of(cls, topology: Topology, fitted: Expectation) -> Design:
        """Groups of edges by guess, public traffic and usage, and the columns of the guess."""
        guess = fitted.guess
        parts = int(np.clip(len(guess) // EDGES_PER_PART, 2, MOST_PARTS))
        bins = []
        for fact in (guess, edge_facts(topology).traffic, *fitted.columns.T[fitted.groups[-1][:1]]):
            found = np.digitize(fact, np.unique(np.quantile(fact, np.linspace(0, 1, parts + 1)[1:-1])))
            bins.append((found, int(found.max()) + 1))
        width = fitted.columns.std(axis=0)
        scale = np.where(width > 1e-9, 0.5 / np.maximum(width, 1e-9), 0.0)
        scale[0] = 0.0  # the constant is there already
        reach = np.minimum(np.exp(guess), LARGEST_REACH) / fitted.observed.noise
        return cls(tuple(bins), fitted.columns, scale, reach)

    def rows(self, which: slice | Int) -> Float:
        """Some rows."""
        columns = [np.ones(len(self.reach[which]))]
        for bins, count in self.bins:
            columns += [(bins[which] == part).astype(np.float64) for part in range(count)]
        kept = self.scale > 0
        of_guess = self.columns[which][:, kept] * self.scale[kept]
        return np.asarray(np.hstack([np.stack(columns, axis=1), of_guess]) * self.reach[which][:, None], np.float64)


@dataclass(frozen=True, eq=False)
class Shift:
    """A regression of what posterior means leave over, fitted to some of the edges if there are very many.

    Attributes:
        values, noise: noisy weights and the standard deviation of their noise.
        design: one row per edge, in units of its noise.
        sample: the edges it is fitted to, and their rows.
        inverse: the covariance of the coefficients.
        root: a square root of it, to draw them.
    """

    values: Float
    noise: Float
    design: Design
    sample: tuple[Int, Float]
    inverse: Float
    root: Float

    @classmethod
    def of(cls, topology: Topology, fitted: Expectation, mean: Float | None = None) -> Shift:
        """Fit it; ``mean`` are the posterior means, if these are known."""
        observed, noise, design = fitted.observed, fitted.observed.noise, Design.of(topology, fitted)
        values = np.maximum(observed.values, observed.low - FAR * noise)
        mean = fitted.posterior().mean if mean is None else mean
        sample = np.arange(0, len(values), -(-len(values) // MANY_EDGES))
        rows = design.rows(sample)
        cross = rows.T @ ((values - mean) / noise)[sample]
        square, trust = rows.T @ rows, 0.01
        for _ in range(ROUNDS):
            inverse = np.asarray(np.linalg.inv(square + np.eye(len(square)) / trust), np.float64)
            coefficients = inverse @ cross
            trust = max(float(coefficients @ coefficients + np.trace(inverse)) / len(square), 1e-10)
        return cls(values, noise, design, (sample, rows), inverse, square_root(inverse))

    def added(self, mean: Float, normal: Float | None = None) -> Float:
        """What to add to these means; with standard normal numbers (one per column) a plausible other value of it."""
        sample, rows = self.sample
        coefficients = self.inverse @ (rows.T @ ((self.values - mean) / self.noise)[sample])
        if normal is not None:
            coefficients = coefficients + self.root @ normal
        if len(sample) == len(mean):
            return np.asarray(rows @ coefficients * self.noise, np.float64)
        out = np.empty(len(mean))
        for first in range(0, len(mean), CHUNK):
            part = slice(first, first + CHUNK)
            out[part] = self.design.rows(part) @ coefficients * self.noise[part]
        return out


def square_root(covariance: Float) -> Float:
    """A matrix whose product with its transpose is the covariance, whatever rounding did to it."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float64)
