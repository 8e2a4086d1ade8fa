"""Tables as columns, and the public half of a network from them, in the same way for every format.

Messages count rows from 1.  They give the place of a weight that is not a number, never its value, and the exception
has no context that does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Float, Int
from ..errors import NetworkError, warn
from .columns import numbers, proxy_numbers
from .labels import PlainLabels, plain_labels
from .public_rows import USE_TRIPS, check_columns
from .topology import Topology, warn_of_nodes, warn_of_rows

Bound = str | float  # a number for all edges, or the name of a column
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Table:
    """An edge list or a node table, with facts about the network."""

    columns: Columns
    nodes: Columns | None = None  # "node", optionally "x" and "y"
    directed: bool | None = None  # None: unknown
    names_edges: bool = False  # the format names each edge, so it may have parallel edges


def table_topology(
    table: Table, source: str, target: str, *, lower: Bound, upper: Bound, proxy: str | None, columns: Sequence[str],
    parallel_edges: bool,
) -> tuple[Topology, Int]:  # fmt: skip
    """Build the public half, as ``Topology.build`` does; the weight column is not needed."""
    edges, nodes = table.columns, table.nodes
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
    labels = PlainLabels(dict.fromkeys(named))
    if labels[: len(first)] != named[: len(first)]:
        row = next(i for i, label in enumerate(named, 1) if label not in labels[i - 1 : i])
        raise NetworkError(
            f"row {row} of the node table repeats a node; a node has one row, and every row is published. If rows are "
            f"places that people passed, {USE_TRIPS}"
        )
    coordinates = None
    if nodes is not None and {"x", "y"} <= set(nodes):
        coordinates = _places(nodes, len(labels))
    position = dict(zip(labels, range(len(labels)), strict=True))
    end = np.fromiter(map(position.__getitem__, named[len(first) :]), np.int64, count=2 * m)
    low = numbers(edges[lower], f"column {lower!r}") if isinstance(lower, str) else lower
    high = numbers(edges[upper], f"column {upper!r}", infinite=True) if isinstance(upper, str) else upper
    known = None if proxy is None else proxy_numbers(edges[proxy], f"column {proxy[:60]!r}", "row")
    topology, kept = Topology.build(
        labels, end[0::2], end[1::2], directed=bool(table.directed), lower=low, upper=high, coordinates=coordinates,
        proxy=known, proxy_name=proxy or "", columns={name: edges[name] for name in columns},
        parallel_edges=parallel_edges or (None if table.names_edges else False),
    )  # fmt: skip
    warn_of_rows(topology, end[0::2], end[1::2], "rows")
    warn_of_nodes(len(first), topology)
    return topology, kept


def _places(nodes: Columns, count: int) -> Float | None:
    """Return coordinates, nodes of the table first; NaN where they are unknown."""
    out = np.full((count, 2), np.nan)
    for axis, name in enumerate("xy"):
        empty = [value is None or value == "" or value != value for value in nodes[name]]
        filled = [0.0 if missing else value for missing, value in zip(empty, nodes[name], strict=True)]
        out[: len(empty), axis] = np.where(empty, np.nan, numbers(filled, f"column {name!r} of the node table"))
    unknown = np.isnan(out).any(axis=1)
    out[unknown] = np.nan
    if unknown.any():
        warn(f"places: {unknown.sum()} of {count} nodes have no x and y in the node table; maps leave them out")
    return None if unknown.all() else out


def choose_public_columns(
    have: Sequence[Any], what: str, needed: Sequence[str], optional: Sequence[str] = ()
) -> list[str]:
    """Return the columns to read of a public table; a table that looks like people's trips is an error."""
    check_columns(have, what, needed)
    return choose_columns(have, what, needed, optional)


def choose_columns(have: Sequence[Any], what: str, needed: Sequence[str], optional: Sequence[str] = ()) -> list[str]:
    """Return the columns to read: the needed ones, and the optional ones if all exist."""
    wanted = list(dict.fromkeys([*needed, *(optional if set(optional) <= set(have) else ())]))
    for name in wanted:
        if name not in have:
            # A file without a header line would show its first row here, with a weight in it.
            if any(isinstance(c, str) and not re.match(r"(?!nan$|inf)[^\W\d]", c, re.I) for c in have):
                raise NetworkError(f"{what} has no column {name!r}; does its first line name the columns?")
            listed = ", ".join(map(_short, have[:12])) + (", ..." if len(have) > 12 else "")
            hint = "; source, target and weight (--source, ...) name columns" if what == "the edge list" else ""
            if len(have) == 1 and isinstance(have[0], str) and re.search(r"[;\t|]", have[0]):
                hint = " - save it with commas between columns (or tabs, as .tsv) and points in decimals"
            raise NetworkError(f"{what} has no column {name!r}; it has: {listed or 'none'}{hint}")
        if have.count(name) > 1:
            raise NetworkError(f"{what} has two columns called {name!r}")
    return wanted


def _short(name: Any) -> str:
    shown = repr(name)
    return shown if len(shown) <= 40 else f"{shown[:36]}...'"
