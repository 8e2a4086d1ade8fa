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
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..data.labels import Label
from ..errors import CannotError, OptionError
from ..files.container import replacing
from ..progress import steps
from .oracle import Release
from .statement import NOT_PRIVATE

FORMATS = (".npy", ".csv", ".parquet")
MOST_COLUMNS = 20_000  # a wide Parquet table pays for every column in every row group


def write_matrix(
    release: Release, path: str | os.PathLike[str], sources: Sequence[Label] | None = None,
    targets: Sequence[Label] | None = None, *, long: bool = False, dtype: Any = np.float64,
) -> tuple[int, int]:  # fmt: skip
    """Write distances from sources (rows) to targets (columns); return the shape.  Complete or not at all.

    ``None`` means all nodes in canonical order (``topology.labels``).
    ``.npy`` is the plain array in the order asked.  ``.csv`` and ``.parquet`` have a first column ``source`` and one
    column per target, or with ``long`` the columns ``source, target, distance``.  ``dtype`` may be ``float32``.
    The module says how each carries NOT PRIVATE.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise OptionError(f"a matrix is written as {', '.join(FORMATS)}, not {suffix or 'a file without suffix'}")
    if long and suffix == ".npy":
        raise OptionError("a .npy file is the plain matrix; long tables are written as .csv or .parquet")
    asked = _Asked(release, _spelt(release, sources), _spelt(release, targets), long, np.dtype(dtype), targets is None)
    shape = len(asked.sources), len(asked.targets)
    if not long and suffix != ".npy" and len({"source", *map(str, asked.targets)}) <= shape[1]:
        raise OptionError("two columns of the table would have the same name; name each target once, or use --long")
    need, free = shape[0] * shape[1] * asked.dtype.itemsize, shutil.disk_usage(Path(path).absolute().parent).free
    if suffix == ".npy" and need > free:  # a memory map over a full disk would end the process
        raise CannotError(f"{shape[0]} x {shape[1]} distances take {need / 1e9:.3g} GB; {free / 1e9:.3g} GB are free")
    release.prepared(shape[0])
    with replacing(path) as temporary:
        if suffix == ".npy":
            _write_npy(asked, temporary, release.statement.marking)
        elif suffix == ".csv":
            _write_csv(asked, temporary)
        else:
            try:
                _write_parquet(asked, temporary)
            except OSError as error:  # in the system's words, not Arrow's
                raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    return shape


@dataclass(frozen=True)
class _Asked:
    """What a table holds, labels as the release spells them: "17" asked on the command line is written as 17."""

    release: Release
    sources: list[Label]
    targets: list[Label]
    long: bool
    dtype: np.dtype[Any]
    whole: bool  # every node is a target, in canonical order

    @property
    def mark(self) -> list[str]:
        """The first cell of every line: nothing for a private release."""
        return [NOT_PRIVATE] if self.release.statement.marking else []

    def blocks(self) -> Iterator[tuple[list[Label], Any]]:
        """Some sources and their rows at a time."""
        for part in steps(self.release.chunks(len(self.sources)), "writing"):
            columns = None if self.whole else self.targets
            yield self.sources[part], self.release.matrix(self.sources[part], columns, dtype=self.dtype)


def _spelt(release: Release, labels: Sequence[Label] | None) -> list[Label]:
    return [release.topology.labels[i] for i in release.topology.indices(labels)]


def _write_npy(asked: _Asked, path: Path, marking: str) -> None:
    marked = np.dtype([(f"distance {NOT_PRIVATE}", asked.dtype)]) if marking else asked.dtype
    out = np.lib.format.open_memmap(path, mode="w+", dtype=marked, shape=(len(asked.sources), len(asked.targets)))
    _reserve(path)
    asked.release.matrix(asked.sources, None if asked.whole else asked.targets, out=out.view(asked.dtype))
    out.flush()


def _reserve(path: Path) -> None:
    """Take the space on the disk now: a memory map over a disk that fills up would end the process."""
    if hasattr(os, "posix_fallocate"):
        with open(path, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def _write_csv(asked: _Asked, path: Path) -> None:
    mark, columns = asked.mark, asked.targets
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*mark, "source", *(["target", "distance"] if asked.long else columns)])
        for sources, block in asked.blocks():
            for label, row in zip(sources, block.tolist(), strict=True):
                if asked.long:
                    writer.writerows([*mark, label, t, d] for t, d in zip(columns, row, strict=True))
                else:
                    writer.writerow([*mark, label, *row])


def _write_parquet(asked: _Asked, path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CannotError("writing Parquet needs pyarrow: pip install 'hushpath[parquet]'") from None
    release, columns, mark = asked.release, asked.targets, asked.mark
    kind = pa.int64() if isinstance(release.topology.labels[0], int) else pa.string()
    number = pa.from_numpy_dtype(asked.dtype)
    first = [*((text, pa.string()) for text in mark), ("source", kind)]
    if asked.long:
        fields = [*first, ("target", kind), ("distance", number)]
    elif len(columns) > MOST_COLUMNS:
        raise OptionError(
            f"{len(columns)} targets are too many Parquet columns (at most {MOST_COLUMNS}): use --long or .npy"
        )
    else:
        fields = [*first, *((str(label), number) for label in columns)]
    facts = {"hushpath.statement": json.dumps(release.statement.as_dict())}
    if mark:
        facts["hushpath.marking"] = release.statement.marking
    schema = pa.schema(fields, metadata=facts)
    with pq.ParquetWriter(path, schema) as writer:
        for mine, block in asked.blocks():
            if asked.long:
                data = [np.repeat(np.array(mine, object), len(columns)), np.tile(np.array(columns, object), len(mine))]
                arrays = [*(pa.array(column, kind) for column in data), pa.array(block.ravel())]
            else:
                arrays = [pa.array(mine, kind), *(pa.array(column) for column in np.ascontiguousarray(block.T))]
            marks = [pa.array([text] * len(arrays[0]), pa.string()) for text in mark]
            writer.write_table(pa.Table.from_arrays([*marks, *arrays], schema=schema))
