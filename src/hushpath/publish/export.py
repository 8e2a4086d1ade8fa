"""Whole matrices on disk, larger than memory if need be: .npy as a memory map, CSV and Parquet by blocks of rows.

What is NOT PRIVATE says so inside every file, in a way that stops a program which expects a private matrix:

| format | the mark |
|---|---|
| ``.csv`` | a first column ``NOT PRIVATE``, which also stands in every row (a comment line would break plain readers) |
| ``.parquet`` | the same column, and the schema's metadata |
| ``.npy`` | the numbers are the field ``distance NOT PRIVATE`` of a structured array: the format has no other room |

A file beside the matrix would be left behind by the first copy.  Parquet files of every release carry its statement.
"""

from __future__ import annotations

import csv
import errno
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TextIO, TypeVar

import numpy as np

from ..data.labels import Label
from ..errors import CannotError, OptionError
from ..files.container import replacing
from ..progress import steps
from .edges import about
from .oracle import Release
from .statement import NOT_PRIVATE

FORMULA = re.compile(r"'*\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|'*[\t\r\n]")  # how formulas begin, also in full width
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
T = TypeVar("T")
FORMATS = (".npy", ".csv", ".parquet")
MOST_COLUMNS = 20_000  # a wide Parquet table pays for every column in every row group


def write_matrix(
    release: Release, path: str | os.PathLike[str], sources: Sequence[Label] | None = None,
    targets: Sequence[Label] | None = None, *, long: bool = False, dtype: Any = np.float64,
    interval: bool = False, confidence: float = 0.9,
) -> tuple[int, int]:  # fmt: skip
    """Write distances from sources (rows) to targets (columns); return the shape.  Complete or not at all.

    ``None`` means all nodes in canonical order (``topology.labels``).
    ``.npy`` is the plain array in the order asked.  ``.csv`` and ``.parquet`` have a first column ``source`` and one
    column per target, or with ``long`` the columns ``source, target, distance``.  ``dtype`` may be ``float32``.
    With ``interval`` each distance has its ``low`` and ``high``: long tables have two more columns, wide ones three
    columns per target (``T``, ``T low``, ``T high``), and ``.npy`` has three layers (distance, low, high).
    The module says how each carries NOT PRIVATE.
    """
    rows, columns = spelt(release, sources), spelt(release, targets)
    held = confidence if interval else None
    return write_asked(MatrixAsked(release, rows, columns, long, np.dtype(dtype), targets is None, held), path)


def write_asked(asked: MatrixAsked, path: str | os.PathLike[str]) -> tuple[int, int]:
    """Write what is asked to a file, as its suffix says; return the shape."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise OptionError(f"a matrix is written as {', '.join(FORMATS)}, not {suffix or 'a file without suffix'}")
    if asked.long and suffix == ".npy":
        raise OptionError("a .npy file is the plain matrix; long tables are written as .csv or .parquet")
    shape = len(asked.sources), len(asked.targets)
    if not asked.long and suffix != ".npy" and len({"source", *asked.columns}) <= len(asked.columns):
        raise OptionError("two columns of the table would have the same name; name each target once, or use --long")
    need = shape[0] * shape[1] * len(asked.layers) * asked.dtype.itemsize
    free = shutil.disk_usage(Path(path).absolute().parent).free
    if suffix == ".npy" and need > free:  # a memory map over a full disk would end the process
        raise CannotError(f"{shape[0]} x {shape[1]} distances take {need / 1e9:.3g} GB; {free / 1e9:.3g} GB are free")
    with replacing(path) as temporary:
        if suffix == ".npy":
            _write_npy(asked, temporary)
        elif suffix == ".csv":
            _write_csv(asked, temporary)
        else:
            _write_parquet(asked, temporary)
    return shape


@dataclass(frozen=True)
class MatrixAsked:
    """What a table holds, labels as the release spells them: "17" asked on the command line is written as 17."""

    release: Release
    sources: list[Label]
    targets: list[Label]
    long: bool
    dtype: np.dtype[Any]
    whole: bool  # every node is a target, in canonical order
    confidence: float | None  # of intervals, if they are asked for

    @property
    def mark(self) -> list[str]:
        """The first cell of every line: nothing for a private release."""
        return [NOT_PRIVATE] if self.release.statement.marking else []

    @property
    def layers(self) -> list[str]:
        """What is written of each pair."""
        return ["distance"] if self.confidence is None else ["distance", "low", "high"]

    @property
    def columns(self) -> list[str]:
        """The names of the columns of a wide table, after ``source``."""
        endings = ["", " low", " high"][: len(self.layers)]
        return [f"{target}{ending}" for target in self.targets for ending in endings]

    def fill(self, rows: slice, out: Any) -> None:
        """Some of the rows, layer by layer; answered as all of them are."""
        self.release.prepared(len(self.sources))
        sources, targets = self.sources[rows], None if self.whole else self.targets
        if self.confidence is None:
            self.release.matrix(sources, targets, out=out[0])
        else:
            self.release.matrix(sources, targets, out=out, interval=True, confidence=self.confidence)

    def blocks(self) -> Iterator[tuple[list[Label], Any]]:
        """Some sources at a time, and for each a row of targets with their layers."""
        for part in steps(self.release.chunks(len(self.sources)), "writing"):
            block = np.empty((len(self.layers), len(self.sources[part]), len(self.targets)), self.dtype)
            self.fill(part, block)
            yield self.sources[part], np.moveaxis(block, 0, 2)


def spelt(release: Release, labels: Sequence[Label] | None) -> list[Label]:
    """Labels as the release spells them; ``None`` means all, in canonical order."""
    return [release.topology.labels[i] for i in release.topology.indices(labels)]


def _write_npy(asked: MatrixAsked, path: Path) -> None:
    marking = asked.release.statement.marking
    marked = np.dtype([(f"distance {NOT_PRIVATE}", asked.dtype)]) if marking else asked.dtype
    plain = len(asked.sources), len(asked.targets)
    shape = plain if asked.confidence is None else (len(asked.layers), *plain)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=marked, shape=shape)
    _reserve(path)
    asked.fill(slice(0, plain[0]), out.view(asked.dtype).reshape(len(asked.layers), *plain))
    out.flush()


def _reserve(path: Path) -> None:
    """Take the space on the disk now: a memory map over a disk that fills up would end the process."""
    if hasattr(os, "posix_fallocate"):
        with open(path, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def csv_cell(value: T) -> T | str:
    """Return a value as a cell of CSV that no spreadsheet takes for a formula.

    Text that begins like a formula, after blanks, gets a single quote in front, and so does such text that has quotes
    there already: whoever takes one quote away again has the text as it was.  Numbers stay, also those that are text.
    """
    if not isinstance(value, str) or value[:1].isalnum() or not FORMULA.match(value):
        return value
    return value if NUMBER.fullmatch(value) else f"'{value}"


class CsvWriter:
    """Writes rows of CSV; see ``csv_cell``."""

    def __init__(self, file: TextIO, quoting: Literal[0, 2]) -> None:
        self._writer = csv.writer(file, lineterminator="\n", quoting=quoting)

    def writerow(self, row: Iterable[Any]) -> None:
        """Write one row."""
        self._writer.writerow(map(csv_cell, row))

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write many."""
        self._writer.writerows(map(csv_cell, row) for row in rows)


