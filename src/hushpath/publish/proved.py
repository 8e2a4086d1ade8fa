"""What a file must be to be taken for a part of a matrix.

Files may come from anybody.  A part is believed only where it says what would be written here, fact by fact; it may not
unfold to more than its own length; and its numbers are taken once all labels and every checksum are right.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import FileFormatError
from ..files.container import strict_json
from .export import arrow
from .parts import QUESTION, Part

MISSING = "is missing"
LIMITS = {"thrift_string_size_limit": 2**24, "thrift_container_size_limit": 2**20}  # of what a file may claim


def fault(part: Part, path: Path) -> str:
    """What is wrong with the file there, if it should be this part; nothing if it is.  Its numbers are not read."""
    _, pq = arrow()
    if not os.path.lexists(path):
        return MISSING
    if not path.is_file():  # opening a pipe would wait for ever
        return "is no ordinary file"
    try:
        with pq.ParquetFile(path, **LIMITS) as file:
            schema, rows = file.schema_arrow, file.metadata.num_rows
    except Exception:  # whatever a stranger's file makes of its reader
        return "is damaged, or no Parquet file"
    if (theirs := (schema.metadata or {}).get(QUESTION)) != part.whole.facts[QUESTION]:
        return _difference(theirs, part.whole.question)
    if not schema.equals(part.schema, check_metadata=True) or rows != part.rows:
        return "is another part, or not as hushpath writes it"
    return ""


def undamaged(part: Part, path: Path) -> bool:
    """Whether the file there is this part, whole, with every checksum right."""
    try:
        numbers_in(part, path)
    except FileFormatError:
        return False
    return True


def numbers_in(part: Part, path: Path) -> Any:
    """The numbers of the file there, once it has been proved to be this part and undamaged."""
    if wrong := fault(part, path):
        raise FileFormatError(f"{path} {wrong}")
    _, pq = arrow()
    try:
        with pq.ParquetFile(path, page_checksum_verification=True, **LIMITS) as file:
            _check_sizes(file.metadata, path.stat().st_size)
            numbers = np.empty(part.shape, part.whole.asked.dtype)
            at = 0
            for group, expected in enumerate(part.tables(numbers)):
                table = file.read_row_group(group)
                _check_labels(table, expected, len(part.whole.asked.layers))
                for layer, name in zip(numbers, part.whole.asked.layers, strict=True):
                    found = table[name].combine_chunks()
                    plain = (found if part.whole.asked.long else found.flatten()).to_numpy()
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
