"""Distances over noisy shortcuts of a hierarchy of cells, read in three ways.

``hierarchy``: climb from one end, meet in a common cell, descend to the other.  Every answer uses at most one shortcut
per level on the way up, one where the ends meet and one per level on the way down (docs/proofs/separator.md); inside a
leaf, its noisy edges or pairs.

``lifted``: the same with shortcuts lengthened by the expected bias of minima over noisy shortcuts.  An answer is a
minimum over very many sums of noisy shortcuts, so it comes out low: the minimum of p normals is up to sqrt(2 ln p)
standard deviations below their mean.  How much of that shows depends on how many paths are almost equally long, which
the release itself shows.  Releases of stand-in weights, scaled so that their distances are as long as the measured
ones, are simulated and read.  Every shortcut is lengthened by one share of (its noise) sqrt(2 ln p): the share with the
smallest error on its worst stand-in.  Unless the mean error on every stand-in falls by `MIN_GAIN` (it does not where
noise is tiny, or exceeds all distances), nothing is lengthened.

Lifting is post-processing, and deterministic for a release.  Lengthening the shortcuts rather than the answers keeps
d(x, x) = 0, symmetry, non-negative answers, and the index.  Like ``hierarchy``, it does not keep the triangle
inequality: shortcuts are measured separately.  There are several stand-ins, since each may be wrong: leaf edges as they
were measured (shrunk towards their mean until their variance is what remains after that of the noise; other edges drawn
among them), and skewed weights, mildly and strongly.  Noise is used with both signs, so that its effect on sums cancels
and only its effect on minima remains.

``literal``: Algorithm 2 as printed, with its typos resolved: Recursive-APSD over shortcuts between adjacent levels.
For reading beside the paper and for comparing; every pair of every cell is a matrix entry, so it is for small networks.
Lines of the paper are cited where they act.  Resolved (paper page): a shortcut between S_b and the parent's separator
is a distance inside the child G_b, and only pairs already measured inside S_b are skipped.

    ``estimate_0[b][s, t]``: the call with k = 0, for all s, t in V_b.
    ``estimate_1[b][s, t]``: the call with k > 0, for s in V_b and t in the parent's separator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from ..arrays import Bool, Float, Int
from ..errors import CannotError
from ..estimator.base import Estimator
from ..index import Index
from ..index.index import MAX_BYTES, refuse_above
from ..index.partition import Partition
from ..index.tables import Layout, as_tables, cell_graphs, fill_leaves, table_bytes, table_work
from ..kernels.layout import Graphs, mirror_tables
from ..kernels.minplus import INFINITE
from ..kernels.tables import DENSE, leaf_rows
from ..measurement.blocks import HierarchyBlock
from ..measurement.pairs import symmetric
from ..measurement.private_step import Measurements
from ..measurement.samples import distance_rows, spaced_nodes
from ..measurement.strategy import Strategy
from ..mechanism.separator import LITERAL_NODES
from ..network.lattice import LARGEST_DISTANCE
from ..noise import simulation
from ..separators.hierarchy import Lists
from .base import Bound, Decoder, Hops, Prediction, noise_limits, number_noise
from .simulate import draw_noise, exact_values, simulate_release

LABELS_FROM = 20  # one pair per so many nodes is worth making labels, if they take less than
LABELS_UP_TO = 2**30  # bytes
MOST_SHARE, STEP = 1.2, 0.1
MIN_GAIN = 0.1  # the mean error must fall by at least this share
MAX_NUMBERS = 4_000_000  # beyond, or with more additions for the tables of a stand-in, simulating takes minutes
MAX_WORK = 1e9
SOURCES = 16
LOG_SDS = (0.6, 1.5)  # standard deviations of the logarithm of skewed weights


class HierarchyDecoder(Decoder):
    """One shortcut a level up, one where the ends meet, one a level down."""

    name = "hierarchy"
    summary = "one measured shortcut a level up the cells, one across, one a level down"
    blocks = (HierarchyBlock,)
    searches = indexed = True
    adjacent: ClassVar[bool] = False  # whether it reads boundaries of adjacent levels, rather than of all

    def __init__(self, measurements: Measurements, estimator: Estimator) -> None:
        super().__init__(measurements, estimator)
        self.block = self.strategy.block(HierarchyBlock)
        self.hierarchy = self.block.hierarchy

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Return whether boundaries of all levels were measured (``literal`` reads those of adjacent levels)."""
        return super().reads(strategy) and strategy.block(HierarchyBlock).adjacent == cls.adjacent

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Apply Theorems 16 to 18: one shortcut a level up, one where the ends meet, one a level down.

        err(leaf) = its noise (times the edges of a path through it, if edges were measured); a climb to cell b costs
        up(b) = max over children up(child) + noise(b); an answer costs at most max over b of the two largest climbs
        below b plus noise(b).  Covered flavour: 4 k W per level at most (docs/proofs/separator.md, section 6).
        """
        block = strategy.block(HierarchyBlock)
        hierarchy, answer = block.hierarchy, largest_cost(block, noise_limits(strategy, gamma))
        rounding, detour = strategy.lattice.granularity * strategy.topology.num_nodes, 0.0
        if hierarchy.hops:
            detour = 4 * hierarchy.hops * strategy.lattice.largest_weight * max(1, hierarchy.depth)
        if block.adjacent:  # what the printed recursion proves (paper page)
            doubled = 2.0 ** min(hierarchy.depth // 2, 1000)
            answer, detour = answer * doubled, detour * doubled
        return Bound(answer + rounding, detour)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:  # noqa: ARG004 - samples its own
        """Climb to the root and down again: variances add up, and each minimum over p noisy paths comes out low.

        The minimum of p normals lies about sqrt(2 ln p) standard deviations below their mean; it is counted in full,
        as if all paths were equally long, so the prediction errs on the cautious side.
        """
        block, noise = strategy.block(HierarchyBlock), number_noise(strategy)
        hierarchy, cells = block.hierarchy, block.hierarchy.num_cells
        measured = hierarchy.hubs.sizes() + (not block.leaf_edges) * hierarchy.is_leaf > 0
        variance = np.where(measured, noise[:cells], 0) ** 2
        bias = np.sqrt(variance * 2 * np.log(np.maximum(hierarchy.hubs.sizes(), 1)))
        if len(block.edges):
            leaf = hierarchy.home[block.edges]
            np.maximum.at(variance, leaf, noise[cells:] ** 2 * np.sqrt(hierarchy.vertices.sizes()[leaf]))
        for cell in range(1, cells):
            variance[cell] += variance[hierarchy.parent[cell]]
            bias[cell] += bias[hierarchy.parent[cell]]
        home = hierarchy.vertex_home[spaced_nodes(strategy.topology, 4096)]
        other = np.roll(home, len(home) // 2)
        detour = hierarchy.hops * float(strategy.lattice.high.max(initial=0))  # covers: typically about k W in all
        return Prediction(np.sqrt(variance[home] + variance[other]), minima=bias[home] + bias[other] + detour)

    @cached_property
    def groups(self) -> Lists:
        """The shortcuts of every cell, as they are read."""
        sizes = self.block.group_sizes[: self.hierarchy.num_cells]
        return Lists(np.concatenate([[0], np.cumsum(sizes)]), self.shortcuts())

    def shortcuts(self, longer: Int | int = 0) -> Int:
        """Return the measured numbers but for leaf edges, each made ``longer`` by so many steps, then clipped.

        Distances are never negative, and a minimum over several paths would pick the negative ones; with a single hub
        there is one path, sums are linear, and clipping would only add bias.
        """
        sizes = self.block.group_sizes[: self.hierarchy.num_cells]
        one_hub = (self.block.shapes()[0] == 1) & ~self.hierarchy.is_leaf
        lowest = np.repeat(np.where(one_hub, -LARGEST_DISTANCE, 0), sizes)
        numbers = np.clip(self.measurements.values[: int(sizes.sum())], -LARGEST_DISTANCE, LARGEST_DISTANCE)
        return np.asarray(np.clip(numbers + longer, lowest, LARGEST_DISTANCE))

    @cached_property
    def graphs(self) -> Graphs:
        """Graphs of leaves: noisy edges, or (all pairs measured) only who is connected, a public fact."""
        lengths = self.weights if self.block.leaf_edges else np.zeros(self.topology.num_edges, np.int64)
        return cell_graphs(self.hierarchy, self.topology, lengths)

    @cached_property
    def _whole(self) -> Bool:
        """Leaves (by cell) with a full table; in larger ones distances are searched on demand."""
        size = self.hierarchy.vertices.sizes()
        return self.hierarchy.is_leaf & ((size <= DENSE) | (not self.block.leaf_edges))

    @cached_property
    def frame(self) -> tuple[Layout, Int]:
        """The tables' layout, and the place of each shortcut there: they follow from public facts alone."""
        layout = Layout.of(self.hierarchy, self._whole)
        return layout, self.block.places(layout)

    @cached_property
    def index(self) -> Index:  # type: ignore[override]
        """The measured tables in the form every answer comes from; labels are made when they pay."""
        return self.index_over(self.groups.items)

    def index_over(self, shortcuts: Int) -> Index:
        """Build an index over these shortcuts and the leaves of this release."""
        layout, place = self.frame
        refuse_above(MAX_BYTES, table_bytes(layout, symmetric=True))
        flat = np.zeros(sum(layout.table_sizes) + 1, np.int64)  # the last is for numbers that no answer needs
        tables = as_tables(layout, flat)
        fill_leaves(layout, self.graphs, tables, INFINITE)
        flat[place] = np.where(flat[place] >= INFINITE, INFINITE, shortcuts)
        mirror_tables(layout.flat, tables)
        steps = np.where(flat >= INFINITE, np.inf, flat)
        return Index(layout, as_tables(layout, steps), self.strategy.lattice.granularity, from_edge_lengths=False)

    def build_index(
        self, max_bytes: int = MAX_BYTES, *, labels: bool = True, partition: Partition | None = None
    ) -> Index:
        """Make the labels of all vertices; the tables were measured."""
        if not self.indexed:
            raise CannotError("levels='adjacent' is read literally and has no index; use levels='all'")
        if partition is not None:
            raise CannotError("`partition` applies to releases of edge weights; this one was measured on its own cells")
        return self.index.with_labels(max_bytes) if labels else self.index

    def index_for(self, rows: int) -> Index | None:  # noqa: ARG002 - the tables are there for any number of rows
        """Return the index, or ``None`` if it does not suffice because some leaf must also be searched."""
        return self.index if self.indexed and self._whole[self.hierarchy.is_leaf].all() else None

    def rows(self, sources: Int, out: Float) -> None:
        """Push estimates down the hierarchy from each source; large leaves are searched."""
        self.index.rows(sources, out)
        for i in np.flatnonzero(self._searched[sources]).tolist():
            source = int(sources[i])
            mates = np.flatnonzero(self.hierarchy.vertex_home == self.hierarchy.vertex_home[source])
            out[i, mates] = np.minimum(out[i, mates], self._inside(source, mates))

    def pairs(self, sources: Int, targets: Int) -> Float:
        """Climb from both ends of a few pairs; meet labels for many."""
        index = self.index
        many = len(sources) * LABELS_FROM > self.topology.num_nodes
        if index.labels is None and many and index.label_bytes <= LABELS_UP_TO:
            index.with_labels()
        answer = index.pairs(sources, targets)
        home = self.hierarchy.vertex_home
        for i in np.flatnonzero(self._searched[sources] & (home[sources] == home[targets])).tolist():
            answer[i] = min(answer[i], float(self._inside(int(sources[i]), targets[i : i + 1])[0]))
        return answer

    @cached_property
    def _searched(self) -> Bool:
        """Vertices whose home is a leaf too large for a table."""
        return np.asarray((self.hierarchy.is_leaf & ~self._whole)[self.hierarchy.vertex_home])

    def _inside(self, source: int, targets: Int) -> Float:
        """Search distances inside a large leaf."""
        leaf = int(self.hierarchy.vertex_home[source])
        mine = self.hierarchy.vertices[leaf]
        at, to = np.searchsorted(mine, [source]), np.searchsorted(mine, targets)
        rows = leaf_rows(leaf, at, self.graphs, INFINITE, np.full(self.topology.num_nodes, -1))
        return self.floats(rows[0, to], INFINITE)


