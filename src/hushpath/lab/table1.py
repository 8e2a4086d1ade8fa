"""Table 1 of the paper: the shapes of its bounds, predicted bounds up to 10^9 nodes, and measured rates.

**Shapes.**  A theorem bounds the error of the worst pair of the worst network up to a constant.  Its *shape* is that
bound without the constant but with its logarithms (``tilde`` where the theorem hides them).  Two or three decades of n
cannot tell a power of n from a smaller power with logarithms, so whole shapes are compared: one constant is fitted, and
the largest factor between a point and the curve is reported.

**Predicted bounds** come from certificates in closed form: the cells of one level are alike, so one edge meets one
group per level, with cut numbers from ``hub_cut``.  Scales spend ``gaussian_mu``, split as in a release (s^2 ~
sqrt(cut)).
With N numbers in all, every noise value stays below s sqrt(2 ln(2N / gamma)) except with probability gamma; an answer
sums one shortcut per level up, one where the ends meet, one per level down, and the detours of covers.  Assumed shapes
(a cell at level l has n_l = n / 2^l nodes):

    tree        1 hub, at most l boundary vertices
    treewidth p p + 1 hubs; at most p + 1 boundary vertices per level above
    grid        a line of sqrt(n_l) hubs; 4 sqrt(n_l) boundary vertices
    planar      a cycle of sqrt(8 n_l) hubs (Lipton and Tarjan); 3 times as many boundary vertices
    covered     hubs and boundary thinned k + 1 times on a grid (lines), sqrt(k) times on planar graphs (clusters)

k is the best on a fine scale.  Rivals: a connected graph has a k-cover of n / (k + 1) + 1 nodes (a grid: n / k^2 + 1);
hubs are 2 sqrt(n) ln n random nodes, every stretch of sqrt(n) hops contains one, half the budget goes to edges.  Chen
et al.: as in ``mechanism.comparison.hubs``, with the whole recursion and the budget split over its levels.

**Measured rates** use a unit so small that nothing is clipped.  For every class, mechanism and unit the theorem's shape
is fitted to the largest errors, beside the best power of n and, for separators, the best power of log n for error / p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..arrays import Float, Int
from ..privacy.gaussian import gaussian_mu
from ..privacy.sensitivity import hub_cut
from .measure import GAMMA
from .tables import Row, group, log_slope, measured

ALPHA = math.sqrt(2) - 1  # Chen et al. 2023, bounded weights


@dataclass(frozen=True)
class BoundArguments:
    """The arguments of a bound: n nodes, separators of p vertices, weights up to W units, a budget."""

    n: float
    max_weight: float
    epsilon: float
    delta: float
    p: float = 1.0


@dataclass(frozen=True)
class Shape:
    """A theorem's bound without its constant, as text and as a function; ``tilde`` if the theorem hides logarithms."""

    formula: str
    value: Callable[[BoundArguments], float]
    tilde: bool = False


def _logs(s: BoundArguments) -> float:
    """Return the logarithms of Theorems 16 and 18."""
    return math.log(s.n) ** 2 * math.log(math.log(s.n) / s.delta)


