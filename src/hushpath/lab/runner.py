"""Cases to results: what is stored is not measured again; the rest is, in worker processes, and each release once.

The order in which cases finish depends on the machine; their results and the order of the final table do not.
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
from .cases import Case, measurements
from .store import Store
from .trial import guarded_cases


def run_cases(cases: Sequence[Case], results: Path, *, jobs: int = 0) -> list[dict[str, Any]]:
    """Measure every case that ``results`` does not hold yet; return one row per case, in the order of ``cases``.

    Args:
        cases: what to measure.
        results: the JSON lines file; created if it is not there.
        jobs: worker processes; 0 measures in this process.
    """
    with Store(results) as store:
        missing = [case for case in cases if case.id not in store.results]
        with counting(len(cases), "measuring") as advance:
            advance(len(cases) - len(missing))
            failed = {}
            for rows in _measured(measurements(missing), jobs):
                for row in rows:
                    if row.get("failed"):  # not kept: the next run tries again
                        failed[row["id"]] = row
                    else:
                        store.add(row)
                    advance(1)
        return [failed.get(case.id) or store.results[case.id] for case in cases]


def _measured(groups: Sequence[Sequence[Case]], jobs: int) -> Iterator[list[dict[str, Any]]]:
    if jobs < 1 or not groups:
        yield from map(guarded_cases, groups)
        return
    # Workers start afresh: a fork would copy whatever threads and locks the numerical libraries hold.
    context = multiprocessing.get_context("spawn")
    with context.Pool(min(jobs, len(groups)), initializer=_leave_with, initargs=(os.getpid(),)) as pool:
        yield from pool.imap_unordered(guarded_cases, groups)


def _leave_with(parent: int) -> None:
    """In a worker: leave interrupts to the parent, and go when it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
