"""Networks and weights to measure on: generated ones by class, size and kind, and edge lists of the user.

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
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from .._validate import integer, one_of
from ..arrays import Float, Int
from ..demo.people import draw_field
from ..demo.streets import generate_streets, triangulate
from ..errors import NetworkError, OptionError
from ..io.readers import read_table
from ..io.readers.edge_lists import CSV, TSV
from ..network.columns import parse_numbers
from ..network.network import Network
from ..network.private_weights import PrivateWeights
from ..network.public_rows import WantedColumns
from ..network.topology import Topology
from ..noise import simulation

KTREE_WIDTH = 3
THIN_ROWS = 6


class Graph(NamedTuple):
    """A network without weights: the two nodes of every edge, and coordinates of every node."""

    ends: Int
    places: Float


def generate_graph(name: str, size: int, seed: int) -> Graph:
    """Generate a connected network of about ``size`` nodes."""
    one_of(name, "class", CLASSES)
    integer(size, "size", 16)
    ends, places = CLASSES[name][1](size, simulation(seed))
    return Graph(np.asarray(ends, np.int64).reshape(-1, 2), np.asarray(places, np.float64))


def grid_ends(rows: int, columns: int) -> Int:
    """Return the edges of a grid, numbered row by row."""
    at = np.arange(rows * columns).reshape(rows, columns)
    across, down = (at[:, :-1], at[:, 1:]), (at[:-1], at[1:])
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in (across, down)])


def _make_grid(rows: int, columns: int) -> Graph:
    y, x = np.divmod(np.arange(rows * columns), columns)
    return Graph(grid_ends(rows, columns), np.stack([x, y], axis=1).astype(np.float64))


def _make_tree(n: int, rng: np.random.Generator) -> Graph:
    """Make a random recursive tree: each node joins an earlier one, so the depth grows with log n."""
    above = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    places = np.zeros((n, 2))
    places[1:] = rng.normal(0, 1, (n - 1, 2))
    for node, parent in enumerate(above, 1):  # near its parent
        places[node] += places[parent]
    return Graph(np.stack([above, np.arange(1, n)], axis=1), places)


def _make_caterpillar(n: int, rng: np.random.Generator) -> Graph:
    """Make a long spine with one leg at every other node: a river."""
    spine = 2 * n // 3
    ends, places = _make_grid(1, spine)
    foot = np.sort(rng.choice(spine, n - spine, replace=False))
    legs = np.stack([foot, np.arange(spine, n)], axis=1)
    return Graph(np.concatenate([ends, legs]), np.concatenate([places, places[foot] + [0.0, 1.0]]))


def _make_delaunay(n: int, rng: np.random.Generator) -> Graph:
    places = rng.random((n, 2))
    return Graph(triangulate(places), places)


def _make_ktree(n: int, rng: np.random.Generator) -> Graph:
    """Make a partial k-tree: each node joins k nodes of an earlier bag; then a third of the extra edges is removed."""
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
    return Graph(edges[keep], np.array(places))


def _make_city(n: int, rng: np.random.Generator) -> Graph:
    """Make the demo's streets: blocks, dead ends, a river with few bridges."""
    streets = generate_streets(max(n, 60), int(rng.integers(2**31)))
    return Graph(np.stack([streets.tails, streets.heads], axis=1), streets.places)


def _make_metro(n: int, rng: np.random.Generator) -> Graph:
    """Draw straight lines across a disc that meet at interchanges, and many stations in between."""
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
        stops: list[int] = []
        for (a, _), (b, interchange) in pairwise([(-half, -1), *sorted(meets[line]), (half, -1)]):
            stations = np.linspace(a, b, round(between * (b - a)) + 2)[1:-1]
            stops += [*range(len(places), len(places) + len(stations)), interchange]
            places += [shift[line] * normal[line] + at * along for at in stations]
        ends += pairwise(stops[:-1])
    return Graph(np.array(ends), np.array(places))


def _make_random(n: int, rng: np.random.Generator) -> Graph:
    """Make a random cubic network: separators are large, distances short."""
    n -= n % 2
    ring = np.stack([np.arange(n), np.roll(np.arange(n), -1)], axis=1)
    chords = rng.permutation(n).reshape(-1, 2)
    ends = np.unique(np.sort(np.concatenate([ring, chords]), axis=1), axis=0)
    around = 2 * np.pi * np.arange(n) / n
    return Graph(ends, np.stack([np.cos(around), np.sin(around)], axis=1))


