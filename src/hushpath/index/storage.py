"""Record which index files this user's hushpath has made: only their numbers are served.

An index is a cache of numbers that follow from its release.  They cannot be compared with the release faster than they
can be computed, and a digest inside the file proves nothing, because an attacker who changes numbers can repair it.  So
the digest of every index written here is recorded in a folder of the user's own, and other index files are ignored.

Hashing a large file takes as long as reading it.  So the record also keeps the identity of the open file that was
hashed last (device, inode, size, times of change); a file of the same identity is not hashed again.

The folder is ``HUSHPATH_CACHE``, or ``hushpath`` in the user's cache folder.  A user who can write to it can vouch for
any index, so it is used only if no other user can: otherwise there is a warning, and nothing is read or kept.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import starts
from ..compiled import cache_problem, users_cache
from ..errors import FileFormatError, warn
from ..io import container
from ..kernels.layout import CoreEntries, Labels, Tables
from . import storage as index_registry
from .index import Index
from .tables import Layout, label_rows

DIGEST = re.compile(r"[0-9a-f]{64}")
Identity = list[int]


def cache() -> Path:
    """The folder of this user's own in which hushpath keeps what it can make again."""
    told = os.environ.get("HUSHPATH_CACHE")
    return Path(told) if told else users_cache() / "hushpath"


def folder() -> Path:
    """Where records are kept."""
    return cache() / "indexes"


def usable() -> bool:
    """Whether only this user can change what the cache holds; warn if others can."""
    try:
        problem = cache_problem(cache())
    except OSError as error:
        problem = f"{cache()} cannot be checked ({error.strerror})"
    if problem:
        warn(f"{problem}, so the cache is not used; set HUSHPATH_CACHE to a folder that only you can write to")
    return not problem


def make(inside: Path) -> None:
    """Make the cache, and a folder in it, for this user alone."""
    cache().mkdir(mode=0o700, parents=True, exist_ok=True)
    inside.mkdir(mode=0o700, exist_ok=True)


