"""Errors that neighbouring edges share: smooth random fields over the edges, and how much of the error they carry.

A model that expects too little of one district is wrong about all its streets together, and routes add such errors up.
Noise is independent between edges, so products of what is left over on two different edges average to what their
errors have in common.  Fields of several ranges are fitted to such products.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from ..noise import simulation
from .facts import edge_facts

RANGES = (1, 3, 9, 27, 81)  # steps of diffusion from edge to edge
FOLDS, PROBES, SIGNS, EXAMPLES = 4, 16, 12, 3
TYPICAL, SPREAD = 0.02, 0.1  # of the share of one range, before a release says anything
MOST = 0.95  # of the error, for all ranges together


class Fields:
    """Random fields over the edges of a network, each with variance 1."""

    def __init__(self, topology: Topology) -> None:
        from scipy.sparse import diags_array

        incidence = edge_facts(topology).incidence
        self.count = topology.num_edges
        self._to_edges = (0.5 * incidence).tocsr()
        self._to_nodes = (diags_array(1 / np.maximum(incidence.sum(axis=0), 1)) @ incidence.T).tocsr()
        rng = simulation(20)
        probes = self._diffused(rng.normal(size=(self.count, PROBES)))
        self._size = [float(np.sqrt(np.mean(field**2))) or 1.0 for field in probes]
        self._fold = rng.integers(0, FOLDS, self.count)
        self._examples = [
            field / size
            for field, size in zip(self._diffused(rng.normal(size=(self.count, EXAMPLES))), self._size, strict=True)
        ]

    def _diffused(self, fields: Float) -> list[Float]:
        """Columns after each number of steps."""
        found, done = [], 0
        for steps in RANGES:
            while done < steps:
                fields = self._to_edges @ (self._to_nodes @ fields)
                done += 1
            found.append(fields)
        return found

    def products(self, left: Float) -> Float:
        """For each range the mean product of an edge and the edges around it, its own fold hidden."""
        hidden = self._fold[:, None] == np.arange(FOLDS)
        around = self._diffused(np.where(hidden, 0.0, left[:, None]))
        return np.array([np.mean(left * field[hidden]) for field in around])

    def shares(self, left: Float, spread: Float, leak: Float) -> Float:
        """The share of the error that each range carries.

        Args:
            left: noisy weights less estimated ones.
            spread: the typical error of each edge, whatever its own noise.
            leak: what products of true errors have more than those of ``left`` (noise is in neighbours' estimates).
        """
        from scipy.optimize import nnls

        rng, scaled = simulation(21), left / spread
        mixed = np.array([self.products(scaled * rng.choice([-1.0, 1.0], self.count)) for _ in range(SIGNS)])
        unit = np.sqrt(np.mean(mixed**2, axis=0)) + 1e-12
        likeness = 0.9 * (mixed / unit).T @ (mixed / unit) / SIGNS + 0.1 * np.eye(len(RANGES))
        whiten = np.linalg.inv(np.linalg.cholesky(likeness))
        shape = np.array([np.mean([self.products(one) for one in field.T], axis=0) for field in self._examples]).T
        rows = np.vstack([whiten @ (shape / unit[:, None]), np.eye(len(RANGES)) / SPREAD])
        typical = np.full(len(RANGES), TYPICAL / SPREAD)
        target = np.concatenate([whiten @ ((self.products(scaled) + leak) / unit), typical])
        found = nnls(rows, target)[0]
        return np.asarray(found * min(1.0, MOST / max(float(found.sum()), 1e-12)), np.float64)

    def sample(self, shares: Float, rng: np.random.Generator) -> Float:
        """Standard normal numbers, one per edge, that share as much with their neighbours."""
        normal = np.sqrt(1 - shares.sum()) * rng.normal(size=self.count)
        seeds = rng.normal(size=(self.count, 1))
        for field, size, share in zip(self._diffused(seeds), self._size, shares, strict=True):
            normal += np.sqrt(share) * field[:, 0] / size
        return np.asarray(normal, np.float64)