SEPARATOR = Shape("p log²n log(log n/δ) / ε", lambda s: s.p * _logs(s) / s.epsilon)
ON_EDGES = Shape("n / ε", lambda s: s.n / s.epsilon, tilde=True)
SHAPES: dict[str, dict[str, Shape]] = {
    "input": {"": ON_EDGES},
    "all-pairs": {"": ON_EDGES},
    "cover": {
        "": Shape("(nW / ε)^(1/2)", lambda s: math.sqrt(s.n * s.max_weight / s.epsilon), tilde=True),
        "grid": Shape("n^(1/3) (1/ε + W)", lambda s: s.n ** (1 / 3) * (1 / s.epsilon + s.max_weight), tilde=True),
    },
    "hubs": {"": Shape("n^(1/2) / ε", lambda s: math.sqrt(s.n) / s.epsilon, tilde=True)},
    "hubs-bounded": {
        "": Shape(
            "W^α n^α / ε^(1-α) + n^α / ε",
            lambda s: s.n**ALPHA * (s.max_weight**ALPHA * s.epsilon ** (ALPHA - 1) + 1 / s.epsilon),
            tilde=True,
        )
    },
    "separator": {"": SEPARATOR},
    "separator-cover": {
        "": Shape(
            "(nW)^(1/3) log²n log(log n/δ) / ε^(2/3)",
            lambda s: (s.n * s.max_weight) ** (1 / 3) * s.epsilon ** (-2 / 3) * _logs(s),
        ),
        "grid": Shape(
            "n^(1/4) (W/ε)^(1/2) log²n log(log n/δ)",
            lambda s: s.n**0.25 * math.sqrt(s.max_weight / s.epsilon) * _logs(s),
        ),
    },
}
"""By mechanism and class under approximate privacy; the key "" is for all other classes."""


def theorem_shape(mechanism: str, network: str) -> Shape | None:
    """Return the shape of the mechanism's bound on a class, or None without a theorem."""
    listed = SHAPES.get(mechanism, {})
    return listed.get(network, listed.get(""))


LEAF = 8
WIDTH = 3
SIZES = tuple(float(10 ** (x / 2)) for x in range(4, 19))  # 100 to 10^9
AT = 1e9  # where W and epsilon are varied


def level_bound(hubs: Int, boundary: Int, cells: Int, setting: BoundArguments, detour: float = 0.0) -> float:
    """Return the bound of ``bounds.hierarchy_bound`` for a hierarchy whose cells are alike on every level (in units).

    ``hubs``, ``boundary`` and ``cells`` have one number per level: hubs and boundary vertices of a cell, and how many
    cells; ``setting`` has the budget, and ``detour`` is what covers add per level.

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
    """Return how many standard deviations contain all of this many Gaussian numbers, except with probability gamma."""
    return math.sqrt(2 * math.log(2 * max(numbers, 1.0) / GAMMA))


def _levels(n: float) -> tuple[Float, Int]:
    """Return the nodes of a cell and the number of cells, per level."""
    depth = max(1, math.ceil(math.log2(n / LEAF)))
    level = np.arange(depth + 1)
    return np.asarray(n / 2.0**level, np.float64), (2**level).astype(np.int64)


def tree_bound(setting: BoundArguments) -> float:
    """Bound the error of Algorithm 1 on a tree, whose separators are single vertices."""
    cells = _levels(setting.n)[1]
    return level_bound(np.ones_like(cells), np.arange(len(cells)), cells, setting)


def treewidth_bound(setting: BoundArguments) -> float:
    """Bound the error of Algorithm 1 on a graph of bounded treewidth, whose separators are bags."""
    nodes, cells = _levels(setting.n)
    room = np.ceil(nodes).astype(np.int64)
    hubs = np.minimum(np.full_like(cells, WIDTH + 1), room)
    return level_bound(hubs, np.minimum((WIDTH + 1) * np.arange(len(cells)), room), cells, setting)


def separator_bound(setting: BoundArguments, grid: bool, k: float = 0.0) -> float:
    """Bound the error of whole separators (Algorithm 1), or of k-covers of them, on a grid or a planar graph."""
    nodes, cells = _levels(setting.n)
    line = np.sqrt(nodes) if grid else np.sqrt(8 * nodes)
    if k:
        line = line / (k + 1) if grid else line / math.sqrt(k)
    hubs = np.minimum(np.ceil(line), np.ceil(nodes)).astype(np.int64)
    boundary = np.minimum(np.ceil((4 if grid else 3) * line), np.ceil(nodes)).astype(np.int64)
    boundary[0] = 0
    return level_bound(hubs, boundary, cells, setting, 4 * k * setting.max_weight)


def cover_separator_bound(setting: BoundArguments, grid: bool) -> float:
    """Bound the error of covered separators: Algorithm 4 with the best k."""
    return min(separator_bound(setting, grid, k) for k in _radii(math.sqrt(setting.n)))


def cover_bound(setting: BoundArguments, grid: bool) -> float:
    """Bound the error of Sealfon's k-cover of the whole network with the best k."""
    return min(
        _table(setting.n / (k * k if grid else k + 1) + 1, setting) + 2 * k * setting.max_weight
        for k in _radii(math.sqrt(setting.n) if grid else setting.n)
    )


