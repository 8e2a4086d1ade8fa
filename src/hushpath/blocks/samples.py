"""A public sample of pairs with their hop counts: what predictions and tuning are made of.

Reads no weights.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..arrays import Float, Int
from ..data.topology import Topology
from ..kernels.paths import WORTH_A_THREAD, in_threads
from ..kernels.search import count_hops

SAMPLED_NUMBERS = 2**22
FEW = 3


class HopCounts(NamedTuple):
    """The different hop counts of a sample of connected pairs, and how many pairs have each."""

    hops: Float
    pairs: Int

    @property
    def share(self) -> Float:
        """The share of the pairs that have each hop count."""
        return np.asarray(self.pairs / max(1, int(self.pairs.sum())), np.float64)

    @property
    def mean(self) -> float:
        """The mean number of hops."""
        return float(self.hops @ self.share)


@lru_cache(maxsize=2)  # a plan asks several times for the same network
def sampled_hops(topology: Topology) -> HopCounts:
    """Hop counts from evenly spaced nodes to all nodes they reach."""
    n = topology.num_nodes
    count = max(1, min(n, 256, SAMPLED_NUMBERS // n))
    return _counted(topology, np.unique(np.linspace(0, n - 1, count).astype(np.int64)))


@lru_cache(maxsize=2)
def few_hops(topology: Topology) -> HopCounts:
    """Hop counts from the ends of ``FEW`` edges to all nodes they reach: quick enough for every load of a file."""
    if topology.num_edges == 0:
        return HopCounts(np.empty(0), np.empty(0, np.int64))
    return _counted(topology, topology.tails[np.linspace(0, topology.num_edges - 1, FEW).astype(np.int64)])


def _counted(topology: Topology, sources: Int) -> HopCounts:
    """From each source to every other node it reaches."""
    arcs, found = topology.arcs, []

    def run(part: slice) -> None:
        found.append(count_hops(arcs.start, arcs.heads, sources[part]))

    in_threads(run, len(sources), worth_it=len(sources) * len(arcs.heads) >= WORTH_A_THREAD)
    pairs = np.sum(found, axis=0)
    hops = 1 + np.flatnonzero(pairs[1:])
    return HopCounts(hops.astype(np.float64), pairs[hops])
