"""Matrices in parts: some of them or all, made here, in other processes or on a cluster, and put together.

A part that is in the folder already, of the same release and question, is kept; the others are made.  So a run that was
stopped goes on where it ended, and N runs of a share each make the folder that one run makes.

Workers are told where the release lies, what it must be and which parts to make; they read it once and map its index.
Distances go straight into the folder and never through a scheduler.  A worker works with what is published only: it
loads a release, which anybody may have.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..cells import index_registry, storage
from ..data.labels import Label
from ..errors import CannotError, OptionError, warn
from ..files import container
from ..progress import counting
from ..tasks import LOCAL, place
from .export import FORMATS, MatrixAsked, spelt
from .oracle import Release, in_periods
from .parts import HALF_WRITTEN, ROWS, TARGETS, Part, Parted
from .proved import fault, undamaged

MOST_SHARES = 10**6


class Written(NamedTuple):
    """What a run did to a folder of parts."""

    shape: tuple[int, int]
    parts: int
    made: int
    kept: int


@dataclass(frozen=True)
class Job:
    """What a worker must know: plain facts, to be sent anywhere."""

    file: str
    decoder: str
    estimator: str
    periods: tuple[str, ...]
    sources: tuple[int, ...]
    targets: tuple[int, ...] | None
    options: tuple[bool, str, float | None]
    folder: str
    questions: tuple[bytes, ...]  # what all this must come to, with the release that the worker finds
    indexes: tuple[str, ...]  # digests of those made here


def parted(
    release: Release, sources: Sequence[Label] | None = None, targets: Sequence[Label] | None = None, *,
    long: bool = False, dtype: Any = np.float64, interval: bool = False, confidence: float = 0.9,
) -> list[Parted]:  # fmt: skip
    """A matrix of every period of a release, ready to be taken in parts."""
    rows, columns = spelt(release, sources), spelt(release, targets)
    asked = long, np.dtype(dtype), targets is None, confidence if interval else None
    return [Parted(MatrixAsked(one, rows, columns, *asked)) for one in in_periods(release).values()]


def write_parts(
    release: Release, folder: str | os.PathLike[str], sources: Sequence[Label] | None = None,
    targets: Sequence[Label] | None = None, *, share: tuple[int, int] = (1, 1), dask: str | None = None,
    workers: int = 0, **question: Any,
) -> Written:  # fmt: skip
    """Write a matrix as a folder of Parquet files (see ``parts``), or a share of it; go on with one that was begun.

    Args:
        release: of several periods, if it has some and none was chosen: then every one of them.
        folder: new, empty, or holding parts of this matrix.
        sources, targets: as in ``write_matrix``; so are ``long``, ``dtype``, ``interval`` and ``confidence``.
        share: ``(i, N)`` makes the i-th of N shares and leaves the folder to be joined (``joined``).
        dask: the address of a Dask scheduler, or "local" for a cluster on this machine.
        workers: processes of this machine that share the work, with ``dask="local"`` or without.
    """
    first, count = share
    if not 1 <= first <= count <= MOST_SHARES:
        raise OptionError(f"a share is written i/N with i from 1 to N, not {first}/{count}")
    whole, folder = parted(release, sources, targets, **question), Path(folder)
    parts = [part for matrix in whole for part in matrix.parts]
    check_folder(folder, parts)
    mine = parts[len(parts) * (first - 1) // count : len(parts) * first // count]
    missing = [part for part in mine if not undamaged(part, folder / part.name)]
    _check_space(folder, missing)
    if missing:
        (folder / TARGETS).unlink(missing_ok=True)  # it says that all is there
    with counting(len(mine), "writing") as advance:
        advance(len(mine) - len(missing))
        try:
            for _ in _made(release, folder, whole, missing, dask, workers):
                advance(1)
        except BaseException:
            if dask in (None, LOCAL):  # workers elsewhere still finish what they are at
                _sweep(folder, missing)
            raise
    if unseen := [part for part in missing if fault(part, folder / part.name)]:
        raise CannotError(f"{len(unseen)} parts that workers have made are not in {folder}: do they share that folder?")
    if share == (1, 1):
        finish(folder, whole)
    asked = whole[0].asked
    return Written((len(asked.sources), len(asked.targets)), len(parts), len(missing), len(mine) - len(missing))


def finish(folder: Path, whole: list[Parted]) -> None:
    """Every part is there: say so, and remove what killed workers left behind."""
    whole[0].write_targets(folder)
    for matrix in whole:
        _sweep(folder, matrix.parts)


def _sweep(folder: Path, parts: Iterable[Part]) -> None:
    """Remove what workers that were killed have left of these parts."""
    for path in (folder / part.name for part in parts):
        for half in path.parent.glob(f".{path.name}.*.part"):
            half.unlink(missing_ok=True)


def check_folder(folder: Path, parts: Iterable[Part]) -> None:
    """Refuse a place that holds anything but parts of these names: readers take all they find for rows."""
    if folder.suffix or folder.name.startswith("."):
        raise OptionError(f"a matrix is written as {', '.join(FORMATS)}, or to a folder, whose name has no dot in it")
    if os.path.lexists(folder) and not folder.is_dir():
        raise OptionError(f"{folder} is there already and is no folder; name another")
    if not folder.absolute().parent.is_dir():
        raise CannotError(f"cannot write {folder}: there is no folder {folder.parent}")
    expected = {folder / part.name for part in parts}
    within = {folder / ROWS, folder / TARGETS, *expected, *(path.parent for path in expected)}
    if (stray := next(_strays(folder, within), None)) is not None:
        raise OptionError(f"{stray} is no part of this matrix; name another folder, or take it away")


def _strays(folder: Path, within: set[Path]) -> Iterator[Path]:
    for found in folder.iterdir() if folder.is_dir() else ():
        if found in within:
            yield from _strays(found, within)
        elif not HALF_WRITTEN.fullmatch(found.name):
            yield found


def _check_space(folder: Path, parts: list[Part]) -> None:
    there = next(at for at in (folder.absolute(), *folder.absolute().parents) if at.is_dir())
    need = sum(int(np.prod(part.shape)) * part.whole.asked.dtype.itemsize for part in parts)
    if need > (free := shutil.disk_usage(there).free):
        raise CannotError(f"the parts take {need / 1e9:.3g} GB; {free / 1e9:.3g} GB are free")


# --- elsewhere -------------------------------------------------------------------------------------------------------


def _made(
    release: Release, folder: Path, whole: list[Parted], missing: list[Part], dask: str | None, workers: int
) -> Iterable[Any]:
    """Make these parts, wherever that is to happen."""
    where = place(jobs=workers, dask=dask)
    if where is map or not missing:
        return map(partial(_write, folder=folder), missing)
    if release.file is None:
        raise OptionError("workers read the release from its file: save it, and load it from there")
    asked, file, reading, at = whole[0].asked, release.file.absolute(), release.decoder_choice, release.topology.indices
    job = Job(
        file=str(file),
        decoder=reading.decoder.name,
        estimator=reading.estimator.name if reading.decoder.searches else "auto",
        periods=tuple(matrix.release.period for matrix in whole if matrix.release.period is not None),
        sources=tuple(at(asked.sources).tolist()),
        targets=None if asked.whole else tuple(at(asked.targets).tolist()),
        options=(asked.long, asked.dtype.name, asked.confidence),
        folder=str(folder.absolute()),
        questions=tuple(matrix.question_text for matrix in whole),
        indexes=_indexes(whole, file),
    )
    numbers = {id(matrix): number for number, matrix in enumerate(whole)}
    return where(partial(_write_elsewhere, job=job), [(numbers[id(part.whole)], part.number) for part in missing])


def _indexes(whole: list[Parted], file: Path) -> tuple[str, ...]:
    """Index files beside the release for workers to map, made if that is worth it; the digests of those made here."""
    digests = []
    for matrix in whole:
        path = matrix.release.index_file(file)
        if matrix.release.prepared(len(matrix.asked.sources)) is None:
            continue
        try:
            if not path.is_file():
                matrix.release.save_index(path, labels=False)
            digest = container.read(path, storage.FORMAT, storage.VERSION, mapped=True).claimed_digest
        except CannotError as error:
            warn(f"{error}; each worker builds an index of its own")
            continue
        if index_registry.recall(digest) is not None:
            digests.append(digest)
    return tuple(digests)


def _write(part: Part, folder: Path) -> None:
    """Write a part; fine, too, if another run into the same folder was faster and has cleared up behind itself."""
    try:
        part.write(folder)
    except CannotError:
        if fault(part, folder / part.name):
            raise


_one_at_a_time = threading.Lock()  # a part is made by many threads, so two at once in a process gain nothing


def _write_elsewhere(task: tuple[int, int], job: Job) -> None:
    """In a worker: make one part."""
    with _one_at_a_time:
        matrix, number = task
        _write(_opened(job)[matrix].parts[number], Path(job.folder))


@lru_cache(maxsize=1)
def _opened(job: Job) -> list[Parted]:
    """In a worker: the release and what is asked of it, once in a process, proved to be what the client has."""
    for digest in job.indexes:  # where the client's cache folder is not seen: it made them, and it made this call
        if index_registry.recall(digest) is None:
            index_registry.remember(digest, [])
    release = Release.load(job.file, decoder=job.decoder, estimator=job.estimator)
    rows, columns = ([release.topology.labels[i] for i in nodes] for nodes in (job.sources, job.targets or ()))
    long, dtype, confidence = job.options
    held: dict[str, Any] = {} if confidence is None else {"interval": True, "confidence": confidence}
    whole = []
    for one in [release.at(period) for period in job.periods] or [release]:
        whole += parted(one, rows, None if job.targets is None else columns, long=long, dtype=dtype, **held)
    if tuple(matrix.question_text for matrix in whole) != job.questions:
        raise CannotError(f"a worker has another release in {job.file}, or another hushpath")
    return whole
