"""The public half of a network: nodes, edges, coordinates and declared bounds, but no weights.

Unusual inputs:

| input | treatment |
|---|---|
| parallel edges | an error, unless asked for: rows of people look like them (``public_rows``) |
| | kept: each has its own private weight; a distance uses the shortest of them |
| self-loops | dropped with their weight: no shortest path uses one; counted in ``dropped_loops`` |
| isolated nodes, several components | kept; unreachable pairs are at distance infinity, which is public |
| order of rows | not kept: it may depend on the weights, and everything here is published |

Canonical order.  Nodes are sorted by label (integers by value, text by code point).  An undirected edge runs
from its lower position to its higher one.  Edges are sorted by tail, head, lower and upper bound.  Edges that are
alike in all of these are *twins*.  They have no public difference, so their weights are sorted among themselves, and
a release depends on the rows of a file, never on their order.  A proxy is sorted among twins too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Float, Int, frozen
from ..errors import InputError, NetworkError, OptionError, warn
from .columns import (
    arrange_column,
    check_proxy,
    check_proxy_array,
    format_column,
    number_twins,
    parse_proxy,
    sort_among_twins,
)
from .labels import Label, clean_labels, is_canonical_integer, sort_labels
from .public_rows import check_repeated, count_parallel

FEW_LABELS = 32  # up to so many are found faster one by one than with a dictionary of all


class Arcs(NamedTuple):
    """Outgoing arcs of every node: ``heads[start[v]:start[v+1]]``, each with the id of its edge."""

    start: Int
    heads: Int
    edges: Int


@dataclass(frozen=True, eq=False)
class Wiring:
    """The graph without labels: nodes by number, edges by their two ends."""

    num_nodes: int
    tails: Int
    heads: Int
    directed: bool

    @property
    def num_edges(self) -> int:
        """The number of edges (arcs, if directed), parallel ones included."""
        return len(self.tails)

    @cached_property
    def arcs(self) -> Arcs:
        """Adjacency in compressed rows; an undirected edge appears at both of its ends."""
        sides = 1 if self.directed else 2
        source = np.concatenate([self.tails, self.heads][:sides])
        target = np.concatenate([self.heads, self.tails][:sides])
        edge = np.tile(np.arange(self.num_edges), sides)
        order = np.argsort(source, kind="stable")
        start = np.zeros(self.num_nodes + 1, np.int64)
        np.cumsum(np.bincount(source, minlength=self.num_nodes), out=start[1:])
        return Arcs(frozen(start, np.int64), frozen(target[order], np.int64), frozen(edge[order], np.int64))

    @cached_property
    def neighbours(self) -> tuple[Int, Int]:
        """The simple graph in compressed rows, each increasing: no loops, no parallel edges, no direction."""
        return simple_rows(self.num_nodes, self.tails, self.heads)


def simple_rows(num_nodes: int, tails: Int, heads: Int) -> tuple[Int, Int]:
    """Return the neighbours of each node in compressed rows, increasing: every edge at both ends, none twice."""
    n = max(num_nodes, 1)
    keep = tails != heads
    tails, heads = tails[keep], heads[keep]
    key = np.sort(np.concatenate([tails * n + heads, heads * n + tails]))  # ``np.unique`` takes ten times as long
    key = key[np.append(True, key[1:] != key[:-1])] if len(key) else key
    source, target = np.divmod(key, n)
    start = np.zeros(num_nodes + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=num_nodes), out=start[1:])
    return start, target


@dataclass(frozen=True, eq=False)
class Topology:
    """A public graph: frozen arrays, cheap to share, safe to print."""

    labels: tuple[Label, ...]  # one per node, all int or all str, in canonical order
    tails: Int  # of each edge one end, as a node position,
    heads: Int  # and the other; for directed graphs the arc tail -> head
    directed: bool  # whether each edge may be used in one direction only
    lower: Float  # public bounds of each weight
    upper: Float  # infinite where none was declared
    coordinates: Float | None = None  # (n, 2) places, NaN where unknown
    dropped_loops: int = 0  # how many the input had
    proxy: Float | None = None  # a declared public column, NaN where unknown: a prior of estimators, never a bound
    proxy_name: str = ""  # what that column is called
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # other public columns, a value per edge

    @classmethod
    def build(
        cls, labels: Iterable[Any], tails: ArrayLike, heads: ArrayLike, *, directed: bool = False,
        lower: ArrayLike = 0.0, upper: ArrayLike = np.inf, coordinates: ArrayLike | None = None, dropped_loops: int = 0,
        proxy: ArrayLike | None = None, proxy_name: str = "proxy",
        columns: Mapping[str, Iterable[Any]] | None = None, parallel_edges: bool | None = False,
    ) -> tuple[Topology, Int]:  # fmt: skip
        """Validate, and return the topology in canonical order with the input row of each of its edges.

        An edge joins the positions of its ``tails`` and ``heads`` in ``labels``, in one direction only if ``directed``;
        ``coordinates`` has a row per label.  ``lower``, ``upper``, ``proxy`` and ``columns`` have one public value per
        edge, in input order; a bound may be one number for all edges.  ``proxy_name`` is the name of the proxy,
        ``dropped_loops`` the number of self-loops that the caller removed.  Edges that share both ends are an error
        unless ``parallel_edges`` (``check_repeated``).
        """
        names = clean_labels(labels)
        n = len(names)
        tail, head = _check_positions(tails), _check_positions(heads)
        if len(tail) != len(head):
            raise NetworkError(f"an edge has two ends, but there are {len(tail)} tails and {len(head)} heads")
        for end in (tail, head):
            outside = np.flatnonzero((end < 0) | (end >= n))
            if outside.size:
                row = int(outside[0])
                raise NetworkError(f"edge {row + 1} names node position {int(end[row])}, but the network has {n} nodes")
        m, keep = len(tail), np.flatnonzero(tail != head)
        low, high = _check_bound(lower, m, "lower")[keep], _check_bound(upper, m, "upper")[keep]
        if (low < 0).any() or not np.isfinite(low).all():
            raise NetworkError("a lower bound must be a finite number that is not negative")
        crossed = np.flatnonzero(low > high)
        if crossed.size:
            row = int(crossed[0])
            raise NetworkError(
                f"edge {int(keep[row]) + 1} has lower bound {low[row]:g} above its upper bound {high[row]:g}"
            )
        order = sort_labels(names)
        position = np.empty(n, np.int64)
        position[order] = np.arange(n)
        xy = None
        if coordinates is not None:
            xy = _parse_floats(coordinates, "coordinates")
            if xy.shape != (n, 2):
                raise NetworkError(f"coordinates must be an array of {n} rows and 2 columns, not {xy.shape}")
            if np.isinf(xy).any() or (np.isnan(xy[:, 0]) != np.isnan(xy[:, 1])).any():
                raise NetworkError("coordinates must be finite numbers, or two NaN where a place is unknown")
            xy = np.where(np.isnan(xy), np.nan, xy)  # one pattern of bits
            xy = frozen(xy[order], np.float64)
        given = tail, head
        tail, head = position[tail[keep]], position[head[keep]]
        if not directed:
            tail, head = np.minimum(tail, head), np.maximum(tail, head)
        by = np.lexsort((high, low, tail * n + head))
        ends = frozen(tail[by], np.int64), frozen(head[by], np.int64)
        if count_parallel(*ends):
            check_repeated(*given, directed=bool(directed), parallel_edges=parallel_edges)
        bounds = frozen(low[by], np.float64), frozen(high[by], np.float64)
        rows, twins = keep[by], number_twins(*ends, *bounds)
        topology = cls(
            labels=tuple(map(names.__getitem__, order.tolist())),
            tails=ends[0],
            heads=ends[1],
            directed=bool(directed),
            lower=bounds[0],
            upper=bounds[1],
            coordinates=xy,
            dropped_loops=dropped_loops + m - len(keep),
            proxy=(
                None
                if proxy is None
                else check_proxy(sort_among_twins(check_proxy_array(proxy, m)[rows], twins), proxy_name)
            ),
            proxy_name="" if proxy is None else proxy_name,
            columns={name: arrange_column(values, m, rows, twins) for name, values in (columns or {}).items()},
        )
        return topology, rows

    @classmethod
    def restore(cls, labels: Sequence[Any], tails: ArrayLike, heads: ArrayLike, **public: Any) -> Topology:
        """Build the topology of a file again from what ``build`` takes: ``labels``, ``tails``, ``heads``, ``public``.

        A loop or another order is an error, since it would move positions.
        """
        topology, kept = cls.build(labels, tails, heads, parallel_edges=True, **public)
        if not (
            topology.labels == tuple(labels)
            and np.array_equal(topology.tails, np.ravel(tails))
            and np.array_equal(topology.heads, np.ravel(heads))
            and np.array_equal(kept, np.arange(len(kept)))
            and (topology.proxy is None or topology.proxy.tobytes() == np.asarray(public["proxy"]).tobytes())
        ):
            raise NetworkError("nodes and edges are not in canonical order")
        return topology

    def with_proxy(self, proxy: ArrayLike | None, *, name: str = "proxy") -> Topology:
        """Return the same topology with a public proxy of the weights (``read_network(proxy=)`` takes a column).

        Estimators begin with the proxy and plans are simulated on it; no certificate depends on it, so it costs no
        privacy.  IT MUST BE PUBLIC, and it is published with every release: a column computed from the private data (a
        mean of past trips, last year's weights, rounded weights) breaks the promise.

        Parameters
        ----------
        proxy
            One number per edge in the order of ``tails`` and ``heads``, such as a free-flow time, NaN where unknown;
            None removes the proxy.
        name
            The name of the proxy.
        """
        if proxy is None:
            return replace(self, proxy=None, proxy_name="")
        values = sort_among_twins(check_proxy_array(proxy, self.num_edges), self.twins)
        return replace(self, proxy=check_proxy(values, name), proxy_name=name)

    def numbers(self, column: str) -> Float:
        """Return a public column as numbers, one per edge and NaN where unknown: the proxy, or one of ``columns``."""
        if self.proxy is not None and column == self.proxy_name:
            return self.proxy
        values = parse_proxy(self._column(column), f"column {column[:60]!r}", "edge")
        return sort_among_twins(values, self.twins)

    def texts(self, column: str) -> list[str]:
        """Return a public column (of ``columns``) as texts, one per edge: ids of edges."""
        return format_column(self._column(column))

    def _column(self, name: str) -> NDArray[Any]:
        if name not in self.columns:
            raise OptionError(
                f"the network was read without the public column {name[:60]!r}; name it when reading: "
                f"columns=[{name[:60]!r}]"
            )
        return self.columns[name]

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return len(self.labels)

    @property
    def num_edges(self) -> int:
        """The number of edges (arcs, if directed), parallel ones included."""
        return len(self.tails)

    def is_same(self, other: Topology, *, bounds: bool = True) -> bool:
        """Return whether two topologies have the same nodes, edges and, if asked, bounds."""
        names = ("tails", "heads", *(("lower", "upper") if bounds else ()))
        return self is other or (
            (self.labels, self.directed) == (other.labels, other.directed)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
        )

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        return f"Topology({self.num_nodes} nodes, {self.num_edges} edges, {kind})"

    @property
    def arcs(self) -> Arcs:
        """Adjacency in compressed rows; an undirected edge appears at both of its ends."""
        return self.wiring.arcs

    @cached_property
    def wiring(self) -> Wiring:
        """The graph without labels, coordinates and bounds."""
        return Wiring(self.num_nodes, self.tails, self.heads, self.directed)

    @cached_property
    def twins(self) -> Int:
        """The number of each edge's group of twins: neighbouring edges with the same ends and bounds."""
        return number_twins(self.tails, self.heads, self.lower, self.upper)

    @cached_property
    def components(self) -> Int:
        """The number of each node's (weakly) connected component, numbered by first node."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = self.num_nodes
        graph = coo_array((np.ones(self.num_edges), (self.tails, self.heads)), shape=(n, n))
        return frozen(connected_components(graph, directed=True, connection="weak")[1], np.int64)

    @cached_property
    def _position(self) -> dict[Label, int]:
        return {label: i for i, label in enumerate(self.labels)}

    def index(self, label: Label) -> int:
        """Return the position of a label; 17 and "17" find each other, "017" and 17.0 find neither."""
        names: list[Label] = []
        if isinstance(label, str):
            names = [label, *([int(label)] if is_canonical_integer(label) else [])]
        elif isinstance(label, (int, np.integer)) and not isinstance(label, bool) and -(2**63) <= label < 2**63:
            names = [int(label), str(int(label))]
        for name in names:
            if isinstance(name, type(self.labels[0])):  # sorted as Python sorts them
                at = bisect_left(self.labels, name)
                if at < len(self.labels) and self.labels[at] == name:
                    return at
        shown = str(label)[:60] if not isinstance(label, int) or abs(label) < 2**63 else "a very large number"
        raise InputError(f"unknown node {shown!r}")

    def indices(self, labels: Sequence[Label] | None) -> Int:
        """Return the positions of many labels; ``None`` means every node in canonical order."""
        if labels is None:
            return np.arange(self.num_nodes)
        if isinstance(labels, str):
            raise InputError("pass a list of labels, not one text")
        if not isinstance(labels, Iterable):
            raise InputError(f"pass a list of labels, not {type(labels).__name__}")
        wanted = list(labels)
        if len(wanted) <= FEW_LABELS:
            return np.fromiter(map(self.index, wanted), np.int64, count=len(wanted))
        position = self._position
        plain = set(map(type, wanted)) <= {type(self.labels[0])} and all(map(position.__contains__, wanted))
        find = position.__getitem__ if plain else self.index
        return np.fromiter(map(find, wanted), np.int64, count=len(wanted))


def _check_positions(ends: ArrayLike) -> Int:
    """Return edge ends as integers; fractions and missing values are errors."""
    out = np.asarray(ends)
    if out.size and out.dtype.kind not in "iu":
        raise NetworkError(f"edge ends must be node positions (integers), not {out.dtype}")
    return out.astype(np.int64).ravel()


def _parse_floats(values: ArrayLike, what: str) -> Float:
    """Return public numbers as floats."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise NetworkError(f"{what} must be numbers") from None


def _check_bound(value: ArrayLike, m: int, name: str) -> Float:
    """Return one public bound per edge from a number or an array."""
    out = _parse_floats(value, f"{name} bounds")
    if out.ndim == 0:
        out = np.full(m, float(out))
    if out.shape != (m,):
        raise NetworkError(f"{name} bounds must be one number or one per edge ({m}), not {out.shape}")
    if np.isnan(out).any():
        raise NetworkError(f"a {name} bound is missing or not a number")
    return out + 0.0  # -0.0 becomes 0.0: twins must not differ in a bit of the file


def warn_of_rows(topology: Topology, tails: ArrayLike, heads: ArrayLike, what: str = "edges") -> None:
    """Warn of loops, repeated rows and reverse rows of a ``topology``, whose rows messages call ``what``.

    ``tails`` and ``heads`` are as given, before they were sorted.
    """
    tail, head = np.ravel(tails).astype(np.int64), np.ravel(heads).astype(np.int64)
    given = len(tail)
    tail, head = tail[tail != head], head[tail != head]
    edges, n = len(tail), topology.num_nodes
    if edges < given:
        warn(
            f"self-loops: {given - edges} of {given} {what} were dropped with their weights, "
            "because no shortest path uses one"
        )
    # Parallel edges are neighbours in canonical order; ordinary files have none and skip the rest.
    repeated = count_parallel(topology.tails, topology.heads)
    if repeated and not topology.directed:
        there = tail * n + head
        both = int(np.isin(head * n + tail, there).sum())
        if 2 * both > edges:
            warn(
                f"both directions: {both} of {edges} {what} have a reverse one, but the network is read as undirected, "
                "so the two are parallel edges and a distance uses the shorter; if each is one direction, pass "
                "directed=True (--directed); if both mean the same edge, keep one of them"
            )
            repeated = edges - len(np.unique(there))
    if repeated:
        warn(
            f"parallel edges: {repeated} of {edges} {what} repeat the ends of another one; "
            "each keeps its own weight, and a distance uses the shortest"
        )


def warn_of_nodes(listed: int, topology: Topology) -> None:
    """Warn when most rows of a node table are nodes without an edge: it may be a table of something else."""
    without = topology.num_nodes - len(np.unique(np.append(topology.tails, topology.heads)))
    if 2 * without > listed > 0:
        warn(
            f"isolated nodes: {without} of {topology.num_nodes} nodes have no edge; their labels and places are "
            "published with the network, so check that the node table belongs to it"
        )


def warn_of_bounds(topology: Topology, max_weight: float | None) -> None:
    """Warn when ``max_weight`` is below bounds that were declared for single edges."""
    if max_weight is None:
        return
    above = int(np.count_nonzero(np.isfinite(topology.upper) & (topology.upper > max_weight)))
    if above:
        warn(
            f"max_weight {max_weight:g} is below the declared upper bound of {above} of {topology.num_edges} edges; "
            "the smaller bound counts, and larger weights are clipped to it"
        )
