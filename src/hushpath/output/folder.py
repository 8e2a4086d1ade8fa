"""A matrix as a folder of Parquet files that can be interrupted, continued and shared among workers.

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

import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np

from .._version import __version__
from ..errors import CannotError, OptionError, warn
from ..index import registry, storage
from ..io import container
from ..io.container import replacing
from ..progress import counting
from ..published.release import Release
from ..tasks import LOCAL, place
from .disk import check_space
from .distance_table import DistanceTable, Layout, schema_metadata

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


@dataclass(frozen=True, eq=False)
class PartedTable:
    """A table and how it is divided into parts."""

    table: DistanceTable

    @cached_property
    def parts(self) -> list[Part]:
        """All parts in order; the number of sources in each is a power of two."""
        sources, targets = self.table.shape
        if not sources or not targets:
            raise OptionError("a folder of parts needs at least one source and one target")
        size = 1 << max(1, PART_CELLS // targets).bit_length() - 1
        return [Part(self, at // size, slice(at, min(at + size, sources))) for at in range(0, sources, size)]

    @cached_property
    def question(self) -> str:
        """What distinguishes this table from every other one, as files state it."""
        table, release = self.table, self.table.release
        nodes = json.dumps([table.source_labels, table.target_labels]).encode()
        facts = {
            "hushpath": __version__, "release": release.fingerprint, "read as": str(release.decoder_choice),
            "period": release.period or "", "nodes": hashlib.sha256(nodes).hexdigest(),
            "layout": self.layout, "numbers": np.dtype(table.dtype).name, "confidence": table.confidence,
        }  # fmt: skip
        return json.dumps(facts, sort_keys=True)

    @property
    def layout(self) -> Layout:
        """The layout of every part."""
        return "long" if self.table.long else "lists"

    def write_targets(self, folder: Path) -> None:
        """Write the targets in order, which also says that all parts exist."""
        import pyarrow as pa

        table = self.table
        columns = {text: pa.array([text] * table.shape[1], pa.string()) for text in table.marks}
        columns["position"] = pa.array(np.arange(table.shape[1]))
        columns["target"] = pa.array(table.target_labels, table.label_type)
        facts = {**schema_metadata(table.release), "hushpath.question": self.question}
        written = pa.table(columns).replace_schema_metadata(facts)
        _write_parquet(folder / TARGETS, written.schema, written.to_batches())


@dataclass(frozen=True, eq=False)
class Part:
    """The rows of some sources: one file."""

    whole: PartedTable
    number: int
    rows: slice

    @property
    def name(self) -> str:
        """Its path inside the folder."""
        period = self.whole.table.release.period
        inside = ROWS if period is None else f"{ROWS}/period={quote(period, safe='')}"
        return f"{inside}/part-{self.number:05d}.parquet"

    @cached_property
    def schema(self) -> Any:
        """Columns and metadata."""
        place = f"{self.number + 1} of {len(self.whole.parts)}"
        facts = {"hushpath.question": self.whole.question, "hushpath.part": place}
        return self.whole.table.schema(self.whole.layout, facts)

    def write(self, folder: Path) -> None:
        """Compute the part and write it, completely or not at all."""
        table, path = self.whole.table, folder / self.name
        batches = table.batches(self.schema, self.whole.layout, PART_CELLS, self.rows)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise CannotError(f"cannot write {str(path)!r}: {getattr(error, 'strerror', None) or error}") from None
        labels = [*table.marks, "source", *(["target"] if table.long else [])]
        _write_parquet(path, self.schema, batches, use_dictionary=labels, write_statistics=["source"])

    def intact(self, folder: Path) -> bool:
        """Whether its file exists, answers the same question and is complete and undamaged."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path, table = folder / self.name, self.whole.table
        if not path.is_file():  # opening a pipe would wait for ever
            return False
        rows = (self.rows.stop - self.rows.start) * (table.shape[1] if table.long else 1)
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                same = file.schema_arrow.equals(self.schema, check_metadata=True)
                return bool(same) and sum(batch.num_rows for batch in file.iter_batches()) == rows
        except (OSError, pa.ArrowException):
            return False


def _write_parquet(path: Path, schema: Any, batches: Iterable[Any], **options: Any) -> None:
    from pyarrow.parquet import ParquetWriter

    options |= PARQUET_OPTIONS
    with replacing(path) as temporary, open(temporary, "wb") as file, ParquetWriter(file, schema, **options) as writer:
        for batch in batches:
            writer.write_batch(batch)


