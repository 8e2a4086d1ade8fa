"""Write a matrix of distances to a file or a folder, larger than memory if need be.

``.npy`` files have no room for a column or metadata: there, the numbers of a release that is NOT PRIVATE are the field
``distance NOT PRIVATE`` of a structured array.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import OptionError
from ..io.container import replacing
from ..network.labels import Label
from ..published.release import Release, in_periods
from ..published.statement import NOT_PRIVATE
from .disk import check_space, reserve_space
from .distance_table import DistanceTable
from .encode import encode
from .folder import WrittenMatrix, write_folder

FORMATS = (".npy", ".csv", ".parquet")


def write_matrix(
    release: Release, path: str | os.PathLike[str], sources: Sequence[Label] | None = None,
    targets: Sequence[Label] | None = None, *, long: bool = False, dtype: Any = np.float64, interval: bool = False,
    confidence: float = 0.9, workers: int = 0, dask: str | None = None,
) -> WrittenMatrix:  # fmt: skip
    """Write distances from sources (rows) to targets (columns).

    A file is written completely or not at all.  A folder can be interrupted: the same call continues it.

    Parameters
    ----------
    release
        A release.  A file holds one period (``rel.for_period("am")``); a folder holds all periods, or the one chosen.
    path
        A name that ends in ``.npy`` (the plain array), ``.csv`` or ``.parquet`` (a first column ``source`` and one
        column per target), or a name without a dot: a folder of Parquet files, each with the rows of some sources and
        a list of distances per row, and ``targets.parquet`` with the targets in order.
    sources, targets
        Labels of nodes; ``None`` means all nodes in canonical order (``release.topology.labels``).
    long
        Write a row per pair, with columns ``source``, ``target`` and ``distance``.
    dtype
        ``float64`` or ``float32``.
    interval
        Also write ``low`` and ``high`` of a range for each distance: two more columns in long tables, three columns
        per target in wide ones (``T``, ``T low``, ``T high``), three layers in ``.npy``.
    confidence
        The probability with which a range is meant to hold the true distance.
    workers
        Number of processes that share the work of a folder; 0 means this one.
    dask
        Address of a Dask scheduler whose workers write the parts of a folder, or "local".

    Returns
    -------
    WrittenMatrix
        ``shape``, and for folders how many ``parts`` it has, were ``made`` now or ``kept`` from before.

    Raises
    ------
    OptionError
        If the format cannot hold what is asked.
    CannotError
        If the file cannot be written, or a worker cannot do its part.

    Examples
    --------
    >>> import tempfile, hushpath
    >>> net = hushpath.Network.build(["a", "b", "c"], [0, 1], [1, 2], [4.0, 5.0])
    >>> rel = hushpath.release(net, epsilon=1.0, unit=1.0, max_weight=9.0, mechanism="input")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     hushpath.write_matrix(rel, f"{folder}/matrix.csv", targets=["c"]).shape
    (3, 1)
    """
    path = Path(path)
    asked: dict[str, Any] = {"long": long, "dtype": dtype, "interval": interval, "confidence": confidence}
    if not path.suffix and not path.name.startswith("."):
        tables = [DistanceTable.ask(one, sources, targets, **asked) for one in in_periods(release).values()]
        return write_folder(tables, path, workers=workers, dask=dask)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise OptionError(f"a matrix is written as {known} or to a folder without a dot, not {suffix or path.name}")
    if workers or dask is not None:
        raise OptionError(f"workers write a folder: choose a name without a dot, not {path.name}")
    table = DistanceTable.ask(release, sources, targets, **asked)
    if suffix == ".npy":
        _write_npy(table, path)
    else:
        pieces = encode(table, suffix[1:])
        with replacing(path) as temporary, open(temporary, "wb") as file:
            file.writelines(pieces)
    return WrittenMatrix(table.shape)


def _write_npy(table: DistanceTable, path: Path) -> None:
    if table.long:
        raise OptionError("a .npy file is the plain matrix; write long tables as .csv or .parquet")
    rows, columns = table.shape
    check_space(path.parent, rows * table.row_bytes)
    dtype = np.dtype([(f"distance {NOT_PRIVATE}", table.dtype)]) if table.marks else table.dtype
    shape = table.shape if table.confidence is None else (len(table.values), rows, columns)
    with replacing(path) as temporary:
        out = np.lib.format.open_memmap(temporary, mode="w+", dtype=dtype, shape=shape)
        reserve_space(temporary, temporary.stat().st_size)  # a memory map over a full disk would end the process
        table.fill(slice(None), out.view(table.dtype).reshape(len(table.values), rows, columns))
        out.flush()
