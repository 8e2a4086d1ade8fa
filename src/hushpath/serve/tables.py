"""A matrix as a stream of bytes, some rows at a time: CSV, Parquet or Arrow; never whole in memory.

| format | layout |
|---|---|
| ``csv`` | as ``hushpath matrix`` writes it: a column per target, or with ``long`` source, target, distance |
| ``parquet`` | the same |
| ``arrow`` | an IPC stream of one row per source: ``source`` and a list of distances, in the order of ``targets`` |

Lists are the layout that no machine has to take apart: tens of millions of cells per second, where CSV, which writes
every number as text, reaches a few millions at best.  What is NOT PRIVATE has a first column that says so, as in files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..arrays import Int
from ..data.labels import Label
from ..errors import OptionError
from ..kernels.minplus import LANES
from ..kernels.paths import THREADS
from ..publish.export import MOST_COLUMNS, csv_writer, schema_facts
from .catalog import ServedRelease

MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.stream",
}
BLOCK, INTERVAL_BLOCK = 2**21, 2**17  # cells computed at a time, more or less
MOST_BLOCK = 2**23  # and never more: 64 MB, of which a stream keeps three
TOGETHER = LANES * THREADS  # rows that the index computes side by side
PAGE = 2**18  # bytes of CSV written at a time
END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class Table:
    """What is asked: rows and columns by position, and what of each."""

    served: ServedRelease
    rows: Int
    columns: Int
    whole: bool  # every node is a target, in canonical order
    confidence: float | None = None
    long: bool = False
    dtype: str = "float64"

    @property
    def layers(self) -> list[str]:
        """What is told of each pair."""
        return ["distance"] if self.confidence is None else ["distance", "low", "high"]

    @property
    def mark(self) -> list[str]:
        """The first cell of every row: nothing for a private release."""
        return [self.served.mark] if self.served.mark else []

    @property
    def names(self) -> list[str]:
        """The columns of a wide table after ``source``."""
        endings = ["", " low", " high"][: len(self.layers)]
        return [f"{target}{ending}" for target in self.labels(self.columns) for ending in endings]

    def labels(self, positions: Int) -> list[Label]:
        """What nodes are called."""
        return list(map(self.served.release.topology.labels.__getitem__, positions.tolist()))

    def check(self, form: str) -> None:
        """Refuse a table that the format cannot hold."""
        if form == "arrow" or self.long:
            return
        names = self.names
        if len({"source", *names}) <= len(names):
            raise OptionError("two columns would have the same name; name each target once, or ask for long")
        if form == "parquet" and len(names) > MOST_COLUMNS:
            raise OptionError(f"{len(names)} columns are too many for Parquet (at most {MOST_COLUMNS}): ask for long")

    def blocks(self) -> Iterator[tuple[list[Label], Any]]:
        """Some sources at a time, and their numbers: layers x sources x targets."""
        if self.confidence is not None:
            self.served.require_intervals()
        for at in range(0, len(self.rows), self.height):
            mine = self.rows[at : at + self.height]
            yield self.labels(mine), self._block(mine)

    @property
    def height(self) -> int:
        """How many rows make a block: as many as are computed side by side, if memory allows."""
        if self.confidence is not None:
            return max(1, INTERVAL_BLOCK // len(self.columns))
        return max(1, min(max(BLOCK // len(self.columns), TOGETHER), MOST_BLOCK // len(self.columns)))

    def _block(self, rows: Int) -> Any:
        release, targets = self.served.release, None if self.whole else self.columns
        block = np.empty((len(self.layers), len(rows), len(self.columns)), self.dtype)
        if self.confidence is None:
            release.matrix(rows, targets, out=block[0], positions=True)
        else:
            release.matrix(rows, targets, out=block, positions=True, interval=True, confidence=self.confidence)
        return block


def streamed(table: Table, form: str) -> Iterator[Any]:
    """The bytes of a table, block by block."""
    return WRITERS[form](table)


def _csv(table: Table) -> Iterator[bytes]:
    mark, targets = table.mark, table.labels(table.columns)
    page = io.StringIO(newline="")
    writer = csv_writer(page, chain(table.labels(table.rows), targets))
    writer.writerow([*mark, "source", *(["target", *table.layers] if table.long else table.names)])
    for sources, block in table.blocks():
        for label, row in zip(sources, np.moveaxis(block, 0, 2), strict=True):
            if table.long:
                writer.writerows([*mark, label, t, *cell] for t, cell in zip(targets, row.tolist(), strict=True))
            else:
                writer.writerow([*mark, label])
                page.seek(page.tell() - 1)  # numbers take the place of the line's end
                for at in range(0, row.size, TOGETHER * 64):  # some at a time, or small questions would wait for a row
                    page.write("," + ",".join(map(repr, row.ravel()[at : at + TOGETHER * 64].tolist())))
                page.write("\n")
            if page.tell() >= PAGE:
                yield _taken(page)
    yield _taken(page)


def _taken(page: io.StringIO) -> bytes:
    text = page.getvalue()
    page.seek(0)
    page.truncate()
    return text.encode()


def _kind(table: Table) -> Any:
    import pyarrow as pa

    return pa.int64() if isinstance(table.served.release.topology.labels[0], int) else pa.string()


def _parquet(table: Table) -> Iterator[bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind, number = _kind(table), pa.from_numpy_dtype(np.dtype(table.dtype))
    first = [*((text, pa.string()) for text in table.mark), ("source", kind)]
    rest = [("target", kind), *((layer, number) for layer in table.layers)]
    fields = [*first, *(rest if table.long else ((name, number) for name in table.names))]
    schema, sink = pa.schema(fields, metadata=schema_facts(table.served.release)), io.BytesIO()
    targets = pa.array(table.labels(table.columns), kind)
    told = 0  # bytes of the file so far: a sink that is emptied would lose count of its own place

    class Counting(io.RawIOBase):
        def writable(self) -> bool:
            return True

        def write(self, data: Any) -> int:
            nonlocal told
            told += len(data)
            return sink.write(data)

        def tell(self) -> int:
            return told

    with pq.ParquetWriter(Counting(), schema, use_dictionary=["source", "target"] if table.long else False) as writer:
        for sources, block in table.blocks():
            mine = pa.array(sources, kind)
            if table.long:
                count = len(table.columns)
                which = pa.array(np.repeat(np.arange(len(sources)), count))
                other = pa.array(np.tile(np.arange(count), len(sources)))
                arrays = [mine.take(which), targets.take(other), *(pa.array(layer.ravel()) for layer in block)]
            else:
                wide = np.moveaxis(block, 0, 2).reshape(len(sources), -1)
                arrays = [mine, *map(pa.array, wide.T.copy())]
            marks = [pa.array([text] * len(arrays[0]), pa.string()) for text in table.mark]
            writer.write_table(pa.Table.from_arrays([*marks, *arrays], schema=schema))
            yield _drained(sink)
    yield _drained(sink)


def _drained(sink: io.BytesIO) -> bytes:
    data = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return data


def _arrow(table: Table) -> Iterator[Any]:
    import pyarrow as pa

    kind, count = _kind(table), len(table.columns)
    lists = pa.list_(pa.from_numpy_dtype(np.dtype(table.dtype)), count)
    fields = [*((text, pa.string()) for text in table.mark), ("source", kind), *((n, lists) for n in table.layers)]
    targets = json.dumps(table.labels(table.columns))
    schema = pa.schema(fields, metadata={**schema_facts(table.served.release), "hushpath.targets": targets})
    blocks = table.blocks()
    first = next(blocks)  # before anything is said, so that what cannot be done is an error
    yield schema.serialize()
    yield _message(table, schema, lists, *first)
    del first
    for block in blocks:
        message = _message(table, schema, lists, *block)
        del block  # while the reader takes the message, its numbers need not be there twice
        yield message
    yield END_OF_STREAM


def _message(table: Table, schema: Any, lists: Any, sources: list[Label], block: Any) -> Any:
    import pyarrow as pa

    rows = [pa.FixedSizeListArray.from_arrays(pa.array(layer.ravel()), type=lists) for layer in block]
    marks = [pa.array([text] * len(sources), pa.string()) for text in table.mark]
    labels = pa.array(sources, schema.field("source").type)
    return pa.RecordBatch.from_arrays([*marks, labels, *rows], schema=schema).serialize()


WRITERS: dict[str, Callable[[Table], Iterator[Any]]] = {"csv": _csv, "parquet": _parquet, "arrow": _arrow}
