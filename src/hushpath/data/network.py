"""A network as its owner has it: a public topology and private weights, from the tools people use.

Stage 1 of 6.  The constructors differ only in how they find labels, edge ends and weights; everything is
checked in ``Topology.build`` and ``PrivateWeights``.  File readers live in ``readers``.

Rows, edges and stored entries are counted from 1 in messages.  A message names the place of a weight that is
not a number, never what stands there, and the exception holds no other one that does.

Which edges exist is public, so it must not depend on a weight.  Every edge is a row, an edge or a stored entry of its
own, a zero is a weight like any other, and a missing weight is an error, never "no edge".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Float, Int
from ..errors import NetworkError
from .facts import warn_of_rows
from .topology import Topology, plain_labels
from .weights import PrivateWeights

if TYPE_CHECKING:
    import networkx
    import pandas


KEEP_ZEROS = ("coo", "csr", "csc")  # formats that store exactly what was put in
NOT_NUMBERS = (bool, np.bool_, np.complexfloating, np.datetime64, np.timedelta64)


@dataclass(frozen=True, eq=False)
class Network:
    """A public topology and one private weight per edge."""

    topology: Topology
    weights: PrivateWeights

    def __repr__(self) -> str:
        return f"Network({self.topology!r}, weights hidden)"

    @classmethod
    def build(
        cls,
        labels: Iterable[Any],
        tails: ArrayLike,
        heads: ArrayLike,
        weights: ArrayLike,
        *,
        directed: bool = False,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
        coordinates: ArrayLike | None = None,
    ) -> Network:
        """Build from node positions and one weight per edge (the common end of the constructors below).

        Positions count the labels as they are given; the topology then has its own, canonical order.
        """
        topology, kept = Topology.build(
            labels, tails, heads, directed=directed, lower=lower, upper=upper, coordinates=coordinates
        )
        warn_of_rows(topology, tails, heads)
        return cls(topology, PrivateWeights(weights, num_rows=np.asarray(tails).size, keep=kept))

    @classmethod
    def from_networkx(
        cls,
        graph: networkx.Graph,
        weight: str = "weight",
        *,
        lower: str | float = 0.0,
        upper: str | float = np.inf,
    ) -> Network:
        """Build from a networkx graph; directed and multigraphs are understood.

        ``lower`` and ``upper`` are public bounds: a number, or the name of an edge attribute.  Node
        attributes ``x`` and ``y`` (or a pair ``pos``) become coordinates when every node has them.
        Beware of graphs made from a matrix: networkx takes a zero there for "no edge".
        """
        import networkx as nx

        if not isinstance(graph, nx.Graph):
            raise NetworkError(f"from_networkx takes a networkx graph, not {type(graph).__name__}")
        bounds_are_public(weight, lower, upper)
        labels = list(graph.nodes)
        position = {label: i for i, label in enumerate(labels)}
        edges = list(graph.edges(data=True))
        ends = [(position[u], position[v]) for u, v, _ in edges]
        tails, heads = np.array(ends, np.int64).reshape(-1, 2).T

        def column(name: str, *, infinite: bool = False) -> Float:
            values = [attributes.get(name) for _, _, attributes in edges]
            return numbers(values, f"edge attribute {name!r}", "edge", infinite=infinite)

        return cls.build(
            labels, tails, heads, column(weight),
            directed=bool(graph.is_directed()),
            lower=column(lower) if isinstance(lower, str) else lower,
            upper=column(upper, infinite=True) if isinstance(upper, str) else upper,
            coordinates=_networkx_coordinates(graph),
        )  # fmt: skip

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        labels: Iterable[Any] | None = None,
        directed: bool = False,
        lower: float = 0.0,
        upper: float = np.inf,
    ) -> Network:
        """Build from a square sparse matrix.  Every stored entry is an edge, explicit zeros included.

        The pattern is public, so store every edge, whatever its weight: scipy forgets zeros when a matrix is made
        from a dense one, by arithmetic or by ``eliminate_zeros``, and in the formats refused here.

        Undirected: the matrix must be triangular, or symmetric in its *pattern*; then the entries above the
        diagonal are the weights.  (Weights that differ across the diagonal are not reported: that would tell
        about weights.  Give a triangular matrix, or ``directed=True``.)
        """
        from scipy.sparse import coo_array, issparse

        if not issparse(matrix):
            raise NetworkError("give a sparse matrix: a dense one cannot tell a zero weight from no edge")
        if matrix.format not in KEEP_ZEROS:  # dia and bsr are padded with zeros, lil and dok drop an assigned one
            raise NetworkError(
                f"a {matrix.format} matrix cannot tell a zero weight from no edge; build it as coo or csr"
            )
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise NetworkError(f"the matrix must be square, not {' x '.join(map(str, matrix.shape))}")
        n = matrix.shape[0]
        names = list(range(n)) if labels is None else list(labels)
        if len(names) != n:
            raise NetworkError(f"the matrix has {n} rows, but {len(names)} labels were given")
        table = coo_array(matrix)
        rows, columns = (np.asarray(c, np.int64) for c in table.coords)
        values = numbers(np.asarray(table.data), "the matrix", "stored entry")
        if not directed and (rows < columns).any() and (rows > columns).any():
            above, below = rows < columns, rows > columns
            if not np.array_equal(
                np.unique(rows[above] * n + columns[above]), np.unique(columns[below] * n + rows[below])
            ):
                raise NetworkError(
                    "the pattern of the matrix is neither triangular nor symmetric; is it directed=True?"
                )
            rows, columns, values = rows[~below], columns[~below], values[~below]
        return cls.build(names, rows, columns, values, directed=directed, lower=lower, upper=upper)

    @classmethod
    def from_pandas(
        cls,
        edges: pandas.DataFrame,
        *,
        source: str = "source",
        target: str = "target",
        weight: str = "weight",
        directed: bool = False,
        lower: str | float = 0.0,
        upper: str | float = np.inf,
        nodes: pandas.DataFrame | None = None,
    ) -> Network:
        """Build from an edge table.

        ``nodes`` (columns ``node`` and optionally ``x``, ``y``) adds isolated nodes and places.
        ``lower`` and ``upper`` are public bounds: a number, or the name of a column.  A mix of integer and
        text labels becomes text first, so 17 and "17" are one node, as they are in a file.
        """
        bounds_are_public(weight, lower, upper)
        needed = [source, target, weight, *(b for b in (lower, upper) if isinstance(b, str))]
        columns = _frame_columns(edges, "the edge list", needed)
        table = None if nodes is None else _frame_columns(nodes, "the node table", ["node"], ("x", "y"))
        topology, kept = table_topology(
            columns, source, target, directed=directed, lower=lower, upper=upper, nodes=table
        )
        values = numbers(columns[weight], f"column {weight!r}")
        return cls(topology, PrivateWeights(values, num_rows=len(values), keep=kept))


def table_topology(
    edges: dict[str, list[Any]],
    source: str,
    target: str,
    *,
    directed: bool = False,
    lower: str | float = 0.0,
    upper: str | float = np.inf,
    nodes: dict[str, list[Any]] | None = None,
) -> tuple[Topology, Int]:
    """Build the public half from columns; the weight column need not be there (see ``Topology.build``)."""
    m = len(edges[source])
    if not m and nodes is None:
        raise NetworkError("the edge list is empty")
    first = [] if nodes is None else nodes["node"]
    for what, names in (("edge list", edges[source]), ("edge list", edges[target]), ("node table", first)):
        if None in names or "" in names:
            row = next(i for i, label in enumerate(names, 1) if label is None or label == "")
            raise NetworkError(f"row {row} of the {what} has an empty node label")
    ends: list[Any] = [None] * (2 * m)
    ends[0::2], ends[1::2] = edges[source], edges[target]
    named = plain_labels([*first, *ends])
    labels = list(dict.fromkeys(named))
    if labels[: len(first)] != named[: len(first)]:
        twice = next(label for i, label in enumerate(named) if label not in labels[i : i + 1])
        raise NetworkError(f"the node table names {str(twice)[:60]!r} twice")
    position = {label: i for i, label in enumerate(labels)}
    coordinates = None
    if nodes is not None and {"x", "y"} <= set(nodes):
        if len(labels) > len(first):
            stranger = str(labels[len(first)])[:60]
            raise NetworkError(f"node {stranger!r} is in the edge list but not in the node table")
        coordinates = np.stack([numbers(nodes[c], f"column {c!r} of the node table") for c in "xy"], axis=1)
    end = np.fromiter(map(position.__getitem__, named[len(first) :]), np.int64, count=2 * m)
    topology, kept = Topology.build(
        labels, end[0::2], end[1::2],
        directed=directed,
        lower=numbers(edges[lower], f"column {lower!r}") if isinstance(lower, str) else lower,
        upper=numbers(edges[upper], f"column {upper!r}", infinite=True) if isinstance(upper, str) else upper,
        coordinates=coordinates,
    )  # fmt: skip
    warn_of_rows(topology, end[0::2], end[1::2], "rows")
    return topology, kept


def numbers(values: Iterable[Any], what: str, item: str = "row", *, infinite: bool = False) -> Float:
    """Return values as floats; say which item (from 1) is not a number, never what stands there."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        with np.errstate(all="ignore"):  # a warning would depend on a weight
            out = values.astype(np.float64)
    else:
        out = np.fromiter(map(_number, values), np.float64)
    bad = np.isnan(out) if infinite else ~np.isfinite(out)
    if bad.any():
        kind = "number" if infinite else "finite number"
        raise NetworkError(f"{what}: {item} {int(bad.argmax()) + 1} is missing or not a {kind}")
    return out


