"""A network: a public topology and private weights, from arrays, tables, networkx, scipy or pandas.

Which edges exist is public, so it must not depend on a weight.  Every edge is a row, an edge or a stored entry of its
own, a zero is a weight like any other, and a missing weight is an error, never "no edge".

Tables are columns, in the same way for every file format (``io.readers``).  Messages count rows from 1.  They give the
place of a weight that is not a number, never its value, and the exception has no context that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Float, Int
from ..errors import NetworkError, warn
from ..extras import imported
from .columns import Bound, EdgeColumns, check_proxy_array, parse_number, parse_numbers, parse_proxy
from .labels import PlainLabels, plain_labels
from .private_weights import PrivateWeights
from .public_rows import USE_TRIPS, WantedColumns, check_columns, choose_public_columns
from .topology import Topology, warn_of_nodes, warn_of_rows

if TYPE_CHECKING:
    import networkx
    import pandas

NODE_COLUMNS = WantedColumns("the node table", ["node"], ("x", "y"))
KEEP_ZEROS = ("coo", "csr", "csc")  # formats that store exactly what was put in


Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Table:
    """An edge list or a node table, with facts about the network."""

    columns: Columns
    nodes: Columns | None = None  # "node", optionally "x" and "y"
    directed: bool | None = None  # None: unknown
    names_edges: bool = False  # the format names each edge, so it may have parallel edges


def build_topology(table: Table, named: EdgeColumns, *, parallel_edges: bool) -> tuple[Topology, Int]:
    """Build the public half, as ``Topology.build`` does; the weight column is not needed."""
    edges, nodes = table.columns, table.nodes
    sources, targets = edges[named.source], edges[named.target]
    m = len(sources)
    if not m and nodes is None:
        raise NetworkError("the edge list is empty")
    first = [] if nodes is None else nodes["node"]
    for what, found in (("edge list", sources), ("edge list", targets), ("node table", first)):
        if None in found or "" in found:
            row = next(i for i, label in enumerate(found, 1) if label is None or label == "")
            raise NetworkError(f"row {row} of the {what} has an empty node label")
    ends: list[Any] = [None] * (2 * m)
    ends[0::2], ends[1::2] = sources, targets
    given = plain_labels([*first, *ends])
    labels = PlainLabels(dict.fromkeys(given))
    if labels[: len(first)] != given[: len(first)]:
        row = next(i for i, label in enumerate(given, 1) if label not in labels[i - 1 : i])
        raise NetworkError(
            f"row {row} of the node table repeats a node; a node has one row, and every row is published. If rows are "
            f"places that people passed, {USE_TRIPS}"
        )
    coordinates = None
    if nodes is not None and {"x", "y"} <= set(nodes):
        coordinates = _parse_places(nodes, len(labels))
    position = dict(zip(labels, range(len(labels)), strict=True))
    end = np.fromiter(map(position.__getitem__, given[len(first) :]), np.int64, count=2 * m)
    lower, upper, proxy = named.lower, named.upper, named.proxy
    low = parse_numbers(edges[lower], f"column {lower!r}") if isinstance(lower, str) else lower
    high = parse_numbers(edges[upper], f"column {upper!r}", infinite=True) if isinstance(upper, str) else upper
    known = None if proxy is None else parse_proxy(edges[proxy], f"column {proxy[:60]!r}", "row")
    topology, kept = Topology.build(
        labels, end[0::2], end[1::2], directed=bool(table.directed), lower=low, upper=high, coordinates=coordinates,
        proxy=known, proxy_name=proxy or "", columns={name: edges[name] for name in named.columns},
        parallel_edges=parallel_edges or (None if table.names_edges else False),
    )  # fmt: skip
    warn_of_rows(topology, end[0::2], end[1::2], "rows")
    warn_of_nodes(len(first), topology)
    return topology, kept


def _parse_places(nodes: Columns, count: int) -> Float | None:
    """Return coordinates, nodes of the table first; NaN where they are unknown."""
    out = np.full((count, 2), np.nan)
    for axis, name in enumerate("xy"):
        empty = [value is None or value == "" or value != value for value in nodes[name]]
        filled = [0.0 if missing else value for missing, value in zip(empty, nodes[name], strict=True)]
        out[: len(empty), axis] = np.where(empty, np.nan, parse_numbers(filled, f"column {name!r} of the node table"))
    unknown = np.isnan(out).any(axis=1)
    out[unknown] = np.nan
    if unknown.any():
        warn(f"places: {unknown.sum()} of {count} nodes have no x and y in the node table; maps leave them out")
    return None if unknown.all() else out


@dataclass(frozen=True, eq=False)
class Network:
    """A public topology and one private weight per edge."""

    topology: Topology
    weights: PrivateWeights
    weight_name: str = ""  # name of the private column; no public column may have it

    def __repr__(self) -> str:
        return f"Network({self.topology!r}, weights hidden)"

    @classmethod
    def build(
        cls, labels: Iterable[Any], tails: ArrayLike, heads: ArrayLike, weights: ArrayLike, *, directed: bool = False,
        lower: ArrayLike = 0.0, upper: ArrayLike = np.inf, coordinates: ArrayLike | None = None,
        proxy: ArrayLike | None = None, proxy_name: str = "proxy", columns: Mapping[str, Iterable[Any]] | None = None,
        parallel_edges: bool | None = False,
    ) -> Network:  # fmt: skip
        """Build from ``labels``, the positions of ``tails`` and ``heads`` of edges in them, and their ``weights``.

        ``directed``, ``lower`` and ``upper`` bounds, ``coordinates``, ``proxy`` with its ``proxy_name``, ``columns``
        and ``parallel_edges`` are public, as in ``Topology.build``.  Every edge is published.
        """
        topology, kept = Topology.build(
            labels, tails, heads, directed=directed, lower=lower, upper=upper, coordinates=coordinates, proxy=proxy,
            proxy_name=proxy_name, columns=columns, parallel_edges=parallel_edges,
        )  # fmt: skip
        warn_of_rows(topology, tails, heads)
        return cls(topology, PrivateWeights(weights, num_rows=np.asarray(tails).size, keep=kept))

    @classmethod
    def from_table(cls, table: Table, named: EdgeColumns, *, parallel_edges: bool) -> Network:
        """Build from columns."""
        topology, kept = build_topology(table, named, parallel_edges=parallel_edges)
        values = parse_numbers(table.columns[named.weight], f"column {named.weight!r}")
        return cls(topology, PrivateWeights(values, num_rows=len(values), keep=kept), named.weight)

    def with_proxy(self, proxy: ArrayLike | None, *, name: str = "proxy") -> Network:
        """Return the same network with a public proxy (``Topology.with_proxy``).  It MUST BE PUBLIC."""
        return replace(self, topology=self.topology.with_proxy(proxy, name=name))

    @classmethod
    def from_networkx(
        cls, graph: networkx.Graph, weight: str = "weight", *, lower: Bound = 0.0, upper: Bound = np.inf,
        proxy: str | None = None, columns: Sequence[str] = (), parallel_edges: bool = False,
    ) -> Network:  # fmt: skip
        """Build from a networkx graph; it may be directed, and a multigraph.

        Node attributes ``x`` and ``y`` (or a pair ``pos``) become coordinates.  In graphs made from a matrix, networkx
        takes a zero weight for "no edge".

        Parameters
        ----------
        graph
            The graph; every edge is published.
        weight
            The edge attribute of the private weights.
        lower, upper
            Public bounds of the weights: a number, or the name of an edge attribute.
        proxy, columns
            Public edge attributes, as in ``read_network``; no other attribute is kept.
        parallel_edges
            Accept a multigraph with more than two edges per pair of ends on average, which may be people's trips.

        Examples
        --------
        >>> import networkx
        >>> Network.from_networkx(networkx.Graph([("a", "b", {"minutes": 3})]), weight="minutes")
        Network(Topology(2 nodes, 1 edges, undirected), weights hidden)
        """
        nx = imported("networkx")
        if nx is None or not isinstance(graph, nx.Graph):
            raise NetworkError(f"from_networkx takes a networkx graph, not {type(graph).__name__}")
        public = EdgeColumns("", "", weight, lower, upper, proxy, columns).public
        labels = list(graph.nodes)
        position = {label: i for i, label in enumerate(labels)}
        edges = list(graph.edges(data=True))
        names = sorted(name for name in set[Any]().union(*(each for _, _, each in edges)) if isinstance(name, str))
        check_columns(names, "the graph", [weight, *public])
        if unknown := next((name for name in public if name not in names and edges), None):
            raise NetworkError(f"no edge of the graph has the attribute {unknown[:60]!r}")
        ends = [(position[u], position[v]) for u, v, _ in edges]
        tails, heads = np.array(ends, np.int64).reshape(-1, 2).T

        def values(name: str) -> list[Any]:
            return [attributes.get(name) for _, _, attributes in edges]

        def column(name: str, *, infinite: bool = False) -> Float:
            return parse_numbers(values(name), f"edge attribute {name!r}", "edge", infinite=infinite)

        known = None if proxy is None else parse_proxy(values(proxy), f"edge attribute {proxy!r:.60}", "edge")

        made = cls.build(
            labels, tails, heads, column(weight),
            directed=bool(graph.is_directed()),
            lower=column(lower) if isinstance(lower, str) else lower,
            upper=column(upper, infinite=True) if isinstance(upper, str) else upper,
            coordinates=_read_coordinates(graph),
            proxy=known, proxy_name=proxy or "", columns={name: values(name) for name in columns},
            parallel_edges=parallel_edges or None,
        )  # fmt: skip
        return replace(made, weight_name=weight)

    @classmethod
    def from_scipy(
        cls, matrix: Any, *, labels: Iterable[Any] | None = None, directed: bool = False,
        lower: float = 0.0, upper: float = np.inf, proxy: ArrayLike | None = None, parallel_edges: bool = False,
    ) -> Network:  # fmt: skip
        """Build from a square sparse matrix.  Every stored entry is an edge, explicit zeros included.

        The pattern is public, so store every edge, whatever its weight: scipy drops zeros when a matrix is made
        from a dense one, by arithmetic or by ``eliminate_zeros``.

        Parameters
        ----------
        matrix
            A matrix in the format coo, csr or csc.  Undirected, it must be triangular, or symmetric in its *pattern*:
            then the entries above the diagonal are the weights, and others are ignored without a message, which would
            depend on weights.
        labels
            One label per row; by default the numbers of the rows.
        directed
            Whether each entry is an edge in one direction only.
        lower, upper
            Public bounds of all weights.
        proxy
            A public number per stored entry, in the order of ``matrix.data``.
        parallel_edges
            Accept entries that are stored twice, which may be people's trips.
        """
        from scipy.sparse import coo_array, issparse

        if not issparse(matrix):
            raise NetworkError("pass a sparse matrix: in a dense one a zero weight and a missing edge are the same")
        if matrix.format not in KEEP_ZEROS:  # dia and bsr are padded with zeros, lil and dok drop an assigned one
            raise NetworkError(f"a {matrix.format} matrix does not keep zero weights; build it as coo or csr")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise NetworkError(f"the matrix must be square, not {' x '.join(map(str, matrix.shape))}")
        n = matrix.shape[0]
        names = list(range(n)) if labels is None else list(labels)
        if len(names) != n:
            raise NetworkError(f"the matrix has {n} rows, but {len(names)} labels were given")
        table = coo_array(matrix)
        rows, columns = (np.asarray(c, np.int64) for c in table.coords)
        values = parse_numbers(np.asarray(table.data), "the matrix", "stored entry")
        known = None if proxy is None else check_proxy_array(proxy, len(values))
        above, below = rows < columns, rows > columns
        if not directed and above.any() and below.any():
            pair = np.minimum(rows, columns) * n + np.maximum(rows, columns)
            if not np.array_equal(np.unique(pair[above]), np.unique(pair[below])):
                raise NetworkError(
                    "the pattern of the matrix is neither triangular nor symmetric; is it directed=True?"
                )
            rows, columns, values = rows[~below], columns[~below], values[~below]
            known = None if known is None else known[~below]
        return cls.build(
            names, rows, columns, values, directed=directed, lower=lower, upper=upper, proxy=known,
            parallel_edges=parallel_edges,
        )  # fmt: skip

    @classmethod
    def from_pandas(
        cls, edges: pandas.DataFrame, *,
        source: str = "source", target: str = "target", weight: str = "weight", directed: bool = False,
        lower: Bound = 0.0, upper: Bound = np.inf, nodes: pandas.DataFrame | None = None, proxy: str | None = None,
        columns: Sequence[str] = (), parallel_edges: bool = False,
    ) -> Network:  # fmt: skip
        """Build from an edge table.  A mix of integer and text labels becomes text: 17 and "17" are one node.

        Parameters
        ----------
        edges
            The table; every row is published.
        source, target, weight, directed, lower, upper, proxy, columns, parallel_edges
            As for ``read_network``; no other column is read.
        nodes
            A table with the column ``node``, and optionally ``x`` and ``y``, that adds isolated nodes and places.

        Examples
        --------
        >>> import pandas
        >>> Network.from_pandas(pandas.DataFrame({"source": ["a"], "target": ["b"], "weight": [3]}))
        Network(Topology(2 nodes, 1 edges, undirected), weights hidden)
        """
        named = EdgeColumns(source, target, weight, lower, upper, proxy, columns)
        found = _read_frame(edges, WantedColumns("the edge list", [source, target, weight, *named.public]))
        places = None if nodes is None else _read_frame(nodes, NODE_COLUMNS)
        return cls.from_table(Table(found, places, directed), named, parallel_edges=parallel_edges)


def _read_frame(frame: pandas.DataFrame, wanted: WantedColumns) -> Columns:
    """Return columns of a data frame as lists, with ``None`` for missing values."""
    pd = imported("pandas")
    if pd is None or not isinstance(frame, pd.DataFrame):
        raise NetworkError(f"{wanted.what} must be a pandas DataFrame, not {type(frame).__name__}")
    out = {}
    for name in choose_public_columns(list(frame.columns), wanted):
        out[name] = frame[name].tolist()
        for row in np.flatnonzero(frame[name].isna().to_numpy()):
            out[name][row] = None
    return out


def _read_coordinates(graph: networkx.Graph) -> list[tuple[float, float]] | None:
    """Return positions from node attributes ``x``/``y`` or ``pos``, NaN where a node has no numbers there."""
    places: list[tuple[float, float]] = []
    for _, attributes in graph.nodes(data=True):
        place = attributes.get("pos")
        if "x" in attributes and "y" in attributes:
            place = attributes["x"], attributes["y"]
        there = isinstance(place, (tuple, list, np.ndarray)) and len(place) == 2
        x, y = (parse_number(place[0]), parse_number(place[1])) if there else (np.nan, np.nan)
        places.append((x, y) if np.isfinite([x, y]).all() else (np.nan, np.nan))
    return places if np.isfinite(places).any() else None