def csv_writer(file: TextIO, labels: Iterable[Label]) -> CsvWriter:
    """A writer of rows with these labels; Python leaves a carriage return bare, which would begin a row of its own."""
    bare = any("\r" in str(label) for label in labels)
    return CsvWriter(file, csv.QUOTE_NONNUMERIC if bare else csv.QUOTE_MINIMAL)


def _write_csv(asked: MatrixAsked, path: Path) -> None:
    mark, columns = asked.mark, asked.targets
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv_writer(file, chain(asked.sources, asked.targets))
        writer.writerow([*mark, "source", *(["target", *asked.layers] if asked.long else asked.columns)])
        for sources, block in asked.blocks():
            for label, row in zip(sources, block.tolist(), strict=True):
                if asked.long:
                    writer.writerows([*mark, label, t, *numbers] for t, numbers in zip(columns, row, strict=True))
                else:
                    writer.writerow([*mark, label, *chain.from_iterable(row)])


def arrow() -> tuple[Any, Any]:
    """Return the library that writes Parquet, imported where it is used."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    return pa, pq


@contextmanager
def parquet_writer(path: Path, schema: Any, **options: Any) -> Iterator[Any]:
    """A writer of Parquet whose errors are told in the system's words, not Arrow's."""
    _, pq = arrow()
    try:
        with pq.ParquetWriter(path, schema, **options) as writer:
            yield writer
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None


def label_type(release: Release) -> Any:
    """What the labels of a network are in Parquet."""
    pa, _ = arrow()
    return pa.int64() if isinstance(release.topology.labels[0], int) else pa.string()


def schema_facts(release: Release) -> dict[str, str]:
    """What the schema of every Parquet file says of a release."""
    return {f"hushpath.{name}": text for name, text in about(release.statement, release.period).items()}


def _write_parquet(asked: MatrixAsked, path: Path) -> None:
    pa, _ = arrow()
    release, columns, mark = asked.release, asked.targets, asked.mark
    kind = label_type(release)
    number = pa.from_numpy_dtype(asked.dtype)
    first = [*((text, pa.string()) for text in mark), ("source", kind)]
    if asked.long:
        fields = [*first, ("target", kind), *((layer, number) for layer in asked.layers)]
    elif len(asked.columns) > MOST_COLUMNS:
        raise OptionError(
            f"{len(asked.columns)} targets are too many Parquet columns (at most {MOST_COLUMNS}): use --long or .npy"
        )
    else:
        fields = [*first, *((name, number) for name in asked.columns)]
    schema = pa.schema(fields, metadata=schema_facts(release))
    with parquet_writer(path, schema) as writer:
        for mine, block in asked.blocks():
            if asked.long:
                data = [np.repeat(np.array(mine, object), len(columns)), np.tile(np.array(columns, object), len(mine))]
                numbers = block.reshape(-1, block.shape[2]).T.copy()
                arrays = [*(pa.array(column, kind) for column in data), *map(pa.array, numbers)]
            else:
                arrays = [pa.array(mine, kind), *map(pa.array, block.reshape(len(mine), -1).T.copy())]
            marks = [pa.array([text] * len(arrays[0]), pa.string()) for text in mark]
            writer.write_table(pa.Table.from_arrays([*marks, *arrays], schema=schema))
