"""What to add to posterior means so that groups of edges are right on average, and how sure that is.

Noise has mean 0 whatever the model, so noisy weights less posterior means are regressed on columns that leave the
edge's own noise out; how much of the fit to trust is learnt as well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from .facts import edge_facts
from .regression import Expectation

LARGEST_REACH = 3.0  # in units of noise: how far a weight that is large against the noise may be moved
EDGES_PER_PART, MOST_PARTS = 60, 12
ROUNDS = 30
FAR = 40.0  # no noise is that large


@dataclass(frozen=True, eq=False)
class Shift:
    """A regression of what posterior means leave over.

    Attributes:
        values, noise: noisy weights and the standard deviation of their noise.
        design: one row per edge, in units of its noise.
        inverse: the covariance of the coefficients.
        root: a square root of it, to draw them.
    """

    values: Float
    noise: Float
    design: Float
    inverse: Float
    root: Float

    @classmethod
    def of(cls, topology: Topology, fitted: Expectation) -> Shift:
        """Fit it; the columns are groups of edges by guess, public traffic and usage, and the columns of the guess."""
        observed, guess = fitted.observed, fitted.guess
        m = len(guess)
        parts = int(np.clip(m // EDGES_PER_PART, 2, MOST_PARTS))
        columns = [np.ones(m)]
        for fact in (guess, edge_facts(topology).traffic, *fitted.columns.T[fitted.groups[-1][:1]]):
            bins = np.digitize(fact, np.unique(np.quantile(fact, np.linspace(0, 1, parts + 1)[1:-1])))
            columns += [(bins == part).astype(np.float64) for part in range(int(bins.max()) + 1)]
        columns += [0.5 * column / column.std() for column in fitted.columns.T[1:] if column.std() > 1e-9]
        noise = observed.noise
        design = np.stack(columns, axis=1) * (np.minimum(np.exp(guess), LARGEST_REACH) / noise)[:, None]
        values = np.maximum(observed.values, observed.low - FAR * noise)
        cross = design.T @ ((values - fitted.posterior().mean) / noise)
        square, trust = design.T @ design, 0.01
        for _ in range(ROUNDS):
            inverse = np.asarray(np.linalg.inv(square + np.eye(len(square)) / trust), np.float64)
            coefficients = inverse @ cross
            trust = max(float(coefficients @ coefficients + np.trace(inverse)) / len(square), 1e-10)
        return cls(values, noise, design, inverse, square_root(inverse))

    def added(self, mean: Float, normal: Float | None = None) -> Float:
        """What to add to these means; with standard normal numbers (one per column) a plausible other value of it."""
        coefficients = self.inverse @ (self.design.T @ ((self.values - mean) / self.noise))
        if normal is not None:
            coefficients = coefficients + self.root @ normal
        return np.asarray(self.design @ coefficients * self.noise, np.float64)


def square_root(covariance: Float) -> Float:
    """A matrix whose product with its transpose is the covariance, whatever rounding did to it."""
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), np.float64)
