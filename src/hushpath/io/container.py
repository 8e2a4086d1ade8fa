"""Flat arrays and a JSON header in one file: what ``.hush``, ``.hushd`` and ``.hushx`` have in common (file format).

Written with the safetensors library, but not read with it: the library opens files by name (the signature was verified
of bytes), copies every array (an index of gigabytes is mapped), and takes the last of two equal keys.  Here nothing is
allocated beyond the file's own length, every array is a view of its bytes, and whatever is not exactly as it should be
is a ``FileFormatError``.

| in the file | rule |
|---|---|
| header | at most ``LARGEST_HEADER`` bytes of strict JSON: no NaN, no Infinity, no key twice |
| arrays | at most ``MOST_ARRAYS``, of the ``TYPES`` below, in one or two dimensions; together the rest of the file |
| label | format, version, header text and digest, nothing else |

The digest finds damage.  It does not prove who wrote the file: only a signature does.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..errors import CannotError, FileFormatError

LARGEST_HEADER = 2**20
MOST_ARRAYS = 256
PIECE = 2**24  # bytes hashed at a time, in parallel: hashlib releases the interpreter lock
TYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "F64": np.dtype("<f8"), "U8": np.dtype("u1"), "BOOL": np.dtype("?"),
}  # fmt: skip

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Container:
    """The parts of one file; ``check_digest`` compares them with the digest that it claims."""

    path: Path
    header_text: str
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    claimed_digest: str
    opened: os.stat_result

    def check_digest(self) -> None:
        """Raise ``FileFormatError`` if the digest does not match the content."""
        if digest(self.header_text, self.arrays) != self.claimed_digest:
            raise FileFormatError(f"{self.path} is damaged: its digest does not match its content")


def write(path: str | os.PathLike[str], kind: str, version: int, header: Mapping[str, Any], arrays: Arrays) -> str:
    """Write ``header`` and ``arrays`` to ``path`` atomically, as this ``kind`` and ``version``; return the digest."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    text, tensors = header_text(header), contiguous(arrays)
    found = digest(text, tensors)
    # One metadata entry: safetensors keeps several in random order, and equal releases should be equal files.
    label = {"format": kind, "version": version, "digest": found, "header": text}
    with replacing(path) as temporary:
        try:
            save_file(tensors, temporary, metadata={"hushpath": json.dumps(label)})
        except SafetensorError as error:  # a full disk, say; the system's number is in the text
            number = re.search(r"os error (\d+)", str(error))
            reason = os.strerror(int(number[1])) if number else "the file could not be written"
            raise CannotError(f"cannot write {path}: {reason}") from None
    return found


def header_text(header: Mapping[str, Any]) -> str:
    """Return the canonical text of a header."""
    return json.dumps(header, sort_keys=True, allow_nan=False)


def contiguous(arrays: Arrays) -> dict[str, NDArray[Any]]:
    """Return arrays in contiguous memory."""
    return {name: np.ascontiguousarray(array) for name, array in arrays.items()}


def read(
    path: str | os.PathLike[str], kind: str, version: int, *, mapped: bool = False, sha256: str | None = None
) -> Container:
    """Read the file at ``path``, which must have this ``kind``, ``version`` and, if given, ``sha256``.

    It is ``mapped`` into memory if asked.  The caller calls ``check_digest``.
    """
    path = Path(path)
    if not path.is_file():
        raise FileFormatError(f"{path}: file not found")
    try:
        with open(path, "rb") as file:  # once: the file may be replaced before a second time
            opened = os.fstat(file.fileno())
            if mapped and opened.st_size:
                content = np.memmap(file, np.uint8, mode="c").view(np.ndarray)
            else:
                data = file.read()
                if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
                    raise FileFormatError(f"{path} was replaced while its signature was verified")
                content = np.frombuffer(data, np.uint8)
    except OSError as error:
        raise CannotError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        return _parse_file(content, path, kind, version, opened)
    except ValueError:
        raise FileFormatError(f"{path} is damaged, cut short or not a hushpath release or index") from None