def hubs_bound(setting: BoundArguments) -> float:
    """Bound the error of random hubs: half the budget on all pairs of hubs, half on the edges of two walks."""
    n, mu = setting.n, gaussian_mu(setting.epsilon, setting.delta)
    hubs = 2 * math.sqrt(n) * math.log(n)
    one = math.sqrt(2) / mu * _tail(hubs * hubs / 2 + 3 * n)
    return one * (hubs / 2 + 2 * math.sqrt(n))


def chen_bound(setting: BoundArguments) -> float:
    """Bound the error of Chen et al. for bounded weights.

    E(m) = hubs of m nodes + moving to one + pieces * E(a cluster), down to a leaf.  A level has H = (m W eps)^a hubs,
    drawn 2 ln n times as often so that they meet every stretch of m / H hops, crowded places of radius
    R = m^a / (W eps)^(1-a), and clusters of m / H nodes, of which such a stretch meets m / (H R).
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


def input_bound(setting: BoundArguments) -> float:
    """Bound the error of Sealfon's input perturbation: Laplace noise on every edge, at worst n - 1 on a path."""
    return (setting.n - 1) * math.log(2 * 3 * setting.n / GAMMA) / setting.epsilon


def _table(size: float, setting: BoundArguments) -> float:
    """Bound the error of all pairs of ``size`` nodes under Gaussian noise."""
    sigma = math.sqrt(max(size * size / 4, 1.0)) / gaussian_mu(setting.epsilon, setting.delta)
    return sigma * _tail(size * size / 2)


def _radii(most: float) -> list[float]:
    return [float(k) for k in np.unique(np.round(np.geomspace(1, max(2.0, most), 120)))]


@dataclass(frozen=True)
class Entry:
    """One entry of the table: family, mechanism and bound."""

    family: str
    mechanism: str
    bound: Callable[[BoundArguments], float]
    networks: tuple[str, ...]  # classes of the lab that belong to the family
    separator: Callable[[float], float] = lambda _: 1.0  # p, where the shape has one

    @property
    def shape(self) -> Shape:
        """The shape of the theorem."""
        shape = theorem_shape(self.mechanism, self.networks[0])
        assert shape is not None
        return shape

    def theorem(self, setting: BoundArguments) -> float:
        """Return the theorem's bound without its constant."""
        return self.shape.value(replace(setting, p=self.separator(setting.n)))


ENTRIES = (
    Entry("trees", "separator", tree_bound, ("path", "caterpillar", "tree")),
    Entry("treewidth 3", "separator", treewidth_bound, ("ktree",), lambda _: WIDTH + 1.0),
    Entry("grid", "separator", partial(separator_bound, grid=True), ("grid",), math.sqrt),
    Entry("grid", "separator-cover", partial(cover_separator_bound, grid=True), ("grid",)),
    Entry("grid", "hubs-bounded", chen_bound, ("grid",)),
    Entry("grid", "cover", partial(cover_bound, grid=True), ("grid",)),
    Entry("planar", "separator", partial(separator_bound, grid=False), ("delaunay",), lambda n: math.sqrt(8 * n)),
    Entry("planar", "separator-cover", partial(cover_separator_bound, grid=False), ("delaunay",)),
    Entry("planar", "hubs-bounded", chen_bound, ("delaunay",)),
    Entry("planar", "cover", partial(cover_bound, grid=False), ("delaunay",)),
    Entry("general", "hubs", hubs_bound, ("random",)),
    Entry("general", "input", input_bound, ("random",)),
)


