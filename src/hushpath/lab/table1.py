r"""The paper's Table 1, from certificates: error bounds up to a thousand million nodes.  Labelled "predicted".

Where the shape of a strategy is known in closed form there is no need to build it: the cells of one level are alike,
so one edge meets one group per level, with cut numbers from ``hub_cut``.  Scales spend the same ``gaussian_mu``, split
by the same rule as in a release (s^2 ~ sqrt(cut)), and the bound is that of ``bounds``: with N numbers in all, every
noise stays below s sqrt(2 ln(2N / gamma)) but for gamma, and an answer adds up one shortcut a level on the way up,
one where the ends meet, one a level on the way down, and the detours of covers.

Assumed shapes (a cell at level l has n_l = n / 2^l nodes):

    tree        1 hub, l boundary vertices at most
    treewidth p p + 1 hubs; p + 1 boundary vertices per level above, at most
    grid        a line of sqrt(n_l) hubs; a rim of 4 sqrt(n_l) boundary vertices
    planar      a cycle of sqrt(8 n_l) hubs (Lipton and Tarjan); 3 times as many boundary vertices
    covered     hubs and boundary thinned k + 1 times on a grid (lines), sqrt(k) times on planar graphs (clusters)

k is the best on a fine scale.  Rivals: a connected graph has a k-cover of n / (k + 1) + 1 nodes (a grid: n / k^2 + 1);
hubs are 2 sqrt(n) ln n random nodes, every stretch of sqrt(n) hops holds one, half the budget goes to edges.  Chen et
al.: hubs, crowded places and clusters as ``strategy.hubs_bounded`` describes them, with the recursion carried through
(the mechanism stops after one level) and the budget in equal parts for its levels.  ``rates`` has what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Float, Int
from ..privacy.gaussian import gaussian_mu
from ..privacy.sensitivity import hub_cut
from .theorems import ALPHA, CHEN, COVER, GRID, GRID_COVER, HUBS, ON_EDGES, PLANAR, SEPARATOR, Setting, Shape
from .trial import GAMMA

LEAF = 8
WIDTH = 3
SIZES = tuple(float(10 ** (x / 2)) for x in range(4, 19))  # 100 to 10^9
AT = 1e9  # where W and epsilon are varied


def level_bound(hubs: Int, boundary: Int, cells: Int, setting: Setting, detour: float = 0.0) -> float:
    """The bound of ``bounds.hierarchy_bound`` for a hierarchy whose cells are alike on every level (in units).

    One edge meets one group of each level, so sum(cut / s^2) = mu^2; with s^2 = f^2 sqrt(cut / 2) this gives f.
    (A test compares with ``certificate.calibrate``.)
    """
    cut = np.maximum(hub_cut(hubs, boundary, directed=False), 1).astype(np.float64)
    relative = (cut / 2) ** 0.25
    scales = relative * math.sqrt(float((cut / relative**2).sum())) / gaussian_mu(setting.epsilon, setting.delta)
    p, q = hubs.astype(np.float64), boundary.astype(np.float64)
    limits = scales * _tail(float((cells * (p * (p - 1) / 2 + p * q)).sum()))
    return float(2 * limits[1:].sum() + limits[0]) + detour * max(1, len(cut) - 1)


def _tail(numbers: float) -> float:
    """How many standard deviations hold all of so many Gaussian numbers, but for gamma."""
    return math.sqrt(2 * math.log(2 * max(numbers, 1.0) / GAMMA))


def _levels(n: float) -> tuple[Float, Int]:
    """Nodes of a cell at each level, and how many cells there are."""
    depth = max(1, math.ceil(math.log2(n / LEAF)))
    level = np.arange(depth + 1)
    return np.asarray(n / 2.0**level, np.float64), (2**level).astype(np.int64)


def tree_bound(setting: Setting) -> float:
    """Single vertices: Algorithm 1 on a tree."""
    nodes, cells = _levels(setting.n)
    return level_bound(np.ones_like(cells), np.arange(len(cells)), cells, setting)


def treewidth_bound(setting: Setting, width: int = WIDTH) -> float:
    """Bags: Algorithm 1 on a graph of bounded treewidth."""
    nodes, cells = _levels(setting.n)
    room = np.ceil(nodes).astype(np.int64)
    hubs = np.minimum(np.full_like(cells, width + 1), room)
    return level_bound(hubs, np.minimum((width + 1) * np.arange(len(cells)), room), cells, setting)


def separator_bound(setting: Setting, *, grid: bool) -> float:
    """Whole separators: Algorithm 1 on a grid or a planar graph."""
    return _thinned(setting, grid, 0.0)


def cover_separator_bound(setting: Setting, *, grid: bool) -> float:
    """Covered separators: Algorithm 4 with the best k."""
    return min(_thinned(setting, grid, k) for k in _radii(math.sqrt(setting.n)))


def _thinned(setting: Setting, grid: bool, k: float) -> float:
    nodes, cells = _levels(setting.n)
    line = np.sqrt(nodes) if grid else np.sqrt(8 * nodes)
    if k:
        line = line / (k + 1) if grid else line / math.sqrt(k)
    hubs = np.minimum(np.ceil(line), np.ceil(nodes)).astype(np.int64)
    boundary = np.minimum(np.ceil((4 if grid else 3) * line), np.ceil(nodes)).astype(np.int64)
    boundary[0] = 0
    return level_bound(hubs, boundary, cells, setting, 4 * k * setting.max_weight)


def cover_bound(setting: Setting, *, grid: bool) -> float:
    """Sealfon's k-cover of the whole network with the best k."""
    return min(
        _table(setting.n / (k * k if grid else k + 1) + 1, setting) + 2 * k * setting.max_weight
        for k in _radii(math.sqrt(setting.n) if grid else setting.n)
    )


