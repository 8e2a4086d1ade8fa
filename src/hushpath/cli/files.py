"""Files that commands read and write: checked before any work is done."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import CannotError, InputError, OptionError

if TYPE_CHECKING:
    from ..releasing.spec import ReleaseSpec


def check_inputs(*inputs: Path | None) -> None:
    """Raise ``InputError`` for a folder, a pipe or a device: reading the latter may never end."""
    for given in inputs:
        if given is not None and given.exists() and not given.is_file():
            kind = "folder" if given.is_dir() else "pipe or a device"
            raise InputError(f"{given} is a {kind}; name an ordinary file")


def check_output(out: Path, *inputs: Path | None) -> None:
    """Raise an error unless ``out`` can be written and is none of the ``inputs``."""
    if any(given and out.exists() and given.exists() and out.samefile(given) for given in inputs):
        raise OptionError(f"{out} is an input of this command; write to another file")
    if out.is_dir():
        raise OptionError(f"{out} is a folder; name a file")
    if out.is_symlink() and not out.exists():
        raise OptionError(f"{out} is a broken link; name another file")
    if out.exists() and not out.is_file():  # writing ends in a rename, which would put a file in place of a device
        raise OptionError(f"{out} is a device or a pipe; name an ordinary file")
    if not out.absolute().parent.is_dir():
        raise CannotError(f"cannot write {out}: the folder {out.parent} does not exist")
    if not os.access(out.absolute().parent, os.W_OK):
        raise CannotError(f"cannot write {out}: no permission in {out.absolute().parent}")


def public_files(spec: ReleaseSpec) -> list[Path | None]:
    """Return the ordinary files that a specification reads; a table of trips may also be a folder."""
    return [spec.network.file, spec.network.nodes, spec.weights.edge_data if spec.weights else None]


def spec_files(spec: ReleaseSpec) -> list[Path | None]:
    """Return every file that a specification names."""
    return [*public_files(spec), spec.trips.file if spec.trips else None, spec.ledger.file if spec.ledger else None]


def read_labels(path: Path) -> list[str]:
    """Return one label per non-empty line."""
    from ..io.readers.base import decode_file

    lines = decode_file(path, lambda raw: raw.read().decode("utf-8-sig")).splitlines()
    labels = [line.strip() for line in lines if line.strip()]
    if not labels:
        raise InputError(f"{path} has no node")
    return labels


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Return the columns ``source`` and ``target`` of a CSV file."""
    from ..io.readers.base import decode_file
    from ..io.readers.edge_lists import read_text_rows

    header, *rows = decode_file(path, lambda raw: list(read_text_rows(raw, str(path))))
    if not rows or not {"source", "target"} <= set(header):
        raise InputError(f"{path} must be a CSV file with columns source, target and at least one row")
    pairs = []
    for number, row in enumerate(rows, start=1):
        named = dict(zip(header, row, strict=False))
        pair = named.get("source", "").strip(), named.get("target", "").strip()
        if len(row) > len(header) or not all(pair):
            raise InputError(f"{path}: row {number} must name two nodes, in no more columns than the header")
        pairs.append(pair)
    return pairs
