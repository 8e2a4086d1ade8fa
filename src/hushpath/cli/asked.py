"""Small public files people ask with: a list of nodes, a table of pairs."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from ..errors import InputError


def read_labels(path: Path) -> list[str]:
    """Return one label per non-empty line."""
    labels = [line.strip() for line in _text(path).splitlines()]
    labels = [label for label in labels if label]
    if not labels:
        raise InputError(f"{path} names no node")
    return labels


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Return the columns ``source`` and ``target`` of a CSV file."""
    try:
        rows = list(csv.DictReader(io.StringIO(_text(path), newline=""), strict=True))
    except csv.Error:
        raise InputError(f"{path} is not a well-formed CSV file: a quote, a NUL or a very long field") from None
    if not rows or not {"source", "target"} <= set(rows[0]):
        raise InputError(f"{path} must be a CSV file with columns source, target and at least one row")
    for number, row in enumerate(rows, start=1):
        if None in row:
            raise InputError(f"{path}: row {number} has more fields than the header names columns")
        if not row["source"] or not row["target"]:
            raise InputError(f"{path}: row {number} does not name two nodes")
    return [(row["source"].strip(), row["target"].strip()) for row in rows]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text") from None
