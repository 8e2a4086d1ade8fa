"""A table of distances as bytes, some rows at a time: CSV, Parquet or an Arrow stream; never whole in memory.

| format | layout |
|---|---|
| ``csv`` | wide, or long if the table is |
| ``parquet`` | the same |
| ``arrow`` | an IPC stream of lists; the metadata ``hushpath.targets`` has the targets in order |

No bytes are produced before the first block of numbers was computed, so an error found there is not half an answer.
Lists are the fastest layout: tens of millions of distances per second, where CSV reaches a few millions.

``csv_row_writer`` is the one way to write CSV: no spreadsheet takes its text for a program.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TextIO, TypeVar

import numpy as np

from ..network.labels import Label
from .distance_table import BLOCK_CELLS, MAX_PARQUET_COLUMNS, DistanceTable, Layout

PAGE = 2**18  # bytes of CSV produced at a time
CSV_CELLS = 4096  # numbers formatted at a time: other threads of a server get their turn between
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")  # how formulas begin, also in full width
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
T = TypeVar("T")


def csv_cell(value: T) -> T | str:
    """Return a value as a CSV cell that no spreadsheet evaluates as a formula.

    Text that begins like a formula, after blanks, gets a single quote in front, and so does such text that already has
    quotes there: removing one quote restores the text.  Numbers stay as they are, also those given as text.
    """
    if not isinstance(value, str) or value[:1].isalnum() or not FORMULA.match(value):
        return value
    return value if NUMBER.fullmatch(value) else f"'{value}"


def csv_row_writer(file: TextIO, labels: Iterable[Label]) -> Callable[[Iterable[Any]], object]:
    """Return a function that writes a row of CSV with these labels; every cell passes through ``csv_cell``.

    All text is quoted if a label holds a carriage return: Python writes that one bare, and readers would start a new
    row there.
    """
    bare = any("\r" in str(label) for label in labels)
    writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL)
    return lambda row: writer.writerow(map(csv_cell, row))


def encode(table: DistanceTable, form: str, cells: int = BLOCK_CELLS) -> Iterator[Any]:
    """Return an iterator over the bytes of a table in the format ``form``, about ``cells`` distances at a time."""
    if form != "arrow":
        table.check_columns(MAX_PARQUET_COLUMNS if form == "parquet" else None)
    return {"csv": _encode_csv, "parquet": _encode_parquet, "arrow": _encode_arrow}[form](table, cells)


def _encode_csv(table: DistanceTable, cells: int) -> Iterator[bytes]:
    page, line = io.StringIO(newline=""), io.StringIO(newline="")
    write_row = csv_row_writer(line, chain(table.source_labels, table.target_labels))

    def text(row: list[Any]) -> str:
        write_row(row)
        return _take(line)[:-1]

    columns = ["target", *table.values] if table.long else table.wide_columns
    page.write(text([*table.marks, "source", *columns]) + "\n")
    targets = [text([target]) for target in table.target_labels] if table.long else []
    for some, block in table.blocks(cells):
        for label, row in zip(table.source_labels[some], np.moveaxis(block, 0, 2), strict=True):
            start = text([*table.marks, label])
            if table.long:
                for target, numbers in zip(targets, row.tolist(), strict=True):
                    page.write(f"{start},{target},{','.join(map(repr, numbers))}\n")
            else:
                page.write(start)
                for at in range(0, row.size, CSV_CELLS):
                    page.write("," + ",".join(map(repr, row.ravel()[at : at + CSV_CELLS].tolist())))
                page.write("\n")
            if page.tell() >= PAGE:
                yield _take(page).encode()
    yield _take(page).encode()


def _take(page: io.StringIO) -> str:
    """Return the text written so far, and empty the page."""
    text = page.getvalue()
    page.seek(0)
    page.truncate()
    return text


class _Pipe(io.RawIOBase):
    """A file whose content is taken out as it is written; it still knows its position, which Parquet stores."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def take(self) -> bytes:
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _encode_parquet(table: DistanceTable, cells: int) -> Iterator[bytes]:
    import pyarrow.parquet as pq

    layout: Layout = "long" if table.long else "wide"
    schema, pipe = table.schema(layout), _Pipe()
    # Labels repeat, numbers do not: a dictionary of these takes longer to write and more room.
    with pq.ParquetWriter(pipe, schema, use_dictionary=[*table.marks, "source", "target"]) as writer:
        for batch in table.batches(schema, layout, cells):
            writer.write_batch(batch)
            yield pipe.take()
    yield pipe.take()


def _encode_arrow(table: DistanceTable, cells: int) -> Iterator[Any]:
    schema = table.schema("lists", {"hushpath.targets": json.dumps(table.target_labels)})
    for number, batch in enumerate(table.batches(schema, "lists", cells)):
        if number == 0:
            yield schema.serialize()
        yield batch.serialize()
    yield END_OF_STREAM
