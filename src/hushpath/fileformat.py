"""The release file: one safetensors file with flat arrays, a JSON header and a digest (docs/FORMAT.md).

Stage 5 of 6.  Nothing private is in it and nothing in it is executed.  It is written to a temporary file, flushed to
the disk and renamed, so that a reader sees the old file or the new one, never half of one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import frozen
from .errors import CannotError, FileFormatError, HushpathError
from .measure import Measurements
from .noise import SECRET_SAMPLERS, Law
from .privacy.accounting import Budget
from .statement import Statement
from .strategy.core import Strategy
from .strategy.registry import BLOCKS, DECODERS, MECHANISMS
from .topology import Topology
from .weights import Lattice

FORMAT = "hushpath-release"
VERSION = 1
Tensors = dict[str, NDArray[Any]]


def write_release(path: str | os.PathLike[str], measurements: Measurements, statement: Statement) -> None:
    """Write atomically: the path holds the complete file or is untouched."""
    from safetensors.numpy import save_file

    tensors, header = _pack(measurements, statement)
    text = json.dumps(header, sort_keys=True, allow_nan=False)
    # One metadata entry: safetensors keeps several in random order, and equal releases should be equal files.
    label = {"format": FORMAT, "version": VERSION, "digest": _digest(text, tensors), "header": text}
    with replacing(path) as temporary:
        save_file(tensors, temporary, metadata={"hushpath": json.dumps(label)})


def read_release(path: str | os.PathLike[str]) -> tuple[Measurements, Statement]:
    """Read, check the digest, rebuild the strategy and prove its certificate again."""
    text, tensors = _read_checked(Path(path))
    try:
        return _unpack(json.loads(text), tensors)
    except HushpathError as error:
        raise FileFormatError(f"{path} is not a sound release: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, AssertionError):
        raise FileFormatError(f"{path} is not a sound release: its parts do not fit together") from None


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Any:
    """Yield a temporary path beside ``path``; on success flush it to the disk and rename, else remove it."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except OSError as error:
        raise CannotError(f"cannot write {target}: {error.strerror or error}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)  # mkstemp is for the owner alone; a release is an ordinary file
        os.replace(temporary, target)
        with contextlib.suppress(OSError):  # not every platform can flush a directory
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError as error:
        raise CannotError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)


def _pack(measurements: Measurements, statement: Statement) -> tuple[Tensors, dict[str, Any]]:
    strategy, topology = measurements.strategy, measurements.strategy.topology
    tensors: Tensors = {
        "topology.tails": topology.tails,
        "topology.heads": topology.heads,
        "topology.lower": topology.lower,
        "topology.upper": topology.upper,
        "strategy.scales": strategy.scales,
        "values": measurements.values,
    }
    if isinstance(topology.labels[0], int):
        tensors["topology.labels"] = np.array(topology.labels, np.int64)
    else:
        encoded = [str(label).encode() for label in topology.labels]
        tensors["topology.labels.text"] = np.frombuffer(b"".join(encoded), np.uint8)
        tensors["topology.labels.ends"] = np.cumsum([len(e) for e in encoded], dtype=np.int64)
    if topology.coordinates is not None:
        tensors["topology.coordinates"] = topology.coordinates
    for i, block in enumerate(strategy.blocks):
        tensors |= {f"block{i}.{name}": array for name, array in block.arrays().items()}
    header = {
        "statement": replace(statement, cautions=()).as_dict(),
        "directed": topology.directed,
        "dropped_loops": topology.dropped_loops,
        "mechanism": strategy.mechanism,
        "decoder": strategy.decoder,
        "law": str(strategy.law),
        "blocks": [block.kind for block in strategy.blocks],
        "options": dict(strategy.options),
        "details": dict(strategy.details),
        "unit": strategy.lattice.unit,
        "granularity": strategy.lattice.granularity,
        "max_weight": strategy.max_weight,
        "sampler": measurements.sampler,
    }
    return {name: np.ascontiguousarray(array) for name, array in tensors.items()}, header