def write_folder(
    tables: list[DistanceTable], folder: Path, *, workers: int = 0, dask: str | None = None
) -> WrittenMatrix:
    """Write tables, one per period, as a folder of Parquet files, or continue a folder that was begun."""
    whole = [PartedTable(table) for table in tables]
    parts = [part for one in whole for part in one.parts]
    check_folder(folder, parts)
    missing = [part for part in parts if not part.intact(folder)]
    check_space(folder, sum((part.rows.stop - part.rows.start) * part.whole.table.row_bytes for part in missing))
    if missing:
        (folder / TARGETS).unlink(missing_ok=True)  # it says that all parts exist
    with counting(len(parts), "writing") as advance:
        advance(len(parts) - len(missing))
        try:
            for _ in _written(whole, folder, missing, workers, dask):
                advance(1)
        except BaseException:
            if dask in (None, LOCAL):  # workers elsewhere still finish their parts
                _remove_half_written(folder, missing)
            raise
    if absent := [part for part in missing if not (folder / part.name).is_file()]:
        raise CannotError(f"{len(absent)} parts written by workers are not in {folder}: do they share that folder?")
    whole[0].write_targets(folder)
    _remove_half_written(folder, parts)
    return WrittenMatrix(tables[0].shape, len(parts), len(missing), len(parts) - len(missing))


def _remove_half_written(folder: Path, parts: Iterable[Part]) -> None:
    """Remove what killed workers left of these parts."""
    for path in (folder / part.name for part in parts):
        for half in path.parent.glob(f".{path.name}.*.part"):
            half.unlink(missing_ok=True)


def check_folder(folder: Path, parts: Iterable[Part]) -> None:
    """Refuse a folder that holds anything but parts of these names: readers take every file in it for rows."""
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


@dataclass(frozen=True)
class Job:
    """What a worker must know: plain values that can be sent anywhere."""

    file: str
    decoder: str
    estimator: str
    periods: tuple[str, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...] | None
    long: bool
    dtype: str
    confidence: float | None
    folder: str
    questions: tuple[str, ...]  # what the worker must arrive at with the release that it finds
    indexes: tuple[str, ...]  # digests of index files made here


def _written(
    whole: list[PartedTable], folder: Path, missing: list[Part], workers: int, dask: str | None
) -> Iterable[Any]:
    """Write these parts, here or by workers."""
    where = place(jobs=workers, dask=dask)
    if where is map or not missing:
        return map(methodcaller("write", folder), missing)
    table = whole[0].table
    release, reading = table.release, table.release.decoder_choice
    if release.file is None:
        raise OptionError("workers load the release from its file: save it first, then load it from there")
    job = Job(
        file=str(release.file.absolute()),
        decoder=reading.decoder.name,
        estimator=reading.estimator.name if reading.decoder.searches else "auto",
        periods=tuple(one.table.release.period for one in whole if one.table.release.period is not None),
        sources=tuple(table.sources.tolist()),
        targets=None if table.targets is None else tuple(table.targets.tolist()),
        long=table.long,
        dtype=np.dtype(table.dtype).name,
        confidence=table.confidence,
        folder=str(folder.absolute()),
        questions=tuple(one.question for one in whole),
        indexes=_save_indexes(whole, release.file.absolute()),
    )
    numbers = {id(one): number for number, one in enumerate(whole)}
    return where(partial(_write_in_worker, job=job), [(numbers[id(part.whole)], part.number) for part in missing])


def _save_indexes(whole: list[PartedTable], file: Path) -> tuple[str, ...]:
    """Save index files beside the release for workers to map, if worth it; return the digests of those made here."""
    digests = []
    for table in (one.table for one in whole):
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


def _write_in_worker(task: tuple[int, int], job: Job) -> None:
    """In a worker: write one part."""
    table, part = task
    with _one_at_a_time:
        _open_job(job)[table].parts[part].write(Path(job.folder))


@lru_cache(maxsize=1)
def _open_job(job: Job) -> list[PartedTable]:
    """In a worker: load the release, once in a process, and check that the question is the one the client asked."""
    for digest in job.indexes:  # where the client's cache folder is not visible: the client made them
        if registry.recall(digest) is None:
            registry.remember(digest, [])
    release = Release.load(job.file, decoder=job.decoder, estimator=job.estimator)
    nodes = np.array(job.sources), None if job.targets is None else np.array(job.targets)
    found = [release.for_period(period) for period in job.periods] or [release]
    whole = [PartedTable(DistanceTable(one, *nodes, job.long, job.dtype, job.confidence)) for one in found]
    if tuple(one.question for one in whole) != job.questions:
        raise CannotError(f"a worker has another release in {job.file}, or another version of hushpath")
    return whole
