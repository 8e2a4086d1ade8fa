"""Small public tables that some formats read: lengths of edges, ids of another program, zones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Int
from ...errors import InputError
from ...io.readers.base import decode_file
from ...io.readers.edge_lists import read_text_rows
from ...network.topology import Topology

Rows = str | PathLike[str] | Iterable[Sequence[Any]]  # a public CSV file, or its rows
Zones = str | PathLike[str] | Iterable[Any]  # a file, or nodes, or pairs of a number and a node
LARGEST_ZONE = 2**32 - 1  # OMX lookups are unsigned 32-bit integers


def read_rows(given: Rows, columns: Sequence[str], what: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the named columns of each row, with the position of the row for messages."""
    if isinstance(given, (str, PathLike)):
        header, *rows = decode_file(given, lambda raw: list(read_text_rows(raw, fspath(given))))
        if not rows or not set(columns) <= set(header):
            raise InputError(f"{fspath(given)} must be a CSV file with columns {', '.join(columns)} and data rows")
        at = [header.index(name) for name in columns]
        for number, row in enumerate(rows, start=1):
            place = f"row {number} of {Path(given).name}"
            if len(row) != len(header):
                raise InputError(f"{place} has {len(row)} fields, the header has {len(header)}")
            yield place, [row[i].strip() for i in at]
    else:
        for number, one in enumerate(given, start=1):
            if isinstance(one, str) or len(one) != len(columns):
                raise InputError(f"row {number} of {what} must contain {', '.join(columns)}")
            yield f"row {number} of {what}", list(one)


def read_lengths(given: Rows, topology: Topology) -> dict[tuple[int, int], float]:
    """Read the length in metres of each pair of node positions; in both directions if the network is undirected."""
    found: dict[tuple[int, int], float] = {}
    for place, (source, target, length) in read_rows(given, ("source", "target", "length"), "lengths"):
        pair = topology.index(source), topology.index(target)
        try:
            metres = float(length)
        except (TypeError, ValueError):
            metres = math.nan
        if not 0 < metres < math.inf:
            raise InputError(f"the length in {place} must be a positive number of metres")
        for key in (pair,) if topology.directed else (pair, pair[::-1]):
            if found.setdefault((key[0], key[1]), metres) != metres:
                raise InputError(f"{place} gives a second length for the same two nodes")
    return found


def read_zones(given: Zones | None, topology: Topology) -> tuple[Int, Int]:
    """Read the number of each zone and the position of its node.

    A file has one node per line, or is a CSV file with columns ``zone`` and ``node``.  Without given numbers, zones
    are numbered by the labels of their nodes if these are valid zone numbers, else 1, 2, 3 and so on.
    """
    if isinstance(given, (str, PathLike)):
        lines = decode_file(given, lambda raw: raw.read().decode("utf-8-sig")).splitlines()
        lines = [line.strip() for line in lines if line.strip()]
        if not lines:
            raise InputError(f"{fspath(given)} contains no node")
        if "," in lines[0]:
            given = [tuple(row) for _, row in read_rows(given, ("zone", "node"), "zones")]
        else:
            given = lines
    wanted = list(topology.labels if given is None else given)
    if not wanted:
        raise InputError("`zones` must contain at least one zone")
    if isinstance(wanted[0], (tuple, list)):
        if any(isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in wanted):
            raise InputError("each zone must be a pair: zone number, node")
        numbers, nodes = zip(*wanted, strict=True)
        zones = [_zone(number) for number in numbers]
        at = topology.indices(list(nodes))
    else:
        at = topology.indices(wanted)
        named = [topology.labels[i] for i in at.tolist()]
        fit = all(isinstance(label, int) and 0 <= label <= LARGEST_ZONE for label in named)
        zones = [int(label) for label in named] if fit else list(range(1, len(named) + 1))
    if len(set(zones)) < len(zones):
        raise InputError("zone numbers must be unique")
    return np.array(zones, np.int64), at


def _zone(number: Any) -> int:
    text = str(number)
    if not text.isascii() or not text.isdigit() or len(text) > 10 or int(text) > LARGEST_ZONE:
        raise InputError(f"a zone must be an integer from 0 to {LARGEST_ZONE}, got {text[:40]!r}")
    return int(text)