def _unpack(header: Mapping[str, Any], tensors: Tensors) -> tuple[Measurements, Statement]:
    statement = Statement.from_dict(header["statement"])
    if "topology.labels" in tensors:
        labels: list[Any] = tensors["topology.labels"].tolist()
    else:
        text, ends = tensors["topology.labels.text"].tobytes(), tensors["topology.labels.ends"].tolist()
        labels = [text[a:b].decode() for a, b in zip([0, *ends], ends, strict=False)]
    topology, _ = Topology.build(
        labels, tensors["topology.tails"], tensors["topology.heads"],
        directed=header["directed"], lower=tensors["topology.lower"], upper=tensors["topology.upper"],
        coordinates=tensors.get("topology.coordinates"), dropped_loops=header["dropped_loops"],
    )  # fmt: skip
    blocks = []
    for i, kind in enumerate(header["blocks"]):
        if kind not in BLOCKS:
            raise FileFormatError(f"it measures {str(kind)[:40]!r}, which this version does not know")
        prefix = f"block{i}."
        arrays = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
        blocks.append(BLOCKS[kind].from_arrays(arrays))
    strategy = Strategy(
        mechanism=header["mechanism"],
        decoder=header["decoder"],
        topology=topology,
        lattice=Lattice.build(
            topology, unit=header["unit"], max_weight=header["max_weight"], granularity=header["granularity"]
        ),
        budget=Budget(statement.budget_epsilon, statement.budget_delta),
        law=Law(header["law"]),
        blocks=tuple(blocks),
        scales=frozen(tensors["strategy.scales"], np.int64),
        max_weight=header["max_weight"],
        options=header["options"],
        details=header["details"],
        population=statement.population,
    )
    known = MECHANISMS.get(strategy.mechanism)
    if known is None:
        raise FileFormatError(f"it was made by {str(strategy.mechanism)[:40]!r}, which this version does not know")
    if tuple(header["blocks"]) != DECODERS.get(strategy.decoder) or known.decoder != strategy.decoder:
        raise FileFormatError("its decoder does not fit what it measured")
    if topology.directed and not known.directed:
        raise FileFormatError(f"mechanism {strategy.mechanism!r} is not for directed networks")
    if tensors["values"].dtype != np.int64 or tensors["strategy.scales"].dtype != np.int64:
        raise FileFormatError("its numbers are not 64-bit integers")
    values = frozen(tensors["values"], np.int64)
    if values.shape != (strategy.num_values,) or len(strategy.scales) != len(strategy.group_sizes):
        raise FileFormatError(f"it holds {values.size} numbers, but its strategy measures {strategy.num_values}")
    private = header["sampler"] in SECRET_SAMPLERS and not strategy.budget.unlimited
    measurements = Measurements(strategy, values, header["sampler"], private)
    proved = replace(Statement.of(measurements), version=statement.version)
    if not _alike(replace(proved, cautions=()).as_dict(), statement.as_dict()):  # cautions are not in a file
        raise FileFormatError("its statement promises something else than its strategy proves")
    return measurements, proved


def _alike(one: Any, other: Any) -> bool:
    """Equal, but for the last digits of floats: another platform's logarithm may round differently."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9)
    return bool(one == other)


def _read_checked(path: Path) -> tuple[str, Tensors]:
    """Read the file and check that it is a release of a version we know and that no bit has changed."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise FileFormatError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            label = json.loads((file.metadata() or {}).get("hushpath", "{}"))
            if not isinstance(label, dict) or label.get("format") != FORMAT:
                raise FileFormatError(f"{path} is not a hushpath release")
            version = label.get("version")
            if not isinstance(version, int) or version > VERSION:
                raise FileFormatError(
                    f"{path} has format version {str(version)[:9]}; this one reads up to {VERSION}: upgrade hushpath"
                )
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise CannotError(f"cannot read {path}: {error.strerror or error}") from None
    except (SafetensorError, TypeError, ValueError, MemoryError):
        raise FileFormatError(f"{path} is damaged, cut short or not a hushpath release") from None
    text = str(label.get("header"))
    if label.get("digest") != _digest(text, tensors):
        raise FileFormatError(f"{path} is damaged: its digest does not match its content")
    return text, tensors


def _digest(header: str, tensors: Tensors) -> str:
    """SHA-256 over the header and every array with its name, type and shape, in the order of names."""
    sha = hashlib.sha256(header.encode())
    for name in sorted(tensors):
        array = tensors[name]
        sha.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        sha.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    return sha.hexdigest()
