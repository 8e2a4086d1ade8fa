"""A network as its owner has it: a public topology and private weights, from the tools people use.

Stage 1 of 6.  The constructors differ only in how they find labels, edge ends and weights; everything is checked
in ``Topology.build`` and ``PrivateWeights``.  File readers live in ``readers``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .errors import NetworkError
from .topology import Topology
from .weights import PrivateWeights

if TYPE_CHECKING:
    import networkx
    import pandas


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
        """Build from node positions and one weight per edge (the common end of every other constructor)."""
        topology, kept = Topology.build(
            labels, tails, heads, directed=directed, lower=lower, upper=upper, coordinates=coordinates
        )
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

        ``lower`` and ``upper`` are public bounds: a number, or the name of an edge attribute.  Node attributes
        ``x`` and ``y`` (or a pair ``pos``) become coordinates when every node has them.
        """
        labels = list(graph.nodes)
        position = {label: i for i, label in enumerate(labels)}
        ends = [(position[u], position[v]) for u, v in graph.edges()]
        tails, heads = np.array(ends, np.int64).reshape(-1, 2).T
        data = [attributes for _, _, attributes in graph.edges(data=True)]

        def column(name: str) -> list[Any]:
            missing = sum(name not in attributes for attributes in data)
            if missing:
                raise NetworkError(f"{missing} of {len(data)} edges have no attribute {name!r}")
            return [attributes[name] for attributes in data]

        return cls.build(
            labels, tails, heads, numbers(column(weight), f"edge attribute {weight!r}"),
            directed=bool(graph.is_directed()),
            lower=numbers(column(lower), f"edge attribute {lower!r}") if isinstance(lower, str) else lower,
            upper=numbers(column(upper), f"edge attribute {upper!r}") if isinstance(upper, str) else upper,
            coordinates=_networkx_coordinates(graph),
        )  # fmt: skip

    @classmethod
    def from_scipy(
        cls,
        matrix: Any,
        *,
        labels: Iterable[Any] | None = None,
        directed: bool = False,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = np.inf,
    ) -> Network:
        """Build from a square sparse matrix.  Every stored entry is an edge, explicit zeros included.

        Undirected: the matrix must be triangular, or symmetric in its *pattern*; then the entries above the
        diagonal are the weights.  (Weights that differ across the diagonal are not reported: that would tell
        about weights.  Give a triangular matrix, or ``directed=True``.)
        """
        from scipy.sparse import coo_array, issparse

        if not issparse(matrix):
            raise NetworkError("from_scipy takes a sparse matrix: a dense one cannot tell a zero weight from no edge")
        table = coo_array(matrix)
        rows, columns = table.coords
        n, also = table.shape
        if n != also:
            raise NetworkError(f"the matrix must be square, not {n} x {also}")
        values = np.asarray(table.data)
        if not directed and (rows < columns).any() and (rows > columns).any():
            above, below = rows < columns, rows > columns
            pattern = np.unique(np.stack([rows[above], columns[above]]), axis=1)
            mirror = np.unique(np.stack([columns[below], rows[below]]), axis=1)
            if pattern.shape != mirror.shape or (pattern != mirror).any():
                raise NetworkError(
                    "the pattern of the matrix is neither triangular nor symmetric; use directed=True or make it one"
                )
            rows, columns, values = rows[above], columns[above], values[above]
        return cls.build(
            range(n) if labels is None else labels, rows, columns, numbers(values, "the matrix"),
            directed=directed, lower=lower, upper=upper,
        )  # fmt: skip

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
        """Build from an edge table; ``nodes`` (columns ``node`` and optionally ``x``, ``y``) adds order and places.

        ``lower`` and ``upper`` are public bounds: a number, or the name of a column.
        """
        import pandas as pd

        for name in [source, target, weight, *(b for b in (lower, upper) if isinstance(b, str))]:
            if name not in edges.columns:
                have = ", ".join(str(c)[:40] for c in list(edges.columns)[:12])
                raise NetworkError(f"the edge list has no column {name!r}; it has: {have}")
            if isinstance(edges[name], pd.DataFrame):
                raise NetworkError(f"the edge list has two columns called {name!r}")
        ends = pd.concat([edges[source], edges[target]], ignore_index=True)
        if ends.isna().any():
            raise NetworkError(f"row {int(ends.isna().to_numpy().argmax()) % max(len(edges), 1)} has an empty node label")
        # First appearance row by row, source before target; a node table comes before any of that.
        by_row = ends.to_numpy(dtype=object).reshape(2, -1).T.ravel()
        coordinates = None
        first: list[Any] = []
        if nodes is not None:
            if "node" not in nodes.columns:
                raise NetworkError("the node table has no column 'node'")
            first = list(nodes["node"])
            if len(set(first)) != len(first):
                raise NetworkError("the node table names a node twice")
        order = pd.unique(pd.Series([*first, *by_row], dtype=object))
        if nodes is not None and {"x", "y"} <= set(nodes.columns):
            if len(order) > len(first):
                raise NetworkError(f"node {str(order[len(first)])[:60]!r} is in the edge list but not in the node table")
            coordinates = np.stack([numbers(nodes[c], f"column {c!r} of the node table") for c in "xy"], axis=1)
        codes = pd.Index(order).get_indexer(pd.Index(by_row)) if len(by_row) else np.empty(0, np.int64)
        return cls.build(
            order, codes[0::2], codes[1::2], numbers(edges[weight], f"column {weight!r}"),
            directed=directed,
            lower=numbers(edges[lower], f"column {lower!r}") if isinstance(lower, str) else lower,
            upper=numbers(edges[upper], f"column {upper!r}") if isinstance(upper, str) else upper,
            coordinates=coordinates,
        )  # fmt: skip


def numbers(values: Any, what: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return values as floats; say which row is not a number, never what stands there."""
    import pandas as pd

    column = pd.Series(values, dtype=object if isinstance(values, list) else None)
    out = pd.to_numeric(column, errors="coerce").to_numpy(np.float64, na_value=np.nan)
    bad = ~np.isfinite(out)
    if bad.any():
        raise NetworkError(f"{what}: row {int(bad.argmax())} is missing or not a finite number")
    return np.asarray(out, np.float64)


def _networkx_coordinates(graph: networkx.Graph) -> list[tuple[float, float]] | None:
    """Positions from node attributes ``x``/``y`` or ``pos``, if every node has them."""
    places: list[tuple[float, float]] = []
    for _, attributes in graph.nodes(data=True):
        if "x" in attributes and "y" in attributes:
            place = attributes["x"], attributes["y"]
        elif "pos" in attributes and len(attributes["pos"]) == 2:
            place = attributes["pos"]
        else:
            return None
        try:
            places.append((float(place[0]), float(place[1])))
        except (TypeError, ValueError):
            return None
    return places or None
