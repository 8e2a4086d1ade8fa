"""Cases to results: what is stored is not measured again; the rest is, by workers, and each release once.

The order in which cases finish depends on the machine; their results and the order of the final table do not.
A worker that dies takes nothing with it: what it had not finished is measured again (see ``tasks``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..progress import counting
from ..tasks import place
from .cases import Case, measurements
from .store import Store
from .trial import guarded_cases


def run_cases(cases: Sequence[Case], results: Path, *, jobs: int = 0, dask: str | None = None) -> list[dict[str, Any]]:
    """Measure every case that ``results`` does not hold yet; return one row per case, in the order of ``cases``.

    Args:
        cases: what to measure.
        results: the JSON lines file; created if it is not there.
        jobs: worker processes; 0 measures in this process.
        dask: the address of a Dask scheduler, whose workers measure; or "local", for a cluster of ``jobs`` workers.
    """
    with Store(results) as store:
        missing = [case for case in cases if case.id not in store.results]
        with counting(len(cases), "measuring") as advance:
            advance(len(cases) - len(missing))
            failed = {}
            groups = measurements(missing)
            for rows in place(jobs=jobs, dask=dask)(guarded_cases, groups) if groups else ():
                for row in rows:
                    if row.get("failed"):  # not kept: the next run tries again
                        failed[row["id"]] = row
                    else:
                        store.add(row)
                    advance(1)
        return [failed.get(case.id) or store.results[case.id] for case in cases]
