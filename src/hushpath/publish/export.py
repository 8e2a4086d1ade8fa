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
from collections.abc import Sequence
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
    release: Release,
    path: str | os.PathLike[str],
    sources: Sequence[Label] | None = None,
    targets: Sequence[Label] | None = None,
    *,
    long: bool = False,
    dtype: Any = np.float64,
) -> tuple[int, int]:
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
    columns = _asked(release, targets)
    shape = len(release.topology.indices(sources)), len(columns)
    if not long and suffix != ".npy" and len({"source", *map(str, columns)}) <= len(columns):
        raise OptionError("two columns of the table would have the same name; name each target once, or use --long")
    need, free = shape[0] * shape[1] * np.dtype(dtype).itemsize, shutil.disk_usage(Path(path).absolute().parent).free
    if suffix == ".npy" and need > free:  # a memory map over a full disk would end the process
        raise CannotError(f"{shape[0]} x {shape[1]} distances take {need / 1e9:.3g} GB; {free / 1e9:.3g} GB are free")
    release.prepared(shape[0])
    with replacing(path) as temporary:
        if suffix == ".npy":
            _write_npy(release, temporary, sources, targets, shape, dtype)
        elif suffix == ".csv":
            _write_csv(release, temporary, sources, targets, long, dtype)
        else:
            try:
                _write_parquet(release, temporary, sources, targets, long, dtype)
            except OSError as error:  # in the system's words, not Arrow's
                raise OSError(error.errno, os.strerror(error.errno or errno.EIO)) from None
    return shape


def _write_npy(
    release: Release,
    path: Path,
    sources: Sequence[Label] | None,
    targets: Sequence[Label] | None,
    shape: tuple[int, int],
    dtype: Any,
) -> None:
    marked = np.dtype([(f"distance {NOT_PRIVATE}", dtype)]) if release.statement.marking else np.dtype(dtype)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=marked, shape=shape)
    _reserve(path)
    release.matrix(sources, targets, out=out.view(dtype))
    out.flush()


def _reserve(path: Path) -> None:
    """Take the space on the disk now: a memory map over a disk that fills up would end the process."""
    if hasattr(os, "posix_fallocate"):
        with open(path, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, path.stat().st_size)


def _write_csv(
    release: Release,
    path: Path,
    sources: Sequence[Label] | None,
    targets: Sequence[Label] | None,
    long: bool,
    dtype: Any,
) -> None:
    rows, columns = _asked(release, sources), _asked(release, targets)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        mark = _mark(release)
        writer.writerow([*mark, "source", *(["target", "distance"] if long else columns)])
        for part in steps(release.chunks(len(rows)), "writing"):
            for label, row in zip(rows[part], release.matrix(rows[part], targets, dtype=dtype).tolist(), strict=True):
                if long:
                    writer.writerows([*mark, label, t, d] for t, d in zip(columns, row, strict=True))
                else:
                    writer.writerow([*mark, label, *row])


def _write_parquet(
    release: Release,
    path: Path,
    sources: Sequence[Label] | None,
    targets: Sequence[Label] | None,
    long: bool,
    dtype: Any,
) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise CannotError("writing Parquet needs pyarrow: pip install 'hushpath[parquet]'") from None
    rows, columns = _asked(release, sources), _asked(release, targets)
    kind = pa.int64() if isinstance(release.topology.labels[0], int) else pa.string()
    number = pa.from_numpy_dtype(np.dtype(dtype))
    mark = _mark(release)
    first = [*((text, pa.string()) for text in mark), ("source", kind)]
    if long:
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
        for part in steps(release.chunks(len(rows)), "writing"):
            block, mine = release.matrix(rows[part], targets, dtype=dtype), rows[part]
            if long:
                data = [np.repeat(np.array(mine, object), len(columns)), np.tile(np.array(columns, object), len(mine))]
                arrays = [*(pa.array(column, kind) for column in data), pa.array(block.ravel())]
            else:
                arrays = [pa.array(mine, kind), *(pa.array(column) for column in np.ascontiguousarray(block.T))]
            marks = [pa.array([text] * len(arrays[0]), pa.string()) for text in mark]
            writer.write_table(pa.Table.from_arrays([*marks, *arrays], schema=schema))


def _mark(release: Release) -> list[str]:
    """The first cell of every line of a table: nothing for a private release."""
    return [NOT_PRIVATE] if release.statement.marking else []


def _asked(release: Release, labels: Sequence[Label] | None) -> list[Label]:
    """The labels as the release spells them, so that "17" asked on the command line is written as 17."""
    return [release.topology.labels[i] for i in release.topology.indices(labels)]
