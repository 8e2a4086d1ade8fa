"""Read a network from a file: an edge list (CSV, TSV, Parquet) or what tools write (osmnx, SUMO, TNTP).

One file per format turns bytes into columns; ``READERS`` lists them, and the conformance suite runs over that list.
Columns that are not named stay in the file: they may be private.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path

import numpy as np

from ..._validate import is_real
from ...errors import NetworkError, OptionError
from ...network.columns import Bound, EdgeColumns
from ...network.labels import is_canonical_integer
from ...network.network import NODE_COLUMNS, Columns, Network, Table, build_topology
from ...network.public_rows import WantedColumns
from ...network.topology import Topology
from .base import FilePath, Reader, check_path, decode_file, show_path
from .edge_lists import CSV, PARQUET, TSV
from .geopackage import GEOPACKAGE
from .graphml import GRAPHML
from .sumo import SUMO
from .tntp import TNTP

READERS = {reader.name: reader for reader in (CSV, TSV, PARQUET, GRAPHML, GEOPACKAGE, SUMO, TNTP)}
ID = "id"  # the column of edge ids, in formats whose weights may be in a second file


def read_network(
    path: FilePath | tuple[FilePath, str], *,
    source: str = "source", target: str = "target", weight: str = "weight", directed: bool = False,
    lower: Bound = 0.0, upper: Bound = np.inf, nodes: FilePath | None = None, proxy: str | None = None,
    columns: Sequence[str] = (), edge_data: FilePath | tuple[FilePath, float] | None = None,
    parallel_edges: bool = False,
) -> Network:  # fmt: skip
    """Read a network with its private weights.

    Every edge is published, so a table in which two rows have the same ends is an error: it may be a table of trips
    (``read_trips``).  GraphML, SUMO, TNTP and GeoPackages of osmnx name edges, so they may have parallel edges, up to
    two per pair of ends on average.

    Parameters
    ----------
    path
        The edge list, or what tools write: CSV, TSV, Parquet, GraphML, GeoPackage, SUMO, TNTP; also with ``.gz``.  If
        the suffix is not that of the format, a pair of the file and the name of its format, for example "csv".
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
        Other public columns, such as ids of edges (``read_trips``) and bounds of a pass (``release_trips``).  A column
        that is not named is not read: it may be private.
    edge_data
        The private edgeData file of a public SUMO network; or a pair of the file and the second at which the interval
        begins that holds the weights, if it has several.
    parallel_edges
        Keep rows with the same ends as parallel edges.

    Returns
    -------
    Network
        The public topology and the private weights.

    Raises
    ------
    NetworkError
        If the file cannot be read, or is not a network.
    OptionError
        If a column is named twice, or a public column is the private weight.
    """
    named = EdgeColumns(source, target, weight, lower, upper, proxy, columns)
    file, reader = _choose_reader(path)
    private, interval = _check_edge_data(reader, edge_data)
    if weight in reader.rates:
        raise OptionError(f"{weight!r} does not add up along a path, as times and lengths do, so it is not a weight")
    if weight in (source, target):  # else edge_data would replace the labels
        raise OptionError("source, target, weight and bounds must name different columns")
    table = _read(file, [source, target, weight if private is None else ID, *named.public], directed, nodes, reader)
    if private is not None:
        table = _join_weights(table, reader, weight, private, interval)
    return Network.from_table(table, named, parallel_edges=parallel_edges)


def read_topology(
    path: FilePath | tuple[FilePath, str], *,
    source: str = "source", target: str = "target", directed: bool = False,
    lower: Bound = 0.0, upper: Bound = np.inf, nodes: FilePath | None = None, proxy: str | None = None,
    weight: str = "weight", columns: Sequence[str] = (), parallel_edges: bool = False,
) -> Topology:  # fmt: skip
    """Read the public half of a network only.  No weight is read, so it also works on a file without weights.

    Parameters
    ----------
    path, source, target, directed, lower, upper, nodes, proxy, columns, parallel_edges
        As for ``read_network``.
    weight
        The private column, so that it is not taken for a public one.

    Returns
    -------
    Topology
        The public topology.
    """
    named = EdgeColumns(source, target, weight, lower, upper, proxy, columns)
    file, reader = _choose_reader(path)
    table = _read(file, [source, target, *named.public], directed, nodes, reader)
    return build_topology(table, named, parallel_edges=parallel_edges)[0]


def read_table(path: FilePath, wanted: WantedColumns, reader: Reader | None = None) -> Table:
    """Return the wanted columns of one file, unchanged."""
    read = (reader or find_reader(path)).read
    return decode_file(path, lambda raw: read(raw, wanted))


def find_reader(path: FilePath, kind: str | None = None) -> Reader:
    """Return the reader of a file, by the name of its format or by its suffix."""
    check_path(path)
    if kind is not None:
        if kind not in list(READERS):
            raise OptionError(f"unknown format {str(kind)[:40]!r}; choose from: {', '.join(sorted(READERS))}")
        return READERS[kind]
    suffixes = {suffix: reader for reader in READERS.values() for suffix in reader.suffixes}
    name = Path(fspath(path).lower().removesuffix(".gz")).name
    fits = [suffix for suffix in suffixes if name.endswith(suffix) and name != suffix]
    if not fits:
        raise NetworkError(f"{show_path(path)} has none of the suffixes {', '.join(suffixes)}, with or without .gz")
    return suffixes[max(fits, key=len)]


def _choose_reader(path: FilePath | tuple[FilePath, str]) -> tuple[FilePath, Reader]:
    file, kind = path if isinstance(path, tuple) and len(path) == 2 else (path, None)
    return file, find_reader(file, kind)


def _read(path: FilePath, needed: list[str], directed: bool, nodes: FilePath | None, reader: Reader) -> Table:
    """Return the ``needed`` columns of the edges at ``path``, and those of its nodes or of the node table ``nodes``.

    ``reader`` reads the edges; ``directed`` holds where the file does not say.
    """
    ends = needed[:2]
    if len(set(needed)) < 2 + len(set(needed[2:])):
        raise OptionError("source, target, weight and bounds must name different columns")
    if reader.whole and nodes is not None:
        raise OptionError(f"a {reader.title} file has its own nodes; leave the node table out")
    table = read_table(path, WantedColumns("the edge list", needed), reader)
    if directed and table.directed is False:
        raise NetworkError(f"{show_path(path)} is an undirected network, but directed=True was passed")
    columns, places = _convert_integers(table.columns, ends, reader), table.nodes
    if nodes is not None:
        reader = find_reader(nodes)
        if reader.whole:
            *others, last = (other.title for other in READERS.values() if not other.whole)
            raise NetworkError(f"the node table cannot be {reader.title}; use {', '.join(others)} or {last}")
        places = read_table(nodes, NODE_COLUMNS, reader).columns
    if places is not None:
        places = _convert_integers(places, ["node"], reader)
    return replace(
        table, columns=columns, nodes=places, directed=directed if table.directed is None else table.directed
    )


def _convert_integers(columns: Columns, labels: list[str], reader: Reader) -> Columns:
    """Strip labels without a type, and make a column integers if each label is one."""
    for name in () if reader.typed else labels:
        columns[name] = list(map(str.strip, columns[name]))
        if all(map(is_canonical_integer, set(columns[name]))):
            columns[name] = list(map(int, columns[name]))
    return columns


def _check_edge_data(
    reader: Reader, edge_data: FilePath | tuple[FilePath, float] | None
) -> tuple[FilePath | None, float | None]:
    """Return the second file and its interval; refuse them where they have no meaning."""
    file, interval = edge_data if isinstance(edge_data, tuple) and len(edge_data) == 2 else (edge_data, None)
    if file is None and interval is not None:
        raise OptionError("an interval selects a part of `edge_data`: name that file too")
    if file is None:
        return None, None
    if reader.join is None:
        raise OptionError(f"`edge_data` belongs to a SUMO network; {reader.title} has the weights in a column")
    check_path(file)
    if interval is not None and not is_real(interval):
        raise OptionError(f"the interval of `edge_data` must be a number of seconds, not {type(interval).__name__}")
    return file, interval


def _join_weights(table: Table, reader: Reader, weight: str, edge_data: FilePath, interval: float | None) -> Table:
    """Add the column ``weight`` to a ``table``, by edge id, from an ``interval`` of ``edge_data``, read by ``reader``.

    A missing weight is never "no edge": which edges exist is public and must not depend on what was measured.
    """
    join, ids = reader.join, table.columns[ID]
    found = {} if join is None else decode_file(edge_data, lambda raw: join(raw, weight, interval))
    if len(set(ids)) < len(ids) or None in ids:
        raise NetworkError("two edges of the network have the same id, or one has none, so edge_data cannot name them")
    if found.keys() - set(ids):
        raise NetworkError(f"{show_path(edge_data)} has an edge id that the network lacks; use files of one network")
    values = [found.get(one) for one in ids]
    if None in values:
        raise NetworkError(
            f"{show_path(edge_data)} has no {str(weight)[:60]!r} for edge {values.index(None) + 1} of the network; "
            'SUMO writes one for every edge with excludeEmpty="defaults"'
        )
    return replace(table, columns={**table.columns, weight: values})
