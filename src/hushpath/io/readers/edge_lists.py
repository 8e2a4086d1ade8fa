"""Edge lists: CSV, TSV and Parquet.

Text is UTF-8; the first line names columns; "NA" is a valid label; empty lines are skipped.  pandas is not used: it
accepts rows that are too long.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import IO

from ...errors import HushpathError, NetworkError
from ...network.network import Columns, Table
from ...network.public_rows import WantedColumns, choose_public_columns
from .base import Reader

BLOCK = 2**8  # rows turned into columns at a time


def read_text_rows(raw: IO[bytes], what: str, delimiter: str = ",", *, nul: bool = True) -> Iterator[list[str]]:
    """Yield the column names of ``raw``, then every row that is not empty; ``nul`` allows NUL characters in fields.

    Fields are cut at the ``delimiter``; messages call the file ``what``.
    """

    def clean(line: str) -> str:
        if "\0" in line:
            raise csv.Error
        return line

    with io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines if nul else map(clean, lines), delimiter=delimiter, strict=True)
        rows = filter(None, reader)
        try:
            yield [name.strip() for name in next(rows, [])]
            yield from rows
            return
        except csv.Error:
            line = reader.line_num
    raise NetworkError(f"{what} is not well-formed near line {line}: a quote, a NUL or a very long field")


def read_text_table(rows: Iterator[list[str]], wanted: WantedColumns) -> Table:
    """Return the wanted columns of rows of text, the first of which has their names."""
    header, what = next(rows), wanted.what
    if not header:
        raise NetworkError(f"{what} is an empty file")
    columns: Columns = {name: [] for name in choose_public_columns(header, wanted)}
    count = 0
    while block := list(islice(rows, BLOCK)):
        if {*map(len, block)} != {len(header)}:
            at = next(i for i, row in enumerate(block) if len(row) != len(header))
            raise NetworkError(f"row {count + at + 1} of {what} has {len(block[at])} fields, its header {len(header)}")
        fields = dict(zip(header, zip(*block, strict=True), strict=True))
        for name, values in columns.items():
            values += fields[name]
        count += len(block)
    return Table(columns)


def _read_text(raw: IO[bytes], wanted: WantedColumns, *, delimiter: str) -> Table:
    return read_text_table(read_text_rows(raw, wanted.what, delimiter, nul=False), wanted)


def _read_parquet(raw: IO[bytes], wanted: WantedColumns) -> Table:
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(raw)
        names = choose_public_columns(file.schema_arrow.names, wanted)
        columns = file.read(columns=names)
        return Table({name: columns[name].to_pylist() for name in names})
    except HushpathError:
        raise
    except Exception:  # noqa: S110 - a damaged file can make the decoder raise anything
        pass
    raise NetworkError(f"{wanted.what} is not a readable Parquet file")


CSV = Reader("csv", "CSV", (".csv",), partial(_read_text, delimiter=","))
TSV = Reader("tsv", "TSV", (".tsv", ".txt"), partial(_read_text, delimiter="\t"))
PARQUET = Reader("parquet", "Parquet", (".parquet",), _read_parquet, typed=True)