CLASSES: dict[str, tuple[str, Callable[[int, np.random.Generator], Graph]]] = {
    "path": ("a single line", lambda n, _: _make_grid(1, n)),
    "caterpillar": ("a river: a long spine with legs", _make_caterpillar),
    "tree": ("a random recursive tree, shallow", _make_tree),
    "ladder": ("two parallel lines with rungs", lambda n, _: _make_grid(2, n // 2)),
    "thin-grid": (
        f"a corridor: a grid of {THIN_ROWS} rows",
        lambda n, _: _make_grid(THIN_ROWS, max(THIN_ROWS, n // THIN_ROWS)),
    ),
    "ktree": (f"a partial {KTREE_WIDTH}-tree", _make_ktree),
    "metro": ("lines that meet at interchanges", _make_metro),
    "city": ("generated streets with a river", _make_city),
    "grid": ("a square grid", lambda n, _: _make_grid(math.isqrt(n), math.isqrt(n))),
    "delaunay": ("a random planar triangulation", _make_delaunay),
    "random": ("a random cubic network, an expander", _make_random),
}
"""Name, description and generator, in the order of the report: from long and thin to dense."""


SIDEWAYS = 0.02  # what a sideways edge costs, in median weights


def draw_weights(graph: Graph, kind: str, seed: int) -> tuple[Float, float]:
    """Draw one weight per edge, of median 1 (up to clipping), and return their public bound."""
    one_of(kind, "weights", KINDS)
    bound, draw = KINDS[kind][1:]
    values = draw(graph, simulation(seed))
    return np.clip(values / np.median(values), 0.0, bound), bound


def _draw_correlated(graph: Graph, rng: np.random.Generator) -> Float:
    """Draw a smooth random field over the plane, as congestion is: neighbours are alike."""
    middle = (graph.places[graph.ends[:, 0]] + graph.places[graph.ends[:, 1]]) / 2
    extent = max(float(np.ptp(graph.places, axis=0).max()), 1e-9)
    return np.exp(0.7 * draw_field(middle, extent / 8, rng))


def _draw_adversarial(graph: Graph, rng: np.random.Generator) -> Float:
    """Draw the worst weights for input perturbation: all paths that lead away from one end are almost equally long.

    An edge that leads away from the far end costs 1, one that leads sideways next to nothing.  Where the network is
    thick, a shortest path over noisy weights is the luckiest of exponentially many; on a tree the kind is harmless.
    """
    ends, n = graph.ends, len(graph.places)
    matrix = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()

    def hops(origin: int) -> Float:
        return np.asarray(dijkstra(matrix, directed=False, unweighted=True, indices=origin), np.float64)

    level = hops(int(hops(0).argmax()))
    onward = level[ends[:, 0]] != level[ends[:, 1]]
    jitter = rng.uniform(0.99, 1.01, len(ends))
    return jitter if onward.mean() <= 0.5 else np.where(onward, jitter, SIDEWAYS)


KINDS: dict[str, tuple[str, float, Callable[[Graph, np.random.Generator], Float]]] = {
    "uniform": ("between 0 and 2, independent", 2.0, lambda graph, rng: rng.uniform(0.0, 2.0, len(graph.ends))),
    "lognormal": ("skewed, independent", 8.0, lambda graph, rng: rng.lognormal(0.0, 0.6, len(graph.ends))),
    "correlated": ("neighbours are alike, as in congestion", 8.0, _draw_correlated),
    "constant": ("all the same", 2.0, lambda graph, _: np.ones(len(graph.ends))),
    "adversarial": ("very many paths of almost the same length", 2.0, _draw_adversarial),
}
"""Name, one line for people, public bound, and generator."""
OWN = "own"  # the weights in an edge list of the user

TABLES = (*CSV.suffixes, *TSV.suffixes)
MAX_NODES = 20_000  # larger networks take minutes per case


class WeightedNetwork(NamedTuple):
    """A network, the same weights in the order of its edges, and their public bound.  NOT PRIVATE."""

    network: Network
    lengths: Float
    bound: float

    @classmethod
    def of(cls, topology: Topology, lengths: Float, bound: float) -> WeightedNetwork:
        """Give weights to a topology."""
        return cls(Network(topology, PrivateWeights(lengths, num_rows=len(lengths))), lengths, bound)


@dataclass(frozen=True)
class OwnNetwork:
    """An edge list of the user: path, column of the weights, name, size, and a digest of its bytes."""

    path: str
    column: str
    name: str
    nodes: int
    digest: str


def check_own(path: Path, column: str) -> OwnNetwork:
    """Read and check an edge list of the user, so that mistakes are reported before hours of work."""
    if path.suffix.lower() not in TABLES:
        raise OptionError(f"an edge list of the lab must end in {', '.join(TABLES)}; got {str(path)[-80:]!r}")
    nodes = _read_own(str(path), column).network.topology.num_nodes
    if nodes > MAX_NODES:
        raise OptionError(f"a network of the lab must have at most {MAX_NODES} nodes, got {nodes}")
    digest = hashlib.sha256(path.read_bytes() + column.encode()).hexdigest()[:12]
    return OwnNetwork(str(path), column, path.name, nodes, digest)


@lru_cache(maxsize=8)
def load_own(own: OwnNetwork) -> WeightedNetwork:
    """Read an edge list of the user; weights are scaled to median 1, and the largest is the bound."""
    return _read_own(own.path, own.column)


def _read_own(path: str, column: str) -> WeightedNetwork:
    table = read_table(path, WantedColumns("the edge list", ["source", "target", column])).columns
    ends = [label.strip() for label in (*table["source"], *table["target"])]
    labels, position = np.unique(np.array(ends, object), return_inverse=True)
    topology, kept = Topology.build(labels, *np.split(position, 2))
    if not topology.num_edges:
        raise NetworkError("the network must have at least one edge")
    values = np.maximum(parse_numbers(table[column], f"column {column!r}"), 0.0)
    middle = float(np.median(values[kept]))
    if middle <= 0:
        raise OptionError(f"the weights in column {column!r} must have a positive median")
    return WeightedNetwork.of(topology, values[kept] / middle, float(values.max() / middle))


@lru_cache(maxsize=8)
def generate_network(name: str, size: int, weights: str, seeds: tuple[int, int]) -> WeightedNetwork:
    """Generate a network of class ``name`` with about ``size`` nodes and this kind of ``weights``.

    ``seeds`` are those of the graph and of the weights.
    """
    graph = generate_graph(name, size, seeds[0])
    values, bound = draw_weights(graph, weights, seeds[1])
    topology, kept = Topology.build(range(len(graph.places)), *graph.ends.T, coordinates=graph.places)
    return WeightedNetwork.of(topology, values[kept], bound)
