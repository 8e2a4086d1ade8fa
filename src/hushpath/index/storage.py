"""The index file (``roads.hushx`` beside ``roads.hush``): flat arrays, mapped instead of read.

A mapped index is ready at once and takes memory only for the parts that are used.  Its digest covers every number in it
and the digest of its release, and only an index that was made here is served (``index_registry``): so every number
served was computed by this program from this release.
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import starts
from ..errors import FileFormatError, warn
from ..io import container
from ..kernels.layout import CoreEntries, Labels, Tables
from . import registry as index_registry
from .index import Index
from .tables import Layout, label_rows

FORMAT = "hushpath-index"
VERSION = 1
SUFFIX = ".hushx"


def index_path(release: str | os.PathLike[str], period: int | None = None) -> Path:
    """Return the default path of the index of a release file, or of one of its periods."""
    return Path(release).with_suffix(SUFFIX if period is None else f".{period}{SUFFIX}")


def save_index(path: str | os.PathLike[str], index: Index, release: str, marking: str = "") -> None:
    """Write an ``index`` to ``path``, atomically, and record that it was made here.

    ``release`` is the fingerprint of its release; ``marking`` says NOT PRIVATE if the release does.
    """
    arrays: dict[str, NDArray[Any]] = {f"layout.{name}": array for name, array in index.layout.arrays().items()}
    arrays |= {"side_out": index.tables.side_out, "square_out": index.tables.square_out, "inner": index.tables.inner}
    if not index.tables.symmetric:
        arrays |= {"side_in": index.tables.side_in, "square_in": index.tables.square_in}
    if len(index.entries.start) > 1:  # the network was contracted
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
    """Map the index file at ``path`` if it was made here for this ``release``; refuse any other.

    ``num_nodes`` and ``granularity`` are those of the release.
    """
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
        index = _assemble(layout, found.arrays, granularity, from_edges=bool(header["exact"]))
        if index.num_nodes != num_nodes:
            raise FileFormatError("it has another number of nodes")
        return index
    except FileFormatError as error:
        raise FileFormatError(f"{path} is not a valid index: {error}") from None
    except Exception:
        raise FileFormatError(f"{path} is not a valid index: its parts do not fit together") from None


def _assemble(layout: Layout, arrays: dict[str, NDArray[Any]], granularity: float, *, from_edges: bool) -> Index:
    """Put an index together from its ``layout`` and the other ``arrays`` of a file; refuse wrong types and sizes.

    ``granularity`` and ``from_edges`` are those of the index.
    """
    kind = arrays["side_out"].dtype
    if kind not in (np.float64, np.int32):
        raise FileFormatError("its numbers are of the wrong type")

    def take(name: str, *shape: int) -> NDArray[Any]:
        array = arrays[name]
        if array.shape != shape or array.dtype != kind:
            raise FileFormatError(f"{name} must have shape {shape} and type {kind}")
        return array

    side, square, inner = layout.table_sizes
    out = take("side_out", side), take("square_out", square)
    into = (take("side_in", side), take("square_in", square)) if "side_in" in arrays else out
    tables = Tables(out[0], into[0], out[1], into[1], take("inner", inner))
    entries = labels = None
    if "entries.ends" in arrays:
        ends, tree, place, start, inner_start = _tree_structure(arrays, layout)
        away = take("entries.out", *ends.shape)
        back = away if tables.symmetric else take("entries.into", *ends.shape)
        trees = take("entries.inner", int(inner_start[-1]))
        entries = CoreEntries(ends, away, back, tree, place, start, inner_start, trees)
    if "label_out" in arrays:
        row_start = label_rows(layout)
        shared = "label_in" not in arrays
        if shared != (from_edges and tables.symmetric):
            raise FileFormatError("its labels are of the wrong kind")
        label = take("label_out", int(row_start[-1]))
        labels = Labels(row_start, label, label if shared else take("label_in", int(row_start[-1])))
    return Index(layout, tables, granularity, from_edges, entries, labels)


def _tree_structure(arrays: dict[str, NDArray[Any]], layout: Layout) -> list[NDArray[Any]]:
    """Copy the structure of the contracted trees; refuse what would lead a kernel outside its arrays."""
    made = [np.array(arrays[f"entries.{name}"]) for name in ("ends", "tree", "place", "start", "inner_start")]
    ends, tree, place, start, inner_start = made
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
    return made


def _structure(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    """Copy an array of the layout, so that a later change of the file cannot mislead a kernel; these are small."""
    array = np.array(arrays[f"layout.{name}"])
    if array.ndim != 1 or array.dtype != (np.bool_ if name == "has_inner" else np.int64):
        raise FileFormatError(f"array {name!r} has the wrong type or shape")
    return array
