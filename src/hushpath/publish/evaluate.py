"""How far a release is from the truth: for the data owner only.  Everything computed here is NOT PRIVATE.

The only module besides ``measure`` that opens the weights.  Its results are marked and must stay with the owner.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..data.network import Network
from ..errors import InputError
from ..kernels.paths import UNREACHED, distances_from
from ..noise import simulation
from ..progress import steps
from .oracle import Release
from .statement import NOT_PRIVATE


@dataclass(frozen=True, eq=False)
class Comparison:
    """True and released distances of the same pairs, side by side.  NOT PRIVATE."""

    true: Float
    released: Float
    hops: Int


@dataclass(frozen=True)
class Evaluation:
    """Error of a release over pairs of connected nodes.  NOT PRIVATE: for the data owner only."""

    pairs: int
    mean_distance: float
    mean_error: float
    p95_error: float
    max_error: float
    bias: float
    relative_error: float

    @classmethod
    def of(cls, comparison: Comparison) -> Evaluation:
        """Summarise a comparison."""
        difference = comparison.released - comparison.true
        error = np.abs(difference)
        mean = float(comparison.true.mean()) if len(error) else 0.0
        return cls(
            pairs=len(error),
            mean_distance=mean,
            mean_error=float(error.mean()) if len(error) else 0.0,
            p95_error=float(np.quantile(error, 0.95)) if len(error) else 0.0,
            max_error=float(error.max(initial=0.0)),
            bias=float(difference.mean()) if len(error) else 0.0,
            relative_error=float(error.mean() / mean) if len(error) and mean > 0 else 0.0,
        )

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, marked."""
        return {"marking": f"{NOT_PRIVATE}: for the data owner only", **asdict(self)}

    def __str__(self) -> str:
        return "\n".join([
            f"{NOT_PRIVATE}: computed from the true weights, for the data owner only. Do not publish.",
            f"pairs compared      {self.pairs}",
            f"mean true distance  {self.mean_distance:.6g}",
            f"mean |error|        {self.mean_error:.6g}  ({100 * self.relative_error:.3g} % of the mean distance)",
            f"95 % of errors <=   {self.p95_error:.6g}",
            f"largest error       {self.max_error:.6g}",
            f"bias                {self.bias:+.6g}",
        ])  # fmt: skip


def compare(network: Network, release: Release, *, sources: int = 64) -> Comparison:
    """Compare from a sample of sources (all, if there are no more) to every node they reach."""
    topology = network.topology
    if not topology.is_same(release.topology, bounds=False):
        raise InputError("the release was made from another topology than this network")
    n = topology.num_nodes
    chosen = np.arange(n) if n <= sources else np.sort(simulation(0).choice(n, sources, replace=False))
    lengths = np.maximum(network.weights.reveal(), 0.0)[topology.arcs.edges]
    ones = np.ones(len(topology.arcs.heads), np.int64)
    parts: list[tuple[Float, Float, Int]] = []
    for part in steps(release.chunks(len(chosen)), "comparing"):
        rows = chosen[part]
        true, hops = np.empty((len(rows), n)), np.empty((len(rows), n), np.int64)
        distances_from(topology.arcs, lengths, rows, true)
        distances_from(topology.arcs, ones, rows, hops)
        keep = (hops > 0) & (hops != UNREACHED)
        parts.append((true[keep], release.rows(rows)[keep], hops[keep]))
    return Comparison(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def evaluate(network: Network, release: Release, *, sources: int = 64) -> Evaluation:
    """Return the true error of a release.  NOT PRIVATE: for the data owner only."""
    return Evaluation.of(compare(network, release, sources=sources))