def _parse_file(content: NDArray[np.uint8], path: Path, kind: str, version: int, opened: os.stat_result) -> Container:
    """Return the parts of ``content``, each checked to lie inside it; ``ValueError`` if it is damaged.

    ``path`` and ``opened`` are those of the file, which must be of this ``kind`` and ``version``.
    """
    size = len(content)
    length = int.from_bytes(content[:8].tobytes(), "little")
    if size < 8 or length % 8 or not 2 <= length <= min(size - 8, LARGEST_HEADER):  # arrays lie on words
        raise ValueError
    head = _parse_object(content[8 : 8 + length].tobytes())
    metadata = head.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not isinstance(metadata.get("hushpath"), str):
        raise FileFormatError(f"{path} is not a {kind.replace('-', ' ')}")
    label = _parse_object(metadata["hushpath"])
    if label.get("format") != kind:
        raise FileFormatError(f"{path} is not a {kind.replace('-', ' ')}")
    if type(label.get("version")) is not int:
        raise ValueError
    if label["version"] != version:
        raise FileFormatError(f"{path} has format {str(label['version'])[:9]}; this hushpath reads format {version}")
    text, claimed = label.get("header"), label.get("digest")
    if set(label) != {"format", "version", "header", "digest"} or not isinstance(text, str) or type(claimed) is not str:
        raise ValueError
    return Container(path, text, _parse_object(text), _view_arrays(content[8 + length :], head), claimed, opened)


def _view_arrays(data: NDArray[np.uint8], facts: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return views of the arrays; together they cover the data without gap or overlap, else ``ValueError``."""
    if len(facts) > MOST_ARRAYS:
        raise ValueError
    views, spans = {}, []
    for name, fact in facts.items():
        if not isinstance(fact, dict) or set(fact) != {"dtype", "shape", "data_offsets"}:
            raise ValueError
        kind, shape, offsets = fact["dtype"], fact["shape"], fact["data_offsets"]
        known = isinstance(kind, str) and kind in TYPES
        if not known or not _are_sizes(shape, 1, 2) or not _are_sizes(offsets, 2, 2):
            raise ValueError
        (begin, end), width = offsets, TYPES[kind].itemsize
        if not begin <= end <= len(data) or math.prod(shape) * width != end - begin or begin % width:
            raise ValueError
        if kind == "BOOL" and (data[begin:end] > 1).any():
            raise ValueError
        views[name] = data[begin:end].view(TYPES[kind]).reshape(shape)
        spans.append((begin, end))
    spans.sort()  # of several arrays that begin together, all but the last are empty
    if [begin for begin, _ in spans] + [len(data)] != [0] + [end for _, end in spans]:
        raise ValueError
    return views


def _are_sizes(values: Any, least: int, most: int) -> bool:
    """Return whether this is a list of ``least`` to ``most`` sizes."""
    fits = isinstance(values, list) and least <= len(values) <= most
    return fits and all(type(value) is int and 0 <= value < 2**62 for value in values)


def parse_strict_json(text: str | bytes) -> Any:
    """Parse JSON without NaN, infinity and repeated keys, which parsers read differently; else ``ValueError``."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_parse_finite, object_pairs_hook=_make_dict)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _parse_object(text: str | bytes) -> dict[str, Any]:
    found = parse_strict_json(text)
    return found if isinstance(found, dict) else _refuse("not an object")


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


def _parse_finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _refuse(digits)


def _make_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(pairs) if len(dict(pairs)) == len(pairs) else _refuse("a repeated key")


def digest(header: str, arrays: Arrays) -> str:
    """Return SHA-256 over the header and, by name, each array's name, type, shape and the SHA-256 of its pieces."""
    sha = hashlib.sha256(header.encode())
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        for name in sorted(arrays):
            array = arrays[name]
            raw = array.reshape(-1).view(np.uint8) if array.size else np.empty(0, np.uint8)
            sha.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            pieces = (raw[at : at + PIECE].data for at in range(0, len(raw), PIECE))
            for piece in pool.map(hashlib.sha256, pieces):
                sha.update(piece.digest())
    return sha.hexdigest()


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, owner_only: bool = False) -> Iterator[Path]:
    """Yield a temporary path; on success flush and rename it to ``path``, else remove it.

    With ``owner_only`` only its owner can read the file, at any time.
    """
    target = Path(path)
    if os.path.exists(target) and not target.is_file():  # a rename would put an ordinary file in place of a device
        raise CannotError(f"cannot write {target}: it exists and is not an ordinary file")
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise CannotError(f"cannot write {str(target)!r}: {reason}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        if not owner_only:  # as mkstemp made it
            mask = os.umask(0)
            os.umask(mask)
            temporary.chmod(0o666 & ~mask)  # a release is an ordinary file
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
