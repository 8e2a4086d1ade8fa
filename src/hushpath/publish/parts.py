"""A matrix as a folder of Parquet files, each with the rows of some sources: the same bytes whoever writes them.

    matrix/rows/part-00000.parquet            (with periods: matrix/rows/period=am/part-00000.parquet, as Hive does)
    matrix/rows/part-00001.parquet
    matrix/targets.parquet                    comes last: a folder that has it is complete

A row holds a source and the list of its distances to all targets, in the order of ``targets.parquet``: as quick to
write and to read as the plain numbers, where a column for each of fifty thousand targets is out of the question.  Long
tables have a row for each pair.  How many sources a part has depends on the number of targets alone.

Every part says of which release it is, which question it answers and which part of the answer it is (see ``proved``).
"""

from __future__ import annotations

import hashlib
import json
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
from ..errors import CannotError, OptionError
from ..files.container import replacing
from .export import MatrixAsked, arrow, label_type, parquet_writer, schema_facts

PART_NUMBERS = 2**25  # distances in a part, at most
GROUP_ROWS = 2**20  # of a long table, in a row group
ROWS, TARGETS = "rows", "targets.parquet"
HALF_WRITTEN = re.compile(r"\.(part-\d+|targets)\.parquet\..*\.part")
QUESTION, PLACE = b"hushpath.question", b"hushpath.part"
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
            "hushpath": __version__, "release": release.fingerprint, "read as": str(release.decoder_choice),
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
        make_folder(path.parent)
        labels = [*asked.mark, "source", *(["target"] if asked.long else [])]
        options = {**WRITTEN, "use_dictionary": labels, "write_statistics": ["source"]}
        with replacing(path) as temporary, parquet_writer(temporary, self.schema, **options) as writer:
            for table in self.tables(numbers):
                writer.write_table(table, row_group_size=len(table))

    def tables(self, numbers: Any) -> Iterator[Any]:
        """These numbers with their labels, a row group at a time."""
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


def make_folder(folder: Path) -> None:
    """A folder inside that of the matrix, and that one too, where they are not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise CannotError(f"cannot write {str(folder)!r}: {getattr(error, 'strerror', None) or error}") from None