def _number(value: Any) -> float:
    """One value as a float, or NaN: truth values, times and "1_000" are not numbers.  What it raises is not let out."""
    if "_" in value if type(value) is str else isinstance(value, NOT_NUMBERS):
        return np.nan
    try:
        return float(value)
    except Exception:  # of any kind, from an object with its own idea of float(); it may quote the value
        return np.nan


def bounds_are_public(weight: str, *bounds: str | float) -> None:
    """Refuse the private column as a public bound."""
    if weight in bounds:
        raise NetworkError(f"{weight!r} is the private weight, so it cannot be a public bound as well")


def choose_columns(have: Sequence[Any], what: str, needed: Sequence[str], optional: Sequence[str] = ()) -> list[str]:
    """Return the columns to read: the needed ones, and the optional ones if all are there."""
    wanted = list(dict.fromkeys([*needed, *(optional if set(optional) <= set(have) else ())]))
    for name in wanted:
        if name not in have:
            # A file without a header line would show its first row here, with a weight in it.
            if any(isinstance(c, str) and not re.match(r"(?!nan$|inf)[^\W\d]", c, re.I) for c in have):
                raise NetworkError(f"{what} has no column {name!r}; does its first line name the columns?")
            listed = ", ".join(_short(c) for c in list(have)[:12]) + (", ..." if len(have) > 12 else "")
            hint = "; source, target and weight (--source, ...) name columns" if what == "the edge list" else ""
            if len(have) == 1 and isinstance(have[0], str) and re.search(r"[;\t|]", have[0]):
                hint = " - save it with commas between columns (or tabs, as .tsv) and points in decimals"
            raise NetworkError(f"{what} has no column {name!r}; it has: {listed or 'none'}{hint}")
        if list(have).count(name) > 1:
            raise NetworkError(f"{what} has two columns called {name!r}")
    return wanted