def hubs_bound(setting: Setting) -> float:
    """Random hubs, general graphs: half the budget on all pairs of hubs, half on the edges of two walks."""
    n, mu = setting.n, gaussian_mu(setting.epsilon, setting.delta)
    hubs = 2 * math.sqrt(n) * math.log(n)
    one = math.sqrt(2) / mu * _tail(hubs * hubs / 2 + 3 * n)
    return one * (hubs / 2 + 2 * math.sqrt(n))


def chen_bound(setting: Setting) -> float:
    """Chen et al., bounded weights: E(m) = hubs of m nodes + moving to one + pieces * E(a cluster), down to a leaf.

    A level has H = (m W eps)^a hubs, drawn 2 ln n times as often so that they meet every stretch of m / H hops, crowded
    places of radius R = m^a / (W eps)^(1-a), and clusters of m / H nodes, of which such a stretch meets m / (H R).
    """
    spent = setting.max_weight * setting.epsilon
    sizes, hubs, radii = [setting.n], list[float](), list[float]()
    while sizes[-1] > LEAF and (count := (sizes[-1] * spent) ** ALPHA) < sizes[-1] / 2:
        hubs.append(max(count, 2.0))
        radii.append(max(1.0, sizes[-1] ** ALPHA * spent ** (ALPHA - 1)))
        sizes.append(sizes[-1] / hubs[-1])
    one = math.sqrt(len(hubs) + 1) / gaussian_mu(setting.epsilon, setting.delta) * _tail(setting.n**2)
    error = sizes[-1] * one
    for size, count, radius in zip(sizes[-2::-1], hubs[::-1], radii[::-1], strict=True):
        pieces = max(1.0, size / (count * radius))
        error = one * count * math.log(setting.n) + 4 * radius * setting.max_weight + pieces * error
    return error


def input_bound(setting: Setting) -> float:
    """Sealfon's input perturbation: Laplace noise on every edge, n - 1 of them on a path at worst."""
    return (setting.n - 1) * math.log(2 * 3 * setting.n / GAMMA) / setting.epsilon


def _table(size: float, setting: Setting) -> float:
    """All pairs of ``size`` nodes under Gaussian noise."""
    sigma = math.sqrt(max(size * size / 4, 1.0)) / gaussian_mu(setting.epsilon, setting.delta)
    return sigma * _tail(size * size / 2)