def curves(epsilon: float, max_weight: float, delta: float) -> list[Row]:
    """Return the bound of every entry from 100 to 10^9 nodes."""
    return [
        {
            "family": entry.family, "mechanism": entry.mechanism, "nodes": n, "max_weight": max_weight,
            "epsilon": epsilon, "bound": entry.bound(BoundArguments(n, max_weight, epsilon, delta)),
        }
        for entry in ENTRIES
        for n in SIZES
    ]  # fmt: skip


def slopes(epsilon: float, max_weight: float, delta: float) -> list[Row]:
    """Return how bounds grow with n (last three decades), W and epsilon, beside the theorem's shape."""
    here = BoundArguments(AT, max_weight, epsilon, delta)
    ranges = {
        "n": ("n", [n for n in SIZES if n >= SIZES[-1] / 999]),
        "W": ("max_weight", [max_weight * x for x in (1, 3, 10, 30, 100)]),
        "epsilon": ("epsilon", [epsilon * x for x in (0.01, 0.03, 0.1, 0.3, 1)]),
    }
    rows = []
    for entry in ENTRIES:
        row: Row = dict(family=entry.family, mechanism=entry.mechanism, shape=entry.shape.formula)
        for name, (field, at) in ranges.items():
            for kind, bound in (("fitted", entry.bound), ("theorem", entry.theorem)):
                row[f"{name}_{kind}"] = log_slope(at, [bound(replace(here, **{field: value})) for value in at])
        rows.append({**row, "constant": entry.bound(here) / entry.theorem(here)})
    return rows


MIN_SIZES = 3  # for a fit


def fit(measured: Sequence[float], curve: Sequence[float]) -> tuple[float, float]:
    """Fit the constant of a curve by least squares on logarithms.

    Return it, and the largest factor between a point and the curve.
    """
    gap = np.log(measured) - np.log(curve)
    return float(np.exp(gap.mean())), float(np.exp(np.abs(gap - gap.mean()).max()))


def rate_rows(results: Iterable[Row]) -> list[Row]:
    """Return the cases measured for rates, with their default estimator."""
    return [row for row in measured(results) if row["unit"] != 1.0 and row["default"]]


def shape_at(row: Row, shape: Shape) -> float:
    """Return a theorem's shape at a measured row, in the unit of the weights."""
    unit = float(row["unit"])
    return unit * shape.value(
        BoundArguments(row["nodes"], row["max_weight"] / unit, row["epsilon"], row["delta"], float(row["hubs"] or 1))
    )


def rates(results: Iterable[Row]) -> list[Row]:
    """Return one row per class, mechanism and unit: the theorem's shape beside a power of n."""
    found = []
    for (network, mechanism, unit), rows in group(rate_rows(results), "network", "mechanism", "unit").items():
        shape = theorem_shape(mechanism, network)
        sizes, errors = [float(row["nodes"]) for row in rows], [row["max_error"] for row in rows]
        if shape is None or len(rows) < MIN_SIZES or min(errors) <= 0:
            continue
        constant, within = fit(errors, [shape_at(row, shape) for row in rows])
        slope, log_exponent = log_slope(sizes, errors), None
        if shape is SEPARATOR:  # the a of error = c p (log n)^a
            per_hub = [row["max_error"] / (row["hubs"] or 1) for row in rows]
            log_exponent = log_slope([math.log(n) for n in sizes], per_hub)
        found.append({
            "network": network, "mechanism": mechanism, "unit": unit, "least_nodes": min(sizes),
            "most_nodes": max(sizes), "least_error": errors[0] / unit, "most_error": errors[-1] / unit,
            "zeros": max(row["zeros"] for row in rows), "shape": shape.formula, "hides_logarithms": shape.tilde,
            "constant": constant, "within": within, "exponent_of_n": slope,
            "within_power": fit(errors, [n**slope for n in sizes])[1], "exponent_of_log": log_exponent,
        })  # fmt: skip
    return found
