"""A matrix as a folder of Parquet files, each with the rows of some sources: the same bytes whoever writes them.

    matrix/rows/part-00000.parquet            (with periods: matrix/rows/period=am/part-00000.parquet, as Hive does)
    matrix/rows/part-00001.parquet
    matrix/targets.parquet                    comes last: a folder that has it is complete

A row holds a source and the list of its distances to all targets, in the order of ``targets.parquet``: as quick to
write and to read as the plain numbers, where a column for each of fifty thousand targets is out of the question.  Long
tables have a row for each pair.  How many sources a part has depends on the number of targets alone.

Every part says of which release it is, which question it answers and which part of the answer it is.  A file is
believed only where it says what would be written here, fact by fact: nothing is learnt from it but its numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from .._version import __version__
from ..data.labels import Label
from ..errors import FileFormatError, OptionError
from ..files.container import replacing, strict_json
from .export import MatrixAsked, arrow, label_type, parquet_writer, schema_facts

PART_NUMBERS = 2**25  # distances in a part, at most
GROUP_ROWS = 2**20  # of a long table, in a row group
ROWS, TARGETS = "rows", "targets.parquet"
HALF_WRITTEN = re.compile(r"\.(part-\d+|targets)\.parquet\..*\.part")
QUESTION, PLACE = b"hushpath.question", b"hushpath.part"
LIMITS = {
    "thrift_string_size_limit": 2**24,
    "thrift_container_size_limit": 2**20,
}  # of what a stranger's file may claim
MISSING = "is missing"
WRITTEN = {"compression": "none", "write_page_checksum": True, "store_schema": True}


@dataclass(frozen=True, eq=False)
class Parted:
    """A whole matrix of one time, and how it falls into parts."""

    asked: MatrixAsked

    def __post_init__(self) -> None:
        if not self.asked.sources or not self.asked.targets:
            raise OptionError("a matrix in parts needs a source and a target")

    @cached_property
    def parts(self) -> list[Part]:
        """All of them, in order: as many sources in each as a power of two allows."""
        size = 1 << max(1, PART_NUMBERS // len(self.asked.targets)).bit_length() - 1
        count = len(self.asked.sources)
        return [Part(self, at // size, slice(at, min(at + size, count))) for at in range(0, count, size)]

    @cached_property
    def question(self) -> dict[str, Any]:
        """What tells this matrix from every other one."""
        asked, release = self.asked, self.asked.release
        nodes = json.dumps([asked.sources, asked.targets]).encode()
        return {
            "hushpath": __version__, "release": release.fingerprint, "read as": str(release.reading),
            "period": release.period or "", "nodes": hashlib.sha256(nodes).hexdigest(),
            "layout": "long" if asked.long else "lists", "numbers": asked.dtype.name, "confidence": asked.confidence,
        }  # fmt: skip

    @cached_property
    def facts(self) -> dict[bytes, bytes]:
        """What every file says of itself."""
        facts = {key.encode(): text.encode() for key, text in schema_facts(self.asked.release).items()}
        return {**facts, QUESTION: self.question_text}

    @property
    def question_text(self) -> bytes:
        """The question as files hold it."""
        return json.dumps(self.question, sort_keys=True).encode()

    @property
    def fields(self) -> list[tuple[str, Any]]:
        """Names and types of the columns."""
        pa, _ = arrow()
        kind, number = label_type(self.asked.release), pa.from_numpy_dtype(self.asked.dtype)
        marks = [(text, pa.string()) for text in self.asked.mark]
        if self.asked.long:  # labels once, and whole numbers that point at them
            name = kind if kind == pa.int64() else pa.dictionary(pa.int32(), kind)
            return [*marks, ("source", name), ("target", name), *((layer, number) for layer in self.asked.layers)]
        row = pa.list_(pa.field("element", number), len(self.asked.targets))
        return [*marks, ("source", kind), *((layer, row) for layer in self.asked.layers)]

    def write_targets(self, folder: Path) -> None:
        """The targets in order, and with them the word that all parts are there."""
        pa, _ = arrow()
        targets, mark = self.asked.targets, self.asked.mark
        columns = {text: pa.array([text] * len(targets), pa.string()) for text in mark}
        columns["position"] = pa.array(np.arange(len(targets)))
        columns["target"] = pa.array(targets, label_type(self.release))
        table = pa.table(columns).replace_schema_metadata(self.facts)
        with replacing(folder / TARGETS) as temporary, parquet_writer(temporary, table.schema, **WRITTEN) as writer:
            writer.write_table(table)

    @property
    def release(self) -> Any:
        """The release, at the time that is asked about."""
        return self.asked.release


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of some sources of a matrix: one file."""

    whole: Parted
    number: int
    sources: slice

    @property
    def name(self) -> str:
        """Its place in the folder."""
        period = self.whole.release.period
        inside = ROWS if period is None else f"{ROWS}/period={quote(period, safe='')}"
        return f"{inside}/part-{self.number:05d}.parquet"

    @property
    def labels(self) -> list[Label]:
        """Its sources."""
        return self.whole.asked.sources[self.sources]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Layers, sources and targets."""
        return len(self.whole.asked.layers), len(self.labels), len(self.whole.asked.targets)

    @property
    def rows(self) -> int:
        """Of its table."""
        return len(self.labels) * (len(self.whole.asked.targets) if self.whole.asked.long else 1)

    @cached_property
    def schema(self) -> Any:
        """Columns and facts."""
        pa, _ = arrow()
        place = f"{self.number + 1} of {len(self.whole.parts)}".encode()
        return pa.schema(self.whole.fields, metadata={**self.whole.facts, PLACE: place})

    def write(self, folder: Path) -> None:
        """Work it out and write it: complete or not at all."""
        asked, path = self.whole.asked, folder / self.name
        numbers = np.empty(self.shape, asked.dtype)
        asked.fill(self.sources, numbers)
        path.parent.mkdir(parents=True, exist_ok=True)
        labels = [*asked.mark, "source", *(["target"] if asked.long else [])]
        options = {**WRITTEN, "use_dictionary": labels, "write_statistics": ["source"]}
        with replacing(path) as temporary, parquet_writer(temporary, self.schema, **options) as writer:
            for table in self._tables(numbers):
                writer.write_table(table, row_group_size=len(table))

    def _tables(self, numbers: Any) -> Iterator[Any]:
        pa, _ = arrow()
        asked, kind = self.whole.asked, label_type(self.whole.release)
        if not asked.long:
            row = self.schema.types[-1]
            lists = [pa.FixedSizeListArray.from_arrays(pa.array(layer.ravel()), type=row) for layer in numbers]
            yield self._table([pa.array(self.labels, kind), *lists])
            return
        ends = [pa.array(labels, kind) for labels in (self.labels, asked.targets)]
        for at in range(0, self.rows, GROUP_ROWS):
            pair = np.arange(at, min(at + GROUP_ROWS, self.rows))
            which = [(pair // self.shape[2]).astype(np.int32), (pair % self.shape[2]).astype(np.int32)]
            columns = [pa.DictionaryArray.from_arrays(*both) for both in zip(which, ends, strict=True)]
            columns = [column.dictionary_decode() if kind == pa.int64() else column for column in columns]
            layers = numbers.reshape(len(numbers), -1)[:, at : at + GROUP_ROWS]
            yield self._table([*columns, *map(pa.array, layers)])

    def _table(self, columns: list[Any]) -> Any:
        pa, _ = arrow()
        marks = [pa.array([text] * len(columns[0]), pa.string()) for text in self.whole.asked.mark]
        return pa.Table.from_arrays([*marks, *columns], schema=self.schema)

    def fault(self, path: Path) -> str:
        """What is wrong with the file there, if it should be this part; nothing if it is.  Its numbers are not read."""
        _, pq = arrow()
        if not os.path.lexists(path):
            return MISSING
        try:
            with pq.ParquetFile(path, **LIMITS) as file:
                schema, rows = file.schema_arrow, file.metadata.num_rows
        except Exception:  # whatever a stranger's file makes of its reader
            return "is damaged, or no Parquet file"
        if (theirs := (schema.metadata or {}).get(QUESTION)) != self.whole.facts[QUESTION]:
            return _difference(theirs, self.whole.question)
        if not schema.equals(self.schema, check_metadata=True) or rows != self.rows:
            return "is another part, or not as hushpath writes it"
        return ""

    def read(self, path: Path) -> Any:
        """The numbers of the file there, once it has been proved to be this part and undamaged."""
        if fault := self.fault(path):
            raise FileFormatError(f"{path} {fault}")
        _, pq = arrow()
        try:
            with pq.ParquetFile(path, page_checksum_verification=True, **LIMITS) as file:
                _check_sizes(file.metadata, path.stat().st_size)
                numbers = np.empty(self.shape, self.whole.asked.dtype)
                at = 0
                for group, expected in enumerate(self._tables(numbers)):
                    table = file.read_row_group(group)
                    _check_labels(table, expected, len(self.whole.asked.layers))
                    for layer, name in zip(numbers, self.whole.asked.layers, strict=True):
                        found = table[name].combine_chunks()
                        plain = (found if self.whole.asked.long else found.flatten()).to_numpy()
                        layer.reshape(-1)[at : at + len(plain)] = plain
                    at += len(plain)
        except (FileFormatError, MemoryError):
            raise
        except Exception:
            raise FileFormatError(f"{path} is damaged") from None
        return numbers


def _check_sizes(metadata: Any, size: int) -> None:
    """Refuse what would unfold to more than its file: everything is stored as it is."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
    if any(chunk.compression != "UNCOMPRESSED" for chunk in chunks):
        raise ValueError("compressed")
    if sum(chunk.total_uncompressed_size for chunk in chunks) > size:
        raise ValueError("larger than its file")


def _check_labels(table: Any, expected: Any, layers: int) -> None:
    """All columns but the numbers are what they would be here, and no number is missing."""
    names = expected.column_names
    if table.num_rows != expected.num_rows or table.column_names != names:
        raise ValueError("other rows")
    if not table.select(names[:-layers]).equals(expected.select(names[:-layers])):
        raise ValueError("other labels")
    if any(table[name].null_count for name in names[-layers:]):
        raise ValueError("a gap")


def _difference(theirs: bytes | None, ours: dict[str, Any]) -> str:
    """In which way a file answers another question; it is quoted nowhere."""
    try:
        told = strict_json(theirs or b"")
    except ValueError:
        told = None
    if not isinstance(told, dict):
        return "is no part of a matrix"
    if told.get("release") != ours["release"]:
        return "belongs to another release"
    other = [name for name, fact in ours.items() if told.get(name) != fact]
    return f"answers another question (other {', '.join(other)})"