def _radii(most: float) -> list[float]:
    return [float(k) for k in np.unique(np.round(np.geomspace(1, max(2.0, most), 120)))]


@dataclass(frozen=True)
class Entry:
    """One entry of the table: who, where, its function, and the theorem's shape."""

    family: str
    mechanism: str
    bound: Callable[[Setting], float]
    shape: Shape
    networks: tuple[str, ...] = ()  # classes of the laboratory that belong to the family
    separator: Callable[[float], float] = lambda _: 1.0  # p, where the shape has one

    def theorem(self, setting: Setting) -> float:
        """The theorem's bound without its constant."""
        return self.shape.value(replace(setting, p=self.separator(setting.n)))


ENTRIES = (
    Entry("trees", "separator", tree_bound, SEPARATOR, ("path", "caterpillar", "tree")),
    Entry("treewidth 3", "separator", treewidth_bound, SEPARATOR, ("ktree",), lambda _: WIDTH + 1.0),
    Entry("grid", "separator", lambda s: separator_bound(s, grid=True), SEPARATOR, ("grid",), math.sqrt),
    Entry("grid", "separator-cover", lambda s: cover_separator_bound(s, grid=True), GRID, ("grid",)),
    Entry("grid", "hubs-bounded", chen_bound, CHEN, ("grid",)),
    Entry("grid", "cover", lambda s: cover_bound(s, grid=True), GRID_COVER, ("grid",)),
    Entry(
        "planar", "separator", lambda s: separator_bound(s, grid=False), SEPARATOR, ("delaunay",),
        lambda n: math.sqrt(8 * n),
    ),
    Entry("planar", "separator-cover", lambda s: cover_separator_bound(s, grid=False), PLANAR, ("delaunay",)),
    Entry("planar", "hubs-bounded", chen_bound, CHEN, ("delaunay",)),
    Entry("planar", "cover", lambda s: cover_bound(s, grid=False), COVER, ("delaunay",)),
    Entry("general", "hubs", hubs_bound, HUBS, ("random",)),
    Entry("general", "input", input_bound, ON_EDGES, ("random",)),
)  # fmt: skip


def curves(epsilon: float, max_weight: float, delta: float) -> list[dict[str, float | str]]:
    """The bound of every entry from a hundred to a thousand million nodes."""
    return [
        {
            "family": entry.family, "mechanism": entry.mechanism, "nodes": float(n), "max_weight": max_weight,
            "epsilon": epsilon, "kind": "predicted",
            "bound": entry.bound(Setting(float(n), max_weight, epsilon, delta)),
        }
        for entry in ENTRIES
        for n in SIZES
    ]  # fmt: skip


def slopes(epsilon: float, max_weight: float, delta: float) -> list[dict[str, float | str]]:
    """How our bounds grow with n (last three decades), W and epsilon, beside the theorem's shape over that range."""
    here = Setting(AT, max_weight, epsilon, delta)
    ranges = {
        "n": [replace(here, n=float(n)) for n in SIZES if n >= SIZES[-1] / 999],
        "max_weight": [replace(here, max_weight=max_weight * x) for x in (1, 3, 10, 30, 100)],
        "epsilon": [replace(here, epsilon=epsilon * x) for x in (0.01, 0.03, 0.1, 0.3, 1)],
    }
    rows: list[dict[str, float | str]] = []
    for entry in ENTRIES:
        row: dict[str, float | str] = {"family": entry.family, "mechanism": entry.mechanism, "shape": entry.shape.words}
        for axis, name in (("n", "n"), ("max_weight", "W"), ("epsilon", "epsilon")):
            for kind, bound in (("fitted", entry.bound), ("theorem", entry.theorem)):
                row[f"{name}_{kind}"] = _slope(bound, ranges[axis], axis)
        rows.append({**row, "constant": entry.bound(here) / entry.theorem(here), "kind": "predicted"})
    return rows


def _slope(bound: Callable[[Setting], float], settings: list[Setting], axis: str) -> float:
    at = [getattr(one, axis) for one in settings]
    return float(np.polyfit(np.log(at), np.log([bound(one) for one in settings]), 1)[0])