def _short(name: Any) -> str:
    shown = repr(name)
    return shown if len(shown) <= 40 else f"{shown[:36]}...'"


def _frame_columns(
    frame: pandas.DataFrame, what: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, list[Any]]:
    """The wanted columns of a data frame as plain lists, with ``None`` for what pandas calls missing."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise NetworkError(f"{what} must be a pandas DataFrame, not {type(frame).__name__}")
    out = {}
    for name in choose_columns(list(frame.columns), what, needed, optional):
        values, missing = frame[name].tolist(), frame[name].isna().to_numpy()
        for row in np.flatnonzero(missing):
            values[row] = None
        out[name] = values
    return out


def _networkx_coordinates(graph: networkx.Graph) -> list[tuple[float, float]] | None:
    """Positions from node attributes ``x``/``y`` or ``pos``, if every node has them."""
    places: list[tuple[float, float]] = []
    for _, attributes in graph.nodes(data=True):
        place = attributes.get("pos")
        if "x" in attributes and "y" in attributes:
            place = attributes["x"], attributes["y"]
        if not isinstance(place, (tuple, list, np.ndarray)) or len(place) != 2:
            return None
        x, y = _number(place[0]), _number(place[1])
        if not (np.isfinite(x) and np.isfinite(y)):
            return None
        places.append((x, y))
    return places or None
