"""Read a network from a file: an edge list (CSV, TSV, Parquet) or GraphML.

Stage 1 of 6.  Every format becomes plain columns, and the columns become a network in one place
(``network``), so formats cannot differ in meaning.  ``read_topology`` takes the public half only: it picks
the label columns and leaves every other column where it is, so it also works on a file that has no weights.

| format | suffix | labels |
|---|---|---|
| ``csv`` | ``.csv``, ``.csv.gz`` | text, whitespace around it removed; integers if *every* label is one |
| ``tsv`` | ``.tsv``, ``.txt``, also with ``.gz`` | the same, columns separated by tabs |
| ``graphml`` | ``.graphml``, ``.graphml.gz`` | the same, from the ids of the nodes |
| ``parquet`` | ``.parquet`` | integer columns are integers, text columns are text, exactly as they stand |

"Every label" means both label columns and the node table; an integer is written as Python prints it ("7", not
"007") and fits 64 bits.  Text files are UTF-8, with or without a byte order mark; their first line names the
columns; "NA" is a good label; empty lines are skipped.  Messages count rows from 1 after the header.

GraphML says itself whether it is directed (``edgedefault``), holds its own nodes (with places, if every node
has ``x`` and ``y``), and names attributes where a table names columns.  Documents with a DOCTYPE are refused:
they are how a small file becomes a huge one.  What parsers say is never passed on, because it may quote the data: not
in our messages, and not as the context of our exceptions, so these are raised outside ``except``.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from ...arrays import Int
from ...errors import CannotError, HushpathError, NetworkError, OptionError
from ..network import Network, bounds_are_public, choose_columns, numbers, table_topology
from ..topology import Topology, canonical_integer
from ..weights import PrivateWeights
from .graphml import GraphML

T = TypeVar("T")
Columns = dict[str, list[Any]]
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".parquet": "parquet", ".graphml": "graphml"}


def read_network(
    path: str | PathLike[str],
    *,
    source: str = "source",
    target: str = "target",
    weight: str = "weight",
    directed: bool = False,
    lower: str | float = 0.0,
    upper: str | float = np.inf,
    nodes: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word people look for
) -> Network:
    """Read a network with its private weights.

    ``source``, ``target`` and ``weight`` name columns.  ``lower`` and ``upper`` are public bounds of the
    weights: a number, or the name of a column.  ``nodes`` is a table (columns ``node`` and optionally ``x``,
    ``y``) that adds isolated nodes and places.  ``format`` overrides the suffix.
    """
    bounds_are_public(weight, lower, upper)
    topology, kept, columns = _read(path, source, target, [weight], directed, lower, upper, nodes, format)
    values = numbers(columns[weight], f"column {weight!r}")
    return Network(topology, PrivateWeights(values, num_rows=len(values), keep=kept))


def read_topology(
    path: str | PathLike[str],
    *,
    source: str = "source",
    target: str = "target",
    directed: bool = False,
    lower: str | float = 0.0,
    upper: str | float = np.inf,
    nodes: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002
) -> Topology:
    """Read the public half only; arguments as in ``read_network``.  No weight is looked at."""
    return _read(path, source, target, [], directed, lower, upper, nodes, format)[0]


def _read(
    path: str | PathLike[str], source: str, target: str, private: list[str], directed: bool,
    lower: str | float, upper: str | float, nodes: str | PathLike[str] | None, kind: str | None,
) -> tuple[Topology, Int, Columns]:  # fmt: skip
    """The topology, the rows that became edges, and the columns."""
    more = [*private, *(bound for bound in (lower, upper) if isinstance(bound, str))]
    if len({source, target, *more}) < 2 + len(set(more)):
        raise OptionError("source, target, weight and bounds must name different columns")
    kind, needed = _format(path, kind), [source, target, *more]
    if kind == "graphml":
        if nodes is not None:
            raise OptionError("a GraphML file holds its own nodes; leave the node table out")
        document = GraphML(source, target, more)
        _decoded(path, document.read)
        if directed and not document.directed:
            raise NetworkError(f"{_shown(path)} says that it is undirected; directed=True does not fit")
        edges, directed, node_table, node_kind = document.edges, document.directed, document.nodes, kind
    else:
        edges = _table(path, kind, "the edge list", needed)
        node_kind = kind if nodes is None else _format(nodes, None)
        node_table = _table(nodes, node_kind, "the node table", ["node"], ("x", "y")) if nodes else {}
    _integers([(edges, source, kind), (edges, target, kind), (node_table, "node", node_kind)])
    topology, kept = table_topology(
        edges, source, target, directed=directed, lower=lower, upper=upper, nodes=node_table or None
    )
    return topology, kept, edges


def _integers(columns: list[tuple[Columns, str, str]]) -> None:
    """Strip labels of text formats; make them integers if then all labels are, those of Parquet included."""
    loose = [(table, name) for table, name, kind in columns if kind != "parquet" and name in table]
    for table, name in loose:
        table[name] = list(map(str.strip, table[name]))
    fixed = [table.get(name, []) for table, name, kind in columns if kind == "parquet"]
    typed_text = any(isinstance(label, str) for labels in fixed for label in labels)
    if not typed_text and all(map(canonical_integer, set().union(*(table[name] for table, name in loose)))):
        for table, name in loose:
            table[name] = list(map(int, table[name]))


def _format(path: str | PathLike[str], kind: str | None) -> str:
    """The format of a file, from what the caller said or from the suffix."""
    if not isinstance(path, (str, PathLike)) or not isinstance(fspath(path), str):
        raise NetworkError(f"a file is named by text or a Path, not by {type(path).__name__}")
    if kind is not None:
        if kind not in FORMATS.values():
            known = ", ".join(sorted(set(FORMATS.values())))
            raise OptionError(f"format {str(kind)[:40]!r} is unknown; there are: {known}")
        return kind
    suffix = Path(fspath(path).lower().removesuffix(".gz")).suffix
    if suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise NetworkError(f"{_shown(path)} has none of the suffixes {known}, with or without .gz")
    return FORMATS[suffix]


def _shown(path: str | PathLike[str]) -> str:
    """A path on one line, whatever is in it."""
    return repr(fspath(path)[-200:])


def _decoded(path: str | PathLike[str], decode: Callable[[Any], T]) -> T:
    """What ``decode`` makes of the bytes of a file; trouble becomes one line that quotes nothing."""
    reason = ""
    try:
        raw = Path(path).open("rb")  # noqa: SIM115 - closed below
    except (OSError, ValueError) as error:  # ValueError: a NUL or a surrogate in the name
        reason = getattr(error, "strerror", None) or "not a usable name"
    if reason:
        raise NetworkError(f"cannot read {_shown(path)}: {reason}")
    with raw:
        try:
            return decode(gzip.open(raw) if fspath(path).lower().endswith(".gz") else raw)
        except UnicodeDecodeError:  # it holds the bytes it could not read
            trouble = "is not UTF-8 text"
        except (OSError, EOFError, zlib.error):
            trouble = "cannot be read to its end; is it whole?"
    raise NetworkError(f"{_shown(path)} {trouble}")


def _table(
    path: str | PathLike[str], kind: str, what: str, needed: list[str], optional: tuple[str, ...] = ()
) -> Columns:
    """The wanted columns of a table."""
    if kind == "graphml":
        raise NetworkError(f"{what} cannot be GraphML; use CSV, TSV or Parquet")
    if kind == "parquet":
        return _decoded(path, lambda raw: _parquet(raw, what, needed, optional))
    return _decoded(path, lambda raw: _text(raw, what, "," if kind == "csv" else "\t", needed, optional))


def _text(raw: IO[bytes], what: str, delimiter: str, needed: list[str], optional: tuple[str, ...]) -> Columns:
    """Delimited text.  Not by pandas, which lets long rows pass when columns are chosen."""

    def clean(line: str) -> str:
        if "\0" in line:
            raise csv.Error
        return line

    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as lines:
        rows = csv.reader(map(clean, lines), delimiter=delimiter, strict=True)
        try:
            header = [name.strip() for name in next((row for row in rows if row), [])]
            if not header:
                raise NetworkError(f"{what} is an empty file")
            wanted = choose_columns(header, what, needed, optional)
            columns: Columns = {name: [] for name in wanted}
            taken = [(header.index(name), values.append) for name, values in columns.items()]
            for row in rows:
                if len(row) == len(header):
                    for place, append in taken:
                        append(row[place])
                elif row:
                    place, fields = len(columns[wanted[0]]) + 1, len(row)
                    raise NetworkError(f"row {place} of {what} has {fields} fields, its header {len(header)}")
            return columns
        except csv.Error:
            line = rows.line_num
    raise NetworkError(f"{what} is not well-formed near line {line}: a quote, a NUL or a very long field")


def _parquet(raw: IO[bytes], what: str, needed: list[str], optional: tuple[str, ...]) -> Columns:
    """Parquet, with the types it declares."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise CannotError("reading Parquet needs pyarrow: pip install 'hushpath[parquet]'") from None
    try:
        file = pq.ParquetFile(raw)
        wanted = choose_columns(file.schema_arrow.names, what, needed, optional)
        columns = file.read(columns=wanted)
        return {name: columns[name].to_pylist() for name in wanted}
    except HushpathError:
        raise
    except Exception:  # noqa: S110 - a damaged file can make the decoder raise anything
        pass
    raise NetworkError(f"{what} is not a readable Parquet file")
