"""Least squares for congestion: coefficients of public facts, and a smooth field over the edges in each period.

The logarithm of time over free flow is, per period q and edge e,

    eta = x beta  +  u  +  nu

u has a part that all periods share and a part by which each differs from their mean, two fields of different
smoothness; nu is independent between edges and exchangeable between periods (one correlation for all pairs).  So the
precision of u falls into a mean and deviations from it, and the covariance of nu and noise is a diagonal plus a product
of two vectors, whose inverse is of the same form: nothing larger than a vector per period is ever made, however many
periods there are, and systems are solved by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Bool, Float
from ..noise import simulation
from .line_graph import Fields

TOLERANCE, MOST_STEPS = 1e-3, 200


def _product(one: Float, other: Float) -> float:
    """The inner product, by one thread: thousands of short ones with threads of their own take ten times as long."""
    return float(np.einsum("i,i->", one.ravel(), other.ravel()))


@dataclass(frozen=True, eq=False)
class Columns:
    """Facts that congestion may depend on: a level per period, facts of edges, and one of edges and periods.

    Attributes:
        shared: (k, m), the same in all periods.
        own: (j, P, m).
        ridge: precision of each coefficient: P levels, k, j.
    """

    shared: Float
    own: Float
    ridge: Float

    def times(self, beta: Float) -> Float:
        """What coefficients expect, (P, m)."""
        j, p, k = len(self.own), self.own.shape[1], len(self.shared)
        out = beta[:p, None] + np.einsum("k,km->m", beta[p : p + k], self.shared)[None, :]
        for column, coefficient in zip(self.own, beta[p + k : p + k + j], strict=True):
            out = out + coefficient * column
        return np.asarray(out, np.float64)

    def transposed(self, values: Float) -> Float:
        """The sum of values by column."""
        own = [_product(column, values) for column in self.own]
        return np.concatenate([values.sum(axis=1), np.einsum("km,m->k", self.shared, values.sum(axis=0)), own])

    def gram(self, weights: Float) -> Float:
        """Products of columns, weighted, plus the ridge."""
        rows = np.eye(len(self.ridge))
        return np.array([self.transposed(weights * self.times(row)) for row in rows]) + np.diag(self.ridge)


@dataclass(frozen=True, eq=False)
class Seen:
    """What was seen of eta: values (P, m) with independent errors of variance ``error``, and nu on top of them.

    Attributes:
        tau: standard deviation of nu, (P, m).
        alike: its correlation between periods.
        kept: per edge whether it counts; others are as if nothing had been seen of them.
    """

    values: Float
    error: Float
    tau: Float
    alike: float
    kept: Bool

    def hidden(self, edges: Bool) -> Seen:
        """With some edges hidden."""
        return replace(self, kept=self.kept & ~edges)

    def weighed(self, values: Float) -> Float:
        """The inverse of the covariance of values around x beta + u, applied."""
        own = self._own
        out = values / own
        if self.alike:
            out = out - self._common / own * self.tau * (self.tau * out).sum(axis=0)
        return np.asarray(out * self.kept, np.float64)

    @property
    def _own(self) -> Float:
        return self.error + (1 - self.alike) * self.tau**2

    @property
    def _common(self) -> Float:
        return np.asarray(self.alike / (1 + self.alike * (self.tau**2 / self._own).sum(axis=0)), np.float64)

    @property
    def diagonal(self) -> Float:
        """Of the same inverse."""
        own = self._own
        return np.asarray((1 / own - self._common * (self.tau / own) ** 2) * self.kept, np.float64)

    def drawn_toward(self, left: Float) -> Float:
        """The mean of nu, given what is left of the values."""
        pulled = self.tau * self.weighed(left)
        out = self.tau * ((1 - self.alike) * pulled + self.alike * pulled.sum(axis=0))
        return np.asarray(out, np.float64)

    @property
    def left(self) -> Float:
        """The variance of nu that the values leave open, if x beta + u were known."""
        out = np.empty_like(self.tau)
        for q, own in enumerate(self.tau):
            column = self.alike * self.tau * own
            column[q] = own**2
            out[q] = own**2 - (column * self.weighed(column)).sum(axis=0)
        return np.maximum(out, 1e-12 * self.tau**2)

    def sample(self, rng: np.random.Generator) -> tuple[Float, Float]:
        """Draws of nu and of the errors."""
        common = rng.normal(size=self.tau.shape[1])
        nu = self.tau * (np.sqrt(1 - self.alike) * rng.normal(size=self.tau.shape) + np.sqrt(self.alike) * common)
        return nu, np.sqrt(self.error) * rng.normal(size=self.error.shape)


@dataclass(frozen=True, eq=False)
class Solved:
    """Coefficients and field."""

    columns: Columns
    beta: Float
    field: Float

    @property
    def expected(self) -> Float:
        """What they expect of eta."""
        return self.columns.times(self.beta) + self.field


def solve(
    columns: Columns, fields: Fields | None, seen: Seen, start: Solved | None = None,
    pushed: tuple[Float, Float] | None = None,
) -> Solved:  # fmt: skip
    """The most plausible coefficients and field; no field at all if ``fields`` is none.

    ``pushed`` is added to the right hand side (see ``sample``).
    """
    k, strong = len(columns.ridge), seen.diagonal
    inverse = np.asarray(np.linalg.pinv(columns.gram(strong), hermitian=True), np.float64)
    weighed = seen.weighed(seen.values)
    right = columns.transposed(weighed), weighed
    if pushed is not None:
        right = right[0] + pushed[0], right[1] + pushed[1]
    if fields is None:
        return Solved(columns, _regressed(columns, seen, right[0], inverse), np.zeros_like(weighed))
    diagonal = (strong + fields.diagonal(len(strong))).ravel()

    def applied(packed: Float) -> Float:
        beta, field = packed[:k], packed[k:].reshape(weighed.shape)
        back = seen.weighed(columns.times(beta) + field)
        top = columns.transposed(back) + columns.ridge * beta
        return np.concatenate([top, (back + fields.precise(field)).ravel()])

    def eased(packed: Float) -> Float:
        return np.concatenate([inverse @ packed[:k], packed[k:] / diagonal])

    first = np.zeros(k + weighed.size) if start is None else np.concatenate([start.beta, start.field.ravel()])
    packed = _gradients(applied, eased, np.concatenate([right[0], right[1].ravel()]), first)
    return Solved(columns, packed[:k], packed[k:].reshape(weighed.shape))


def sample(columns: Columns, fields: Fields | None, seen: Seen, found: Solved, seed: int) -> tuple[Solved, Float]:
    """A draw from what is plausible: coefficients and field, and nu.

    A system solved for data and prior that are perturbed by their own spread gives an exact draw.
    """
    rng = simulation(seed)
    nu, error = seen.sample(rng)
    top = np.sqrt(columns.ridge) * rng.normal(size=len(columns.ridge))
    push = np.zeros_like(seen.values) if fields is None else fields.sample(rng, seen.values.shape)
    moved = replace(seen, values=seen.values + nu + error)
    drawn = solve(columns, fields, moved, found, (top, push))
    return drawn, seen.drawn_toward(moved.values - drawn.expected) - nu


def _regressed(columns: Columns, seen: Seen, right: Float, inverse: Float) -> Float:
    def applied(beta: Float) -> Float:
        return columns.transposed(seen.weighed(columns.times(beta))) + columns.ridge * beta

    return _gradients(applied, lambda packed: np.asarray(inverse @ packed), right, inverse @ right)


def _gradients(applied: Callable[[Float], Float], eased: Callable[[Float], Float], right: Float, x: Float) -> Float:
    """Conjugate gradients, eased by an approximate inverse."""
    left = right - applied(x)
    step = eased(left)
    power, enough = _product(left, step), TOLERANCE**2 * _product(right, eased(right))
    for _ in range(MOST_STEPS):
        if not power > enough:
            break
        image = applied(step)
        size = power / _product(step, image)
        x = x + size * step
        left = left - size * image
        ready = eased(left)
        power, before = _product(left, ready), power
        step = ready + power / before * step
    return np.asarray(x, np.float64)
