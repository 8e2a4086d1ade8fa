"""How much of the noisy weight itself to keep beside the shrunken one: what rehearsals and the release itself say.

rehearsal: weights drawn from what the release leaves possible are taken for the truth, measured again with fresh noise
and read again from scratch.  Their distances are known, so the error of every share is.

shared error: a model that is wrong forecasts its own gain wrongly, and no rehearsal of its own shows it.  But along
routes that public facts suggest, what noisy weights leave over of the shrunken ones shows whether those are off
together (``routes.shared_error``).  Such errors add up along a route; those of noisy weights do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Float, Int
from ..blocks.routes import distances, usage
from ..data.lattice import Lattice
from ..data.topology import Topology
from ..kernels.search import hops_from
from ..noise import simulation
from .core import NoisyEdges
from .routes import shared_error

SHARES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
MANY_EDGES = 20_000  # rehearsals take place in a part of so many edges
MEAN_OF_STD = 0.8  # mean absolute value of a normal number
REHEARSED_EDGES, MOST_REHEARSALS = 6_000, 6  # in all: in small networks a single rehearsal is a matter of luck
IN_COMMON = 0.3  # the part of what means may be off by that edges of a route usually share
TINY = 1e-9  # in units of noise: an error that is none, where paths have no length
SHARPNESS = 0.03  # shares whose errors differ by less are averaged


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Shrunken weights, in units of noise, as they are before anything is hedged."""

    mean: Float  # posterior means
    weights: Float  # the same as they are searched: a factor makes distances right on average
    noisy: Float  # the measured weights, within their bounds
    draws: tuple[Float, ...]  # weights that the release leaves possible
    spread: Float  # of the draws: how far off each mean may be

    def mixed(self, share: float) -> Float:
        """With this share of the noisy weights."""
        return (1 - share) * self.weights + share * self.noisy


Shrink = Callable[[NoisyEdges], Shrunk]


def error_in_common(topology: Topology, expected: Float, shrunk: Shrunk, values: Float) -> float:
    """The relative error that means share along the routes that public facts suggest.

    Such routes prefer edges that facts flatter, so all of them together are longer than the means say, and the truth
    has better ones: no error of distances.  That they were *shorter* than the means say would be one.
    """
    used, mean = usage(topology, expected), shrunk.mean
    length = float(used @ mean)
    if length <= TINY:
        return 0.0
    flattered, usual = max(float(used @ values) / length, 1.0), IN_COMMON * float(used @ shrunk.spread) / length
    return shared_error(topology, expected, flattered * mean, values - flattered * mean, usual)


def noisy_share(noisy: NoisyEdges, draws: Sequence[Float], shared: float, unit: float, shrink: Shrink) -> float:
    """The share of noisy weights that promises the smallest error."""
    part, kept = _part(noisy)
    count = min(max(REHEARSED_EDGES // max(len(kept), 1), 1), MOST_REHEARSALS, len(draws))
    risks = [_risk(part, draws[i][kept], shared, unit, shrink, i) for i in range(count)]
    risk = np.exp(np.mean(np.log(risks), axis=0))
    chance = np.exp(-(risk - risk.min()) / (SHARPNESS * risk[-1]))
    return float(chance @ SHARES / chance.sum())


def _risk(noisy: NoisyEdges, draw: Float, shared: float, unit: float, shrink: Shrink, turn: int) -> Float:
    """The error to expect of each share, relative to that of the noisy weights alone."""
    truth = np.clip(np.rint(draw * unit), noisy.lattice.low, noisy.lattice.high)
    values = np.rint(truth + noisy.drawn(simulation(7 + turn))).astype(np.int64)
    again = shrink(replace(noisy, values=values))
    true = distances(noisy.topology, truth / unit)
    if not len(true):
        return np.ones(len(SHARES))
    error = [np.abs(distances(noisy.topology, again.mixed(share)) - true).mean() for share in SHARES]
    risk = np.hypot(error, MEAN_OF_STD * shared * true.mean() * (1 - SHARES)) + TINY
    return np.asarray(risk / risk[-1])


def _part(noisy: NoisyEdges) -> tuple[NoisyEdges, Int]:
    """The network, or the nodes around a public one until they have enough edges; and which edges these are."""
    topology, m = noisy.topology, noisy.topology.num_edges
    if m <= MANY_EDGES:
        return noisy, np.arange(m)
    arcs = topology.arcs
    hops = hops_from(arcs.start, arcs.heads, int(arcs.heads[len(arcs.heads) // 2]))
    hops = np.where(hops < 0, topology.num_nodes, hops)
    farther = np.maximum(hops[topology.tails], hops[topology.heads])
    radius = np.sort(farther)[MANY_EDGES]
    kept = np.flatnonzero(farther < max(radius, 2))
    return _restricted(noisy, kept), kept


def _restricted(noisy: NoisyEdges, kept: Int) -> NoisyEdges:
    """Some edges and their ends, as a network of its own; edges and nodes keep their order."""
    whole, lattice = noisy.topology, noisy.lattice
    nodes, ends = np.unique(np.concatenate([whole.tails[kept], whole.heads[kept]]), return_inverse=True)
    topology = Topology(
        labels=tuple(range(len(nodes))), tails=ends[: len(kept)], heads=ends[len(kept) :], directed=whole.directed,
        lower=whole.lower[kept], upper=whole.upper[kept],
        coordinates=None if whole.coordinates is None else whole.coordinates[nodes],
        proxy=None if whole.proxy is None else whole.proxy[kept], proxy_name=whole.proxy_name,
    )  # fmt: skip
    bounds = Lattice(lattice.granularity, lattice.low[kept], lattice.high[kept], lattice.twins[kept])
    return NoisyEdges(topology, bounds, noisy.law, np.arange(len(kept)), noisy.values[kept], noisy.scales[kept])
