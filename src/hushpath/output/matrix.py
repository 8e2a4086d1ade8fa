"""Write a matrix of distances to a file or a folder, larger than memory if need be.

A file is ``.npy``, ``.csv`` or ``.parquet``.  ``.npy`` files have no room for a column or metadata: there, the numbers
of a release that is NOT PRIVATE are the field ``distance NOT PRIVATE`` of a structured array.

A folder of Parquet files can be interrupted, continued and shared among workers:

    matrix/rows/part-00000.parquet            (with periods: matrix/rows/period=am/part-00000.parquet, as Hive does)
    matrix/rows/part-00001.parquet
    matrix/targets.parquet                    written last: a folder that has it is complete

A row of a part holds a source and the list of its distances to all targets, in the order of ``targets.parquet``: about
as fast to write and to read as the bare numbers.  Long tables have a row per pair.  How many sources a part has depends
on the number of targets alone, so the files are the same bytes with any number of workers.

The schema of every part states its release, the question it answers and which part it is; every page has a checksum.
A run keeps the parts that are complete, undamaged and of the same question, and writes the others.

Workers get the path of the release, what it must be and which parts to write.  They load it once, map its index and
write straight into the folder.  They see only what is published.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from ..errors import CannotError, OptionError, warn
from ..index import registry, storage
from ..io import container
from ..io.container import replacing
from ..network.labels import Label
from ..progress import counting
from ..published.release import Release, in_periods
from ..published.statement import NOT_PRIVATE
from ..tasks import LOCAL, place
from .distance_table import DistanceTable, Layout, schema_metadata
from .encode import encode

FORMATS = (".npy", ".csv", ".parquet")
PART_CELLS = 2**25  # distances in a part, at most
ROWS, TARGETS = "rows", "targets.parquet"
HALF_WRITTEN = re.compile(r"\.(part-\d+|targets)\.parquet\..*\.part")
PARQUET_OPTIONS = {"compression": "none", "write_page_checksum": True}


class WrittenMatrix(NamedTuple):
    """What was written: sources and targets, files, and how many of these were written now or kept from before."""

    shape: tuple[int, int]
    parts: int = 1
    made: int = 1
    kept: int = 0


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
    make_table = partial(
        DistanceTable.from_labels, sources=sources, targets=targets, long=long, dtype=dtype, interval=interval,
        confidence=confidence,
    )  # fmt: skip
    if not path.suffix and not path.name.startswith("."):
        return write_folder(list(map(make_table, in_periods(release).values())), path, workers=workers, dask=dask)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        known = ", ".join(FORMATS)
        raise OptionError(f"a matrix is written as {known} or to a folder without a dot, not {suffix or path.name}")
    if workers or dask is not None:
        raise OptionError(f"workers write a folder: choose a name without a dot, not {path.name}")
    table = make_table(release)
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


def check_space(folder: Path, need: int) -> None:
    """Raise ``CannotError`` if the disk of a folder, which may not exist yet, has less than ``need`` bytes free."""
    exists = next(at for at in (folder.absolute(), *folder.absolute().parents) if at.is_dir())
    if need > (free := shutil.disk_usage(exists).free):
        raise CannotError(f"the distances take {need / 1e9:.3g} GB; {free / 1e9:.3g} GB are free")


def reserve_space(path: Path, need: int) -> None:
    """Allocate the first ``need`` bytes of a file now, so that the system reports an error if there is no room."""
    if hasattr(os, "posix_fallocate") and need:
        with open(path, "rb+") as file:
            os.posix_fallocate(file.fileno(), 0, need)


# --- a folder of parts -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of some sources of a table: file ``number`` of ``count``."""

    table: DistanceTable
    number: int
    count: int
    rows: slice

    @property
    def name(self) -> str:
        """Its path inside the folder."""
        period = self.table.release.period
        inside = ROWS if period is None else f"{ROWS}/period={quote(period, safe='')}"
        return f"{inside}/part-{self.number:05d}.parquet"

    @property
    def layout(self) -> Layout:
        """``long``: a row per pair; ``lists``: a row per source, its distances in a list."""
        return "long" if self.table.long else "lists"

    @cached_property
    def schema(self) -> Any:
        """Columns and metadata."""
        facts = {"hushpath.question": self.table.question, "hushpath.part": f"{self.number + 1} of {self.count}"}
        return self.table.schema(self.layout, facts)

    def write(self, folder: Path) -> None:
        """Compute the part and write it, completely or not at all."""
        path = folder / self.name
        batches = self.table.batches(self.schema, self.layout, PART_CELLS, self.rows)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise CannotError(f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
        labels = [*self.table.marks, "source", *(["target"] if self.table.long else [])]
        _write_parquet(path, self.schema, batches, use_dictionary=labels, write_statistics=["source"])

    def intact(self, folder: Path) -> bool:
        """Return whether its file exists, answers the same question and is complete and undamaged."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / self.name
        if not path.is_file():  # opening a pipe would wait for ever
            return False
        rows = (self.rows.stop - self.rows.start) * (self.table.shape[1] if self.table.long else 1)
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                same = file.schema_arrow.equals(self.schema, check_metadata=True)
                return bool(same) and sum(batch.num_rows for batch in file.iter_batches()) == rows
        except (OSError, pa.ArrowException):
            return False


def divide(tables: Iterable[DistanceTable]) -> list[Part]:
    """Divide tables into parts; the number of sources in each is a power of two."""
    parts = []
    for table in tables:
        sources, targets = table.shape
        if not sources or not targets:
            raise OptionError("a folder of parts needs at least one source and one target")
        size = 1 << max(1, PART_CELLS // targets).bit_length() - 1
        starts = range(0, sources, size)
        parts += [Part(table, i, len(starts), slice(at, min(at + size, sources))) for i, at in enumerate(starts)]
    return parts


def write_folder(
    tables: list[DistanceTable], folder: Path, *, workers: int = 0, dask: str | None = None
) -> WrittenMatrix:
    """Write ``tables``, one per period, as a ``folder`` of Parquet files, or continue a folder that was begun.

    ``workers`` and ``dask`` as in ``write_matrix``.
    """
    parts = divide(tables)
    check_folder(folder, parts)
    missing = [number for number, part in enumerate(parts) if not part.intact(folder)]
    absent = [parts[number] for number in missing]
    check_space(folder, sum((part.rows.stop - part.rows.start) * part.table.row_bytes for part in absent))
    if missing:
        (folder / TARGETS).unlink(missing_ok=True)  # it says that all parts exist
    with counting(len(parts), "writing") as advance:
        advance(len(parts) - len(missing))
        try:
            where = place(jobs=workers, dask=dask)
            if where is map or not missing:
                written: Iterable[Any] = map(methodcaller("write", folder), absent)
            else:
                written = where(partial(_write_in_worker, job=_make_job(tables, folder)), missing)
            for _ in written:
                advance(1)
        except BaseException:
            if dask in (None, LOCAL):  # workers elsewhere still finish their parts
                _remove_half_written(folder, absent)
            raise
    if lost := [part for part in absent if not (folder / part.name).is_file()]:
        raise CannotError(f"{len(lost)} parts written by workers are not in {folder}: do they share that folder?")
    _write_targets(tables[0], folder)
    _remove_half_written(folder, parts)
    return WrittenMatrix(tables[0].shape, len(parts), len(missing), len(parts) - len(missing))


def _write_targets(table: DistanceTable, folder: Path) -> None:
    """Write the targets in order, which also says that all parts exist."""
    import pyarrow as pa

    columns = {text: pa.array([text] * table.shape[1], pa.string()) for text in table.marks}
    columns["position"] = pa.array(np.arange(table.shape[1]))
    columns["target"] = pa.array(table.target_labels, table.label_type)
    facts = {**schema_metadata(table.release), "hushpath.question": table.question}
    written = pa.table(columns).replace_schema_metadata(facts)
    _write_parquet(folder / TARGETS, written.schema, written.to_batches())


def _write_parquet(path: Path, schema: Any, batches: Iterable[Any], **options: Any) -> None:
    from pyarrow.parquet import ParquetWriter

    options |= PARQUET_OPTIONS
    with replacing(path) as temporary, open(temporary, "wb") as file, ParquetWriter(file, schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _remove_half_written(folder: Path, parts: Iterable[Part]) -> None:
    """Remove what killed workers left of these parts."""
    for path in (folder / part.name for part in parts):
        for half in path.parent.glob(f".{path.name}.*.part"):
            half.unlink(missing_ok=True)


def check_folder(folder: Path, parts: Iterable[Part]) -> None:
    """Refuse a folder with files other than these parts: readers would read every file in it as rows."""
    if os.path.lexists(folder) and not folder.is_dir():
        raise OptionError(f"{folder} exists and is not a folder; choose another name")
    if not folder.absolute().parent.is_dir():
        raise CannotError(f"cannot write {folder}: there is no folder {folder.parent}")
    expected = {folder / part.name for part in parts}
    known_paths = {folder / ROWS, folder / TARGETS, *expected, *(path.parent for path in expected)}
    if (other := next(_other_files(folder, known_paths), None)) is not None:
        raise OptionError(f"{other} is no part of this matrix; choose another folder, or remove it")


def _other_files(folder: Path, known_paths: set[Path]) -> Iterator[Path]:
    for found in folder.iterdir() if folder.is_dir() else ():
        if found in known_paths:
            yield from _other_files(found, known_paths)
        elif not HALF_WRITTEN.fullmatch(found.name):
            yield found


# --- workers ---------------------------------------------------------------------------------------------------------


class Job(NamedTuple):
    """What a worker must know: plain values that can be sent anywhere."""

    file: str
    decoder: str
    estimator: str
    periods: tuple[str, ...]
    sources: bytes
    targets: bytes | None
    options: tuple[Any, ...]  # the other fields of each table
    folder: str
    questions: tuple[str, ...]  # what the worker must arrive at with the release that it finds
    indexes: tuple[str, ...]  # digests of index files made here


def _make_job(tables: list[DistanceTable], folder: Path) -> Job:
    table = tables[0]
    file, choice = table.release.file, table.release.decoder_choice
    if file is None:
        raise OptionError("workers load the release from its file: save it first, then load it from there")
    return Job(
        file=str(file.absolute()),
        decoder=choice.decoder.name,
        estimator=choice.estimator.name if choice.decoder.searches else "auto",
        periods=tuple(one.release.period for one in tables if one.release.period is not None),
        sources=table.sources.tobytes(),
        targets=None if table.targets is None else table.targets.tobytes(),
        options=(table.long, table.dtype, table.confidence),
        folder=str(folder.absolute()),
        questions=tuple(one.question for one in tables),
        indexes=_save_indexes(tables, file.absolute()),
    )


def _save_indexes(tables: list[DistanceTable], file: Path) -> tuple[str, ...]:
    """Save index files beside the release for workers to map, if worth it; return the digests of those made here."""
    digests = []
    for table in tables:
        path = table.release.index_file(file)
        if table.release.decoder.index_for(len(table.sources)) is None:
            continue
        try:
            if not path.is_file():
                table.release.save_index(path, labels=False)
            digest = container.read(path, storage.FORMAT, storage.VERSION, mapped=True).claimed_digest
        except CannotError as error:
            warn(f"{error}; each worker builds an index of its own")
            continue
        if registry.recall(digest) is not None:
            digests.append(digest)
    return tuple(digests)


_one_at_a_time = threading.Lock()  # a part is computed by many threads, so two at once in a process gain nothing


def _write_in_worker(number: int, job: Job) -> None:
    """In a worker: write one part."""
    with _one_at_a_time:
        _open_job(job)[number].write(Path(job.folder))


@lru_cache(maxsize=1)
def _open_job(job: Job) -> list[Part]:
    """In a worker: load the release, once in a process, and check that the question is the one the client asked."""
    for digest in job.indexes:  # where the client's cache folder is not visible: the client made them
        if registry.recall(digest) is None:
            registry.remember(digest, [])
    release = Release.load(job.file, decoder=job.decoder, estimator=job.estimator)
    sources = np.array(np.frombuffer(job.sources, np.int64))
    targets = None if job.targets is None else np.array(np.frombuffer(job.targets, np.int64))
    found = [release.for_period(period) for period in job.periods] or [release]
    tables = [DistanceTable(one, sources, targets, *job.options) for one in found]
    if tuple(table.question for table in tables) != job.questions:
        raise CannotError(f"a worker has another release in {job.file}, or another version of hushpath")
    return divide(tables)