def remember(digest: str, hashed: Identity) -> bool:
    """Record that a file of this digest was made here, and which open file was hashed; false if that fails."""
    try:
        make(folder())
        if not usable():
            return False
        part = folder() / f"{digest}.{os.getpid()}.part"
        part.unlink(missing_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(json.dumps(hashed))
        os.replace(part, folder() / digest)
    except OSError:
        return False
    return True


def recall(digest: str) -> Identity | None:
    """The identity of the file of this digest that was hashed last, if any; ``None`` if it was not made here."""
    try:
        if DIGEST.fullmatch(digest) is None or not (folder() / digest).is_file() or not usable():
            return None
        seen = json.loads((folder() / digest).read_text())
        return seen if isinstance(seen, list) else []
    except (OSError, ValueError):
        return None


def identity(opened: os.stat_result) -> Identity:
    """Numbers that change when the file does; none where the time of change can be set at will."""
    if os.name != "posix":
        return []
    return [opened.st_dev, opened.st_ino, opened.st_size, opened.st_mtime_ns, opened.st_ctime_ns]


FORMAT = "hushpath-index"
VERSION = 1
SUFFIX = ".hushx"


def index_path(release: str | os.PathLike[str], period: int | None = None) -> Path:
    """The default path of the index of a release file, or of one of its periods."""
    return Path(release).with_suffix(SUFFIX if period is None else f".{period}{SUFFIX}")


def save_index(path: str | os.PathLike[str], index: Index, release: str, marking: str = "") -> None:
    """Write the index of the release of this fingerprint, atomically, and record that it was made here.

    ``marking`` says NOT PRIVATE if the release does.
    """
    arrays: dict[str, NDArray[Any]] = {f"layout.{name}": array for name, array in index.layout.arrays().items()}
    arrays |= {"side_out": index.tables.side_out, "square_out": index.tables.square_out, "inner": index.tables.inner}
    if not index.tables.symmetric:
        arrays |= {"side_in": index.tables.side_in, "square_in": index.tables.square_in}
    if index.is_contracted:
        arrays |= {f"entries.{name}": array for name, array in index.entries._asdict().items()}
        if index.tables.symmetric:
            del arrays["entries.into"]
    if index.labels is not None:
        arrays["label_out"] = index.labels.out
        if not index.labels.shared:
            arrays["label_in"] = index.labels.into
    header = {"marking": marking, "release": release, "exact": index.from_edge_lengths}
    # The identity of the file is not recorded yet: it may be exchanged between writing and looking. It is hashed once,
    # when it is opened for the first time.
    if not index_registry.remember(container.write(path, FORMAT, VERSION, header, arrays), []):
        warn(
            f"{path} was written but will not be used, because it cannot be recorded in {index_registry.folder()}; set "
            "HUSHPATH_CACHE to a folder that can be written"
        )


def load_index(path: str | os.PathLike[str], release: str, num_nodes: int, granularity: float) -> Index:
    """Map an index file that was made here for this release; refuse any other."""
    found = container.read(path, FORMAT, VERSION, mapped=True)
    header = found.header
    if header.get("release") != release:
        raise FileFormatError(
            f"{path} belongs to another release, or to another way to read it, so it is not used; "
            "build it with: hushpath index"
        )
    seen = index_registry.recall(found.claimed_digest)
    if seen is None:
        raise FileFormatError(
            f"{path} was not made here (there is no record in {index_registry.folder()}), so its numbers are not used; "
            "build it with: hushpath index"
        )
    if not seen or seen != index_registry.identity(found.opened):
        found.check_digest()
        index_registry.remember(found.claimed_digest, index_registry.identity(found.opened))
    try:
        layout = Layout(**{field.name: _structure(found.arrays, field.name) for field in fields(Layout)})
        layout.check()
        index = _assembled(layout, found.arrays, granularity, from_edges=bool(header["exact"]))
        if index.num_nodes != num_nodes:
            raise FileFormatError("it has another number of nodes")
        return index
    except FileFormatError as error:
        raise FileFormatError(f"{path} is not a valid index: {error}") from None
    except Exception:
        raise FileFormatError(f"{path} is not a valid index: its parts do not fit together") from None


def _assembled(layout: Layout, numbers: dict[str, NDArray[Any]], granularity: float, *, from_edges: bool) -> Index:
    side, square, inner = layout.table_sizes
    kind = numbers["side_out"].dtype
    if kind not in (np.float64, np.int32):
        raise FileFormatError("its numbers are of the wrong type")
    out, square_out = _sized(numbers, "side_out", side, kind), _sized(numbers, "square_out", square, kind)
    into, square_in = out, square_out
    if "side_in" in numbers:
        into, square_in = _sized(numbers, "side_in", side, kind), _sized(numbers, "square_in", square, kind)
    tables = Tables(out, into, square_out, square_in, _sized(numbers, "inner", inner, kind))
    entries = _entries(numbers, layout, kind, symmetric=tables.symmetric) if "entries.ends" in numbers else None
    labels = None
    if "label_out" in numbers:
        row_start = label_rows(layout)
        label_out = _sized(numbers, "label_out", int(row_start[-1]), kind)
        shared = "label_in" not in numbers
        if shared != (from_edges and tables.symmetric):
            raise FileFormatError("its labels are of the wrong kind")
        label_in = label_out if shared else _sized(numbers, "label_in", int(row_start[-1]), kind)
        labels = Labels(row_start, label_out, label_in)
    return Index(layout, tables, granularity, from_edges, entries, labels)


def _entries(numbers: dict[str, NDArray[Any]], layout: Layout, kind: Any, *, symmetric: bool) -> CoreEntries:
    """The core entries, with everything refused that would lead a kernel outside its arrays."""
    made = {name: np.array(numbers[f"entries.{name}"]) for name in ("ends", "tree", "place", "start", "inner_start")}
    ends, tree, place, start, inner_start = made.values()
    n, trees = ends.shape[1], len(start) - 1
    typed = all(a.dtype == np.int32 for a in (ends, tree, place)) and start.dtype == inner_start.dtype == np.int64
    if not typed or ends.shape != (2, n) or tree.shape != (n,) or place.shape != (n,) or start.ndim != 1:
        raise FileFormatError("its contracted trees have the wrong type or shape")
    sizes, contracted = np.diff(start), tree >= 0
    fits = start[0] == 0 and (sizes >= 0).all() and np.array_equal(inner_start, starts(sizes**2))
    fits = fits and (tree >= -1).all() and (tree < trees).all() and (ends < layout.num_nodes).all()
    fits = fits and (ends[0] >= 0).all() and (ends[1] >= -1).all() and (place[contracted] >= 0).all()
    if not fits or (place[contracted] >= sizes[tree[contracted]]).any():
        raise FileFormatError("its contracted trees do not fit its core")
    out = _sized(numbers, "entries.out", (2, n), kind)
    into = out if symmetric else _sized(numbers, "entries.into", (2, n), kind)
    inner = _sized(numbers, "entries.inner", int(inner_start[-1]), kind)
    return CoreEntries(ends, out, into, tree, place, start, inner_start, inner)


def _structure(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """A copy, so that a later change of the file cannot mislead a kernel; these arrays are small."""
    array = np.array(arrays[f"layout.{name}"])
    if array.ndim != 1 or array.dtype != (np.bool_ if name == "has_inner" else np.int64):
        raise FileFormatError(f"array {name!r} has the wrong type or shape")
    return array


def _sized(numbers: dict[str, NDArray[Any]], name: str, size: int | tuple[int, int], kind: Any) -> NDArray[Any]:
    array = numbers[name]
    if array.shape != (size if isinstance(size, tuple) else (size,)) or array.dtype != kind:
        raise FileFormatError(f"{name} has {array.size} numbers where {size} belong")
    return array
