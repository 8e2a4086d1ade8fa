"""Where to push a strategy, weights under which pushing hurts most, and what a push costs.

*Bridge weights.*  Nodes are divided between the two ends of an edge by hops; all other edges across are as heavy as
they may be, those inside light.  Every pair across then goes over the edge, in each cell that holds it: the cut of
the cut lemma is moved in all of them at once.  With *flat* weights there are ties everywhere, and a lighter edge draws
paths to it.  On *lines* a hair moves every edge by a step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from replay_networks import MOST, UNIT

from hushpath.measurement.exact import exact_numbers
from hushpath.measurement.hierarchy import HierarchyBlock
from hushpath.network.private_weights import PrivateWeights
from hushpath.noise import Law

HAIR = 2.0**-32
BALL = UNIT * (1 - 2.0**-30)  # so that rounding does not leave the ball


def hierarchy_of(strategy):
    """The block of cells, or ``None``."""
    return next((block for block in strategy.blocks if isinstance(block, HierarchyBlock)), None)


def inner_edges(strategy):
    """Edges inside separators: their home is a cell that is split."""
    block = hierarchy_of(strategy)
    return np.flatnonzero(~block.hierarchy.is_leaf[block.hierarchy.home]) if block else np.empty(0, np.int64)


def edges_to_push(strategy, rng):
    """The certificate's worst edge, the most central of those as bad, inner edges, one near the root, one deep, any."""
    m, chosen = strategy.topology.num_edges, [strategy.certificate.worst_edge, central_edge(strategy, rng)]
    block = hierarchy_of(strategy)
    if block:
        level, inner = block.hierarchy.level[block.hierarchy.home], inner_edges(strategy)
        if len(inner):
            chosen += [int(inner[level[inner].argmin()]), int(rng.choice(inner))]
        chosen += [int(rng.choice(np.flatnonzero(level == level.max()))), int(level.argmin())]
    chosen.append(int(rng.integers(m)))
    return list(dict.fromkeys(chosen))


def central_edge(strategy, rng):
    """Of some edges that cost nearly as much as the worst, the one whose two sides are most alike."""
    exposure, ratio = strategy.exposure, 1.0 / strategy.scales
    share = exposure.cut * (ratio if strategy.law is Law.LAPLACE else ratio**2)
    cost = np.bincount(exposure.edge, weights=share[exposure.group], minlength=exposure.num_edges)
    bad = np.flatnonzero(cost >= 0.98 * cost.max())
    some = rng.choice(bad, min(16, len(bad)), replace=False)
    sides = [np.bincount(two_sides(strategy.topology, edge) + 1, minlength=3)[1:].min() for edge in some]
    return int(some[int(np.argmax(sides))])


def two_sides(topology, edge):
    """Every node to the end of the edge that it is nearer to, 0 or 1; -1 in other components."""
    n, arcs = topology.num_nodes, topology.arcs
    side = np.full(n, -1)
    fronts = [[int(topology.tails[edge])], [int(topology.heads[edge])]]
    for mine, front in enumerate(fronts):
        side[front] = mine
    while any(fronts):
        for mine in (0, 1):
            grown = []
            for v in fronts[mine]:
                for u in arcs.heads[arcs.start[v] : arcs.start[v + 1]].tolist():
                    if side[u] < 0:
                        side[u] = mine
                        grown.append(u)
            fronts[mine] = grown
    return side


def bridge_weights(topology, edge, rng):
    """Every path between the side of one end and the side of the other goes over the edge."""
    side = two_sides(topology, edge)
    across = side[topology.tails] != side[topology.heads]
    light = np.full(len(across), 2.0) if rng.random() < 0.7 else rng.choice([0.0, 2.0], len(across))
    weights = np.where(across, MOST, light)
    weights[edge] = 3.0
    return weights


def flat_weights(topology, rng):
    """The same everywhere, nearly the same, all zero, or at the bounds."""
    m, kind = topology.num_edges, int(rng.integers(5))
    if kind == 0:
        return np.full(m, 5.0)
    if kind == 1:
        return 5.0 + rng.integers(0, 2, m) * UNIT / 2
    if kind == 2:
        return rng.choice([0.0, 0.0, 1.0], m)
    if kind == 3:
        return rng.choice([0.0, 1.5, MOST, 2 * MOST, -3.0], m)
    return np.round(rng.uniform(0.0, 12.0, m) * 2**30) / 2**30  # so that a unit more is exactly a unit more


