"""Algorithm 2 as printed, with its typos resolved: Recursive-APSD over shortcuts between adjacent levels.

For reading beside the paper and for comparing; every pair of every cell is a matrix entry, so it is for small networks.
Lines of the paper are cited where they act.  Resolved (paper page): a shortcut between S_b and the parent's
separator is a distance inside the child G_b, and only pairs already measured inside S_b are skipped.

``estimate_0[b][s, t]``: the call with k = 0, for all s, t in V_b.
``estimate_1[b][s, t]``: the call with k > 0, for s in V_b and t in the parent's separator.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..arrays import Float, Int
from ..errors import CannotError
from ..estimator.base import Estimator
from ..index.index import MAX_BYTES, refuse_above
from ..kernels.minplus import INFINITE
from ..kernels.tables import leaf_rows
from ..measurement.private_step import Measurements
from ..mechanism.separator import LITERAL_NODES
from .hierarchy import HierarchyDecoder


class LiteralDecoder(HierarchyDecoder):
    """All pairs at once, cell by cell from the leaves up."""

    name = "literal"
    summary = "the recursion as the paper prints it, for levels='adjacent'"
    adjacent = True
    indexed = False
    index = None  # type: ignore[assignment]

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        super().__init__(measurements, estimator)
        if self.topology.num_nodes > LITERAL_NODES:
            raise CannotError(f"levels='adjacent' is read literally, for up to {LITERAL_NODES} nodes; use levels='all'")
        refuse_above(MAX_BYTES // 4, 8 * int((self.hierarchy.vertices.sizes() ** 2).sum()))

    @cached_property
    def matrix(self) -> Int:
        """Algorithm 3: Recursive-APSD(T, G, (s, t), 0) for every pair."""
        hierarchy = self.hierarchy
        zero: dict[int, Int] = {}
        one: dict[int, Int] = {}
        for cell in range(hierarchy.num_cells - 1, -1, -1):
            if hierarchy.is_leaf[cell]:
                zero[cell] = self._whole_leaf(cell)  # step 5 of Algorithm 1, step 1 of Algorithm 2
                one[cell] = zero[cell][:, np.searchsorted(hierarchy.vertices[cell], self.block.boundary[cell])]
            else:
                zero[cell], one[cell] = self._split_cell(cell, zero, one)
                for child in hierarchy.children[cell].tolist():
                    del zero[child], one[child]
        return zero[0]

    def _whole_leaf(self, leaf: int) -> Int:
        size = len(self.hierarchy.vertices[leaf])
        table: Int = leaf_rows(leaf, np.arange(size), self.graphs, INFINITE, np.full(self.topology.num_nodes, -1))
        if not self.block.leaf_edges:
            table = np.where(table >= INFINITE, INFINITE, _symmetric(size, self.groups[leaf]))
        return table

    def _split_cell(self, cell: int, zero: dict[int, Int], one: dict[int, Int]) -> tuple[Int, Int]:
        """Steps 2 and 3 of Algorithm 2 for every pair of one cell."""
        hierarchy, vertices = self.hierarchy, self.hierarchy.vertices[cell]
        hubs = hierarchy.hubs[cell]
        within, to_parent = self._shortcuts(cell)
        n, p = len(vertices), len(hubs)
        to_hub = np.full((n, p), INFINITE, np.int64)  # d_{b a}(s, z): the calls with k + 1
        same_side = np.full((n, n), INFINITE, np.int64)  # d_{b a}(s, t) where one child holds both
        for child in hierarchy.children[cell].tolist():
            inside = np.searchsorted(vertices, hierarchy.vertices[child])
            present = np.searchsorted(hubs, self.block.boundary[child])
            to_hub[np.ix_(inside, present)] = np.minimum(to_hub[np.ix_(inside, present)], one[child])
            square = np.ix_(inside, inside)
            same_side[square] = np.minimum(same_side[square], zero[child])
        at = np.searchsorted(vertices, hubs)
        to_hub[at] = within  # s in S_b: IsShortcut(s, z, b)
        through = _min_plus(to_hub, within)
        estimate_0 = np.minimum(same_side, _min_plus(through, to_hub.T))
        estimate_0[np.ix_(at, at)] = within  # step 1: shortcuts are returned as they are
        outside = np.searchsorted(vertices, self.block.boundary[cell])
        estimate_1 = np.minimum(same_side[:, outside], _min_plus(to_hub, to_parent))
        estimate_1[at] = to_parent
        estimate_0[np.ix_(at, outside)] = to_parent
        estimate_0[np.ix_(outside, at)] = to_parent.T
        np.fill_diagonal(estimate_0, 0)
        return estimate_0, estimate_1

    def _shortcuts(self, cell: int) -> tuple[Int, Int]:
        """Return d_b within S_b, and from S_b to the parent's separator."""
        hubs, boundary, numbers = self.hierarchy.hubs[cell], self.block.boundary[cell], self.groups[cell]
        p = len(hubs)
        within, further = _symmetric(p, numbers[: p * (p - 1) // 2]), numbers[p * (p - 1) // 2 :]
        again = np.isin(boundary, hubs)
        to_parent = np.empty((p, len(boundary)), np.int64)
        to_parent[:, again] = within[:, np.searchsorted(hubs, boundary[again])]
        to_parent[:, ~again] = further.reshape(p, np.count_nonzero(~again))
        return within, to_parent

    def rows(self, sources: Int, out: Float) -> None:
        """Copy rows of the matrix."""
        out[:] = self.floats(self.matrix[sources], INFINITE)

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Return entries of the matrix."""
        return self.floats(self.matrix[sources, targets], INFINITE)


def _symmetric(size: int, numbers: Int) -> Int:
    """Return the symmetric table of pairs ``i < j`` that are listed row by row."""
    table = np.zeros((size, size), np.int64)
    table[np.triu_indices(size, 1)] = numbers
    return table + table.T


def _min_plus(a: Int, b: Int) -> Int:
    """Return the min over k of a[i, k] + b[k, j]; an empty middle gives INFINITE."""
    out = np.full((len(a), b.shape[1]), INFINITE, np.int64)
    for k in range(a.shape[1]):
        np.minimum(out, a[:, k : k + 1] + b[k], out=out)
    out[out > INFINITE // 2] = INFINITE  # a negative shortcut after "not connected" is still not connected
    return out
