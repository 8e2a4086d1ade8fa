"""Run cases: stored results are not measured again, the others are measured by worker processes.

Each release is made once.  The order in which cases finish depends on the machine; their results and the order of the
final table do not.  If a worker dies, its unfinished cases are measured again (see ``tasks``).

Results are stored one JSON line per case, written and synced as soon as a case is done, so an interrupted run
continues.  Invalid lines are ignored; an incomplete line, which can only be the last one, is cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import CannotError
from ..progress import counting
from ..tasks import place
from .cases import Case, measurements
from .trial import guarded_cases


class Store:
    """Results by case id; a context manager."""

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
        """Read every complete line; truncate the file after the last of them."""
        self._file.seek(0)
        whole = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            with suppress(ValueError):
                row = json.loads(line)
                if isinstance(row, dict) and isinstance(row.get("id"), str):
                    self.results[row["id"]] = row
        self._file.truncate(whole)

    def add(self, row: dict[str, Any]) -> None:
        """Append one result and sync it to disk."""
        self.results[row["id"]] = row
        self._file.write(json.dumps(row, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _owner_only(path: str, flags: int) -> int:
    """Open a file that only its owner can read, because it holds errors against the truth."""
    handle = os.open(path, flags, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, 0o600)
    return handle


def run_cases(cases: Sequence[Case], results: Path, *, jobs: int = 0, dask: str | None = None) -> list[dict[str, Any]]:
    """Measure every case that is not stored yet."""
    with Store(results) as store:
        missing = [case for case in cases if case.id not in store.results]
        with counting(len(cases), "measuring") as advance:
            advance(len(cases) - len(missing))
            failed = {}
            groups = measurements(missing)
            for rows in place(jobs=jobs, dask=dask)(guarded_cases, groups) if groups else ():
                for row in rows:
                    if row.get("failed"):  # not stored: the next run tries again
                        failed[row["id"]] = row
                    else:
                        store.add(row)
                    advance(1)
        return [failed.get(case.id) or store.results[case.id] for case in cases]
