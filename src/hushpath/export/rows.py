"""Small public files that an export is asked with: zones, lengths, ids of other programs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Int
from ..data.readers.core import decoded
from ..data.readers.text import text_rows
from ..data.topology import Topology
from ..errors import InputError
from .core import Rows

LARGEST_ZONE = 2**32 - 1  # lookups of OMX are unsigned numbers of 32 bits


def read_rows(given: Rows, columns: Sequence[str], what: str) -> Iterator[tuple[str, list[Any]]]:
    """The named columns of each row, with the place of the row for messages; rows may be given as they are."""
    if isinstance(given, (str, PathLike)):
        header, *rows = decoded(given, lambda raw: list(text_rows(raw, fspath(given))))
        if not rows or not set(columns) <= set(header):
            raise InputError(f"{fspath(given)} must be a CSV file with columns {', '.join(columns)} and at least a row")
        at = [header.index(name) for name in columns]
        for number, row in enumerate(rows, start=1):
            place = f"row {number} of {Path(given).name}"
            if len(row) != len(header):
                raise InputError(f"{place} has {len(row)} fields, its header {len(header)}")
            yield place, [row[i].strip() for i in at]
    else:
        for number, one in enumerate(given, start=1):
            if isinstance(one, str) or len(one) != len(columns):
                raise InputError(f"row {number} of {what} must hold {', '.join(columns)}")
            yield f"row {number} of {what}", list(one)


def read_lengths(given: Rows, topology: Topology) -> dict[tuple[int, int], float]:
    """Metres between the ends of an edge, by their positions; of an undirected network in both directions."""
    found: dict[tuple[int, int], float] = {}
    for place, (source, target, length) in read_rows(given, ("source", "target", "length"), "lengths"):
        pair = topology.index(source), topology.index(target)
        try:
            metres = float(length)
        except (TypeError, ValueError):
            metres = math.nan
        if not 0 < metres < math.inf:
            raise InputError(f"the length in {place} is no number of metres greater than 0")
        for key in (pair,) if topology.directed else (pair, pair[::-1]):
            if found.setdefault((key[0], key[1]), metres) != metres:
                raise InputError(f"{place} gives a second length for the same two nodes")
    return found


def read_ids(given: Rows, topology: Topology) -> Iterator[tuple[str, tuple[int, int], Any]]:
    """The place of each row, its two nodes by position, and the id another program has for what is between them."""
    for place, (source, target, name) in read_rows(given, ("source", "target", "edge_id"), "ids"):
        yield place, (topology.index(source), topology.index(target)), name


def read_zones(given: str | PathLike[str] | Iterable[Any] | None, topology: Topology) -> tuple[Int, Int]:
    """The number of each zone and the position of its node.

    A file has one node per line, or is a CSV file with columns ``zone`` and ``node``.  Without numbers of their own
    zones are called as their nodes are if these are numbers that fit, else 1, 2, 3 and so on.
    """
    if isinstance(given, (str, PathLike)):
        lines = decoded(given, lambda raw: raw.read().decode("utf-8-sig")).splitlines()
        lines = [line.strip() for line in lines if line.strip()]
        if not lines:
            raise InputError(f"{fspath(given)} names no node")
        if "," in lines[0]:
            given = [tuple(row) for _, row in read_rows(given, ("zone", "node"), "zones")]
        else:
            given = lines
    wanted = list(topology.labels if given is None else given)
    if not wanted:
        raise InputError("no zone is named")
    if isinstance(wanted[0], (tuple, list)):
        if any(isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in wanted):
            raise InputError("each zone must be a pair of its number and its node")
        numbers, nodes = zip(*wanted, strict=True)
        zones = [_zone(number) for number in numbers]
        at = topology.indices(list(nodes))
    else:
        at = topology.indices(wanted)
        named = [topology.labels[i] for i in at.tolist()]
        fit = all(isinstance(label, int) and 0 <= label <= LARGEST_ZONE for label in named)
        zones = [int(label) for label in named] if fit else list(range(1, len(named) + 1))
    if len(set(zones)) < len(zones):
        raise InputError("a zone is named twice")
    return np.array(zones, np.int64), at


def _zone(number: Any) -> int:
    text = str(number)
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) > LARGEST_ZONE:
        raise InputError(f"a zone is a whole number from 0 to {LARGEST_ZONE}, not {text[:40]!r}")
    return int(text)
