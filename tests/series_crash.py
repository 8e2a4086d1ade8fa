"""Kill a series by SIGKILL between charge and file, run it again, and print what was found, as JSON.

    python tests/series_crash.py FOLDER [PLAN:POINT:NUMBER ...]

Every run is a forked process of its own, so that a kill is real and costs milliseconds.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import warnings
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import opendp.prelude as opendp
import pandas as pd

import hushpath
from hushpath.privacy.ledger import Ledger
from hushpath.releasing import series as _series

_READY = duckdb, opendp, _series  # imported before a process is forked
FIRST, COUNT = date(2026, 1, 1), 3
POINTS = ("charged", "measured", "saved", "noted", "named")  # after which of these a process is killed
PLANS: dict[str, dict[str, Any]] = {
    "gaussian": dict(epsilon=3.0, delta=1e-6, protects="person", split="even"),
    "pure": dict(epsilon=3.0, delta=0.0, protects="person", split="front"),
    "by day": dict(epsilon=3.0, delta=1e-6, protects="person-day", split="even"),
    "pure by day": dict(epsilon=3.0, delta=0.0, protects="trip", split="even"),
    "no room": dict(epsilon=3.0, delta=1e-6, protects="person-day", split="even", retry=False),
}


def forked(work: Any) -> None:
    """Do the work in another process and wait for its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def killed_at(point: str, number: int) -> None:
    """Have this process killed at a point of the so-manieth release."""
    series = importlib.import_module("hushpath.releasing.series")
    release = importlib.import_module("hushpath.releasing.release")
    owner, name = {
        "charged": (Ledger, "charge"), "measured": (release, "measure_trips"), "saved": (hushpath.Release, "save"),
        "noted": (Ledger, "released"), "named": (series, "_name_file"),
    }[point]  # fmt: skip
    before, left = getattr(owner, name), [number]

    def deadly(*args: Any, **options: Any) -> Any:
        result = before(*args, **options)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, deadly)


def run(folder: Path, plan: dict[str, Any]) -> dict[str, Any]:
    """Run the series once; what it says of itself."""
    topology, _ = hushpath.Topology.build(
        "abc", [0, 1, 2], [1, 2, 0], directed=True, proxy=[9.0, 8.0, 7.0], proxy_name="t"
    )
    table = pd.DataFrame(
        {"who": list("xyzxyz") * 6, "when": [FIRST + timedelta(days=2 * n) for n in range(36)], "trip": range(36),
         "from": list("abc") * 12, "to": list("bca") * 12, "took": [9.0, 12, 8, 10, 11, 7] * 6}
    )  # fmt: skip
    trips = hushpath.read_trips(
        table, topology, person="who", day="when", trip="trip", edge=("from", "to"), seconds="took"
    )
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            plan = dict(plan)
            when = {name: plan.pop(name) for name in ("split", "retry") if name in plan}
            found = hushpath.series(
                trips, hushpath.Schedule(FIRST, "month", COUNT, **when), low=0.5, high=6, ledger=folder / "a.ledger",
                folder=folder / "out", run=hushpath.SeriesRun(hushpath.Quantity(dataset="city"), early=True), **plan,
            )  # fmt: skip
        except hushpath.HushpathError as error:
            return {"error": f"{type(error).__name__}: {error}"}
    texts = [str(one.message) for one in said if "mostly noise" not in str(one.message)]
    return {"states": [step.state for step in found.releases], "said": texts}


def look(folder: Path) -> dict[str, Any]:
    """What is in the ledger and in the folder."""
    ledger = Ledger.open(folder / "a.ledger")
    files = sorted(path.name for path in (folder / "out").iterdir())
    marks = {one.fingerprint for one in ledger.charges()}
    return {
        "charges": [(one.days[0].month if one.days else 0, one.asked.spent, one.fingerprint is not None)
                    for one in ledger.charges()],
        "spent": ledger.spent().epsilon, "files": files,
        "unknown": [name for name in files if hushpath.load(folder / "out" / name).fingerprint not in marks],
    }  # fmt: skip


def story(folder: Path, plan: dict[str, Any], point: str, numbers: list[int]) -> dict[str, Any]:
    """Kill one run after the other, then let one end, and then one more."""
    folder.mkdir(parents=True)

    def die(number: int) -> None:
        killed_at(point, number)
        run(folder, plan)

    for number in numbers:
        forked(lambda number=number: die(number))

    def end() -> None:
        first = run(folder, plan)
        again = run(folder, plan)
        (folder / "told.json").write_text(json.dumps({**first, "again": again, **look(folder)}))

    forked(end)
    return dict(json.loads((folder / "told.json").read_text()))


def main() -> None:
    """Tell the stories that are asked for, as PLAN:POINT:NUMBER,NUMBER...; without any, all."""
    every = [f"{name}:{point}:{number}" for name in PLANS for point in POINTS for number in (1, COUNT)]
    every += [f"{name}:charged:{COUNT},1,1" for name in PLANS]  # the last one is killed again and again
    folder, found = Path(sys.argv[1]), []
    for asked in sys.argv[2:] or every:
        name, point, numbers = asked.split(":")
        told = story(folder / asked, PLANS[name], point, [int(number) for number in numbers.split(",")])
        found.append({"story": asked, **told})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
