"""Networks and weights to measure on: generated ones by class, size and kind, and edge lists that the user names.

Each generated class varies one property of shape: the number of hops between nodes, the size of separators, the number
of paths of nearly equal length.  Sizes are approximate where the shape requires it (a grid is square).  The same seed
gives the same network.  Weights of every kind have median 1, so that noise, counted in median weights, is comparable.
Edge lists keep their own weights, scaled to median 1; results on them are NOT PRIVATE.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from .._validate import integer, one_of
from ..arrays import Float, Int
from ..demo.streets import lay_out, triangulated
from ..errors import NetworkError, OptionError
from ..estimator.fields import plane_waves
from ..io.readers import read_network, read_table
from ..io.readers.edge_lists import CSV, TSV
from ..network.columns import parse_numbers
from ..network.network import Network
from ..network.private_weights import PrivateWeights
from ..network.public_rows import WantedColumns
from ..network.topology import Topology
from ..noise import simulation

KTREE_WIDTH = 3
THIN_ROWS = 6


class Ground(NamedTuple):
    """A network without weights: edge ends as node positions, and coordinates of every node."""

    ends: Int
    places: Float

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.places)


def make_ground(name: str, size: int, seed: int) -> Ground:
    """Generate a connected network of about ``size`` nodes."""
    one_of(name, "class", CLASSES)
    integer(size, "size", 16)
    ends, places = CLASSES[name][1](size, simulation(seed))
    return Ground(np.asarray(ends, np.int64).reshape(-1, 2), np.asarray(places, np.float64))


def _lattice(rows: int, columns: int) -> Ground:
    at = np.arange(rows * columns).reshape(rows, columns)
    along = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    across = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    y, x = np.divmod(np.arange(rows * columns), columns)
    return Ground(np.concatenate([along, across]), np.stack([x, y], axis=1).astype(np.float64))


def _tree(n: int, rng: np.random.Generator) -> Ground:
    """A random recursive tree: each node joins an earlier one, so the depth grows with log n."""
    above = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    return Ground(np.stack([above, np.arange(1, n)], axis=1), _hang(above, rng))


def _caterpillar(n: int, rng: np.random.Generator) -> Ground:
    """A long spine with one leg at every other node: a river."""
    spine = 2 * n // 3
    ends, places = _lattice(1, spine)
    foot = np.sort(rng.choice(spine, n - spine, replace=False))
    legs = np.stack([foot, np.arange(spine, n)], axis=1)
    return Ground(np.concatenate([ends, legs]), np.concatenate([places, places[foot] + [0.0, 1.0]]))


def _delaunay(n: int, rng: np.random.Generator) -> Ground:
    places = rng.random((n, 2))
    return Ground(triangulated(places), places)


def _ktree(n: int, rng: np.random.Generator) -> Ground:
    """A partial k-tree: each node joins k nodes of an earlier bag; then a third of the extra edges is removed."""
    k = KTREE_WIDTH
    bags = [tuple(range(k + 1))]
    ends = [(i, j) for j in range(k + 1) for i in range(j)]
    places = [tuple(rng.random(2)) for _ in range(k + 1)]
    for node in range(k + 1, n):
        bag = list(bags[int(len(bags) * rng.random() ** 0.25)])  # prefer newer bags, so that the tree becomes long
        bag.pop(int(rng.integers(len(bag))))
        ends += [(other, node) for other in bag]
        bags.append((*bag, node))
        middle = np.mean([places[other] for other in bag], axis=0)
        places.append(tuple(middle + rng.normal(0, 0.15, 2)))
    edges = np.array(ends)
    first = np.unique(edges[:, 1], return_index=True)[1]  # one edge to an earlier node each: a spanning tree
    keep = rng.random(len(edges)) > 1 / 3
    keep[first] = True
    return Ground(edges[keep], np.array(places))


def _city(n: int, rng: np.random.Generator) -> Ground:
    """The demo's streets: blocks, dead ends, a river with few bridges."""
    streets = lay_out(max(n, 60), int(rng.integers(2**31)))
    return Ground(np.stack([streets.tails, streets.heads], axis=1), streets.places)


def _metro(n: int, rng: np.random.Generator) -> Ground:
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
        along, half = np.array([np.cos(turn[line]), np.sin(turn[line])]), math.sqrt(1 - shift[line] ** 2)
        marks = [(-half, -1), *sorted(meets[line]), (half, -1)]
        last = -1
        for (a, _), (b, stop) in pairwise(marks):
            for at in np.linspace(a, b, max(0, round(between * (b - a))) + 2)[1:-1]:
                ends += [(last, len(places))] if last >= 0 else []
                last = len(places)
                places.append(shift[line] * normal[line] + at * along)
            if stop >= 0:
                ends += [(last, stop)] if last >= 0 else []
                last = stop
    return Ground(np.array(ends), np.array(places))


def _random(n: int, rng: np.random.Generator) -> Ground:
    """A random cubic network: separators are large, distances short."""
    n -= n % 2
    ring = np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1)
    chords = rng.permutation(n).reshape(-1, 2)
    ends = np.unique(np.sort(np.concatenate([ring, chords]), axis=1), axis=0)
    around = 2 * np.pi * np.arange(n) / n
    return Ground(ends, np.stack([np.cos(around), np.sin(around)], axis=1))


def _hang(above: Int, rng: np.random.Generator) -> Float:
    """Return coordinates for a tree: each node near its parent."""
    places = np.zeros((len(above) + 1, 2))
    steps = rng.normal(0, 1, (len(above), 2))
    for node, (parent, step) in enumerate(zip(above, steps, strict=True), 1):
        places[node] = places[parent] + step
    return places


