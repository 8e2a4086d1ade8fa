"""The index file (``roads.hushx`` beside ``roads.hush``): flat arrays in safetensors, mapped instead of read.

A mapped index is ready at once and takes memory only for what is asked.  So that loading stays fast, the digest covers
the header and the structure (every number a kernel uses to find its way) but not the gigabytes of tables and labels;
their sizes are checked.  The header names the release the index was built from, by a digest of its numbers.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CannotError, FileFormatError
from ..fileformat import replacing
from ..measure import Measurements
from .index import Index
from .labels import Labels, label_rows
from .layout import Layout
from .tables import Tables

FORMAT = "hushpath-index"
VERSION = 1
SUFFIX = ".hushx"
DTYPES = {"I64": np.dtype("<i8"), "F64": np.dtype("<f8"), "BOOL": np.dtype("?")}
Arrays = dict[str, NDArray[Any]]


class ForeignIndexError(FileFormatError):
    """The index belongs to another release."""


def index_path(release: str | os.PathLike[str]) -> Path:
    """Where the index of a release file lies unless told otherwise."""
    return Path(release).with_suffix(SUFFIX)


def release_digest(measurements: Measurements) -> str:
    """SHA-256 over everything that answers depend on: the network, the lattice, the blocks and the noisy numbers."""
    strategy, topology = measurements.strategy, measurements.strategy.topology
    facts = [strategy.decoder, topology.num_nodes, topology.directed, strategy.lattice.granularity]
    arrays: Arrays = {
        "tails": topology.tails, "heads": topology.heads, "values": measurements.values,
        "low": strategy.lattice.low, "high": strategy.lattice.high,
    }  # fmt: skip
    for i, block in enumerate(strategy.blocks):
        arrays |= {f"block{i}.{name}": array for name, array in block.arrays().items()}
    return _digest(json.dumps(facts), arrays)


def save_index(path: str | os.PathLike[str], index: Index, measurements: Measurements) -> None:
    """Write atomically: the path holds the complete file or is untouched."""
    from safetensors.numpy import save_file

    structure: Arrays = {f"layout.{name}": array for name, array in index.layout.arrays().items()}
    numbers: Arrays = {"side_out": index.tables.side_out, "square_out": index.tables.square_out}
    if not index.tables.symmetric:
        numbers |= {"side_in": index.tables.side_in, "square_in": index.tables.square_in}
    numbers["inner"] = index.tables.inner
    if index.labels is not None:
        numbers["label_out"] = index.labels.out
        if not index.labels.shared:
            numbers["label_in"] = index.labels.into
    header = json.dumps({"release": release_digest(measurements), "exact": index.exact}, sort_keys=True)
    label = {"format": FORMAT, "version": VERSION, "digest": _structure_digest(header, structure, numbers)}
    tensors = {name: np.ascontiguousarray(array) for name, array in {**structure, **numbers}.items()}
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"hushpath": json.dumps({**label, "header": header})})


def load_index(path: str | os.PathLike[str], measurements: Measurements) -> Index:
    """Map an index file and check that it is whole and belongs to this release."""
    label, arrays = _mapped(Path(path))
    if label.get("format") != FORMAT:
        raise FileFormatError(f"{path} is not a hushpath index")
    if not isinstance(label.get("version"), int) or label["version"] > VERSION:
        raise FileFormatError(f"{path} was written by a newer version; build it again with: hushpath index")
    header = str(label.get("header"))
    structure = {name: array for name, array in arrays.items() if name.startswith("layout.")}
    numbers = {name: array for name, array in arrays.items() if name not in structure}
    if label.get("digest") != _structure_digest(header, structure, numbers):
        raise FileFormatError(f"{path} is damaged: its digest does not match its content")
    try:
        facts = json.loads(header)
        if facts["release"] != release_digest(measurements):
            raise ForeignIndexError(f"{path} belongs to another release; build it again with: hushpath index")
        names = [field.name for field in fields(Layout)]
        # Small, and copied so that whoever changes the file later cannot lead a kernel astray.
        layout = Layout(**{name: np.array(structure[f"layout.{name}"]) for name in names})
        layout.check()
        if layout.num_nodes != measurements.strategy.topology.num_nodes:
            raise FileFormatError("it has another number of nodes")
        return _assembled(layout, numbers, bool(facts["exact"]), measurements.strategy.lattice.granularity)
    except ForeignIndexError:
        raise
    except FileFormatError as error:
        raise FileFormatError(f"{path} is not a sound index: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError):
        raise FileFormatError(f"{path} is not a sound index: its parts do not fit together") from None


def _assembled(layout: Layout, numbers: Arrays, exact: bool, granularity: float) -> Index:
    side, square, inner = (int(start[-1]) for start in layout.starts)
    out, square_out = _sized(numbers, "side_out", side), _sized(numbers, "square_out", square)
    into, square_in = out, square_out
    if "side_in" in numbers:
        into, square_in = _sized(numbers, "side_in", side), _sized(numbers, "square_in", square)
    tables = Tables(out, into, square_out, square_in, _sized(numbers, "inner", inner))
    labels = None
    if "label_out" in numbers:
        row_start, row_of = label_rows(layout)
        label_out = _sized(numbers, "label_out", int(row_start[-1]))
        shared = "label_in" not in numbers
        if shared != (exact and tables.symmetric):
            raise FileFormatError("its labels are of the wrong kind")
        label_in = label_out if shared else _sized(numbers, "label_in", int(row_start[-1]))
        labels = Labels(row_start, row_of, label_out, label_in)
    return Index(layout, tables, granularity, exact, labels)


def _sized(numbers: Arrays, name: str, size: int) -> NDArray[Any]:
    array = numbers[name]
    if array.shape != (size,) or array.dtype != np.float64:
        raise FileFormatError(f"{name} has {array.size} numbers where {size} belong")
    return array


def _mapped(path: Path) -> tuple[dict[str, Any], Arrays]:
    """The label and the arrays of a safetensors file, mapped copy-on-write."""
    damaged = FileFormatError(f"{path} is damaged, cut short or not a hushpath index")
    if not path.is_file():
        raise FileFormatError(f"there is no file {path}")
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            size = path.stat().st_size
            if not 2 <= length <= min(size - 8, 2**24):
                raise damaged
            head = json.loads(file.read(length))
        label = json.loads(head.pop("__metadata__", {}).get("hushpath", "{}"))
        data = np.memmap(path, np.uint8, mode="c", offset=0).view(np.ndarray)[8 + length :]
        arrays: Arrays = {}
        for name, fact in head.items():
            kind = DTYPES[fact["dtype"]]
            shape, (begin, end) = tuple(map(int, fact["shape"])), map(int, fact["data_offsets"])
            if len(shape) != 1 or not 0 <= begin <= end <= len(data) or shape[0] * kind.itemsize != end - begin:
                raise damaged
            if (8 + length + begin) % kind.itemsize:
                raise damaged
            arrays[name] = data[begin:end].view(kind)
        if not isinstance(label, dict):
            raise damaged
    except OSError as error:
        raise CannotError(f"cannot read {path}: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise damaged from None
    return label, arrays


def _structure_digest(header: str, structure: Arrays, numbers: Arrays) -> str:
    sizes = json.dumps({name: array.size for name, array in sorted(numbers.items())})
    return _digest(header + sizes, structure)


def _digest(text: str, arrays: Arrays) -> str:
    sha = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        sha.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        sha.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return sha.hexdigest()
