"""Export formats: what a format is, its options and results, and the small public tables that some formats read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Int
from ...errors import InputError
from ...io.readers.base import decode_file
from ...io.readers.edge_lists import read_text_rows
from ...network.labels import Label
from ...network.topology import Topology
from ...published.release import Release

Rows = str | PathLike[str] | Iterable[Sequence[Any]]  # a public CSV file, or its rows
LARGEST_ZONE = 2**32 - 1  # OMX lookups are unsigned 32-bit integers


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export; each format accepts some of them."""

    zones: str | PathLike[str] | Iterable[Any] | None = None  # a file of zones, or nodes, or pairs of number and node
    interval: bool = False  # also write the ends of intervals
    confidence: float | None = None  # of the intervals; 0.9 if not given
    lengths: Rows | None = None  # public lengths: source, target, metres
    ids: Rows | None = None  # public ids of another program: source, target, id
    night: str | None = None  # the period of free-flow speeds
    crs: str | None = None  # the coordinate reference system of the coordinates
    isochrone: Label | None = None  # origin of isochrones
    steps: Sequence[float] | None = None  # limits of the isochrones

    @property
    def given(self) -> set[str]:
        """The names of the options that were set."""
        return {name for name, value in vars(self).items() if value is not None and value is not False}

    @property
    def interval_confidence(self) -> float:
        """The confidence of intervals, 0.9 by default."""
        return 0.9 if self.confidence is None else self.confidence


@dataclass(frozen=True)
class ExportResult:
    """What was written: one sentence, and the same as facts for programs."""

    text: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Format:
    """One export format."""

    name: str  # the value of ``--to``
    summary: str
    write: Callable[[Sequence[Release], Path, ExportOptions], ExportResult]  # releases of one period each
    takes: frozenset[str] = frozenset()  # names of the accepted options
    unmarked: str = ""  # why a file of this format cannot be marked NOT PRIVATE; empty if it can
    folder: bool = False  # whether a folder is written instead of a file
    every_period: bool = False  # whether one file holds all periods


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


def read_ids(given: Rows, topology: Topology) -> Iterator[tuple[str, tuple[int, int], Any]]:
    """Yield the position of each row, its two nodes, and the id of the edge in another program."""
    for place, (source, target, name) in read_rows(given, ("source", "target", "edge_id"), "ids"):
        yield place, (topology.index(source), topology.index(target)), name


def read_zones(given: str | PathLike[str] | Iterable[Any] | None, topology: Topology) -> tuple[Int, Int]:
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
