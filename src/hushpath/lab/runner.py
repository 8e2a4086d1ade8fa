"""Cells to results: what is stored is not measured again; the rest is, in worker processes.

The order in which cells finish depends on the machine; their results and the order of the final table do not.
Workers leave when the run that started them is gone, even if it was killed.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..progress import counting
from .cells import Cell
from .store import Store
from .trial import guarded_cell


def run_cells(cells: Sequence[Cell], results: Path, *, jobs: int = 0) -> list[dict[str, Any]]:
    """Measure every cell that ``results`` does not hold yet; return one row per cell, in the order of ``cells``.

    Args:
        cells: what to measure.
        results: the JSON lines file; created if it is not there.
        jobs: worker processes; 0 measures in this process.
    """
    with Store(results) as store:
        missing = [cell for cell in cells if cell.id not in store.results]
        with counting(len(cells), "measuring") as advance:
            advance(len(cells) - len(missing))
            failed = {}
            for row in _measured(missing, jobs):
                if row.get("failed"):  # not kept: the next run tries again
                    failed[row["id"]] = row
                else:
                    store.add(row)
                advance(1)
        return [failed.get(cell.id) or store.results[cell.id] for cell in cells]


def _measured(cells: Sequence[Cell], jobs: int) -> Iterator[dict[str, Any]]:
    if jobs < 1 or not cells:
        yield from map(guarded_cell, cells)
        return
    # Workers start afresh: a fork would copy whatever threads and locks the numerical libraries hold.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(jobs, len(cells)), initializer=_leave_with, initargs=(os.getpid(),)) as pool:
        yield from pool.imap_unordered(guarded_cell, cells)


def _leave_with(parent: int) -> None:
    """In a worker: leave interrupts to the parent, and go when it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
