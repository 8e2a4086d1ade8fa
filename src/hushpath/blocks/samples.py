"""A public sample of pairs with their hop counts: what predictions and tuning are made of.

Reads no weights.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..arrays import Float
from ..data.topology import Topology
from ..kernels.hops import nearest_chosen
from ..kernels.paths import UNREACHED, distances_from

SAMPLED_NUMBERS = 2**22
FEW = 3


@lru_cache(maxsize=2)  # a plan asks several times for the same network
def sampled_hops(topology: Topology) -> Float:
    """Return hop counts from evenly spaced nodes to all nodes they reach."""
    n = topology.num_nodes
    sources = np.unique(np.linspace(0, n - 1, max(1, min(n, 256, SAMPLED_NUMBERS // n))).astype(np.int64))
    hops = np.empty((len(sources), n), np.int64)
    distances_from(topology.arcs, np.ones(len(topology.arcs.heads), np.int64), sources, hops)
    return np.asarray(hops[(hops > 0) & (hops != UNREACHED)], np.float64)


@lru_cache(maxsize=2)
def few_hops(topology: Topology) -> Float:
    """Hop counts from the ends of ``FEW`` edges to all nodes they reach: quick enough for every load of a file."""
    if topology.num_edges == 0:
        return np.empty(0)
    arcs, sources = topology.arcs, topology.tails[np.linspace(0, topology.num_edges - 1, FEW).astype(np.int64)]
    hops = np.concatenate([nearest_chosen(arcs.start, arcs.heads, np.array([source]))[1] for source in sources])
    return np.asarray(hops[hops > 0], np.float64)


@lru_cache(maxsize=2)
def hop_histogram(topology: Topology) -> tuple[Float, Float]:
    """The different hop counts of the sample and the share of pairs that have each."""
    hops, counts = np.unique(sampled_hops(topology), return_counts=True)
    return hops, counts / max(1, counts.sum())
