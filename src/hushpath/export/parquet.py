"""A folder of Parquet files, a row per pair of nodes, partitioned as Hive does: ``period=am/origin_part=000/``.

Columns are ``origin_id``, ``destination_id``, ``duration`` (``distance`` unless the release is in units of time) in the
units of the release, and with intervals ``low`` and ``high``.  The schema's metadata hold the statement.  What is NOT
PRIVATE has a first column that says so in every row, and metadata that say why.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from ..data.labels import Label
from ..files.folders import new_folder
from ..progress import steps
from ..publish.export import MatrixAsked, arrow, label_type, parquet_writer, schema_facts, spelt
from ..publish.oracle import CHUNK_NUMBERS, Release
from .core import ExportOptions, ExportResult, Format


def _write(releases: Sequence[Release], path: Path, options: ExportOptions) -> ExportResult:
    arrow()
    sources, targets = (spelt(releases[0], labels) for labels in (options.sources, options.targets))
    size = max(1, CHUNK_NUMBERS // max(len(targets), 1))  # origins of a file
    parts = [sources[at : at + size] for at in range(0, len(sources), size)]
    digits = max(3, len(str(len(parts) - 1)))
    files = 0
    with new_folder(path) as temporary:
        for release in releases:
            release.prepared(len(sources))
            inside = temporary if release.period is None else temporary / f"period={quote(release.period, safe='')}"
            for number, part in enumerate(steps(parts, "writing")):
                folder = inside / f"origin_part={number:0{digits}d}"
                folder.mkdir(parents=True)
                _write_part(release, folder / "part.parquet", part, targets, options)
                files += 1
    rows = len(releases) * len(sources) * len(targets)
    facts = {"rows": rows, "files": files, "periods": [one.period for one in releases if one.period is not None]}
    return ExportResult(f"{rows} rows in {files} Parquet files", facts)


def _write_part(
    release: Release, path: Path, sources: list[Label], targets: list[Label], options: ExportOptions
) -> None:
    pa, _ = arrow()
    confidence = options.interval_confidence if options.interval else None
    table = MatrixAsked(release, sources, targets, True, np.dtype(np.float64), options.targets is None, confidence)
    kind = label_type(release)
    value = "distance" if release.statement.quantity.seconds is None else "duration"
    fields = [*((text, pa.string()) for text in table.mark), ("origin_id", kind), ("destination_id", kind)]
    fields += [(name, pa.float64()) for name in (value, *table.layers[1:])]
    schema = pa.schema(fields, metadata=schema_facts(release))
    with parquet_writer(path, schema) as writer:
        for mine, block in table.blocks():
            columns = _columns(pa, kind, table.mark, mine, targets, block)
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _columns(pa: Any, kind: Any, mark: list[str], mine: list[Label], targets: list[Label], block: Any) -> list[Any]:
    ends = np.repeat(np.array(mine, object), len(targets)), np.tile(np.array(targets, object), len(mine))
    numbers = block.reshape(-1, block.shape[2]).T.copy()
    marks = [pa.array([text] * len(ends[0]), pa.string()) for text in mark]
    return [*marks, *(pa.array(column, kind) for column in ends), *map(pa.array, numbers)]


PARQUET = Format(
    "parquet",
    "a folder of Parquet files, partitioned by period",
    _write,
    takes=frozenset({"sources", "targets", "interval", "confidence"}),
    folder=True,
    every_period=True,
)