@dataclass(frozen=True)
class Push:
    """Two neighbouring weight vectors, and what kind of pair they are."""

    kind: str
    first: np.ndarray
    second: np.ndarray


def pushes(strategy, rng):
    """The pairs of weights to compare for one strategy."""
    topology = strategy.topology
    m = topology.num_edges
    flat = flat_weights(topology, rng)
    for edge in edges_to_push(strategy, rng):
        base = bridge_weights(topology, edge, rng)
        for sign in (1.0, -1.0):
            for kind, weights in (("bridge", base), ("flat", flat)):
                if kind == "flat" and sign > 0 and rng.random() < 0.5:
                    continue
                moved = weights.copy()
                moved[edge] += sign * UNIT
                yield Push(kind, weights, moved)
        cell = edges_of_its_cell(strategy, edge)
        share = np.zeros(m)
        some = np.unique(np.append(rng.choice(cell, min(4, len(cell)), replace=False), edge))
        share[some] = rng.dirichlet(np.ones(len(some))) * BALL
        signs = rng.choice([-1.0, 1.0], m)
        yield Push("spread", base, base + share * (signs if rng.random() < 0.5 else signs[0]))
    g = strategy.lattice.granularity
    lines = np.maximum(np.round(flat / g), 1.0) * g
    hair = min(HAIR * g, UNIT / (4 * m))
    yield Push("lines", lines, lines - hair)
    both = lines - hair * rng.integers(0, 2, m)
    other = np.where(both < lines, lines, lines - hair)
    other[strategy.certificate.worst_edge] += UNIT / 2
    yield Push("lines", both, other)
    everywhere = rng.dirichlet(np.full(m, 0.3)) * rng.choice([-1.0, 1.0], m) * BALL
    yield Push("everywhere", flat, flat + everywhere)


def edges_of_its_cell(strategy, edge):
    """Edges with the same home, or all if there are no cells."""
    block = hierarchy_of(strategy)
    if block is None:
        return np.arange(strategy.topology.num_edges)
    return np.flatnonzero(block.hierarchy.home == block.hierarchy.home[edge])


class Meter:
    """Exact numbers of a strategy and what two weight vectors differ by; remembers the last few."""

    def __init__(self, strategy):
        self.strategy = strategy
        self.exposure = strategy.exposure
        self.group = np.repeat(np.arange(len(strategy.scales)), strategy.group_sizes)
        self._known = {}

    def steps(self, weights):
        return PrivateWeights(weights, num_rows=len(weights)).on_lattice(self.strategy.lattice)

    def numbers(self, weights):
        key, s = weights.tobytes(), self.strategy
        found = self._known.pop(key, None)
        if found is None:
            steps = self.steps(weights)
            found = np.concatenate([exact_numbers(block, s.lattice, steps) for block in s.blocks])
        self._known[key] = found
        if len(self._known) > 4:
            self._known.pop(next(iter(self._known)))
        return found

    def moves(self, push):
        """How far every number moves, in steps."""
        return np.abs(self.numbers(push.first) - self.numbers(push.second))

    def cost(self, moves):
        """In the currency of the certificate."""
        ratio = moves / self.strategy.scales[self.group]
        return float(ratio.sum() if self.strategy.law is Law.LAPLACE else (ratio**2).sum() / 2)

    def group_excess(self, push, moves):
        """By group: moved in all, moved most, and the steps of the edges that exposure says are in it."""
        exposure, count = self.exposure, len(self.strategy.scales)
        changed = np.abs(self.steps(push.first) - self.steps(push.second)).astype(float)
        allowed = np.bincount(exposure.group, weights=changed[exposure.edge], minlength=count)
        total = np.bincount(self.group, weights=moves.astype(float), minlength=count)
        most = np.zeros(count)
        np.maximum.at(most, self.group, moves.astype(float))
        return total, most, allowed
