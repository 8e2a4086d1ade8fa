"""A directed road map, and the routes of many trips over it at once.  Public map, simulated trips."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ..arrays import Float, Int
from ..progress import steps
from .streets import Streets

MISTAKEN = 0.12  # spread of the logarithm of a time as people see it


@dataclass(frozen=True, eq=False)
class Roads:
    """Arcs with the time of an empty road, between places."""

    places: Float  # (n, 2), in any unit
    tails: Int
    heads: Int
    free_flow: Float  # seconds, positive

    @classmethod
    def of(cls, streets: Streets) -> Roads:
        """Two arcs for each street, sorted by tail and head as a ``Topology`` has them."""
        tails = np.concatenate([streets.tails, streets.heads])
        heads = np.concatenate([streets.heads, streets.tails])
        order = np.lexsort((heads, tails))
        return cls(streets.places, tails[order], heads[order], np.tile(streets.free_flow, 2)[order])

    @property
    def centre(self) -> Float:
        """The middle of the map."""
        return np.asarray(np.median(self.places, axis=0) if len(self.places) else np.zeros(2), np.float64)

    @cached_property
    def radius(self) -> float:
        """How far it reaches."""
        away = np.hypot(*(self.places - self.centre).T)
        return float(np.quantile(away, 0.98)) + 1e-9 if len(away) else 1.0

    @cached_property
    def street(self) -> Int:
        """One arc that stands for an arc and its reverse."""
        n = len(self.places)
        low, high = np.minimum(self.tails, self.heads), np.maximum(self.tails, self.heads)
        _, first, which = np.unique(low * n + high, return_index=True, return_inverse=True)
        return np.asarray(first[which], np.int64)

    @cached_property
    def inward(self) -> Float:
        """1 for an arc that leads straight to the centre, -1 for one that leads away from it."""
        way, out = self.places[self.heads] - self.places[self.tails], self.places[self.tails] - self.centre
        size = np.hypot(*way.T) * (np.hypot(*out.T) + 0.1 * self.radius)
        return np.asarray(-(way * out).sum(1) / np.maximum(size, 1e-300), np.float64)

    @cached_property
    def capacity(self) -> Float:
        """How much an arc can carry beside others: fast roads are wide."""
        speed = np.hypot(*(self.places[self.tails] - self.places[self.heads]).T) / self.free_flow
        usual = float(np.median(speed)) if len(speed) else 1.0
        return np.asarray(np.clip(speed / max(usual, 1e-12), 0.3, 4.0) ** 1.5, np.float64)


class Tour(NamedTuple):
    """Many trips: where each begins and ends, and in which period."""

    origin: Int
    target: Int
    period: Int


def tours(roads: Roads, seconds: Float, tour: Tour, rng: np.random.Generator) -> tuple[Int, Int]:
    """Fastest routes as people see them: the trip and the arc of every pass, trip after trip, in order of driving.

    ``seconds`` has a row per period.  Targets that cannot be reached are not driven to.
    """
    n, m = len(roads.places), len(roads.tails)
    key = roads.tails * n + roads.heads
    order = np.lexsort((roads.free_flow, key))  # of parallel arcs people take the fastest
    order = order[np.concatenate([[True], np.diff(key[order]) > 0])] if m else order
    key = key[order]
    graph = csr_array((np.empty(len(key)), np.divmod(key, n)), shape=(n, n))
    starts, start = np.unique(tour.origin * len(seconds) + tour.period, return_inverse=True)
    arrived = np.full((len(starts), n), -1, np.int32)  # the arc of the tree by which each node is reached
    for row in steps(range(len(starts)), "routes"):
        origin, period = divmod(int(starts[row]), len(seconds))
        graph.data[:] = (seconds[period, order]) * np.exp(MISTAKEN * rng.normal(size=len(order)))
        before = dijkstra(graph, indices=origin, return_predecessors=True)[1].astype(np.int64)
        reached = np.flatnonzero(before >= 0)
        arrived[row, reached] = order[np.searchsorted(key, before[reached] * n + reached)]
    # All trips walk back from their ends at once, an arc at a time.
    going, node = np.arange(len(start)), tour.target.copy()
    passes: list[tuple[Int, Int]] = []
    while len(going):
        arc = arrived[start[going], node[going]]
        going, arc = going[arc >= 0], arc[arc >= 0]
        node[going] = roads.tails[arc]
        passes.append((going, arc.astype(np.int64)))
    which, arcs = (np.concatenate(column) for column in zip(*passes, strict=True)) if passes else (going, going)
    hops = np.bincount(which, minlength=len(start))
    end = np.cumsum(hops)
    step = np.repeat(np.arange(len(passes)), [len(trips) for trips, _ in passes])
    route = np.empty(len(arcs), np.int64)
    route[end[which] - 1 - step] = arcs
    return np.repeat(np.arange(len(start)), hops), route
