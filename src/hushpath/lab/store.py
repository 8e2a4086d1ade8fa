"""Finished cases in a file, one JSON line each, so that a killed run continues where it stopped.

A line is appended, flushed and synced as soon as its case is done.  A line that a kill cut short, or that is not a
result, is ignored on reading and cut off before the next append: it can only be the last one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from ..errors import CannotError


class Store:
    """Results by case id; open it as a context."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[str, dict[str, Any]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "a+b", opener=_owner_only)  # noqa: SIM115 - closed with the context
        except OSError as error:
            raise CannotError(f"cannot write {path}: {error.strerror}") from None
        self._read()

    def _read(self) -> None:
        """Take every whole line; drop what follows the last of them."""
        self._file.seek(0)
        whole = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            if (row := _result(line)) is not None:
                self.results[row["id"]] = row
        self._file.truncate(whole)

    def add(self, row: dict[str, Any]) -> None:
        """Keep one result for good."""
        self.results[row["id"]] = row
        self._file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _owner_only(path: str, flags: int) -> int:
    """Open a file that nobody else can read: it holds errors against the truth."""
    handle = os.open(path, flags, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, 0o600)
    return handle


def _result(line: bytes) -> dict[str, Any] | None:
    """The row of a line, or nothing if it is not one."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) and isinstance(row.get("id"), str) else None
