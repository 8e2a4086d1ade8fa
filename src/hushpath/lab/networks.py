"""Networks by class and size: public shapes with places to draw them, the same for the same seed.

Each class is one shape question: how many hops lie between nodes, how small are separators, how many ways are
almost equally long.  Sizes are approximate where a shape asks for it (a grid is square).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.spatial import Delaunay

from ..arrays import Float, Int
from ..demo.streets import lay_out
from ..errors import OptionError
from ..noise import simulation

KTREE_WIDTH = 3
THIN_ROWS = 6


@dataclass(frozen=True, eq=False)
class Ground:
    """A network before it has weights: edge ends as node positions, and a place for every node."""

    name: str
    ends: Int
    places: Float

    @property
    def num_nodes(self) -> int:
        """How many nodes."""
        return len(self.places)


def make_ground(name: str, size: int, seed: int) -> Ground:
    """Generate a connected network of about ``size`` nodes."""
    if name not in CLASSES:
        raise OptionError(f"no network class is called {name[:40]!r}; choose from: {', '.join(CLASSES)}")
    if size < 16:
        raise OptionError(f"a generated network has at least 16 nodes, not {size}")
    ends, places = CLASSES[name][1](size, simulation(seed))
    return Ground(name, np.asarray(ends, np.int64).reshape(-1, 2), np.asarray(places, np.float64))


Shape = tuple[Int, Float]


def _lattice(rows: int, columns: int) -> Shape:
    at = np.arange(rows * columns).reshape(rows, columns)
    along = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    across = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    y, x = np.divmod(np.arange(rows * columns), columns)
    return np.concatenate([along, across]), np.stack([x, y], axis=1).astype(np.float64)


def _path(n: int, _: np.random.Generator) -> Shape:
    return _lattice(1, n)


def _tree(n: int, rng: np.random.Generator) -> Shape:
    """Random recursive: each node joins an earlier one, so the depth grows with log n only."""
    above = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    return np.stack([above, np.arange(1, n)], axis=1), _hang(above, rng)


def _caterpillar(n: int, rng: np.random.Generator) -> Shape:
    """A long spine with one leg at every other node: a river."""
    spine = 2 * n // 3
    ends, places = _lattice(1, spine)
    foot = np.sort(rng.choice(spine, n - spine, replace=False))
    legs = np.stack([foot, np.arange(spine, n)], axis=1)
    return np.concatenate([ends, legs]), np.concatenate([places, places[foot] + [0.0, 1.0]])


def _ladder(n: int, _: np.random.Generator) -> Shape:
    return _lattice(2, n // 2)


def _thin_grid(n: int, _: np.random.Generator) -> Shape:
    return _lattice(THIN_ROWS, max(THIN_ROWS, n // THIN_ROWS))


def _grid(n: int, _: np.random.Generator) -> Shape:
    return _lattice(math.isqrt(n), math.isqrt(n))


def _delaunay(n: int, rng: np.random.Generator) -> Shape:
    places = rng.random((n, 2))
    triangles = Delaunay(places).simplices
    ends = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]]), axis=1)
    return np.unique(ends, axis=0), places


def _ktree(n: int, rng: np.random.Generator) -> Shape:
    """A partial k-tree: each node joins k nodes of an earlier bag; then a third of the extra edges go."""
    k = KTREE_WIDTH
    bags = [tuple(range(k + 1))]
    ends = [(i, j) for j in range(k + 1) for i in range(j)]
    places = [tuple(rng.random(2)) for _ in range(k + 1)]
    for node in range(k + 1, n):
        bag = list(bags[int(len(bags) * rng.random() ** 0.25)])  # newer bags are likelier, so it grows long
        bag.pop(int(rng.integers(len(bag))))
        ends += [(other, node) for other in bag]
        bags.append((*bag, node))
        middle = np.mean([places[other] for other in bag], axis=0)
        places.append(tuple(middle + rng.normal(0, 0.15, 2)))
    edges = np.array(ends)
    first = np.unique(edges[:, 1], return_index=True)[1]  # one edge to an earlier node each: a spanning tree
    keep = rng.random(len(edges)) > 1 / 3
    keep[first] = True
    return edges[keep], np.array(places)


def _city(n: int, rng: np.random.Generator) -> Shape:
    """The demo's streets: blocks, dead ends, a river with few bridges."""
    streets = lay_out(max(n, 60), int(rng.integers(2**31)))
    return np.stack([streets.tails, streets.heads], axis=1), streets.places