def largest_cost(block: HierarchyBlock, costs: Float) -> float:
    """Return the largest sum that an answer can take, if each number it uses costs what its group says."""
    hierarchy, cells = block.hierarchy, block.hierarchy.num_cells
    climb, edge_cost, answer = np.zeros(cells), np.zeros(cells), 0.0
    np.maximum.at(edge_cost, hierarchy.home[block.edges], costs[cells:])
    sizes = hierarchy.vertices.sizes()
    for cell in range(cells - 1, -1, -1):
        if hierarchy.is_leaf[cell]:
            climb[cell] = edge_cost[cell] * (sizes[cell] - 1) if block.leaf_edges else costs[cell]
            answer = max(answer, float(climb[cell]))
            continue
        left, right = hierarchy.children[cell]
        here = costs[cell] if len(hierarchy.hubs[cell]) else 0.0
        below = max(climb[left], climb[right])
        answer = max(answer, float(2 * below + here))
        climb[cell] = below + here
    return answer


class Trial(NamedTuple):
    """Simulated releases of a stand-in, with noise of either sign, and its true distances from a few sources."""

    decoders: tuple[HierarchyDecoder, HierarchyDecoder]
    sources: Int
    true: Float

    def error(self, lift: Int | int) -> float:
        """Return the mean absolute error with shortcuts lengthened by ``lift``."""
        errors = []
        for decoder in self.decoders:
            answers = np.empty_like(self.true)
            decoder.index_over(decoder.shortcuts(lift)).rows(self.sources, answers)
            known = np.isfinite(self.true) & np.isfinite(answers)  # inside leaves too large for a table no lift matters
            errors.append(np.abs(answers[known] - self.true[known]).sum() / max(1, known.sum()))
        return float(np.mean(errors))


