"""Read a network from a file: an edge list (CSV, TSV, Parquet) or what tools write (osmnx, SUMO, OSRM, TNTP).

One file per format turns bytes into columns; ``READERS`` lists them, and the conformance suite runs
over that list.  ``read_topology`` takes the public half only: it picks the label columns and leaves every other column
where it is, so it also works on a file that has no weights.  ``read_network`` keeps the other columns of the edge list,
hidden and unread, in case one is named as a public proxy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from os import fspath
from pathlib import Path

import numpy as np

from ...errors import NetworkError, OptionError
from ..columns import Bound, Columns, Table, bounds_are_public, other_columns, table_topology
from ..labels import canonical_integer
from ..network import Network
from ..proxy import NO_COLUMNS, held
from ..topology import Topology
from .core import FilePath, Reader, check_path, decoded, shown
from .join import ID, check_join, joined

FILES = (
    "text",
    "parquet",
    "graphml",
    "geopackage",
    "osrm",
    "sumo",
    "tntp",
)
_made: list[Reader] = [reader for file in FILES for reader in import_module(f"{__package__}.{file}").READERS]
READERS = {reader.name: reader for reader in _made}


def read_network(
    path: FilePath, *,
    source: str = "source", target: str = "target", weight: str = "weight", directed: bool = False,
    lower: Bound = 0.0, upper: Bound = np.inf, nodes: FilePath | None = None,
    edge_data: FilePath | None = None, interval: float | None = None, parallel_edges: bool = False,
    format: str | None = None,  # noqa: A002 - the word people look for
) -> Network:  # fmt: skip
    """Read a network with its private weights.

    ``source``, ``target`` and ``weight`` name columns.  ``lower`` and ``upper`` are public bounds of the
    weights: a number, or the name of a column.  ``nodes`` is a table (columns ``node`` and optionally ``x``,
    ``y``) that adds isolated nodes and places.  ``format`` overrides the suffix.  The other columns of the edge list
    are neither read nor shown until one is named as a public proxy (``Topology.with_proxy``, ``release(proxy=)``).
    ``edge_data`` is the private file of a public SUMO network: the weights of one ``interval``, named by the second
    at which it begins (not needed if there is one).

    Every edge is published, so a table in which two rows have the same ends is an error: it may be a table of trips
    (``read_trips``).  ``parallel_edges=True`` keeps such rows as parallel edges.  GraphML, SUMO, TNTP and
    GeoPackages of osmnx name edges, so there they are kept, unless there are more than two per pair of ends on average.
    """
    bounds_are_public(weight, lower, upper)
    reader = reader_of(path, format)
    check_join(reader, edge_data, interval)
    if weight in reader.rates:
        raise OptionError(f"{weight!r} does not add up along a path, as times and lengths do, so it is not a weight")
    if weight in (source, target):  # else what edge_data says would stand in for labels
        raise OptionError("source, target, weight and bounds must name different columns")
    names = [source, target, weight if edge_data is None else ID]
    table = _read(path, names, [lower, upper], directed, nodes, reader, keep=True)
    if edge_data is not None:
        table = joined(table, reader, weight, edge_data, interval)
    return Network.from_table(table, source, target, weight, lower=lower, upper=upper, parallel_edges=parallel_edges)


def read_topology(
    path: FilePath, *,
    source: str = "source", target: str = "target", directed: bool = False,
    lower: Bound = 0.0, upper: Bound = np.inf, nodes: FilePath | None = None, proxy: str | None = None,
    weight: str = "weight", columns: Sequence[str] = (), parallel_edges: bool = False,
    format: str | None = None,  # noqa: A002
) -> Topology:  # fmt: skip
    """Read the public half only; arguments as in ``read_network``.  No weight is looked at.

    No other column is either, so a public proxy (``Topology.with_proxy``) is named here, and ``columns`` names others
    that may be used later (bounds of passes, ids of edges); ``weight`` says which column cannot be one.
    """
    if proxy is not None and not isinstance(proxy, str):
        raise OptionError(f"proxy names a public column of the edge list; it is not {type(proxy).__name__}")
    bounds_are_public(weight, lower, upper)
    named = list(dict.fromkeys([*([proxy] if proxy else []), *columns]))
    for name in named:
        other_columns({}, weight, source, target).check_public(name)
    reader = reader_of(path, format)
    table = _read(path, [source, target], [lower, upper, *named], directed, nodes, reader)
    table = replace(table, others={name: held(table.columns[name]) for name in named})
    topology, _ = table_topology(
        table, source, target, lower=lower, upper=upper, weight=weight, parallel_edges=parallel_edges
    )
    topology = topology.with_proxy(proxy) if proxy else topology
    return topology if columns else replace(topology, columns=NO_COLUMNS)


def read_table(
    path: FilePath, what: str, needed: list[str], optional: tuple[str, ...] = (), reader: Reader | None = None,
    *, keep: bool = False,
) -> Table:  # fmt: skip
    """The wanted columns of one file, as they stand; with ``keep`` also the others, unread."""
    reader = reader or reader_of(path)
    read = (keep and reader.keep) or reader.read
    return decoded(path, lambda raw: read(raw, what, needed, optional))


def reader_of(path: FilePath, kind: str | None = None) -> Reader:
    """The reader of a file, from what the caller said or from the suffix."""
    check_path(path)
    if kind is not None:
        if kind not in list(READERS):
            raise OptionError(f"format {str(kind)[:40]!r} is unknown; there are: {', '.join(sorted(READERS))}")
        return READERS[kind]
    suffixes = {suffix: reader for reader in READERS.values() for suffix in reader.suffixes}
    name = Path(fspath(path).lower().removesuffix(".gz")).name
    fits = [suffix for suffix in suffixes if name.endswith(suffix) and name != suffix]
    if not fits:
        raise NetworkError(f"{shown(path)} has none of the suffixes {', '.join(suffixes)}, with or without .gz")
    return suffixes[max(fits, key=len)]


def _read(
    path: FilePath, names: list[str], bounds: list[Bound], directed: bool, nodes: FilePath | None, reader: Reader,
    *, keep: bool = False,
) -> Table:  # fmt: skip
    """The columns of the edges and nodes in a file (and in its node table); a bound may be a column."""
    needed = [*names, *(bound for bound in bounds if isinstance(bound, str))]
    ends = needed[:2]
    if len(set(needed)) < 2 + len(set(needed[2:])):
        raise OptionError("source, target, weight and bounds must name different columns")
    if reader.whole and nodes is not None:
        raise OptionError(f"a {reader.title} file holds its own nodes; leave the node table out")
    table = read_table(path, "the edge list", needed, (), reader, keep=keep)
    if directed and table.directed is False:
        raise NetworkError(f"{shown(path)} says that it is undirected; directed=True does not fit")
    columns, places = _settled(table.columns, ends, reader), table.nodes
    if nodes is not None:
        reader = reader_of(nodes)
        if reader.whole or not reader.nodes:
            *others, last = (other.title for other in READERS.values() if not other.whole and other.nodes)
            raise NetworkError(f"the node table cannot be {reader.title}; use {', '.join(others)} or {last}")
        places = read_table(nodes, "the node table", ["node"], ("x", "y"), reader).columns
    if places is not None:
        places = _settled(places, ["node"], reader)
    return replace(
        table, columns=columns, nodes=places, directed=directed if table.directed is None else table.directed
    )


def _settled(columns: Columns, labels: list[str], reader: Reader) -> Columns:
    """Labels without types: stripped, a column of integers if each is one; ``plain_labels`` makes a mix text again."""
    for name in () if reader.typed else labels:
        columns[name] = list(map(str.strip, columns[name]))
        if all(map(canonical_integer, set(columns[name]))):
            columns[name] = list(map(int, columns[name]))
    return columns
