"""A table of distances as bytes, some rows at a time: CSV, Parquet or an Arrow stream; never whole in memory.

| format | layout |
|---|---|
| ``csv`` | wide, or long if the table is |
| ``parquet`` | the same |
| ``arrow`` | an IPC stream of lists; the metadata ``hushpath.targets`` has the targets in order |

No bytes are produced before the first block of numbers was computed, so an error found there is not half an answer.
Lists are the fastest layout: tens of millions of distances per second, where CSV reaches a few millions.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from .csv_text import csv_writer
from .distance_table import BLOCK_CELLS, MAX_PARQUET_COLUMNS, DistanceTable, Layout

PAGE = 2**18  # bytes of CSV produced at a time
CSV_CELLS = 4096  # numbers formatted at a time: other threads of a server get their turn between
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def encode(table: DistanceTable, form: str, cells: int = BLOCK_CELLS) -> Iterator[Any]:
    """Return an iterator over the bytes of a table."""
    if form != "arrow":
        table.check_columns(MAX_PARQUET_COLUMNS if form == "parquet" else None)
    return ENCODERS[form](table, cells)


def _csv(table: DistanceTable, cells: int) -> Iterator[bytes]:
    page, line = io.StringIO(newline=""), io.StringIO(newline="")
    writer = csv_writer(line, chain(table.source_labels, table.target_labels))

    def text(row: list[Any]) -> str:
        writer.writerow(row)
        return _taken(line)[:-1]

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
                yield _taken(page).encode()
    yield _taken(page).encode()


def _taken(page: io.StringIO) -> str:
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


def _parquet(table: DistanceTable, cells: int) -> Iterator[bytes]:
    import pyarrow.parquet as pq

    layout: Layout = "long" if table.long else "wide"
    schema, pipe = table.schema(layout), _Pipe()
    # Labels repeat, numbers do not: a dictionary of these takes longer to write and more room.
    with pq.ParquetWriter(pipe, schema, use_dictionary=[*table.marks, "source", "target"]) as writer:
        for batch in table.batches(schema, layout, cells):
            writer.write_batch(batch)
            yield pipe.take()
    yield pipe.take()


def _arrow(table: DistanceTable, cells: int) -> Iterator[Any]:
    schema = table.schema("lists", {"hushpath.targets": json.dumps(table.target_labels)})
    begun = False
    for batch in table.batches(schema, "lists", cells):
        if not begun:
            yield schema.serialize()
        begun = True
        yield batch.serialize()
    yield END_OF_STREAM


ENCODERS: dict[str, Callable[[DistanceTable, int], Iterator[Any]]] = {
    "csv": _csv, "parquet": _parquet, "arrow": _arrow,
}  # fmt: skip