CLASSES: dict[str, tuple[str, Callable[[int, np.random.Generator], Ground]]] = {
    "path": ("a single line", lambda n, _: _lattice(1, n)),
    "caterpillar": ("a river: a long spine with legs", _caterpillar),
    "tree": ("a random recursive tree, shallow", _tree),
    "ladder": ("two parallel lines with rungs", lambda n, _: _lattice(2, n // 2)),
    "thin-grid": (
        f"a corridor: a grid of {THIN_ROWS} rows",
        lambda n, _: _lattice(THIN_ROWS, max(THIN_ROWS, n // THIN_ROWS)),
    ),
    "ktree": (f"a partial {KTREE_WIDTH}-tree", _ktree),
    "metro": ("lines that meet at interchanges", _metro),
    "city": ("generated streets with a river", _city),
    "grid": ("a square grid", lambda n, _: _lattice(math.isqrt(n), math.isqrt(n))),
    "delaunay": ("a random planar triangulation", _delaunay),
    "random": ("a random cubic network, an expander", _random),
}
"""Name, description and generator, in the order of the report: from long and thin to dense."""


WAVES = 64
SIDEWAYS = 0.02  # what a sideways edge costs, in median weights


def draw_weights(ground: Ground, kind: str, seed: int) -> tuple[Float, float]:
    """Draw one weight per edge, of median 1 (up to clipping), and return their public bound."""
    one_of(kind, "weights", KINDS)
    bound, draw = KINDS[kind][1:]
    values = draw(ground, simulation(seed))
    middle = float(np.median(values))
    if middle <= 0:
        raise OptionError(f"{kind} weights have no positive median on this network")
    return np.clip(values / middle, 0.0, bound), bound


def _correlated(ground: Ground, rng: np.random.Generator) -> Float:
    """A smooth random field over the plane, as congestion is: neighbours are alike."""
    middle = (ground.places[ground.ends[:, 0]] + ground.places[ground.ends[:, 1]]) / 2
    extent = max(float(np.ptp(ground.places, axis=0).max()), 1e-9)
    return np.exp(0.7 * plane_waves(middle, extent / 8, rng, WAVES, amplitudes=True))


def _adversarial(ground: Ground, rng: np.random.Generator) -> Float:
    """The worst weights for input perturbation: all paths that lead away from one end are almost equally long.

    An edge that leads away from the far end costs 1, one that leads sideways next to nothing.  Where the network is
    thick, a shortest path over noisy weights is the luckiest of exponentially many; on a tree the kind is harmless.
    """
    ends, n = ground.ends, ground.num_nodes
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()

    def hops(origin: int) -> Float:
        return np.asarray(dijkstra(graph, directed=False, unweighted=True, indices=origin), np.float64)

    level = hops(int(hops(0).argmax()))
    onward = level[ends[:, 0]] != level[ends[:, 1]]
    jitter = rng.uniform(0.99, 1.01, len(ends))
    return jitter if onward.mean() <= 0.5 else np.where(onward, jitter, SIDEWAYS)


KINDS: dict[str, tuple[str, float, Callable[[Ground, np.random.Generator], Float]]] = {
    "uniform": ("between 0 and 2, independent", 2.0, lambda ground, rng: rng.uniform(0.0, 2.0, len(ground.ends))),
    "lognormal": ("skewed, independent", 8.0, lambda ground, rng: rng.lognormal(0.0, 0.6, len(ground.ends))),
    "correlated": ("neighbours are alike, as in congestion", 8.0, _correlated),
    "constant": ("all the same", 2.0, lambda ground, _: np.ones(len(ground.ends))),
    "adversarial": ("very many paths of almost the same length", 2.0, _adversarial),
}
"""Name, one line for people, public bound, and generator."""
OWN = "own"  # the weights in an edge list the user names

TABLES = (*CSV.suffixes, *TSV.suffixes)
MOST_NODES = 20_000  # larger networks take minutes per case


@dataclass(frozen=True)
class OwnNetwork:
    """An edge list of the user: path, column of the weights, name, size, and a digest of its bytes."""

    path: str
    column: str
    name: str
    nodes: int
    digest: str


def own_network(path: Path, column: str) -> OwnNetwork:
    """Check a file, so that mistakes are reported before hours of work."""
    if path.suffix.lower() not in TABLES:
        raise OptionError(f"an edge list of the lab must end in {', '.join(TABLES)}; got {str(path)[-80:]!r}")
    topology = read_network(path, weight=column).topology
    if topology.num_nodes > MOST_NODES:
        raise OptionError(f"a network of the lab must have at most {MOST_NODES} nodes, got {topology.num_nodes}")
    if not topology.num_edges:
        raise NetworkError("the network must have at least one edge")
    digest = hashlib.sha256(path.read_bytes() + column.encode()).hexdigest()[:12]
    return OwnNetwork(str(path), column, path.name, topology.num_nodes, digest)


def load_own(own: OwnNetwork) -> tuple[Network, Float, float]:
    """Return the network with weights of median 1, the same weights in the order of edges, and the largest as bound."""
    table = read_table(own.path, WantedColumns("the edge list", ["source", "target", own.column])).columns
    ends = [label.strip() for label in (*table["source"], *table["target"])]
    labels, position = np.unique(np.array(ends, object), return_inverse=True)
    topology, kept = Topology.build(labels, *np.split(position, 2))
    values = np.maximum(parse_numbers(table[own.column], f"column {own.column!r}"), 0.0)
    middle = float(np.median(values[kept]))
    if middle <= 0:
        raise OptionError(f"the weights in column {own.column!r} must have a positive median")
    bound = float(values.max() / middle)
    lengths = values[kept] / middle
    return Network(topology, PrivateWeights(lengths, num_rows=len(lengths))), lengths, bound