def _metro(n: int, rng: np.random.Generator) -> Shape:
    """Straight lines across a disc that meet at interchanges, and many stations in between."""
    lines = max(3, round(n ** (1 / 3)))
    turn = np.pi * (np.arange(lines) + 0.6 * rng.random(lines)) / lines
    shift = rng.uniform(-0.45, 0.45, lines)
    normal = np.stack([-np.sin(turn), np.cos(turn)], axis=1)
    meets: list[list[tuple[float, int]]] = [[] for _ in range(lines)]
    places: list[Float] = []
    for i in range(lines):
        for j in range(i):
            point = np.linalg.solve(normal[[i, j]], shift[[i, j]])
            if np.hypot(*point) < 1:
                for line in (i, j):
                    meets[line].append((float(point @ [np.cos(turn[line]), np.sin(turn[line])]), len(places)))
                places.append(point)
    ends: list[tuple[int, int]] = []
    between = max(1, n - len(places)) / sum(2 * math.sqrt(1 - s * s) for s in shift)  # stations per length
    for line in range(lines):
        way, half = np.array([np.cos(turn[line]), np.sin(turn[line])]), math.sqrt(1 - shift[line] ** 2)
        marks = [(-half, -1), *sorted(meets[line]), (half, -1)]
        last = -1
        for (a, _), (b, stop) in pairwise(marks):
            for at in np.linspace(a, b, max(0, round(between * (b - a))) + 2)[1:-1]:
                ends += [(last, len(places))] if last >= 0 else []
                last = len(places)
                places.append(shift[line] * normal[line] + at * way)
            if stop >= 0:
                ends += [(last, stop)] if last >= 0 else []
                last = stop
    return np.array(ends), np.array(places)


def _random(n: int, rng: np.random.Generator) -> Shape:
    """Every node has three neighbours anywhere: no separator is small, no distance is long."""
    n -= n % 2
    ring = np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1)
    chords = rng.permutation(n).reshape(-1, 2)
    ends = np.unique(np.sort(np.concatenate([ring, chords]), axis=1), axis=0)
    around = 2 * np.pi * np.arange(n) / n
    return ends, np.stack([np.cos(around), np.sin(around)], axis=1)


def _hang(above: Int, rng: np.random.Generator) -> Float:
    """Places for a tree: each node near the one above it."""
    places = np.zeros((len(above) + 1, 2))
    steps = rng.normal(0, 1, (len(above), 2))
    for node, (mother, step) in enumerate(zip(above, steps, strict=True), 1):
        places[node] = places[mother] + step
    return places


CLASSES: dict[str, tuple[str, Callable[[int, np.random.Generator], Shape]]] = {
    "path": ("a single line", _path),
    "caterpillar": ("a river: a long spine with legs", _caterpillar),
    "tree": ("a random recursive tree, shallow", _tree),
    "ladder": ("two parallel lines with rungs", _ladder),
    "thin-grid": (f"a corridor: a grid of {THIN_ROWS} rows", _thin_grid),
    "ktree": (f"a partial {KTREE_WIDTH}-tree", _ktree),
    "metro": ("lines that meet at interchanges", _metro),
    "city": ("generated streets with a river", _city),
    "grid": ("a square grid", _grid),
    "delaunay": ("a random planar triangulation", _delaunay),
    "random": ("a random cubic network, an expander", _random),
}
"""Name, one line for people, and generator; in the order of the report: from long and thin to thick."""
