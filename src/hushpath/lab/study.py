"""A whole run of the lab: list the cases, measure what is missing, write tables, pictures and the report.

Cases are measured by worker processes.  The order in which they finish depends on the machine; their results and the
order of the final table do not.  If a worker dies, its unfinished cases are measured again (see ``tasks``).

Each case is stored in a file of its own as soon as it is done, so an interrupted run continues.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import CannotError, OptionError
from ..output.report.html import make_folder, write_file
from ..output.report.pictures import needs_matplotlib
from ..progress import counting
from ..published.statement import NOT_PRIVATE
from ..tasks import place
from .cases import FULL, Case, Scope, make_cases
from .measure import measure_case
from .networks import check_own
from .report import find, write_findings, write_report
from .tables import Row

SUMMARY = ("results", "winners", "exponents", "coverage", "estimators", "rates", "table1")


@dataclass(frozen=True)
class Study:
    """What to run and where to write it."""

    out: Path  # folder for the cases, the tables, the pictures and report.html
    scope: Scope = FULL
    seed: int = 0  # the same seed gives the same table, apart from times
    mechanisms: Sequence[str] = ()  # restrict the run to these; all if empty
    classes: Sequence[str] = ()
    estimators: Sequence[str] = ()
    networks: Sequence[Path] = ()  # edge lists of the user
    weight: str = "weight"  # the column of their weights
    jobs: int = 0  # worker processes; 0 measures in this process
    dask: str | None = None  # address of a Dask scheduler, or "local" for a cluster of ``jobs`` workers
    command: str = "hushpath lab"  # the command line that the report shows


def run_study(study: Study, say: Callable[[str], object] = print) -> dict[str, Any]:
    """Run or continue a study; return the final table and what is derived from it, ready for JSON."""
    needs_matplotlib()
    own = [check_own(path, study.weight) for path in study.networks]
    if len({one.name for one in own}) < len(own):
        raise OptionError("the file names of networks must be unique")
    cases = make_cases(
        study.scope, seed=study.seed, mechanisms=study.mechanisms, classes=study.classes, estimators=study.estimators,
        own=own,
    )  # fmt: skip
    make_folder(study.out)
    settings = len({replace(case, mechanism="", estimators=()) for case in cases})
    say(f"{NOT_PRIVATE}: the lab makes seeded releases and compares them with the truth.")
    say(f"{len(cases)} measurements ({settings} settings) in {study.out / 'cases'}.")
    results = run_cases(cases, study.out / "cases", jobs=study.jobs, dask=study.dask)
    found = find(results)
    write_findings(found, study.out)
    write_report(found, study.out / "report.html", study.command)
    say(f"Report: {study.out / 'report.html'}")
    if failed := [row for row in results if row.get("failed")]:
        first = failed[0]
        raise CannotError(
            f"{len(failed)} cases failed, the first: {first['mechanism']} on {first['network']} with {first['nodes']} "
            f"nodes ({first['skipped']}); the report shows the others; run again to retry"
        )
    return {
        "publishable": False, "marking": NOT_PRIVATE, "seed": study.seed, "code": cases[0].code,
        **{name: found.tables[name] for name in SUMMARY},
    }  # fmt: skip


def run_cases(cases: Sequence[Case], folder: Path, *, jobs: int = 0, dask: str | None = None) -> list[Row]:
    """Measure those of ``cases`` that are not stored in ``folder`` yet; return the rows of all, in order.

    ``jobs`` processes measure, or the ``dask`` cluster at this address.
    """
    make_folder(folder)
    files = {case: folder / f"{hashlib.sha256(case.id.encode()).hexdigest()[:20]}.json" for case in cases}
    results: dict[Case, list[Row]] = {}
    for case, file in files.items():
        with suppress(OSError, ValueError):  # missing, or not written by the lab
            results[case] = json.loads(file.read_bytes())
    missing = [case for case in cases if case not in results]
    with counting(len(cases), "measuring") as advance:
        advance(len(cases) - len(missing))
        for case, rows in place(jobs=jobs, dask=dask)(_measure, missing) if missing else ():
            results[case] = rows
            if not any(row.get("failed") for row in rows):  # else the next run tries again
                write_file(files[case], json.dumps(rows, allow_nan=False).encode(), owner_only=True)
            advance(1)
    return [row for case in cases for row in results[case]]


def _measure(case: Case) -> tuple[Case, list[Row]]:
    return case, measure_case(case)
