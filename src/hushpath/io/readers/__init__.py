"""Read a network from a file: an edge list (CSV, TSV, Parquet) or what tools write (osmnx, SUMO, OSRM, TNTP).

One file per format turns bytes into columns; ``READERS`` lists them, and the conformance suite runs
over that list.  ``read_topology`` takes the public half only, so it also works on a file that has no weights.  Columns
that are not named stay in the file: they may be private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path

import numpy as np

from ...errors import NetworkError, OptionError
from ...network.columns import public_names
from ...network.labels import canonical_integer
from ...network.network import Network
from ...network.table import Bound, Columns, Table, table_topology
from ...network.topology import Topology
from .base import FilePath, Reader, check_path, decoded, shown
from .edge_lists import CSV, PARQUET, TSV
from .geopackage import GEOPACKAGE
from .graphml import GRAPHML
from .join import ID, check_join, joined
from .osrm import OSRM
from .sumo import SUMO
from .tntp import TNTP

_ALL: tuple[Reader, ...] = (CSV, TSV, PARQUET, GRAPHML, GEOPACKAGE, OSRM, SUMO, TNTP)
READERS = {reader.name: reader for reader in _ALL}


def read_network(
    path: FilePath, *,
    source: str = "source", target: str = "target", weight: str = "weight", directed: bool = False,
    lower: Bound = 0.0, upper: Bound = np.inf, nodes: FilePath | None = None, proxy: str | None = None,
    columns: Sequence[str] = (), edge_data: FilePath | None = None, interval: float | None = None,
    parallel_edges: bool = False, format: str | None = None,  # noqa: A002 - the word people look for
) -> Network:  # fmt: skip
    """Read a network with its private weights.

    Every edge is published, so a table in which two rows have the same ends is an error: it may be a table of trips
    (``read_trips``).  GraphML, SUMO, TNTP and GeoPackages of osmnx name edges, so there such edges are kept, unless
    there are more than two per pair of ends on average.

    Parameters
    ----------
    path
        The edge list, or what tools write: CSV, TSV, Parquet, GraphML, GeoPackage, SUMO, TNTP; also with ``.gz``.
    source, target, weight
        The columns of both ends and of the private weight.
    directed
        Whether each edge may be used in one direction only.
    lower, upper
        Public bounds of the weights: a number, or the name of a column.
    nodes
        A table with the column ``node``, and optionally ``x`` and ``y``, that adds isolated nodes and places.
    proxy
        A public column that resembles the weights, such as free-flow times; estimators begin with it.  It is published,
        costs no privacy and bounds nothing.  IT MUST BE PUBLIC: a column computed from the private data breaks the
        promise (``Topology.with_proxy``).
    columns
        Other public columns, such as ids of edges (``read_trips``) and bounds of a pass (``release``).  A column that
        is not named is not read: it may be private.
    edge_data, interval
        The private file of a public SUMO network, and the second at which the interval begins that holds the weights
        (not needed if there is one).
    parallel_edges
        Keep rows with the same ends as parallel edges.
    format
        The name of the format, if the suffix does not tell.
    """
    public = public_names(weight, (source, target), proxy, columns, lower, upper)
    reader = reader_of(path, format)
    if reader.no_weights:
        raise NetworkError(reader.no_weights)
    check_join(reader, edge_data, interval)
    if weight in reader.rates:
        raise OptionError(f"{weight!r} does not add up along a path, as times and lengths do, so it is not a weight")
    if weight in (source, target):  # else what edge_data says would stand in for labels
        raise OptionError("source, target, weight and bounds must name different columns")
    table = _read(path, [source, target, weight if edge_data is None else ID, *public], directed, nodes, reader)
    if edge_data is not None:
        table = joined(table, reader, weight, edge_data, interval)
    return Network.from_table(
        table, source, target, weight, lower=lower, upper=upper, proxy=proxy, columns=columns,
        parallel_edges=parallel_edges,
    )  # fmt: skip


def read_topology(
    path: FilePath, *,
    source: str = "source", target: str = "target", directed: bool = False,
    lower: Bound = 0.0, upper: Bound = np.inf, nodes: FilePath | None = None, proxy: str | None = None,
    weight: str = "weight", columns: Sequence[str] = (), parallel_edges: bool = False,
    format: str | None = None,  # noqa: A002
) -> Topology:  # fmt: skip
    """Read the public half only; arguments as in ``read_network``.  No weight is looked at.

    ``weight`` says which column is private, so that it is not taken for a public one.
    """
    public = public_names(weight, (source, target), proxy, columns, lower, upper)
    table = _read(path, [source, target, *public], directed, nodes, reader_of(path, format))
    topology, _ = table_topology(
        table, source, target, lower=lower, upper=upper, proxy=proxy, columns=columns, parallel_edges=parallel_edges
    )
    return topology


def read_table(
    path: FilePath, what: str, needed: list[str], optional: tuple[str, ...] = (), reader: Reader | None = None
) -> Table:
    """The wanted columns of one file, as they stand."""
    read = (reader or reader_of(path)).read
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


def _read(path: FilePath, needed: list[str], directed: bool, nodes: FilePath | None, reader: Reader) -> Table:
    """The columns of the edges and nodes in a file (and in its node table)."""
    ends = needed[:2]
    if len(set(needed)) < 2 + len(set(needed[2:])):
        raise OptionError("source, target, weight and bounds must name different columns")
    if reader.whole and nodes is not None:
        raise OptionError(f"a {reader.title} file holds its own nodes; leave the node table out")
    table = read_table(path, "the edge list", needed, (), reader)
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