class LiftedDecoder(HierarchyDecoder):
    """Shortcuts that are lengthened by a share of their noise."""

    name = "lifted"
    summary = "as hierarchy, with each shortcut lengthened by the expected bias of minima over noisy ones"

    @classmethod
    def reads(cls, strategy: Strategy) -> bool:
        """Return whether ``hierarchy`` reads it, up to a size."""
        return super().reads(strategy) and strategy.num_values <= MAX_NUMBERS

    @staticmethod
    def bound(strategy: Strategy, gamma: float) -> Bound:
        """Take that of ``hierarchy``; an answer may be higher by all that its shortcuts were lengthened, at most."""
        plain = HierarchyDecoder.bound(strategy, gamma)
        lifted = largest_cost(strategy.block(HierarchyBlock), MOST_SHARE * bias_limits(strategy))
        return replace(plain, detour=plain.detour + lifted * strategy.lattice.granularity)

    @staticmethod
    def predict(strategy: Strategy, hops: Hops) -> Prediction:
        """Take that of ``hierarchy`` without the bias of minima: what is left of it is small against the spread."""
        detour = strategy.block(HierarchyBlock).hierarchy.hops * float(strategy.lattice.high.max(initial=0))
        return replace(HierarchyDecoder.predict(strategy, hops), minima=detour)

    def shortcuts(self, longer: Int | int = 0) -> Int:
        """Return the measured numbers, lengthened."""
        return super().shortcuts(longer + self._lift(self.share))

    def _lift(self, share: float) -> Int:
        lift = np.repeat(share * bias_limits(self.strategy), self.strategy.group_sizes)
        return np.rint(lift).astype(np.int64)[: int(self.block.group_sizes[: self.hierarchy.num_cells].sum())]

    @cached_property
    def share(self) -> float:
        """The share of the largest possible bias that is corrected."""
        work = table_work(Layout.of(self.hierarchy, separators=True))
        if not bias_limits(self.strategy).any() or work > MAX_WORK:
            return 0.0
        trials = list(self._trials())
        plain = [trial.error(0) for trial in trials]
        if not trials or min(plain) <= 0:
            return 0.0
        shares, worst = [0.0], [1.0]
        while shares[-1] + STEP <= MOST_SHARE and worst[-1] <= worst[max(0, len(worst) - 3)]:
            shares.append(len(shares) * STEP)
            lift = self._lift(shares[-1])
            worst.append(max(trial.error(lift) / error for trial, error in zip(trials, plain, strict=True)))
        best = int(np.argmin(worst))
        return shares[best] if worst[best] < 1 - MIN_GAIN else 0.0

    def _trials(self) -> Iterator[Trial]:
        """Every stand-in, scaled and simulated with noise of both signs; none if the release is too noisy to scale."""
        strategy, n = self.strategy, self.topology.num_nodes
        values = np.clip(self.measurements.values, -LARGEST_DISTANCE, LARGEST_DISTANCE).astype(np.float64)
        precision = 1 / np.maximum(np.repeat(number_noise(strategy), strategy.group_sizes), 1.0) ** 2
        rng = simulation(0)
        for weights in (self._as_measured(rng), *(self._skewed(rng, sd) for sd in LOG_SDS)):
            numbers = exact_values(strategy, self._steps(weights)).astype(np.float64)
            scale = float((precision * values * numbers).sum() / max((precision * numbers**2).sum(), 1e-300))
            if not scale > 0:
                return
            steps = self._steps(weights * scale)
            exact, noise = exact_values(strategy, steps), draw_noise(strategy, rng)
            sources = np.sort(rng.choice(n, min(n, SOURCES), replace=False))
            true = distance_rows(self.topology, self.lattice.floats(steps), sources)
            yield Trial((self._decoder(exact, noise), self._decoder(exact, -noise)), sources, true)

    def _decoder(self, exact: Int, noise: Float) -> HierarchyDecoder:
        """Return the plain decoder of a simulated release."""
        decoder = HierarchyDecoder(simulate_release(self.strategy, exact, noise), self.estimator)
        decoder.frame = self.frame
        return decoder

    def _as_measured(self, rng: np.random.Generator) -> Float:
        """Leaf edges as measured, without the variance of the noise; other edges drawn among them."""
        noisy = self.noisy
        if not len(noisy.edges):
            return self._skewed(rng, LOG_SDS[0])
        values = noisy.values.astype(np.float64)
        variance = float(values.var())
        kept = math.sqrt(max(0.0, 1 - float(np.mean(noisy.noise**2)) / variance)) if variance > 0 else 1.0
        mine = np.clip(values.mean() + kept * (values - values.mean()), *noisy.bounds)
        if not mine.any():
            return self._skewed(rng, LOG_SDS[0])
        weights = rng.choice(mine, self.topology.num_edges)
        weights[noisy.edges] = mine
        return weights

    def _skewed(self, rng: np.random.Generator, sd: float) -> Float:
        return np.asarray(rng.lognormal(-math.log(self.lattice.granularity), sd, self.topology.num_edges))

    def _steps(self, weights: Float) -> Int:
        return np.rint(np.clip(weights, self.lattice.low, self.lattice.high)).astype(np.int64)


