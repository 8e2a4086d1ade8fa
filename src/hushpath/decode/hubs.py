"""Distances by hubs: a walk over noisy edges, one number between hubs, a walk (docs/proofs/rivals.md).

All sums are integers, and a walk reads the same in both directions, so answers of undirected networks are symmetric
to the last bit.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..blocks.core import CliqueBlock, ClusterBlock
from ..data.lattice import LARGEST_DISTANCE
from ..data.topology import Arcs
from ..kernels.hops import FAR, UNREACHED, hub_rows
from ..kernels.paths import distances_from, in_threads
from ..measure.door import Measurements
from ..strategy.hubs import hop_limit
from ..strategy.hubs_bounded import walk_limits
from .bounds import error_bound
from .table import reached


class HubDecoder:
    """Answers for edges and hubs, and perhaps clusters with local hubs."""

    def __init__(self, measurements: Measurements) -> None:
        self.strategy = measurements.strategy
        self.topology = measurements.strategy.topology
        self.values = measurements.values
        clique = self.strategy.blocks[1]
        assert isinstance(clique, CliqueBlock)
        self.clique = clique

    @cached_property
    def _edges(self) -> tuple[Int, Int, Int]:
        """All arcs with noisy lengths, clipped to the public bounds."""
        lattice, arcs = self.strategy.lattice, self.topology.arcs
        lengths = np.clip(self.values[: self.topology.num_edges], lattice.low, lattice.high)
        return np.array(arcs.start), np.array(arcs.heads), np.array(lengths[arcs.edges])

    @cached_property
    def _hub_table(self) -> tuple[Int, Int]:
        """Hubs and the numbers between them, ``UNREACHED`` where no path leads."""
        directed, groups = self.topology.directed, self.clique.groups(self.topology)
        hubs = np.concatenate([*groups, np.empty(0, np.int64)]).astype(np.int64)
        table = np.full((len(hubs), len(hubs)), UNREACHED)
        at, first = self.topology.num_edges, 0
        for group in groups:
            p = len(group)
            count = p * (p - 1) if directed else p * (p - 1) // 2
            table[first : first + p, first : first + p] = _square(self.values[at : at + count], p, directed=directed)
            at, first = at + count, first + p
        if directed:
            for part, connected in reached(self.topology, hubs):
                table[part][~connected[:, hubs]] = UNREACHED
        return hubs, table

    @cached_property
    def _local(self) -> tuple[tuple[Int, Int, Int], tuple[Int, Int, Int, Int], tuple[int, int]]:
        """Arcs inside clusters, local hubs with their numbers, and the limits of a walk."""
        nothing, zero = np.empty(0, np.int64), np.zeros(1, np.int64)
        if len(self.strategy.blocks) == 2:
            limit = hop_limit(self.topology.num_nodes, len(self.clique.vertices))
            return (zero, nothing, nothing), (zero, nothing, zero, nothing), (limit, 0)
        block = self.strategy.blocks[2]
        assert isinstance(block, ClusterBlock)
        crossings, stay, _ = walk_limits(self.topology, self.clique.vertices, block)
        inner, groups = block.inner_arcs(self.topology), block.groups(self.topology)
        lattice = self.strategy.lattice
        lengths = np.clip(self.values[: self.topology.num_edges], lattice.low, lattice.high)[inner.edges]
        part = _parts(inner)  # balls are connected; a file may hold other clusters
        at = len(self.values) - int(block.group_sizes(self.topology).sum())
        tables = []
        for group in groups:
            p = len(group)
            table = _square(self.values[at : at + p * (p - 1) // 2], p, directed=False)
            at += p * (p - 1) // 2
            table[part[group][:, None] != part[group]] = UNREACHED
            tables.append(table.ravel())
        hub_start = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
        table_start = np.concatenate([[0], np.cumsum([len(table) for table in tables])]).astype(np.int64)
        return (
            (np.array(inner.start), np.array(inner.heads), lengths),
            (hub_start, np.concatenate([*groups, nothing]), table_start, np.concatenate([*tables, nothing])),
            (crossings, stay),
        )

    def rows(self, sources: Int, out: Float) -> None:
        """One search per source."""
        inside, local, limits = self._local
        hubs, table = self._hub_table
        edges = self._edges

        def run(part: slice) -> None:
            step = np.empty((len(sources[part]), self.topology.num_nodes), np.int64)
            hub_rows(np.array(sources[part]), edges, inside, local, limits, hubs, table, step)
            for i in np.flatnonzero((step >= FAR).any(axis=1)).tolist():
                step[i] = self._unlimited(int(sources[part][i]), step[i])
            out[part] = self.strategy.lattice.floats(step)
            out[part][step >= FAR] = np.inf

        in_threads(run, len(sources))

    def _unlimited(self, source: int, step: Int) -> Int:
        """Fill what no limited way joins with distances over noisy edges alone."""
        missing = step >= FAR
        if not self.topology.directed:
            missing &= self.topology.components == self.topology.components[source]
        if not missing.any():
            return step
        reach = np.empty((1, self.topology.num_nodes), np.int64)
        distances_from(self.topology.arcs, self._edges[2], np.array([source]), reach)
        return np.where(missing, reach[0], step)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """One search per distinct source; of the two ends of an undirected pair, the rarer one is the source."""
        if not self.topology.directed and len(np.unique(targets)) < len(np.unique(sources)):
            sources, targets = targets, sources
        answer = np.empty(len(sources))
        distinct, which = np.unique(sources, return_inverse=True)
        rows = max(1, 2**22 // self.topology.num_nodes)
        for first in range(0, len(distinct), rows):
            chunk = distinct[first : first + rows]
            out = np.empty((len(chunk), self.topology.num_nodes))
            self.rows(chunk, out)
            mine = np.flatnonzero((which >= first) & (which < first + rows))
            answer[mine] = out[which[mine] - first, targets[mine]]
        return answer

    def interval(self, source: int, target: int, confidence: float) -> tuple[float, float]:
        """The answer plus and minus the proved bound: holds at once for all pairs, so it is wide for any one."""
        answer = float(self.pairs(np.array([source]), np.array([target]))[0])
        if source == target or not np.isfinite(answer):
            return answer, answer
        bound = error_bound(self.strategy, 1 - confidence)
        return max(0.0, answer - bound.noise - bound.detour), answer + bound.noise + bound.below


def _parts(arcs: Arcs) -> Int:
    """The number of each node's connected part along these arcs."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = len(arcs.start) - 1
    graph = csr_array((np.ones(len(arcs.heads), np.int8), arcs.heads, arcs.start), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int64)


def _square(numbers: Int, p: int, *, directed: bool) -> Int:
    """A group's numbers as a table, never negative, 0 on the diagonal."""
    table = np.zeros((p, p), np.int64)
    values = np.clip(numbers, 0, LARGEST_DISTANCE)
    if directed:
        table[~np.eye(p, dtype=bool)] = values
    else:
        table[np.triu_indices(p, 1)] = values
        table += table.T
    return table
