"""Delimited text: CSV and TSV.

UTF-8, with or without a byte order mark; the first line names columns; "NA" is a good label; empty lines are skipped.
Not by pandas, which lets long rows pass when columns are chosen.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import partial
from typing import IO

from ...errors import NetworkError
from ..columns import Columns, Table, choose_columns
from .core import Reader


def text_rows(raw: IO[bytes], what: str, delimiter: str = ",", *, nul: bool = True) -> Iterator[list[str]]:
    """The names of the columns, then every row that is not empty; ``nul`` says whether a NUL may stand in a field."""

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


def _read(raw: IO[bytes], what: str, needed: list[str], optional: tuple[str, ...], *, delimiter: str) -> Table:
    rows = text_rows(raw, what, delimiter, nul=False)
    header = next(rows)
    if not header:
        raise NetworkError(f"{what} is an empty file")
    columns: Columns = {name: [] for name in choose_columns(header, what, needed, optional)}
    taken = [(header.index(name), values.append) for name, values in columns.items()]
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            raise NetworkError(f"row {number} of {what} has {len(row)} fields, its header {len(header)}")
        for place, append in taken:
            append(row[place])
    return Table(columns)


CSV = Reader("csv", "CSV", (".csv",), partial(_read, delimiter=","))
TSV = Reader("tsv", "TSV", (".tsv", ".txt"), partial(_read, delimiter="\t"))
READERS = (CSV, TSV)