def bias_limits(strategy: Strategy) -> Float:
    """Return how far a minimum over the hubs of each cell may come out low, per group, in lattice steps."""
    hierarchy, noise = strategy.block(HierarchyBlock).hierarchy, number_noise(strategy)
    noise[hierarchy.num_cells :] = 0.0  # leaf edges are for estimators
    noise[: hierarchy.num_cells] *= np.sqrt(2 * np.log(np.maximum(hierarchy.hubs.sizes(), 1)))
    return noise


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
            table = np.where(table >= INFINITE, INFINITE, symmetric(size, self.groups[leaf]))
        return table

    def _split_cell(self, cell: int, zero: dict[int, Int], one: dict[int, Int]) -> tuple[Int, Int]:
        """Take steps 2 and 3 of Algorithm 2 for every pair of one cell."""
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
        within, further = symmetric(p, numbers[: p * (p - 1) // 2]), numbers[p * (p - 1) // 2 :]
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


def _min_plus(a: Int, b: Int) -> Int:
    """Return the min over k of a[i, k] + b[k, j]; an empty middle gives INFINITE."""
    out = np.full((len(a), b.shape[1]), INFINITE, np.int64)
    for k in range(a.shape[1]):
        np.minimum(out, a[:, k : k + 1] + b[k], out=out)
    out[out > INFINITE // 2] = INFINITE  # a negative shortcut after "not connected" is still not connected
    return out
