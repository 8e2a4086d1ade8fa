"""Small public input files: a list of nodes, a table of pairs."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from ..io.readers.base import decode_file
from ..io.readers.edge_lists import read_text_rows


def read_labels(path: Path) -> list[str]:
    """Return one label per non-empty line."""
    lines = decode_file(path, lambda raw: raw.read().decode("utf-8-sig")).splitlines()
    labels = [line.strip() for line in lines if line.strip()]
    if not labels:
        raise InputError(f"{path} has no node")
    return labels


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Return the columns ``source`` and ``target`` of a CSV file."""
    header, *rows = decode_file(path, lambda raw: list(read_text_rows(raw, str(path))))
    if not rows or not {"source", "target"} <= set(header):
        raise InputError(f"{path} must be a CSV file with columns source, target and at least one row")
    pairs = []
    for number, row in enumerate(rows, start=1):
        if len(row) > len(header):
            raise InputError(f"{path}: row {number} has more fields than the header names columns")
        named = dict(zip(header, row, strict=False))
        pair = named.get("source", "").strip(), named.get("target", "").strip()
        if not all(pair):
            raise InputError(f"{path}: row {number} must name two nodes")
        pairs.append(pair)
    return pairs
