"""A whole run of the lab: list the cases, measure what is missing, write tables, pictures and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import CannotError, OptionError
from ..output.report.html import make_folder, write_file
from ..output.report.pictures import needs_matplotlib
from ..published.statement import NOT_PRIVATE
from .cases import FULL, Scope, make_cases, measurements
from .networks import own_network
from .report import Findings, find, write_pictures, write_report, write_tables
from .runner import run_cases


@dataclass(frozen=True)
class Study:
    """What to run and where to write it."""

    out: Path  # folder for results.jsonl, the tables and report.html
    scope: Scope = FULL
    seed: int = 0  # the same seed gives the same table, apart from times
    mechanisms: Sequence[str] = ()  # restrict the run to these; all if empty
    classes: Sequence[str] = ()
    estimators: Sequence[str] = ()
    networks: Sequence[Path] = ()  # edge lists of the user
    weight: str = "weight"  # the column of their weights
    jobs: int = 0  # worker processes; 0 measures in this process
    dask: str | None = None  # address of a Dask scheduler, or "local" for a cluster of ``jobs`` workers
    json: Path | None = None  # file for the final table
    plots: Path | None = None  # folder for pictures and their tables
    command: str = "hushpath lab"  # the command line that the report shows


def run_study(study: Study, say: Callable[[str], object] = print) -> dict[str, Any]:
    """Run, or continue, a study; return the final table, ready for JSON."""
    needs_matplotlib()
    own = [own_network(path, study.weight) for path in study.networks]
    if len({one.name for one in own}) < len(own):
        raise OptionError("the file names of networks must be unique")
    cases = make_cases(
        study.scope, seed=study.seed, mechanisms=study.mechanisms, classes=study.classes, estimators=study.estimators,
        own=own,
    )  # fmt: skip
    for folder in (study.out, study.plots, study.json and study.json.parent):
        if folder is not None:
            make_folder(folder)
    settings, releases = len({replace(case.measurement, mechanism="") for case in cases}), len(measurements(cases))
    say(f"{NOT_PRIVATE}: the lab makes seeded releases and compares them with the truth.")
    say(
        f"{len(cases)} cases ({settings} settings, {releases} measurements); "
        f"results are stored in {study.out / 'results.jsonl'}."
    )
    results = run_cases(cases, study.out / "results.jsonl", jobs=study.jobs, dask=study.dask)
    found = find(results)
    write_tables(found, study.out)
    write_report(found, study.out / "report.html", study.command)
    if study.plots is not None:
        write_pictures(found, study.plots)
    answer = summary(found, study.seed)
    if study.json is not None:
        write_file(study.json, (json.dumps(answer, indent=1, allow_nan=False) + "\n").encode(), owner_only=True)
    for line in highlights(found):
        say(line)
    say(f"Report: {study.out / 'report.html'}")
    if failed := [row for row in results if row.get("failed")]:
        first = failed[0]
        raise CannotError(
            f"{len(failed)} cases failed, the first: {first['mechanism']} on {first['network']} with {first['nodes']} "
            f"nodes ({first['skipped']}); the report shows the others; run again to retry"
        )
    return answer


def summary(found: Findings, seed: int) -> dict[str, Any]:
    """Return the final table and what is derived from it."""
    names = ("results", "winners", "exponents", "coverage", "estimators", "rates", "table1")
    return {
        "publishable": False,
        "marking": NOT_PRIVATE,
        "seed": seed,
        "code": found.results[0]["id"].rpartition("/c")[2],
        **{name: found.tables[name] for name in names},
    }


def highlights(found: Findings) -> list[str]:
    """Return one line per class: how often each mechanism is best."""
    lines = []
    rows = found.tables["winners"]
    for network in dict.fromkeys(row["network"] for row in rows):
        mine = [row["winner"] for row in rows if row["network"] == network]
        counts = sorted(((mine.count(name), name) for name in set(mine)), key=lambda pair: (-pair[0], pair[1]))
        best = (f"{name} is best in {count} of {len(mine)}" for count, name in counts)
        lines.append(f"{network:<12} {', '.join(best)}")
    return lines
