"""Skims as an Open Matrix file (OMX, which is HDF5): zones by zones, a matrix per period and interval end.

Matrices are named after the quantity: ``travel_time_am``, ``travel_time_am_low``, ``travel_time_am_high``.  Names of
what is NOT PRIVATE begin with ``NOT_PRIVATE_``, so that a model which reads ``travel_time_am`` stops.  The lookup
``zone`` holds the zone numbers, ``node`` the node of each zone.  Unreachable pairs are infinite.  The attributes of the
file hold the statement.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import CannotError, OptionError
from ...extras import library
from ...io.container import replacing
from ...published.edges import about, field_name
from ...published.release import Release, in_periods
from ..distance_table import DistanceTable
from ..matrix import check_space, reserve_space
from .tables import Zones, read_zones

MOST_NODES = 5_000  # largest network whose nodes are the zones by default
LONGEST = 60_000  # bytes of an attribute; HDF5 allows little more
LAYERS = ("", "_low", "_high")


def write_omx(
    release: Release, path: Path, *, zones: Zones | None = None, interval: bool = False, confidence: float = 0.9
) -> tuple[str, dict[str, Any]]:
    """Write matrices of every period of ``release`` to ``path``.

    ``zones``, ``interval`` and ``confidence`` as in ``hushpath.export``.
    """
    openmatrix = library("openmatrix", "omx", "writing OMX")
    topology, releases = release.topology, list(in_periods(release).values())
    if zones is None and topology.num_nodes > MOST_NODES:
        raise OptionError(f"{topology.num_nodes} nodes are too many for zones (at most {MOST_NODES}); pass --zones")
    numbers, at = read_zones(zones, topology)
    names = _names(releases, interval)
    need = len(at) ** 2 * 8 * len(names) * len(names[0])
    check_space(path.parent, need)
    tables = [DistanceTable(one, at, at, confidence=confidence if interval else None) for one in releases]
    with replacing(path) as temporary:
        reserve_space(temporary, need)
        with openmatrix.open_file(str(temporary), "w") as file:
            _describe(file, release)
            sums = [one for table, layers in zip(tables, names, strict=True) for one in _fill(file, table, layers)]
            file.create_mapping("zone", numbers)
            labels = [topology.labels[i] for i in at.tolist()]
            texts = [label.encode() if isinstance(label, str) else label for label in labels]
            file.create_array(file.root.lookup, "node", obj=np.array(texts))
        if sums != list(_read_back(str(temporary), tables, names)):
            raise CannotError(f"cannot write {path}: the file is incomplete; check the free disk space")
    matrices = [name for layers in names for name in layers]
    text = f"{len(matrices)} matrices of {len(at)} x {len(at)} zones: {', '.join(matrices)}"
    return text, {"zones": len(at), "matrices": matrices}


def _describe(file: Any, release: Release) -> None:
    """Write the quantity and the statement as attributes of the file."""
    for key, text in about(release.statement).items():
        if len(text.encode()) <= LONGEST:
            file.root._v_attrs[f"hushpath_{key}"] = text
        else:
            file.create_array(file.root, f"hushpath_{key}", obj=text.encode())


def _fill(file: Any, table: DistanceTable, layers: list[str]) -> Iterator[int]:
    """Write the matrices of one period in blocks of rows; yield a checksum per block."""
    from tables import Float64Atom

    facts = about(table.release.statement, table.release.period)
    facts.pop("statement")
    for name in layers:
        made = file.create_matrix(name, atom=Float64Atom(), shape=table.shape, attrs=facts)
        if name != layers[0]:
            made.attrs["confidence"] = table.confidence
    for rows, blocks in table.blocks():
        for name, block in zip(layers, blocks, strict=True):
            file[name][rows] = block
            yield zlib.crc32(block.data)


def _names(releases: list[Release], interval: bool) -> list[list[str]]:
    """Return unique matrix names per period, in characters that every reader accepts."""
    statement = releases[0].statement
    names: list[list[str]] = []
    first = ("NOT_PRIVATE_" if statement.marking else "") + field_name(statement.quantity, "distance")
    for number, release in enumerate(releases):
        period = "" if release.period is None else re.sub(r"\W+", "_", release.period, flags=re.ASCII)
        plain = f"{first}_{period}" if period else first
        spellings = (plain if turn == 0 else f"{plain}_{number + turn}" for turn in count())
        taken = {one for layers in names for one in layers}
        all_layers = ([f"{name}{layer}" for layer in LAYERS[: 3 if interval else 1]] for name in spellings)
        names.append(next(layers for layers in all_layers if not taken & set(layers)))
    return names


def _read_back(path: str, written: list[DistanceTable], names: list[list[str]]) -> Iterator[int]:
    """Yield the checksums of what was written: HDF5 reports no error if the disk fills up while a file is closed."""
    import openmatrix
    import tables

    try:
        with openmatrix.open_file(path, "r") as file:
            for table, layers in zip(written, names, strict=True):
                for rows in table.slices():
                    for name in layers:
                        yield zlib.crc32(np.ascontiguousarray(file[name][rows]).data)
            if len(file.map_entries("zone")) != len(file.map_entries("node")):
                yield -1
    except (tables.HDF5ExtError, tables.NodeError, OSError, LookupError):
        yield -1
